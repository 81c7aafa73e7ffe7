/* moves.c -- what was removed here and added there; see compare.h.
 *
 * Both sides are lists in the order of paths, so what lies in a directory is a range behind it. An
 * index over both, sorted by object id, has those that are alike side by side. A directory that is
 * taken as moved takes its range along, which may leave others one to one: so directories are gone
 * through until no more are found. */
#include "tree/compare.h"

#include "base/text.h"

#define MAX_ROUNDS 16

typedef struct item {
    valise_str path;
    valise_id object;
    size_t end; /* of the range behind it that lies in it */
    uint8_t kind;
    bool counts; /* as a move: it can be read */
    bool empty;
    bool taken; /* moved, or within what is; or within what is ambiguous */
} item;

typedef struct side {
    vls_vec(item) items;
} side;

typedef struct ref {
    uint32_t which; /* side */
    size_t at;
} ref;

/* A content that went from a path, or came to one. */
typedef struct trace {
    valise_id object;
    valise_str path;
    bool stays;   /* there is something at the path before and after: it has changed */
    valise_id is; /* then: went: what is there now */
} trace;

typedef struct finder {
    const valise_env *env;
    vls_scan *out;
    side sides[2];            /* removed, added */
    vls_vec(trace) traces[2]; /* went, came: of what has changed, and in the end of all */
    vls_vec(ref) index;
    /* A directory that cannot be read: what was in it is not gone. len 0: none. */
    valise_str closed;
} finder;

/* Some that are alike: index[from..to), and those that are not taken. */
typedef struct group {
    size_t from, to;
    size_t left[2];  /* how many, of each side */
    size_t first[2]; /* the first of them */
} group;

/* ---- collecting ---- */

static int add_item(finder *f, int which, valise_str path, const vls_node *node, valise_error *err)
{
    item it = {.object = node->object,
               .kind = (uint8_t)node->kind,
               .counts = node->kind != VLS_NODE_UNREADABLE,
               .empty = node->size == 0};
    int rc = vls_arena_dup(&it.path, &f->out->arena, path, err);

    if (rc < 0)
        return rc;
    return vls_vec_push(&f->sides[which].items, f->env, it) ? 0 : vls_fail_memory(err);
}

static bool is_content(const vls_node *node)
{
    return (node->kind == VLS_NODE_FILE || node->kind == VLS_NODE_LINK) && node->size > 0;
}

/* What was at a path that has changed may be elsewhere, and what is there may be from elsewhere. */
static int add_traces(finder *f, const vls_difference *d, valise_error *err)
{
    trace went = {.object = d->was->object, .stays = true, .is = d->is->object};
    trace came = {.object = d->is->object, .stays = true};
    int rc;

    if (!is_content(d->was) && !is_content(d->is))
        return 0;
    rc = vls_arena_dup(&went.path, &f->out->arena, d->path, err);
    came.path = went.path;
    if (rc < 0)
        return rc;
    if ((is_content(d->was) && !vls_vec_push(&f->traces[0], f->env, went)) ||
        (is_content(d->is) && !vls_vec_push(&f->traces[1], f->env, came)))
        return vls_fail_memory(err);
    return 0;
}

static int collect(void *arg, const vls_difference *d, valise_error *err)
{
    finder *f = arg;
    int rc = 0;

    if (d->was && d->is && d->was->kind == VLS_NODE_DIR && d->is->kind == VLS_NODE_UNREADABLE)
        return vls_arena_dup(&f->closed, &f->out->arena, d->path, err);
    if (vls_difference_is_kept(d))
        return add_traces(f, d, err);
    if (f->closed.len > 0 && vls_path_is_under(d->path, f->closed))
        return 0;
    if (d->was)
        rc = add_item(f, 0, d->path, d->was, err);
    if (rc == 0 && d->is)
        rc = add_item(f, 1, d->path, d->is, err);
    return rc;
}

