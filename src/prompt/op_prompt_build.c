/* op_prompt_build.c -- prompt:build, from a session to the request a model gets. [P1] to [P8]
 *
 *     view       arguments -> request -> parts -> neutral, wire, manifest; nothing is written
 *     command    prompt:record: the manifest, and rows that keep what it needs
 *
 * What the prompt was made of may be erased in between: then it is built again. A build that gives
 * what a recorded one gave is that one. */
#include "base/hash.h"
#include "bus/bus.h"
#include "bus/job.h"
#include "prompt/manifest.h"
#include "prompt/manifest_impl.h"
#include "prompt/ops.h"
#include "prompt/record.h"
#include "prompt/shown.h"
#include "store/view.h"

#define TRIES 3
#define EQUALS_MAX 64 /* of the newest prompts of a session that are looked at */

typedef vls_prompt_build_args build_args;
typedef vls_prompt_built built;

static const valise_field build_in[] = {
    VLS_PROMPT_ARGS_FIELDS(build_args, VLS_PROMPT_FORMAT_HELP, "cli.adapter"),
    VALISE_FIELD_AS(build_args, no_record, "noRecord", BOOL, 0,
                    "Do not record it; it cannot be shown again."),
    VALISE_FIELD(build_args, neutral, BOOL, 0, "Answer with the neutral prompt."),
    VALISE_FIELD(build_args, wire, BOOL, 0, "Answer with the request as the provider gets it."),
    VALISE_FIELD_WITH(build_args, output, PATH, VALISE_NULLABLE,
                      "Write the request to this file, with attached files of any size.",
                      .ref = "cli.file", .min = 1, .max = 4000),
    VALISE_FIELD(build_args, force, BOOL, 0, "Overwrite an existing file."),
    VALISE_FIELD_END,
};

static const valise_field build_out[] = {
    VALISE_FIELD_WITH(built, id, ID, VALISE_NULLABLE, "Id of the manifest.", .ref = VLS_REF_PROMPT),
    VALISE_FIELD(built, existed, BOOL, 0, "The same one was recorded before."),
    VALISE_FIELD_AS(built, session, "sessionId", UUID, VALISE_REQUIRED, "The session."),
    VALISE_FIELD_WITH(built, head, STR, VALISE_NULLABLE, "The turn it ends with.",
                      .ref = VLS_REF_TURN),
    VALISE_FIELD(built, provider, STR, VALISE_REQUIRED, "Whose form the request has."),
    VALISE_FIELD(built, model, STR, VALISE_NULLABLE, "The model."),
    VALISE_FIELD(built, tokens, INT, VALISE_REQUIRED, "Its tokens, estimated."),
    VALISE_FIELD(built, limit, INT, VALISE_NULLABLE, "How many it may have."),
    VALISE_FIELD(built, trimmed, INT, VALISE_REQUIRED, "Turns that did not fit."),
    VALISE_FIELD_WITH(built, sections, LIST, 0, "What its sections cost.",
                      .more = &vls_section_item),
    VALISE_FIELD_WITH(built, left, LIST, 0, "What was left out.", .more = &vls_left_item),
    VALISE_FIELD_WITH(built, repairs, LIST, 0, "What was done for the provider.",
                      .more = &vls_repair_item),
    VALISE_FIELD_AS(built, neutral_hash, "neutralHash", ID, VALISE_REQUIRED,
                    "SHA-256 of the neutral prompt."),
    VALISE_FIELD_AS(built, wire_hash, "wireHash", ID, VALISE_REQUIRED,
                    "SHA-256 of the request, with ids in the places of blobs."),
    VALISE_FIELD_AS(built, neutral_bytes, "neutralBytes", INT, VALISE_REQUIRED,
                    "Bytes of the neutral prompt."),
    VALISE_FIELD_AS(built, wire_bytes, "wireBytes", INT, VALISE_NULLABLE, "Bytes of the request."),
    VALISE_FIELD(built, neutral, VALUE, VALISE_NULLABLE, "The neutral prompt."),
    VALISE_FIELD(built, wire, STR, VALISE_NULLABLE, "The request; 16 MiB at most."),
    VALISE_FIELD_END,
};

typedef struct building {
    valise_job *job;
    const build_args *args;
    built *out;
    vls_wire wire;
    vls_record_args record; /* in memory of the job */
} building;

/* ---- what is recorded ---- */

static bool is_held(const vls_part *part)
{
    return part->kept && part->kind >= VLS_PART_PREFERENCE && part->kind <= VLS_PART_GIVEN;
}

static int add_bytes(valise_str *list, size_t *count, vls_arena *arena, const valise_id *id,
                     valise_str whose, valise_error *err)
{
    vls_buf bytes;

    if (vls_id_is_none(id))
        return 0;
    vls_buf_init_in(&bytes, arena, sizeof(*id) + whose.len + 1);
    vls_buf_add(&bytes, vls_str((const char *)id->bytes, sizeof(id->bytes)));
    vls_buf_add(&bytes, whose);
    return vls_buf_keep(&list[(*count)++], &bytes, err);
}

