/* flow.c -- see flow.h. */
#include "cli/flow.h"

#include <unistd.h>

#include "base/text.h"
#include "base/time.h"
#include "cli/backpack.h"
#include "cli/flow_live.h"
#include "cli/progress.h"
#include "json/make.h"

#define LINE_MAX_BYTES ((size_t)1 << 20)
#define SHORT_ID 8u

/* ---- while it runs ---- */

/* Nobody learns of what did not fit, unless it is said. */
static void tell_losses(valise_subscription *events)
{
    uint64_t dropped = 0, failed = 0;

    valise_subscription_losses(&dropped, &failed, events);
    dropped += failed;
    if (dropped > 0)
        (void)dprintf(STDERR_FILENO, "valise: %llu events are not shown: there were too many\n",
                      (unsigned long long)dropped);
}

static int run(valise_reply *reply, cli_flow_live *live, const char *op, valise *v,
               valise_str payload, const valise_call *call, valise_error *err)
{
    static const char *const types[] = {"flow:*", NULL};
    const valise_follow follow = {.size = sizeof(follow),
                                  .filter = {.size = sizeof(valise_filter), .types = types},
                                  .live = true,
                                  .lossless = true,
                                  .fn = cli_flow_live_event,
                                  .arg = live};
    valise_subscription *events = NULL;
    valise_call watched = *call;
    int rc = valise_subscribe(&events, v, &follow, err);

    if (rc < 0)
        return rc;
    watched.progress = cli_stop_on_interrupt(); /* its nodes say how far it is */
    rc = valise_dispatch_str(reply, v, valise_str_of(op), payload, &watched, err);
    tell_losses(events);
    valise_unsubscribe(events);
    return rc;
}

/* ---- what came of it ---- */

static valise_str short_id(valise_str id)
{
    return id.len > SHORT_ID ? vls_str_from(id, id.len - SHORT_ID) : id;
}

/* Name of a backpack in a command to be typed: as it is where no shell would take it apart. */
static bool is_word(valise_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char ch = name.ptr[i];

        if (!(vls_is_alnum(ch) || strchr("-_.:/@+", ch)))
            return false;
    }
    return name.len > 0 && name.ptr[0] != '-';
}

/* "done: 7 nodes in 1.3 s, backpack sales-1a2b3c4d, run 5e6f7a8b" */
static void add_summary(cli_flow_live *live, bool ephemeral)
{
    cli *c = live->c;
    vls_buf *out = &c->out->text;
    valise_str name = vls_buf_str(&live->backpack), status = vls_buf_str(&live->status);
    bool done = vls_str_equal(status, VLS_STR("done"));

    cli_style_begin(c->out, done ? CLI_GREEN : CLI_RED);
    cli_add_data(c->out, status, 0);
    cli_style_end(c->out, CLI_GREEN);
    vls_buf_add_text(out, ": ");
    cli_add_count(out, live->steps, "node", "nodes");
    vls_buf_add_text(out, " in ");
    cli_flow_add_duration(out, live->took_ns);
    if (ephemeral) {
        vls_buf_add_text(out, ", on a backpack that was not kept\n");
        return;
    }
    vls_buf_add_text(out, ", backpack ");
    cli_add_data(c->out, name, 0);
    vls_buf_add_text(out, ", run ");
    cli_add_data(c->out, short_id(vls_buf_str(&live->run)), 0);
    vls_buf_add_byte(out, '\n');
    if (!is_word(name))
        return;
    cli_style_begin(c->out, CLI_DIM);
    vls_buf_printf(out, "`valise bp ls %.*s` shows what is in it", VALISE_STR_ARG(name));
    cli_style_end(c->out, CLI_DIM);
    vls_buf_add_byte(out, '\n');
}

static int show(cli_flow_live *live, const valise_reply *reply, bool ephemeral, valise_error *err)
{
    cli *c = live->c;

    if (!live->json && live->ended)
        add_summary(live, ephemeral);
    if (live->json && reply->json) {
        cli_add_data(c->out, valise_blob_bytes(reply->json), 0);
        vls_buf_add_byte(&c->out->text, '\n');
    }
    return cli_out_flush(c->out, err);
}

