/* api_item.c -- the C functions on single items. */
#include "backpack/handle.h"

#include "base/sized.h"
#include "base/text.h"
#include "base/utf8.h"
#include "bus/read_log.h"
#include "json/json.h"
#include "store/object.h"

/* A text that is unpacked, besides its bytes. */
#define TEXT_ROOM ((size_t)1 << 16)

/* ---- packing ---- */

static int pack_short(valise_packed *out, valise_backpack *bag, valise_str key, valise_str json,
                      const valise_pack_options *o, valise_list taints, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_pack_args args = {.key = key,
                          .node_id = o->node_id,
                          .node_name = o->node_name,
                          .namespace_name = o->namespace_name,
                          .tags = o->tags,
                          .read = o->read,
                          .write = o->write,
                          .declassify = o->declassify,
                          .taints = taints,
                          .expect = o->expect};
    vls_change_call call = {.now = vls_clock_now_ns(&bag->v->clock), .arena = &arena};
    vls_ledger ledger = vls_ring_ledger(bag->ring);
    vls_done done; /* large: what is needed of it is set */
    int rc = vls_handle_check(&bag, 1, err);

    done.denied = false;
    if (rc == 0)
        rc = vls_handle_allowed(bag, VLS_HANDLE_WRITE, call.now, err);
    if (rc == 0)
        rc = vls_json_canonical(&blob, bag->env, json, err);
    if (rc < 0)
        return rc;
    assert(blob);
    args.blob = blob;
    args.value = vls_use_content(blob);
    rc = vls_object_id(&args.value.id, "value", args.value.bytes, err);
    if (rc == 0 && o->declassify.count > 0)
        rc = vls_handle_may(bag, "backpack:declassify", err);
    if (rc < 0)
        return rc;
    call.may_declassify = true; /* else it would not be here */
    vls_arena_init(&arena, bag->env, (size_t)1 << 20);
    rc = vls_bag_pack(&done, &ledger, bag->scope, &args, &call, err);
    if (rc == VALISE_E_DENIED || done.denied) {
        vls_handle_tell_access(bag, key, VALISE_ACTION_PACK, VALISE_READ_DENIED, call.now);
    } else if (rc == 0) {
        vls_handle_tell(bag, &done);
        vls_handle_seen(bag, key, VALISE_ACTION_PACK, VALISE_NONE);
    }
    if (rc == 0 && out)
        *out = done.packed;
    return rc;
}

/* ---- packs that wait ---- */

typedef struct asking {
    valise_backpack *bag;
    valise_str key, namespace_name;
    int64_t now;
    bool denied, lenient;
} asking;

/* With the permissions of today; what waits changes none. Denials are recorded. */
static int ask(void *arg, valise_view *view, valise_error *err)
{
    asking *a = arg;
    vls_scope *scope = a->bag->scope;
    vls_rows rows = {0};
    vls_ledger ledger;
    vls_ledger_head head;
    int rc = vls_rows_open_id(&rows, view, &a->bag->id, err);

    if (rc < 0)
        return rc;
    ledger = vls_rows_ledger(&rows);
    rc = vls_scope_enter(&head, scope, &ledger, err);
    if (rc == 0) {
        const vls_ledger_read denied = {.node_id = vls_scope_node_id(scope),
                                        .node_name = vls_scope_node_name(scope),
                                        .key = a->key,
                                        .action = VALISE_ACTION_PACK,
                                        .outcome = VALISE_READ_DENIED,
                                        .time = view->stamp.time};
        a->now = view->stamp.time;
        a->lenient = head.lenient;
        a->denied = !vls_scope_may_write(scope, a->key, NULL, a->namespace_name);
        if (a->denied)
            ledger.ops->read_add(ledger.self, &denied);
        vls_scope_leave(&ledger);
    }
    vls_rows_close(&rows);
    return rc;
}

/* What the node may not write, whatever is there, is not for later: 1, 0 for a lenient backpack, or
 * VALISE_E_DENIED. The scope may know old permissions: before it denies, it looks. What it allows
 * wrongly the flush refuses. */
static int may_wait(valise_backpack *bag, valise_str key, valise_error *err)
{
    asking a = {.bag = bag, .key = key, .namespace_name = vls_scope_namespace(bag->scope)};
    const valise_call call = vls_handle_call(bag);
    int rc;

    if (a.namespace_name.len == 0)
        a.namespace_name = (valise_str){NULL, 0};
    if (vls_scope_may_write(bag->scope, key, NULL, a.namespace_name) || vls_bus_is_inside(bag->v))
        return 1;
    rc = vls_with_view(bag->v, &call, ask, &a, err);
    if (rc < 0)
        return rc;
    if (!a.denied)
        return 1;
    vls_handle_tell_access(bag, key, VALISE_ACTION_PACK, VALISE_READ_DENIED, a.now);
    if (a.lenient)
        return 0;
    vls_read_log_refuse(bag->v, bag->actor, &vls_op_backpack_pack);
    return vls_scope_deny(bag->scope, "write", key, err);
}

