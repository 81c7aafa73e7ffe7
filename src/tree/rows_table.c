/* rows_table.c -- the tables of a tree's collections. */
#include "tree/rows_impl.h"

#include "bus/event.h"

#define COUNTS(row_type)                                                                           \
    VALISE_FIELD_AS(row_type, counts.files, "files", INT, 0, "Files in it."),                      \
        VALISE_FIELD_AS(row_type, counts.dirs, "dirs", INT, 0, "Directories in it."),              \
        VALISE_FIELD_AS(row_type, counts.links, "links", INT, 0, "Symbolic links."),               \
        VALISE_FIELD_AS(row_type, counts.unreadable, "unreadable", INT, 0,                         \
                        "What could not be read."),                                                \
        VALISE_FIELD_AS(row_type, counts.bytes, "bytes", INT, 0, "Bytes of the files.")

#define OF_TREE(row_type)                                                                          \
    VALISE_FIELD_WITH(row_type, tree, UUID, VALISE_REQUIRED | VALISE_KEY, "The tree.",             \
                      .ref = "tree")

/* ---- tree_here ---- */

static const valise_field here_fields[] = {
    VALISE_FIELD(vls_tree_here_row, id, INT, VALISE_REQUIRED | VALISE_KEY, "Always 1."),
    VALISE_FIELD_WITH(vls_tree_here_row, tree, UUID, VALISE_REQUIRED, "The workspace's own tree.",
                      .ref = "tree"),
    VALISE_FIELD_END,
};

const valise_coll vls_tree_heres = {.size = sizeof(valise_coll),
                                    .name = "tree_here",
                                    .help = "Which tree is that of this workspace.",
                                    .fields = here_fields,
                                    .row_size = sizeof(vls_tree_here_row),
                                    .check = vls_tree_check_here,
                                    .needs = "tree:read"};

/* ---- tree ---- */

static const valise_field tree_fields[] = {
    VALISE_FIELD(vls_tree_row, id, UUID, VALISE_REQUIRED | VALISE_KEY, "Id of the tree."),
    VALISE_FIELD(vls_tree_row, version, INT, 0, "Its newest version."),
    VALISE_FIELD(vls_tree_row, edge, INT, 0, "The oldest version that can be seen."),
    VALISE_FIELD(vls_tree_row, object, ID, VALISE_NULLABLE, "Object id of the root."),
    VALISE_FIELD(vls_tree_row, root, ID, VALISE_NULLABLE, "Node id of the root."),
    VALISE_FIELD(vls_tree_row, time, TIME, 0, "When that version was made."),
    COUNTS(vls_tree_row),
    VALISE_FIELD_END,
};

typedef struct pruned {
    valise_uuid tree;
    int64_t edge, versions;
} pruned;

static const valise_field pruned_fields[] = {
    VALISE_FIELD(pruned, tree, UUID, VALISE_REQUIRED, "The tree."),
    VALISE_FIELD_AS(pruned, edge, "oldest", INT, VALISE_REQUIRED,
                    "The oldest version that can be seen."),
    VALISE_FIELD(pruned, versions, INT, VALISE_REQUIRED, "How many cannot be seen any more."),
    VALISE_FIELD_END,
};

/* Versions are told of by their own rows; this is about those that went. */
static int tree_event(valise_event *out, valise_view *view, const void *before, const void *after,
                      valise_error *err)
{
    const vls_tree_row *old = before, *new = after;
    pruned told;

    if (!old || !new || old->edge == 0 || new->edge <= old->edge)
        return 0;
    told = (pruned){new->id, new->edge, new->edge - old->edge};
    return vls_event_tell(out, view, "tree.pruned", &told, pruned_fields, err);
}

const valise_coll vls_trees = {.size = sizeof(valise_coll),
                               .name = "tree",
                               .help = "A tree of files: its newest version.",
                               .fields = tree_fields,
                               .row_size = sizeof(vls_tree_row),
                               .check = vls_tree_check_head,
                               .event = tree_event,
                               .needs = "tree:read"};

/* ---- tree_version ---- */

