/* client.h -- the way to a model: a request goes out, an answer comes back. [F10]
 *
 *     http      to a provider, through libcurl, which is loaded when the first request is sent
 *     replay    answers from a file, for tests and demos
 *     a host's  valise_client (valise/sys/client.h)
 *
 * What is configured is a *provider*: a name, an adapter, a URL, a model, where the key is. The key
 * itself is read when a request is sent, stands in one buffer that is wiped, and is cut out of
 * everything a server says before anybody sees it. [Q25]
 *
 * Threads: a client is shared; a request is single. Callbacks are called on the thread that
 * sends. */
#ifndef VLS_CLIENT_H
#define VLS_CLIENT_H

#include <valise/sys/client.h>

#include "wire/adapter.h"

typedef struct vls_provider {
    valise_str name;
    const vls_adapter *adapter;
    valise_str url;      /* base; ptr NULL: the adapter's */
    valise_str model;    /* ptr NULL: params say it */
    valise_str key_env;  /* name of a variable; ptr NULL: the adapter's */
    valise_str key_file; /* a file of mode 0600; ptr NULL: none */
    valise_str replay;   /* a file of answers; ptr NULL: HTTP */
    valise_str proxy;    /* ptr NULL: as the environment says */
    int64_t timeout_ns;  /* of all tries together; VALISE_NONE: 600 s */
    int64_t idle_ns;     /* without a byte; VALISE_NONE: 60 s */
    int64_t connect_ns;  /* VALISE_NONE: 10 s */
    int64_t retries;     /* after the first try; VALISE_NONE: 3 */
    int64_t max_answer;  /* bytes; VALISE_NONE: 64 MiB */
} vls_provider;

/* ---- what is configured (provider.c) ---- */

/* A setting, "provider.NAME.url". Of two with one name the later one counts. */
typedef struct vls_provider_setting {
    valise_str name, value;
} vls_provider_setting;

/* Where they come from: the user's configuration and the environment, never a workspace's: who
 * names a URL gets the key. */
typedef struct vls_provider_sources {
    const vls_provider_setting *settings;
    size_t count;
    const char *const *environment;     /* "NAME=value", NULL-ended; NULL: none.
                                           VALISE_PROVIDER_NAME_URL is stronger than settings */
    const vls_adapter *const *adapters; /* NULL: vls_adapters */
} vls_provider_sources;

/* The keys of a provider: "adapter", "url", "model", "key-env", "key-file", "replay", "proxy",
 * "timeout", "idle", "connect", "retries", "max-answer"; NULL-ended. */
extern const char *const vls_provider_keys[];

/* The provider of that name; one that is not configured is the usual one of the adapter of that
 * name. VALISE_E_NOT_FOUND names those there are; VALISE_E_INVALID: a value that
 * cannot be, a key nobody knows. Memory of the arena, or of the sources. */
int vls_provider_find(vls_provider *out, vls_arena *arena, const vls_provider_sources *sources,
                      valise_str name, valise_error *err);

/* ---- asking ---- */

typedef struct vls_sending {
    const vls_wire *wire; /* NULL where the client is a host's */
    const vls_wire_blobs *blobs;
    valise_str neutral; /* for clients that make their own request */
    valise_str model;   /* ptr NULL: the provider's */
    bool stream;
    vls_piece_fn *on_piece; /* may be NULL */
    /* A try failed, the next one comes after so long: for people. May be NULL. */
    void (*on_retry)(void *arg, int64_t attempt, int64_t wait_ns, const valise_error *why);
    void *arg;
    /* Asked often, also while nothing comes; true ends it with VALISE_E_CANCELLED. May be NULL. */
    bool (*cancelled)(void *arg);
} vls_sending;

typedef struct vls_client vls_client;

/* VALISE_E_UNSUPPORTED: libcurl is not there. VALISE_E_INVALID: a URL that is none, a key file
 * that others may read, a file of answers that is none. Nothing is sent yet. */
int vls_client_new(vls_client **out, const valise_env *env, const vls_provider *provider,
                   valise_error *err);
/* A host's. The struct is copied; `close` is called when the client is freed. */
int vls_client_of_host(vls_client **out, const valise_env *env, const valise_client *host,
                       valise_error *err);
void vls_client_free(vls_client *client); /* NULL is fine */

static inline void vls_auto_client(vls_client **client)
{
    vls_client_free(*client);
}

/* The answer, in memory of the arena. Where it fails *out is empty (its blocks are null), or has
 * what came of a stream that was cut or cancelled, with `partial`, beside the error code.
 * VALISE_E_REMOTE: the provider said no (status and words, its request id); VALISE_E_IO: no
 * connection, cut, timed out; VALISE_E_CANCELLED; VALISE_E_DENIED: there is no key, or it was
 * refused; VALISE_E_LIMIT: the answer is too long; VALISE_E_INVALID: it is none; what on_piece
 * returned. */
int vls_client_send(vls_answer *out, vls_arena *arena, vls_client *client,
                    const vls_sending *sending, valise_error *err);

#endif
