/* op_preference_history.c -- preference:history, what became of it. [W13] [K35] */
#include "base/hex.h"
#include "bus/bus.h"
#include "memory/preference.h"
#include "store/view.h"

typedef struct change {
    int64_t seq, time;
    valise_str actor;
    bool deleted;
    int64_t version, scope, priority; /* NULLABLE: it was deleted */
    valise_str of, slot;
    valise_list topics;
    valise_str content;
} change;

static const valise_field change_out[] = {
    VALISE_FIELD(change, seq, INT, VALISE_REQUIRED, "The log entry that did it."),
    VALISE_FIELD(change, time, TIME, VALISE_NULLABLE, "When."),
    VALISE_FIELD(change, actor, STR, VALISE_NULLABLE, "Who."),
    VALISE_FIELD(change, deleted, BOOL, 0, "It was deleted then."),
    VALISE_FIELD(change, version, INT, VALISE_NULLABLE, "How often it had been written."),
    VALISE_FIELD_WITH(change, scope, ENUM, VALISE_NULLABLE, "Where it held.", .more = vls_scopes),
    VALISE_FIELD(change, of, STR, VALISE_NULLABLE, "In which role or session."),
    VALISE_FIELD(change, slot, STR, VALISE_NULLABLE, "What it decided."),
    VALISE_FIELD(change, priority, INT, VALISE_NULLABLE, "Higher ones win."),
    VALISE_FIELD_WITH(change, topics, LIST, 0, "What it was about.", .more = &vls_topic_item),
    VALISE_FIELD(change, content, STR, VALISE_NULLABLE, "What was preferred."),
    VALISE_FIELD_END,
};

typedef struct walk {
    valise_view *view;
    vls_preference_row row;
    bool there, any;
} walk;

static int fill(change *out, const walk *w, valise_error *err)
{
    const vls_preference_row *row = &w->row;

    out->version = row->version;
    out->scope = row->scope;
    out->of = row->of;
    out->slot = row->slot;
    out->priority = row->priority;
    out->topics = row->topics;
    return vls_memory_text(&out->content, w->view, &row->content, err);
}

static int emit(void *arg, int64_t seq, valise_error *err)
{
    walk *w = arg;
    change out = {.seq = seq,
                  .deleted = !w->there,
                  .version = VALISE_NONE,
                  .scope = VALISE_NONE,
                  .priority = VALISE_NONE};
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
    valise_uuid id = ((const vls_preference_ref *)in)->id;
    walk w = {.view = view, .row = {.id = id}};
    int rc = vls_view_each_change(&w.row, &w.there, view, &vls_preferences, emit, &w, err);

    (void)result;
    if (rc != 0 || w.any)
        return rc;
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "the log has no preference %s", vls_uuid_text(&id).s);
    vls_hint(err, "'valise preference list' lists them");
    return VALISE_E_NOT_FOUND;
}

const valise_op vls_op_memory_preference_history = {
    .size = sizeof(valise_op),
    .name = "preference:history",
    .brief = "List the versions of a preference, newest first.",
    .help = "The list goes back as far as the log does, even if the preference was deleted.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "preference:read",
    .in = vls_preference_ref_fields,
    .in_size = sizeof(vls_preference_ref),
    .out = change_out,
    .out_size = sizeof(change),
    .query = query,
    .example = "{\"id\":\"00000000-0000-7000-8000-000000000001\"}",
};
