/* op_prompt_ask.c -- prompt:ask, say something and get a model's answer. [P11] [P12]
 *
 *     view       is there anything in the way of a prompt, whatever is said?
 *     command    turn:add, what the user says
 *     job        prompt:build: the prompt, recorded
 *     view       the manifest, rendered again: exactly what `prompt show` shows is sent
 *     outside    the provider; pieces are told as they come
 *     command    turn:add, the answer; prompt:calibrate
 *
 * What was paid for is not lost: an answer that was cut or cancelled is kept as far as it came, and
 * where somebody else spoke meanwhile it becomes a branch. */
#include "base/hex.h"
#include "chat/ops.h"
#include "json/make.h"
#include "prompt/find.h"
#include "prompt/ops.h"
#include "prompt/scale.h"
#include "prompt/send.h"
#include "store/view.h"

typedef struct ask_args {
    vls_prompt_args of;
    valise_str text, blocks; /* what the user says; blocks: JSON; ptr NULL: nothing new */
    valise_list attach;      /* of valise_str */
    valise_str replay;
    bool drop_partial;
} ask_args;

static const valise_field ask_in[] = {
    VLS_PROMPT_ARGS_FIELDS(ask_args, "The provider that is asked, such as anthropic.",
                           "cli.provider"),
    VALISE_FIELD_WITH(ask_args, text, STR, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "The user's message (default: answer the last turn).", .min = 1,
                      .max = VLS_JSON_MAX_BYTES / 4),
    VALISE_FIELD(ask_args, blocks, JSON, VALISE_NULLABLE, "The message as blocks of a turn."),
    VALISE_FIELD_WITH(ask_args, attach, LIST, 0, "Files to attach, as images or documents.",
                      .more = &vls_blob_file_item, .max = VLS_BLOB_FILES_MAX),
    VALISE_FIELD_WITH(ask_args, replay, PATH, VALISE_NULLABLE,
                      "A file of recorded answers, instead of the provider.", .min = 1, .max = 4000,
                      .ref = "cli.file"),
    VALISE_FIELD_AS(ask_args, drop_partial, "dropPartial", BOOL, 0,
                    "Discard an answer that was cut off or cancelled."),
    VALISE_FIELD_END,
};

typedef struct asked {
    valise_str user, ref; /* TurnRefs: what was said, and the answer; user: ptr NULL */
    valise_id prompt;
    valise_str provider, model, stop, text;
    valise_content blocks;
    valise_str usage; /* JSON */
    int64_t tokens;   /* of the prompt, estimated */
    bool branched;
} asked;

static const valise_field ask_out[] = {
    VALISE_FIELD_WITH(asked, user, STR, VALISE_NULLABLE, "The turn of the user.",
                      .ref = VLS_REF_TURN),
    VALISE_FIELD_WITH(asked, ref, STR, VALISE_REQUIRED, "The turn with the answer.",
                      .ref = VLS_REF_TURN),
    VALISE_FIELD_WITH(asked, prompt, ID, VALISE_REQUIRED, "The prompt it answers.",
                      .ref = VLS_REF_PROMPT),
    VALISE_FIELD(asked, provider, STR, VALISE_REQUIRED, "Who was asked."),
    VALISE_FIELD(asked, model, STR, VALISE_NULLABLE, "The model that answered."),
    VALISE_FIELD(asked, stop, STR, VALISE_REQUIRED,
                 "Why it ends: end, calls (tools are to be run), limit, sequence, refused, other, "
                 "none."),
    VALISE_FIELD(asked, text, STR, VALISE_REQUIRED, "The texts of the answer."),
    VALISE_FIELD(asked, blocks, VALUE, VALISE_REQUIRED, "All of it, as the turn has it."),
    VALISE_FIELD(asked, usage, JSON, VALISE_NULLABLE, "Tokens, as the provider reports them."),
    VALISE_FIELD(asked, tokens, INT, VALISE_REQUIRED, "Tokens of the prompt, as estimated."),
    VALISE_FIELD(asked, branched, BOOL, 0,
                 "Somebody else spoke meanwhile: the answer is a branch, the head is theirs."),
    VALISE_FIELD_END,
};

