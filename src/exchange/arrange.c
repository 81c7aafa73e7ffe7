/* arrange.c -- the turns of a foreign conversation as a graph of ours can take them: without
 * cycles, parents first, calls before their results, ranges that split no pair. */
#include <stdio.h>

#include "base/map.h"
#include "chat/rows.h"
#include "exchange/foreign.h"

/* ---- order ---- */

enum { NOT_SEEN, ON_THE_WAY, SEEN };

/* Walk up from each turn; who is met again on the same way closes a cycle, which is cut there. */
static int cut_cycles(vls_foreign *f, vls_translation *r, valise_error *err)
{
    uint8_t *seen = vls_arena_zalloc(r->arena, f->turns.len + 1);
    int rc = 0;

    if (!seen)
        return vls_arena_fail(r->arena, err);
    for (size_t i = 0; rc == 0 && i < f->turns.len; i++) {
        size_t at = i, last = i;
        while (at != VLS_NO_TURN && seen[at] == NOT_SEEN) {
            seen[at] = ON_THE_WAY;
            last = at;
            at = f->turns.ptr[at].parent;
        }
        if (at != VLS_NO_TURN && seen[at] == ON_THE_WAY) {
            f->turns.ptr[last].parent = VLS_NO_TURN;
            rc = vls_notes_problem(r->notes, f->turns.ptr[last].line, r->offset, err,
                                   "a turn is its own ancestor: it was taken without a parent");
        }
        for (at = i; at != VLS_NO_TURN && seen[at] == ON_THE_WAY; at = f->turns.ptr[at].parent)
            seen[at] = SEEN;
    }
    return rc;
}

typedef struct sorting {
    vls_foreign *f;
    size_t *order;  /* new number -> old one */
    size_t *number; /* old number -> new one, or VLS_NO_TURN */
    size_t *way;
    size_t count;
} sorting;

/* This turn and what is above it. */
static void take_path(sorting *s, size_t leaf)
{
    size_t len = 0;

    for (size_t at = leaf; at != VLS_NO_TURN && s->number[at] == VLS_NO_TURN;
         at = s->f->turns.ptr[at].parent)
        s->way[len++] = at;
    while (len > 0) {
        s->number[s->way[--len]] = s->count;
        s->order[s->count++] = s->way[len];
    }
}

static size_t renumber(const sorting *s, size_t old)
{
    return old == VLS_NO_TURN ? VLS_NO_TURN : s->number[old];
}

static int apply_order(sorting *s, vls_translation *r, valise_error *err)
{
    vls_foreign *f = s->f;
    vls_foreign_turn *sorted = vls_arena_array(r->arena, f->turns.len, sizeof(*sorted));

    if (!sorted)
        return vls_arena_fail(r->arena, err);
    for (size_t i = 0; i < s->count; i++) {
        sorted[i] = f->turns.ptr[s->order[i]];
        sorted[i].parent = renumber(s, sorted[i].parent);
        sorted[i].covers_to = renumber(s, sorted[i].covers_to);
    }
    f->turns.ptr = sorted;
    f->turns.cap = f->turns.len;
    f->head = renumber(s, f->head);
    return 0;
}

/* What has no time was said when the turn before it was. */
static void fill_times(vls_foreign *f)
{
    for (size_t i = 0; i < f->turns.len; i++) {
        vls_foreign_turn *turn = &f->turns.ptr[i];
        if (turn->time == VALISE_NONE)
            turn->time = turn->parent == VLS_NO_TURN ? f->created : f->turns.ptr[turn->parent].time;
    }
}

int vls_foreign_arrange(vls_foreign *f, vls_translation *r, valise_error *err)
{
    sorting s = {.f = f};
    size_t n = f->turns.len;
    int rc;

    if (n == 0)
        return 0;
    rc = cut_cycles(f, r, err);
    s.order = vls_arena_array(r->arena, n, 3 * sizeof(size_t));
    if (rc < 0 || !s.order)
        return rc < 0 ? rc : vls_arena_fail(r->arena, err);
    s.number = s.order + n;
    s.way = s.number + n;
    for (size_t i = 0; i < n; i++)
        s.number[i] = VLS_NO_TURN;
    if (f->head != VLS_NO_TURN)
        take_path(&s, f->head);
    for (size_t i = 0; i < n; i++)
        take_path(&s, i);
    rc = apply_order(&s, r, err);
    if (rc == 0)
        fill_times(f);
    return rc;
}

/* ---- pairs ---- */

/* A call: where it is, and the next one with the same id. */
typedef struct call {
    valise_str id;
    size_t turn;
    struct call *next;
} call;

typedef struct mending {
    vls_foreign *f;
    vls_translation *r;
    vls_map calls;
    uint64_t seed;
    size_t *first, *last; /* of each turn: numbers of the walk at which it and all below it lie */
} mending;

static bool has_id(const void *item, const void *key)
{
    return vls_str_equal(((const call *)item)->id, *(const valise_str *)key);
}

