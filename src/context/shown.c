/* shown.c -- see shown.h. Start reading at vls_shown_choose. */
#include "context/shown.h"

#include "base/str.h"
#include "base/text.h"
#include "base/tokens.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "bus/bus.h"
#include "context/merkle.h"
#include "context/ops.h"
#include "context/slot.h"
#include "store/view.h"

/* ---- tables ---- */

static const valise_field meta_fields[] = {
    VALISE_FIELD(vls_shown_meta, seq, INT, VALISE_NULLABLE, "Of the log, when it came there."),
    VALISE_FIELD(vls_shown_meta, time, TIME, VALISE_NULLABLE, "When that was."),
    VALISE_FIELD(vls_shown_meta, entry, INT, VALISE_NULLABLE, "Number of the slot's entry."),
    VALISE_FIELD(vls_shown_meta, slot, UUID, VALISE_NULLABLE, "Id of the slot."),
    VALISE_FIELD(vls_shown_meta, closed, BOOL, 0, "What the slot was about is gone for good."),
    VALISE_FIELD(vls_shown_meta, by, STR, VALISE_NULLABLE, "Who put it there, if not its author."),
    VALISE_FIELD_AS(vls_shown_meta, media_type, "mediaType", STR, VALISE_NULLABLE,
                    "What the content is."),
    VALISE_FIELD(vls_shown_meta, metadata, JSON, VALISE_NULLABLE, "Whatever else was told."),
    VALISE_FIELD_AS(vls_shown_meta, regenerated_by, "regeneratedBy", STR, VALISE_NULLABLE,
                    "Who had it made again."),
    VALISE_FIELD_AS(vls_shown_meta, moved_from, "movedFrom", PATH, VALISE_NULLABLE,
                    "Where the slot lay before."),
    VALISE_FIELD_AS(vls_shown_meta, invalidated_by, "invalidatedBy", STR, VALISE_NULLABLE,
                    "Who said that it is not to be relied on."),
    VALISE_FIELD(vls_shown_meta, reason, STR, VALISE_NULLABLE, "Why that was said."),
    VLS_TREE_IS_FIELD(vls_shown_meta),
    VALISE_FIELD_END,
};
const valise_struct vls_shown_meta_struct = {sizeof(vls_shown_meta), meta_fields};

const valise_field vls_shown_fields[] = {
    VALISE_FIELD(vls_shown, path, PATH, VALISE_REQUIRED, "Path of the node."),
    VALISE_FIELD(vls_shown, type, STR, VALISE_REQUIRED, "Type of the frame."),
    VALISE_FIELD_AS(vls_shown, frame_id, "frameId", ID, VALISE_NULLABLE, "Id of the frame."),
    VALISE_FIELD_AS_WITH(vls_shown, state.state, "state", ENUM, VALISE_REQUIRED,
                         "Whether it still holds.", .more = vls_state_names),
    VALISE_FIELD_AS_WITH(vls_shown, state.reasons, "reasons", LIST, 0, "Why it is stale.",
                         .more = &vls_reason_item),
    VALISE_FIELD(vls_shown, head, BOOL, VALISE_REQUIRED, "It is the head of its slot."),
    VALISE_FIELD(vls_shown, agent, STR, VALISE_NULLABLE, "Who wrote it."),
    VALISE_FIELD_WITH(vls_shown, kind, ENUM, VALISE_NULLABLE, "How it came about.",
                      .more = vls_frame_kinds),
    VALISE_FIELD(vls_shown, basis, ID, VALISE_NULLABLE, "Hash of what it was made of."),
    VALISE_FIELD(vls_shown, recipe, ID, VALISE_NULLABLE, "How it was made."),
    VALISE_FIELD(vls_shown, size, INT, VALISE_NULLABLE, "Bytes of the content."),
    VALISE_FIELD(vls_shown, erased, BOOL, 0, "Its content was erased."),
    VALISE_FIELD(vls_shown, text, STR, VALISE_NULLABLE, "The content, where it is text."),
    VALISE_FIELD(vls_shown, data, BYTES, VALISE_NULLABLE, "The content, where it is not."),
    VALISE_FIELD_WITH(vls_shown, meta, STRUCT, VALISE_NULLABLE, "How it came there.",
                      .more = &vls_shown_meta_struct),
    VALISE_FIELD_END,
};

