/* watch.c -- when to look; and the public functions. See valise/watch.h and watch.h. */
#include "watch/watch.h"

#include <errno.h>
#include <poll.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/sized.h"
#include "bus/bus.h"
#include "context/outside.h"

#define ARENA_MAX ((size_t)16 << 20)
#define OTHER_SIDE_NS INT64_C(10000000) /* a round waits so long for the other side of a move */
#define NEVER INT64_MAX
#define LONGEST (INT64_MAX / 64)

/* Where it is never quiet, the stat cache is saved after so many times save_ns. */
#define SAVE_TIMES 12

/* ---- when ---- */

/* When something is to be looked at, by what was heard so far. */
static int64_t round_at(const valise_watch *w)
{
    int64_t quiet = w->last_ns + w->options.quiet_ns, latest = w->first_ns + w->options.patience_ns;

    if (w->gone)
        return 0;
    if (w->full && w->first_ns == 0)
        return 0; /* a round that failed */
    if (w->pending.len == 0 && !w->full)
        return NEVER;
    if (w->half_moved)
        latest = VLS_MAX(latest, w->last_ns + OTHER_SIDE_NS);
    return VLS_MIN(quiet, latest);
}

static int64_t full_at(const valise_watch *w)
{
    return w->full_ns + (w->set.shortage ? w->options.rescan_ns : w->options.full_ns);
}

static int64_t save_at(const valise_watch *w)
{
    int64_t quiet = VLS_MAX(w->kept_ns, w->last_ns) + w->options.save_ns;

    if (!w->memory.unsaved || !w->cache)
        return NEVER;
    return VLS_MIN(quiet, w->unsaved_ns + SAVE_TIMES * w->options.save_ns);
}

static int64_t next_at(const valise_watch *w)
{
    const int64_t times[] = {round_at(w), full_at(w), save_at(w), vls_watch_waits_until(w)};
    int64_t at = NEVER;

    for (size_t i = 0; i < VLS_COUNT(times); i++)
        at = VLS_MIN(at, times[i]);
    return at;
}

int64_t valise_watch_wait_ns(const valise_watch *w)
{
    int64_t left = next_at(w) - vls_watch_now(w);

    return VLS_MAX(left, 0);
}

int valise_watch_fd(const valise_watch *w)
{
    return w->set.fd;
}

/* ---- one step ---- */

/* 1: something was recorded. */
static int do_what_is_due(valise_watch *w, valise_error *err)
{
    int64_t now = vls_watch_now(w);
    int rc = vls_watch_wake(w, now, err);

    if (rc < 0)
        return rc;
    if (full_at(w) <= now)
        w->full = true;
    if (round_at(w) <= now || full_at(w) <= now)
        return vls_watch_round(w, err);
    if (save_at(w) <= now) {
        (void)vls_tree_scan_save(&w->memory, w->cache, NULL);
        w->memory.unsaved = false; /* or it cannot be: the next round will try again */
        w->unsaved_ns = 0;
    }
    return 0;
}

/* Until something happens: 0; or a signal comes: 1. */
static int wait_until(valise_watch *w, int64_t at, valise_error *err)
{
    struct pollfd waiting = {.fd = w->set.fd, .events = POLLIN};
    int64_t left = at - vls_watch_now(w);
    struct timespec timeout = {.tv_sec = 0};
    int rc;

    if (left > 0) {
        timeout.tv_sec = (time_t)(left / 1000000000);
        timeout.tv_nsec = left % 1000000000;
    }
    rc = ppoll(&waiting, 1, at == NEVER ? NULL : &timeout, NULL);
    if (rc < 0 && errno != EINTR)
        return vls_fail_errno(err, "wait for", VLS_STR("inotify"));
    return rc < 0;
}

static int64_t end_of(const valise_watch *w, int64_t timeout_ns)
{
    int64_t end;

    if (timeout_ns < 0 || __builtin_add_overflow(vls_watch_now(w), timeout_ns, &end))
        return NEVER;
    return end;
}

int valise_watch_step(valise_watch *w, int64_t timeout_ns, valise_error *err)
{
    int64_t end, next;

    VLS_ARG(w, err);
    end = end_of(w, timeout_ns);
    while (true) {
        int rc = vls_watch_read(w, err);
        if (rc == 0)
            rc = do_what_is_due(w, err);
        if (rc != 0)
            return rc;
        if (vls_watch_now(w) >= end)
            return 0;
        next = next_at(w);
        rc = wait_until(w, VLS_MIN(next, end), err);
        if (rc != 0)
            return vls_settle(rc);
    }
}