/* From the end: an item's range goes on for as long as paths are under it. */
static void set_ends(side *s)
{
    for (size_t i = s->items.len; i > 0; i--) {
        item *it = &s->items.ptr[i - 1];
        it->end = i;
        while (it->end < s->items.len && vls_path_is_under(s->items.ptr[it->end].path, it->path))
            it->end = s->items.ptr[it->end].end;
    }
}

static int compare_refs(const void *a, const void *b, void *arg)
{
    const finder *f = arg;
    const ref *x = a, *y = b;
    int order = vls_id_compare(&f->sides[x->which].items.ptr[x->at].object,
                               &f->sides[y->which].items.ptr[y->at].object);

    if (order)
        return order;
    if (x->which != y->which)
        return x->which < y->which ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static int make_index(finder *f, valise_error *err)
{
    for (uint32_t which = 0; which < 2; which++) {
        set_ends(&f->sides[which]);
        for (size_t i = 0; i < f->sides[which].items.len; i++) {
            if (f->sides[which].items.ptr[i].counts &&
                !vls_vec_push(&f->index, f->env, (ref){which, i}))
                return vls_fail_memory(err);
        }
    }
    if (f->index.len > 1)
        qsort_r(f->index.ptr, f->index.len, sizeof(ref), compare_refs, f);
    return 0;
}

/* ---- groups ---- */

static item *item_of(const finder *f, const ref *r)
{
    return &f->sides[r->which].items.ptr[r->at];
}

/* The group that begins there: object ids tell kinds apart, too. */
static group group_at(const finder *f, size_t from)
{
    group g = {.from = from, .to = from};
    const valise_id *object = &item_of(f, &f->index.ptr[from])->object;

    while (g.to < f->index.len && vls_id_equal(&item_of(f, &f->index.ptr[g.to])->object, object)) {
        const ref *r = &f->index.ptr[g.to++];
        if (item_of(f, r)->taken)
            continue;
        if (g.left[r->which]++ == 0)
            g.first[r->which] = r->at;
    }
    return g;
}

static void take_range(side *s, size_t from)
{
    for (size_t i = from; i < s->items.ptr[from].end; i++)
        s->items.ptr[i].taken = true;
}

typedef struct match {
    size_t removed, added;
} match;

typedef vls_vec(match) match_vec;

static int compare_matches(const void *a, const void *b)
{
    const match *x = a, *y = b;

    return (x->removed > y->removed) - (x->removed < y->removed);
}

/* All pairs of that sort that are one to one now, in the order of where they were. */
static int find_pairs(match_vec *out, const finder *f, bool dirs, valise_error *err)
{
    out->len = 0;
    for (size_t at = 0; at < f->index.len;) {
        group g = group_at(f, at);
        bool is_dir = item_of(f, &f->index.ptr[at])->kind == VLS_NODE_DIR;
        at = g.to;
        if (is_dir != dirs || g.left[0] != 1 || g.left[1] != 1)
            continue;
        if (!vls_vec_push(out, f->env, (match){g.first[0], g.first[1]}))
            return vls_fail_memory(err);
    }
    if (out->len > 1)
        qsort(out->ptr, out->len, sizeof(match), compare_matches);
    return 0;
}

static int add_move(finder *f, const match *m, valise_error *err)
{
    item *from = &f->sides[0].items.ptr[m->removed], *to = &f->sides[1].items.ptr[m->added];
    int64_t nodes = (int64_t)(from->end - m->removed);

    take_range(&f->sides[0], m->removed);
    take_range(&f->sides[1], m->added);
    f->out->removed -= nodes;
    f->out->added -= (int64_t)(to->end - m->added);
    f->out->moved++;
    return vls_vec_push_in(&f->out->moves, &f->out->arena, (vls_scan_move){from->path, to->path})
               ? 0
               : vls_arena_fail(&f->out->arena, err);
}

/* 1 when there were some. */
static int take_pairs(finder *f, match_vec *pairs, bool dirs, valise_error *err)
{
    int found = 0, rc = find_pairs(pairs, f, dirs, err);

    for (size_t i = 0; rc == 0 && i < pairs->len; i++) {
        const match *m = &pairs->ptr[i];
        if (f->sides[0].items.ptr[m->removed].taken || f->sides[1].items.ptr[m->added].taken)
            continue; /* within one that was taken just now */
        rc = add_move(f, m, err);
        found = 1;
    }
    return rc < 0 ? rc : found;
}

/* ---- what is ambiguous ---- */

static int report_one(finder *f, const group *g, const item *gone, valise_error *err)
{
    const item *fresh = &f->sides[1].items.ptr[g->first[1]];
    vls_scan_problem problem = {
        .path = gone->path, .code = VALISE_E_CONFLICT, .minor = gone->empty};
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, &f->out->arena, 1024);
    vls_buf_printf(&text, "%zu alike %s gone and %zu %s new, such as '%s'", g->left[0],
                   g->left[0] == 1 ? "is" : "are", g->left[1], g->left[1] == 1 ? "is" : "are",
                   vls_text_short(fresh->path).s);
    rc = vls_buf_keep(&problem.message, &text, err);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&f->out->ambiguous, &f->out->arena, problem)
               ? 0
               : vls_arena_fail(&f->out->arena, err);
}

