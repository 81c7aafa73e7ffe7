/* range.c -- see range.h. */
#include "prompt/range.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/text.h"
#include "chat/graph.h"
#include "chat/said.h"
#include "json/make.h"
#include "store/view.h"

/* One turn of the path. */
typedef struct stop {
    vls_turn_ref ref;
    int64_t role;
    valise_id blocks;
    bool seen;    /* models see it as it is: no summary, and not covered by one */
    int64_t over; /* so many pairs and summaries begin here, less those that end here */
} stop;

/* A call, and the place where it stands. */
typedef struct call {
    valise_str id;
    size_t at;
    bool answered;
} call;

typedef struct looking {
    valise_view *view;
    vls_vec(stop) path;
    vls_vec(call *) calls; /* in the order of the path */
    vls_map by_ref, by_id; /* stops; of calls the last one with that id */
} looking;

static bool is_stop(const void *item, const void *key)
{
    return vls_turn_ref_equal(&((const stop *)item)->ref, key);
}

static bool is_call(const void *item, const void *key)
{
    return vls_str_equal(((const call *)item)->id, *(const valise_str *)key);
}

static uint64_t hash_of(const vls_turn_ref *ref)
{
    return vls_str_hash(vls_str((const char *)ref->id.bytes, sizeof(ref->id.bytes)),
                        (uint64_t)ref->version);
}

/* ---- calls ---- */

static void bind(looking *l, size_t first, size_t last)
{
    if (first < last && last < l->path.len) {
        l->path.ptr[first].over++;
        l->path.ptr[last].over--;
    }
}

static int open_call(looking *l, valise_str id, size_t at, valise_error *err)
{
    vls_arena *arena = &l->view->arena;
    call *c = vls_arena_alloc(arena, sizeof(*c));

    if (!c)
        return vls_arena_fail(arena, err);
    *c = (call){.id = id, .at = at};
    if (!vls_vec_push_in(&l->calls, arena, c))
        return vls_arena_fail(arena, err);
    return vls_map_put(NULL, &l->by_id, vls_str_hash(id, 0), &c->id, c) < 0 ? vls_fail_memory(err)
                                                                            : 0;
}

static void close_call(looking *l, valise_str id, size_t at)
{
    call *c = vls_map_get(&l->by_id, vls_str_hash(id, 0), &id);

    if (!c)
        return;
    c->answered = true;
    bind(l, c->at, at);
}

/* A call and its result are one, whether models see them or not: a turn with a summary is refused
 * where it parts them (chat/said.c). */
static int bind_calls(looking *l, const vls_turn_row *turn, size_t at, valise_error *err)
{
    vls_blocks blocks;
    int rc = vls_said_read_of(&blocks, l->view, turn, err);

    for (size_t i = 0; rc == 0 && i < blocks.calls.len; i++)
        rc = open_call(l, blocks.calls.ptr[i], at, err);
    for (size_t i = 0; rc == 0 && i < blocks.results.len; i++)
        close_call(l, blocks.results.ptr[i], at);
    return rc;
}

/* Calls behind which the model has not spoken again may still be answered: they stay. */
static void bind_waiting(looking *l)
{
    size_t spoken = l->path.len;

    while (spoken > 0 && l->path.ptr[spoken - 1].role != VLS_TURN_ASSISTANT)
        spoken--;
    for (size_t i = l->calls.len; i > 0 && l->calls.ptr[i - 1]->at + 1 >= spoken; i--)
        if (!l->calls.ptr[i - 1]->answered)
            l->path.ptr[l->calls.ptr[i - 1]->at].over++;
}

/* ---- the path ---- */

static int add_stop(void *arg, const vls_turn_row *turn, valise_error *err)
{
    looking *l = arg;
    stop s = {.ref = turn->ref, .role = turn->role, .blocks = turn->blocks};

    if (!vls_vec_push_in(&l->path, &l->view->arena, s))
        return vls_arena_fail(&l->view->arena, err);
    return bind_calls(l, turn, l->path.len - 1, err);
}

static int read_path(looking *l, const vls_request *request, valise_error *err)
{
    vls_trail trail = {.env = NULL};
    int rc = vls_trail_make(&trail, l->view, &request->head, NULL, request->first_parents, err);

    if (rc == 0)
        rc = vls_trail_each(&trail, l->view, 0, false, add_stop, l, err);
    vls_trail_release(&trail);
    for (size_t i = 0; i < l->path.len && rc == 0; i++) {
        stop *s = &l->path.ptr[i];

        if (vls_map_put(NULL, &l->by_ref, hash_of(&s->ref), &s->ref, s) < 0)
            rc = vls_fail_memory(err);
    }
    return rc;
}

/* Its number on the path, or that of nobody: path.len. */
static size_t place_of(const looking *l, const vls_turn_ref *ref)
{
    const stop *s = vls_map_get(&l->by_ref, hash_of(ref), ref);

    return s ? (size_t)(s - l->path.ptr) : l->path.len;
}

static size_t place_of_part(const looking *l, const vls_part *part)
{
    vls_turn_ref ref = {.version = 0};

    if (part->kind != VLS_PART_TURN || !vls_turn_ref_read(&ref, part->name))
        return l->path.len;
    return place_of(l, &ref);
}

/* ---- what belongs together ---- */

/* A summary and what it covers are one: true where it is one. */
static bool bind_summary(looking *l, const vls_part *part, size_t at)
{
    bool found = false;

    for (uint32_t i = 0; i < part->value.len; i++) {
        vls_json covers = vls_member_of(part->value.items[i], "covers");
        vls_turn_ref from = {.version = 0};
        size_t first;

        if (!vls_str_equal(vls_text_of(part->value.items[i], "type"), VLS_STR("summary")) ||
            covers.type != VLS_JSON_OBJECT ||
            !vls_turn_ref_read(&from, vls_text_of(covers, "from")))
            continue;
        first = place_of(l, &from);
        if ((size_t)part->stands < first) /* it stands for an older one, too */
            first = (size_t)part->stands;
        found = true;
        if (first < at)
            bind(l, first, at);
    }
    return found;
}

