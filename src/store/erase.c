/* erase.c -- see erase.h. The walk over the log is in erase_walk.c. */
#include "store/erase.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "store/erase_walk.h"
#include "store/own.h"
#include "store/used.h"

static bool is_content(const valise_field *field)
{
    return field->flags & VALISE_CONTENT;
}

/* A row that says that something was used is nobody who still has it. */
static bool is_witness(const vls_ref_site *site)
{
    return site->coll && (site->coll->desc->flags & VALISE_COLL_WITNESS);
}

/* ---- objects ---- */

/* Which of what was found is held by somebody else. */
typedef struct holding {
    const vls_erase_found *found;
    bool *named, *carried; /* by number in the lists */
} holding;

/* A payload is of a command, not of a place: it holds only what no place has. */
static int note_held(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    const holding *h = arg;
    int64_t carried = vls_id_list_find(&h->found->carried, id);
    int64_t named = site->coll ? vls_id_list_find(&h->found->named, id) : -1;

    (void)err;
    if (is_witness(site))
        return 0;
    if (carried >= 0)
        h->carried[carried] = true;
    if (named >= 0)
        h->named[named] = true;
    return 0;
}

typedef struct chunk_walk {
    vls_txn *txn;
    vls_bits keep;
} chunk_walk;

static int mark_all_chunks(void *arg, const vls_object_info *info, valise_error *err)
{
    chunk_walk *walk = arg;

    return info->chunked && !info->erased
               ? vls_object_mark_chunks(&walk->keep, walk->txn, info->number, err)
               : 0;
}

static int sweep_chunks(vls_erased *out, vls_txn *txn, valise_error *err)
{
    chunk_walk walk = {.txn = txn, .keep = {.env = vls_store_env(txn->store)}};
    int64_t last = 0, bytes = 0;
    int rc = vls_object_each(txn, 0, mark_all_chunks, &walk, err);

    if (rc == 0)
        rc = vls_chunk_last(&last, txn, err);
    if (rc == 0)
        rc = vls_chunk_sweep(&out->chunks, &bytes, txn, &walk.keep, 0, last + 1, err);
    vls_bits_release(&walk.keep);
    return rc;
}

/* *chunked: it was made of chunks, which others may need. */
static int erase_object(vls_erased *out, bool *chunked, vls_txn *txn, const valise_id *id,
                        valise_error *err)
{
    vls_object_info info;
    int rc = vls_object_stat(&info, txn, id, err);

    if (rc <= 0 || info.erased)
        return rc < 0 ? rc : 0; /* 0: a blob, or an id of something else */
    rc = vls_object_erase(txn, id, err);
    out->objects += rc > 0;
    *chunked |= info.chunked;
    return rc < 0 ? rc : 0;
}

static int erase_list(vls_erased *out, bool *chunked, vls_txn *txn, const vls_id_list *list,
                      const bool *held, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < list->ids.len; i++) {
        if (!held[i])
            rc = erase_object(out, chunked, txn, &list->ids.ptr[i], err);
    }
    return rc;
}

static int erase_objects(vls_erased *out, vls_txn *txn, const vls_erase_found *found,
                         valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    size_t named = found->named.ids.len, carried = found->carried.ids.len;
    holding h = {.found = found};
    bool chunked = false;
    int rc;

    if (named == 0 && carried == 0)
        return 0;
    vls_arena_init(&arena, vls_store_env(txn->store), VLS_VIEW_MAX_BYTES);
    h.named = vls_arena_zalloc(&arena, named + carried);
    if (!h.named)
        return vls_arena_fail(&arena, err);
    h.carried = h.named + named;
    rc = vls_refs_rows(txn, VLS_REFS_OBJECTS, NULL, note_held, &h, err);
    if (rc == 0)
        rc = vls_refs_log(txn, VLS_REFS_OBJECTS, NULL, note_held, &h, err);
    if (rc == 0)
        rc = erase_list(out, &chunked, txn, &found->named, h.named, err);
    if (rc == 0)
        rc = erase_list(out, &chunked, txn, &found->carried, h.carried, err);
    return rc < 0 || !chunked ? rc : sweep_chunks(out, txn, err);
}

/* ---- one object, whoever holds it ---- */

