/* refusal.c -- what a server said no with, in its own words, and what can be done about it. */
#include "base/text.h"
#include "client/inside.h"

#define WORDS_MAX 220u /* of a message of 384 bytes */
#define ARENA_MAX ((size_t)4 << 20)

static bool passes(long status)
{
    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
           status == 504 || status == 529;
}

/* The words in one line, without the key. Cut only once it is out: half a key is no better. */
static void say(char *out, size_t size, valise_str words, const vls_key *key)
{
    char clean[4 * WORDS_MAX];

    (void)vls_key_hide(clean, sizeof(clean), words, key);
    vls_answer_line(out, size, valise_str_of(clean));
}

/* A body that is no JSON: its first words, unless it is a page for people. */
static valise_str plain_words(valise_str body)
{
    body = vls_str_trim(body);
    return body.len > 0 && (body.ptr[0] == '<' || body.ptr[0] == '{') ? VLS_STR("") : body;
}

static void add_hint(const vls_status *status, const vls_trying *trying, valise_error *err)
{
    const vls_provider *provider = &trying->client->provider;
    const char *variable =
        provider->key_env.ptr ? provider->key_env.ptr : provider->adapter->http.key_env;

    if (status->status == 401 || status->status == 403) {
        if (provider->key_file.ptr)
            vls_hint(err, "check the key in %s, and that it may use this model",
                     vls_text_short(provider->key_file).s);
        else if (variable)
            vls_hint(err, "check the key in %s, and that it may use this model", variable);
        else
            vls_hint(err, "the server wants a key: set key-env or key-file of the provider");
    } else if (status->status == 404) {
        vls_hint(err, "check the model ('%s') and the URL of the provider",
                 vls_text_short(trying->sending->model).s);
    } else if (status->status >= 300 && status->status < 400) {
        vls_hint(err,
                 "the key is not sent to another address: set the provider's url to the right one");
    }
}

int vls_status_fail(vls_trying *trying, const vls_status *status, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    vls_refusal refusal = {.message = plain_words(status->body)};
    vls_json body = vls_json_null();
    char words[WORDS_MAX] = "", type[64] = "", id[100] = "";
    int code = status->status == 401 || status->status == 403 ? VALISE_E_DENIED : VALISE_E_REMOTE;

    vls_arena_init(&arena, trying->client->env, ARENA_MAX);
    if (vls_answer_parse(&body, &arena, status->body, NULL) < 0 ||
        !vls_answer_refused(&refusal, body, true))
        refusal.type = VLS_STR("");
    trying->again =
        passes(status->status) && !vls_str_equal(refusal.type, VLS_STR("insufficient_quota"));
    say(words, sizeof(words), refusal.message, trying->key);
    say(type, sizeof(type), refusal.type, trying->key);
    say(id, sizeof(id), valise_str_of(status->request_id), trying->key);
    if (words[0] == '\0' && status->location[0])
        say(words, sizeof(words), VLS_STR("it redirects, and redirects are not followed"),
            trying->key);
    (void)vls_fail(err, code, "%s answered %ld%s%s%s%s%s%s%s%s",
                   vls_text_short(trying->client->provider.name).s, status->status,
                   words[0] ? ": " : "", words, type[0] ? " (" : "", type, type[0] ? ")" : "",
                   id[0] ? " [request " : "", id, id[0] ? "]" : "");
    add_hint(status, trying, err);
    return code;
}
