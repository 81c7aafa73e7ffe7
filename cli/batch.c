/* batch.c -- several operations, a JSON object a line: in one transaction, or one by one.
 *
 *     atomic       commands only; all of them are kept, or none
 *     keep going   any operations, each by itself; one that fails is told in its line, as an agent
 * is told (`agent serve`), and the next is run */
#include "cli/call.h"

#include "base/hex.h"
#include "base/uuid.h"
#include "bus/bus.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/schema.h"
#include "json/error.h"

typedef struct batch_args {
    valise_str file;
    bool atomic, keep_going;
} batch_args;

static const valise_field batch_in[] = {
    VALISE_FIELD_WITH(
        batch_args, file, STR, VALISE_NULLABLE | VALISE_POSITIONAL,
        "A file with one JSON object per line (default: standard input; - is the same).",
        .ref = "cli.file", .min = 1, .max = 4095),
    VALISE_FIELD(batch_args, atomic, BOOL, 0, "All or nothing; this is the default."),
    VALISE_FIELD_AS(batch_args, keep_going, "keepGoing", BOOL, 0,
                    "One by one: if one fails, continue with the next."),
    VALISE_FIELD_END,
};

/* One line of the file. */
typedef struct batch_line {
    valise_str type, payload, expect;
    valise_uuid id;
} batch_line;

static const valise_field line_fields[] = {
    VALISE_FIELD(batch_line, type, STR, VALISE_REQUIRED, "The operation."),
    VALISE_FIELD(batch_line, payload, JSON, VALISE_NULLABLE, "Its arguments."),
    VALISE_FIELD(batch_line, expect, JSON, VALISE_NULLABLE, "What must be there now."),
    VALISE_FIELD(batch_line, id, UUID, VALISE_NULLABLE, "The command's id."),
    VALISE_FIELD_END,
};

/* What a line is answered with. */
typedef struct batch_answer {
    valise_uuid id;
    valise_str result;
    int64_t seq, line;
    const void *error;
} batch_answer; /* for the tables: print_reply and print_failure write it */

static const valise_field done_fields[] = {
    VALISE_FIELD(batch_answer, id, UUID, VALISE_NULLABLE, "The command's id; queries have none."),
    VALISE_FIELD(batch_answer, result, JSON, VALISE_REQUIRED, "What the operation answers."),
    VALISE_FIELD(batch_answer, seq, INT, VALISE_REQUIRED, "Its place in the log, or what it saw."),
    VALISE_FIELD_END,
};
static const valise_field failed_fields[] = {
    VALISE_FIELD_WITH(batch_answer, error, STRUCT, VALISE_REQUIRED, "What went wrong.",
                      .more = &cli_error_type),
    VALISE_FIELD(batch_answer, id, UUID, VALISE_NULLABLE, "The id that it was given."),
    VALISE_FIELD(batch_answer, line, INT, VALISE_REQUIRED, "The line of the input, from 1."),
    VALISE_FIELD_END,
};
static const valise_field *const answer_lines[] = {done_fields, failed_fields, NULL};

typedef struct batch {
    valise_command *commands;
    valise_call *calls;
    valise_reply *replies;
    size_t count;
} batch;

/* Leave null in its place: it is deeper than a value may be. */
static int take_payload(vls_json *payload, vls_json *line, cli *c, valise_error *err)
{
    bool found = false;
    size_t at =
        line->type == VLS_JSON_OBJECT ? vls_json_find(&found, *line, VLS_STR("payload")) : 0;
    vls_member *members;

    if (!found)
        return 0;
    members = vls_arena_array(&c->arena, line->len, sizeof(*members));
    if (!members)
        return vls_arena_fail(&c->arena, err);
    memcpy(members, line->members, line->len * sizeof(*members));
    *payload = members[at].value;
    members[at].value = vls_json_null();
    line->members = members;
    return 0;
}

static int decode_members(batch_line *out, cli *c, valise_str text, valise_error *err)
{
    vls_json_limits limits = {.around = VLS_JSON_MAX_AROUND};
    vls_json value = vls_json_null(), payload = vls_json_null();
    const vls_json *expect, *id;
    int rc = vls_json_parse(&value, &c->arena, text, &limits, err);

    if (rc == 0)
        rc = take_payload(&payload, &value, c, err);
    if (rc == 0)
        rc = vls_fields_decode(out, line_fields, sizeof(*out), value, VLS_FIELD_INPUT, &c->arena,
                               err);
    if (rc == 0)
        rc = cli_write_payload(&out->payload, c, &payload, err);
    if (rc < 0)
        return rc;
    /* To expect null, that there is nothing, is not to expect anything. */
    expect = vls_json_get(value, VLS_STR("expect"));
    if (expect && expect->type == VLS_JSON_NULL)
        out->expect = VLS_STR("null");
    id = vls_json_get(value, VLS_STR("id"));
    return id && id->type != VLS_JSON_NULL ? cli_check_id(&out->id, err) : 0;
}

