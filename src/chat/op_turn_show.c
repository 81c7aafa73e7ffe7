/* op_turn_show.c -- turn:show, one version and what is around it. [W1] */
#include "chat/ops.h"
#include "chat/refs.h"
#include "chat/shown.h"

#define CHILDREN_MAX 1000 /* that are listed; more are only counted */

typedef struct show_args {
    vls_place_args place;
} show_args;

static const valise_field show_in[] = {
    VLS_PLACE_FIELDS(show_args),
    VALISE_FIELD_AS_WITH(show_args, place.version, "version", INT, VALISE_NULLABLE,
                         "Which version of it.", .min = 1, .max = INT64_MAX),
    VALISE_FIELD_END,
};

typedef struct show_result {
    vls_turn_shown turn;
    valise_uuid id;
    int64_t version, depth;
    valise_list versions, children; /* of valise_str */
    vls_turn_refs refs;
} show_result;

static const valise_field show_out[] = {
    VLS_TURN_SHOWN_FIELDS(show_result),
    VALISE_FIELD_AS(show_result, id, "turnId", UUID, VALISE_REQUIRED, "The turn."),
    VALISE_FIELD(show_result, version, INT, VALISE_REQUIRED, "Its version."),
    VALISE_FIELD(show_result, depth, INT, VALISE_REQUIRED, "First parents above it."),
    VALISE_FIELD_WITH(show_result, versions, LIST, 0, "All versions of the turn.",
                      .more = &vls_shown_ref_item),
    VALISE_FIELD_WITH(show_result, children, LIST, 0, "What follows it.",
                      .more = &vls_shown_ref_item, .max = CHILDREN_MAX),
    VALISE_FIELD_AS(show_result, refs.children, "childCount", INT, VALISE_REQUIRED,
                    "How many follow it."),
    VALISE_FIELD_AS(show_result, refs.heads, "headCount", INT, VALISE_REQUIRED,
                    "Sessions whose head it is."),
    VALISE_FIELD_AS(show_result, refs.tips, "tipCount", INT, VALISE_REQUIRED,
                    "Tips of sessions that it is."),
    VALISE_FIELD_AS(show_result, refs.pins, "pinCount", INT, VALISE_REQUIRED, "Pins that hold it."),
    VALISE_FIELD_END,
};

typedef struct ref_list {
    vls_arena *arena;
    size_t max;
    vls_vec(vls_turn_ref) refs;
} ref_list;

static int add_ref(void *arg, const vls_turn_row *turn, valise_error *err)
{
    ref_list *list = arg;

    if (list->refs.len == list->max)
        return 1;
    return vls_vec_push_in(&list->refs, list->arena, turn->ref) ? 0
                                                                : vls_arena_fail(list->arena, err);
}

static int list_versions(valise_list *out, valise_view *view, const valise_uuid *id,
                         valise_error *err)
{
    ref_list list = {&view->arena, SIZE_MAX, VLS_VEC_INIT};
    vls_turn_row row = {.ref = {.id = *id}};
    valise_select select = {.row = &row, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_turns, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = add_ref(&list, &row, err);
    valise_scan_close(scan);
    return rc < 0 ? rc : vls_shown_refs(out, &view->arena, list.refs.ptr, list.refs.len, err);
}

static int list_children(valise_list *out, valise_view *view, const vls_turn_row *turn,
                         valise_error *err)
{
    ref_list list = {&view->arena, CHILDREN_MAX, VLS_VEC_INIT};
    int rc = vls_turn_each_child(view, turn, add_ref, &list, err);

    return rc < 0 ? rc : vls_shown_refs(out, &view->arena, list.refs.ptr, list.refs.len, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const show_args *args = in;
    show_result *result = out;
    const vls_session_row *given = NULL;
    vls_session_row session = {0};
    VLS_AUTO(show) vls_show show = {0};
    vls_turn_row row = {0};
    int rc = vls_shown_place(&row, &session, &given, view, &args->place, err);

    vls_show_init(&show, view, true);
    if (rc == 0)
        rc = vls_show_turn(&result->turn, &show, &row, err);
    if (rc == 0)
        rc = list_versions(&result->versions, view, &row.ref.id, err);
    if (rc == 0)
        rc = list_children(&result->children, view, &row, err);
    if (rc == 0)
        rc = vls_turn_refs_count(&result->refs, view, &row, err);
    result->id = row.ref.id;
    result->version = row.ref.version;
    result->depth = row.place.depth;
    return rc;
}

const valise_op vls_op_chat_turn_show = {
    .size = sizeof(valise_op),
    .name = "turn:show",
    .brief = "Show one version of a turn and its neighbours.",
    .help =
        "A session alone stands for its head. A turn may be named without a session, unless it is "
        "HEAD. Without a version, the one on the path of the session is shown, or else the newest.",
    .kind = VALISE_QUERY,
    .needs = "session:read",
    .in = show_in,
    .in_size = sizeof(show_args),
    .out = show_out,
    .out_size = sizeof(show_result),
    .query = query,
    .example = "{\"sessionId\":\"support\",\"turnId\":\"HEAD\"}",
};
