/* diff.c -- one walk over two values; what it finds is reported or becomes a patch.
 *
 * For a patch the edits of a container are gathered as the walk goes, front to back, each with
 * the path it has when the edits before it are done:
 *
 *     a: x  B  C  y            replace /1 (B to b)
 *     b: x  b  y  z            remove  /2 (C)
 *                              add     /3 (z)
 *
 * When the container is complete, settle() may drop its edits and replace it instead.
 *
 * Invariants: nothing is reported for equal values, whatever the budget; the paths gathered stay
 * below MAX_PATH_BYTES and the items shifted by applying below half of what a patch may do by
 * default, because settle() replaces the container that goes over.
 *
 * Start reading at walk_values(). */
#include "json/diff.h"

#include "base/vec.h"
#include "json/align.h"
#include "json/patch.h"
#include "json/pointer.h"

#define MAX_PATH_BYTES ((size_t)16 << 20)
#define MAX_SHIFT_BYTES (VLS_PATCH_MAX_WORK_BYTES / 2)
#define TEXT_PER_WEIGHT 32u

typedef struct edit {
    size_t path_at, path_len; /* in the script's text */
    vls_json before, after;
    bool has_before, has_after;
} edit;

/* How much of a script there is: a point to go back to. */
typedef struct script_size {
    size_t edits, text_bytes;
    uint64_t weight;      /* of the edits, see diff.h */
    uint64_t shift_bytes; /* moved when they are applied */
} script_size;

typedef struct script {
    vls_vec(edit) edits;
    vls_buf text;
    script_size size;
    bool with_tests;
    bool full; /* an edit did not fit: its container must be replaced */
} script;

typedef struct walk {
    const valise_env *env;
    vls_arena scratch;
    vls_buf path;
    uint64_t align_work, weigh_work; /* what may still be done */
    script *script;                  /* or NULL: report to fn */
    vls_json_change_fn *fn;
    void *arg;
    valise_error *err;
} walk;

static void walk_init(walk *w, const vls_arena *arena, uint64_t max_work, valise_error *err)
{
    *w = (walk){.env = arena->env, .err = err};
    w->align_work = w->weigh_work = max_work ? max_work : VLS_DIFF_MAX_WORK;
    vls_arena_init(&w->scratch, arena->env, arena->max);
    vls_buf_init(&w->path, arena->env, SIZE_MAX);
}

static void vls_auto_walk(walk *w)
{
    vls_arena_release(&w->scratch);
    vls_buf_release(&w->path);
}

static void script_release(script *s, const valise_env *env)
{
    vls_vec_release(&s->edits, env);
    vls_buf_release(&s->text);
}

/* ---- gathering edits ---- */

static uint64_t text_weight(size_t bytes)
{
    return bytes / TEXT_PER_WEIGHT;
}

/* 1 for each value in v and more for text; once it is over limit the rest is not looked at. */
static uint64_t weigh(walk *w, vls_json v, uint64_t limit, unsigned depth)
{
    bool is_text = v.type == VLS_JSON_STRING || v.type == VLS_JSON_BIG;
    bool is_object = v.type == VLS_JSON_OBJECT;
    uint64_t weight = 1 + (is_text ? text_weight(v.len) : 0);

    (void)vls_align_spend(&w->weigh_work, 1);
    if ((!is_object && v.type != VLS_JSON_ARRAY) || depth == VLS_JSON_MAX_DEPTH)
        return weight;
    for (size_t i = 0; i < v.len && weight <= limit && w->weigh_work > 0; i++) {
        if (is_object)
            weight += text_weight(v.members[i].key.len);
        weight += weigh(w, is_object ? v.members[i].value : v.items[i],
                        limit - VLS_MIN(weight, limit), depth + 1);
    }
    return weight;
}

/* What an edit here weighs; before and after may be NULL. */
static uint64_t weigh_edit(walk *w, const vls_json *before, const vls_json *after, uint64_t limit)
{
    uint64_t weight = 1 + text_weight(w->path.len);

    if (before && w->script->with_tests)
        weight += weight + weigh(w, *before, limit, 0);
    if (after && weight <= limit)
        weight += weigh(w, *after, limit - weight, 0);
    return weight;
}

static int add_edit(walk *w, const vls_json *before, const vls_json *after)
{
    script *s = w->script;
    edit e = {.path_at = s->text.len, .path_len = w->path.len};

    if (s->full)
        return 0;
    if (w->path.len > MAX_PATH_BYTES - s->text.len) {
        s->full = true;
        return 0;
    }
    e.has_before = before != NULL;
    e.has_after = after != NULL;
    e.before = before ? *before : vls_json_null();
    e.after = after ? *after : vls_json_null();
    vls_buf_add(&s->text, vls_buf_str(&w->path));
    int rc = vls_buf_check(&s->text, w->err);
    if (rc < 0)
        return rc;
    if (!vls_vec_push(&s->edits, w->env, e))
        return vls_fail_memory(w->err);
    s->size.weight += weigh_edit(w, before, after, UINT64_MAX);
    return 0;
}

