/* op_prompt_show.c -- prompt:show, a prompt that was made, made again. [P8]
 *
 * The session may have moved on: what is shown comes from the manifest and from objects. What was
 * erased, or may not be read, has a word in its place, and then the answer says that it is not what
 * was sent. */
#include "bus/bus.h"
#include "bus/job.h"
#include "context/place.h"
#include "json/make.h"
#include "prompt/find.h"
#include "prompt/ops.h"
#include "prompt/shown.h"
#include "store/view.h"

typedef vls_prompt_show_args show_args;
typedef vls_prompt_shown shown;

static const valise_field show_in[] = {
    VALISE_FIELD_WITH(show_args, prompt, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The prompt: " VLS_PROMPT_WHICH, .min = 1, .max = VLS_PROMPT_TEXT_MAX,
                      .ref = VLS_REF_PROMPT),
    VALISE_FIELD(show_args, neutral, BOOL, 0, "Answer with the neutral prompt."),
    VALISE_FIELD(show_args, wire, BOOL, 0, "Answer with the request as the provider got it."),
    VALISE_FIELD(show_args, manifest, BOOL, 0, "Answer with the manifest as it is stored."),
    VALISE_FIELD_WITH(show_args, output, PATH, VALISE_NULLABLE,
                      "Write the request to this file, with attached files of any size.",
                      .ref = "cli.file", .min = 1, .max = 4000),
    VALISE_FIELD(show_args, force, BOOL, 0, "Overwrite an existing file."),
    VALISE_FIELD_END,
};

static const valise_field show_out[] = {
    VALISE_FIELD_WITH(shown, id, ID, VALISE_REQUIRED, "Id of the manifest.", .ref = VLS_REF_PROMPT),
    VALISE_FIELD_AS(shown, session, "sessionId", UUID, VALISE_REQUIRED, "The session."),
    VALISE_FIELD_WITH(shown, head, STR, VALISE_NULLABLE, "The turn it ends with.",
                      .ref = VLS_REF_TURN),
    VALISE_FIELD(shown, provider, STR, VALISE_REQUIRED, "Whose form the request has."),
    VALISE_FIELD(shown, model, STR, VALISE_NULLABLE, "The model."),
    VALISE_FIELD_AS(shown, adapter_version, "adapterVersion", INT, VALISE_REQUIRED,
                    "Which version of the adapter wrote it."),
    VALISE_FIELD_AS(shown, adapter_now, "adapterNow", INT, VALISE_NULLABLE,
                    "Which one there is now, where it is another."),
    VALISE_FIELD(shown, time, TIME, VALISE_REQUIRED, "The time of the build."),
    VALISE_FIELD(shown, seq, INT, VALISE_REQUIRED, "The state it was made of."),
    VALISE_FIELD(shown, actor, STR, VALISE_REQUIRED, "Who built it."),
    VALISE_FIELD(shown, tokens, INT, VALISE_REQUIRED, "Its tokens, estimated."),
    VALISE_FIELD(shown, limit, INT, VALISE_NULLABLE, "How many it might have."),
    VALISE_FIELD(shown, scale, INT, VALISE_REQUIRED,
                 "What the model counted for one token of ours, in sixteenths."),
    VALISE_FIELD(shown, trimmed, INT, VALISE_REQUIRED, "Turns that did not fit."),
    VALISE_FIELD(shown, retriever, STR, VALISE_REQUIRED, "Who ranked context entries."),
    VALISE_FIELD_AS(shown, retriever_version, "retrieverVersion", INT, VALISE_REQUIRED,
                    "Which version of it."),
    VALISE_FIELD(shown, parts, INT, VALISE_REQUIRED, "Of how many parts it is made."),
    VALISE_FIELD_WITH(shown, sections, LIST, 0, "What its sections cost.",
                      .more = &vls_section_item),
    VALISE_FIELD_WITH(shown, left, LIST, 0, "What was left out.", .more = &vls_left_item),
    VALISE_FIELD_WITH(shown, repairs, LIST, 0, "What was done for the provider.",
                      .more = &vls_repair_item),
    VALISE_FIELD_AS(shown, neutral_hash, "neutralHash", ID, VALISE_REQUIRED,
                    "SHA-256 of the neutral prompt as it was."),
    VALISE_FIELD_AS(shown, wire_hash, "wireHash", ID, VALISE_REQUIRED,
                    "SHA-256 of the request as it was."),
    VALISE_FIELD_AS(shown, neutral_same, "neutralSame", BOOL, VALISE_REQUIRED,
                    "The neutral prompt is still the same."),
    VALISE_FIELD_AS(shown, wire_same, "wireSame", BOOL, VALISE_REQUIRED,
                    "The request is still the same."),
    VALISE_FIELD(shown, erased, INT, VALISE_REQUIRED, "Parts whose text is gone."),
    VALISE_FIELD(shown, denied, INT, VALISE_REQUIRED, "Parts that may not be read."),
    VALISE_FIELD(shown, neutral, VALUE, VALISE_NULLABLE, "The neutral prompt."),
    VALISE_FIELD(shown, wire, STR, VALISE_NULLABLE, "The request; 16 MiB at most."),
    VALISE_FIELD(shown, manifest, VALUE, VALISE_NULLABLE, "The manifest."),
    VALISE_FIELD_END,
};

