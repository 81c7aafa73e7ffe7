/* valise/id.h -- the two kinds of identifiers: content ids and UUIDs.
 *
 * Threads: immutable (plain bytes). */
#ifndef VALISE_ID_H
#define VALISE_ID_H

#include <stdint.h>

#include <valise/api.h>

VALISE_BEGIN

/* The SHA-256 that names an immutable object. */
typedef struct valise_id {
    uint8_t bytes[32];
} valise_id;

/* A UUID in network byte order. The ones Valise makes are version 7 (RFC 9562). */
typedef struct valise_uuid {
    uint8_t bytes[16];
} valise_uuid;

VALISE_END

#endif
