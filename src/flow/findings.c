/* findings.c -- all that is wrong with a flow, and where. [F6] */
#include "flow/flow.h"

#include <stdarg.h>

#include "json/make.h"

void vls_flow_findings_init(vls_flow_findings *findings, vls_arena *arena)
{
    *findings = (vls_flow_findings){.arena = arena, .all = VLS_VEC_INIT, .said = SIZE_MAX};
}

static bool was_said(const vls_flow_findings *findings, valise_str path)
{
    for (size_t i = findings->said; i < findings->all.len; i++) {
        valise_str there = findings->all.ptr[i].path;

        if (vls_str_starts(path, there) &&
            (path.len == there.len || path.ptr[there.len] == '.' || path.ptr[there.len] == '['))
            return true;
    }
    return false;
}

/* Those that do not fit are counted all the same. Warnings leave room for errors. */
static int add(vls_flow_findings *findings, bool warning, int code, valise_str path,
               valise_str message, valise_str hint, valise_error *err)
{
    vls_flow_finding f = {.code = code, .warning = warning};
    int rc;

    if (was_said(findings, path))
        return 0;
    if (findings->all.len >= (warning ? VLS_FLOW_FINDINGS_MAX / 2 : VLS_FLOW_FINDINGS_MAX)) {
        findings->errors += !warning;
        findings->more = true;
        return 0;
    }
    rc = vls_arena_dup(&f.path, findings->arena, path, err);
    if (rc == 0)
        rc = vls_arena_dup(&f.message, findings->arena, message, err);
    if (rc == 0)
        rc = vls_arena_dup(&f.hint, findings->arena, hint, err);
    if (rc < 0)
        return rc;
    if (!vls_vec_push_in(&findings->all, findings->arena, f))
        return vls_arena_fail(findings->arena, err);
    findings->errors += !warning;
    return 0;
}

int vls_flow_findings_add(vls_flow_findings *findings, bool warning, valise_str path,
                          const char *hint, valise_error *err, const char *format, ...)
{
    valise_error made = VALISE_ERROR_INIT; /* for its rules: one line, UTF-8, cut at a character */
    char message[sizeof(made.message)];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    (void)vls_fail(&made, VALISE_E_INVALID, "%s", len < 0 ? "" : message);
    if (hint)
        vls_hint(&made, "%s", hint);
    return add(findings, warning, VALISE_E_INVALID, path, valise_str_of(made.message),
               valise_str_of(made.hint), err);
}

int vls_flow_findings_take(vls_flow_findings *findings, valise_str path, const valise_error *why,
                           valise_error *err)
{
    char room[1024];
    valise_str inner = valise_str_of(why->path);
    const bool dot = path.len > 0 && inner.len > 0 && inner.ptr[0] != '[';
    int len = snprintf(room, sizeof(room), "%.*s%s%.*s", VALISE_STR_ARG(path), dot ? "." : "",
                       VALISE_STR_ARG(inner));

    /* Of memory there is nothing to say but that; it is no property of the flow. */
    if (why->code == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    if (len > 0)
        path = vls_str(room, VLS_MIN((size_t)len, sizeof(room) - 1));
    return add(findings, false, why->code, path, valise_str_of(why->message),
               valise_str_of(why->hint), err);
}

int vls_flow_findings_fail(const vls_flow_findings *findings, valise_error *err)
{
    const vls_flow_finding *first = NULL;

    for (size_t i = 0; i < findings->all.len && !first; i++)
        if (!findings->all.ptr[i].warning)
            first = &findings->all.ptr[i];
    if (findings->errors == 0)
        return 0;
    assert(first);
    if (findings->errors > 1)
        (void)vls_fail(err, first->code, "%.*s (and %zu more)", VALISE_STR_ARG(first->message),
                       findings->errors - 1);
    else
        (void)vls_fail(err, first->code, "%.*s", VALISE_STR_ARG(first->message));
    vls_error_prepend(err, "%.*s", VALISE_STR_ARG(first->path));
    if (first->hint.len > 0)
        vls_hint(err, "%.*s", VALISE_STR_ARG(first->hint));
    return first->code;
}

/* ---- as JSON ---- */

static void write_one(vls_json_builder *b, const vls_flow_finding *f)
{
    vls_json_open(b, VLS_JSON_OBJECT);
    vls_json_add_text(b, VLS_STR("path"), f->path);
    vls_json_add_text(b, VLS_STR("message"), f->message);
    if (f->hint.len > 0)
        vls_json_add_text(b, VLS_STR("hint"), f->hint);
    vls_json_close(b);
}

static void write_list(vls_json_builder *b, const char *name, const vls_flow_findings *findings,
                       bool warning)
{
    vls_json_add_key(b, valise_str_of(name));
    vls_json_open(b, VLS_JSON_ARRAY);
    for (size_t i = 0; i < findings->all.len; i++)
        if (findings->all.ptr[i].warning == warning)
            write_one(b, &findings->all.ptr[i]);
    vls_json_close(b);
}

int vls_flow_findings_json(vls_json *out, vls_arena *arena, const vls_flow_findings *findings,
                           valise_error *err)
{
    VLS_AUTO(json_builder) vls_json_builder b = {.arena = NULL};

    vls_json_builder_init(&b, arena);
    vls_json_open(&b, VLS_JSON_OBJECT);
    write_list(&b, "errors", findings, false);
    write_list(&b, "warnings", findings, true);
    if (findings->more)
        vls_json_add_member(&b, VLS_STR("more"), vls_json_bool(true));
    vls_json_close(&b);
    return vls_json_builder_finish(out, &b, err);
}
