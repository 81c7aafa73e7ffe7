/* plan_names.c -- names of tools and ids of calls that every provider takes. [P13]
 *
 * What fits and is not taken stays. Else a name is made of it, by a hash of what it was, and if
 * that is taken by the next one, in the order of appearance: the same everywhere, and what comes
 * later changes nothing. Ids that stand twice are two calls, so that the second gets another one.
 */
#include "base/fast_hash.h"
#include "json/make.h"
#include "wire/plan_impl.h"
#include "wire/schema.h"

/* ---- the maps ---- */

/* An id of ours. */
typedef struct id_name {
    valise_str ours;
    uint64_t count;      /* calls that have it */
    int64_t group;       /* the group of the two below */
    int64_t first, last; /* calls of the group that wait for a result; -1: none */
} id_name;

typedef struct vls_tool_name {
    valise_str ours, theirs;
    bool called;
} tool_name;

void vls_plan_names_init(vls_plan_names *names, const valise_env *env)
{
    names->seed = vls_str_hash(vls_str(&names, sizeof(names)), 0);
    vls_map_init(&names->ids, env, vls_str_is);
    vls_map_init(&names->taken_ids, env, vls_str_is);
    vls_map_init(&names->tools, env, vls_str_is);
    vls_map_init(&names->taken_tools, env, vls_str_is);
}

void vls_plan_names_release(vls_plan_names *names)
{
    vls_map_release(&names->ids);
    vls_map_release(&names->taken_ids);
    vls_map_release(&names->tools);
    vls_map_release(&names->taken_tools);
}

static void *get(const vls_planning *p, const vls_map *map, valise_str name)
{
    return vls_map_get(map, vls_str_hash(name, p->names.seed), &name);
}

/* item begins with its name. */
static int put(vls_planning *p, vls_map *map, valise_str name, void *item)
{
    int rc = vls_map_put(NULL, map, vls_str_hash(name, p->names.seed), &name, item);

    return rc < 0 ? vls_fail_memory(p->err) : 0;
}

static int take_name(vls_planning *p, vls_map *taken, valise_str name)
{
    valise_str *item = vls_arena_alloc(p->arena, sizeof(*item));

    if (!item)
        return vls_arena_fail(p->arena, p->err);
    *item = name;
    return put(p, taken, name, item);
}

/* ---- forms ---- */

#define NAME_MAX 64u
#define ID_MAX 40u
#define NINE 9u

static bool is_plain(valise_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (!vls_is_alnum(s.ptr[i]) && s.ptr[i] != '_' && s.ptr[i] != '-')
            return false;
    }
    return s.len > 0;
}

/* Whether a name may begin so. */
static bool begins(valise_str name, uint32_t demands)
{
    return !(demands & VLS_DEMANDS_LETTER_FIRST) ||
           (name.len > 0 && name.ptr[0] != '-' && !(name.ptr[0] >= '0' && name.ptr[0] <= '9'));
}

bool vls_name_fits(valise_str name, uint32_t demands)
{
    return name.len <= NAME_MAX && is_plain(name) && begins(name, demands);
}

bool vls_id_fits(valise_str id, uint32_t demands)
{
    if (!(demands & VLS_DEMANDS_NINE))
        return id.len <= ID_MAX && is_plain(id);
    for (size_t i = 0; i < id.len; i++) {
        if (!vls_is_alnum(id.ptr[i]))
            return false;
    }
    return id.len == NINE;
}

/* len digits of base 62 that follow from the text and two numbers. */
static void digits_of(char *out, size_t len, valise_str text, uint64_t count, uint64_t probe)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    vls_hash128 hash = vls_fast_hash128_seeded(text, count * 0x9E3779B97F4A7C15u + probe);

    for (size_t i = 0; i < len; i++) {
        uint64_t *half = i % 2 ? &hash.high : &hash.low;
        out[i] = digits[*half % 62];
        *half /= 62;
    }
}

/* ---- ids ---- */

static int find_id(id_name **out, vls_planning *p, valise_str ours)
{
    id_name *id = get(p, &p->names.ids, ours);

    if (!id) {
        id = vls_arena_alloc(p->arena, sizeof(*id));
        if (!id)
            return vls_arena_fail(p->arena, p->err);
        *id = (id_name){.ours = ours, .group = -1, .first = -1, .last = -1};
        if (put(p, &p->names.ids, ours, id) < 0)
            return VALISE_E_NO_MEMORY;
    }
    *out = id;
    return 0;
}