static const valise_struct shown_struct = {sizeof(vls_shown), vls_shown_fields};
const valise_field vls_shown_item = {
    .name = "frame", .type = VALISE_T_STRUCT, .more = &shown_struct};

/* ---- lenses ---- */

int vls_shown_lens(vls_lens *out, valise_view *view, valise_str given, valise_error *err)
{
    valise_str spec;
    int rc = vls_context_named(&spec, view, "view", given, err);

    if (rc == 0 && spec.ptr && vls_lens_is_word(given)) {
        rc = vls_fail(err, VALISE_E_INVALID,
                      "a view cannot be called '%.*s': the word has a meaning in views",
                      VALISE_STR_ARG(given));
        vls_hint(err, "give view.%.*s.spec another name in the configuration",
                 VALISE_STR_ARG(given));
    }
    if (rc < 0)
        return rc;
    rc = vls_lens_parse(out, spec.ptr ? spec : given, err);
    if (rc < 0 && spec.ptr && err)
        vls_hint(err, "that is what view '%.*s' is in the configuration", VALISE_STR_ARG(given));
    return rc;
}

/* ---- one frame ---- */

/* An open slot has a row, with the root of its frames; what is left of a closed one has none. */
static bool is_closed(const vls_slot_row *slot)
{
    return vls_id_is_none(&slot->root);
}

/* Number of the slot's last move behind that entry, or 0: what was said since then was said here.
 */
static int last_move(int64_t *out, valise_view *view, const vls_slot_row *slot, int64_t behind,
                     valise_error *err)
{
    vls_slot_entry_row entry;

    *out = 0;
    for (int64_t i = slot->entries; slot->moved_from.ptr && *out == 0 && i > behind; i--) {
        int rc = vls_slot_entry(&entry, view, &slot->id, i, err);
        if (rc < 0)
            return rc;
        if (rc > 0 && entry.kind == VLS_ENTRY_MOVE)
            *out = i;
    }
    return 0;
}

/* Who marked the head, and why. It is one of the entries behind that of the head. */
static int fill_mark(vls_shown_meta *meta, valise_view *view, const vls_slot_row *slot,
                     valise_error *err)
{
    vls_slot_entry_row entry;

    for (int64_t i = slot->entries; i > slot->head_entry; i--) {
        int rc = vls_slot_entry(&entry, view, &slot->id, i, err);
        if (rc < 0)
            return rc;
        if (rc > 0 && entry.kind == VLS_ENTRY_INVALIDATE) {
            meta->invalidated_by = entry.agent;
            meta->reason = entry.reason;
            return 0;
        }
    }
    return 0;
}

static int fill_meta(vls_shown *out, valise_view *view, const vls_place *place,
                     const vls_slot_row *slot, const vls_frame_row *frame,
                     const vls_slot_entry_row *entry, int64_t moved_at, valise_error *err)
{
    vls_shown_meta *meta = vls_arena_zalloc(&view->arena, sizeof(*meta));

    if (!meta)
        return vls_arena_fail(&view->arena, err);
    *meta = (vls_shown_meta){.seq = entry->seq,
                             .time = entry->time,
                             .entry = entry->number,
                             .slot = slot->id,
                             .closed = is_closed(slot),
                             .media_type = entry->media_type,
                             .metadata = entry->metadata,
                             .regenerated_by = entry->regenerated_by,
                             .moved_from = moved_at > entry->number ? slot->moved_from
                                                                    : (valise_str){NULL, 0},
                             .tree = place->tree_is};
    if (!vls_str_equal(entry->agent, frame->agent))
        meta->by = entry->agent;
    out->meta = meta;
    return out->state.state == VLS_STATE_INVALIDATED ? fill_mark(meta, view, slot, err) : 0;
}

