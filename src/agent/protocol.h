/* protocol.h -- what agents and workspaces say to each other over pipes: docs/formats.md, "Agents
 * over a pipe". A JSON object a line, one answer for one question.
 *
 *     {"args":{"node":"lib/date.c"},"id":1,"op":"read_context"}
 *     {"id":1,"result":{...},"seq":12}
 *     {"error":{"code":"NOT_FOUND","message":"..."},"id":1}
 *
 * Threads: pure functions; immutable tables. */
#ifndef VLS_AGENT_PROTOCOL_H
#define VLS_AGENT_PROTOCOL_H

#include "bus/bus.h"
#include "json/json.h"

#define VLS_AGENT_LINE_MAX VLS_JSON_MAX_BYTES

/* ---- who asks ---- */

/* Append the question of a line, with its newline. */
int vls_agent_ask(vls_buf *out, int64_t id, const valise_op *op, const void *args,
                  valise_str expect, valise_error *err);

/* The answer in a line, without its newline: the result, of which the strings live in arena, or the
 * error it tells of. *understood: it is an answer to this question. Else VALISE_E_IO. */
int vls_agent_read(void *result, int64_t *seq, bool *understood, vls_arena *arena, valise_str line,
                   int64_t id, const valise_op *op, valise_error *err);

/* ---- who answers ---- */

/* Append the answer to a line, with its newline, whatever the line is. VALISE_E_NO_MEMORY where not
 * even an error can be told. */
int vls_agent_answer(vls_buf *out, valise *v, valise_str agent, valise_str line, valise_error *err);

/* Append an error as an answer to nothing in particular. */
int vls_agent_answer_error(vls_buf *out, const valise_env *env, const valise_error *why,
                           valise_error *err);

#endif
