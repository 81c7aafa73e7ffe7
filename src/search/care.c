/* care.c -- after an erasure no byte is left; and is the index what the rows say?
 *
 * Forgetting: what names an object that is gone goes; FTS5 merges all segments into one, since the
 * old ones still hold the words; VACUUM writes every page anew; the write-ahead log is emptied.
 * Where that cannot be done, because a reader is in the way or the disk is full, the file is
 * removed: the next search makes another. */
#include "search/area.h"
#include "search/search.h"

#include "base/str.h"
#include "field/row.h"
#include "store/sqlite.h"

#define TRIES 100

/* ---- forgetting ---- */

typedef struct forgetting {
    vls_search *s;
    vls_vec(int64_t) gone;
} forgetting;

/* Docs whose object is gone. */
static int find_gone(forgetting *f, valise_view *view, valise_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = vls_search_stmt(&stmt, f->s, VLS_SEARCH_DOC_ALL, err);

    if (rc < 0)
        return rc;
    while (rc >= 0 && (rc = vls_search_step(f->s, stmt, err)) > 0) {
        vls_view_mark mark = vls_view_here(view);
        valise_id id = vls_search_id(stmt, 1);
        rc = vls_id_is_none(&id) ? 1 : vls_view_has_object(view, &id, err);
        vls_view_rewind(view, mark);
        if (rc == 0 && !vls_vec_push(&f->gone, f->s->v->env, sqlite3_column_int64(stmt, 0)))
            rc = vls_fail_memory(err);
    }
    (void)sqlite3_reset(stmt);
    return rc;
}

static int forget_docs(void *arg, valise_view *view, valise_error *err)
{
    forgetting *f = arg;
    int rc = find_gone(f, view, err);

    for (size_t i = 0; rc == 0 && i < f->gone.len; i++)
        rc = vls_search_drop(f->s, f->gone.ptr[i], err);
    return rc < 0 ? rc : vls_search_know_erasure(f->s, view, err);
}

static int empty_log(vls_search *s, valise_error *err)
{
    int in_log = 0, moved = 0;
    int rc = sqlite3_wal_checkpoint_v2(s->db, "main", SQLITE_CHECKPOINT_TRUNCATE, &in_log, &moved);

    return rc == SQLITE_OK ? 0 : vls_search_fail(s, rc, err);
}

static int clean(vls_search *s, valise_error *err)
{
    forgetting f = {.s = s};
    int rc = vls_search_run(s, VLS_SEARCH_BEGIN_WRITE, err);

    if (rc == 0)
        rc = vls_with_view(s->v, NULL, forget_docs, &f, err);
    if (rc == 0)
        rc = vls_search_exec(s, "INSERT INTO fts(fts) VALUES ('optimize')", err);
    if (rc == 0)
        rc = vls_search_run(s, VLS_SEARCH_COMMIT, err);
    if (rc == 0)
        rc = vls_search_exec(s, "VACUUM", err);
    if (rc == 0 && s->path)
        rc = empty_log(s, err);
    vls_vec_release(&f.gone, s->v->env);
    return rc;
}

static int clean_or_discard(void *arg, vls_search *s, valise_error *err)
{
    int rc = clean(s, NULL);

    (void)arg;
    if (rc == 0)
        return 0;
    vls_search_end(s);
    return vls_search_discard(s, err);
}

int vls_search_forget(valise *v, valise_error *err)
{
    bool there = false;
    int rc = vls_search_exists(&there, v, err);

    return rc < 0 || !there ? rc : vls_search_with(v, NULL, clean_or_discard, NULL, err);
}

/* ---- verifying ---- */

typedef struct verifying {
    vls_search *s;
    valise_projection *out;
    vls_search_state ahead;
    int64_t found; /* rows that have a doc */
} verifying;

static void note(verifying *v, const char *example)
{
    if (v->out->differences++ == 0)
        (void)snprintf(v->out->example, sizeof(v->out->example), "%s", example);
}