/* ---- opening and closing ---- */

static int copy_text(char **out, const valise_watch *w, valise_str text, valise_error *err)
{
    char *copy = vls_mem_alloc(w->env, text.len + 1);

    if (!copy)
        return vls_fail_memory(err);
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *out = copy;
    return 0;
}

static int find_cache(valise_watch *w, valise_error *err)
{
    VLS_AUTO(outside) vls_outside outside = {0};
    int rc = vls_outside_open(&outside, w->v, VLS_STR(""), err);

    if (rc < 0 || !outside.options.cache)
        return rc;
    return copy_text(&w->cache, w, valise_str_of(outside.options.cache), err);
}

static int take_options(valise_watch_options *out, const valise_watch_options *options,
                        valise_error *err)
{
    int64_t *const times[] = {&out->quiet_ns, &out->patience_ns, &out->rescan_ns, &out->full_ns,
                              &out->save_ns};
    int rc;

    *out = (valise_watch_options)VALISE_WATCH_OPTIONS_INIT;
    rc = vls_sized_take(out, sizeof(*out), options, offsetof(valise_watch_options, changed),
                        "valise_watch_options", err);
    if (rc < 0)
        return rc;
    if (out->flags)
        return vls_fail(err, VALISE_E_INVALID, "valise_watch_options has unknown flags 0x%x",
                        out->flags);
    if (out->quiet_ns < 0 || out->patience_ns < 0 || out->rescan_ns <= 0 || out->full_ns <= 0 ||
        out->save_ns < 0)
        return vls_fail(err, VALISE_E_INVALID, "a time in valise_watch_options is negative");
    for (size_t i = 0; i < VLS_COUNT(times); i++)
        *times[i] = VLS_MIN(*times[i], LONGEST); /* so that sums with ticks fit */
    return 0;
}

static int begin(valise_watch *w, const valise_call *call, valise_error *err)
{
    int rc = 0;

    if (call) {
        w->call.cause = call->cause;
        w->call.progress = call->progress;
        if (call->actor.len > 0)
            rc = copy_text(&w->actor, w, call->actor, err);
        if (rc < 0)
            return rc;
        w->call.actor = vls_str(w->actor, w->actor ? call->actor.len : 0);
    }
    rc = find_cache(w, err);
    if (rc < 0)
        return rc;
    if (w->v->place.folder)
        w->settings = vls_watch_set_beside(&w->set, w->v->place.folder);
    w->full = true;
    rc = vls_watch_round(w, err);
    return vls_settle(rc);
}

int vls_watch_open(valise_watch **out, valise *v, const valise_watch_options *options,
                   const valise_call *call, const vls_watch_limits *limits, valise_error *err)
{
    valise_watch_options o;
    valise_watch *w;
    int rc = take_options(&o, options, err);

    if (rc < 0)
        return rc;
    w = vls_mem_zalloc(v->env, sizeof(*w));
    if (!w)
        return vls_fail_memory(err);
    w->v = v;
    w->settings = -1;
    w->env = v->env;
    w->options = o;
    w->call = (valise_call)VALISE_CALL_INIT;
    if (limits)
        w->limits = *limits;
    vls_arena_init(&w->arena, w->env, ARENA_MAX);
    vls_watch_set_init(&w->set, w->env, w->limits.watches);
    rc = begin(w, call, err);
    if (rc < 0) {
        valise_watch_close(w);
        return rc;
    }
    *out = w;
    return 0;
}

int valise_watch_open(valise_watch **out, valise *v, const valise_watch_options *options,
                      const valise_call *call, valise_error *err)
{
    VLS_ARG(out && v, err);
    return vls_watch_open(out, v, options, call, NULL, err);
}

void valise_watch_close(valise_watch *w)
{
    if (!w)
        return;
    if (w->cache)
        (void)vls_tree_scan_save(&w->memory, w->cache, NULL);
    vls_scan_memory_release(&w->memory);
    vls_watch_set_release(&w->set);
    vls_watch_release_busy(w);
    vls_arena_release(&w->arena);
    if (w->actor)
        vls_mem_free(w->env, w->actor, w->call.actor.len + 1);
    if (w->cache)
        vls_mem_free(w->env, w->cache, strlen(w->cache) + 1);
    vls_mem_free(w->env, w, sizeof(*w));
}
