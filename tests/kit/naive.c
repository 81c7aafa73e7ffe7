/* naive.c -- a ledger that is obviously right.
 *
 * A view is what `self` of the ledger points to: the array and how much of it is shown. The state
 * at a seq is found by going through all commits up to it, those of the origin first. */
#include "kit/naive.h"
#include "kit/naive_match.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "harness/test.h"

typedef struct entry {
    valise_commit commit;
    valise_blob *value;
} entry;

typedef struct view {
    naive *n;
    int64_t upto; /* -1: the newest */
    int64_t edge; /* of a frozen one */
} view;

enum { COLLS = 9 };

typedef vls_vec(void *) row_vec;

struct naive {
    const valise_env *env;
    naive_options options;
    vls_arena kept;    /* everything that was copied in, and never given back */
    vls_arena scratch; /* what was handed out since enter */
    vls_vec(entry) entries;
    row_vec rows[COLLS];
    vls_vec(vls_ledger_read) reads;
    int64_t edge, restored;
    uint64_t generation;
    bool entered;
    naive *origin;
    int64_t origin_seq, origin_edge;
    view newest;
};

static const valise_coll *const colls[COLLS] = {
    &vls_bags,      &vls_bag_commits,     &vls_bag_quarantines, &vls_bag_checkpoints,
    &vls_bag_runs,  &vls_bag_permissions, &vls_bag_rules,       &vls_bag_taints,
    &vls_bag_merges};

static row_vec *rows_of(naive *n, const valise_coll *coll)
{
    for (size_t i = 2; i < COLLS; i++) {
        if (colls[i] == coll)
            return &n->rows[i];
    }
    CHECK_MSG(false, "the collection %s is none of a ledger's", coll->name);
    return NULL;
}

/* ---- states ---- */

/* The highest seq there is, kept or not. */
static int64_t last_of(const naive *n)
{
    int64_t last = n->entries.len > 0 ? n->entries.ptr[n->entries.len - 1].commit.seq : 0;

    return VLS_MAX(last, n->edge);
}

static int64_t upto_of(const view *v)
{
    return v->upto >= 0 ? v->upto : last_of(v->n);
}

static int64_t edge_of(const view *v)
{
    return v->upto >= 0 ? v->edge : v->n->edge;
}

/* The newest commit of the key up to a seq. */
static const entry *newest_in(const naive *n, valise_str key, int64_t upto, int64_t edge)
{
    const entry *found = NULL;

    for (size_t i = 0; i < n->entries.len; i++) {
        const entry *e = &n->entries.ptr[i];
        if (e->commit.seq <= upto && vls_str_equal(e->commit.key, key))
            found = e;
    }
    /* That of the state at the edge is shown only where it is an item. */
    if (found && found->commit.seq <= edge && !vls_commit_is_live(&found->commit))
        return NULL;
    if (!found && n->origin)
        found = newest_in(n->origin, key, n->origin_seq, n->origin_edge);
    return found;
}

static const entry *newest_of(const view *v, valise_str key)
{
    return newest_in(v->n, key, upto_of(v), edge_of(v));
}

/* Does somebody still need a commit at or before the edge? */
static bool is_held(const naive *n, const entry *e, int64_t edge)
{
    const row_vec *held = &n->rows[2];

    if (newest_in(n, e->commit.key, edge, edge) == e)
        return true;
    for (size_t i = 0; i < held->len; i++) {
        const vls_quarantine_row *row = held->ptr[i];
        bool about =
            row->seq == e->commit.seq ||
            (row->item == e->commit.seq && vls_uuid_equal(&row->item_backpack, &n->options.id));
        if (about && (row->released == 0 || row->released > edge))
            return true;
    }
    return false;
}

static const entry *entry_at(const naive *n, const valise_uuid *backpack, int64_t seq, int64_t upto,
                             int64_t edge)
{
    if (!vls_uuid_equal(backpack, &n->options.id))
        return n->origin ? entry_at(n->origin, backpack, seq, n->origin_seq, n->origin_edge) : NULL;
    for (size_t i = 0; i < n->entries.len; i++) {
        const entry *e = &n->entries.ptr[i];
        if (e->commit.seq == seq && seq <= upto && (seq > edge || is_held(n, e, edge)))
            return e;
    }
    return NULL;
}

/* ---- enter and leave ---- */

