/* op_event_list.c -- event:list, what happened, the oldest first. */
#include "bus/event.h"
#include "bus/sight.h"
#include "kernel/kernel.h"

typedef struct event_args {
    int64_t since, index, until, limit;
    valise_list types; /* of STR */
    valise_str node, run, name_space;
} event_args;

static const valise_field type_item = {.type = VALISE_T_STR, .min = 1, .max = 1024};

static const valise_field event_in[] = {
    VALISE_FIELD_WITH(event_args, since, INT, 0, "From this seq on; 0 for the oldest.",
                      .ref = "log", .max = INT64_MAX),
    VALISE_FIELD_WITH(event_args, index, INT, 0, "Within that seq, from this event on.",
                      .max = UINT32_MAX),
    VALISE_FIELD_WITH(event_args, until, INT, 0, "Up to this seq; 0 for the newest.", .ref = "log",
                      .max = INT64_MAX),
    VALISE_FIELD_WITH(event_args, limit, INT, 0, "At most this many; 0 for all.", .max = INT64_MAX),
    VALISE_FIELD_WITH(event_args, types, LIST, 0, "Only these types; * matches anything.",
                      .more = &type_item, .max = 256),
    VALISE_FIELD(event_args, node, STR, 0, "Only events of this node."),
    VALISE_FIELD(event_args, run, STR, 0, "Only events of this run."),
    VALISE_FIELD_AS(event_args, name_space, "namespace", STR, 0,
                    "Only events of these namespaces, such as sales.*."),
    VALISE_FIELD_END,
};

typedef struct event_row {
    int64_t seq, index, time;
    valise_uuid id, cause;
    valise_str type, source, node_id, name_space, run_id, payload;
} event_row;

static const valise_field event_out[] = {
    VALISE_FIELD(event_row, seq, INT, 0, "The command."),
    VALISE_FIELD(event_row, index, INT, 0, "Which event of that command; 0: the command itself."),
    VALISE_FIELD(event_row, time, TIME, 0, "When."),
    VALISE_FIELD(event_row, type, STR, 0, "What."),
    VALISE_FIELD(event_row, source, STR, 0, "Who."),
    VALISE_FIELD_AS(event_row, node_id, "nodeId", STR, 0, "The node, if there is one."),
    VALISE_FIELD_AS(event_row, name_space, "namespace", STR, 0, "The namespace, if there is one."),
    VALISE_FIELD_AS(event_row, run_id, "runId", STR, 0, "The run, if there is one."),
    VALISE_FIELD(event_row, id, UUID, 0, "Id of the event."),
    VALISE_FIELD(event_row, cause, UUID, VALISE_NULLABLE, "Id of the command that led to it."),
    VALISE_FIELD(event_row, payload, JSON, 0, "Ids and sizes, never contents."),
    VALISE_FIELD_END,
};

typedef struct listing {
    valise_view *view;
    const event_args *args;
    valise_filter filter;
    vls_ahead ahead;
    int64_t count, entries;
} listing;

static int make_filter(valise_filter *out, valise_view *view, const event_args *args,
                       valise_error *err)
{
    const valise_str *types = args->types.items;
    const char **list;

    *out = (valise_filter){.size = sizeof(*out),
                           .node_id = args->node,
                           .run_id = args->run,
                           .namespace_pattern = args->name_space};
    if (args->types.count > 0) {
        list = vls_arena_array(&view->arena, args->types.count + 1, sizeof(*list));
        if (!list)
            return vls_arena_fail(&view->arena, err);
        for (size_t i = 0; i < args->types.count; i++) {
            valise_str copy;
            int rc = vls_arena_dup(&copy, &view->arena, types[i], err);
            if (rc < 0)
                return rc;
            list[i] = copy.ptr;
        }
        list[args->types.count] = NULL;
        out->types = list;
    }
    return vls_filter_check(out, err);
}

static int emit(valise_view *view, const valise_event *e, valise_error *err)
{
    event_row row = {.seq = e->seq,
                     .index = e->index,
                     .time = e->time,
                     .id = e->id,
                     .cause = e->cause,
                     .type = e->type,
                     .source = e->source,
                     .node_id = e->node_id,
                     .name_space = e->namespace_name,
                     .run_id = e->run_id,
                     .payload = e->payload};

    return valise_view_emit(view, &row, err);
}

static bool is_full(const listing *l)
{
    return l->args->limit > 0 && l->count >= l->args->limit;
}

static int list_entry(listing *l, const vls_entry *entry, valise_error *err)
{
    VLS_AUTO(events) vls_events *events = NULL;
    int rc = 0;

    /* Who lists but a few need not look ahead. */
    if (++l->entries > VLS_AHEAD_LAG)
        rc = vls_ahead_prepare(&l->ahead, l->view->txn, entry->seq, err);
    if (rc == 0)
        rc = vls_events_of_entry(&events, l->view->txn, entry, &l->ahead, err);
    if (rc < 0)
        return rc;
    assert(events);

    for (size_t i = 0; rc >= 0 && i < events->count && !is_full(l); i++) {
        const valise_event *event = &events->events[i];
        if (entry->seq == l->args->since && event->index < l->args->index)
            continue;
        if (!vls_filter_match(&l->filter, event))
            continue;
        rc = vls_sight_event(l->view, event, entry->type, err);
        if (rc > 0) {
            l->count++;
            rc = emit(l->view, event, err);
        }
    }
    return rc < 0 ? rc : 0;
}

static int check_since(const valise_view *view, int64_t since, valise_error *err)
{
    int64_t base = view->txn->tip.base_seq;

    if (since == 0 || since > base)
        return 0;
    (void)vls_fail(err, VALISE_E_LIMIT, "the log no longer has the events of seq %lld",
                   (long long)since);
    vls_hint(err, "the oldest seq is %lld", (long long)base + 1);
    return VALISE_E_LIMIT;
}

static int event_query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const event_args *args = in;
    int64_t last = args->until > 0 ? VLS_MIN(args->until, view->at) : view->at;
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    listing l = {.view = view, .args = args};
    vls_entry entry;
    int rc = check_since(view, args->since, err);

    (void)result;
    if (rc == 0)
        rc = make_filter(&l.filter, view, args, err);
    if (rc == 0)
        rc = vls_log_scan_open(&scan, view->txn, VLS_MAX(args->since, 1), false, err);
    vls_arena_init(&arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    while (rc >= 0 && !is_full(&l) && (rc = vls_log_scan_next(&entry, &scan, &arena, err)) > 0) {
        if (entry.seq > last)
            break;
        rc = list_entry(&l, &entry, err);
        vls_arena_reset(&arena);
    }
    vls_ahead_release(&l.ahead);
    return rc < 0 ? rc : 0;
}

const valise_op vls_op_kernel_event_list = {
    .size = sizeof(valise_op),
    .name = "event:list",
    .alias = "events",
    .brief = "Show events, oldest first.",
    .help = "Each command of the log is an event, and so are the notable changes it made. Events "
            "hold ids and sizes, never contents. Events that the actor may not see are left out.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "event:read",
    .in = event_in,
    .in_size = sizeof(event_args),
    .out = event_out,
    .out_size = sizeof(event_row),
    .query = event_query,
    .example = "{\"since\":1,\"types\":[\"pin:*\"],\"limit\":10}",
};
