/* erase.c -- see erase.h. */
#include "store/erase.h"

#include "base/str.h"
#include "base/vec.h"
#include "store/own.h"

static bool is_content(const valise_field *field)
{
    return field->flags & VALISE_CONTENT;
}

static bool names(const valise_cell *cell, const valise_id *id)
{
    return cell->type == VALISE_CELL_BLOB && cell->as.bytes.len == sizeof(*id) &&
           memcmp(cell->as.bytes.ptr, id, sizeof(*id)) == 0;
}

/* Take the contents out of a version: all of them, or those that name one object. True when there
 * were any. */
static bool empty(valise_cell *row, size_t count, const vls_coll *coll, const valise_id *only)
{
    bool any = false;

    for (size_t i = 0; i < count; i++) {
        if (!is_content(&coll->desc->fields[i]) || row[i].type == VALISE_CELL_NULL ||
            (only && !names(&row[i], only)))
            continue;
        row[i] = (valise_cell){.type = VALISE_CELL_NULL};
        any = true;
    }
    return any;
}

/* ---- versions of a row ---- */

typedef vls_vec(valise_id) id_list;

static bool has_id(const id_list *ids, const valise_id *id)
{
    for (size_t i = 0; i < ids->len; i++) {
        if (vls_id_equal(&ids->ptr[i], id))
            return true;
    }
    return false;
}

static int add_id(id_list *ids, const valise_env *env, const valise_id *id, valise_error *err)
{
    if (has_id(ids, id) || vls_vec_push(ids, env, *id))
        return 0;
    return vls_fail_memory(err);
}

typedef struct gathering {
    const valise_env *env;
    const valise_id *only;
    id_list *ids;
} gathering;

static int gather(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    const gathering *g = arg;

    (void)site;
    return g->only && !vls_id_equal(g->only, id) ? 0 : add_id(g->ids, g->env, id, err);
}

/* The objects and blobs that the contents of a version name. */
static int add_contents(id_list *ids, vls_arena *arena, const vls_erase_place *place,
                        const valise_cell *row, valise_error *err)
{
    const vls_ref_site site = {.coll = place->coll, .key = place->key};
    gathering g = {arena->env, place->only, ids};

    return vls_refs_of_row(arena, &site, row, VLS_REFS_ALL | VLS_REFS_CONTENT, gather, &g, err);
}

/* ---- entries ---- */

/* What belongs to a place. */
typedef struct belongings {
    id_list named;         /* by contents of its versions */
    id_list carried;       /* by payloads of the entries that made them */
    vls_vec(int64_t) seqs; /* these entries */
    bool any;              /* a version had contents */
    bool expired;          /* there were older versions, of which nothing is known */
} belongings;

static void release(belongings *b, const valise_env *env)
{
    vls_vec_release(&b->named, env);
    vls_vec_release(&b->carried, env);
    vls_vec_release(&b->seqs, env);
}

typedef struct scrubbing {
    vls_txn *txn;
    const vls_erase_place *place;
    belongings *found; /* gathers */
    vls_erased *out;
    vls_arena arena; /* of one entry */
    vls_buf changes, cells;
    int64_t next; /* the entry before, in the place's chain; 0: none */
    bool had;     /* the version that entry made had what is erased */
    bool rewrite; /* false: only look */
} scrubbing;

/* Write the image again without its contents. */
static int scrub_image(scrubbing *s, vls_image image, valise_error *err)
{
    const vls_coll *coll = s->place->coll;
    valise_cell cells[VALISE_MAX_COLUMNS] = {{0}};
    size_t count = 0;
    int rc = 0;

    s->next = image.from_seq ? image.from_seq : image.gone_seq;
    s->had = false;
    if (image.from_seq == 0) {
        vls_changes_write(&s->changes, &image);
        return 0;
    }
    rc = vls_cells_read(cells, &count, coll->field_count, image.cells, err);
    if (rc == 0)
        rc = add_contents(&s->found->named, &s->arena, s->place, cells, err);
    if (rc < 0)
        return rc;
    s->had = empty(cells, count, coll, s->place->only);
    s->found->any |= s->had;
    vls_buf_clear(&s->cells);
    vls_cells_write(&s->cells, cells, count);
    image.cells = vls_buf_str(&s->cells);
    vls_changes_write(&s->changes, &image);
    s->out->images++;
    return vls_buf_check(&s->cells, err);
}

