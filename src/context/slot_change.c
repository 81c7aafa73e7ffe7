/* slot_change.c -- what changes slots: put, invalidate, reaffirm, close, move.
 *
 * Every change goes through keep(): the slot's row, the map of all heads and the counts of the
 * context move together. Start reading at vls_slot_put. */
#include "base/hex.h"
#include "base/str.h"
#include "base/vec.h"
#include "context/doubt.h"
#include "context/merkle.h"
#include "context/slot.h"
#include "store/view.h"
#include "tree/node.h"

/* ---- one slot ---- */

/* Put the slot's head into the map of all heads, or take it out. */
static int map_head(valise_view *view, const vls_slot_row *slot, bool there, valise_error *err)
{
    valise_id key, value;
    int rc;

    vls_slot_key(&key, slot->path, slot->type);
    vls_slot_value(&value, &slot->head, slot->marked);
    rc = there ? vls_merkle_put(view, &slot->tree, &key, &value, err)
               : vls_merkle_delete(view, &slot->tree, &key, err);
    return vls_settle(rc);
}

static void count(vls_context_row *context, const vls_slot_row *slot, int sign)
{
    context->slots += sign;
    context->heads += vls_slot_has_head(slot) ? sign : 0;
    context->marked += slot->marked ? sign : 0;
    context->frames += sign * slot->frames;
    context->derived += vls_id_is_none(&slot->recipe) ? 0 : sign;
}

/* What may no longer hold: the slot itself, and what was made of it. */
static int doubt(valise_view *view, const vls_context_row *context, const vls_slot_row *before,
                 const vls_slot_row *after, valise_error *err)
{
    const vls_slot_row *either = after ? after : before;
    bool same = before && after && before->marked == after->marked &&
                vls_id_equal(&before->head, &after->head);
    int rc = 0;

    if (after && after->marked)
        rc = vls_doubt_slot(view, &after->tree, after->path, after->type, err);
    if (rc == 0 && !same && context->derived > 0)
        rc = vls_doubt_above(view, either, err);
    return rc;
}

/* A slot changes from `before` (NULL: there was none) to `after` (NULL: there is none). They have
 * the same key. */
static int keep(valise_view *view, const vls_slot_row *before, const vls_slot_row *after,
                valise_error *err)
{
    const vls_slot_row *either = after ? after : before;
    vls_context_row context;
    int rc = vls_context_get(&context, view, &either->tree, err);

    if (rc == 0 && context.slots == 0)
        rc = vls_doubt_begin(view, &either->tree, err);
    if (rc < 0)
        return rc;
    if (before)
        count(&context, before, -1);
    if (after)
        count(&context, after, 1);
    if (after && vls_slot_has_head(after))
        rc = map_head(view, after, true, err);
    else if (before && vls_slot_has_head(before))
        rc = map_head(view, before, false, err);
    if (rc == 0)
        rc = vls_merkle_root(&context.root, NULL, view, &context.tree, err);
    if (rc == 0)
        rc = valise_view_put(view, &vls_contexts, &context, err);
    if (rc == 0)
        rc = doubt(view, &context, before, after, err);
    if (rc < 0)
        return rc;
    rc = after ? valise_view_put(view, &vls_slots, after, err)
               : valise_view_delete(view, &vls_slots, before, err);
    return vls_settle(rc);
}

/* The next entry of the slot, whose number it becomes. */
static int add_entry(valise_view *view, vls_slot_row *slot, vls_slot_entry_row *entry,
                     valise_error *err)
{
    const valise_stamp *stamp = valise_view_stamp(view);

    entry->slot = slot->id;
    entry->number = ++slot->entries;
    entry->seq = stamp->seq;
    entry->time = stamp->time;
    entry->agent = stamp->actor;
    return valise_view_put(view, &vls_slot_entries, entry, err);
}

/* ---- put ---- */

static int new_slot(vls_slot_row *out, valise_view *view, const vls_slot_put_args *args,
                    valise_error *err)
{
    *out = (vls_slot_row){
        .tree = args->tree, .path = args->path, .type = args->frame->type, .dir = args->dir};
    return valise_view_uuid(&out->id, view, err);
}

static int put_entry(vls_slot_row *slot, valise_view *view, const vls_slot_put_args *args,
                     bool existed, valise_error *err)
{
    vls_slot_entry_row entry = {.kind = args->attach ? VLS_ENTRY_ATTACH : VLS_ENTRY_PUT,
                                .frame = args->frame->id,
                                .node = args->node,
                                .media_type = args->media_type,
                                .metadata = args->metadata,
                                .regenerated_by = args->regenerated_by};
    int rc = add_entry(view, slot, &entry, err);

    if (rc == 0 && !existed) {
        rc = vls_merkle_put(view, &slot->id, &args->frame->id, &args->frame->id, err);
        if (rc >= 0)
            rc = vls_merkle_root(&slot->root, &slot->frames, view, &slot->id, err);
    }
    if (rc < 0 || args->attach)
        return rc;
    slot->head = args->frame->id;
    slot->head_entry = slot->entries;
    slot->recipe = args->frame->recipe;
    slot->marked = false;
    return 0;
}