static view *inside(void *self)
{
    view *v = self;

    CHECK_MSG(v->n->entered, "called outside of enter and leave");
    return v;
}

static view *outside(void *self)
{
    view *v = self;

    CHECK_MSG(!v->n->entered, "called between enter and leave");
    return v;
}

static void naive_enter(void *self)
{
    outside(self)->n->entered = true;
}

static void naive_leave(void *self)
{
    view *v = inside(self);

    vls_arena_release(&v->n->scratch);
    vls_arena_init(&v->n->scratch, v->n->env, SIZE_MAX);
    v->n->entered = false;
}

/* Of the newest commit up to the state. */
static int64_t time_of(const view *v)
{
    int64_t time = 0;

    for (size_t i = 0; i < v->n->entries.len; i++) {
        const valise_commit *c = &v->n->entries.ptr[i].commit;
        if (c->seq <= upto_of(v))
            time = c->time;
    }
    if (time == 0 && v->n->origin) {
        view origin = {v->n->origin, v->n->origin_seq, v->n->origin_edge};
        time = time_of(&origin);
    }
    return time;
}

static int naive_head(vls_ledger_head *out, void *self, valise_error *err)
{
    view *v = inside(self);
    const naive *n = v->n;
    vls_ledger_head head = {.id = n->options.id,
                            .name = n->options.name,
                            .lenient = n->options.lenient,
                            .taint = n->options.taint,
                            .sticky = n->options.sticky,
                            .edge = edge_of(v),
                            .last = upto_of(v),
                            .generation = n->generation};

    (void)err;
    if (n->origin) {
        view origin = {n->origin, n->origin_seq, n->origin_edge};
        head.origin = n->origin->options.id;
        head.origin_seq = n->origin_seq;
        head.last_time = head.origin_time = time_of(&origin);
    }
    if (n->entries.len > 0) {
        const valise_commit *last = &n->entries.ptr[n->entries.len - 1].commit;
        head.last_time = last->time;
        head.last_node = last->node_id;
    }
    for (size_t i = 0; i < n->rows[4].len; i++) {
        const vls_run_row *run = n->rows[4].ptr[i];
        head.last_run = VLS_MAX(head.last_run, run->number);
        if (v->upto < 0 && last_of(n) > n->edge && run->end <= 0 &&
            run->number == n->entries.ptr[n->entries.len - 1].commit.run)
            head.open_run = run->number;
    }
    *out = head;
    return 0;
}

static int hand_out(valise_commit *out, const entry *e, vls_arena *arena, valise_error *err)
{
    int rc = e ? vls_commit_copy(out, &e->commit, arena, err) : 0;

    return rc < 0 ? rc : e != NULL;
}

static int naive_newest(valise_commit *out, void *self, valise_str key, valise_error *err)
{
    view *v = inside(self);

    return hand_out(out, newest_of(v, key), &v->n->scratch, err);
}

static int naive_present(valise_commit *out, void *self, valise_str key, valise_error *err)
{
    naive *n = inside(self)->n;

    return hand_out(out, newest_of(&n->newest, key), &n->scratch, err);
}

static bool is_at_checkpoint(const naive *n, const entry *e)
{
    for (size_t i = 0; i < n->rows[3].len; i++) {
        const vls_bag_checkpoint_row *row = n->rows[3].ptr[i];
        if (newest_in(n, e->commit.key, row->seq, row->seq) == e)
            return true;
    }
    return false;
}

/* The newest commit of a key that is no item any more, while any of its commits is kept. */
static const entry *gone_in(const naive *n, valise_str key, int64_t upto, int64_t edge)
{
    const entry *newest = NULL;
    bool kept = false;

    for (size_t i = 0; i < n->entries.len; i++) {
        const entry *e = &n->entries.ptr[i];
        if (e->commit.seq > upto || !vls_str_equal(e->commit.key, key))
            continue;
        newest = e;
        kept |= e->commit.seq > edge || e->commit.seq <= n->restored || is_held(n, e, edge) ||
                is_at_checkpoint(n, e);
    }
    if (!newest && n->origin)
        return gone_in(n->origin, key, n->origin_seq, n->origin_edge);
    if (newest && !kept && n->origin)
        kept = newest_in(n->origin, key, n->origin_seq, n->origin_edge) ||
               gone_in(n->origin, key, n->origin_seq, n->origin_edge);
    return kept && !vls_commit_is_live(&newest->commit) ? newest : NULL;
}

