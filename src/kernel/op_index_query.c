/* op_index_query.c -- index:query, entries of a memory index by the beginning of their keys. */
#include "base/str.h"
#include "bus/follow.h"
#include "bus/read.h"
#include "bus/sight.h"
#include "kernel/kernel.h"

typedef struct query_args {
    valise_str name, prefix, after;
    int64_t limit;
} query_args;

static const valise_field query_in[] = {
    VALISE_FIELD(query_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Name of the index."),
    VALISE_FIELD_WITH(query_args, prefix, STR, VALISE_POSITIONAL, "Prefix of the keys.",
                      .max = VLS_INDEX_KEY_MAX),
    VALISE_FIELD_WITH(query_args, after, STR, 0,
                      "Only keys after this one, such as the last of the previous page.",
                      .max = VLS_INDEX_KEY_MAX),
    VALISE_FIELD_WITH(query_args, limit, INT, 0, "At most this many; 0 for all.", .max = INT64_MAX),
    VALISE_FIELD_END,
};

typedef struct query_row {
    valise_str key, value;
} query_row;

static const valise_field query_out[] = {
    VALISE_FIELD(query_row, key, STR, 0, "Key of the entry."),
    VALISE_FIELD(query_row, value, JSON, 0, "What it says."),
    VALISE_FIELD_END,
};

static int emit(void *arg, const vls_index_entry *entry, valise_error *err)
{
    query_row row = {entry->key, entry->json};

    return valise_view_emit(arg, &row, err);
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const query_args *args = in;
    const vls_index_range range = {args->prefix, args->after, (uint64_t)args->limit};
    VLS_AUTO(pmap) vls_pmap map = {0};
    vls_feed *feed;
    vls_index *index;
    int rc = vls_feed_need(&feed, vls_reading_of(view)->bus, err);

    (void)result;
    if (rc == 0)
        rc = vls_indexes_find(&index, &feed->indexes, args->name, err);
    if (rc == 0)
        rc = vls_sight_index(view, index, err);
    if (rc == 0)
        rc = vls_index_read(&map, index, view, err);
    return rc < 0 ? rc : vls_index_each(&map, &range, emit, view, err);
}

const valise_op vls_op_kernel_index_query = {
    .size = sizeof(valise_op),
    .name = "index:query",
    .brief = "List entries of an index in key order.",
    .help = "Besides index:read this needs the right to read the rows that the index is made from.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "index:read",
    .in = query_in,
    .in_size = sizeof(query_args),
    .out = query_out,
    .out_size = sizeof(query_row),
    .query = query,
    .example = "{\"name\":\"notes\",\"prefix\":\"2026-\",\"limit\":20}",
};

/* ---- the same in C ---- */

typedef struct reading {
    valise_index_fn *fn;
    void *arg;
    int said; /* by fn */
} reading;

static int tell(void *arg, const void *row, valise_error *err)
{
    reading *r = arg;
    const query_row *entry = row;

    r->said = r->fn(r->arg, entry->key, entry->value, err);
    return r->said;
}

int valise_index_each(valise *v, const char *index, valise_str prefix, valise_index_fn *fn,
                      void *arg, const valise_call *call, valise_error *err)
{
    reading r = {.fn = fn, .arg = arg};
    const vls_run_more more = {.emit = tell, .emit_arg = &r};
    query_args args = {.prefix = prefix};
    int rc;

    VLS_ARG(v && index && fn, err);
    args.name = valise_str_of(index);
    rc = vls_run(v, &vls_op_kernel_index_query, &args, NULL, NULL, call, &more, err);
    return rc == 0 ? r.said : rc;
}

typedef struct getting {
    valise *v;
    valise_str key;
    valise_blob *found;
} getting;

/* The first with this beginning is the key itself, if it is there. */
static int get(void *arg, valise_str key, valise_str json, valise_error *err)
{
    getting *g = arg;
    int rc;

    if (!vls_str_equal(key, g->key))
        return 1;
    rc = vls_blob_new(&g->found, g->v->env, json, err);
    return rc < 0 ? rc : 1;
}

int valise_index_get(valise_blob **json, valise *v, const char *index, valise_str key,
                     const valise_call *call, valise_error *err)
{
    getting g = {.v = v, .key = key};
    int rc;

    VLS_ARG(json && v && index && key.ptr, err);
    rc = valise_index_each(v, index, key, get, &g, call, err);
    if (rc < 0)
        return rc;
    if (!g.found)
        return 0;
    *json = g.found;
    return 1;
}
