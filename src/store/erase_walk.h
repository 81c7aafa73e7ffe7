/* erase_walk.h -- visit each log entry that changed an erased place once.
 *
 * From a place, its versions lead back: an image says which entry made the row that was there
 * before. Places may share entries (one command may have made many of them), and the entry of the
 * erase command has them all. So entries are taken newest first, with all places that lead to them,
 * and rewritten once.
 *
 * Threads: single. */
#ifndef VLS_ERASE_WALK_H
#define VLS_ERASE_WALK_H

#include "base/vec.h"
#include "store/erase.h"

typedef struct vls_id_list {
    vls_vec(valise_id) ids; /* sorted and each once, after the walk */
} vls_id_list;

/* What belongs to places. */
typedef struct vls_erase_found {
    vls_id_list named;     /* by contents of their versions */
    vls_id_list carried;   /* by payloads of the entries that made them, but not named */
    vls_vec(int64_t) seqs; /* these entries, sorted */
} vls_erase_found;

void vls_erase_found_release(vls_erase_found *found, const valise_env *env);

/* After something was added. */
void vls_erase_found_sort(vls_erase_found *found);

/* Bring a list into order; and then: the number of an id in it, or -1. */
void vls_id_list_sort(vls_id_list *list);
int64_t vls_id_list_find(const vls_id_list *list, const valise_id *id);

/* Is it one of the entries? */
bool vls_erase_found_has(const vls_erase_found *found, int64_t seq);

/* What is known of one place. */
typedef struct vls_erase_state {
    bool any;     /* a version had contents */
    bool expired; /* there were older versions, of which nothing is known */
    bool had;     /* the version that the next entry made had what is erased */
    int64_t seq;  /* the entry that is looked at, if it leads there */
} vls_erase_state;

typedef struct vls_erase_walk {
    vls_txn *txn;
    const vls_erase_place *places;
    size_t count;
    vls_erase_state *states; /* by place; zeroed, but for `had` where `own` is 0 */
    int64_t own;             /* the erase command's entry; 0: only look, from before_seq on */
    vls_erase_found *found;
    vls_erased *out; /* counts what was rewritten; own not 0 */
} vls_erase_walk;

/* Walk, and rewrite if it has an entry of its own. */
int vls_erase_walk_run(const vls_erase_walk *walk, valise_error *err);

/* Take the contents out of a version: all of them, or those that name one object. True when there
 * were any. */
bool vls_erase_empty(valise_cell *row, size_t count, const vls_coll *coll, const valise_id *only);

/* Add the objects and blobs that the contents of a version name. */
int vls_erase_add_contents(vls_erase_found *found, vls_arena *arena, const vls_erase_place *place,
                           const valise_cell *row, valise_error *err);

/* Take the payload of an entry away. */
void vls_erase_silence(vls_entry *entry, vls_erased *out);

/* Places by collection and key. */
int vls_erase_compare(const vls_erase_place *a, const vls_erase_place *b);

#endif
