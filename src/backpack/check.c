/* check.c -- a backpack, or one value of it, against a JSON Schema. */
#include "backpack/look_impl.h"

#include "json/schema.h"

typedef struct checking {
    const vls_ledger *ledger;
    vls_scope *scope;
    vls_arena arena; /* of the instance; its texts are those of the values below */
    vls_json_builder builder;
    vls_buf *report;
    bool any;
} checking;

static int parse_value(vls_json *out, checking *c, valise_blob *value, valise_error *err)
{
    valise_str text;
    int rc = vls_arena_dup(&text, &c->arena, vls_blob_bytes(value), err);

    return rc < 0 ? rc : vls_json_parse(out, &c->arena, text, NULL, err);
}

static int add_item(void *arg, const valise_item *item, valise_error *err)
{
    checking *c = arg;
    valise_str key;
    vls_json v;
    int rc;

    if (!item->value) /* erased */
        return 0;
    rc = vls_arena_dup(&key, &c->arena, item->commit->key, err);
    if (rc == 0)
        rc = parse_value(&v, c, item->value, err);
    if (rc != 0)
        return rc;
    vls_json_add_key(&c->builder, key);
    vls_json_add(&c->builder, v);
    return 0;
}

/* The state as one object. */
static int whole(vls_json *out, checking *c, valise_error *err)
{
    int rc;

    vls_json_builder_init(&c->builder, &c->arena);
    vls_json_open(&c->builder, VLS_JSON_OBJECT);
    rc = vls_bag_each(c->ledger, c->scope, (valise_str){NULL, 0}, true, add_item, c, err);
    vls_json_close(&c->builder);
    if (rc == 0)
        return vls_json_builder_finish(out, &c->builder, err);
    vls_json_builder_release(&c->builder);
    return rc;
}

static int one(vls_json *out, checking *c, valise_str key, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    vls_look look = {.required = true};
    int rc = vls_bag_get(&value, c->ledger, c->scope, key, &look, err);

    return rc < 0 ? rc : parse_value(out, c, value, err);
}

static int found(void *arg, const vls_schema_finding *f)
{
    checking *c = arg;

    vls_buf_add_text(c->report, c->any ? ",{\"instancePath\":" : "{\"instancePath\":");
    vls_json_write_string(c->report, f->instance_path);
    vls_buf_add_text(c->report, ",\"keyword\":");
    vls_json_write_string(c->report, f->keyword);
    vls_buf_add_text(c->report, ",\"reason\":");
    vls_json_write_string(c->report, f->reason);
    vls_buf_add_text(c->report, ",\"schemaPath\":");
    vls_json_write_string(c->report, f->schema_path);
    vls_buf_add_byte(c->report, '}');
    c->any = true;
    return 0;
}

static int check(checking *c, valise_str key, valise_str schema_text, valise_error *err)
{
    VLS_AUTO(schema) vls_schema *schema = NULL;
    vls_schema_report findings = {.found = found, .arg = c};
    valise_error first = VALISE_ERROR_INIT;
    vls_json v, instance;
    int rc = vls_json_parse(&v, &c->arena, schema_text, NULL, err);

    if (rc == 0)
        rc = vls_schema_compile(&schema, c->arena.env, v, NULL, NULL, err);
    if (rc == 0)
        rc = key.len > 0 ? one(&instance, c, key, err) : whole(&instance, c, err);
    if (rc != 0)
        return rc;
    vls_buf_add_text(c->report, "{\"errors\":[");
    rc = vls_schema_check(schema, instance, &findings, &first);
    if (rc < 0 && rc != VALISE_E_INVALID) {
        if (err)
            *err = first;
        return rc;
    }
    vls_buf_add_text(c->report, rc == 0 ? "],\"valid\":true}" : "],\"valid\":false}");
    if (vls_buf_check(c->report, err) < 0)
        return vls_buf_check(c->report, NULL);
    return rc == 0;
}

int vls_bag_validate(vls_buf *report, const vls_ledger *ledger, vls_scope *scope, valise_str key,
                     valise_str schema, valise_error *err)
{
    checking c = {.ledger = ledger, .scope = scope, .report = report};
    int rc;

    vls_arena_init(&c.arena, vls_scope_env(scope), SIZE_MAX);
    rc = check(&c, key, schema, err);
    vls_arena_release(&c.arena);
    return rc;
}
