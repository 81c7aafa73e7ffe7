/* kit.h -- a client and the far side of it. */
#ifndef CLIENT_KIT_H
#define CLIENT_KIT_H

#include "client/client.h"
#include "harness/test.h"
#include "wire/toy.h"

/* Planted: it must be in no error, no output and no file. */
#define KEY "sk-toy-0123456789-PLANTED-abcdefghijklmnop"

typedef struct far {
    int port;
    int in, out; /* pipes to it */
    long pid;
    const char *log;
} far;

/* A server; other: where its redirects lead, or NULL. It ends with the test. */
far *far_start(const far *other);
/* What it was asked, a line each. */
const char *far_log(const far *f);

/* A provider at SCRIPT of that server: short times, three retries. */
vls_provider kit_provider(const far *f, const char *script);

typedef struct sent {
    int rc;
    valise_error err;
    vls_answer answer;
    vls_arena arena;
    vls_buf pieces;  /* of the texts */
    vls_buf retries; /* "429 " for each */
    int retried;
    size_t peak; /* bytes in use at any look while it went on */
    double seconds;
    const char *blocks; /* JSON; NULL: there is no answer */
} sent;

/* Send a small request; how may be NULL: a whole answer is wanted. It ends with the test. */
typedef struct how {
    bool stream;
    bool (*cancelled)(void *arg);
    const vls_wire *wire;
    const vls_wire_blobs *blobs;
    int refuse_piece; /* what on_piece returns */
} how;

sent *kit_send(test *t, vls_client *client, const how *how);
/* The same with a client of its own. */
sent *kit_ask(test *t, const far *f, const char *script, bool stream);
vls_client *kit_client(test *t, const vls_provider *provider);

double kit_now(void);

#endif
