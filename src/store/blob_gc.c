/* blob_gc.c -- blobs that nothing refers to (blob_care.h).
 *
 *     list       blobs that are old enough
 *     mark       of these, the ones that a row names; the log counts for nothing, since a blob goes
 *                with the last row in any case (bus/purge.h)
 *     remove     a few at a time, each time in a write transaction, which takes no command between
 *                the last look and the removal */
#include <stdlib.h>

#include "base/vec.h"
#include "store/blob_care.h"
#include "store/gc.h"
#include "store/refs.h"

#define STEP 64u /* files that go in one transaction */

typedef struct candidate {
    valise_id id;
    uint64_t size;
    bool needed;
} candidate;

typedef struct blob_gc {
    vls_store *store;
    vls_blobs *blobs;
    vls_progress *progress;
    int64_t grace, now;
    int64_t erased; /* when there was an erasure since the last time; INT64_MIN: there was none */
    int64_t seq;    /* the state in which they were marked */
    vls_vec(candidate) found;
    vls_blob_gc result;
} blob_gc;

/* ---- list ---- */

static int is_old(bool *out, blob_gc *g, const valise_id *id, valise_error *err)
{
    int64_t time = 0, age;
    int rc = vls_blobs_time(&time, g->blobs, id, err);

    if (rc == VALISE_E_NOT_FOUND) {
        *out = false; /* another gc was faster */
        return 0;
    }
    *out = g->grace == 0 ||
           (rc > 0 &&
            (time <= g->erased || (!__builtin_sub_overflow(g->now, time, &age) && age > g->grace)));
    return rc < 0 ? rc : 0;
}

static int add_candidate(void *arg, const valise_id *id, uint64_t size_bytes, valise_error *err)
{
    blob_gc *g = arg;
    candidate c = {.id = *id, .size = size_bytes};
    bool old = false;
    int rc = is_old(&old, g, id, err);

    if (rc == 0 && old && !vls_vec_push(&g->found, vls_store_env(g->store), c))
        rc = vls_fail_memory(err);
    return rc < 0 ? rc : vls_progress_step(g->progress, 1, err);
}

static int compare_candidates(const void *a, const void *b)
{
    return memcmp(&((const candidate *)a)->id, &((const candidate *)b)->id, sizeof(valise_id));
}

static int list_candidates(blob_gc *g, valise_error *err)
{
    int rc;

    vls_progress_begin(g->progress, "look for blobs", "blobs", 0);
    rc = vls_blobs_list(g->blobs, add_candidate, g, err);
    if (rc < 0)
        return rc;
    if (g->found.len > 1)
        qsort(g->found.ptr, g->found.len, sizeof(*g->found.ptr), compare_candidates);
    return vls_progress_end(g->progress, err);
}

/* ---- mark ---- */

static int mark_needed(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    blob_gc *g = arg;
    const candidate wanted = {.id = *id};
    candidate *c = bsearch(&wanted, g->found.ptr, g->found.len, sizeof(wanted), compare_candidates);

    (void)site;
    (void)err;
    if (c)
        c->needed = true;
    return 0;
}

/* What is needed is taken out of the list. progress: of this, or NULL. */
static int mark(blob_gc *g, vls_txn *txn, vls_progress *progress, valise_error *err)
{
    size_t left = 0;
    int rc = vls_txn_check_complete(txn, err);

    if (rc == 0)
        rc = vls_refs_rows(txn, VLS_REFS_BLOBS, progress, mark_needed, g, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < g->found.len; i++) {
        if (!g->found.ptr[i].needed)
            g->found.ptr[left++] = g->found.ptr[i];
    }
    g->found.len = left;
    g->seq = txn->tip.seq;
    return 0;
}

static int mark_beside_writers(blob_gc *g, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    int rc = vls_txn_begin(&txn, g->store, VALISE_TXN_READ, err);

    vls_progress_begin(g->progress, "mark blobs", "references", 0);
    if (rc == 0)
        rc = mark(g, &txn, g->progress, err);
    return rc < 0 ? rc : vls_progress_end(g->progress, err);
}