typedef struct asking {
    valise_job *job;
    const ask_args *args;
    asked *out;
    vls_provider provider;
    valise_uuid session;
    valise_str model;  /* that is asked; ptr NULL: none was named */
    valise_str head;   /* that is answered */
    int64_t estimated; /* before any scale */
    vls_wire wire;
    vls_plan names; /* of it the names of tools alone */
    vls_answer answer;
} asking;

static valise *workspace_of(const asking *a)
{
    return valise_job_workspace(a->job);
}

/* ---- what the user says ---- */

static int add_turn(valise_str *ref, asking *a, const vls_turn_flat *said, valise_str expect,
                    valise_error *err)
{
    vls_uuid_string session = vls_uuid_text(&a->session);
    const vls_turn_add_args args = {.session = valise_str_of(session.s), .said = *said};
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_turn_done done = {.version = 0};
    valise_call call = VALISE_CALL_INIT;
    int rc = valise_job_call(&call, a->job, err);

    call.expect = expect;
    if (rc == 0)
        rc = vls_run(workspace_of(a), &vls_op_chat_turn_add, &args, &done, &memory, &call, NULL,
                     err);
    return rc < 0 ? rc : vls_arena_dup(ref, &a->job->arena, done.ref, err);
}

static bool says_something(const ask_args *args)
{
    return args->blocks.ptr || args->text.ptr || args->attach.count > 0;
}

static int say(asking *a, valise_error *err)
{
    const ask_args *args = a->args;
    vls_turn_given given = {.role = VLS_TURN_USER,
                            .blocks = {.size = (int64_t)args->blocks.len, .bytes = args->blocks},
                            .metadata = {.size = VALISE_NONE}};
    vls_turn_flat said = {.role = VLS_TURN_USER,
                          .text = {.size = args->text.ptr ? (int64_t)args->text.len : VALISE_NONE,
                                   .bytes = args->text},
                          .attach = args->attach};

    if (args->blocks.ptr)
        said = (vls_turn_flat){.turn = &given, .role = VALISE_NONE, .text = {.size = VALISE_NONE}};
    if (!says_something(args))
        return 0;
    return add_turn(&a->out->user, a, &said, VLS_STR(""), err);
}

/* ---- the prompt ---- */

static int find_session(void *arg, valise_view *view, valise_error *err)
{
    asking *a = arg;
    vls_session_row session;
    int rc = valise_view_allows(view, "session:read", NULL, err);

    if (rc == 0)
        rc = vls_session_find(&session, view, a->args->of.session, err);
    if (rc == 0)
        a->session = session.id;
    return rc;
}

/* Which model: the one that was named, that of the role, that of the provider. */
static valise_str model_of(const asking *a, const vls_request *request)
{
    return request->model.ptr ? request->model : a->provider.model;
}

static int find_model(void *arg, valise_view *view, valise_error *err)
{
    asking *a = arg;
    vls_prompt_args of = a->args->of;
    vls_request request;
    int rc;

    of.provider = valise_str_of(a->provider.adapter->name);
    rc = vls_request_make(&request, view, &of, err);
    if (rc < 0)
        return rc;
    a->model = model_of(a, &request);
    return a->model.ptr ? vls_arena_dup(&a->model, &a->job->arena, a->model, err) : 0;
}

/* Tools, instructions, notes and items: a prompt that cannot be made of them cannot be made of what
 * is said now either, and then it is not said. */
static int try_without_history(void *arg, valise_view *view, valise_error *err)
{
    asking *a = arg;
    vls_prompt_args of = a->args->of;
    vls_request request;
    int rc;

    of.provider = valise_str_of(a->provider.adapter->name);
    rc = vls_request_make_before(&request, view, &of, err);
    if (rc < 0)
        return rc;
    request.model = model_of(a, &request);
    return vls_build_try(view, &request, err);
}