static int naive_version(int64_t *out, void *self, valise_str key, valise_error *err)
{
    const view *v = inside(self);
    const entry *e = gone_in(v->n, key, upto_of(v), edge_of(v));

    (void)err;
    *out = e ? e->commit.version : 0;
    return 0;
}

static int naive_commit(valise_commit *out, void *self, const valise_uuid *backpack, int64_t seq,
                        valise_error *err)
{
    view *v = inside(self);

    return hand_out(out, entry_at(v->n, backpack, seq, upto_of(v), edge_of(v)), &v->n->scratch,
                    err);
}

static bool naive_includes(void *self, const valise_uuid *backpack, int64_t seq)
{
    const view *v = inside(self);
    const naive *n = v->n;
    int64_t upto = upto_of(v);

    for (; n && !vls_uuid_equal(&n->options.id, backpack); n = n->origin)
        upto = n->origin_seq;
    return n && seq <= upto;
}

static valise_blob *find_value(const naive *n, const valise_id *id)
{
    for (size_t i = 0; i < n->entries.len; i++) {
        if (n->entries.ptr[i].value && vls_id_equal(&n->entries.ptr[i].commit.value, id))
            return valise_blob_ref(n->entries.ptr[i].value);
    }
    return n->origin ? find_value(n->origin, id) : NULL;
}

static int naive_value(valise_blob **out, void *self, const valise_commit *commit,
                       valise_error *err)
{
    valise_blob *found = find_value(inside(self)->n, &commit->value);

    if (!found)
        return vls_fail(err, VALISE_E_NOT_FOUND, "the value of '%.*s' is gone",
                        VALISE_STR_ARG(commit->key));
    *out = found;
    return 0;
}

/* ---- changes ---- */

static int naive_append(void *self, valise_commit *commit, valise_blob *value, valise_error *err)
{
    view *v = inside(self);
    naive *n = v->n;
    entry e = {.value = value};
    static const valise_id none;
    int rc;

    CHECK_MSG(v->upto < 0, "a frozen ledger cannot be changed");
    CHECK_MSG(commit->seq == 0 || commit->seq > last_of(n), "seq %lld is not behind the last",
              (long long)commit->seq);
    CHECK_MSG((value != NULL) == !vls_id_equal(&commit->value, &none), "a value and its id");
    CHECK_MSG(!value || (int64_t)vls_blob_bytes(value).len == commit->value_size, "its size");
    rc = vls_commit_copy(&e.commit, commit, &n->kept, err);
    if (rc < 0)
        return rc;
    if (!vls_vec_reserve(&n->entries, n->env, n->entries.len + 1))
        return vls_fail_memory(err);
    e.commit.seq = commit->seq ? commit->seq : last_of(n) + 1;
    e.commit.backpack = n->options.id;
    e.commit.id = vls_commit_id(&n->options.id, e.commit.seq, e.commit.time);
    e.commit.outcome = VALISE_NONE;
    CHECK_MSG(n->entries.len == 0 ||
                  e.commit.time >= n->entries.ptr[n->entries.len - 1].commit.time,
              "times never decrease");
    if (value)
        valise_blob_ref(value);
    n->entries.ptr[n->entries.len++] = e;
    commit->seq = e.commit.seq;
    commit->backpack = e.commit.backpack;
    commit->id = e.commit.id;
    return 0;
}

static int op_set_edge(void *self, int64_t edge, valise_error *err)
{
    naive *n = inside(self)->n;

    (void)err;
    CHECK(n->newest.n == n && edge >= last_of(n));
    n->edge = n->restored = edge;
    return 0;
}

/* ---- rows ---- */

/* Keys are UUIDs, numbers and texts. */
static int compare_keys(const valise_coll *coll, const void *a, const void *b)
{
    int order = 0;

    for (const valise_field *f = coll->fields; order == 0 && (f->flags & VALISE_KEY); f++) {
        const void *x = (const char *)a + f->offset, *y = (const char *)b + f->offset;
        if (f->type == VALISE_T_UUID)
            order = vls_uuid_compare(x, y);
        else if (f->type == VALISE_T_INT)
            order = (*(const int64_t *)x > *(const int64_t *)y) -
                    (*(const int64_t *)x < *(const int64_t *)y);
        else
            order = vls_str_compare(*(const valise_str *)x, *(const valise_str *)y);
    }
    return order;
}

