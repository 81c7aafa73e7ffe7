/* load.c -- see load.h. */
#include "exchange/load.h"

#include "base/utf8.h"
#include "blob/receive.h"
#include "bus/bus.h"
#include "bus/job.h"
#include "chat/find.h"
#include "chat/rows.h"

#define TRIES 3u /* when somebody else changes something meanwhile */

static const valise_id no_id;

typedef struct looking {
    const vls_loading *l;
    vls_foreign *f;
    bool there; /* the session */
    vls_turn_ref head;
    bool knows_head; /* the file has it */
    size_t fresh;    /* turns that are new */
    bool split;      /* the order changed */
} looking;

/* ---- looking ---- */

/* Any version: 1, or 0. */
static int has_version(valise_view *view, const valise_uuid *id, valise_error *err)
{
    const vls_turn_row key = {.ref = {.id = *id}};
    const valise_select select = {.row = &key, .equal = 1};
    vls_node_row node = {.id = *id};
    vls_turn_row row;
    valise_scan *scan = NULL;
    int rc = valise_view_get(&node, view, &vls_nodes, err);

    if (rc != 0)
        return rc;
    rc = valise_view_scan(&scan, view, &vls_turns, &select, err);
    if (rc == 0)
        rc = valise_scan_next(&row, scan, err);
    valise_scan_close(scan);
    return rc;
}

static int look_at(vls_turn_row *row, vls_foreign_turn *turn, valise_view *view, valise_error *err)
{
    const vls_turn_ref ref = {turn->id, 1};
    int rc = vls_turn_get(row, view, &ref, err);

    if (rc > 0) {
        turn->state = vls_id_equal(&row->blocks, &no_id) ? VLS_FOREIGN_ERASED : VLS_FOREIGN_THERE;
        return 1;
    }
    if (rc == 0)
        rc = has_version(view, &turn->id, err);
    turn->state = rc > 0 ? VLS_FOREIGN_DELETED : VLS_FOREIGN_NEW;
    return vls_settle(rc);
}

/* ---- turns of several records ---- */

static void cut_turn(vls_foreign_turn *turn, size_t part, vls_foreign_turn *rest)
{
    const vls_foreign_part *end = &turn->parts.ptr[part];

    *rest = *turn;
    rest->id = end[1].id;
    rest->source = vls_str_from(turn->source, end->source + 1);
    rest->blocks = vls_json_array(turn->blocks.items + end->blocks, turn->blocks.len - end->blocks);
    rest->blobs.ptr = turn->blobs.ptr ? turn->blobs.ptr + end->blobs : NULL;
    rest->blobs.len = rest->blobs.cap = turn->blobs.len - end->blobs;
    rest->parts.ptr = turn->parts.ptr + part + 1;
    rest->parts.len = rest->parts.cap = turn->parts.len - part - 1;
    for (size_t i = 0; i < rest->parts.len; i++) {
        rest->parts.ptr[i].source -= end->source + 1;
        rest->parts.ptr[i].blocks -= end->blocks;
        rest->parts.ptr[i].blobs -= end->blobs;
    }
    turn->blocks.len = (uint32_t)end->blocks;
    turn->source.len = end->source;
    turn->blobs.len = end->blobs;
    turn->parts.len = 0;
}

/* What was written after the turn was read becomes a turn behind it. */
static int split_turn(looking *k, size_t i, size_t part, valise_error *err)
{
    vls_foreign *f = k->f;
    size_t added = f->turns.len;
    vls_foreign_turn rest;

    cut_turn(&f->turns.ptr[i], part, &rest);
    for (size_t c = 0; c < f->turns.len; c++)
        if (f->turns.ptr[c].parent == i)
            f->turns.ptr[c].parent = added;
    rest.parent = i;
    if (f->head == i)
        f->head = added;
    k->split = true;
    return vls_vec_push_in(&f->turns, k->l->r->arena, rest) ? 0
                                                            : vls_arena_fail(k->l->r->arena, err);
}