static bool is_type(vls_json block, const char *type)
{
    return vls_type_is(vls_text_of(block, "type"), type);
}

/* Is a the same as b, or above it? Parents come before children, so that what is below a turn is
 * found by intervals of a walk: made from sizes, without recursion. */
static bool is_above(const mending *m, size_t a, size_t b)
{
    return m->first[a] <= m->first[b] && m->last[b] <= m->last[a];
}

static int number_walk(mending *m, valise_error *err)
{
    size_t n = m->f->turns.len, roots = 0;
    size_t *used = vls_arena_array(m->r->arena, n + 1, 3 * sizeof(*used));

    if (!used)
        return vls_arena_fail(m->r->arena, err);
    m->first = used + n;
    m->last = m->first + n;
    for (size_t i = 0; i < n; i++)
        m->last[i] = 1;
    for (size_t i = n; i-- > 0;)
        if (m->f->turns.ptr[i].parent != VLS_NO_TURN)
            m->last[m->f->turns.ptr[i].parent] += m->last[i];
    for (size_t i = 0; i < n; i++) {
        size_t up = m->f->turns.ptr[i].parent, *next = up == VLS_NO_TURN ? &roots : &used[up];
        size_t count = m->last[i];
        m->first[i] = *next;
        *next += count;
        used[i] = m->first[i] + 1;
        m->last[i] = m->first[i] + count; /* behind the last */
    }
    return 0;
}

static int remember_call(mending *m, vls_json block, size_t turn, valise_error *err)
{
    call *one = vls_arena_alloc(m->r->arena, sizeof(*one));
    uint64_t hash;

    if (!one)
        return vls_arena_fail(m->r->arena, err);
    *one = (call){.id = vls_text_of(block, "callId"), .turn = turn};
    hash = vls_str_hash(one->id, m->seed);
    one->next = vls_map_get(&m->calls, hash, &one->id);
    return vls_map_put(NULL, &m->calls, hash, &one->id, one) < 0 ? vls_fail_memory(err) : 0;
}

static int gather_calls(mending *m, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < m->f->turns.len; i++) {
        const vls_foreign_turn *turn = &m->f->turns.ptr[i];
        if (turn->state == VLS_FOREIGN_ERASED || turn->state == VLS_FOREIGN_DELETED)
            continue; /* its calls are not there any more */
        for (uint32_t k = 0; rc == 0 && k < turn->blocks.len; k++)
            if (is_type(turn->blocks.items[k], "tool_use"))
                rc = remember_call(m, turn->blocks.items[k], i, err);
    }
    return rc;
}

/* Calls of the path above, or of the turn itself. The newest are looked at first. */
static bool is_answer(const mending *m, vls_json block, size_t turn)
{
    valise_str id = vls_text_of(block, "callId");
    const call *one = vls_map_get(&m->calls, vls_str_hash(id, m->seed), &id);

    while (one && !is_above(m, one->turn, turn))
        one = one->next;
    return one != NULL;
}

static bool stands_before(vls_json blocks, uint32_t k)
{
    vls_json id = vls_member_of(blocks.items[k], "callId"),
             type = vls_member_of(blocks.items[k], "type");

    for (uint32_t i = 0; i < k; i++)
        if (vls_json_equal(vls_member_of(blocks.items[i], "callId"), id) &&
            vls_json_equal(vls_member_of(blocks.items[i], "type"), type))
            return true;
    return false;
}

/* A block of ours that cannot stand where it is keeps what it says under another type. */
static int put_aside(vls_json *block, mending *m, const char *type, valise_error *err)
{
    return vls_json_with(block, m->r->arena, *block, "type", vls_json_string(valise_str_of(type)),
                         err);
}

/* Within results there are texts, images and documents, and types of others. */
static int mend_content(vls_json *block, mending *m, valise_error *err)
{
    vls_json content = vls_member_of(*block, "content"), *items;
    bool changed = false;
    int rc = 0;

    if (content.type != VLS_JSON_ARRAY || content.len == 0)
        return 0;
    items = vls_arena_array(m->r->arena, content.len, sizeof(*items));
    if (!items)
        return vls_arena_fail(m->r->arena, err);
    for (uint32_t i = 0; rc == 0 && i < content.len; i++) {
        items[i] = content.items[i];
        if (!is_type(items[i], "thinking") && !is_type(items[i], "tool_use"))
            continue;
        rc = put_aside(&items[i], m, is_type(items[i], "thinking") ? "x-thinking" : "x-tool_use",
                       err);
        changed = true;
    }
    if (rc < 0 || !changed)
        return rc;
    return vls_json_with(block, m->r->arena, *block, "content", vls_json_array(items, content.len),
                         err);
}

/* ---- ranges ---- */