static void bind_summaries(looking *l, const vls_parts *history)
{
    for (size_t i = 0; i < history->len; i++) {
        const vls_part *part = &history->ptr[i];
        size_t at = place_of_part(l, part);

        if (at < l->path.len && part->value.type == VLS_JSON_ARRAY)
            l->path.ptr[at].seen = !bind_summary(l, part, at);
    }
}

/* ---- the range ---- */

static int fail_path(const char *which, valise_str given, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID, "`%s`: turn %s is not on the path of the session", which,
                   vls_text_short(given).s);
    vls_hint(err, "'valise turn log' lists the turns that are");
    return VALISE_E_INVALID;
}

static int find_place(size_t *out, looking *l, const vls_request *request, const char *which,
                      valise_str given, valise_error *err)
{
    vls_turn_row row = {.role = 0};
    int rc = vls_turn_find(&row, l->view, &request->session, given, VALISE_NONE, err);

    if (rc < 0)
        return rc;
    *out = place_of(l, &row.ref);
    return *out == l->path.len ? fail_path(which, given, err) : 0;
}

/* The turn behind the last one that does not stay. */
static size_t end_of(const looking *l, int64_t keep)
{
    size_t end = l->path.len;

    while (end > 0 && keep > 0) {
        end--;
        keep -= l->path.ptr[end].seen;
    }
    return keep > 0 ? 0 : end;
}

/* [*first, *end), cut where it may be. */
static void settle(const looking *l, size_t *first, size_t *end)
{
    int64_t over = 0;
    size_t begin = l->path.len, last = 0;

    for (size_t i = 0; i < l->path.len && i < *end; i++) {
        if (over == 0 && i >= *first && begin == l->path.len)
            begin = i;
        over += l->path.ptr[i].over;
        if (over == 0 && begin < l->path.len)
            last = i + 1;
    }
    *first = begin;
    *end = VLS_MAX(last, begin);
}

static int hash_range(valise_id *out, const looking *l, size_t first, size_t end, valise_error *err)
{
    static const valise_id none = {{0}};
    vls_arena *arena = &l->view->arena;
    valise_id *content = vls_arena_array(arena, end - first, sizeof(*content));

    if (!content)
        return vls_arena_fail(arena, err);
    for (size_t i = first; i < end; i++) {
        const stop *s = &l->path.ptr[i];

        content[i - first] = none;
        if (!vls_id_is_none(&s->blocks))
            vls_turn_hash(&content[i - first], s->role, &s->blocks);
    }
    vls_covers_hash(out, content, end - first);
    return 0;
}

/* What models see of it. A single summary is not made shorter by another one. */
static int take_parts(vls_range *out, looking *l, const vls_parts *history, size_t first,
                      size_t end, valise_error *err)
{
    vls_parts taken = VLS_VEC_INIT;
    size_t seen = 0;

    for (size_t i = 0; i < history->len; i++) {
        size_t at = place_of_part(l, &history->ptr[i]);

        out->all_tokens += history->ptr[i].tokens;
        if (at < first || at >= end)
            continue;
        seen += l->path.ptr[at].seen;
        out->tokens += history->ptr[i].tokens;
        if (!vls_vec_push_in(&taken, &l->view->arena, history->ptr[i]))
            return vls_arena_fail(&l->view->arena, err);
    }
    out->ptr = taken.ptr;
    out->count = seen > 0 ? taken.len : 0;
    return 0;
}

static int find_range(vls_range *out, looking *l, const vls_request *request,
                      const vls_parts *history, const vls_range_asked *asked, valise_error *err)
{
    size_t first = 0, end = 0, last = 0;
    int rc = 0;

    end = end_of(l, asked->keep);
    if (asked->from.ptr)
        rc = find_place(&first, l, request, "from", asked->from, err);
    if (rc == 0 && asked->to.ptr) {
        rc = find_place(&last, l, request, "to", asked->to, err);
        end = last + 1;
    }
    if (rc == 0 && asked->from.ptr && asked->to.ptr && last < first)
        rc = vls_fail(err, VALISE_E_INVALID, "`to` is a turn before `from`");
    if (rc < 0)
        return rc;
    settle(l, &first, &end);
    rc = take_parts(out, l, history, first, end, err);
    if (rc < 0 || out->count == 0)
        return rc;
    out->from = l->path.ptr[first].ref;
    out->to = l->path.ptr[end - 1].ref;
    out->turns = end - first;
    return hash_range(&out->hash, l, first, end, err);
}

int vls_range_find(vls_range *out, valise_view *view, const vls_request *request,
                   const vls_parts *history, const vls_range_asked *asked, valise_error *err)
{
    looking l = {.view = view};
    vls_range made = {.turns = 0};
    int rc;

    if (request->head.ref.version == 0) {
        *out = made; /* nothing was said */
        return 0;
    }
    vls_map_init(&l.by_ref, view->arena.env, is_stop);
    vls_map_init(&l.by_id, view->arena.env, is_call);
    rc = read_path(&l, request, err);
    if (rc == 0) {
        bind_waiting(&l);
        bind_summaries(&l, history);
    }
    if (rc == 0)
        rc = find_range(&made, &l, request, history, asked, err);
    vls_map_release(&l.by_ref);
    vls_map_release(&l.by_id);
    if (rc == 0)
        *out = made;
    return rc;
}
