/* box.c -- the tools by name, and a call of one. */
#include "base/mem.h"
#include "base/near.h"
#include "base/utf8.h"
#include "json/make.h"
#include "tool/inside.h"
#include "tool/mcp.h"

#define BOX_MEMORY_MAX ((size_t)64 << 20)

/* Of one check: a model writes the arguments, and a server may have written the schema. */
static const vls_schema_limits limits = {.max_steps = (uint64_t)1 << 22,
                                         .max_bytes = (size_t)4 << 20};

/* ---- a box ---- */

static bool has_name(const void *item, const void *key)
{
    const vls_tool_entry *entry = item;
    const valise_str *name = key;

    return vls_str_equal(entry->tool.name, *name);
}

int vls_toolbox_new(vls_toolbox **out, const valise_env *env, valise_error *err)
{
    vls_toolbox *box;

    VLS_ARG(out && env, err);
    box = vls_mem_zalloc(env, sizeof(*box));
    if (!box)
        return vls_fail_memory(err);
    box->env = env;
    if (env->random(env->self, &box->seed, sizeof(box->seed)) < 0)
        box->seed = 0; /* names are at most VLS_TOOLS_MAX: none of them can be slow */
    vls_arena_init(&box->arena, env, BOX_MEMORY_MAX);
    vls_map_init(&box->names, env, has_name);
    *out = box;
    return 0;
}

void vls_toolbox_free(vls_toolbox *box)
{
    if (!box)
        return;
    for (size_t i = 0; i < box->entries.len; i++)
        vls_schema_free(box->entries.ptr[i]->schema);
    for (size_t i = 0; i < box->servers.len; i++)
        vls_mcp_hang_up(box->servers.ptr[i]); /* they end side by side */
    for (size_t i = 0; i < box->servers.len; i++)
        vls_mcp_free(box->servers.ptr[i]);
    vls_vec_release(&box->servers, box->env);
    vls_vec_release(&box->entries, box->env);
    vls_map_release(&box->names);
    vls_arena_release(&box->arena);
    vls_mem_free(box->env, box, sizeof(*box));
}

static uint64_t hash_of(const vls_toolbox *box, valise_str name)
{
    return vls_str_hash(name, box->seed);
}

static vls_tool_entry *find(const vls_toolbox *box, valise_str name)
{
    return vls_map_get(&box->names, hash_of(box, name), &name);
}

const vls_tool *vls_toolbox_find(const vls_toolbox *box, valise_str name)
{
    const vls_tool_entry *entry = find(box, name);

    return entry ? &entry->tool : NULL;
}

/* ---- putting in ---- */

vls_toolbox_mark vls_toolbox_here(const vls_toolbox *box)
{
    return (vls_toolbox_mark){box->entries.len, vls_arena_here(&box->arena)};
}

void vls_toolbox_undo(vls_toolbox *box, vls_toolbox_mark mark)
{
    while (box->entries.len > mark.count) {
        vls_tool_entry *entry = box->entries.ptr[--box->entries.len];
        (void)vls_map_remove(&box->names, hash_of(box, entry->tool.name), &entry->tool.name);
        vls_schema_free(entry->schema);
    }
    vls_arena_rewind(&box->arena, mark.arena);
}

static int check_name(const vls_toolbox *box, valise_str name, valise_error *err)
{
    bool good = name.len > 0 && name.len <= VLS_TOOL_NAME_MAX;

    for (size_t i = 0; good && i < name.len; i++)
        good = vls_tool_name_has(name.ptr[i]);
    if (!good) {
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not the name of a tool",
                       vls_text_short(name).s);
        vls_hint(err, "use letters, digits, _ and -, at most %u", VLS_TOOL_NAME_MAX);
        return VALISE_E_INVALID;
    }
    if (find(box, name))
        return vls_fail(err, VALISE_E_EXISTS, "a tool '%.*s' already exists", VALISE_STR_ARG(name));
    if (box->entries.len >= VLS_TOOLS_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "more than %u tools", VLS_TOOLS_MAX);
    return 0;
}

/* Servers write the dialect of the library they were made with, mostly draft 7. What tools say of
 * their arguments is the same there; where it is not, the schema does not compile, or the other
 * side looks once more. */
static int compile(vls_schema **out, vls_toolbox *box, const vls_tool *tool, valise_error *err)
{
    VLS_AUTO(arena) vls_arena scratch = {0};
    valise_str dialect = vls_text_of(tool->parameters, "$schema");
    vls_json schema = tool->parameters;
    int rc = 0;

    vls_arena_init(&scratch, box->env, VLS_JSON_MAX_BYTES);
    if (vls_str_starts(dialect, VLS_STR("http://json-schema.org/")) ||
        vls_str_starts(dialect, VLS_STR("https://json-schema.org/draft/2019-09/")))
        rc = vls_json_without(&schema, &scratch, schema, "$schema", err);
    if (rc == 0)
        rc = vls_schema_compile(out, box->env, schema, &limits, err);
    if (rc < 0 && rc != VALISE_E_NO_MEMORY && err) {
        char said[sizeof(err->message)];
        (void)snprintf(said, sizeof(said), "%s", err->message);
        (void)vls_fail(err, rc, "the schema of tool '%.*s' cannot be used: %.250s",
                       VALISE_STR_ARG(tool->name), said);
    }
    return rc;
}

