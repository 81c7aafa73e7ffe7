/* bag.c -- the tables of a backpack's collections. */
#include "backpack/bag.h"

#include "backpack/row_check.h"
#include "store/view.h"

#define NAMED(max_bytes) .min = 1, .max = (max_bytes)

const valise_field vls_name_item = {.name = "name", .type = VALISE_T_STR};

#define NAMES(struct_type, member, json_name, field_flags, text)                                   \
    VALISE_FIELD_AS_WITH(struct_type, member, json_name, LIST, field_flags, text,                  \
                         .more = &vls_name_item, .max = VLS_BAG_LIST_MAX)

static const valise_str sticky[] = {{"pii", 3}, {"secret", 6}};
const valise_list vls_bag_sticky = {sticky, VLS_COUNT(sticky)};

/* ---- backpack ---- */

static const valise_field bag_fields[] = {
    VALISE_FIELD(vls_bag_row, id, UUID, VALISE_REQUIRED | VALISE_KEY, "Id of the backpack."),
    VALISE_FIELD_WITH(vls_bag_row, name, STR, VALISE_REQUIRED, "Its name.",
                      NAMED(VLS_BAG_NAME_MAX)),
    VALISE_FIELD(vls_bag_row, lenient, BOOL, 0, "Denied access fails silently."),
    VALISE_FIELD(vls_bag_row, taint, BOOL, 0, "Sticky tags spread to what is packed after a read."),
    NAMES(vls_bag_row, sticky, "sticky", VALISE_NULLABLE, "The tags that spread."),
    /* No reference, as the stored description has none: vls_bag_leads and the check follow it. */
    VALISE_FIELD(vls_bag_row, origin, UUID, VALISE_NULLABLE, "The backpack it was forked from."),
    VALISE_FIELD_AS(vls_bag_row, origin_seq, "originSeq", INT, 0, "The commit it starts with."),
    VALISE_FIELD(vls_bag_row, edge, INT, 0, "Commits up to here may have been dropped."),
    VALISE_FIELD(vls_bag_row, created, TIME, 0, "When it was made."),
    VALISE_FIELD(vls_bag_row, actor, STR, 0, "Who made it."),
    VALISE_FIELD(vls_bag_row, dropped, BOOL, 0, "Its rows are being removed."),
    VALISE_FIELD_END,
};

static const char *const by_name[] = {"name", NULL};
static const char *const by_origin[] = {"origin", NULL};
static const valise_coll_index bag_indexes[] = {
    {"name", by_name}, {"origin", by_origin}, {NULL, NULL}};

/* Old commits went. */
static int bag_event(valise_event *out, valise_view *view, const void *before, const void *after,
                     valise_error *err)
{
    const vls_bag_row *old = before, *bag = after;
    char *room = NULL;
    int rc;

    if (!old || !bag || old->edge == bag->edge)
        return 0;
    rc = valise_view_alloc((void **)&room, view, VLS_PRUNE_MAX, err);
    if (rc < 0)
        return rc;
    vls_prune_event(out, room, &bag->id, bag->name, bag->edge);
    return 1;
}

const valise_coll vls_bags = {.size = sizeof(valise_coll),
                              .name = "backpack",
                              .help = "The working state of a run.",
                              .fields = bag_fields,
                              .row_size = sizeof(vls_bag_row),
                              .indexes = bag_indexes,
                              .check = vls_bag_check_row,
                              .event = bag_event,
                              .needs = "backpack:read",
                              .leads = vls_bag_leads,
                              .arrive = vls_bags_arrive};

/* ---- backpack_commit ---- */

const char *const vls_bag_actions[] = {"pack",  "delete", "quarantine", "release",
                                       "merge", "import", "unpack",     NULL};
static const char *const outcomes[] = {"found", "absent", "denied", NULL};

static const valise_field taint_fields[] = {
    VALISE_FIELD(valise_taint, tag, STR, VALISE_REQUIRED, "The tag."),
    VALISE_FIELD(valise_taint, seq, INT, VALISE_REQUIRED, "The commit it came from."),
    VALISE_FIELD(valise_taint, backpack, UUID, VALISE_NULLABLE,
                 "The backpack of that commit, if it is another one."),
    VALISE_FIELD_END,
};
static const valise_struct taint_struct = {sizeof(valise_taint), taint_fields};
const valise_field vls_taint_item = {
    .name = "taint", .type = VALISE_T_STRUCT, .more = &taint_struct};

