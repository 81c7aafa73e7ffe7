/* call.c -- running operations. */
#include "cli/call.h"

#include "base/hex.h"
#include "base/uuid.h"
#include "cli/print.h"
#include "cli/progress.h"

/* ---- the call ---- */

int cli_check_id(const valise_uuid *id, valise_error *err)
{
    if (!vls_uuid_is_none(id))
        return 0;
    (void)vls_fail(err, VALISE_E_INVALID, "the id of a command must not be all zeros");
    vls_hint(err, "leave it out to get a new one");
    return VALISE_E_INVALID;
}

int cli_call_init(valise_call *out, cli *c, valise_error *err)
{
    const cli_options *options = &c->options;
    VLS_AUTO(buf) vls_buf text = {0};
    vls_json expect;
    int rc;

    *out = (valise_call)VALISE_CALL_INIT;
    out->flags = options->dry_run ? VALISE_CALL_DRY_RUN : 0;
    if (options->at) {
        const char *at = NULL;
        rc = cli_whole_time(&at, c, options->at, err);
        if (rc < 0)
            return rc;
        out->at = valise_str_of(at);
    }
    if (options->id) {
        rc = vls_uuid_parse(&out->id, valise_str_of(options->id), err);
        if (rc < 0) {
            vls_hint(err, "--id is a UUID such as 0190a5f0-1234-7abc-8def-0123456789ab");
            return rc;
        }
        rc = cli_check_id(&out->id, err);
        if (rc < 0)
            return rc;
    }
    if (!options->expect)
        return 0;
    rc = cli_read_json(&expect, c, options->expect, 0, err);
    if (rc < 0)
        return rc;
    vls_buf_init(&text, c->env, VLS_JSON_MAX_BYTES);
    rc = vls_json_write(&text, expect, err);
    return rc < 0 ? rc : vls_arena_dup(&out->expect, &c->arena, vls_buf_str(&text), err);
}

/* An operation that needs none runs without a workspace, so that it works anywhere. One that is
 * open already, because an extension was looked for, does as well. */
static int open_for(valise **out, cli *c, const valise_op *op, valise_error *err)
{
    bool none = op->flags & VALISE_OP_NO_WORKSPACE && !c->workspace;
    int rc = none ? cli_open_none(c, err) : cli_open(c, err);

    if (rc == 0)
        *out = none ? c->none : c->workspace;
    return rc;
}

/* ---- lists ---- */

typedef struct stream {
    cli_rows *rows;
    cli *c;
    size_t count;
} stream;

static int take_row(void *arg, valise_str json, valise_error *err)
{
    stream *s = arg;
    int rc = cli_rows_add(s->rows, json, err);

    s->count++;
    return rc < 0 ? rc : cli_out_is_closed(s->c->out);
}

static int run_list(int *status, valise_reply *reply, cli *c, valise *v, const valise_op *op,
                    valise_str payload, const valise_call *call, valise_error *err)
{
    stream s = {.c = c};
    int rc = cli_rows_new(&s.rows, c, op, err);

    if (rc < 0)
        return rc;
    rc = vls_settle(
        valise_stream_str(reply, v, valise_str_of(op->name), payload, take_row, &s, call, err));
    /* What came before a failure is worth seeing, and the exit code tells. */
    if (rc == 0)
        rc = cli_rows_end(s.rows, err);
    else
        (void)cli_rows_end(s.rows, NULL);
    *status = cli_rows_status(s.rows);
    cli_rows_free(s.rows);
    if (rc == VALISE_E_CORRUPT && s.count == 0 && cli_can_inspect(op))
        rc = cli_inspect(c, op, err);
    return rc;
}

/* What is in the way of something that failed with a conflict; the error itself comes behind it. */
static void show_obstacles(cli *c, valise *v, const valise_op *op, valise_str payload)
{
    const cli_printer *printer = cli_printer_of(op);
    valise_reply reply = VALISE_REPLY_INIT;
    const valise_op *list;
    int status;

    if (!printer || !printer->obstacles || c->options.quiet)
        return;
    list = vls_registry_op(c->registry, valise_str_of(printer->obstacles));
    if (list)
        (void)run_list(&status, &reply, c, v, list, payload, NULL, NULL);
    valise_reply_release(&reply);
}

int cli_ask(vls_json *out, cli *c, const char *op, const vls_buf *payload, valise_error *err)
{
    valise_reply reply = VALISE_REPLY_INIT;
    int rc = payload ? vls_buf_check(payload, err) : 0;

    if (rc == 0)
        rc = cli_open(c, err);
    if (rc == 0)
        rc = valise_dispatch_str(&reply, c->workspace, valise_str_of(op),
                                 payload ? vls_buf_str(payload) : VLS_STR("{}"), NULL, err);
    if (rc == 0)
        rc = cli_keep_json(out, &c->arena, valise_blob_bytes(reply.json), err);
    valise_reply_release(&reply);
    return rc;
}

int cli_stream(cli *c, const valise_op *op, valise_str payload, valise_row_fn *fn, void *arg,
               valise_error *err)
{
    valise *v = NULL;
    int rc = open_for(&v, c, op, err);

    if (rc == 0)
        rc = valise_stream_str(NULL, v, valise_str_of(op->name), payload, fn, arg, NULL, err);
    return vls_settle(rc);
}

/* ---- all ---- */

static int run_one(int *status, valise_reply *reply, cli *c, valise *v, const valise_op *op,
                   valise_str payload, const valise_call *call, valise_error *err)
{
    const cli_printer *printer = cli_printer_of(op);
    int rc = printer && printer->pour ? printer->pour(c, v, payload, call, err) : 0;

    if (rc != 0)
        return vls_settle(rc);
    rc = valise_dispatch_str(reply, v, valise_str_of(op->name), payload, call, err);
    if (rc < 0)
        return rc;
    cli_progress_clear(call->progress.arg); /* an answer may go to standard error too */
    return cli_print_answer(status, c, op, valise_blob_bytes(reply->json), err);
}

int cli_run(int *status, cli *c, const valise_op *op, valise_str payload, valise_error *err)
{
    valise_reply reply = VALISE_REPLY_INIT;
    cli_progress progress;
    valise_call call;
    valise *v = NULL;
    int rc = cli_settle(c, err);

    if (rc == 0)
        rc = cli_call_init(&call, c, err);
    if (rc == 0)
        rc = open_for(&v, c, op, err);
    if (rc == VALISE_E_CORRUPT && cli_can_inspect(op))
        return cli_inspect(c, op, err);
    if (rc < 0)
        return rc;
    cli_progress_init(&progress, c);
    call.progress = (valise_progress){cli_progress_tell, &progress};
    if (c->options.graph && !c->options.json)
        rc = cli_printer_of(op)->draw(c, op, payload, err);
    else if (c->options.follow)
        rc = cli_follow(c, v, op, payload, &call, err);
    else if (op->flags & VALISE_OP_LIST)
        rc = run_list(status, &reply, c, v, op, payload, &call, err);
    else
        rc = run_one(status, &reply, c, v, op, payload, &call, err);
    cli_progress_clear(&progress);
    c->done = rc == 0 && op->kind != VALISE_QUERY;
    if (rc < 0 && reply.current)
        (void)vls_arena_dup(&c->current, &c->arena, valise_blob_bytes(reply.current), NULL);
    if (rc == VALISE_E_CONFLICT)
        show_obstacles(c, v, op, payload);
    valise_reply_release(&reply);
    return rc;
}
