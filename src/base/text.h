/* text.h -- text on a terminal: how wide it is, cut or padded to a width, and made harmless.
 *
 * What agents, files and other programs wrote is data. Before it goes to a terminal it goes through
 * vls_text_neutralize(): whatever a terminal would obey instead of show becomes an escape in plain
 * ASCII.
 *
 *     was                                               becomes
 *     NUL .. US (C0), DEL                               \x1b        \n \r \t for those three
 *     U+0080 .. U+009F (C1; one of them starts a        \u009b
 *         sequence as ESC [ does)
 *     U+202A .. U+202E, U+2066 .. U+2069 (bidi          \u202e
 *         embeddings, overrides, isolates),
 *         U+2028, U+2029 (line breaks to some readers)
 *     a byte that is not valid UTF-8                    \xff
 *     \                                                 \\
 *
 * Escapes and not the control pictures of Unicode, because there are no pictures for most of
 * these, because a picture is a character somebody may have written, and because an escape
 * survives every font, log and copy. Since the backslash is doubled, different texts never
 * look the same and the text can be read back. VLS_TEXT_KEEP_BACKSLASH gives that up for text
 * full of backslashes: the output is then just as harmless but ambiguous.
 *
 * The terminal must be in UTF-8 mode. Marks such as U+200E that right-to-left text needs, and
 * characters that are invisible but move nothing, stay as they are.
 *
 * Threads: pure functions; safe anywhere. */
#ifndef VLS_TEXT_H
#define VLS_TEXT_H

#include "base/buf.h"

enum {
    /* vls_text_neutralize */
    VLS_TEXT_KEEP_NEWLINE = 1,
    VLS_TEXT_KEEP_TAB = 2,
    VLS_TEXT_KEEP_BACKSLASH = 4,

    /* vls_text_fit */
    VLS_TEXT_PAD = 8,        /* spaces behind what is narrower */
    VLS_TEXT_PAD_FRONT = 16, /* spaces in front of it: for numbers */
};

/* Append s with everything neutralized that flags do not keep. The result is valid UTF-8. The
 * buffer remembers a failure. */
void vls_text_neutralize(vls_buf *out, valise_str s, uint32_t flags);

/* Append a name of a file. As git does it, names with quotes, backslashes, control characters or
 * bytes that are no UTF-8 stand in quotes: "new\nline", "bad\377". */
void vls_text_quote(vls_buf *out, valise_str name);

/* The columns s takes. Counted are grapheme clusters (UAX #29): "e" with an accent behind it is
 * one column, a wide character two, an emoji of several joined ones two. Each maximal part of a
 * broken UTF-8 sequence counts as U+FFFD, one column. Control characters count as none: what
 * they do is not known, so neutralize first. Terminals that know nothing of clusters show
 * joined emoji wider. */
size_t vls_text_width(valise_str s);

/* Append s cut to so many columns, its end replaced by an ellipsis of one column when it does
 * not fit; a cluster is never split, so the result may be a column narrower. With a PAD flag
 * spaces make up the rest. Invalid UTF-8 is written as U+FFFD. The buffer remembers a failure. */
void vls_text_fit(vls_buf *out, valise_str s, size_t columns, uint32_t flags);

/* Append the beginning of s, max bytes of it at most, as one line: runs of white space become one
 * space, the rest is neutralized. For lists and drawings. */
void vls_text_add_line(vls_buf *out, valise_str s, size_t max);

typedef struct vls_text_brief {
    char s[64]; /* NUL-ended, valid UTF-8 */
} vls_text_brief;

/* What an error quotes of its input: the first 60 bytes or fewer of the neutralized text, with
 * an ellipsis when that is not all of it. */
vls_text_brief vls_text_short(valise_str s);

#endif
