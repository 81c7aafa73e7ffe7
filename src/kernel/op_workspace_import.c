/* op_workspace_import.c -- workspace:import, a bundle into this workspace.
 *
 * The whole bundle is verified first. Then, if it is a whole one and nothing has happened here yet,
 * it takes the place of what is here. Else its rows are added by one command. */
#include "base/file.h"
#include "base/str.h"
#include "bus/bus.h"
#include "bus/follow.h"
#include "bus/job.h"
#include "kernel/bundle.h"
#include "kernel/erase.h"
#include "store/blob_care.h"
#include "store/place.h"

typedef struct import_args {
    valise_str file;
    bool force;
} import_args;

static const valise_field import_in[] = {
    VALISE_FIELD_WITH(import_args, file, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The bundle: a file, or - for standard input.", .ref = "input", .min = 1,
                      .max = 4000),
    VALISE_FIELD(import_args, force, BOOL, 0,
                 "Into an empty workspace, restore also a bundle in whose rows `validate` would "
                 "find problems, as when it was made of a damaged one."),
    VALISE_FIELD_END,
};

typedef struct import_result {
    bool restored;
    int64_t seq, rows, objects, entries, blobs;
} import_result;

static const valise_field import_out[] = {
    VALISE_FIELD(import_result, restored, BOOL, 0,
                 "The workspace was empty and is now what the bundle was made from."),
    VALISE_FIELD(import_result, seq, INT, 0, "The last log entry; if none was added, 0."),
    VALISE_FIELD(import_result, rows, INT, 0, "Rows that were added."),
    VALISE_FIELD(import_result, objects, INT, 0, "Objects that they name."),
    VALISE_FIELD(import_result, entries, INT, 0, "Log entries that were taken over."),
    VALISE_FIELD(import_result, blobs, INT, 0, "Blobs in the bundle."),
    VALISE_FIELD_END,
};

typedef struct importing {
    valise_job *job;
    valise *v;
    vls_bundle_import how;
    vls_bundle_header header; /* without its places */
    vls_bundle_counts counts;
    vls_bundle_pack pack;
    import_result *result;
} importing;

/* Blobs are not state. Those that nobody comes to name are for gc. */
static int put_blobs(const importing *i, valise_error *err)
{
    return i->counts.blobs > 0 ? vls_bundle_put_blobs(i->v->blobs, &i->how, err) : 0;
}

/* ---- into an empty workspace ---- */

static int is_fresh(void *arg, valise_view *view, valise_error *err)
{
    return vls_bundle_is_fresh(arg, view->txn, err);
}

/* What is in memory was made from what has been replaced. */
static void forget_indexes(const importing *i)
{
    vls_feed *feed = vls_feed_of(i->v);

    if (feed)
        vls_indexes_forget(&feed->indexes);
}

/* In a transaction of this thread, not in turn with the commands: whoever is told how far it is
 * must be called by the thread that asked. */
static int write_all(const importing *i, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    int rc = vls_txn_begin(&txn, i->v->store, VALISE_TXN_WRITE, err);

    if (rc == 0)
        rc = vls_bundle_restore(&txn, &i->how, err);
    return rc < 0 ? rc : vls_txn_commit(&txn, err);
}

static int restore(importing *i, valise_error *err)
{
    int rc = vls_bundle_check_colls(i->v->store, &i->how, err);

    if (rc == 0)
        rc = put_blobs(i, err);
    if (rc == 0)
        rc = write_all(i, err);
    if (rc < 0)
        return rc;
    *i->result = (import_result){.restored = true,
                                 .seq = i->header.tip_seq,
                                 .rows = i->counts.rows,
                                 .objects = i->counts.objects,
                                 .entries = i->counts.entries,
                                 .blobs = i->counts.blobs};
    forget_indexes(i);
    return 0;
}

/* ---- into another ---- */

typedef struct looking {
    importing *i;
    int64_t added;
    bool known;   /* it was imported before, or made from this very log */
    bool changes; /* it would do something all the same */
} looking;

static int is_own(bool *out, const importing *i, valise_view *view, valise_error *err)
{
    vls_entry entry = {.seq = 0};
    int rc = vls_log_get(&entry, view->txn, i->header.tip_seq, &view->arena, err);

    *out = rc > 0 && vls_id_equal(&entry.hash, &i->header.tip_hash);
    return rc < 0 ? rc : 0;
}

