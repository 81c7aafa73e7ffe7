/* http.c -- one request over HTTP: headers, the body as it is walked, the answer as it comes.
 *
 *     begin -> loop: libcurl works, then somebody may cancel, or time is up -> what came of it
 *
 * libcurl's callbacks (take_header, take_bytes, give_bytes) gather in an `exchange`; a failure of
 * ours within one of them is kept there, with its message, and ends the transfer. */
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "client/inside.h"

#define HEADERS_MAX ((size_t)256 << 10)
#define REFUSAL_MAX ((size_t)64 << 10)     /* of the body of an error */
#define SLOTS 12                           /* headers of ours */
#define GRACE_NS (INT64_C(1) * 1000000000) /* for a server that ends its stream, not the body */

/* What the body is. */
typedef enum body_kind {
    BODY_UNKNOWN, /* nothing of it has come */
    BODY_STREAM,
    BODY_WHOLE,
    BODY_REFUSAL,
} body_kind;

typedef struct exchange {
    vls_trying *trying;
    const vls_curl *curl;
    vls_lane lane;
    struct curl_slist slots[SLOTS];
    size_t slot_count;
    char key_header[VLS_KEY_MAX + 128];
    vls_wire_walk *walk;

    vls_stream *stream;
    vls_echo echo;
    vls_buf body;
    body_kind kind;
    int64_t received; /* bytes of the body */
    size_t header_bytes;
    char content_type[100], request_id[100], location[200];
    int64_t wait_ns;   /* Retry-After; VALISE_NONE */
    bool may_not;      /* the server says that it should not be tried again */
    bool enough;       /* the transfer was ended by us, and nothing is wrong */
    bool no_memory;    /* for an option */
    int64_t active_ns; /* when something moved */
    int64_t ended_ns;  /* when the stream came to its end; 0: not yet */

    int rc; /* of ours */
    valise_error err;
    char words[CURL_ERROR_SIZE];
} exchange;

static int64_t ticks(const exchange *x)
{
    const valise_env *env = x->trying->client->env;

    return env->ticks_ns(env->self);
}

