/* op_turn_branches.c -- turn:branches, the versions of a turn and what became of each. [W7] */
#include "chat/ops.h"
#include "chat/refs.h"
#include "chat/shown.h"

#define LISTED_MAX 1000 /* children, and sessions, of one version that are listed */

typedef vls_branches_args branches_args;

static const valise_field branches_in[] = {
    VLS_PLACE_FIELDS(branches_args),
    VALISE_FIELD_END,
};

/* ---- the answer ---- */

typedef vls_branch_holder holder;

static const valise_field holder_fields[] = {
    VALISE_FIELD(holder, id, UUID, VALISE_REQUIRED, "Id of the session."),
    VALISE_FIELD(holder, label, STR, VALISE_NULLABLE, "Its label, for people."),
    VALISE_FIELD(holder, ref, STR, VALISE_REQUIRED, "Its head, or its tip."),
    VALISE_FIELD(holder, tip, BOOL, 0, "It is a tip."),
    VALISE_FIELD_END,
};
static const valise_struct holder_struct = {sizeof(holder), holder_fields};
static const valise_field holder_item = {
    .name = "session", .type = VALISE_T_STRUCT, .more = &holder_struct};

typedef vls_branch_row branch_row;

static const valise_field branches_out[] = {
    VLS_TURN_SHOWN_FIELDS(branch_row),
    VALISE_FIELD_WITH(branch_row, children, LIST, 0, "What follows it.",
                      .more = &vls_shown_ref_item, .max = LISTED_MAX),
    VALISE_FIELD_WITH(branch_row, sessions, LIST, 0, "Sessions whose heads or tips lie below.",
                      .more = &holder_item, .max = LISTED_MAX),
    VALISE_FIELD(branch_row, active, BOOL, 0, "It is on the path of the session."),
    VALISE_FIELD(branch_row, more, BOOL, 0, "There are more of these than are listed."),
    VALISE_FIELD_END,
};

/* ---- what is around a version ---- */

typedef struct around {
    valise_view *view;
    vls_arena *arena;
    branch_row *row;
    vls_vec(vls_turn_ref) children;
    vls_vec(const holder *) holders;
} around;

static int add_child(void *arg, const vls_turn_row *turn, valise_error *err)
{
    around *a = arg;

    if (a->children.len == LISTED_MAX) {
        a->row->more = true;
        return 1;
    }
    return vls_vec_push_in(&a->children, a->arena, turn->ref) ? 0 : vls_arena_fail(a->arena, err);
}

static int add_holder(void *arg, const vls_session_row *session, const vls_tip_row *tip,
                      valise_error *err)
{
    around *a = arg;
    holder *one;
    int rc = 0;

    if (a->holders.len == LISTED_MAX) {
        a->row->more = true;
        return 1;
    }
    one = vls_arena_zalloc(a->arena, sizeof(*one));
    if (!one || !vls_vec_push_in(&a->holders, a->arena, one))
        return vls_arena_fail(a->arena, err);
    one->id = session->id;
    one->tip = tip != NULL;
    if (session->label.ptr)
        rc = vls_arena_dup(&one->label, a->arena, session->label, err);
    return rc < 0 ? rc : vls_shown_ref(&one->ref, a->arena, tip ? &tip->turn : &session->head, err);
}

static int look_around(branch_row *row, vls_show *show, const vls_turn_row *turn,
                       const vls_turn_row *head, valise_error *err)
{
    around a = {.view = show->view,
                .arena = show->arena,
                .row = row,
                .children = VLS_VEC_INIT,
                .holders = VLS_VEC_INIT};
    int rc = vls_turn_each_child(show->view, turn, add_child, &a, err);

    if (rc >= 0)
        rc = vls_below_each(show->view, turn, add_holder, &a, err);
    if (rc >= 0)
        rc = vls_shown_refs(&row->children, show->arena, a.children.ptr, a.children.len, err);
    if (rc == 0 && head) {
        rc = vls_turn_is_before(show->view, turn, head, err);
        row->active = rc > 0;
    }
    row->sessions = (valise_list){a.holders.ptr, a.holders.len};
    return vls_settle(rc);
}

/* ---- the query ---- */

static int tell(vls_show *show, const valise_uuid *id, const vls_turn_row *head, valise_error *err)
{
    vls_turn_row row = {.ref = {.id = *id}};
    valise_select select = {.row = &row, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, show->view, &vls_turns, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        branch_row out = {.active = false};
        rc = vls_show_turn(&out.turn, show, &row, err);
        if (rc == 0)
            rc = look_around(&out, show, &row, head, err);
        if (rc == 0)
            rc = valise_view_emit(show->view, &out, err);
    }
    valise_scan_close(scan);
    return rc;
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const branches_args *args = in;
    VLS_AUTO(show) vls_show show = {0};
    const vls_session_row *given = NULL;
    vls_session_row session = {0};
    vls_turn_row head = {0};
    vls_turn_row turn = {0};
    const vls_place_args place = {args->place.session, args->place.turn, VALISE_NONE};
    int rc = vls_shown_place(&turn, &session, &given, view, &place, err);

    (void)result;
    if (rc == 0 && given && session.head.version > 0)
        rc = vls_turn_find(&head, view, given, VLS_STR("HEAD"), VALISE_NONE, err);
    if (rc < 0)
        return rc;
    vls_show_init(&show, view, false);
    return tell(&show, &turn.ref.id, head.ref.version > 0 ? &head : NULL, err);
}

const valise_op vls_op_chat_turn_branches = {
    .size = sizeof(valise_op),
    .name = "turn:branches",
    .brief = "List the versions of a turn and where each leads.",
    .help = "For each version this shows what follows it, and the sessions whose heads or tips lie "
            "below it; with a session, also which version is on its path. A session alone stands "
            "for its head.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "session:read",
    .in = branches_in,
    .in_size = sizeof(branches_args),
    .out = branches_out,
    .out_size = sizeof(branch_row),
    .query = query,
    .example = "{\"sessionId\":\"support\",\"turnId\":\"HEAD\"}",
};
