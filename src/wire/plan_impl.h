/* plan_impl.h -- what the files of the plan share: a plan while it is made.
 *
 *     plan.c         messages, groups of calls and results, the ends (R1, R2, R5)
 *     plan_block.c   one neutral block (R3, R4, R12)
 *     plan_media.c   images and documents (R8)
 *     plan_names.c   names of tools, ids of calls (R9, R11)
 *
 * A group is the calls of one message of the assistant, until all have a result or the assistant
 * goes on. While it is open, what is no result of it is held back.
 *
 * Threads: single. */
#ifndef VLS_PLAN_IMPL_H
#define VLS_PLAN_IMPL_H

#include "base/map.h"
#include "wire/adapter.h"
#include "wire/rules.h"

/* A call of the open group. */
typedef struct vls_open_call {
    valise_str id, name;          /* as the provider takes them */
    int32_t message, block;       /* of the call */
    int32_t by_message, by_block; /* of its result; -1: there is none yet */
    int64_t next;                 /* another open call with the same id of ours; -1: none */
} vls_open_call;

typedef struct vls_plan_held {
    uint8_t role;
    int32_t message, block;
} vls_plan_held;

/* Ids of calls and names of tools by what we call them, and what is taken at the provider's. */
typedef struct vls_plan_names {
    vls_map ids, taken_ids, tools, taken_tools;
    uint64_t seed;
    vls_vec(struct vls_tool_name *) called; /* in the order of appearance */
} vls_plan_names;

typedef struct vls_planning {
    vls_plan *plan;
    const vls_adapter *adapter;
    const vls_neutral *prompt;
    vls_arena *arena;
    valise_error *err;
    valise_str vendor;
    vls_plan_names names;

    /* The message that is written now. */
    int32_t said_by;             /* the message of the neutral prompt that the last block is of */
    int32_t merged;              /* the last one that was told to be merged */
    bool joins;                  /* the next message of the assistant goes into the one before */
    bool tail;                   /* it is of the tail */
    bool spoken;                 /* there was a message that is not the system's */
    bool has_text, has_document; /* the last message of the plan */
    vls_vec(vls_plan_block) in_result; /* blocks of the result that the tail went into */

    /* The open group. */
    vls_vec(vls_open_call) calls;
    size_t answered;
    int64_t group; /* its number */
    vls_vec(vls_plan_held) held;
    vls_vec(vls_plan_block) moved; /* media for the next message of the user */
} vls_planning;

#define vls_demands(p, flag) (((p)->plan->demands & VLS_DEMANDS_##flag) != 0)

/* ---- plan.c ---- */

int vls_planning_mend(vls_planning *p, const char *rule, int32_t message, int32_t block,
                      valise_str name);
/* Append a block as role says it; messages, merging and bridges follow by themselves. */
int vls_planning_put(vls_planning *p, uint8_t role, vls_plan_block block);
/* The call joins the open group. */
int vls_planning_call(vls_planning *p, const vls_plan_block *call, vls_json source);
/* Where a file that is put now would stand, if it goes into the last result: VLS_MEDIA_RESULT or
 * VLS_MEDIA_ERROR; 0: it does not. */
uint32_t vls_planning_in_result(const vls_planning *p);

/* ---- plan_block.c ---- */

/* Types of neutral blocks. */
typedef enum vls_block_kind {
    VLS_BLOCK_OTHER,
    VLS_BLOCK_TEXT,
    VLS_BLOCK_THINKING,
    VLS_BLOCK_IMAGE,
    VLS_BLOCK_DOCUMENT,
    VLS_BLOCK_CALL,
    VLS_BLOCK_RESULT,
    VLS_BLOCK_SUMMARY,
    VLS_BLOCK_TRANSITION,
} vls_block_kind;

uint8_t vls_message_role(vls_json message);
vls_json vls_message_blocks(vls_json message);
vls_block_kind vls_block_kind_of(vls_json block);

/* Blocks have few members: looking at all of them is the fastest way to one. */
static inline const vls_json *vls_block_member(vls_json block, valise_str name)
{
    if (block.type != VLS_JSON_OBJECT || block.len > 8)
        return vls_json_get(block, name);
    for (uint32_t i = 0; i < block.len; i++) {
        if (vls_str_equal(vls_json_str(block.members[i].key), name))
            return &block.members[i].value;
    }
    return NULL;
}

static inline valise_str vls_block_str(vls_json block, valise_str name)
{
    const vls_json *member = vls_block_member(block, name);

    return member && member->type == VLS_JSON_STRING ? vls_json_str(*member)
                                                     : (valise_str){NULL, 0};
}

/* The member where it is a text; ptr NULL: there is none. The name is a literal. */
#define vls_block_text(block, name) vls_block_str((block), VLS_STR(name))
#define vls_block_type(block) vls_block_text((block), "type")

/* What this provider itself gave with the block (meta), or null; what others gave is told. */
int vls_planning_meta(vls_json *out, vls_planning *p, vls_json source, int32_t message,
                      int32_t block);
/* THINKING: signature and redacted, where they are of this provider and model; false: there are
 * some, and they are not. */
bool vls_planning_sign(vls_plan_block *out, const vls_planning *p, vls_json source);

/* Put one block of a message. */
int vls_planning_say(vls_planning *p, uint8_t role, int32_t message, int32_t block);
/* A result as a block; media that cannot stand in it are moved. */
int vls_planning_result(vls_plan_block *out, vls_planning *p, const vls_open_call *call);
/* Without ASCII white space at its end. */
valise_str vls_trim_end(valise_str text);

/* ---- plan_media.c ---- */

/* An image or document where it is to stand (VLS_MEDIA_...): itself, or a line of text, and then it
 * may have gone to p->moved. A text document is a TEXT. */
int vls_planning_media(vls_plan_block *out, vls_planning *p, vls_json source, uint32_t place,
                       int32_t message, int32_t block);
/* The same block as in the neutral prompt, whatever the provider takes. */
void vls_media_block(vls_plan_block *out, vls_json source);
static inline uint32_t vls_media_place(const vls_plan_block *result)
{
    return result->is_error ? VLS_MEDIA_ERROR : VLS_MEDIA_RESULT;
}
/* Which rule it breaks there; NULL: none. */
const char *vls_media_rule(const vls_adapter *adapter, const vls_plan_block *block, uint32_t place);
/* Too many: the oldest go, in lots. */
int vls_planning_limit_media(vls_planning *p);

/* ---- plan_names.c ---- */

void vls_plan_names_init(vls_plan_names *names, const valise_env *env);
void vls_plan_names_release(vls_plan_names *names);
/* All tools of the prompt. */
int vls_planning_tools(vls_planning *p);
/* The name of a tool that is called. */
int vls_planning_name(valise_str *out, vls_planning *p, valise_str ours, int32_t message,
                      int32_t block);
/* The id of a call. */
int vls_planning_id(valise_str *out, vls_planning *p, valise_str ours, int32_t message,
                    int32_t block);
/* Note that call number `call` of the open group has this id of ours; the first that waits. */
int vls_planning_wait(vls_planning *p, valise_str ours, size_t call);
/* The number of the call that a result with this id of ours answers; -1: none. It waits no more. */
int64_t vls_planning_answer(vls_planning *p, valise_str ours);
/* R11: definitions of what was called, where no tool is given. */
int vls_planning_lacking(vls_planning *p);
/* Whether a name, an id is as providers take it. */
bool vls_name_fits(valise_str name, uint32_t demands);
bool vls_id_fits(valise_str id, uint32_t demands);

#endif
