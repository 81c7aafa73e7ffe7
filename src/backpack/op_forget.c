/* op_forget.c -- backpack:forget, the rows of a durable backpack go, some at a time.
 *
 * The first command marks the backpack as dropped: nobody can open it from then on, its name is
 * free, and what is left is nobody's. Each takes some rows away, the last one the backpack. What a
 * crash leaves behind the next `gc` finishes. */
#include "backpack/ops.h"

#include "base/text.h"

#define STEP 1000 /* rows that one command removes */

static const valise_field forget_in[] = {
    VALISE_FIELD(vls_forget_args, backpack, UUID, VALISE_REQUIRED, "The backpack."),
    VALISE_FIELD_END,
};

static const valise_field forget_out[] = {
    VALISE_FIELD(vls_forget_result, removed, INT, 0, "Rows that are gone."),
    VALISE_FIELD(vls_forget_result, done, BOOL, 0, "All of it is gone."),
    VALISE_FIELD_END,
};

/* A fork has no commits of its origin. */
static int check_forks(valise_view *view, const vls_bag_row *bag, valise_error *err)
{
    const vls_bag_row probe = {.origin = bag->id};
    const valise_select select = {.index = "origin", .row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_bag_row fork = {.name = {NULL, 0}};
    int rc = valise_view_scan(&scan, view, &vls_bags, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&fork, scan, err)) > 0 && fork.dropped)
        rc = 0;
    if (rc <= 0)
        return rc;
    (void)vls_fail(err, VALISE_E_CONFLICT, "'%s' is a fork of '%s'", vls_text_short(fork.name).s,
                   vls_text_short(bag->name).s);
    vls_hint(err, "drop '%s' first", vls_text_short(fork.name).s);
    return VALISE_E_CONFLICT;
}

/* Rows of which only the key is known, up to STEP of them. In the arena of the view. */
typedef struct key_list {
    void *rows[STEP];
    size_t count;
} key_list;

/* All at once, and then they are deleted: a scan goes over what was deleted before it, so that one
 * for each row would read each row once for every other. */
static int read_keys(key_list *out, size_t most, valise_view *view, const valise_coll *desc,
                     const valise_uuid *backpack, valise_error *err)
{
    const vls_coll *coll = vls_store_coll(view->txn->store, desc);
    const valise_select select = {.row = backpack, .equal = 1}; /* the first member of all */
    VLS_AUTO(scan) valise_scan *scan = NULL;
    const valise_cell *cells;
    int rc = valise_view_scan(&scan, view, desc, &select, err);

    out->count = 0;
    while (rc == 0 && out->count < most &&
           (rc = vls_scan_next_cells(&cells, NULL, scan, err)) > 0) {
        void *row = vls_arena_zalloc(&view->arena, desc->row_size);
        if (!row)
            return vls_arena_fail(&view->arena, err);
        rc = vls_row_from_cells(row, desc->fields, desc->row_size, cells, coll->key_count,
                                &view->arena, err);
        out->rows[out->count++] = row;
    }
    return rc;
}

static int remove_rows(int64_t *removed, valise_view *view, const valise_coll *coll,
                       const valise_uuid *backpack, valise_error *err)
{
    key_list keys;
    int rc = read_keys(&keys, (size_t)(STEP - *removed), view, coll, backpack, err);

    for (size_t i = 0; rc >= 0 && i < keys.count; i++) {
        rc = valise_view_delete(view, coll, keys.rows[i], err);
        *removed += rc > 0;
    }
    return rc < 0 ? rc : 0;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    static const valise_coll *const colls[] = {
        &vls_bag_commits,     &vls_bag_quarantines, &vls_bag_checkpoints, &vls_bag_runs,
        &vls_bag_permissions, &vls_bag_rules,       &vls_bag_taints,      &vls_bag_merges};
    const vls_forget_args *args = in;
    vls_forget_result *result = out;
    vls_bag_row bag = {.id = args->backpack};
    int rc = valise_view_get(&bag, view, &vls_bags, err);

    if (rc == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no such backpack");
    rc = rc < 0 || bag.dropped ? vls_settle(rc) : check_forks(view, &bag, err);
    for (size_t i = 0; rc == 0 && i < VLS_COUNT(colls); i++)
        rc = remove_rows(&result->removed, view, colls[i], &bag.id, err);
    if (rc < 0)
        return rc;
    result->done = result->removed < STEP;
    if (result->done) {
        rc = valise_view_delete(view, &vls_bags, &bag, err);
        return rc < 0 ? rc : 0;
    }
    bag.dropped = true;
    return valise_view_put(view, &vls_bags, &bag, err);
}

const valise_op vls_op_backpack_forget = {
    .size = sizeof(valise_op),
    .name = "backpack:forget",
    .brief = "Remove rows of a backpack that is dropped.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = forget_in,
    .in_size = sizeof(vls_forget_args),
    .out = forget_out,
    .out_size = sizeof(vls_forget_result),
    .decide = decide,
    .example = "{\"backpack\":\"018f2c4e-7b1a-7c3d-9e4f-000000000001\"}",
};
