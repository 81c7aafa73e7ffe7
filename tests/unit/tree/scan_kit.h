/* scan_kit.h -- a folder that is scanned, and a workspace that is only a list of nodes.
 *
 *     scan_bed b;
 *     bed_open(&b, t);
 *     bed_file(&b, "src/a.c", "text");
 *     bed_scan(&b);                        scan, record, keep; b.scan has the result
 *     CHECK_INT(1, b.scan.added);
 *
 * After each scan the kit checks what always holds: the changes lead from the nodes before to those
 * now, as do the counts, and the root is the one that the naive walk (naive_tree.c) finds. */
#ifndef TREE_SCAN_KIT_H
#define TREE_SCAN_KIT_H

#include "harness/test.h"
#include "tree/scan.h"

typedef struct bed_node {
    const char *path; /* NUL-ended; paths have none */
    vls_node node;
} bed_node;

typedef struct scan_bed {
    test *t;
    const char *root, *store, *cache;
    vls_scan_options options;
    vls_scan scan;           /* of the last scan */
    struct bed_guard *guard; /* releases it when the test ends, and this is gone */
    bool any_ignored;        /* the naive walk knows no rules: do not compare */
    bool no_keep;            /* do not write the cache */
    bed_node *nodes;         /* the workspace, in the order of vls_path_compare */
    size_t count, cap;
    int old_calls; /* how often the tree as it was had to be told */
} scan_bed;

void bed_open(scan_bed *b, test *t); /* in the test's folder; closed when the test ends */
void bed_open_in(scan_bed *b, test *t, const char *dir);
void bed_close(scan_bed *b);

/* b->scan was filled by hand: release it with the rest. */
void bed_hold(scan_bed *b);

/* Below the root. Folders on the way are made. Times are set so that they are settled. */
void bed_file(scan_bed *b, const char *path, const char *text);
void bed_bytes(scan_bed *b, const char *path, valise_str bytes);
void bed_dir(scan_bed *b, const char *path);
void bed_link(scan_bed *b, const char *path, const char *target);
void bed_remove(scan_bed *b, const char *path);
void bed_rename(scan_bed *b, const char *from, const char *to);
const char *bed_path(const scan_bed *b, const char *path);

void bed_scan(scan_bed *b);
void bed_scan_sub(scan_bed *b, const char *sub);
/* Without recording it: as a scan that was killed behind its walk. */
void bed_scan_only(scan_bed *b, vls_scan *out);
/* Scan until nothing is unsure any more: wait for the clock of the file system. */
void bed_settle(scan_bed *b);

const bed_node *bed_find(const scan_bed *b, const char *path);
void bed_check_moves(const scan_bed *b, const char *expected);  /* "a>b c>d" */
void bed_check_errors(const scan_bed *b, const char *expected); /* "path path" */

/* naive_tree.c: the object id of the folder, by other code. */
void naive_root(valise_id *out, const char *folder);

#endif
