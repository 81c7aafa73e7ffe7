/* read.c -- views of queries, `at`, and the rows they answer with. */
#include "bus/read.h"

#include "base/hex.h"
#include "base/str.h"
#include "store/place.h"

/* ---- at ---- */

/* The state that brought a row which is put once: a commit of a backpack, a version of the tree. */
static int at_of_row(int64_t *seq, vls_reading *r, const vls_target *target, valise_error *err)
{
    vls_seen seen = {0};
    int rc;

    if (!target->by_name || !(target->coll->desc->flags & VALISE_COLL_IMMUTABLE))
        return 0;
    rc = vls_view_see(&seen, &r->view, target->coll, target->key, err);
    if (rc < 0 || !seen.row)
        return rc;
    *seq = seen.from_seq;
    return 1;
}

/* A command by the end of its id, as it was printed, or what has a name of its own. 0: the text is
 * something else. */
static int at_of_digits(int64_t *seq, vls_reading *r, valise_str at, valise_error *err)
{
    vls_target target;
    int rc = vls_target_find(&target, &r->view, at, err);

    if (rc < 0)
        return rc == VALISE_E_INVALID || rc == VALISE_E_NOT_FOUND ? 0 : rc;
    if (target.kind == VLS_TARGET_ROW)
        return at_of_row(seq, r, &target, err);
    if (target.kind != VLS_TARGET_ENTRY)
        return 0;
    *seq = target.seq;
    return 1;
}

/* A command, or a commit: both have UUIDs. */
static int at_of_uuid(int64_t *seq, vls_reading *r, const valise_uuid *id, valise_str at,
                      valise_error *err)
{
    vls_entry entry;
    int rc = vls_log_find(&entry, &r->txn, id, &r->view.arena, err);

    if (rc > 0)
        *seq = entry.seq;
    if (rc == 0)
        rc = at_of_digits(seq, r, at, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "at: nothing in the log has that id");
    return vls_settle(rc);
}

static int at_of_time(int64_t *seq, vls_reading *r, int64_t time, valise_error *err)
{
    int64_t base = r->txn.tip.base_seq;
    int rc = vls_log_at_time(seq, &r->txn, time, err);

    if (rc < 0 || *seq >= base)
        return rc;
    (void)vls_fail(err, VALISE_E_LIMIT, "the log no longer reaches back to %s",
                   vls_time_text_of(time).s);
    vls_hint(err, "the oldest state that can be seen is that of seq %lld", (long long)base);
    return VALISE_E_LIMIT;
}

