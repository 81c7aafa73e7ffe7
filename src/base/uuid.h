/* uuid.h -- UUIDv7 (RFC 9562): made by a generator, or derived from a command.
 *
 *      0                 47 48  51 52        63 64 65 66        79 80             127
 *     +--------------------+------+------------+-----+------------+-----------------+
 *     | unix time in ms    | 0111 | counter    | 10  | counter    | random          |
 *     | 48 bits            | ver. | high 12    | var | low 14     | 48 bits         |
 *     +--------------------+------+------------+-----+------------+-----------------+
 *
 * The ids of one generator are strictly increasing as bytes, whatever the clock does (RFC 9562,
 * 6.2, method 1: a dedicated counter). A new millisecond draws the counter anew with its highest
 * bit clear, which leaves it room for 33 million ids; within a millisecond, and while the clock
 * stands still or is behind the last id, it counts up. When it runs over, the time in the id
 * moves one millisecond ahead of the clock.
 *
 * Nothing may be ordered by these ids: order is by sequence number. They increase only so that
 * indexes over them grow at the end.
 *
 * Threads: vls_uuid_gen is shared. */
#ifndef VLS_UUID_H
#define VLS_UUID_H

#include <pthread.h>

#include "base/base.h"
#include "base/hash.h"

/* Random bytes for this many ids are drawn at once: a system call each would be most of the cost
 * of an id. So after a fork only one of the two processes may go on with a generator. */
#define VLS_UUID_BATCH 16u

typedef struct vls_uuid_gen {
    const valise_env *env;
    pthread_mutex_t lock; /* over everything below */
    uint64_t time_ms;     /* of the last id */
    uint32_t counter;     /* of the last id, 26 bits */
    bool started;
    unsigned drawn; /* entries of random not used yet */
    uint8_t random[VLS_UUID_BATCH][10];
} vls_uuid_gen;

void vls_uuid_gen_init(vls_uuid_gen *gen, const valise_env *env);
void vls_uuid_gen_release(vls_uuid_gen *gen);

/* A new id, greater than all before it. VALISE_E_IO when env has no random bytes to give;
 * VALISE_E_LIMIT after the year 10889, when 48 bits of milliseconds are used up. */
int vls_uuid_new(valise_uuid *out, vls_uuid_gen *gen, valise_error *err);

/* The id number `counter` that belongs to a command: the same on every replay, and never the
 * same for two commands or two counters. It carries the command's time; that of a command whose
 * own id is no UUIDv7 (a caller may bring any) is not known and becomes 0.
 *
 *     tagged hash "valise.uuid.1" (command's 16 bytes, number counter): its first 16 bytes, with
 *     the time, the version and the variant written over them
 *
 * Errors as for vls_hash_end. */
void vls_uuid_derive(valise_uuid *out, const valise_uuid *command, uint64_t counter);

/* Version 7 and the RFC's variant. */
static inline bool vls_uuid_is_v7(const valise_uuid *uuid)
{
    return uuid->bytes[6] >> 4 == 7 && uuid->bytes[8] >> 6 == 2;
}

/* Milliseconds since 1970 that a UUIDv7 carries; false (and *out untouched) for any other. */
bool vls_uuid_time_ms(int64_t *out, const valise_uuid *uuid);

static inline bool vls_uuid_equal(const valise_uuid *a, const valise_uuid *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

/* All zeros: how rows and calls say that there is none. */
static inline bool vls_uuid_is_none(const valise_uuid *uuid)
{
    static const valise_uuid none;

    return vls_uuid_equal(uuid, &none);
}

static inline int vls_uuid_compare(const valise_uuid *a, const valise_uuid *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

/* The same for qsort and bsearch in arrays of valise_uuid. */
int vls_uuid_order(const void *a, const void *b);

#endif
