/* program.c -- tools that are programs: a process for each call. [K34]
 *
 *     in     {"name":"grep","arguments":{...},"callId":"c1"}, a line
 *     out    JSON, or a text
 *     exit   0; anything else is the tool's error, with what it complained of */
#include "base/exec.h"
#include "json/make.h"
#include "tool/inside.h"

static int write_input(vls_buf *out, vls_arena *arena, const vls_tool_asked *asked,
                       valise_error *err)
{
    vls_json input;
    int rc = VLS_PAIRS(&input, arena, err, {"name", vls_json_string(asked->name), false},
                       {"arguments", asked->arguments, false},
                       {"callId", vls_json_string(asked->call_id), asked->call_id.len == 0});

    if (rc == 0)
        rc = vls_json_write_around(out, input, err);
    vls_buf_add_byte(out, '\n');
    return rc < 0 ? rc : vls_buf_check(out, err);
}

/* It ended, and not with 0: the model gets all that is known of why. */
static int tell_end(vls_tool_answer *out, vls_arena *arena, const valise_env *env,
                    const vls_tool_entry *entry, const vls_exec_end *end, const vls_buf *said,
                    valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    valise_str last = vls_str_trim(vls_buf_str(said));
    int rc;

    vls_buf_init(&text, env, said->len + 1024);
    vls_buf_add(&text, entry->tool.name);
    if (end->exit_code >= 0)
        vls_buf_printf(&text, " ended with exit code %d", end->exit_code);
    else
        vls_buf_printf(&text, " was ended by signal %d", end->signal);
    if (last.len > 0) {
        vls_buf_add(&text, VLS_STR(": "));
        vls_buf_add(&text, last);
    }
    rc = vls_buf_check(&text, err);
    return rc < 0 ? rc : vls_tool_tell(out, arena, VALISE_E_IO, vls_buf_str(&text), err);
}

static int call_program(vls_tool_answer *out, vls_arena *arena, const valise_env *env,
                        const vls_tool_entry *entry, const vls_tool_asked *asked, valise_error *err)
{
    VLS_AUTO(buf) vls_buf input = {0}, output = {0}, said = {0};
    const vls_exec exec = {.env = env,
                           .name = entry->tool.name.ptr,
                           .start = {.file = entry->start.argv[0],
                                     .argv = entry->start.argv,
                                     .environment = entry->start.environment,
                                     .folder = entry->start.folder,
                                     .marked = true},
                           .timeout_ms = entry->start.timeout_ms,
                           .grace_ms = VLS_TOOL_GRACE_MS,
                           .max_bytes = entry->start.max_bytes,
                           .said = &said,
                           .any_end = true,
                           .look = asked->look,
                           .self = asked->arg};
    vls_exec_end end = {.given_up = false};
    valise_error why = VALISE_ERROR_INIT;
    int rc;

    vls_buf_init(&input, env, VLS_TOOL_INPUT_MAX);
    vls_buf_init(&output, env, entry->start.max_bytes);
    vls_buf_init(&said, env, 4 * (size_t)VLS_PROCESS_SAID_MAX);
    rc = write_input(&input, arena, asked, &why);
    if (rc == 0)
        rc = vls_tool_start_may(&entry->start, &why);
    if (rc == 0)
        rc = vls_exec_run(&output, &exec, vls_buf_str(&input), &end, &why);
    if (rc < 0 && end.given_up) {
        if (err)
            *err = why;
        return rc;
    }
    if (rc < 0)
        return vls_tool_tell_error(out, arena, &why, err);
    if (end.exit_code != 0)
        return tell_end(out, arena, env, entry, &end, &said, err);
    out->failed = false;
    return vls_tool_take_output(&out->value, arena, vls_buf_str(&output), err);
}

int vls_toolbox_add_program(vls_toolbox *box, valise_str name, valise_str description,
                            vls_json parameters, const vls_tool_command *command, valise_error *err)
{
    vls_toolbox_mark mark;
    vls_tool_entry *entry;
    int rc;

    VLS_ARG(box && command, err);
    mark = vls_toolbox_here(box);
    rc = vls_toolbox_put(&entry, box, &(vls_tool){name, description, parameters}, err);
    if (rc == 0)
        rc = vls_tool_start_make(&entry->start, &box->arena, command, err);
    if (rc == 0) /* and not only when a model calls it */
        rc = vls_tool_start_may(&entry->start, err);
    if (rc < 0) {
        vls_toolbox_undo(box, mark);
        return rc;
    }
    entry->call = call_program;
    return 0;
}
