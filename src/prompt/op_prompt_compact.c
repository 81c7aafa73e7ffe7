/* op_prompt_compact.c -- prompt:compact, a summary in the place of old turns. [P7] [P15]
 *
 *     view       history -> range -> text, or what a model is to be told
 *     outside    a model writes the text, where one is asked for
 *     command    turn:add with a `summary` block, if the head is still where it was
 *
 * The turns stay; the head moves to the summary, and back with `turn checkout`. */
#include "base/hex.h"
#include "bus/bus.h"
#include "bus/job.h"
#include "chat/ops.h"
#include "json/make.h"
#include "prompt/args.h"
#include "prompt/cost.h"
#include "prompt/digest.h"
#include "prompt/range.h"
#include "prompt/scale.h"
#include "prompt/summarize.h"
#include "store/view.h"

#define KEEP_USUAL 4
#define TARGET_LEAST 200
#define TARGET_MOST 2000

typedef struct compact_args {
    valise_str session, from, to, text, provider, model, replay;
    int64_t keep, target;         /* VALISE_NONE: as usual */
    const vls_policies *policies; /* NULL: none */
    bool dry_run;
} compact_args;

static const valise_field compact_in[] = {
    VALISE_FIELD_WITH(compact_args, session, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The session: its label, its id, or the end of its id.", .min = 1,
                      .max = VLS_TURN_REF_MAX, .ref = VLS_REF_SESSION),
    VALISE_FIELD_WITH(compact_args, from, STR, VALISE_NULLABLE,
                      "The first turn it covers (default: the first of the session).", .min = 1,
                      .max = VLS_TURN_REF_MAX, .ref = VLS_REF_TURN),
    VALISE_FIELD_WITH(compact_args, to, STR, VALISE_NULLABLE,
                      "The last turn it covers (default: as --keep says).", .min = 1,
                      .max = VLS_TURN_REF_MAX, .ref = VLS_REF_TURN),
    VALISE_FIELD_WITH(compact_args, keep, INT, VALISE_NULLABLE,
                      "Turns at the end to keep as they are (default: 4).", .min = 0,
                      .max = INT32_MAX),
    VALISE_FIELD_WITH(compact_args, text, STR, VALISE_NULLABLE,
                      "The summary (default: sentences are chosen, or a model is asked).", .min = 1,
                      .max = VLS_JSON_MAX_BYTES / 4),
    VALISE_FIELD_WITH(compact_args, provider, STR, VALISE_NULLABLE,
                      "The provider that writes the summary.", .min = 1,
                      .max = VLS_PROVIDER_NAME_MAX, .ref = "cli.provider"),
    VALISE_FIELD_WITH(compact_args, model, STR, VALISE_NULLABLE, "Which of its models to use.",
                      .min = 1, .max = VLS_MODEL_MAX),
    VALISE_FIELD_WITH(compact_args, replay, PATH, VALISE_NULLABLE,
                      "A file of recorded answers, instead of the provider.", .min = 1, .max = 4000,
                      .ref = "cli.file"),
    VALISE_FIELD_WITH(
        compact_args, target, INT, VALISE_NULLABLE,
        "The maximum number of tokens in the summary (default: a tenth, from 200 to 2000).",
        .min = VLS_SUMMARY_TARGET_MIN, .max = 1000000),
    VALISE_FIELD_WITH(compact_args, policies, STRUCT, VALISE_NULLABLE,
                      "Also show what these build policies would save.",
                      .more = &vls_policies_struct),
    VALISE_FIELD_AS(compact_args, dry_run, "dryRun", BOOL, 0,
                    "Show what would be written and how much it saves."),
    VALISE_FIELD_END,
};

typedef struct compacted {
    bool compacted;
    valise_str reason; /* why not; ptr NULL */
    valise_str ref, head, from, to;
    int64_t turns;
    int64_t tokens_before, tokens_after, policies_save; /* the last: VALISE_NONE */
    valise_str summarizer, model, text;
} compacted;