/* What is empty is alike by nature: whether there is a word to be lost is a question for each. */
static int report(finder *f, const group *g, valise_error *err)
{
    int rc = 0;

    for (size_t i = g->from; i < g->to && rc == 0; i++) {
        const ref *r = &f->index.ptr[i];
        const item *it = item_of(f, r);
        if (r->which == 0 && !it->taken && (it->empty || r->at == g->first[0]))
            rc = report_one(f, g, it, err);
    }
    return rc;
}

/* Nothing within these is worth a word: it is as ambiguous as they are. */
static void take_group(finder *f, const group *g)
{
    for (size_t i = g->from; i < g->to; i++) {
        const ref *r = &f->index.ptr[i];
        if (!item_of(f, r)->taken)
            take_range(&f->sides[r->which], r->at);
    }
}

static int compare_groups(const void *a, const void *b)
{
    const group *x = a, *y = b;

    return (x->first[0] > y->first[0]) - (x->first[0] < y->first[0]);
}

static int report_ambiguous(finder *f, bool dirs, valise_error *err)
{
    vls_vec(group) groups = VLS_VEC_INIT;
    int rc = 0;

    for (size_t at = 0; at < f->index.len && rc == 0;) {
        group g = group_at(f, at);
        bool is_dir = item_of(f, &f->index.ptr[at])->kind == VLS_NODE_DIR;
        at = g.to;
        if (is_dir == dirs && g.left[0] > 0 && g.left[1] > 0 && !vls_vec_push(&groups, f->env, g))
            rc = vls_fail_memory(err);
    }
    if (groups.len > 1)
        qsort(groups.ptr, groups.len, sizeof(group), compare_groups);
    for (size_t i = 0; i < groups.len && rc == 0; i++) {
        group g = group_at(f, groups.ptr[i].from);
        if (g.left[0] == 0 || g.left[1] == 0)
            continue;
        rc = report(f, &g, err);
        take_group(f, &g);
    }
    vls_vec_release(&groups, f->env);
    return rc;
}

/* ---- what took the place of another ---- */

static int compare_traces(const void *a, const void *b)
{
    const trace *x = a, *y = b;
    int order = vls_id_compare(&x->object, &y->object);

    return order ? order : vls_path_compare(x->path, y->path);
}

static int compare_problems(const void *a, const void *b)
{
    const vls_scan_problem *x = a, *y = b;

    return vls_path_compare(x->path, y->path);
}

static int by_object(const void *key, const void *member)
{
    return vls_id_compare(key, &((const trace *)member)->object);
}

static const trace *find_trace(const finder *f, int which, const valise_id *object)
{
    return f->traces[which].len == 0 ? NULL
                                     : bsearch(object, f->traces[which].ptr, f->traces[which].len,
                                               sizeof(trace), by_object);
}