static int make_id(valise_str *out, vls_planning *p, valise_str ours, uint64_t count)
{
    static const char start[] = "call_";
    size_t before = vls_demands(p, NINE) ? 0 : sizeof(start) - 1;
    size_t len = vls_demands(p, NINE) ? NINE : before + 16;
    char *room = vls_arena_alloc(p->arena, len);
    valise_str made = {room, len};

    if (!room)
        return vls_arena_fail(p->arena, p->err);
    memcpy(room, start, before);
    for (uint64_t probe = 0;; probe++) {
        digits_of(room + before, len - before, ours, count, probe);
        if (!get(p, &p->names.taken_ids, made))
            break;
    }
    *out = made;
    return 0;
}

int vls_planning_id(valise_str *out, vls_planning *p, valise_str ours, int32_t message,
                    int32_t block)
{
    bool fits = vls_id_fits(ours, p->plan->demands);
    bool taken = get(p, &p->names.taken_ids, ours) != NULL;
    valise_str theirs = ours;
    id_name *id = NULL;
    int rc = find_id(&id, p, ours);

    if (rc < 0)
        return rc;
    if (!fits || taken) {
        rc = make_id(&theirs, p, ours, id->count);
        if (rc == 0)
            rc = vls_planning_mend(p, fits && taken ? VLS_R_SAME_ID : VLS_R_ID, message, block,
                                   ours);
    }
    if (rc < 0)
        return rc;
    id->count++;
    *out = theirs;
    return take_name(p, &p->names.taken_ids, theirs);
}

int vls_planning_wait(vls_planning *p, valise_str ours, size_t call)
{
    id_name *id = NULL;
    int rc = find_id(&id, p, ours);

    if (rc < 0)
        return rc;
    if (id->group != p->group || id->first < 0) {
        id->group = p->group;
        id->first = (int64_t)call;
    } else {
        p->calls.ptr[id->last].next = (int64_t)call;
    }
    id->last = (int64_t)call;
    return 0;
}

int64_t vls_planning_answer(vls_planning *p, valise_str ours)
{
    id_name *id = get(p, &p->names.ids, ours);
    int64_t call;

    if (!id || id->group != p->group || id->first < 0)
        return -1;
    call = id->first;
    id->first = p->calls.ptr[call].next;
    return call;
}

/* ---- tools ---- */

/* What is no letter becomes _, and so does what is missing before it; where that is taken, with
 * digits of a hash behind it. */
static int make_name(valise_str *out, vls_planning *p, valise_str ours)
{
    char *room = vls_arena_alloc(p->arena, NAME_MAX);
    size_t before = begins(ours, p->plan->demands) ? 0 : 1;
    size_t whole = VLS_MIN(before + ours.len, NAME_MAX), len = whole;
    const size_t more = 9; /* _ and eight digits */

    if (!room)
        return vls_arena_fail(p->arena, p->err);
    room[0] = '_';
    for (size_t i = before; i < len; i++)
        room[i] = is_plain(vls_str(ours.ptr + i - before, 1)) ? ours.ptr[i - before] : '_';
    for (uint64_t probe = 0; get(p, &p->names.taken_tools, vls_str(room, len)); probe++) {
        size_t stem = VLS_MIN(whole, NAME_MAX - more);
        room[stem] = '_';
        digits_of(room + stem + 1, more - 1, ours, 0, probe);
        len = stem + more;
    }
    *out = vls_str(room, len);
    return 0;
}

static int new_name(tool_name **out, vls_planning *p, valise_str ours, int32_t message,
                    int32_t block)
{
    tool_name *name = vls_arena_alloc(p->arena, sizeof(*name));
    int rc = 0;

    if (!name)
        return vls_arena_fail(p->arena, p->err);
    *name = (tool_name){ours, ours, false};
    if (!vls_name_fits(ours, p->plan->demands) || get(p, &p->names.taken_tools, ours)) {
        rc = make_name(&name->theirs, p, ours);
        if (rc == 0)
            rc = vls_planning_mend(p, VLS_R_NAME, message, block, ours);
        if (rc == 0 && p->plan->names.len < VLS_PLAN_NAMES_MAX &&
            !vls_vec_push_in(&p->plan->names, p->arena, (vls_plan_name){ours, name->theirs}))
            rc = vls_arena_fail(p->arena, p->err);
    }
    if (rc == 0)
        rc = take_name(p, &p->names.taken_tools, name->theirs);
    if (rc == 0)
        rc = put(p, &p->names.tools, ours, name);
    *out = name;
    return rc;
}

int vls_planning_name(valise_str *out, vls_planning *p, valise_str ours, int32_t message,
                      int32_t block)
{
    tool_name *name = get(p, &p->names.tools, ours);

    if (!name) {
        int rc = new_name(&name, p, ours, message, block);
        if (rc < 0)
            return rc;
    }
    if (!name->called) {
        name->called = true;
        if (!vls_vec_push_in(&p->names.called, p->arena, name))
            return vls_arena_fail(p->arena, p->err);
    }
    *out = name->theirs;
    return 0;
}

