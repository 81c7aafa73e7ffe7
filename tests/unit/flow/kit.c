/* kit.c -- see kit.h. */
#include "flow/kit.h"

#include "base/mem.h"
#include "json/make.h"

/* ---- types ---- */

int kit_made;

typedef struct strict_params {
    valise_str model;
    double temperature;
    int64_t turns;
    valise_str key;
} strict_params;

static const valise_field strict_fields[] = {
    VALISE_FIELD(strict_params, model, STR, VALISE_REQUIRED, "The model."),
    VALISE_FIELD_WITH(strict_params, temperature, REAL, 0, "How bold.", .max = 2),
    VALISE_FIELD_WITH(strict_params, turns, INT, 0, "How often.", .min = 0, .max = 100),
    VALISE_FIELD(strict_params, key, STR, VALISE_NULLABLE, "A secret."),
    VALISE_FIELD_END,
};
static const char *const strict_actions[] = {"again", "done", NULL};

typedef struct made_node {
    int nothing;
} made_node;

static int make(void **out, void *self, const valise_node_setup *setup, valise_error *err)
{
    made_node *node;

    (void)self;
    if (vls_str_find(setup->params, VLS_STR("refuse")) < setup->params.len)
        return vls_fail(err, VALISE_E_UNSUPPORTED, "it does not want to be made");
    node = vls_mem_zalloc(valise_env_default(), sizeof(*node));
    if (!node)
        return vls_fail_memory(err);
    kit_made++;
    *out = node;
    return 0;
}

static void destroy(void *node)
{
    kit_made--;
    vls_mem_free(valise_env_default(), node, sizeof(made_node));
}

static int to_config(void *node, int (*write)(void *arg, valise_str json, valise_error *err),
                     void *arg, valise_error *err)
{
    (void)node;
    return write(arg, VLS_STR("{\"made\":true}"), err);
}

#define TYPE(variable, type_name, ...)                                                             \
    static const valise_node_type variable = {                                                     \
        .size = sizeof(valise_node_type), .name = (type_name), .brief = "For tests.", __VA_ARGS__}

TYPE(chat, "ChatNode", .segment = "chat");
TYPE(search, "SearchNode", .self = NULL);
TYPE(summary, "SummaryNode", .self = NULL);
TYPE(reporting, "ReportNode", .self = NULL);
TYPE(agent, "ResearchAgentNode", .segment = "researchAgent");
TYPE(strict, "StrictNode", .params = strict_fields, .params_size = sizeof(strict_params),
     .actions = strict_actions);
TYPE(schema, "SchemaNode",
     .params_schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"},"
                      "\"list\":{\"items\":{\"type\":\"string\"}}},\"required\":[\"n\"]}");
TYPE(made, "MadeNode", .create = make, .destroy = destroy, .to_config = to_config);

const valise_node_type *const kit_types[] = {&chat,   &search, &summary, &reporting, &agent,
                                             &strict, &schema, &made,    NULL};

/* ---- handles ---- */

static void close_it(void *v)
{
    valise_close(v);
}

static void free_it(void *flow)
{
    valise_flow_free(flow);
}

valise *kit_open_in(const valise_env *env, valise_error *err)
{
    valise_options options = VALISE_OPTIONS_INIT;
    valise *v = NULL;

    options.env = env;
    options.flags = VALISE_OPEN_NO_USER_CONFIG;
    return valise_open(&v, NULL, &options, err) < 0 ? NULL : v;
}

valise *kit_open(test *t)
{
    valise *v = kit_open_in(t->env, &t->err);

    CHECK(v != NULL);
    test_defer(close_it, v);
    return v;
}

valise_flow_options kit_options(void)
{
    valise_flow_options options = VALISE_FLOW_OPTIONS_INIT;

    options.types = kit_types;
    return options;
}

const char *kit_quote(const char *text)
{
    char *copy = test_alloc(strlen(text) + 1);

    for (size_t i = 0; text[i]; i++)
        copy[i] = text[i] == '\'' ? '"' : text[i];
    return copy;
}

