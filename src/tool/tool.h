/* tool.h -- tools: what a model may ask to be done, and who does it. [F11]
 *
 *     program   (program.c) started for each call: arguments as JSON on standard input, the
 *               result on standard output
 *     host      (host.c) a C function, valise/sys/tool.h
 *     server    (server.c, mcp*.c) the tools of an MCP server, a program that is spoken to over
 *               pipes, line by line: started with the first question, ended with the box
 *
 * A box has tools by name. A call checks the arguments against the tool's schema first. What goes
 * wrong with the tool (bad arguments, an exit code, a timeout of its own, an error of the server)
 * is an *answer* that says so, for the model; a failure is only what nobody can tell a model: the
 * caller gave up, no memory.
 *
 * Whether a program may run at all is the caller's question, before it is added and, with
 * vls_tool_may, before each start.
 *
 * Threads: a box is shared once nothing is added any more. */
#ifndef VLS_TOOL_H
#define VLS_TOOL_H

#include <valise/sys/field.h>
#include <valise/sys/tool.h>

#include "json/json.h"

#define VLS_TOOL_NAME_MAX 64u
#define VLS_TOOLS_MAX 1024u /* of one box */
#define VLS_TOOL_TIMEOUT_NS INT64_C(60000000000)
#define VLS_TOOL_OUTPUT_MAX ((size_t)1 << 20)

typedef struct vls_toolbox vls_toolbox;

int vls_toolbox_new(vls_toolbox **out, const valise_env *env, valise_error *err);
void vls_toolbox_free(vls_toolbox *box); /* NULL is fine; servers are ended and reaped */

static inline void vls_auto_toolbox(vls_toolbox **box)
{
    vls_toolbox_free(*box);
}

/* Asked each time before a program is started: the first word of its command, and the folder it
 * starts in (NULL: ours). Below 0: it is not, and that is why. fn NULL: nobody is asked. */
typedef struct vls_tool_may {
    int (*fn)(void *arg, const char *folder, const char *file, valise_error *err);
    void *arg;
} vls_tool_may;

/* How a program is started, by its argument vector. */
typedef struct vls_tool_command {
    const valise_str *argv; /* the first is a path, or a name to be looked for in PATH */
    size_t count;
    const valise_str *environment; /* "NAME=value"; besides PATH, HOME, LANG, LC_ALL and TZ of ours
                                      and a mark (base/mark.h), which is all it gets */
    size_t environment_count;
    valise_str folder;  /* it starts in; "": ours */
    int64_t timeout_ns; /* of a call; VALISE_NONE: VLS_TOOL_TIMEOUT_NS */
    int64_t max_bytes;  /* of an answer; VALISE_NONE: VLS_TOOL_OUTPUT_MAX */
    vls_tool_may may;
} vls_tool_command;

/* Variables from an object of texts, made in the arena; not an object, or an empty one: none. */
int vls_tool_command_env(vls_tool_command *command, vls_arena *arena, vls_json variables,
                         valise_error *err);

/* All of these copy what they are given. VALISE_E_EXISTS for a name that is there; VALISE_E_INVALID
 * for one that is none, and for a schema that is none. */
int vls_toolbox_add_host(vls_toolbox *box, const valise_tool *tool, valise_error *err);
/* parameters: JSON Schema, type NULL: {}. The program gets {"name","arguments","callId"?} and
 * writes JSON; what is no JSON is a text. Exit code not 0: the tool's error, with its last words.
 */
int vls_toolbox_add_program(vls_toolbox *box, valise_str name, valise_str description,
                            vls_json parameters, const vls_tool_command *command,
                            valise_error *err);
/* A server and its tools, which it is asked for now: those that come later are not heard of.
 * prefix: in front of their names ("files_"); "" none. only: these alone (their own names); count
 * 0: all that can be used. One whose schema or name is none is left out, and left_out (or NULL) is
 * told of the first of these; where `only` names it that is a failure. VALISE_E_IO: it does not
 * start, or does not speak MCP; VALISE_E_LIMIT: not within the timeout; look: as in vls_tool_asked.
 */
typedef struct vls_tool_server {
    valise_str name; /* of the server, for messages */
    vls_tool_command command;
    valise_str prefix;
    const valise_str *only;
    size_t only_count;
    int (*look)(void *arg, valise_error *err);
    void (*left_out)(void *arg, valise_str server, const valise_error *why);
    void *arg;
} vls_tool_server;
int vls_toolbox_add_server(vls_toolbox *box, const vls_tool_server *server, valise_error *err);

typedef struct vls_tool {
    valise_str name, description;
    vls_json parameters; /* JSON Schema, an object */
} vls_tool;

const vls_tool *vls_toolbox_find(const vls_toolbox *box, valise_str name); /* NULL: none */
/* VALISE_E_NOT_FOUND; the hint, if any, is a name that is like it. */
int vls_toolbox_fail_unknown(const vls_toolbox *box, valise_str name, valise_error *err);

/* Do the arguments fit? VALISE_E_INVALID says where not, with err->path in "arguments". */
int vls_toolbox_check(const vls_toolbox *box, valise_str name, vls_json arguments,
                      valise_error *err);

typedef struct vls_tool_asked {
    valise_str name, call_id; /* call_id "": none */
    vls_json arguments;       /* an object */
    /* Asked ten times a second; below 0: the call is given up, and that is the result. Or NULL. */
    int (*look)(void *arg, valise_error *err);
    void *arg;
} vls_tool_asked;

typedef struct vls_tool_answer {
    bool failed;    /* content is {"error":{"code","message"}} */
    vls_json value; /* what it answered, as JSON; of a server {"content":[...],...} becomes its
                       structuredContent, else its one text, else the array */
} vls_tool_answer;

/* In memory of the arena. VALISE_E_CANCELLED and what else look says; VALISE_E_NO_MEMORY. A name
 * that nobody has is an answer too: models invent names. */
int vls_toolbox_call(vls_tool_answer *out, vls_arena *arena, vls_toolbox *box,
                     const vls_tool_asked *asked, valise_error *err);

#endif