/* What a commit is made of, in the order of columns; the first two are the key. needed: the flags
 * of what every commit has. */
#define COMMIT_KEY(flags)                                                                          \
    VALISE_FIELD_WITH(valise_commit, backpack, UUID, flags, "The backpack.", .ref = "backpack"),   \
        VALISE_FIELD(valise_commit, seq, INT, flags, "Number of the commit.")

#define COMMIT_BODY(needed)                                                                        \
    VALISE_FIELD_AS(valise_commit, time, "timestamp", TIME, needed, "When."),                      \
        VALISE_FIELD_WITH(valise_commit, action, ENUM, needed, "What was done.",                   \
                          .more = vls_bag_actions),                                                \
        VALISE_FIELD(valise_commit, key, STR, needed, "Key of the item."),                         \
        VALISE_FIELD_AS_WITH(valise_commit, value, "valueId", ID,                                  \
                             VALISE_NULLABLE | VALISE_CONTENT, "Id of the value.",                 \
                             .ref = "object"),                                                     \
        VALISE_FIELD_AS(valise_commit, value_size, "valueSize", INT, 0, "Bytes of the value."),    \
        VALISE_FIELD_AS(valise_commit, previous_value, "previousValueId", ID,                      \
                        VALISE_NULLABLE | VALISE_CONTENT, "Id of the value before."),              \
        VALISE_FIELD_AS(valise_commit, summary, "valueSummary", STR,                               \
                        VALISE_NULLABLE | VALISE_CONTENT, "The beginning of the value."),          \
        VALISE_FIELD(valise_commit, version, INT, needed, "Version of the item."),                 \
        VALISE_FIELD(valise_commit, previous, INT, 0, "The commit of the key before this one."),   \
        VALISE_FIELD_AS(valise_commit, node_id, "nodeId", STR, needed, "The node that did it."),   \
        VALISE_FIELD_AS(valise_commit, node_name, "nodeName", STR, needed, "Name of the node."),   \
        VALISE_FIELD_AS(valise_commit, namespace_name, "sourceNamespace", STR, VALISE_NULLABLE,    \
                        "Namespace of the item."),                                                 \
        VALISE_FIELD(valise_commit, run, INT, 0, "Number of the node's run."),                     \
        NAMES(valise_commit, tags, "tags", 0, "Tags of the item."),                                \
        NAMES(valise_commit, read, "read", VALISE_NULLABLE, "Only these nodes may read it."),      \
        NAMES(valise_commit, write, "write", VALISE_NULLABLE, "Only these nodes may write it."),   \
        VALISE_FIELD_WITH(valise_commit, taints, LIST, 0, "Tags that came from what was read.",    \
                          .more = &vls_taint_item, .max = VLS_BAG_TAGS_MAX),                       \
        NAMES(valise_commit, declassified, "declassified", 0, "Sticky tags that were left out."),  \
        VALISE_FIELD(valise_commit, reason, STR, VALISE_NULLABLE | VALISE_CONTENT,                 \
                     "Why it was quarantined."),                                                   \
        VALISE_FIELD(valise_commit, error, JSON, VALISE_NULLABLE | VALISE_CONTENT,                 \
                     "The error it was quarantined for."),                                         \
        VALISE_FIELD(valise_commit, entry, INT, 0, "The commit that a release or merge is about.")

static const valise_field commit_columns[] = {
    COMMIT_KEY(VALISE_REQUIRED | VALISE_KEY),
    COMMIT_BODY(0),
    VALISE_FIELD_END,
};

const valise_field vls_commit_fields[] = {
    VALISE_FIELD_AS(valise_commit, id, "commitId", UUID, 0, "Id of the commit."),
    COMMIT_KEY(0),
    COMMIT_BODY(0),
    VALISE_FIELD_WITH(valise_commit, outcome, ENUM, VALISE_NULLABLE, "What a read found.",
                      .more = outcomes),
    VALISE_FIELD_AS(valise_commit, log_seq, "logSeq", INT, 0, "The command in the log."),
    VALISE_FIELD_END,
};