typedef struct mention_walk {
    const valise_env *env;
    const valise_id *id;
    vls_vec(int64_t) seqs; /* entries whose payload names it */
} mention_walk;

static int add_mention(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    mention_walk *walk = arg;

    if (site->coll || !vls_id_equal(id, walk->id) ||
        vls_vec_push(&walk->seqs, walk->env, site->seq))
        return 0;
    return vls_fail_memory(err);
}

static int silence_mentions(vls_erased *out, vls_txn *txn, const mention_walk *walk,
                            valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    int rc = 0;

    vls_arena_init(&arena, walk->env, VLS_VIEW_MAX_BYTES);
    for (size_t i = 0; rc >= 0 && i < walk->seqs.len; i++) {
        vls_entry entry;
        vls_arena_reset(&arena);
        rc = vls_log_get(&entry, txn, walk->seqs.ptr[i], &arena, err);
        if (rc <= 0 || !entry.payload.ptr) /* named twice */
            continue;
        vls_erase_silence(&entry, out);
        rc = vls_log_rewrite(txn, &entry, err);
    }
    return rc < 0 ? rc : 0;
}

static int erase_everywhere(vls_erased *out, vls_txn *txn, const valise_id *id, valise_error *err)
{
    mention_walk walk = {.env = vls_store_env(txn->store), .id = id};
    bool chunked = false;
    int rc = vls_refs_log(txn, VLS_REFS_OBJECTS, NULL, add_mention, &walk, err);

    if (rc == 0)
        rc = silence_mentions(out, txn, &walk, err);
    vls_vec_release(&walk.seqs, walk.env);
    if (rc == 0)
        rc = erase_object(out, &chunked, txn, id, err);
    return rc < 0 || !chunked ? rc : sweep_chunks(out, txn, err);
}

/* ---- what was used of it ---- */

typedef struct witness_walk {
    const valise_env *env;
    vls_arena arena;
    vls_id_list sources;
    vls_erase_found *found;
} witness_walk;

static int list_sources(witness_walk *walk, const vls_erase_what *what, valise_error *err)
{
    const valise_str *more = what->sources.items;

    for (size_t i = 0; i < what->count; i++) {
        if (!vls_vec_push(&walk->sources.ids, walk->env, what->places[i].source))
            return vls_fail_memory(err);
    }
    for (size_t i = 0; i < what->sources.count; i++) {
        valise_id id;

        assert(more && more[i].len == sizeof(id.bytes));
        memcpy(id.bytes, more[i].ptr, sizeof(id.bytes));
        if (!vls_vec_push(&walk->sources.ids, walk->env, id))
            return vls_fail_memory(err);
    }
    vls_id_list_sort(&walk->sources);
    return 0;
}

static int add_witnessed(void *arg, const vls_ref_site *site, const valise_id *id,
                         valise_error *err)
{
    witness_walk *walk = arg;
    valise_id source;
    int rc =
        is_witness(site) ? vls_used_told(&source, site->coll, site->key, &walk->arena, err) : 0;

    if (rc <= 0 || vls_id_list_find(&walk->sources, &source) < 0)
        return vls_settle(rc);
    return vls_vec_push(&walk->found->named.ids, walk->env, *id) ? 0 : vls_fail_memory(err);
}

/* Of rows as they are, and as they were: who deleted something before it was erased let go of it.
 */
static int find_witnessed(vls_erase_found *found, vls_txn *txn, const vls_erase_what *what,
                          valise_error *err)
{
    witness_walk walk = {.env = vls_store_env(txn->store), .found = found};
    int rc = list_sources(&walk, what, err);

    vls_arena_init(&walk.arena, walk.env, VLS_VIEW_MAX_BYTES);
    if (rc == 0 && walk.sources.ids.len > 0)
        rc = vls_refs_rows(txn, VLS_REFS_OBJECTS, NULL, add_witnessed, &walk, err);
    if (rc == 0 && walk.sources.ids.len > 0)
        rc = vls_refs_log(txn, VLS_REFS_OBJECTS, NULL, add_witnessed, &walk, err);
    vls_erase_found_sort(found);
    vls_vec_release(&walk.sources.ids, walk.env);
    vls_arena_release(&walk.arena);
    return rc;
}

