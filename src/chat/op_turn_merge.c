/* op_turn_merge.c -- turn:merge, a turn behind several. [W4] */
#include "chat/ops.h"
#include "store/view.h"

static const valise_field merge_in[] = {
    VLS_SESSION_FIELD(vls_turn_merge_args),
    VLS_TURN_FLAT_FIELDS(vls_turn_merge_args),
    VALISE_FIELD_WITH(vls_turn_merge_args, parents, LIST, VALISE_REQUIRED,
                      "The turns that it joins, in order; the branch of the first continues.",
                      .more = &vls_turn_ref_item, .min = 2, .max = VLS_TURN_PARENTS_MAX),
    VALISE_FIELD_END,
};

static int receive(valise_prepare *prepare, void *in, valise_error *err)
{
    vls_turn_merge_args *args = in;

    return vls_turn_receive(&args->said, prepare, in, err);
}

static int find_parents(vls_turn_ref *out, valise_view *view, const vls_session_row *session,
                        const valise_list *texts, valise_error *err)
{
    for (size_t i = 0; i < texts->count; i++) {
        vls_turn_row row;
        int rc = vls_turn_find(&row, view, session, ((const valise_str *)texts->items)[i],
                               VALISE_NONE, err);
        if (rc < 0)
            return rc;
        for (size_t k = 0; k < i; k++) {
            if (vls_turn_ref_equal(&out[k], &row.ref))
                return vls_fail(err, VALISE_E_INVALID, "%s is given twice as a parent",
                                vls_turn_ref_write(&row.ref).s);
        }
        out[i] = row.ref;
    }
    return 0;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_turn_merge_args *args = in;
    vls_session_row session;
    vls_turn_ref parents[VLS_TURN_PARENTS_MAX];
    int rc = vls_session_find(&session, view, args->session, err);

    if (rc == 0)
        rc = find_parents(parents, view, &session, &args->parents, err);
    return rc < 0 ? rc
                  : vls_session_say(out, &session, view, &args->said, parents, args->parents.count,
                                    err);
}

const valise_op vls_op_chat_turn_merge = {
    .size = sizeof(valise_op),
    .name = "turn:merge",
    .brief = "Join branches with a turn that follows all of them.",
    .help = "The path to it is the first parent's path, then what each further parent adds.",
    .kind = VALISE_COMMAND,
    .needs = "session:write",
    .in = merge_in,
    .in_size = sizeof(vls_turn_merge_args),
    .out = vls_turn_done_fields,
    .out_size = sizeof(vls_turn_done),
    .current = vls_session_current,
    .expect_help = VLS_HEAD_HELP,
    .decide = decide,
    .receive = receive,
    .example = "{\"sessionId\":\"support\",\"parents\":[\"HEAD\",\"3f9a1c22\"],\"role\":"
               "\"user\",\"text\":\"Both, then.\"}",
};