static long status_of(const exchange *x)
{
    long status = 0;

    (void)x->curl->easy_getinfo(x->lane.easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* ---- headers that come ---- */

static bool is_named(valise_str name, const char *wanted)
{
    size_t len = strlen(wanted);

    if (name.len != len)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (vls_to_lower(name.ptr[i]) != wanted[i])
            return false;
    }
    return true;
}

/* Seconds, or a date. */
static void take_retry_after(exchange *x, valise_str value)
{
    const valise_env *env = x->trying->client->env;
    int64_t seconds = 0;
    char text[64] = "";

    if (!vls_str_to_i64(&seconds, value)) {
        time_t then;
        if (value.len >= sizeof(text))
            return;
        memcpy(text, value.ptr, value.len);
        then = x->curl->getdate(text, NULL);
        if (then == (time_t)-1)
            return;
        seconds = (int64_t)then - env->now_ns(env->self) / 1000000000;
    }
    seconds = VLS_MAX(seconds, 0);
    x->wait_ns = VLS_MIN(seconds, 1000000000) * 1000000000;
}

static void keep_header(exchange *x, valise_str name, valise_str value)
{
    int64_t ms = 0;

    if (is_named(name, "content-type")) {
        vls_answer_line(x->content_type, sizeof(x->content_type), value);
    } else if (is_named(name, "request-id") || is_named(name, "x-request-id") ||
               is_named(name, "x-amzn-requestid")) {
        /* The key goes before anything is cut, so that no part of it stays. */
        char clean[1024];
        (void)vls_key_hide(clean, sizeof(clean), value, x->trying->key);
        vls_answer_line(x->request_id, sizeof(x->request_id), valise_str_of(clean));
    } else if (is_named(name, "location")) {
        vls_answer_line(x->location, sizeof(x->location), value);
    } else if (is_named(name, "retry-after")) {
        take_retry_after(x, value);
    } else if (is_named(name, "retry-after-ms")) {
        if (vls_str_to_i64(&ms, value) && ms >= 0)
            x->wait_ns = VLS_MIN(ms, 1000000000) * 1000000;
    } else if (is_named(name, "x-should-retry")) {
        x->may_not = is_named(value, "false");
    }
}

static size_t take_header(char *bytes, size_t one, size_t count, void *arg)
{
    exchange *x = arg;
    valise_str line = vls_str(bytes, one * count), name, value;

    x->active_ns = ticks(x);
    x->header_bytes += line.len;
    if (x->header_bytes > HEADERS_MAX) {
        x->rc = vls_fail(&x->err, VALISE_E_LIMIT,
                         "the headers of the answer have more than %zu KiB", HEADERS_MAX >> 10);
        return 0;
    }
    if (vls_str_starts(line, VLS_STR("HTTP/"))) { /* what came before was an interim answer */
        x->content_type[0] = x->request_id[0] = x->location[0] = '\0';
        x->wait_ns = VALISE_NONE;
    } else if (vls_str_cut(&name, &value, line, ':')) {
        keep_header(x, vls_str_trim(name), vls_str_trim(value));
    }
    return line.len;
}

/* ---- the body that comes ---- */

/* Some servers do not say that they stream, some answer as a whole though they were asked to: then
 * what it begins with decides. */
static body_kind kind_of(const exchange *x, valise_str bytes)
{
    long status = status_of(x);
    valise_str start = vls_str_trim(bytes);

    if (status < 200 || status >= 300)
        return BODY_REFUSAL;
    if (strstr(x->content_type, "text/event-stream"))
        return BODY_STREAM;
    if (!x->trying->sending->stream || strstr(x->content_type, "json"))
        return BODY_WHOLE;
    return start.len > 0 && (start.ptr[0] == '{' || start.ptr[0] == '[') ? BODY_WHOLE : BODY_STREAM;
}

static int begin_body(exchange *x, valise_str bytes)
{
    const vls_client *client = x->trying->client;
    const vls_sending *sending = x->trying->sending;

    x->kind = kind_of(x, bytes);
    if (x->kind != BODY_STREAM)
        return 0;
    vls_echo_init(&x->echo, x->trying->key);
    x->echo.env = client->env;
    x->echo.on_piece = sending->on_piece;
    x->echo.arg = sending->arg;
    return vls_stream_new(&x->stream, client->env, client->provider.adapter,
                          sending->stream && sending->on_piece ? vls_echo_piece : NULL, &x->echo,
                          &x->err);
}

/* The beginning of it is enough. */
static void take_refusal(exchange *x, valise_str bytes)
{
    vls_buf_add(&x->body, vls_str_head(bytes, REFUSAL_MAX - x->body.len));
    x->enough = x->body.len >= REFUSAL_MAX;
}

static int take_answer(exchange *x, valise_str bytes)
{
    int64_t most = x->trying->client->provider.max_answer;
    int rc = 0;

    if (x->received > most) {
        (void)vls_fail(&x->err, VALISE_E_LIMIT, "the answer has more than %lld bytes",
                       (long long)most);
        vls_hint(&x->err, "set max-answer of the provider to allow more");
        return VALISE_E_LIMIT;
    }
    if (x->kind == BODY_WHOLE) {
        vls_buf_add(&x->body, bytes);
        return vls_buf_check(&x->body, &x->err);
    }
    rc = vls_stream_feed(x->stream, bytes, &x->err);
    if (rc == 0 && x->ended_ns == 0 && vls_stream_has_ended(x->stream))
        x->ended_ns = ticks(x);
    return rc;
}

static size_t take_bytes(char *ptr, size_t one, size_t count, void *arg)
{
    exchange *x = arg;
    valise_str bytes = vls_str(ptr, one * count);

    x->active_ns = ticks(x);
    x->received += (int64_t)bytes.len;
    if (x->kind == BODY_UNKNOWN)
        x->rc = begin_body(x, bytes);
    if (x->rc == 0 && x->kind == BODY_REFUSAL)
        take_refusal(x, bytes);
    else if (x->rc == 0)
        x->rc = take_answer(x, bytes);
    return x->rc < 0 || x->enough ? 0 : bytes.len;
}

/* ---- the body that goes ---- */

static size_t give_bytes(char *room, size_t one, size_t count, void *arg)
{
    exchange *x = arg;
    size_t len = 0;

    x->active_ns = ticks(x);
    x->rc = vls_wire_walk_read(&len, x->walk, room, one * count, &x->err);
    return x->rc < 0 ? CURL_READFUNC_ABORT : len;
}

/* libcurl found a connection dead that it had kept, and begins anew on another one. */
static int give_again(void *arg, curl_off_t offset, int origin)
{
    exchange *x = arg;
    const vls_sending *sending = x->trying->sending;

    if (offset != 0 || origin != SEEK_SET)
        return CURL_SEEKFUNC_CANTSEEK;
    vls_wire_walk_free(x->walk);
    x->walk = NULL;
    x->rc = vls_wire_walk_new(&x->walk, sending->wire, sending->blobs, &x->err);
    return x->rc < 0 ? CURL_SEEKFUNC_FAIL : CURL_SEEKFUNC_OK;
}

/* ---- beginning ---- */

static void set_number(exchange *x, CURLoption option, long value)
{
    (void)x->curl->easy_setopt(x->lane.easy, option, value);
}

/* A library may be without an option. But texts are copied, and without memory for one the request
 * would go another way than it should, through a proxy for instance. */
static void set_pointer(exchange *x, CURLoption option, const void *value)
{
    if (x->curl->easy_setopt(x->lane.easy, option, value) == CURLE_OUT_OF_MEMORY)
        x->no_memory = true;
}

static void add_slot(exchange *x, const char *header)
{
    struct curl_slist *slot = &x->slots[x->slot_count];

    assert(x->slot_count < SLOTS);
    /* libcurl only reads it, though its type says otherwise. */
    memcpy(&slot->data, &header, sizeof(header));
    slot->next = NULL;
    if (x->slot_count > 0)
        x->slots[x->slot_count - 1].next = slot;
    x->slot_count++;
}

static void set_headers(exchange *x)
{
    const vls_http *http = &x->trying->client->provider.adapter->http;
    valise_str key = vls_key_str(x->trying->key);

    add_slot(x, "Content-Type: application/json");
    add_slot(x, x->trying->sending->stream ? "Accept: text/event-stream, application/json"
                                           : "Accept: application/json");
    add_slot(x, "Expect:"); /* no waiting for "100 Continue" */
    for (size_t i = 0; i < VLS_COUNT(http->heads) && http->heads[i]; i++)
        add_slot(x, http->heads[i]);
    if (x->trying->sending->wire->head)
        add_slot(x, x->trying->sending->wire->head);
    if (key.len > 0 && http->key_head) {
        (void)snprintf(x->key_header, sizeof(x->key_header), "%s%.*s", http->key_head,
                       VALISE_STR_ARG(key));
        add_slot(x, x->key_header);
    }
    set_pointer(x, CURLOPT_HTTPHEADER, x->slots);
}

/* Options by their numbers: of headers that are older than the library, and of a name that is
 * deprecated. One that the library does not know it refuses. */
enum {
    OLD_PROTOCOLS = CURLOPTTYPE_LONG + 181,
    PROTOCOLS = CURLOPTTYPE_STRINGPOINT + 318, /* 7.85 */
    QUICK_EXIT = CURLOPTTYPE_LONG + 322,       /* 7.87 */
};

/* Newer libraries take names, older ones bits. */
static void set_protocol(exchange *x, bool loopback)
{
    if (x->curl->easy_setopt(x->lane.easy, (CURLoption)PROTOCOLS, loopback ? "http" : "https") !=
        CURLE_OK)
        set_number(x, (CURLoption)OLD_PROTOCOLS, loopback ? CURLPROTO_HTTP : CURLPROTO_HTTPS);
}

/* Whom to trust: what the environment says as other programs take it, or what the library has. */
static void set_trust(exchange *x)
{
    const char *bundle = getenv("CURL_CA_BUNDLE");
    const char *file = bundle && *bundle ? bundle : getenv("SSL_CERT_FILE");
    const char *folder = bundle && *bundle ? NULL : getenv("SSL_CERT_DIR");

    if (file && *file)
        set_pointer(x, CURLOPT_CAINFO, file);
    if (folder && *folder)
        set_pointer(x, CURLOPT_CAPATH, folder);
}

static void set_rules(exchange *x)
{
    const vls_client *client = x->trying->client;
    const vls_provider *provider = &client->provider;

    set_protocol(x, client->loopback);
    set_number(x, CURLOPT_FOLLOWLOCATION, 0);
    set_number(x, CURLOPT_NETRC, CURL_NETRC_IGNORED);
    set_number(x, CURLOPT_HTTP_CONTENT_DECODING, 0);
    set_number(x, CURLOPT_DISALLOW_USERNAME_IN_URL, 1);
    set_number(x, CURLOPT_PATH_AS_IS, 1);
    set_number(x, CURLOPT_SSL_VERIFYPEER, 1);
    set_number(x, CURLOPT_SSL_VERIFYHOST, 2);
    set_trust(x);
    set_number(x, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1);
    set_number(x, CURLOPT_NOSIGNAL, 1);
    set_number(x, (CURLoption)QUICK_EXIT, 1); /* who cancels does not wait for a name server */
    set_number(x, CURLOPT_NOPROGRESS, 1);
    set_number(x, CURLOPT_TCP_KEEPALIVE, 1);
    set_number(x, CURLOPT_CONNECTTIMEOUT_MS, (long)VLS_MAX(provider->connect_ns / 1000000, 1));
    set_pointer(x, CURLOPT_USERAGENT, "valise/" VALISE_VERSION);
    set_pointer(x, CURLOPT_ERRORBUFFER, x->words);
    /* In the clear only within this machine: nobody stands between. */
    if (client->loopback)
        set_pointer(x, CURLOPT_PROXY, "");
    else if (provider->proxy.ptr)
        set_pointer(x, CURLOPT_PROXY, provider->proxy.ptr);
}

static void set_functions(exchange *x)
{
    const vls_curl *curl = x->curl;
    CURL *easy = x->lane.easy;
    int64_t size = vls_wire_size(x->trying->sending->wire);

    set_number(x, CURLOPT_POST, 1);
    (void)curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    (void)curl->easy_setopt(easy, CURLOPT_READFUNCTION, give_bytes);
    (void)curl->easy_setopt(easy, CURLOPT_SEEKFUNCTION, give_again);
    (void)curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    (void)curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes);
    set_pointer(x, CURLOPT_READDATA, x);
    set_pointer(x, CURLOPT_SEEKDATA, x);
    set_pointer(x, CURLOPT_HEADERDATA, x);
    set_pointer(x, CURLOPT_WRITEDATA, x);
}