static int look_at_parts(looking *k, size_t i, valise_view *view, const vls_turn_row *row,
                         valise_error *err)
{
    const vls_foreign_turn *turn = &k->f->turns.ptr[i];
    valise_blob *source = NULL;
    size_t len;
    int rc;

    if (turn->parts.len < 2 || vls_id_equal(&row->source, &no_id))
        return 0;
    rc = vls_view_blob(&source, view, &row->source, err);
    if (rc < 0)
        return rc;
    len = vls_blob_bytes(source).len;
    (void)valise_blob_unref(source);
    for (size_t p = 0; p + 1 < turn->parts.len; p++)
        if (turn->parts.ptr[p].source == len && turn->parts.ptr[p].blocks < turn->blocks.len)
            return split_turn(k, i, p, err);
    return 0;
}

/* ---- the whole ---- */

static int look_at_all(void *arg, valise_view *view, valise_error *err)
{
    looking *k = arg;
    vls_session_row session = {.id = k->f->id};
    vls_turn_row row;
    int rc = valise_view_get(&session, view, &vls_sessions, err);

    k->there = rc > 0;
    if (rc > 0)
        k->head = session.head;
    rc = vls_settle(rc);
    for (size_t i = 0; rc >= 0 && i < k->f->turns.len; i++) { /* which may grow */
        vls_view_mark mark = vls_view_here(view);
        rc = look_at(&row, &k->f->turns.ptr[i], view, err);
        if (rc > 0)
            rc = look_at_parts(k, i, view, &row, err);
        vls_view_rewind(view, mark);
    }
    return vls_settle(rc);
}

/* What comes behind something that was deleted comes behind what is left above it. */
static void pass_deleted(vls_foreign *f)
{
    for (size_t i = 0; i < f->turns.len; i++) {
        size_t up = f->turns.ptr[i].parent;
        if (up != VLS_NO_TURN && f->turns.ptr[up].state == VLS_FOREIGN_DELETED)
            f->turns.ptr[i].parent = f->turns.ptr[up].parent; /* which was passed already */
    }
    while (f->head != VLS_NO_TURN && f->turns.ptr[f->head].state == VLS_FOREIGN_DELETED)
        f->head = f->turns.ptr[f->head].parent;
}

static void count(looking *k, vls_loaded *out)
{
    *out = (vls_loaded){.turns = 0};
    k->fresh = 0;
    k->knows_head = false;
    for (size_t i = 0; i < k->f->turns.len; i++) {
        const vls_foreign_turn *turn = &k->f->turns.ptr[i];
        out->there += turn->state == VLS_FOREIGN_THERE;
        out->deleted += turn->state == VLS_FOREIGN_DELETED || turn->state == VLS_FOREIGN_ERASED;
        k->fresh += turn->state == VLS_FOREIGN_NEW;
        if (k->head.version == 1 && vls_uuid_equal(&k->head.id, &turn->id))
            k->knows_head = true;
    }
}

static int look(looking *k, vls_loaded *out, valise_error *err)
{
    int rc;

    k->there = k->split = false;
    k->head = (vls_turn_ref){.version = 0};
    rc = vls_job_view(k->l->job, look_at_all, k, err);
    if (rc == 0 && k->split)
        rc = vls_foreign_arrange(k->f, k->l->r, err);
    if (rc < 0)
        return rc;
    pass_deleted(k->f);
    count(k, out);
    return k->fresh > 0 ? vls_foreign_mend(k->f, k->l->r, err) : 0;
}

/* ---- the commands ---- */

static int put_blobs(const vls_loading *l, const vls_foreign *f, vls_loaded *out, valise_error *err)
{
    valise *v = valise_job_workspace(l->job);
    valise_id id;
    int rc = 0;

    for (size_t i = 0; i < f->turns.len; i++) {
        const vls_foreign_turn *turn = &f->turns.ptr[i];
        if (turn->state != VLS_FOREIGN_NEW)
            continue;
        for (size_t k = 0; rc == 0 && k < turn->blobs.len; k++, out->blobs++)
            rc = v->blobs ? vls_blobs_put_bytes(&id, v->blobs, turn->blobs.ptr[k].bytes, err)
                          : vls_fail(err, VALISE_E_UNSUPPORTED,
                                     "this workspace cannot store images and documents");
    }
    return rc;
}

