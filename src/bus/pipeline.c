/* pipeline.c -- what happens to one command inside the transaction.
 *
 *     retry       a given id that was accepted before: the first answer again, and no more
 *     access      may this actor do this?
 *     expect      is there what the caller thinks there is?
 *     middleware  may change, add or refuse (middleware.c)
 *     decide      the operation reads a view and says what changes
 *     apply       objects, rows, and the entry that tells of them; nothing, when an IDEMPOTENT
 *                 command finds everything as it would have it
 *
 * Access comes before expect, since a conflict shows what is there. Whoever calls undoes the work
 * of a command that failed: nothing here goes back. */
#include "bus/command.h"

#include "base/hex.h"
#include "base/str.h"
#include "bus/access.h"

#define SPARE_MAX ((size_t)64 << 10) /* of memory that is kept for the next view */

/* ---- retry ---- */

/* Was the entry made by the payload this command came with? */
static bool is_same_payload(const vls_command *command, const vls_entry *entry)
{
    valise_id sent;

    if (!entry->payload.ptr || !entry->nonce.ptr)
        return false; /* erased: nobody can tell any more */
    if (vls_id_is_none(&entry->sent))
        return vls_str_equal(entry->payload, command->payload);
    vls_log_commitment(&sent, entry->nonce, command->payload);
    return vls_id_equal(&sent, &entry->sent);
}

/* The struct of an answer that is known as text. */
static int restore_result(vls_command *command, valise_error *err)
{
    const valise_op *op = command->op;
    vls_json value;
    int rc;

    if (!op->out || !command->want_struct)
        return 0;
    command->result = vls_arena_zalloc(command->arena, op->out_size);
    if (!command->result)
        return vls_arena_fail(command->arena, err);
    rc = vls_json_parse(&value, command->arena, command->entry.result,
                        &(vls_json_limits){.around = VLS_JSON_MAX_AROUND}, err);
    return rc < 0 ? rc
                  : vls_fields_decode(command->result, op->out, op->out_size, value,
                                      VLS_FIELD_INPUT, command->arena, err);
}

static int make_answer(vls_command *command, valise_error *err)
{
    if (!command->want_json)
        return 0;
    return vls_blob_new(&command->answer, command->bus->env,
                        command->told_result.ptr ? command->told_result : command->entry.result,
                        err);
}

static int repeat(vls_command *command, vls_txn *txn, valise_error *err)
{
    vls_entry entry;
    bool same = false;
    int rc = vls_log_find(&entry, txn, &command->id, command->arena, err);

    if (rc <= 0)
        return rc;
    if (vls_str_equal(entry.actor, command->actor) &&
        vls_str_equal(entry.type, valise_str_of(command->op->name)))
        same = is_same_payload(command, &entry);
    if (!same) {
        /* Access was not asked yet: what others did is not told. */
        if (vls_str_equal(entry.actor, command->actor))
            (void)vls_fail(err, VALISE_E_EXISTS,
                           "this id belongs to another command: %.*s, seq %lld",
                           VALISE_STR_ARG(entry.type), (long long)entry.seq);
        else
            (void)vls_fail(err, VALISE_E_EXISTS, "this id belongs to another command");
        vls_hint(err,
                 "a retry must have the same actor, type and payload; give anything else a new id");
        return VALISE_E_EXISTS;
    }
    command->entry = entry;
    command->repeated = true;
    rc = restore_result(command, err);
    if (rc == 0)
        rc = make_answer(command, err);
    return rc < 0 ? rc : 1;
}

/* ---- looking ---- */

static int allows(void *self, const char *capability, const char *const *attrs, valise_error *err)
{
    vls_command *command = self;
    const vls_bus_access *access = &command->bus->access;
    int rc;

    if (command->internal)
        return 0;
    rc = access->allows(access->self, &command->view, command->actor, capability, attrs, err);
    return rc < 0 ? rc : 0;
}

/* The time of a command stands still while it runs, and never lies before that of another. */
static int64_t freeze_time(vls_command *command, const vls_txn *txn)
{
    vls_clock *clock = &command->bus->clock;

    if (command->time == 0)
        command->time = vls_clock_now_ns(clock);
    command->time = VLS_MAX(command->time, txn->tip.time);
    return command->time;
}

