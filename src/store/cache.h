/* cache.h -- rows that a writer has just read or written, and answers to "which row is the last?".
 *
 * A command reads the rows that it changes, and the next command mostly reads the same ones: a
 * session, a head, the actor. Reading one of them again costs a statement, and saving that is most
 * of what a batch can gain. The cache belongs to the write transactions of one handle. As long as
 * nobody else writes, they see only what they wrote themselves; the cache is emptied when somebody
 * else has committed, and whenever something is undone.
 *
 * Whoever appends to something first asks for the newest row there is: the last, in some order, of
 * those that begin with the same cells (the commits of a backpack, those of a key). Such an
 * *answer* takes a slot too. Every row that is written is compared with the answers that it may
 * change:
 *
 *     answer   the last commit of backpack b          put (b, 8)    later: it is the last now
 *              is row (b, 7)                          put (b, 7)    the same: its new version
 *                                                     put (b, 5)    earlier: nothing changes
 *                                                     del (b, 7)    nobody knows any more
 *
 * In an index, a row that changes may also leave its place. If its earlier version is not known,
 * all answers of the collection's indexes are forgotten. No row comes after the last one, so an
 * answer by key also tells that a row is new.
 *
 * Each key has a few slots of fixed size, which it shares with other keys of the same hash. A slot
 * says that there is a row, or that there is none. All memory is allocated at the start, so nothing
 * here fails later; rows that are too large are not cached.
 *
 * Threads: single (whoever has the write lock). */
#ifndef VLS_CACHE_H
#define VLS_CACHE_H

#include "store/coll.h"

#define VLS_CACHE_SLOTS 4096u
#define VLS_CACHE_WAYS 4u    /* slots that a key may be in */
#define VLS_CACHE_ROOM 1280u /* bytes of a slot: 24 for each cell, and what the cells hold */
#define VLS_CACHE_ORDERS 32u /* kinds of questions: collection, index, how many cells are equal */

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

/* Remember the row that was found, or that there is none (NULL). What does not fit is forgotten
 * instead. */
void vls_cache_put(vls_cache *cache, const vls_coll *coll, const valise_cell *key,
                   const valise_cell *row);

/* The row is written from now on, or deleted (NULL): remember that, and what follows from it. */
void vls_cache_write(vls_cache *cache, const vls_coll *coll, const valise_cell *key,
                     const valise_cell *row);

/* The last row, in the order of an index or by key (-1), of those that begin with `equal`: as get.
 */
int vls_cache_last(valise_cell *row, const vls_cache *cache, const vls_coll *coll, int32_t index,
                   const valise_cell *equal, uint16_t count);

/* Remember that it is this one, or that there is none (NULL). */
void vls_cache_put_last(vls_cache *cache, const vls_coll *coll, int32_t index,
                        const valise_cell *equal, uint16_t count, const valise_cell *row);

#endif
