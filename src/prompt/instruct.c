/* instruct.c -- stage 3: tools, params, the persona of the role in force, preferences. [P3]
 *
 * A preference is active when its scope applies and its topics are none, or meet those of the
 * session or of the role. Of several for one slot the nearest scope decides, then priority, then
 * the newest; the others are told. What is sent stands in an order that does not depend on who
 * won: scope, priority, when it was made. */
#include "json/make.h"
#include "memory/role.h"
#include "prompt/build.h"
#include "prompt/cost.h"
#include "prompt/stage.h"
#include "store/used.h"
#include "store/view.h"

/* ---- who speaks ---- */

int vls_role_in_force(vls_role_version_row *out, valise_view *view, const vls_request *request,
                      valise_error *err)
{
    valise_str name = request->head.ref.version > 0 && request->head.in_force.ptr
                          ? request->head.in_force
                          : request->session.first_role;
    vls_role_row role = {.name = name};
    int rc = name.ptr ? valise_view_get(&role, view, &vls_roles, err) : 0;

    if (rc <= 0)
        return rc; /* none, or it was deleted since */
    rc = vls_role_version_get(out, view, name, role.version, err);
    return rc < 0 ? rc : 1;
}

/* ---- parts ---- */

int vls_add_part(vls_choice *out, valise_view *view, const vls_part *part, valise_error *err)
{
    return vls_vec_push_in(&out->parts, &view->arena, *part) ? 0
                                                             : vls_arena_fail(&view->arena, err);
}

/* A value that came with the request, as an object would hold it. */
static int add_given(vls_choice *out, valise_view *view, const char *name, vls_section section,
                     valise_str json, valise_error *err)
{
    vls_part part = {.section = (uint8_t)section,
                     .kind = VLS_PART_GIVEN,
                     .kept = true,
                     .version = VALISE_NONE,
                     .author = valise_view_stamp(view)->actor,
                     .reason = VLS_STR("came with the request")};
    int rc = vls_json_parse(&part.value, &view->arena, json, NULL, err);

    if (rc == 0 && part.value.type != VLS_JSON_OBJECT)
        rc = vls_fail(err, VALISE_E_INVALID, "%s is not a JSON object", name);
    if (rc == 0)
        rc = vls_arena_dup(&part.name, &view->arena, valise_str_of(name), err);
    if (rc == 0)
        rc = vls_json_text(&part.text, &view->arena, part.value, err);
    if (rc == 0)
        rc = vls_object_id(&part.id, "value", part.text, err);
    if (rc < 0)
        return rc;
    part.tokens = section == VLS_SECTION_TOOLS ? vls_value_cost(part.value) : 0;
    return vls_add_part(out, view, &part, err);
}

static int add_tools(vls_choice *out, valise_view *view, const vls_request *request,
                     valise_error *err)
{
    const valise_str *tools = request->tools.items;
    int rc = 0;

    for (size_t i = 0; i < request->tools.count && rc == 0; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "tools[%zu]", i);
        rc = add_given(out, view, name, VLS_SECTION_TOOLS, tools[i], err);
    }
    return rc;
}

/* Persona or constraints of a role version; nothing where there is none, or it was erased. */
static int add_role(vls_choice *out, valise_view *view, vls_section section,
                    const vls_role_version_row *role, const valise_id *id, const char *reason,
                    valise_error *err)
{
    vls_part part = {.section = (uint8_t)section,
                     .kind = VLS_PART_ROLE,
                     .kept = true,
                     .name = role->name,
                     .version = role->version,
                     .id = *id,
                     .author = role->actor,
                     .reason = valise_str_of(reason)};
    int rc = vls_memory_text(&part.text, view, id, err);

    if (rc < 0 || !part.text.ptr)
        return rc;
    part.tokens = section == VLS_SECTION_SYSTEM ? vls_text_cost(part.text) : 0;
    return vls_add_part(out, view, &part, err);
}

/* ---- preferences ---- */

typedef vls_vec(vls_preference_row) preferences;

static bool meets(valise_list a, valise_list b)
{
    const valise_str *topics = a.items;

    for (size_t i = 0; i < a.count; i++)
        if (vls_topics_have(b, topics[i]))
            return true;
    return false;
}

static bool applies(const vls_preference_row *row, const vls_request *request,
                    const vls_role_version_row *role)
{
    char session[VALISE_UUID_TEXT];

    if (row->scope == VLS_SCOPE_ROLE && !(role && vls_str_equal(row->of, role->name)))
        return false;
    if (row->scope == VLS_SCOPE_SESSION &&
        !vls_str_equal(row->of, valise_str_of(valise_uuid_text(session, &request->session.id))))
        return false;
    return row->topics.count == 0 || meets(row->topics, request->session.topics) ||
           (role && meets(row->topics, role->topics));
}

/* Strings of a row that a scan filled, and its topics are not looked at again. */
static int keep_row(preferences *all, valise_view *view, vls_preference_row row, valise_error *err)
{
    vls_arena *arena = &view->arena;
    int rc = vls_arena_dup(&row.actor, arena, row.actor, err);

    if (rc == 0 && row.slot.ptr)
        rc = vls_arena_dup(&row.slot, arena, row.slot, err);
    row.of = (valise_str){NULL, 0};
    row.topics = (valise_list){NULL, 0};
    if (rc == 0 && !vls_vec_push_in(all, arena, row))
        rc = vls_arena_fail(arena, err);
    return rc;
}

