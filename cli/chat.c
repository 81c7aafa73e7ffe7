/* chat.c -- see chat.h. */
#include "cli/chat.h"

#include <errno.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/print.h"

#define LINE_MAX_BYTES ((size_t)16 << 20)
#define READ_STEP ((size_t)64 << 10)
#define CHUNK "session:STREAM_CHUNK"

static const valise_field path_item = {
    .name = "path", .help = "A path of the tree.", .type = VALISE_T_STR, .max = 4096};

static const valise_field chat_in[] = {
    VALISE_FIELD_WITH(chat_args, session, STR, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "The session: its label, its id, or the end of its id (default: a new one).",
                      .min = 1, .max = 256, .ref = "session:list.id"),
    VALISE_FIELD_WITH(chat_args, message, STR, VALISE_NULLABLE,
                      "A single message to send instead; the chat ends with its answer.", .min = 1,
                      .max = LINE_MAX_BYTES),
    VALISE_FIELD_WITH(chat_args, provider, STR, VALISE_NULLABLE,
                      "The provider to ask, such as anthropic.", .min = 1, .max = 64,
                      .ref = "cli.provider"),
    VALISE_FIELD_WITH(chat_args, model, STR, VALISE_NULLABLE,
                      "The model (default: that of the role or the provider).", .min = 1,
                      .max = 256),
    VALISE_FIELD_WITH(chat_args, replay, STR, VALISE_NULLABLE,
                      "A file of recorded answers, instead of the provider.", .min = 1, .max = 4000,
                      .ref = "cli.file"),
    VALISE_FIELD_WITH(chat_args, window, INT, VALISE_NULLABLE,
                      "Tokens for prompt and answer together (default: the role's).", .min = 1),
    VALISE_FIELD_WITH(chat_args, paths, LIST, 0,
                      "Include what is known about these files and directories.",
                      .more = &path_item, .max = 256),
    VALISE_FIELD(chat_args, tools, JSON, VALISE_NULLABLE,
                 "An array of tools: name, description, inputSchema."),
    VALISE_FIELD(chat_args, params, JSON, VALISE_NULLABLE,
                 "Temperature, maxTokens and so on, overriding the role's."),
    VALISE_FIELD_END,
};

/* ---- operations ---- */

void chat_add(vls_buf *out, const char *key, valise_str text)
{
    vls_buf_printf(out, "%s\"%s\":", out->len > 1 ? "," : "", key);
    vls_json_write_string(out, text);
}

int chat_dispatch(vls_json *out, chat *h, const char *type, valise_str payload, valise_error *err)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    int rc;

    call.progress = cli_stop_on_interrupt();
    rc = valise_dispatch_str(&reply, h->v, valise_str_of(type), payload, &call, err);
    if (rc == 0)
        rc = cli_keep_json(out, &h->arena, valise_blob_bytes(reply.json), err);
    valise_reply_release(&reply);
    return rc;
}

/* ---- pieces ---- */

static uint64_t number_of(vls_json object, const char *key)
{
    vls_json member = vls_member_of(object, key);

    return member.type == VLS_JSON_INT && member.integer >= 0 ? (uint64_t)member.integer : 0;
}

typedef struct chat_line {
    valise_str type, payload;
} chat_line; /* for the table */

static const valise_field line_fields[] = {
    VALISE_FIELD(chat_line, payload, JSON, VALISE_REQUIRED,
                 "A piece: session, block, kind and text; an answer: as `valise ask` has it."),
    VALISE_FIELD(chat_line, type, STR, VALISE_REQUIRED, CHUNK " for a piece, or answer."),
    VALISE_FIELD_END,
};
static const valise_field *const lines[] = {line_fields, NULL};

static void show_line(chat *h, const char *type, valise_str payload)
{
    vls_buf_printf(&h->c->out->text, "{\"payload\":%.*s,\"type\":\"%s\"}\n",
                   VALISE_STR_ARG(payload), type);
}