/* Those that fit come first, so that they keep their names. */
static int name_tools(vls_planning *p, bool fit)
{
    int rc = 0;

    for (uint32_t i = 0; i < p->prompt->tools.len && rc == 0; i++) {
        valise_str ours = vls_block_text(p->prompt->tools.items[i], "name");
        tool_name *name = get(p, &p->names.tools, ours);
        if (vls_name_fits(ours, p->plan->demands) == fit && !name)
            rc = new_name(&name, p, ours, -1, (int32_t)i);
    }
    return rc;
}

/* A tool as it is given, but for its schema where that is not taken. [R11.2] */
static int add_tool(vls_planning *p, vls_json tool, valise_str ours, uint32_t at)
{
    vls_json schema = vls_member_of(tool, "inputSchema");
    int rc = 0;

    if (vls_demands(p, PLAIN_SCHEMA) && !vls_schema_is_plain(schema)) {
        rc = vls_schema_make_plain(&schema, p->arena, schema, p->err);
        if (rc == 0)
            rc = vls_json_with(&tool, p->arena, tool, "inputSchema", schema, p->err);
        if (rc == 0)
            rc = vls_planning_mend(p, VLS_R_SCHEMA, -1, (int32_t)at, ours);
    }
    if (rc == 0 && !vls_vec_push_in(&p->plan->tools, p->arena, tool))
        rc = vls_arena_fail(p->arena, p->err);
    return rc;
}

int vls_planning_tools(vls_planning *p)
{
    VLS_AUTO(map) vls_map seen = {.env = NULL};
    int rc = name_tools(p, true);

    if (rc == 0)
        rc = name_tools(p, false);
    vls_map_init(&seen, p->arena->env, vls_str_is);
    for (uint32_t i = 0; i < p->prompt->tools.len && rc == 0; i++) {
        valise_str ours = vls_block_text(p->prompt->tools.items[i], "name");
        if (get(p, &seen, ours)) {
            rc = vls_planning_mend(p, VLS_R_SAME_TOOL, -1, (int32_t)i, ours);
            continue;
        }
        rc = take_name(p, &seen, ours);
        if (rc == 0)
            rc = add_tool(p, p->prompt->tools.items[i], ours, i);
    }
    return rc;
}

static int make_tool(vls_json *out, vls_planning *p, valise_str ours)
{
    vls_member *schema = vls_arena_array(p->arena, 1, sizeof(*schema));
    vls_member *tool = vls_arena_array(p->arena, 3, sizeof(*tool));
    vls_json value = vls_json_null();
    int rc;

    if (!schema || !tool)
        return vls_arena_fail(p->arena, p->err);
    schema[0] = (vls_member){vls_json_string(VLS_STR("type")), vls_json_string(VLS_STR("object"))};
    rc = vls_json_object(&value, schema, 1, p->err);
    if (rc < 0)
        return rc;
    tool[0] = (vls_member){vls_json_string(VLS_STR("description")),
                           vls_json_string(VLS_STR(VLS_PLAN_NO_TOOL))};
    tool[1] = (vls_member){vls_json_string(VLS_STR("inputSchema")), value};
    tool[2] = (vls_member){vls_json_string(VLS_STR("name")), vls_json_string(ours)};
    return vls_json_object(out, tool, 3, p->err);
}

int vls_planning_lacking(vls_planning *p)
{
    size_t count = VLS_MIN(p->names.called.len, VLS_NEUTRAL_TOOLS_MAX);
    int rc = 0;

    if (!vls_demands(p, TOOLS) || p->plan->tools.len > 0)
        return 0;
    p->plan->tools_made = count > 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        valise_str ours = p->names.called.ptr[i]->ours;
        vls_json tool = vls_json_null();

        rc = make_tool(&tool, p, ours);
        if (rc == 0 && !vls_vec_push_in(&p->plan->tools, p->arena, tool))
            rc = vls_arena_fail(p->arena, p->err);
        if (rc == 0)
            rc = vls_planning_mend(p, VLS_R_NO_TOOLS, -1, -1, ours);
    }
    return rc;
}

/* ---- for writers and readers ---- */

valise_str vls_plan_name_out(const vls_plan *plan, valise_str ours)
{
    for (size_t i = 0; i < plan->names.len; i++) {
        if (vls_str_equal(plan->names.ptr[i].ours, ours))
            return plan->names.ptr[i].theirs;
    }
    return ours;
}

valise_str vls_plan_name_back(const vls_plan *plan, valise_str theirs)
{
    for (size_t i = 0; i < plan->names.len; i++) {
        if (vls_str_equal(plan->names.ptr[i].theirs, theirs))
            return plan->names.ptr[i].ours;
    }
    return theirs;
}
