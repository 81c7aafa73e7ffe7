/* cache.h -- rows that a writer has just read or written.
 *
 * A command reads the rows it changes, and the next command mostly the same ones: a session, a
 * head, the actor who asks. Reading one of them again costs a statement, most of what there is to
 * gain in a batch. The cache belongs to the write transactions of one handle, which see nothing but
 * what they wrote themselves as long as nobody else did: it is emptied when somebody else has
 * committed, and whenever something is undone.
 *
 * Each key has a few slots of fixed size, which it shares with whatever else falls there. A slot
 * says that there is a row, or that there is none. All memory is taken at once, so nothing here
 * fails later; rows that are too large are not remembered.
 *
 * Threads: single (whoever has the write lock). */
#ifndef VLS_CACHE_H
#define VLS_CACHE_H

#include "store/coll.h"

#define VLS_CACHE_SLOTS 4096u
#define VLS_CACHE_WAYS 4u   /* slots that a key may be in */
#define VLS_CACHE_ROOM 768u /* bytes of a slot: 24 for each cell, and what the cells hold */

typedef struct vls_cache vls_cache;

int vls_cache_new(vls_cache **out, const valise_env *env, valise_error *err);
void vls_cache_free(vls_cache *cache); /* NULL is fine */
void vls_cache_clear(vls_cache *cache);

/* Is this collection's kind of row kept? Numbered tables (log, objects, chunks) are not: what is in
 * them is not read again. */
static inline bool vls_cache_takes(const vls_coll *coll)
{
    return !(coll->table.flags & VALISE_TABLE_NUMBERED);
}

/* 1 and the row (all columns, valid until the next call), 0 when there is none, -1 when it is not
 * known. key: key_count cells. */
int vls_cache_get(valise_cell *row, const vls_cache *cache, const vls_coll *coll,
                  const valise_cell *key);

/* Remember the row, or that there is none (NULL). What does not fit is forgotten instead. */
void vls_cache_put(vls_cache *cache, const vls_coll *coll, const valise_cell *key,
                   const valise_cell *row);

#endif