/* Text as it is, thinking dimmed, of a call its name. */
static void show_piece(chat *h, vls_json piece)
{
    cli_out *out = h->c->out;
    valise_str kind = vls_text_of(piece, "kind");
    uint64_t block = number_of(piece, "block") + 1;
    bool call = vls_str_equal(kind, VLS_STR("call")), fresh = block != h->block;

    if (fresh && h->block > 0)
        vls_buf_add_text(&out->text, "\n");
    h->block = block;
    if (call) {
        if (!fresh)
            return;
        cli_style_begin(out, CLI_DIM);
        vls_buf_add_text(&out->text, "[calls ");
        cli_add_data(out, vls_text_of(piece, "name"), 0);
        vls_buf_add_text(&out->text, "]");
        cli_style_end(out, CLI_DIM);
        return;
    }
    if (!vls_str_equal(kind, VLS_STR("text")))
        cli_style_begin(out, CLI_DIM);
    cli_add_data(out, vls_text_of(piece, "text"), VLS_TEXT_KEEP_NEWLINE);
    if (!vls_str_equal(kind, VLS_STR("text")))
        cli_style_end(out, CLI_DIM);
}

static int on_event(void *arg, const valise_event *event, valise_error *err)
{
    chat *h = arg;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json piece = vls_json_null();
    int rc;

    vls_arena_init(&arena, h->c->env, (size_t)64 << 20);
    rc = vls_json_parse(&piece, &arena, event->payload, NULL, err);
    if (rc < 0 || !vls_str_equal(vls_text_of(piece, "sessionId"), valise_str_of(h->session)))
        return rc;
    h->pieces++;
    if (h->c->options.json)
        show_line(h, CHUNK, event->payload);
    else
        show_piece(h, piece);
    return cli_out_flush(h->c->out, err);
}

static int listen(valise_subscription **out, chat *h, valise_error *err)
{
    static const char *const types[] = {CHUNK, NULL};
    valise_follow follow = {.size = sizeof(follow),
                            .filter = {.size = sizeof(valise_filter), .types = types},
                            .live = true,
                            .fn = on_event,
                            .arg = h};

    return valise_subscribe(out, h->v, &follow, err);
}

/* ---- asking ---- */

static int write_payload(vls_buf *out, chat *h, valise_str text, valise_error *err)
{
    const chat_args *a = h->args;
    const valise_str *paths = a->paths.items;

    vls_buf_add_text(out, "{");
    chat_add(out, "session", valise_str_of(h->session));
    chat_add(out, "provider", a->provider.ptr ? a->provider : VLS_STR("compatible"));
    if (text.ptr)
        chat_add(out, "text", text);
    if (h->model.len > 0)
        chat_add(out, "model", vls_buf_str(&h->model));
    if (a->replay.ptr)
        chat_add(out, "replay", a->replay);
    if (a->window != VALISE_NONE)
        vls_buf_printf(out, ",\"window\":%lld", (long long)a->window);
    if (a->tools.ptr)
        vls_buf_printf(out, ",\"tools\":%.*s", VALISE_STR_ARG(a->tools));
    if (a->params.ptr)
        vls_buf_printf(out, ",\"params\":%.*s", VALISE_STR_ARG(a->params));
    for (size_t i = 0; i < a->paths.count; i++) {
        vls_buf_add_text(out, i > 0 ? "," : ",\"paths\":[");
        vls_json_write_string(out, paths[i]);
    }
    vls_buf_add_text(out, a->paths.count > 0 ? "]," : ",");
    vls_buf_add_text(out, "\"stream\":true}");
    return vls_buf_check(out, err);
}

static void count_usage(chat *h, vls_json answer)
{
    vls_json usage = vls_member_of(answer, "usage");

    h->answers++;
    h->input += (int64_t)number_of(usage, "input");
    h->output += (int64_t)number_of(usage, "output");
    (void)snprintf(h->prompt, sizeof(h->prompt), "%.*s",
                   VALISE_STR_ARG(vls_text_of(answer, "prompt")));
}

static int show_answer(chat *h, vls_json answer, valise_error *err)
{
    cli_out *out = h->c->out;
    valise_str text = {NULL, 0};
    int rc = 0;

    count_usage(h, answer);
    if (h->c->options.json) {
        rc = vls_json_text(&text, &h->arena, answer, err);
        if (rc == 0)
            show_line(h, "answer", text);
    } else {
        if (h->pieces == 0)
            cli_add_data(out, vls_text_of(answer, "text"), VLS_TEXT_KEEP_NEWLINE);
        vls_buf_add_text(&out->text, "\n");
        if (vls_str_equal(vls_text_of(answer, "stop"), VLS_STR("limit")))
            vls_buf_add_text(&out->text, "[cut: it may have no more tokens]\n");
    }
    return rc < 0 ? rc : cli_out_flush(out, err);
}

