/* kit.h -- a workspace in a folder that is watched.
 *
 *     bed *b = bed_new(t);
 *     bed_file(b, "src/a.c", "text");
 *     bed_watch(b, NULL);
 *     bed_file(b, "src/a.c", "edited");
 *     bed_wait(b);
 *     CHECK_TEXT("changed src/a.c\n", b->told);
 *
 * bed_wait steps until the watch has seen all that was done, and checks what always holds: a scan
 * of everything, with every file read again and by another handle, finds nothing. It knows that all
 * was seen by a file of its own: events come in their order. There is no waiting for a time, only
 * one after which a test has failed. */
#ifndef WATCH_KIT_H
#define WATCH_KIT_H

#include <valise.h>

#include "harness/test.h"
#include "watch/watch.h"

typedef struct bed {
    test *t;
    const char *root; /* of the tree */
    valise *v;        /* that watches */
    valise *other;    /* that checks */
    valise_watch *watch;
    const char *told;  /* since the last time it was cleared: a line for each change */
    const char *noted; /* words for each note */
    int64_t versions;  /* how many were told */
    int stop;          /* what is returned to who tells */
    unsigned fences;   /* files that mark what was done so far */
    bool passed;       /* the last one was told */
} bed;

bed *bed_new(test *t); /* in the test's folder; closed when the test ends */
bed *bed_new_in(test *t, const char *dir);
void bed_close(bed *b);

/* limits may be NULL. */
void bed_watch(bed *b, const vls_watch_limits *limits);
int bed_try_watch(bed *b, const vls_watch_limits *limits);
void bed_unwatch(bed *b);

/* Below the root; folders on the way are made. */
const char *bed_path(const bed *b, const char *path);
void bed_file(const bed *b, const char *path, const char *text);
void bed_dir(const bed *b, const char *path);
void bed_link(const bed *b, const char *path, const char *target);
void bed_remove(const bed *b, const char *path);
void bed_rename(const bed *b, const char *from, const char *to);

/* What was told is forgotten, then all that was done since is waited for. */
void bed_wait(bed *b);

/* Step until something is told (b->told) or noted (b->noted). */
void bed_hear(bed *b, const char *const *where, const char *word);

/* Without the check. */
void bed_settle(bed *b);
void bed_check(bed *b);

#endif
