/* op_turn_log.c -- turn:log, the transcript of a session. [W8] [P1] */
#include "chat/ops.h"
#include "chat/shown.h"

static const char *const merges[] = {"all", "first", NULL};

typedef vls_turn_log_args log_args;

static const valise_field log_in[] = {
    VLS_SESSION_FIELD(log_args),
    VALISE_FIELD_AS_WITH(log_args, turn, "turnId", STR, VALISE_NULLABLE | VALISE_POSITIONAL,
                         "Up to this turn instead of the head: ID@VERSION, the end of an id, "
                         "HEAD~2.",
                         .max = VLS_TURN_REF_MAX, .ref = VLS_REF_TURN),
    VALISE_FIELD_WITH(log_args, version, INT, VALISE_NULLABLE, "Which version of it.", .min = 1,
                      .max = INT64_MAX),
    VALISE_FIELD_WITH(log_args, limit, INT, 0, "At most this many of the newest.",
                      .max = INT64_MAX),
    VALISE_FIELD(log_args, reverse, BOOL, 0, "Newest first."),
    VALISE_FIELD_WITH(log_args, merge, ENUM, 0,
                      "After a merge, follow all parents or only the first.", .more = merges),
    VALISE_FIELD(log_args, all, BOOL, 0, "Include hidden turns."),
    VALISE_FIELD_END,
};

typedef struct log_row {
    vls_turn_shown turn;
} log_row;

static const valise_field log_out[] = {
    VLS_TURN_SHOWN_FIELDS(log_row),
    VALISE_FIELD_END,
};

typedef struct logging {
    vls_show show;
    const log_args *args;
    int64_t left; /* still to be told */
    int64_t seen; /* looked at */
} logging;

static bool is_shown(const logging *l, const vls_turn_row *turn)
{
    return !turn->hidden || l->args->all;
}

/* How far back the newest ones reach. */
static int count_back(void *arg, const vls_turn_row *turn, valise_error *err)
{
    logging *l = arg;

    (void)err;
    l->left -= is_shown(l, turn);
    l->seen++;
    return l->left == 0;
}

static int tell(void *arg, const vls_turn_row *turn, valise_error *err)
{
    logging *l = arg;
    log_row row;
    int rc;

    if (!is_shown(l, turn))
        return 0;
    rc = vls_show_turn(&row.turn, &l->show, turn, err);
    if (rc == 0)
        rc = valise_view_emit(l->show.view, &row, err);
    return rc < 0 ? rc : --l->left == 0;
}

static int walk(logging *l, const vls_trail *trail, valise_error *err)
{
    valise_view *view = l->show.view;
    int64_t limit = l->args->limit > 0 ? l->args->limit : INT64_MAX;
    int rc = 0;

    l->left = limit;
    if (!l->args->reverse && l->args->limit > 0) {
        rc = vls_trail_each(trail, view, 0, true, count_back, l, err);
        l->left = limit;
    }
    if (rc < 0)
        return rc;
    return vls_trail_each(trail, view, l->seen > 0 ? trail->count - l->seen : 0, l->args->reverse,
                          tell, l, err);
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const log_args *args = in;
    logging l = {.args = args};
    vls_trail trail = {.env = NULL};
    vls_session_row session = {0};
    vls_turn_row head = {0};
    int rc = vls_session_find(&session, view, args->session, err);

    (void)result;
    if (rc == 0 && session.head.version == 0 && !args->turn.ptr)
        return 0;
    if (rc == 0)
        rc = vls_shown_find(&head, view, &session, args->turn, args->version, err);
    if (rc == 0)
        rc = vls_trail_make(&trail, view, &head, NULL, args->merge == 1, err);
    if (rc == 0) {
        vls_show_init(&l.show, view, false);
        rc = vls_settle(walk(&l, &trail, err));
        vls_show_release(&l.show);
    }
    vls_trail_release(&trail);
    return rc;
}

const valise_op vls_op_chat_turn_log = {
    .size = sizeof(valise_op),
    .name = "turn:log",
    .brief = "Show the turns of a session, oldest first.",
    .help = "Before a merge come the path of its first parent and what its further parents add, "
            "each turn once. Hidden turns are left out, unless --all is given.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "session:read",
    .in = log_in,
    .in_size = sizeof(log_args),
    .out = log_out,
    .out_size = sizeof(log_row),
    .query = query,
    .example = "{\"sessionId\":\"support\",\"limit\":10}",
};