/* A pack that waits: what is wrong with it whatever the state, is said now. */
static int pack_later(valise_packed *out, valise_backpack *bag, vls_op_pack_args *args,
                      valise_blob *blob, const valise_call *call, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    const vls_pack_args check = {.key = args->key,
                                 .value = args->value,
                                 .blob = blob,
                                 .node_id = args->who.node_id,
                                 .node_name = args->who.node_name,
                                 .namespace_name = args->who.namespace_name,
                                 .tags = args->tags,
                                 .read = args->read,
                                 .write = args->write,
                                 .declassify = args->declassify,
                                 .taints = args->taints,
                                 .expect = VALISE_NONE};
    const vls_change_call when = {.may_declassify = true, .arena = &arena};
    int may = 0, rc = vls_handle_check(&bag, 1, err);

    vls_arena_init(&arena, bag->env, (size_t)1 << 20);
    if (rc == 0)
        rc = vls_bag_pack_check(bag->scope, &check, &when, err);
    if (rc == 0)
        rc = may = may_wait(bag, args->key, err);
    if (rc > 0)
        rc = vls_handle_queue(bag, &vls_op_backpack_pack, args, call, err);
    if (rc == 0 && may > 0)
        vls_handle_seen(bag, args->key, VALISE_ACTION_PACK, VALISE_NONE);
    if (rc == 0 && out) /* the rest shows when it is flushed */
        *out = (valise_packed){.applied = may > 0};
    return rc;
}

/* A command on one item that answers with a valise_packed. */
static int run_one(valise_packed *out, valise_backpack *bag, const valise_op *op, void *args,
                   valise_str key, int64_t action, const valise_call *call, valise_error *err)
{
    valise_packed packed = {.applied = false};
    int rc = vls_handle_run(bag, op, args, &packed, call, err);

    if (rc < 0)
        return rc;
    if (packed.applied)
        vls_handle_seen(bag, key, action, VALISE_NONE);
    if (out)
        *out = packed;
    return rc;
}

static int pack_long(valise_packed *out, valise_backpack *bag, valise_str key, valise_str json,
                     const valise_pack_options *o, valise_list taints, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    vls_op_pack_args args = {.who = {.node_id = o->node_id,
                                     .node_name = o->node_name,
                                     .namespace_name = o->namespace_name},
                             .key = key,
                             .tags = o->tags,
                             .read = o->read,
                             .write = o->write,
                             .declassify = o->declassify,
                             .taints = taints};
    valise_call call = VALISE_CALL_INIT;
    char digits[VLS_U64_DIGITS];
    int rc = vls_json_canonical(&blob, bag->env, json, err);

    if (rc < 0)
        return rc;
    args.value = vls_use_content(blob);
    if (o->expect == 0)
        call.expect = VLS_STR("null");
    else if (o->expect != VALISE_NONE)
        call.expect = vls_u64_digits(digits, (uint64_t)o->expect);
    if (!bag->snapshot && vls_handle_behind(bag))
        return pack_later(out, bag, &args, blob, &call, err);
    return run_one(out, bag, &vls_op_backpack_pack, &args, key, VALISE_ACTION_PACK, &call, err);
}

int vls_handle_pack(valise_packed *out, valise_backpack *bag, valise_str key, valise_str json,
                    const valise_pack_options *options, valise_list taints, valise_error *err)
{
    valise_pack_options o = VALISE_PACK_OPTIONS_INIT;
    int rc;

    VLS_ARG(bag && key.ptr && json.ptr, err);
    rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_pack_options, tags),
                        "valise_pack_options", err);
    if (rc < 0)
        return rc;
    if (o.expect != VALISE_NONE && o.expect < 0)
        return vls_fail(err, VALISE_E_INVALID, "a version must not be negative");
    if (!bag->snapshot && vls_handle_is_short(bag))
        return pack_short(out, bag, key, json, &o, taints, err);
    return pack_long(out, bag, key, json, &o, taints, err);
}

int valise_pack_str(valise_packed *out, valise_backpack *bag, valise_str key, valise_str json,
                    const valise_pack_options *options, valise_error *err)
{
    return vls_handle_pack(out, bag, key, json, options, (valise_list){NULL, 0}, err);
}