static const valise_field compact_out[] = {
    VALISE_FIELD(compacted, compacted, BOOL, 0, "Whether there is, or would be, a summary."),
    VALISE_FIELD(compacted, reason, STR, VALISE_NULLABLE, "Why there is none."),
    VALISE_FIELD_WITH(compacted, ref, STR, VALISE_NULLABLE, "The turn with the summary.",
                      .ref = VLS_REF_TURN),
    VALISE_FIELD_WITH(compacted, head, STR, VALISE_NULLABLE,
                      "The head before: `turn checkout` to it takes the summary back.",
                      .ref = VLS_REF_TURN),
    VALISE_FIELD_WITH(compacted, from, STR, VALISE_NULLABLE, "The first turn it covers.",
                      .ref = VLS_REF_TURN),
    VALISE_FIELD_WITH(compacted, to, STR, VALISE_NULLABLE, "The last turn it covers.",
                      .ref = VLS_REF_TURN),
    VALISE_FIELD(compacted, turns, INT, 0, "How many it covers."),
    VALISE_FIELD_AS(compacted, tokens_before, "tokensBefore", INT, 0,
                    "Tokens of the history as it was."),
    VALISE_FIELD_AS(compacted, tokens_after, "tokensAfter", INT, 0, "Tokens of it then."),
    VALISE_FIELD_AS(compacted, policies_save, "policiesSave", INT, VALISE_NULLABLE,
                    "Tokens that the policies would save, of the history as it was."),
    VALISE_FIELD(compacted, summarizer, STR, VALISE_NULLABLE, "Who wrote it."),
    VALISE_FIELD(compacted, model, STR, VALISE_NULLABLE, "The model that wrote it."),
    VALISE_FIELD(compacted, text, STR, VALISE_NULLABLE, "What it says; of a dry run."),
    VALISE_FIELD_END,
};

typedef struct compacting {
    valise_job *job;
    const compact_args *args;
    compacted *out;
    valise_uuid session;
    char expect[VLS_HEAD_JSON];
    valise_id hash;
    int64_t covered; /* tokens */
    int64_t target;
    valise_str text; /* the summary, or (asks) what a model is to be told */
    bool asks;
    vls_provider provider;
    vls_answer answer;
} compacting;

/* ---- looking ---- */

static int dup_ref(valise_str *out, compacting *c, const vls_turn_ref *ref, valise_error *err)
{
    vls_turn_ref_text text = vls_turn_ref_write(ref);

    return vls_arena_dup(out, &c->job->arena, valise_str_of(text.s), err);
}

static int choose_text(valise_str *out, valise_view *view, const vls_range *range, int64_t target,
                       valise_error *err)
{
    vls_summary_turn *turns = vls_arena_array(&view->arena, range->count, sizeof(*turns));

    if (!turns)
        return vls_arena_fail(&view->arena, err);
    for (size_t i = 0; i < range->count; i++)
        turns[i] = (vls_summary_turn){range->ptr[i].says, range->ptr[i].value};
    return vls_summarize(out, &view->arena, turns, range->count, target, err);
}

static int make_text(compacting *c, valise_view *view, const vls_range *range, valise_error *err)
{
    valise_str text = c->args->text;
    int rc = 0;

    c->target = c->args->target;
    if (c->target == VALISE_NONE)
        c->target = VLS_MIN(VLS_MAX(range->tokens / 10, TARGET_LEAST), TARGET_MOST);
    if (!text.ptr && c->asks)
        rc = vls_digest_text(&text, &view->arena, range->ptr, range->count, err);
    else if (!text.ptr)
        rc = choose_text(&text, view, range, c->target, err);
    return rc < 0 ? rc : vls_arena_dup(&c->text, &c->job->arena, text, err);
}

static int take_range(compacting *c, const vls_range *range, valise_error *err)
{
    int rc = dup_ref(&c->out->from, c, &range->from, err);

    c->hash = range->hash;
    c->covered = range->tokens;
    c->out->turns = (int64_t)range->turns;
    return rc < 0 ? rc : dup_ref(&c->out->to, c, &range->to, err);
}

static int save_by_policies(compacting *c, valise_view *view, vls_choice *all, valise_error *err)
{
    c->out->policies_save = VALISE_NONE;
    if (!c->args->policies)
        return 0;
    return vls_policies_apply(&c->out->policies_save, &view->arena, c->args->policies,
                              all->parts.ptr, all->parts.len, err);
}

static int find_session(vls_request *request, compacting *c, valise_view *view, valise_error *err)
{
    int rc = valise_view_allows(view, "session:read", NULL, err);

    if (rc == 0)
        rc = vls_session_find(&request->session, view, c->args->session, err);
    if (rc < 0)
        return rc;
    c->session = request->session.id;
    vls_session_head_json(c->expect, &request->session);
    if (request->session.head.version == 0)
        return 0;
    rc = vls_turn_get(&request->head, view, &request->session.head, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_CORRUPT, "the head of the session is missing");
    return rc < 0 ? rc : dup_ref(&c->out->head, c, &request->head.ref, err);
}

