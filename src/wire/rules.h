/* rules.h -- what providers refuse, numbered: repairs and lint name the same rules. [P13]
 *
 * docs/prompt.md has the table. A number never changes its meaning.
 *
 * Threads: immutable. */
#ifndef VLS_RULES_H
#define VLS_RULES_H

#include "base/base.h"

#define VLS_R_NO_RESULT "R1.1"
#define VLS_R_NO_CALL "R1.2"
#define VLS_R_APART "R1.3"
#define VLS_R_RESULT_ORDER "R1.4"
#define VLS_R_NOT_ITS_CALL "R1.5"
#define VLS_R_NEIGHBOURS "R2.1"
#define VLS_R_FIRST "R2.2"
#define VLS_R_LAST "R2.3"
#define VLS_R_BRIDGE "R2.4"
#define VLS_R_TAIL "R2.5"
#define VLS_R_BESIDE_RESULTS "R2.6"
#define VLS_R_BLANK "R3.1"
#define VLS_R_EMPTY "R3.2"
#define VLS_R_LAST_SPACE "R3.3"
#define VLS_R_UNSIGNED "R4.1"
#define VLS_R_THINKING "R4.2"
#define VLS_R_VENDOR "R4.3"
#define VLS_R_MODEL "R4.4"
#define VLS_R_NOT_ITS_THINKING "R4.5"
#define VLS_R_LINK "R4.6"
#define VLS_R_CALL_SIGN "R4.7"
#define VLS_R_THINKING_PLACE "R4.8"
#define VLS_R_NO_THINKING "R4.9"
#define VLS_R_PREFILL "R5.1"
#define VLS_R_PREFIX "R5.2"
#define VLS_R_MEDIA_TYPE "R8.1"
#define VLS_R_MEDIA_PLACE "R8.2"
#define VLS_R_MEDIA_SIZE "R8.3"
#define VLS_R_MEDIA_COUNT "R8.4"
#define VLS_R_ALONE "R8.5"
#define VLS_R_NAME "R9.1"
#define VLS_R_ID "R9.2"
#define VLS_R_SAME_ID "R9.3"
#define VLS_R_SAME_TOOL "R9.4"
#define VLS_R_ARGS "R10.1"
#define VLS_R_NO_TOOLS "R11.1"
#define VLS_R_SCHEMA "R11.2"
#define VLS_R_TYPE "R12.1"
#define VLS_R_SYSTEM "R12.2"
#define VLS_R_PARAM "R12.3"
#define VLS_R_ERROR "R12.4"
#define VLS_R_MARKS "R13.1"

typedef struct vls_wire_rule {
    const char *number;
    const char *wrong;  /* what lint says */
    const char *mended; /* what a repair says */
} vls_wire_rule;

extern const vls_wire_rule vls_rules[]; /* number NULL ends it */

/* NULL: there is none. */
const vls_wire_rule *vls_wire_rule_find(const char *number);

#endif
