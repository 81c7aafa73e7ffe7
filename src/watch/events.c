/* events.c -- what the kernel says, as names to look at; see watch.h. */
#include <errno.h>

#include "base/fd.h"
#include "bus/bus.h"
#include "watch/watch.h"

#define READ_SIZE ((size_t)64 * 1024)
/* At once: who changes files faster than they are heard must not hold it up. */
#define READS_MAX 64u

void vls_watch_note(const valise_watch *w, int note, const char *text)
{
    if (w->options.noted)
        w->options.noted(w->options.arg, note, text);
}

void vls_watch_clear(valise_watch *w)
{
    w->pending = (__typeof__(w->pending))VLS_VEC_INIT;
    vls_arena_reset(&w->arena);
    w->events = 0;
    w->half_moved = 0;
    w->said_overflow = false;
    w->first_ns = w->last_ns = 0;
}

/* So many are as good as all. */
static void add_all(valise_watch *w)
{
    w->full = true;
}

int vls_watch_add(valise_watch *w, valise_str path, valise_error *err)
{
    int rc;

    w->heard++;
    for (size_t i = 0; i < w->pending.len; i++) {
        if (vls_str_equal(w->pending.ptr[i], path))
            return 0;
    }
    if (w->full || path.len == 0 || w->pending.len == VLS_SCAN_MAX_SUBS) {
        add_all(w);
        return 0;
    }
    rc = vls_arena_dup(&path, &w->arena, path, err);
    if (rc == 0 && !vls_vec_push_in(&w->pending, &w->arena, path))
        rc = vls_arena_fail(&w->arena, err);
    return rc;
}

static bool is_one_of(valise_str name, const char *a, const char *b)
{
    return vls_str_equal(name, valise_str_of(a)) || vls_str_equal(name, valise_str_of(b));
}

/* Something about a name in a directory that is watched. */
static int take_name(valise_watch *w, valise_str dir, const struct inotify_event *event,
                     valise_error *err)
{
    valise_str name = valise_str_of(event->name);
    char path[VLS_PATH_MAX + 2];
    size_t len = dir.len + (dir.len > 0) + name.len;

    if (is_one_of(name, ".git", ".valise"))
        return 0;
    if (is_one_of(name, ".gitignore", ".valiseignore"))
        add_all(w);
    if (len > VLS_PATH_MAX)
        return 0; /* a walk would leave it out */
    (void)snprintf(path, sizeof(path), "%.*s%s%.*s", VALISE_STR_ARG(dir), dir.len > 0 ? "/" : "",
                   VALISE_STR_ARG(name));
    if (event->mask & IN_MOVED_FROM)
        w->half_moved = event->cookie;
    if (event->mask & IN_MOVED_TO && event->cookie == w->half_moved)
        w->half_moved = 0;
    /* dir is of the set, and is not used behind this. */
    if (event->mask & IN_MOVED_FROM && event->mask & IN_ISDIR && !w->full)
        vls_watch_set_drop(&w->set, vls_str(path, len));
    /* What goes may have moved: what was said about it would stay behind. */
    if (!(event->mask & (IN_DELETE | IN_MOVED_FROM)) &&
        vls_watch_must_wait(w, vls_str(path, len), w->last_ns))
        return 0;
    return vls_watch_add(w, vls_str(path, len), err);
}

/* Something about a directory itself. Whoever watches the one above it hears the rest. */
static int take_self(valise_watch *w, valise_str dir, const struct inotify_event *event,
                     valise_error *err)
{
    bool is_root = dir.len == 0;

    if (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) && is_root)
        w->gone = true;
    else if (event->mask & IN_UNMOUNT || (event->mask & IN_ATTRIB && is_root))
        return vls_watch_add(w, dir, err);
    return 0;
}

/* Something about the workspace's own folder: its settings have rules, too. */
static int take_setting(valise_watch *w, const struct inotify_event *event, valise_error *err)
{
    if (event->mask & IN_IGNORED)
        w->settings = -1;
    if (event->len == 0 || !vls_str_equal(valise_str_of(event->name), VLS_STR(VLS_CONFIG_FILE)))
        return 0;
    return vls_watch_add(w, VLS_STR(""), err);
}

static int take_event(valise_watch *w, const struct inotify_event *event, valise_error *err)
{
    valise_str dir;

    if (event->mask & IN_Q_OVERFLOW) {
        if (!w->said_overflow)
            vls_watch_note(w, VALISE_WATCH_OVERFLOW,
                           "too many changes at once to report: everything is scanned");
        w->said_overflow = true;
        w->heard++;
        add_all(w);
        return 0;
    }
    if (event->wd == w->settings)
        return take_setting(w, event, err);
    if (event->mask & IN_IGNORED) {
        vls_watch_set_forget(&w->set, event->wd);
        return 0;
    }
    if (!vls_watch_set_path(&dir, &w->set, event->wd))
        return 0;
    return event->len > 0 ? take_name(w, dir, event, err) : take_self(w, dir, event, err);
}

/* More than may be heard for one round is as if the queue had been full. */
static int take(valise_watch *w, const struct inotify_event *event, valise_error *err)
{
    static const struct inotify_event overflow = {.wd = -1, .mask = IN_Q_OVERFLOW};
    bool lost = w->limits.events > 0 && w->events >= w->limits.events;

    w->events++;
    return take_event(w, lost ? &overflow : event, err);
}

static int take_some(valise_watch *w, const char *bytes, size_t size, valise_error *err)
{
    int rc = 0;

    for (size_t at = 0; at < size;) {
        const struct inotify_event *event = (const void *)(bytes + at);
        int taken = take(w, event, rc < 0 ? NULL : err);
        if (taken < 0) {
            add_all(w); /* what could not be remembered */
            rc = taken;
        }
        at += sizeof(*event) + event->len;
    }
    return rc;
}

int vls_watch_read(valise_watch *w, valise_error *err)
{
    _Alignas(struct inotify_event) char bytes[READ_SIZE];
    int rc = 0;

    for (unsigned i = 0; rc == 0 && w->set.fd >= 0 && i < READS_MAX; i++) {
        ssize_t size = vls_fd_read(w->set.fd, bytes, sizeof(bytes));
        if (size <= 0)
            return size == 0 || errno == EAGAIN ? 0
                                                : vls_fail_errno(err, "read", VLS_STR("inotify"));
        w->last_ns = vls_watch_now(w);
        rc = take_some(w, bytes, (size_t)size, err);
        if (w->first_ns == 0 && (w->pending.len > 0 || w->full))
            w->first_ns = w->last_ns;
    }
    return rc;
}