typedef struct showing {
    valise_job *job;
    const show_args *args;
    shown *out;
} showing;

static int dup_or_none(valise_str *out, vls_arena *arena, valise_str text, valise_error *err)
{
    return text.ptr ? vls_arena_dup(out, arena, text, err) : 0;
}

static int tell(const showing *s, valise_view *view, const vls_prompt_row *row,
                const vls_manifest *m, valise_error *err)
{
    vls_arena *arena = &s->job->arena;
    const vls_adapter *adapter = vls_adapter_find(m->adapter);
    shown *out = s->out;
    int rc;

    *out =
        (shown){.id = row->id,
                .session = m->session,
                .adapter_version = m->adapter_version,
                .adapter_now = adapter && adapter->version != m->adapter_version ? adapter->version
                                                                                 : VALISE_NONE,
                .time = m->time,
                .seq = m->seq,
                .tokens = m->budget.used,
                .limit = m->budget.limit,
                .scale = m->scale,
                .trimmed = m->trimmed,
                .retriever_version = m->retriever_version,
                .parts = (int64_t)m->parts.len,
                .neutral_hash = m->neutral,
                .wire_hash = m->wire,
                .neutral = {.size = VALISE_NONE},
                .manifest = {.size = VALISE_NONE}};
    rc = dup_or_none(&out->head, arena, m->head, err);
    if (rc == 0)
        rc = vls_arena_dup(&out->provider, arena, m->adapter, err);
    if (rc == 0)
        rc = dup_or_none(&out->model, arena, m->model, err);
    if (rc == 0)
        rc = vls_arena_dup(&out->actor, arena, m->actor, err);
    if (rc == 0)
        rc = vls_arena_dup(&out->retriever, arena, m->retriever, err);
    if (rc == 0)
        rc = vls_shown_sections(&out->sections, arena, &m->budget, &m->parts, err);
    if (rc == 0)
        rc = vls_shown_left(&out->left, arena, view, &m->as, m->left.ptr, m->left.len, err);
    return rc < 0 ? rc
                  : vls_shown_repairs(&out->repairs, arena, m->repairs.ptr, m->repairs.len, err);
}

/* Names beside those of parts that may not be read: what was left out, and what was asked for. */
static int count_hidden(int64_t *out, const showing *s, valise_view *view, valise_str request,
                        valise_error *err)
{
    const vls_left_shown *const *left = s->out->left.items;
    vls_json asked = vls_json_null(), paths;
    int rc = vls_json_parse(&asked, &view->arena, request, NULL, err);
    valise_str bag = vls_text_of(asked, "backpack");
    const char *attrs[] = {"backpack", NULL, NULL};
    valise_error why = VALISE_ERROR_INIT;

    for (size_t i = 0; i < s->out->left.count; i++)
        *out += !left[i]->name.ptr;
    paths = vls_member_of(asked, "paths");
    for (uint32_t i = 0; paths.type == VLS_JSON_ARRAY && i < paths.len && rc >= 0; i++) {
        rc = vls_path_readable(view, vls_json_str(paths.items[i]), VLS_STR(""), err);
        *out += rc == 0;
    }
    if (rc >= 0 && bag.ptr) {
        rc = vls_arena_dup(&bag, &view->arena, bag, err);
        attrs[1] = bag.ptr;
        *out += rc == 0 && valise_view_allows(view, "backpack:read", attrs, &why) < 0;
    }
    return vls_settle(rc);
}

