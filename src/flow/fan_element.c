/* fan_element.c -- one element of a map: its fork, its run, and what it changed. */
#include "flow/fan.h"

#include "backpack/ops.h"
#include "json/make.h"

#define ELEMENT_MEMORY_MAX ((size_t)1 << 30)

/* ---- its fork ---- */

/* The same name each time, so that what a killed run left behind is found. */
static int name_fork(vls_fan_element *element, valise_error *err)
{
    const valise_node_run *at = element->fan->at;
    vls_buf name;

    vls_buf_init_in(&name, &element->arena, VLS_BAG_NAME_MAX);
    vls_buf_printf(&name, VLS_FAN_FORK "%s-%016llx-%lld-%zu", at->run->id_text.s,
                   (unsigned long long)vls_str_hash(at->path, 0), (long long)at->visit,
                   element->number);
    return vls_buf_keep(&element->name, &name, err);
}

static int make_fork(vls_fan_element *element, valise_error *err)
{
    vls_fan *fan = element->fan;
    valise_backpack_options options = VALISE_BACKPACK_OPTIONS_INIT;
    int rc = name_fork(element, err);

    options.actor = fan->at->run->actor;
    if (!fan->at->run->bag->memory) /* a fork is of the kind of its origin */
        options.flags = VALISE_BACKPACK_DURABLE | VALISE_BACKPACK_WRITE_BEHIND;
    if (rc < 0)
        return rc;
    rc = valise_backpack_fork(&element->fork, fan->base, element->name.ptr, &options, err);
    if (rc != VALISE_E_EXISTS)
        return rc;
    vls_error_clear(err);
    rc = vls_backpack_drop(fan->at->run->v, element->name, err);
    return rc < 0
               ? rc
               : valise_backpack_fork(&element->fork, fan->base, element->name.ptr, &options, err);
}

int vls_fan_drop(vls_fan_element *element, valise_error *err)
{
    bool durable = element->fork && !element->fork->memory;

    valise_backpack_close(element->fork);
    element->fork = NULL;
    if (!durable)
        return 0;
    /* Who may run the flow need not have the right to drop what is of the run alone. */
    return vls_backpack_drop(element->fan->at->run->v, element->name, err);
}

/* ---- what it is about ---- */

static int pack(vls_fan_element *element, valise_str key, vls_json value, valise_error *err)
{
    const valise_node_run *at = element->fan->at;
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;
    valise_str text;
    int rc = vls_json_text(&text, &element->arena, value, err);

    options.node_id = at->path;
    options.node_name = valise_str_of(at->node->type->name);
    options.namespace_name = at->namespace_name;
    return rc < 0 ? rc : valise_pack_str(NULL, element->fork, key, text, &options, err);
}

/* ---- what came of it ---- */

/* As the node of the map, which may have no right to see it. */
static int collect(vls_fan_element *element, valise_error *err)
{
    const vls_fan *fan = element->fan;
    const valise_node who = {.size = sizeof(who),
                             .id = fan->at->path,
                             .name = valise_str_of(fan->at->node->type->name),
                             .namespace_name = fan->at->namespace_name};
    VLS_AUTO(blob) valise_blob *value = NULL;
    valise_backpack *view = NULL;
    valise_str text;
    int rc = valise_backpack_node(&view, element->fork, &who, err);

    if (rc == 0)
        rc = valise_unpack_str(&value, view, fan->collect, err);
    valise_backpack_close(view);
    if (rc == 0 && fan->params->collect.ptr)
        return vls_fail(err, VALISE_E_NOT_FOUND, "'%.*s' did not pack '%.*s'",
                        VALISE_STR_ARG(element->path), VALISE_STR_ARG(fan->collect));
    if (rc <= 0 || !value)
        return vls_settle(rc);
    rc = vls_arena_dup(&text, &element->arena, vls_blob_bytes(value), err);
    return rc < 0 ? rc : vls_json_parse(&element->result, &element->arena, text, NULL, err);
}

/* Does it stay in the fork? What an element is given and gives, and what is reduced. */
static bool stays(const vls_fan *fan, valise_str key)
{
    return vls_str_equal(key, fan->as) || vls_str_equal(key, fan->index) ||
           vls_str_equal(key, fan->collect);
}

static int note_change(void *arg, const valise_change *change, valise_error *err)
{
    vls_fan_element *element = arg;
    vls_fan_change noted = {.element = element->number,
                            .value = vls_json_null(),
                            .deleted = change->kind == VALISE_CHANGE_DELETED};
    bool reduced = vls_json_get(element->fan->reduce, change->key) != NULL;
    valise_str text;
    int rc;

    if (!reduced && stays(element->fan, change->key))
        return 0;
    rc = vls_arena_dup(&noted.key, &element->arena, change->key, err);
    if (rc == 0 && reduced && change->new_value) {
        rc = vls_arena_dup(&text, &element->arena, vls_blob_bytes(change->new_value), err);
        if (rc == 0)
            rc = vls_json_parse(&noted.value, &element->arena, text, NULL, err);
    }
    if (rc < 0)
        return rc;
    if (reduced ? vls_vec_push_in(&element->reduced, &element->arena, noted)
                : vls_vec_push_in(&element->changes, &element->arena, noted))
        return 0;
    return vls_arena_fail(&element->arena, err);
}

/* ---- what does not come back ---- */

/* Make the item of the fork that of the base again: then a merge finds nothing to bring along. */
static int restore(vls_fan_element *element, valise_str key, valise_error *err)
{
    valise_str name;
    int rc = vls_arena_dup(&name, &element->arena, key, err);

    if (rc == 0)
        rc = valise_remove(NULL, element->fork, name.ptr, err);
    return rc < 0 ? rc
                  : vls_settle(valise_item_get(element->fan->base, name.ptr, vls_flow_pack_again,
                                               element->fork, err));
}

static int leave_behind(vls_fan_element *element, valise_error *err)
{
    const vls_fan *fan = element->fan;
    int rc = restore(element, fan->as, err);

    if (rc == 0)
        rc = restore(element, fan->index, err);
    if (rc == 0)
        rc = restore(element, fan->collect, err);
    for (size_t i = 0; i < element->reduced.len && rc == 0; i++)
        rc = restore(element, element->reduced.ptr[i].key, err);
    return rc;
}

/* ---- all of it ---- */

int vls_fan_run_element(vls_fan_element *element, valise_error *err)
{
    vls_fan *fan = element->fan;
    valise_str action;
    int rc;

    vls_arena_init(&element->arena, fan->at->run->env, ELEMENT_MEMORY_MAX);
    rc = make_fork(element, err);
    if (rc == 0)
        rc = pack(element, fan->as, element->value, err);
    if (rc == 0)
        rc = pack(element, fan->index, element->index, err);
    if (rc == 0)
        rc = vls_flow_run_element(&action, element->node, &fan->inside, (int64_t)element->number,
                                  element->fork, element->path, &element->arena, err);
    if (rc == 0)
        rc = collect(element, err);
    if (rc == 0)
        rc = valise_backpack_diff(fan->base, element->fork, note_change, element, err);
    /* Mostly there is but the result. */
    if (rc == 0 && element->changes.len == 0)
        return vls_fan_drop(element, err);
    return rc < 0 ? rc : leave_behind(element, err);
}