/* ---- all of it ---- */

static int scrub(vls_erased *out, vls_erase_found *found, vls_txn *txn, int64_t seq,
                 const vls_erase_place *places, size_t count, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_erase_walk walk = {
        .txn = txn, .places = places, .count = count, .own = seq, .found = found, .out = out};

    if (count == 0)
        return 0;
    vls_arena_init(&arena, vls_store_env(txn->store), VLS_VIEW_MAX_BYTES);
    walk.states = vls_arena_zalloc(&arena, count * sizeof(*walk.states));
    return walk.states ? vls_erase_walk_run(&walk, err) : vls_arena_fail(&arena, err);
}

int vls_erase_apply(vls_erased *out, vls_txn *txn, int64_t seq, const vls_erase_what *what,
                    valise_error *err)
{
    vls_erase_found found = {.seqs = VLS_VEC_INIT};
    int rc;

    assert(seq == txn->tip.seq && (what->count > 0 || what->only));
    *out = (vls_erased){0};
    rc = scrub(out, &found, txn, seq, what->places, what->count, err);
    if (rc == 0 && what->only)
        rc = erase_everywhere(out, txn, what->only, err);
    if (rc == 0 && !what->only)
        rc = find_witnessed(&found, txn, what, err);
    if (rc == 0 && !what->only)
        rc = erase_objects(out, txn, &found, err);
    vls_erase_found_release(&found, vls_store_env(txn->store));
    if (rc == 0)
        rc = vls_meta_put_int(txn, VLS_META_ERASED_SEQ, seq, err);
    if (rc == 0)
        rc = vls_meta_put_int(txn, VLS_META_ERASED_TIME, txn->tip.time, err);
    return rc < 0 ? rc : vls_meta_put_int(txn, VLS_META_ERASED_BLOBS, txn->tip.time, err);
}

/* ---- what belongs to places ---- */

/* The contents of the row before the command took them away. */
static int survey_row(vls_erase_state *state, vls_erase_found *found, valise_view *view,
                      const vls_erase_place *place, valise_error *err)
{
    const vls_overlay_row *change = vls_overlay_get(&view->changes, place->coll, place->key);
    valise_cell copy[VALISE_MAX_COLUMNS];
    int rc;

    if (!change || !change->before)
        return 0;
    rc = vls_erase_add_contents(found, &view->arena, place, change->before, err);
    if (rc < 0)
        return rc;
    memcpy(copy, change->before, place->coll->field_count * sizeof(*copy));
    state->had = vls_erase_empty(copy, place->coll->field_count, place->coll, place->only);
    state->any |= state->had;
    return 0;
}

/* And of all versions. *states lives as long as the view. */
static int survey(vls_erase_state **states, vls_erase_found *found, valise_view *view,
                  const vls_erase_place *places, size_t count, valise_error *err)
{
    vls_erased nothing = {0};
    vls_erase_walk walk = {
        .txn = view->txn, .places = places, .count = count, .found = found, .out = &nothing};
    int rc = 0;

    walk.states = vls_arena_zalloc(&view->arena, (count + 1) * sizeof(*walk.states));
    if (!walk.states)
        return vls_arena_fail(&view->arena, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = survey_row(&walk.states[i], found, view, &places[i], err);
    if (rc == 0)
        rc = vls_erase_walk_run(&walk, err);
    *states = walk.states;
    return rc;
}

/* Whether an object that a payload of this place named still has its contents. */
static int carries(bool *out, valise_view *view, const vls_erase_place *place, valise_error *err)
{
    vls_erase_found found = {.seqs = VLS_VEC_INIT};
    vls_erase_state *states = NULL;
    int rc = survey(&states, &found, view, place, 1, err);

    for (size_t i = 0; rc >= 0 && !*out && i < found.carried.ids.len; i++) {
        vls_object_info info;
        rc = vls_object_stat(&info, view->txn, &found.carried.ids.ptr[i], err);
        *out = rc > 0 && !info.erased;
    }
    vls_erase_found_release(&found, view->arena.env);
    return rc < 0 ? rc : 0;
}

static int fail_empty(const vls_erase_place *place, valise_view *view, valise_error *err)
{
    valise_cell key[VALISE_MAX_COLUMNS];
    int rc = vls_key_read(key, place->coll->key_count, place->key, &view->arena, err);

    if (rc < 0)
        return rc;
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "%s has no contents that could be erased",
                   vls_coll_place(place->coll, key).s);
    vls_hint(err, "'valise erasure list' shows what was erased before");
    return VALISE_E_NOT_FOUND;
}

