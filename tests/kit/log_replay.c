/* log_replay.c -- see log_replay.h. */
#include "kit/log_replay.h"

#include "base/progress.h"
#include "base/str.h"
#include "bus/command.h"
#include "store/bundle.h"

#define PER_TXN 256u /* entries of one transaction */

typedef struct replaying {
    const log_replay *how;
    valise *bus; /* a handle on the target that nobody else has */
    vls_txn source, target;
    vls_log_scan scan;
    vls_arena arena; /* of the entry that is read */
    vls_progress progress;
    int64_t count;
} replaying;

/* ---- one entry ---- */

typedef struct fetching {
    replaying *r;
    vls_command *command;
    valise_error *err;
} fetching;

/* Arguments of a log have ids; operations want contents. */
static int fetch_content(void *arg, const valise_field *field, void *member)
{
    const fetching *f = arg;
    VLS_AUTO(blob) valise_blob *blob = NULL;
    valise_content *content = member;
    int rc = vls_object_get(&blob, &f->r->source, &content->id, f->err);

    (void)field;
    if (rc < 0)
        return rc;
    rc = vls_arena_dup(&content->bytes, f->command->arena, vls_blob_bytes(blob), f->err);
    content->size = (int64_t)content->bytes.len;
    return rc;
}

/* An object that the arguments name and that no earlier entry made came in beside the log. */
static int fetch_object(void *arg, const valise_field *field, void *member)
{
    const fetching *f = arg;
    VLS_AUTO(blob) valise_blob *blob = NULL;
    vls_bundle_record object = {.tag = 'X'};
    vls_object_info info;
    int rc;

    if (field->type != VALISE_T_ID || !field->ref || strcmp(field->ref, "object") != 0)
        return 0;
    object.id = *(const valise_id *)member;
    rc = vls_object_stat(&info, &f->r->source, &object.id, f->err);
    if (rc <= 0)
        return rc;
    object.kind = info.kind;
    object.size = (uint64_t)info.size;
    if (!info.erased) {
        rc = vls_object_get(&blob, &f->r->source, &object.id, f->err);
        if (rc < 0)
            return rc;
        object.tag = 'O';
        object.bytes = vls_blob_bytes(blob);
    }
    return vls_bundle_put_object(&f->r->target, &object, f->command->time, f->err);
}

static int read_args(replaying *r, vls_command *command, const vls_entry *entry, valise_error *err)
{
    fetching f = {r, command, err};
    int rc = vls_command_decode(command, entry->payload, VLS_FIELD_ACCEPTED, err);

    if (rc == 0 && command->op->in)
        rc = vls_fields_each_content(command->args, command->op->in, fetch_content, &f);
    if (rc == 0 && command->op->in)
        rc = vls_fields_each_ref(command->args, command->op->in, fetch_object, &f);
    return rc < 0 ? rc : vls_command_lift(command, true, err);
}

static int differs(const vls_entry *entry, const char *what, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_CORRUPT,
                   "entry %lld (%.*s) gave a different %s when it was replayed",
                   (long long)entry->seq, VALISE_STR_ARG(entry->type), what);
    vls_hint(err, "an operation must depend on nothing but its arguments and its view");
    return VALISE_E_CORRUPT;
}

/* Columns that were added since are none in rows of that time. */
static int same_cells(bool *out, valise_str was, valise_str is, valise_error *err)
{
    static const valise_cell none = {.type = VALISE_CELL_NULL};
    valise_cell a[VALISE_MAX_COLUMNS], b[VALISE_MAX_COLUMNS];
    size_t a_count = 0, b_count = 0;
    int rc = vls_cells_read(a, &a_count, VALISE_MAX_COLUMNS, was, err);

    if (rc == 0)
        rc = vls_cells_read(b, &b_count, VALISE_MAX_COLUMNS, is, err);
    if (rc < 0)
        return rc;
    *out = true;
    for (size_t i = 0; *out && i < VLS_MAX(a_count, b_count); i++)
        *out = vls_cells_equal(i < a_count ? &a[i] : &none, i < b_count ? &b[i] : &none, 1);
    return 0;
}

/* Collections have numbers of their own in each store. */
static bool same_collection(const replaying *r, uint32_t was, uint32_t is)
{
    const vls_coll *a = vls_store_coll_at(r->how->from, was);
    const vls_coll *b = vls_store_coll_at(r->how->to, is);

    return a && b && strcmp(a->desc->name, b->desc->name) == 0;
}

static int same_changes(bool *out, const replaying *r, valise_str was, valise_str is,
                        valise_error *err)
{
    size_t at_was = 0, at_is = 0;

    *out = vls_str_equal(was, is);
    while (!*out) {
        vls_image a, b;
        int more = vls_changes_next(&a, &at_was, was, err);
        int rc = more < 0 ? more : vls_changes_next(&b, &at_is, is, err);
        bool same = false;
        if (rc < 0)
            return rc;
        if (more != rc || more == 0) {
            *out = more == rc;
            return 0;
        }
        if (same_collection(r, a.coll, b.coll) && vls_str_equal(a.key, b.key) &&
            a.from_seq == b.from_seq && a.gone_seq == b.gone_seq)
            rc = same_cells(&same, a.cells, b.cells, err);
        if (rc < 0 || !same)
            return rc < 0 ? rc : 0;
    }
    return 0;
}

