/* erase_walk.c -- see erase_walk.h. Start reading at vls_erase_walk_run. */
#include "store/erase_walk.h"

#include "base/str.h"
#include "store/own.h"

bool vls_erase_empty(valise_cell *row, size_t count, const vls_coll *coll, const valise_id *only)
{
    bool any = false;

    for (size_t i = 0; i < count; i++) {
        const valise_cell *cell = &row[i];
        bool names = only && cell->type == VALISE_CELL_BLOB &&
                     cell->as.bytes.len == sizeof(*only) &&
                     memcmp(cell->as.bytes.ptr, only, sizeof(*only)) == 0;
        if (!(coll->desc->fields[i].flags & VALISE_CONTENT) || cell->type == VALISE_CELL_NULL ||
            (only && !names))
            continue;
        row[i] = (valise_cell){.type = VALISE_CELL_NULL};
        any = true;
    }
    return any;
}

void vls_erase_silence(vls_entry *entry, vls_erased *out)
{
    entry->payload = entry->nonce = entry->result = (valise_str){NULL, 0};
    entry->sent = (valise_id){{0}};
    out->entries++;
}

int vls_erase_compare(const vls_erase_place *a, const vls_erase_place *b)
{
    if (a->coll != b->coll)
        return a->coll->number < b->coll->number ? -1 : 1;
    return vls_str_compare(a->key, b->key);
}

/* ---- ids ---- */

int64_t vls_id_list_find(const vls_id_list *list, const valise_id *id)
{
    const valise_id *found =
        list->ids.len > 0 ? bsearch(id, list->ids.ptr, list->ids.len, sizeof(*id), vls_id_order)
                          : NULL;

    return found ? found - list->ids.ptr : -1;
}

static void sort_without(vls_id_list *list, const vls_id_list *without)
{
    size_t kept = 0;

    if (list->ids.len > 1)
        qsort(list->ids.ptr, list->ids.len, sizeof(valise_id), vls_id_order);
    for (size_t i = 0; i < list->ids.len; i++) {
        const valise_id *id = &list->ids.ptr[i];
        if ((kept > 0 && vls_id_equal(&list->ids.ptr[kept - 1], id)) ||
            (without && vls_id_list_find(without, id) >= 0))
            continue;
        list->ids.ptr[kept++] = *id;
    }
    list->ids.len = kept;
}

void vls_id_list_sort(vls_id_list *list)
{
    sort_without(list, NULL);
}

bool vls_erase_found_has(const vls_erase_found *found, int64_t seq)
{
    return found->seqs.len > 0 &&
           bsearch(&seq, found->seqs.ptr, found->seqs.len, sizeof(seq), vls_i64_order);
}

void vls_erase_found_sort(vls_erase_found *found)
{
    vls_id_list_sort(&found->named);
    sort_without(&found->carried, &found->named);
    if (found->seqs.len > 1)
        qsort(found->seqs.ptr, found->seqs.len, sizeof(int64_t), vls_i64_order);
}

void vls_erase_found_release(vls_erase_found *found, const valise_env *env)
{
    vls_vec_release(&found->named.ids, env);
    vls_vec_release(&found->carried.ids, env);
    vls_vec_release(&found->seqs, env);
}

typedef struct gathering {
    const valise_env *env;
    const valise_id *only;
    vls_id_list *list;
} gathering;

static int gather(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    const gathering *g = arg;

    (void)site;
    if ((g->only && !vls_id_equal(g->only, id)) || vls_vec_push(&g->list->ids, g->env, *id))
        return 0;
    return vls_fail_memory(err);
}

int vls_erase_add_contents(vls_erase_found *found, vls_arena *arena, const vls_erase_place *place,
                           const valise_cell *row, valise_error *err)
{
    const vls_ref_site site = {.coll = place->coll, .key = place->key};
    gathering g = {arena->env, place->only, &found->named};

    return vls_refs_of_row(arena, &site, row, VLS_REFS_ALL | VLS_REFS_CONTENT, gather, &g, err);
}

/* ---- which entry is next ---- */

/* A place leads to an entry. */
typedef struct step {
    int64_t seq;
    size_t place;
} step;

typedef struct scrubbing {
    const vls_erase_walk *walk;
    const valise_env *env;
    vls_vec(size_t) order; /* numbers of places, by collection and key */
    vls_vec(step) heap;    /* the newest on top */
    vls_vec(size_t) group; /* places that lead to the entry that is looked at */
    vls_arena arena;       /* of one entry */
    vls_buf changes, cells;
} scrubbing;

static void swap_steps(step *a, step *b)
{
    step kept = *a;

    *a = *b;
    *b = kept;
}