static int tell_blobs(valise_list *out, vls_arena *arena, const vls_foreign_turn *turn,
                      valise_error *err)
{
    vls_blob_told *told = vls_arena_array(arena, turn->blobs.len + 1, sizeof(*told));
    const vls_blob_told **list = vls_arena_array(arena, turn->blobs.len + 1, sizeof(*list));

    if (!told || !list)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < turn->blobs.len; i++) {
        const vls_foreign_blob *blob = &turn->blobs.ptr[i];
        told[i] = (vls_blob_told){
            .sha256 = blob->id,
            .size = (int64_t)blob->bytes.len,
            .media_type = vls_str_or_none(blob->media_type),
            .filename = vls_str_or_none(vls_utf8_head(blob->filename, VLS_BLOB_FILENAME_MAX))};
        list[i] = &told[i];
    }
    *out = (valise_list){list, turn->blobs.len};
    return 0;
}

static const valise_content no_content = {.size = VALISE_NONE};

/* What is given has a size, else it would be none. */
static valise_content content_of(valise_str bytes)
{
    return bytes.ptr ? (valise_content){.size = (int64_t)bytes.len, .bytes = bytes} : no_content;
}

static int write_value(valise_content *out, vls_arena *arena, vls_json value, valise_error *err)
{
    valise_str text = {NULL, 0};
    int rc = value.type == VLS_JSON_NULL ? 0 : vls_json_text(&text, arena, value, err);

    *out = content_of(text);
    return rc;
}

static int write_turn(vls_load_turn *out, const vls_loading *l, const vls_foreign *f, size_t i,
                      bool tip, valise_error *err)
{
    const vls_foreign_turn *turn = &f->turns.ptr[i];
    vls_arena *arena = l->r->arena;
    int rc;

    *out = (vls_load_turn){.id = turn->id,
                           .role = turn->role,
                           .source = content_of(turn->source),
                           .hidden = turn->hidden,
                           .noprompt = turn->noprompt,
                           .tip = tip,
                           .time = turn->time};
    if (turn->parent != VLS_NO_TURN)
        out->parent = f->turns.ptr[turn->parent].id;
    rc = write_value(&out->blocks, arena, turn->blocks, err);
    if (rc == 0)
        rc = write_value(&out->metadata, arena, turn->metadata, err);
    return rc < 0 ? rc : tell_blobs(&out->blobs, arena, turn, err);
}

/* What the command would refuse is known before anything of the file is written. */
static int try_turns(const looking *k, valise_error *err)
{
    vls_load_turn turn;
    vls_json value;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < k->f->turns.len; i++) {
        if (k->f->turns.ptr[i].state != VLS_FOREIGN_NEW)
            continue;
        rc = write_turn(&turn, k->l, k->f, i, false, err);
        if (rc == 0)
            rc = vls_json_parse(&value, k->l->r->arena, turn.blocks.bytes, NULL, err);
        if (rc == 0 && turn.metadata.bytes.ptr)
            rc = vls_json_parse(&value, k->l->r->arena, turn.metadata.bytes, NULL, err);
    }
    return rc;
}

static int write_session(vls_load_args *out, const looking *k, valise_error *err)
{
    const vls_foreign *f = k->f;
    const vls_loading *l = k->l;
    vls_json about, metadata;
    valise_str label = l->label.ptr ? l->label : f->label;
    int rc = VLS_PAIRS(&about, l->r->arena, err,
                       {"format", vls_json_string(valise_str_of(f->format)), false},
                       {"id", vls_json_string(f->name), false});

    if (rc == 0)
        rc = VLS_PAIRS(&metadata, l->r->arena, err, {"import", about, false});
    *out = (vls_load_args){
        .session = f->id,
        .forked_from = f->forked_from,
        .label = vls_str_or_none(vls_utf8_head(label, VLS_SESSION_LABEL_MAX)),
        .role = vls_str_or_none(l->role),
        .topics = l->topics,
        .created = f->created,
        .source = content_of(f->source),
    };
    return rc < 0 ? rc : write_value(&out->metadata, l->r->arena, metadata, err);
}

/* Which turns are leaves beside the head: nothing new comes behind them. */
static int find_tips(bool **out, const looking *k, valise_error *err)
{
    const vls_foreign *f = k->f;
    bool *tips = vls_arena_zalloc(k->l->r->arena, f->turns.len + 1);

    if (!tips)
        return vls_arena_fail(k->l->r->arena, err);
    for (size_t i = 0; i < f->turns.len; i++)
        tips[i] = f->turns.ptr[i].state == VLS_FOREIGN_NEW && i != f->head;
    for (size_t i = 0; i < f->turns.len; i++)
        if (f->turns.ptr[i].parent != VLS_NO_TURN && f->turns.ptr[i].state == VLS_FOREIGN_NEW)
            tips[f->turns.ptr[i].parent] = false;
    *out = tips;
    return 0;
}

