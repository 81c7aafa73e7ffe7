/* durable_kit.h -- runs that are recorded: operations of flows, and what they leave behind. */
#ifndef TEST_FLOW_DURABLE_KIT_H
#define TEST_FLOW_DURABLE_KIT_H

#include "kit/replayed.h"
#include "kit/talk.h"
#include "run_kit.h"

/* A workspace (of t->param) with the node types of run_kit.h; closed when the test ends. */
typedef struct site {
    desk *d;
    talk k;
} site;
site *site_of(test *t);
/* The workspace of a child that was killed. */
site *site_at(test *t, const char *dir);

/* flow:run on a backpack, of a configuration with ' for ". Must succeed; the answer. */
const char *run_on(site *s, const char *bag, const char *config);
int try_run_on(site *s, const char *bag, const char *config);
int try_resume(site *s, const char *run);
const char *resume(site *s, const char *run);
/* {'from':..., MORE} */
const char *rerun(site *s, const char *run, const char *more);
int try_rerun(site *s, const char *run, const char *more);

/* "STATUS STEPS ACTION NODE CODE", newest first, joined with "; ". */
const char *runs_of(site *s);
/* "a#1>b b#1>" in the order in which they ended; of the newest run. */
const char *steps_of_run(site *s);

/* What a durable backpack holds, "k=1 l=2"; its commits, oldest first. */
const char *holds(site *s, const char *bag);
const char *commits(site *s, const char *bag);

/* All is well with the workspace, and the log gives the same state again. */
void check_site(site *s);

#endif
