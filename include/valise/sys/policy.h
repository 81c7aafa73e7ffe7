/* valise/sys/policy.h -- policies: how a frame about a directory is made of the frames about what
 * lies in it.
 *
 *     static int count(valise_making *making, const void *params, valise_error *err)
 *     {
 *         char line[64];
 *
 *         (void)params;
 *         snprintf(line, sizeof(line), "%zu inputs\n", valise_making_count(making));
 *         return valise_making_write(making, valise_str_of(line), err);
 *     }
 *     static const valise_policy counting = {.size = sizeof(valise_policy), .name = "toy.count",
 *                                            .version = 1, .brief = "How many there are.",
 *                                            .make = count};
 *
 * A policy is a pure function: of its inputs and parameters and of nothing else. No clock, no
 * locale, no randomness, no floating point, no address, no file. Equal inputs give equal bytes, on
 * every machine, or clones no longer agree. When its output for some input changes, so does its
 * version; frames that an older version made are then stale.
 *
 * Which inputs there are is decided before (the recipe selects them): each is the head of a slot of
 * a child, in the order of names, then types.
 *
 * Threads: policies are immutable, and may run in several threads at once. A making is single. */
#ifndef VALISE_SYS_POLICY_H
#define VALISE_SYS_POLICY_H

#include <stdbool.h>

#include <valise/error.h>
#include <valise/sys/field.h>

VALISE_BEGIN

typedef struct valise_making valise_making;

/* All of it that the result may depend on; strings are any bytes. */
typedef struct valise_policy_input {
    valise_str name; /* of the child, without its path */
    bool directory;  /* the child is one */
    valise_str type, agent;
    int64_t size; /* of the content, in bytes */
} valise_policy_input;

typedef struct valise_policy {
    size_t size;      /* sizeof(valise_policy) */
    const char *name; /* [a-z][a-z0-9_-]*; of an extension: "extension.name" */
    int64_t version;  /* 1, 2, 3 ... */
    const char *brief;
    const valise_field *params; /* NULL: none. Members that are left out are 0, false or none */
    size_t params_size;
    /* Are these parameters possible together? NULL: what the table allows is. */
    int (*check)(const void *params, valise_error *err);
    int (*make)(valise_making *making, const void *params, valise_error *err);
} valise_policy;

/* ---- what `make` can do ---- */

VALISE_API size_t valise_making_count(const valise_making *making);
VALISE_API const valise_policy_input *valise_making_input(const valise_making *making, size_t i);

/* The bytes of an input; they stay until the next call. */
VALISE_API int valise_making_content(valise_str *out, valise_making *making, size_t i,
                                     valise_error *err);

/* Is there nothing in the directory at all? Else there may be no inputs because nobody said
 * anything about what is in it. */
VALISE_API bool valise_making_is_empty(const valise_making *making);

/* More of the frame. VALISE_E_TOO_LARGE. */
VALISE_API int valise_making_write(valise_making *making, valise_str bytes, valise_error *err);

/* Memory until `make` returns. Never of size 0. */
VALISE_API int valise_making_alloc(void **out, valise_making *making, size_t size,
                                   valise_error *err);

VALISE_END

#endif
