/* split.h -- a long file in pieces: the elements of a JSON array, or lines, one at a time.
 *
 * A file of conversations may be larger than memory: what is kept is one piece. Pieces are cut by
 * brackets and quotes alone; whether one is JSON is for who parses it. So a piece that is broken
 * does not hide those after it, as far as its brackets are.
 *
 *     [ {...}, {...} ]          ARRAY    elements
 *     {...}\n{...}\n            LINES    one value a line; the last one may be half written
 *     {\n "a": ... }            VALUES   one value after the other, over several lines
 *
 * Which it is shows in the first bytes. A byte order mark and CRLF are fine.
 *
 * Threads: single. */
#ifndef VLS_EXCHANGE_SPLIT_H
#define VLS_EXCHANGE_SPLIT_H

#include "base/buf.h"

#define VLS_SPLIT_ROOM ((size_t)64 << 10)

/* At most `size` bytes into room; *len 0 at the end. */
typedef int vls_split_source(size_t *len, void *arg, void *room, size_t size, valise_error *err);

enum { VLS_SPLIT_EMPTY, VLS_SPLIT_LINES, VLS_SPLIT_ARRAY, VLS_SPLIT_VALUES };

enum {
    VLS_PIECE_WHOLE,
    VLS_PIECE_LAST,      /* LINES: nothing ended it, so it may be half written */
    VLS_PIECE_CUT,       /* the file ends within it, or before the end of the array */
    VLS_PIECE_TOO_LARGE, /* text is empty */
    VLS_PIECE_STRAY,     /* something that is no value */
};

typedef struct vls_split_piece {
    valise_str text; /* valid until the next call */
    uint64_t offset; /* where it begins in the file */
    uint64_t line;   /* the same, from 1 */
    int what;        /* VLS_PIECE_... */
} vls_split_piece;

typedef struct vls_splitter {
    vls_split_source *source;
    void *arg;
    int form; /* VLS_SPLIT_... */
    bool ended, closed;
    size_t at, len; /* in room */
    uint64_t offset, line;
    vls_buf text; /* the piece; born with the maximum of one */
    bool over;
    char room[VLS_SPLIT_ROOM];
} vls_splitter;

/* Reads the beginning. piece_max: bytes of one piece. */
int vls_split_begin(vls_splitter *s, const valise_env *env, vls_split_source *source, void *arg,
                    size_t piece_max, valise_error *err);
void vls_split_end(vls_splitter *s); /* a zeroed one is fine */

/* 1 and a piece; 0 at the end. Fails only where the source does, or without memory. */
int vls_split_next(vls_split_piece *out, vls_splitter *s, valise_error *err);

static inline void vls_auto_splitter(vls_splitter *s)
{
    vls_split_end(s);
}

#endif
