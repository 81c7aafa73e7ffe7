/* erase.h -- what the two operations of an erasure share.
 *
 * People run `workspace:erase`: a job that finds the places, has the command `erasure:record`
 * record them, and then removes the contents from the files. `erasure:record` is the command in the
 * log: it puts the rows without their contents and says who, when and why.
 *
 * Threads: single. */
#ifndef VLS_KERNEL_ERASE_H
#define VLS_KERNEL_ERASE_H

#include "base/hex.h"
#include "kernel/kernel.h"
#include "store/erase.h"

typedef struct vls_erase_args {
    valise_list places; /* of valise_str */
    valise_id content;  /* only this object; zero: all contents of the places */
    valise_str reason;
    valise_list sources; /* of valise_str, 32 bytes each: what was used of these goes too, beside
                            that of the places (store/used.h) */
} vls_erase_args;

static inline const valise_id *vls_erase_only(const vls_erase_args *args)
{
    return vls_id_is_none(&args->content) ? NULL : &args->content;
}

/* Under which name an erasure of one object or blob is recorded: object/ID. */
typedef struct vls_object_place {
    char s[sizeof("object/") + 2 * sizeof(valise_id)];
} vls_object_place;

static inline vls_object_place vls_object_place_of(const valise_id *id)
{
    vls_object_place place;

    (void)snprintf(place.s, sizeof(place.s), "object/%s", vls_id_hex(id).s);
    return place;
}

typedef struct vls_erase_result {
    valise_list others; /* of valise_str */
    bool more;          /* rows about the blob are left: once more, without places */
} vls_erase_result;

extern const valise_op vls_op_kernel_erasure_record;

/* What an erasure did, for the answers of the operations that erase. */
typedef struct vls_erase_answer {
    valise_list places, others; /* of valise_str */
    int64_t entries, objects, chunks, blobs;
    valise_str residue; /* ptr NULL: none */
} vls_erase_answer;
extern const valise_field vls_erase_answer_fields[];

/* Erase these places, whole ones (store/place.h), in one command, within a job that may. `content`
 * zero: all their contents; or else it goes as an object and as a blob. What *out points to belongs
 * to the job. */
int vls_erase_places(vls_erase_answer *out, valise_job *job, const vls_erase_args *args,
                     valise_error *err);

/* Delete the rows about this blob (store/erase.h), `most` of them at most. *more: there are more. 0
 * of them: are there any? */
int vls_erase_about(bool *more, valise_view *view, const valise_id *blob, size_t most,
                    valise_error *err);

/* How many of them one command deletes: its entry has an image of each. */
#define VLS_ERASE_MAX_ABOUT 20000

/* The most places one erasure may have, and the most others it names. */
#define VLS_ERASE_MAX_PLACES 10000
#define VLS_ERASE_MAX_OTHERS 1000

#endif