static int build(asking *a, valise_error *err)
{
    vls_prompt_build_args args = {.of = a->args->of};
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_prompt_built built = {.existed = false};
    valise_call call = VALISE_CALL_INIT;
    int rc = valise_job_call(&call, a->job, err);

    args.of.provider = valise_str_of(a->provider.adapter->name);
    args.of.model = a->model;
    if (rc == 0)
        rc = vls_run(workspace_of(a), &vls_op_prompt_prompt_build, &args, &built, &memory, &call,
                     NULL, err);
    if (rc < 0)
        return rc;
    a->out->prompt = built.id;
    a->out->tokens = built.tokens;
    return vls_arena_dup(&a->head, &a->job->arena, built.head, err);
}

static int copy_names(asking *a, const vls_plan *plan, valise_error *err)
{
    vls_arena *arena = &a->job->arena;
    int rc = 0;

    for (size_t i = 0; i < plan->names.len && rc == 0; i++) {
        vls_plan_name name = plan->names.ptr[i];

        rc = vls_arena_dup(&name.ours, arena, name.ours, err);
        if (rc == 0)
            rc = vls_arena_dup(&name.theirs, arena, name.theirs, err);
        if (rc == 0 && !vls_vec_push_in(&a->names.names, arena, name))
            rc = vls_arena_fail(arena, err);
    }
    return rc;
}

static int take_wire(void *arg, valise_view *view, valise_error *err)
{
    asking *a = arg;
    vls_id_text id = vls_id_hex(&a->out->prompt);
    vls_prompt_row row;
    vls_manifest manifest = {.builder = 0};
    vls_rebuilt again = {0};
    int rc = vls_prompt_open(&row, &manifest, view, valise_str_of(id.s), err);

    if (rc == 0)
        rc = vls_rebuild(&again, view, &manifest, err);
    if (rc == 0 && (!again.neutral_same || !again.wire_same))
        rc = vls_fail(err, VALISE_E_CONFLICT,
                      "something that prompt %.12s needs was removed before it was sent", id.s);
    if (rc == 0)
        rc = copy_names(a, &again.plan, err);
    for (int i = 0; i < VLS_SECTION_COUNT; i++)
        a->estimated += manifest.budget.sections[i];
    if (rc == 0) {
        a->wire = again.wire; /* it needs nothing of the view */
        again.wire = (vls_wire){.failed = 0};
    }
    vls_rebuilt_release(&again);
    return rc;
}

/* ---- the answer ---- */

static int make_metadata(valise_str *out, asking *a, int failed, valise_error *err)
{
    vls_arena *arena = &a->job->arena;
    vls_id_text id = vls_id_hex(&a->out->prompt);
    vls_json usage = vls_json_null(), all = vls_json_null();
    valise_str prompt;
    int rc = vls_arena_dup(&prompt, arena, valise_str_of(id.s), err);

    if (rc == 0)
        rc = vls_usage_json(&usage, arena, &a->answer.usage, err);
    if (rc == 0)
        rc = VLS_PAIRS(
            &all, arena, err, {"manifest", vls_json_string(prompt), false},
            {"model", vls_json_string(a->out->model), !a->out->model.ptr},
            {"partial", vls_json_bool(true), failed == 0 && !a->answer.partial},
            {"provider", vls_json_string(a->provider.name), false},
            {"stop",
             vls_json_string(failed == VALISE_E_CANCELLED ? VLS_STR("cancelled") : a->out->stop),
             false},
            {"usage", usage, usage.len == 0});
    if (rc == 0 && usage.len > 0)
        rc = vls_json_text(&a->out->usage, arena, usage, err);
    return rc < 0 ? rc : vls_json_text(out, arena, all, err);
}

/* Where the head of the session is now. */
typedef struct where {
    asking *a;
    valise_str head;
} where;

static int find_head(void *arg, valise_view *view, valise_error *err)
{
    where *w = arg;
    vls_session_row session = {.id = w->a->session};
    vls_turn_ref_text text;
    int rc = valise_view_get(&session, view, &vls_sessions, err);

    if (rc <= 0 || session.head.version == 0)
        return vls_settle(rc);
    text = vls_turn_ref_write(&session.head);
    return vls_arena_dup(&w->head, &w->a->job->arena, valise_str_of(text.s), err);
}

