/* valise/sys/client.h -- the boundary to models: a client that a host brings along.
 *
 * The library has its own ways to providers. A host that has another one (a gateway of its own, a
 * model in the same process) brings a valise_client: it gets the neutral prompt (docs/prompt.md,
 * docs/prompt.schema.json), and gives back blocks as turns have them.
 *
 * Threads: `send` may be called from several threads at once. The functions of a request may be
 * called only on the thread of the `send` they were given to, and until that returns. */
#ifndef VALISE_SYS_CLIENT_H
#define VALISE_SYS_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include <valise/error.h>
#include <valise/str.h>

VALISE_BEGIN

#define VALISE_CLIENT_ABI 1

typedef struct valise_client_answer {
    size_t size;
    valise_str blocks; /* a JSON array, as turn:add takes it */
    valise_str stop;   /* "end", "calls", "limit", "sequence", "refused", "other"; "": not told */
    valise_str usage;  /* JSON: {"input","output","cacheRead","cacheWrite","reasoning"}, all of them
                          optional; "": not told */
    valise_str model;  /* that answered; "": not told */
} valise_client_answer;

typedef struct valise_client_request {
    size_t size;
    valise_str prompt; /* the neutral prompt, JSON */
    valise_str model;  /* "": as the prompt's params say */
    int stream;        /* pieces are wanted */

    void *arg; /* of the functions */
    /* A piece of text as it comes: kind is "text", "thinking" or "call" (arguments of the tool
     * `name`). May be left out. A negative code must end the sending. */
    int (*piece)(void *arg, const char *kind, valise_str name, valise_str text, valise_error *err);
    /* Not 0: give up, with VALISE_E_CANCELLED. Ask at least ten times a second. */
    int (*cancelled)(void *arg);
    /* What came of it, once. It is copied. */
    int (*answer)(void *arg, const valise_client_answer *answer, valise_error *err);
} valise_client_request;

typedef struct valise_client {
    size_t size;
    uint32_t abi; /* VALISE_CLIENT_ABI */
    const char *name;
    void *self;

    /* 0 after request->answer was called, or a negative code with err filled: VALISE_E_REMOTE where
     * the model's side said no, VALISE_E_IO where it was not reached. Retries are its own. */
    int (*send)(void *self, const valise_client_request *request, valise_error *err);
    /* Nobody sends any more. May be NULL. */
    void (*close)(void *self);
} valise_client;

VALISE_END

#endif