/* To erase nothing and to say that it was done would be a lie that somebody relies on. */
static int check_contents(const vls_erase_state *states, valise_view *view,
                          const vls_erase_place *places, size_t count, valise_error *err)
{
    for (size_t i = 0; i < count; i++) {
        bool some = states[i].any || states[i].expired || places[i].witnessed;
        int rc = some ? 0 : carries(&some, view, &places[i], err);
        if (rc < 0 || !some)
            return rc < 0 ? rc : fail_empty(&places[i], view, err);
    }
    return 0;
}

/* ---- deciding ---- */

static int check_coll(const vls_coll *coll, valise_error *err)
{
    for (uint16_t i = 0; i < coll->field_count; i++) {
        if (is_content(&coll->desc->fields[i]))
            return 0;
    }
    (void)vls_fail(err, VALISE_E_INVALID,
                   "rows of %s have no contents that could be erased: no field is marked CONTENT",
                   coll->desc->name);
    vls_hint(err, "an object that it refers to can be erased with --content ID");
    return VALISE_E_INVALID;
}

/* Its area lets go of what is held for the row as it was; of one that is gone the key is known. */
static int let_go(const vls_erase_place *place, const valise_cell *cells, uint16_t count,
                  valise_view *view, valise_error *err)
{
    const valise_coll *desc = place->coll->desc;
    void *row;
    int rc;

    if (!desc->erased)
        return 0;
    row = vls_arena_zalloc(&view->arena, desc->row_size);
    if (!row)
        return vls_arena_fail(&view->arena, err);
    rc = vls_row_from_cells(row, desc->fields, desc->row_size, cells, count, &view->arena, err);
    return rc < 0 ? rc : desc->erased(view, row, err);
}

bool vls_erase_is_about(const vls_coll *coll)
{
    const valise_field *first = coll->own || coll->foreign ? NULL : coll->desc->fields;

    return first && (first->flags & VALISE_KEY) && first->type == VALISE_T_ID && first->ref &&
           strcmp(first->ref, "blob") == 0 && !vls_coll_is_quiet(coll);
}

const valise_id *vls_erase_only_of(const vls_coll *coll, const valise_cell *key,
                                   const valise_id *only)
{
    bool about = only && vls_erase_is_about(coll) && key->as.bytes.len == sizeof(*only) &&
                 memcmp(key->as.bytes.ptr, only, sizeof(*only)) == 0;

    return about ? NULL : only;
}

/* Where its area has let go of it in the same command, it is as it was before that. */
static bool was_let_go(vls_erase_place *out, const valise_view *view)
{
    const vls_overlay_row *change = vls_overlay_get(&view->changes, out->coll, out->key);

    if (!change || !change->before)
        return false;
    out->before_seq = change->before_seq;
    out->before = change->before;
    return true;
}

/* Put the row that is there without its contents, or find where it was deleted. */
static int put_empty(vls_erase_place *out, valise_view *view, const valise_cell *key,
                     valise_error *err)
{
    const vls_coll *coll = out->coll;
    vls_gone gone = {.coll = coll->number, .key = out->key};
    valise_cell *row;
    vls_seen seen = {0};
    bool any;
    int rc = vls_view_see(&seen, view, coll, key, err);

    if (rc < 0)
        return rc;
    out->before_seq = seen.from_seq;
    out->before = seen.row;
    if (!seen.row && was_let_go(out, view))
        return 0;
    if (!seen.row) {
        rc = vls_own_get(&gone, view->txn, VLS_TABLE_GONE, &view->arena, err);
        if (rc == 0 && !out->witnessed)
            return vls_fail(err, VALISE_E_NOT_FOUND, "there is no %s, and there never was",
                            vls_coll_place(coll, key).s);
        out->before_seq = rc > 0 ? gone.seq : 0;
        return rc < 0 || out->only ? vls_settle(rc) : let_go(out, key, coll->key_count, view, err);
    }
    rc = vls_cells_copy(&row, seen.row, coll->field_count, &view->arena, err);
    if (rc < 0)
        return rc;
    any = vls_erase_empty(row, coll->field_count, coll, out->only);
    rc = vls_view_put_cells(view, coll, row, true, err);
    return rc < 0 || !any ? rc : let_go(out, out->before, coll->field_count, view, err);
}