int chat_ask(chat *h, valise_str text, valise_error *err)
{
    VLS_AUTO(buf) vls_buf payload = {0};
    valise_subscription *pieces = NULL;
    vls_json answer = vls_json_null();
    int rc;

    vls_buf_init(&payload, h->c->env, 4 * LINE_MAX_BYTES);
    h->pieces = 0;
    h->block = 0;
    rc = write_payload(&payload, h, text, err);
    if (rc == 0)
        rc = listen(&pieces, h, err);
    if (rc == 0)
        rc = chat_dispatch(&answer, h, "prompt:ask", vls_buf_str(&payload), err);
    valise_unsubscribe(pieces);
    if (rc < 0 && h->pieces > 0 && !h->c->options.json) {
        vls_buf_add_text(&h->c->out->text, "\n");
        (void)cli_out_flush(h->c->out, NULL);
    }
    return rc < 0 ? rc : show_answer(h, answer, err);
}

/* ---- lines ---- */

/* Take a line out of what was typed: 1; 0: there is none yet. */
static int take_line(valise_str *out, chat *h, bool end, valise_error *err)
{
    valise_str all = vls_buf_str(&h->typed), line, rest;
    bool whole = vls_str_cut(&line, &rest, all, '\n');
    int rc;

    if (!whole && (!end || all.len == 0))
        return 0;
    rc = vls_arena_dup(out, &h->arena, line, err);
    if (rc < 0)
        return rc;
    if (out->len > 0 && out->ptr[out->len - 1] == '\r')
        out->len--;
    memmove(h->typed.ptr, h->typed.ptr + (all.len - rest.len), whole ? rest.len : 0);
    h->typed.len = whole ? rest.len : 0;
    return 1;
}

/* Ctrl-C where nothing runs: once it is a mistake, twice it is the end. */
static int note_interrupt(chat *h, bool *warned, const char *prompt, valise_error *err)
{
    if (!h->terminal || *warned)
        return cli_check_interrupt(err);
    *warned = true;
    cli_forget_interrupt();
    vls_buf_printf(&h->c->out->text, "\n(Ctrl-C once more, Ctrl-D or /quit ends it)\n%s", prompt);
    return cli_out_flush(h->c->out, err);
}

int chat_read(valise_str *out, chat *h, const char *prompt, valise_error *err)
{
    bool warned = false;
    ssize_t got = 1;
    int rc;

    if (h->terminal && !h->c->options.json)
        vls_buf_add_text(&h->c->out->text, prompt);
    rc = cli_out_flush(h->c->out, err);
    while (rc == 0 && got != 0) {
        char *room;

        rc = take_line(out, h, false, err);
        if (rc != 0)
            return rc;
        room = vls_buf_reserve(&h->typed, READ_STEP);
        if (!room)
            return vls_buf_check(&h->typed, err);
        if (!cli_wait_for_input()) {
            rc = cli_is_interrupted() ? note_interrupt(h, &warned, prompt, err) : 0;
            continue;
        }
        got = read(STDIN_FILENO, room, READ_STEP);
        if (got > 0)
            vls_buf_advance(&h->typed, (size_t)got);
        else if (got < 0)
            rc = vls_fail_errno(err, "cannot read", VLS_STR("standard input"));
    }
    return rc < 0 ? rc : take_line(out, h, true, err);
}

/* One line; where somebody sits, what goes wrong is told and the next one read. */
static int take_turn(chat *h, valise_str line, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc;

    if (vls_str_trim(line).len == 0)
        return 0;
    if (line.ptr[0] == '/' && !vls_str_starts(line, VLS_STR("//")))
        rc = chat_command(h, line, &why);
    else
        rc = chat_ask(h, line.ptr[0] == '/' ? vls_str_from(line, 1) : line, &why);
    if (rc < 0 && h->terminal) {
        (void)cli_out_flush(h->c->out, NULL);
        (void)cli_report(h->c, &why);
        cli_forget_interrupt();
        return 0;
    }
    if (rc < 0 && err)
        *err = why;
    return rc;
}

