/* inside.h -- the inside of a client, for the files that make it.
 *
 * A *try* sends the request once. retry.c makes as many as are of use.
 *
 * Threads: vls_client is shared: what changes in it is behind its lock. A try is single. */
#ifndef VLS_CLIENT_INSIDE_H
#define VLS_CLIENT_INSIDE_H

#include <pthread.h>

#include "client/client.h"
#include "client/curl.h"
#include "client/key.h"

#define VLS_CLIENT_TIMEOUT_NS (INT64_C(600) * 1000000000)
#define VLS_CLIENT_IDLE_NS (INT64_C(60) * 1000000000)
#define VLS_CLIENT_CONNECT_NS (INT64_C(10) * 1000000000)
#define VLS_CLIENT_RETRIES 3
#define VLS_CLIENT_MAX_ANSWER (INT64_C(64) << 20)
#define VLS_CLIENT_MAX_WAIT_NS (INT64_C(60) * 1000000000) /* between two tries */
#define VLS_CLIENT_LOOK_MS 50                             /* how often somebody can cancel */

typedef struct vls_trying {
    vls_client *client;
    const vls_sending *sending;
    const vls_key *key;
    vls_arena *arena;
    int64_t deadline_ns; /* of ticks */

    vls_answer answer; /* its blocks are null: nothing came */
    bool again;        /* another try may be of use */
    int64_t wait_ns;   /* the server asks for; VALISE_NONE */
} vls_trying;

typedef int vls_try_fn(vls_trying *trying, valise_error *err);

/* libcurl's handles, which hold connections for the next request. */
typedef struct vls_lane {
    CURLM *multi;
    CURL *easy;
} vls_lane;

typedef struct vls_client_replay vls_client_replay;

struct vls_client {
    const valise_env *env;
    vls_arena arena; /* of the provider */
    vls_provider provider;
    bool loopback; /* its URL is this machine */
    vls_try_fn *try_once;
    vls_curl curl;
    pthread_mutex_t lock;
    vls_lane spare;            /* behind the lock; easy NULL: there is none */
    vls_client_replay *replay; /* has a lock of its own; NULL: none */
    valise_client host;        /* size 0: none */
};

/* ---- provider.c ---- */

/* All its texts in memory of the arena. */
int vls_provider_copy(vls_provider *provider, vls_arena *arena, valise_error *err);

/* ---- retry.c ---- */

int vls_retry_send(vls_trying *trying, valise_error *err);
/* How long to wait before try number attempt (from 1): what was asked for, or ever longer, with
 * chance. */
int64_t vls_retry_wait_ns(const valise_env *env, int64_t attempt, int64_t asked_ns);

/* ---- echo.c ---- */

/* What stands between the pieces of a stream and who is told of them. */
typedef struct vls_echo {
    valise_str key;     /* "": there is none that is looked for */
    size_t least;       /* so much of it must not be told */
    uint64_t grams[64]; /* four bytes in a row that it has, a bit for each */
    const valise_env *env;
    vls_piece_fn *on_piece;
    void *arg;
    vls_piece last; /* whose block this was held back of; its name is the stream's: */
    size_t held;    /* bytes, the first of the key */
} vls_echo;

/* Borrows the key. The caller sets env, on_piece and arg. */
void vls_echo_init(vls_echo *echo, const vls_key *key);
int vls_echo_piece(void *arg, const vls_piece *piece, valise_error *err); /* a vls_piece_fn */
int vls_echo_flush(vls_echo *echo, valise_error *err);                    /* no more will come */

/* All texts of an answer without the key. */
int vls_echo_clean(vls_answer *answer, vls_arena *arena, const vls_key *key, valise_error *err);

/* ---- http.c, url.c ---- */

int vls_http_try(vls_trying *trying, valise_error *err);
void vls_lane_free(const vls_curl *curl, vls_lane *lane);

/* A base that a key may go to: https, or http to this machine; no user, no query. */
int vls_url_check(bool *loopback, valise_str base, valise_error *err);
/* Base and path, with the model in it. */
int vls_url_make(valise_str *out, vls_arena *arena, valise_str base, const char *path,
                 valise_str model, valise_error *err);

/* ---- refusal.c ---- */

/* What a server said no with. */
typedef struct vls_status {
    long status;
    valise_str body;        /* the beginning of it */
    const char *request_id; /* "": not told */
    const char *location;   /* of a redirect; "" */
} vls_status;
/* The error that it is, and whether it is of use to try again. */
int vls_status_fail(vls_trying *trying, const vls_status *status, valise_error *err);

/* ---- replay.c ---- */

int vls_client_replay_open(vls_client_replay **out, const valise_env *env, valise_str file,
                           valise_error *err);
void vls_client_replay_close(vls_client_replay *replay); /* NULL is fine */
int vls_client_replay_try(vls_trying *trying, valise_error *err);

/* ---- host.c ---- */

int vls_host_try(vls_trying *trying, valise_error *err);

/* What a file or a host says of an answer: {"blocks":[...],"stop","usage":{...},"model"}. */
int vls_answer_of_json(vls_answer *out, vls_arena *arena, vls_json json, valise_error *err);

#endif
