/* config.c -- a flow from its configuration: levels, and lists of what is in them. [F6] [F19] */
#include "base/mem.h"
#include "base/text.h"
#include "flow/config.h"
#include "json/make.h"

#define REPORT_MAX ((size_t)16 << 20)

/* ---- text ---- */

/* "line 3, column 5: " in front of what is wrong. Columns are bytes. */
static void say_line(valise_str text, int rc, valise_error *err)
{
    valise_error why;
    size_t line = 1, start = 0, at;

    if (!err || err->offset < 0 || (size_t)err->offset > text.len)
        return;
    why = *err;
    at = (size_t)why.offset;
    for (size_t i = 0; i < at; i++) {
        if (text.ptr[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    (void)vls_fail_at(err, rc, at, "line %zu, column %zu: %s", line, at - start + 1, why.message);
    vls_hint(err, "%s", why.hint);
}

int vls_flow_parse(vls_json *out, valise_flow *flow, valise_str text, valise_error *err)
{
    static const vls_json_limits limits = {.max_bytes = VLS_FLOW_CONFIG_MAX};
    valise_str copy;
    int rc;

    if (text.len > VLS_FLOW_CONFIG_MAX)
        return vls_fail(err, VALISE_E_TOO_LARGE,
                        "the configuration of a flow may have at most %zu bytes",
                        VLS_FLOW_CONFIG_MAX);
    rc = vls_arena_dup(&copy, vls_flow_arena(flow), text, err);
    if (rc < 0)
        return rc;
    rc = vls_json_parse(out, vls_flow_arena(flow), copy, &limits, err);
    if (rc < 0)
        say_line(text, rc, err);
    return rc;
}

/* ---- members of a level ---- */

static int read_version(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    valise_str version = {NULL, 0};
    int rc = vls_flow_config_text(&version, r, value, path, err);

    if (rc <= 0 || vls_str_equal(version, VLS_STR(VALISE_FLOW_VERSION)))
        return vls_settle(rc);
    return vls_flow_findings_add(r->findings, false, path,
                                 "this library reads version " VALISE_FLOW_VERSION, err,
                                 "version '%s' is not known", vls_text_short(version).s);
}

static int read_namespace(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    valise_str name = {NULL, 0};
    int rc;

    if (r->flow->outer && r->flow->owner->is_subflow)
        return 0; /* the node of the subflow has looked at it */
    rc = vls_flow_config_text(&name, r, value, path, err);
    if (rc <= 0)
        return rc;
    if (r->flow->outer) { /* a segment of its node, where that has none of its own */
        if (name.len == 0 || vls_flow_is_id(name))
            return 0;
        return vls_flow_findings_add(
            r->findings, false, path, "use letters, digits, '-' and '_', 64 at most", err,
            "'%s' is not a segment of a namespace", vls_text_short(name).s);
    }
    if (name.len > 0 && !vls_flow_is_namespace(name))
        return vls_flow_findings_add(r->findings, false, path,
                                     "write words with dots between them, such as sales.reports",
                                     err, "'%s' is not a namespace", vls_text_short(name).s);
    r->flow->namespace_name = vls_str_or_none(name);
    return 0;
}

static int read_id(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    if (r->flow->outer && r->flow->owner->is_subflow)
        return 0; /* as above */
    return vls_settle(vls_config_id(&r->flow->id, r, value, "id", path, err));
}

static int read_start(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    return vls_settle(vls_flow_config_text(&r->flow->start, r, value, path, err));
}

static int read_steps(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    if (r->flow->outer)
        return vls_flow_findings_add(r->findings, false, path, "say it of the outermost flow", err,
                                     "steps are counted over all of the flow");
    return vls_settle(
        vls_config_int(&r->flow->max_steps, r, value, 1, INT64_C(1) << 52, path, err));
}

static int read_needs(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    if (r->flow->outer)
        return vls_flow_findings_add(r->findings, false, path, "declare them in the outermost flow",
                                     err, "dependencies are those of all of the flow");
    return vls_config_dependencies(r, value, path, err);
}

static int read_text(vls_config_reading *r, vls_json value, valise_str path, valise_error *err)
{
    valise_str text;

    return vls_settle(vls_flow_config_text(&text, r, value, path, err));
}

static const vls_config_member level_members[] = {
    {"dependencies", read_needs},
    {"description", read_text},
    {"edges", NULL}, /* these come when all else is known */
    {"id", read_id},
    {"maxSteps", read_steps},
    {"meta", vls_config_any},
    {"name", read_text},
    {"namespace", read_namespace},
    {"nodes", NULL},
    {"start", read_start},
    {"subflows", NULL},
    {"version", read_version},
    {NULL, NULL},
};

/* ---- lists ---- */

typedef int item_fn(valise_flow *flow, vls_json item, valise_str path, vls_flow_findings *findings,
                    valise_error *err);

static int read_node(valise_flow *flow, vls_json item, valise_str path, vls_flow_findings *findings,
                     valise_error *err)
{
    return vls_flow_read_node(NULL, flow, NULL, item, path, findings, err);
}

static int read_subflow(valise_flow *flow, vls_json item, valise_str path,
                        vls_flow_findings *findings, valise_error *err)
{
    return vls_flow_read_subflow(NULL, flow, item, path, findings, err);
}

static int read_list(bool *is_there, vls_config_reading *r, vls_json config, const char *name,
                     item_fn *fn, valise_str path, valise_error *err)
{
    const vls_json *list = vls_json_get(config, valise_str_of(name));
    vls_config_place room;
    int rc = 0;

    *is_there = list != NULL;
    if (!list)
        return 0;
    path = vls_config_place_member(&room, path, valise_str_of(name));
    if (list->type != VLS_JSON_ARRAY)
        return vls_flow_findings_add(r->findings, false, path, NULL, err,
                                     "it must be a list, not %s", vls_json_type_name(*list));
    for (uint32_t i = 0; i < list->len && rc == 0; i++) {
        vls_config_place item;
        r->flow->broken |= list->items[i].type != VLS_JSON_OBJECT;
        rc = fn(r->flow, list->items[i], vls_config_place_item(&item, path, i), r->findings, err);
    }
    return rc;
}

/* The configuration without what is in it: that is written again from what there is. */
static int keep_json(valise_flow *flow, vls_json config, valise_error *err)
{
    vls_arena *arena = vls_flow_arena(flow);
    vls_member *members = vls_arena_array(arena, config.len + (size_t)1, sizeof(*members));
    size_t n = 0;

    if (!members)
        return vls_arena_fail(arena, err);
    for (uint32_t i = 0; i < config.len; i++) {
        valise_str key = vls_json_str(config.members[i].key);
        if (!vls_str_equal(key, VLS_STR("nodes")) && !vls_str_equal(key, VLS_STR("edges")) &&
            !vls_str_equal(key, VLS_STR("subflows")))
            members[n++] = config.members[i];
    }
    return vls_json_object(&flow->json, members, n, err);
}

int vls_flow_read(valise_flow *flow, vls_json config, valise_str path, vls_flow_findings *findings,
                  valise_error *err)
{
    vls_config_reading r = {.flow = flow, .findings = findings};
    int rc = vls_arena_dup(&flow->place, vls_flow_arena(flow), path, err);

    if (rc == 0)
        rc = vls_config_object(&r, config, level_members, "a flow", path, err);
    if (rc < 0 || config.type != VLS_JSON_OBJECT)
        return rc;
    rc = keep_json(flow, config, err);
    if (rc == 0)
        rc = read_list(&flow->has_nodes, &r, config, "nodes", read_node, path, err);
    if (rc == 0)
        rc = read_list(&flow->has_subflows, &r, config, "subflows", read_subflow, path, err);
    if (rc == 0)
        rc = read_list(&flow->has_edges, &r, config, "edges", vls_flow_read_edge, path, err);
    return rc;
}

/* ---- whole flows ---- */

/* Read and linked; what is wrong is in the findings. Limits are something wrong with it too. */
static int read_all(valise_flow *flow, valise_str text, vls_flow_findings *findings,
                    valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    vls_json config = vls_json_null();
    int rc = vls_flow_parse(&config, flow, text, &why);

    if (rc == 0)
        rc = vls_flow_read(flow, config, VLS_STR(""), findings, &why);
    if (rc == 0)
        rc = vls_flow_link(flow, findings, &why);
    return rc < 0 ? vls_flow_findings_take(findings, VLS_STR(""), &why, err) : 0;
}

int valise_flow_from_config(valise_flow **out, valise *v, valise_str config, valise_backpack *bag,
                            const valise_flow_options *options, valise_error *err)
{
    VLS_AUTO(flow) valise_flow *flow = NULL;
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    vls_flow_findings findings;
    int rc;

    VLS_ARG(out && v && (config.ptr || config.len == 0), err);
    rc = vls_flow_make(&flow, v, options, err);
    if (rc < 0)
        return rc;
    flow->bag = bag;
    vls_arena_init(&arena, v->env, REPORT_MAX);
    vls_flow_findings_init(&findings, &arena);
    rc = read_all(flow, config, &findings, err);
    if (rc == 0)
        rc = vls_flow_findings_fail(&findings, err);
    if (rc == 0)
        *out = VLS_TAKE(flow);
    return rc;
}

int valise_flow_check(valise_blob **report, valise *v, valise_str config,
                      const valise_flow_options *options, valise_error *err)
{
    VLS_AUTO(flow) valise_flow *flow = NULL;
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    vls_flow_findings findings;
    vls_json json = vls_json_null();
    vls_buf text;
    int rc;

    VLS_ARG(report && v && (config.ptr || config.len == 0), err);
    rc = vls_flow_make(&flow, v, options, err);
    if (rc < 0)
        return rc;
    vls_arena_init(&arena, v->env, REPORT_MAX);
    vls_flow_findings_init(&findings, &arena);
    rc = read_all(flow, config, &findings, err);
    if (rc == 0)
        rc = vls_flow_findings_json(&json, &arena, &findings, err);
    vls_buf_init_in(&text, &arena, REPORT_MAX);
    if (rc == 0)
        rc = vls_json_write(&text, json, err);
    if (rc == 0)
        rc = vls_blob_new(report, v->env, vls_buf_str(&text), err);
    return rc < 0 ? rc : findings.errors == 0;
}