static int scrub_changes(scrubbing *s, valise_str changes, valise_error *err)
{
    vls_image image;
    size_t at = 0;
    int rc;

    vls_buf_clear(&s->changes);
    while ((rc = vls_changes_next(&image, &at, changes, err)) > 0) {
        if (image.coll == s->place->coll->number && vls_str_equal(image.key, s->place->key))
            rc = scrub_image(s, image, err);
        else
            vls_changes_write(&s->changes, &image);
        if (rc < 0)
            return rc;
    }
    return rc < 0 ? rc : vls_buf_check(&s->changes, err);
}

/* Take the payload of an entry away. */
static void silence(vls_entry *entry, vls_erased *out)
{
    entry->payload = entry->nonce = entry->result = (valise_str){NULL, 0};
    entry->sent = (valise_id){{0}};
    out->entries++;
}

/* An entry that brought what is erased: what else did it carry? */
static int note_entry(scrubbing *s, const vls_entry *entry, valise_error *err)
{
    const valise_env *env = vls_store_env(s->txn->store);
    gathering g = {env, s->place->only, &s->found->carried};

    if (!vls_vec_push(&s->found->seqs, env, entry->seq))
        return vls_fail_memory(err);
    return vls_refs_payload(entry, gather, &g, err);
}

/* One entry of the chain. What an erasure says is where and why, which stays. */
static int scrub_entry(scrubbing *s, int64_t seq, valise_error *err)
{
    bool brought = s->had || !s->place->only;
    vls_entry entry;
    int rc;

    vls_arena_reset(&s->arena);
    s->next = 0;
    rc = vls_log_get(&entry, s->txn, seq, &s->arena, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_CORRUPT, "log entry %lld is missing", (long long)seq);
    if (rc > 0)
        rc = scrub_changes(s, entry.changes, err);
    if (rc < 0)
        return rc;
    brought = brought && entry.payload.ptr && !vls_str_equal(entry.type, VLS_STR(VLS_ERASURE_TYPE));
    if (brought)
        rc = note_entry(s, &entry, err);
    if (rc < 0 || !s->rewrite)
        return rc;
    entry.changes = vls_buf_str(&s->changes);
    if (brought)
        silence(&entry, s->out);
    return vls_log_rewrite(s->txn, &entry, err);
}

/* Follow the versions back as far as the log goes. */
static int scrub_chain(scrubbing *s, int64_t seq, valise_error *err)
{
    while (seq > s->txn->tip.base_seq) {
        int rc = scrub_entry(s, seq, err);
        if (rc < 0)
            return rc;
        if (s->next >= seq)
            return vls_fail(err, VALISE_E_CORRUPT, "the history of %s does not go back",
                            s->place->coll->desc->name);
        seq = s->next;
    }
    s->found->expired |= seq > 0;
    return 0;
}

static void scrub_begin(scrubbing *s, vls_txn *txn, const vls_erase_place *place, belongings *found,
                        vls_erased *out, bool rewrite)
{
    const valise_env *env = vls_store_env(txn->store);

    *s = (scrubbing){.txn = txn, .place = place, .found = found, .out = out, .rewrite = rewrite};
    vls_arena_init(&s->arena, env, VLS_VIEW_MAX_BYTES);
    vls_buf_init(&s->changes, env, VLS_CHANGES_MAX * 2);
    vls_buf_init(&s->cells, env, VLS_VIEW_MAX_BYTES);
}

static void scrub_end(scrubbing *s)
{
    vls_buf_release(&s->changes);
    vls_buf_release(&s->cells);
    vls_arena_release(&s->arena);
}

/* ---- objects ---- */

static void strike(id_list *ids, const valise_id *id)
{
    for (size_t i = 0; i < ids->len; i++) {
        if (vls_id_equal(&ids->ptr[i], id)) {
            ids->ptr[i] = ids->ptr[--ids->len];
            break;
        }
    }
}

/* Strike out what somebody else holds. A payload is of a command, not of a place: it holds only
 * what no place has. */
static int keep_held(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    belongings *found = arg;

    (void)err;
    strike(&found->carried, id);
    if (site->coll)
        strike(&found->named, id);
    return 0;
}