/* ---- remove ---- */

static int remove_one(blob_gc *g, const candidate *c, valise_error *err)
{
    int rc = vls_blobs_remove(g->blobs, &c->id, err);

    if (rc == VALISE_E_NOT_FOUND)
        return 0;
    if (rc < 0)
        return rc;
    g->result.blobs++;
    g->result.bytes += (int64_t)c->size;
    return 0;
}

/* The last of the list, so that what is left stays in order. */
static int remove_some(blob_gc *g, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    int rc = vls_txn_begin(&txn, g->store, VALISE_TXN_WRITE, err);
    size_t count = 0;

    if (rc == 0 && txn.tip.seq != g->seq)
        rc = mark(g, &txn, NULL, err);
    for (; rc == 0 && count < STEP && g->found.len > 0; count++)
        rc = remove_one(g, &g->found.ptr[--g->found.len], err);
    vls_txn_rollback(&txn);
    return rc < 0 ? rc : vls_progress_step(g->progress, count, err);
}

/* ---- erasures ---- */

static int read_erased(blob_gc *g, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    int64_t time = INT64_MIN;
    int rc = vls_txn_begin(&txn, g->store, VALISE_TXN_READ, err);

    if (rc == 0)
        rc = vls_meta_get_int(&time, &txn, VLS_META_ERASED_BLOBS, err);
    g->erased = time;
    return rc < 0 ? rc : 0;
}

/* It was followed, unless another one came meanwhile. */
static int forget_erased(blob_gc *g, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    int64_t time = INT64_MIN;
    int rc;

    if (g->erased == INT64_MIN)
        return 0;
    rc = vls_txn_begin(&txn, g->store, VALISE_TXN_WRITE, err);
    if (rc == 0)
        rc = vls_meta_get_int(&time, &txn, VLS_META_ERASED_BLOBS, err);
    if (rc < 0 || time != g->erased)
        return rc < 0 ? rc : 0;
    rc = vls_meta_delete(&txn, VLS_META_ERASED_BLOBS, err);
    return rc < 0 ? rc : vls_txn_commit(&txn, err);
}

/* ---- all of it ---- */

/* A put that goes on writes to its file: one that did not for so long is over. */
static int clean(blob_gc *g, valise_error *err)
{
    int64_t age = VLS_MIN(g->grace, VLS_GC_MIN_GRACE_NS), since;
    uint64_t removed = 0;
    int rc;

    if (g->erased > INT64_MIN && !__builtin_sub_overflow(g->now, g->erased, &since))
        age = VLS_MIN(age, VLS_MAX(since, 0));
    rc = vls_blobs_clean(&removed, g->blobs, age, err);
    g->result.strays = (int64_t)removed;
    return rc;
}

static int collect(blob_gc *g, valise_error *err)
{
    int rc = read_erased(g, err);

    if (rc == 0)
        rc = list_candidates(g, err);
    if (rc == 0 && g->found.len > 0)
        rc = mark_beside_writers(g, err);
    vls_progress_begin(g->progress, "remove blobs", "blobs", g->found.len);
    while (rc == 0 && g->found.len > 0)
        rc = remove_some(g, err);
    if (rc == 0)
        rc = vls_progress_end(g->progress, err);
    if (rc == 0)
        rc = clean(g, err);
    return rc < 0 ? rc : forget_erased(g, err);
}

int vls_blobs_collect(vls_blob_gc *out, vls_store *store, vls_blobs *blobs, int64_t grace_ns,
                      int64_t now_ns, vls_progress *progress, valise_error *err)
{
    blob_gc g = {
        .store = store, .blobs = blobs, .progress = progress, .grace = grace_ns, .now = now_ns};
    int rc;

    assert(grace_ns >= 0);
    rc = collect(&g, err);
    vls_vec_release(&g.found, vls_store_env(store));
    *out = g.result;
    return rc;
}
