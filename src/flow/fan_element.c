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
    return rc < 0 ? rc
                  : vls_handle_pack(NULL, element->fork, key, text, &options, element->fan->marks,
                                    err);
}

/* ---- what came of it ---- */

/* As the node of the map, which may have no right to see it. */
static int make_view(valise_backpack **out, vls_fan_element *element, valise_error *err)
{
    const valise_node_run *at = element->fan->at;
    const valise_node who = {.size = sizeof(who),
                             .id = at->path,
                             .name = valise_str_of(at->node->type->name),
                             .namespace_name = at->namespace_name};

    return valise_backpack_node(out, element->fork, &who, err);
}

/* Where a tag of the item came from: the fork will be gone, what was read in it may stay. */
static valise_taint source_of(const valise_commit *commit, valise_str tag)
{
    const valise_taint *const *taint = commit->taints.items;
    valise_taint source = {.tag = tag, .seq = commit->seq, .backpack = commit->backpack};

    for (size_t i = 0; i < commit->taints.count; i++) {
        if (!vls_str_equal(taint[i]->tag, tag))
            continue;
        source.seq = taint[i]->seq;
        if (!vls_uuid_is_none(&taint[i]->backpack))
            source.backpack = taint[i]->backpack;
    }
    return source;
}

/* What the map's node packs of it carries the tags that are sticky: it has read them. [B22] */
static int note_tags(vls_fan_element *element, const valise_commit *commit, valise_error *err)
{
    const valise_str *tag = commit->tags.items;
    int rc = 0;

    for (size_t i = 0; i < commit->tags.count && rc == 0; i++) {
        valise_taint source = source_of(commit, tag[i]);

        rc = vls_arena_dup(&source.tag, &element->arena, tag[i], err);
        if (rc == 0 && !vls_vec_push_in(&element->marks, &element->arena, source))
            rc = vls_arena_fail(&element->arena, err);
    }
    return rc;
}

typedef struct taking {
    vls_fan_element *element;
    vls_json *value;
} taking;

static int take_item(void *arg, const valise_item *item, valise_error *err)
{
    const taking *t = arg;
    vls_arena *arena = &t->element->arena;
    valise_str text = {NULL, 0};
    int rc = note_tags(t->element, item->commit, err);

    if (rc == 0)
        rc = vls_arena_dup(&text, arena, vls_blob_bytes(item->value), err);
    return rc < 0 ? rc : vls_json_parse(t->value, arena, text, NULL, err);
}

static int collect(vls_fan_element *element, valise_backpack *view, valise_error *err)
{
    const vls_fan *fan = element->fan;
    VLS_AUTO(blob) valise_blob *value = NULL;
    taking t = {element, &element->result};
    valise_str key;
    int rc = valise_unpack_str(&value, view, fan->collect, err); /* this one is on record */

    if (rc == 0 && fan->params->collect.ptr)
        return vls_fail(err, VALISE_E_NOT_FOUND, "'%.*s' did not pack '%.*s'",
                        VALISE_STR_ARG(element->path), VALISE_STR_ARG(fan->collect));
    if (rc <= 0)
        return vls_settle(rc);
    rc = vls_arena_dup(&key, &element->arena, fan->collect, err);
    return rc < 0 ? rc : vls_settle(valise_item_get(view, key.ptr, take_item, &t, err));
}

/* What comes together is taken by the map's node, and only what it may read. */
static int take_reduced(vls_fan_element *element, valise_backpack *view, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < element->reduced.len && rc >= 0; i++) {
        vls_fan_change *change = &element->reduced.ptr[i];
        taking t = {element, &change->value};

        if (change->deleted)
            continue;
        rc = valise_item_get(view, change->key.ptr, take_item, &t, err);
        change->deleted = rc == 0; /* a lenient one does not show it */
    }
    return vls_settle(rc);
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
    int rc;

    if (!reduced && stays(element->fan, change->key))
        return 0;
    rc = vls_arena_dup(&noted.key, &element->arena, change->key, err);
    if (rc < 0)
        return rc;
    if (reduced ? vls_vec_push_in(&element->reduced, &element->arena, noted)
                : vls_vec_push_in(&element->changes, &element->arena, noted))
        return 0;
    return vls_arena_fail(&element->arena, err);
}

static int take_results(vls_fan_element *element, valise_error *err)
{
    valise_backpack *view = NULL;
    int rc = make_view(&view, element, err);

    if (rc == 0)
        rc = collect(element, view, err);
    if (rc == 0)
        rc = valise_backpack_diff(element->fan->base, element->fork, note_change, element, err);
    if (rc == 0)
        rc = take_reduced(element, view, err);
    valise_backpack_close(view);
    return rc;
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
        rc = take_results(element, err);
    /* Mostly there is but the result. */
    if (rc == 0 && element->changes.len == 0)
        return vls_fan_drop(element, err);
    return rc < 0 ? rc : leave_behind(element, err);
}
