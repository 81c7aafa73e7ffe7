/* op_prompt_list.c -- prompt:list, the prompts there are. [P8] */
#include <valise/sys/operation.h>

#include "base/base.h"
#include "chat/find.h"
#include "prompt/rows.h"
#include "store/view.h"

typedef struct list_args {
    valise_str session;
    int64_t limit;
} list_args;

static const valise_field list_in[] = {
    VALISE_FIELD_WITH(list_args, session, STR, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "Only those of this session.", .min = 1, .max = VLS_TURN_REF_MAX,
                      .ref = VLS_REF_SESSION),
    VALISE_FIELD_WITH(list_args, limit, INT, 0, "At most this many.", .max = INT64_MAX),
    VALISE_FIELD_END,
};

typedef struct list_row {
    vls_prompt_row row;
    bool erased;
} list_row;

static const valise_field list_out[] = {
    VALISE_FIELD_AS_WITH(list_row, row.id, "id", ID, VALISE_REQUIRED, "Id of the manifest.",
                         .ref = VLS_REF_PROMPT),
    VALISE_FIELD_AS(list_row, row.session, "sessionId", UUID, VALISE_REQUIRED, "The session."),
    VALISE_FIELD_AS_WITH(list_row, row.head, "head", STR, VALISE_NULLABLE, "The turn it ends with.",
                         .ref = VLS_REF_TURN),
    VALISE_FIELD_AS(list_row, row.adapter, "provider", STR, VALISE_REQUIRED,
                    "Whose form the request has."),
    VALISE_FIELD_AS(list_row, row.model, "model", STR, VALISE_NULLABLE, "The model."),
    VALISE_FIELD_AS(list_row, row.tokens, "tokens", INT, VALISE_REQUIRED, "Its tokens, estimated."),
    VALISE_FIELD_AS(list_row, row.time, "time", TIME, VALISE_REQUIRED, "The time of the build."),
    VALISE_FIELD_AS(list_row, row.actor, "actor", STR, VALISE_REQUIRED, "Who built it."),
    VALISE_FIELD(list_row, erased, BOOL, 0, "Its manifest was erased."),
    VALISE_FIELD_END,
};

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const list_args *args = in;
    int64_t left = args->limit > 0 ? args->limit : INT64_MAX;
    vls_prompt_row from = {.seq = 0};
    valise_select select = {.index = "recorded", .flags = VALISE_SCAN_REVERSE};
    vls_session_row session;
    list_row row;
    valise_scan *scan = NULL;
    int rc = valise_view_allows(view, "session:read", NULL, err);

    (void)result;
    if (rc == 0 && args->session.ptr) {
        rc = vls_session_find(&session, view, args->session, err);
        from.session = session.id;
        select =
            (valise_select){.index = "session", .row = &from, .equal = 1, .flags = select.flags};
    }
    if (rc == 0)
        rc = valise_view_scan(&scan, view, &vls_prompts, &select, err);
    while (rc == 0 && left-- > 0 && (rc = valise_scan_next(&row.row, scan, err)) > 0) {
        row.erased = vls_id_is_none(&row.row.manifest);
        rc = valise_view_emit(view, &row, err);
    }
    valise_scan_close(scan);
    return vls_settle(rc);
}

const valise_op vls_op_prompt_prompt_list = {
    .size = sizeof(valise_op),
    .name = "prompt:list",
    .brief = "List the recorded prompts, newest first.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "prompt:read",
    .in = list_in,
    .in_size = sizeof(list_args),
    .out = list_out,
    .out_size = sizeof(list_row),
    .query = query,
    .example = "{\"limit\":10}",
};
