/* event.c -- what subscribers hear of frames and slots. [K15]
 *
 *     row that changes   event                what is in it
 *     frame comes        frame.added          who made it, of which type and size
 *     slot               head.moved           another frame counts
 *                        frame.attached       a frame came into it; the head stays
 *                        slot.invalidated     the head is marked
 *                        slot.reaffirmed      the mark is gone, the head is the same
 *                        slot.moved           it went with its file
 *                        slot.pruned          its file was gone, and nobody needs it
 *     slot_closed comes  slot.closed          its file became a directory, or so
 *
 * What happened to a slot is said by its last entry; that is one lookup, also for an entry of the
 * log that is long past (a scan would read all that came since). Rows that a bundle brought did not
 * happen here: their entries have the seqs of another log, and only frames are told of. Nothing
 * that is marked CONTENT is told. */
#include "base/uuid.h"
#include "bus/event.h"
#include "context/merkle.h"
#include "context/slot_impl.h"
#include "store/view.h"

/* ---- frames ---- */

static const valise_field frame_told[] = {
    VALISE_FIELD_AS(vls_frame_row, id, "frameId", ID, VALISE_REQUIRED, "Its id."),
    VALISE_FIELD(vls_frame_row, type, STR, VALISE_REQUIRED, "Its type."),
    VALISE_FIELD(vls_frame_row, agent, STR, VALISE_REQUIRED, "Who wrote it."),
    VALISE_FIELD_WITH(vls_frame_row, kind, ENUM, VALISE_REQUIRED, "How it came about.",
                      .more = vls_frame_kinds),
    VALISE_FIELD(vls_frame_row, basis, ID, VALISE_REQUIRED, "What it was made of."),
    VALISE_FIELD(vls_frame_row, recipe, ID, VALISE_NULLABLE, "How to make it again."),
    VALISE_FIELD(vls_frame_row, size, INT, VALISE_REQUIRED, "Bytes of the content."),
    VALISE_FIELD_END,
};

int vls_frame_event(valise_event *out, valise_view *view, const void *before, const void *after,
                    valise_error *err)
{
    return before || !after ? 0 : vls_event_tell(out, view, "frame.added", after, frame_told, err);
}

/* ---- slots ---- */

typedef struct slot_told {
    vls_slot_row slot;
    vls_slot_entry_row entry;
    valise_id previous; /* head */
} slot_told;

static const valise_field slot_fields[] = {
    VALISE_FIELD_AS(slot_told, slot.tree, "tree", UUID, VALISE_REQUIRED, "The tree."),
    VALISE_FIELD_AS(slot_told, slot.path, "path", PATH, VALISE_REQUIRED, "Path of the node."),
    VALISE_FIELD_AS(slot_told, slot.type, "type", STR, VALISE_REQUIRED, "Type of its frames."),
    VALISE_FIELD_AS(slot_told, slot.id, "slot", UUID, VALISE_REQUIRED, "Id of the slot."),
    VALISE_FIELD_AS(slot_told, slot.head, "head", ID, VALISE_NULLABLE, "The frame that counts."),
    VALISE_FIELD_AS(slot_told, previous, "previousHead", ID, VALISE_NULLABLE, "The one before."),
    VALISE_FIELD_AS(slot_told, entry.frame, "frameId", ID, VALISE_NULLABLE, "The frame."),
    VALISE_FIELD_AS(slot_told, entry.node, "nodeId", ID, VALISE_NULLABLE, "The node, as it was."),
    VALISE_FIELD_AS(slot_told, entry.number, "entry", INT, VALISE_REQUIRED, "Of its history."),
    VALISE_FIELD_AS(slot_told, entry.from, "from", PATH, VALISE_NULLABLE, "Where it lay."),
    VALISE_FIELD_AS(slot_told, slot.frames, "frames", INT, VALISE_REQUIRED, "How many are in it."),
    VALISE_FIELD_AS(slot_told, slot.root, "root", ID, VALISE_REQUIRED, "Root of their set."),
    VALISE_FIELD_END,
};

