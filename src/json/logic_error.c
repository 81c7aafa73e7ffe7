/* logic_error.c -- throwing, and saying where in the rule it happened. */
#include <stdarg.h>

#include "json/logic_call.h"

typedef struct place {
    char text[160];
    size_t len;
    bool cut;
} place;

/* {"type": NAME}: constant, so that throwing one of these cannot fail. */
#define TEXT(literal)                                                                              \
    {                                                                                              \
        .type = VLS_JSON_STRING, .len = sizeof(literal) - 1, .text = (literal)                     \
    }
static const vls_member builtin_errors[] = {
    [VLS_LOGIC_NAN] = {TEXT("type"), TEXT("NaN")},
    [VLS_LOGIC_BAD_ARGUMENTS] = {TEXT("type"), TEXT("Invalid Arguments")},
    [VLS_LOGIC_UNKNOWN_OPERATOR] = {TEXT("type"), TEXT("Unknown Operator")},
};

static const vls_json type_key = TEXT("type");

/* ---- the place ---- */

static void add_bytes(place *p, const char *bytes, size_t len)
{
    if (len > sizeof(p->text) - p->len)
        p->cut = true;
    if (p->cut)
        return;
    memcpy(p->text + p->len, bytes, len);
    p->len += len;
}

/* One step of a JSON pointer, with its escapes; all of it or nothing. */
static void add_name(place *p, valise_str name)
{
    size_t before = p->len;

    name = vls_logic_shown(name);
    add_bytes(p, "/", 1);
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '~')
            add_bytes(p, "~0", 2);
        else if (name.ptr[i] == '/')
            add_bytes(p, "~1", 2);
        else
            add_bytes(p, name.ptr + i, 1);
    }
    if (p->cut)
        p->len = before;
}

static void add_index(place *p, size_t index)
{
    char text[24];
    int len = snprintf(text, sizeof(text), "/%zu", index);

    add_bytes(p, text, (size_t)len);
}

/* From the outside in. The chain is as long as the rule is deep; it is turned around here rather
 * than walked by recursion. */
static void find_place(place *p, const vls_logic *run)
{
    const vls_logic_call *chain[VLS_LOGIC_MAX_DEPTH + 1];
    size_t len = 0;

    p->len = 0;
    p->cut = false;
    for (const vls_logic_call *c = run->call; c && len < VLS_COUNT(chain); c = c->up)
        chain[len++] = c;
    while (len > 0) {
        const vls_logic_call *c = chain[--len];
        if (c->name.ptr)
            add_name(p, c->name);
        if (c->listed && c->index != VLS_LOGIC_NO_INDEX)
            add_index(p, c->index);
    }
}

/* The error's path in the form all of Valise uses, so that a caller can put its own in front:
 * "and[1].foo". */
static void set_path(vls_logic *run)
{
    for (const vls_logic_call *c = run->call; c; c = c->up) {
        if (c->listed && c->index != VLS_LOGIC_NO_INDEX)
            vls_error_prepend(&run->error, "[%zu]", c->index);
        if (c->name.ptr)
            vls_error_prepend(&run->error, "%.*s", VALISE_STR_ARG(vls_logic_shown(c->name)));
    }
}

static int report(vls_logic *run, int code, valise_str type, const char *why)
{
    place p;

    find_place(&p, run);
    (void)vls_fail(&run->error, code, "%.*s at %s%.*s%s: %s", VALISE_STR_ARG(vls_logic_shown(type)),
                   p.len == 0 && !p.cut ? "the top of the rule" : "", (int)p.len, p.text,
                   p.cut ? "..." : "", why);
    set_path(run);
    return code;
}

/* ---- throwing ---- */

int vls_logic_throw(vls_logic *run, vls_logic_error type, const char *format, ...)
{
    char why[200];
    va_list args;

    run->thrown = (vls_json){.type = VLS_JSON_OBJECT, .len = 1, .members = &builtin_errors[type]};
    if (run->catchers > 0)
        return VALISE_E_INVALID;
    va_start(args, format);
    (void)vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    return report(run, VALISE_E_INVALID, vls_json_str(builtin_errors[type].value), why);
}

int vls_logic_throw_nan(vls_logic_call *call, size_t arg, vls_json v)
{
    valise_str text = vls_logic_shown(v.type == VLS_JSON_STRING ? vls_json_str(v) : VLS_STR(""));

    call->index = arg;
    if (v.type == VLS_JSON_STRING)
        return vls_logic_throw(call->run, VLS_LOGIC_NAN, "\"%.*s\" is not a number",
                               VALISE_STR_ARG(text));
    return vls_logic_throw(call->run, VLS_LOGIC_NAN, "%s is not a number", vls_json_type_name(v));
}

int vls_logic_throw_value(vls_logic *run, vls_json error)
{
    valise_str type = VLS_STR("error");
    const vls_json *named;

    if (error.type != VLS_JSON_OBJECT) {
        vls_member *member = vls_arena_alloc(run->arena, sizeof(*member));
        if (!member)
            return vls_arena_fail(run->arena, &run->error);
        *member = (vls_member){type_key, error};
        error = (vls_json){.type = VLS_JSON_OBJECT, .len = 1, .members = member};
    }
    run->thrown = error;
    if (run->catchers > 0)
        return VALISE_E_INVALID;
    named = vls_json_get(error, vls_json_str(type_key));
    if (named && named->type == VLS_JSON_STRING)
        type = vls_json_str(*named);
    return report(run, VALISE_E_INVALID, type, "thrown by the rule");
}

int vls_logic_fail_limit(vls_logic *run, const char *what, uint64_t limit)
{
    char why[96];

    (void)snprintf(why, sizeof(why), "more than %llu %s", (unsigned long long)limit, what);
    return report(run, VALISE_E_LIMIT, VLS_STR("limit reached"), why);
}
