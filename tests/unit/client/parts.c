/* parts.c -- URLs, keys, waits, providers, libcurl that is not there. [Q25] */
#include <sys/stat.h>

#include "client/inside.h"
#include "client/kit.h"
#include "harness/fault.h"

/* ---- URLs ---- */

static int check_url(test *t, const char *url, bool *loopback)
{
    t->err = (valise_error)VALISE_ERROR_INIT;
    return vls_url_check(loopback, valise_str_of(url), &t->err);
}

TEST(url, keys_go_only_where_nobody_listens)
{
    static const char *const here[] = {"http://127.0.0.1:8080", "http://localhost/v1",
                                       "http://[::1]:1/", "http://127.9.9.9"};
    static const char *const bad[] = {"http://example.com",
                                      "http://127.0.0.1.example.com",
                                      "http://localhost.example.com",
                                      "http://128.0.0.1",
                                      "ftp://example.com",
                                      "file:///etc/passwd",
                                      "https://",
                                      "https://:443",
                                      "https://a:b@example.com",
                                      "https://x.com?a=b",
                                      "https://x.com#a",
                                      "https://x.com:99999",
                                      "https://x.com:",
                                      "https://x y.com",
                                      "https://x.com/\r\nHost: y",
                                      "HTTP://example.com",
                                      "http://[::2]",
                                      "http://user@localhost",
                                      "http://0.0.0.0",
                                      "http://2130706433",
                                      "",
                                      "http://localhost:80:80"};
    bool loopback = false;

    CHECK_OK(check_url(t, "https://api.example.com", &loopback));
    CHECK(!loopback);
    CHECK_OK(check_url(t, "https://localhost:8443/v1/", &loopback));
    CHECK(!loopback);
    for (size_t i = 0; i < VLS_COUNT(here); i++) {
        CHECK_OK(check_url(t, here[i], &loopback));
        CHECK(loopback);
    }
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        int rc = check_url(t, bad[i], &loopback);
        CHECK_MSG(rc == VALISE_E_INVALID, "'%s' was taken", bad[i]);
    }
}

static const char *url_of(test *t, const char *base, const char *path, const char *model)
{
    vls_arena arena;
    valise_str url = {NULL, 0};
    const char *out;
    int rc;

    vls_arena_init(&arena, t->env, (size_t)1 << 20);
    rc = vls_url_make(&url, &arena, valise_str_of(base), path, valise_str_of(model), &t->err);
    out = rc < 0 ? t->err.message : test_format("%.*s", VALISE_STR_ARG(url));
    vls_arena_release(&arena);
    return out;
}

TEST(url, is_base_and_path)
{
    CHECK_TEXT("https://x.com/v1/chat", url_of(t, "https://x.com", "/v1/chat", "m"));
    CHECK_TEXT("https://x.com/v1/chat", url_of(t, "https://x.com/", "/v1/chat", "m"));
    CHECK_TEXT("https://x.com/v1/chat", url_of(t, "https://x.com/v1", "/v1/chat", "m"));
    CHECK_TEXT("https://x.com/v1/chat", url_of(t, "https://x.com/v1/", "/v1/chat", "m"));
    CHECK_TEXT("https://x.com/api/v1/chat", url_of(t, "https://x.com/api", "/v1/chat", "m"));
    CHECK_TEXT("https://x.com/models/a%2Fb%3A0%3Fx:say",
               url_of(t, "https://x.com", "/models/{model}:say", "a/b:0?x"));
    CHECK_TEXT("'..' is not a model", url_of(t, "https://x.com", "/m/{model}/x", ".."));
    CHECK_TEXT("no model given", url_of(t, "https://x.com", "/m/{model}/x", ""));
}

/* ---- keys ---- */

static int read_file(test *t, vls_key *key, const char *path)
{
    t->err = (valise_error)VALISE_ERROR_INIT;
    return vls_key_read_file(key, path, &t->err);
}

TEST(key, from_a_file_that_nobody_else_reads)
{
    const char *path = test_format("%s/key", test_tmpdir());
    vls_key key = {.len = 0};

    CHECK_RC(VALISE_E_DENIED, read_file(t, &key, path));
    test_write_file(path, VLS_STR(KEY "\n"));
    CHECK(chmod(path, 0644) == 0);
    CHECK_RC(VALISE_E_INVALID, read_file(t, &key, path));
    CHECK(strstr(t->err.message, "others can read") && strstr(t->err.hint, "chmod 600"));
    CHECK(chmod(path, 0600) == 0);
    CHECK_OK(read_file(t, &key, path));
    CHECK_STR(VLS_STR(KEY), vls_key_str(&key));
    CHECK_RC(VALISE_E_INVALID, read_file(t, &key, test_tmpdir()));
    test_write_file(path, VLS_STR(" \n"));
    CHECK_RC(VALISE_E_DENIED, read_file(t, &key, path));
    test_write_file(path, VLS_STR("two words"));
    CHECK_RC(VALISE_E_INVALID, read_file(t, &key, path));
    CHECK(!strstr(t->err.message, "words") && strstr(t->err.message, "character 4"));
    test_write_file(path, valise_str_of(test_format("%05000d", 1)));
    CHECK_RC(VALISE_E_INVALID, read_file(t, &key, path));
    vls_key_wipe(&key);
    CHECK_INT(0, key.text[0]);
}

