/* ini_scan.h -- scanning the headers and entries of a configuration file, with their positions;
 * shared by reading and editing. See base/ini.h for the syntax.
 *
 *     [remote "x"]   url = "a b" c   # why
 *     ^           ^  ^  ^  ^      ^        ^
 *     start     end  |  |  |      |        end, behind the newline
 *                    |  |  |      value_end
 *                    |  |  value_start
 *                    |  key_end
 *                    start
 *
 * Threads: single. */
#ifndef VLS_INI_SCAN_H
#define VLS_INI_SCAN_H

#include "base/ini.h"
#include "base/str.h"

typedef enum vls_ini_kind {
    VLS_INI_END,
    VLS_INI_HEADER,
    VLS_INI_ENTRY,
} vls_ini_kind;

typedef struct vls_ini_item {
    vls_ini_kind kind;
    vls_ini_entry entry; /* HEADER: section and subsection only. Valid until the next item */
    size_t start, end;
    size_t key_end;
    bool alone;                    /* no '=' behind the key */
    size_t value_start, value_end; /* equal when nothing stands between '=' and newline or
                                    * comment: both are then right behind the '=' */
    uint32_t missing_newlines;     /* to add before anything can follow it: 0, 1 when the text ended
                                    * first, 2 when it ended behind a backslash, which takes one */
} vls_ini_item;

typedef struct vls_ini_scan {
    valise_str file, text;
    size_t at;          /* the next character */
    uint32_t line;      /* and its line */
    size_t last_at;     /* the character that was read last */
    uint32_t last_line; /* and its line */
    bool ended;         /* it was the end of the text, which reads as a newline */
    vls_buf name;       /* "section.subsection." and then the key */
    size_t stem_len;    /* of it without the key; 0 before the first header */
    size_t section_len; /* of the section in it */
    vls_buf value;
} vls_ini_scan;

/* Checks the limits. release must be called in any case. */
int vls_ini_scan_init(vls_ini_scan *scan, const valise_env *env, valise_str file, valise_str text,
                      valise_error *err) VLS_NODISCARD;
void vls_ini_scan_release(vls_ini_scan *scan);

/* The next header or entry, or VLS_INI_END. */
int vls_ini_scan_next(vls_ini_item *out, vls_ini_scan *scan, valise_error *err) VLS_NODISCARD;

/* What git takes for white space: blank, tab, CR, LF. */
static inline bool vls_ini_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* What section names and keys are made of. */
static inline bool vls_ini_is_name_char(char c)
{
    return vls_is_alnum(c) || c == '-';
}

static inline void vls_auto_ini_scan(vls_ini_scan *scan)
{
    vls_ini_scan_release(scan);
}

#endif
