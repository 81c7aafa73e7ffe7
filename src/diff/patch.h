/* patch.h -- the difference of two files as text, as git writes it: `git apply` and `patch -p1`
 * take it.
 *
 *     diff --git a/src/a.c b/src/a.c
 *     old mode 100644
 *     new mode 100755
 *     --- a/src/a.c
 *     +++ b/src/a.c
 *     @@ -1,3 +1,3 @@
 *      ...
 *
 * Names with control characters stand in quotes, as git does it. Of what is no text it says that it
 * differs, and no more: git refuses to apply that, unless it is told to leave the file out.
 *
 * Threads: single. */
#ifndef VLS_DIFF_PATCH_H
#define VLS_DIFF_PATCH_H

#include "base/line_diff.h"

#define VLS_PATCH_MAX ((size_t)64 << 20)

/* As git has modes. */
#define VLS_PATCH_FILE 0100000u
#define VLS_PATCH_LINK 0120000u

typedef struct vls_patch_side {
    valise_str path;
    uint32_t mode;    /* VLS_PATCH_... and permissions; 0: there is nothing */
    valise_str bytes; /* of a link its target; ptr NULL: they are not known */
} vls_patch_side;

/* Append it: 1. 0: there is nothing to be said, or nothing that can be: *why is the reason then, or
 * NULL. Another kind is one gone and one new. VALISE_E_TOO_LARGE. */
int vls_patch_write(vls_buf *out, const char **why, const vls_patch_side *was,
                    const vls_patch_side *is, const valise_env *env, valise_error *err);

/* The same for two texts that are no files: labels are what stands behind --- and +++. */
int vls_patch_texts(vls_buf *out, const char **why, valise_str was_label, valise_str was,
                    valise_str is_label, valise_str is, const valise_env *env, valise_error *err);

#endif