TEST(key, from_a_variable)
{
    vls_key key = {.len = 0};

    CHECK(setenv("KIT_KEY", "abc\ndef", 1) == 0);
    CHECK_RC(VALISE_E_INVALID, vls_key_read_variable(&key, "KIT_KEY", &t->err));
    CHECK(!strstr(t->err.message, "abc"));
    CHECK(setenv("KIT_KEY", KEY, 1) == 0);
    CHECK_OK(vls_key_read_variable(&key, "KIT_KEY", &t->err));
    CHECK_STR(VLS_STR(KEY), vls_key_str(&key));
    CHECK(unsetenv("KIT_KEY") == 0);
    CHECK_RC(VALISE_E_DENIED, vls_key_read_variable(&key, "KIT_KEY", &t->err));
}

static const char *hidden(const char *text, const char *secret)
{
    vls_key key = {.len = strlen(secret)};
    char out[200];

    memcpy(key.text, secret, key.len);
    (void)vls_key_hide(out, sizeof(out), valise_str_of(text), &key);
    return test_format("%s", out);
}

TEST(key, is_hidden_with_its_parts)
{
    CHECK_TEXT("a [key] b [key]", hidden("a " KEY " b " KEY, KEY));
    CHECK_TEXT("[key]!", hidden("sk-toy-012345!", KEY));
    CHECK_TEXT("sk-toy-0123!", hidden("sk-toy-0123!", KEY)); /* eleven help nobody */
    CHECK_TEXT("x[key]", hidden("xPLANTED-abcdefghijklm", KEY));
    CHECK_TEXT("[key][key]", hidden(KEY KEY, KEY));
    CHECK_TEXT("nothing", hidden("nothing", KEY));
    CHECK_TEXT("say no", hidden("say no", "no")); /* no secret */
    CHECK_TEXT("say [key]", hidden("say none", "none"));
    CHECK_TEXT("", hidden("", KEY));
}

TEST(key, is_hidden_in_errors)
{
    vls_key key = {.len = sizeof(KEY) - 1, .text = KEY};
    valise_error err = VALISE_ERROR_INIT;

    (void)vls_fail(&err, VALISE_E_REMOTE, "%0340d%s", 0, KEY); /* the end of it is cut */
    vls_hint(&err, "it is %s", KEY);
    vls_error_prepend(&err, "x%s", KEY);
    vls_key_hide_error(&err, &key);
    CHECK(!strstr(err.message, "sk-toy-01234") && !strstr(err.hint, "PLANTED"));
    CHECK(!strstr(err.path, "PLANTED"));
    CHECK_TEXT("it is [key]", err.hint);
}

/* ---- waits ---- */

TEST(retry, waits_longer_and_longer_but_not_alike)
{
    int64_t least[8], most[8];

    for (int attempt = 1; attempt < 8; attempt++) {
        least[attempt] = INT64_MAX;
        most[attempt] = 0;
        for (int i = 0; i < 50; i++) {
            int64_t wait = vls_retry_wait_ns(t->env, attempt, VALISE_NONE);
            least[attempt] = VLS_MIN(least[attempt], wait);
            most[attempt] = VLS_MAX(most[attempt], wait);
        }
        CHECK(least[attempt] < most[attempt]);
        CHECK(attempt == 1 || attempt > 6 || least[attempt] > most[attempt - 1]);
        CHECK(most[attempt] <= INT64_C(16000000000));
    }
    CHECK_INT(0, vls_retry_wait_ns(t->env, 5, 0));
    CHECK(vls_retry_wait_ns(t->env, 1, 7000000000) >= 7000000000);
    CHECK(vls_retry_wait_ns(t->env, 1, 7000000000) <= 7250000000);
}

/* ---- libcurl ---- */

/* [L10] Who never asks a model does not need it. */
TEST(curl, that_is_not_there)
{
    vls_curl curl;

    CHECK_RC(VALISE_E_UNSUPPORTED, vls_curl_open(&curl, "libnothing-of-this-name.so.4", &t->err));
    CHECK(strstr(t->err.message, "libnothing-of-this-name") && strstr(t->err.hint, "replay"));
    CHECK_RC(VALISE_E_UNSUPPORTED, vls_curl_open(&curl, "libc.so.6", &t->err));
    CHECK(strstr(t->err.message, "curl_global_init"));
}

/* ---- providers ---- */

static const vls_adapter *const adapters[] = {&toy, &toy_of_nobody, NULL};

