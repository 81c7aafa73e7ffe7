/* protocol.c -- see protocol.h. */
#include "agent/protocol.h"

#include "base/base64.h"
#include "base/text.h"
#include "context/ops.h"
#include "derive/ops.h"
#include "field/field.h"
#include "json/error.h"

#define ID_MAX 128u /* bytes of one that is a text */

/* What an agent can ask for, and the operation that is. */
typedef struct agent_verb {
    const char *name;
    const valise_op *op;
} agent_verb;

static const agent_verb verbs[] = {
    {"read_context", &vls_op_context_node_get},
    {"write_context", &vls_op_context_frame_put},
    {"synthesize", &vls_op_derive_synthesize},
    {NULL, NULL},
};

static const vls_json_limits limits = {.around = VLS_JSON_MAX_AROUND};

/* ---- who asks ---- */

int vls_agent_ask(vls_buf *out, int64_t id, const valise_op *op, const void *args,
                  valise_str expect, valise_error *err)
{
    const agent_verb *verb = verbs;
    int rc;

    while (verb->op != op)
        verb++;
    vls_buf_add_text(out, "{\"args\":");
    rc = vls_fields_write(out, args, op->in, VLS_FIELD_INPUT, 0, err);
    if (rc < 0)
        return rc;
    if (expect.len > 0) {
        vls_buf_add_text(out, ",\"expect\":");
        vls_buf_add(out, expect);
    }
    vls_buf_add_text(out, ",\"id\":");
    vls_buf_add_i64(out, id);
    vls_buf_add_text(out, ",\"op\":\"");
    vls_buf_add_text(out, verb->name);
    vls_buf_add_text(out, "\"}\n");
    return vls_buf_check(out, err);
}

static int fail_answer(valise_error *err, const valise_error *why)
{
    return vls_fail(err, VALISE_E_IO, "this is not an answer: %.300s", why->message);
}

/* Is it an answer to this one? */
static int check_answer(vls_json v, int64_t id, valise_error *err)
{
    const vls_json *given = vls_json_get(v, VLS_STR("id"));
    const vls_json *error = vls_json_get(v, VLS_STR("error"));

    if (v.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_IO, "this is not an answer: it is not an object");
    if (!given || given->type != VLS_JSON_INT || given->integer != id) {
        /* A question that was not understood at all has no id. */
        if (given && given->type == VLS_JSON_NULL && error)
            return 0;
        return vls_fail(err, VALISE_E_IO,
                        "this is not an answer to question %lld: its id is different",
                        (long long)id);
    }
    return 0;
}

/* Who answers may be of a later version: members that nobody here knows are passed over. As deep as
 * the table is, which is little. */
static int keep_known(vls_json *v, const valise_field *fields, vls_arena *arena, valise_error *err);

static int keep_known_of(vls_json *v, const valise_field *field, vls_arena *arena,
                         valise_error *err)
{
    vls_json *items;
    int rc = 0;

    if (field->type == VALISE_T_STRUCT)
        return keep_known(v, ((const valise_struct *)field->more)->fields, arena, err);
    if (field->type != VALISE_T_LIST || v->type != VLS_JSON_ARRAY)
        return 0;
    items = vls_arena_array(arena, v->len, sizeof(*items));
    if (!items)
        return vls_arena_fail(arena, err);
    for (uint32_t i = 0; rc == 0 && i < v->len; i++) {
        items[i] = v->items[i];
        rc = keep_known_of(&items[i], field->more, arena, err);
    }
    v->items = items;
    return rc;
}

static int keep_known(vls_json *v, const valise_field *fields, vls_arena *arena, valise_error *err)
{
    vls_member *members;
    uint32_t count = 0;
    int rc = 0;

    if (v->type != VLS_JSON_OBJECT)
        return 0;
    members = vls_arena_array(arena, v->len, sizeof(*members));
    if (!members)
        return vls_arena_fail(arena, err);
    for (uint32_t i = 0; rc == 0 && i < v->len; i++) {
        const valise_field *field = vls_fields_find(fields, vls_json_str(v->members[i].key));
        if (!field)
            continue;
        members[count] = v->members[i];
        rc = keep_known_of(&members[count++].value, field, arena, err);
    }
    v->members = members;
    v->len = count;
    return rc;
}

