/* bundle_put.c -- the rows of a pack: a look at what they would do, and the command that puts them.
 *
 *     look      before the command, in a view that changes nothing: is there a conflict, what was
 *               erased here, which objects are needed
 *     merge     in the command: rows that are not there are put; then those meet that are there as
 *               others (valise_coll.meet); then areas look at what came (valise_coll.arrive)
 *
 * What was erased here stays erased: contents that a bundle has of such a place are neither put nor
 * staged, nor are they in the pack, which is an object that the log keeps. Nor are rows about a
 * blob that was erased by its id. */
#include "base/bytes.h"
#include "base/str.h"
#include "base/text.h"
#include "store/bundle.h"
#include "store/erase.h"
#include "store/refs.h"

/* ---- items ---- */

static int fail_pack(valise_error *err)
{
    return vls_fail(err, VALISE_E_CORRUPT, "the rows of a bundle are damaged");
}

/* The collection that follows. */
static int find_coll(const vls_coll **out, const valise_view *view, valise_str name,
                     valise_error *err)
{
    const vls_coll *coll = vls_store_coll_named(view->txn->store, name);

    if (!coll || coll->own || coll->foreign)
        return vls_fail(err, VALISE_E_UNSUPPORTED, "there is no collection %s here",
                        vls_text_short(name).s);
    *out = coll;
    return 0;
}

/* bytes: from which the row was read; before: what stands before it in the pack. */
typedef int item_fn(void *arg, const vls_coll *coll, valise_str bytes, size_t before,
                    valise_error *err);

static int each_row(const valise_view *view, valise_str rows, item_fn *fn, void *arg,
                    valise_error *err)
{
    vls_reader in = vls_reader_of(rows);
    const vls_coll *coll = NULL;
    int rc = 0;

    while (rc == 0 && vls_reader_left(&in) > 0) {
        size_t before = rows.len - vls_reader_left(&in);
        uint8_t item = vls_reader_u8(&in);
        valise_str bytes = vls_reader_string(&in);
        if (in.failed || (item == VLS_PACK_ROW && !coll))
            return fail_pack(err);
        if (item == VLS_PACK_COLL)
            rc = find_coll(&coll, view, bytes, err);
        else if (item != VLS_PACK_ROW)
            return fail_pack(err);
        else
            rc = fn(arg, coll, bytes, before, err);
    }
    return rc;
}

/* The row as one that a command might put: as the table says, limits and all; or, in a replay, as
 * the table said when it was put. */
static int decode_row(valise_cell **out, vls_arena *arena, const vls_coll *coll, valise_str bytes,
                      bool accepted, valise_error *err)
{
    const valise_coll *desc = coll->desc;
    valise_cell cells[VALISE_MAX_COLUMNS] = {{0}}, again[VALISE_MAX_COLUMNS];
    void *row = NULL;
    size_t count;
    int rc = vls_cells_read(cells, &count, coll->field_count, bytes, err);

    if (rc == 0)
        rc = vls_row_of_cells(&row, coll, cells, arena, err);
    if (rc == 0)
        rc = accepted ? vls_fields_validate_accepted(row, desc->fields, arena, err)
                      : vls_fields_validate(row, desc->fields, arena, err);
    if (rc == 0)
        rc = vls_row_to_cells(again, row, desc->fields, arena, err);
    return rc < 0 ? rc : vls_cells_copy(out, again, coll->field_count, arena, err);
}

static int fail_conflict(const vls_coll *coll, const valise_cell *row, valise_error *err)
{
    int rc = vls_fail(err, VALISE_E_CONFLICT, "%s is both here and in the bundle, and they differ",
                      vls_coll_place(coll, row).s);

    vls_hint(err, "nothing was imported; import into an empty workspace to compare them");
    return rc;
}

static bool is_equal(const vls_coll *coll, const valise_cell *a, const valise_cell *b)
{
    return vls_cells_equal(a, b, coll->field_count);
}

/* ---- looking ---- */

typedef struct look {
    valise_view *view;
    vls_bundle_pack *pack;
    vls_bundle_erased_fn *erased;
    void *arg;
    vls_arena arena; /* of one row */
    vls_buf rows;    /* the pack without what was erased here */
    vls_buf cells;
    bool anew; /* it is made */
    const vls_coll *last;
    int64_t added;
} look;