/* Was the blob that the row is about erased, and not registered again since? */
static int blob_was_erased(bool *out, valise_view *view, const valise_cell *key, valise_error *err)
{
    bool here = false;
    valise_id id = {{0}};
    int rc;

    if (key->as.bytes.len != sizeof(id))
        return 0; /* it is refused for that */
    memcpy(&id, key->as.bytes.ptr, sizeof(id));
    rc = vls_blob_was_erased(out, view->txn, &id, err);
    if (rc == 0 && *out)
        rc = vls_erase_about(&here, view, &id, 0, err);
    *out = *out && !here;
    return rc;
}

/* What was erased here stays erased, whatever a bundle has of it. */
static int was_erased(bool *out, void *arg, valise_view *view, const vls_coll *coll,
                      const valise_cell *key, valise_error *err)
{
    VLS_AUTO(buf) vls_buf place = {0};
    vls_erasure record = {.seq = 0};
    const valise_select of_place = {.row = &record, .equal = 1};
    valise_scan *scan = NULL;
    int rc;

    (void)arg;
    if (vls_erase_is_about(coll)) {
        rc = blob_was_erased(out, view, key, err);
        if (rc < 0 || *out)
            return rc;
    }
    vls_buf_init(&place, view->arena.env, VLS_VIEW_MAX_BYTES);
    vls_place_write(&place, coll, key);
    rc = vls_buf_check(&place, err);
    record.place = vls_buf_str(&place);
    if (rc == 0)
        rc = valise_view_scan(&scan, view, &vls_erasures, &of_place, err);
    if (rc == 0)
        rc = valise_scan_next(&record, scan, err);
    valise_scan_close(scan);
    if (rc >= 0)
        *out = rc > 0;
    return rc < 0 ? rc : 0;
}

/* Rows that are not there need not come to anything: areas may know better what holds. */
static int try_rows(looking *l, valise_view *view, valise_error *err)
{
    int64_t added = 0;
    int rc;

    view->changing = true;
    rc = vls_bundle_merge(&added, view, vls_buf_str(&l->i->pack.rows), err);
    view->changing = false;
    l->changes = vls_view_has_changes(view);
    return rc;
}

static int look(void *arg, valise_view *view, valise_error *err)
{
    looking *l = arg;
    vls_imported record = {.id = l->i->how.id};
    int rc = vls_bundle_look(&l->added, &l->i->pack, view, was_erased, NULL, err);

    if (rc == 0)
        rc = valise_view_get(&record, view, &vls_bundles, err);
    l->known = rc > 0;
    if (rc == 0)
        rc = is_own(&l->known, l->i, view, err);
    if (rc < 0 || !l->known || l->added == 0)
        return vls_settle(rc);
    return try_rows(l, view, err);
}

static int stage_txn(void *arg, vls_txn *txn, valise_error *err)
{
    return vls_bundle_stage(txn, arg, err);
}

static int stage_objects(importing *i, valise_error *err)
{
    VLS_AUTO(bundle_reader) vls_bundle_reader *reader = NULL;
    vls_bundle_staging staging = {
        .pack = &i->pack, .now = i->how.now, .more = i->pack.objects.len > 0};
    int rc = vls_bundle_open(&reader, i->v->env, i->how.source, err);

    staging.reader = reader;
    vls_progress_begin(i->how.progress, "put objects", "objects", i->pack.objects.len);
    while (rc == 0 && staging.more) {
        staging.count = 0;
        rc = vls_with_txn(i->v, stage_txn, &staging, err);
        if (rc == 0)
            rc = vls_progress_step(i->how.progress, staging.count, err);
    }
    return rc < 0 ? rc : vls_progress_end(i->how.progress, err);
}

typedef struct own_object {
    valise_id *id;
    const char *kind;
    valise_str bytes;
    int64_t now;
} own_object;

static int put_own_txn(void *arg, vls_txn *txn, valise_error *err)
{
    const own_object *o = arg;

    return vls_object_add(o->id, txn, o->kind, o->bytes, o->now, err);
}

/* What the command reads. */
static int stage_pack(vls_bundle_merge_args *args, importing *i, valise_error *err)
{
    own_object rows = {&args->rows, VLS_KIND_ROWS, vls_buf_str(&i->pack.rows), i->how.now};
    own_object chain = {&args->chain, VLS_KIND_CHAIN, vls_buf_str(&i->pack.chain), i->how.now};
    int rc = vls_with_txn(i->v, put_own_txn, &rows, err);

    if (rc == 0 && i->header.whole)
        rc = vls_with_txn(i->v, put_own_txn, &chain, err);
    return rc;
}