const valise_field vls_commit_record[] = {
    VALISE_FIELD(valise_commit, seq, INT, VALISE_REQUIRED, "Number of the commit."),
    COMMIT_BODY(VALISE_REQUIRED),
    VALISE_FIELD_END,
};

/* A commit is put once: erasing it and its expiry make no event. */
static int commit_event(valise_event *out, valise_view *view, const void *before, const void *after,
                        valise_error *err)
{
    valise_commit commit;
    vls_bag_row bag;
    int rc;

    if (before || !after)
        return 0;
    commit = *(const valise_commit *)after;
    commit.id = vls_commit_id(&commit.backpack, commit.seq, commit.time);
    commit.outcome = VALISE_NONE;
    commit.log_seq = valise_view_stamp(view)->seq;
    bag = (vls_bag_row){.id = commit.backpack};
    rc = valise_view_get(&bag, view, &vls_bags, err);
    if (rc > 0)
        rc = vls_commit_event(out, &commit, bag.name, &view->arena, err);
    return rc < 0 ? rc : 1;
}

static const char *const by_key[] = {"backpack", "key", "seq", NULL};
static const char *const by_namespace[] = {"backpack", "sourceNamespace", "key", "seq", NULL};
static const valise_coll_index commit_indexes[] = {
    {"key", by_key}, {"namespace", by_namespace}, {NULL, NULL}};

const valise_coll vls_bag_commits = {.size = sizeof(valise_coll),
                                     .name = "backpack_commit",
                                     .help = "One entry of a backpack's history, and an item.",
                                     .fields = commit_columns,
                                     .row_size = sizeof(valise_commit),
                                     .flags = VALISE_COLL_IMMUTABLE | VALISE_COLL_QUIET,
                                     .indexes = commit_indexes,
                                     .check = vls_commit_check_row,
                                     .event = commit_event,
                                     .find = vls_commit_find,
                                     .needs = "backpack:read",
                                     .expired = vls_commit_expired};

/* ---- the others ---- */

#define OWNER(row_type)                                                                            \
    VALISE_FIELD_WITH(row_type, backpack, UUID, VALISE_REQUIRED | VALISE_KEY, "The backpack.",     \
                      .ref = "backpack")

static const valise_field quarantine_fields[] = {
    OWNER(vls_quarantine_row),
    VALISE_FIELD(vls_quarantine_row, seq, INT, VALISE_REQUIRED | VALISE_KEY,
                 "The commit that put it there; below 0: the fork began with it."),
    VALISE_FIELD(vls_quarantine_row, key, STR, 0, "Key of the item."),
    VALISE_FIELD(vls_quarantine_row, from, UUID, VALISE_NULLABLE,
                 "Then the backpack whose commit put it there."),
    VALISE_FIELD(vls_quarantine_row, put, INT, 0, "And that commit."),
    VALISE_FIELD_AS(vls_quarantine_row, item_backpack, "itemBackpack", UUID, VALISE_NULLABLE,
                    "The backpack whose commit is held."),
    VALISE_FIELD(vls_quarantine_row, item, INT, 0, "The commit that is held: the item as it was."),
    VALISE_FIELD(vls_quarantine_row, released, INT, 0, "The commit that brought it back."),
    VALISE_FIELD_END,
};

static const char *const by_entry[] = {"backpack", "key", "seq", NULL};
static const valise_coll_index quarantine_indexes[] = {{"key", by_entry}, {NULL, NULL}};

const valise_coll vls_bag_quarantines = {.size = sizeof(valise_coll),
                                         .name = "backpack_quarantine",
                                         .help = "An item that was taken out of active state.",
                                         .fields = quarantine_fields,
                                         .row_size = sizeof(vls_quarantine_row),
                                         .indexes = quarantine_indexes,
                                         .check = vls_quarantine_check_row,
                                         .needs = "backpack:read"};

const valise_field vls_checkpoint_fields[] = {
    OWNER(vls_bag_checkpoint_row),
    VALISE_FIELD_WITH(vls_bag_checkpoint_row, name, STR, VALISE_REQUIRED | VALISE_KEY, "Its name.",
                      NAMED(VLS_BAG_NAME_MAX)),
    VALISE_FIELD(vls_bag_checkpoint_row, seq, INT, 0, "The commit whose state is held."),
    VALISE_FIELD(vls_bag_checkpoint_row, time, TIME, 0, "When it was made."),
    VALISE_FIELD(vls_bag_checkpoint_row, actor, STR, 0, "Who made it."),
    VALISE_FIELD_END,
};

