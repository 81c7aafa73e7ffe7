/* command.c -- a command before it is queued: who, arguments, contents. */
#include "bus/command.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "bus/told.h"

/* ---- the caller's struct ---- */

int vls_call_read(valise_call *out, const valise_call *call, valise_error *err)
{
    *out = (valise_call)VALISE_CALL_INIT;
    if (!call)
        return 0;
    if (call->size < offsetof(valise_call, flags) || call->size > 4096)
        return vls_fail(err, VALISE_E_INVALID,
                        "valise_call has a size of %zu: use VALISE_CALL_INIT", call->size);
    memcpy(out, call, VLS_MIN(call->size, sizeof(*out)));
    out->size = sizeof(*out);
    if (out->flags & ~(unsigned)VALISE_CALL_DRY_RUN)
        return vls_fail(err, VALISE_E_INVALID, "valise_call has unknown flags 0x%x", out->flags);
    return 0;
}

static int check_actor(valise_str actor, valise_error *err)
{
    if (actor.len > VLS_ACTOR_MAX)
        return vls_fail(err, VALISE_E_TOO_LARGE,
                        "the name of an actor has at most %u bytes, not %zu", VLS_ACTOR_MAX,
                        actor.len);
    for (size_t at = 0, used; at < actor.len; at += used) {
        uint32_t c;
        used = vls_utf8_decode(&c, actor.ptr + at, actor.len - at);
        if (used == 0 || vls_utf8_is_control(c))
            return vls_fail_at(err, VALISE_E_INVALID, at,
                               "the name of the actor is not plain UTF-8 text");
    }
    return 0;
}

static int read_expect(vls_command *command, valise_str text, valise_error *err)
{
    vls_buf canonical;
    vls_json value;
    int rc;

    if (text.len == 0)
        return 0;
    if (!command->op->current)
        return vls_fail(err, VALISE_E_INVALID, "%s takes no expect", command->op->name);
    rc = vls_json_parse(&value, command->arena, text, NULL, err);
    if (rc < 0) {
        vls_error_prepend(err, "expect");
        return rc;
    }
    vls_buf_init_in(&canonical, command->arena, VLS_JSON_MAX_BYTES);
    rc = vls_json_write(&canonical, value, err);
    return rc < 0 ? rc : vls_buf_keep(&command->expect, &canonical, err);
}

static int init(vls_command *out, const valise_call *call, valise_error *err)
{
    valise *bus = out->bus;
    int rc;

    out->actor = call->actor.len ? call->actor : bus->actor;
    out->cause = call->cause;
    out->id = call->id;
    out->dry_run = call->flags & VALISE_CALL_DRY_RUN;
    out->id_given = !vls_uuid_is_none(&call->id);
    rc = check_actor(out->actor, err);
    if (rc == 0)
        rc = read_expect(out, call->expect, err);
    if (rc == 0 && !out->id_given)
        rc = vls_uuid_new(&out->id, &bus->ids, err);
    if (rc < 0)
        vls_command_release(out);
    return rc;
}

int vls_command_init(vls_command *out, valise *bus, const valise_op *op, const valise_call *call,
                     bool internal, valise_error *err)
{
    *out = (vls_command){.bus = bus,
                         .op = op,
                         .arena = &out->own_arena,
                         .internal = internal,
                         .no_middleware = internal};
    vls_arena_init(&out->own_arena, bus->env, VLS_COMMAND_MAX_BYTES);
    return init(out, call, err);
}

int vls_command_init_in(vls_command *out, valise *bus, const valise_op *op, const valise_call *call,
                        vls_arena *arena, vls_arena *view_pool, valise_error *err)
{
    *out = (vls_command){.bus = bus, .op = op, .arena = arena, .view_pool = view_pool};
    return init(out, call, err);
}

static void release_all(vls_command **commands, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vls_command_release(commands[i]);
}

void vls_command_release(vls_command *command)
{
    const valise_env *env;

    if (!command->bus)
        return;
    env = command->bus->env;
    if (command->admitted)
        vls_command_release(command->admitted);
    release_all(command->before.ptr, command->before.len);
    release_all(command->after.ptr, command->after.len);
    vls_vec_release(&command->before, env);
    vls_vec_release(&command->after, env);
    vls_vec_release(&command->let_go, env);
    (void)valise_blob_unref(command->answer);
    vls_view_release(&command->view);
    vls_arena_release(&command->own_arena);
    *command = (vls_command){.bus = NULL};
}

void vls_command_forget(vls_command *command)
{
    assert(command->before.len == command->prepared && command->after.len == 0 &&
           !command->sent.ptr);
    for (size_t i = 0; i < command->before.len; i++)
        vls_command_forget(command->before.ptr[i]);
    command->outdated = false;
    if (command->admitted)
        vls_command_release(command->admitted);
    command->admitted = NULL;
    command->answer = valise_blob_unref(command->answer);
    vls_view_release(&command->view);
    if (command->told)
        vls_told_release(command->told);
    command->result = NULL;
    command->entry = (vls_entry){0};
    command->current = (valise_str){NULL, 0};
    command->repeated = command->applied = false;
}