/* The views of a batch live until its end, so they share one arena: whichever runs has it. A view
 * by itself uses that of the last one again. */
static void lend_memory(vls_command *command)
{
    vls_arena *from = command->view_pool ? command->view_pool : &command->bus->spare;

    if (command->apart || !from->env) /* what is spare belongs to who leads */
        return;
    command->view.arena = *from;
    *from = (vls_arena){.env = NULL};
    command->view_lent = command->view_pool != NULL;
}

/* What was made in it stays; what is made from now on is the view's own. */
static void return_memory(vls_command *command)
{
    if (!command->view_lent)
        return;
    *command->view_pool = command->view.arena;
    vls_arena_init(&command->view.arena, command->bus->env, VLS_VIEW_MAX_BYTES);
    command->view_lent = false;
}

/* One that came along and is gone again (another process purged it) is received once more. */
static int has_blob(void *self, const valise_id *id, valise_error *err)
{
    vls_command *command = self;
    bool received = vls_command_has_received(command, id);
    uint64_t size;
    int rc;

    if (received && command->dry_run)
        return 0; /* it was not put */
    rc = vls_blobs_size(&size, command->bus->blobs, id, err);
    if (rc == VALISE_E_NOT_FOUND && received)
        command->outdated = true;
    return rc;
}

