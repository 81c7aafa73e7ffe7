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

/* The 64 lower-case digits of an id, with a NUL behind them: what the command line prints, and what
 * functions take that want a node by its id. Returns out. */
#define VALISE_ID_TEXT 65
VALISE_API char *valise_id_text(char out[VALISE_ID_TEXT], const valise_id *id);

/* The id that these 64 digits spell. VALISE_E_INVALID. */
VALISE_API int valise_id_parse(valise_id *out, valise_str text, valise_error *err);

/* The same of a UUID: 36 characters, and a NUL behind them. */
#define VALISE_UUID_TEXT 37
VALISE_API char *valise_uuid_text(char out[VALISE_UUID_TEXT], const valise_uuid *uuid);
VALISE_API int valise_uuid_parse(valise_uuid *out, valise_str text, valise_error *err);

VALISE_END

#endif
