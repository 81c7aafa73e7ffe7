/* kit.h -- a box of tools, and a server for it. */
#ifndef TOOL_KIT_H
#define TOOL_KIT_H

#include "harness/process.h"
#include "harness/test.h"
#include "tool/tool.h"

/* A box; it is freed with the test. */
vls_toolbox *kit_box(test *t);

/* What is in it, in the order in which it was added; NULL: no more. */
size_t kit_count(const vls_toolbox *box);
const vls_tool *kit_at(const vls_toolbox *box, size_t i);

/* Words of a command that runs a shell with this text. */
vls_tool_command kit_shell(const char *text);
/* ... of the server in that mode; its log is kit_log(). */
vls_tool_command kit_command(const char *mode);
vls_tool_server kit_server(const char *mode);
const char *kit_log(void);

/* Add a shell's text as a tool. */
void kit_add_shell(test *t, vls_toolbox *box, const char *name, const char *text);

typedef struct called {
    int rc;
    bool failed;
    const char *json; /* of the answer; NULL: there is none */
    int64_t took_ms;
    valise_error err;
} called;

called kit_call(test *t, vls_toolbox *box, const char *name, const char *arguments);

/* Give up when somebody has looked so often (*left becomes 0). */
called kit_call_while(test *t, vls_toolbox *box, const char *name, const char *arguments,
                      int *left);

/* A look for that. */
int kit_look(void *left, valise_error *err);

vls_json kit_json(vls_arena *arena, const char *text);

/* The most that what is over at once may take: more where a sanitizer watches. */
int64_t kit_at_once_ms(void);

#endif