const valise_coll vls_bag_checkpoints = {.size = sizeof(valise_coll),
                                         .name = "backpack_checkpoint",
                                         .help = "A named state of a backpack that is held.",
                                         .fields = vls_checkpoint_fields,
                                         .row_size = sizeof(vls_bag_checkpoint_row),
                                         .check = vls_point_check_row,
                                         .needs = "backpack:read"};

const valise_field vls_run_fields[] = {
    OWNER(vls_run_row),
    VALISE_FIELD(vls_run_row, number, INT, VALISE_REQUIRED | VALISE_KEY, "Number of the run."),
    VALISE_FIELD_AS(vls_run_row, node_id, "nodeId", STR, 0, "The node."),
    VALISE_FIELD(vls_run_row, start, INT, 0, "The commit whose state it found."),
    VALISE_FIELD(vls_run_row, end, INT, VALISE_NULLABLE, "The commit whose state it left."),
    VALISE_FIELD(vls_run_row, nth, INT, 0, "Which run of its node it is."),
    VALISE_FIELD_END,
};

static const char *const by_node[] = {"backpack", "nodeId", "number", NULL};
static const valise_coll_index run_indexes[] = {{"node", by_node}, {NULL, NULL}};

const valise_coll vls_bag_runs = {.size = sizeof(valise_coll),
                                  .name = "backpack_run",
                                  .help = "A run of a node.",
                                  .fields = vls_run_fields,
                                  .row_size = sizeof(vls_run_row),
                                  .indexes = run_indexes,
                                  .check = vls_run_check_row,
                                  .needs = "backpack:read"};

const valise_field vls_permission_fields[] = {
    OWNER(vls_permission_row),
    VALISE_FIELD_AS_WITH(vls_permission_row, node_id, "nodeId", STR, VALISE_REQUIRED | VALISE_KEY,
                         "The node.", NAMED(VLS_BAG_NODE_MAX)),
    NAMES(vls_permission_row, allow.read, "read", VALISE_NULLABLE, "Keys it may read."),
    NAMES(vls_permission_row, allow.write, "write", VALISE_NULLABLE, "Keys it may write."),
    NAMES(vls_permission_row, allow.deny, "deny", VALISE_NULLABLE, "Keys it may not touch."),
    NAMES(vls_permission_row, allow.namespace_read, "namespaceRead", VALISE_NULLABLE,
          "Namespaces it may read."),
    NAMES(vls_permission_row, allow.namespace_write, "namespaceWrite", VALISE_NULLABLE,
          "Namespaces it may write."),
    VALISE_FIELD_END,
};

const valise_coll vls_bag_permissions = {.size = sizeof(valise_coll),
                                         .name = "backpack_permission",
                                         .help = "What a node may do.",
                                         .fields = vls_permission_fields,
                                         .row_size = sizeof(vls_permission_row),
                                         .needs = "backpack:read"};

const valise_field vls_rule_fields[] = {
    /* Zero for those of the workspace: so it is neither required nor does it refer to one. */
    VALISE_FIELD(vls_rule_row, backpack, UUID, VALISE_KEY, "The backpack; zero: all of them."),
    VALISE_FIELD_WITH(vls_rule_row, tag, STR, VALISE_REQUIRED | VALISE_KEY, "The tag.",
                      NAMED(VLS_BAG_TAG_MAX)),
    NAMES(vls_rule_row, read, "read", VALISE_NULLABLE, "Only these nodes may read what has it."),
    NAMES(vls_rule_row, write, "write", VALISE_NULLABLE, "Only these nodes may write what has it."),
    VALISE_FIELD_END,
};

const valise_coll vls_bag_rules = {.size = sizeof(valise_coll),
                                   .name = "backpack_rule",
                                   .help = "Which nodes may read and write what has a tag.",
                                   .fields = vls_rule_fields,
                                   .row_size = sizeof(vls_rule_row),
                                   .needs = "backpack:read"};

