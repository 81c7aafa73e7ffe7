/* prepare.c -- valise_op.receive and .prepare: a command looks outside, on its caller's thread.
 *
 * What it adds are commands of their own in front of it, in `before`: the pipeline runs them once
 * the command is allowed, and the log holds them like any other. */
#include "base/hex.h"
#include "bus/command.h"
#include "bus/read.h"

struct valise_prepare {
    vls_command *command;
};

valise *valise_prepare_workspace(valise_prepare *prepare)
{
    return prepare->command->bus;
}

valise_str valise_prepare_actor(const valise_prepare *prepare)
{
    return prepare->command->actor;
}

vls_arena *vls_prepare_arena(valise_prepare *prepare)
{
    return prepare->command->arena;
}

bool vls_prepare_is_shared(const valise_prepare *prepare)
{
    return prepare->command->prepared_once != NULL;
}

bool vls_prepare_is_dry_run(const valise_prepare *prepare)
{
    return prepare->command->dry_run;
}

bool vls_prepare_is_first(valise_prepare *prepare)
{
    bool *once = prepare->command->prepared_once;

    if (*once)
        return false;
    *once = true;
    return true;
}

void vls_prepare_leave(valise_prepare *prepare, const void *seen)
{
    prepare->command->seen = seen;
}

int valise_prepare_alloc(void **out, valise_prepare *prepare, size_t size, valise_error *err)
{
    void *memory;

    VLS_ARG(out && prepare && size > 0, err);
    memory = vls_arena_alloc(prepare->command->arena, size);
    if (!memory)
        return vls_arena_fail(prepare->command->arena, err);
    *out = memory;
    return 0;
}

/* The same table, as the registry knows it. */
static int find(const valise_op **out, const vls_command *command, const valise_op *op,
                valise_error *err)
{
    *out = vls_registry_op(command->bus->registry, valise_str_of(op->name));
    if (!*out || (*out)->kind != VALISE_COMMAND)
        return vls_fail(err, VALISE_E_INVALID, "%s: %s is not a command that can be put in front",
                        command->op->name, op->name);
    return 0;
}

int valise_prepare_add(valise_prepare *prepare, const valise_op *op, const void *args,
                       valise_error *err)
{
    vls_command *command, *added;
    valise_call call = VALISE_CALL_INIT;
    int rc;

    VLS_ARG(prepare && op && (args || !op->in), err);
    command = prepare->command;
    rc = find(&op, command, op, err);
    if (rc < 0)
        return rc;
    added = vls_arena_zalloc(command->arena, sizeof(*added));
    if (!added)
        return vls_arena_fail(command->arena, err);
    call.actor = command->actor;
    call.cause = command->id;
    rc = vls_command_init(added, command->bus, op, &call, true, err);
    if (rc < 0)
        return rc;
    /* Owned from here on, so that it is released whatever happens. */
    if (!vls_vec_push(&command->before, command->bus->env, added)) {
        vls_command_release(added);
        return vls_fail_memory(err);
    }
    command->prepared = command->before.len;
    added->told = command->told;
    rc = vls_command_take(added, args, err);
    return rc < 0 ? rc : vls_apart_refuse(added, "put in front of a command", err);
}

/* ---- what came along ---- */

int vls_prepare_allowed(valise_prepare *prepare, const void *args, valise_error *err)
{
    const vls_command *command = prepare->command;
    const vls_bus_access *access = &command->bus->access;
    VLS_AUTO(reading) vls_reading reading = {0};
    valise_call call = VALISE_CALL_INIT;
    int rc;

    /* What middleware changes or adds is asked for where it runs. */
    if (command->internal || command->no_middleware || command->view.txn)
        return 0;
    call.actor = command->actor;
    rc = vls_reading_begin(&reading, command->bus, &call, true, err);
    if (rc == 0)
        rc = access->check(access->self, &reading.view, reading.actor, command->op, args, err);
    return vls_settle(rc);
}

int vls_prepare_received(valise_prepare *prepare, const valise_id *blob, valise_error *err)
{
    vls_command *command = prepare->command;

    return vls_vec_push_in(&command->received, command->arena, *blob)
               ? 0
               : vls_arena_fail(command->arena, err);
}

bool vls_command_has_received(const vls_command *command, const valise_id *blob)
{
    for (size_t i = 0; i < command->received.len; i++) {
        if (vls_id_equal(&command->received.ptr[i], blob))
            return true;
    }
    return false;
}

bool vls_prepare_has_received(const valise_prepare *prepare, const valise_id *blob)
{
    return vls_command_has_received(prepare->command, blob);
}

int vls_command_receive(vls_command *command, valise_error *err)
{
    valise_prepare prepare = {command};

    return command->op->receive ? command->op->receive(&prepare, command->args, err) : 0;
}

bool vls_command_again(vls_patience *patience, const vls_command *command)
{
    if (!command->outdated)
        return false;
    if (command->op->receive)
        return ++patience->tries < VLS_RECEIVE_TRIES;
    return vls_patience_again(patience, command->view.stamp.seq);
}

int vls_command_late(const vls_patience *patience, const vls_command *command, int rc,
                     valise_error *err)
{
    if (!command->outdated || command->op->receive)
        return rc;
    return vls_patience_fail(patience, rc, "the tree", err);
}

int vls_command_prepare(vls_command *command, valise_error *err)
{
    valise_prepare prepare = {command};

    if (!command->op->prepare)
        return 0;
    return command->op->prepare(&prepare, command->args, err);
}
