/* policy_impl.h -- what the built-in policies share: lines of our own, sections, the budget.
 *
 *     ## name (type, agent, 345 bytes)        a section: heading, an empty line, the body and a
 *                                             newline where it lacks one; without a body only
 *     body                                    the heading. An empty line stands between sections
 *
 *     [cut at 4096 bytes: 3 of 12 inputs left out]
 *
 * Threads: pure functions; buffers are single. */
#ifndef VLS_POLICY_IMPL_H
#define VLS_POLICY_IMPL_H

#include "derive/making.h"
#include "derive/policy.h"

/* What the whole frame says where there are no inputs. */
#define VLS_POLICY_EMPTY "[empty directory]"
#define VLS_POLICY_UNKNOWN "[nothing is known about what is in this directory]"

/* Whether it is text, as all policies see it: UTF-8 without NUL. Others are one line in the
 * result. */
bool vls_policy_is_text(valise_str content);

/* The heading of an input, with a newline: what follows is `size` bytes of it. Names that are no
 * plain text are escaped in a way that never changes. */
void vls_policy_heading(vls_buf *out, const valise_policy_input *input, int64_t size);

/* The field of valise_policy: a budget of 0 or one that is allowed. */
int vls_policy_check(const void *params, valise_error *err);

/* The budget that counts. */
int vls_policy_budget(size_t *out, const void *params, size_t otherwise, valise_error *err);

/* Make the frame of no inputs. */
int vls_policy_nothing(valise_making *making, valise_error *err);

/* The body of an input that is no text; room for it. */
typedef struct vls_policy_line {
    char s[64];
} vls_policy_line;
vls_policy_line vls_policy_no_text(const valise_policy_input *input);

/* How long a section is, its heading given; and the section itself. */
size_t vls_policy_section_len(bool first, valise_str heading, valise_str body);
void vls_policy_section(vls_buf *out, bool first, valise_str heading, valise_str body);

/* The marker, with the empty line in front of it unless it is all there is. */
void vls_policy_marker(vls_buf *out, bool first, size_t budget, size_t left_out, size_t count);
/* The longest it can be. */
size_t vls_policy_marker_len(size_t budget, size_t count);

/* Is this line, without white space at its ends, one that the functions above write? */
bool vls_policy_is_own(valise_str line);

#endif