static int look(void *arg, valise_view *view, valise_error *err)
{
    compacting *c = arg;
    vls_request request = {.adapter = &vls_adapter_compatible,
                           .missing = VLS_MISSING_TEXT,
                           .inline_max = VALISE_NONE,
                           .window = VALISE_NONE,
                           .scale = VLS_SCALE_ONE,
                           .time = view->arena.env->now_ns(view->arena.env->self)};
    vls_range_asked asked = {c->args->from, c->args->to,
                             c->args->keep == VALISE_NONE ? KEEP_USUAL : c->args->keep};
    vls_choice all = {.trimmed = 0};
    vls_range range = {.turns = 0};
    int rc = find_session(&request, c, view, err);

    if (rc == 0)
        rc = vls_choose_history(&all, view, &request, VALISE_NONE, err);
    if (rc == 0)
        rc = vls_range_find(&range, view, &request, &all.parts, &asked, err);
    if (rc == 0 && range.turns > 0)
        rc = take_range(c, &range, err);
    if (rc == 0 && range.turns > 0)
        rc = make_text(c, view, &range, err);
    if (rc == 0) {
        c->out->tokens_before = c->out->tokens_after = range.all_tokens;
        rc = save_by_policies(c, view, &all, err); /* last: it changes the parts */
    }
    return rc;
}

/* ---- the turn ---- */

static int make_blocks(valise_str *out, vls_json *block, compacting *c, valise_error *err)
{
    vls_arena *arena = &c->job->arena;
    vls_id_text digits = vls_id_hex(&c->hash);
    valise_str hash;
    vls_json covers = vls_json_null();
    int rc = vls_arena_dup(&hash, arena, valise_str_of(digits.s), err);

    if (rc == 0)
        rc = VLS_PAIRS(&covers, arena, err, {"from", vls_json_string(c->out->from), false},
                       {"to", vls_json_string(c->out->to), false},
                       {"hash", vls_json_string(hash), false});
    if (rc == 0)
        rc = VLS_PAIRS(block, arena, err, {"type", vls_json_string(VLS_STR("summary")), false},
                       {"text", vls_json_string(c->text), false}, {"covers", covers, false});
    return rc < 0 ? rc : vls_json_text(out, arena, vls_json_array(block, 1), err);
}

static int make_metadata(valise_str *out, const compacting *c, valise_error *err)
{
    vls_arena *arena = &c->job->arena;
    const compacted *done = c->out;
    vls_json usage = vls_json_null(), compaction = vls_json_null(), all = vls_json_null();
    int rc = c->asks ? vls_usage_json(&usage, arena, &c->answer.usage, err) : 0;

    if (rc == 0)
        rc = VLS_PAIRS(&compaction, arena, err,
                       {"summarizer", vls_json_string(done->summarizer), false},
                       {"tokensBefore", vls_json_int(done->tokens_before), false},
                       {"tokensAfter", vls_json_int(done->tokens_after), false},
                       {"turns", vls_json_int(done->turns), false});
    if (rc == 0)
        rc = VLS_PAIRS(&all, arena, err, {"compaction", compaction, false},
                       {"model", vls_json_string(done->model), !done->model.ptr},
                       {"provider", vls_json_string(c->provider.name), !c->asks},
                       {"usage", usage, !c->asks});
    return rc < 0 ? rc : vls_json_text(out, arena, all, err);
}

static int add_turn(compacting *c, valise_str blocks, valise_error *err)
{
    valise *v = valise_job_workspace(c->job);
    vls_uuid_string session = vls_uuid_text(&c->session);
    vls_turn_given given = {.role = VLS_TURN_USER,
                            .blocks = {.size = (int64_t)blocks.len, .bytes = blocks}};
    vls_turn_add_args args = {
        .session = valise_str_of(session.s),
        .said = {.turn = &given, .role = VALISE_NONE, .text = {.size = VALISE_NONE}}};
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_turn_done done = {.version = 0};
    valise_call call = VALISE_CALL_INIT;
    int rc = make_metadata(&given.metadata.bytes, c, err);

    given.metadata.size = (int64_t)given.metadata.bytes.len;
    if (rc == 0)
        rc = valise_job_call(&call, c->job, err);
    call.expect = valise_str_of(c->expect);
    if (rc == 0)
        rc = vls_run(v, &vls_op_chat_turn_add, &args, &done, &memory, &call, NULL, err);
    if (rc == VALISE_E_CONFLICT) {
        (void)vls_fail(err, rc, "session %s got a new turn in the meantime", session.s);
        vls_hint(err, "nothing was written: run it again");
    }
    return rc < 0 ? rc : vls_arena_dup(&c->out->ref, &c->job->arena, done.ref, err);
}

