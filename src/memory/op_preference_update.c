/* op_preference_update.c -- preference:update, change what is preferred. [W13] */
#include "base/str.h"
#include "bus/bus.h"
#include "memory/preference.h"

static const char *const parts[] = {"slot", NULL};

typedef struct update_args {
    valise_uuid id;
    valise_content content;
    vls_topics_change topics;
    int64_t scope;
    valise_str of, slot;
    int64_t priority;
    valise_list unset;
} update_args;

static const valise_field part_item = {
    .name = "part", .help = "A part.", .type = VALISE_T_ENUM, .more = parts};

static const valise_field update_in[] = {
    VALISE_FIELD_WITH(update_args, id, UUID, VALISE_REQUIRED | VALISE_POSITIONAL, "Its id.",
                      .ref = VLS_REF_PREFERENCE),
    VALISE_FIELD(update_args, content, TEXT, VALISE_NULLABLE | VALISE_POSITIONAL, "The new text."),
    VALISE_FIELD_WITH(update_args, scope, ENUM, VALISE_NULLABLE, "Where it applies.",
                      .more = vls_scopes),
    VALISE_FIELD_WITH(update_args, of, STR, VALISE_NULLABLE,
                      "The role (its name) or session (its id) it applies to.", .min = 1,
                      .max = VLS_ROLE_NAME_MAX),
    VALISE_FIELD_WITH(update_args, slot, STR, VALISE_NULLABLE, "What it decides.", .min = 1,
                      .max = VLS_MEMORY_SLOT_MAX),
    VALISE_FIELD_WITH(update_args, priority, INT, VALISE_NULLABLE,
                      "Within a scope, the higher priority wins.", .min = -VLS_PRIORITY_MAX,
                      .max = VLS_PRIORITY_MAX),
    VLS_TOPICS_CHANGE_FIELDS(update_args, topics.all, topics.add, topics.remove),
    VALISE_FIELD_WITH(update_args, unset, LIST, 0, "Fields to remove.", .more = &part_item,
                      .max = 4),
    VALISE_FIELD_END,
};

static int current(valise_str *json, valise_view *view, const void *in, valise_error *err)
{
    return vls_preference_current(json, view, &((const update_args *)in)->id, err);
}

static int change_scope(vls_preference_row *row, valise_view *view, const update_args *args,
                        valise_error *err)
{
    if (args->scope == VALISE_NONE && !args->of.ptr)
        return 0;
    if (args->scope != VALISE_NONE && args->scope != row->scope) {
        row->scope = args->scope;
        row->of = (valise_str){NULL, 0};
    }
    if (args->of.ptr)
        row->of = args->of;
    return vls_preference_check(row, view, err);
}

static int change(vls_preference_row *row, valise_view *view, const update_args *args,
                  valise_error *err)
{
    int rc = change_scope(row, view, args, err);

    if (rc < 0)
        return rc;
    if (vls_content_given(&args->content))
        row->content = args->content.id;
    if (args->priority != VALISE_NONE)
        row->priority = args->priority;
    if (args->unset.count > 0)
        row->slot = (valise_str){NULL, 0};
    if (args->slot.ptr) {
        row->slot = args->slot;
        rc = vls_memory_check_name(row->slot, "a slot", err);
    }
    return rc < 0 ? rc : vls_topics_apply(&row->topics, view, &args->topics, err);
}

static bool same_text(valise_str a, valise_str b)
{
    return !a.ptr == !b.ptr && vls_str_equal(a, b);
}

static bool says_the_same(const vls_preference_row *a, const vls_preference_row *b)
{
    return vls_id_equal(&a->content, &b->content) && a->scope == b->scope &&
           same_text(a->of, b->of) && same_text(a->slot, b->slot) && a->priority == b->priority &&
           vls_topics_equal(a->topics, b->topics);
}

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const update_args *args = in;
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_preference_made *out = result;
    vls_preference_row before = {.id = args->id}, after;
    int rc = vls_preference_get(&before, view, err);

    if (rc < 0)
        return rc;
    after = before;
    rc = change(&after, view, args, err);
    if (rc < 0)
        return rc;
    *out = (vls_preference_made){before.id, before.version};
    if (says_the_same(&before, &after))
        return 0;
    out->version = ++after.version;
    after.updated = stamp->time;
    after.actor = stamp->actor;
    return valise_view_put(view, &vls_preferences, &after, err);
}

const valise_op vls_op_memory_preference_update = {
    .size = sizeof(valise_op),
    .name = "preference:update",
    .brief = "Change a preference.",
    .help = "What is not given stays as it is. The history keeps what it was.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "preference:write",
    .in = update_in,
    .in_size = sizeof(update_args),
    .out = vls_preference_made_fields,
    .out_size = sizeof(vls_preference_made),
    .current = current,
    .expect_help = "the version of the preference",
    .decide = decide,
    .example = "{\"id\":\"00000000-0000-7000-8000-000000000001\",\"priority\":5}",
};
