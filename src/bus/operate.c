/* operate.c -- which operation, of which kind, and commands. Queries are in query.c, jobs in job.c.
 */
#include "bus/operate.h"

#include "base/str.h"
#include "bus/read_log.h"

int vls_operation_find(const valise_op **out, valise *v, valise_str type, valise_error *err)
{
    const valise_op *op = vls_registry_op(v->registry, type);

    if (!op) {
        const valise_op *near = vls_registry_near(v->registry, type);
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no operation \"%.*s\"",
                       (int)VLS_MIN(type.len, 80), type.ptr);
        if (near)
            vls_hint(err, "did you mean %s?", near->name);
        return VALISE_E_NOT_FOUND;
    }
    *out = op;
    return 0;
}

static bool writes(const valise_op *op)
{
    return op->kind == VALISE_COMMAND ||
           (op->kind == VALISE_JOB && !(op->flags & VALISE_OP_READ_ONLY));
}

/* What the call asks for must mean something for this kind of operation. */
static int check_call(const vls_operation *o, valise_error *err)
{
    const valise_op *op = o->op;
    const valise_call *call = &o->call;

    if (call->at.len > 0 && op->kind != VALISE_QUERY)
        return vls_fail(err, VALISE_E_INVALID,
                        "%s is not a query: it cannot be run `at` another state", op->name);
    if (call->expect.len > 0 && op->kind != VALISE_COMMAND)
        return vls_fail(err, VALISE_E_INVALID, "%s takes no expect", op->name);
    if ((call->flags & VALISE_CALL_DRY_RUN) && op->kind == VALISE_JOB && writes(op))
        return vls_fail(err, VALISE_E_INVALID, "%s is a job: it cannot be tried without effect",
                        op->name);
    if (o->fn && op->kind == VALISE_COMMAND)
        return vls_fail(err, VALISE_E_INVALID, "%s is a command: it has no rows to stream",
                        op->name);
    return 0;
}

int vls_operation_check_store(const vls_operation *o, valise_error *err)
{
    if (!vls_store_read_only(o->v->store))
        return 0;
    (void)vls_fail(err, VALISE_E_DENIED, "%s: the workspace is open for reading only", o->op->name);
    if (o->v->read_only_hint)
        vls_hint(err, "%s", o->v->read_only_hint);
    return VALISE_E_DENIED;
}

int vls_operation_check(const vls_operation *o, valise_error *err)
{
    const valise_op *op = o->op;
    valise *v = o->v;

    if (vls_bus_is_inside(v)) {
        (void)vls_fail(err, VALISE_E_INVALID,
                       "%s: a command or middleware cannot dispatch in its own workspace",
                       op->name);
        vls_hint(err, "read through the view; a middleware adds commands with valise_pass_add");
        return VALISE_E_INVALID;
    }
    if ((op->flags & VALISE_OP_INTERNAL) && !o->more->internal)
        return vls_fail(err, VALISE_E_DENIED, "%s: only the engine itself submits it", op->name);
    if (op->flags & VALISE_OP_NO_WORKSPACE)
        return check_call(o, err);
    if (!v->store) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "%s needs a workspace, and there is none",
                       op->name);
        vls_hint(err, "make one: valise init");
        return VALISE_E_NOT_FOUND;
    }
    if (writes(op) && !op->apart) { /* else it depends on the arguments */
        int rc = vls_operation_check_store(o, err);
        if (rc < 0)
            return rc;
    }
    return check_call(o, err);
}

int vls_operation_args(const void **out, const vls_operation *o, vls_arena *arena,
                       valise_error *err)
{
    void *args = NULL;
    int rc = 0;

    if (!o->typed) {
        rc = vls_args_decode(&args, o->op, o->payload, VLS_FIELD_INPUT, arena, err);
        if (rc == 0)
            *out = args;
        return rc;
    }
    if (o->op->in)
        rc = vls_fields_validate(o->args, o->op->in, arena, err);
    if (rc == 0)
        *out = o->args;
    return rc;
}

int vls_operation_result(void **out, const vls_operation *o, vls_arena *arena, valise_error *err)
{
    const valise_op *op = o->op;
    void *result = o->result;

    if (!op->out)
        return 0;
    if (!result)
        result = vls_arena_zalloc(arena, op->out_size);
    if (!result)
        return vls_arena_fail(arena, err);
    vls_fields_clear(result, op->out, op->out_size);
    *out = result;
    return 0;
}

void vls_operation_sink(vls_sink *out, const vls_operation *o)
{
    vls_sink_init(out, o->op, o->v->env);
    out->fn = o->fn;
    out->arg = o->fn_arg;
    if (o->typed) {
        out->rows = o->more->emit;
        out->arg = o->more->emit_arg;
    }
}

