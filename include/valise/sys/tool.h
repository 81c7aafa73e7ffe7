/* valise/sys/tool.h -- tools that a host provides: functions that a model may ask to call.
 *
 *     static int add(void *self, valise_tool_call *call, valise_error *err)
 *     {
 *         valise_str args = valise_tool_arguments(call);      {"a":1,"b":2}, checked by the schema
 *         ...
 *         return valise_tool_answer(call, valise_str_of("3"), err);
 *     }
 *     static const valise_tool adding = {
 *         .size = sizeof(valise_tool), .name = "add", .description = "Add two numbers.",
 *         .parameters = "{\"type\":\"object\",\"required\":[\"a\",\"b\"]}", .call = add};
 *
 * Other tools are programs, or belong to MCP servers; a flow names them in its configuration
 * (docs/flow.md).
 *
 * Threads: a tool may be called from several threads at once; a call is single. */
#ifndef VALISE_SYS_TOOL_H
#define VALISE_SYS_TOOL_H

#include <stddef.h>
#include <stdint.h>

#include <valise/error.h>
#include <valise/str.h>

VALISE_BEGIN

typedef struct valise_tool_call valise_tool_call;

typedef struct valise_tool {
    size_t size;
    const char *name; /* [A-Za-z0-9_-]{1,64} */
    const char *description;
    const char *parameters; /* JSON Schema of the arguments, which are an object; NULL: none */
    void *self;

    /* Do what is asked for. Return 0 after valise_tool_answer. A negative code is the tool's error:
     * the model is told its code and message, and the flow goes on. Only VALISE_E_CANCELLED and
     * VALISE_E_NO_MEMORY are passed on to the flow. */
    int (*call)(void *self, valise_tool_call *call, valise_error *err);
} valise_tool;

/* The name under which the tool was called. */
VALISE_API valise_str valise_tool_name(const valise_tool_call *call);
/* The arguments: a JSON object that the schema allows. */
VALISE_API valise_str valise_tool_arguments(const valise_tool_call *call);
/* Whether to stop: not 0 if the caller no longer waits; then return soon. */
VALISE_API int valise_tool_cancelled(valise_tool_call *call);
/* Give the result, as JSON. It is copied. The last call counts. */
VALISE_API int valise_tool_answer(valise_tool_call *call, valise_str json, valise_error *err);

VALISE_END

#endif