int vls_pipeline_look(vls_command *command, vls_txn *txn, valise_error *err)
{
    valise_view *view = &command->view;

    return_memory(command);
    vls_view_release(view);
    vls_view_init(view, txn, command->bus->env);
    lend_memory(command);
    view->bus = command->bus;
    view->let_go = &command->let_go;
    view->told = command->told;
    view->seen = command->seen;
    view->apart = command->apart;
    view->stamp = (valise_stamp){.seq = txn->tip.seq + (command->apart ? 0 : 1),
                                 .time = freeze_time(command, txn),
                                 .command = command->id,
                                 .actor = command->actor,
                                 .cause = command->cause};
    view->expect = command->expect;
    view->hooks = (vls_view_hooks){
        .allows = allows, .blob = command->bus->blobs ? has_blob : NULL, .self = command};
    view->replaying = command->replayed != NULL;
    view->expiring = command->op->flags & VALISE_OP_INTERNAL;
    for (size_t i = 0; i < command->objects.len; i++) {
        int rc = vls_view_lend(view, &command->objects.ptr[i], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The arguments of the command that records an actor. */
static int write_admission(valise_str *out, vls_command *command, valise_error *err)
{
    vls_buf text;

    vls_buf_init_in(&text, command->arena, VLS_JSON_MAX_BYTES);
    vls_buf_add_text(&text, "{\"id\":");
    vls_json_write_string(&text, command->actor);
    vls_buf_add_text(&text, "}");
    return vls_buf_keep(out, &text, err);
}

/* An open workspace records who comes in with the first command, by a command of its own in the
 * same transaction. */
static int admit(vls_command *command, valise_error *err)
{
    valise *v = command->bus;
    vls_txn *txn = command->view.txn;
    const valise_op *op = vls_registry_op(v->registry, VLS_STR(VLS_ACCESS_ADMIT));
    valise_call call = VALISE_CALL_INIT;
    vls_command *added = vls_arena_zalloc(command->arena, sizeof(*added));
    valise_str text;
    int rc;

    if (!added)
        return vls_arena_fail(command->arena, err);
    if (!op)
        return vls_fail(err, VALISE_E_UNSUPPORTED, "there is no operation " VLS_ACCESS_ADMIT);
    rc = write_admission(&text, command, err);
    call.actor = command->actor;
    call.cause = command->id;
    if (rc == 0)
        rc = vls_command_init(added, v, op, &call, true, err);
    if (rc < 0)
        return rc;
    command->admitted = added;
    added->time = command->time;
    rc = vls_command_decode(added, text, VLS_FIELD_INPUT, err);
    if (rc == 0)
        rc = vls_pipeline_look(added, txn, err);
    if (rc == 0)
        rc = vls_pipeline_execute(added, txn, err);
    return rc < 0 ? rc : vls_pipeline_look(command, txn, err);
}

int vls_pipeline_allowed(vls_command *command, valise_error *err)
{
    const vls_bus_access *access = &command->bus->access;
    int rc;

    if (command->internal)
        return 0;
    rc = access->check(access->self, &command->view, command->actor, command->op, command->args,
                       err);
    if (rc > 0 && command->apart)
        return 0; /* who leaves nothing behind need not be recorded */
    return rc <= 0 ? rc : admit(command, err);
}

static int check_expect(vls_command *command, valise_error *err)
{
    valise_str current = VLS_STR("null");
    int rc;

    if (command->expect.len == 0)
        return 0;
    rc = command->op->current(&current, &command->view, command->args, err);
    if (rc < 0 || vls_str_equal(current, command->expect))
        return rc;
    rc = vls_arena_dup(&command->current, command->arena, current, err);
    if (rc < 0)
        return rc;
    return vls_fail(err, VALISE_E_CONFLICT, "%s expects %.100s, but there is %.100s",
                    command->op->name, command->expect.ptr, command->current.ptr);
}

/* ---- deciding and applying ---- */

static int next_nonce(valise_str *out, vls_command *command, valise_error *err)
{
    valise *v = command->bus;

    if (v->nonces_left == 0) {
        if (v->env->random(v->env->self, v->nonces, sizeof(v->nonces)) < 0)
            return vls_fail(err, VALISE_E_IO, "no random bytes are available");
        v->nonces_left = VLS_NONCES;
    }
    return vls_arena_dup(out, command->arena, vls_str(v->nonces[--v->nonces_left], VLS_NONCE_SIZE),
                         err);
}

static int write_text(valise_str *out, vls_command *command, unsigned flags, valise_error *err)
{
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, command->arena, VLS_JSON_MAX_BYTES);
    rc = vls_fields_write(&text, command->result, command->op->out, VLS_FIELD_INPUT, flags, err);
    return rc < 0 ? rc : vls_buf_keep(out, &text, err);
}

/* What the log keeps a replay must find again: so what only the caller's look knows is not in it.
 */
static int write_result(vls_command *command, valise_error *err)
{
    int rc;

    if (!command->op->out) {
        command->entry.result = VLS_STR("{}");
        return 0;
    }
    rc = write_text(&command->entry.result, command, VLS_FIELD_ALL | VLS_FIELD_LASTING, err);
    if (rc == 0 && command->seen && command->want_json)
        rc = write_text(&command->told_result, command, VLS_FIELD_ALL, err);
    return rc;
}

static int fill_entry(vls_command *command, valise_error *err)
{
    const vls_entry *replayed = command->replayed;
    vls_entry *entry = &command->entry;
    int rc;

    *entry = (vls_entry){.id = command->id,
                         .time = command->view.stamp.time,
                         .actor = command->actor,
                         .cause = command->cause,
                         .type = valise_str_of(command->op->name),
                         .payload = command->payload};
    rc = write_result(command, err);
    if (rc < 0)
        return rc;
    if (replayed) {
        entry->nonce = replayed->nonce;
        entry->sent = replayed->sent;
        return 0;
    }
    rc = next_nonce(&entry->nonce, command, err);
    if (rc == 0 && command->sent.ptr)
        vls_log_commitment(&entry->sent, entry->nonce, command->sent);
    return rc;
}

static int decide(vls_command *command, valise_error *err)
{
    const valise_op *op = command->op;
    int rc;

    if (op->out) {
        command->result = vls_arena_zalloc(command->arena, op->out_size);
        if (!command->result)
            return vls_arena_fail(command->arena, err);
        vls_fields_clear(command->result, op->out, op->out_size);
    }
    rc = op->decide(&command->view, command->args, command->result, err);
    return vls_op_judge(op, rc, err);
}

/* A large batch need not keep what nobody will look at: there are no followers, or there is nothing
 * to tell them (rows of QUIET collections that make no events). The memory is used again for the
 * next. */
static void drop_view(vls_command *command)
{
    valise *v = command->bus;
    vls_arena arena = command->view.arena;

    command->entry.changes = (valise_str){NULL, 0};
    vls_arena_init(&command->view.arena, v->env, VLS_VIEW_MAX_BYTES);
    vls_view_release(&command->view);
    vls_arena_reset(&arena);
    if (v->spare.env || arena.used > SPARE_MAX)
        vls_arena_release(&arena);
    else
        v->spare = arena;
}

/* Nothing is applied, and there is no entry: only the answer, where somebody reads it. What was
 * decided is done, so as little as possible may fail after it. */
static int execute_apart(vls_command *command, valise_error *err)
{
    bool read = command->want_json || command->bus->middleware_count > 0;
    int rc = decide(command, err);

    command->entry = (vls_entry){.time = command->view.stamp.time};
    if (rc < 0 || !read)
        return rc;
    rc = write_result(command, err);
    return rc < 0 ? rc : make_answer(command, err);
}

/* Was it so already? Then there is nothing to tell, and no entry. But who brought an id may ask
 * again with it, and only the entry remembers that; and an entry that was accepted once is made
 * again, whatever it did. */
static bool leaves_nothing(const vls_command *command)
{
    return (command->op->flags & VALISE_OP_IDEMPOTENT) && !command->id_given &&
           !command->replayed && !command->also && !vls_view_has_changes(&command->view);
}

static int apply(vls_command *command, vls_txn *txn, valise_error *err)
{
    int rc;

    if (leaves_nothing(command)) {
        command->entry = (vls_entry){.seq = txn->tip.seq, .time = command->view.stamp.time};
        return write_result(command, err);
    }
    rc = fill_entry(command, err);
    if (rc == 0)
        rc = vls_view_apply(&command->entry, &command->view, err);
    command->applied = rc == 0;
    return rc;
}

int vls_pipeline_execute(vls_command *command, vls_txn *txn, valise_error *err)
{
    int rc;

    if (command->apart)
        return execute_apart(command, err);
    assert(command->view.txn == txn && command->view.at == txn->tip.seq);
    command->view.changing = true;
    command->let_go.len = 0;
    rc = decide(command, err);
    if (rc == 0)
        rc = apply(command, txn, err);
    command->view.changing = false;
    if (rc == 0)
        rc = make_answer(command, err);
    if (rc == 0 && command->also)
        rc = command->also(command->also_arg, txn, &command->view, err);
    if (rc < 0)
        return rc;
    if (!command->want_struct && !command->view_pool &&
        (!command->bus->feed || command->entry.changes.len == 0))
        drop_view(command);
    return 0;
}

int vls_pipeline_try(vls_command *command, vls_txn *txn, valise_error *err)
{
    int rc = vls_pipeline_look(command, txn, err);

    if (rc == 0)
        rc = check_expect(command, err);
    if (rc < 0)
        return rc;
    command->view.changing = true;
    rc = decide(command, err);
    command->view.changing = false;
    return rc < 0 ? rc : write_result(command, err);
}

static int run_steps(vls_command *command, vls_txn *txn, valise_error *err)
{
    int rc = vls_pipeline_look(command, txn, err);

    if (rc == 0)
        rc = vls_pipeline_allowed(command, err);
    if (rc == 0)
        rc = check_expect(command, err);
    if (rc < 0)
        return rc;
    if (command->no_middleware || command->bus->middleware_count == 0)
        return command->prepared > 0 ? vls_pipeline_execute_all(command, txn, err)
                                     : vls_pipeline_execute(command, txn, err);
    return vls_middleware_run(command, txn, err);
}

int vls_pipeline_run(vls_command *command, vls_txn *txn, valise_error *err)
{
    int rc = command->id_given ? repeat(command, txn, err) : 0;

    if (rc == 0)
        rc = run_steps(command, txn, err);
    return_memory(command);
    return rc < 0 ? rc : 0;
}

int vls_pipeline_apart(vls_command *command, vls_txn *txn, valise_error *err)
{
    assert(command->apart);
    return run_steps(command, txn, err);
}