static int mark_all_chunks(void *arg, const vls_object_info *info, valise_error *err)
{
    void **pair = arg;

    return info->chunked && !info->erased
               ? vls_object_mark_chunks(pair[0], pair[1], info->number, err)
               : 0;
}

static int sweep_chunks(vls_erased *out, vls_txn *txn, valise_error *err)
{
    vls_bits keep = {.env = vls_store_env(txn->store)};
    void *pair[] = {&keep, txn};
    int64_t last = 0, bytes = 0;
    int rc = vls_object_each(txn, 0, mark_all_chunks, pair, err);

    if (rc == 0)
        rc = vls_chunk_last(&last, txn, err);
    if (rc == 0)
        rc = vls_chunk_sweep(&out->chunks, &bytes, txn, &keep, 0, last + 1, err);
    vls_bits_release(&keep);
    return rc;
}

static int erase_object(vls_erased *out, vls_txn *txn, const valise_id *id, valise_error *err)
{
    vls_object_info info;
    int rc = vls_object_stat(&info, txn, id, err);

    if (rc <= 0 || info.erased)
        return rc < 0 ? rc : 0; /* 0: a blob, or an id of something else */
    rc = vls_object_erase(txn, id, err);
    out->objects += rc > 0;
    return rc < 0 ? rc : 0;
}

static int erase_objects(vls_erased *out, vls_txn *txn, belongings *found, valise_error *err)
{
    int rc = 0;

    if (found->named.len == 0 && found->carried.len == 0)
        return 0;
    for (size_t i = 0; i < found->named.len; i++)
        strike(&found->carried, &found->named.ptr[i]);
    rc = vls_refs_rows(txn, VLS_REFS_OBJECTS, NULL, keep_held, found, err);
    if (rc == 0)
        rc = vls_refs_log(txn, VLS_REFS_OBJECTS, NULL, keep_held, found, err);
    for (size_t i = 0; rc == 0 && i < found->named.len; i++)
        rc = erase_object(out, txn, &found->named.ptr[i], err);
    for (size_t i = 0; rc == 0 && i < found->carried.len; i++)
        rc = erase_object(out, txn, &found->carried.ptr[i], err);
    return rc < 0 ? rc : sweep_chunks(out, txn, err);
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
        silence(&entry, out);
        rc = vls_log_rewrite(txn, &entry, err);
    }
    return rc < 0 ? rc : 0;
}

static int erase_everywhere(vls_erased *out, vls_txn *txn, const valise_id *id, valise_error *err)
{
    mention_walk walk = {.env = vls_store_env(txn->store), .id = id};
    int rc = vls_refs_log(txn, VLS_REFS_OBJECTS, NULL, add_mention, &walk, err);

    if (rc == 0)
        rc = silence_mentions(out, txn, &walk, err);
    vls_vec_release(&walk.seqs, walk.env);
    if (rc == 0)
        rc = erase_object(out, txn, id, err);
    return rc < 0 ? rc : sweep_chunks(out, txn, err);
}

/* ---- all of it ---- */

/* The erase command's own image is that of the newest version. Of a QUIET row there is none: what
 * it held is known from the row itself. */
static int scrub_quiet(scrubbing *s, valise_error *err)
{
    const vls_erase_place *place = s->place;
    valise_cell cells[VALISE_MAX_COLUMNS];

    if (!vls_coll_is_quiet(place->coll) || !place->before)
        return 0;
    memcpy(cells, place->before, place->coll->field_count * sizeof(*cells));
    s->had = empty(cells, place->coll->field_count, place->coll, place->only);
    s->found->any |= s->had;
    return add_contents(&s->found->named, &s->arena, place, place->before, err);
}

static int scrub_place(vls_erased *out, vls_txn *txn, int64_t seq, const vls_erase_place *place,
                       belongings *found, valise_error *err)
{
    scrubbing s;
    int rc;

    scrub_begin(&s, txn, place, found, out, true);
    rc = scrub_entry(&s, seq, err);
    if (rc == 0)
        rc = scrub_quiet(&s, err);
    if (rc == 0)
        rc = scrub_chain(&s, place->before_seq, err);
    scrub_end(&s);
    return rc;
}