static int decode_line(batch_line *out, cli *c, valise_str text, size_t number, valise_error *err)
{
    int rc;

    *out = (batch_line){0};
    rc = decode_members(out, c, text, err);
    if (rc < 0)
        vls_hint(err, "this is line %zu; a line looks like {\"type\":\"pin:add\",\"payload\":{}}",
                 number);
    return rc;
}

static int read_line(batch *b, cli *c, valise_str text, size_t number, valise_error *err)
{
    batch_line line;
    int rc = decode_line(&line, c, text, number, err);

    if (rc < 0)
        return rc;
    b->calls[b->count] = (valise_call)VALISE_CALL_INIT;
    b->calls[b->count].id = line.id;
    b->calls[b->count].expect = line.expect;
    b->commands[b->count] = (valise_command){line.type, line.payload, &b->calls[b->count]};
    b->replies[b->count] = (valise_reply)VALISE_REPLY_INIT;
    b->count++;
    return 0;
}

/* Lines that are empty are none. */
static size_t count_commands(valise_str text)
{
    size_t count = 0;
    valise_str line;

    while (text.len > 0) {
        (void)vls_str_cut(&line, &text, text, '\n');
        count += vls_str_trim(line).len > 0;
    }
    return count;
}

static int read_lines(batch *b, cli *c, valise_str text, valise_error *err)
{
    size_t room = count_commands(text), number = 0;
    valise_str line;

    if (room > VLS_BATCH_MAX) {
        (void)vls_fail(err, VALISE_E_LIMIT, "a batch has at most %u commands, not %zu",
                       VLS_BATCH_MAX, room);
        vls_hint(err, "split the file, or run the lines one by one: --keep-going");
        return VALISE_E_LIMIT;
    }
    b->commands = vls_arena_array(&c->arena, room, sizeof(*b->commands));
    b->calls = vls_arena_array(&c->arena, room, sizeof(*b->calls));
    b->replies = vls_arena_array(&c->arena, room, sizeof(*b->replies));
    if (!b->commands || !b->calls || !b->replies)
        return vls_arena_fail(&c->arena, err);
    while (text.len > 0) {
        (void)vls_str_cut(&line, &text, text, '\n');
        number++;
        line = vls_str_trim(line);
        int rc = line.len > 0 ? read_line(b, c, line, number, err) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* What was there instead of what the command that failed expected. */
static void keep_current(cli *c, const batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        if (b->replies[i].current)
            (void)vls_arena_dup(&c->current, &c->arena, valise_blob_bytes(b->replies[i].current),
                                NULL);
    }
}

static int print_reply(cli *c, const valise_reply *reply, valise_error *err)
{
    vls_buf *out = &c->out->text;

    vls_buf_add_byte(out, '{');
    if (!vls_uuid_is_none(&reply->id)) /* queries and jobs have none */
        vls_buf_printf(out, "\"id\":\"%s\",", vls_uuid_text(&reply->id).s);
    vls_buf_add_text(out, "\"result\":");
    cli_add_data(c->out, valise_blob_bytes(reply->json), 0);
    vls_buf_printf(out, ",\"seq\":%lld}\n", (long long)reply->seq);
    return vls_buf_check(out, err);
}

/* One line for each command, in their order. */
static int print_replies(cli *c, const batch *b, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < b->count && rc == 0; i++)
        rc = print_reply(c, &b->replies[i], err);
    return rc;
}

static int run_atomic(cli *c, valise_str text, const valise_call *call, valise_error *err)
{
    batch b = {0};
    int rc = read_lines(&b, c, text, err);

    if (rc == 0)
        rc = cli_open(c, err);
    if (rc < 0)
        return rc;
    rc = b.count == 0
             ? 0
             : valise_dispatch_batch(b.replies, c->workspace, b.commands, b.count, call, err);
    c->done = rc == 0;
    if (rc == 0 && !c->options.quiet)
        rc = print_replies(c, &b, err);
    if (rc < 0)
        keep_current(c, &b);
    for (size_t i = 0; i < b.count; i++)
        valise_reply_release(&b.replies[i]);
    return rc;
}

