/* config_value.c -- members of objects, and the values that most of them are. */
#include "base/near.h"
#include "base/text.h"
#include "base/time.h"
#include "base/utf8.h"
#include "flow/config.h"

/* ---- places ---- */

valise_str vls_config_place_member(vls_config_place *room, valise_str path, valise_str name)
{
    /* cppcheck-suppress ctuuninitvar ; it is filled here */
    int len = snprintf(room->s, sizeof(room->s), "%.*s%s%s", VALISE_STR_ARG(path),
                       path.len > 0 ? "." : "", vls_text_short(name).s);

    return vls_str(room->s, VLS_MIN((size_t)VLS_MAX(len, 0), sizeof(room->s) - 1));
}

valise_str vls_config_place_item(vls_config_place *room, valise_str path, size_t index)
{
    /* cppcheck-suppress ctuuninitvar ; it is filled here */
    int len = snprintf(room->s, sizeof(room->s), "%.*s[%zu]", VALISE_STR_ARG(path), index);

    return vls_str(room->s, VLS_MIN((size_t)VLS_MAX(len, 0), sizeof(room->s) - 1));
}

/* ---- objects ---- */

void vls_config_near(vls_nearby *room, const char *best)
{
    room->s[0] = '\0';
    if (best)
        (void)snprintf(room->s, sizeof(room->s), "did you mean '%s'?", best);
}

static const vls_config_member *find(const vls_config_member *table, valise_str name)
{
    for (; table->name; table++)
        if (vls_str_equal(valise_str_of(table->name), name))
            return table;
    return NULL;
}

static int say_unknown(vls_config_reading *r, const vls_config_member *table, const char *what,
                       valise_str name, valise_str path, valise_error *err)
{
    vls_nearby hint;
    vls_near near;

    vls_near_init(&near, name);
    for (; table->name; table++)
        vls_near_try(&near, valise_str_of(table->name));
    vls_config_near(&hint, near.best.ptr);
    return vls_flow_findings_add(r->findings, false, path, hint.s, err, "%s has no member '%s'",
                                 what, vls_text_short(name).s);
}

int vls_config_object(vls_config_reading *r, vls_json value, const vls_config_member *table,
                      const char *what, valise_str path, valise_error *err)
{
    int rc = 0;

    if (value.type != VLS_JSON_OBJECT)
        return vls_flow_findings_add(r->findings, false, path, NULL, err, "%s is an object, not %s",
                                     what, vls_json_type_name(value));
    for (uint32_t i = 0; i < value.len && rc == 0; i++) {
        valise_str name = vls_json_str(value.members[i].key);
        const vls_config_member *member = find(table, name);
        vls_config_place room;
        valise_str place = vls_config_place_member(&room, path, name);

        if (!member)
            rc = say_unknown(r, table, what, name, place, err);
        else if (member->fn)
            rc = member->fn(r, value.members[i].value, place, err);
    }
    return rc;
}

/* ---- values ---- */

static int say_type(vls_config_reading *r, vls_json value, const char *wanted, valise_str path,
                    valise_error *err)
{
    return vls_flow_findings_add(r->findings, false, path, NULL, err, "it must be %s, not %s",
                                 wanted, vls_json_type_name(value));
}

int vls_flow_config_text(valise_str *out, vls_config_reading *r, vls_json value, valise_str path,
                         valise_error *err)
{
    if (value.type != VLS_JSON_STRING)
        return say_type(r, value, "a text", path, err);
    *out = vls_json_str(value);
    return 1;
}

int vls_config_truth(bool *out, vls_config_reading *r, vls_json value, valise_str path,
                     valise_error *err)
{
    if (value.type != VLS_JSON_BOOL)
        return say_type(r, value, "true or false", path, err);
    *out = value.truth;
    return 1;
}

int vls_config_duration(int64_t *out, vls_config_reading *r, vls_json value, valise_str path,
                        valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;

    if (value.type != VLS_JSON_STRING)
        return say_type(r, value, "a duration such as \"30s\"", path, err);
    if (vls_duration_parse(out, vls_json_str(value), &why) < 0)
        return vls_flow_findings_take(r->findings, path, &why, err);
    return 1;
}