int vls_erase_decide(vls_erase_place *out, valise_view *view, const vls_coll *coll,
                     const valise_cell *key, const valise_id *only, valise_error *err)
{
    VLS_AUTO(buf) vls_buf bytes = {0};
    vls_erase_place place = {.coll = coll, .only = vls_erase_only_of(coll, key, only)};
    int rc = only ? 0 : check_coll(coll, err);

    vls_buf_init(&bytes, view->arena.env, VLS_VIEW_MAX_BYTES);
    vls_key_write(&bytes, key, coll->key_count);
    if (rc == 0)
        rc = vls_buf_check(&bytes, err);
    if (rc == 0)
        rc = vls_arena_dup(&place.key, &view->arena, vls_buf_str(&bytes), err);
    if (rc == 0)
        rc = vls_used_source_of(&place.source, coll, key, &view->arena, err);
    if (rc == 0 && !only)
        rc = vls_used_has(view, &place.source, err);
    place.witnessed = rc > 0;
    if (rc >= 0)
        rc = put_empty(&place, view, key, err);
    if (rc == 0)
        *out = place;
    return rc;
}

/* ---- other places ---- */

/* Every reference of the workspace is looked up in these lists: they are sorted. */
typedef struct other_walk {
    vls_vec(const vls_erase_place *) places;
    const vls_erase_found *found;
    vls_ref_fn *fn;
    void *arg;
} other_walk;

static int compare_places(const void *a, const void *b)
{
    return vls_erase_compare(*(const vls_erase_place *const *)a,
                             *(const vls_erase_place *const *)b);
}

static bool is_erased_too(const other_walk *walk, const vls_ref_site *site)
{
    const vls_erase_place at = {.coll = site->coll, .key = site->key}, *key = &at;

    return walk->places.len > 0 &&
           bsearch(&key, walk->places.ptr, walk->places.len, sizeof(key), compare_places);
}

static int other_site(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    const other_walk *walk = arg;
    const vls_erase_found *found = walk->found;
    bool other = vls_id_list_find(&found->carried, id) >= 0;

    if (is_witness(site))
        return 0;
    if (site->coll)
        other = (other || vls_id_list_find(&found->named, id) >= 0) && !is_erased_too(walk, site);
    else
        other = other && !vls_erase_found_has(found, site->seq);
    return other ? walk->fn(walk->arg, site, id, err) : 0;
}

static int find_others(valise_view *view, const vls_erase_place *places, size_t count,
                       other_walk *walk, valise_error *err)
{
    const valise_env *env = view->arena.env;
    int rc;

    if (walk->found->named.ids.len == 0 && walk->found->carried.ids.len == 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        if (!vls_vec_push(&walk->places, env, &places[i]))
            return vls_fail_memory(err);
    }
    if (count > 1)
        qsort(walk->places.ptr, count, sizeof(*walk->places.ptr), compare_places);
    rc = vls_refs_rows(view->txn, VLS_REFS_ALL, NULL, other_site, walk, err);
    return rc < 0 ? rc : vls_refs_log(view->txn, VLS_REFS_ALL, NULL, other_site, walk, err);
}

int vls_erase_others(valise_view *view, const vls_erase_place *places, size_t count, vls_ref_fn *fn,
                     void *arg, valise_error *err)
{
    vls_erase_found found = {.seqs = VLS_VEC_INIT};
    other_walk walk = {.places = VLS_VEC_INIT, .found = &found, .fn = fn, .arg = arg};
    vls_erase_state *states = NULL;
    int rc = survey(&states, &found, view, places, count, err);

    if (rc == 0)
        rc = check_contents(states, view, places, count, err);
    if (rc == 0)
        rc = find_others(view, places, count, &walk, err);
    vls_vec_release(&walk.places, view->arena.env);
    vls_erase_found_release(&found, view->arena.env);
    return rc;
}
