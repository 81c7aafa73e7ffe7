/* op_create.c -- backpack:create, a new backpack, durable or ephemeral. */
#include <valise/sys/operation.h>

#include "backpack/ops.h"
#include "json/json.h"

static const valise_field create_in[] = {
    VALISE_FIELD_WITH(vls_create_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Name of the backpack.", .min = 1, .max = VLS_BAG_NAME_MAX),
    VALISE_FIELD(vls_create_args, lenient, BOOL, 0,
                 "A denied read finds nothing and a denied write does nothing, without an error."),
    VALISE_FIELD(vls_create_args, taint, BOOL, 0,
                 "Tag what a node packs after it has read an item with a sticky tag."),
    VALISE_FIELD_WITH(vls_create_args, sticky, LIST, VALISE_NULLABLE,
                      "Tags that are sticky (default: pii and secret).", .more = &vls_name_item,
                      .max = VLS_BAG_TAGS_MAX),
    VALISE_FIELD(vls_create_args, ephemeral, BOOL, 0,
                 "Keep it in memory only, until it is dropped or the process ends."),
    VALISE_FIELD_AS_WITH(vls_create_args, max_commits, "maxCommits", INT, 0,
                         "Ephemeral: commits of history to keep; 0 for 10,000.", .max = INT64_MAX),
    VALISE_FIELD_AS_WITH(vls_create_args, max_bytes, "maxBytes", INT, 0,
                         "Ephemeral: bytes of history to keep; 0 for 50 MiB.", .max = INT64_MAX),
    VALISE_FIELD_WITH(vls_create_args, archive, STR, 0,
                      "Ephemeral: a durable backpack that receives what is dropped.",
                      .max = VLS_BAG_NAME_MAX),
    VALISE_FIELD(vls_create_args, items, VALUE, VALISE_NULLABLE,
                 "Initial items as an object; the node `system` packs them."),
    VALISE_FIELD_END,
};

static const valise_field create_out[] = {
    VALISE_FIELD(vls_create_result, id, UUID, 0, "Id of the backpack."),
    VALISE_FIELD(vls_create_result, seq, INT, 0, "Number of its newest commit."),
    VALISE_FIELD_END,
};

/* ---- the first items ---- */

int vls_create_each_item(valise_str items, const valise_env *env, vls_member_fn *fn, void *arg,
                         valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf text = {0};
    vls_json object;
    int rc;

    vls_arena_init(&arena, env, VLS_VIEW_MAX_BYTES);
    vls_buf_init(&text, env, VLS_JSON_MAX_BYTES);
    rc = vls_json_parse(&object, &arena, items, NULL, err);
    if (rc == 0 && object.type != VLS_JSON_OBJECT)
        rc = vls_fail(err, VALISE_E_INVALID, "items is not an object");
    for (uint32_t i = 0; rc == 0 && i < object.len; i++) {
        vls_buf_clear(&text);
        rc = vls_json_write(&text, object.members[i].value, err);
        if (rc == 0)
            rc = fn(arg, vls_json_str(object.members[i].key), vls_buf_str(&text), err);
    }
    if (rc < 0)
        vls_error_prepend(err, "items");
    return rc;
}

typedef struct packing {
    valise_view *view;
    const vls_ledger *ledger;
    vls_scope *scope;
    int64_t seq; /* of the last commit */
} packing;

static int pack_one(void *arg, valise_str key, valise_str value, valise_error *err)
{
    packing *p = arg;
    const vls_change_call call = {.now = p->view->stamp.time, .arena = &p->view->arena};
    vls_pack_args args = {.node_id = VLS_STR("system"),
                          .node_name = VLS_STR("system"),
                          .expect = VALISE_NONE,
                          .value = {.size = (int64_t)value.len}};
    vls_done done = {0};
    int rc = vls_arena_dup(&args.key, &p->view->arena, key, err);

    if (rc == 0)
        rc = vls_arena_dup(&args.value.bytes, &p->view->arena, value, err);
    if (rc == 0)
        rc = vls_object_id(&args.value.id, "value", value, err);
    if (rc == 0)
        rc = vls_bag_pack(&done, p->ledger, p->scope, &args, &call, err);
    p->seq = done.packed.seq;
    return rc;
}

static int pack_items(int64_t *seq, valise_view *view, const vls_ledger *ledger, valise_str items,
                      valise_error *err)
{
    packing p = {.view = view, .ledger = ledger};
    VLS_AUTO(scope) vls_scope *scope = NULL;
    int rc = vls_scope_new(&scope, view->arena.env, ledger, NULL, err);

    if (rc < 0)
        return rc;
    p.scope = scope;
    rc = vls_create_each_item(items, view->arena.env, pack_one, &p, err);
    *seq = p.seq;
    return rc;
}

/* ---- deciding ---- */

static int check_sticky(valise_list *sticky, valise_view *view, valise_error *err)
{
    if (sticky->items)
        return vls_bag_take_tags(sticky, *sticky, &view->arena, err);
    *sticky = vls_bag_sticky;
    return 0;
}

static int create_durable(vls_create_result *result, valise_view *view, const vls_create_args *args,
                          valise_error *err)
{
    VLS_AUTO(rows) vls_rows rows = {0};
    vls_bag_row bag = {
        .name = args->name, .lenient = args->lenient, .taint = args->taint, .sticky = args->sticky};
    vls_ledger ledger;
    int rc = vls_rows_make(&bag, view, err);

    if (rc < 0)
        return rc;
    result->id = bag.id;
    if (!args->items.bytes.ptr)
        return 0;
    rc = vls_rows_open_id(&rows, view, &bag.id, err);
    ledger = vls_rows_ledger(&rows);
    return rc < 0 ? rc : pack_items(&result->seq, view, &ledger, args->items.bytes, err);
}

static int create_ephemeral(vls_create_result *result, valise_view *view,
                            const vls_create_args *args, valise_error *err)
{
    VLS_AUTO(ephemeral) vls_ephemeral *made = NULL;
    valise *v = vls_view_bus(view);
    vls_ephemeral_new like = {.name = args->name,
                              .archive = args->archive,
                              .actor = view->stamp.actor,
                              .created = view->stamp.time,
                              .id = &result->id};
    const vls_ring_options options = {.lenient = args->lenient,
                                      .taint = args->taint,
                                      .sticky = args->sticky,
                                      .max_commits = args->max_commits,
                                      .max_bytes = args->max_bytes};
    vls_ledger ledger;
    int rc = vls_bag_check_name(args->name, err);

    if (rc == 0)
        rc = vls_ephemeral_check_name(view, args->name, err);
    if (rc == 0 && args->archive.len > 0)
        rc = vls_ephemeral_check_archive(view, args->archive, err);
    if (rc == 0)
        rc = valise_view_uuid(&result->id, view, err);
    if (rc == 0)
        rc = vls_ephemeral_make(&made, v, &like, &options, err);
    if (rc != 0)
        return rc;
    ledger = vls_ring_ledger(made->ring);
    rc = vls_ephemeral_take_rules(made, view, err);
    if (rc == 0 && args->items.bytes.ptr)
        rc = pack_items(&result->seq, view, &ledger, args->items.bytes, err);
    if (rc < 0)
        (void)vls_ephemeral_drop(v, args->name);
    return rc;
}

static int check_bounds(const vls_create_args *args, valise_error *err)
{
    if (args->ephemeral ||
        (args->max_commits == 0 && args->max_bytes == 0 && args->archive.len == 0))
        return 0;
    return vls_ephemeral_only(err);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    vls_create_args args = *(const vls_create_args *)in;
    int rc = check_sticky(&args.sticky, view, err);

    if (rc == 0)
        rc = check_bounds(&args, err);
    if (rc < 0)
        return rc;
    return args.ephemeral ? create_ephemeral(out, view, &args, err)
                          : create_durable(out, view, &args, err);
}

static bool is_apart(valise *v, const void *in)
{
    (void)v;
    return ((const vls_create_args *)in)->ephemeral;
}

const valise_op vls_op_backpack_create = {
    .size = sizeof(valise_op),
    .name = "backpack:create",
    .brief = "Create a backpack.",
    .help = "A backpack is the working state of a run: items with their history, kept in the "
            "workspace. An ephemeral one lives in the memory of the process that makes it; from "
            "the command line it would end with the command.",
    .kind = VALISE_COMMAND,
    .needs = "backpack:write",
    .in = create_in,
    .in_size = sizeof(vls_create_args),
    .out = create_out,
    .out_size = sizeof(vls_create_result),
    .decide = decide,
    .apart = is_apart,
    .example = "{\"items\":{\"query\":\"What is AI?\"},\"name\":\"run-1\"}",
};
