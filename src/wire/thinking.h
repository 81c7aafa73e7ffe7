/* thinking.h -- what models demand where they think, and adapters share. [P13]
 *
 * Claude, at Anthropic and at Bedrock (VLS_DEMANDS_CLAUDE):
 *
 *     params.extras.thinking   {"type":"enabled","budget_tokens":n}   the older way: rules of its
 * own
 *                              {"type":"adaptive"}
 *                              anything else, or none: it is off
 *
 * Threads: pure functions. */
#ifndef VLS_THINKING_H
#define VLS_THINKING_H

#include "wire/plan.h"

/* Whether it has a budget, and how much: 0 where nothing is said of that. */
bool vls_thinking_has_budget(vls_json params);
int64_t vls_thinking_budget(vls_json params);
bool vls_thinking_is_off(vls_json params);

/* Parameters that are refused beside a budget: a temperature that is not 1, a tool that must be
 * called, and fewer tokens than are for thinking. */
bool vls_thinking_is_hot(vls_json params);
bool vls_thinking_is_forced(vls_json params);
bool vls_thinking_is_cut(vls_json params);
/* The message that the model goes on with, or whose calls wait for it, must begin with what it
 * thought. */
bool vls_thinking_is_missing(const vls_plan *plan);
/* Thinking that may not stand there: at the end of a message; while thinking is off, anywhere in
 * the message that the model goes on with. */
bool vls_thinking_is_misplaced(const vls_plan *plan, size_t message, size_t block);

/* Repairs of all that. [R4.8] [R12.3] */
int vls_settle_thinking(vls_plan *plan, valise_error *err);

/* ---- Chat Completions (VLS_DEMANDS_ECHO) ---- */

/* DeepSeek, Kimi: what the model thought goes back beside the message that it led to, and must be
 * there where that has calls, unless the model is told not to think. */
bool vls_thinking_is_lacking(const vls_plan *plan, const vls_plan_message *message);
/* A message that has nothing else says nothing. */
bool vls_thinking_is_all(const vls_plan_message *message);

/* Repairs of that. [R4.8] [R4.9] */
int vls_settle_echo(vls_plan *plan, valise_error *err);

#endif