/* The manifest has names of everything: it is for who may read all of that. */
static int tell_manifest(const showing *s, valise_view *view, const vls_prompt_row *row,
                         valise_str request, valise_error *err)
{
    valise_str json = {NULL, 0};
    int64_t hidden = s->out->denied;
    int rc = count_hidden(&hidden, s, view, request, err);

    if (rc < 0)
        return rc;
    if (hidden > 0)
        return vls_fail(err, VALISE_E_DENIED, "the manifest names %lld parts that you may not read",
                        (long long)hidden);
    rc = valise_view_object(&json, view, &row->manifest, err);
    s->out->manifest.size = (int64_t)json.len;
    return rc < 0 ? rc : vls_arena_dup(&s->out->manifest.bytes, &s->job->arena, json, err);
}

/* The bytes of blobs are in it. */
static bool gives_wire(const show_args *a)
{
    return a->wire || a->pour || a->output.ptr;
}

static int hand_out(const showing *s, const vls_rebuilt *again, valise_error *err)
{
    const show_args *a = s->args;
    vls_blobs *blobs = valise_job_workspace(s->job)->blobs;
    int64_t bytes = 0;
    int rc = 0;

    if (a->neutral) {
        s->out->neutral.size = (int64_t)again->rendered.text.len;
        rc = vls_arena_dup(&s->out->neutral.bytes, &s->job->arena,
                           vls_buf_str(&again->rendered.text), err);
    }
    if (rc == 0 && a->output.ptr)
        rc = vls_wire_save(&bytes, &again->wire, blobs, a->output, a->force, err);
    else if (rc == 0 && a->pour)
        rc = vls_wire_pour(&again->wire, blobs, a->pour, a->pour_arg, err);
    else if (rc == 0 && a->wire)
        rc = vls_wire_gather(&s->out->wire, &s->job->arena, &again->wire, blobs, err);
    return rc;
}

static int show(void *arg, valise_view *view, valise_error *err)
{
    const showing *s = arg;
    vls_prompt_row row;
    vls_manifest m = {0};
    vls_rebuilt again = {0};
    int rc = vls_prompt_open(&row, &m, view, s->args->prompt, err);

    if (rc == 0)
        rc = vls_rebuild(&again, view, &m, err);
    if (rc == 0)
        rc = tell(s, view, &row, &m, err);
    if (rc == 0) {
        s->out->neutral_same = again.neutral_same;
        s->out->wire_same = again.wire_same;
        s->out->erased = (int64_t)again.erased;
        s->out->denied = (int64_t)again.denied;
        rc = s->args->manifest ? tell_manifest(s, view, &row, m.request, err) : 0;
    }
    if (rc == 0 && again.wire.holes.len > 0 && gives_wire(s->args))
        rc = valise_view_allows(view, "blob:read", NULL, err);
    if (rc == 0)
        rc = hand_out(s, &again, err);
    vls_rebuilt_release(&again);
    return rc;
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    showing s = {j, in, result};

    return vls_job_view(j, show, &s, err);
}

const valise_op vls_op_prompt_prompt_show = {
    .size = sizeof(valise_op),
    .name = "prompt:show",
    .brief = "Show a recorded prompt.",
    .help = "The prompt is built again from its parts, even if the session has changed since, and "
            "compared with the recorded hashes. What was erased is shown as [erased], what you may "
            "not read as [denied]; if a newer adapter writes other bytes, you are told.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_READ_ONLY | VALISE_OP_IDEMPOTENT,
    .needs = "prompt:read",
    .in = show_in,
    .in_size = sizeof(show_args),
    .out = show_out,
    .out_size = sizeof(shown),
    .job = job,
    .example = "{\"prompt\":\"5891b5b5\",\"neutral\":true}",
};
