/* rows_read.c -- the log of reads: a ring of rows that are no state (bag.h, backpack_read).
 *
 * The bus writes them in batches beside the commands (bus/read_log.h), so that reading an item
 * waits for nothing; those that are not written yet are shown too. */
#include "backpack/rows.h"

#include "base/uuid.h"
#include "bus/bus.h"
#include "bus/read_log.h"

void vls_rows_read_add(void *self, const vls_ledger_read *read)
{
    const vls_rows *rows = self;
    valise *v = vls_view_bus(rows->view);
    const vls_bag_read_row entry = {.backpack = rows->bag.id,
                                    .time = read->time,
                                    .actor = rows->view->stamp.actor,
                                    .node_id = read->node_id,
                                    .node_name = read->node_name,
                                    .namespace_name = read->namespace_name,
                                    .key = read->key,
                                    .action = read->action,
                                    .seq = read->seq,
                                    .version = read->version,
                                    .outcome = read->outcome,
                                    .tags = read->tags};

    if (v)
        vls_read_log_put(v, &vls_bag_reads, &entry);
}

typedef struct telling {
    const valise_uuid *backpack;
    int (*fn)(void *arg, const vls_ledger_read *read, valise_error *err);
    void *arg;
} telling;

static int tell(void *arg, const void *row, valise_error *err)
{
    const telling *t = arg;
    const vls_bag_read_row *entry = row;
    const vls_ledger_read read = {.node_id = entry->node_id,
                                  .node_name = entry->node_name,
                                  .namespace_name = entry->namespace_name,
                                  .key = entry->key,
                                  .action = entry->action,
                                  .seq = entry->seq,
                                  .version = entry->version,
                                  .outcome = entry->outcome,
                                  .time = entry->time,
                                  .tags = entry->tags};

    return vls_uuid_equal(&entry->backpack, t->backpack) ? t->fn(t->arg, &read, err) : 0;
}

int vls_rows_each_read(void *self,
                       int (*fn)(void *arg, const vls_ledger_read *read, valise_error *err),
                       void *arg, valise_error *err)
{
    const vls_rows *rows = self;
    valise *v = vls_view_bus(rows->view);
    telling t = {&rows->bag.id, fn, arg};
    const vls_bag_read_row probe = {.backpack = rows->bag.id};
    const valise_select select = {
        .index = "backpack", .row = &probe, .equal = 1, .flags = VALISE_SCAN_REVERSE};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_bag_read_row entry;
    int rc = v ? vls_read_log_rows(v, &vls_bag_reads, tell, &t, err) : 0;

    if (rc == 0)
        rc = valise_view_scan(&scan, rows->view, &vls_bag_reads, &select, err);
    while (rc == 0 && (rc = valise_scan_next(&entry, scan, err)) > 0)
        rc = tell(&t, &entry, err);
    return rc;
}
