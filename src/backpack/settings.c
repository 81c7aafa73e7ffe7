/* settings.c -- see settings.h. */
#include "backpack/settings.h"

#include "store/view.h"

int vls_scope_owner_only(const vls_scope *scope, const char *what, valise_error *err)
{
    if (vls_scope_is_owner(scope))
        return 0;
    (void)vls_fail(err, VALISE_E_DENIED, "node '%.*s' may not %s: only the owner may",
                   VALISE_STR_ARG(vls_scope_node_id(scope)), what);
    vls_hint(err, "leave out the node");
    return VALISE_E_DENIED;
}

/* ---- rules ---- */

static int take_rule(vls_rule_row *row, vls_arena *arena, valise_error *err)
{
    const valise_list lists[] = {row->read, row->write};
    int rc = vls_bag_check_tag(row->tag, err);

    for (size_t k = 0; k < VLS_COUNT(lists); k++) {
        const valise_str *node = lists[k].items;
        for (size_t i = 0; i < lists[k].count && rc == 0; i++)
            rc = vls_bag_check_node(node[i], err);
    }
    if (rc == 0)
        rc = vls_bag_sort_names(&row->read, row->read, arena, err);
    return rc < 0 ? rc : vls_bag_sort_names(&row->write, row->write, arena, err);
}

int vls_workspace_rule(valise_view *view, valise_str tag, valise_list read, valise_list write,
                       valise_error *err)
{
    vls_rule_row row = {.tag = tag, .read = read, .write = write};
    int rc;

    rc = take_rule(&row, &view->arena, err);
    if (rc < 0)
        return rc;
    rc = read.items || write.items ? valise_view_put(view, &vls_bag_rules, &row, err)
                                   : valise_view_delete(view, &vls_bag_rules, &row, err);
    return rc < 0 ? rc : 0;
}

/* ---- checkpoints ---- */

int vls_bag_checkpoint_remove(int64_t *seq, const vls_ledger *ledger, valise_str name,
                              valise_error *err)
{
    const vls_ledger_ops *ops = ledger->ops;
    vls_checkpoint_row row = {.name = name};
    vls_ledger_head head;
    int rc;

    ops->enter(ledger->self);
    rc = ops->head(&head, ledger->self, err);
    row.backpack = head.id;
    if (rc == 0)
        rc = ops->row_get(&row, ledger->self, &vls_bag_checkpoints, err);
    if (rc > 0) {
        *seq = row.seq;
        rc = ops->row_delete(ledger->self, &vls_bag_checkpoints, &row, err);
    } else if (rc == 0) {
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "there is no checkpoint '%.*s'",
                      VALISE_STR_ARG(name));
    }
    ops->leave(ledger->self);
    return rc < 0 ? rc : 0;
}
