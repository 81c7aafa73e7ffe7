/* valise/id.h -- the two kinds of identifiers: content ids and UUIDs.
 *
 * Threads: immutable (plain bytes). */
#ifndef VALISE_ID_H
#define VALISE_ID_H

#include <stdint.h>

#include <valise/error.h>
#include <valise/str.h>

VALISE_BEGIN

/* The SHA-256 that names an immutable object. */
typedef struct valise_id {
    uint8_t bytes[32];
} valise_id;

/* A UUID in network byte order. The ones Valise makes are version 7 (RFC 9562). */
typedef struct valise_uuid {
    uint8_t bytes[16];
} valise_uuid;

/* Write an id as 64 lower-case hex digits and a NUL. The command line prints ids this way, and
 * functions that take a node accept its id in this form. Returns out. */
#define VALISE_ID_TEXT 65
VALISE_API char *valise_id_text(char out[VALISE_ID_TEXT], const valise_id *id);

/* Parse an id from 64 hex digits. VALISE_E_INVALID. */
VALISE_API int valise_id_parse(valise_id *out, valise_str text, valise_error *err);

/* Write a UUID as 36 characters and a NUL, and parse one. As for ids. */
#define VALISE_UUID_TEXT 37
VALISE_API char *valise_uuid_text(char out[VALISE_UUID_TEXT], const valise_uuid *uuid);
VALISE_API int valise_uuid_parse(valise_uuid *out, valise_str text, valise_error *err);

VALISE_END

#endif