static int talk(chat *h, valise_error *err)
{
    int rc = 1;

    if (h->args->message.ptr)
        return chat_ask(h, h->args->message, err);
    while (rc > 0 && !h->over && !cli_out_is_closed(h->c->out)) {
        valise_str line = {NULL, 0};

        vls_arena_reset(&h->arena);
        rc = chat_read(&line, h, "> ", err);
        if (rc <= 0)
            break;
        rc = take_turn(h, line, err);
        rc = rc < 0 ? rc : 1;
    }
    if (rc == 0 && h->terminal && !h->c->options.json)
        vls_buf_add_text(&h->c->out->text, "\n");
    return vls_settle(rc);
}

/* ---- the session ---- */

static int find_session(chat *h, valise_error *err)
{
    VLS_AUTO(buf) vls_buf payload = {0};
    vls_json shown = vls_json_null();
    bool fresh = !h->args->session.ptr;
    int rc;

    vls_buf_init(&payload, h->c->env, READ_STEP);
    vls_buf_add_text(&payload, "{");
    if (!fresh)
        chat_add(&payload, "sessionId", h->args->session);
    vls_buf_add_text(&payload, "}");
    rc = vls_buf_check(&payload, err);
    if (rc == 0)
        rc = chat_dispatch(&shown, h, fresh ? "session:create" : "session:show",
                           vls_buf_str(&payload), err);
    if (rc == 0)
        (void)snprintf(h->session, sizeof(h->session), "%.*s",
                       VALISE_STR_ARG(vls_text_of(shown, "id")));
    if (rc == 0 && h->terminal && !h->c->options.json && !h->c->options.quiet) {
        size_t len = strlen(h->session);

        vls_buf_printf(&h->c->out->text, "session %s%s; /help lists the commands\n",
                       h->session + (len > 8 ? len - 8 : 0), fresh ? ", a new one" : "");
    }
    return rc;
}

static int check_words(const chat_args *a, valise_error *err)
{
    if (a->provider.ptr || a->replay.ptr)
        return 0;
    (void)vls_fail(err, CLI_E_USAGE, "no provider given");
    vls_hint(err, "give --provider anthropic, openai, ... or one that you have configured");
    return CLI_E_USAGE;
}

static int run_chat(int *status, cli *c, const cli_words *words, const void *args,
                    valise_error *err)
{
    chat h = {.c = c, .args = args};
    int rc = check_words(h.args, err);

    (void)status;
    (void)words;
    if (rc == 0)
        rc = cli_settle(c, err);
    if (rc == 0)
        rc = cli_open(c, err);
    if (rc < 0)
        return rc;
    c->options.no_pager = true;
    c->out->streamed = true;
    h.v = c->workspace;
    h.terminal = !h.args->message.ptr && isatty(STDIN_FILENO) == 1;
    vls_arena_init(&h.arena, c->env, (size_t)1 << 30);
    vls_buf_init(&h.typed, c->env, LINE_MAX_BYTES + READ_STEP);
    vls_buf_init(&h.model, c->env, 1024);
    vls_buf_add(&h.model, h.args->model);
    rc = find_session(&h, err);
    if (rc == 0)
        rc = talk(&h, err);
    vls_buf_release(&h.model);
    vls_buf_release(&h.typed);
    vls_arena_release(&h.arena);
    return rc;
}

const cli_builtin cli_builtin_chat = {
    .op =
        {.size = sizeof(valise_op),
         .name = "chat",
         .brief = "Chat with a model in the terminal.",
         .help =
             "Each line is sent as a message and the answer is shown as it comes, as `valise ask` "
             "does. Lines that begin with a slash are commands, and /help lists them; for a "
             "message that begins with a slash, type two. Ctrl-C cancels the answer and keeps what "
             "has arrived; pressed again, it ends the chat.\n\nWithout a terminal, each line of "
             "standard input is a message, and the first error ends the chat. --message sends only "
             "that one message. With --json there is a line for each piece and for each answer.",
         .kind = VALISE_JOB,
         .in = chat_in,
         .in_size = sizeof(chat_args),
         .example = "{\"session\":\"support\",\"message\":\"Where is my parcel?\",\"provider\":"
                    "\"anthropic\"}"},
    .run = run_chat,
    .lines = lines,
};
