/* fault_io.c -- the plan: which file call fails, and how.
 *
 * The plan is written before it becomes active and not changed while it is; all that changes is
 * atomic, so no call ever waits for another and a fork finds no lock held. Whether a call is on
 * a file below the directory is asked anew each time (/proc/self/fd says what a descriptor is):
 * no table to keep in step with dup, fork and stdio. */
#include "harness/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "harness/fault_io.h"
#include "harness/power.h"

enum { OFF, ON, PAUSED };
enum { NOTHING, FAIL, KILL };
#define KIND_COUNT 12

static fault_io_plan plan;
static char dir[PATH_MAX]; /* the plan's, resolved */
static atomic_int state;
atomic_bool fault_io_active;
static atomic_llong counts[KIND_COUNT];
static atomic_llong matched;
static atomic_size_t written_bytes;
static atomic_bool struck, hit; /* hit: what is written */
static char what[PATH_MAX + 64];
static _Thread_local bool busy; /* calls of our own, made while a call is recorded */

/* ---- is it ours? ---- */

static bool descriptor_path(char out[PATH_MAX], int fd)
{
    char link[64];
    ssize_t len;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    len = readlink(link, out, PATH_MAX - 1);
    out[len < 0 ? 0 : len] = '\0';
    return len > 0;
}

/* The absolute path that fd (a descriptor, or the directory of a relative path) and path name.
 * The directory part is resolved; what it ends in may not exist yet. */
static bool full_path(char out[PATH_MAX], int fd, const char *path)
{
    char text[2 * PATH_MAX], base[PATH_MAX] = "", parent[PATH_MAX];
    char *slash;

    if (!path || !path[0])
        return descriptor_path(out, fd);
    if (path[0] != '/' &&
        !(fd == AT_FDCWD ? getcwd(base, sizeof(base)) != NULL : descriptor_path(base, fd)))
        return false;
    (void)snprintf(text, sizeof(text), "%s%s%s", base, path[0] == '/' ? "" : "/", path);
    for (size_t len = strlen(text); len > 1 && text[len - 1] == '/'; len--)
        text[len - 1] = '\0';
    slash = strrchr(text, '/');
    *slash = '\0';
    const char *head = realpath(text[0] ? text : "/", parent) ? parent : text;
    int len = snprintf(out, PATH_MAX, "%s/%s", strcmp(head, "/") == 0 ? "" : head, slash + 1);
    return len > 0 && len < PATH_MAX;
}

static bool is_ours(char full[PATH_MAX], int fd, const char *path)
{
    size_t len = strlen(dir);

    return full_path(full, fd, path) && strncmp(full, dir, len) == 0 &&
           (full[len] == '/' || full[len] == '\0' || strcmp(full + len, " (deleted)") == 0);
}

/* ---- does it fail? ---- */

static void strike(const char *name, const char *full, long long n)
{
    if (atomic_exchange(&struck, true))
        return; /* the first one is told */
    (void)snprintf(what, sizeof(what), "%s %s (call %lld)", name, full, n);
    if (plan.what)
        (void)snprintf(plan.what, 256, "%.255s", what);
    atomic_store(&hit, true);
}

__attribute__((noreturn)) static void die(void)
{
    (void)kill(getpid(), SIGKILL);
    for (;;)
        (void)pause();
}

/* False when the disk is full. A write that fits in part is cut, as the kernel would. */
static bool has_space(fault_io_step *step, const char *name, const char *full)
{
    size_t before = atomic_fetch_add(&written_bytes, step->len);
    size_t left = before < plan.space_bytes ? plan.space_bytes - before : 0;

    if (!plan.limited || step->len <= left)
        return true;
    strike(name, full, atomic_load(&matched));
    if (step->kind == FAULT_WRITE && left > 0) {
        step->len = left;
        return true;
    }
    errno = ENOSPC;
    return false;
}

/* Half a transfer needs two bytes to halve; what was opened cannot be handed out in an error. */
static bool can_happen(const fault_io_step *step)
{
    if (plan.how == FAULT_AFTER)
        return !(step->kind & (FAULT_OPEN | FAULT_MMAP));
    if (plan.how == FAULT_SHORT)
        return (step->kind & (FAULT_READ | FAULT_WRITE)) && step->len > 1;
    if (plan.how == FAULT_TORN || plan.how == FAULT_KILL_TORN)
        return step->kind == FAULT_WRITE && step->len > 1;
    return true;
}