static int copy_tool(vls_tool *out, vls_arena *arena, const vls_tool *tool, valise_error *err)
{
    int rc;

    if (!vls_utf8_valid(tool->description))
        return vls_fail(err, VALISE_E_INVALID, "the description of tool '%.*s' is not UTF-8",
                        VALISE_STR_ARG(tool->name));
    rc = vls_arena_dup(&out->name, arena, tool->name, err);
    if (rc == 0)
        rc = vls_arena_dup(&out->description, arena, tool->description, err);
    if (rc == 0 && tool->parameters.type == VLS_JSON_NULL)
        rc = vls_json_object(&out->parameters, NULL, 0, err);
    else if (rc == 0)
        rc = vls_json_copy(&out->parameters, arena, tool->parameters, err);
    if (rc == 0 && out->parameters.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID,
                        "the schema of tool '%.*s' must be an object, not %s",
                        VALISE_STR_ARG(tool->name), vls_json_type_name(tool->parameters));
    return rc;
}

int vls_toolbox_put(vls_tool_entry **out, vls_toolbox *box, const vls_tool *tool, valise_error *err)
{
    vls_tool_entry *entry;
    int rc = check_name(box, tool->name, err);

    if (rc < 0)
        return rc;
    entry = vls_arena_zalloc(&box->arena, sizeof(*entry));
    if (!entry)
        return vls_arena_fail(&box->arena, err);
    rc = copy_tool(&entry->tool, &box->arena, tool, err);
    if (rc == 0)
        rc = compile(&entry->schema, box, &entry->tool, err);
    if (rc < 0)
        return rc;
    if (!vls_vec_reserve(&box->entries, box->env, box->entries.len + 1) ||
        vls_map_put(NULL, &box->names, hash_of(box, entry->tool.name), &entry->tool.name, entry) <
            0) {
        vls_schema_free(entry->schema);
        return vls_fail_memory(err);
    }
    box->entries.ptr[box->entries.len++] = entry;
    *out = entry;
    return 0;
}

/* ---- calling ---- */

int vls_toolbox_fail_unknown(const vls_toolbox *box, valise_str name, valise_error *err)
{
    vls_near near;

    vls_near_init(&near, name);
    for (size_t i = 0; i < box->entries.len; i++)
        vls_near_try(&near, box->entries.ptr[i]->tool.name);
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no tool '%s'", vls_text_short(name).s);
    if (near.best.ptr)
        vls_hint(err, "did you mean '%.*s'?", VALISE_STR_ARG(near.best));
    return VALISE_E_NOT_FOUND;
}

/* The place, for err->path. */
typedef struct place {
    char s[112];
} place;

static int note_place(void *arg, const vls_schema_finding *finding)
{
    (void)snprintf(((place *)arg)->s, sizeof(place), "%.*s",
                   VALISE_STR_ARG(vls_utf8_head(finding->instance_path, sizeof(place) - 1)));
    return 1;
}

static int check_arguments(const vls_tool_entry *entry, vls_json arguments, valise_error *err)
{
    place at = {""};
    vls_schema_report report = {.found = note_place, .arg = &at, .max_findings = 1};
    valise_error why = VALISE_ERROR_INIT;
    int rc;

    if (arguments.type != VLS_JSON_OBJECT)
        rc = vls_fail(&why, VALISE_E_INVALID, "must be an object, not %s",
                      vls_json_type_name(arguments));
    else
        rc = vls_schema_check(entry->schema, arguments, &report, &why);
    if (rc < 0 && rc != VALISE_E_NO_MEMORY)
        (void)vls_fail(err, rc, "the arguments of %.*s do not match its schema: %.290s",
                       VALISE_STR_ARG(entry->tool.name), why.message);
    else if (rc < 0 && err)
        *err = why;
    if (rc < 0 && err)
        vls_error_prepend(err, "arguments%s", at.s);
    return rc;
}

int vls_toolbox_check(const vls_toolbox *box, valise_str name, vls_json arguments,
                      valise_error *err)
{
    const vls_tool_entry *entry;

    VLS_ARG(box, err);
    entry = find(box, name);
    return entry ? check_arguments(entry, arguments, err)
                 : vls_toolbox_fail_unknown(box, name, err);
}

int vls_toolbox_call(vls_tool_answer *out, vls_arena *arena, vls_toolbox *box,
                     const vls_tool_asked *asked, valise_error *err)
{
    const vls_tool_entry *entry;
    vls_tool_answer answer = {.failed = false};
    valise_error why = VALISE_ERROR_INIT;
    int rc;

    VLS_ARG(out && arena && box && asked, err);
    entry = find(box, asked->name);
    rc = entry ? check_arguments(entry, asked->arguments, &why)
               : vls_toolbox_fail_unknown(box, asked->name, &why);
    if (rc < 0)
        rc = vls_tool_tell_error(&answer, arena, &why, err);
    else
        rc = entry->call(&answer, arena, box->env, entry, asked, err);
    if (rc == 0)
        *out = answer;
    return rc;
}
