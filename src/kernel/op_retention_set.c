/* op_retention_set.c -- retention:set, how long a kind of history is kept. */
#include "base/str.h"
#include "base/text.h"
#include "kernel/kernel.h"
#include "kernel/retention.h"

/* What the kernel keeps itself; areas have theirs. */
static bool is_known(const valise_view *view, valise_str kind)
{
    return vls_str_equal(kind, VLS_STR("log")) ||
           (view->bus && vls_retention_job(view->bus, kind) != NULL);
}

static int refuse_kind(const valise_view *view, valise_str kind, valise_error *err)
{
    const valise_op *const *ops = view->bus ? vls_registry_ops(view->bus->registry) : NULL;
    char kinds[160] = "";

    for (size_t used = 0; ops && *ops; ops++) {
        valise_str area = vls_retention_kind(*ops);
        if (area.len > 0 && area.len + 3 < sizeof(kinds) - used)
            used += (size_t)snprintf(kinds + used, sizeof(kinds) - used, ", %.*s",
                                     VALISE_STR_ARG(area));
    }
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no history '%s'", vls_text_short(kind).s);
    vls_hint(err, "it is one of: log%s", kinds);
    return VALISE_E_NOT_FOUND;
}

/* Is it a kind that is counted only? */
static bool is_counted(const valise_view *view, valise_str kind)
{
    const valise_op *op = view->bus ? vls_retention_job(view->bus, kind) : NULL;

    return op && op->in == vls_retain_counted_in;
}

static int current(valise_str *json, valise_view *view, const void *args, valise_error *err)
{
    vls_retention row = {.kind = ((const vls_retention *)args)->kind};

    return vls_current_row(json, view, &vls_retentions, &row, err);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_retention *limits = in;
    bool none = limits->keep_latest == VALISE_NONE && limits->keep_one_in == VALISE_NONE &&
                limits->bytes == VALISE_NONE && limits->age == VALISE_NONE;
    int rc;

    (void)out;
    if (!is_known(view, limits->kind))
        return refuse_kind(view, limits->kind, err);
    if (limits->keep_one_in != VALISE_NONE)
        return vls_fail(
            err, VALISE_E_INVALID,
            "keepOneIn does not work for %.*s: its older part can only be removed as a whole",
            VALISE_STR_ARG(limits->kind));
    if (limits->bytes != VALISE_NONE && is_counted(view, limits->kind)) {
        (void)vls_fail(err, VALISE_E_INVALID, "bytes are not counted for the history %.*s",
                       VALISE_STR_ARG(limits->kind));
        vls_hint(err, "say how many to keep, or for how long: keepLatest, age");
        return VALISE_E_INVALID;
    }
    if (!none)
        return valise_view_put(view, &vls_retentions, limits, err);
    rc = valise_view_delete(view, &vls_retentions, limits, err);
    return rc < 0 ? rc : 0;
}

const valise_op vls_op_kernel_retention_set = {
    .size = sizeof(valise_op),
    .name = "retention:set",
    .brief = "Set how long one kind of history is kept.",
    .help = "What exceeds any of the limits is removed: in small steps as commands are run, and by "
            "'valise gc'. Without limits everything is kept. What a pin holds stays.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT | VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = vls_retention_fields,
    .in_size = sizeof(vls_retention),
    .current = current,
    .expect_help = "the limits as `retention list --json` shows them; null: there are none",
    .decide = decide,
    .example = "{\"age\":\"90d\",\"kind\":\"log\"}",
};