int vls_erase_apply(vls_erased *out, vls_txn *txn, int64_t seq, const vls_erase_place *places,
                    size_t count, const valise_id *only, valise_error *err)
{
    belongings found = {.any = false};
    int rc = 0;

    assert(seq == txn->tip.seq && (count > 0 || only));
    *out = (vls_erased){0};
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = scrub_place(out, txn, seq, &places[i], &found, err);
    if (rc == 0)
        rc = only ? erase_everywhere(out, txn, only, err) : erase_objects(out, txn, &found, err);
    release(&found, vls_store_env(txn->store));
    if (rc == 0)
        rc = vls_meta_put_int(txn, VLS_META_ERASED_SEQ, seq, err);
    if (rc == 0)
        rc = vls_meta_put_int(txn, VLS_META_ERASED_TIME, txn->tip.time, err);
    return rc < 0 ? rc : vls_meta_put_int(txn, VLS_META_ERASED_BLOBS, txn->tip.time, err);
}

/* ---- what belongs to a place ---- */

/* The contents of the row before the command took them away, and of all its versions. */
static int survey(belongings *found, valise_view *view, const vls_erase_place *place,
                  valise_error *err)
{
    const vls_overlay_row *change = vls_overlay_get(&view->changes, place->coll, place->key);
    vls_erased nothing = {0};
    scrubbing s;
    bool had = false;
    int rc = 0;

    if (change && change->before) {
        valise_cell *copy = NULL;
        rc = add_contents(&found->named, &view->arena, place, change->before, err);
        if (rc == 0)
            rc = vls_cells_copy(&copy, change->before, place->coll->field_count, &view->arena, err);
        if (rc < 0 || !copy)
            return rc;
        had = empty(copy, place->coll->field_count, place->coll, place->only);
        found->any |= had;
    }
    scrub_begin(&s, view->txn, place, found, &nothing, false);
    s.had = had;
    rc = scrub_chain(&s, place->before_seq, err);
    scrub_end(&s);
    return rc;
}

/* Whether an object that a payload named still has its contents. */
static int carries(bool *out, vls_txn *txn, const belongings *found, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc >= 0 && !*out && i < found->carried.len; i++) {
        vls_object_info info;
        rc = vls_object_stat(&info, txn, &found->carried.ptr[i], err);
        *out = rc > 0 && !info.erased;
    }
    return rc < 0 ? rc : 0;
}

/* To erase nothing and to say that it was done would be a lie that somebody relies on. */
static int check_contents(valise_view *view, const vls_erase_place *place, const valise_cell *key,
                          valise_error *err)
{
    belongings found = {.any = false};
    int rc = survey(&found, view, place, err);
    bool some = found.any || found.expired;

    if (rc == 0 && !some)
        rc = carries(&some, view->txn, &found, err);
    release(&found, view->arena.env);
    if (rc < 0 || some)
        return rc;
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "%s has no contents that could be erased",
                   vls_coll_place(place->coll, key).s);
    vls_hint(err, "`valise erasure list` tells what was erased before");
    return VALISE_E_NOT_FOUND;
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

/* Put the row that is there without its contents, or find where it was deleted. */
static int put_empty(vls_erase_place *out, valise_view *view, const valise_cell *key,
                     valise_error *err)
{
    const vls_coll *coll = out->coll;
    vls_gone gone = {.coll = coll->number, .key = out->key};
    valise_cell *row;
    vls_seen seen = {0};
    int rc = vls_view_see(&seen, view, coll, key, err);

    if (rc < 0)
        return rc;
    out->before_seq = seen.from_seq;
    out->before = seen.row;
    if (!seen.row) {
        rc = vls_own_get(&gone, view->txn, VLS_TABLE_GONE, &view->arena, err);
        if (rc == 0)
            return vls_fail(err, VALISE_E_NOT_FOUND, "there is no %s, nor was there",
                            vls_coll_place(coll, key).s);
        out->before_seq = gone.seq;
        return rc < 0 ? rc : 0;
    }
    rc = vls_cells_copy(&row, seen.row, coll->field_count, &view->arena, err);
    if (rc < 0)
        return rc;
    (void)empty(row, coll->field_count, coll, out->only);
    return vls_view_put_cells(view, coll, row, true, err);
}