static script_size script_here(const script *s)
{
    script_size size = s->size;

    size.edits = s->edits.len;
    size.text_bytes = s->text.len;
    return size;
}

/* A container is complete whose edits began at start: keep them or replace it. */
static int settle(walk *w, script_size start, vls_json a, vls_json b)
{
    script *s = w->script;
    uint64_t weight = s->size.weight - start.weight;
    bool replace = s->full || s->size.shift_bytes > MAX_SHIFT_BYTES;

    if (s->edits.len == start.edits && !s->full)
        return 0;
    if (!replace && w->weigh_work > 0)
        replace = weight > weigh_edit(w, &a, &b, weight) && w->weigh_work > 0;
    if (!replace)
        return 0;
    s->edits.len = start.edits;
    s->text.len = start.text_bytes;
    s->size = start;
    s->full = false;
    return add_edit(w, &a, &b);
}

/* ---- the walk ---- */

static int walk_values(walk *w, vls_json a, vls_json b, unsigned depth);

static int report(walk *w, const vls_json *before, const vls_json *after)
{
    int rc = vls_buf_check(&w->path, w->err);

    if (rc < 0)
        return rc;
    if (w->script)
        return add_edit(w, before, after);
    return w->fn(w->arg, vls_buf_str(&w->path), before, after);
}

/* The children of the container at hand are `len` now, one goes in or out at index. */
static void note_shift(walk *w, size_t len, size_t index, size_t child_size)
{
    if (w->script)
        w->script->size.shift_bytes += (uint64_t)(len - index) * child_size;
}

static bool is_full(const walk *w)
{
    return w->script && w->script->full;
}

static int report_item(walk *w, size_t index, const vls_json *before, const vls_json *after)
{
    size_t path_len = w->path.len;

    vls_pointer_add_index(&w->path, index);
    int rc = report(w, before, after);
    w->path.len = path_len;
    return rc;
}

/* Some items of a that are not in b, where b has others: gone, changed and new ones. */
typedef struct gap {
    size_t a, a_len; /* in array a */
    size_t b, b_len; /* in array b, and where the edits are by then */
    size_t len;      /* of the array by then */
} gap;

static int report_gone(walk *w, vls_json a, gap g)
{
    int rc = 0;

    /* Backwards for a patch: the last first shifts least, and indexes stay what they are. */
    for (size_t i = g.b_len; i < g.a_len && rc == 0 && !is_full(w); i++) {
        size_t at = w->script ? g.a_len - 1 - (i - g.b_len) : i;
        note_shift(w, g.len--, g.b + at, sizeof(vls_json));
        rc = report_item(w, (w->script ? g.b : g.a) + at, &a.items[g.a + at], NULL);
    }
    return rc;
}

static int walk_gap(walk *w, vls_json a, vls_json b, gap g, unsigned depth)
{
    size_t both = VLS_MIN(g.a_len, g.b_len);
    size_t path_len = w->path.len;
    int rc = 0;

    for (size_t i = 0; i < both && rc == 0 && !is_full(w); i++) {
        vls_pointer_add_index(&w->path, g.b + i);
        rc = walk_values(w, a.items[g.a + i], b.items[g.b + i], depth + 1);
        w->path.len = path_len;
    }
    if (rc == 0)
        rc = report_gone(w, a, g);
    for (size_t i = both; i < g.b_len && rc == 0 && !is_full(w); i++) {
        note_shift(w, g.len++, g.b + i, sizeof(vls_json));
        rc = report_item(w, g.b + i, NULL, &b.items[g.b + i]);
    }
    return rc;
}

static int walk_arrays(walk *w, vls_json a, vls_json b, unsigned depth)
{
    vls_arena_mark mark = vls_arena_here(&w->scratch);
    const uint32_t *match;
    size_t i = 0, j = 0;
    int rc = vls_align_arrays(&match, &w->scratch, a, b, &w->align_work, w->err);

    while (rc == 0 && (i < a.len || j < b.len) && !is_full(w)) {
        gap g = {.a = i, .b = j, .len = j + (a.len - i)};
        while (i < a.len && match[i] == VLS_ALIGN_NONE)
            i++;
        j = i < a.len ? match[i] : b.len;
        g.a_len = i - g.a;
        g.b_len = j - g.b;
        rc = walk_gap(w, a, b, g, depth);
        if (i < a.len) {
            i++;
            j++;
        }
    }
    vls_arena_rewind(&w->scratch, mark);
    return rc;
}

/* Negative: the key of x comes first or y has none left; positive: the other way round. */
static int member_order(vls_json x, size_t i, vls_json y, size_t j)
{
    if (i == x.len || j == y.len)
        return j == y.len ? -1 : 1;
    return vls_json_key_compare(vls_json_str(x.members[i].key), vls_json_str(y.members[j].key));
}

