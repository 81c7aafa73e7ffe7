/* op_workspace_erase.c -- workspace:erase, remove the contents of places from every file. */
#include "base/hex.h"
#include "base/str.h"
#include "base/vec.h"
#include "bus/bus.h"
#include "bus/job.h"
#include "kernel/erase.h"
#include "kernel/residue.h"
#include "store/own.h"
#include "store/place.h"
#include "store/used.h"

typedef struct erase_args {
    valise_str place, content, reason;
} erase_args;

static const valise_field erase_in[] = {
    VALISE_FIELD_WITH(erase_args, place, STR, VALISE_POSITIONAL,
                      "The place, such as session/ID, with all its versions.",
                      .max = VLS_PLACE_MAX_BYTES),
    VALISE_FIELD_WITH(
        erase_args, content, STR, 0,
        "Instead of a place: 4 or more digits of an object or blob id, to erase it everywhere.",
        .max = 64),
    VALISE_FIELD_WITH(erase_args, reason, STR, 0, "The reason, which is recorded.", .max = 1024),
    VALISE_FIELD_END,
};

static const valise_field text_item = VALISE_FIELD_AS(vls_erase_answer, places, NULL, STR, 0, NULL);

const valise_field vls_erase_answer_fields[] = {
    VALISE_FIELD_WITH(vls_erase_answer, places, LIST, 0, "What was erased.", .more = &text_item),
    VALISE_FIELD_WITH(
        vls_erase_answer, others, LIST, 0,
        "Other places that hold the same contents, and still do; log/SEQ is a command "
        "that carried them.",
        .more = &text_item),
    VALISE_FIELD(vls_erase_answer, entries, INT, 0, "Log entries whose payload was removed."),
    VALISE_FIELD(vls_erase_answer, objects, INT, 0, "Objects that were emptied."),
    VALISE_FIELD(vls_erase_answer, chunks, INT, 0, "Chunks that were removed."),
    VALISE_FIELD(vls_erase_answer, blobs, INT, 0, "Blobs that were removed."),
    VALISE_FIELD(vls_erase_answer, residue, STR, VALISE_NULLABLE,
                 "Where bytes are left until a reader is done: \"wal\"."),
    VALISE_FIELD_END,
};

/* ---- which places ---- */

typedef struct finding {
    valise_job *job;
    valise_id id; /* of the one content that is erased, or zero */
    valise_str texts[VLS_ERASE_MAX_PLACES];
    size_t count;
    vls_arena arena;
} finding;

static int add_text(finding *f, valise_str text, valise_error *err)
{
    for (size_t i = 0; i < f->count; i++) {
        if (vls_str_equal(f->texts[i], text))
            return 0;
    }
    if (f->count == VLS_ERASE_MAX_PLACES)
        return vls_fail(err, VALISE_E_LIMIT, "more than %d places hold it", VLS_ERASE_MAX_PLACES);
    int rc = vls_arena_dup(&f->texts[f->count], &f->arena, text, err);
    if (rc == 0)
        f->count++;
    return rc;
}

/* Rows that only say who holds a blob are no places of it: there may be any number of them. */
static bool is_hold(const vls_ref_site *site)
{
    const vls_coll *coll = site->coll;
    bool contents = false;

    for (uint16_t i = 0; i < coll->field_count; i++)
        contents = contents || (coll->desc->fields[i].flags & VALISE_CONTENT);
    return site->blob && !contents && coll->field_count == coll->key_count;
}

static int add_holder(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    finding *f = arg;
    valise_cell key[VALISE_MAX_COLUMNS];
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    if (!site->coll || !vls_id_equal(id, &f->id) || is_hold(site) ||
        (site->coll->desc->flags & VALISE_COLL_WITNESS))
        return 0;
    vls_buf_init(&text, f->arena.env, VLS_VIEW_MAX_BYTES);
    rc = vls_key_read(key, site->coll->key_count, site->key, &f->arena, err);
    if (rc < 0)
        return rc;
    vls_place_write(&text, site->coll, key);
    rc = vls_buf_check(&text, err);
    return rc < 0 ? rc : add_text(f, vls_buf_str(&text), err);
}

