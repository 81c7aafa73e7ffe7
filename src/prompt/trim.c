/* trim.c -- where a history begins when it does not fit. */
#include "prompt/trim.h"

#include "base/map.h"
#include "json/make.h"

int64_t vls_trim_round(int64_t from, int64_t to)
{
    int64_t number = to;

    assert(from >= 0 && from <= to);
    while ((number & (number - 1)) >= from && number != 0)
        number &= number - 1;
    return number;
}

/* ---- where it may begin ---- */

typedef struct call {
    valise_str id;
    size_t part;
} call;

static bool has_id(const void *item, const void *key)
{
    return vls_str_equal(((const call *)item)->id, *(const valise_str *)key);
}

static bool is(vls_json block, const char *type)
{
    return vls_str_equal(vls_text_of(block, "type"), valise_str_of(type));
}

/* Somebody speaks anew: words of the user, or a summary of what was before. */
static bool speaks(const vls_part *part)
{
    for (uint32_t i = 0; part->value.type == VLS_JSON_ARRAY && i < part->value.len; i++) {
        vls_json block = part->value.items[i];

        if (is(block, "summary") || (part->says == VLS_SAYS_USER && !is(block, "tool_result")))
            return true;
    }
    return false;
}

/* What the results of a part, and of those behind it, need. */
typedef struct needs {
    size_t
        call; /* the part with the earliest call that they answer; their own where there is none */
    bool unread; /* one of the calls is not there */
} needs;

static int add_call(vls_map *calls, valise_str id, size_t part, vls_arena *arena, valise_error *err)
{
    call *c = vls_arena_alloc(arena, sizeof(*c));

    if (!c)
        return vls_arena_fail(arena, err);
    *c = (call){id, part};
    return vls_map_put(NULL, calls, vls_str_hash(id, 0), &c->id, c) < 0 ? vls_fail_memory(err) : 0;
}

static int find_needs(needs *out, vls_map *calls, const vls_part *parts, size_t i, vls_arena *arena,
                      valise_error *err)
{
    vls_json value = parts[i].value;
    int rc = 0;

    *out = (needs){.call = i};
    for (uint32_t b = 0; value.type == VLS_JSON_ARRAY && b < value.len && rc == 0; b++) {
        valise_str id = vls_text_of(value.items[b], "callId");

        if (is(value.items[b], "tool_result")) {
            const call *c = vls_map_get(calls, vls_str_hash(id, 0), &id);
            out->call = c ? VLS_MIN(out->call, c->part) : out->call;
            out->unread |= !c;
        } else if (is(value.items[b], "tool_use")) {
            rc = add_call(calls, id, i, arena, err);
        }
    }
    return rc;
}

static vls_opens how_it_opens(const needs *behind, const vls_part *part, size_t i, bool whole)
{
    if (behind->call < i)
        return VLS_OPENS_NEVER;
    if (behind->unread && !whole)
        return VLS_OPENS_BLIND;
    return speaks(part) ? VLS_OPENS_WELL : VLS_OPENS_BARE;
}

int vls_trim_opens(vls_place_of *places, const vls_part *parts, size_t count, bool whole,
                   vls_arena *arena, valise_error *err)
{
    VLS_AUTO(map) vls_map calls = {0};
    needs *each = vls_arena_array(arena, count + 1, sizeof(*each));
    needs behind = {.call = count};
    int rc = 0;

    if (!each)
        return vls_arena_fail(arena, err);
    vls_map_init(&calls, arena->env, has_id);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = find_needs(&each[i], &calls, parts, i, arena, err);
    for (size_t i = count; i-- > 0 && rc == 0;) {
        behind.call = VLS_MIN(behind.call, each[i].call);
        behind.unread |= each[i].unread;
        places[i].opens = how_it_opens(&behind, &parts[i], i, whole);
    }
    return rc;
}

/* ---- where it begins ---- */

/* The first place in this stretch of the path that opens so well; count: none. */
static size_t find_place(const vls_place_of *places, size_t first, size_t count, int64_t from,
                         int64_t to, vls_opens least)
{
    while (first < count && !(places[first].opens >= least && places[first].position >= from &&
                              places[first].position <= to))
        first++;
    return first;
}

size_t vls_trim(const vls_place_of *places, const vls_part *parts, size_t count, bool whole,
                int64_t room)
{
    int64_t sum = 0, oldest, newest, wanted, middle;
    size_t fits = count, first = count;

    while (fits > 0 && parts[fits - 1].tokens <= room - sum)
        sum += parts[--fits].tokens;
    if ((fits == 0 && whole) || count == 0)
        return 0;
    if (fits == count)
        return count;
    oldest = places[fits].position;
    newest = places[count - 1].position;
    wanted = vls_trim_round(oldest, oldest + (newest - oldest) / 4);
    middle = oldest + (newest - oldest) / 2;
    for (vls_opens least = VLS_OPENS_WELL; first == count && least >= VLS_OPENS_BARE; least--)
        first = find_place(places, fits, count, wanted, middle, least);
    /* Around the round number nothing may: anywhere, then. */
    for (vls_opens least = VLS_OPENS_WELL; first == count && least > VLS_OPENS_NEVER; least--)
        first = find_place(places, fits, count, oldest, newest, least);
    return first;
}