/* Does the doc say what the row does? 1, or 0. */
static int is_same(vls_search *s, int64_t doc, const vls_search_row *row, valise_str text,
                   valise_error *err)
{
    sqlite3_stmt *said = NULL, *shown = NULL;
    bool same = doc >> VLS_SEARCH_SEQ_SHIFT == row->seq;
    int rc = vls_search_stmt(&said, s, VLS_SEARCH_DOC_TEXT, err);

    if (rc == 0)
        rc = vls_search_stmt(&shown, s, VLS_SEARCH_DOC_SHOWN, err);
    if (rc < 0)
        return rc;
    (void)sqlite3_bind_int64(said, 1, doc);
    (void)sqlite3_bind_int64(shown, 1, doc);
    rc = vls_search_step(s, said, err);
    same = same && rc > 0 && vls_str_equal(vls_search_column(said, 0), text) &&
           vls_str_equal(vls_search_column(said, 1), row->name) &&
           vls_str_equal(vls_search_column(said, 2), row->topics);
    if (rc >= 0)
        rc = vls_search_step(s, shown, err);
    same = same && rc > 0 && vls_search_int_or_none(shown, 1) == row->time &&
           vls_search_int_or_none(shown, 2) == row->expires;
    (void)sqlite3_reset(said);
    (void)sqlite3_reset(shown);
    return rc < 0 ? rc : same;
}

/* The row's doc, as it should be? Counts what is not. */
static int compare_row(verifying *c, valise_view *view, int kind, const valise_cell *cells,
                       vls_buf *key, vls_buf *text, valise_error *err)
{
    const vls_coll *coll = vls_store_coll(view->txn->store, vls_search_coll(kind));
    sqlite3_stmt *by_key = NULL;
    vls_search_row row = {0};
    int rc = vls_search_look(&row, view, kind, cells, err);
    bool wanted = rc > 0, same = false;

    vls_buf_clear(key);
    vls_buf_clear(text);
    vls_key_write(key, cells, coll->key_count);
    if (wanted)
        rc = vls_search_text(text, view, &row, err);
    if (rc == 0)
        rc = vls_buf_check(key, err);
    if (rc == 0)
        rc = vls_search_stmt(&by_key, c->s, VLS_SEARCH_DOC_BY_KEY, err);
    if (rc < 0)
        return rc;
    wanted = wanted && (text->len > 0 || row.name.len > 0);
    (void)sqlite3_bind_int64(by_key, 1, kind);
    vls_search_bind(by_key, 2, vls_buf_str(key), false);
    rc = vls_search_step(c->s, by_key, err);
    if (rc > 0) {
        c->found++;
        rc = is_same(c->s, sqlite3_column_int64(by_key, 0), &row, vls_buf_str(text), err);
        same = rc > 0 && wanted;
    } else if (rc == 0) {
        same = !wanted;
    }
    (void)sqlite3_reset(by_key);
    if (rc >= 0 && !same)
        note(c, vls_search_kinds[kind]);
    return vls_settle(rc);
}

static int compare_kind(verifying *c, valise_view *view, int kind, valise_error *err)
{
    const vls_coll *coll = vls_store_coll(view->txn->store, vls_search_coll(kind));
    VLS_AUTO(buf) vls_buf key = {0}, text = {0};
    const valise_cell *row = NULL;
    valise_scan *scan = NULL;
    int rc;

    vls_buf_init(&key, view->arena.env, VLS_CHANGES_MAX);
    vls_buf_init(&text, view->arena.env, VLS_SEARCH_TEXT_MAX + 16);
    rc = vls_view_scan(&scan, view, coll, &(valise_range){.index = -1}, err);
    while (rc >= 0 && (rc = vls_scan_next_cells(&row, NULL, scan, err)) > 0) {
        vls_view_mark mark = vls_view_here(view);
        rc = compare_row(c, view, kind, row, &key, &text, err);
        vls_view_rewind(view, mark);
    }
    valise_scan_close(scan);
    return rc;
}

