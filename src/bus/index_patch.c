/* index_patch.c -- JSON Patches that keep a copy of an index up to date elsewhere (index.h).
 *
 * The copy is an object {key: entry}. An entry of the log says which rows it changed; from their
 * versions before and after follow the entries that go and those that come. A key that does both is
 * replaced. */
#include "bus/index.h"

#include "base/mem.h"

typedef struct side {
    valise_str key, json;
} side;

typedef vls_vec(side) sides;

typedef struct patch {
    vls_index *index;
    const valise_env *env;
    sides goes, comes;
} patch;

static void patch_release(patch *p)
{
    vls_vec_release(&p->goes, p->env);
    vls_vec_release(&p->comes, p->env);
}

/* ---- what goes and what comes ---- */

static int take(valise_index_out *out, valise_str key, valise_str json, valise_error *err)
{
    sides *list = out->arg;
    side s;
    int rc = vls_arena_dup(&s.key, out->arena, key, err);

    if (rc < 0)
        return rc;
    s.json = json; /* made canonical in the same arena */
    return vls_vec_push(list, out->env, s) ? 0 : vls_fail_memory(err);
}

static int take_row(sides *list, patch *p, const vls_change *change, const valise_cell *cells,
                    vls_arena *arena, valise_error *err)
{
    valise_index_out out = {.take = take, .arg = list};

    for (size_t i = 0; cells && i < p->index->source_count; i++) {
        int rc = 0;
        if (p->index->colls[i] == change->coll)
            rc = vls_index_map(&out, p->index, i, cells, change->image.key, arena, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int take_change(patch *p, vls_changes_walk *walk, const vls_change *change,
                       valise_error *err)
{
    valise_cell before[VALISE_MAX_COLUMNS];
    const valise_cell *after = NULL;
    vls_arena *arena = &walk->view.arena;
    int rc = vls_change_after_cells(&after, walk, change, err);

    if (rc == 0 && change->image.from_seq > 0) {
        rc = vls_image_cells(before, change->coll, &change->image, err);
        if (rc == 0)
            rc = take_row(&p->goes, p, change, before, arena, err);
    }
    return rc < 0 ? rc : take_row(&p->comes, p, change, after, arena, err);
}

/* ---- as text ---- */

static int by_key(const void *a, const void *b)
{
    const side *x = a, *y = b;

    return vls_str_compare(x->key, y->key);
}

/* A step of a JSON Pointer is the key with ~ and / escaped. */
static void write_path(vls_buf *out, valise_str key, vls_buf *scratch)
{
    vls_buf_clear(scratch);
    vls_buf_add_byte(scratch, '/');
    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] == '~')
            vls_buf_add_text(scratch, "~0");
        else if (key.ptr[i] == '/')
            vls_buf_add_text(scratch, "~1");
        else
            vls_buf_add_byte(scratch, key.ptr[i]);
    }
    vls_json_write_string(out, vls_buf_str(scratch));
}

static void write_op(vls_buf *out, const char *op, const side *s, bool value, vls_buf *scratch)
{
    assert(s);
    vls_buf_printf(out, "%s{\"op\":\"%s\",\"path\":", out->len > 1 ? "," : "", op);
    write_path(out, s->key, scratch);
    if (value) {
        vls_buf_add_text(out, ",\"value\":");
        vls_buf_add(out, s->json);
    }
    vls_buf_add_byte(out, '}');
}

/* Both lists in the order of their keys. */
static void write_ops(vls_buf *out, const patch *p, vls_buf *scratch)
{
    size_t g = 0, c = 0;

    while (g < p->goes.len || c < p->comes.len) {
        const side *goes = g < p->goes.len ? &p->goes.ptr[g] : NULL;
        const side *comes = c < p->comes.len ? &p->comes.ptr[c] : NULL;
        int order = !goes ? 1 : !comes ? -1 : by_key(goes, comes);
        if (order < 0)
            write_op(out, "remove", goes, false, scratch);
        else if (order > 0)
            write_op(out, "add", comes, true, scratch);
        else if (!vls_str_equal(goes->json, comes->json))
            write_op(out, "replace", comes, true, scratch);
        g += order <= 0;
        c += order >= 0;
    }
}