static int copy_row(void *to, const valise_coll *coll, const void *row, vls_arena *arena,
                    valise_error *err)
{
    int rc = 0;

    memcpy(to, row, coll->row_size);
    for (const valise_field *f = coll->fields; f->name && rc == 0; f++) {
        void *member = (char *)to + f->offset;
        if (f->type == VALISE_T_STR && ((valise_str *)member)->ptr)
            rc = vls_arena_dup(member, arena, *(valise_str *)member, err);
        else if (f->type == VALISE_T_LIST)
            rc = vls_bag_copy_names(member, arena, err);
    }
    return rc;
}

/* Where the row with this key is, or belongs. */
static size_t row_at(bool *found, const row_vec *rows, const valise_coll *coll, const void *row)
{
    size_t at = 0;

    while (at < rows->len && compare_keys(coll, rows->ptr[at], row) < 0)
        at++;
    *found = at < rows->len && compare_keys(coll, rows->ptr[at], row) == 0;
    return at;
}

static int naive_row_get(void *row, void *self, const valise_coll *coll, valise_error *err)
{
    view *v = inside(self);
    const row_vec *rows = rows_of(v->n, coll);
    bool found;
    size_t at = row_at(&found, rows, coll, row);
    int rc = found ? copy_row(row, coll, rows->ptr[at], &v->n->scratch, err) : 0;

    return rc < 0 ? rc : found;
}

static bool is_of_access(const valise_coll *coll)
{
    return coll == &vls_bag_permissions || coll == &vls_bag_rules;
}

static int check_change(const view *v, const valise_coll *coll, valise_error *err)
{
    CHECK_MSG(v->upto < 0, "a frozen ledger cannot be changed");
    if (v->n->options.no_rows)
        return vls_fail(err, VALISE_E_UNSUPPORTED, "rows of %s cannot be changed here", coll->name);
    return 0;
}

static int64_t next_run(const row_vec *runs, valise_str node)
{
    int64_t newest = 0;

    for (size_t i = 0; i < runs->len; i++) {
        const vls_run_row *run = runs->ptr[i];
        if (vls_str_equal(run->node_id, node))
            newest = VLS_MAX(newest, run->nth);
    }
    return newest + 1;
}

static int naive_row_put(void *self, const valise_coll *coll, const void *row, valise_error *err)
{
    view *v = inside(self);
    row_vec *rows = rows_of(v->n, coll);
    bool found;
    size_t at = row_at(&found, rows, coll, row);
    vls_run_row run;
    void *copy;
    int rc = check_change(v, coll, err);

    if (rc < 0)
        return rc;
    if (coll == &vls_bag_runs) {
        run = *(const vls_run_row *)row;
        run.nth = run.nth ? run.nth : next_run(rows, run.node_id);
        row = &run;
    }
    copy = vls_arena_alloc(&v->n->kept, coll->row_size);
    rc = copy ? copy_row(copy, coll, row, &v->n->kept, err) : vls_arena_fail(&v->n->kept, err);
    if (rc < 0)
        return rc;
    if (!found) {
        if (!vls_vec_push(rows, v->n->env, NULL))
            return vls_fail_memory(err);
        memmove(rows->ptr + at + 1, rows->ptr + at, (rows->len - 1 - at) * sizeof(void *));
    }
    rows->ptr[at] = copy;
    if (is_of_access(coll))
        v->n->generation++;
    return 0;
}

static int naive_row_delete(void *self, const valise_coll *coll, const void *row, valise_error *err)
{
    view *v = inside(self);
    row_vec *rows = rows_of(v->n, coll);
    bool found;
    size_t at = row_at(&found, rows, coll, row);
    int rc = check_change(v, coll, err);

    if (rc < 0)
        return rc;
    if (found) {
        memmove(rows->ptr + at, rows->ptr + at + 1, (rows->len - 1 - at) * sizeof(void *));
        rows->len--;
        if (is_of_access(coll))
            v->n->generation++;
    }
    return found;
}

/* ---- walks ---- */

/* Commits to walk over, chosen before the first callback. */
typedef vls_vec(valise_commit) walk;

static int walk_add(walk *w, vls_arena *arena, const entry *e, valise_error *err)
{
    valise_commit copy = {0};
    int rc = vls_commit_copy(&copy, &e->commit, arena, err);

    if (rc == 0 && !vls_vec_push(w, arena->env, copy))
        rc = vls_fail_memory(err);
    return rc;
}