/* May contents of this row have been erased here? here: NULL: it is not there. What can change may
 * have become something else since; what cannot is what was erased. */
static bool may_be_erased(const vls_coll *coll, const valise_cell *here, const valise_cell *given)
{
    const valise_field *fields = coll->desc->fields;

    if (!here && vls_erase_is_about(coll))
        return true; /* the blob may have been */
    if (!here && !(coll->desc->flags & VALISE_COLL_IMMUTABLE))
        return false;
    for (uint16_t i = 0; i < coll->field_count; i++) {
        if ((fields[i].flags & VALISE_CONTENT) && given[i].type != VALISE_CELL_NULL &&
            (!here || here[i].type == VALISE_CELL_NULL))
            return true;
    }
    return false;
}

static void withhold(const vls_coll *coll, const valise_cell *here, valise_cell *given)
{
    for (uint16_t i = 0; i < coll->field_count; i++) {
        if ((coll->desc->fields[i].flags & VALISE_CONTENT) &&
            (!here || here[i].type == VALISE_CELL_NULL))
            given[i] = (valise_cell){.type = VALISE_CELL_NULL};
    }
}

static int add_reference(void *arg, const vls_ref_site *site, const valise_id *id,
                         valise_error *err)
{
    vls_bundle_pack *pack = arg;

    (void)site;
    return vls_vec_push(&pack->objects, pack->env, *id) ? 0 : vls_fail_memory(err);
}

/* Into the pack that is made anew. */
static int keep_row(look *l, const vls_coll *coll, const valise_cell *row, valise_error *err)
{
    if (coll != l->last) {
        vls_buf_add_byte(&l->rows, VLS_PACK_COLL);
        vls_bytes_add_string(&l->rows, valise_str_of(coll->desc->name));
        l->last = coll;
    }
    vls_buf_clear(&l->cells);
    vls_cells_write(&l->cells, row, coll->field_count);
    vls_buf_add_byte(&l->rows, VLS_PACK_ROW);
    vls_bytes_add_string(&l->rows, vls_buf_str(&l->cells));
    return vls_buf_check(&l->cells, err);
}

/* The pack is made anew from here on. */
static void begin_anew(look *l, size_t before)
{
    if (l->anew)
        return;
    l->anew = true;
    vls_buf_add(&l->rows, vls_str_head(vls_buf_str(&l->pack->rows), before));
    l->last = NULL;
}

static int check_row(look *l, const vls_coll *coll, valise_cell *given, size_t before,
                     valise_error *err)
{
    valise_cell here[VALISE_MAX_COLUMNS], *mine = NULL;
    vls_ref_site site = {.coll = coll};
    bool erased = false;
    int rc = vls_txn_get(here, l->view->txn, coll, given, err);

    if (rc > 0)
        rc = vls_cells_copy(&mine, here, coll->field_count, &l->arena, err);
    if (rc < 0)
        return rc;
    if (l->erased && may_be_erased(coll, mine, given)) {
        rc = l->erased(&erased, l->arg, l->view, coll, given, err);
        if (rc < 0)
            return rc;
    }
    if (erased && !mine && vls_erase_is_about(coll)) {
        begin_anew(l, before); /* it is left out */
        return 0;
    }
    if (erased)
        withhold(coll, mine, given);
    l->added += !mine;
    if (mine && !is_equal(coll, mine, given) && !coll->desc->meet)
        return fail_conflict(coll, given, err);
    if (erased)
        begin_anew(l, before);
    rc = l->anew ? keep_row(l, coll, given, err) : 0;
    return rc < 0 ? rc : vls_refs_row(&l->arena, &site, given, add_reference, l->pack, err);
}

static int look_at_row(void *arg, const vls_coll *coll, valise_str bytes, size_t before,
                       valise_error *err)
{
    look *l = arg;
    valise_cell *given = NULL;
    int rc = decode_row(&given, &l->arena, coll, bytes, false, err);

    if (rc == 0)
        rc = check_row(l, coll, given, before, err);
    vls_arena_reset(&l->arena);
    return rc;
}

