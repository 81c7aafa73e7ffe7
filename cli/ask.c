/* ask.c -- see ask.h. */
#include "cli/ask.h"

#include <unistd.h>

#include "base/fd.h"
#include "base/text.h"
#include "cli/backpack.h"
#include "cli/progress.h"
#include "json/make.h"

#define PAYLOAD_MAX ((size_t)1 << 30)

typedef struct asking {
    cli *c;
    const valise_call *call;
    bool begun; /* something of the text is out */
    bool open;  /* its last byte is no end of a line */
} asking;

/* ---- pieces ---- */

static int show_text(asking *a, valise_str text, valise_error *err)
{
    if (text.len == 0)
        return 0;
    if (!a->begun)
        cli_progress_clear(a->call->progress.arg);
    a->begun = true;
    a->open = text.ptr[text.len - 1] != '\n';
    cli_add_data(a->c->out, text, VLS_TEXT_KEEP_NEWLINE);
    return cli_out_flush(a->c->out, err);
}

/* Of thinking and calls nothing is text. */
static int on_event(void *arg, const valise_event *event, valise_error *err)
{
    asking *a = arg;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json piece = vls_json_null();
    int rc;

    vls_arena_init(&arena, a->c->env, (size_t)64 << 20);
    rc = vls_json_parse(&piece, &arena, event->payload, NULL, err);
    if (rc < 0 || !vls_str_equal(vls_text_of(piece, "kind"), VLS_STR("text")))
        return rc;
    return show_text(a, vls_text_of(piece, "text"), err);
}

/* The line that says how far it is would stand in the middle of the text. */
static int on_progress(void *arg, const valise_progress_state *state)
{
    asking *a = arg;

    return a->begun ? cli_is_interrupted() : cli_progress_tell(a->call->progress.arg, state);
}

/* ---- beside the text ---- */

static void add_calls(vls_buf *out, vls_json blocks)
{
    bool first = true;

    for (uint32_t i = 0; blocks.type == VLS_JSON_ARRAY && i < blocks.len; i++) {
        if (!vls_str_equal(vls_text_of(blocks.items[i], "type"), VLS_STR("tool_use")))
            continue;
        vls_buf_add_text(out, first ? "" : ", ");
        vls_text_neutralize(out, vls_text_of(blocks.items[i], "name"), 0);
        first = false;
    }
}

static int warn(cli *c, vls_json answer, valise_error *err)
{
    valise_str stop = cli_text_of(answer, "stop");
    VLS_AUTO(buf) vls_buf line = {0};

    vls_buf_init(&line, c->env, (size_t)1 << 20);
    if (vls_str_equal(stop, VLS_STR("calls"))) {
        vls_buf_add_text(&line, "valise: it calls ");
        add_calls(&line, vls_member_of(answer, "blocks"));
        vls_buf_add_text(&line, ": add the results as a turn, and ask again without a text\n");
    } else if (vls_str_equal(stop, VLS_STR("limit"))) {
        vls_buf_add_text(&line, "valise: the answer was cut off: it may have no more tokens\n");
    } else if (vls_str_equal(stop, VLS_STR("refused"))) {
        vls_buf_add_text(&line, "valise: the model refused to answer\n");
    }
    if (vls_member_of(answer, "branched").truth) {
        vls_buf_add_text(&line, "valise: somebody spoke meanwhile: the answer is a branch, turn ");
        vls_text_neutralize(&line, cli_text_of(answer, "ref"), 0);
        vls_buf_add_byte(&line, '\n');
    }
    (void)vls_fd_write_all(STDERR_FILENO, vls_buf_str(&line)); /* nobody is told that this failed */
    return vls_buf_check(&line, err);
}

/* ---- all of it ---- */

/* Whoever says nothing about it wants to see the answer as it comes. */
static int with_stream(vls_buf *out, vls_json value, valise_str payload, valise_error *err)
{
    vls_buf_init(out, out->env, PAYLOAD_MAX);
    if (vls_json_get(value, VLS_STR("stream"))) {
        vls_buf_add(out, payload);
    } else {
        vls_buf_add_text(out, "{\"stream\":true");
        vls_buf_add_text(out, value.len > 0 ? "," : "");
        vls_buf_add(out, vls_str_from(payload, 1));
    }
    return vls_buf_check(out, err);
}

static int run(valise_reply *reply, asking *a, valise *v, valise_str payload, valise_error *err)
{
    static const char *const types[] = {"session:STREAM_CHUNK", NULL};
    valise_follow follow = {.size = sizeof(follow),
                            .filter = {.size = sizeof(valise_filter), .types = types},
                            .live = true,
                            .fn = on_event,
                            .arg = a};
    valise_subscription *pieces = NULL;
    valise_call call = *a->call;
    int rc = valise_subscribe(&pieces, v, &follow, err);

    call.progress = (valise_progress){on_progress, a};
    if (rc == 0)
        rc = valise_dispatch_str(reply, v, VLS_STR("prompt:ask"), payload, &call, err);
    valise_unsubscribe(pieces);
    return rc;
}

static int show_answer(asking *a, valise_str json, valise_error *err)
{
    vls_json answer = vls_json_null();
    int rc = cli_keep_json(&answer, &a->c->arena, json, err);

    if (rc == 0 && !a->begun)
        rc = show_text(a, cli_text_of(answer, "text"), err);
    if (a->open)
        vls_buf_add_byte(&a->c->out->text, '\n');
    if (rc == 0)
        rc = cli_out_flush(a->c->out, err);
    return rc < 0 ? rc : warn(a->c, answer, err);
}

int cli_pour_answer(cli *c, valise *v, valise_str payload, const valise_call *call,
                    valise_error *err)
{
    asking a = {.c = c, .call = call};
    valise_reply reply = VALISE_REPLY_INIT;
    VLS_AUTO(buf) vls_buf text = {.env = c->env};
    vls_json value = vls_json_null();
    int rc;

    if (c->options.json || c->options.quiet)
        return 0;
    rc = vls_json_parse(&value, &c->arena, payload, NULL, err);
    if (rc == 0)
        rc = with_stream(&text, value, payload, err);
    if (rc < 0)
        return rc;
    c->out->streamed = true;
    rc = run(&reply, &a, v, vls_buf_str(&text), err);
    cli_progress_clear(call->progress.arg);
    if (rc == 0) {
        rc = show_answer(&a, valise_blob_bytes(reply.json), err);
    } else if (a.open) {
        vls_buf_add_byte(&c->out->text, '\n'); /* what came stands, and the error below it */
        (void)cli_out_flush(c->out, NULL);
    }
    valise_reply_release(&reply);
    return rc < 0 ? rc : 1;
}