static int push(scrubbing *s, int64_t seq, size_t place, valise_error *err)
{
    size_t at = s->heap.len;

    if (!vls_vec_push(&s->heap, s->env, ((step){seq, place})))
        return vls_fail_memory(err);
    for (step *heap = s->heap.ptr; at > 0 && heap[(at - 1) / 2].seq < heap[at].seq;) {
        swap_steps(&heap[at], &heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    return 0;
}

static step pop(scrubbing *s)
{
    step *heap = s->heap.ptr, top = heap[0];
    size_t len = --s->heap.len;

    heap[0] = heap[len];
    for (size_t at = 0, child; (child = 2 * at + 1) < len; at = child) {
        if (child + 1 < len && heap[child + 1].seq > heap[child].seq)
            child++;
        if (heap[child].seq <= heap[at].seq)
            break;
        swap_steps(&heap[child], &heap[at]);
    }
    return top;
}

/* Follow a place back to an entry, if the log still has it. 0: there is none before. */
static int follow(scrubbing *s, size_t place, int64_t seq, valise_error *err)
{
    if (seq > s->walk->txn->tip.base_seq)
        return push(s, seq, place, err);
    s->walk->states[place].expired |= seq > 0;
    return 0;
}

/* ---- one entry ---- */

/* The place with this key that leads to the entry, or -1. */
static int64_t find_place(const scrubbing *s, const vls_image *image, int64_t seq)
{
    size_t from = 0, to = s->order.len;

    while (from < to) {
        size_t middle = from + (to - from) / 2, number = s->order.ptr[middle];
        const vls_erase_place *place = &s->walk->places[number];
        int side = place->coll->number == image->coll  ? vls_str_compare(place->key, image->key)
                   : place->coll->number < image->coll ? -1
                                                       : 1;
        if (side == 0)
            return s->walk->states[number].seq == seq ? (int64_t)number : -1;
        if (side < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return -1;
}

/* Write the image again without its contents, and go on to the entry before. */
static int scrub_image(scrubbing *s, size_t number, vls_image image, int64_t seq, valise_error *err)
{
    const vls_erase_place *place = &s->walk->places[number];
    vls_erase_state *state = &s->walk->states[number];
    int64_t next = image.from_seq ? image.from_seq : image.gone_seq;
    valise_cell cells[VALISE_MAX_COLUMNS] = {{0}};
    size_t count = 0;
    int rc = 0;

    state->had = false;
    if (image.from_seq != 0) {
        rc = vls_cells_read(cells, &count, place->coll->field_count, image.cells, err);
        if (rc == 0)
            rc = vls_erase_add_contents(s->walk->found, &s->arena, place, cells, err);
        if (rc < 0)
            return rc;
        state->had = vls_erase_empty(cells, count, place->coll, place->only);
        state->any |= state->had;
        vls_buf_clear(&s->cells);
        vls_cells_write(&s->cells, cells, count);
        image.cells = vls_buf_str(&s->cells);
        s->walk->out->images++;
        rc = vls_buf_check(&s->cells, err);
    }
    vls_changes_write(&s->changes, &image);
    if (rc < 0 || seq == s->walk->own) /* from there all go on */
        return rc;
    if (next >= seq)
        return vls_fail(err, VALISE_E_CORRUPT, "the history of %s does not go back",
                        place->coll->desc->name);
    return follow(s, number, next, err);
}

static int scrub_changes(scrubbing *s, const vls_entry *entry, valise_error *err)
{
    vls_image image;
    size_t at = 0;
    int rc;

    vls_buf_clear(&s->changes);
    while ((rc = vls_changes_next(&image, &at, entry->changes, err)) > 0) {
        int64_t place = find_place(s, &image, entry->seq);
        if (place >= 0)
            rc = scrub_image(s, (size_t)place, image, entry->seq, err);
        else
            vls_changes_write(&s->changes, &image);
        if (rc < 0)
            return rc;
    }
    return rc < 0 ? rc : vls_buf_check(&s->changes, err);
}

/* An entry that brought what is erased: what else did it carry? */
static int note_entry(scrubbing *s, const vls_entry *entry, const valise_id *only,
                      valise_error *err)
{
    gathering g = {s->env, only, &s->walk->found->carried};

    if (!vls_vec_push(&s->walk->found->seqs, s->env, entry->seq))
        return vls_fail_memory(err);
    return vls_refs_payload(entry, gather, &g, err);
}

/* Did it bring what is erased of a place in the group? What an erasure says is where and why, which
 * stays. */
static bool has_brought(const scrubbing *s, const vls_entry *entry)
{
    if (!entry->payload.ptr || vls_str_equal(entry->type, VLS_STR(VLS_ERASURE_TYPE)))
        return false;
    for (size_t i = 0; i < s->group.len; i++) {
        size_t place = s->group.ptr[i];
        if (!s->walk->places[place].only || s->walk->states[place].had)
            return true;
    }
    return false;
}

static int scrub_entry(scrubbing *s, int64_t seq, valise_error *err)
{
    bool brought = false;
    vls_entry entry;
    int rc;

    vls_arena_reset(&s->arena);
    for (size_t i = 0; i < s->group.len; i++)
        s->walk->states[s->group.ptr[i]].seq = seq;
    rc = vls_log_get(&entry, s->walk->txn, seq, &s->arena, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_CORRUPT, "log entry %lld is missing", (long long)seq);
    if (rc > 0) {
        brought = has_brought(s, &entry); /* by what was after it: the images are before it */
        rc = scrub_changes(s, &entry, err);
    }
    if (rc == 0 && brought)
        rc = note_entry(s, &entry, s->walk->places[s->group.ptr[0]].only, err);
    if (rc < 0 || s->walk->own == 0)
        return rc;
    entry.changes = vls_buf_str(&s->changes);
    if (brought)
        vls_erase_silence(&entry, s->walk->out);
    return vls_log_rewrite(s->walk->txn, &entry, err);
}

/* ---- all of them ---- */

/* The erase command's own entry has an image of the newest version of each. Of a QUIET row there is
 * none: what it held is known from the row itself. */
static int scrub_quiet(scrubbing *s, size_t number, valise_error *err)
{
    const vls_erase_place *place = &s->walk->places[number];
    vls_erase_state *state = &s->walk->states[number];
    valise_cell cells[VALISE_MAX_COLUMNS];

    if (!vls_coll_is_quiet(place->coll) || !place->before)
        return 0;
    memcpy(cells, place->before, place->coll->field_count * sizeof(*cells));
    state->had = vls_erase_empty(cells, place->coll->field_count, place->coll, place->only);
    state->any |= state->had;
    return vls_erase_add_contents(s->walk->found, &s->arena, place, place->before, err);
}

static int scrub_own(scrubbing *s, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < s->walk->count; i++) {
        if (!vls_vec_push(&s->group, s->env, i))
            return vls_fail_memory(err);
    }
    if (s->group.len > 0)
        rc = scrub_entry(s, s->walk->own, err);
    for (size_t i = 0; rc == 0 && i < s->walk->count; i++)
        rc = scrub_quiet(s, i, err);
    return rc;
}

static int scrub_rest(scrubbing *s, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->walk->count; i++)
        rc = follow(s, i, s->walk->places[i].before_seq, err);
    while (rc == 0 && s->heap.len > 0) {
        int64_t seq = s->heap.ptr[0].seq;
        s->group.len = 0;
        while (s->heap.len > 0 && s->heap.ptr[0].seq == seq) {
            if (!vls_vec_push(&s->group, s->env, pop(s).place))
                return vls_fail_memory(err);
        }
        rc = scrub_entry(s, seq, err);
    }
    return rc;
}

static int compare_order(const void *a, const void *b, void *arg)
{
    const vls_erase_place *places = ((const scrubbing *)arg)->walk->places;

    return vls_erase_compare(&places[*(const size_t *)a], &places[*(const size_t *)b]);
}

static int order_places(scrubbing *s, valise_error *err)
{
    for (size_t i = 0; i < s->walk->count; i++) {
        if (!vls_vec_push(&s->order, s->env, i))
            return vls_fail_memory(err);
    }
    if (s->order.len > 1)
        qsort_r(s->order.ptr, s->order.len, sizeof(size_t), compare_order, s);
    return 0;
}

int vls_erase_walk_run(const vls_erase_walk *walk, valise_error *err)
{
    scrubbing s = {.walk = walk, .env = vls_store_env(walk->txn->store)};
    int rc;

    vls_arena_init(&s.arena, s.env, VLS_VIEW_MAX_BYTES);
    vls_buf_init(&s.changes, s.env, VLS_CHANGES_MAX * 2);
    vls_buf_init(&s.cells, s.env, VLS_VIEW_MAX_BYTES);
    rc = order_places(&s, err);
    if (rc == 0 && walk->own > 0)
        rc = scrub_own(&s, err);
    if (rc == 0)
        rc = scrub_rest(&s, err);
    vls_erase_found_sort(walk->found);
    vls_vec_release(&s.order, s.env);
    vls_vec_release(&s.heap, s.env);
    vls_vec_release(&s.group, s.env);
    vls_buf_release(&s.changes);
    vls_buf_release(&s.cells);
    vls_arena_release(&s.arena);
    return rc;
}