static const char *type_of(const slot_told *told)
{
    static const char *const types[] = {
        [VLS_ENTRY_PUT] = "head.moved",
        [VLS_ENTRY_ATTACH] = "frame.attached",
        [VLS_ENTRY_INVALIDATE] = "slot.invalidated",
        [VLS_ENTRY_REAFFIRM] = "slot.reaffirmed",
        [VLS_ENTRY_MOVE] = "slot.moved",
        [VLS_ENTRY_CLOSE] = "slot.closed", /* then it is no slot any more: never */
    };

    /* Put once more as it is: that takes a mark away. */
    if (told->entry.kind == VLS_ENTRY_PUT && vls_id_equal(&told->previous, &told->slot.head))
        return types[VLS_ENTRY_REAFFIRM];
    return types[told->entry.kind];
}

static const valise_field pruned_fields[] = {
    VALISE_FIELD(vls_slot_row, tree, UUID, VALISE_REQUIRED, "The tree."),
    VALISE_FIELD(vls_slot_row, path, PATH, VALISE_REQUIRED, "Path of the node."),
    VALISE_FIELD(vls_slot_row, type, STR, VALISE_REQUIRED, "Type of its frames."),
    VALISE_FIELD_AS(vls_slot_row, id, "slot", UUID, VALISE_REQUIRED, "Id of the slot."),
    VALISE_FIELD(vls_slot_row, head, ID, VALISE_NULLABLE, "Its last head."),
    VALISE_FIELD(vls_slot_row, entries, INT, VALISE_REQUIRED, "Entries of its history."),
    VALISE_FIELD(vls_slot_row, frames, INT, VALISE_REQUIRED, "How many were in it."),
    VALISE_FIELD_END,
};

/* A slot that is no more lies elsewhere or was closed, which is told there. But if the set of its
 * frames went with it, it was pruned. Entries would not tell: they go from the past as well. */
static int tell_pruned(valise_event *out, valise_view *view, const vls_slot_row *slot,
                       valise_error *err)
{
    valise_id root;
    int64_t frames;
    int rc = vls_merkle_root(&root, &frames, view, &slot->id, err);

    return rc < 0 || frames > 0
               ? rc
               : vls_event_tell(out, view, "slot.pruned", slot, pruned_fields, err);
}

int vls_slot_event(valise_event *out, valise_view *view, const void *before, const void *after,
                   valise_error *err)
{
    const vls_slot_row *old = before;
    slot_told told = {.previous = {{0}}};
    int rc;

    if (!after)
        return tell_pruned(out, view, old, err);
    told.slot = *(const vls_slot_row *)after;
    if (old && vls_uuid_equal(&old->id, &told.slot.id))
        told.previous = old->head;
    rc = vls_slot_entry(&told.entry, view, &told.slot.id, told.slot.entries, err);
    if (rc <= 0 || told.entry.seq != valise_view_stamp(view)->seq)
        return vls_settle(rc);
    return vls_event_tell(out, view, type_of(&told), &told, slot_fields, err);
}

static const valise_field closed_fields[] = {
    VALISE_FIELD(vls_slot_closed_row, tree, UUID, VALISE_REQUIRED, "The tree."),
    VALISE_FIELD(vls_slot_closed_row, path, PATH, VALISE_REQUIRED, "Path of the node."),
    VALISE_FIELD(vls_slot_closed_row, type, STR, VALISE_REQUIRED, "Type of its frames."),
    VALISE_FIELD_AS(vls_slot_closed_row, id, "slot", UUID, VALISE_REQUIRED, "Id of the slot."),
    VALISE_FIELD(vls_slot_closed_row, head, ID, VALISE_NULLABLE, "Its last head."),
    VALISE_FIELD_AS(vls_slot_closed_row, entries, "entry", INT, VALISE_REQUIRED, "Of its history."),
    VALISE_FIELD(vls_slot_closed_row, frames, INT, VALISE_REQUIRED, "How many are in it."),
    VALISE_FIELD_END,
};

int vls_slot_closed_event(valise_event *out, valise_view *view, const void *before,
                          const void *after, valise_error *err)
{
    const vls_slot_closed_row *row = after;

    if (before || !row || row->seq != valise_view_stamp(view)->seq)
        return 0;
    return vls_event_tell(out, view, "slot.closed", row, closed_fields, err);
}