/* The callback's commit is a copy of its own that is gone afterwards. */
static int call(valise_commit_fn *fn, void *arg, const valise_env *env, const valise_commit *commit,
                valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_commit copy = {0};
    int rc;

    vls_arena_init(&arena, env, SIZE_MAX);
    rc = vls_commit_copy(&copy, commit, &arena, err);
    return rc < 0 ? rc : fn(arg, &copy, err);
}

static int walk_run(walk *w, const valise_env *env, valise_commit_fn *fn, void *arg,
                    valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < w->len && rc == 0; i++)
        rc = call(fn, arg, env, &w->ptr[i], err);
    vls_vec_release(w, env);
    return rc;
}

static int add_keys(texts *keys, const naive *n, valise_error *err)
{
    for (; n; n = n->origin) {
        for (size_t i = 0; i < n->entries.len; i++) {
            if (!vls_vec_push(keys, n->env, n->entries.ptr[i].commit.key))
                return vls_fail_memory(err);
        }
    }
    return 0;
}

/* Is it walked over? pattern NULL: all. */
static bool is_wanted(const entry *e, const valise_str *pattern)
{
    return e && vls_commit_is_live(&e->commit) &&
           (!pattern || namespace_matches(*pattern, e->commit.namespace_name));
}

/* Items, or what is left of keys that are none. */
static int each_key(view *v, bool gone, const valise_str *pattern, valise_commit_fn *fn, void *arg,
                    valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    const naive *n = v->n;
    texts keys = VLS_VEC_INIT;
    walk w = VLS_VEC_INIT;
    int rc;

    vls_arena_init(&arena, n->env, SIZE_MAX);
    rc = add_keys(&keys, n, err);
    sort_keys(&keys);
    for (size_t i = 0; i < keys.len && rc == 0; i++) {
        const entry *e =
            gone ? gone_in(n, keys.ptr[i], upto_of(v), edge_of(v)) : newest_of(v, keys.ptr[i]);
        if (gone ? e != NULL : is_wanted(e, pattern))
            rc = walk_add(&w, &arena, e, err);
    }
    vls_vec_release(&keys, n->env);
    if (rc < 0)
        vls_vec_release(&w, n->env);
    return rc < 0 ? rc : walk_run(&w, n->env, fn, arg, err);
}

static int naive_each_item(void *self, valise_commit_fn *fn, void *arg, valise_error *err)
{
    return each_key(outside(self), false, NULL, fn, arg, err);
}

static int naive_each_gone(void *self, valise_commit_fn *fn, void *arg, valise_error *err)
{
    return each_key(outside(self), true, NULL, fn, arg, err);
}

static int naive_each_named(void *self, valise_str pattern, valise_commit_fn *fn, void *arg,
                            valise_error *err)
{
    return each_key(outside(self), false, &pattern, fn, arg, err);
}

static int naive_each_version(void *self, valise_str key, valise_commit_fn *fn, void *arg,
                              valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    view *v = outside(self);
    const naive *n = v->n;
    int64_t upto = upto_of(v), edge = edge_of(v);
    walk w = VLS_VEC_INIT;
    int rc = 0;

    vls_arena_init(&arena, n->env, SIZE_MAX);
    while (n) {
        for (size_t i = n->entries.len; i > 0 && rc == 0; i--) {
            const entry *e = &n->entries.ptr[i - 1];
            if (vls_str_equal(e->commit.key, key) && e->commit.seq <= upto &&
                (e->commit.seq > edge || newest_in(n, key, edge, edge) == e))
                rc = walk_add(&w, &arena, e, err);
        }
        upto = n->origin_seq;
        edge = n->origin_edge;
        n = n->origin;
    }
    if (rc < 0)
        vls_vec_release(&w, v->n->env);
    return rc < 0 ? rc : walk_run(&w, v->n->env, fn, arg, err);
}

static int naive_each_commit(void *self, int64_t first, int64_t last, bool reverse,
                             valise_commit_fn *fn, void *arg, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    view *v = outside(self);
    const naive *n = v->n;
    walk w = VLS_VEC_INIT;
    int rc = 0;

    vls_arena_init(&arena, n->env, SIZE_MAX);
    for (size_t i = 0; i < n->entries.len && rc == 0; i++) {
        const entry *e = &n->entries.ptr[reverse ? n->entries.len - 1 - i : i];
        if (e->commit.seq >= first && e->commit.seq <= last && e->commit.seq <= upto_of(v) &&
            e->commit.seq > edge_of(v))
            rc = walk_add(&w, &arena, e, err);
    }
    if (rc < 0)
        vls_vec_release(&w, n->env);
    return rc < 0 ? rc : walk_run(&w, n->env, fn, arg, err);
}

