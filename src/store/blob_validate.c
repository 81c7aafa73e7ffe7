/* blob_validate.c -- every blob hashed, and every one that is referred to looked for (blob_care.h).
 */
#include "base/hex.h"
#include "base/mem.h"
#include "store/blob_care.h"
#include "store/refs.h"

#define REMEDY "register the same file again, or restore the blob from a bundle or a backup"

typedef struct blob_walk {
    vls_blob_check *check;
    vls_store *store;
    vls_blobs *blobs;
    vls_progress *progress;
    vls_txn *txn;
    char *room; /* for one piece */
} blob_walk;

static int report(const blob_walk *w, const valise_id *id, const char *problem, valise_error *err)
{
    char place[sizeof("blob ") + 2 * sizeof(*id)];
    vls_finding finding = {place, problem, REMEDY};

    (void)snprintf(place, sizeof(place), "blob %s", vls_id_hex(id).s);
    w->check->problems++;
    return w->check->problem(w->check->arg, &finding, err);
}

/* What cannot be read for any reason is a finding; that memory is short is none. */
static int failed(const blob_walk *w, const valise_id *id, int rc, const valise_error *failure,
                  valise_error *err)
{
    if (rc == VALISE_E_CORRUPT || rc == VALISE_E_IO || rc == VALISE_E_DENIED)
        return report(w, id, failure->message, err);
    if (err)
        *err = *failure;
    return rc;
}

/* ---- every blob ---- */

static int read_all(const blob_walk *w, vls_blob_reader *reader, valise_error *failure)
{
    size_t len = 0;
    int rc;

    do {
        rc = vls_blob_reader_read(&len, reader, w->room, VLS_BLOB_PIECE_BYTES, failure);
        if (rc == 0)
            rc = vls_progress_step(w->progress, len, failure);
    } while (rc == 0 && len > 0);
    return rc;
}

static int check_blob(void *arg, const valise_id *id, uint64_t size_bytes, valise_error *err)
{
    const blob_walk *w = arg;
    VLS_AUTO(blob_reader) vls_blob_reader *reader = NULL;
    valise_error failure = VALISE_ERROR_INIT;
    int rc = vls_blob_reader_open(&reader, w->blobs, id, &failure);

    (void)size_bytes;
    if (rc == VALISE_E_NOT_FOUND)
        return 0; /* a gc took it: should it be needed, it is missed below */
    w->check->blobs++;
    if (rc == 0)
        rc = read_all(w, reader, &failure);
    return rc < 0 ? failed(w, id, rc, &failure, err) : 0;
}

/* ---- every reference ---- */

/* An erasure by id left a record (kernel/erase.h). */
int vls_blob_was_erased(bool *out, vls_txn *txn, const valise_id *id, valise_error *err)
{
    const vls_coll *erasures = vls_store_coll_named(txn->store, VLS_STR("erasure"));
    char place[sizeof("object/") + 2 * sizeof(*id)];
    valise_cell equal = {.type = VALISE_CELL_TEXT}, row[VALISE_MAX_COLUMNS];
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    int rc;

    *out = false;
    if (!erasures)
        return 0;
    (void)snprintf(place, sizeof(place), "object/%s", vls_id_hex(id).s);
    equal.as.bytes = valise_str_of(place);
    rc = vls_txn_scan_open(&scan, txn, erasures,
                           (valise_range){.index = -1, .equal = &equal, .equal_count = 1}, err);
    if (rc == 0)
        rc = vls_txn_scan_next(row, &scan, err);
    *out = rc > 0;
    return rc < 0 ? rc : 0;
}

static int is_it(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    (void)site, (void)err;
    return memcmp(id, arg, sizeof(*id)) == 0;
}

int vls_blob_is_named(bool *out, vls_store *store, const valise_id *id, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_id wanted = *id;
    int rc = vls_txn_begin(&txn, store, VALISE_TXN_READ, err);

    if (rc == 0)
        rc = vls_refs_rows(&txn, VLS_REFS_BLOBS, NULL, is_it, &wanted, err);
    *out = rc > 0;
    return rc < 0 ? rc : 0;
}

