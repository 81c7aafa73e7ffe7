/* recipe.c -- recipes as bytes. What they select: inputs.c. */
#include "context/recipe.h"

#include "base/glob.h"
#include "base/str.h"
#include "base/text.h"
#include "bus/bus.h"
#include "field/field.h"
#include "json/json.h"

#define GLOB_MAX 256u
#define GLOB(member, help)                                                                         \
    VALISE_FIELD_WITH(vls_recipe_where, member, STR, VALISE_NULLABLE, help, .min = 1,              \
                      .max = GLOB_MAX)

static const valise_field where_fields[] = {
    GLOB(name, "Names of what lies in the directory; * stands for anything."),
    GLOB(type, "Types of frames."),
    GLOB(agent, "Who wrote them."),
    VALISE_FIELD_AS_WITH(vls_recipe_where, max_size, "maxSize", INT, 0, "Bytes of content at most.",
                         .max = VLS_FRAME_CONTENT_MAX),
    VALISE_FIELD(vls_recipe_where, fresh, BOOL, 0,
                 "Only what is about the file as it is, and was not invalidated."),
    VALISE_FIELD_END,
};
static const valise_struct where_struct = {sizeof(vls_recipe_where), where_fields};

#define INPUT                                                                                      \
    VALISE_FIELD_WITH(vls_recipe, input, STR, VALISE_NULLABLE, "Types of frames, a glob.",         \
                      .min = 1, .max = GLOB_MAX)
#define PARAMS VALISE_FIELD(vls_recipe, params, JSON, VALISE_NULLABLE, "Its parameters.")
#define LIMIT                                                                                      \
    VALISE_FIELD_WITH(vls_recipe, limit, INT, 0, "Inputs at most.", .max = VLS_RECIPE_LIMIT_MAX)
#define WHERE                                                                                      \
    VALISE_FIELD_WITH(vls_recipe, where, STRUCT, VALISE_NULLABLE, "Conditions.",                   \
                      .more = &where_struct)

static const valise_field derived_fields[] = {
    INPUT,
    VALISE_FIELD_WITH(vls_recipe, policy, STR, VALISE_REQUIRED, "What makes the frame.", .min = 1,
                      .max = VLS_POLICY_NAME_MAX),
    VALISE_FIELD_WITH(vls_recipe, version, INT, VALISE_REQUIRED, "Of the policy.", .min = 1,
                      .max = INT32_MAX),
    PARAMS,
    LIMIT,
    WHERE,
    VALISE_FIELD_END,
};

static const valise_field program_fields[] = {
    INPUT,
    VALISE_FIELD_WITH(vls_recipe, policy, STR, VALISE_REQUIRED, "Name of the program.", .min = 1,
                      .max = VLS_PROGRAM_NAME_MAX),
    VALISE_FIELD_AS(vls_recipe, program_id, "program", ID, VALISE_REQUIRED,
                    "SHA-256 of its bytes."),
    PARAMS,
    LIMIT,
    WHERE,
    VALISE_FIELD_END,
};

static int check_glob(const char *what, valise_str glob, valise_error *err)
{
    if (!glob.ptr)
        return 0;
    if (vls_glob_check(&vls_glob_flat, glob, err) < 0 || memchr(glob.ptr, '[', glob.len))
        return vls_fail(err, VALISE_E_INVALID, "'%s' is not a pattern for %s: only * is special",
                        vls_text_short(glob).s, what);
    return 0;
}

static int check_globs(const vls_recipe *recipe, valise_error *err)
{
    const vls_recipe_where *where = recipe->where;
    int rc = check_glob("types", recipe->input, err);

    if (rc == 0 && where)
        rc = check_glob("names", where->name, err);
    if (rc == 0 && where)
        rc = check_glob("types", where->type, err);
    return rc == 0 && where ? check_glob("agents", where->agent, err) : rc;
}

static bool is_all(const vls_recipe_where *where)
{
    return !where->name.ptr && !where->type.ptr && !where->agent.ptr && where->max_size == 0 &&
           !where->fresh;
}

int vls_recipe_write(vls_buf *out, const vls_recipe *recipe, valise_error *err)
{
    vls_recipe usual = *recipe;
    int rc = check_globs(recipe, err);

    if (rc < 0)
        return rc;
    if (vls_str_equal(usual.input, VLS_STR("*")))
        usual.input = (valise_str){NULL, 0};
    if (vls_str_equal(usual.params, VLS_STR("{}")))
        usual.params = (valise_str){NULL, 0};
    if (usual.where && is_all(usual.where))
        usual.where = NULL;
    vls_buf_add_text(out, recipe->program ? VLS_RECIPE_PROGRAM : VLS_RECIPE_DERIVED);
    rc = vls_fields_write(out, &usual, recipe->program ? program_fields : derived_fields,
                          VLS_FIELD_INPUT, 0, err);
    return rc < 0 ? rc : vls_buf_check(out, err);
}

int vls_recipe_read(vls_recipe *out, valise_str bytes, vls_arena *arena, valise_error *err)
{
    vls_recipe recipe = {.program = vls_str_starts(bytes, VLS_STR(VLS_RECIPE_PROGRAM))};
    bool program = recipe.program;
    vls_json json;
    size_t line;
    int rc;

    if (vls_str_starts(bytes, VLS_STR(VLS_RECIPE_EXTERNAL)))
        return 0;
    if (!program && !vls_str_starts(bytes, VLS_STR(VLS_RECIPE_DERIVED)))
        return vls_fail(err, VALISE_E_CORRUPT, "the recipe does not say what made the frame");
    line = vls_str_find(bytes, VLS_STR("\n")) + 1;
    rc = vls_json_parse(&json, arena, vls_str_from(bytes, line), NULL, err);
    if (rc == 0)
        rc = vls_fields_decode(&recipe, program ? program_fields : derived_fields, sizeof(recipe),
                               json, VLS_FIELD_INPUT, arena, err);
    if (rc < 0)
        return rc;
    recipe.program = program;
    *out = recipe;
    return 1;
}

bool vls_recipe_is_old(const valise_view *view, const vls_recipe *recipe)
{
    const valise *v = vls_view_bus(view);
    const valise_policy *policy =
        v && !recipe->program ? vls_registry_policy(v->registry, recipe->policy) : NULL;

    return policy && policy->version > recipe->version;
}