typedef int difference_fn(void *arg, const valise_commit *in_self, const valise_commit *in_other,
                          valise_error *err);

static int call_difference(difference_fn *fn, void *arg, const valise_env *env, const entry *a,
                           const entry *b, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_commit x = {0}, y = {0};
    int rc;

    vls_arena_init(&arena, env, SIZE_MAX);
    rc = a ? vls_commit_copy(&x, &a->commit, &arena, err) : 0;
    if (rc == 0 && b)
        rc = vls_commit_copy(&y, &b->commit, &arena, err);
    return rc < 0 ? rc : fn(arg, a ? &x : NULL, b ? &y : NULL, err);
}

static int naive_each_difference(void *self, void *other, difference_fn *fn, void *arg,
                                 valise_error *err)
{
    view *a = outside(self), *b = outside(other);
    const valise_env *env = a->n->env;
    texts keys = VLS_VEC_INIT;
    int rc;

    if (a->n->options.no_difference)
        return vls_fail(err, VALISE_E_UNSUPPORTED, "compare item by item");
    rc = add_keys(&keys, a->n, err);
    if (rc == 0)
        rc = add_keys(&keys, b->n, err);
    sort_keys(&keys);
    for (size_t i = 0; i < keys.len && rc == 0; i++) {
        const entry *x = newest_of(a, keys.ptr[i]), *y = newest_of(b, keys.ptr[i]);
        if (x != y)
            rc = call_difference(fn, arg, env, x, y, err);
    }
    vls_vec_release(&keys, env);
    return rc;
}

static int naive_ran(void *self, valise_str node_id, valise_error *err)
{
    const view *v = inside(self);
    const row_vec *rows = rows_of(v->n, &vls_bag_runs);

    (void)err;
    for (size_t i = 0; i < rows->len; i++) {
        if (vls_str_equal(((const vls_run_row *)rows->ptr[i])->node_id, node_id))
            return 1;
    }
    return 0;
}

static int naive_each_row(void *self, const valise_coll *coll,
                          int (*fn)(void *arg, const void *row, valise_error *err), void *arg,
                          valise_error *err)
{
    view *v = outside(self);
    const row_vec *rows = rows_of(v->n, coll);
    vls_vec(void *) list = VLS_VEC_INIT;
    int rc = 0;

    for (size_t i = 0; i < rows->len && rc == 0; i++) {
        if (!vls_vec_push(&list, v->n->env, rows->ptr[i]))
            rc = vls_fail_memory(err);
    }
    for (size_t i = 0; i < list.len && rc == 0; i++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        vls_any_row copy;
        vls_arena_init(&arena, v->n->env, SIZE_MAX);
        rc = copy_row(&copy, coll, list.ptr[i], &arena, err);
        if (rc == 0)
            rc = fn(arg, &copy, err);
    }
    vls_vec_release(&list, v->n->env);
    return rc;
}

/* ---- reads ---- */

static int copy_read(vls_ledger_read *out, const vls_ledger_read *read, vls_arena *arena,
                     valise_error *err)
{
    valise_str *texts_of[] = {&out->node_id, &out->node_name, &out->namespace_name, &out->key};
    int rc;

    *out = *read;
    rc = vls_bag_copy_names(&out->tags, arena, err);
    for (size_t i = 0; i < VLS_COUNT(texts_of) && rc == 0; i++) {
        if (texts_of[i]->ptr)
            rc = vls_arena_dup(texts_of[i], arena, *texts_of[i], err);
    }
    return rc;
}

static void naive_read_add(void *self, const vls_ledger_read *read)
{
    naive *n = inside(self)->n;
    vls_ledger_read copy = {0};

    if (copy_read(&copy, read, &n->kept, NULL) == 0)
        (void)vls_vec_push(&n->reads, n->env, copy);
}