static int take_result(void *result, int64_t *seq, vls_arena *arena, vls_json v,
                       const valise_op *op, valise_error *err)
{
    const vls_json *given = vls_json_get(v, VLS_STR("result"));
    const vls_json *state = vls_json_get(v, VLS_STR("seq"));
    valise_error why = VALISE_ERROR_INIT;
    vls_json known;
    int rc;

    if (!given)
        return vls_fail(err, VALISE_E_IO,
                        "this is not an answer: it has neither a result nor an error");
    known = *given;
    rc = keep_known(&known, op->out, arena, &why);
    if (rc == 0)
        rc = vls_fields_decode(result, op->out, op->out_size, known, VLS_FIELD_INPUT, arena, &why);
    if (rc == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    if (rc < 0)
        return fail_answer(err, &why);
    *seq = state && state->type == VLS_JSON_INT ? state->integer : 0;
    return 0;
}

int vls_agent_read(void *result, int64_t *seq, bool *understood, vls_arena *arena, valise_str line,
                   int64_t id, const valise_op *op, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    const vls_json *error;
    valise_str text;
    vls_json v;
    int rc = vls_arena_dup(&text, arena, line, err);

    *understood = false;
    if (rc < 0)
        return rc;
    rc = vls_json_parse(&v, arena, text, &limits, &why);
    if (rc == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    if (rc < 0)
        return fail_answer(err, &why);
    rc = check_answer(v, id, err);
    if (rc < 0)
        return rc;
    error = vls_json_get(v, VLS_STR("error"));
    if (!error) {
        rc = take_result(result, seq, arena, v, op, err);
        *understood = rc == 0;
        return rc;
    }
    rc = vls_json_read_error(err, arena->env, *error);
    if (rc == 0)
        return vls_fail(err, VALISE_E_IO, "this is not an answer: its error code is unknown");
    *understood = true;
    return rc;
}

/* ---- who answers ---- */

/* What a line asks for. */
typedef struct question {
    vls_arena arena;
    valise_str id; /* as JSON */
    const valise_op *op;
    valise_str args, expect; /* as JSON */
} question;

static void vls_auto_question(question *q)
{
    vls_arena_release(&q->arena);
}

static int write_value(valise_str *out, question *q, vls_json v, valise_error *err)
{
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, &q->arena, VLS_AGENT_LINE_MAX);
    rc = vls_json_write_around(&text, v, err);
    return rc < 0 ? rc : vls_buf_keep(out, &text, err);
}

static int take_id(question *q, vls_json v, valise_error *err)
{
    const vls_json *id = vls_json_get(v, VLS_STR("id"));

    if (!id)
        return vls_fail(err, VALISE_E_INVALID, "the question has no id");
    if (id->type != VLS_JSON_INT && (id->type != VLS_JSON_STRING || id->len > ID_MAX))
        return vls_fail(err, VALISE_E_INVALID, "an id is an integer, or a text of at most %u bytes",
                        ID_MAX);
    return write_value(&q->id, q, *id, err);
}

static int take_op(question *q, vls_json v, valise_error *err)
{
    const vls_json *name = vls_json_get(v, VLS_STR("op"));
    const agent_verb *verb = verbs;

    if (!name || name->type != VLS_JSON_STRING)
        return vls_fail(err, VALISE_E_INVALID, "the question has no op");
    while (verb->name && !vls_str_equal(vls_json_str(*name), valise_str_of(verb->name)))
        verb++;
    q->op = verb->op;
    if (q->op)
        return 0;
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no op '%s'",
                   vls_text_short(vls_json_str(*name)).s);
    vls_hint(err, "the operations are read_context, write_context and synthesize");
    return VALISE_E_NOT_FOUND;
}

/* "text" is the content of who has text: base64 of it is what the operation takes. */
static int encode_text(vls_json *args, question *q, size_t at, valise_error *err)
{
    vls_member *members = vls_arena_array(&q->arena, args->len, sizeof(*members));
    valise_str encoded;
    vls_buf text;
    int rc;

    if (!members)
        return vls_arena_fail(&q->arena, err);
    if (vls_json_get(*args, VLS_STR("content")))
        return vls_fail(err, VALISE_E_INVALID, "give either a content or a text, not both");
    memcpy(members, args->members, args->len * sizeof(*members));
    if (members[at].value.type != VLS_JSON_STRING)
        return vls_fail(err, VALISE_E_INVALID, "'text' must be a string");
    vls_buf_init_in(&text, &q->arena, 2 * VLS_AGENT_LINE_MAX);
    vls_base64_encode(&text, vls_json_str(members[at].value));
    rc = vls_buf_keep(&encoded, &text, err);
    if (rc < 0)
        return rc;
    members[at] = (vls_member){vls_json_string(VLS_STR("content")), vls_json_string(encoded)};
    return vls_json_object(args, members, args->len, err);
}