/* Somebody was faster: the answer goes behind what it answers, and their head stays the head. */
static int add_branch(asking *a, const vls_turn_flat *said, valise_error *err)
{
    vls_uuid_string session = vls_uuid_text(&a->session);
    const vls_turn_branch_args args = {valise_str_of(session.s), a->head, *said};
    vls_turn_checkout_args back = {.session = valise_str_of(session.s), .version = VALISE_NONE};
    where w = {.a = a};
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_turn_done done = {.version = 0};
    valise_call call = VALISE_CALL_INIT;
    int rc = vls_with_view(workspace_of(a), NULL, find_head, &w, err);

    if (rc == 0)
        rc = valise_job_call(&call, a->job, err);
    if (rc == 0)
        rc = vls_run(workspace_of(a), &vls_op_chat_turn_branch, &args, &done, &memory, &call, NULL,
                     err);
    if (rc == 0)
        rc = vls_arena_dup(&a->out->ref, &a->job->arena, done.ref, err);
    back.turn = w.head;
    if (rc == 0)
        rc = valise_job_call(&call, a->job, err);
    if (rc == 0 && w.head.ptr)
        rc = vls_run(workspace_of(a), &vls_op_chat_turn_checkout, &back, NULL, NULL, &call, NULL,
                     err);
    a->out->branched = true;
    return rc;
}

static int keep_answer(asking *a, int failed, valise_error *err)
{
    vls_turn_given given = {.role = VLS_TURN_ASSISTANT};
    const vls_turn_flat said = {.turn = &given, .role = VALISE_NONE, .text = {.size = VALISE_NONE}};
    char expect[VLS_HEAD_JSON];
    int rc = vls_answer_rename(&a->answer, &a->job->arena, &a->names, err);

    (void)snprintf(expect, sizeof(expect), "\"%.*s\"", VALISE_STR_ARG(a->head));
    if (rc == 0)
        rc = vls_answer_text(&a->out->text, &a->job->arena, a->answer.blocks, err);
    if (rc == 0)
        rc = vls_json_text(&given.blocks.bytes, &a->job->arena, a->answer.blocks, err);
    if (rc == 0)
        rc = make_metadata(&given.metadata.bytes, a, failed, err);
    if (rc < 0)
        return rc;
    given.blocks.size = (int64_t)given.blocks.bytes.len;
    given.metadata.size = (int64_t)given.metadata.bytes.len;
    a->out->blocks = given.blocks;
    rc = add_turn(&a->out->ref, a, &said, valise_str_of(expect), err);
    return rc == VALISE_E_CONFLICT ? add_branch(a, &said, err) : rc;
}

/* What the provider counted teaches the estimate. The answer is there already: that there is one
 * sample less is no reason to say that it failed. */
static void calibrate(const asking *a)
{
    const vls_calibrate_args args = {a->model, a->estimated, a->answer.usage.input};

    if (!a->model.ptr || a->model.len > VLS_SCALE_MODEL_MAX || a->estimated < VLS_SCALE_LEAST ||
        args.reported == VALISE_NONE || args.reported < 1)
        return;
    (void)vls_job_run(a->job, &vls_op_prompt_prompt_calibrate, &args, NULL, NULL, NULL);
}

/* Is there anything in it that somebody would want back? */
static bool has_words(const asking *a)
{
    for (uint32_t i = 0; a->answer.blocks.type == VLS_JSON_ARRAY && i < a->answer.blocks.len; i++) {
        vls_json block = a->answer.blocks.items[i];

        if (!vls_str_equal(vls_text_of(block, "type"), VLS_STR("text")) ||
            vls_text_of(block, "text").len > 0)
            return true;
    }
    return false;
}

/* It failed on the way: what came is kept, and the failure stays one. */
static int keep_partial(asking *a, int failed, valise_error *err)
{
    valise_error other = VALISE_ERROR_INIT;
    int rc;

    if (a->args->drop_partial || !has_words(a))
        return failed;
    rc = keep_answer(a, failed, &other);
    if (rc < 0)
        vls_hint(err, "what arrived of the answer could not be kept: %s", other.message);
    else
        vls_hint(err, "what arrived of the answer was kept as turn %.*s",
                 VALISE_STR_ARG(a->out->ref));
    return failed;
}

