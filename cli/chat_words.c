/* chat_words.c -- lines of a chat that begin with a slash. */
#include "cli/chat.h"

#include "base/text.h"
#include "cli/output.h"
#include "json/make.h"

typedef struct word {
    const char *name, *what, *help;
    int (*run)(chat *h, valise_str rest, valise_error *err);
} word;

static int need(valise_str rest, const char *usage, valise_error *err)
{
    return rest.len > 0 ? 0 : vls_fail(err, CLI_E_USAGE, "it is %s", usage);
}

/* An operation of the session, printed as on a command line. session: what it calls that. */
static int run_of(chat *h, const char *type, const char *session, const char *key, valise_str value,
                  valise_error *err)
{
    VLS_AUTO(buf) vls_buf payload = {0};
    const valise_op *op = vls_registry_op(h->c->registry, valise_str_of(type));
    int status = 0, rc;

    if (!op)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no operation '%s'", type);
    vls_buf_init(&payload, h->c->env, (size_t)64 << 20);
    vls_buf_add_text(&payload, "{");
    chat_add(&payload, session, valise_str_of(h->session));
    if (key)
        chat_add(&payload, key, value);
    vls_buf_add_text(&payload, "}");
    rc = vls_buf_check(&payload, err);
    if (rc == 0)
        rc = cli_run(&status, h->c, op, vls_buf_str(&payload), err);
    return rc < 0 ? rc : cli_out_flush(h->c->out, err);
}

static int run(chat *h, const char *type, const char *key, valise_str value, valise_error *err)
{
    return run_of(h, type, "sessionId", key, value, err);
}

/* The last prompt of this chat, or of the session. */
static int find_prompt(chat *h, valise_error *err)
{
    vls_json list = vls_json_null(), items;
    char payload[128];
    int rc;

    if (h->prompt[0] != '\0')
        return 0;
    (void)snprintf(payload, sizeof(payload), "{\"session\":\"%s\",\"limit\":1}", h->session);
    rc = chat_dispatch(&list, h, "prompt:list", valise_str_of(payload), err);
    items = vls_member_of(list, "items");
    if (rc == 0 && (items.type != VLS_JSON_ARRAY || items.len == 0))
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "nothing has been asked in this session yet");
    if (rc == 0)
        (void)snprintf(h->prompt, sizeof(h->prompt), "%.*s",
                       VALISE_STR_ARG(vls_text_of(items.items[0], "id")));
    return rc;
}

static int run_of_prompt(chat *h, const char *type, valise_error *err)
{
    const valise_op *op = vls_registry_op(h->c->registry, valise_str_of(type));
    char payload[128];
    int status = 0, rc = find_prompt(h, err);

    if (rc < 0)
        return rc;
    if (!op)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no operation '%s'", type);
    (void)snprintf(payload, sizeof(payload), "{\"prompt\":\"%s\"}", h->prompt);
    rc = cli_run(&status, h->c, op, valise_str_of(payload), err);
    return rc < 0 ? rc : cli_out_flush(h->c->out, err);
}

static int say_line(chat *h, const char *what, valise_str text, valise_error *err)
{
    vls_buf_add_text(&h->c->out->text, what);
    cli_add_data(h->c->out, text, 0);
    vls_buf_add_text(&h->c->out->text, "\n");
    return cli_out_flush(h->c->out, err);
}

/* ---- the words ---- */

static int do_branches(chat *h, valise_str rest, valise_error *err)
{
    return rest.len > 0 ? run(h, "turn:branches", "turnId", rest, err)
                        : run(h, "session:show", NULL, rest, err);
}

static int do_checkout(chat *h, valise_str rest, valise_error *err)
{
    int rc = need(rest, "/checkout TURN", err);

    return rc < 0 ? rc : run(h, "turn:checkout", "turnId", rest, err);
}

static int do_compact(chat *h, valise_str rest, valise_error *err)
{
    (void)rest;
    return run_of(h, "prompt:compact", "session", NULL, rest, err);
}

static int do_log(chat *h, valise_str rest, valise_error *err)
{
    return run(h, "turn:log", NULL, rest, err);
}

static int do_prompt(chat *h, valise_str rest, valise_error *err)
{
    (void)rest;
    return run_of_prompt(h, "prompt:show", err);
}

static int do_blame(chat *h, valise_str rest, valise_error *err)
{
    (void)rest;
    return run_of_prompt(h, "prompt:blame", err);
}

static int do_model(chat *h, valise_str rest, valise_error *err)
{
    if (rest.len > 256)
        return vls_fail(err, VALISE_E_INVALID, "the name of the model is too long");
    if (rest.len > 0) {
        vls_buf_clear(&h->model);
        vls_buf_add(&h->model, rest);
    }
    return say_line(h, "model: ",
                    h->model.len > 0 ? vls_buf_str(&h->model)
                                     : VLS_STR("as the role or the provider says"),
                    err);
}

static int do_role(chat *h, valise_str rest, valise_error *err)
{
    return rest.len > 0 ? run(h, "session:role:switch", "newRole", rest, err)
                        : run(h, "session:show", NULL, rest, err);
}

static int do_usage(chat *h, valise_str rest, valise_error *err)
{
    (void)rest;
    vls_buf_printf(&h->c->out->text, "%lld answers, %lld tokens in, %lld tokens out\n",
                   (long long)h->answers, (long long)h->input, (long long)h->output);
    return cli_out_flush(h->c->out, err);
}

static int do_quit(chat *h, valise_str rest, valise_error *err)
{
    (void)rest;
    (void)err;
    h->over = true;
    return 0;
}

