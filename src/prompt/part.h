/* part.h -- what a prompt is made of, and the text that is made of it. [P6] [P8]
 *
 * A part is a choice: where a piece of the prompt comes from, why, and what is done to it. All that
 * is printed comes from the part and from the object it names: rendering sees nothing else, so the
 * same parts give the same bytes whatever happened to the workspace since.
 *
 *     kind         name              version  id                      words (beside the text)
 *     TURN         ID@VERSION                 blocks (a value)        role of the turn
 *     ROLE         role              yes      persona or constraints
 *     PREFERENCE   id                yes      content
 *     ENTRY        key               yes      content, or blob        "Memory KEY:"
 *     FRAME        path                       content of the frame    "Note on PATH (TYPE):"
 *     ITEM         backpack/key               value                   "Item KEY:"
 *     GIVEN        "tools[0]", "params"       a value that came with the request
 *     BUILDER      what it says               zero; the words are all
 *
 * Threads: single. */
#ifndef VLS_PART_H
#define VLS_PART_H

#include <valise/sys/view.h>

#include "base/hash.h"
#include "base/vec.h"
#include "wire/neutral.h"

/* In the order of the prompt. */
typedef enum vls_section {
    VLS_SECTION_TOOLS,
    VLS_SECTION_PARAMS,
    VLS_SECTION_SYSTEM,
    VLS_SECTION_CONTEXT,
    VLS_SECTION_HISTORY,
    VLS_SECTION_TAIL,
    VLS_SECTION_COUNT,
} vls_section;
extern const char *const vls_sections[]; /* "tools", ..., NULL */

typedef enum vls_part_kind {
    VLS_PART_TURN,
    VLS_PART_ROLE,
    VLS_PART_PREFERENCE,
    VLS_PART_ENTRY,
    VLS_PART_FRAME,
    VLS_PART_ITEM,
    VLS_PART_GIVEN,
    VLS_PART_BUILDER,
} vls_part_kind;
extern const char *const vls_part_kinds[]; /* "turn", ..., NULL */

/* What is done to a block of a turn. */
typedef enum vls_edit_kind {
    VLS_EDIT_DROP,  /* it is not there */
    VLS_EDIT_CLEAR, /* a result: a line that says that it was cleared, and where it is */
    VLS_EDIT_CUT,   /* a result or text: the first a and the last b bytes, and a line between */
    VLS_EDIT_TEXT,  /* text stands for it: an image that is not there */
    VLS_EDIT_ASSET, /* media: text is the media type, more the provider's file id ("": inline), a
                       the size */
    VLS_EDIT_FILE_TEXT, /* a document whose blob is text, and stands in the block: text is the media
                           type, a the size, b what it costs */
} vls_edit_kind;
extern const char *const vls_edit_kinds[]; /* "drop", ..., NULL */

typedef struct vls_prompt_edit {
    uint8_t kind;         /* vls_edit_kind */
    int32_t block, inner; /* inner -1: the block itself; else one in the content of a result */
    int64_t a, b;
    valise_str text, more;
    valise_str bytes;   /* FILE_TEXT: what the blob says, where somebody has it; ptr NULL */
    const char *reason; /* constant, one of vls_reasons */
} vls_prompt_edit;

/* As which node items of which backpack are read; ptr NULL: none are. */
typedef struct vls_bag_reader {
    valise_str backpack, node;
} vls_bag_reader;

typedef struct vls_part {
    uint8_t section; /* vls_section */
    uint8_t kind;    /* vls_part_kind */
    uint8_t says;    /* VLS_SAYS_..., of messages */
    bool kept;       /* its object is in the store (an item of an ephemeral backpack is not) */
    valise_str name;
    int64_t version;                /* VALISE_NONE */
    valise_id id;                   /* of the object that holds its text; zero: none */
    valise_id blob;                 /* ENTRY that is a blob; zero */
    valise_str words;               /* stand before the text; BUILDER: all of it */
    vls_bag_reader as;              /* ITEM */
    valise_str author;              /* actor */
    valise_str reason;              /* why it is here, a few words */
    int64_t tokens;                 /* unscaled */
    vls_vec(vls_prompt_edit) edits; /* in the order of the blocks */
    int64_t stands;   /* TURN: where on the path; of a summary, where the first stood it covers */
    valise_id source; /* whose it is, for who erases that (store/used.h); zero: nobody's */
    vls_json value;  /* TURN, tools, params, items: parsed, where somebody has done so; else null */
    valise_str text; /* the bytes of the object, where somebody has them; ptr NULL */
} vls_part;
typedef vls_vec(vls_part) vls_parts;

/* Which part a stretch of the neutral text is of. */
typedef struct vls_span {
    size_t length;
    int32_t part;       /* -1: the builder's own */
    const char *reason; /* of an edit; NULL */
} vls_span;

/* The bytes of its object, valid until the next call but one; blob not NULL: of this blob that the
 * part has, if they are text. 1; 0: it was erased or deleted (*why: "erased", "denied", "not
 * kept"). */
typedef int vls_bytes_fn(valise_str *out, const char **why, void *arg, const vls_part *part,
                         const valise_id *blob, valise_error *err);

typedef struct vls_rendered {
    vls_buf text;            /* the neutral prompt, canonical JSON; empty where it was not kept */
    size_t bytes;            /* of the neutral prompt, kept or not */
    valise_id hash;          /* its SHA-256 */
    vls_vec(vls_span) spans; /* without gaps */
    vls_json all;            /* the same as a value, in the arena */
    size_t missing;          /* parts and files whose text is not there any more */
    size_t files;            /* blobs whose text stands in it */
    size_t context, history; /* messages of these sections */
} vls_rendered;

typedef struct vls_render_how {
    size_t max_bytes; /* VALISE_E_TOO_LARGE above */
    bool no_text;     /* the hash and the spans are enough */
} vls_render_how;

/* Parts that have text or value need not be asked for. */
int vls_render(vls_rendered *out, vls_arena *arena, const vls_part *parts, size_t count,
               vls_bytes_fn *bytes, void *arg, const vls_render_how *how, valise_error *err);
void vls_rendered_release(vls_rendered *rendered); /* a zeroed one is fine */

/* Equal: the same bytes come of them. */
bool vls_part_equal(const vls_part *a, const vls_part *b);

#endif