static int find_holders(void *arg, valise_view *view, valise_error *err)
{
    finding *f = arg;
    int rc;

    rc = vls_refs_rows(view->txn, VLS_REFS_ALL, NULL, add_holder, f, err);
    return rc != 0 ? rc : vls_refs_log(view->txn, VLS_REFS_ALL, NULL, add_holder, f, err);
}

/* ---- which content ---- */

#define CANDIDATES 5u

/* Objects and blobs whose ids begin with the digits. */
typedef struct contents {
    valise_str digits;
    valise_id ids[CANDIDATES + 1];
    size_t count;
    bool emptied; /* there is one, but its contents were erased already */
} contents;

static void add_content(contents *c, const valise_id *id)
{
    for (size_t i = 0; i < c->count; i++) {
        if (vls_id_equal(&c->ids[i], id))
            return;
    }
    if (c->count < VLS_COUNT(c->ids))
        c->ids[c->count++] = *id;
}

/* One that was erased, and whose holders were too many to go before a kill. */
static int find_rest(contents *c, valise_view *view, valise_error *err)
{
    bool any = false;
    valise_id id;
    int rc;

    if (vls_id_parse(&id, c->digits, NULL) < 0)
        return 0;
    rc = vls_erase_about(&any, view, &id, 0, err);
    if (rc == 0 && any)
        add_content(c, &id);
    return rc;
}

static int find_objects(void *arg, valise_view *view, valise_error *err)
{
    contents *c = arg;
    vls_object_info infos[CANDIDATES + 1];
    size_t count = 0;
    int rc = vls_object_find(infos, &count, VLS_COUNT(infos), view->txn, c->digits, err);

    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (infos[i].erased)
            c->emptied = true;
        else
            add_content(c, &infos[i].id);
    }
    return rc < 0 ? rc : find_rest(c, view, err);
}

static int match_blob(void *arg, const valise_id *id, uint64_t size_bytes, valise_error *err)
{
    contents *c = arg;

    (void)size_bytes;
    (void)err;
    if (vls_str_starts(valise_str_of(vls_id_hex(id).s), c->digits))
        add_content(c, id);
    return 0;
}

static int fail_contents(const contents *c, valise_error *err)
{
    char text[CANDIDATES * 66 + 8] = "";

    if (c->count == 0 && c->emptied)
        return vls_fail(err, VALISE_E_NOT_FOUND, "the contents of object %.*s were erased already",
                        VALISE_STR_ARG(c->digits));
    if (c->count == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no object or blob %.*s",
                        VALISE_STR_ARG(c->digits));
    for (size_t i = 0; i < c->count; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "",
                       i < CANDIDATES ? vls_id_hex(&c->ids[i]).s : "...");
    }
    (void)vls_fail(err, VALISE_E_CONFLICT, "'%.*s' is ambiguous: %s", VALISE_STR_ARG(c->digits),
                   text);
    vls_hint(err, "give more digits");
    return VALISE_E_CONFLICT;
}

/* The one content that the digits mean. [K2] */
static int find_content(finding *f, valise *v, valise_str digits, valise_error *err)
{
    contents c = {.digits = digits};
    int rc;

    if (digits.len < VLS_PLACE_MIN_DIGITS)
        return vls_fail(err, VALISE_E_INVALID,
                        "'%.*s' is too short: give %u or more digits of an id",
                        VALISE_STR_ARG(digits), VLS_PLACE_MIN_DIGITS);
    rc = vls_with_view(v, NULL, find_objects, &c, err);
    if (rc == 0 && v->blobs)
        rc = vls_blobs_list(v->blobs, match_blob, &c, err);
    if (rc == 0 && c.count != 1)
        return fail_contents(&c, err);
    f->id = c.ids[0];
    return rc;
}

/* A shortened place in its whole length. */
typedef struct whole_place {
    finding *f;
    valise_str text;
} whole_place;

static int find_place(void *arg, valise_view *view, valise_error *err)
{
    const whole_place *w = arg;
    valise_cell key[VALISE_MAX_COLUMNS];
    VLS_AUTO(buf) vls_buf text = {0};
    const vls_coll *coll;
    int rc = vls_place_parse(&coll, key, view, w->text, err);

    if (rc < 0)
        return rc;
    vls_buf_init(&text, view->arena.env, VLS_VIEW_MAX_BYTES);
    vls_place_write(&text, coll, key);
    rc = vls_buf_check(&text, err);
    return rc < 0 ? rc : add_text(w->f, vls_buf_str(&text), err);
}

