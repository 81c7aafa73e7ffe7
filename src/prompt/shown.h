/* shown.h -- parts, repairs and what was left out, as operations answer with them.
 *
 * Names are told to who may read what they name; else they are withheld.
 *
 * Threads: single. */
#ifndef VLS_PROMPT_SHOWN_H
#define VLS_PROMPT_SHOWN_H

#include <valise/sys/operation.h>

#include "prompt/manifest.h"

typedef struct vls_repair_shown {
    valise_str rule, what, name;
    int64_t message, block; /* VALISE_NONE */
} vls_repair_shown;

typedef struct vls_left_shown {
    int64_t kind;
    valise_str name; /* ptr NULL: withheld */
    valise_str reason;
    int64_t tokens;
} vls_left_shown;

typedef struct vls_section_shown {
    int64_t section, parts, tokens;
} vls_section_shown;

/* Where a part comes from. */
typedef struct vls_part_shown {
    int64_t part; /* its number, from 0 */
    int64_t section, kind;
    valise_str name; /* ptr NULL: withheld, as is the rest then */
    int64_t version; /* VALISE_NONE */
    valise_id content, blob;
    valise_str author, reason;
    int64_t tokens;
    valise_list edits; /* of valise_str: "block 2: cut, ..." */
    bool denied;
} vls_part_shown;

/* Of a struct with a member `source`. */
#define VLS_PART_SHOWN_FIELDS(args)                                                                \
    VALISE_FIELD_AS(args, source.part, "part", INT, VALISE_REQUIRED, "Number of the part."),       \
        VALISE_FIELD_AS_WITH(args, source.section, "section", ENUM, VALISE_REQUIRED,               \
                             "Where in the prompt it stands.", .more = vls_sections),              \
        VALISE_FIELD_AS_WITH(args, source.kind, "kind", ENUM, VALISE_NULLABLE, "Its kind.",        \
                             .more = vls_part_kinds),                                              \
        VALISE_FIELD_AS(args, source.name, "name", STR, VALISE_NULLABLE, "Which one."),            \
        VALISE_FIELD_AS(args, source.version, "version", INT, VALISE_NULLABLE,                     \
                        "Which version of it."),                                                   \
        VALISE_FIELD_AS(args, source.content, "content", ID, VALISE_NULLABLE,                      \
                        "The object that holds its text."),                                        \
        VALISE_FIELD_AS(args, source.blob, "blob", ID, VALISE_NULLABLE, "The blob it is."),        \
        VALISE_FIELD_AS(args, source.author, "author", STR, VALISE_NULLABLE, "Who wrote it."),     \
        VALISE_FIELD_AS(args, source.reason, "reason", STR, VALISE_NULLABLE, "Why it is there."),  \
        VALISE_FIELD_AS(args, source.tokens, "tokens", INT, VALISE_REQUIRED, "What it costs."),    \
        VALISE_FIELD_AS_WITH(args, source.edits, "edits", LIST, 0, "What was done to its blocks.", \
                             .more = &vls_text_item),                                              \
        VALISE_FIELD_AS(args, source.denied, "denied", BOOL, 0, "Its source may not be read.")

/* Items of lists; STRUCT ones are lists of pointers. */
extern const valise_field vls_repair_item, vls_left_item, vls_section_item, vls_text_item;

int vls_shown_part(vls_part_shown *out, valise_view *view, const vls_part *part, size_t number,
                   valise_error *err);

/* These in memory of the arena; strings too. view NULL: everything may be told. as: of items. */
int vls_shown_repairs(valise_list *out, vls_arena *arena, const vls_repair *repairs, size_t count,
                      valise_error *err);
int vls_shown_left(valise_list *out, vls_arena *arena, valise_view *view, const vls_bag_reader *as,
                   const vls_left *left, size_t count, valise_error *err);
int vls_shown_sections(valise_list *out, vls_arena *arena, const vls_budget *budget,
                       const vls_parts *parts, valise_error *err);

#endif
