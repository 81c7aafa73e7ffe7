/* api_write.c -- the C functions that write sessions and turns. */
#include <valise/session.h>

#include "base/sized.h"
#include "base/str.h"
#include "bus/bus.h"
#include "chat/ops.h"

static const valise_content no_content = {.size = VALISE_NONE};

static valise_content value_of(valise_str json)
{
    valise_content content = no_content;

    if (json.ptr)
        content = (valise_content){.bytes = json};
    return content;
}

/* ---- sessions ---- */

static int take_session(valise_session_options *out, const valise_session_options *options,
                        valise_error *err)
{
    int rc;

    *out = (valise_session_options)VALISE_SESSION_OPTIONS_INIT;
    rc = vls_sized_take(out, sizeof(*out), options, offsetof(valise_session_options, label),
                        "valise_session_options", err);
    if (rc == 0 && out->topic_count > 0 && !out->topics)
        rc = vls_fail(err, VALISE_E_INVALID, "topics has a count, but no texts");
    return rc;
}

int valise_session_create(valise_uuid *out, valise *v, const valise_session_options *options,
                          const valise_call *call, valise_error *err)
{
    VLS_AUTO(memory) vls_memory memory = {0};
    valise_session_options o;
    vls_session_create_args args = {.metadata = no_content};
    vls_session_made made;
    int rc;

    VLS_ARG(v, err);
    rc = take_session(&o, options, err);
    if (rc < 0)
        return rc;
    if (o.id)
        args.id = *o.id;
    args.label = vls_str_or_none(o.label);
    args.role = vls_str_or_none(o.role);
    args.topics = (valise_list){o.topics, o.topic_count};
    args.metadata = value_of(o.metadata);
    rc = vls_run(v, &vls_op_chat_session_create, &args, &made, &memory, call, NULL, err);
    if (rc == 0 && out)
        *out = made.id;
    return rc;
}

int valise_session_fork(valise_uuid *out, valise *v, const char *session, const char *turn,
                        const valise_session_options *options, const valise_call *call,
                        valise_error *err)
{
    VLS_AUTO(memory) vls_memory memory = {0};
    valise_session_options o;
    vls_session_fork_args args = {.version = VALISE_NONE};
    vls_session_made made;
    int rc;

    VLS_ARG(v && session, err);
    rc = take_session(&o, options, err);
    if (rc == 0 && o.metadata.ptr)
        rc = vls_fail(err, VALISE_E_INVALID, "a fork has the metadata of the other session");
    if (rc < 0)
        return rc;
    args.session = valise_str_of(session);
    if (turn)
        args.turn = valise_str_of(turn);
    if (o.id)
        args.id = *o.id;
    args.label = vls_str_or_none(o.label);
    args.role = vls_str_or_none(o.role);
    if (o.topic_count > 0)
        args.topics = (valise_list){o.topics, o.topic_count};
    rc = vls_run(v, &vls_op_chat_session_fork, &args, &made, &memory, call, NULL, err);
    if (rc == 0 && out)
        *out = made.id;
    return rc;
}

int valise_session_delete(valise *v, const char *session, const valise_call *call,
                          valise_error *err)
{
    VLS_ARG(v && session, err);
    return vls_run(v, &vls_op_chat_session_delete, &(vls_session_args){valise_str_of(session)},
                   NULL, NULL, call, NULL, err);
}

/* ---- turns ---- */

static int take_turn(valise_turn_options *out, vls_turn_given *given, vls_turn_flat *said,
                     const valise_turn_options *turn, valise_error *err)
{
    int rc;

    *out = (valise_turn_options)VALISE_TURN_OPTIONS_INIT;
    rc = vls_sized_take(out, sizeof(*out), turn, offsetof(valise_turn_options, text),
                        "valise_turn_options", err);
    if (rc == 0 && (out->flags & ~(unsigned)(VALISE_TURN_HIDDEN | VALISE_TURN_NOPROMPT)))
        rc = vls_fail(err, VALISE_E_INVALID, "valise_turn_options has unknown flags 0x%x",
                      out->flags);
    if (rc == 0 && (out->text.ptr != NULL) == (out->blocks.ptr != NULL))
        rc = vls_fail(err, VALISE_E_INVALID, "give either a text or blocks");
    if (rc < 0)
        return rc;
    *said = (vls_turn_flat){.role = VALISE_NONE, .text = no_content};
    if (out->text.ptr && !out->metadata.ptr && !out->id) {
        said->role = out->role;
        said->text = value_of(out->text);
        said->hidden = out->flags & VALISE_TURN_HIDDEN;
        said->noprompt = out->flags & VALISE_TURN_NOPROMPT;
        return 0;
    }
    *given = (vls_turn_given){.role = out->role,
                              .blocks = value_of(out->blocks),
                              .hidden = out->flags & VALISE_TURN_HIDDEN,
                              .noprompt = out->flags & VALISE_TURN_NOPROMPT,
                              .metadata = value_of(out->metadata)};
    if (out->id)
        given->id = *out->id;
    said->turn = given;
    return out->text.ptr
               ? vls_fail(err, VALISE_E_INVALID, "a turn with an id or metadata must have blocks")
               : 0;
}