static int walk_objects(walk *w, vls_json a, vls_json b, unsigned depth)
{
    size_t path_len = w->path.len, len = a.len;
    size_t i = 0, j = 0;
    int rc = 0;

    while (rc == 0 && (i < a.len || j < b.len) && !is_full(w)) {
        int order = member_order(a, i, b, j);
        const vls_member *x = order <= 0 ? &a.members[i] : NULL;
        const vls_member *y = order >= 0 ? &b.members[j] : NULL;
        const vls_member *named = x ? x : y;

        assert(named);
        vls_pointer_add_key(&w->path, vls_json_str(named->key));
        if (x && y) {
            rc = walk_values(w, x->value, y->value, depth + 1);
        } else {
            note_shift(w, len, j, sizeof(vls_member));
            len = x ? len - 1 : len + 1;
            rc = report(w, x ? &x->value : NULL, y ? &y->value : NULL);
        }
        w->path.len = path_len;
        i += x != NULL;
        j += y != NULL;
    }
    return rc;
}

static int walk_values(walk *w, vls_json a, vls_json b, unsigned depth)
{
    bool both_arrays = a.type == VLS_JSON_ARRAY && b.type == VLS_JSON_ARRAY;
    bool both_objects = a.type == VLS_JSON_OBJECT && b.type == VLS_JSON_OBJECT;
    script_size start = {0};
    int rc;

    if (vls_align_identical(a, b))
        return 0;
    if ((!both_arrays && !both_objects) || depth == VLS_JSON_MAX_DEPTH)
        return report(w, &a, &b);
    if (w->script)
        start = script_here(w->script);
    rc = both_arrays ? walk_arrays(w, a, b, depth) : walk_objects(w, a, b, depth);
    if (rc == 0 && w->script)
        rc = settle(w, start, a, b);
    return rc;
}

int vls_json_changes(const vls_arena *arena, vls_json a, vls_json b,
                     const vls_diff_options *options, vls_json_change_fn *fn, void *arg,
                     valise_error *err)
{
    VLS_AUTO(walk) walk w = {0};

    walk_init(&w, arena, options ? options->max_work : 0, err);
    w.fn = fn;
    w.arg = arg;
    return walk_values(&w, a, b, 0);
}

/* ---- the patch ---- */

static vls_json make_op(vls_member **room, valise_str op, valise_str path, const vls_json *value)
{
    vls_member *members = *room;
    uint32_t len = 2;

    /* In the order of their keys, as objects are. */
    members[0] = (vls_member){vls_json_string(VLS_STR("op")), vls_json_string(op)};
    members[1] = (vls_member){vls_json_string(VLS_STR("path")), vls_json_string(path)};
    if (value)
        members[len++] = (vls_member){vls_json_string(VLS_STR("value")), *value};
    *room += len;
    return (vls_json){.type = VLS_JSON_OBJECT, .len = len, .members = members};
}

static int make_patch(vls_json *out, vls_arena *arena, const script *s, valise_error *err)
{
    size_t count = 0;
    valise_str text;

    for (size_t i = 0; i < s->edits.len; i++)
        count += s->edits.ptr[i].has_before && s->with_tests ? 2 : 1;
    vls_json *ops = vls_arena_array(arena, count, sizeof(vls_json));
    vls_member *room = vls_arena_array(arena, 3 * count, sizeof(vls_member));
    if (!ops || !room)
        return vls_arena_fail(arena, err);
    int rc = vls_arena_dup(&text, arena, vls_buf_str(&s->text), err);
    if (rc < 0)
        return rc;

    vls_json *next = ops;
    for (size_t i = 0; i < s->edits.len; i++) {
        const edit *e = &s->edits.ptr[i];
        valise_str path = {text.ptr + e->path_at, e->path_len};
        if (e->has_before && s->with_tests)
            *next++ = make_op(&room, VLS_STR("test"), path, &e->before);
        if (!e->has_after)
            *next++ = make_op(&room, VLS_STR("remove"), path, NULL);
        else
            *next++ = make_op(&room, e->has_before ? VLS_STR("replace") : VLS_STR("add"), path,
                              &e->after);
    }
    *out = vls_json_array(ops, count);
    return 0;
}

int vls_json_diff(vls_json *patch, vls_arena *arena, vls_json a, vls_json b,
                  const vls_diff_options *options, valise_error *err)
{
    vls_diff_options chosen = options ? *options : (vls_diff_options){0};
    script s = {.edits = VLS_VEC_INIT, .with_tests = chosen.flags & VLS_DIFF_WITH_TESTS};
    vls_arena_mark mark = vls_arena_here(arena);
    VLS_AUTO(walk) walk w = {0};

    walk_init(&w, arena, chosen.max_work, err);
    vls_buf_init(&s.text, arena->env, MAX_PATH_BYTES);
    w.script = &s;
    int rc = walk_values(&w, a, b, 0);
    if (rc == 0)
        rc = make_patch(patch, arena, &s, err);
    if (rc < 0)
        vls_arena_rewind(arena, mark);
    script_release(&s, arena->env);
    return rc;
}