static int find(test *t, vls_provider *out, vls_arena *arena, const char *const *settings,
                const char *const *environment, const char *name)
{
    vls_provider_setting list[20];
    vls_provider_sources sources = {
        .settings = list, .environment = environment, .adapters = adapters};

    for (; settings[sources.count]; sources.count++) {
        valise_str line = valise_str_of(settings[sources.count]);
        CHECK(vls_str_cut(&list[sources.count].name, &list[sources.count].value, line, '='));
    }
    t->err = (valise_error)VALISE_ERROR_INIT;
    return vls_provider_find(out, arena, &sources, valise_str_of(name), &t->err);
}

TEST(provider, is_what_settings_and_variables_say)
{
    static const char *const settings[] = {"provider.my-toy.adapter=toy",
                                           "provider.my-toy.url=https://a.com",
                                           "provider.my-toy.url=https://b.com",
                                           "provider.my-toy.timeout=90s",
                                           "provider.my-toy.retries=0",
                                           "provider.my-toy.key-env=MY_KEY",
                                           "provider.my-toy.x.url=https://wrong.com",
                                           "provider.toy.url=https://c.com",
                                           "core.actor=me",
                                           NULL};
    static const char *const environment[] = {"VALISE_PROVIDER_MY_TOY_MODEL=m2",
                                              "VALISE_PROVIDER_MY_TOY_KEY_FILE=/k",
                                              "VALISE_PROVIDER_MY_TOY_KEY_ENV=",
                                              "VALISE_PROVIDER_OTHER_MODEL=m3",
                                              "HOME=/",
                                              NULL};
    vls_arena arena;
    vls_provider p;

    vls_arena_init(&arena, t->env, (size_t)1 << 20);
    CHECK_OK(find(t, &p, &arena, settings, environment, "my-toy"));
    CHECK(p.adapter == &toy);
    CHECK_STR(VLS_STR("https://b.com"), p.url);
    CHECK_STR(VLS_STR("m2"), p.model);
    CHECK_STR(VLS_STR("/k"), p.key_file);
    CHECK(!p.key_env.ptr && !p.replay.ptr);
    CHECK_INT(INT64_C(90000000000), p.timeout_ns);
    CHECK_INT(VALISE_NONE, p.idle_ns);
    CHECK_INT(0, p.retries);
    CHECK_OK(find(t, &p, &arena, settings, NULL, "toy"));
    CHECK_STR(VLS_STR("https://c.com"), p.url);
    CHECK_OK(find(t, &p, &arena, settings, NULL, "nobody"));
    CHECK(p.adapter == &toy_of_nobody && !p.url.ptr);
    vls_arena_release(&arena);
}

TEST(provider, what_is_wrong)
{
    static const char *const settings[] = {"provider.a.url=https://a.com",
                                           "provider.b.adapter=none",
                                           "provider.c.adapter=toy",
                                           "provider.c.timeout=long",
                                           "provider.d.color=red",
                                           "provider.e.retries=-1",
                                           NULL};
    vls_arena arena;
    vls_provider p;

    vls_arena_init(&arena, t->env, (size_t)1 << 20);
    CHECK_RC(VALISE_E_INVALID, find(t, &p, &arena, settings, NULL, "a"));
    CHECK(strstr(t->err.message, "'a' has no adapter") && strstr(t->err.hint, "toy, nobody"));
    CHECK_RC(VALISE_E_INVALID, find(t, &p, &arena, settings, NULL, "b"));
    CHECK_RC(VALISE_E_INVALID, find(t, &p, &arena, settings, NULL, "c"));
    CHECK_TEXT("provider.c.timeout", t->err.path);
    CHECK_RC(VALISE_E_INVALID, find(t, &p, &arena, settings, NULL, "d"));
    CHECK_RC(VALISE_E_INVALID, find(t, &p, &arena, settings, NULL, "e"));
    CHECK_RC(VALISE_E_NOT_FOUND, find(t, &p, &arena, settings, NULL, "f"));
    CHECK_RC(VALISE_E_INVALID, find(t, &p, &arena, settings, NULL, ""));
    vls_arena_release(&arena);
}

TEST(provider, clients_that_cannot_be_made)
{
    const char *path = test_format("%s/key", test_tmpdir());
    vls_provider p = kit_provider(NULL, "x");
    vls_client *client = NULL;

    test_write_file(path, VLS_STR(KEY));
    CHECK(chmod(path, 0640) == 0);
    p.key_file = valise_str_of(path);
    CHECK_RC(VALISE_E_INVALID, vls_client_new(&client, t->env, &p, &t->err));
    p.key_file = (valise_str){NULL, 0};
    p.url = VLS_STR("http://example.com");
    CHECK_RC(VALISE_E_INVALID, vls_client_new(&client, t->env, &p, &t->err));
    p.url = (valise_str){NULL, 0};
    CHECK_RC(VALISE_E_INVALID, vls_client_new(&client, t->env, &p, &t->err));
    CHECK(strstr(t->err.message, "has no URL"));
    CHECK(!client);
    vls_client_free(NULL);
}
