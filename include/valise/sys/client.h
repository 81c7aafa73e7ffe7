/* valise/sys/client.h -- model clients that a host provides.
 *
 * The library has its own clients for providers. A host that reaches models in another way (its own
 * gateway, a model in the same process) fills in a valise_client. It gets the neutral prompt
 * (docs/prompt.md, docs/prompt.schema.json) and returns blocks like those of turns.
 *
 * Threads: `send` may be called from several threads at once. The functions of a request may be
 * called only on the thread of the `send` that got the request, and only until it returns. */
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
    /* A JSON array of blocks, like those of turns (docs/formats.md, "Turns"):
     *
     *     [{"type":"text","text":"I look it up."},
     *      {"type":"tool_use","callId":"c1","name":"search","args":{"query":"lamps"}}]
     */
    valise_str blocks;
    valise_str stop; /* "end", "calls", "limit", "sequence", "refused", "other"; "": unknown */
    /* JSON: {"input","output","cacheRead","cacheWrite","reasoning"}, all of them optional; "":
     * unknown. */
    valise_str usage;
    valise_str model; /* the model that answered; "": unknown */
} valise_client_answer;

typedef struct valise_client_request {
    size_t size;
    valise_str prompt; /* the neutral prompt, JSON */
    valise_str model;  /* "": as the prompt's params say */
    int stream;        /* pass on pieces as they come */

    void *arg; /* for the functions below */
    /* Pass on a piece of text as it comes; optional. kind is "text", "thinking" or "call"
     * (arguments for the tool `name`). If it returns a negative code, stop sending. */
    int (*piece)(void *arg, const char *kind, valise_str name, valise_str text, valise_error *err);
    /* If this returns anything but 0, give up with VALISE_E_CANCELLED. Ask at least ten times a
     * second. */
    int (*cancelled)(void *arg);
    /* Pass on the answer, once. It is copied. */
    int (*answer)(void *arg, const valise_client_answer *answer, valise_error *err);
} valise_client_request;

typedef struct valise_client {
    size_t size;
    uint32_t abi; /* VALISE_CLIENT_ABI */
    const char *name;
    void *self;

    /* Send a request. Return 0 after request->answer was called, or a negative code with err
     * filled: VALISE_E_REMOTE if the model's side refused, VALISE_E_IO if it could not be reached.
     * Retries are up to the client. */
    int (*send)(void *self, const valise_client_request *request, valise_error *err);
    /* No `send` is running any more. May be NULL. */
    void (*close)(void *self);
} valise_client;

VALISE_END

#endif