static int fill(vls_shown *out, valise_view *view, const vls_place *place, const vls_slot_row *slot,
                const vls_frame_row *frame, const vls_slot_entry_row *entry, int64_t moved_at,
                valise_error *err)
{
    const vls_state_at at = vls_place_at(place);
    vls_shown shown = {.path = slot->path,
                       .type = slot->type,
                       .frame_id = frame->id,
                       .agent = frame->agent,
                       .kind = frame->kind,
                       .basis = frame->basis,
                       .recipe = frame->recipe,
                       .size = frame->size,
                       .head = vls_id_equal(&frame->id, &slot->head),
                       .erased = vls_id_is_none(&frame->content)};
    int rc = 0;

    if (is_closed(slot))
        shown.state.state = VLS_STATE_ORPHANED;
    else
        rc = vls_state_of(&shown.state, view, &at, slot, frame, err);
    if (rc == 0)
        rc = fill_meta(&shown, view, place, slot, frame, entry, moved_at, err);
    if (rc == 0)
        *out = shown;
    return rc;
}

/* The entry that made the frame the head, or the last one that put it there. */
static int find_entry(vls_slot_entry_row *out, valise_view *view, const vls_slot_row *slot,
                      const valise_id *frame, valise_error *err)
{
    int rc = vls_id_equal(frame, &slot->head)
                 ? vls_slot_entry(out, view, &slot->id, slot->head_entry, err)
                 : vls_slot_find(out, view, &slot->id, frame, err);

    if (rc == 0)
        rc = vls_slot_fail_missing(view, slot, "an entry of a slot is missing", err);
    return vls_settle(rc);
}

int vls_shown_fill(vls_shown *out, valise_view *view, const vls_place *place,
                   const vls_slot_row *slot, const vls_frame_row *frame, valise_error *err)
{
    vls_slot_entry_row entry;
    int64_t moved_at = 0;
    int rc = find_entry(&entry, view, slot, &frame->id, err);

    if (rc == 0)
        rc = last_move(&moved_at, view, slot, entry.number, err);
    return rc < 0 ? rc : fill(out, view, place, slot, frame, &entry, moved_at, err);
}

int vls_shown_empty(vls_shown *out, valise_view *view, const vls_place *place, valise_str type,
                    valise_error *err)
{
    vls_shown_meta *meta = NULL;

    if (place->tree_is.ptr) {
        meta = vls_arena_zalloc(&view->arena, sizeof(*meta));
        if (!meta)
            return vls_arena_fail(&view->arena, err);
        *meta = (vls_shown_meta){
            .seq = VALISE_NONE, .time = VALISE_NONE, .entry = VALISE_NONE, .tree = place->tree_is};
    }
    *out = (vls_shown){
        .path = place->path, .type = type, .kind = VALISE_NONE, .size = VALISE_NONE, .meta = meta};
    out->state.state = VLS_STATE_EMPTY;
    return 0;
}

int vls_shown_content(vls_shown *shown, int64_t *tokens, valise_view *view,
                      const vls_frame_row *frame, valise_error *err)
{
    valise_str bytes;
    int rc;

    if (tokens)
        *tokens = 0;
    if (shown->erased)
        return 0;
    rc = valise_view_object(&bytes, view, &frame->content, err);
    if (rc == VALISE_E_NOT_FOUND) { /* erased with another frame that says the same */
        vls_error_clear(err);
        shown->erased = true;
        return 0;
    }
    if (rc < 0)
        return rc;
    if (!bytes.ptr)
        bytes = VLS_STR("");
    if (tokens)
        *tokens = vls_tokens(bytes);
    if (vls_utf8_valid(bytes))
        shown->text = bytes;
    else
        shown->data = bytes;
    return 0;
}

valise_frame vls_shown_frame(const vls_shown *shown)
{
    const vls_shown_meta *meta = shown->meta;

    return (valise_frame){.id = shown->frame_id,
                          .type = shown->type,
                          .agent = shown->agent,
                          .kind = shown->kind,
                          .basis = shown->basis,
                          .recipe = shown->recipe,
                          .bytes = shown->size,
                          .erased = shown->erased,
                          .content = shown->text.ptr ? shown->text : shown->data,
                          .path = shown->path,
                          .state = shown->state.state,
                          .reasons = shown->state.reasons,
                          .head = shown->head,
                          .seq = meta->seq,
                          .time = meta->time,
                          .entry = meta->entry,
                          .slot = meta->slot,
                          .closed = meta->closed,
                          .by = meta->by,
                          .media_type = meta->media_type,
                          .metadata = meta->metadata,
                          .regenerated_by = meta->regenerated_by,
                          .moved_from = meta->moved_from};
}

