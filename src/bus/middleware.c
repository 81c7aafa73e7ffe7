/* middleware.c -- those who see each command before it is decided, and its result after.
 *
 *     before of each, in order   ->  access once more, if one changed the payload
 *     commands added "before"    ->  the command itself  ->  commands added "after"
 *     after of each, in order        sees the state with all of it
 *
 * All of it is part of the command: whatever fails, nothing is stored. A change or an addition that
 * was refused aborts the command even when the middleware ignores it. */
#include "bus/command.h"

#include "base/str.h"

#define MAX_ADDED 1024u /* commands that the middleware of one command may add */

struct valise_pass {
    vls_command *command;
    bool after;
    vls_buf payload; /* the text that was asked for last */
    int failed;      /* of the first change or addition that was refused */
    valise_error why;
};

/* Of a table of an older size the members behind it are not there. */
#define HAS(table, member)                                                                         \
    ((table)->size >= offsetof(valise_middleware, member) + sizeof((table)->member) &&             \
     (table)->member)

const valise_op *valise_pass_op(const valise_pass *pass)
{
    return pass->command->op;
}

const valise_stamp *valise_pass_stamp(const valise_pass *pass)
{
    return &pass->command->view.stamp;
}

valise_view *valise_pass_view(valise_pass *pass)
{
    return &pass->command->view;
}

/* ---- texts ---- */

typedef struct filling {
    vls_command *command;
    valise_error *err;
} filling;

/* A typed caller may name an object instead of bringing its bytes. */
static int fill_content(void *arg, const valise_field *field, void *member)
{
    const filling *f = arg;
    valise_content *content = member;
    valise_str bytes;
    int rc;

    (void)field;
    if (content->bytes.ptr)
        return 0;
    rc = valise_view_object(&bytes, &f->command->view, &content->id, f->err);
    return rc < 0 ? rc : vls_arena_dup(&content->bytes, f->command->arena, bytes, f->err);
}

int valise_pass_payload(valise_str *json, valise_pass *pass, valise_error *err)
{
    vls_command *command = pass->command;
    filling f = {command, err};
    int rc;

    VLS_ARG(json && pass, err);
    if (!command->op->in) {
        *json = VLS_STR("{}");
        return 0;
    }
    rc = vls_fields_each_content(command->args, command->op->in, fill_content, &f);
    if (rc < 0)
        return rc;
    vls_buf_clear(&pass->payload);
    rc = vls_fields_write(&pass->payload, command->args, command->op->in, VLS_FIELD_INPUT, 0, err);
    if (rc == 0)
        *json = vls_buf_str(&pass->payload);
    return rc;
}

int valise_pass_result(valise_str *json, valise_pass *pass, valise_error *err)
{
    VLS_ARG(json && pass, err);
    if (!pass->after)
        return vls_fail(err, VALISE_E_INVALID, "%s has no result before it is decided",
                        pass->command->op->name);
    *json = pass->command->entry.result;
    return 0;
}

/* ---- changing ---- */

/* Remember the first failure, and tell the middleware. */
static int refuse(valise_pass *pass, int rc, const valise_error *why, valise_error *err)
{
    if (rc < 0 && pass->failed == 0) {
        pass->failed = rc;
        pass->why = *why;
    }
    if (rc < 0 && err)
        *err = *why;
    return rc;
}

static int change(valise_pass *pass, valise_str json, valise_error *err)
{
    vls_command *command = pass->command;
    valise_str old = command->payload;
    valise_str text;
    int rc;

    if (pass->after)
        return vls_fail(err, VALISE_E_INVALID, "%s has been decided: its payload cannot be changed",
                        command->op->name);
    rc = vls_arena_dup(&text, command->arena, json, err);
    if (rc == 0)
        rc = vls_command_decode(command, text, VLS_FIELD_INPUT, err);
    if (rc == 0 && !command->sent.ptr)
        command->sent = old;
    return rc;
}

int valise_pass_change(valise_pass *pass, valise_str json, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;

    VLS_ARG(pass, err);
    return refuse(pass, change(pass, json, &why), &why, err);
}

static int find_command(const valise_op **out, valise *v, const char *type, valise_error *err)
{
    *out = vls_registry_op(v->registry, valise_str_of(type));
    if (!*out)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no operation %s", type);
    if ((*out)->kind != VALISE_COMMAND || ((*out)->flags & VALISE_OP_INTERNAL))
        return vls_fail(err, VALISE_E_INVALID, "%s is not a command that a middleware can add",
                        type);
    return 0;
}

