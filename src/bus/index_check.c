/* index_check.c -- indexes against the store they are made from (index.h, "checking"). */
#include "bus/follow.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/threads.h"

#define CHECK_THREADS 4u
#define TICK_NS INT64_C(20000000)

/* ---- one index ---- */

static void note_key(vls_index_report *report, valise_str key)
{
    if (report->example[0] == '\0')
        (void)snprintf(report->example, sizeof(report->example), "%s", vls_text_short(key).s);
}

static int compare_items(void *arg, void *in_memory, void *in_store)
{
    vls_index_report *report = arg;

    if (in_memory && in_store &&
        vls_str_equal(vls_index_entry_of(in_memory).json, vls_index_entry_of(in_store).json))
        return 0;
    report->differences++;
    note_key(report, vls_index_entry_of(in_memory ? in_memory : in_store).key);
    return 0;
}

static void count_duplicates(vls_index_report *report, const vls_pmap *map)
{
    vls_pmap_cursor cursor;
    valise_str last = {NULL, 0};

    for (void *it = vls_pmap_first(&cursor, map); it; it = vls_pmap_next(&cursor)) {
        vls_index_entry entry = vls_index_entry_of(it);
        if (last.ptr && vls_str_equal(last, entry.key)) {
            report->duplicates++;
            note_key(report, entry.key);
        }
        last = entry.key;
    }
}

/* What is in memory, as view sees it, against what was built from the store. */
static int compare(vls_index_report *report, vls_index *index, valise_view *view,
                   const vls_pmap *fresh, valise_error *err)
{
    VLS_AUTO(pmap) vls_pmap memory = {0};
    int rc = 0;

    (void)pthread_mutex_lock(&index->lock);
    report->loaded = index->loaded;
    (void)pthread_mutex_unlock(&index->lock);
    if (report->loaded)
        rc = vls_index_read(&memory, index, view, err);
    if (rc == 0 && report->loaded)
        (void)vls_pmap_diff(&memory, fresh, compare_items, report);
    return rc;
}

int vls_index_check(vls_index_report *out, vls_index *index, bool swap, _Atomic uint64_t *rows,
                    const atomic_bool *stop, valise_error *err)
{
    vls_index_report report = {.name = index->indexer->name};
    const valise_env *env = vls_store_env(index->store);
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(view) valise_view view = {0};
    VLS_AUTO(pmap) vls_pmap fresh = {0};
    int rc = vls_txn_begin(&txn, index->store, VALISE_TXN_READ, err);

    if (rc < 0)
        return rc;
    vls_view_init(&view, &txn, env);
    vls_pmap_init(&fresh, env, &vls_index_items);
    rc = vls_index_build(&fresh, index, &view, rows, stop, err);
    if (rc == 0)
        rc = compare(&report, index, &view, &fresh, err);
    if (rc < 0)
        return rc;
    report.seq = txn.tip.seq;
    report.entries = (int64_t)fresh.len;
    count_duplicates(&report, &fresh);
    if (swap) {
        (void)pthread_mutex_lock(&index->lock);
        vls_index_set(index, &fresh, txn.tip.seq);
        (void)pthread_mutex_unlock(&index->lock);
    }
    *out = report;
    return 0;
}

/* ---- all of them ---- */

typedef struct checking {
    vls_indexes *indexes;
    const vls_index_sync *how;
    vls_index_report *reports; /* of each */
    _Atomic uint64_t rows;
    uint64_t told; /* of them to tick */
} checking;

/* Is it the fault of what is in the store? */
static bool is_of_a_row(int rc)
{
    return rc != VALISE_E_CANCELLED && rc != VALISE_E_NO_MEMORY && rc != VALISE_E_IO &&
           rc != VALISE_E_BUSY;
}

static int check_one(void *arg, size_t i, const atomic_bool *stop, valise_error *err)
{
    checking *c = arg;
    vls_index *index = &c->indexes->items[i];
    int rc = vls_index_check(&c->reports[i], index, c->how->swap, &c->rows, stop, err);

    if (rc >= 0 || !is_of_a_row(rc))
        return rc;
    /* The others can be looked at. */
    c->reports[i] = (vls_index_report){.name = index->indexer->name, .failure = *err};
    return 0;
}

