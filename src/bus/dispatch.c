/* dispatch.c -- valise_dispatch and its kin: JSON in, JSON out. */
#include "bus/operate.h"

#include "base/mem.h"
#include "base/str.h"
#include "bus/read_log.h"

void valise_reply_release(valise_reply *reply)
{
    if (!reply)
        return;
    reply->json = valise_blob_unref(reply->json);
    reply->current = valise_blob_unref(reply->current);
}

/* Into the caller's struct, of whatever size that is. Without one, nobody wants it. */
static void give_reply(valise_reply *out, valise_reply *reply)
{
    if (!out) {
        valise_reply_release(reply);
        return;
    }
    reply->size = out->size;
    memcpy(out, reply, VLS_MIN(out->size, sizeof(*reply)));
}

static int check_reply(const valise_reply *out, valise_error *err)
{
    if (out && (out->size < offsetof(valise_reply, seq) || out->size > 4096))
        return vls_fail(err, VALISE_E_INVALID,
                        "valise_reply has a size of %zu: use VALISE_REPLY_INIT", out->size);
    return 0;
}

static int dispatch(valise_reply *out, valise *v, valise_str type, vls_operation *o,
                    const valise_call *call, valise_error *err)
{
    static const vls_run_more nothing_more;
    int rc = check_reply(out, err);

    o->v = v;
    o->more = &nothing_more;
    o->reply = (valise_reply)VALISE_REPLY_INIT;
    if (rc == 0)
        rc = vls_call_read(&o->call, call, err);
    if (rc == 0)
        rc = vls_operation_find(&o->op, v, type, err);
    if (rc == 0)
        rc = vls_operation_run(o, err);
    if (rc < 0) {
        if (out)
            out->current = VLS_TAKE(o->reply.current);
        valise_reply_release(&o->reply);
        return rc;
    }
    give_reply(out, &o->reply);
    return 0;
}

int valise_dispatch_str(valise_reply *out, valise *v, valise_str type, valise_str payload,
                        const valise_call *call, valise_error *err)
{
    vls_operation o = {.payload = payload};

    VLS_ARG(v, err);
    return dispatch(out, v, type, &o, call, err);
}

static valise_str payload_of(const char *payload)
{
    return payload ? valise_str_of(payload) : VLS_STR("{}");
}

int valise_dispatch(valise_reply *out, valise *v, const char *type, const char *payload,
                    const valise_call *call, valise_error *err)
{
    VLS_ARG(v && type, err);
    return valise_dispatch_str(out, v, valise_str_of(type), payload_of(payload), call, err);
}

typedef struct streaming {
    valise_row_fn *fn;
    void *arg;
    int said; /* by fn */
} streaming;

static int take_row(void *arg, valise_str json, valise_error *err)
{
    streaming *s = arg;

    s->said = s->fn(s->arg, json, err);
    return s->said;
}

int valise_stream_str(valise_reply *out, valise *v, valise_str type, valise_str payload,
                      valise_row_fn *fn, void *arg, const valise_call *call, valise_error *err)
{
    streaming s = {.fn = fn, .arg = arg};
    vls_operation o = {.payload = payload, .fn = take_row, .fn_arg = &s};
    int rc;

    VLS_ARG(v && fn, err);
    rc = dispatch(out, v, type, &o, call, err);
    return rc == 0 ? s.said : rc;
}

int valise_stream(valise_reply *out, valise *v, const char *type, const char *payload,
                  valise_row_fn *fn, void *arg, const valise_call *call, valise_error *err)
{
    VLS_ARG(v && type, err);
    return valise_stream_str(out, v, valise_str_of(type), payload_of(payload), fn, arg, call, err);
}

/* ---- batches ---- */

typedef struct batch {
    valise *v;
    vls_command *commands;
    size_t count;             /* of commands that are its callers' */
    const vls_run_item *more; /* and those of the engine, behind them */
    size_t more_count;
    size_t bytes; /* that they write, roughly */
    bool prepared_once;
    valise_call call;
    vls_arena arena, views; /* of all of them */
    vls_told told;
} batch;