static int write_patch(vls_buf *out, patch *p, valise_error *err)
{
    VLS_AUTO(buf) vls_buf scratch = {0};

    if (p->goes.len > 0)
        qsort(p->goes.ptr, p->goes.len, sizeof(side), by_key);
    if (p->comes.len > 0)
        qsort(p->comes.ptr, p->comes.len, sizeof(side), by_key);
    vls_buf_init(&scratch, p->env, 2 * VLS_INDEX_KEY_MAX + 16);
    vls_buf_add_byte(out, '[');
    write_ops(out, p, &scratch);
    vls_buf_add_byte(out, ']');
    return scratch.failed ? vls_buf_check(&scratch, err) : vls_buf_check(out, err);
}

static int read_changes(patch *p, vls_changes_walk *walk, valise_error *err)
{
    vls_change change;
    int rc;

    while ((rc = vls_changes_step(&change, walk, err)) > 0) {
        if (!change.coll || !vls_index_follows(p->index, change.coll))
            continue;
        rc = take_change(p, walk, &change, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

static int patch_event(vls_events **out, const valise_env *env, int64_t seq, valise_str text,
                       valise_error *err)
{
    VLS_AUTO(events) vls_events *events = NULL;
    const valise_event event = {.seq = seq, .payload = text};
    int rc = vls_events_new(&events, env, seq, 1, err);

    if (rc == 0)
        rc = vls_events_add(events, &event, err);
    if (rc < 0)
        return rc;
    *out = VLS_TAKE(events);
    return 1;
}

int vls_index_patch(vls_events **out, vls_index *index, vls_txn *txn, const vls_entry *entry,
                    const vls_ahead *ahead, valise_error *err)
{
    const valise_env *env = vls_store_env(txn->store);
    VLS_AUTO(changes) vls_changes_walk walk = {0};
    VLS_AUTO(buf) vls_buf text = {0};
    patch p = {.index = index, .env = env, .goes = VLS_VEC_INIT, .comes = VLS_VEC_INIT};
    int rc = vls_changes_begin(&walk, txn, entry, ahead, err);

    vls_buf_init(&text, env, VLS_VIEW_MAX_BYTES);
    if (rc == 0)
        rc = read_changes(&p, &walk, err);
    if (rc == 0)
        rc = write_patch(&text, &p, err);
    patch_release(&p);
    if (rc < 0 || text.len <= 2)
        return rc;
    return patch_event(out, env, entry->seq, vls_buf_str(&text), err);
}

/* ---- everything ---- */

static int write_member(void *arg, const vls_index_entry *entry, valise_error *err)
{
    vls_buf *out = arg;

    if (out->len > 0 && out->ptr[out->len - 1] != '{')
        vls_buf_add_byte(out, ',');
    vls_json_write_string(out, entry->key);
    vls_buf_add_byte(out, ':');
    vls_buf_add(out, entry->json);
    return vls_buf_check(out, err);
}

int vls_index_first_patch(vls_buf *out, vls_index *index, valise_view *view, valise_error *err)
{
    const vls_index_range all = {0};
    VLS_AUTO(pmap) vls_pmap map = {0};
    int rc = vls_index_read(&map, index, view, err);

    if (rc < 0)
        return rc;
    vls_buf_add_text(out, "[{\"op\":\"add\",\"path\":\"\",\"value\":{");
    rc = vls_index_each(&map, &all, write_member, out, err);
    vls_buf_add_text(out, "}}]");
    return rc < 0 ? rc : vls_buf_check(out, err);
}

int vls_index_whole(vls_events **out, vls_index *index, valise_view *view, valise_error *err)
{
    const valise_env *env = vls_store_env(index->store);
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    vls_buf_init(&text, env, VLS_VIEW_MAX_BYTES);
    rc = vls_index_first_patch(&text, index, view, err);
    return rc < 0 ? rc : patch_event(out, env, view->at, vls_buf_str(&text), err);
}