static int tell(void *arg, valise_error *err)
{
    checking *c = arg;
    uint64_t now = atomic_load_explicit(&c->rows, memory_order_relaxed), more = now - c->told;

    c->told = now;
    return c->how->tick ? c->how->tick(c->how->arg, more, err) : 0;
}

static int check_all(checking *c, valise_error *err)
{
    const vls_threads_work work = {.count = c->indexes->count,
                                   .threads = CHECK_THREADS,
                                   .item = check_one,
                                   .look = tell,
                                   .look_ns = TICK_NS,
                                   .arg = c};
    int rc = vls_threads_run(&work, err);

    if (rc == 0)
        rc = tell(c, err);
    for (size_t i = 0; rc == 0 && i < c->indexes->count; i++)
        rc = c->how->report(c->how->arg, &c->reports[i], err);
    return rc;
}

int vls_indexes_check(vls_indexes *indexes, const vls_index_sync *how, valise_error *err)
{
    checking c = {.indexes = indexes, .how = how};
    size_t size = indexes->count * sizeof(*c.reports);
    int rc;

    if (indexes->count == 0)
        return 0;
    c.reports = vls_mem_zalloc(indexes->env, size);
    if (!c.reports)
        return vls_fail_memory(err);
    rc = check_all(&c, err);
    vls_mem_free(indexes->env, c.reports, size);
    return rc;
}

int vls_indexes_rows(uint64_t *rows, vls_indexes *indexes, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    uint64_t total = 0;
    int rc = 0;

    if (indexes->count > 0)
        rc = vls_txn_begin(&txn, indexes->items[0].store, VALISE_TXN_READ, err);
    for (size_t i = 0; rc == 0 && i < indexes->count; i++) {
        const vls_index *index = &indexes->items[i];
        for (size_t j = 0; rc == 0 && j < index->source_count; j++)
            rc = vls_txn_count(&total, &txn, index->colls[j], err);
    }
    if (rc == 0)
        *rows = total;
    return rc;
}

/* ---- as part of `validate` ---- */

typedef struct verify {
    vls_finding_fn *fn;
    void *arg;
    int64_t *problems;
} verify;

static int find(verify *f, const vls_index_report *report, const char *remedy, valise_error *err,
                const char *what, long long count)
{
    char place[128], problem[320];
    const vls_finding finding = {place, problem, remedy};

    (void)snprintf(place, sizeof(place), "index %s", report->name);
    (void)snprintf(problem, sizeof(problem), "%lld %s, such as \"%s\"", count, what,
                   report->example);
    ++*f->problems;
    return f->fn(f->arg, &finding, err);
}

static int find_failure(verify *f, const vls_index_report *report, valise_error *err)
{
    char place[128];
    const vls_finding finding = {place, report->failure.message,
                                 "correct the row, or the indexer, which must take every row"};

    (void)snprintf(place, sizeof(place), "index %s", report->name);
    ++*f->problems;
    return f->fn(f->arg, &finding, err);
}

static int verify_report(void *arg, const vls_index_report *report, valise_error *err)
{
    int rc = 0;

    if (report->failure.code < 0)
        return find_failure(arg, report, err);
    if (report->differences > 0)
        rc = find(arg, report, "run 'valise sync'", err,
                  "entries in memory are not what the rows say", (long long)report->differences);
    if (rc == 0 && report->duplicates > 0)
        rc = find(arg, report, "correct the indexer: its keys must be unique over all rows", err,
                  "entries have a key that another row has too", (long long)report->duplicates);
    return rc;
}

int vls_index_verify(valise *v, vls_finding_fn *fn, void *arg, int64_t *problems, valise_error *err)
{
    verify f = {fn, arg, problems};
    const vls_index_sync how = {.report = verify_report, .arg = &f};
    vls_feed *feed = vls_feed_of(v);

    return feed ? vls_indexes_check(&feed->indexes, &how, err) : 0;
}
