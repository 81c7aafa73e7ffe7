/* bag.h -- the rows a backpack is made of.
 *
 *     backpack              one backpack: name, options, where it was forked from
 *     backpack_commit       its history, and its items: the newest commit of a key is the item
 *     backpack_quarantine   what was taken out of the active state, and when it came back
 *     backpack_checkpoint   a named commit whose state is held
 *     backpack_run          a run of a node: where it started
 *     backpack_permission   what a node may do
 *     backpack_rule         what a tag asks for
 *     backpack_taint        which sticky tags a node has read since its last write
 *     backpack_merge        which state of another backpack was merged into it
 *     backpack_read         a ring of reads and of writes that were denied; EXEMPT: no state
 *
 * One record is commit and item version. There is no table of items: the state after commit s is,
 * for each key, its newest commit with a seq up to s. Commits never change; expiry removes those
 * that no state from the edge on needs.
 *
 * An ephemeral backpack has the same rows in memory (ring.h).
 *
 * Threads: immutable tables, pure functions. */
#ifndef VLS_BAG_H
#define VLS_BAG_H

#include <valise/backpack.h>
#include <valise/sys/view.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"

#define VLS_BAG_NAME_MAX 256
#define VLS_BAG_KEY_MAX 1024
#define VLS_BAG_NAMESPACE_MAX 1024
#define VLS_BAG_NODE_MAX 256 /* ids and names of nodes */
#define VLS_BAG_TAG_MAX 128
#define VLS_BAG_TAGS_MAX 64   /* of one item */
#define VLS_BAG_LIST_MAX 1000 /* nodes or patterns of one list */
#define VLS_BAG_REASON_MAX 4096
#define VLS_BAG_SUMMARY_MAX 200
#define VLS_BAG_COMMIT_BYTES 128 /* what a commit counts for, beside its value [B8] */
#define VLS_POINT_MAX 512        /* what people write for a state */
#define VLS_BAG_DEPTH_MAX 1000   /* forks of forks */

/* Where seqs, versions and runs that come from outside may begin: one can count on from there for
 * ever, and every reader of JSON has them exactly, up to 2^53. */
#define VLS_BAG_NUMBER_MAX (INT64_C(1) << 52)

/* No row has a greater number: what counts on stops there. */
#define VLS_BAG_ROW_NUMBER_MAX (INT64_C(1) << 53)

/* What completes arguments on a command line (valise_field.ref). */
#define VLS_REF_BACKPACK "backpack:list.name"
#define VLS_REF_KEY "backpack:ls.key"
#define VLS_REF_NODE "backpack:history.nodeId"
#define VLS_REF_POINT "backpack:points.point"

typedef struct vls_bag_row {
    valise_uuid id;
    valise_str name; /* unique among those that are not dropped */
    bool lenient, taint;
    valise_list sticky; /* of valise_str */
    valise_uuid origin; /* zero: none */
    int64_t origin_seq; /* the state of the origin that it starts with */
    int64_t edge;       /* commits up to here may have been dropped; the state after it is exact */
    int64_t created;
    valise_str actor;
    bool dropped; /* its rows are being removed: nobody can open it, and the name is free */
} vls_bag_row;

typedef struct vls_quarantine_row {
    valise_uuid backpack;
    int64_t seq; /* its number: that of the commit that put it there. What a fork began with has
                  * ..., -2, -1, in the same order: numbers that no commit has */
    valise_str key;
    valise_uuid
        from; /* of what a fork began with: the commit of another backpack that put it there */
    int64_t put;
    valise_uuid item_backpack;
    int64_t item;     /* seq of the commit that is held: the item as it was; 0: there was none */
    int64_t released; /* seq of the release; 0: it is still there */
} vls_quarantine_row;

typedef struct vls_bag_checkpoint_row {
    valise_uuid backpack;
    valise_str name;
    int64_t seq;
    int64_t time;
    valise_str actor;
} vls_bag_checkpoint_row;

/* Outside of flows a run starts with the first write after another node's, and ends with the last
 * one before another's: its commits follow each other. */
typedef struct vls_run_row {
    valise_uuid backpack;
    int64_t number; /* counts from 1 over all nodes */
    valise_str node_id;
    int64_t start; /* seq of the state it found */
    int64_t end;   /* seq of the state it left; 0: that of its last commit; VALISE_NONE: it was
                    * started by somebody who has not ended it yet */
    int64_t nth; /* which run of its node it is, from 1 on; a row that is put with 0 gets the number
                  * behind that of the node's newest */
} vls_run_row;

typedef struct vls_permission_row {
    valise_uuid backpack;
    valise_str node_id;
    valise_permissions allow;
} vls_permission_row;