/* Does a result behind `to`, on the path up to `turn`, answer a call of the path up to `to`? */
static bool splits_pair(const mending *m, size_t to, size_t turn)
{
    for (size_t at = m->f->turns.ptr[turn].parent; at != VLS_NO_TURN && at != to;
         at = m->f->turns.ptr[at].parent) {
        vls_json blocks = m->f->turns.ptr[at].blocks;
        for (uint32_t k = 0; k < blocks.len; k++)
            if (is_type(blocks.items[k], "tool_result") && is_answer(m, blocks.items[k], to))
                return true;
    }
    return false;
}

static bool is_there(const vls_foreign_turn *turn)
{
    return turn->state != VLS_FOREIGN_DELETED;
}

/* The turn that the range can end at; VLS_NO_TURN: there is no such range. */
static size_t range_end(const mending *m, size_t turn)
{
    size_t to = m->f->turns.ptr[turn].covers_to;

    if (to == VLS_NO_TURN || to == turn || !is_above(m, to, turn))
        return VLS_NO_TURN;
    while (to != VLS_NO_TURN && (!is_there(&m->f->turns.ptr[to]) || splits_pair(m, to, turn)))
        to = m->f->turns.ptr[to].parent;
    return to;
}

static size_t root_of(const mending *m, size_t turn)
{
    size_t found = turn;

    for (size_t at = turn; at != VLS_NO_TURN; at = m->f->turns.ptr[at].parent)
        if (is_there(&m->f->turns.ptr[at]))
            found = at;
    return found;
}

static int ref_of(vls_json *out, mending *m, size_t turn, valise_error *err)
{
    vls_turn_ref ref = {m->f->turns.ptr[turn].id, 1};
    valise_str text;
    int rc = vls_arena_dup(&text, m->r->arena, valise_str_of(vls_turn_ref_write(&ref).s), err);

    if (rc == 0)
        *out = vls_json_string(text);
    return rc;
}

/* A summary of nothing is a text. */
static int mend_summary(vls_json *block, mending *m, size_t turn, valise_error *err)
{
    size_t to = range_end(m, turn);
    vls_json from_ref = vls_json_null(), to_ref = vls_json_null(), covers = vls_json_null();
    int rc;

    if (to == VLS_NO_TURN)
        return put_aside(block, m, "text", err);
    rc = ref_of(&from_ref, m, root_of(m, to), err);
    if (rc == 0)
        rc = ref_of(&to_ref, m, to, err);
    if (rc == 0)
        rc = VLS_PAIRS(&covers, m->r->arena, err, {"from", from_ref, false}, {"to", to_ref, false});
    return rc < 0 ? rc : vls_json_with(block, m->r->arena, *block, "covers", covers, err);
}

/* ---- all of it ---- */

static int mend_block(vls_json *block, mending *m, size_t i, vls_json blocks, uint32_t k,
                      valise_error *err)
{
    if (is_type(*block, "summary"))
        return mend_summary(block, m, i, err);
    if (is_type(*block, "tool_use") && stands_before(blocks, k))
        return put_aside(block, m, "x-repeated-tool_use", err);
    if (!is_type(*block, "tool_result"))
        return 0;
    if (!is_answer(m, *block, i) || stands_before(blocks, k)) {
        m->r->notes->orphans++;
        return put_aside(block, m, "x-orphan-tool_result", err);
    }
    return mend_content(block, m, err);
}

static int mend_turn(mending *m, size_t i, valise_error *err)
{
    vls_foreign_turn *turn = &m->f->turns.ptr[i];
    vls_json blocks = turn->blocks, *items;
    int rc = 0;

    items = vls_arena_array(m->r->arena, blocks.len, sizeof(*items));
    if (!items)
        return vls_arena_fail(m->r->arena, err);
    for (uint32_t k = 0; rc == 0 && k < blocks.len; k++) {
        items[k] = blocks.items[k];
        rc = mend_block(&items[k], m, i, blocks, k, err);
    }
    turn->blocks = vls_json_array(items, blocks.len);
    return rc;
}

/* Most turns have nothing that could be wrong. */
static bool needs_a_look(const vls_foreign_turn *turn)
{
    for (uint32_t k = 0; k < turn->blocks.len; k++)
        if (is_type(turn->blocks.items[k], "tool_result") ||
            is_type(turn->blocks.items[k], "tool_use") || is_type(turn->blocks.items[k], "summary"))
            return true;
    return false;
}

int vls_foreign_mend(vls_foreign *f, vls_translation *r, valise_error *err)
{
    mending m = {.f = f, .r = r, .seed = (uint64_t)(uintptr_t)f};
    int rc;

    vls_map_init(&m.calls, r->env, has_id);
    rc = number_walk(&m, err);
    if (rc == 0)
        rc = gather_calls(&m, err);
    for (size_t i = 0; rc == 0 && i < f->turns.len; i++)
        if (f->turns.ptr[i].state == VLS_FOREIGN_NEW && needs_a_look(&f->turns.ptr[i]))
            rc = mend_turn(&m, i, err);
    vls_map_release(&m.calls);
    return rc;
}