static const valise_field version_fields[] = {
    OF_TREE(vls_tree_version_row),
    VALISE_FIELD(vls_tree_version_row, version, INT, VALISE_REQUIRED | VALISE_KEY,
                 "Number of the version."),
    VALISE_FIELD(vls_tree_version_row, object, ID, VALISE_REQUIRED, "Object id of the root."),
    VALISE_FIELD(vls_tree_version_row, root, ID, VALISE_REQUIRED, "Node id of the root."),
    VALISE_FIELD(vls_tree_version_row, time, TIME, 0, "When it was made."),
    VALISE_FIELD_WITH(vls_tree_version_row, seq, INT, 0, "The command that made it.", .ref = "log"),
    VALISE_FIELD(vls_tree_version_row, added, INT, 0, "Nodes that came."),
    VALISE_FIELD(vls_tree_version_row, changed, INT, 0, "Nodes that changed."),
    VALISE_FIELD(vls_tree_version_row, removed, INT, 0, "Nodes that went."),
    VALISE_FIELD(vls_tree_version_row, moved, INT, 0, "Of both, those that only moved."),
    COUNTS(vls_tree_version_row),
    VALISE_FIELD_END,
};

/* A version that came with a bundle was not made here: its seq is that of another log. */
static int version_event(valise_event *out, valise_view *view, const void *before,
                         const void *after, valise_error *err)
{
    const vls_tree_version_row *version = after;

    if (before || !version || version->seq != valise_view_stamp(view)->seq)
        return 0;
    return vls_event_tell(out, view, "tree.changed", version, version_fields, err);
}

static const char *const by_root[] = {"tree", "root", "version", NULL};
static const valise_coll_index version_indexes[] = {{"root", by_root}, {NULL, NULL}};

const valise_coll vls_tree_versions = {.size = sizeof(valise_coll),
                                       .name = "tree_version",
                                       .help = "One version of a tree: what a scan found.",
                                       .fields = version_fields,
                                       .row_size = sizeof(vls_tree_version_row),
                                       .flags = VALISE_COLL_IMMUTABLE,
                                       .indexes = version_indexes,
                                       .check = vls_tree_check_version,
                                       .event = version_event,
                                       .needs = "tree:read",
                                       .named = vls_tree_named_version};

/* ---- tree_node ---- */

static const valise_field node_fields[] = {
    OF_TREE(vls_tree_node_row),
    VALISE_FIELD(vls_tree_node_row, parent, PATH, VALISE_REQUIRED | VALISE_KEY,
                 "Path of the directory it is in."),
    VALISE_FIELD(vls_tree_node_row, name, PATH, VALISE_REQUIRED | VALISE_KEY,
                 "Its name there; of the root both are empty."),
    VALISE_FIELD(vls_tree_node_row, version, INT, VALISE_REQUIRED | VALISE_KEY,
                 "The version of the tree that brought it."),
    VALISE_FIELD_WITH(vls_tree_node_row, kind, ENUM, 0, "Its kind.", .more = vls_node_kinds),
    VALISE_FIELD(vls_tree_node_row, exec, BOOL, 0, "Its owner may run it."),
    VALISE_FIELD(vls_tree_node_row, size, INT, 0, "Bytes, or entries of a directory."),
    VALISE_FIELD(vls_tree_node_row, hash, ID, VALISE_NULLABLE,
                 "SHA-256 of a file's bytes; object id of a directory."),
    VALISE_FIELD(vls_tree_node_row, target, PATH, VALISE_NULLABLE, "Where a link points."),
    VALISE_FIELD(vls_tree_node_row, node8, INT, 0, "The first eight bytes of its node id."),
    VALISE_FIELD_END,
};

static const char *const by_node[] = {"tree", "node8", NULL};
static const valise_coll_index node_indexes[] = {{"node", by_node}, {NULL, NULL}};

const valise_coll vls_tree_nodes = {.size = sizeof(valise_coll),
                                    .name = "tree_node",
                                    .help = "A file, directory or link, as of one version.",
                                    .fields = node_fields,
                                    .row_size = sizeof(vls_tree_node_row),
                                    .flags = VALISE_COLL_IMMUTABLE | VALISE_COLL_QUIET,
                                    .indexes = node_indexes,
                                    .check = vls_tree_check_node,
                                    .needs = "tree:read",
                                    .named = vls_tree_named_node};
