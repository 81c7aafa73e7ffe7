/* op_preference_add.c -- preference:add, something that somebody prefers. [W13] */
#include "base/hex.h"
#include "bus/bus.h"
#include "memory/preference.h"

typedef struct add_args {
    valise_uuid id;
    valise_content content;
    valise_list topics;
    int64_t scope;
    valise_str of, slot;
    int64_t priority;
} add_args;

static const valise_field add_in[] = {
    VALISE_FIELD(add_args, content, TEXT, VALISE_REQUIRED | VALISE_POSITIONAL,
                 "The preference, in the words that models are given."),
    VALISE_FIELD_WITH(add_args, scope, ENUM, 0, "Where it applies.", .more = vls_scopes),
    VALISE_FIELD_WITH(add_args, of, STR, VALISE_NULLABLE,
                      "The role (its name) or session (its id) it applies to.", .min = 1,
                      .max = VLS_ROLE_NAME_MAX),
    VALISE_FIELD_WITH(add_args, slot, STR, VALISE_NULLABLE,
                      "What it decides, such as tone; only one preference per slot applies.",
                      .min = 1, .max = VLS_MEMORY_SLOT_MAX),
    VALISE_FIELD_WITH(add_args, priority, INT, 0, "Within a scope, the higher priority wins.",
                      .min = -VLS_PRIORITY_MAX, .max = VLS_PRIORITY_MAX),
    VLS_TOPICS_FIELD(add_args, 0, "Its topics; without any it always applies."),
    VALISE_FIELD(add_args, id, UUID, VALISE_NULLABLE, "Its id (default: a new one)."),
    VALISE_FIELD_END,
};

static int settle_id(vls_preference_row *row, valise_view *view, const add_args *args,
                     valise_error *err)
{
    vls_preference_row there;
    int rc;

    if (vls_uuid_is_none(&args->id))
        return valise_view_uuid(&row->id, view, err);
    there = (vls_preference_row){.id = args->id};
    rc = valise_view_get(&there, view, &vls_preferences, err);
    if (rc <= 0)
        return rc;
    (void)vls_fail(err, VALISE_E_EXISTS, "a preference %s already exists",
                   vls_uuid_text(&args->id).s);
    vls_hint(err, "'valise preference update' changes it");
    return VALISE_E_EXISTS;
}

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const add_args *args = in;
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_preference_row row = {.id = args->id,
                              .content = args->content.id,
                              .topics = args->topics,
                              .scope = args->scope,
                              .of = args->of,
                              .slot = args->slot,
                              .priority = args->priority,
                              .version = 1,
                              .created = stamp->time,
                              .updated = stamp->time,
                              .actor = stamp->actor};
    int rc = settle_id(&row, view, args, err);

    if (rc == 0)
        rc = vls_preference_check(&row, view, err);
    if (rc == 0 && row.slot.ptr)
        rc = vls_memory_check_name(row.slot, "a slot", err);
    if (rc == 0)
        rc = vls_topics_tidy(&row.topics, view, err);
    if (rc < 0)
        return rc;
    *(vls_preference_made *)result = (vls_preference_made){row.id, row.version};
    return valise_view_put(view, &vls_preferences, &row, err);
}

const valise_op vls_op_memory_preference_add = {
    .size = sizeof(valise_op),
    .name = "preference:add",
    .brief = "Add a preference.",
    .help = "A preference applies to the whole workspace, to one role or to one session; if it has "
            "topics, only where one of them is a topic, too. Of several with the same slot only "
            "one applies: that of the session before that of the role before that of the "
            "workspace, then the one with the higher priority, then the newest.",
    .kind = VALISE_COMMAND,
    .needs = "preference:write",
    .in = add_in,
    .in_size = sizeof(add_args),
    .out = vls_preference_made_fields,
    .out_size = sizeof(vls_preference_made),
    .decide = decide,
    .example = "{\"content\":\"Answer briefly.\",\"slot\":\"length\",\"topics\":[\"code\"]}",
};
