/* fuzz_import.h -- what the targets of the importers share: a conversation that a reader made of
 * any bytes must be one that the commands take. [Q20] [W20]
 *
 * Threads: single. */
#ifndef FUZZ_IMPORT_H
#define FUZZ_IMPORT_H

#include "fuzz/fuzz.h"

#include "chat/blocks.h"
#include "chat/rows.h"
#include "exchange/foreign.h"
#include "exchange/split.h"
#include "json/make.h"
#include "wire/neutral.h"

typedef struct fuzz_import {
    vls_arena arena, kept;
    vls_notes notes;
    vls_translation r;
} fuzz_import;

static inline void fuzz_import_begin(fuzz_import *f)
{
    *f = (fuzz_import){.notes = {.strict = false}};
    vls_arena_init(&f->arena, valise_env_default(), SIZE_MAX);
    vls_arena_init(&f->kept, valise_env_default(), SIZE_MAX);
    f->notes.arena = &f->kept;
    f->r = (vls_translation){.env = valise_env_default(), .arena = &f->arena, .notes = &f->notes};
}

static inline void fuzz_import_end(fuzz_import *f)
{
    vls_arena_release(&f->arena);
    vls_arena_release(&f->kept);
}

static inline void fuzz_import_check_turn(fuzz_import *f, const vls_foreign *foreign, size_t i)
{
    const vls_foreign_turn *turn = &foreign->turns.ptr[i];
    valise_error err = VALISE_ERROR_INIT;
    vls_blocks blocks;
    valise_str text;

    FUZZ_CHECK(turn->parent == VLS_NO_TURN || turn->parent < i);
    FUZZ_CHECK(turn->role >= VLS_TURN_USER && turn->role <= VLS_TURN_TOOL);
    FUZZ_CHECK(turn->source.len > 0);
    FUZZ_CHECK(vls_json_text(&text, &f->arena, turn->blocks, &err) == 0);
    FUZZ_CHECK(vls_blocks_read(&blocks, &f->arena, text, &err) == 0);
    FUZZ_CHECK(vls_neutral_check_blocks(blocks.all, &err) == 0);
    for (size_t k = 0; k < blocks.covers.len; k++)
        FUZZ_CHECK(turn->parent != VLS_NO_TURN);
    for (size_t k = 0; k < blocks.results.len; k++)
        FUZZ_CHECK(turn->parent != VLS_NO_TURN || blocks.calls.len > 0);
}

static inline void fuzz_import_check(fuzz_import *f, vls_foreign *foreign)
{
    valise_error err = VALISE_ERROR_INIT;
    size_t count = foreign->turns.len;

    FUZZ_CHECK(vls_foreign_arrange(foreign, &f->r, &err) == 0);
    FUZZ_CHECK(foreign->turns.len == count);
    FUZZ_CHECK(count == 0 || foreign->head < count);
    FUZZ_CHECK(vls_foreign_mend(foreign, &f->r, &err) == 0);
    for (size_t i = 0; i < count; i++)
        fuzz_import_check_turn(f, foreign, i);
}

/* ---- pieces ---- */

typedef struct fuzz_feed {
    valise_str left;
    size_t step;
} fuzz_feed;

static inline int fuzz_feed_give(size_t *len, void *arg, void *room, size_t size, valise_error *err)
{
    fuzz_feed *f = arg;

    (void)err;
    *len = VLS_MIN(VLS_MIN(size, f->step), f->left.len);
    if (*len > 0)
        memcpy(room, f->left.ptr, *len);
    f->left = vls_str_from(f->left, *len);
    return 0;
}

/* fn gets each record that is one. */
typedef void fuzz_record_fn(fuzz_import *f, valise_str text, vls_json record);

static inline void fuzz_import_each(fuzz_import *f, valise_str bytes, fuzz_record_fn *fn)
{
    static vls_splitter s;
    fuzz_feed feed = {bytes, SIZE_MAX};
    valise_error err = VALISE_ERROR_INIT;
    vls_split_piece piece;
    vls_json record;
    valise_str text;

    FUZZ_CHECK(vls_split_begin(&s, valise_env_default(), fuzz_feed_give, &feed, 1 << 20, &err) ==
               0);
    while (vls_split_next(&piece, &s, &err) > 0) {
        f->r.line = piece.line;
        f->r.offset = piece.offset;
        FUZZ_CHECK(vls_arena_dup(&text, &f->arena, piece.text, &err) == 0);
        f->r.text = text;
        if (piece.what <= VLS_PIECE_LAST && vls_foreign_parse(&record, &f->r, text, &err) == 0)
            fn(f, text, record);
    }
    vls_split_end(&s);
}

#endif
