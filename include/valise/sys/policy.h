/* valise/sys/policy.h -- policies: how to make a frame about a directory from the frames about its
 * entries.
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
 * A policy is a pure function of its inputs and parameters: no clock, no locale, no randomness, no
 * floating point, no addresses, no files. Equal inputs must give equal bytes on every machine, or
 * clones no longer agree. If its output for any input changes, its version must change too; frames
 * made by the older version are then stale.
 *
 * The inputs are selected beforehand, by the recipe. Each input is the head of a slot of a child;
 * they come in the order of names, then types.
 *
 * Threads: policies are immutable, and may run in several threads at once. A making is single. */
#ifndef VALISE_SYS_POLICY_H
#define VALISE_SYS_POLICY_H

#include <stdbool.h>

#include <valise/error.h>
#include <valise/sys/field.h>

VALISE_BEGIN

typedef struct valise_making valise_making;

/* Everything about an input that the result may depend on. Strings are any bytes. */
typedef struct valise_policy_input {
    valise_str name; /* of the child, without its path */
    bool directory;  /* the child is a directory */
    valise_str type, agent;
    int64_t size; /* of the content, in bytes */
} valise_policy_input;

typedef struct valise_policy {
    size_t size;      /* sizeof(valise_policy) */
    const char *name; /* [a-z][a-z0-9_-]*; in an extension: "extension.name" */
    int64_t version;  /* 1, 2, 3 ... */
    const char *brief;
    const valise_field *params; /* NULL: none. Members that are not given are 0, false or none */
    size_t params_size;
    /* Check whether these parameters are possible together. NULL: whatever the table allows. */
    int (*check)(const void *params, valise_error *err);
    int (*make)(valise_making *making, const void *params, valise_error *err);
} valise_policy;

/* ---- what `make` can do ---- */

/* The number of inputs, and one of them. */
VALISE_API size_t valise_making_count(const valise_making *making);
VALISE_API const valise_policy_input *valise_making_input(const valise_making *making, size_t i);

/* Get the content of an input. The bytes are valid until the next call. */
VALISE_API int valise_making_content(valise_str *out, valise_making *making, size_t i,
                                     valise_error *err);

/* Whether the directory is empty. If it is not, but there are no inputs, nobody said anything about
 * its entries. */
VALISE_API bool valise_making_is_empty(const valise_making *making);

/* Append bytes to the frame. VALISE_E_TOO_LARGE. */
VALISE_API int valise_making_write(valise_making *making, valise_str bytes, valise_error *err);

/* Allocate memory that lives until `make` returns. size must not be 0. */
VALISE_API int valise_making_alloc(void **out, valise_making *making, size_t size,
                                   valise_error *err);

VALISE_END

#endif