int vls_erase_decide(vls_erase_place *out, valise_view *view, const vls_coll *coll,
                     const valise_cell *key, const valise_id *only, valise_error *err)
{
    VLS_AUTO(buf) vls_buf bytes = {0};
    vls_erase_place place = {.coll = coll, .only = only};
    int rc = only ? 0 : check_coll(coll, err);

    vls_buf_init(&bytes, view->arena.env, VLS_VIEW_MAX_BYTES);
    vls_key_write(&bytes, key, coll->key_count);
    if (rc == 0)
        rc = vls_buf_check(&bytes, err);
    if (rc == 0)
        rc = vls_arena_dup(&place.key, &view->arena, vls_buf_str(&bytes), err);
    if (rc == 0)
        rc = put_empty(&place, view, key, err);
    if (rc == 0 && !only)
        rc = check_contents(view, &place, key, err);
    if (rc == 0)
        *out = place;
    return rc;
}

/* ---- other places ---- */

/* Every reference of the workspace is looked up in these lists: they are sorted. */
typedef struct other_walk {
    vls_vec(const vls_erase_place *) places;
    const belongings *found;
    vls_ref_fn *fn;
    void *arg;
} other_walk;

static int compare_ids(const void *a, const void *b)
{
    return vls_id_compare(a, b);
}

static int compare_seqs(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int compare_places(const void *a, const void *b)
{
    const vls_erase_place *x = *(const vls_erase_place *const *)a;
    const vls_erase_place *y = *(const vls_erase_place *const *)b;

    if (x->coll != y->coll)
        return x->coll->number < y->coll->number ? -1 : 1;
    return vls_str_compare(x->key, y->key);
}

static bool is_among(const id_list *ids, const valise_id *id)
{
    return ids->len > 0 && bsearch(id, ids->ptr, ids->len, sizeof(*id), compare_ids);
}

static bool is_own(const belongings *found, int64_t seq)
{
    return found->seqs.len > 0 &&
           bsearch(&seq, found->seqs.ptr, found->seqs.len, sizeof(seq), compare_seqs);
}

static bool is_erased_too(const other_walk *walk, const vls_ref_site *site)
{
    const vls_erase_place at = {.coll = site->coll, .key = site->key}, *key = &at;

    return walk->places.len > 0 &&
           bsearch(&key, walk->places.ptr, walk->places.len, sizeof(key), compare_places);
}

static int sort_all(other_walk *walk, belongings *found, const vls_erase_place *places,
                    size_t count, const valise_env *env, valise_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!vls_vec_push(&walk->places, env, &places[i]))
            return vls_fail_memory(err);
    }
    if (count > 1)
        qsort(walk->places.ptr, count, sizeof(*walk->places.ptr), compare_places);
    if (found->named.len > 1)
        qsort(found->named.ptr, found->named.len, sizeof(valise_id), compare_ids);
    if (found->carried.len > 1)
        qsort(found->carried.ptr, found->carried.len, sizeof(valise_id), compare_ids);
    if (found->seqs.len > 1)
        qsort(found->seqs.ptr, found->seqs.len, sizeof(int64_t), compare_seqs);
    return 0;
}

static int other_site(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    const other_walk *walk = arg;
    const belongings *found = walk->found;
    bool named = is_among(&found->named, id);
    bool other;

    if (site->coll)
        other = (named || is_among(&found->carried, id)) && !is_erased_too(walk, site);
    else
        other = !named && is_among(&found->carried, id) && !is_own(found, site->seq);
    return other ? walk->fn(walk->arg, site, id, err) : 0;
}

int vls_erase_others(valise_view *view, const vls_erase_place *places, size_t count, vls_ref_fn *fn,
                     void *arg, valise_error *err)
{
    belongings found = {.any = false};
    other_walk walk = {.places = VLS_VEC_INIT, .found = &found, .fn = fn, .arg = arg};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = survey(&found, view, &places[i], err);
    if (rc == 0)
        rc = sort_all(&walk, &found, places, count, view->arena.env, err);
    if (rc == 0 && (found.named.len > 0 || found.carried.len > 0)) {
        rc = vls_refs_rows(view->txn, VLS_REFS_ALL, NULL, other_site, &walk, err);
        if (rc == 0)
            rc = vls_refs_log(view->txn, VLS_REFS_ALL, NULL, other_site, &walk, err);
    }
    vls_vec_release(&walk.places, view->arena.env);
    release(&found, view->arena.env);
    return rc;
}
