/* busy.c -- names that change all the time, and have to wait; see watch.h.
 *
 * A log file that grows would make a version each second, for ever. What is different in so many
 * rounds in a row, each soon after the other, is looked at again after 2 seconds, then 4, at last
 * 60. Scans of everything see it anyway. */
#include "base/mem.h"
#include "base/time.h"
#include "watch/watch.h"

#define PATIENT_ROUNDS 8u
#define SOON_NS (3 * VLS_NS_PER_SECOND)
#define LONGEST_NS (60 * VLS_NS_PER_SECOND)

static valise_str path_of(const vls_watch_busy *it)
{
    return vls_str(it->path, it->path_len);
}

static vls_watch_busy *find(valise_watch *w, valise_str path)
{
    for (size_t i = 0; i < VLS_WATCH_MAX_BUSY; i++) {
        vls_watch_busy *it = &w->busy[i];
        if (it->path && vls_str_equal(path_of(it), path))
            return it;
    }
    return NULL;
}

static void release(valise_watch *w, vls_watch_busy *it)
{
    vls_mem_free(w->env, it->path, it->path_len);
    *it = (vls_watch_busy){.rounds = 0};
}

void vls_watch_release_busy(valise_watch *w)
{
    for (size_t i = 0; i < VLS_WATCH_MAX_BUSY; i++)
        release(w, &w->busy[i]);
}

/* A free one, or the one that was quiet for the longest. None that waits. */
static vls_watch_busy *make(valise_watch *w, valise_str path)
{
    vls_watch_busy *oldest = NULL;
    char *copy;

    for (size_t i = 0; i < VLS_WATCH_MAX_BUSY; i++) {
        vls_watch_busy *it = &w->busy[i];
        if (!it->waiting && (!oldest || !it->path || it->last_ns < oldest->last_ns))
            oldest = it;
        if (!it->path)
            break;
    }
    copy = oldest ? vls_mem_alloc(w->env, path.len) : NULL;
    if (!copy)
        return NULL; /* then it does not wait */
    memcpy(copy, path.ptr, path.len);
    release(w, oldest);
    oldest->path = copy;
    oldest->path_len = path.len;
    return oldest;
}

bool vls_watch_must_wait(valise_watch *w, valise_str path, int64_t now_ns)
{
    vls_watch_busy *it = find(w, path);

    if (!it || it->until_ns <= now_ns)
        return false;
    it->waiting = true;
    return true;
}

void vls_watch_was_busy(valise_watch *w, valise_str path, int64_t now_ns)
{
    vls_watch_busy *it = find(w, path);
    int64_t wait_ns = 0;

    if (!it)
        it = make(w, path);
    if (!it)
        return;
    it->rounds = it->last_ns > 0 && now_ns - VLS_MAX(it->last_ns, it->until_ns) < SOON_NS
                     ? it->rounds + 1
                     : 1;
    it->last_ns = now_ns;
    if (it->rounds > PATIENT_ROUNDS)
        wait_ns = VLS_NS_PER_SECOND << VLS_MIN(it->rounds - PATIENT_ROUNDS, 6u);
    it->until_ns = wait_ns > 0 ? now_ns + VLS_MIN(wait_ns, LONGEST_NS) : 0;
}

int64_t vls_watch_waits_until(const valise_watch *w)
{
    int64_t first = INT64_MAX;

    for (size_t i = 0; i < VLS_WATCH_MAX_BUSY; i++) {
        if (w->busy[i].waiting)
            first = VLS_MIN(first, w->busy[i].until_ns);
    }
    return first;
}

int vls_watch_wake(valise_watch *w, int64_t now_ns, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < VLS_WATCH_MAX_BUSY; i++) {
        vls_watch_busy *it = &w->busy[i];
        if (!it->waiting || it->until_ns > now_ns)
            continue;
        rc = vls_watch_add(w, path_of(it), err);
        it->waiting = rc < 0;
        if (w->first_ns == 0)
            w->first_ns = w->last_ns = now_ns - w->options.quiet_ns;
    }
    return rc;
}
