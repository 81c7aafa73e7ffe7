/* op_index_list.c -- index:list, the memory indexes there are. */
#include "bus/follow.h"
#include "bus/read.h"
#include "kernel/kernel.h"

typedef struct index_row {
    valise_str name, help;
    bool loaded;
    int64_t seq, entries;
} index_row;

static const valise_field index_out[] = {
    VALISE_FIELD(index_row, name, STR, 0, "Its name, for index:query."),
    VALISE_FIELD(index_row, help, STR, 0, "What it holds."),
    VALISE_FIELD(index_row, loaded, BOOL, 0, "It is in memory."),
    VALISE_FIELD(index_row, seq, INT, 0, "The state it shows, if it is."),
    VALISE_FIELD(index_row, entries, INT, 0, "How many entries it has then."),
    VALISE_FIELD_END,
};

static int emit(valise_view *view, vls_index *index, valise_error *err)
{
    index_row row = {.name = valise_str_of(index->indexer->name),
                     .help = valise_str_of(index->indexer->help)};

    (void)pthread_mutex_lock(&index->lock);
    row.loaded = index->loaded;
    row.seq = index->seq;
    row.entries = (int64_t)index->map.len;
    (void)pthread_mutex_unlock(&index->lock);
    return valise_view_emit(view, &row, err);
}

static int index_query(valise_view *view, const void *args, void *result, valise_error *err)
{
    vls_feed *feed = vls_feed_of(vls_reading_of(view)->bus);
    int rc = 0;

    (void)args;
    (void)result;
    for (size_t i = 0; feed && rc == 0 && i < feed->indexes.count; i++)
        rc = emit(view, &feed->indexes.items[i], err);
    return rc;
}

const valise_op vls_op_kernel_index_list = {
    .size = sizeof(valise_op),
    .name = "index:list",
    .brief = "List the in-memory indexes.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "index:read",
    .out = index_out,
    .out_size = sizeof(index_row),
    .query = index_query,
    .example = "{}",
};
