/* op_context_history.c -- context:history, what became of an entry. [W13] [K35] */
#include "base/text.h"
#include "bus/bus.h"
#include "memory/entry.h"
#include "store/view.h"

typedef struct change {
    int64_t seq, time;
    valise_str actor;
    bool deleted;
    int64_t version, type; /* NULLABLE: it was deleted */
    valise_list topics;
    valise_str metadata;
    int64_t expires;
    valise_id blob;
    valise_str value, text;
} change;

static const valise_field change_out[] = {
    VALISE_FIELD(change, seq, INT, VALISE_REQUIRED, "The log entry that did it."),
    VALISE_FIELD(change, time, TIME, VALISE_NULLABLE, "When."),
    VALISE_FIELD(change, actor, STR, VALISE_NULLABLE, "Who."),
    VALISE_FIELD(change, deleted, BOOL, 0, "It was deleted then."),
    VALISE_FIELD(change, version, INT, VALISE_NULLABLE, "How often it had been written."),
    VALISE_FIELD_WITH(change, type, ENUM, VALISE_NULLABLE, "What it was.", .more = vls_entry_types),
    VALISE_FIELD_WITH(change, topics, LIST, 0, "What it was about.", .more = &vls_topic_item),
    VALISE_FIELD(change, metadata, JSON, VALISE_NULLABLE, "Whatever else was told."),
    VALISE_FIELD(change, expires, TIME, VALISE_NULLABLE, "Until when it was to hold."),
    VALISE_FIELD(change, blob, ID, VALISE_NULLABLE, "The blob it was."),
    VALISE_FIELD(change, value, JSON, VALISE_NULLABLE, "What it said, a JSON value."),
    VALISE_FIELD(change, text, STR, VALISE_NULLABLE, "What it said, a text."),
    VALISE_FIELD_END,
};

typedef struct walk {
    valise_view *view;
    vls_context_entry_row row;
    bool there, any;
} walk;

static int fill(change *out, const walk *w, valise_error *err)
{
    const vls_context_entry_row *row = &w->row;
    valise_str *said = row->type == VLS_ENTRY_JSON ? &out->value : &out->text;
    int rc = vls_memory_text(said, w->view, &row->content, err);

    out->version = row->version;
    out->type = row->type;
    out->topics = row->topics;
    out->expires = row->expires;
    out->blob = row->blob;
    return rc < 0 ? rc : vls_memory_text(&out->metadata, w->view, &row->metadata, err);
}

static int emit(void *arg, int64_t seq, valise_error *err)
{
    walk *w = arg;
    change out = {.seq = seq,
                  .deleted = !w->there,
                  .version = VALISE_NONE,
                  .type = VALISE_NONE,
                  .expires = VALISE_NONE};
    vls_view_mark mark = vls_view_here(w->view);
    int rc = vls_memory_who(&out.actor, &out.time, w->view, seq, err);

    w->any = true;
    if (rc == 0 && w->there)
        rc = fill(&out, w, err);
    if (rc == 0)
        rc = valise_view_emit(w->view, &out, err);
    vls_view_rewind(w->view, mark);
    return rc;
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    valise_str key = ((const vls_entry_ref *)in)->key;
    walk w = {.view = view, .row = {.key = key}};
    int rc = vls_view_each_change(&w.row, &w.there, view, &vls_context_entries, emit, &w, err);

    (void)result;
    if (rc != 0 || w.any)
        return rc;
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "the log has no context entry '%s'",
                   vls_text_short(key).s);
    vls_hint(err, "'valise memory list' lists them");
    return VALISE_E_NOT_FOUND;
}

const valise_op vls_op_memory_context_history = {
    .size = sizeof(valise_op),
    .name = "context:history",
    .brief = "List the versions of a context entry, newest first.",
    .help = "The list goes back as far as the log does, even if the entry was deleted.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "memory:read",
    .in = vls_entry_ref_fields,
    .in_size = sizeof(vls_entry_ref),
    .out = change_out,
    .out_size = sizeof(change),
    .query = query,
    .example = "{\"key\":\"team/style\"}",
};