static int run(valise_turn_done *out, valise *v, const valise_op *op, const void *args,
               const valise_call *call, valise_error *err)
{
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_turn_done done = {.version = 0};
    valise_turn_done ours;
    int rc = 0;

    if (out)
        rc = vls_sized_check(out, offsetof(valise_turn_done, version), "valise_turn_done", err);
    if (rc == 0)
        rc = vls_run(v, op, args, &done, &memory, call, NULL, err);
    if (rc < 0 || !out)
        return rc;
    ours = (valise_turn_done){
        .turn = done.turn_id, .version = done.version, .content_hash = done.content_hash};
    vls_sized_give(out, &ours, sizeof(ours));
    return 0;
}

int valise_turn_add(valise_turn_done *out, valise *v, const char *session,
                    const valise_turn_options *turn, const valise_call *call, valise_error *err)
{
    valise_turn_options o;
    vls_turn_given given;
    vls_turn_add_args args;
    int rc;

    VLS_ARG(v && session && turn, err);
    rc = take_turn(&o, &given, &args.said, turn, err);
    args.session = valise_str_of(session);
    return rc < 0 ? rc : run(out, v, &vls_op_chat_turn_add, &args, call, err);
}

int valise_turn_branch(valise_turn_done *out, valise *v, const char *session, const char *parent,
                       const valise_turn_options *turn, const valise_call *call, valise_error *err)
{
    valise_turn_options o;
    vls_turn_given given;
    vls_turn_branch_args args;
    int rc;

    VLS_ARG(v && session && parent && turn, err);
    rc = take_turn(&o, &given, &args.said, turn, err);
    args.session = valise_str_of(session);
    args.parent = valise_str_of(parent);
    return rc < 0 ? rc : run(out, v, &vls_op_chat_turn_branch, &args, call, err);
}

int valise_turn_merge(valise_turn_done *out, valise *v, const char *session,
                      const valise_str *parents, size_t parent_count,
                      const valise_turn_options *turn, const valise_call *call, valise_error *err)
{
    valise_turn_options o;
    vls_turn_given given;
    vls_turn_merge_args args;
    int rc;

    VLS_ARG(v && session && parents && turn, err);
    if (parent_count < 2 || parent_count > VLS_TURN_PARENTS_MAX)
        return vls_fail(err, VALISE_E_INVALID, "a merge must have 2 to %d parents, not %zu",
                        VLS_TURN_PARENTS_MAX, parent_count);
    rc = take_turn(&o, &given, &args.said, turn, err);
    args.session = valise_str_of(session);
    args.parents = (valise_list){parents, parent_count};
    return rc < 0 ? rc : run(out, v, &vls_op_chat_turn_merge, &args, call, err);
}

int valise_turn_edit(valise_turn_done *out, valise *v, const char *session, const char *turn,
                     const valise_turn_options *said, const valise_call *call, valise_error *err)
{
    valise_turn_options o = VALISE_TURN_OPTIONS_INIT;
    vls_turn_edit_args args = {.version = VALISE_NONE, .said = {.role = VALISE_NONE}};
    int rc;

    VLS_ARG(v && session && turn && said, err);
    rc = vls_sized_take(&o, sizeof(o), said, offsetof(valise_turn_options, text),
                        "valise_turn_options", err);
    if (rc == 0 && (o.text.ptr != NULL) == (o.blocks.ptr != NULL))
        rc = vls_fail(err, VALISE_E_INVALID, "give either a text or blocks");
    if (rc < 0)
        return rc;
    args.session = valise_str_of(session);
    args.turn = valise_str_of(turn);
    args.said.text = value_of(o.text);
    args.blocks = value_of(o.blocks);
    return run(out, v, &vls_op_chat_turn_edit, &args, call, err);
}

int valise_turn_checkout(valise_turn_done *out, valise *v, const char *session, const char *turn,
                         const valise_call *call, valise_error *err)
{
    vls_turn_checkout_args args = {.version = VALISE_NONE};

    VLS_ARG(v && session && turn, err);
    args.session = valise_str_of(session);
    args.turn = valise_str_of(turn);
    return run(out, v, &vls_op_chat_turn_checkout, &args, call, err);
}
