/* watch.h -- `valise watch`: what changes, as it is recorded; and what is made again because of it.
 *
 *     watch.c              lines, programs, when it ends
 *     watch_regenerate.c   --regenerate: runs, and what of them is news
 *
 * Threads: single. */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include <valise/watch.h>

#include "base/map.h"
#include "cli/cli.h"

/* What became of a slot, where that is news. */
enum {
    CLI_SLOT_REGENERATED,
    CLI_SLOT_NEEDS_AUTHOR,
    CLI_SLOT_NEEDS_RUN,
    CLI_SLOT_UNKNOWN_POLICY,
    CLI_SLOT_ORPHANED,
    CLI_SLOT_FAILED,
};

typedef struct cli_slot_news {
    int what; /* CLI_SLOT_... */
    valise_str path, type;
    valise_id frame;    /* the head; zero: not told */
    valise_id previous; /* the one before; zero: none */
    valise_str why;     /* "": no reason */
} cli_slot_news;

/* One run after each version, and where others wrote what it depends on. It looks at what changed
 * since the last one and at nothing else, and never at the files: the watch did. What cannot be
 * made is told when that begins, and not again until it is over or about another frame. */
typedef struct cli_regenerating {
    cli *c;
    const valise_call *call;
    bool programs; /* may be run */
    int (*tell)(void *arg, const cli_slot_news *news, valise_error *err);
    /* A run failed, or there is more than was told. */
    void (*note)(void *arg, const char *text);
    void *arg;

    /* inside */
    valise_roots seen;  /* before the last run */
    int64_t due_ns;     /* ticks: one that others were in the way of is tried again; 0: none */
    int64_t waiting_ns; /* and how long that took the last time */
    vls_map told;       /* what cannot be made */
} cli_regenerating;

void cli_regenerating_init(cli_regenerating *r, cli *c);
void cli_regenerating_release(cli_regenerating *r);

/* A failure is told and is none: it is tried again later, or when something changes. But
 * VALISE_E_CANCELLED, and what `tell` returns. */
int cli_regenerate(cli_regenerating *r, valise_error *err);

/* The same, where the tree or what is known is something else than the last run saw. */
int cli_regenerate_if_due(cli_regenerating *r, valise_error *err);

#endif