static int list_needs(building *b, const vls_manifest *m, valise_error *err)
{
    vls_arena *arena = &b->job->arena;
    valise_str *holds = vls_arena_array(arena, m->parts.len + 1, sizeof(*holds));
    valise_str *blobs = vls_arena_array(arena, m->parts.len + 1, sizeof(*blobs));
    valise_content *given = vls_arena_array(arena, m->parts.len + 1, sizeof(*given));
    size_t hold_count = 0, blob_count = 0, given_count = 0;
    int rc = 0;

    if (!holds || !blobs || !given)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < m->parts.len && rc == 0; i++) {
        const vls_part *part = &m->parts.ptr[i];
        const valise_id *whose = vls_id_is_none(&part->source) ? &part->id : &part->source;

        if (!is_held(part))
            continue;
        rc = add_bytes(holds, &hold_count, arena, &part->id,
                       vls_str((const char *)whose->bytes, sizeof(whose->bytes)), err);
        if (rc == 0)
            rc = add_bytes(blobs, &blob_count, arena, &part->blob, part->name, err);
        if (rc == 0 && part->kind == VLS_PART_GIVEN) {
            given[given_count] = (valise_content){.size = (int64_t)part->text.len};
            rc = vls_arena_dup(&given[given_count++].bytes, arena, part->text, err);
        }
    }
    b->record.holds = (valise_list){holds, hold_count};
    b->record.blobs = (valise_list){blobs, blob_count};
    b->record.given = (valise_list){given, given_count};
    return rc;
}

static int write_manifest(valise_str *out, valise_id *id, building *b, valise_view *view,
                          const vls_manifest *m, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    vls_buf_init(&text, view->arena.env, VLS_JSON_MAX_BYTES);
    rc = vls_manifest_write(&text, m, err);
    if (rc == 0)
        rc = vls_object_id(id, "value", vls_buf_str(&text), err);
    return rc < 0 ? rc : vls_arena_dup(out, &b->job->arena, vls_buf_str(&text), err);
}

/* ---- one that gave the same ---- */

static bool is_alike(const vls_prompt_row *row, const vls_manifest *m)
{
    return vls_id_equal(&row->neutral, &m->neutral) && vls_id_equal(&row->wire, &m->wire) &&
           vls_str_equal(row->head, m->head) && vls_str_equal(row->adapter, m->adapter) &&
           vls_str_equal(row->model, m->model) && vls_str_equal(row->actor, m->actor) &&
           !vls_id_is_none(&row->manifest);
}

/* With its clock and its state, is it the same manifest? Then that one is what there is. */
static int take_equal(vls_manifest *m, building *b, valise_view *view, valise_error *err)
{
    const bool any_time = b->args->of.time == VALISE_NONE;
    vls_prompt_row row = {.session = m->session};
    const valise_select of_session = {
        .index = "session", .row = &row, .equal = 1, .flags = VALISE_SCAN_REVERSE};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_prompts, &of_session, err);

    for (int i = 0; rc >= 0 && i < EQUALS_MAX && (rc = valise_scan_next(&row, scan, err)) > 0;
         i++) {
        vls_manifest other = *m;
        valise_str text;
        valise_id id;

        if (!is_alike(&row, m) || (!any_time && row.time != m->time))
            continue;
        other.time = row.time;
        other.seq = row.seq;
        rc = write_manifest(&text, &id, b, view, &other, err);
        if (rc == 0 && vls_id_equal(&id, &row.id)) {
            *m = other;
            break;
        }
    }
    valise_scan_close(scan);
    return vls_settle(rc);
}

/* ---- the answer ---- */

static int dup_or_none(valise_str *out, vls_arena *arena, valise_str text, valise_error *err)
{
    return text.ptr ? vls_arena_dup(out, arena, text, err) : 0;
}

static int tell_texts(building *b, const vls_built *made, valise_error *err)
{
    vls_arena *arena = &b->job->arena;
    const vls_manifest *m = &made->manifest;
    built *out = b->out;
    int rc = dup_or_none(&out->head, arena, m->head, err);

    if (rc == 0)
        rc = vls_arena_dup(&out->provider, arena, m->adapter, err);
    if (rc == 0)
        rc = dup_or_none(&out->model, arena, m->model, err);
    if (rc == 0 && b->args->neutral) {
        out->neutral.size = (int64_t)made->rendered.text.len;
        rc = vls_arena_dup(&out->neutral.bytes, arena, vls_buf_str(&made->rendered.text), err);
    }
    return rc;
}

