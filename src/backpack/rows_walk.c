/* rows_walk.c -- items in the order of keys, and those of namespaces.
 *
 * In the index the versions of a key stand together, the newest last. A walk goes through them one
 * by one as long as they are few, and jumps over them where they are not: then it costs two seeks a
 * key, however often the key was packed. */
#include "backpack/rows.h"

#include "base/glob.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "base/vec.h"

#define STRIDE 4u /* versions of a key that are read before the rest is jumped over */

/* ---- from key to key ---- */

/* Of one segment: for each key its newest commit there. */
typedef struct walking {
    const vls_rows *rows;
    const vls_rows_segment *segment;
    valise_str space; /* only of this namespace; ptr NULL: all */
    valise_scan *scan;
    const valise_cell *ahead; /* a row of the next key; NULL: none was read */
    int64_t ahead_from;
    vls_buf key;     /* of commit; where the next seek begins */
    vls_arena arena; /* of commit */
    valise_commit commit;
    bool started, done;
} walking;

static void walk_init(walking *walk, const vls_rows *rows, const vls_rows_segment *segment,
                      valise_str space)
{
    const valise_env *env = rows->view->arena.env;

    *walk = (walking){.rows = rows, .segment = segment, .space = space};
    vls_buf_init(&walk->key, env, VLS_VIEW_MAX_BYTES);
    vls_arena_init(&walk->arena, env, VLS_VIEW_MAX_BYTES);
}

static void vls_auto_walking(walking *walk)
{
    if (!walk->rows)
        return;
    valise_scan_close(walk->scan);
    vls_buf_release(&walk->key);
    vls_arena_release(&walk->arena);
    *walk = (walking){.rows = NULL};
}

static void close_scan(walking *walk)
{
    valise_scan_close(walk->scan);
    walk->scan = NULL;
    walk->ahead = NULL;
}

/* The index, and what must be equal in it. */
static valise_select select_of(const walking *walk, valise_commit *probe)
{
    *probe = (valise_commit){.backpack = walk->segment->backpack,
                             .namespace_name = walk->space,
                             .key = vls_buf_str(&walk->key),
                             .seq = walk->segment->upto};
    return (valise_select){.index = walk->space.ptr ? "namespace" : "key",
                           .row = probe,
                           .equal = walk->space.ptr ? 2 : 1,
                           .from = 1};
}

/* At the first row or, once it has started, behind walk->key. */
static int open_scan(walking *walk, valise_error *err)
{
    valise_commit probe;
    valise_select select = select_of(walk, &probe);

    select.from = walk->started ? 1 : 0;
    select.flags = walk->started ? VALISE_SCAN_AFTER : 0;
    walk->started = true;
    return valise_view_scan(&walk->scan, walk->rows->view, &vls_bag_commits, &select, err);
}

static int read_row(walking *walk, valise_error *err)
{
    int rc;

    if (walk->ahead)
        return 1;
    rc = vls_scan_next_cells(&walk->ahead, &walk->ahead_from, walk->scan, err);
    if (rc <= 0)
        walk->ahead = NULL;
    return rc;
}

static int take_row(walking *walk, valise_error *err)
{
    vls_arena_reset(&walk->arena);
    return vls_rows_decode(&walk->commit, walk->rows, walk->ahead, walk->ahead_from, &walk->arena,
                           err);
}

/* From above: 1, or 0 when all versions are newer than what is seen. */
static int jump(walking *walk, valise_error *err)
{
    valise_commit probe;
    valise_select select = select_of(walk, &probe);

    close_scan(walk);
    select.equal++;
    select.flags = VALISE_SCAN_REVERSE;
    vls_arena_reset(&walk->arena);
    return vls_rows_first(&walk->commit, walk->rows, &select, &walk->arena, err);
}

/* The versions of walk->key, of which the first is ahead. */
static int take_key(walking *walk, valise_error *err)
{
    bool found = false;
    int rc;

    for (unsigned n = 0; (rc = read_row(walk, err)) > 0; n++) {
        const valise_cell *cells = walk->ahead;
        if (!vls_str_equal(cells[VLS_COMMIT_KEY].as.bytes, vls_buf_str(&walk->key)))
            break;
        if (n == STRIDE)
            return jump(walk, err);
        if (cells[VLS_COMMIT_SEQ].as.integer <= walk->segment->upto) {
            rc = take_row(walk, err);
            if (rc < 0)
                return rc;
            found = true;
        }
        walk->ahead = NULL;
    }
    return rc < 0 ? rc : found;
}