/* The slot as it is: 1; 0: there is none (any more). */
static int find_open(vls_slot_row *out, valise_view *view, const vls_slot_put_args *args,
                     valise_error *err)
{
    int rc = vls_slot_get(out, view, &args->tree, args->path, args->frame->type, err);

    if (rc <= 0 || out->dir == args->dir)
        return rc;
    return vls_slot_close(view, &args->tree, args->path, args->dir, err);
}

int vls_slot_put(vls_slot_done *out, valise_view *view, const vls_slot_put_args *args,
                 valise_error *err)
{
    vls_slot_done done = {.existed = false};
    vls_slot_row before;
    valise_id found;
    int rc, there = find_open(&before, view, args, err);

    if (there < 0)
        return there;
    rc = there ? vls_merkle_get(&found, view, &before.id, &args->frame->id, err) : 0;
    if (rc < 0)
        return rc;
    done.existed = rc > 0;
    if (there) {
        done.slot = before;
        done.previous = before.head;
        if (done.existed && !args->again &&
            (args->attach || vls_id_equal(&before.head, &args->frame->id))) {
            *out = done;
            return 0;
        }
    } else {
        rc = new_slot(&done.slot, view, args, err);
        if (rc < 0)
            return rc;
    }
    done.wrote = true;
    rc = put_entry(&done.slot, view, args, done.existed, err);
    if (rc == 0)
        rc = keep(view, there ? &before : NULL, &done.slot, err);
    if (rc == 0)
        *out = done;
    return rc;
}

/* ---- invalidate, close ---- */

/* 1: it is marked, or is not any more, and its entry says so. */
static int set_mark(valise_view *view, vls_slot_row *slot, bool marked, vls_slot_entry_row *entry,
                    valise_error *err)
{
    vls_slot_row after = *slot;
    int rc;

    after.marked = marked;
    rc = add_entry(view, &after, entry, err);
    if (rc == 0)
        rc = keep(view, slot, &after, err);
    if (rc < 0)
        return rc;
    *slot = after;
    return 1;
}

int vls_slot_invalidate(valise_view *view, vls_slot_row *slot, valise_str reason, valise_error *err)
{
    vls_slot_entry_row entry = {
        .kind = VLS_ENTRY_INVALIDATE, .frame = slot->head, .reason = reason};

    if (slot->marked || !vls_slot_has_head(slot))
        return 0;
    return set_mark(view, slot, true, &entry, err);
}

int vls_slot_reaffirm(valise_view *view, vls_slot_row *slot, valise_error *err)
{
    vls_slot_entry_row entry = {.kind = VLS_ENTRY_REAFFIRM, .frame = slot->head};

    return slot->marked ? set_mark(view, slot, false, &entry, err) : 0;
}

static int close_one(valise_view *view, const vls_slot_row *slot, valise_error *err)
{
    vls_slot_entry_row entry = {.kind = VLS_ENTRY_CLOSE};
    vls_slot_row after = *slot;
    int rc = add_entry(view, &after, &entry, err);
    vls_slot_closed_row closed = {.tree = slot->tree,
                                  .path = slot->path,
                                  .type = slot->type,
                                  .id = slot->id,
                                  .head = slot->head,
                                  .entries = after.entries,
                                  .frames = slot->frames,
                                  .seq = entry.seq};

    if (rc == 0)
        rc = valise_view_put(view, &vls_slots_closed, &closed, err);
    return rc < 0 ? rc : keep(view, slot, NULL, err);
}

/* ---- drop ---- */

/* Entries are numbered without gaps. */
static int drop_history(valise_view *view, const valise_uuid *slot, int64_t entries,
                        valise_error *err)
{
    vls_slot_entry_row entry = {.slot = *slot};
    int rc = vls_merkle_drop(view, slot, err);

    for (entry.number = 1; rc == 0 && entry.number <= entries; entry.number++)
        rc = vls_settle(valise_view_delete(view, &vls_slot_entries, &entry, err));
    return rc;
}

int vls_slot_drop(valise_view *view, const vls_slot_row *slot, valise_error *err)
{
    int rc = drop_history(view, &slot->id, slot->entries, err);

    if (rc == 0)
        rc = keep(view, slot, NULL, err);
    return rc < 0 ? rc : vls_doubt_end(view, &slot->tree, slot->path, slot->type, false, err);
}

