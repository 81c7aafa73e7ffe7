/* op_index_count.c -- index:count, how many entries of a memory index begin like this. */
#include "bus/follow.h"
#include "bus/read.h"
#include "bus/sight.h"
#include "kernel/kernel.h"

typedef struct count_args {
    valise_str name, prefix;
} count_args;

static const valise_field count_in[] = {
    VALISE_FIELD(count_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Name of the index."),
    VALISE_FIELD_WITH(count_args, prefix, STR, VALISE_POSITIONAL, "Prefix of the keys.",
                      .max = VLS_INDEX_KEY_MAX),
    VALISE_FIELD_END,
};

typedef struct count_result {
    int64_t count, seq;
} count_result;

static const valise_field count_out[] = {
    VALISE_FIELD(count_result, count, INT, VALISE_REQUIRED, "How many entries there are."),
    VALISE_FIELD(count_result, seq, INT, VALISE_REQUIRED, "Of the state after this log entry."),
    VALISE_FIELD_END,
};

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const count_args *args = in;
    VLS_AUTO(pmap) vls_pmap map = {0};
    count_result *out = result;
    vls_feed *feed;
    vls_index *index;
    int rc = vls_feed_need(&feed, vls_reading_of(view)->bus, err);

    if (rc == 0)
        rc = vls_indexes_find(&index, &feed->indexes, args->name, err);
    if (rc == 0)
        rc = vls_sight_index(view, index, err);
    if (rc == 0)
        rc = vls_index_read(&map, index, view, err);
    if (rc < 0)
        return rc;
    *out = (count_result){(int64_t)vls_pmap_count_in(&map, args->prefix),
                          valise_view_stamp(view)->seq};
    return 0;
}

const valise_op vls_op_kernel_index_count = {
    .size = sizeof(valise_op),
    .name = "index:count",
    .brief = "Count the entries of an index, or those with a key prefix.",
    .help = "The entries are not read: it takes as long for one as for a million. `index count "
            "blobs HASH/` tells how many holds a blob has, `index count topics NAME/session/` how "
            "many sessions have a topic.",
    .kind = VALISE_QUERY,
    .needs = "index:read",
    .in = count_in,
    .in_size = sizeof(count_args),
    .out = count_out,
    .out_size = sizeof(count_result),
    .query = query,
    .example = "{\"name\":\"notes\",\"prefix\":\"2026-\"}",
};