static int refuse_both(valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID, "give either a place or the id of a content");
    vls_hint(err, "valise erase pin/NAME, or valise erase --content ID");
    return VALISE_E_INVALID;
}

static int find(finding *f, valise *v, const erase_args *args, valise_error *err)
{
    whole_place w = {f, args->place};
    int rc;

    if ((args->place.len > 0) == (args->content.len > 0))
        return refuse_both(err);
    if (args->place.len > 0)
        return vls_with_view(v, NULL, find_place, &w, err);
    rc = find_content(f, v, args->content, err);
    return rc < 0 ? rc : vls_with_view(v, NULL, find_holders, f, err);
}

/* ---- in the command's transaction ---- */

typedef struct scrub {
    valise_list places; /* of valise_str */
    valise_list sources;
    const valise_id *only;
    vls_erased erased;
} scrub;

/* What was there before the command, by the place's name. */
static int place_of(vls_erase_place *out, vls_txn *txn, valise_view *view, valise_str text,
                    const valise_id *only, valise_error *err)
{
    const vls_overlay_row *change;
    valise_cell key[VALISE_MAX_COLUMNS];
    VLS_AUTO(buf) vls_buf bytes = {0};
    vls_gone gone = {0};
    int rc = vls_place_parse(&out->coll, key, view, text, err);

    if (rc < 0)
        return rc;
    out->only = vls_erase_only_of(out->coll, key, only);
    rc = vls_used_source_of(&out->source, out->coll, key, &view->arena, err);
    if (rc < 0)
        return rc;
    vls_buf_init(&bytes, view->arena.env, VLS_VIEW_MAX_BYTES);
    vls_key_write(&bytes, key, out->coll->key_count);
    rc = vls_buf_check(&bytes, err);
    if (rc == 0)
        rc = vls_arena_dup(&out->key, &view->arena, vls_buf_str(&bytes), err);
    if (rc < 0)
        return rc;
    change = vls_overlay_get(&view->changes, out->coll, out->key);
    if (change) {
        out->before_seq = change->before_seq;
        out->before = change->before;
        return 0;
    }
    gone = (vls_gone){.coll = out->coll->number, .key = out->key};
    rc = vls_own_get(&gone, txn, VLS_TABLE_GONE, &view->arena, err);
    out->before_seq = gone.seq;
    return rc < 0 ? rc : 0;
}

