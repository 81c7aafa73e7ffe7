/* inside.h -- what the kinds of tools share.
 *
 * Where to start reading: box.c has the tools and the call; program.c, host.c and server.c do it.
 *
 * Threads: an entry, and how it is started, are immutable once they are in a box; tool.h is about
 * that. */
#ifndef VLS_TOOL_INSIDE_H
#define VLS_TOOL_INSIDE_H

#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "json/schema.h"
#include "tool/tool.h"

#define VLS_TOOL_GRACE_MS 100 /* between SIGTERM and SIGKILL: a call that is given up is over */
#define VLS_TOOL_INPUT_MAX ((size_t)16 << 20)

/* A command as posix_spawn wants it, in memory of the box. */
typedef struct vls_tool_start {
    char **argv, **environment;
    const char *folder; /* NULL: ours */
    int64_t timeout_ms;
    size_t max_bytes;
    vls_tool_may may;
} vls_tool_start;

typedef struct vls_mcp vls_mcp;
typedef struct vls_tool_entry vls_tool_entry;

struct vls_tool_entry {
    vls_tool tool;
    vls_schema *schema;
    /* As vls_toolbox_call; the arguments were checked. */
    int (*call)(vls_tool_answer *out, vls_arena *arena, const valise_env *env,
                const vls_tool_entry *entry, const vls_tool_asked *asked, valise_error *err);
    valise_tool host;     /* of host.c */
    vls_tool_start start; /* of program.c */
    vls_mcp *server;      /* of server.c */
    valise_str own_name;  /* its name there */
};

struct vls_toolbox {
    const valise_env *env;
    uint64_t seed;
    vls_arena arena; /* of all that is copied */
    vls_vec(vls_tool_entry *) entries;
    vls_map names;
    vls_vec(vls_mcp *) servers;
};

/* ---- putting in (box.c) ---- */

/* How far back vls_toolbox_undo goes. */
typedef struct vls_toolbox_mark {
    size_t count;
    vls_arena_mark arena;
} vls_toolbox_mark;

vls_toolbox_mark vls_toolbox_here(const vls_toolbox *box);
void vls_toolbox_undo(vls_toolbox *box, vls_toolbox_mark mark);

/* One more tool, all of it copied; how it is called is for the caller to fill in. On failure the
 * box may have used memory: undo. */
int vls_toolbox_put(vls_tool_entry **out, vls_toolbox *box, const vls_tool *tool,
                    valise_error *err);

/* ---- commands (command.c) ---- */

/* VALISE_E_INVALID for what is none. */
int vls_tool_start_make(vls_tool_start *out, vls_arena *arena, const vls_tool_command *command,
                        valise_error *err);

/* May it be started now? */
int vls_tool_start_may(const vls_tool_start *start, valise_error *err);

/* ---- answers (answer.c) ---- */

/* The tool's error: {"error":{"code":"LIMIT","message":"..."}}. */
int vls_tool_tell(vls_tool_answer *out, vls_arena *arena, int code, valise_str message,
                  valise_error *err);

/* The same of an error of ours, with its hint; but VALISE_E_NO_MEMORY is handed on as it is. */
int vls_tool_tell_error(vls_tool_answer *out, vls_arena *arena, const valise_error *why,
                        valise_error *err);

/* What a program or host wrote: JSON, or else a text. VALISE_E_NO_MEMORY and what the arena says.
 */
int vls_tool_take_output(vls_json *out, vls_arena *arena, valise_str output, valise_error *err);

#endif
