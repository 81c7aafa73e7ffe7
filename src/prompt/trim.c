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

/* The part with the earliest call that a result of part i answers; i where there is none. */
static int earliest_call(size_t *out, vls_map *calls, const vls_part *parts, size_t i,
                         vls_arena *arena, valise_error *err)
{
    vls_json value = parts[i].value;

    *out = i;
    for (uint32_t b = 0; value.type == VLS_JSON_ARRAY && b < value.len; b++) {
        valise_str id = vls_text_of(value.items[b], "callId");
        call *c;

        if (is(value.items[b], "tool_result")) {
            c = vls_map_get(calls, vls_str_hash(id, 0), &id);
            *out = c && c->part < *out ? c->part : *out;
        } else if (is(value.items[b], "tool_use")) {
            c = vls_arena_alloc(arena, sizeof(*c));
            if (!c)
                return vls_arena_fail(arena, err);
            *c = (call){id, i};
            if (vls_map_put(NULL, calls, vls_str_hash(id, 0), &c->id, c) < 0)
                return vls_fail_memory(err);
        }
    }
    return 0;
}

int vls_trim_opens(vls_place_of *places, const vls_part *parts, size_t count, vls_arena *arena,
                   valise_error *err)
{
    VLS_AUTO(map) vls_map calls = {0};
    size_t *earliest = vls_arena_array(arena, count + 1, sizeof(*earliest));
    int rc = 0;

    if (!earliest)
        return vls_arena_fail(arena, err);
    vls_map_init(&calls, arena->env, has_id);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = earliest_call(&earliest[i], &calls, parts, i, arena, err);
    earliest[count] = count;
    for (size_t i = count; i > 0 && rc == 0; i--) {
        earliest[i - 1] = VLS_MIN(earliest[i - 1], earliest[i]);
        places[i - 1].opens = earliest[i - 1] >= i - 1 && speaks(&parts[i - 1]);
    }
    return rc;
}

/* ---- where it begins ---- */

size_t vls_trim(const vls_place_of *places, const vls_part *parts, size_t count, bool whole,
                int64_t room)
{
    int64_t sum = 0, wanted;
    size_t fits = count, first;

    while (fits > 0 && parts[fits - 1].tokens <= room - sum)
        sum += parts[--fits].tokens;
    if ((fits == 0 && whole) || count == 0)
        return 0;
    if (fits == count)
        return count;
    wanted = places[fits].position;
    wanted = vls_trim_round(wanted, wanted + (places[count - 1].position - wanted) / 4);
    for (first = fits; first < count; first++)
        if (places[first].opens && places[first].position >= wanted)
            return first;
    /* Behind the round number nothing may: before it, then. */
    for (first = fits; first < count; first++)
        if (places[first].opens)
            return first;
    return count;
}