static int compare(const replaying *r, const vls_entry *was, const vls_entry *is, valise_error *err)
{
    bool same = false;
    int rc;

    if (!vls_str_equal(was->payload, is->payload))
        return differs(was, "payload", err);
    if (!vls_id_equal(&was->hash, &is->hash))
        return differs(was, "hash", err);
    if (!vls_str_equal(was->result, is->result))
        return differs(was, "result", err);
    rc = same_changes(&same, r, was->changes, is->changes, err);
    return rc < 0 || same ? rc : differs(was, "list of changes", err);
}

static int check_entry(const valise_op **op, const replaying *r, const vls_entry *entry,
                       valise_error *err)
{
    if (!entry->payload.ptr || !entry->nonce.ptr)
        return vls_fail(err, VALISE_E_UNSUPPORTED,
                        "the log is partial: the payload of entry %lld was erased, so it cannot be "
                        "replayed",
                        (long long)entry->seq);
    *op = vls_registry_op(r->how->registry, entry->type);
    if (!*op || (*op)->kind != VALISE_COMMAND) {
        (void)vls_fail(err, VALISE_E_UNSUPPORTED,
                       "entry %lld was made by %.*s, which is not known here",
                       (long long)entry->seq, VALISE_STR_ARG(entry->type));
        vls_hint(err, "load the extension that defines it");
        return VALISE_E_UNSUPPORTED;
    }
    return 0;
}

static int run_entry(replaying *r, const vls_entry *entry, valise_error *err)
{
    VLS_AUTO(command) vls_command command = {0};
    valise_call call = VALISE_CALL_INIT;
    const valise_op *op;
    int rc = check_entry(&op, r, entry, err);

    if (rc < 0)
        return rc;
    call.id = entry->id;
    call.cause = entry->cause;
    call.actor = entry->actor;
    rc = vls_command_init(&command, r->bus, op, &call, false, err);
    if (rc < 0)
        return rc;
    command.replayed = entry;
    command.time = entry->time;
    command.want_struct = true; /* the list of changes is in the view */
    rc = read_args(r, &command, entry, err);
    if (rc == 0)
        rc = vls_pipeline_look(&command, &r->target, err);
    if (rc == 0)
        rc = vls_pipeline_execute(&command, &r->target, err);
    return rc < 0 ? rc : compare(r, entry, &command.entry, err);
}

/* ---- all of them ---- */

static int next_txn(replaying *r, valise_error *err)
{
    int rc = 0;

    if (r->target.backend && r->count % PER_TXN == 0)
        rc = vls_txn_commit(&r->target, err);
    if (rc == 0 && !r->target.backend)
        rc = vls_txn_begin(&r->target, r->how->to, VALISE_TXN_WRITE, err);
    return rc;
}

static int run_all(replaying *r, valise_error *err)
{
    vls_entry entry;
    int rc;

    for (;;) {
        vls_arena_reset(&r->arena);
        rc = vls_log_scan_next(&entry, &r->scan, &r->arena, err);
        if (rc <= 0)
            return rc;
        rc = next_txn(r, err);
        if (rc == 0)
            rc = run_entry(r, &entry, err);
        if (rc == 0)
            rc = vls_progress_step(&r->progress, 1, err);
        if (rc < 0)
            return rc;
        r->count++;
    }
}

static int start(replaying *r, valise_error *err)
{
    int rc = vls_txn_begin(&r->source, r->how->from, VALISE_TXN_READ, err);

    if (rc == 0)
        rc = vls_txn_begin(&r->target, r->how->to, VALISE_TXN_WRITE, err);
    if (rc < 0)
        return rc;
    if (r->source.tip.base_seq > 0)
        return vls_fail(err, VALISE_E_UNSUPPORTED,
                        "the log is partial: entries up to %lld have expired, so it cannot be "
                        "replayed",
                        (long long)r->source.tip.base_seq);
    if (r->target.tip.seq > 0)
        return vls_fail(err, VALISE_E_EXISTS,
                        "a log is replayed into an empty store, and this one has %lld entries",
                        (long long)r->target.tip.seq);
    vls_progress_begin(&r->progress, "replay", "entries", (uint64_t)r->source.tip.seq);
    return vls_log_scan_open(&r->scan, &r->source, 1, false, err);
}

static int replay(replaying *r, valise_error *err)
{
    int rc = start(r, err);

    if (rc == 0)
        rc = run_all(r, err);
    if (rc == 0 && r->target.backend)
        rc = vls_txn_commit(&r->target, err);
    return rc < 0 ? rc : vls_progress_end(&r->progress, err);
}

int log_replay_run(int64_t *count, const log_replay *how, valise_error *err)
{
    const valise_env *env = vls_store_env(how->to);
    vls_bus_options options = {
        .env = env, .store = how->to, .registry = how->registry, .access = how->access};
    replaying r = {.how = how};
    int rc = vls_bus_open(&r.bus, &options, err);

    if (rc < 0)
        return rc;
    vls_arena_init(&r.arena, env, VLS_VIEW_MAX_BYTES);
    vls_progress_init(&r.progress, env, &how->progress);
    rc = replay(&r, err);
    vls_log_scan_close(&r.scan);
    vls_txn_rollback(&r.target);
    vls_txn_rollback(&r.source);
    vls_arena_release(&r.arena);
    vls_bus_close(r.bus);
    if (rc == 0 && count)
        *count = r.count;
    return rc;
}
