/* grant.c -- reading grants and asking them. */
#include "bus/grant.h"

#include "base/glob.h"
#include "base/str.h"
#include "base/text.h"

#define PART_MAX 64u

/* ---- reading ---- */

static bool is_one_of(char c, const char *more)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c != '\0' && strchr(more, c));
}

/* An area or a verb: a word that may have stars. */
static bool is_part(valise_str part)
{
    if (part.len == 0 || part.len > PART_MAX)
        return false;
    for (size_t i = 0; i < part.len; i++) {
        if (!is_one_of(part.ptr[i], "-*"))
            return false;
    }
    return !(part.ptr[0] >= '0' && part.ptr[0] <= '9') && part.ptr[0] != '-' &&
           vls_str_find(part, VLS_STR("**")) == part.len;
}

static bool is_capability(valise_str text)
{
    valise_str area, verb;

    return vls_str_equal(text, VLS_STR("admin")) ||
           (vls_str_cut(&area, &verb, text, ':') && is_part(area) && is_part(verb));
}

/* The name of a field, in camelCase. */
static bool is_name(valise_str name)
{
    if (name.len == 0 || name.len > PART_MAX || !(name.ptr[0] >= 'a' && name.ptr[0] <= 'z'))
        return false;
    for (size_t i = 1; i < name.len; i++) {
        if (!is_one_of(name.ptr[i], "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
            return false;
    }
    return true;
}

static bool is_plain(valise_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == 0x7f)
            return false;
    }
    return true;
}

static int parse_condition(vls_condition *out, valise_str text, valise_error *err)
{
    vls_condition c;

    if (!vls_str_cut(&c.name, &c.pattern, text, '=') || !is_name(c.name) || !is_plain(c.pattern) ||
        vls_glob_check(&vls_glob_path, c.pattern, NULL) < 0)
        return vls_fail(err, VALISE_E_INVALID,
                        "\"%s\" is not a condition: write one like type=summary or path=src/**",
                        vls_text_short(text).s);
    *out = c;
    return 0;
}

int vls_grant_parse(vls_grant *out, valise_str text, valise_error *err)
{
    vls_grant grant = {.count = 0};
    valise_str rest;
    bool more = vls_str_cut(&grant.capability, &rest, text, ' ');

    if (text.len > VLS_GRANT_MAX_BYTES)
        return vls_fail(err, VALISE_E_INVALID, "a capability has %zu bytes; at most %u are allowed",
                        text.len, VLS_GRANT_MAX_BYTES);
    if (!is_capability(grant.capability))
        return vls_fail(
            err, VALISE_E_INVALID,
            "\"%s\" is not a capability: it is \"admin\" or like \"pin:write\", \"pin:*\"",
            vls_text_short(grant.capability).s);
    while (more) {
        valise_str word;
        int rc;
        more = vls_str_cut(&word, &rest, rest, ' ');
        if (grant.count == VLS_GRANT_MAX_CONDITIONS)
            return vls_fail(err, VALISE_E_INVALID, "capability %.*s has more than %u conditions",
                            VALISE_STR_ARG(grant.capability), VLS_GRANT_MAX_CONDITIONS);
        rc = parse_condition(&grant.conditions[grant.count++], word, err);
        if (rc < 0)
            return rc;
    }
    *out = grant;
    return 0;
}

/* ---- asking ---- */

/* A path that goes somewhere else than it looks. */
static bool has_dots(valise_str path)
{
    bool more;

    do {
        valise_str segment;
        more = vls_str_cut(&segment, &path, path, '/');
        if (vls_str_equal(segment, VLS_STR(".")) || vls_str_equal(segment, VLS_STR("..")))
            return true;
    } while (more);
    return false;
}

static bool fits(valise_str pattern, valise_str value)
{
    return value.len > 0 && !has_dots(value) && vls_glob_match(&vls_glob_path, pattern, value);
}

/* One value of a field: of itself, or of an item of its list. */
static bool member_fits(valise_str pattern, const valise_field *field, const char *member)
{
    valise_str text = {NULL, 0};
    int64_t number;

    if (field->type == VALISE_T_STR || field->type == VALISE_T_PATH) {
        memcpy(&text, member, sizeof(text));
    } else if (field->type == VALISE_T_ENUM) {
        const char *const *names = field->more;
        memcpy(&number, member, sizeof(number));
        for (int64_t i = 0; i <= number && names[i]; i++)
            text = valise_str_of(i == number ? names[i] : NULL);
    }
    return fits(pattern, text);
}

/* All items of a list must fit, and there must be one. */
static bool list_fits(valise_str pattern, const valise_field *item, const char *member)
{
    size_t size = item->type == VALISE_T_ENUM ? sizeof(int64_t) : sizeof(valise_str);
    valise_list list;

    memcpy(&list, member, sizeof(list));
    if (item->type != VALISE_T_STR && item->type != VALISE_T_PATH && item->type != VALISE_T_ENUM)
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (!member_fits(pattern, item, (const char *)list.items + i * size))
            return false;
    }
    return list.count > 0;
}

static bool argument_fits(const vls_condition *c, const valise_field *fields, const void *args)
{
    for (const valise_field *f = fields; f && args && f->type != VALISE_T_END; f++) {
        const char *member = (const char *)args + f->offset;
        if (!vls_str_equal(valise_str_of(f->name), c->name))
            continue;
        return f->type == VALISE_T_LIST ? list_fits(c->pattern, f->more, member)
                                        : member_fits(c->pattern, f, member);
    }
    return false;
}

static bool attribute_fits(const vls_condition *c, const char *const *attrs)
{
    for (; attrs && attrs[0] && attrs[1]; attrs += 2) {
        bool any = attrs[0][0] == '?';
        if (vls_str_equal(valise_str_of(attrs[0] + any), c->name))
            return any || fits(c->pattern, valise_str_of(attrs[1]));
    }
    return false;
}

bool vls_grant_allows(const vls_grant *grant, const vls_deed *deed)
{
    if (!vls_glob_match(&vls_glob_colons, grant->capability, deed->capability))
        return false;
    for (size_t i = 0; !deed->asks && i < grant->count; i++) {
        const vls_condition *c = &grant->conditions[i];
        if (!argument_fits(c, deed->fields, deed->args) && !attribute_fits(c, deed->attrs))
            return false;
    }
    return true;
}

static bool part_covers(valise_str wide, valise_str narrow)
{
    return vls_str_equal(wide, VLS_STR("*")) || vls_str_equal(wide, narrow);
}

bool vls_grant_covers(const vls_grant *wide, const vls_grant *narrow)
{
    valise_str wide_area, wide_verb, area, verb;
    bool has_verb = vls_str_cut(&wide_area, &wide_verb, wide->capability, ':');

    return wide->count == 0 && vls_str_cut(&area, &verb, narrow->capability, ':') == has_verb &&
           part_covers(wide_area, area) && part_covers(wide_verb, verb);
}
