/* scan_impl.h -- what a scan keeps for the cache; shared by the files of a scan.
 *
 * Threads: single. */
#ifndef VLS_TREE_SCAN_IMPL_H
#define VLS_TREE_SCAN_IMPL_H

#include "tree/scan.h"
#include "tree/walk.h"

struct vls_stat_cache {
    vls_scan_options options;
    vls_tree_cache old;
    bool is_file; /* old is what the file has */
    bool is_held; /* old is what options.memory has, and belongs to it */
    bool whole;   /* all of the tree was walked */
    vls_walk walk;
    vls_tree_counts counts;
};

#endif
