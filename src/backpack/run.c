/* run.c -- runs of nodes, checkpoints, and what the owner sets. */
#include "backpack/decide.h"
#include "backpack/look.h"

/* ---- runs ---- */

int vls_bag_run_start(int64_t *number, const vls_ledger *ledger, vls_scope *scope,
                      valise_error *err)
{
    vls_run_row row = {.node_id = vls_scope_node_id(scope)};
    vls_ledger_head head;
    int rc = vls_scope_enter(&head, scope, ledger, err);

    if (rc < 0)
        return rc;
    row.backpack = head.id;
    row.number = head.last_run + 1;
    row.start = head.last;
    row.end = VALISE_NONE;
    rc = ledger->ops->row_put(ledger->self, &vls_bag_runs, &row, err);
    vls_scope_leave(ledger);
    if (rc < 0)
        return rc;
    vls_scope_set_run(scope, row.number, row.start);
    *number = row.number;
    return 0;
}

static void hint_run(const vls_scope *scope, valise_error *err)
{
    vls_hint(err, "'valise bp run BACKPACK --node %.*s' starts one, and prints its number",
             VALISE_STR_ARG(vls_scope_node_id(scope)));
}

/* Enters the ledger, unless it fails: the run, if it is the scope's. */
static int get_run(vls_run_row *row, vls_ledger_head *head, const vls_ledger *ledger,
                   vls_scope *scope, int64_t number, valise_error *err)
{
    int rc = vls_scope_enter(head, scope, ledger, err);

    if (rc < 0)
        return rc;
    *row = (vls_run_row){.backpack = head->id, .number = number};
    rc = ledger->ops->row_get(row, ledger->self, &vls_bag_runs, err);
    if (rc == 0) {
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "there is no run %lld", (long long)number);
        hint_run(scope, err);
    } else if (rc == 1 && !vls_str_equal(row->node_id, vls_scope_node_id(scope))) {
        rc = vls_fail(err, VALISE_E_INVALID, "run %lld belongs to node '%.*s'", (long long)number,
                      VALISE_STR_ARG(row->node_id));
        hint_run(scope, err);
    }
    if (rc < 0)
        vls_scope_leave(ledger);
    return rc < 0 ? rc : 0;
}

int vls_bag_run_resume(const vls_ledger *ledger, vls_scope *scope, int64_t number,
                       valise_error *err)
{
    vls_ledger_head head;
    vls_run_row row;
    int rc = get_run(&row, &head, ledger, scope, number, err);

    if (rc < 0)
        return rc;
    vls_scope_leave(ledger);
    if (row.end != VALISE_NONE) {
        (void)vls_fail(err, VALISE_E_INVALID, "run %lld has already ended", (long long)number);
        hint_run(scope, err);
        return VALISE_E_INVALID;
    }
    vls_scope_set_run(scope, number, row.start);
    return 0;
}

int vls_bag_run_end(const vls_ledger *ledger, vls_scope *scope, int64_t number, valise_error *err)
{
    vls_ledger_head head;
    vls_run_row row;
    int rc = get_run(&row, &head, ledger, scope, number, err);

    if (rc < 0)
        return rc;
    row.end = head.last;
    rc = ledger->ops->row_put(ledger->self, &vls_bag_runs, &row, err);
    vls_scope_leave(ledger);
    if (rc == 0 && vls_scope_run(scope) == number)
        vls_scope_set_run(scope, 0, 0);
    return rc;
}

/* ---- checkpoints ---- */

int vls_bag_checkpoint(int64_t *seq, const vls_ledger *ledger, valise_str name, valise_str actor,
                       int64_t now, valise_error *err)
{
    vls_bag_checkpoint_row row = {.name = name};
    vls_ledger_head head;
    vls_point point;
    int rc = vls_point_parse(&point, name, err);

    if (rc == 0 && point.kind != VLS_POINT_NAME) {
        rc = vls_fail(
            err, VALISE_E_INVALID,
            "'%.*s' cannot be the name of a checkpoint: as a point it means something else",
            VALISE_STR_ARG(name));
        vls_hint(err, "use a word such as 'before-deploy'");
    }
    if (rc < 0)
        return rc;
    if (ledger->frozen)
        return vls_fail(err, VALISE_E_INVALID, "a snapshot cannot be changed");
    ledger->ops->enter(ledger->self);
    rc = ledger->ops->head(&head, ledger->self, err);
    row.backpack = head.id;
    if (rc == 0)
        rc = ledger->ops->row_get(&row, ledger->self, &vls_bag_checkpoints, err);
    if (rc == 1 && row.seq != head.last) {
        rc = vls_fail(err, VALISE_E_EXISTS, "'%.*s' already names the state after commit %lld",
                      VALISE_STR_ARG(name), (long long)row.seq);
        vls_hint(
            err,
            "choose another name, or remove that one: valise bp checkpoint BACKPACK %.*s --remove",
            VALISE_STR_ARG(name));
    } else if (rc == 0) {
        row = (vls_bag_checkpoint_row){
            .backpack = head.id, .name = name, .seq = head.last, .time = now, .actor = actor};
        rc = ledger->ops->row_put(ledger->self, &vls_bag_checkpoints, &row, err);
    }
    if (rc >= 0 && seq)
        *seq = row.seq;
    ledger->ops->leave(ledger->self);
    return rc < 0 ? rc : 0;
}

