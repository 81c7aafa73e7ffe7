/* op_slot_invalidate.c -- slot:invalidate, say that something is not to be relied on. [C24]
 *
 * What one command can change is limited; the rest is marked by commands that are put in front of
 * it (op_slot_mark.c). */
#include "base/str.h"
#include "base/text.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "bus/command.h"
#include "context/ops.h"
#include "context/slot.h"
#include "store/log.h"
#include "store/view.h"

typedef vls_slot_invalidate_args invalidate_args;
typedef vls_slot_invalidate_result invalidate_result;

static const valise_field invalidate_in[] = {
    VLS_NODE_FIELD(invalidate_args),
    VALISE_FIELD_WITH(invalidate_args, type, STR, VALISE_NULLABLE,
                      "Only the slot of this type (default: all of the node).", .min = 1,
                      .max = VLS_FRAME_TYPE_MAX),
    VALISE_FIELD_WITH(invalidate_args, reason, STR, VALISE_NULLABLE, "The reason.",
                      .max = VLS_SLOT_REASON_MAX),
    VALISE_FIELD(invalidate_args, recursive, BOOL, 0, "Include everything below it."),
    VLS_NO_SCAN_FIELD(invalidate_args),
    VALISE_FIELD_END,
};

static const valise_field invalidate_out[] = {
    VALISE_FIELD(invalidate_result, marked, INT, VALISE_REQUIRED, "Heads that were marked."),
    VALISE_FIELD(invalidate_result, already, INT, VALISE_REQUIRED, "Those that were before."),
    VALISE_FIELD_AS(invalidate_result, context_root, "contextRoot", ID, VALISE_REQUIRED,
                    "Root of all heads."),
    VALISE_FIELD(invalidate_result, tree, STR, VALISE_NULLABLE,
                 "earlier: the node that was given is not in the newest version any more."),
    VALISE_FIELD_END,
};

typedef struct gathering {
    valise_view *view;
    const invalidate_args *args;
    vls_place place;
    vls_vec(vls_slot_row) list;
} gathering;

static int gather(void *arg, const vls_slot_row *slot, valise_error *err)
{
    gathering *g = arg;
    vls_slot_row kept = *slot;
    vls_place place = g->place;
    int rc;

    if (!vls_slot_has_head(slot) ||
        (g->args->type.ptr && !vls_str_equal(slot->type, g->args->type)))
        return 0;
    place.path = slot->path;
    rc = vls_place_allows(&place, g->view, "context:invalidate", slot->type, err);
    if (rc == 0)
        rc = vls_slot_stay(&kept, g->view, err);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&g->list, &g->view->arena, kept) ? 0
                                                            : vls_arena_fail(&g->view->arena, err);
}

/* The first seq of what belongs to this command: those in front of it have it as their cause. */
static int first_seq(int64_t *out, valise_view *view, valise_error *err)
{
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_entry entry;
    int rc = 1;

    *out = stamp->seq;
    while (rc > 0 && *out > 1) {
        vls_view_mark mark = vls_view_here(view);
        rc = vls_log_get(&entry, view->txn, *out - 1, &view->arena, err);
        if (rc > 0)
            rc = vls_uuid_equal(&entry.cause, &stamp->command) &&
                 vls_str_equal(entry.type, valise_str_of(vls_op_context_slot_mark.name));
        *out -= rc > 0;
        vls_view_rewind(view, mark);
    }
    return vls_settle(rc);
}

/* Was it marked by a command in front of this one? */
static int is_ours(valise_view *view, const vls_slot_row *slot, int64_t first, valise_error *err)
{
    vls_slot_entry_row entry;
    int rc = first < valise_view_stamp(view)->seq
                 ? vls_slot_entry(&entry, view, &slot->id, slot->entries, err)
                 : 0;

    return rc <= 0 ? rc : entry.kind == VLS_ENTRY_INVALIDATE && entry.seq >= first;
}

static int mark_all(invalidate_result *out, gathering *g, valise_error *err)
{
    int64_t first;
    int rc = first_seq(&first, g->view, err);

    for (size_t i = 0; rc >= 0 && i < g->list.len; i++) {
        vls_slot_row *slot = &g->list.ptr[i];
        rc = slot->marked ? is_ours(g->view, slot, first, err)
                          : vls_slot_invalidate(g->view, slot, g->args->reason, err);
        out->marked += rc > 0;
        out->already += rc == 0;
    }
    return vls_settle(rc);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const invalidate_args *args = in;
    invalidate_result *result = out;
    gathering g = {.view = view, .args = args};
    vls_context_row context;
    int rc = vls_place_find(&g.place, view, args->node, VLS_STR(""), err);

    if (rc == 0)
        rc = vls_place_allows(&g.place, view, "context:invalidate",
                              args->type.ptr ? args->type : VLS_STR(""), err);
    if (rc == 0)
        rc = vls_slot_each(view, &g.place.tree.id, g.place.path, gather, &g, err);
    if (rc == 0 && args->recursive)
        rc = vls_slot_each_below(view, &g.place.tree.id, g.place.path, gather, &g, err);
    if (rc == 0 && g.list.len == 0 && !args->recursive) {
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "there is no frame about '%s' to invalidate",
                      g.place.path.len > 0 ? vls_text_short(g.place.path).s : ".");
        vls_hint(
            err,
            "'valise list-frames NODE' shows what is known; --recursive includes what is below it");
    }
    if (rc == 0)
        rc = mark_all(result, &g, err);
    if (rc == 0)
        rc = vls_context_get(&context, view, &g.place.tree.id, err);
    if (rc >= 0)
        result->context_root = context.root;
    if (g.place.outdated) /* what is said lies at the path, and so does the mark */
        result->tree = VLS_STR("earlier");
    return vls_settle(rc);
}