/* ---- all of it ---- */

static int ask(compacting *c, valise_error *err)
{
    int rc = vls_digest_ask(&c->text, &c->answer, c->job, &c->provider, c->args->model, c->text,
                            c->target, err);

    if (rc < 0)
        return rc;
    c->out->model = c->answer.model.ptr  ? c->answer.model
                    : c->args->model.ptr ? c->args->model
                                         : c->provider.model;
    return 0;
}

static int write_summary(compacting *c, valise_error *err)
{
    compacted *out = c->out;
    vls_json block = vls_json_null();
    valise_str blocks = {NULL, 0};
    int rc = make_blocks(&blocks, &block, c, err);

    if (rc < 0)
        return rc;
    out->tokens_after = out->tokens_before - c->covered + vls_turn_cost(vls_json_array(&block, 1));
    if (out->tokens_after >= out->tokens_before && !c->args->text.ptr) {
        out->tokens_after = out->tokens_before;
        out->reason = VLS_STR("a summary would not be shorter");
        return 0;
    }
    out->compacted = true;
    if (c->args->dry_run) {
        out->text = c->text;
        return 0;
    }
    return add_turn(c, blocks, err);
}

static int check_words(const compact_args *args, valise_error *err)
{
    bool asks = args->provider.ptr || args->replay.ptr;

    if (args->text.ptr && asks)
        return vls_fail(err, VALISE_E_INVALID, "either a text or a provider, not both");
    if (args->model.ptr && !asks)
        return vls_fail(err, VALISE_E_INVALID, "a model needs a provider, too");
    if (args->to.ptr && args->keep != VALISE_NONE)
        return vls_fail(err, VALISE_E_INVALID, "either `to` or `keep`, not both");
    return 0;
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    compacting c = {.job = j, .args = in, .out = result};
    valise *v = valise_job_workspace(j);
    int rc = check_words(c.args, err);

    c.asks = c.args->provider.ptr || c.args->replay.ptr;
    if (rc == 0 && c.asks)
        rc = vls_prompt_provider(&c.provider, &j->arena, v, c.args->provider, c.args->replay, err);
    if (rc == 0)
        rc = vls_job_view(j, look, &c, err);
    if (rc < 0)
        return rc;
    if (c.out->turns == 0) {
        c.out->reason = VLS_STR("there is nothing to summarize");
        return 0;
    }
    c.out->summarizer = c.asks             ? c.provider.name
                        : c.args->text.ptr ? VLS_STR("given")
                                           : VLS_STR(VLS_SUMMARIZER);
    if (c.asks && c.args->dry_run) {
        c.out->compacted = true; /* nobody is asked for a dry run: what it may have at most */
        c.out->tokens_after = c.out->tokens_before - c.covered + c.target;
        return 0;
    }
    if (c.asks)
        rc = ask(&c, err);
    return rc < 0 ? rc : write_summary(&c, err);
}

const valise_op vls_op_prompt_prompt_compact = {
    .size = sizeof(valise_op),
    .name = "prompt:compact",
    .brief = "Replace old turns with a summary.",
    .help = "The summary is a turn of its own after the head: prompts that are built from now on "
            "contain it instead of the turns that it covers. Those turns are kept: `valise turn "
            "checkout` to the former head undoes it.\n\nWithout --text or --provider it is made of "
            "the most relevant sentences, always the same ones for the same turns. A range that "
            "would split a tool call from its result, or an older summary from what it covers, is "
            "shortened. If the head moves while a model writes the summary, nothing is added.",
    .kind = VALISE_JOB,
    .needs = "session:write",
    .in = compact_in,
    .in_size = sizeof(compact_args),
    .out = compact_out,
    .out_size = sizeof(compacted),
    .job = job,
    .example = "{\"session\":\"support\",\"keep\":2,\"dryRun\":true}",
};