typedef struct vls_rule_row {
    valise_uuid backpack; /* zero: of the workspace, for all backpacks */
    valise_str tag;
    valise_list read, write; /* of valise_str; items NULL: all */
} vls_rule_row;

typedef struct vls_taint_row {
    valise_uuid backpack;
    valise_str node_id;
    valise_taint source; /* the tag, and the commit whose item was read */
    int64_t since;       /* the newest seq when it was read; ~seq once the node has written since */
} vls_taint_row;

/* The state after commit `seq` has what `theirs` had changed up to its commit `upto`. */
typedef struct vls_merge_row {
    valise_uuid backpack;
    int64_t seq;
    valise_uuid theirs;
    int64_t upto;
} vls_merge_row;

typedef struct vls_bag_read_row {
    int64_t number; /* counts over all backpacks */
    valise_uuid backpack;
    int64_t time;
    valise_str actor; /* of the operation */
    valise_str node_id, node_name, namespace_name, key;
    int64_t action; /* UNPACK, or what a write that was denied would have been */
    int64_t seq, version, outcome;
    valise_list tags; /* of valise_str */
} vls_bag_read_row;

/* Any of those of a backpack: what they all begin with is the backpack. */
typedef union vls_any_row {
    valise_uuid backpack;
    valise_commit commit;
    vls_quarantine_row quarantine;
    vls_bag_checkpoint_row checkpoint;
    vls_run_row run;
    vls_permission_row permission;
    vls_rule_row rule;
    vls_taint_row taint;
    vls_merge_row merge;
} vls_any_row;

extern const valise_coll vls_bags, vls_bag_commits, vls_bag_quarantines, vls_bag_checkpoints,
    vls_bag_runs, vls_bag_permissions, vls_bag_rules, vls_bag_taints, vls_bag_merges, vls_bag_reads;

/* Their fields; the first one is the backpack. */
extern const valise_field vls_checkpoint_fields[], vls_run_fields[], vls_permission_fields[],
    vls_rule_fields[], vls_merge_fields[];

/* What they share: a string in a list, a taint in one, and the names of VALISE_ACTION_... */
extern const valise_field vls_name_item, vls_taint_item;
extern const char *const vls_bag_actions[];

/* The tags that spread, of a backpack that does not say otherwise: pii and secret. */
extern const valise_list vls_bag_sticky;

/* valise_commit as JSON: what history, exports and `--json` show. The collection's own table is
 * vls_bag_commits.fields: without what is derived (id, log_seq, outcome). */
extern const valise_field vls_commit_fields[];

/* The same as a record of a backpack that is known: seq and body alone. */
extern const valise_field vls_commit_record[];

/* Is the entry in the quarantine of the state after commit `last`? */
static inline bool vls_entry_is_there(const vls_quarantine_row *entry, int64_t last)
{
    return entry->seq <= last && (entry->released == 0 || entry->released > last);
}

/* The commit that put it there. */
static inline const valise_uuid *vls_entry_backpack(const vls_quarantine_row *entry)
{
    return entry->seq < 0 ? &entry->from : &entry->backpack;
}

static inline int64_t vls_entry_seq(const vls_quarantine_row *entry)
{
    return entry->seq < 0 ? entry->put : entry->seq;
}

/* Make the entry of one backpack that of a fork, with this number. */
static inline void vls_entry_inherit(vls_quarantine_row *entry, const valise_uuid *fork,
                                     int64_t number)
{
    entry->put = vls_entry_seq(entry);
    entry->from = *vls_entry_backpack(entry);
    entry->backpack = *fork;
    entry->seq = number;
    entry->released = 0;
}

/* Make a mark that nothing was written after by then, in the state after commit `upto`, that of a
 * fork: the node has read it there too. False: it has no such mark. */
static inline bool vls_mark_inherit(vls_taint_row *mark, const valise_uuid *fork, int64_t upto)
{
    if (mark->since < 0 || mark->since > upto)
        return false;
    if (vls_uuid_is_none(&mark->source.backpack))
        mark->source.backpack = mark->backpack;
    mark->backpack = *fork;
    mark->since = 0;
    return true;
}

/* ---- texts (name.c) ---- */

/* VALISE_E_INVALID with the reason: empty, too long, not UTF-8, control characters; of a namespace
 * also an empty segment or a star. */
int vls_bag_check_name(valise_str name, valise_error *err);
int vls_bag_check_key(valise_str key, valise_error *err);
int vls_bag_check_namespace(valise_str name, valise_error *err);
int vls_bag_check_node(valise_str id, valise_error *err);
int vls_bag_check_tag(valise_str tag, valise_error *err);

/* What every namespace that matches a pattern begins with. */
valise_str vls_bag_pattern_prefix(valise_str pattern);

