/* claude.h -- the inside of the reader of Claude Code sessions.
 *
 * Threads: single. */
#ifndef VLS_EXCHANGE_CLAUDE_H
#define VLS_EXCHANGE_CLAUDE_H

#include "base/map.h"
#include "exchange/foreign.h"

#define VLS_CLAUDE_FORMAT "claude-code"

enum {
    VLS_LINE_OTHER, /* it only stands between others */
    VLS_LINE_USER,
    VLS_LINE_ASSISTANT,
    VLS_LINE_SYSTEM,
    VLS_LINE_BOUNDARY,
};

typedef struct vls_claude_line_of {
    valise_str text;
    vls_json record;
    valise_str uuid, parent, message_id;
    valise_str boundary; /* logicalParentUuid */
    int kind;            /* VLS_LINE_... */
    bool is_summary;
    uint64_t line, offset;
    size_t talk;      /* among the conversations */
    size_t turn;      /* of it; VLS_NO_TURN: none */
    valise_str agent; /* whose talk it begins; ptr NULL: none */
    size_t part;      /* of the turn; 0: it begins it */

    bool resolved; /* a line without a turn: */
    size_t above;  /* the turn above it */

    size_t kept_by; /* the boundary that kept it, plus 1; 0: none */

    /* Of a boundary: */
    struct vls_claude_line_of *first_kept; /* NULL: nothing was */
    size_t summary;                        /* the turn; VLS_NO_TURN */
} vls_claude_line_of;

typedef struct vls_claude_talk {
    valise_str key; /* ptr NULL: the session; else the agent */
    vls_foreign foreign;
    vls_vec(size_t) firsts, lasts; /* of each turn the first line, and the last one */
} vls_claude_talk;

struct vls_claude {
    vls_translation *r;
    uint64_t seed;
    vls_vec(vls_claude_line_of) lines;
    vls_vec(vls_claude_talk) talks;
    vls_map by_uuid, by_message; /* of lines */
    vls_map by_agent;            /* the same, of those that begin the talk of an agent */
    valise_str session, label;
    int label_rank;
};

/* What the line says, into a turn that is new, or behind what it says already. */
int vls_claude_said(vls_foreign_turn *turn, vls_translation *r, vls_claude_line_of *line,
                    valise_error *err);
int vls_claude_more(vls_foreign_turn *turn, vls_translation *r, vls_claude_line_of *line,
                    valise_error *err);

/* When all lines are there: its source is what they say, a line each. */
int vls_claude_join(vls_foreign_turn *turn, vls_translation *r, valise_error *err);

#endif
