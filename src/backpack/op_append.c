/* op_append.c -- backpack:append, commits that were made elsewhere: what an ephemeral backpack
 * drops into its archive. They get seqs of their own; times, nodes and values stay. */
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

/* One commit behind the others: its seq, its version and what it follows are new. */
static int append(const vls_ledger *ledger, const vls_append_item *item, const valise_env *env,
                  valise_error *err)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    valise_commit commit = *item->commit, last = {0};
    vls_ledger_head head;
    int rc = 0;

    if (item->value.bytes.ptr)
        rc = vls_blob_new(&value, env, item->value.bytes, err);
    if (rc < 0)
        return rc;
    ledger->ops->enter(ledger->self);
    rc = ledger->ops->head(&head, ledger->self, err);
    if (rc == 0)
        rc = ledger->ops->newest(&last, ledger->self, commit.key, err);
    if (rc >= 0) {
        commit.seq = 0;
        commit.time = VLS_MAX(commit.time, head.last_time);
        commit.previous = rc > 0 && vls_uuid_equal(&last.backpack, &head.id) ? last.seq : 0;
        rc = ledger->ops->append(ledger->self, &commit, value, err);
    }
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
        rc = append(&ledger, items[i], view->arena.env, err);
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
