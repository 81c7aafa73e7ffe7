/* lens_impl.h -- what the languages of lens.h and compose_policy.h have in common: parts between
 * commas, of which some are limits and filters.
 *
 * Threads: single. */
#ifndef VLS_LENS_IMPL_H
#define VLS_LENS_IMPL_H

#include "base/glob.h"
#include "context/lens.h"

typedef struct vls_lens_reading vls_lens_reading;
struct vls_lens_reading {
    vls_lens *lens;
    const char *what;                 /* "view": for messages */
    const char *hint;                 /* which parts there are */
    int (*read)(vls_lens_reading *r); /* one part */
    void *arg;                        /* for that */
    valise_str text;
    valise_str part, name, value; /* being read; value: ptr NULL without '=' */
    unsigned seen;                /* bits of what may be there once: VLS_LENS_ONCE_... */
    valise_error *err;
};

enum {
    VLS_LENS_ONCE_SCOPE = 1,
    VLS_LENS_ONCE_ORDER = 2,
    VLS_LENS_ONCE_FRAMES = 4,
    VLS_LENS_ONCE_BYTES = 8,
    VLS_LENS_ONCE_TOKENS = 16,
    VLS_LENS_ONCE_SEQ = 32,
    VLS_LENS_ONCE_TIME = 64,
    VLS_LENS_ONCE_SOURCES = 128,
    VLS_LENS_ONCE_QUERY = 256,
};

/* What is meant where nothing is said. */
vls_lens vls_lens_usual(void);

/* Read all parts of r->text. r->lens may be changed when it fails. */
int vls_lens_read(vls_lens_reading *r);

/* The part cannot be: VALISE_E_INVALID, with the part and where it stands. */
int vls_lens_refuse(const vls_lens_reading *r, const char *why);
int vls_lens_once(vls_lens_reading *r, unsigned what, const char *why);

/* The index of a word in a NULL-ended list, or -1. */
int vls_lens_word(const char *const *words, valise_str word);

/* A limit or a filter, or VALISE_E_INVALID: it is none of these. */
int vls_lens_read_filter(vls_lens_reading *r);

/* Is the value a pattern? VALISE_E_INVALID. */
int vls_lens_check_glob(const vls_lens_reading *r, const vls_glob_rules *rules, valise_str glob);

bool vls_lens_fits_any(const vls_lens_globs *globs, const vls_glob_rules *rules, valise_str text);

/* Append limits and filters, each with a comma in front. */
void vls_lens_write_filters(vls_buf *out, const vls_lens *lens);

#endif
