/* entry_in.h -- the fields that context:add and context:update have in common.
 *
 * Threads: immutable. */
#ifndef VLS_MEMORY_ENTRY_IN_H
#define VLS_MEMORY_ENTRY_IN_H

#include "blob/receive.h"
#include "memory/entry.h"

#define VLS_ENTRY_CONTENT_FIELDS                                                                   \
    VALISE_FIELD(vls_entry_args, text, TEXT, VALISE_NULLABLE | VALISE_POSITIONAL, "The text."),    \
        VALISE_FIELD(vls_entry_args, value, VALUE, VALISE_NULLABLE,                                \
                     "Instead of text: a JSON value."),                                            \
        VALISE_FIELD(vls_entry_args, blob, ID, VALISE_NULLABLE,                                    \
                     "Instead of text: the SHA-256 of an existing blob."),                         \
        VALISE_FIELD(vls_entry_args, data, DATA, VALISE_NULLABLE,                                  \
                     "Instead of text: bytes, which become a blob."),                              \
        VALISE_FIELD_WITH(vls_entry_args, file, PATH, VALISE_NULLABLE,                             \
                          "Instead of text: a file, which becomes a blob.", .ref = "input",        \
                          .min = 1, .max = 4095),                                                  \
        VALISE_FIELD_AS_WITH(vls_entry_args, media_type, "mediaType", STR, VALISE_NULLABLE,        \
                             "Media type of the blob, such as image/png.", .min = 1,               \
                             .max = VLS_BLOB_MEDIA_TYPE_MAX),                                      \
        VALISE_FIELD_WITH(vls_entry_args, filename, STR, VALISE_NULLABLE,                          \
                          "File name of the blob.", .min = 1, .max = VLS_BLOB_FILENAME_MAX),       \
        VLS_BLOBS_FIELD(vls_entry_args, blobs)

#define VLS_ENTRY_OTHER_FIELDS                                                                     \
    VALISE_FIELD(vls_entry_args, metadata, VALUE, VALISE_NULLABLE,                                 \
                 "Any other metadata, as JSON."),                                                  \
        VALISE_FIELD(vls_entry_args, expires, TIME, VALISE_NULLABLE, "When it expires."),          \
        VALISE_FIELD(vls_entry_args, ttl, DURATION, VALISE_NULLABLE,                               \
                     "Instead of a time: how long until it expires.")

#endif