int valise_pack(valise_packed *out, valise_backpack *bag, const char *key, const char *json,
                const valise_pack_options *options, valise_error *err)
{
    VLS_ARG(key && json, err);
    return valise_pack_str(out, bag, valise_str_of(key), valise_str_of(json), options, err);
}

static int write_text(vls_buf *out, valise_backpack *bag, valise_str text, valise_error *err)
{
    if (!vls_utf8_valid(text))
        return vls_fail(err, VALISE_E_INVALID, "the text is not UTF-8");
    vls_buf_init(out, bag->env, VLS_JSON_MAX_BYTES);
    vls_json_write_string(out, text);
    if (out->failed != VALISE_E_TOO_LARGE)
        return vls_buf_check(out, err);
    (void)vls_fail(err, VALISE_E_TOO_LARGE, "the text is too large: a value has at most %zu MiB",
                   VLS_JSON_MAX_BYTES >> 20);
    vls_hint(err, "register it with valise_blob_register_bytes, and pack the id of the blob");
    return VALISE_E_TOO_LARGE;
}

int valise_pack_text_str(valise_packed *out, valise_backpack *bag, valise_str key, valise_str text,
                         const valise_pack_options *options, valise_error *err)
{
    VLS_AUTO(buf) vls_buf json = {0};
    int rc;

    VLS_ARG(bag && (text.ptr || text.len == 0), err);
    rc = write_text(&json, bag, text, err);
    return rc < 0 ? rc : valise_pack_str(out, bag, key, vls_buf_str(&json), options, err);
}

int valise_pack_text(valise_packed *out, valise_backpack *bag, const char *key, const char *text,
                     const valise_pack_options *options, valise_error *err)
{
    VLS_ARG(key && text, err);
    return valise_pack_text_str(out, bag, valise_str_of(key), valise_str_of(text), options, err);
}

/* ---- getting ---- */

typedef struct getting {
    valise_str key;
    vls_look look;
    valise_blob *value;
    bool found;
} getting;

static int get(void *arg, const vls_glance *at, valise_error *err)
{
    getting *g = arg;
    int rc;

    g->look.now = at->now;
    rc = vls_bag_get(&g->value, at->seen->ledger, at->seen->scope, g->key, &g->look, err);
    g->found = rc > 0;
    return rc < 0 ? rc : 0;
}

/* From the newest state of a ring, which keeps itself what a node has read. */
static int get_short(getting *g, valise_backpack *bag, valise_error *err)
{
    int rc = vls_handle_check(&bag, 1, err);
    vls_ledger ledger = vls_ring_ledger(bag->ring);
    vls_scoped seen = {&ledger, bag->scope};
    vls_glance at = {.seen = {seen}, .now = rc == 0 ? vls_clock_now_ns(&bag->v->clock) : 0};

    if (rc == 0)
        rc = vls_handle_allowed(bag, VLS_HANDLE_READ, at.now, err);
    return rc < 0 ? rc : get(g, &at, err);
}

/* out NULL: is it there? */
static int get_value(valise_blob **out, valise_backpack *bag, valise_str key, bool record,
                     bool required, valise_error *err)
{
    getting g = {
        .key = key,
        .look = {
            .record = record, .required = required, .erased_too = !out, .outcome = VALISE_NONE}};
    int rc =
        bag->ring && !bag->snapshot ? get_short(&g, bag, err) : vls_handle_read(bag, get, &g, err);

    if (g.look.outcome == VALISE_READ_DENIED || (record && g.look.outcome != VALISE_NONE)) {
        vls_handle_tell_access(bag, key, VALISE_ACTION_UNPACK, g.look.outcome, g.look.now);
        vls_handle_seen(bag, key, VALISE_ACTION_UNPACK, g.look.outcome);
    }
    if (rc == 0 && g.found && out)
        *out = g.value;
    else
        valise_blob_unref(g.value);
    return rc < 0 ? rc : g.found;
}

int valise_unpack_str(valise_blob **out, valise_backpack *bag, valise_str key, valise_error *err)
{
    VLS_ARG(out && bag && key.ptr, err);
    return get_value(out, bag, key, true, false, err);
}

int valise_unpack(valise_blob **out, valise_backpack *bag, const char *key, valise_error *err)
{
    VLS_ARG(out && bag && key, err);
    return get_value(out, bag, valise_str_of(key), true, false, err);
}