/* The past does not keep blobs: a state of it that had one cannot be seen whole any more. */
static int report_missing(const blob_walk *w, const vls_ref_site *site, const valise_id *id,
                          valise_error *err)
{
    valise_cell key[VALISE_MAX_COLUMNS];
    VLS_AUTO(arena) vls_arena arena = {0};
    char text[320];
    bool erased = false, named = site->seq == 0;
    int rc = vls_blob_was_erased(&erased, w->txn, id, err);

    if (rc == 0 && !erased && named)
        rc = vls_blob_is_named(&named, w->store, id, err);
    if (rc == 0 && !erased && !named) {
        w->check->past++;
        return 0;
    }
    if (rc < 0 || erased) {
        w->check->unverifiable += rc == 0;
        return rc;
    }
    vls_arena_init(&arena, vls_store_env(w->store), VLS_VIEW_MAX_BYTES);
    rc = vls_key_read(key, site->coll->key_count, site->key, &arena, err);
    if (rc < 0)
        return rc;
    (void)snprintf(text, sizeof(text), "it is missing, and %s refers to it",
                   vls_coll_place(site->coll, key).s);
    return report(w, id, text, err);
}

static int check_ref(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    const blob_walk *w = arg;
    valise_error failure = VALISE_ERROR_INIT;
    uint64_t size;
    int rc;

    if (!site->blob)
        return 0;
    rc = vls_blobs_size(&size, w->blobs, id, &failure);
    if (rc == VALISE_E_NOT_FOUND)
        return report_missing(w, site, id, err);
    return rc < 0 ? failed(w, id, rc, &failure, err) : 0;
}

/* Rows that cannot be read are what vls_validate reports; here the walk ends at the first. */
static int check_refs(const blob_walk *all, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    blob_walk w = *all;
    valise_error failure = VALISE_ERROR_INIT;
    int rc = vls_txn_begin(&txn, w.store, VALISE_TXN_READ, &failure);

    w.txn = &txn;
    vls_progress_begin(w.progress, "look for blobs", "references", 0);
    if (rc == 0)
        rc = vls_refs_rows(&txn, VLS_REFS_BLOBS, w.progress, check_ref, &w, &failure);
    if (rc == 0)
        rc = vls_refs_log(&txn, VLS_REFS_BLOBS, w.progress, check_ref, &w, &failure);
    if (rc == 0 || rc == VALISE_E_CORRUPT)
        return vls_progress_end(w.progress, err);
    if (err)
        *err = failure;
    return rc;
}

/* ---- the rest ---- */

static int note_stray(void *arg, const char *name, int temporary, valise_error *err)
{
    const blob_walk *w = arg;
    char place[320];
    vls_finding finding = {place, "it is not a blob, and nobody reads it",
                           "move it elsewhere: gc does not touch it"};

    (void)snprintf(place, sizeof(place), "blobs/%s", name);
    if (temporary) {
        finding.problem = "a blob that is being put, or that was not put to its end";
        finding.remedy = "nothing to do: `valise gc` removes what does not grow any more";
    }
    return w->check->note(w->check->arg, &finding, err);
}

int vls_blobs_validate(vls_blob_check *check, vls_store *store, vls_blobs *blobs,
                       vls_progress *progress, valise_error *err)
{
    const valise_env *env = vls_store_env(store);
    blob_walk w = {.check = check, .store = store, .blobs = blobs, .progress = progress};
    int rc;

    w.room = vls_mem_alloc(env, VLS_BLOB_PIECE_BYTES);
    if (!w.room)
        return vls_fail_memory(err);
    vls_progress_begin(progress, "check blobs", "bytes", 0);
    rc = vls_blobs_list(blobs, check_blob, &w, err);
    if (rc == 0)
        rc = vls_progress_end(progress, err);
    if (rc == 0)
        rc = check_refs(&w, err);
    if (rc == 0)
        rc = vls_blobs_strays(blobs, note_stray, &w, err);
    vls_mem_free(env, w.room, VLS_BLOB_PIECE_BYTES);
    return rc;
}