/* ---- commands ---- */

size_t vls_command_bytes(const vls_command *command)
{
    size_t bytes = 512 + command->payload.len;

    for (size_t i = 0; i < command->objects.len; i++)
        bytes += command->objects.ptr[i].bytes.len;
    for (size_t i = 0; i < command->before.len; i++)
        bytes += vls_command_bytes(command->before.ptr[i]);
    return bytes;
}

void vls_command_current(valise_blob **out, const vls_command *command)
{
    /* Without memory for it the conflict is still a conflict. */
    if (command->current.ptr)
        (void)vls_blob_new(out, command->bus->env, command->current, NULL);
}

/* Hand the struct over, and the memory its strings live in. */
static void give_result(vls_operation *o, vls_command *command)
{
    if (o->result && command->result)
        memcpy(o->result, command->result, o->op->out_size);
    if (!o->memory)
        return;
    command->view.txn = NULL;
    command->view.hooks = (vls_view_hooks){0};
    command->view.let_go = NULL;
    o->memory->view = command->view;
    o->memory->arena = command->own_arena;
    command->view = (valise_view){0};
    command->own_arena = (vls_arena){0};
}

/* In turn with the other commands, or by itself. */
static int submit(vls_operation *o, vls_command *command, valise_error *err)
{
    vls_bus_request request = {.item = {.commands = 1},
                               .commands = command,
                               .count = 1,
                               .dry_run = o->call.flags & VALISE_CALL_DRY_RUN};

    command->apart = o->op->apart && o->op->apart(o->v, command->args);
    if (!command->apart) {
        int rc = vls_operation_check_store(o, err);
        if (rc == 0)
            rc = vls_command_prepare(command, err);
        request.item.bytes = vls_command_bytes(command);
        return rc < 0 ? rc : vls_bus_request_submit(&request, o->v, err);
    }
    return request.dry_run ? vls_apart_refuse(command, "tried without effect", err)
                           : vls_apart_run(command, err);
}

/* 1: what was prepared did not fit any more, and can be tried again. */
static int try_command(vls_operation *o, vls_patience *patience, valise_error *err)
{
    VLS_AUTO(command) vls_command command = {0};
    int rc = vls_command_init(&command, o->v, o->op, &o->call, o->more->internal, err);

    if (rc < 0)
        return rc;
    command.told = &o->told;
    command.want_json = !o->typed;
    command.want_struct = o->typed;
    command.also = o->more->also;
    command.also_arg = o->more->arg;
    rc = o->typed ? vls_command_take(&command, o->args, err)
                  : vls_command_decode(&command, o->payload, VLS_FIELD_INPUT, err);
    if (rc < 0)
        return rc;
    rc = submit(o, &command, err);
    if (rc < 0 && vls_command_again(patience, &command))
        return 1;
    if (rc < 0) {
        rc = vls_command_late(patience, &command, rc, err);
        vls_command_current(&o->reply.current, &command);
        return rc;
    }
    o->reply = vls_command_reply(&command);
    if (o->typed)
        give_result(o, &command);
    return 0;
}

static int run_command(vls_operation *o, valise_error *err)
{
    vls_patience patience;
    int rc = 1;

    vls_patience_init(&patience, o->v);
    while (rc > 0)
        rc = try_command(o, &patience, err);
    return rc;
}

/* Somebody was refused. All transactions are over: the read log may take one. */
static void note_refusal(const vls_operation *o)
{
    if (!o->more->internal)
        vls_read_log_refuse(o->v, o->call.actor.len ? o->call.actor : o->v->actor, o->op);
}

static int run_kind(vls_operation *o, valise_error *err)
{
    int rc = vls_operation_check(o, err);

    if (rc < 0)
        return rc;
    switch (o->op->kind) {
    case VALISE_COMMAND:
        return run_command(o, err);
    case VALISE_QUERY:
        return vls_operation_query(o, err);
    default:
        return vls_operation_job(o, err);
    }
}

int vls_operation_run(vls_operation *o, valise_error *err)
{
    int rc = run_kind(o, err);
    int after;

    if (rc == 0 && !(o->call.flags & VALISE_CALL_DRY_RUN))
        vls_told_follow(&o->told, o->v, o->call.actor);
    after = vls_told_publish(&o->told, o->v, rc < 0 ? NULL : err);

    if (rc == 0 && after < 0) {
        o->reply.json = valise_blob_unref(o->reply.json);
        rc = after;
    }
    if (rc == VALISE_E_DENIED)
        note_refusal(o);
    return rc;
}