static int add(valise_pass *pass, bool after, const char *type, valise_str json, valise_str actor,
               valise_error *err)
{
    vls_command *command = pass->command;
    valise *v = command->bus;
    valise_call call = VALISE_CALL_INIT;
    vls_command *added;
    const valise_op *op = NULL;
    valise_str text = {NULL, 0};
    int rc;

    if (pass->after)
        return vls_fail(err, VALISE_E_INVALID, "%s has been decided: nothing can be added to it",
                        command->op->name);
    if (command->apart) {
        (void)vls_fail(
            err, VALISE_E_UNSUPPORTED,
            "%s is about something that is only in memory: a middleware cannot add %s to it",
            command->op->name, type);
        vls_hint(err, "what is added would be kept even if the command itself is not");
        return VALISE_E_UNSUPPORTED;
    }
    if (command->before.len - command->prepared + command->after.len >= MAX_ADDED)
        return vls_fail(err, VALISE_E_LIMIT, "middleware may add at most %u commands to one",
                        MAX_ADDED);
    rc = find_command(&op, v, type, err);
    if (rc == 0)
        rc = vls_arena_dup(&text, command->arena, json, err);
    if (rc == 0)
        rc = vls_arena_dup(&call.actor, command->arena, actor.len ? actor : command->actor, err);
    if (rc < 0)
        return rc;
    added = vls_arena_zalloc(command->arena, sizeof(*added));
    if (!added)
        return vls_arena_fail(command->arena, err);
    call.cause = command->id;
    rc = vls_command_init(added, v, op, &call, false, err);
    if (rc < 0)
        return rc;
    /* Owned from here on, so that it is released whatever happens. */
    if (after ? !vls_vec_push(&command->after, v->env, added)
              : !vls_vec_push(&command->before, v->env, added)) {
        vls_command_release(added);
        return vls_fail_memory(err);
    }
    added->no_middleware = true;
    added->time = command->time;
    added->told = command->told;
    rc = vls_command_decode(added, text, VLS_FIELD_INPUT, err);
    return rc < 0 ? rc : vls_apart_refuse(added, "added by a middleware", err);
}

int valise_pass_add(valise_pass *pass, bool after, const char *type, valise_str json,
                    valise_str actor, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;

    VLS_ARG(pass && type, err);
    return refuse(pass, add(pass, after, type, json, actor, &why), &why, err);
}

/* ---- running ---- */

/* What one of them said, with a message in any case. */
static int judge(const valise_pass *pass, const valise_middleware *m, int rc, valise_error *said,
                 valise_error *err)
{
    if (pass->failed < 0) {
        rc = pass->failed;
        *said = pass->why;
    }
    if (rc >= 0)
        return 0;
    if (said->code != rc) /* nothing, or what is left of something else */
        return vls_fail(err, rc, "middleware %s refused %s and gave no reason", m->name,
                        pass->command->op->name);
    if (err)
        *err = *said;
    return rc;
}

static int run_each(valise_pass *pass, valise_error *err)
{
    valise *v = pass->command->bus;

    for (size_t i = 0; i < v->middleware_count; i++) {
        const valise_middleware *m = v->middleware[i];
        valise_error said = VALISE_ERROR_INIT;
        int rc = 0;
        if (!pass->after && HAS(m, before))
            rc = m->before(m->self, pass, &said);
        else if (pass->after && HAS(m, after))
            rc = m->after(m->self, pass, &said);
        rc = judge(pass, m, rc, &said, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int run_one_added(vls_command *added, vls_txn *txn, valise_error *err)
{
    int rc = vls_pipeline_look(added, txn, err);

    if (rc == 0)
        rc = vls_pipeline_allowed(added, err);
    return rc < 0 ? rc : vls_pipeline_execute(added, txn, err);
}

static int run_before(vls_command *command, vls_txn *txn, valise_error *err)
{
    for (size_t i = 0; i < command->before.len; i++) {
        int rc = run_one_added(command->before.ptr[i], txn, err);
        if (rc < 0) {
            command->outdated = rc == VALISE_E_CONFLICT && i < command->prepared;
            return rc;
        }
    }
    return 0;
}

static int run_behind(vls_command *command, vls_txn *txn, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < command->after.len; i++)
        rc = run_one_added(command->after.ptr[i], txn, err);
    return rc;
}

/* The command itself, between what was added before and after it. */
int vls_pipeline_execute_all(vls_command *command, vls_txn *txn, valise_error *err)
{
    int rc = 0;

    if (command->sent.ptr)
        rc = vls_pipeline_allowed(command, err);
    if (rc == 0)
        rc = run_before(command, txn, err);
    /* The view has objects of the payload as it was, and does not know what was added. */
    if (rc == 0 && (command->sent.ptr || command->before.len > 0))
        rc = vls_pipeline_look(command, txn, err);
    if (rc == 0)
        rc = vls_pipeline_execute(command, txn, err);
    return rc < 0 ? rc : run_behind(command, txn, err);
}

/* Show the state with all of it, without losing the view that holds the changes. */
static int run_after(valise_pass *pass, vls_txn *txn, valise_error *err)
{
    vls_command *command = pass->command;
    valise_view changes = command->view;
    bool lent = command->view_lent;
    int rc;

    command->view = (valise_view){0};
    command->view_lent = false;
    pass->after = true;
    rc = vls_pipeline_look(command, txn, err);
    if (rc == 0) {
        command->view.stamp.seq = command->entry.seq;
        rc = run_each(pass, err);
    }
    vls_view_release(&command->view);
    command->view = changes;
    command->view_lent = lent;
    return rc;
}

int vls_middleware_run(vls_command *command, vls_txn *txn, valise_error *err)
{
    valise_pass pass = {.command = command};
    int rc;

    vls_buf_init(&pass.payload, command->bus->env, VLS_REPLY_MAX);
    rc = run_each(&pass, err);
    if (rc == 0)
        rc = vls_pipeline_execute_all(command, txn, err);
    if (rc == 0)
        rc = run_after(&pass, txn, err);
    vls_buf_release(&pass.payload);
    return rc;
}