static int prove(void *arg, vls_txn *txn, valise_view *view, valise_error *err)
{
    (void)arg, (void)txn;
    return vls_bundle_prove(view, err);
}

static int run_command(importing *i, valise_error *err)
{
    vls_bundle_merge_args args = {.id = i->how.id,
                                  .workspace = i->header.workspace,
                                  .tip = i->header.tip_seq,
                                  .tip_hash = i->header.tip_hash,
                                  .objects = {i->pack.objects.ptr, i->pack.objects.len}};
    valise_reply reply = VALISE_REPLY_INIT;
    vls_run_more more = {.also = prove, .internal = true, .reply = &reply};
    valise_call call;
    vls_bundle_merge_result merged = {0};
    int rc = stage_pack(&args, i, err);

    if (rc == 0)
        rc = valise_job_call(&call, i->job, err);
    if (rc == 0)
        rc = vls_run(i->v, &vls_op_kernel_bundle_import, &args, &merged, NULL, &call, &more, err);
    if (rc == 0)
        *i->result = (import_result){.seq = reply.seq,
                                     .rows = merged.rows,
                                     .objects = (int64_t)i->pack.objects.len,
                                     .blobs = i->counts.blobs};
    valise_reply_release(&reply);
    return rc;
}

static int merge(importing *i, valise_error *err)
{
    looking l = {.i = i};
    int rc = vls_bundle_pack_read(&i->pack, i->v->store, vls_kernel_local, &i->how, err);

    if (rc == 0)
        rc = vls_job_view(i->job, look, &l, err);
    if (rc < 0 || (l.known && !l.changes))
        return rc;
    rc = put_blobs(i, err);
    if (rc == 0)
        rc = stage_objects(i, err);
    return rc < 0 ? rc : run_command(i, err);
}

/* ---- the job ---- */

static int read_header(importing *i, valise_error *err)
{
    VLS_AUTO(bundle_reader) vls_bundle_reader *reader = NULL;
    int rc = vls_bundle_open(&reader, i->v->env, i->how.source, err);

    if (rc < 0)
        return rc;
    i->header = *vls_bundle_header_of(reader);
    i->header.roots = (valise_list){NULL, 0};
    return 0;
}

static int import(importing *i, valise_error *err)
{
    bool fresh = false;
    int rc =
        vls_bundle_verify(&i->how.id, &i->counts, i->v->env, i->how.source, i->how.progress, err);

    if (rc == 0)
        rc = read_header(i, err);
    if (rc == 0)
        rc = vls_job_view(i->job, is_fresh, &fresh, err);
    if (rc == 0 && fresh && i->header.whole) {
        rc = restore(i, err);
        if (rc != VALISE_E_EXISTS)
            return rc;
        rc = 0; /* somebody was quicker: it is not empty any more */
    }
    return rc < 0 ? rc : merge(i, err);
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    const import_args *args = in;
    valise *v = valise_job_workspace(j);
    vls_bundle_input input = {.fd = -1};
    importing i = {.job = j, .v = v, .result = result};
    const char *path = NULL;
    int rc = vls_path_text(&path, &j->arena, args->file, err);

    if (rc == 0)
        rc = vls_bundle_input_open(&input, path, vls_job_progress(j), err);
    if (rc < 0)
        return rc;
    i.how = (vls_bundle_import){.env = v->env,
                                .store = v->store,
                                .source = &input.source,
                                .now = vls_clock_now_ns(&v->clock),
                                .force = args->force,
                                .progress = vls_job_progress(j)};
    rc = import(&i, err);
    vls_bundle_pack_release(&i.pack);
    vls_bundle_input_close(&input);
    return rc;
}

const valise_op vls_op_kernel_workspace_import = {
    .size = sizeof(valise_op),
    .name = "workspace:import",
    .alias = "import",
    .brief = "Read a bundle that `valise export` wrote.",
    .help = "The whole bundle is verified before anything is written; one that was cut off or "
            "altered is refused, and so is one with rows in which `validate` would find a problem. "
            "An empty workspace gets everything as it was: ids, seqs, the log "
            "and its chain. To any other one the rows are added by one command, without what "
            "belongs to a workspace itself (actors, settings, pins, retention): rows that are "
            "equal here are left alone, sessions that continued in both places keep all turns, and "
            "if any other row differs, the bundle is refused. What was erased here stays erased.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "admin",
    .in = import_in,
    .in_size = sizeof(import_args),
    .out = import_out,
    .out_size = sizeof(import_result),
    .job = job,
    .example = "{\"file\":\"project.valise\"}",
};