static void vls_auto_batch(batch *b)
{
    if (!b->commands)
        return;
    for (size_t i = 0; i < b->count + b->more_count; i++)
        vls_command_release(&b->commands[i]);
    vls_mem_free(b->v->env, b->commands, (b->count + b->more_count) * sizeof(*b->commands));
    vls_arena_release(&b->arena);
    vls_arena_release(&b->views);
}

/* What the call of one command leaves open, the call of all says. */
static int read_call(valise_call *out, const batch *b, const valise_command *command,
                     valise_error *err)
{
    int rc = vls_call_read(out, command->call, err);

    if (rc < 0)
        return rc;
    if (command->call && ((out->flags ^ b->call.flags) & VALISE_CALL_DRY_RUN & out->flags))
        return vls_fail(err, VALISE_E_INVALID,
                        "a dry run is for the whole batch or for none of its commands");
    if (out->actor.len == 0)
        out->actor = b->call.actor;
    if (vls_uuid_is_none(&out->cause))
        out->cause = b->call.cause;
    out->flags = b->call.flags;
    return 0;
}

static int prepare(batch *b, size_t i, const valise_command *command, bool want_json,
                   valise_error *err)
{
    static const vls_run_more nothing_more;
    vls_operation o = {.v = b->v, .more = &nothing_more};
    int rc = read_call(&o.call, b, command, err);

    if (rc == 0)
        rc = vls_operation_find(&o.op, b->v, command->type, err);
    if (rc == 0 && o.op->kind != VALISE_COMMAND)
        rc = vls_fail(err, VALISE_E_INVALID, "%s is not a command: it cannot be part of a batch",
                      o.op->name);
    if (rc == 0)
        rc = vls_operation_check(&o, err);
    if (rc == 0)
        rc = vls_operation_check_store(&o, err);
    if (rc == VALISE_E_DENIED)
        vls_read_log_refuse(b->v, o.call.actor.len ? o.call.actor : b->v->actor, o.op);
    if (rc == 0)
        rc = vls_command_init_in(&b->commands[i], b->v, o.op, &o.call, &b->arena, &b->views, err);
    if (rc < 0)
        return rc;
    b->commands[i].want_json = want_json;
    b->commands[i].told = &b->told;
    b->commands[i].prepared_once = b->count > 1 ? &b->prepared_once : NULL;
    rc = vls_command_decode(&b->commands[i], command->payload, VLS_FIELD_INPUT, err);
    if (rc == 0)
        rc = vls_apart_refuse(&b->commands[i], "part of a batch", err);
    if (rc == 0)
        rc = vls_command_prepare(&b->commands[i], err);
    if (rc == 0)
        b->bytes += vls_command_bytes(&b->commands[i]);
    return rc;
}

static int prepare_more(batch *b, valise_error *err)
{
    for (size_t i = 0; i < b->more_count; i++) {
        vls_command *command = &b->commands[b->count + i];
        int rc = vls_command_own(command, b->v, &b->more[i], &b->call, &b->told, err);
        if (rc < 0)
            return rc;
        b->bytes += vls_command_bytes(command);
    }
    return 0;
}

static int prepare_all(batch *b, const valise_command *commands, bool want_json, valise_error *err)
{
    b->commands = vls_mem_zalloc(b->v->env, (b->count + b->more_count) * sizeof(*b->commands));
    if (!b->commands)
        return vls_fail_memory(err);
    vls_arena_init(&b->arena, b->v->env, VLS_COMMAND_MAX_BYTES);
    vls_arena_init(&b->views, b->v->env, VLS_VIEW_MAX_BYTES);
    for (size_t i = 0; i < b->count; i++) {
        int rc = prepare(b, i, &commands[i], want_json, err);
        if (rc < 0) {
            vls_error_prepend(err, "[%zu]", i);
            return rc;
        }
    }
    return prepare_more(b, err);
}