int vls_bag_checkpoint_remove(int64_t *seq, const vls_ledger *ledger, valise_str name,
                              valise_error *err)
{
    const vls_ledger_ops *ops = ledger->ops;
    vls_bag_checkpoint_row row = {.name = name};
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
        vls_hint(err, "'valise bp points' lists them");
    }
    ops->leave(ledger->self);
    return rc < 0 ? rc : 0;
}

/* ---- permissions and rules ---- */

/* Put the row, or delete it. */
static int change_row(const vls_ledger *ledger, const valise_coll *coll, void *row, valise_uuid *id,
                      bool put, valise_error *err)
{
    vls_ledger_head head;
    int rc;

    if (ledger->frozen)
        return vls_fail(err, VALISE_E_INVALID, "a snapshot cannot be changed");
    ledger->ops->enter(ledger->self);
    rc = ledger->ops->head(&head, ledger->self, err);
    if (rc == 0) {
        *id = head.id;
        rc = put ? ledger->ops->row_put(ledger->self, coll, row, err)
                 : ledger->ops->row_delete(ledger->self, coll, row, err);
    }
    ledger->ops->leave(ledger->self);
    return rc < 0 ? rc : 0;
}

int vls_bag_permit(const vls_ledger *ledger, valise_str node_id,
                   const valise_permissions *permissions, valise_error *err)
{
    vls_permission_row row = {.node_id = node_id};
    int rc = vls_bag_check_node(node_id, err);

    if (rc == 0 && permissions) {
        rc = vls_permissions_check(permissions, err);
        row.allow = *permissions;
    }
    return rc < 0 ? rc
                  : change_row(ledger, &vls_bag_permissions, &row, &row.backpack,
                               permissions != NULL, err);
}

static int check_nodes(valise_list nodes, valise_error *err)
{
    const valise_str *node = nodes.items;
    int rc = 0;

    if (nodes.count > VLS_BAG_LIST_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "%zu nodes: %d are allowed", nodes.count,
                        VLS_BAG_LIST_MAX);
    for (size_t i = 0; i < nodes.count && rc == 0; i++)
        rc = vls_bag_check_node(node[i], err);
    return rc;
}

static int take_rule(vls_rule_row *row, vls_arena *arena, valise_error *err)
{
    int rc = vls_bag_check_tag(row->tag, err);

    if (rc == 0)
        rc = check_nodes(row->read, err);
    if (rc == 0)
        rc = check_nodes(row->write, err);
    if (rc == 0)
        rc = vls_bag_sort_names(&row->read, row->read, arena, err);
    return rc < 0 ? rc : vls_bag_sort_names(&row->write, row->write, arena, err);
}

int vls_bag_tag_rule(const vls_ledger *ledger, valise_str tag, valise_list read, valise_list write,
                     vls_arena *arena, valise_error *err)
{
    vls_rule_row row = {.tag = tag, .read = read, .write = write};
    int rc = take_rule(&row, arena, err);

    return rc < 0 ? rc
                  : change_row(ledger, &vls_bag_rules, &row, &row.backpack,
                               read.items || write.items, err);
}

int vls_workspace_rule(valise_view *view, valise_str tag, valise_list read, valise_list write,
                       vls_arena *arena, valise_error *err)
{
    vls_rule_row row = {.tag = tag, .read = read, .write = write};
    int rc = take_rule(&row, arena, err);

    if (rc == 0)
        rc = read.items || write.items ? valise_view_put(view, &vls_bag_rules, &row, err)
                                       : valise_view_delete(view, &vls_bag_rules, &row, err);
    return rc < 0 ? rc : 0;
}
