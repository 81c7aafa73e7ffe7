/* host.c -- tools that are functions of the host (valise/sys/tool.h). */
#include "base/sized.h"
#include "json/make.h"
#include "tool/inside.h"

#define LOOK_NS INT64_C(50000000)
#define ANSWER_MEMORY_MAX (64 * VLS_TOOL_OUTPUT_MAX)

struct valise_tool_call {
    const vls_tool_asked *asked;
    const valise_env *env;
    valise_str arguments; /* as JSON */
    vls_arena answer;     /* of the value */
    vls_json value;
    bool answered;
    bool given_up; /* by who called; with the reason: */
    int rc;
    valise_error why;
    int64_t looked_ns;
};

valise_str valise_tool_name(const valise_tool_call *call)
{
    return call->asked->name;
}

valise_str valise_tool_arguments(const valise_tool_call *call)
{
    return call->arguments;
}

/* Who asks in a loop need not have the caller asked as often. */
static void look(valise_tool_call *call)
{
    int64_t now_ns = call->env->ticks_ns(call->env->self);

    if (call->given_up || !call->asked->look || now_ns - call->looked_ns < LOOK_NS)
        return;
    call->looked_ns = now_ns;
    call->rc = call->asked->look(call->asked->arg, &call->why);
    call->given_up = call->rc < 0;
}

int valise_tool_cancelled(valise_tool_call *call)
{
    look(call);
    return call->given_up;
}

int valise_tool_answer(valise_tool_call *call, valise_str json, valise_error *err)
{
    vls_arena arena;
    valise_str text;
    vls_json value;
    int rc;

    VLS_ARG(call && (json.ptr || json.len == 0), err);
    if (json.len > VLS_TOOL_OUTPUT_MAX)
        return vls_fail(err, VALISE_E_TOO_LARGE, "a tool answered %zu bytes; %zu at most", json.len,
                        VLS_TOOL_OUTPUT_MAX);
    vls_arena_init(&arena, call->env, ANSWER_MEMORY_MAX);
    rc = vls_arena_dup(&text, &arena, json, err);
    if (rc == 0)
        rc = vls_json_parse(&value, &arena, text, NULL, err);
    if (rc < 0) {
        vls_arena_release(&arena);
        return rc;
    }
    vls_arena_release(&call->answer);
    call->answer = arena;
    call->value = value;
    call->answered = true;
    return 0;
}

/* The host filled it in, or did not. */
static int tell_result(vls_tool_answer *out, vls_arena *arena, const vls_tool_entry *entry, int rc,
                       valise_error *why, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int code = rc < 0 ? rc : VALISE_E_INVALID;

    why->message[sizeof(why->message) - 1] = '\0';
    vls_buf_init(&text, arena->env, 8192);
    vls_buf_add(&text, entry->tool.name);
    if (rc > 0)
        vls_buf_printf(&text, " returned %d, which is neither success nor an error", rc);
    else if (rc == 0)
        vls_buf_add(&text, VLS_STR(" gave no answer"));
    else {
        vls_buf_clear(&text);
        vls_text_neutralize(&text,
                            valise_str_of(why->message[0] ? why->message : valise_error_text(rc)),
                            VLS_TEXT_KEEP_BACKSLASH);
    }
    rc = vls_buf_check(&text, err);
    return rc < 0 ? rc : vls_tool_tell(out, arena, code, vls_buf_str(&text), err);
}

static int give_up(const valise_tool_call *call, valise_error *err)
{
    if (err)
        *err = call->why;
    return call->rc;
}

static int call_host(vls_tool_answer *out, vls_arena *arena, const valise_env *env,
                     const vls_tool_entry *entry, const vls_tool_asked *asked, valise_error *err)
{
    valise_tool_call call = {
        .asked = asked, .env = env, .why = VALISE_ERROR_INIT, .looked_ns = INT64_MIN / 2};
    valise_error why = VALISE_ERROR_INIT;
    int rc = vls_json_text(&call.arguments, arena, asked->arguments, err);

    if (rc < 0)
        return rc;
    rc = entry->host.call(entry->host.self, &call, &why);
    if (call.given_up) {
        rc = give_up(&call, err);
    } else if (rc == VALISE_E_CANCELLED || rc == VALISE_E_NO_MEMORY) {
        rc = vls_fail(err, rc, "%s: %.300s", entry->tool.name.ptr,
                      why.message[0] ? why.message : valise_error_text(rc));
    } else if (rc == 0 && call.answered) {
        out->failed = false;
        rc = vls_json_copy(&out->value, arena, call.value, err);
    } else {
        rc = tell_result(out, arena, entry, rc, &why, err);
    }
    vls_arena_release(&call.answer);
    return rc;
}

static int read_parameters(vls_json *out, vls_arena *arena, const char *parameters,
                           valise_error *err)
{
    *out = vls_json_null();
    if (!parameters)
        return 0;
    return vls_json_parse(out, arena, valise_str_of(parameters), NULL, err);
}

int vls_toolbox_add_host(vls_toolbox *box, const valise_tool *tool, valise_error *err)
{
    VLS_AUTO(arena) vls_arena scratch = {0};
    valise_tool host = {.size = sizeof(host)};
    vls_toolbox_mark mark;
    vls_tool_entry *entry;
    vls_json parameters;
    int rc;

    VLS_ARG(box && tool, err);
    rc = vls_sized_take(&host, sizeof(host), tool, sizeof(host), "valise_tool", err);
    if (rc < 0)
        return rc;
    if (!host.name || !host.call)
        return vls_fail(err, VALISE_E_INVALID, "valise_tool has no %s",
                        host.name ? "function" : "name");
    vls_arena_init(&scratch, box->env, VLS_JSON_MAX_BYTES);
    rc = read_parameters(&parameters, &scratch, host.parameters, err);
    if (rc < 0)
        return rc;
    mark = vls_toolbox_here(box);
    rc = vls_toolbox_put(
        &entry, box,
        &(vls_tool){valise_str_of(host.name), valise_str_of(host.description), parameters}, err);
    if (rc < 0) {
        vls_toolbox_undo(box, mark);
        return rc;
    }
    host.name = host.description = host.parameters = NULL; /* they were copied */
    entry->host = host;
    entry->call = call_host;
    return 0;
}