typedef struct batch {
    vls_vec(vls_run_item) items;
    vls_load_args *args; /* of the command at hand; NULL: none */
    vls_load_args *last; /* of the one before it */
    vls_vec(const vls_load_turn *) turns;
    size_t bytes;
} batch;

static int end_command(batch *b, vls_arena *arena, valise_error *err)
{
    vls_run_item item = {.op = &vls_op_exchange_session_load, .args = b->args};

    if (!b->args)
        return 0;
    b->args->turns = (valise_list){b->turns.ptr, b->turns.len};
    memset(&b->turns, 0, sizeof(b->turns));
    b->bytes = 0;
    b->last = b->args;
    b->args = NULL;
    return vls_vec_push_in(&b->items, arena, item) ? 0 : vls_arena_fail(arena, err);
}

static int add_to_command(batch *b, const looking *k, size_t i, bool tip, valise_error *err)
{
    vls_arena *arena = k->l->r->arena;
    vls_load_turn *turn = vls_arena_zalloc(arena, sizeof(*turn));
    int rc = 0;

    if (!turn)
        return vls_arena_fail(arena, err);
    if (!b->args) {
        b->args = vls_arena_zalloc(arena, sizeof(*b->args));
        if (!b->args)
            return vls_arena_fail(arena, err);
        rc = write_session(b->args, k, err);
    }
    if (rc == 0)
        rc = write_turn(turn, k->l, k->f, i, tip, err);
    if (rc < 0)
        return rc;
    if (!vls_vec_push_in(&b->turns, arena, turn))
        return vls_arena_fail(arena, err);
    b->bytes += turn->blocks.bytes.len + turn->source.bytes.len;
    return b->turns.len >= VLS_LOAD_TURNS || b->bytes >= VLS_LOAD_BYTES ? end_command(b, arena, err)
                                                                        : 0;
}

/* The last command moves the head. */
static void aim(const batch *b, const looking *k)
{
    vls_load_args *last = b->last;
    const vls_foreign *f = k->f;

    if (f->head == VLS_NO_TURN || (k->there && f->turns.ptr[f->head].state != VLS_FOREIGN_NEW))
        return;
    last->head = f->turns.ptr[f->head].id;
    if (k->knows_head) {
        last->from = k->head.id;
        last->from_version = k->head.version;
    }
}

static int run(const looking *k, vls_loaded *out, valise_error *err)
{
    const vls_loading *l = k->l;
    vls_arena *arena = l->r->arena;
    batch b = {.bytes = 0};
    bool *tips = NULL;
    valise_call call;
    int rc = find_tips(&tips, k, err);

    for (size_t i = 0; rc == 0 && i < k->f->turns.len; i++)
        if (k->f->turns.ptr[i].state == VLS_FOREIGN_NEW)
            rc = add_to_command(&b, k, i, tips[i], err);
    if (rc == 0)
        rc = end_command(&b, arena, err);
    if (rc == 0)
        rc = put_blobs(l, k->f, out, err);
    if (rc == 0)
        rc = valise_job_call(&call, l->job, err);
    if (rc < 0)
        return rc;
    aim(&b, k);
    rc = vls_run_many(valise_job_workspace(l->job), b.items.ptr, b.items.len, &call, err);
    out->session = rc == 0 && !k->there;
    out->turns = rc == 0 ? (int64_t)k->fresh : 0;
    return rc;
}

int vls_load(vls_loaded *out, const vls_loading *loading, vls_foreign *f, valise_error *err)
{
    looking k = {.l = loading, .f = f};
    int rc = vls_foreign_arrange(f, loading->r, err);

    for (unsigned i = 0; rc == 0 && i < TRIES; i++) {
        rc = look(&k, out, err);
        if (rc < 0 || k.fresh == 0)
            return rc;
        if (loading->dry)
            return try_turns(&k, err);
        rc = run(&k, out, err);
        if (rc == 0 || (rc != VALISE_E_CONFLICT && rc != VALISE_E_NOT_FOUND) || i + 1 == TRIES)
            return rc;
        vls_error_clear(err);
        rc = 0;
    }
    return rc;
}