static int also(void *arg, vls_txn *txn, valise_view *view, valise_error *err)
{
    scrub *s = arg;
    const valise_str *texts = s->places.items;
    size_t count = s->places.count;
    vls_erase_place *places = vls_arena_zalloc(&view->arena, (count + 1) * sizeof(*places));
    vls_erase_what what;
    int rc = 0;

    if (!places)
        return vls_arena_fail(&view->arena, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = place_of(&places[i], txn, view, texts[i], s->only, err);
    what = (vls_erase_what){places, count, s->only, s->sources};
    if (rc == 0)
        rc = vls_erase_apply(&s->erased, txn, view->stamp.seq, &what, err);
    return rc < 0 ? rc : vls_residue_mark(txn, err);
}

/* ---- the job ---- */

static int copy_texts(valise_list *out, valise_job *job, const valise_str *texts, size_t count,
                      valise_error *err)
{
    valise_str *copy = NULL;
    int rc = 0;

    if (count == 0)
        return 0;
    rc = valise_job_alloc((void **)&copy, job, count * sizeof(*copy), err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        char *bytes = NULL;
        rc = valise_job_alloc((void **)&bytes, job, texts[i].len + 1, err);
        if (rc == 0) {
            memcpy(bytes, texts[i].ptr, texts[i].len);
            copy[i] = vls_str(bytes, texts[i].len);
        }
    }
    if (rc == 0)
        *out = (valise_list){copy, count};
    return rc;
}

/* After the commit: should it not come to this, gc finds a blob that was erased. Who let go of it
 * may have removed it already. */
static int remove_blob(valise *v, const valise_id *id, valise_error *err)
{
    int rc = vls_blobs_remove(v->blobs, id, err);

    return rc == VALISE_E_NOT_FOUND ? 0 : rc;
}

static bool has_blob(valise *v, const valise_id *id)
{
    uint64_t size;

    return id && v->blobs && vls_blobs_size(&size, v->blobs, id, NULL) == 0;
}

/* So many hold it that one command cannot tell of all: the rest of the rows about it. */
static int erase_rest(bool more, valise_job *job, const vls_erase_args *args, valise_error *err)
{
    const vls_erase_args rest = {
        .places = {args->places.items, 0}, .content = args->content, .reason = args->reason};
    int rc = 0;

    while (rc == 0 && more) {
        VLS_AUTO(memory) vls_memory memory = {0};
        vls_erase_result result = {.more = false};
        rc = vls_job_run(job, &vls_op_kernel_erasure_record, &rest, &result, &memory, err);
        more = result.more;
    }
    return rc;
}

int vls_erase_places(vls_erase_answer *out, valise_job *job, const vls_erase_args *args,
                     valise_error *err)
{
    valise *v = valise_job_workspace(job);
    valise_call call;
    scrub s = {.places = args->places, .sources = args->sources, .only = vls_erase_only(args)};
    vls_run_more more = {.also = also, .arg = &s, .internal = true};
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_erase_result recorded = {.more = false};
    bool blob = has_blob(v, s.only);
    int64_t residue = 0;
    int rc = valise_job_call(&call, job, err);

    if (rc == 0)
        rc = vls_run(v, &vls_op_kernel_erasure_record, args, &recorded, &memory, &call, &more, err);
    if (rc == 0)
        rc = copy_texts(&out->places, job, args->places.items, args->places.count, err);
    if (rc == 0)
        rc = copy_texts(&out->others, job, recorded.others.items, recorded.others.count, err);
    if (rc == 0 && blob)
        rc = remove_blob(v, s.only, err);
    if (rc == 0)
        rc = erase_rest(recorded.more, job, args, err);
    if (rc == 0)
        rc = vls_residue_finish(&residue, v, err);
    out->entries = s.erased.entries;
    out->objects = s.erased.objects;
    out->chunks = s.erased.chunks;
    out->blobs = blob;
    if (residue > 0)
        out->residue = VLS_STR("wal");
    return rc;
}

static int erase_found(vls_erase_answer *out, finding *f, const erase_args *args, valise_error *err)
{
    const vls_erase_args record = {
        .places = {f->texts, f->count}, .content = f->id, .reason = args->reason};

    return vls_erase_places(out, f->job, &record, err);
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    valise *v = valise_job_workspace(j);
    finding *f = NULL;
    int rc = valise_job_alloc((void **)&f, j, sizeof(*f), err);

    if (rc < 0)
        return rc;
    memset(f, 0, sizeof(*f));
    f->job = j;
    vls_arena_init(&f->arena, v->env, VLS_VIEW_MAX_BYTES);
    rc = find(f, v, in, err);
    if (rc == 0)
        rc = erase_found(result, f, in, err);
    vls_arena_release(&f->arena);
    return rc;
}

const valise_op vls_op_kernel_workspace_erase = {
    .size = sizeof(valise_op),
    .name = "workspace:erase",
    .alias = "erase",
    .brief = "Erase the contents of one place from every file of the workspace.",
    .help = "The place stays, marked as erased, with who did it, when and why. Its contents are "
            "removed from the row, every earlier version, the log entries that carried them, "
            "objects and chunks that nobody else needs, and the write-ahead log. The log's chain "
            "still verifies. Other places that hold the same contents are listed; --content erases "
            "all of them, and of a blob also what is recorded about it, so that nobody holds it "
            "any more. Remains of expired history are removed by the next gc. Bundles, backups and "
            "free blocks of the disk are beyond its reach.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = erase_in,
    .in_size = sizeof(erase_args),
    .out = vls_erase_answer_fields,
    .out_size = sizeof(vls_erase_answer),
    .job = job,
    .example = "{\"place\":\"context/team/password\",\"reason\":\"a leaked key\"}",
};
