/* delete.c -- `context delete --erase` and `preference delete --erase`: the one word that makes
 * another operation of it. [W13]
 *
 * Deleting is a command, which can be part of a batch and has a middleware; erasing is a job, since
 * it works on files. Both are `delete` to people. */
#include "cli/call.h"

#include "bus/registry.h"
#include "memory/rows.h"

#define REASON_FIELDS(args)                                                                        \
    VALISE_FIELD(args, erase, BOOL, 0, "Also erase all its versions from every file."),            \
        VALISE_FIELD_WITH(args, reason, STR, VALISE_NULLABLE,                                      \
                          "The reason for erasing, which is recorded.", .max = 1024)

typedef struct entry_args {
    valise_str key, reason;
    bool erase;
} entry_args;

static const valise_field entry_in[] = {
    VALISE_FIELD_WITH(entry_args, key, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Its key.",
                      .ref = "context:list.key", .min = 1, .max = VLS_MEMORY_KEY_MAX),
    REASON_FIELDS(entry_args),
    VALISE_FIELD_END,
};

typedef struct preference_args {
    valise_uuid id;
    valise_str reason;
    bool erase;
} preference_args;

static const valise_field preference_in[] = {
    VALISE_FIELD_WITH(preference_args, id, UUID, VALISE_REQUIRED | VALISE_POSITIONAL, "Its id.",
                      .ref = "preference:list.id"),
    REASON_FIELDS(preference_args),
    VALISE_FIELD_END,
};

/* What the operation is given: all but the word that chose it. */
static int without_erase(vls_json *out, cli *c, vls_json given, valise_error *err)
{
    vls_member *members = vls_arena_array(&c->arena, (size_t)given.len + 1, sizeof(*members));
    size_t count = 0;

    if (!members)
        return vls_arena_fail(&c->arena, err);
    for (uint32_t i = 0; i < given.len; i++) {
        if (!vls_str_equal(vls_json_str(given.members[i].key), VLS_STR("erase")))
            members[count++] = given.members[i];
    }
    return vls_json_object(out, members, count, err);
}

static int run(int *status, cli *c, const cli_words *words, const void *args, valise_error *err)
{
    const vls_json *given = args;
    const vls_json *erase = vls_json_get(*given, VLS_STR("erase"));
    const valise_op *op = words->command->behind;
    bool context = strcmp(op->name, "context:delete") == 0;
    valise_str text = VLS_STR("{}");
    vls_json payload;
    int rc;

    if (erase && erase->truth) {
        op = vls_registry_op(c->registry,
                             context ? VLS_STR("context:erase") : VLS_STR("preference:erase"));
    } else if (vls_json_get(*given, VLS_STR("reason"))) {
        vls_report(err, CLI_E_USAGE, -1, "--reason is only for what is erased");
        vls_hint(err, "give --erase as well");
        return CLI_E_USAGE;
    }
    rc = without_erase(&payload, c, *given, err);
    if (rc == 0)
        rc = cli_resolve_ids(&payload, c, op, err);
    if (rc == 0)
        rc = cli_write_payload(&text, c, &payload, err);
    return rc < 0 ? rc : cli_run(status, c, op, text, err);
}

const cli_builtin cli_builtin_context_delete = {
    .op = {.size = sizeof(valise_op),
           .name = "context:delete",
           .brief = "Delete a context entry.",
           .help = "Its history stays, unless --erase removes it from every file, too. A blob that "
                   "nothing else holds is removed.",
           .kind = VALISE_COMMAND,
           .needs = "memory:write",
           .in = entry_in,
           .in_size = sizeof(entry_args),
           .example = "{\"key\":\"team/style\"}"},
    .run = run,
    .raw = true,
    .other = "context:erase",
};

const cli_builtin cli_builtin_preference_delete = {
    .op = {.size = sizeof(valise_op),
           .name = "preference:delete",
           .brief = "Delete a preference.",
           .help = "Its history stays, unless --erase removes it from every file, too.",
           .kind = VALISE_COMMAND,
           .needs = "preference:write",
           .in = preference_in,
           .in_size = sizeof(preference_args),
           .example = "{\"id\":\"00000000-0000-7000-8000-000000000001\"}"},
    .run = run,
    .raw = true,
    .other = "preference:erase",
};
