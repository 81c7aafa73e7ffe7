/* client.c -- clients: made, asked, freed. */
#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "base/time.h"
#include "client/inside.h"

#define ARENA_MAX ((size_t)1 << 20)
#define RETRIES_MAX 100

static int64_t otherwise(int64_t value, int64_t usual)
{
    return value == VALISE_NONE ? usual : value;
}

/* The client has its own copy, with what is usual where nothing is said. */
static int take_provider(vls_client *client, const vls_provider *given, valise_error *err)
{
    vls_provider *p = &client->provider;

    *p = *given;
    p->timeout_ns = otherwise(p->timeout_ns, VLS_CLIENT_TIMEOUT_NS);
    p->idle_ns = otherwise(p->idle_ns, VLS_CLIENT_IDLE_NS);
    p->connect_ns = otherwise(p->connect_ns, VLS_CLIENT_CONNECT_NS);
    p->retries = otherwise(p->retries, VLS_CLIENT_RETRIES);
    p->retries = VLS_MIN(p->retries, RETRIES_MAX);
    p->max_answer = otherwise(p->max_answer, VLS_CLIENT_MAX_ANSWER);
    p->max_answer = VLS_MIN(p->max_answer, (int64_t)VLS_STREAM_MAX_BYTES);
    if (!p->url.ptr)
        p->url = vls_str_or_none(valise_str_of(p->adapter->http.base));
    return vls_provider_copy(p, &client->arena, err);
}

static int make(vls_client **out, const valise_env *env, valise_error *err)
{
    vls_client *client = vls_mem_zalloc(env, sizeof(*client));

    if (!client)
        return vls_fail_memory(err);
    client->env = env;
    vls_arena_init(&client->arena, env, ARENA_MAX);
    (void)pthread_mutex_init(&client->lock, NULL);
    *out = client;
    return 0;
}

static int begin_http(vls_client *client, valise_error *err)
{
    const vls_provider *p = &client->provider;
    int rc;

    if (!p->url.ptr) {
        (void)vls_fail(err, VALISE_E_INVALID, "the provider '%s' has no URL",
                       vls_text_short(p->name).s);
        vls_hint(err, "set provider.%s.url", vls_text_short(p->name).s);
        return VALISE_E_INVALID;
    }
    rc = vls_url_check(&client->loopback, p->url, err);
    if (rc == 0 && p->key_file.ptr)
        rc = vls_key_check_file(p->key_file.ptr, err);
    if (rc == 0)
        rc = vls_curl_open(&client->curl, VLS_CURL_NAME, err);
    client->try_once = vls_http_try;
    return rc;
}

int vls_client_new(vls_client **out, const valise_env *env, const vls_provider *provider,
                   valise_error *err)
{
    VLS_AUTO(client) vls_client *client = NULL;
    int rc = make(&client, env, err);

    if (rc == 0)
        rc = take_provider(client, provider, err);
    if (rc == 0 && client->provider.replay.ptr) {
        rc = vls_client_replay_open(&client->replay, env, client->provider.replay, err);
        client->try_once = vls_client_replay_try;
    } else if (rc == 0) {
        rc = begin_http(client, err);
    }
    if (rc == 0)
        *out = VLS_TAKE(client);
    return rc;
}

int vls_client_of_host(vls_client **out, const valise_env *env, const valise_client *host,
                       valise_error *err)
{
    VLS_AUTO(client) vls_client *client = NULL;
    valise_client taken = {.size = sizeof(taken)};
    int rc = make(&client, env, err);

    if (rc < 0)
        return rc;
    rc = vls_sized_take(&taken, sizeof(taken), host, sizeof(taken), "valise_client", err);
    if (rc < 0)
        return rc;
    if (taken.abi != VALISE_CLIENT_ABI || !taken.send || !taken.name)
        return vls_fail(err, VALISE_E_INVALID, "the host's client was built for another version");
    client->provider.name = valise_str_of(taken.name);
    client->provider.timeout_ns = VLS_CLIENT_TIMEOUT_NS;
    client->try_once = vls_host_try;
    client->host = taken;
    *out = VLS_TAKE(client);
    return 0;
}

void vls_client_free(vls_client *client)
{
    if (!client)
        return;
    if (client->host.close)
        client->host.close(client->host.self);
    vls_lane_free(&client->curl, &client->spare);
    vls_client_replay_close(client->replay);
    vls_arena_release(&client->arena);
    (void)pthread_mutex_destroy(&client->lock);
    vls_mem_free(client->env, client, sizeof(*client));
}

/* ---- sending ---- */

/* A server of this machine may need none. */
static int read_key(vls_key *out, const vls_client *client, valise_error *err)
{
    const vls_provider *p = &client->provider;
    const char *usual = p->adapter ? p->adapter->http.key_env : NULL;
    int rc;

    if (client->try_once != vls_http_try)
        return 0;
    if (p->key_file.ptr)
        return vls_key_read_file(out, p->key_file.ptr, err);
    if (p->key_env.ptr)
        return vls_key_read_variable(out, p->key_env.ptr, err);
    if (!usual)
        return 0;
    if (!client->loopback)
        return vls_key_read_variable(out, usual, err);
    rc = vls_key_read_variable(out, usual, NULL);
    return rc == VALISE_E_DENIED ? 0 : rc;
}

int vls_client_send(vls_answer *out, vls_arena *arena, vls_client *client,
                    const vls_sending *sending, valise_error *err)
{
    VLS_AUTO(key) vls_key key = {.len = 0};
    vls_sending asked = *sending;
    vls_trying trying = {
        .client = client,
        .sending = &asked,
        .key = &key,
        .arena = arena,
        .deadline_ns = vls_deadline_ns(client->env, client->provider.timeout_ns),
    };
    int rc, cleaned;

    *out = (vls_answer){.blocks = vls_json_null()};
    if (!asked.model.ptr)
        asked.model = client->provider.model;
    if (!sending->wire && client->try_once == vls_http_try)
        return vls_fail(err, VALISE_E_INVALID, "there is no request to send");
    rc = read_key(&key, client, err);
    if (rc == 0)
        rc = vls_retry_send(&trying, err);
    cleaned = vls_echo_clean(&trying.answer, arena, &key, rc < 0 ? NULL : err);
    if (cleaned == 0)
        *out = trying.answer;
    return rc < 0 ? rc : cleaned;
}