int vls_bundle_look(int64_t *added, vls_bundle_pack *pack, valise_view *view,
                    vls_bundle_erased_fn *erased, void *arg, valise_error *err)
{
    look l = {.view = view, .pack = pack, .erased = erased, .arg = arg};
    int rc;

    vls_arena_init(&l.arena, pack->env, VLS_VIEW_MAX_BYTES);
    vls_buf_init(&l.rows, pack->env, VLS_OBJECT_MAX);
    vls_buf_init(&l.cells, pack->env, VLS_OBJECT_MAX);
    pack->objects.len = 0;
    rc = each_row(view, vls_buf_str(&pack->rows), look_at_row, &l, err);
    if (rc == 0)
        rc = vls_buf_check(&l.rows, err);
    if (rc == 0 && l.anew) {
        vls_buf old = pack->rows;
        pack->rows = l.rows;
        l.rows = old;
    }
    pack->objects.len = vls_bundle_sort_ids(pack->objects.ptr, pack->objects.len);
    vls_buf_release(&l.rows);
    vls_buf_release(&l.cells);
    vls_arena_release(&l.arena);
    if (rc == 0)
        *added = l.added;
    return rc;
}

/* ---- putting ---- */

typedef struct newcomer {
    const vls_coll *coll;
    const valise_cell *here, *row; /* here: NULL: it was not there */
} newcomer;

typedef struct merging {
    valise_view *view;
    int64_t added;
    vls_vec(newcomer) met;  /* in the order of the pack, as the next */
    vls_vec(newcomer) came; /* of collections that look at them */
} merging;

static int put_row(void *arg, const vls_coll *coll, valise_str bytes, size_t before,
                   valise_error *err)
{
    merging *m = arg;
    valise_view *view = m->view;
    newcomer new = {.coll = coll};
    valise_cell *row = NULL;
    vls_seen seen = {0};
    int rc = decode_row(&row, &view->arena, coll, bytes, view->replaying, err);

    (void)before;
    if (rc == 0)
        rc = vls_view_see(&seen, view, coll, row, err);
    if (rc < 0 || (seen.row && is_equal(coll, seen.row, row)))
        return rc;
    new.here = seen.row;
    new.row = row;
    if (seen.row && !coll->desc->meet)
        return fail_conflict(coll, row, err);
    if (seen.row)
        return vls_vec_push(&m->met, view->arena.env, new) ? 0 : vls_fail_memory(err);
    if (coll->desc->arrive && !vls_vec_push(&m->came, view->arena.env, new))
        return vls_fail_memory(err);
    m->added++;
    return vls_view_put_cells(view, coll, row, false, err);
}

static int meet_all(merging *m, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < m->met.len; i++) {
        const newcomer *n = &m->met.ptr[i];
        void *here = NULL, *there = NULL;
        rc = vls_row_of_cells(&here, n->coll, n->here, &m->view->arena, err);
        if (rc == 0)
            rc = vls_row_of_cells(&there, n->coll, n->row, &m->view->arena, err);
        if (rc == 0)
            rc = n->coll->desc->meet(m->view, here, there, err);
    }
    return rc < 0 ? rc : 0;
}

/* All that came of one collection, from number `from` on; *next: the first of another. */
static int arrive(merging *m, size_t from, size_t *next, valise_error *err)
{
    const vls_coll *coll = m->came.ptr[from].coll;
    size_t end = from;
    void **rows;
    int rc = 0;

    while (end < m->came.len && m->came.ptr[end].coll == coll)
        end++;
    rows = vls_arena_array(&m->view->arena, end - from, sizeof(*rows));
    if (!rows)
        return vls_arena_fail(&m->view->arena, err);
    for (size_t i = from; rc == 0 && i < end; i++)
        rc = vls_row_of_cells(&rows[i - from], coll, m->came.ptr[i].row, &m->view->arena, err);
    if (rc == 0)
        rc = coll->desc->arrive(m->view, (const void *const *)rows, end - from, err);
    *next = end;
    return rc;
}

int vls_bundle_merge(int64_t *added, valise_view *view, valise_str rows, valise_error *err)
{
    merging m = {.view = view};
    size_t at = 0;
    int rc = each_row(view, rows, put_row, &m, err);

    /* Areas look before rows meet: who decides what holds follows the rows that came. */
    while (rc == 0 && at < m.came.len)
        rc = arrive(&m, at, &at, err);
    if (rc == 0)
        rc = meet_all(&m, err);
    vls_vec_release(&m.met, view->arena.env);
    vls_vec_release(&m.came, view->arena.env);
    if (rc == 0)
        *added = m.added;
    return rc;
}