/* ---- all of it ---- */

static int pour(cli *c, const char *op, valise *v, valise_str payload, const valise_call *call,
                valise_error *err)
{
    bool ephemeral = c->payload && vls_truth_of(*c->payload, "ephemeral");
    valise_error lost = VALISE_ERROR_INIT;
    valise_reply reply = VALISE_REPLY_INIT;
    cli_flow_live live;
    int rc, shown;

    if (c->options.quiet)
        return 0;
    rc = cli_flow_live_begin(&live, c, err);
    if (rc < 0)
        return rc;
    c->out->streamed = true;
    rc = run(&reply, &live, op, v, payload, call, err);
    cli_flow_live_end(&live);
    shown = show(&live, &reply, ephemeral, &lost);
    if (rc == 0 && shown < 0) {
        rc = shown;
        if (err)
            *err = lost;
    }
    cli_flow_live_release(&live);
    valise_reply_release(&reply);
    return rc < 0 ? rc : 1;
}

int cli_pour_flow_run(cli *c, valise *v, valise_str payload, const valise_call *call,
                      valise_error *err)
{
    return pour(c, "flow:run", v, payload, call, err);
}

int cli_pour_flow_resume(cli *c, valise *v, valise_str payload, const valise_call *call,
                         valise_error *err)
{
    return pour(c, "flow:resume", v, payload, call, err);
}

int cli_pour_flow_rerun(cli *c, valise *v, valise_str payload, const valise_call *call,
                        valise_error *err)
{
    return pour(c, "flow:rerun", v, payload, call, err);
}

/* ---- flow:runs ---- */

/* How long it took says more than when it ended. */
bool cli_flow_run_cell(vls_buf *out, const cli *c, const char *field, vls_json row)
{
    int64_t started, ended;

    (void)c;
    if (strcmp(field, "ended") != 0)
        return false;
    if (vls_time_parse_ns(&started, cli_text_of(row, "started"), NULL) == 0 &&
        vls_time_parse_ns(&ended, cli_text_of(row, "ended"), NULL) == 0)
        cli_flow_add_duration(out, VLS_MAX(ended - started, 0));
    return true;
}

/* ---- flow:check ---- */

static int print_list(cli *c, const char *state, cli_style style, vls_json list, valise_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; list.type == VLS_JSON_ARRAY && i < list.len && rc == 0; i++) {
        valise_str path = cli_text_of(list.items[i], "path"),
                   hint = cli_text_of(list.items[i], "hint");

        cli_style_begin(c->out, style);
        vls_buf_add_text(&c->out->text, state);
        cli_style_end(c->out, style);
        if (path.len > 0) {
            cli_style_begin(c->out, CLI_BOLD);
            cli_add_data(c->out, path, 0);
            cli_style_end(c->out, CLI_BOLD);
            vls_buf_add_text(&c->out->text, ": ");
        }
        cli_add_data(c->out, cli_text_of(list.items[i], "message"), 0);
        if (hint.len > 0) {
            vls_buf_add_text(&c->out->text, "\n         hint: ");
            cli_add_data(c->out, hint, 0);
        }
        vls_buf_add_byte(&c->out->text, '\n');
        rc = cli_out_row(c->out, err);
    }
    return rc;
}

int cli_print_flow_check(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    vls_json errors = vls_member_of(answer, "errors"), warnings = vls_member_of(answer, "warnings");
    int rc;

    (void)op;
    cli_out_page(c->out, c);
    rc = print_list(c, "error    ", CLI_RED, errors, err);
    if (rc == 0)
        rc = print_list(c, "warning  ", CLI_YELLOW, warnings, err);
    if (rc < 0)
        return rc;
    if (vls_truth_of(answer, "more"))
        vls_buf_add_text(&c->out->text, "and more: mend these first\n");
    if (vls_truth_of(answer, "valid"))
        vls_buf_add_text(&c->out->text, "valid\n");
    return 0;
}

int cli_status_of_flow_check(const cli *c, vls_json answer)
{
    (void)c;
    return vls_truth_of(answer, "valid") ? CLI_DONE : valise_error_exit_code(VALISE_E_INVALID);
}