static int take_args(question *q, vls_json v, valise_error *err)
{
    const vls_json *given = vls_json_get(v, VLS_STR("args"));
    const vls_json *expect = vls_json_get(v, VLS_STR("expect"));
    vls_json args = {.type = VLS_JSON_OBJECT};
    bool has_text = false;
    size_t at;
    int rc = 0;

    if (given)
        args = *given;
    if (args.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "args is not an object");
    at = vls_json_find(&has_text, args, VLS_STR("text"));
    if (has_text && q->op == &vls_op_context_frame_put)
        rc = encode_text(&args, q, at, err);
    if (rc == 0)
        rc = write_value(&q->args, q, args, err);
    if (rc == 0 && expect)
        rc = write_value(&q->expect, q, *expect, err);
    return rc;
}

static int check_members(vls_json v, valise_error *err)
{
    static const char *const known[] = {"args", "expect", "id", "op"};

    for (uint32_t i = 0; i < v.len; i++) {
        valise_str key = vls_json_str(v.members[i].key);
        size_t k = 0;
        while (k < VLS_COUNT(known) && !vls_str_equal(key, valise_str_of(known[k])))
            k++;
        if (k == VLS_COUNT(known))
            return vls_fail(err, VALISE_E_INVALID, "'%s' is unknown in a question",
                            vls_text_short(key).s);
    }
    return 0;
}

/* What of it was understood when it fails is its id, at most. */
static int understand(question *q, valise_str line, valise_error *err)
{
    vls_json v;
    int rc = vls_json_parse(&v, &q->arena, line, &limits, err);

    if (rc == 0 && v.type != VLS_JSON_OBJECT)
        rc = vls_fail(err, VALISE_E_INVALID, "the question is not an object");
    if (rc == 0)
        rc = take_id(q, v, err);
    if (rc == 0)
        rc = check_members(v, err);
    if (rc == 0)
        rc = take_op(q, v, err);
    return rc < 0 ? rc : take_args(q, v, err);
}

static int write_result(vls_buf *out, const question *q, const valise_reply *reply,
                        valise_error *err)
{
    vls_buf_add_text(out, "{\"id\":");
    vls_buf_add(out, q->id);
    vls_buf_add_text(out, ",\"result\":");
    vls_buf_add(out, vls_blob_bytes(reply->json));
    vls_buf_add_text(out, ",\"seq\":");
    vls_buf_add_i64(out, reply->seq);
    vls_buf_add_text(out, "}\n");
    return vls_buf_check(out, err);
}

static int write_error(vls_buf *out, const valise_env *env, valise_str id, const valise_error *why,
                       valise_str current, valise_error *err)
{
    vls_buf_add_text(out, "{\"error\":");
    vls_json_write_error(out, env, why, NULL, current);
    vls_buf_add_text(out, ",\"id\":");
    vls_buf_add(out, id);
    vls_buf_add_text(out, "}\n");
    return vls_buf_check(out, err);
}

int vls_agent_answer_error(vls_buf *out, const valise_env *env, const valise_error *why,
                           valise_error *err)
{
    return write_error(out, env, VLS_STR("null"), why, VLS_STR(""), err);
}

int vls_agent_answer(vls_buf *out, valise *v, valise_str agent, valise_str line, valise_error *err)
{
    VLS_AUTO(question) question q = {.id = VLS_STR("null")};
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    valise_error why = VALISE_ERROR_INIT;
    valise_str current = VLS_STR("");
    size_t begin = out->len;
    int rc;

    vls_arena_init(&q.arena, v->env, VLS_VIEW_MAX_BYTES);
    rc = understand(&q, line, &why);
    if (rc == 0) {
        call.actor = agent;
        call.expect = q.expect;
        rc = valise_dispatch_str(&reply, v, valise_str_of(q.op->name), q.args, &call, &why);
    }
    if (rc == 0)
        rc = write_result(out, &q, &reply, &why);
    if (rc == VALISE_E_TOO_LARGE && out->failed)
        vls_hint(&why, "ask for less: give a view with max_bytes=N");
    if (rc < 0) {
        out->len = begin;
        out->failed = 0;
        if (reply.current && why.code == VALISE_E_CONFLICT)
            current = vls_blob_bytes(reply.current);
        rc = write_error(out, v->env, q.id, &why, current, err);
    }
    valise_reply_release(&reply);
    return rc;
}