/* The caller's structs lie as far apart as the caller's idea of their size says. */
static valise_reply *reply_at(valise_reply *out, size_t i)
{
    return out ? (valise_reply *)(void *)((char *)out + i * out->size) : NULL;
}

/* 1: what was prepared did not fit any more, and can be tried again. Whose turn it was says how
 * often: as if it had been sent alone. */
static int submit(valise_reply *out, batch *b, vls_patience *patience, valise_error *err)
{
    size_t count = b->count + b->more_count;
    vls_bus_request request = {.item = {.commands = count, .bytes = b->bytes},
                               .commands = b->commands,
                               .count = count,
                               .dry_run = b->call.flags & VALISE_CALL_DRY_RUN};
    int rc = vls_bus_request_submit(&request, b->v, err);

    if (rc == 0 && !request.dry_run)
        vls_told_follow(&b->told, b->v, b->call.actor);
    (void)vls_told_publish(&b->told, b->v, NULL); /* commands leave nothing for after */
    if (rc < 0 && request.failed < b->count &&
        vls_command_again(patience, &b->commands[request.failed]))
        return 1;
    if (rc < 0 && request.failed < b->count) {
        rc = vls_command_late(patience, &b->commands[request.failed], rc, err);
        if (rc == VALISE_E_DENIED)
            vls_read_log_refuse(b->v, b->commands[request.failed].actor,
                                b->commands[request.failed].op);
        vls_error_prepend(err, "[%zu]", request.failed);
        if (out)
            vls_command_current(&reply_at(out, request.failed)->current,
                                &b->commands[request.failed]);
    }
    for (size_t i = 0; rc == 0 && i < b->count; i++) {
        valise_reply reply = vls_command_reply(&b->commands[i]);
        give_reply(reply_at(out, i), &reply);
    }
    if (rc == 0)
        vls_command_give(b->commands + b->count, b->more, b->more_count);
    return rc;
}

static int check_batch(const valise_reply *out, const batch *b, valise_error *err)
{
    if (b->count > VLS_BATCH_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "a batch has at most %u commands, not %zu",
                        VLS_BATCH_MAX, b->count);
    if (b->call.expect.len > 0 || !vls_uuid_is_none(&b->call.id))
        return vls_fail(
            err, VALISE_E_INVALID,
            "in a batch each command has its own id and expect; the batch itself has none");
    return check_reply(out, err);
}

static int try_batch(valise_reply *out, const batch *like, const valise_command *commands,
                     vls_patience *patience, valise_error *err)
{
    VLS_AUTO(batch)
    batch b = {.v = like->v,
               .count = like->count,
               .more = like->more,
               .more_count = like->more_count,
               .call = like->call};
    int rc = prepare_all(&b, commands, out != NULL, err);

    return rc < 0 ? rc : submit(out, &b, patience, err);
}

static int try_all(valise_reply *out, const batch *like, const valise_command *commands,
                   valise_error *err)
{
    vls_patience patience;
    int rc = 1;

    vls_patience_init(&patience, like->v);
    while (rc > 0)
        rc = try_batch(out, like, commands, &patience, err);
    return rc;
}

int valise_dispatch_batch(valise_reply *out, valise *v, const valise_command *commands,
                          size_t count, const valise_call *call, valise_error *err)
{
    batch like = {.v = v, .count = count};
    int rc;

    VLS_ARG(v && (commands || count == 0), err);
    rc = vls_call_read(&like.call, call, err);
    if (rc == 0)
        rc = check_batch(out, &like, err);
    if (rc < 0 || count == 0)
        return rc;
    return try_all(out, &like, commands, err);
}

int vls_dispatch_with(valise *v, const valise_command *commands, size_t count,
                      const vls_run_item *more, size_t more_count, const valise_call *call,
                      valise_error *err)
{
    batch like = {.v = v, .count = count, .more = more, .more_count = more_count};
    int rc = vls_call_read(&like.call, call, err);

    assert(count > 0);
    if (rc == 0)
        rc = check_batch(NULL, &like, err);
    return rc < 0 ? rc : try_all(NULL, &like, commands, err);
}