void vls_lane_free(const vls_curl *curl, vls_lane *lane)
{
    if (lane->easy)
        curl->easy_cleanup(lane->easy);
    if (lane->multi)
        (void)curl->multi_cleanup(lane->multi);
    *lane = (vls_lane){NULL, NULL};
}

/* The one that waits, with its connections, or a new one. */
static int take_lane(exchange *x, valise_error *err)
{
    vls_client *client = x->trying->client;

    (void)pthread_mutex_lock(&client->lock);
    x->lane = client->spare;
    client->spare = (vls_lane){NULL, NULL};
    (void)pthread_mutex_unlock(&client->lock);
    if (x->lane.easy)
        return 0;
    x->lane = (vls_lane){.multi = x->curl->multi_init(), .easy = x->curl->easy_init()};
    if (x->lane.easy && x->lane.multi)
        return 0;
    vls_lane_free(x->curl, &x->lane);
    return vls_fail_memory(err);
}

static void give_lane(exchange *x, bool whole)
{
    vls_client *client = x->trying->client;

    if (!x->lane.easy)
        return;
    x->curl->easy_reset(x->lane.easy); /* it forgets all pointers, and the key */
    if (whole) {
        (void)pthread_mutex_lock(&client->lock);
        if (!client->spare.easy) {
            client->spare = x->lane;
            x->lane = (vls_lane){NULL, NULL};
        }
        (void)pthread_mutex_unlock(&client->lock);
    }
    vls_lane_free(x->curl, &x->lane);
}

