/* packages.h -- what the kernel's operations ask of every area and extension in turn.
 *
 * Threads: pure functions over the handle. */
#ifndef VLS_KERNEL_PACKAGES_H
#define VLS_KERNEL_PACKAGES_H

#include <valise/sys/extension.h>

#include "base/base.h"

/* Let go of what nobody needs any more (valise_extension.collect), and of what was erased (forget).
 */
int vls_packages_collect(valise *v, valise_error *err);
int vls_packages_forget(valise *v, valise_error *err);

/* Each one that keeps files made from rows says whether they agree (valise_extension.verify). */
typedef int vls_projection_fn(void *arg, const valise_projection *projection, valise_error *err);
int vls_packages_verify(valise *v, bool mend, vls_projection_fn *fn, void *arg, valise_error *err);

/* What is wrong with such files, and where, in words; false: nothing. */
typedef struct vls_projection_problem {
    char place[128], text[640];
} vls_projection_problem;
bool vls_projection_is_wrong(vls_projection_problem *out, const valise_projection *projection);

#endif
