/* op_pin_add.c -- pin:add, hold something against expiry. */
#include "base/str.h"
#include "kernel/kernel.h"
#include "store/place.h"

typedef struct pin_args {
    valise_str name, target;
} pin_args;

static const valise_field pin_in[] = {
    VALISE_FIELD_WITH(pin_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Name of the pin.",
                      .min = 1, .max = 128),
    VALISE_FIELD_WITH(
        pin_args, target, STR, VALISE_POSITIONAL,
        "What to pin: a seq, an object, or a row such as session/ID (default: the newest seq).",
        .max = VLS_PLACE_MAX_BYTES, .ref = VLS_PLACE_REF),
    VALISE_FIELD_END,
};

typedef struct pin_result {
    int64_t seq;
    bool existed;
} pin_result;

static const valise_field pin_out[] = {
    VALISE_FIELD(pin_result, seq, INT, 0, "The log seq it holds."),
    VALISE_FIELD(pin_result, existed, BOOL, 0, "It held the same before."),
    VALISE_FIELD_END,
};

static int hold(vls_pin *pin, valise_view *view, const vls_target *target, valise_error *err)
{
    VLS_AUTO(buf) vls_buf place = {0};
    vls_seen seen;
    int rc;

    switch (target->kind) {
    case VLS_TARGET_ENTRY:
        pin->kind = VLS_PIN_SEQ;
        pin->seq = target->seq;
        return 0;
    case VLS_TARGET_OBJECT:
        pin->kind = VLS_PIN_OBJECT;
        pin->object = target->object.id;
        return 0;
    default:
        break;
    }
    pin->kind = VLS_PIN_ROW;
    vls_buf_init(&place, view->arena.env, VLS_PLACE_MAX_BYTES);
    vls_place_write(&place, target->coll, target->key);
    rc = vls_buf_check(&place, err);
    if (rc == 0)
        rc = vls_view_see(&seen, view, target->coll, target->key, err);
    if (rc == 0 && !seen.row)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no %.*s",
                        VALISE_STR_ARG(vls_buf_str(&place)));
    return rc < 0 ? rc : vls_arena_dup(&pin->place, &view->arena, vls_buf_str(&place), err);
}

/* The state at a seq can be held as long as it can be seen, also where its entry has expired. */
static int check_state(const valise_view *view, int64_t seq, valise_error *err)
{
    int64_t oldest = view->txn->tip.base_seq;

    if (seq >= oldest && seq <= view->at)
        return 0;
    (void)vls_fail(err, VALISE_E_NOT_FOUND,
                   "there is no state %lld: there are those from %lld to %lld", (long long)seq,
                   (long long)oldest, (long long)view->at);
    vls_hint(err, "'valise status' shows the oldest and the newest");
    return VALISE_E_NOT_FOUND;
}

static bool is_same(const vls_pin *a, const vls_pin *b)
{
    return a->kind == b->kind && (a->kind != VLS_PIN_SEQ || a->seq == b->seq) &&
           memcmp(&a->object, &b->object, sizeof(a->object)) == 0 &&
           vls_str_equal(a->place, b->place);
}

static int current(valise_str *json, valise_view *view, const void *args, valise_error *err)
{
    vls_pin pin = {.name = ((const pin_args *)args)->name};

    return vls_current_row(json, view, &vls_pins, &pin, err);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const pin_args *args = in;
    pin_result *result = out;
    vls_target target = {.kind = VLS_TARGET_ENTRY, .seq = view->at};
    vls_pin pin = {
        .name = args->name, .seq = view->at, .time = view->stamp.time, .actor = view->stamp.actor};
    vls_pin old = {.name = args->name};
    int rc = 0;

    if (vls_place_seq(&target.seq, view, args->target))
        rc = check_state(view, target.seq, err);
    else if (args->target.len > 0)
        rc = vls_target_find(&target, view, args->target, err);
    if (rc == 0)
        rc = hold(&pin, view, &target, err);
    if (rc == 0)
        rc = valise_view_get(&old, view, &vls_pins, err);
    if (rc < 0)
        return rc;
    if (rc > 0) {
        result->seq = old.seq;
        result->existed = true;
        if (is_same(&old, &pin))
            return 0;
        (void)vls_fail(err, VALISE_E_EXISTS, "a pin '%.*s' already exists and holds something else",
                       VALISE_STR_ARG(args->name));
        vls_hint(err, "remove it first: valise pin remove %.*s", VALISE_STR_ARG(args->name));
        return VALISE_E_EXISTS;
    }
    result->seq = pin.seq;
    return valise_view_put(view, &vls_pins, &pin, err);
}

const valise_op vls_op_kernel_pin_add = {
    .size = sizeof(valise_op),
    .name = "pin:add",
    .brief = "Pin a state, an object or a row so that it does not expire.",
    .help = "A pinned seq keeps the log from there on, so that the state at that seq can still be "
            "seen. A row is pinned as it is in the newest state, which is held in the same way. An "
            "old pin on a seq or a row therefore keeps the whole log after it; one on an object "
            "keeps only that object.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "pin:write",
    .in = pin_in,
    .in_size = sizeof(pin_args),
    .out = pin_out,
    .out_size = sizeof(pin_result),
    .current = current,
    .expect_help = "the pin as `pin list --json` shows it; null: there is none",
    .decide = decide,
    .example = "{\"name\":\"before-refactoring\"}",
};