/* 1, or 0 at the end: done. */
static int walk_next(walking *walk, valise_error *err)
{
    int rc = 0;

    while (!walk->done && rc == 0) {
        if (!walk->scan)
            rc = open_scan(walk, err);
        if (rc == 0)
            rc = read_row(walk, err);
        if (rc == 0)
            walk->done = true;
        if (rc <= 0)
            break;
        vls_buf_clear(&walk->key);
        vls_buf_add(&walk->key, walk->ahead[VLS_COMMIT_KEY].as.bytes);
        rc = vls_buf_check(&walk->key, err);
        if (rc == 0)
            rc = take_key(walk, err);
    }
    return rc;
}

/* ---- items ---- */

typedef struct merge {
    const vls_rows *rows;
    walking *walks; /* of each segment */
} merge;

static void vls_auto_merge(merge *m)
{
    if (!m->walks)
        return;
    for (size_t i = 0; i < m->rows->segment_count; i++)
        vls_auto_walking(&m->walks[i]);
    vls_mem_free(m->rows->view->arena.env, m->walks, m->rows->segment_count * sizeof(*m->walks));
}

/* The first segment among those that stand at the smallest key; NULL at the end. */
static walking *smallest(merge *m)
{
    walking *least = NULL;

    for (size_t i = 0; i < m->rows->segment_count; i++) {
        walking *walk = &m->walks[i];
        if (!walk->done &&
            (!least || vls_str_compare(vls_buf_str(&walk->key), vls_buf_str(&least->key)) < 0))
            least = walk;
    }
    return least;
}

/* Past the key that `at` stands at, in every segment. */
static int move_on(merge *m, walking *at, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < m->rows->segment_count; i++) {
        walking *walk = &m->walks[i];
        if (walk != at && !walk->done &&
            vls_str_equal(vls_buf_str(&walk->key), vls_buf_str(&at->key)))
            rc = walk_next(walk, err);
    }
    return rc < 0 ? rc : walk_next(at, err);
}

/* The newest commits of keys: those that are items, or those that are none. */
static int each_newest(const vls_rows *rows, bool live, valise_commit_fn *fn, void *arg,
                       valise_error *err)
{
    VLS_AUTO(merge) merge m = {.rows = rows};
    walking *at;
    int rc = 0;

    m.walks = vls_mem_zalloc(rows->view->arena.env, rows->segment_count * sizeof(*m.walks));
    if (!m.walks)
        return vls_fail_memory(err);
    for (size_t i = 0; i < rows->segment_count; i++)
        walk_init(&m.walks[i], rows, &rows->segments[i], (valise_str){NULL, 0});
    for (size_t i = 0; rc >= 0 && i < rows->segment_count; i++)
        rc = walk_next(&m.walks[i], err);
    while (rc >= 0 && (at = smallest(&m)) != NULL) {
        if (vls_commit_is_live(&at->commit) == live) {
            rc = fn(arg, &at->commit, err);
            if (rc != 0)
                return rc;
        }
        rc = move_on(&m, at, err);
    }
    return rc < 0 ? rc : 0;
}

int vls_rows_each_item(void *self, valise_commit_fn *fn, void *arg, valise_error *err)
{
    return each_newest(self, true, fn, arg, err);
}

int vls_rows_each_gone(void *self, valise_commit_fn *fn, void *arg, valise_error *err)
{
    return each_newest(self, false, fn, arg, err);
}

/* ---- namespaces ---- */

typedef struct match {
    valise_str key;
    valise_uuid backpack;
    int64_t seq;
} match;

typedef struct naming {
    const vls_rows *rows;
    valise_str pattern;
    vls_arena arena; /* keys of matches */
    vls_vec(match) matches;
} naming;

static void vls_auto_naming(naming *n)
{
    if (!n->rows)
        return;
    vls_vec_release(&n->matches, n->rows->view->arena.env);
    vls_arena_release(&n->arena);
}