static int begin(exchange *x, valise_error *err)
{
    const vls_client *client = x->trying->client;
    const vls_sending *sending = x->trying->sending;
    const vls_http *http = &client->provider.adapter->http;
    const char *path = sending->stream && http->stream ? http->stream : http->path;
    valise_str base = client->provider.url, url = {NULL, 0};
    int rc = vls_url_make(&url, x->trying->arena, base, path, sending->model, err);

    if (rc == 0)
        rc = vls_wire_walk_new(&x->walk, sending->wire, sending->blobs, err);
    if (rc == 0)
        rc = take_lane(x, err);
    if (rc < 0)
        return rc;
    set_pointer(x, CURLOPT_URL, url.ptr);
    set_headers(x);
    set_rules(x);
    set_functions(x);
    return x->no_memory ? vls_fail_memory(err) : 0;
}

/* ---- working ---- */

static int too_long(const exchange *x, bool silent, valise_error *err)
{
    const vls_provider *provider = &x->trying->client->provider;
    vls_text_brief name = vls_text_short(provider->name);

    if (silent)
        (void)vls_fail(err, VALISE_E_IO, "nothing came from %s for %.1f seconds", name.s,
                       (double)provider->idle_ns / 1e9);
    else
        (void)vls_fail(err, VALISE_E_IO, "%s did not answer within %.1f seconds", name.s,
                       (double)provider->timeout_ns / 1e9);
    vls_hint(err, "set provider.%s.%s to wait longer", name.s, silent ? "idle" : "timeout");
    return VALISE_E_IO;
}