/* The plan strikes here. Returns whether the call is made. */
static bool apply(fault_io_step *step)
{
    switch (plan.how) {
    case FAULT_ERROR:
        errno = plan.error;
        return false;
    case FAULT_AFTER:
        step->then = FAIL;
        return true;
    case FAULT_SHORT:
        step->len /= 2;
        return true;
    case FAULT_TORN:
        step->len /= 2;
        step->then = FAIL;
        return true;
    case FAULT_KILL_BEFORE:
        die();
    case FAULT_KILL_TORN:
        step->len /= 2;
        step->then = KILL;
        return true;
    case FAULT_KILL_AFTER:
        step->then = KILL;
        return true;
    }
    return true;
}

bool fault_io_enter(fault_io_step *step, const char *name, int fd, const char *path)
{
    unsigned kind = step->kind;
    char full[PATH_MAX];
    int saved = errno;

    if (atomic_load(&state) != ON || busy)
        return true;
    step->watched = is_ours(full, fd, path);
    errno = saved;
    if (!step->watched)
        return true;

    atomic_fetch_add(&counts[__builtin_ctz(kind)], 1);
    if ((kind & (FAULT_WRITE | FAULT_TRUNCATE)) && !has_space(step, name, full))
        return false;
    if (!(plan.kinds & kind) || !can_happen(step))
        return true;
    long long n = atomic_fetch_add(&matched, 1) + 1;
    if (plan.nth == 0 || n < plan.nth || (n > plan.nth && !plan.onward))
        return true;
    strike(name, full, n);
    return apply(step);
}

bool fault_io_leave(const fault_io_step *step, int fd, const char *path, bool ok)
{
    int saved = errno;

    if (ok && plan.record) {
        busy = true;
        if (step->kind == FAULT_SYNC)
            power_synced(fd);
        else if (step->fresh)
            power_created(fd, path);
        busy = false;
    }
    if (step->then == KILL)
        die();
    errno = step->then == FAIL ? plan.error : saved;
    return step->then != FAIL;
}

/* ---- begin and end ---- */

static void end_at_test_end(void *arg)
{
    (void)arg;
    fault_io_end();
}

void fault_io_begin(const fault_io_plan *next)
{
    if (atomic_load(&state) != OFF)
        test_fail(__FILE__, __LINE__, "fault_io_begin: the plan before this one is still active");
    if (!realpath(next->dir, dir))
        test_fail(__FILE__, __LINE__, "fault_io_begin %s: %s", next->dir, strerror(errno));
    plan = *next;
    plan.dir = dir;
    for (size_t i = 0; i < KIND_COUNT; i++)
        atomic_store(&counts[i], 0);
    atomic_store(&matched, 0);
    atomic_store(&written_bytes, 0);
    atomic_store(&struck, false);
    atomic_store(&hit, false);
    what[0] = '\0';
    if (plan.record)
        power_begin(dir);
    test_defer(end_at_test_end, NULL);
    atomic_store(&state, ON);
    atomic_store(&fault_io_active, true);
}

void fault_io_end(void)
{
    atomic_store(&fault_io_active, false);
    atomic_store(&state, OFF);
}

void fault_io_pause(void)
{
    int on = ON;

    (void)atomic_compare_exchange_strong(&state, &on, PAUSED);
}

void fault_io_resume(void)
{
    int paused = PAUSED;

    if (atomic_load(&state) == PAUSED && plan.record)
        power_begin(dir);
    (void)atomic_compare_exchange_strong(&state, &paused, ON);
}

long long fault_io_count(unsigned kinds)
{
    long long sum = 0;

    for (size_t i = 0; i < KIND_COUNT; i++)
        sum += kinds & (1u << i) ? atomic_load(&counts[i]) : 0;
    return sum;
}

size_t fault_io_bytes(void)
{
    return atomic_load(&written_bytes);
}

bool fault_io_hit(void)
{
    return atomic_load(&hit);
}

const char *fault_io_what(void)
{
    return what;
}