static int find_preferences(preferences *all, valise_view *view, const vls_request *request,
                            const vls_role_version_row *role, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_preference_row row = {0};
    int rc = valise_view_scan(&scan, view, &vls_preferences, NULL, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = !vls_id_is_none(&row.content) && applies(&row, request, role)
                 ? keep_row(all, view, row, err)
                 : 0;
    valise_scan_close(scan);
    return rc;
}

/* Who decides a slot: the nearer scope, the higher priority, the newer one; ids at last. */
static int stronger(const void *a, const void *b)
{
    const vls_preference_row *x = a, *y = b;

    if (x->scope != y->scope)
        return x->scope > y->scope ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    if (x->updated != y->updated)
        return x->updated > y->updated ? -1 : 1;
    return vls_uuid_compare(&y->id, &x->id);
}

/* In which order they are told: the widest scope first. */
static int earlier(const void *a, const void *b)
{
    const vls_preference_row *x = a, *y = b;

    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    if (x->created != y->created)
        return x->created < y->created ? -1 : 1;
    return vls_uuid_compare(&x->id, &y->id);
}

/* Why another one decides; static texts by scope. */
static const char *lost_by(const vls_preference_row *winner, const vls_preference_row *loser)
{
    if (winner->scope != loser->scope)
        return winner->scope == VLS_SCOPE_SESSION ? "a preference of the session decides this slot"
                                                  : "a preference of the role decides this slot";
    if (winner->priority != loser->priority)
        return "a preference of higher priority decides this slot";
    return "a newer preference decides this slot";
}

static int leave_losers(preferences *all, vls_choice *out, valise_view *view, valise_error *err)
{
    size_t kept = 0;
    int rc = 0;

    if (all->len > 1)
        qsort(all->ptr, all->len, sizeof(*all->ptr), stronger);
    for (size_t i = 0; i < all->len && rc == 0; i++) {
        const vls_preference_row *row = &all->ptr[i], *winner = NULL;
        char id[VALISE_UUID_TEXT];

        for (size_t k = 0; row->slot.ptr && k < kept && !winner; k++)
            if (all->ptr[k].slot.ptr && vls_str_equal(all->ptr[k].slot, row->slot))
                winner = &all->ptr[k];
        if (winner)
            rc = vls_leave(out, view, VLS_PART_PREFERENCE,
                           valise_str_of(valise_uuid_text(id, &row->id)), lost_by(winner, row), 0,
                           err);
        else
            all->ptr[kept++] = *row;
    }
    all->len = kept;
    if (kept > 1)
        qsort(all->ptr, kept, sizeof(*all->ptr), earlier);
    return rc;
}

static int add_preference(vls_choice *out, valise_view *view, const vls_preference_row *row,
                          valise_error *err)
{
    static const char *const reasons[] = {
        "a preference of the workspace", "a preference of the role", "a preference of the session"};
    char id[VALISE_UUID_TEXT];
    vls_part part = {.section = VLS_SECTION_SYSTEM,
                     .kind = VLS_PART_PREFERENCE,
                     .kept = true,
                     .version = row->version,
                     .id = row->content,
                     .words = VLS_STR("Preference: "),
                     .author = row->actor,
                     .reason = valise_str_of(reasons[row->scope])};
    int rc =
        vls_arena_dup(&part.name, &view->arena, valise_str_of(valise_uuid_text(id, &row->id)), err);

    if (rc == 0)
        rc = vls_used_by_row(&part.source, view, &vls_preferences, row, err);
    if (rc == 0)
        rc = vls_memory_text(&part.text, view, &row->content, err);
    if (rc < 0 || !part.text.ptr)
        return rc;
    part.tokens = vls_text_cost(part.words) + vls_text_cost(part.text);
    return vls_add_part(out, view, &part, err);
}

/* ---- all of it ---- */

static int add_preferences(vls_choice *out, valise_view *view, const vls_request *request,
                           const vls_role_version_row *role, valise_error *err)
{
    preferences all = VLS_VEC_INIT;
    int rc = vls_may_choose(out, view, VLS_PART_PREFERENCE, err);

    if (rc <= 0)
        return rc;
    rc = find_preferences(&all, view, request, role, err);
    if (rc == 0)
        rc = leave_losers(&all, out, view, err);
    for (size_t i = 0; i < all.len && rc == 0; i++)
        rc = add_preference(out, view, &all.ptr[i], err);
    return rc;
}

int vls_choose_instructions(vls_choice *out, valise_view *view, const vls_request *request,
                            valise_error *err)
{
    vls_role_version_row role = {0};
    int rc = vls_role_in_force(&role, view, request, err);
    bool has_role = rc > 0, tells = false;

    if (rc > 0)
        rc = vls_may_choose(out, view, VLS_PART_ROLE, err);
    tells = rc > 0;
    if (rc >= 0)
        rc = add_tools(out, view, request, err);
    if (rc == 0 && tells)
        rc = add_role(out, view, VLS_SECTION_PARAMS, &role, &role.constraints,
                      "what the role asks of models", err);
    if (rc == 0 && request->params.ptr)
        rc = add_given(out, view, "params", VLS_SECTION_PARAMS, request->params, err);
    if (rc == 0 && tells)
        rc =
            add_role(out, view, VLS_SECTION_SYSTEM, &role, &role.persona, "the role in force", err);
    return rc < 0 ? rc : add_preferences(out, view, request, has_role ? &role : NULL, err);
}