/* ---- one by one ---- */

static int print_failure(cli *c, const valise_uuid *id, size_t number, const valise_error *why,
                         valise_str current, valise_error *err)
{
    vls_buf *out = &c->out->text;

    vls_buf_add_text(out, "{\"error\":");
    vls_json_write_error(out, c->env, why, NULL, current);
    if (!vls_uuid_is_none(id))
        vls_buf_printf(out, ",\"id\":\"%s\"", vls_uuid_text(id).s);
    vls_buf_printf(out, ",\"line\":%zu}\n", number);
    return vls_buf_check(out, err);
}

/* 1: it failed, and that is told. */
static int run_line(cli *c, valise_str text, size_t number, valise_call call, valise_error *err)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_error why = VALISE_ERROR_INIT;
    valise_str current = {NULL, 0};
    batch_line line;
    int failed = decode_line(&line, c, text, number, &why), rc = 0;

    if (failed == 0) {
        call.id = line.id;
        call.expect = line.expect;
        failed = valise_dispatch_str(&reply, c->workspace, line.type, line.payload, &call, &why);
    }
    cli_progress_clear(call.progress.arg);
    if (failed == VALISE_E_CANCELLED) {
        rc = failed;
        if (err)
            *err = why;
    } else if (failed < 0) {
        if (reply.current)
            current = valise_blob_bytes(reply.current);
        rc = print_failure(c, &line.id, number, &why, current, err);
    } else if (!c->options.quiet) {
        rc = print_reply(c, &reply, err);
    }
    valise_reply_release(&reply);
    return rc == 0 && failed < 0 ? 1 : rc;
}

static int run_each(int *status, cli *c, valise_str text, const valise_call *given,
                    valise_error *err)
{
    cli_progress progress;
    valise_call call = *given;
    size_t number = 0;
    int rc = cli_open(c, err);

    if (rc < 0)
        return rc;
    cli_progress_init(&progress, c);
    call.progress = (valise_progress){cli_progress_tell, &progress};
    while (text.len > 0 && rc == 0) {
        const vls_arena_mark mark = vls_arena_here(&c->arena);
        valise_str line;
        (void)vls_str_cut(&line, &text, text, '\n');
        number++;
        line = vls_str_trim(line);
        if (line.len == 0)
            continue;
        rc = run_line(c, line, number, call, err);
        if (rc > 0)
            *status = 1;
        if (rc >= 0)
            rc = cli_out_row(c->out, err);
        c->done = true;
        vls_arena_rewind(&c->arena, mark);
    }
    return rc;
}

static int run_batch(int *status, cli *c, const cli_words *words, const void *args,
                     valise_error *err)
{
    const batch_args *a = args;
    valise_str text = {NULL, 0};
    valise_call call;
    int rc;

    (void)words;
    if (a->atomic && a->keep_going)
        return vls_fail(err, CLI_E_USAGE, "either --atomic or --keep-going, not both");
    rc = cli_read_file(&text, c, a->file.ptr ? a->file.ptr : "-", (size_t)1 << 30, err);
    if (rc == 0)
        rc = cli_call_init(&call, c, err);
    if (rc < 0)
        return rc;
    return a->keep_going ? run_each(status, c, text, &call, err) : run_atomic(c, text, &call, err);
}

const cli_builtin cli_builtin_batch = {
    .op = {.size = sizeof(valise_op),
           .name = "batch",
           .brief = "Run several operations, all or nothing or one by one.",
           .help = "Each line is an object with `type` and `payload`, and may have `id` and "
                   "`expect` (null: there must be nothing yet). The answer is a line for each, "
                   "with `id`, `result` and `seq`.\n\nCommands are run in one transaction: if one "
                   "fails, none is kept. With --keep-going each is run by itself, and may be any "
                   "operation, such as context:synthesize or node:get. One that fails is answered "
                   "with `error` and `line`, the next is run, and the exit code is 1 at the "
                   "end.\n\nChanged files that commands such as put-frame notice are recorded "
                   "separately, as by a scan, and stay even if the batch fails.",
           .in = batch_in,
           .in_size = sizeof(batch_args),
           .example = "{\"file\":\"commands.ndjson\",\"keepGoing\":true}"},
    .run = run_batch,
    .lines = answer_lines,
};
