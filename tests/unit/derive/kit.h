/* kit.h -- inputs for policies, and what they make of them. */
#ifndef DERIVE_KIT_H
#define DERIVE_KIT_H

#include "derive/making.h"
#include "derive/policy.h"
#include "harness/test.h"

/* A literal as the content of an input, in tables too. */
#define KIT_TEXT(literal)                                                                          \
    {                                                                                              \
        "" literal, sizeof(literal) - 1                                                            \
    }

typedef struct kit_input {
    const char *name;
    valise_str content;
    bool directory;
    const char *type, *agent; /* NULL: "summary", "local" */
} kit_input;

typedef struct kit {
    const kit_input *inputs;
    size_t count;
    bool empty;      /* nothing is in the directory */
    int64_t budget;  /* 0: the default */
    size_t reads;    /* contents that were asked for so far */
    size_t fails_at; /* the read that fails, from 1; 0: none */
    valise_policy_input *given;
} kit;

/* A making over the kit; its parts are the caller's. */
valise_making kit_making(kit *k, vls_arena *arena, vls_buf *out);

/* Run a policy; out must be a new buffer, and is released by the caller. */
int kit_run(vls_buf *out, kit *k, const valise_env *env, const valise_policy *policy,
            valise_error *err);

/* The frame, NUL-ended, which stays until the test ends. */
valise_str kit_make(test *t, kit *k, const valise_policy *policy);

/* Some inputs at random: names, kinds and contents; text alone if `text`. They stay until the test
 * ends. */
kit kit_random(test_rng *rng, bool text);

#endif