static int compare_rows(verifying *c, valise_view *view, valise_error *err)
{
    int rc = 0;

    c->out->differences = 0;
    c->out->seq = view->stamp.seq;
    c->found = 0;
    for (int kind = 0; rc == 0 && kind < VLS_SEARCH_KINDS; kind++)
        rc = compare_kind(c, view, kind, err);
    if (rc == 0) {
        int code = vls_sqlite_number(&c->out->entries, c->s->db, "SELECT count(*) FROM doc");
        rc = code == SQLITE_OK ? 0 : vls_search_fail(c->s, code, err);
    }
    for (int64_t i = c->found; rc == 0 && i < c->out->entries; i++)
        note(c, "a row that is gone");
    return rc;
}

/* One state of the index with the same of the rows: others may go on with both meanwhile. 1: a
 * newer view is needed. */
static int compare_all(void *arg, valise_view *view, valise_error *err)
{
    verifying *c = arg;
    int rc = vls_search_follow(c->s, view, &c->ahead, err);

    if (rc != 0)
        return rc;
    rc = vls_search_run(c->s, VLS_SEARCH_BEGIN, err);
    if (rc == 0)
        rc = vls_search_is_current(c->s, view, err);
    if (rc >= 0)
        rc = rc > 0 ? compare_rows(c, view, err) : 1;
    vls_search_end(c->s);
    return rc;
}

static int compare_with_rows(verifying *c, valise_error *err)
{
    int rc = 1;

    for (int i = 0; rc > 0 && i < TRIES; i++)
        rc = vls_with_view(c->s->v, NULL, compare_all, c, err);
    return rc > 0 ? vls_fail(err, VALISE_E_BUSY, "others keep changing the search index") : rc;
}

static int check_pages(verifying *c, valise_error *err)
{
    int64_t wrong = 0;
    int rc = vls_sqlite_number(
        &wrong, c->s->db,
        "SELECT count(*) FROM pragma_integrity_check(10) WHERE integrity_check <> 'ok'");

    if (rc == SQLITE_OK && wrong == 0)
        rc = vls_sqlite_exec(c->s->db, "INSERT INTO fts(fts, rank) VALUES ('integrity-check', 1)");
    if (rc == SQLITE_OK && wrong > 0)
        rc = SQLITE_CORRUPT;
    return rc == SQLITE_OK ? 0 : vls_search_fail(c->s, rc, err);
}

static int verify(void *arg, vls_search *s, valise_error *err)
{
    verifying *c = arg;
    int rc;

    c->s = s;
    rc = check_pages(c, err);
    if (rc == 0)
        rc = vls_search_check_words(s, err);
    return rc < 0 ? rc : compare_with_rows(c, err);
}

static int discard(void *arg, vls_search *s, valise_error *err)
{
    (void)arg;
    return vls_search_discard(s, err);
}

static int follow_view(void *arg, valise_view *view, valise_error *err)
{
    verifying *c = arg;

    return vls_search_follow(c->s, view, &c->ahead, err);
}

static int build(void *arg, vls_search *s, valise_error *err)
{
    verifying c = {.s = s};
    int rc = 1;

    (void)arg;
    for (int i = 0; rc > 0 && i < TRIES; i++)
        rc = vls_with_view(s->v, NULL, follow_view, &c, err);
    return vls_settle(rc);
}

int vls_search_verify(valise_projection *out, valise *v, bool mend, valise_error *err)
{
    verifying c = {.out = out};
    valise_error why = VALISE_ERROR_INIT;
    bool there = false, damaged = false;
    int rc = vls_search_exists(&there, v, err);

    out->name = "search";
    if (rc < 0 || !there)
        return rc;
    rc = vls_search_with(v, &damaged, verify, &c, &why);
    if (rc < 0 && damaged) {
        (void)snprintf(out->damage, sizeof(out->damage), "%.*s", (int)sizeof(out->damage) - 1,
                       why.message);
        rc = 0;
    }
    if (rc < 0 && err)
        *err = why;
    if (rc < 0 || !mend || (!damaged && out->differences == 0))
        return rc;
    rc = vls_search_with(v, NULL, discard, NULL, err);
    return rc < 0 ? rc : vls_search_with(v, NULL, build, NULL, err);
}