static const valise_field mark_fields[] = {
    OWNER(vls_taint_row),
    VALISE_FIELD_AS(vls_taint_row, node_id, "nodeId", STR, VALISE_REQUIRED | VALISE_KEY,
                    "The node."),
    VALISE_FIELD_AS(vls_taint_row, source.tag, "tag", STR, VALISE_REQUIRED | VALISE_KEY,
                    "The tag it has read."),
    VALISE_FIELD_AS(vls_taint_row, source.seq, "source", INT, 0, "The commit whose item had it."),
    VALISE_FIELD_AS(vls_taint_row, source.backpack, "sourceBackpack", UUID, VALISE_NULLABLE,
                    "The backpack of that commit, if it is another one."),
    VALISE_FIELD(vls_taint_row, since, INT, 0, "The newest commit when it was read."),
    VALISE_FIELD_END,
};

const valise_coll vls_bag_taints = {.size = sizeof(valise_coll),
                                    .name = "backpack_taint",
                                    .help = "A sticky tag that a node has read.",
                                    .fields = mark_fields,
                                    .row_size = sizeof(vls_taint_row),
                                    .needs = "backpack:read"};

const valise_field vls_merge_fields[] = {
    OWNER(vls_merge_row),
    VALISE_FIELD(vls_merge_row, seq, INT, VALISE_REQUIRED | VALISE_KEY,
                 "The commit whose state has it."),
    /* No reference: what was merged may be dropped. */
    VALISE_FIELD(vls_merge_row, theirs, UUID, VALISE_REQUIRED | VALISE_KEY,
                 "The backpack that was merged."),
    VALISE_FIELD(vls_merge_row, upto, INT, 0, "Up to this commit of it."),
    VALISE_FIELD_END,
};

static const char *const by_theirs[] = {"theirs", NULL};
static const valise_coll_index merge_indexes[] = {{"theirs", by_theirs}, {NULL, NULL}};

const valise_coll vls_bag_merges = {.size = sizeof(valise_coll),
                                    .name = "backpack_merge",
                                    .help = "What was merged into a backpack.",
                                    .fields = vls_merge_fields,
                                    .row_size = sizeof(vls_merge_row),
                                    .indexes = merge_indexes,
                                    .check = vls_merge_check_row,
                                    .needs = "backpack:read"};

static const valise_field read_fields[] = {
    VALISE_FIELD(vls_bag_read_row, number, INT, VALISE_REQUIRED | VALISE_KEY, "Place in the ring."),
    /* No reference: what was read may be dropped. */
    VALISE_FIELD(vls_bag_read_row, backpack, UUID, 0, "The backpack."),
    VALISE_FIELD(vls_bag_read_row, time, TIME, 0, "When."),
    VALISE_FIELD(vls_bag_read_row, actor, STR, 0, "Who acted."),
    VALISE_FIELD_AS(vls_bag_read_row, node_id, "nodeId", STR, 0, "The node."),
    VALISE_FIELD_AS(vls_bag_read_row, node_name, "nodeName", STR, 0, "Name of the node."),
    VALISE_FIELD_AS(vls_bag_read_row, namespace_name, "sourceNamespace", STR, VALISE_NULLABLE,
                    "Namespace of the item."),
    VALISE_FIELD(vls_bag_read_row, key, STR, 0, "Key of the item."),
    VALISE_FIELD_WITH(vls_bag_read_row, action, ENUM, 0, "What was done, or denied.",
                      .more = vls_bag_actions),
    VALISE_FIELD(vls_bag_read_row, seq, INT, 0, "The commit that was read."),
    VALISE_FIELD(vls_bag_read_row, version, INT, 0, "Version of the item."),
    VALISE_FIELD_WITH(vls_bag_read_row, outcome, ENUM, 0, "What came of it.", .more = outcomes),
    NAMES(vls_bag_read_row, tags, "tags", VALISE_NULLABLE, "Tags of the item."),
    VALISE_FIELD_END,
};

static const char *const by_backpack[] = {"backpack", "number", NULL};
static const valise_coll_index read_indexes[] = {{"backpack", by_backpack}, {NULL, NULL}};

const valise_coll vls_bag_reads = {.size = sizeof(valise_coll),
                                   .name = "backpack_read",
                                   .help = "A read, or a write that was denied.",
                                   .fields = read_fields,
                                   .row_size = sizeof(vls_bag_read_row),
                                   .flags = VALISE_COLL_EXEMPT,
                                   .indexes = read_indexes,
                                   .needs = "backpack:read"};