valise_flow *kit_flow(test *t, valise *v, const char *config)
{
    valise_flow_options options = kit_options();
    valise_flow *flow = NULL;

    CHECK_OK(valise_flow_from_config(&flow, v, valise_str_of(kit_quote(config)), NULL, &options,
                                     &t->err));
    test_defer(free_it, flow);
    return flow;
}

valise_flow *kit_new(test *t, valise *v, const char *namespace_name)
{
    valise_flow_options options = kit_options();
    valise_flow *flow = NULL;

    CHECK_OK(valise_flow_new(&flow, v, namespace_name, &options, &t->err));
    test_defer(free_it, flow);
    return flow;
}

/* ---- what they say ---- */

static const char *keep(const vls_buf *text)
{
    char *copy = test_alloc(text->len + 1);

    if (text->len > 0)
        memcpy(copy, text->ptr, text->len);
    return copy;
}

static void add_findings(vls_buf *out, vls_json list, const char *front)
{
    for (uint32_t i = 0; i < list.len; i++) {
        valise_str hint = vls_text_of(list.items[i], "hint");
        vls_buf_printf(out, "%s%.*s: %.*s", front,
                       VALISE_STR_ARG(vls_text_of(list.items[i], "path")),
                       VALISE_STR_ARG(vls_text_of(list.items[i], "message")));
        if (hint.len > 0)
            vls_buf_printf(out, " (%.*s)", VALISE_STR_ARG(hint));
        vls_buf_add_byte(out, '\n');
    }
}

const char *kit_check(test *t, valise *v, const char *config)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    VLS_AUTO(buf) vls_buf text = {.env = NULL};
    VLS_AUTO(blob) valise_blob *report = NULL;
    valise_flow_options options = kit_options();
    vls_json json = vls_json_null(), errors;
    int rc = valise_flow_check(&report, v, valise_str_of(kit_quote(config)), &options, &t->err);

    CHECK(rc >= 0);
    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&text, t->env, SIZE_MAX / 2);
    CHECK_OK(vls_json_parse(&json, &arena, vls_blob_bytes(report), NULL, &t->err));
    errors = vls_member_of(json, "errors");
    CHECK_INT(rc, errors.len == 0);
    add_findings(&text, errors, "");
    add_findings(&text, vls_member_of(json, "warnings"), "warning ");
    return keep(&text);
}

const char *kit_config_of(test *t, valise_flow *flow)
{
    VLS_AUTO(blob) valise_blob *config = NULL;
    valise_str bytes;

    CHECK_OK(valise_flow_to_config(&config, flow, &t->err));
    bytes = vls_blob_bytes(config);
    return test_format("%.*s", VALISE_STR_ARG(bytes));
}

const char *kit_canonical(test *t, const char *config)
{
    VLS_AUTO(blob) valise_blob *out = NULL;
    valise_str bytes;

    CHECK_OK(vls_json_canonical(&out, t->env, valise_str_of(kit_quote(config)), &t->err));
    bytes = vls_blob_bytes(out);
    return test_format("%.*s", VALISE_STR_ARG(bytes));
}

const char *kit_draw(test *t, valise_flow *flow, int format)
{
    VLS_AUTO(blob) valise_blob *out = NULL;
    valise_str bytes;

    CHECK_OK(valise_flow_graph(&out, flow, format, &t->err));
    bytes = vls_blob_bytes(out);
    return test_format("%.*s", VALISE_STR_ARG(bytes));
}

const char *kit_names(const valise_flow *flow)
{
    const char *all = "";

    for (size_t i = 0; i < flow->nodes.len; i++) {
        const vls_flow_node *node = flow->nodes.ptr[i];
        all = test_format("%s%.*s %.*s\n%s", all, VALISE_STR_ARG(node->path),
                          VALISE_STR_ARG(node->namespace_name),
                          node->inner ? kit_names(node->inner) : "");
    }
    return all;
}