static int naive_each_read(void *self,
                           int (*fn)(void *arg, const vls_ledger_read *read, valise_error *err),
                           void *arg, valise_error *err)
{
    naive *n = outside(self)->n;
    int rc = 0;

    for (size_t i = n->reads.len; i > 0 && rc == 0; i--) {
        VLS_AUTO(arena) vls_arena arena = {0};
        vls_ledger_read copy = {0};
        vls_arena_init(&arena, n->env, SIZE_MAX);
        rc = copy_read(&copy, &n->reads.ptr[i - 1], &arena, err);
        if (rc == 0)
            rc = fn(arg, &copy, err);
    }
    return rc;
}

/* ---- usage ---- */

/* Is the value held by an item, or by the quarantine? */
static bool is_in_state(const view *v, const valise_id *id)
{
    const naive *n = v->n;

    for (size_t i = 0; i < n->entries.len; i++) {
        const entry *e = &n->entries.ptr[i];
        bool live = newest_of(v, e->commit.key) == e && vls_commit_is_live(&e->commit);
        for (size_t q = 0; q < n->rows[2].len && !live; q++) {
            const vls_quarantine_row *row = n->rows[2].ptr[q];
            live = row->released == 0 && row->item == e->commit.seq;
        }
        if (live && vls_id_equal(&e->commit.value, id))
            return true;
    }
    return false;
}

static int naive_usage(valise_usage *out, void *self, valise_error *err)
{
    view *v = outside(self);
    const naive *n = v->n;
    valise_usage usage = {.size = sizeof(usage), .reads = (int64_t)n->reads.len};

    (void)err;
    for (size_t i = 0; i < n->entries.len; i++) {
        const entry *e = &n->entries.ptr[i];
        bool first = e->value != NULL;
        if (newest_of(v, e->commit.key) == e && vls_commit_is_live(&e->commit))
            usage.items++;
        for (size_t j = 0; j < i && first; j++)
            first = !vls_id_equal(&n->entries.ptr[j].commit.value, &e->commit.value);
        if (first && is_in_state(v, &e->commit.value))
            usage.state_bytes += e->commit.value_size;
        if (e->commit.seq > upto_of(v) || e->commit.seq <= edge_of(v))
            continue;
        usage.commits++;
        usage.history_bytes += 128;
        if (first && !is_in_state(v, &e->commit.value))
            usage.history_bytes += e->commit.value_size;
        if (usage.first_seq == 0)
            usage.first_seq = e->commit.seq;
        usage.last_seq = e->commit.seq;
    }
    for (size_t i = 0; i < n->rows[2].len; i++)
        usage.quarantined += ((const vls_quarantine_row *)n->rows[2].ptr[i])->released == 0;
    *out = usage;
    return 0;
}

/* ---- frozen ones ---- */

static bool is_checkpoint(const naive *n, int64_t seq)
{
    for (size_t i = 0; i < n->rows[3].len; i++) {
        if (((const vls_bag_checkpoint_row *)n->rows[3].ptr[i])->seq == seq)
            return true;
    }
    return false;
}

static int naive_freeze(vls_ledger *out, void *self, int64_t upto, valise_error *err);
static void naive_release(void *self);

static const vls_ledger_ops naive_ops = {
    .name = "naive",
    .enter = naive_enter,
    .leave = naive_leave,
    .head = naive_head,
    .newest = naive_newest,
    .present = naive_present,
    .version = naive_version,
    .commit = naive_commit,
    .includes = naive_includes,
    .value = naive_value,
    .append = naive_append,
    .set_edge = op_set_edge,
    .row_get = naive_row_get,
    .row_put = naive_row_put,
    .row_delete = naive_row_delete,
    .each_item = naive_each_item,
    .each_gone = naive_each_gone,
    .each_named = naive_each_named,
    .each_version = naive_each_version,
    .each_commit = naive_each_commit,
    .each_difference = naive_each_difference,
    .each_row = naive_each_row,
    .read_add = naive_read_add,
    .ran = naive_ran,
    .each_read = naive_each_read,
    .usage = naive_usage,
    .freeze = naive_freeze,
    .release = naive_release,
};

static int naive_freeze(vls_ledger *out, void *self, int64_t upto, valise_error *err)
{
    view *v = outside(self);
    view *frozen;

    CHECK_MSG(upto <= upto_of(v) && (upto >= edge_of(v) || is_checkpoint(v->n, upto)),
              "no state %lld", (long long)upto);
    frozen = vls_mem_zalloc(v->n->env, sizeof(*frozen));
    if (!frozen)
        return vls_fail_memory(err);
    frozen->n = v->n;
    frozen->upto = upto;
    frozen->edge = VLS_MIN(edge_of(v), upto);
    *out = (vls_ledger){.ops = &naive_ops, .self = frozen, .frozen = true};
    return 0;
}