/* ---- in pieces ---- */

#define PIECE_BYTES ((size_t)1 << 20) /* of what a command changes: VLS_CHANGES_MAX */
#define SLOT_BYTES 512u               /* that one slot makes, and its path three times */

typedef struct piece {
    valise_str path, type; /* of its first slot */
    int64_t count;
} piece;

typedef struct cutting {
    const invalidate_args *args;
    vls_arena *arena;
    valise_str path;
    vls_vec(piece) pieces;
    size_t bytes; /* of the last one */
} cutting;

static int cut(void *arg, const vls_slot_row *slot, valise_error *err)
{
    cutting *c = arg;
    size_t bytes = SLOT_BYTES + 3 * (slot->path.len + slot->moved_from.len);
    piece p = {.count = 1};
    int rc;

    if (!vls_slot_is_markable(slot, c->args->type))
        return 0;
    if (c->pieces.len > 0 && c->bytes + bytes <= PIECE_BYTES) {
        c->pieces.ptr[c->pieces.len - 1].count++;
        c->bytes += bytes;
        return 0;
    }
    c->bytes = bytes;
    rc = vls_arena_dup(&p.path, c->arena, slot->path, err);
    if (rc == 0)
        rc = vls_arena_dup(&p.type, c->arena, slot->type, err);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&c->pieces, c->arena, p) ? 0 : vls_arena_fail(c->arena, err);
}

static int cut_all(void *arg, valise_view *view, valise_error *err)
{
    cutting *c = arg;
    vls_place place;
    int rc = vls_place_find(&place, view, c->args->node, VLS_STR(""), NULL);

    if (rc < 0) /* for the command to say */
        return rc == VALISE_E_NO_MEMORY ? vls_fail_memory(err) : 0;
    rc = vls_arena_dup(&c->path, c->arena, place.path, err);
    return rc < 0 ? rc : vls_slot_each_below(view, &place.tree.id, place.path, cut, c, err);
}

/* What is said of a file that is gone, or left out of the tree by now, can still be marked. */
static int look(valise_prepare *p, const invalidate_args *args, valise_error *err)
{
    int rc = vls_place_prepare(p, args->node, args->no_scan, err);

    if (rc != VALISE_E_NOT_FOUND)
        return rc;
    vls_error_clear(err);
    return 0;
}

static int prepare(valise_prepare *p, const void *in, valise_error *err)
{
    const invalidate_args *args = in;
    cutting c = {.args = args, .arena = vls_prepare_arena(p)};
    int rc = look(p, args, err);

    if (rc == 0 && args->recursive)
        rc = vls_with_view(valise_prepare_workspace(p), NULL, cut_all, &c, err);
    for (size_t i = 0; rc == 0 && i + 1 < c.pieces.len; i++) { /* the last one is left to it */
        const vls_slot_mark_args mark = {.path = c.path,
                                         .from_path = c.pieces.ptr[i].path,
                                         .from_type = c.pieces.ptr[i].type,
                                         .count = c.pieces.ptr[i].count,
                                         .type = args->type,
                                         .reason = args->reason};
        rc = valise_prepare_add(p, &vls_op_context_slot_mark, &mark, err);
    }
    return rc;
}

const valise_op vls_op_context_slot_invalidate = {
    .size = sizeof(valise_op),
    .name = "slot:invalidate",
    .alias = "invalidate",
    .brief = "Mark what is known about a file or directory as unreliable.",
    .help = "The heads are marked, and nothing is deleted. What was made by a recipe is made again "
            "by the next `valise regenerate`, even if nothing else changed. A new head or `valise "
            "reaffirm` removes the mark.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT | VALISE_OP_ASKS,
    .needs = "context:invalidate",
    .in = invalidate_in,
    .in_size = sizeof(invalidate_args),
    .out = invalidate_out,
    .out_size = sizeof(invalidate_result),
    .decide = decide,
    .prepare = prepare,
    .example = "{\"node\":\"lib/date.c\",\"reason\":\"it was about the old parser\"}",
};