int vls_config_int(int64_t *out, vls_config_reading *r, vls_json value, int64_t min, int64_t max,
                   valise_str path, valise_error *err)
{
    if (value.type != VLS_JSON_INT || value.integer < min || value.integer > max)
        return vls_flow_findings_add(r->findings, false, path, NULL, err,
                                     "it must be a whole number from %lld to %lld", (long long)min,
                                     (long long)max);
    *out = value.integer;
    return 1;
}

int vls_config_texts(const valise_str **out, size_t *count, vls_config_reading *r, vls_json value,
                     size_t max, valise_str path, valise_error *err)
{
    valise_str *texts;

    if (value.type != VLS_JSON_ARRAY)
        return say_type(r, value, "a list of texts", path, err);
    if (value.len == 0 || value.len > max)
        return vls_flow_findings_add(r->findings, false, path, NULL, err,
                                     "it must be a list of 1 to %zu texts", max);
    texts = vls_arena_array(vls_flow_arena(r->flow), value.len, sizeof(*texts));
    if (!texts)
        return vls_arena_fail(vls_flow_arena(r->flow), err);
    for (uint32_t i = 0; i < value.len; i++) {
        vls_config_place room;
        valise_str text = {NULL, 0}, place = vls_config_place_item(&room, path, i);
        int rc = vls_flow_config_text(&text, r, value.items[i], place, err);
        if (rc <= 0)
            return rc;
        if (text.len == 0 || memchr(text.ptr, '\0', text.len))
            return vls_flow_findings_add(r->findings, false, place, NULL, err,
                                         "it must be a text that is not empty and has no NUL");
        texts[i] = text;
    }
    *out = texts;
    *count = value.len;
    return 1;
}

int vls_config_any(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    (void)r;
    (void)value;
    (void)path;
    (void)err;
    return 0;
}

/* ---- names ---- */

bool vls_flow_is_id(valise_str id)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        bool fine = vls_is_alnum(c) || c == '-' || c == '_';
        if (!fine)
            return false;
    }
    return id.len > 0 && id.len <= VLS_FLOW_ID_MAX;
}

bool vls_flow_is_namespace(valise_str name)
{
    valise_str rest = name, segment;
    bool more = name.len > 0 && name.len <= VLS_BAG_NAMESPACE_MAX, fine = more;

    while (more && fine) {
        more = vls_str_cut(&segment, &rest, rest, '.');
        fine = vls_flow_is_id(segment);
    }
    return fine;
}

bool vls_flow_is_action(valise_str action)
{
    uint32_t c;

    for (size_t at = 0, used; at < action.len; at += used) {
        used = vls_utf8_decode(&c, action.ptr + at, action.len - at);
        if (used == 0 || vls_utf8_is_control(c))
            return false;
    }
    return action.len > 0 && action.len <= VLS_FLOW_ACTION_MAX;
}

int vls_config_id(valise_str *out, vls_config_reading *r, vls_json value, const char *what,
                  valise_str path, valise_error *err)
{
    int rc = vls_flow_config_text(out, r, value, path, err);

    if (rc <= 0 || vls_flow_is_id(*out))
        return rc;
    return vls_flow_findings_add(r->findings, false, path,
                                 "use letters, digits, '-' and '_', 64 at most", err,
                                 "'%s' is no %s", vls_text_short(*out).s, what);
}

void vls_flow_near_node(vls_nearby *room, const valise_flow *flow, valise_str id)
{
    enum { LOOK_AT = 256 }; /* hints are not worth more */
    vls_near near;

    vls_near_init(&near, id);
    for (size_t i = 0; i < flow->nodes.len && i < LOOK_AT; i++)
        vls_near_try(&near, flow->nodes.ptr[i]->id);
    room->s[0] = '\0';
    if (near.best.ptr)
        (void)snprintf(room->s, sizeof(room->s), "did you mean '%.*s'?", VALISE_STR_ARG(near.best));
}
