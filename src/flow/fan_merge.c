/* fan_merge.c -- what elements changed comes together: compared first, then merged in their order.
 */
#include "flow/fan.h"

#include "backpack/handle.h"
#include "base/map.h"
#include "base/text.h"

/* ---- comparing ---- */

static bool is_key(const void *item, const void *key)
{
    return vls_str_equal(((const vls_fan_change *)item)->key, *(const valise_str *)key);
}

static int fail_two(const vls_fan *fan, const vls_fan_change *a, const vls_fan_change *b,
                    valise_error *err)
{
    (void)vls_fail(err, VALISE_E_CONFLICT, "'%.*s' and '%.*s' both write '%s'",
                   VALISE_STR_ARG(fan->elements[a->element].path),
                   VALISE_STR_ARG(fan->elements[b->element].path), vls_text_short(a->key).s);
    vls_hint(err, "set \"reduce\": {\"%s\": ...} to say how to combine them: " VLS_FAN_REDUCERS,
             vls_text_short(a->key).s);
    return VALISE_E_CONFLICT;
}

static int check_element(vls_map *seen, const vls_fan *fan, const vls_fan_element *element,
                         valise_error *err)
{
    for (size_t i = 0; i < element->changes.len; i++) {
        vls_fan_change *change = &element->changes.ptr[i];
        uint64_t hash = vls_str_hash(change->key, 0);
        const vls_fan_change *other = vls_map_get(seen, hash, &change->key);

        if (other)
            return fail_two(fan, other, change, err);
        if (vls_map_put(NULL, seen, hash, &change->key, change) < 0)
            return vls_fail_memory(err);
    }
    return 0;
}

int vls_fan_check(const vls_fan *fan, valise_error *err)
{
    VLS_AUTO(map) vls_map seen = {0};
    int rc = 0;

    vls_map_init(&seen, fan->at->run->env, is_key);
    for (size_t i = 0; i < fan->count && rc == 0; i++)
        if (!fan->elements[i].left)
            rc = check_element(&seen, fan, &fan->elements[i], err);
    return rc;
}

/* ---- merging ---- */

typedef struct meeting {
    char key[64];
} meeting;

static int note_conflict(void *arg, const valise_conflict *conflict, valise_error *err)
{
    meeting *m = arg;

    (void)err;
    if (!m->key[0])
        (void)snprintf(m->key, sizeof(m->key), "%s", vls_text_short(conflict->key).s);
    return 0;
}

/* Nobody but this node writes to the backpack now; but somebody outside of the run may. */
int vls_fan_merge(vls_fan *fan, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < fan->count && rc == 0; i++) {
        vls_fan_element *element = &fan->elements[i];
        meeting m = {""};

        if (!element->fork || element->left || element->changes.len == 0)
            continue;
        rc = vls_handle_merge_passing(fan->at->run->bag, fan->base, element->fork, note_conflict,
                                      &m, err);
        if (rc == VALISE_E_CONFLICT && m.key[0])
            rc = vls_fail(err, VALISE_E_CONFLICT, "'%s' was changed while '%.*s' ran", m.key,
                          VALISE_STR_ARG(element->path));
    }
    return rc;
}