static int send(asking *a, valise_error *err)
{
    vls_prompt_sending sending = {.job = a->job,
                                  .provider = &a->provider,
                                  .wire = &a->wire,
                                  .model = a->model,
                                  .stream = a->args->of.stream,
                                  .stage = "answer",
                                  .session = &a->session};
    int rc = vls_prompt_send(&a->answer, &sending, err);

    a->out->provider = a->provider.name;
    a->out->stop = valise_str_of(vls_stops[a->answer.stop]);
    a->out->model = a->answer.model.ptr ? a->answer.model : a->model;
    if (rc < 0)
        return keep_partial(a, rc, err);
    rc = keep_answer(a, 0, err);
    if (rc == 0)
        calibrate(a);
    return rc;
}

/* ---- all of it ---- */

static int check_words(const ask_args *args, valise_error *err)
{
    if (args->of.turn.ptr) {
        (void)vls_fail(err, VALISE_E_INVALID,
                       "a question must continue from the head of the session");
        vls_hint(err, "'valise turn checkout' moves it");
        return VALISE_E_INVALID;
    }
    if (args->blocks.ptr && (args->text.ptr || args->attach.count > 0))
        return vls_fail(err, VALISE_E_INVALID, "either blocks, or a text and files; not both");
    if (args->text.ptr && args->attach.count == 0 && vls_is_blank(args->text))
        return vls_fail(err, VALISE_E_INVALID, "the text is nothing but white space");
    return 0;
}

/* Before anything is written: is there somebody to be asked? */
static int find_client(asking *a, valise_error *err)
{
    valise *v = workspace_of(a);
    vls_client *client = NULL;
    int rc = vls_prompt_provider(&a->provider, &a->job->arena, v, a->args->of.provider,
                                 a->args->replay, err);

    if (rc == 0)
        rc = vls_prompt_client(&client, v, &a->provider, err);
    vls_prompt_client_return(v, client);
    return rc;
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    asking a = {.job = j, .args = in, .out = result};
    int rc = check_words(a.args, err);

    if (rc == 0)
        rc = find_client(&a, err);
    if (rc == 0)
        rc = vls_job_view(j, find_session, &a, err);
    if (rc == 0 && says_something(a.args))
        rc = vls_job_view(j, try_without_history, &a, err);
    if (rc == 0)
        rc = say(&a, err);
    if (rc == 0)
        rc = vls_job_view(j, find_model, &a, err);
    if (rc == 0)
        rc = build(&a, err);
    if (rc == 0)
        rc = vls_job_view(j, take_wire, &a, err);
    if (rc == 0)
        rc = send(&a, err);
    vls_wire_release(&a.wire);
    return rc;
}

const valise_op vls_op_prompt_prompt_ask = {
    .size = sizeof(valise_op),
    .name = "prompt:ask",
    .alias = "ask",
    .brief = "Send a message in a session and get a model's answer.",
    .help = "The text becomes a turn of the user. The prompt is built and recorded as by `valise "
            "prompt build`, with the same options, and sent to the provider. The answer becomes a "
            "turn of the assistant, with its usage and prompt in its metadata. Tools that it calls "
            "are not run: add their results as a turn and ask again without a text.\n\nProviders "
            "are those of your own configuration (provider.NAME.url and so on), or the usual ones "
            "by their names, with keys from the environment; --replay takes answers from a file. "
            "With --stream each piece is a live event (session:STREAM_CHUNK) as it arrives. On the "
            "command line the text is printed as it arrives; --json shows the whole answer.\n\nAn "
            "answer that is cut off or cancelled is kept as far as it arrived, and marked as "
            "partial in its metadata. If the request is refused, only the user's turn is kept.",
    .kind = VALISE_JOB,
    .needs = "prompt:write",
    .in = ask_in,
    .in_size = sizeof(ask_args),
    .out = ask_out,
    .out_size = sizeof(asked),
    .job = job,
    .example = "{\"session\":\"support\",\"text\":\"Where is my parcel?\",\"provider\":\"openai\","
               "\"model\":\"gpt-4o\"}",
};
