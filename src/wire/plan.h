/* plan.h -- a conversation as a provider accepts it: what all adapters do alike, once. [P5] [P13]
 *
 *     neutral -> plan: messages of (role, blocks) that obey what an adapter demands -> its writer
 *
 * Repairs are numbered by the rule they serve (docs/prompt.md has the table), and each says where
 * in the neutral prompt it was made:
 *
 *     R1 pairs      results stand behind their calls, all of them; a call without one gets an error
 *                   result; a result without a call becomes text
 *     R2 order      neighbours of one role become one message; a first message of the user, a
 *                   bridge between tool and user, a last message that can be answered
 *     R3 empty      blank texts go, and messages that have nothing else
 *     R4 reasoning  what another vendor signed, or nobody, goes
 *     R8 media      where a provider refuses it, it is moved to the next user message, or a line of
 *                   text stands for it
 *     R9 names      of tools and calls are made to fit, the same way everywhere
 *     R11 tools     calls in a request without tools get definitions
 *     R12 forms     what the provider has no form for becomes text, or is not sent
 *
 * Rules look at a message and what is before it, so that one more turn changes nothing before. But
 * while calls at the end wait for results, what stands behind them is held back: results that come
 * move up to their calls. The adapter's `settle` comes last: for what links blocks in its own way.
 *
 * Roles: results are RESULT blocks of a TOOL message, all of one group of calls in one message and
 * nothing else in it; with RESULTS_IN_USER they are the first blocks of a USER message. Texts of
 * one message are never joined here: a writer that has only a string puts VLS_PLAN_JOIN between.
 *
 * Nothing is dropped without a word.
 *
 * Threads: single. */
#ifndef VLS_PLAN_H
#define VLS_PLAN_H

#include "base/vec.h"
#include "wire/neutral.h"

struct vls_adapter;

#define VLS_SIZE_UNKNOWN ((int64_t)-1)

typedef enum vls_said_kind {
    VLS_SAID_TEXT,
    VLS_SAID_THINKING,
    VLS_SAID_IMAGE,
    VLS_SAID_DOCUMENT,
    VLS_SAID_CALL,
    VLS_SAID_RESULT,
} vls_said_kind;

/* A block as it is written. What is not of its kind is zero. */
typedef struct vls_plan_block {
    uint8_t kind;      /* vls_said_kind */
    bool is_error;     /* RESULT */
    bool made;         /* not said by anybody: a repair, a wrapper */
    bool cache;        /* of a message: a section ends behind it, worth caching */
    bool tail;         /* of the tail */
    int32_t at, block; /* where it stands in the neutral prompt: message, block; -1: nowhere */
    vls_json source;   /* the neutral block; null where it was made */
    valise_str text;   /* TEXT, THINKING; RESULT without inner blocks. Text documents are TEXT */
    valise_str id;     /* CALL, RESULT: as this provider takes it */
    valise_str name;   /* CALL; RESULT: of its call, where that is known; media: the file's */
    vls_json args;     /* CALL: a value; where the model wrote none, a string: its own text */
    vls_json meta;     /* what its own vendor gave (meta.VENDOR); null: none */
    valise_str sign;   /* THINKING: the signature */
    bool redacted;     /* THINKING: text is opaque */
    valise_id blob;    /* IMAGE, DOCUMENT */
    int64_t size;      /* of that; VLS_SIZE_UNKNOWN */
    valise_str media;  /* its media type */
    valise_str file;   /* the provider's id of it; ptr NULL: inline */
    struct vls_plan_block *inner; /* RESULT: its blocks, TEXT, IMAGE, DOCUMENT */
    size_t inner_count;
} vls_plan_block;

typedef struct vls_plan_message {
    uint8_t role;                   /* VLS_SAYS_... */
    vls_vec(vls_plan_block) blocks; /* never empty */
} vls_plan_message;

typedef struct vls_repair {
    const char *rule; /* "R1.1": wire/rules.h */
    const char *what; /* a sentence, constant: "an interrupted call got an error result" */
    int64_t message;  /* of the neutral prompt; -1: none */
    int64_t block;
    valise_str name; /* of what: a call id, a type; "" */
} vls_repair;

/* What a tool or a call is called by us, and by the provider. */
typedef struct vls_plan_name {
    valise_str ours, theirs;
} vls_plan_name;

typedef struct vls_plan {
    const struct vls_adapter *adapter;
    vls_vec(vls_plan_block) system; /* TEXT */
    vls_vec(vls_plan_message) messages;
    vls_vec(vls_json) tools;      /* as in the prompt, or made up (R11) */
    bool tools_made;              /* made up: nothing to choose from */
    vls_vec(vls_plan_name) names; /* of tools that have another one there; VLS_PLAN_NAMES_MAX */
    vls_json params;
    valise_str model; /* ptr NULL: none */
    uint32_t demands; /* of the adapter and of this model */
    vls_vec(vls_repair) repairs;
    vls_arena *arena;
} vls_plan;

/* Everything lives in the arena or in the prompt. VALISE_E_INVALID where nothing can be made of it
 * (no message at all). */
int vls_plan_make(vls_plan *out, vls_arena *arena, const struct vls_adapter *adapter,
                  const vls_neutral *prompt, valise_str model, valise_error *err);
void vls_plan_release(vls_plan *plan); /* a zeroed one is fine */

/* What the provider calls a tool of ours, and the other way round; itself where it is the same. */
valise_str vls_plan_name_out(const vls_plan *plan, valise_str ours);
valise_str vls_plan_name_back(const vls_plan *plan, valise_str theirs);

/* For `settle` and rules: one more repair. rule is one of wire/rules.h; what may be NULL: the words
 * of that rule. */
int vls_plan_mend(vls_plan *plan, const char *rule, const char *what, int64_t message,
                  int64_t block, valise_str name, valise_error *err);

/* Text and nothing but white space of Unicode: it is not sent. */
bool vls_is_blank(valise_str text);

/* The fixed words around what providers have no form for. */
#define VLS_PLAN_SUMMARY "Summary of the conversation up to here:\n\n"
#define VLS_PLAN_INTERRUPTED "The call was interrupted: there is no result."
#define VLS_PLAN_NOTE "System note: "                 /* a system message where there can be none */
#define VLS_PLAN_BEGIN "(The conversation goes on.)"  /* the first message of a user */
#define VLS_PLAN_BRIDGE "OK."                         /* the assistant's, between tool and user */
#define VLS_PLAN_CONTINUE "Please continue."          /* the last message of a user */
#define VLS_PLAN_BESIDE "See the document."           /* R8: a text beside it */
#define VLS_PLAN_UNTHOUGHT "(This was not recorded.)" /* R4.9: what was thought before a call */
#define VLS_PLAN_NO_TOOL "This tool is not available any more." /* R11 */
#define VLS_PLAN_JOIN "\n\n" /* between texts that must be one string */
#define VLS_PLAN_NAMES_MAX 4096u

#endif