/* ---- arguments ---- */

static size_t args_size(const valise_op *op)
{
    return op->in ? op->in_size : 1;
}

int vls_args_decode(void **out, const valise_op *op, valise_str json, vls_field_form form,
                    vls_arena *arena, valise_error *err)
{
    static const valise_field none[] = {VALISE_FIELD_END};
    void *args = vls_arena_zalloc(arena, args_size(op));
    vls_json_limits limits = {.around = op->in ? vls_fields_around(op->in) : 0};
    vls_json value;
    int rc;

    if (!args)
        return vls_arena_fail(arena, err);
    rc = vls_json_parse(&value, arena, json.len ? json : VLS_STR("{}"), &limits, err);
    if (rc == 0)
        rc =
            vls_fields_decode(args, op->in ? op->in : none, args_size(op), value, form, arena, err);
    if (rc == 0)
        *out = args;
    return rc;
}

int vls_command_decode(vls_command *command, valise_str json, vls_field_form form,
                       valise_error *err)
{
    int rc = vls_args_decode(&command->args, command->op, json, form, command->arena, err);

    if (rc < 0 || form != VLS_FIELD_INPUT)
        return rc;
    rc = vls_command_receive(command, err);
    return rc < 0 ? rc : vls_command_lift(command, !command->op->receive, err);
}

int vls_command_take(vls_command *command, const void *args, valise_error *err)
{
    const valise_op *op = command->op;
    int rc;

    command->args = vls_arena_zalloc(command->arena, args_size(op));
    if (!command->args)
        return vls_arena_fail(command->arena, err);
    if (op->in) {
        memcpy(command->args, args, op->in_size);
        rc = vls_fields_validate(command->args, op->in, command->arena, err);
        if (rc < 0)
            return rc;
    }
    rc = vls_command_receive(command, err);
    return rc < 0 ? rc : vls_command_lift(command, false, err);
}

/* ---- lifting ---- */

typedef struct lifting {
    vls_command *command;
    bool checked;
    valise_error *err;
} lifting;

static const char *kind_of(const valise_field *field)
{
    switch (field->type) {
    case VALISE_T_VALUE:
        return "value";
    case VALISE_T_TEXT:
        return "text";
    default:
        return "data";
    }
}

/* The canonical text of a VALUE that a typed caller gave. */
static int make_canonical(valise_content *content, const lifting *l)
{
    vls_buf text;
    vls_arena *arena = l->command->arena;
    vls_json value;
    int rc;

    if (vls_json_is_canonical(content->bytes))
        return 0;
    rc = vls_json_parse(&value, arena, content->bytes, NULL, l->err);
    if (rc < 0)
        return rc;
    vls_buf_init_in(&text, arena, VLS_JSON_MAX_BYTES);
    rc = vls_json_write(&text, value, l->err);
    return rc < 0 ? rc : vls_buf_keep(&content->bytes, &text, l->err);
}

static int lift_one(void *arg, const valise_field *field, void *member)
{
    lifting *l = arg;
    valise_content *content = member;
    const char *kind = kind_of(field);
    int rc = 0;

    if (!content->bytes.ptr)
        return 0; /* an object that is there already */
    if (!l->checked && field->type == VALISE_T_VALUE)
        rc = make_canonical(content, l);
    if (rc == 0)
        rc = vls_object_id(&content->id, kind, content->bytes, l->err);
    if (rc < 0)
        return rc;
    content->size = (int64_t)content->bytes.len;
    if (!vls_vec_push_in(&l->command->objects, l->command->arena,
                         (vls_new_object){content->id, kind, content->bytes}))
        return vls_arena_fail(l->command->arena, l->err);
    return 0;
}

/* The payload as the log will hold it. */
static int write_payload(vls_command *command, valise_error *err)
{
    vls_buf text;
    int rc;

    if (!command->op->in) {
        command->payload = VLS_STR("{}");
        return 0;
    }
    vls_buf_init_in(&text, command->arena, VLS_JSON_MAX_BYTES);
    rc = vls_fields_write(&text, command->args, command->op->in, VLS_FIELD_LOGGED, 0, err);
    return rc < 0 ? rc : vls_buf_keep(&command->payload, &text, err);
}

int vls_command_lift(vls_command *command, bool checked, valise_error *err)
{
    lifting l = {.command = command, .checked = checked, .err = err};
    int rc = 0;

    command->objects.len = 0;
    if (command->op->in)
        rc = vls_fields_each_content(command->args, command->op->in, lift_one, &l);
    return rc < 0 ? rc : write_payload(command, err);
}

/* ---- the answer ---- */

valise_reply vls_command_reply(vls_command *command)
{
    valise_reply reply = VALISE_REPLY_INIT;

    reply.json = VLS_TAKE(command->answer);
    reply.seq = command->entry.seq;
    reply.time = command->entry.time;
    reply.id = command->id;
    reply.repeated = command->repeated;
    return reply;
}
