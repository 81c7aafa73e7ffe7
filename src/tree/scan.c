/* scan.c -- the parts of a scan put together; see scan.h. */
#include "tree/scan.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "tree/compare.h"
#include "tree/scan_impl.h"
#include "tree/walk_impl.h"

typedef struct vls_stat_cache state;

/* ---- the tree as it was ---- */

static int add_node(void *arg, valise_str path, const vls_node *node, valise_error *err)
{
    return vls_cache_build_add(arg, path, node, err);
}

static int build_old(vls_tree_cache *out, const vls_scan_options *options,
                     const vls_tree_cache *stats, valise_error *err)
{
    VLS_AUTO(cache_builder) vls_cache_builder builder = {0};
    int rc;

    vls_cache_build_begin(&builder, options->env, stats);
    rc = options->old(options->old_self, add_node, &builder, err);
    if (rc > 0)
        rc = vls_fail(err, VALISE_E_CANCELLED, "the scan was cancelled");
    return rc < 0 ? rc : vls_cache_build_end(out, &builder, err);
}

static bool is_of(const vls_tree_cache *cache, const vls_scan_options *options)
{
    return cache->bytes && vls_cache_head(cache)->version == options->version &&
           vls_id_equal(&vls_cache_head(cache)->root.object, &options->object);
}

static int load_old(state *s, valise_error *err)
{
    VLS_AUTO(cache) vls_tree_cache file = {.env = s->options.env};
    const vls_scan_options *options = &s->options;
    const vls_tree_cache *held = options->memory ? &options->memory->cache : NULL;
    int rc = 0;

    if (options->version == 0)
        return 0;
    s->is_held = held && is_of(held, options);
    if (s->is_held) {
        s->old = *held;
        return 0;
    }
    if (options->cache)
        rc = vls_cache_load(&file, options->env, options->cache, err);
    if (rc < 0)
        return rc;
    if (is_of(&file, options)) {
        s->old = file;
        s->is_file = true;
        file.bytes = NULL;
        return 0;
    }
    if (!options->old)
        return 0;
    return build_old(&s->old, options, held && held->bytes ? held : &file, err);
}

/* ---- the clock of the file system ---- */

/* The time that a file gets which is written now; INT64_MIN when none can be. */
static int64_t read_clock(const vls_scan_options *options)
{
    VLS_AUTO(fd) int fd = -1;
    VLS_AUTO(buf) vls_buf name = {0};
    int64_t clock_ns = INT64_MIN;
    struct stat st;
    int rc;

    if (!options->cache)
        return clock_ns;
    vls_buf_init(&name, options->env, SIZE_MAX / 2);
    vls_buf_printf(&name, "%s.clock", options->cache);
    if (!vls_buf_cstr(&name))
        return clock_ns;
    fd = vls_fd_open_at(AT_FDCWD, vls_buf_cstr(&name), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK,
                        0600);
    if (fd < 0)
        return clock_ns;
    do
        rc = futimens(fd, NULL);
    while (vls_fd_again(rc));
    if (rc == 0 && vls_walk_stat(fd, &st) == 0)
        clock_ns = vls_walk_ns(st.st_mtim);
    (void)unlink(vls_buf_cstr(&name));
    return clock_ns;
}

/* ---- the scan ---- */

static bool is_rule_file(valise_str name)
{
    return vls_str_equal(name, VLS_STR(".gitignore")) ||
           vls_str_equal(name, VLS_STR(".valiseignore"));
}

typedef struct paths {
    vls_arena arena;
    vls_vec(valise_str) list;
    bool whole; /* all of the tree */
} paths;

/* A rule file speaks of all that is beside it. */
static int add_path(paths *p, valise_str path, valise_error *err)
{
    int rc;

    if (path.len > 0 && is_rule_file(vls_path_name(path)))
        path = vls_path_parent(path);
    p->whole |= path.len == 0;
    rc = vls_arena_dup(&path, &p->arena, path, err);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&p->list, &p->arena, path) ? 0 : vls_arena_fail(&p->arena, err);
}

