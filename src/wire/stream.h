/* stream.h -- the inside of vls_stream, for the files that make it.
 *
 * Threads: single. */
#ifndef VLS_STREAM_H
#define VLS_STREAM_H

#include "wire/adapter.h"
#include "wire/frames.h"
#include "wire/sse.h"

typedef struct vls_stream_meta_ {
    valise_str key;
    vls_json value;
} vls_stream_meta_;

typedef struct vls_stream_block_ {
    uint8_t kind;        /* VLS_SAID_TEXT, _THINKING, _CALL */
    bool redacted;       /* text is opaque */
    uint32_t half;       /* of a surrogate pair, which waits for the other; 0: none */
    vls_buf text;        /* or arguments */
    vls_buf sign;        /* the signature */
    valise_str id, name; /* CALL; ptr NULL: not told */
    vls_vec(vls_stream_meta_) meta;
} vls_stream_block_;

/* Which block an index of the provider is. */
typedef struct vls_stream_place {
    int64_t index;
    uint8_t kind;
    uint32_t block;
} vls_stream_place;

struct vls_stream {
    const valise_env *env;
    const vls_adapter *adapter;
    vls_piece_fn *on_piece;
    void *arg;
    vls_sse sse;
    vls_frames frames; /* in the place of sse, where the bytes are */
    vls_arena scratch; /* of one event */
    vls_arena keep;    /* names, meta */
    vls_vec(vls_stream_block_) blocks;
    vls_vec(vls_stream_place) order; /* by index, kind */
    vls_vec(valise_str) dropped;
    valise_str id, model, stop_text;
    vls_usage usage;
    vls_stop stop;
    size_t total, events; /* bytes; events that came */
    bool marked;          /* halves of surrogates are marked in this event */
    bool framed;
    bool begun, ended, passing;
    int failed; /* why no more is taken */
};

#endif