/* A reason to stop that is not libcurl's. */
static int look_up(exchange *x, valise_error *err)
{
    const vls_trying *trying = x->trying;
    const vls_provider *provider = &trying->client->provider;
    int64_t now = ticks(x);

    if (x->rc < 0) {
        if (err)
            *err = x->err;
        return x->rc;
    }
    if (trying->sending->cancelled && trying->sending->cancelled(trying->sending->arg))
        return vls_fail(err, VALISE_E_CANCELLED, "cancelled");
    if (x->ended_ns > 0 && now - x->ended_ns > GRACE_NS)
        x->enough = true;
    if (now >= trying->deadline_ns)
        return too_long(x, false, err);
    if (now - x->active_ns >= provider->idle_ns)
        return too_long(x, true, err);
    return 0;
}

/* A server that goes away while something is sent to it must not end the host: some TLS libraries
 * write without a word against that. */
typedef struct pipe_guard {
    sigset_t pipe, before;
    bool was_pending;
} pipe_guard;

static void guard_pipe(pipe_guard *guard)
{
    sigset_t pending;

    (void)sigemptyset(&guard->pipe);
    (void)sigaddset(&guard->pipe, SIGPIPE);
    (void)sigpending(&pending);
    guard->was_pending = sigismember(&pending, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &guard->pipe, &guard->before);
}

static void unguard_pipe(const pipe_guard *guard)
{
    static const struct timespec now = {0, 0};

    /* Only what came in between is taken away. */
    if (!guard->was_pending)
        (void)sigtimedwait(&guard->pipe, NULL, &now);
    (void)pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}

/* Until it is done: *code says how. */
static int work(CURLcode *code, exchange *x, valise_error *err)
{
    int running = 1, left = 0, rc = 0;

    while (rc == 0 && !x->enough) {
        CURLMcode multi = x->curl->multi_perform(x->lane.multi, &running);
        CURLMsg *message = x->curl->multi_info_read(x->lane.multi, &left);
        if (multi != CURLM_OK)
            return vls_fail(err, VALISE_E_IO, "libcurl failed: %s", x->curl->multi_strerror(multi));
        if (message && message->msg == CURLMSG_DONE) {
            *code = message->data.result;
            return x->rc < 0 ? look_up(x, err) : 0;
        }
        rc = look_up(x, err);
        if (rc == 0 && !x->enough)
            multi = x->curl->multi_poll(x->lane.multi, NULL, 0, VLS_CLIENT_LOOK_MS, NULL);
        if (multi != CURLM_OK) /* else nobody would wait from now on */
            return vls_fail(err, VALISE_E_IO, "libcurl failed: %s", x->curl->multi_strerror(multi));
    }
    return rc;
}

/* ---- what came of it ---- */

/* A connection that was not made, or was cut before anything came. */
static bool is_cut(CURLcode code)
{
    switch ((int)code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT: /* connecting: all other times are ours */
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return false;
    }
}

static void hint_at(const exchange *x, CURLcode code, valise_error *err)
{
    vls_text_brief name = vls_text_short(x->trying->client->provider.name);

    switch ((int)code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        vls_hint(err, "nothing was sent; SSL_CERT_FILE can name a file with certificates to trust");
        break;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
        vls_hint(err, "check provider.%s.url and the network", name.s);
        break;
    case CURLE_COULDNT_RESOLVE_PROXY:
        vls_hint(err, "check https_proxy and provider.%s.proxy: no proxy was found there", name.s);
        break;
    default:
        vls_hint(err, "check the network, then ask again");
    }
}

static int connection_failed(exchange *x, CURLcode code, valise_error *err)
{
    char words[200];
    int rc;

    vls_answer_line(words, sizeof(words),
                    valise_str_of(x->words[0] ? x->words : x->curl->easy_strerror(code)));
    x->trying->again = x->received == 0 && is_cut(code);
    rc = vls_fail(err, VALISE_E_IO, "%s: %s", vls_text_short(x->trying->client->provider.name).s,
                  words);
    hint_at(x, code, err);
    return rc;
}

