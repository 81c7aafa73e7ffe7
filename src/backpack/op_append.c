/* op_append.c -- backpack:append, commits that were made elsewhere: what an ephemeral backpack
 * drops into its archive. They get seqs and runs of their own; times, nodes and values stay. */
#include "backpack/ops.h"

#include "base/uuid.h"

static const valise_struct commit_struct = {sizeof(valise_commit), vls_commit_fields};

static const valise_field item_fields[] = {
    VALISE_FIELD_WITH(vls_append_item, commit, STRUCT, VALISE_REQUIRED, "The commit.",
                      .more = &commit_struct),
    VALISE_FIELD(vls_append_item, value, VALUE, VALISE_NULLABLE, "Its value."),
    VALISE_FIELD_END,
};
static const valise_struct item_struct = {sizeof(vls_append_item), item_fields};
static const valise_field list_item = {
    .name = "item", .type = VALISE_T_STRUCT, .more = &item_struct};

static const valise_field append_in[] = {
    VALISE_FIELD_AS_WITH(vls_append_args, who.backpack, "backpack", STR, VALISE_REQUIRED,
                         "Name of the backpack.", .min = 1, .max = VLS_BAG_NAME_MAX),
    VALISE_FIELD_WITH(vls_append_args, items, LIST, VALISE_REQUIRED, "The commits.",
                      .more = &list_item, .max = VLS_APPEND_MAX),
    VALISE_FIELD_END,
};

/* Commits before it may have been lost on the way: it must fit what is there. 1, or 0 where there
 * is nothing to be deleted. */
static int adapt(valise_commit *commit, const valise_commit *last, int64_t version)
{
    bool live = last && vls_commit_is_live(last);
    int64_t least;

    if (commit->action == VALISE_ACTION_DELETE && !live)
        return 0;
    if (commit->action == VALISE_ACTION_RELEASE && live) {
        commit->action = VALISE_ACTION_PACK;
        commit->taints = (valise_list){NULL, 0}; /* of what another node may have packed */
    }
    commit->entry = 0; /* the quarantine stays where it is */
    least = version + vls_commit_is_live(commit);
    commit->version = VLS_MAX(commit->version, least);
    commit->previous_value = live ? last->value : (valise_id){{0}};
    return 1;
}

/* The run as of any write: that of the commit before, if the same node made it; else a new one.
 * What was part of none stays so. */
static int take_run(valise_commit *commit, const vls_ledger *ledger, const vls_ledger_head *head,
                    valise_error *err)
{
    vls_run_row run = {.backpack = head->id,
                       .number = head->last_run + 1,
                       .node_id = commit->node_id,
                       .start = head->last};

    if (commit->run == 0)
        return 0;
    commit->run = vls_str_equal(head->last_node, commit->node_id) ? head->open_run : 0;
    if (commit->run > 0)
        return 0;
    commit->run = run.number;
    return ledger->ops->row_put(ledger->self, &vls_bag_runs, &run, err);
}

/* One commit behind the others: its seq, its run and what it follows are new. */
static int append_entered(const vls_ledger *ledger, valise_commit *commit, valise_blob *value,
                          vls_arena *arena, valise_error *err)
{
    valise_commit last = {0};
    vls_ledger_head head;
    int64_t version = 0;
    int rc = ledger->ops->head(&head, ledger->self, err), known = 0;

    if (rc == 0)
        rc = known = ledger->ops->newest(&last, ledger->self, commit->key, err);
    if (rc > 0)
        version = last.version;
    else if (rc == 0)
        rc = ledger->ops->version(&version, ledger->self, commit->key, err);
    if (rc < 0 || !adapt(commit, known > 0 ? &last : NULL, version))
        return vls_settle(rc);
    commit->seq = 0;
    commit->time = VLS_MAX(commit->time, head.last_time);
    commit->previous = known > 0 && vls_uuid_equal(&last.backpack, &head.id) ? last.seq : 0;
    rc = take_run(commit, ledger, &head, err);
    if (rc == 0)
        rc = vls_taints_move(&commit->taints, &commit->backpack, &head.id, arena, err);
    return rc < 0 ? rc : ledger->ops->append(ledger->self, commit, value, err);
}

static int append(const vls_ledger *ledger, const vls_append_item *item, vls_arena *arena,
                  valise_error *err)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    valise_commit commit = *item->commit;
    int rc = 0;

    if (item->value.bytes.ptr)
        rc = vls_blob_new(&value, arena->env, item->value.bytes, err);
    if (rc < 0)
        return rc;
    ledger->ops->enter(ledger->self);
    rc = append_entered(ledger, &commit, value, arena, err);
    ledger->ops->leave(ledger->self);
    return rc;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_append_args *args = in;
    const vls_append_item *const *items = args->items.items;
    VLS_AUTO(rows) vls_rows rows = {0};
    vls_ledger ledger;
    int rc = vls_rows_open(&rows, view, args->who.backpack, err);

    (void)out;
    ledger = vls_rows_ledger(&rows);
    for (size_t i = 0; i < args->items.count && rc == 0; i++)
        rc = append(&ledger, items[i], &view->arena, err);
    return rc;
}

const valise_op vls_op_backpack_append = {
    .size = sizeof(valise_op),
    .name = "backpack:append",
    .brief = "Add commits that were made elsewhere.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "backpack:write",
    .in = append_in,
    .in_size = sizeof(vls_append_args),
    .decide = decide,
    .example = "{\"backpack\":\"archive\",\"items\":[]}",
};
