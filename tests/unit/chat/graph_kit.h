/* graph_kit.h -- turns put as rows, without operations, in a store that counts what is read. */
#ifndef TEST_CHAT_GRAPH_KIT_H
#define TEST_CHAT_GRAPH_KIT_H

#include "kit/bed.h"

#include "chat/graph.h"

typedef struct reads {
    int64_t gets, scans, rows; /* by key; scans opened; rows of scans */
} reads;

/* A bed with the collections of conversations. */
void shrub_open(bed *b, test *t, const char *param);

/* What was read since the last call. */
reads shrub_reads(void);

/* Ids that are the same each time; the last digits tell the number. */
valise_uuid shrub_id(uint64_t number);

typedef struct shoot {
    uint64_t id;
    int64_t version;           /* 0: 1 */
    const vls_turn_row *first; /* the first parent; NULL: none */
    const vls_turn_row *const *more;
    size_t more_count;
    bool crowd; /* stand in the lane of the parent, whoever is there: as after a bundle */
} shoot;

/* Put a version and its edges, in the command at hand. */
vls_turn_row shrub_put(bed *b, const shoot *s);

/* `count` turns one below the other, with these ids and the next ones; the last one. */
vls_turn_row shrub_line(bed *b, uint64_t id, size_t count, const vls_turn_row *parent);

vls_session_row shrub_session(bed *b, uint64_t id, const char *label, const vls_turn_row *head);
void shrub_tip(bed *b, uint64_t session, const vls_turn_row *turn);

/* "1 2@2 3": what a trail holds. */
const char *shrub_text(bed *b, const vls_trail *trail, int64_t from, bool reverse);
const char *shrub_walk(bed *b, const vls_turn_row *head, const vls_turn_row *not_in,
                       bool first_only);

/* "2@2" */
const char *shrub_name(const vls_turn_ref *ref);

#endif