/* A sorted copy without repetitions, in arena; items NULL stays so. */
int vls_bag_sort_names(valise_list *out, valise_list names, vls_arena *arena, valise_error *err);
/* Tags that a backpack is told: checked, not too many, and sorted like that. */
int vls_bag_take_tags(valise_list *out, valise_list tags, vls_arena *arena, valise_error *err);
/* A deep copy in arena takes its place; items NULL stays so. */
int vls_bag_copy_names(valise_list *list, vls_arena *arena, valise_error *err);
/* The same of all texts of a rule, or of a set of permissions. */
int vls_rule_copy(vls_rule_row *rule, vls_arena *arena, valise_error *err);
int vls_permissions_copy(valise_permissions *permissions, vls_arena *arena, valise_error *err);
bool vls_bag_has_name(valise_list sorted, valise_str name);
bool vls_bag_same_names(valise_list a, valise_list b);

/* ---- commits (commit.c) ---- */

/* The id of a commit is a UUIDv7 made of the backpack's id, the seq and the time: it is stored
 * nowhere (docs/formats.md, "Commits of a backpack"). The ending is different for every seq. */
valise_uuid vls_commit_id(const valise_uuid *backpack, int64_t seq, int64_t time);

/* The seq that an id would be of, were it made by this backpack: compare the whole id then. 0 when
 * it cannot be one. */
int64_t vls_commit_seq_of(const valise_uuid *backpack, const valise_uuid *id);

/* The end of an id, as people write it: digits in lower case, perhaps with dashes. */
typedef struct vls_commit_ending {
    uint64_t high, low;
    unsigned bits;
} vls_commit_ending;

vls_commit_ending vls_commit_ending_parse(valise_str text);
bool vls_commit_ending_matches(const vls_commit_ending *ending, const valise_uuid *id);

/* The next number, behind `seq`, that a commit whose id ends so can have: look at that one. */
int64_t vls_commit_ending_next(const vls_commit_ending *ending, const valise_uuid *backpack,
                               int64_t seq);

/* Those of all backpacks whose id ends in these digits: valise_coll.find. (find.c) */
int vls_commit_find(valise_view *view, valise_str digits, valise_find_fn *fn, void *arg,
                    valise_error *err);

/* At most VLS_BAG_SUMMARY_MAX bytes of value, cut between characters; "[redacted]" for an item
 * tagged secret or pii. Borrowed from value, or a constant. */
valise_str vls_commit_summary(valise_str value, valise_list tags);

/* Key, nodes, namespace, tags and lists as commands write them. VALISE_E_INVALID, VALISE_E_LIMIT.
 * (import_check.c) */
int vls_commit_check_texts(const valise_commit *m, valise_error *err);

/* Is there an item after this commit? */
static inline bool vls_commit_is_live(const valise_commit *commit)
{
    return commit->action != VALISE_ACTION_DELETE && commit->action != VALISE_ACTION_QUARANTINE;
}

/* Did its node give the value? A release brings back what another node may have packed. */
static inline bool vls_commit_gives_value(const valise_commit *commit)
{
    return vls_commit_is_live(commit) && commit->action != VALISE_ACTION_RELEASE;
}

/* Taints of a commit of `from`, for one of `to`: they still name the same commits. In arena; the
 * tags are borrowed. */
int vls_taints_move(valise_list *taints, const valise_uuid *from, const valise_uuid *to,
                    vls_arena *arena, valise_error *err);

/* Deep copies in arena. */
int vls_taints_copy(valise_list *list, vls_arena *arena, valise_error *err);
int vls_commit_copy(valise_commit *out, const valise_commit *commit, vls_arena *arena,
                    valise_error *err);

/* Are the states that a run found and left before the edge? Then no point is found through it any
 * more, and its row may go, unless it is the newest of its node, which tells how many there were.
 * going: the run of the commit behind the edge; 0: there is none. */
static inline bool vls_run_is_past(const vls_run_row *run, int64_t edge, int64_t going)
{
    if (run->end == VALISE_NONE || run->start >= edge)
        return false;
    return run->end > 0 ? run->end < edge : run->number != going;
}

/* Make it what is shown: only reads, and writes that were denied, have an outcome. */
void vls_commit_out(valise_commit *commit);

/* The event of old commits that went; its payload lies in room. */
#define VLS_PRUNE_MAX 96
void vls_prune_event(valise_event *out, char room[VLS_PRUNE_MAX], const valise_uuid *backpack,
                     valise_str name, int64_t edge);

/* The event of a commit (BACKPACK_PACK, ...), in arena: keys, sizes, ids and summaries, no values;
 * of what its node did not give neither an id nor a summary. */
int vls_commit_event(valise_event *out, const valise_commit *commit, valise_str name,
                     vls_arena *arena, valise_error *err);

#endif
