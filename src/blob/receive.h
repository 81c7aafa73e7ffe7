/* receive.h -- put bytes that come with a command into the blob store, before it is queued. [W9]
 *
 *     {"type":"image","data":BASE64,"filename":"a.png"}      what a caller sends
 *     {"type":"image","blob":SHA256,"mediaType":"image/png","filename":"a.png"}     what is logged
 *
 * For valise_op.receive: on the caller's thread, without locks. What a record needs to know about
 * such a blob goes into the payload, in an argument of its own, since a decider does not look at
 * files:
 *
 *     typedef struct add_args { ...; valise_content blocks; valise_list files, blobs; } add_args;
 *
 *     VALISE_FIELD_WITH(add_args, files, LIST, 0, "Files to attach.", .more = &vls_blob_file_item,
 *                       .max = VLS_BLOB_FILES_MAX),
 *     VLS_BLOBS_FIELD(add_args, blobs),
 *
 *     static int receive(valise_prepare *prepare, void *args, valise_error *err)
 *     {
 *         return vls_blob_receive(&a->blocks.bytes, &a->blobs, prepare, args, &a->files, err);
 *     }
 *     ... decide: vls_blob_about about = vls_blob_told_of(&a->blobs, &id);
 *                 vls_blob_take(view, &hold, &about, err)
 *
 * An actor who may not run the command puts no file: if there is one to put, access is checked
 * first. If a purge removes a file between its put and the command, the command is run again from
 * here, as often as a command whose `prepare` is out of date.
 *
 * Threads: single; on the caller's thread. */
#ifndef VLS_BLOB_RECEIVE_H
#define VLS_BLOB_RECEIVE_H

#include <valise/sys/operation.h>

#include "base/arena.h"
#include "blob/hold.h"

#define VLS_BLOB_FILES_MAX 256 /* that one command attaches */
#define VLS_BLOBS_TOLD_MAX 4096
#define VLS_BLOB_SNIFF_BYTES 4096u /* of the beginning that say what it is */

/* What a command tells of a blob that came with it. */
typedef struct vls_blob_told {
    valise_id sha256;
    int64_t size;
    valise_str media_type, filename; /* NULLABLE */
} vls_blob_told;

/* An item of such a list: STRUCT, so a list is of const vls_blob_told *. */
extern const valise_field vls_blob_told_item;
/* An item of a list of files: PATH. */
extern const valise_field vls_blob_file_item;

/* The argument that holds them. What a caller puts there is not believed: receive fills it. */
#define VLS_BLOBS_FIELD(args, member)                                                              \
    VALISE_FIELD_AS_WITH(args, member, "blobs", LIST, VALISE_HIDDEN,                               \
                         "Metadata of attached blobs.", .more = &vls_blob_told_item,               \
                         .max = VLS_BLOBS_TOLD_MAX)

/* Take the bytes out of *blocks, the JSON of an array, and append a block for each file of the list
 * (of valise_str; NULL: none): an image for what looks like one, else a document. *blocks becomes
 * canonical JSON and *blobs the list of vls_blob_told, both in memory of prepare; *blocks stays as
 * it is where nothing was in it, and what is no array of objects is left to whoever reads it. The
 * list of files is emptied: their names are no business of the log.
 * blocks->ptr NULL: none are given (of a content that was not, set the size to 0: it is one now).
 * args: those of the command. VALISE_E_INVALID names the block, as in "blocks[2].data": no base64,
 * `data` beside `blob`; VALISE_E_NOT_FOUND for a file that is not there, VALISE_E_DENIED, and what
 * a blob store says. */
int vls_blob_receive(valise_str *blocks, valise_list *blobs, valise_prepare *prepare,
                     const void *args, valise_list *files, valise_error *err);

/* The same for one content by itself: bytes, or the name of a file (ptr NULL: the other). */
int vls_blob_receive_one(valise_id *out, valise_list *blobs, valise_prepare *prepare,
                         const void *args, valise_str bytes, valise_str file, valise_str media_type,
                         valise_str filename, valise_error *err);

/* For decide: what is told of this one; size VALISE_NONE: nothing, it did not come along. */
vls_blob_about vls_blob_told_of(const valise_list *blobs, const valise_id *id);

/* What bytes are, by how they begin: "image/png", "text/plain", "application/octet-stream" ... */
const char *vls_blob_sniff(valise_str beginning, bool whole);

#endif