static int add_matches(naming *n, const vls_rows_segment *segment, valise_str space,
                       valise_error *err)
{
    VLS_AUTO(walking) walking walk = {0};
    int rc;

    walk_init(&walk, n->rows, segment, space);
    while ((rc = walk_next(&walk, err)) > 0) {
        match m = {.backpack = segment->backpack, .seq = walk.commit.seq};
        if (!vls_commit_is_live(&walk.commit))
            continue;
        rc = vls_arena_dup(&m.key, &n->arena, walk.commit.key, err);
        if (rc == 0 && !vls_vec_push(&n->matches, n->arena.env, m))
            rc = vls_fail_memory(err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

/* The first namespace of a segment from one on (after: behind it), in *name: 1, or 0. */
static int next_space(vls_buf *name, const naming *n, const vls_rows_segment *segment, bool after,
                      valise_error *err)
{
    /* Items without a namespace have none, not an empty one: they come first, and are not meant. */
    const valise_commit probe = {.backpack = segment->backpack,
                                 .namespace_name = name->len > 0 ? vls_buf_str(name) : VLS_STR("")};
    const valise_select select = {.index = "namespace",
                                  .row = &probe,
                                  .equal = 1,
                                  .from = 1,
                                  .flags = after ? VALISE_SCAN_AFTER : 0};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    valise_commit commit;
    int rc = valise_view_scan(&scan, n->rows->view, &vls_bag_commits, &select, err);

    if (rc == 0)
        rc = valise_scan_next(&commit, scan, err);
    if (rc <= 0)
        return rc;
    vls_buf_clear(name);
    vls_buf_add(name, commit.namespace_name);
    rc = vls_buf_check(name, err);
    return rc < 0 ? rc : 1;
}

static int match_segment(naming *n, const vls_rows_segment *segment, valise_error *err)
{
    valise_str literal = vls_bag_pattern_prefix(n->pattern);
    VLS_AUTO(buf) vls_buf name = {0};
    bool after = false;
    int rc;

    vls_buf_init(&name, n->arena.env, VLS_VIEW_MAX_BYTES);
    vls_buf_add(&name, literal);
    rc = vls_buf_check(&name, err);
    while (rc >= 0 && (rc = next_space(&name, n, segment, after, err)) > 0) {
        valise_str space = vls_buf_str(&name);
        after = true;
        if (!space.ptr || !vls_str_starts(space, literal))
            return 0;
        if (vls_glob_match(&vls_glob_dotted, n->pattern, space))
            rc = add_matches(n, segment, space, err);
    }
    return rc < 0 ? rc : 0;
}

static int compare_matches(const void *a, const void *b)
{
    return vls_str_compare(((const match *)a)->key, ((const match *)b)->key);
}

/* Those that are still what their key has now, in order. */
static int tell_matches(naming *n, valise_commit_fn *fn, void *arg, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};

    vls_arena_init(&arena, n->arena.env, VLS_VIEW_MAX_BYTES);
    for (size_t i = 0; i < n->matches.len; i++) {
        const match *m = &n->matches.ptr[i];
        valise_commit commit;
        int rc;
        vls_arena_reset(&arena);
        rc = vls_rows_newest(&commit, n->rows, m->key, &arena, err);
        if (rc > 0 && commit.seq == m->seq && vls_uuid_equal(&commit.backpack, &m->backpack))
            rc = fn(arg, &commit, err);
        else if (rc > 0)
            rc = 0;
        if (rc != 0)
            return rc;
    }
    return 0;
}

int vls_rows_each_named(void *self, valise_str pattern, valise_commit_fn *fn, void *arg,
                        valise_error *err)
{
    const vls_rows *rows = self;
    VLS_AUTO(naming) naming n = {.rows = rows, .pattern = pattern, .matches = VLS_VEC_INIT};
    int rc = 0;

    vls_arena_init(&n.arena, rows->view->arena.env, VLS_VIEW_MAX_BYTES);
    for (size_t i = 0; rc == 0 && i < rows->segment_count; i++)
        rc = match_segment(&n, &rows->segments[i], err);
    if (rc < 0)
        return rc;
    if (n.matches.len > 1)
        qsort(n.matches.ptr, n.matches.len, sizeof(n.matches.ptr[0]), compare_matches);
    return tell_matches(&n, fn, arg, err);
}
