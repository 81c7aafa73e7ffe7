/* plan_kit.h -- toy adapters, and plans as short texts.
 *
 *     U['hi'] A[call(c1,ls,{})] T[res(c1,'a b')]      role, blocks; ^ made, ! an error
 *     R1.1@0.1 R2.2@0                                 repairs: rule, message, block
 *
 * Prompts are written with ' for ". */
#ifndef PLAN_KIT_H
#define PLAN_KIT_H

#include "harness/test.h"

#include "wire/adapter.h"
#include "wire/lint.h"
#include "wire/rules.h"

typedef struct plan_bed {
    test *t;
    vls_arena arena;
    vls_adapter adapter; /* toy: takes every image and document everywhere */
    vls_neutral prompt;
    vls_plan plan;
    bool marks;    /* show * for marks of caches, _ for the tail */
    vls_buf shown; /* what plan_text said last */
} plan_bed;

void plan_bed_init(plan_bed *bed, test *t);
void plan_bed_release(plan_bed *bed);

/* The text with " for ', in memory of the test. */
const char *quoted(const char *text);

/* Read the messages (an array, or a whole prompt) and make a plan, which must go; no rule may find
 * anything in it. */
void plan_bed_make(plan_bed *bed, uint32_t demands, const char *prompt);
const char *plan_text(plan_bed *bed, const vls_plan *plan);
const char *repairs_text(const vls_plan *plan);

/* All of the above: the plan and its repairs are as said. */
void check_plan(test *t, uint32_t demands, const char *prompt, const char *plan,
                const char *repairs);

#endif
