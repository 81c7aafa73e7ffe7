/* entry_in.h -- the fields that context:add and context:update have in common.
 *
 * Threads: immutable. */
#ifndef VLS_MEMORY_ENTRY_IN_H
#define VLS_MEMORY_ENTRY_IN_H

#include "blob/receive.h"
#include "memory/entry.h"

#define VLS_ENTRY_CONTENT_FIELDS                                                                   \
    VALISE_FIELD(vls_entry_args, text, TEXT, VALISE_NULLABLE | VALISE_POSITIONAL,                  \
                 "What it says, a text."),                                                         \
        VALISE_FIELD(vls_entry_args, value, VALUE, VALISE_NULLABLE,                                \
                     "Instead: what it says, a JSON value."),                                      \
        VALISE_FIELD(vls_entry_args, blob, ID, VALISE_NULLABLE,                                    \
                     "Instead: the SHA-256 of a blob that is there."),                             \
        VALISE_FIELD(vls_entry_args, data, DATA, VALISE_NULLABLE,                                  \
                     "Instead: bytes, which become a blob."),                                      \
        VALISE_FIELD_WITH(vls_entry_args, file, PATH, VALISE_NULLABLE,                             \
                          "Instead: a file, which becomes a blob.", .ref = "input", .min = 1,      \
                          .max = 4095),                                                            \
        VALISE_FIELD_AS_WITH(vls_entry_args, media_type, "mediaType", STR, VALISE_NULLABLE,        \
                             "What the blob is, such as image/png.", .min = 1,                     \
                             .max = VLS_BLOB_MEDIA_TYPE_MAX),                                      \
        VALISE_FIELD_WITH(vls_entry_args, filename, STR, VALISE_NULLABLE,                          \
                          "What its file is called.", .min = 1, .max = VLS_BLOB_FILENAME_MAX),     \
        VLS_BLOBS_FIELD(vls_entry_args, blobs)

#define VLS_ENTRY_OTHER_FIELDS                                                                     \
    VALISE_FIELD(vls_entry_args, metadata, VALUE, VALISE_NULLABLE,                                 \
                 "Whatever else is to be told."),                                                  \
        VALISE_FIELD(vls_entry_args, expires, TIME, VALISE_NULLABLE, "Until when it holds."),      \
        VALISE_FIELD(vls_entry_args, ttl, DURATION, VALISE_NULLABLE,                               \
                     "Instead: for how long it holds from now on.")

#endif