static void naive_release(void *self)
{
    view *v = outside(self);

    CHECK_MSG(v->upto >= 0, "not a frozen one");
    vls_mem_free(v->n->env, v, sizeof(*v));
}

/* ---- making ---- */

int naive_new(naive **out, const valise_env *env, const naive_options *options, valise_error *err)
{
    naive *n = vls_mem_zalloc(env, sizeof(*n));
    int rc;

    if (!n)
        return vls_fail_memory(err);
    n->env = env;
    n->options = *options;
    n->generation = 1;
    vls_arena_init(&n->kept, env, SIZE_MAX);
    vls_arena_init(&n->scratch, env, SIZE_MAX);
    n->newest = (view){n, -1, 0};
    rc = vls_arena_dup(&n->options.name, &n->kept, options->name, err);
    if (rc == 0)
        rc = vls_bag_copy_names(&n->options.sticky, &n->kept, err);
    if (rc < 0) {
        naive_free(n);
        return rc;
    }
    *out = n;
    return 0;
}

void naive_free(naive *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->entries.len; i++)
        valise_blob_unref(n->entries.ptr[i].value);
    vls_vec_release(&n->entries, n->env);
    for (size_t i = 0; i < COLLS; i++)
        vls_vec_release(&n->rows[i], n->env);
    vls_vec_release(&n->reads, n->env);
    vls_arena_release(&n->kept);
    vls_arena_release(&n->scratch);
    vls_mem_free(n->env, n, sizeof(*n));
}

int naive_fork(naive **out, const vls_ledger *from, const naive_options *options, valise_error *err)
{
    const view *v = from->self;
    naive *n = NULL;
    int64_t entries = 0;
    int rc = naive_new(&n, v->n->env, options, err);

    if (rc < 0)
        return rc;
    n->origin = v->n;
    n->origin_seq = upto_of(v);
    n->origin_edge = edge_of(v);
    n->entered = true;
    for (size_t c = 5; c <= 6 && rc == 0; c++) {
        for (size_t i = 0; i < v->n->rows[c].len && rc == 0; i++) {
            vls_permission_row permission;
            vls_rule_row rule;
            if (c == 5) {
                permission = *(const vls_permission_row *)v->n->rows[c].ptr[i];
                permission.backpack = options->id;
                rc = naive_row_put(&n->newest, colls[c], &permission, err);
            } else {
                rule = *(const vls_rule_row *)v->n->rows[c].ptr[i];
                if (vls_uuid_equal(&rule.backpack, &v->n->options.id))
                    rule.backpack = options->id;
                rc = naive_row_put(&n->newest, colls[c], &rule, err);
            }
        }
    }
    for (size_t i = 0; i < v->n->rows[2].len; i++)
        entries += vls_entry_is_there(v->n->rows[2].ptr[i], n->origin_seq);
    for (size_t i = 0; i < v->n->rows[2].len && rc == 0; i++) {
        vls_quarantine_row row = *(const vls_quarantine_row *)v->n->rows[2].ptr[i];
        if (!vls_entry_is_there(&row, n->origin_seq))
            continue;
        vls_entry_inherit(&row, &options->id, -entries--);
        rc = naive_row_put(&n->newest, colls[2], &row, err);
    }
    for (size_t i = 0; i < v->n->rows[7].len && rc == 0; i++) {
        vls_taint_row row = *(const vls_taint_row *)v->n->rows[7].ptr[i];
        if (vls_mark_inherit(&row, &options->id, n->origin_seq))
            rc = naive_row_put(&n->newest, colls[7], &row, err);
    }
    n->entered = false;
    if (rc < 0) {
        naive_free(n);
        return rc;
    }
    *out = n;
    return 0;
}

vls_ledger naive_ledger(naive *n)
{
    return (vls_ledger){.ops = &naive_ops, .self = &n->newest};
}

void naive_set_edge(naive *n, int64_t edge)
{
    CHECK(edge >= n->edge && edge <= last_of(n));
    n->edge = edge;
}

void naive_allow_rows(naive *n, bool allow)
{
    n->options.no_rows = !allow;
}