/* ---- many ---- */

/* A frame that may be shown. */
typedef struct candidate {
    vls_shown shown;
    vls_frame_row frame;
} candidate;

typedef struct choosing {
    valise_view *view;
    const vls_place *place;
    const vls_lens *lens;
    vls_vec(candidate *) list;
    int64_t total;
    vls_slot_row slot; /* whose frames are walked */
    int64_t moved_at;  /* number of its last move */
} choosing;

static int consider(choosing *c, const valise_id *id, valise_error *err)
{
    vls_arena *arena = &c->view->arena;
    const vls_slot_row *slot = &c->slot;
    vls_slot_entry_row entry = {.number = 0};
    vls_lens_item item;
    candidate *new;
    vls_frame_row frame;
    int rc = vls_frame_get(&frame, c->view, id, err);

    c->total++;
    if (rc == 0)
        rc = vls_slot_fail_missing(c->view, slot, "a frame of a slot is missing", err);
    if (rc > 0)
        rc = find_entry(&entry, c->view, slot, id, err);
    if (rc < 0)
        return rc;
    item = (vls_lens_item){slot->path, slot->type, frame.agent, entry.seq, entry.time};
    if (!vls_lens_fits(c->lens, &item))
        return 0;
    new = vls_arena_zalloc(arena, sizeof(*new));
    if (!new)
        return vls_arena_fail(arena, err);
    new->frame = frame;
    rc = fill(&new->shown, c->view, c->place, slot, &frame, &entry, c->moved_at, err);
    if (rc < 0 || !vls_lens_wants_state(c->lens, (int)new->shown.state.state))
        return rc;
    return vls_vec_push_in(&c->list, arena, new) ? 0 : vls_arena_fail(arena, err);
}

static int consider_pair(void *arg, const valise_id *key, const valise_id *value, valise_error *err)
{
    (void)value;
    return consider(arg, key, err);
}

static int consider_slot(void *arg, const vls_slot_row *slot, valise_error *err)
{
    choosing *c = arg;
    int rc = vls_place_allows(c->place, c->view, "context:read", slot->type, err);

    if (rc == VALISE_E_DENIED) { /* as if it were not there */
        vls_error_clear(err);
        return 0;
    }
    c->slot = *slot;
    if (rc == 0)
        rc = vls_slot_stay(&c->slot, c->view, err);
    if (rc == 0)
        rc = last_move(&c->moved_at, c->view, &c->slot,
                       c->lens->scope == VLS_LENS_HISTORY ? 0 : c->slot.head_entry, err);
    if (rc < 0)
        return rc;
    if (c->lens->scope == VLS_LENS_HISTORY)
        return vls_merkle_walk(c->view, &c->slot.id, consider_pair, c, err);
    return vls_slot_has_head(&c->slot) ? consider(c, &c->slot.head, err) : 0;
}

/* ---- order ---- */

static int by_place(const candidate *x, const candidate *y)
{
    int order = vls_path_compare(x->shown.path, y->shown.path);

    if (order == 0)
        order = vls_str_compare(x->shown.type, y->shown.type);
    return order ? order : vls_id_compare(&x->frame.id, &y->frame.id);
}

static int by_type(const void *a, const void *b)
{
    const candidate *x = *(candidate *const *)a, *y = *(candidate *const *)b;
    int order = vls_str_compare(x->shown.type, y->shown.type);

    return order ? order : by_place(x, y);
}

static int by_agent(const void *a, const void *b)
{
    const candidate *x = *(candidate *const *)a, *y = *(candidate *const *)b;
    int order = vls_str_compare(x->frame.agent, y->frame.agent);

    return order ? order : by_place(x, y);
}

static int by_recency(const void *a, const void *b)
{
    const candidate *x = *(candidate *const *)a, *y = *(candidate *const *)b;
    const vls_shown_meta *p = x->shown.meta, *q = y->shown.meta;

    if (p->seq != q->seq)
        return p->seq > q->seq ? -1 : 1;
    return by_place(x, y);
}