int vls_slot_drop_closed(valise_view *view, const vls_slot_closed_row *closed, valise_error *err)
{
    int rc = drop_history(view, &closed->id, closed->entries, err);

    return rc < 0 ? rc : vls_settle(valise_view_delete(view, &vls_slots_closed, closed, err));
}

/* ---- many slots: collected first, since a scan must not see what is changed meanwhile ---- */

typedef struct moved {
    vls_slot_row slot;
    valise_str to; /* its new path */
} moved;

typedef struct collection {
    valise_view *view;
    vls_vec(moved) list;       /* in the view's memory, as all strings */
    const vls_slot_move *move; /* NULL: nothing moves, and those are meant that are not `dir` */
    bool dir;
} collection;

static int collect(void *arg, const vls_slot_row *slot, valise_error *err)
{
    collection *c = arg;
    vls_arena *arena = &c->view->arena;
    moved m = {.slot = *slot};
    vls_buf to;
    int rc;

    if (!c->move && slot->dir == c->dir)
        return 0;
    rc = vls_slot_stay(&m.slot, c->view, err);
    if (rc == 0 && c->move) {
        vls_buf_init_in(&to, arena, VLS_PATH_MAX);
        vls_buf_add(&to, c->move->to);
        vls_buf_add(&to, vls_str_from(slot->path, c->move->from.len));
        rc = vls_buf_keep(&m.to, &to, err);
    }
    if (rc == 0 && !vls_vec_push_in(&c->list, arena, m))
        rc = vls_arena_fail(arena, err);
    return rc;
}

int vls_slot_close(valise_view *view, const valise_uuid *tree, valise_str path, bool dir,
                   valise_error *err)
{
    collection c = {.view = view, .dir = dir};
    int rc = vls_slot_each(view, tree, path, collect, &c, err);

    for (size_t i = 0; rc == 0 && i < c.list.len; i++)
        rc = close_one(view, &c.list.ptr[i].slot, err);
    return rc;
}

/* ---- move ---- */

/* The slots that one move takes along, away from where they are. */
static int take(collection *c, const valise_uuid *tree, valise_error *err)
{
    size_t first = c->list.len;
    int rc = vls_slot_each(c->view, tree, c->move->from, collect, c, err);

    if (rc == 0)
        rc = vls_slot_each_below(c->view, tree, c->move->from, collect, c, err);
    for (size_t i = first; rc == 0 && i < c->list.len; i++)
        rc = keep(c->view, &c->list.ptr[i].slot, NULL, err);
    return rc;
}

static int put_moved(valise_view *view, const moved *m, valise_error *err)
{
    vls_slot_entry_row entry = {.kind = VLS_ENTRY_MOVE, .from = m->slot.path};
    vls_slot_row after = m->slot, other;
    int rc = vls_slot_get(&other, view, &after.tree, m->to, after.type, err);

    if (rc > 0) {
        /* Its strings may be those of the row: they are the key's, which is the same. */
        other.path = m->to;
        other.type = after.type;
        rc = close_one(view, &other, err);
    }
    if (rc < 0)
        return rc;
    after.moved_from = m->slot.path;
    after.path = m->to;
    rc = add_entry(view, &after, &entry, err);
    if (rc == 0)
        rc = keep(view, NULL, &after, err);
    /* It may have been doubted where it lay. */
    return rc < 0 ? rc : vls_doubt_slot(view, &after.tree, after.path, after.type, err);
}

static int longer_first(const void *a, const void *b)
{
    const vls_slot_move *x = a, *y = b;

    if (x->from.len != y->from.len)
        return x->from.len > y->from.len ? -1 : 1;
    return vls_str_compare(x->from, y->from);
}

int vls_slot_move_all(valise_view *view, const valise_uuid *tree, const vls_slot_move *moves,
                      size_t count_moves, valise_error *err)
{
    collection c = {.view = view};
    vls_slot_move *sorted;
    int rc = 0;

    if (count_moves == 0)
        return 0;
    sorted = vls_arena_array(&view->arena, count_moves, sizeof(*sorted));
    if (!sorted)
        return vls_arena_fail(&view->arena, err);
    memcpy(sorted, moves, count_moves * sizeof(*sorted));
    qsort(sorted, count_moves, sizeof(*sorted), longer_first);
    for (size_t i = 0; rc == 0 && i < count_moves; i++) {
        c.move = &sorted[i];
        rc = take(&c, tree, err);
    }
    for (size_t i = 0; rc == 0 && i < c.list.len; i++)
        rc = put_moved(view, &c.list.ptr[i], err);
    return rc;
}
