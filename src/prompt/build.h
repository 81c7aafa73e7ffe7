/* build.h -- from a session to parts: what goes into a prompt, and why. [P1] to [P4], [P7]
 *
 *     vls_request    what was asked for, resolved: nothing is looked up later than here
 *     vls_choice     the parts in order; what was left out, and why
 *
 * Everything is read through one view. Nothing is written.
 *
 * Threads: single, as the view is. */
#ifndef VLS_PROMPT_BUILD_H
#define VLS_PROMPT_BUILD_H

#include "chat/rows.h"
#include "prompt/part.h"
#include "prompt/policy.h"
#include "wire/adapter.h"

enum { VLS_THINKING_KEEP, VLS_THINKING_DROP };
enum { VLS_MISSING_FAIL, VLS_MISSING_TEXT }; /* a blob that is not there, or too large */

struct valise_retriever; /* valise/sys/extension.h */

typedef struct vls_request {
    vls_session_row session;
    vls_turn_row head; /* version 0: nothing was said */
    const vls_adapter *adapter;
    valise_str model;   /* ptr NULL: none */
    int64_t time;       /* of the build: what expires is held against it */
    bool first_parents; /* merge=first */
    int64_t thinking;   /* VLS_THINKING_... */
    int64_t missing;    /* VLS_MISSING_... */
    int64_t inline_max; /* bytes of a blob that is sent inline; VALISE_NONE: the adapter's */

    int64_t window;  /* tokens of prompt and answer; VALISE_NONE: no limit */
    int64_t reserve; /* of it for the answer */
    int64_t scale;   /* sixteenths: what the model counts for one of ours; 16 is one */
    int64_t context_share, tail_share; /* percent of what is left after tools and system */

    valise_list tools;         /* of valise_str, JSON each: given ones */
    valise_str params;         /* JSON object, over those of the role; ptr NULL */
    valise_list paths;         /* of valise_str: tree paths whose frames come along */
    valise_str frame_type;     /* of frames; ptr NULL: as compose does */
    valise_str backpack, node; /* items that the node may read; ptr NULL: none */
    valise_list items;         /* of valise_str: keys or patterns; none: all it may read */
    valise_str query;          /* for the ranking; ptr NULL: the latest text of the user */
    valise_str retriever;      /* name; ptr NULL: the built-in one */
    vls_policies policies;
    vls_wire_write how; /* of the request body */
    bool no_text;       /* of the neutral prompt nobody wants more than the hash */
    valise_str asked;   /* canonical JSON: all of this, as it was resolved, for the manifest */
} vls_request;

/* Something that could have been there. */
typedef struct vls_left {
    uint8_t kind; /* vls_part_kind */
    valise_str name;
    valise_str reason; /* "does not fit", "another preference decides tone: ...", "summarized" */
    int64_t tokens;
} vls_left;

typedef struct vls_budget {
    int64_t limit;                       /* scaled tokens for the prompt; VALISE_NONE */
    int64_t used;                        /* scaled */
    int64_t sections[VLS_SECTION_COUNT]; /* unscaled */
} vls_budget;

typedef struct vls_choice {
    vls_parts parts; /* in the order of the prompt */
    vls_vec(vls_left) left;
    int64_t left_count[VLS_PART_BUILDER + 1]; /* of each kind; not all of them are listed */
    vls_budget budget;
    int64_t trimmed; /* turns that did not fit; they are counted, the newest 1,000 are in left */
    valise_str question; /* the latest words of the user; ptr NULL: there are none */
} vls_choice;

/* The retriever that has this name, for a request and for what its manifest says of it. *out NULL,
 * VLS_RETRIEVER_OWN_VERSION: the built-in one, for ptr NULL or "bm25". VALISE_E_NOT_FOUND. */
#define VLS_RETRIEVER_OWN "bm25"
#define VLS_RETRIEVER_OWN_VERSION 1
int vls_retriever_find(const struct valise_retriever **out, valise_view *view, valise_str name,
                       valise_error *err);

/* In memory of the view. VALISE_E_LIMIT: tools, instructions and the last turn alone are too much,
 * with the numbers; VALISE_E_NOT_FOUND, VALISE_E_DENIED for what was asked for by name. */
int vls_choose(vls_choice *out, valise_view *view, const vls_request *request, valise_error *err);

/* May the actor of the view read the source of this part? 1, or 0. */
int vls_part_may_read(valise_view *view, const vls_part *part, valise_error *err);

/* ---- the stages, each adding parts; room: unscaled tokens, VALISE_NONE: no limit ---- */

#define VLS_LEFT_LISTED 1000 /* of what is left out, of each kind */
int vls_leave(vls_choice *choice, valise_view *view, vls_part_kind kind, valise_str name,
              const char *reason, int64_t tokens, valise_error *err);

int vls_choose_history(vls_choice *out, valise_view *view, const vls_request *request, int64_t room,
                       valise_error *err); /* history.c, trim.c: 1, policies and trimming */
int vls_choose_memory(vls_choice *out, valise_view *view, const vls_request *request,
                      int64_t context_room, int64_t tail_room, valise_error *err); /* memory.c */
int vls_choose_frames(vls_choice *out, valise_view *view, const vls_request *request, int64_t room,
                      valise_error *err);
int vls_choose_items(vls_choice *out, valise_view *view, const vls_request *request, int64_t room,
                     valise_error *err);
int vls_choose_instructions(vls_choice *out, valise_view *view, const vls_request *request,
                            valise_error *err); /* instruct.c: 3, tools and params */
#endif