/* In order, and without those that lie in another. */
static void tidy(paths *p)
{
    size_t kept = 0;

    if (p->list.len > 1)
        qsort(p->list.ptr, p->list.len, sizeof(valise_str), vls_path_order);
    for (size_t i = 0; i < p->list.len; i++) {
        valise_str path = p->list.ptr[i];
        if (kept > 0 && vls_path_is_under(path, p->list.ptr[kept - 1]))
            continue;
        p->list.ptr[kept++] = path;
    }
    p->list.len = kept;
    p->whole |= kept == 0 || kept > VLS_SCAN_MAX_SUBS;
}

static int begin_paths(paths *p, const state *s, valise_error *err)
{
    const vls_scan_options *options = &s->options;
    int rc = 0;

    p->whole = !s->old.bytes;
    if (options->sub.len > 0)
        rc = add_path(p, options->sub, err);
    for (size_t i = 0; rc == 0 && i < options->sub_count; i++)
        rc = add_path(p, options->subs[i], err);
    tidy(p);
    return rc;
}

/* From the paths on upwards, until what is walked is all that matters. */
static int walk_paths(state *s, paths *p, int64_t clock_ns, valise_error *err)
{
    while (true) {
        const valise_str *wider;
        size_t count;
        int rc = vls_walk_init(&s->walk, &s->options, &s->old, clock_ns, err);
        if (rc < 0)
            return rc;
        s->whole = p->whole;
        if (p->whole)
            return vls_walk_run(&s->walk, err);
        rc = vls_walk_run_subs(&s->walk, p->list.ptr, p->list.len, err);
        if (rc <= 0)
            return rc;
        wider = vls_walk_wider(&count, &s->walk);
        for (size_t i = 0; i < count; i++) {
            rc = add_path(p, wider[i], err);
            if (rc < 0)
                return rc;
        }
        tidy(p);
        vls_walk_release(&s->walk);
    }
}

static int walk(state *s, int64_t clock_ns, valise_error *err)
{
    paths p = {.whole = false};
    int rc;

    vls_arena_init(&p.arena, s->options.env, SIZE_MAX / 2);
    rc = begin_paths(&p, s, err);
    if (rc == 0)
        rc = walk_paths(s, &p, clock_ns, err);
    vls_arena_release(&p.arena);
    return rc;
}

static void release_state(state *s)
{
    if (!s)
        return;
    vls_walk_release(&s->walk);
    if (!s->is_held)
        vls_cache_release(&s->old);
    vls_mem_free(s->options.env, s, sizeof(*s));
}

static int fill(vls_scan *out, state *s, valise_error *err)
{
    const vls_walk *w = &s->walk;
    int rc;

    if (s->old.bytes)
        out->old_object = vls_cache_head(&s->old)->root.object;
    out->object = w->root.e.object;
    out->skipped = w->counts.skipped;
    out->ignored = w->counts.ignored;
    out->hashed = w->counts.hashed;
    out->whole = s->whole;
    rc = vls_compare(out, w, err);
    if (rc == 0)
        rc = vls_walk_problems(out, w, err);
    s->counts = out->counts;
    return rc;
}

int vls_tree_scan(vls_scan *out, const vls_scan_options *options, valise_error *err)
{
    vls_scan scan = {.env = options->env};
    state *s;
    int64_t clock_ns;
    int rc = vls_path_check(options->sub, err);

    for (size_t i = 0; rc == 0 && i < options->sub_count; i++)
        rc = vls_path_check(options->subs[i], err);
    if (rc < 0)
        return rc;
    s = vls_mem_zalloc(options->env, sizeof(*s));
    if (!s)
        return vls_fail_memory(err);
    s->options = *options;
    s->old.env = options->env;
    scan.cache = s;
    vls_arena_init(&scan.arena, options->env, SIZE_MAX / 2);
    rc = load_old(s, err);
    clock_ns = read_clock(options);
    if (rc == 0)
        rc = walk(s, clock_ns, err);
    if (rc == 0)
        rc = fill(&scan, s, err);
    if (rc < 0) {
        vls_tree_scan_release(&scan);
        return rc;
    }
    *out = scan;
    return 0;
}

void vls_tree_scan_release(vls_scan *scan)
{
    if (!scan->env)
        return;
    release_state(scan->cache);
    vls_arena_release(&scan->arena);
    *scan = (vls_scan){.env = NULL};
}

int vls_tree_scan_each(const vls_scan *scan, vls_difference_fn *fn, void *arg, valise_error *err)
{
    return vls_compare_each(&scan->cache->walk, fn, arg, err);
}