static int tell(building *b, const vls_built *made, valise_error *err)
{
    vls_arena *arena = &b->job->arena;
    const vls_manifest *m = &made->manifest;
    built *out = b->out;
    int rc;

    *out = (built){.session = m->session,
                   .tokens = m->budget.used,
                   .limit = m->budget.limit,
                   .trimmed = made->choice.trimmed,
                   .neutral_hash = m->neutral,
                   .wire_hash = m->wire,
                   .neutral_bytes = m->neutral_bytes,
                   .wire_bytes = m->wire_bytes >= 0 ? m->wire_bytes : VALISE_NONE,
                   .neutral = {.size = VALISE_NONE}};
    rc = tell_texts(b, made, err);
    if (rc == 0)
        rc = vls_shown_sections(&out->sections, arena, &m->budget, &m->parts, err);
    if (rc == 0)
        rc = vls_shown_left(&out->left, arena, NULL, NULL, m->left.ptr, m->left.len, err);
    if (rc == 0)
        rc = vls_shown_repairs(&out->repairs, arena, m->repairs.ptr, m->repairs.len, err);
    return rc;
}

static int describe(building *b, valise_view *view, vls_manifest *m, valise_error *err)
{
    vls_record_args *r = &b->record;
    valise_id id;
    int rc = take_equal(m, b, view, err);

    if (rc < 0)
        return rc;
    *r = (vls_record_args){.session = m->session,
                           .head = b->out->head,
                           .adapter = b->out->provider,
                           .model = b->out->model,
                           .time = m->time,
                           .seq = m->seq,
                           .tokens = m->budget.used,
                           .neutral = m->neutral,
                           .wire = m->wire};
    rc = write_manifest(&r->manifest.bytes, &id, b, view, m, err);
    r->manifest.size = (int64_t)r->manifest.bytes.len;
    return rc < 0 ? rc : list_needs(b, m, err);
}

static int build(void *arg, valise_view *view, valise_error *err)
{
    building *b = arg;
    vls_request request;
    vls_built made = {0};
    int rc = vls_request_make(&request, view, &b->args->of, err);

    request.no_text = !b->args->neutral;
    if (rc == 0)
        rc = vls_build(&made, view, &request, err);
    if (rc == 0 && made.wire.holes.len + made.rendered.files > 0) /* it has the bytes of blobs */
        rc = valise_view_allows(view, "blob:read", NULL, err);
    if (rc == 0)
        rc = tell(b, &made, err);
    if (rc == 0 && !b->args->no_record)
        rc = describe(b, view, &made.manifest, err);
    if (rc == 0) {
        vls_wire_release(&b->wire);
        b->wire = made.wire; /* it needs nothing of the view */
        made.wire = (vls_wire){.failed = 0};
    }
    vls_built_release(&made);
    return rc;
}

static int record(building *b, valise_error *err)
{
    vls_recorded recorded = {.created = false};
    int rc = vls_job_run(b->job, &vls_op_prompt_prompt_record, &b->record, &recorded, NULL, err);

    b->out->id = recorded.id;
    b->out->existed = rc == 0 && !recorded.created;
    return rc;
}

static int hand_out(building *b, valise_error *err)
{
    vls_blobs *blobs = valise_job_workspace(b->job)->blobs;
    int64_t bytes = 0;
    int rc = 0;

    if (b->args->output.ptr)
        return vls_wire_save(&bytes, &b->wire, blobs, b->args->output, b->args->force, err);
    if (b->args->pour)
        return vls_wire_pour(&b->wire, blobs, b->args->pour, b->args->pour_arg, err);
    if (b->args->wire)
        rc = vls_wire_gather(&b->out->wire, &b->job->arena, &b->wire, blobs, err);
    return rc;
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    building b = {.job = j, .args = in, .out = result};
    int rc = VALISE_E_CONFLICT;

    for (int i = 0; i < TRIES && rc == VALISE_E_CONFLICT; i++) {
        rc = vls_job_view(j, build, &b, err);
        if (rc < 0)
            break;
        if (!b.args->no_record)
            rc = record(&b, err);
    }
    if (rc == 0)
        rc = hand_out(&b, err);
    vls_wire_release(&b.wire);
    return rc;
}

const valise_op vls_op_prompt_prompt_build = {
    .size = sizeof(valise_op),
    .name = "prompt:build",
    .brief = "Build the request that a model would get for a session.",
    .help = "A prompt is made of the turns up to the head of the session, or up to a given turn; "
            "the persona and preferences in force; context entries whose topics match; frames "
            "about paths; and items of a backpack. What does not fit into the window is left out, "
            "oldest first; `trimmed` says how many turns, and the newest of them are listed. How "
            "it was made is recorded without any text, so that "
            "`valise prompt blame` and `prompt show` can explain it, unless --no-record is given; "
            "building the same prompt again adds nothing. Nothing is sent.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "prompt:write",
    .in = build_in,
    .in_size = sizeof(build_args),
    .out = build_out,
    .out_size = sizeof(built),
    .job = job,
    .example = "{\"session\":\"support\",\"provider\":\"anthropic\",\"window\":200000}",
};
