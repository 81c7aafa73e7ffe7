/* run_kit.h -- nodes that do what their params say, and what was told of a run.
 *
 *     {'id':'a','type':'kit.Script','params':{'exec':[['pack','x',1]],'post':[['act','on']]}}
 *
 * A phase (prep, exec, fallback, post) is a list of steps:
 *
 *     ['pack',KEY,VALUE] ['read',KEY] ['rm',KEY] ['clear',NAMESPACE] ['act',ACTION]
 *     ['inc',KEY]           its number is one higher; packed as 1 when it is absent
 *     ['until',KEY,N,A,B]   chooses A while the number is below N, else B
 *     ['who',KEY]           packs what the node knows of itself
 *     ['why',KEY]           packs why the node before failed
 *     ['fail',N,CODE,TEXT]  while attempt <= N (0: always); TEXT null: says nothing
 *     ['lie',RETURNED,CODE] returns another code than the error has
 *     ['sleep',MS]          looking whether it is to end; ['nap',MS] does not look
 *     ['log',FILE,TEXT]     a line at the end of a file
 *     ['block',FILE]        fails while there is such a file
 *     ['die',FILE]          kills the process if there is such a file, which is then gone
 *     ['tell',TYPE,VALUE] ['stream',TEXT]
 *     ['flow',NAME]         runs the flow that is the service NAME; ['try',NAME] whatever comes of
 * it
 *     ['call',NAME]         calls the hook that is the service NAME
 *     ['params',KEY]        packs its params as they were resolved */
#ifndef TEST_FLOW_RUN_KIT_H
#define TEST_FLOW_RUN_KIT_H

#include <valise/event.h>

#include "nodes_kit.h"

extern const valise_node_type script_type;      /* "ScriptNode" */
extern const valise_extension script_extension; /* "kit.Script", "kit.Chat" (segment chat), and
                                                   "kit.Rescue", which has a fallback */

/* As desk_open, with the extension. */
desk *script_desk(test *t);
int script_try_open(valise **out, const valise_env *env, const char *dir, valise_error *err);

typedef struct hook {
    int (*fn)(void *arg, valise_node_run *run, valise_error *err);
    void *arg;
} hook;

/* "{'id':ID,'type':'kit.Script','params':PARAMS MORE}" and so on; joined with commas by hand. */
const char *node_(const char *id, const char *params, const char *more);
#define NODE(id, params) node_(id, params, "")
const char *edge_(const char *from, const char *to, const char *condition);

/* ---- events ---- */

/* What was told, a line each: "NODE_START a {...}", without times. */
typedef struct tale tale;
extern const char *const flow_events[];    /* the live ones: commands are called flow: too */
tale *tale_of(desk *d, const char *types); /* NULL: flow_events */
const char *told(tale *l);                 /* and forgets it */
/* Only the types, and nodes: "FLOW_START NODE_START:a ...". */
const char *told_types(tale *l);
/* The run id of the last event; how many different ones there were. */
const char *told_run(tale *l);
size_t told_runs(tale *l);

/* How often `what` stands in `text`. */
size_t times_in(const char *text, const char *what);
#define HAS(text, what) CHECK_MSG(strstr((text), (what)) != NULL, "'%s' is not in:\n%s", what, text)
#define HAS_NOT(text, what) CHECK_MSG(strstr((text), (what)) == NULL, "'%s' is in:\n%s", what, text)

#endif