static int refused(exchange *x, valise_error *err)
{
    vls_status status = {.status = status_of(x),
                         .body = vls_buf_str(&x->body),
                         .request_id = x->request_id,
                         .location = x->location};
    int rc = vls_status_fail(x->trying, &status, err);

    x->trying->again = x->trying->again && !x->may_not;
    x->trying->wait_ns = x->wait_ns;
    return rc;
}

/* With the id of the request, so that the provider can be asked; else with who said it. */
static int not_understood(const exchange *x, int rc, valise_error *err)
{
    vls_text_brief name = vls_text_short(x->trying->client->provider.name);

    if (rc < 0 && x->request_id[0] && err && !err->hint[0])
        vls_hint(err, "the provider knows it as request %s", x->request_id);
    else if (rc == VALISE_E_INVALID && err && !err->hint[0])
        vls_hint(err, "%s sent this: check provider.%s.url", name.s, name.s);
    return rc;
}

static int finish_stream(exchange *x, CURLcode code, valise_error *err)
{
    int rc;

    if (code != CURLE_OK && !vls_stream_has_ended(x->stream))
        return connection_failed(x, code, err);
    rc = vls_stream_finish(x->stream, err);
    if (rc == 0 && !vls_stream_has_ended(x->stream))
        rc = vls_fail(err, VALISE_E_IO, "the answer of %s was cut off",
                      vls_text_short(x->trying->client->provider.name).s);
    return not_understood(x, rc, err);
}

static int finish(exchange *x, CURLcode code, valise_error *err)
{
    long status = status_of(x);
    int rc;

    if (x->kind == BODY_STREAM)
        return finish_stream(x, code, err);
    if (code != CURLE_OK && !x->enough)
        return connection_failed(x, code, err);
    if (status < 200 || status >= 300)
        return refused(x, err);
    if (x->received == 0)
        return not_understood(x,
                              vls_fail(err, VALISE_E_INVALID, "%s sent an empty answer",
                                       vls_text_short(x->trying->client->provider.name).s),
                              err);
    rc = vls_answer_read(&x->trying->answer, x->trying->arena, x->trying->client->provider.adapter,
                         vls_buf_str(&x->body), err);
    return not_understood(x, rc, err);
}

/* Also of a stream that failed: what was said was said. */
static int keep_stream(exchange *x, int rc, valise_error *err)
{
    int kept = 0;

    if (!x->stream)
        return rc;
    if (rc == 0)
        rc = vls_echo_flush(&x->echo, err);
    /* An error that came as an event, before anything else did, may pass. */
    if (rc == VALISE_E_REMOTE && !vls_stream_has_begun(x->stream))
        x->trying->again = vls_stream_is_passing(x->stream);
    if (rc == 0 || vls_stream_has_begun(x->stream))
        kept = vls_stream_answer(&x->trying->answer, x->trying->arena, x->stream,
                                 rc == 0 ? err : NULL);
    return rc < 0 ? rc : kept;
}

static void release(exchange *x, bool whole)
{
    const valise_env *env = x->trying->client->env;

    give_lane(x, whole);
    vls_wire_walk_free(x->walk);
    vls_stream_free(x->stream);
    vls_buf_release(&x->body);
    explicit_bzero(x, sizeof(*x)); /* the key was in a header */
    vls_mem_free(env, x, sizeof(*x));
}

int vls_http_try(vls_trying *trying, valise_error *err)
{
    const valise_env *env = trying->client->env;
    exchange *x = vls_mem_zalloc(env, sizeof(*x));
    CURLcode code = CURLE_OK;
    pipe_guard guard;
    bool added = false;
    int rc;

    if (!x)
        return vls_fail_memory(err);
    guard_pipe(&guard);
    x->trying = trying;
    x->curl = &trying->client->curl;
    x->wait_ns = VALISE_NONE;
    vls_error_clear(&x->err);
    vls_buf_init(&x->body, env, VLS_STREAM_MAX_BYTES);
    rc = begin(x, err);
    x->active_ns = ticks(x);
    if (rc == 0) {
        added = x->curl->multi_add_handle(x->lane.multi, x->lane.easy) == CURLM_OK;
        rc = added ? work(&code, x, err) : vls_fail_memory(err);
    }
    if (rc == 0)
        rc = finish(x, code, err);
    rc = keep_stream(x, rc, err);
    if (added)
        (void)x->curl->multi_remove_handle(x->lane.multi, x->lane.easy);
    release(x, rc == 0 && code == CURLE_OK && !x->enough);
    unguard_pipe(&guard);
    return rc;
}