static int report_trace(finder *f, const trace *went, const trace *came, valise_error *err)
{
    vls_scan_problem problem = {.path = went->path, .code = VALISE_E_CONFLICT, .minor = true};
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, &f->out->arena, 1024);
    vls_buf_printf(&text, "what was there is at '%s' now, but one took the place of another",
                   vls_text_short(came->path).s);
    rc = vls_buf_keep(&problem.message, &text, err);
    if (rc == 0 && !vls_vec_push_in(&f->out->ambiguous, &f->out->arena, problem))
        rc = vls_arena_fail(&f->out->arena, err);
    return rc;
}

/* Files that were put where others were (a to b, b to c, or one onto another, or a swap) have
 * changed, and nothing follows them. One that was edited, and a copy of it as it was, is no such
 * case: what is there now came from nowhere. */
static int report_traces(finder *f, valise_error *err)
{
    size_t first = f->out->ambiguous.len;
    int rc = 0;

    if (f->traces[0].len + f->traces[1].len == 0)
        return 0;
    for (int which = 0; which < 2; which++) {
        for (size_t i = 0; i < f->sides[which].items.len; i++) {
            const item *it = &f->sides[which].items.ptr[i];
            trace one = {.object = it->object, .path = it->path};
            if (it->taken || it->empty || !it->counts || it->kind == VLS_NODE_DIR)
                continue;
            if (!vls_vec_push(&f->traces[which], f->env, one))
                return vls_fail_memory(err);
        }
        if (f->traces[which].len > 1)
            qsort(f->traces[which].ptr, f->traces[which].len, sizeof(trace), compare_traces);
    }
    for (size_t i = 0; i < f->traces[0].len && rc == 0; i++) {
        const trace *went = &f->traces[0].ptr[i];
        const trace *came = find_trace(f, 1, &went->object);
        if (came && (!went->stays || find_trace(f, 0, &went->is)))
            rc = report_trace(f, went, came, err);
    }
    if (f->out->ambiguous.len > first + 1)
        qsort(f->out->ambiguous.ptr + first, f->out->ambiguous.len - first,
              sizeof(vls_scan_problem), compare_problems);
    return rc;
}

/* ---- all of it ---- */

static int compare_moves(const void *a, const void *b)
{
    const vls_scan_move *x = a, *y = b;

    return vls_path_compare(x->from, y->from);
}

static int find(finder *f, valise_error *err)
{
    match_vec pairs = VLS_VEC_INIT;
    int rc = make_index(f, err);

    for (int round = 0; round < MAX_ROUNDS && rc >= 0; round++) {
        rc = take_pairs(f, &pairs, true, err);
        if (rc == 0)
            break;
    }
    if (rc >= 0)
        rc = report_ambiguous(f, true, err);
    if (rc >= 0)
        rc = take_pairs(f, &pairs, false, err);
    if (rc >= 0)
        rc = report_ambiguous(f, false, err);
    if (rc >= 0)
        rc = report_traces(f, err);
    vls_vec_release(&pairs, f->env);
    if (f->out->moves.len > 1)
        qsort(f->out->moves.ptr, f->out->moves.len, sizeof(vls_scan_move), compare_moves);
    return rc < 0 ? rc : 0;
}

int vls_moves_find(vls_scan *out, const valise_env *env, vls_each_difference_fn *each, void *self,
                   valise_error *err)
{
    finder f = {.env = env, .out = out};
    int rc = each(self, collect, &f, err);

    if (rc == 0)
        rc = find(&f, err);
    for (int i = 0; i < 2; i++) {
        vls_vec_release(&f.sides[i].items, f.env);
        vls_vec_release(&f.traces[i], f.env);
    }
    vls_vec_release(&f.index, f.env);
    return rc;
}

typedef struct of_walk {
    const vls_walk *walk;
} of_walk;

static int each_of_walk(void *self, vls_difference_fn *fn, void *arg, valise_error *err)
{
    return vls_compare_each(((const of_walk *)self)->walk, fn, arg, err);
}

int vls_compare_moves(vls_scan *out, const vls_walk *walk, valise_error *err)
{
    of_walk of = {walk};

    return vls_moves_find(out, walk->options->env, each_of_walk, &of, err);
}