int vls_reading_seq(int64_t *seq, vls_reading *r, valise_str at, valise_error *err)
{
    valise_uuid id;
    int64_t time;
    int rc;

    if (vls_place_seq(seq, &r->view, at))
        return 0;
    if (vls_uuid_parse(&id, at, NULL) == 0)
        return at_of_uuid(seq, r, &id, at, err);
    rc = vls_time_parse_said(&time, at, NULL);
    if (rc == 0)
        return at_of_time(seq, r, time, err);
    rc = vls_str_find_byte(at, '/') < at.len ? 0 : at_of_digits(seq, r, at, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    if (vls_str_to_i64(seq, at) && *seq >= 0)
        return 0; /* there is no such seq yet, which is what the view says */
    (void)vls_fail(err, VALISE_E_INVALID, "at: \"%.*s\" is not a seq, a time or the id of a commit",
                   (int)VLS_MIN(at.len, 60), at.ptr);
    vls_hint(err, "give one such as 42, 2026-01-02T03:04:05Z, or the id of a commit or command");
    return VALISE_E_INVALID;
}

static int go_to(vls_reading *r, valise_str at, valise_error *err)
{
    int64_t seq;
    int rc = vls_reading_seq(&seq, r, at, err);

    return rc < 0 ? rc : vls_view_go_to(&r->view, seq, err);
}

/* ---- a state ---- */

static int allows(void *self, const char *capability, const char *const *attrs, valise_error *err)
{
    vls_reading *r = self;
    const vls_bus_access *access = &r->bus->access;
    int rc;

    if (r->internal || !r->view.txn)
        return 0;
    rc = access->allows(access->self, &r->view, r->actor, capability, attrs, err);
    return rc < 0 ? rc : 0;
}

static int emit(void *self, const void *row, valise_error *err)
{
    vls_reading *r = self;

    if (!r->sink)
        return vls_fail(err, VALISE_E_INVALID, "this operation does not answer with a list");
    return vls_sink_emit(r->sink, row, err);
}

int vls_reading_begin(vls_reading *out, valise *v, const valise_call *call, bool workspace,
                      valise_error *err)
{
    vls_txn *txn = NULL;
    int rc = 0;

    *out = (vls_reading){.bus = v, .actor = call->actor.len ? call->actor : v->actor};
    if (workspace) {
        rc = vls_txn_begin(&out->txn, v->store, VALISE_TXN_READ, err);
        if (rc < 0)
            return rc;
        txn = &out->txn;
    }
    vls_view_init(&out->view, txn, v->env);
    out->view.bus = v;
    out->view.stamp.time = vls_clock_now_ns(&v->clock);
    out->view.stamp.actor = out->actor;
    out->view.stamp.cause = call->cause;
    out->view.hooks = (vls_view_hooks){.allows = allows, .emit = emit, .self = out};
    if (call->at.len > 0 && workspace)
        rc = go_to(out, call->at, err);
    if (rc < 0)
        vls_reading_end(out);
    return rc;
}

void vls_reading_end(vls_reading *reading)
{
    vls_view_release(&reading->view);
    vls_txn_rollback(&reading->txn);
}

/* ---- rows of a list ---- */

void vls_sink_init(vls_sink *sink, const valise_op *op, const valise_env *env)
{
    *sink = (vls_sink){.op = op};
    vls_buf_init(&sink->text, env, VLS_REPLY_MAX);
}

void vls_sink_release(vls_sink *sink)
{
    vls_buf_release(&sink->text);
}

/* It ends the operation like a failure, but is none for the caller, whose err stays as it is. */
static int stop(vls_sink *sink)
{
    sink->stopped = true;
    return VALISE_E_CANCELLED;
}

static int emit_text(vls_sink *sink, const void *row, valise_error *err)
{
    int rc;

    vls_buf_clear(&sink->text);
    rc = vls_fields_write(&sink->text, row, sink->op->out, VLS_FIELD_INPUT, VLS_FIELD_ALL, err);
    if (rc < 0)
        return rc;
    rc = sink->fn(sink->arg, vls_buf_str(&sink->text), err);
    return rc > 0 ? stop(sink) : rc;
}

static int too_large(const vls_sink *sink, int rc, valise_error *err)
{
    if (rc == VALISE_E_TOO_LARGE) {
        (void)vls_fail(err, rc, "the answer of %s has more than %zu MiB", sink->op->name,
                       VLS_REPLY_MAX >> 20);
        vls_hint(err, "read it row by row, with valise_stream");
    }
    return rc;
}

int vls_sink_emit(vls_sink *sink, const void *row, valise_error *err)
{
    int rc;

    if (!(sink->op->flags & VALISE_OP_LIST) || !sink->op->out)
        return vls_fail(err, VALISE_E_INVALID, "%s does not answer with a list", sink->op->name);
    if (sink->stopped)
        return stop(sink);
    sink->count++;
    if (sink->rows) {
        rc = sink->rows(sink->arg, row, err);
        return rc > 0 ? stop(sink) : rc;
    }
    if (sink->fn)
        return emit_text(sink, row, err);
    vls_buf_add(&sink->text, sink->count == 1 ? VLS_STR("{\"items\":[") : VLS_STR(","));
    rc = vls_fields_write(&sink->text, row, sink->op->out, VLS_FIELD_INPUT, VLS_FIELD_ALL, err);
    return too_large(sink, rc, err);
}

int vls_sink_finish(valise_blob **out, vls_sink *sink, const void *result, valise_error *err)
{
    bool list = sink->op->flags & VALISE_OP_LIST;
    int rc = 0;

    if (list && (sink->rows || sink->fn))
        return 0;
    if (list)
        vls_buf_add(&sink->text, sink->count > 0 ? VLS_STR("]}") : VLS_STR("{\"items\":[]}"));
    else if (sink->op->out)
        rc = vls_fields_write(&sink->text, result, sink->op->out, VLS_FIELD_INPUT, VLS_FIELD_ALL,
                              err);
    else
        vls_buf_add(&sink->text, VLS_STR("{}"));
    if (rc == 0)
        rc = vls_buf_check(&sink->text, err);
    if (rc < 0)
        return too_large(sink, rc, err);
    return vls_blob_new(out, sink->text.env, vls_buf_str(&sink->text), err);
}