static void sort(choosing *c)
{
    static int (*const orders[])(const void *, const void *) = {
        [VLS_LENS_BY_TYPE] = by_type,
        [VLS_LENS_BY_AGENT] = by_agent,
        [VLS_LENS_BY_RECENCY] = by_recency,
    };

    if (c->list.len > 1)
        qsort(c->list.ptr, c->list.len, sizeof(*c->list.ptr), orders[c->lens->order]);
}

/* ---- limits ---- */

/* Take what fits, in order. Contents are read where they are wanted or have to be counted. */
static int take(vls_shown_list *out, choosing *c, bool contents, valise_error *err)
{
    const vls_lens *lens = c->lens;
    int64_t bytes = 0, all_tokens = 0;

    for (size_t i = 0; i < c->list.len && (int64_t)out->count < lens->max_frames; i++) {
        candidate *one = c->list.ptr[i];
        int64_t tokens = 0;
        if (lens->max_bytes > 0 && one->frame.size > lens->max_bytes - bytes)
            continue;
        if (contents || lens->max_tokens > 0) {
            int rc = vls_shown_content(&one->shown, &tokens, c->view, &one->frame, err);
            if (rc < 0)
                return rc;
        }
        if (lens->max_tokens > 0 && tokens > lens->max_tokens - all_tokens)
            continue;
        if (!contents)
            one->shown.text = one->shown.data = (valise_str){NULL, 0};
        bytes += one->frame.size;
        all_tokens += tokens;
        out->frames[out->count++] = &one->shown;
    }
    return 0;
}

int vls_shown_choose(vls_shown_list *out, valise_view *view, const vls_place *place,
                     const vls_lens *lens, bool contents, valise_error *err)
{
    choosing c = {.view = view, .place = place, .lens = lens};
    vls_shown_list list = {0};
    int rc = vls_slot_each(view, &place->tree.id, place->path, consider_slot, &c, err);

    if (rc == 0 && lens->scope == VLS_LENS_HISTORY)
        rc = vls_slot_each_closed(view, &place->tree.id, place->path, consider_slot, &c, err);
    if (rc < 0)
        return rc;
    sort(&c);
    list.total = c.total;
    list.matched = (int64_t)c.list.len;
    if (c.list.len > 0) {
        list.frames = vls_arena_array(&view->arena, c.list.len, sizeof(*list.frames));
        if (!list.frames)
            return vls_arena_fail(&view->arena, err);
    }
    rc = take(&list, &c, contents, err);
    if (rc == 0)
        *out = list;
    return rc;
}

int vls_shown_follow(vls_place *place, valise_view *view, valise_str type, valise_error *err)
{
    vls_place now;
    int rc;

    if (!place->tree_is.ptr || place->version == place->tree.version)
        return 0;
    rc = vls_place_now(&now, view, place, "context:read", type, err);
    if (rc > 0)
        place->path = now.path;
    return vls_settle(rc);
}

int vls_shown_list_of(vls_shown_list *out, vls_place *place, valise_view *view,
                      const vls_frames_args *args, const char *lens_text, bool contents,
                      valise_error *err)
{
    vls_lens lens;
    int rc = vls_lens_parse(&lens, valise_str_of(lens_text), err);

    if (rc == 0)
        rc = vls_place_find(place, view, args->node, VLS_STR(""), err);
    if (rc == 0)
        rc = vls_place_allows(place, view, "context:read", args->type, err);
    if (rc == 0 && args->type.ptr)
        rc = vls_frame_type_check(args->type, err);
    if (rc == 0)
        rc = vls_place_look(place, view, args->no_scan, err);
    if (rc < 0)
        return rc;
    vls_place_go(place);
    lens.max_frames = INT64_MAX;
    if (args->type.ptr) {
        lens.types.globs[0] = args->type;
        lens.types.count = 1;
    }
    rc = vls_shown_follow(place, view, args->type, err);
    if (rc == 0)
        rc = vls_shown_choose(out, view, place, &lens, contents, err);
    if (rc == 0 && out->total == 0 && !place->there)
        rc = vls_place_explain(place, view, err);
    return rc;
}