/* The text of a value; key: for the message. */
static int read_text(valise_blob **out, valise_backpack *bag, valise_str key, valise_str json,
                     valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json value;
    int rc;

    if (json.ptr[0] != '"') /* canonical, so nothing stands before it */
        return vls_fail(err, VALISE_E_INVALID, "the value of '%s' is not a text",
                        vls_text_short(key).s);
    vls_arena_init(&arena, bag->env, TEXT_ROOM + 2 * json.len);
    rc = vls_json_parse(&value, &arena, json, NULL, err);
    return rc < 0 ? rc : vls_blob_new(out, bag->env, vls_json_str(value), err);
}

int valise_unpack_text(valise_blob **out, valise_backpack *bag, const char *key, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *json = NULL;
    int rc;

    VLS_ARG(out && bag && key, err);
    rc = valise_unpack(&json, bag, key, err);
    if (rc <= 0)
        return rc;
    assert(json);
    rc = read_text(out, bag, valise_str_of(key), vls_blob_bytes(json), err);
    return rc < 0 ? rc : 1;
}

int valise_unpack_required(valise_blob **out, valise_backpack *bag, const char *key,
                           valise_error *err)
{
    int rc;

    VLS_ARG(out && bag && key, err);
    rc = get_value(out, bag, valise_str_of(key), true, true, err);
    return rc < 0 ? rc : 0;
}

int valise_peek(valise_blob **out, valise_backpack *bag, const char *key, valise_error *err)
{
    VLS_ARG(out && bag && key, err);
    return get_value(out, bag, valise_str_of(key), false, false, err);
}

int valise_has(valise_backpack *bag, const char *key, valise_error *err)
{
    VLS_ARG(bag && key, err);
    return get_value(NULL, bag, valise_str_of(key), false, false, err);
}

/* ---- the rest ---- */

int valise_remove(bool *removed, valise_backpack *bag, const char *key, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    vls_key_args args = {.key = {NULL, 0}};
    valise_packed packed = {.applied = false};
    int rc;

    VLS_ARG(bag && key, err);
    args.key = valise_str_of(key);
    rc = run_one(&packed, bag, &vls_op_backpack_rm, &args, args.key, VALISE_ACTION_DELETE, NULL,
                 &why);
    if (rc == VALISE_E_NOT_FOUND && strcmp(why.path, "key") == 0) /* not the backpack */
        rc = 0;
    if (rc < 0 && err)
        *err = why;
    if (rc == 0 && removed)
        *removed = packed.applied;
    return rc;
}

int valise_clear(int64_t *count, valise_backpack *bag, valise_str tag, valise_str pattern,
                 valise_error *err)
{
    vls_clear_args args = {.tag = tag, .pattern = pattern};
    vls_clear_result result = {0};
    int64_t before = 0;
    int rc;

    VLS_ARG(bag, err);
    rc = vls_handle_seen_from(&before, bag, err);
    if (rc == 0)
        rc = vls_handle_run(bag, &vls_op_backpack_clear, &args, &result, NULL, err);
    if (rc == 0)
        vls_handle_seen_since(bag, before);
    if (rc == 0 && count)
        *count = result.count;
    return rc;
}

int vls_handle_quarantine(valise_packed *out, valise_backpack *bag, const char *key,
                          const valise_quarantine_options *options, valise_list taints,
                          valise_error *err)
{
    vls_op_quarantine_args args = {.key = {NULL, 0}, .taints = taints};
    valise_quarantine_options o = {.size = sizeof(o)};
    VLS_AUTO(blob) valise_blob *error = NULL;
    int rc;

    VLS_ARG(bag && key && options, err);
    rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_quarantine_options, error),
                        "valise_quarantine_options", err);
    args.key = valise_str_of(key);
    args.reason = o.reason;
    args.forget = o.forget;
    args.who.node_id = o.node_id;
    args.who.node_name = o.node_name;
    if (rc == 0 && o.error.len > 0)
        rc = vls_json_canonical(&error, bag->env, o.error, err);
    if (rc < 0)
        return rc;
    args.error = error ? vls_blob_bytes(error) : (valise_str){NULL, 0};
    return run_one(out, bag, &vls_op_backpack_quarantine, &args, args.key, VALISE_ACTION_QUARANTINE,
                   NULL, err);
}

int valise_quarantine(valise_packed *out, valise_backpack *bag, const char *key,
                      const valise_quarantine_options *options, valise_error *err)
{
    return vls_handle_quarantine(out, bag, key, options, (valise_list){NULL, 0}, err);
}

int valise_release(valise_packed *out, valise_backpack *bag, const char *key, int64_t entry,
                   valise_error *err)
{
    vls_release_args args = {.entry = entry};

    VLS_ARG(bag && key, err);
    args.key = valise_str_of(key);
    return run_one(out, bag, &vls_op_backpack_release, &args, args.key, VALISE_ACTION_RELEASE, NULL,
                   err);
}
