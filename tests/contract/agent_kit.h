/* agent_kit.h -- a workspace with files, and agents in it.
 *
 * Threads: single. */
#ifndef AGENT_KIT_H
#define AGENT_KIT_H

#include <valise.h>

#include "harness/test.h"

typedef struct desk {
    test *t;
    const char *dir;
    valise *v;
} desk;

/* Files: README, lib/a.c, lib/b.c, lib/sub/z.c, a link and a name that is not UTF-8. Agents: r
 * (reader), w (writer), s (synthesis), n (only notes under lib). */
desk *desk_open(test *t);
void desk_close(desk *d); /* before the test ends */

/* Adapters are closed when the test ends. */
valise_agent_adapter *desk_here(desk *d, const char *agent);
valise_agent_adapter *desk_process(desk *d, const char *agent); /* valise agent serve */
valise_agent_adapter *desk_agent(desk *d, const char *agent);   /* as t->param says */

/* A far side that is a script of a shell. NULL: there is none of the name. */
valise_agent_adapter *desk_script(desk *d, const char *script, int64_t timeout_ms,
                                  size_t max_bytes);

/* All there is in an answer, as text; *out is freed. */
const char *desk_frames(valise_frames *frames);
const char *desk_placed(const valise_placed *placed);
const char *desk_derived(valise_derived *derived);

/* What an error says: code, path, message, hint. */
const char *desk_error(const valise_error *err);

/* This process has no children. */
void desk_check_alone(void);

#endif