/* From here on it is the other session that is talked in. */
static int do_fork(chat *h, valise_str rest, valise_error *err)
{
    VLS_AUTO(buf) vls_buf payload = {0};
    vls_json made = vls_json_null();
    size_t len;
    int rc;

    vls_buf_init(&payload, h->c->env, (size_t)64 << 20);
    vls_buf_add_text(&payload, "{");
    chat_add(&payload, "sessionId", valise_str_of(h->session));
    if (rest.len > 0)
        chat_add(&payload, "label", rest);
    vls_buf_add_text(&payload, "}");
    rc = vls_buf_check(&payload, err);
    if (rc == 0)
        rc = chat_dispatch(&made, h, "session:fork", vls_buf_str(&payload), err);
    if (rc < 0)
        return rc;
    (void)snprintf(h->session, sizeof(h->session), "%.*s", VALISE_STR_ARG(vls_text_of(made, "id")));
    h->prompt[0] = '\0';
    len = strlen(h->session);
    return say_line(h, "session ", valise_str_of(h->session + (len > 8 ? len - 8 : 0)), err);
}

static int speaker_is_user(bool *out, chat *h, valise_error *err)
{
    VLS_AUTO(buf) vls_buf payload = {0};
    vls_json shown = vls_json_null();
    int rc;

    vls_buf_init(&payload, h->c->env, 4096);
    vls_buf_add_text(&payload, "{");
    chat_add(&payload, "sessionId", valise_str_of(h->session));
    chat_add(&payload, "turnId", VLS_STR("HEAD"));
    vls_buf_add_text(&payload, "}");
    rc = vls_buf_check(&payload, err);
    if (rc == 0)
        rc = chat_dispatch(&shown, h, "turn:show", vls_buf_str(&payload), err);
    *out = rc == 0 && vls_str_equal(vls_text_of(shown, "role"), VLS_STR("user"));
    return rc;
}

/* Another version of a turn; where the user said it, it is answered anew. */
static int do_edit(chat *h, valise_str rest, valise_error *err)
{
    VLS_AUTO(buf) vls_buf payload = {0};
    vls_json done = vls_json_null();
    valise_str turn = {NULL, 0}, text = {NULL, 0};
    bool user = false;
    int rc = need(rest, "/edit TURN, and the new text behind it or in the next line", err);

    if (rc < 0)
        return rc;
    (void)vls_str_cut(&turn, &text, rest, ' ');
    text = vls_str_trim(text);
    rc = text.len > 0 ? 1 : chat_read(&text, h, "text: ", err);
    if (rc <= 0 || vls_str_trim(text).len == 0)
        return rc < 0 ? rc : vls_fail(err, CLI_E_USAGE, "there is no new text");
    vls_buf_init(&payload, h->c->env, (size_t)128 << 20);
    vls_buf_add_text(&payload, "{");
    chat_add(&payload, "sessionId", valise_str_of(h->session));
    chat_add(&payload, "turnId", turn);
    chat_add(&payload, "text", text);
    vls_buf_add_text(&payload, "}");
    rc = vls_buf_check(&payload, err);
    if (rc == 0)
        rc = chat_dispatch(&done, h, "turn:edit", vls_buf_str(&payload), err);
    if (rc == 0)
        rc = speaker_is_user(&user, h, err);
    if (rc < 0)
        return rc;
    return user ? chat_ask(h, (valise_str){NULL, 0}, err)
                : say_line(h, "head: ", vls_text_of(done, "head"), err);
}

static int do_help(chat *h, valise_str rest, valise_error *err);

static const word words[] = {
    {"blame", "", "where each piece of the last prompt came from", do_blame},
    {"branches", " [TURN]", "the tips of the session, or what lies behind a turn", do_branches},
    {"checkout", " TURN", "go back to a turn, and on from there", do_checkout},
    {"compact", "", "a summary in the place of old turns", do_compact},
    {"edit", " TURN [TEXT]", "say it in other words; it is answered anew", do_edit},
    {"fork", " [LABEL]", "go on in a session of its own", do_fork},
    {"help", "", "this", do_help},
    {"log", "", "what was said", do_log},
    {"model", " [NAME]", "which model is asked", do_model},
    {"prompt", "", "the last prompt: what it cost, what was left out", do_prompt},
    {"quit", "", "the end; Ctrl-D as well", do_quit},
    {"role", " [NAME]", "which role speaks", do_role},
    {"usage", "", "tokens of this chat", do_usage},
};

static int do_help(chat *h, valise_str rest, valise_error *err)
{
    (void)rest;
    for (size_t i = 0; i < VLS_COUNT(words); i++) {
        char name[64];

        (void)snprintf(name, sizeof(name), "/%s%s", words[i].name, words[i].what);
        vls_buf_printf(&h->c->out->text, "%-20s %s\n", name, words[i].help);
    }
    return cli_out_flush(h->c->out, err);
}

int chat_command(chat *h, valise_str line, valise_error *err)
{
    valise_str name, rest = {NULL, 0};

    (void)vls_str_cut(&name, &rest, vls_str_from(line, 1), ' ');
    rest = vls_str_trim(rest);
    for (size_t i = 0; i < VLS_COUNT(words); i++)
        if (vls_str_equal(name, valise_str_of(words[i].name)))
            return words[i].run(h, rest, err);
    (void)vls_fail(err, CLI_E_USAGE, "there is no /%s", vls_text_short(name).s);
    vls_hint(err, "/help lists the commands; //%s is sent to the model as it is",
             vls_text_short(name).s);
    return CLI_E_USAGE;
}
