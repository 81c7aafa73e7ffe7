/* build.h -- the inside of vls_json_builder, for the parser.
 *
 * Threads: single. */
#ifndef VLS_JSON_BUILD_H
#define VLS_JSON_BUILD_H

#include "json/json.h"

_Static_assert(sizeof(vls_json) == 16, "values are 16 bytes");
_Static_assert(sizeof(vls_member) == 2 * sizeof(vls_json), "a member is a key and a value");

bool vls_json_builder_grow(vls_json_builder *b);

/* Close the innermost container. False: b->error says why, or, when that is clear, *twice is a
 * member whose key stands twice. */
bool vls_json_builder_close(vls_json_builder *b, bool last_key_wins, vls_member **twice);

/* Put a value on the stack; on failure b->error is set. */
static inline void vls_json_builder_push(vls_json_builder *b, vls_json v)
{
    if (VLS_LIKELY(b->len < b->cap) || vls_json_builder_grow(b))
        b->stack[b->len++] = v;
}

#endif
