/* pack.c -- put a value under a key. */
#include "backpack/decide_impl.h"

/* The arguments, checked and sorted, before anything is locked. */
typedef struct prepared {
    valise_list tags, read, write, declassify;
    valise_str namespace_name;
    valise_blob *value; /* a reference of its own */
} prepared;

static void vls_auto_prepared(prepared *p)
{
    valise_blob_unref(p->value);
}

static int prepare_names(valise_list *out, valise_list names, size_t max, const char *member,
                         int (*check)(valise_str name, valise_error *err), vls_arena *arena,
                         valise_error *err)
{
    const valise_str *name = names.items;
    int rc = 0;

    *out = names;
    if (!names.items)
        return 0;
    if (names.count > max)
        return vls_fail(err, VALISE_E_LIMIT, "%s has %zu names: %zu are allowed", member,
                        names.count, max);
    for (size_t i = 0; i < names.count && rc == 0; i++)
        rc = check(name[i], err);
    return rc < 0 ? rc : vls_bag_sort_names(out, names, arena, err);
}

static int prepare_lists(prepared *p, const vls_pack_args *args, vls_arena *arena,
                         valise_error *err)
{
    int rc = prepare_names(&p->tags, args->tags, VLS_BAG_TAGS_MAX, "tags", vls_bag_check_tag, arena,
                           err);

    if (rc == 0)
        rc = prepare_names(&p->read, args->read, VLS_BAG_LIST_MAX, "read", vls_bag_check_node,
                           arena, err);
    if (rc == 0)
        rc = prepare_names(&p->write, args->write, VLS_BAG_LIST_MAX, "write", vls_bag_check_node,
                           arena, err);
    if (rc == 0)
        rc = prepare_names(&p->declassify, args->declassify, VLS_BAG_TAGS_MAX, "declassify",
                           vls_bag_check_tag, arena, err);
    return rc;
}

static bool gives_lists(const vls_pack_args *args)
{
    return args->taints.count > 0 || args->tags.items || args->read.items || args->write.items ||
           args->declassify.items;
}

static int prepare(prepared *p, vls_scope *scope, const vls_pack_args *args,
                   const vls_change_call *call, valise_error *err)
{
    int rc = vls_bag_check_key(args->key, err);

    if (rc == 0 && gives_lists(args)) /* most packs give none */
        rc = prepare_lists(p, args, call->arena, err);
    if (rc == 0)
        rc = vls_taints_check(args->taints, scope, err);
    if (rc < 0)
        return rc;
    p->namespace_name =
        vls_scope_is_owner(scope) ? args->namespace_name : vls_scope_namespace(scope);
    if (p->namespace_name.len == 0)
        p->namespace_name = (valise_str){NULL, 0};
    if (p->namespace_name.ptr)
        rc = vls_bag_check_namespace(p->namespace_name, err);
    if (rc == 0 && args->declassify.count > 0 && !call->may_declassify)
        rc = vls_fail(err, VALISE_E_DENIED,
                      "'%.*s' may not be declassified without the capability backpack:declassify",
                      VALISE_STR_ARG(args->key));
    if (rc < 0)
        return rc;
    if (!args->blob)
        return vls_blob_new(&p->value, vls_scope_env(scope), args->value.bytes, err);
    p->value = valise_blob_ref(args->blob);
    return 0;
}

static bool has_lists(const valise_commit *c)
{
    return c->tags.count > 0 || c->read.items || c->write.items || c->taints.count > 0;
}

/* Lists that are not given stay as the item has them; given empty ones clear them. [B19] */
static int fill_lists(vls_write *w, const prepared *p, valise_list taints, valise_error *err)
{
    valise_commit item = {0};
    int rc = 0;

    if (w->live && has_lists(&w->newest))
        rc = vls_commit_copy(&item, &w->newest, w->call->arena, err);
    if (rc < 0)
        return rc;
    w->commit.tags = p->tags.items ? p->tags : item.tags;
    w->commit.read = p->read.items ? p->read : item.read;
    w->commit.write = p->write.items ? p->write : item.write;
    /* A list that nobody is on would be one that nobody passes: cleared is not given. */
    if (p->read.items && p->read.count == 0)
        w->commit.read = (valise_list){NULL, 0};
    if (p->write.items && p->write.count == 0)
        w->commit.write = (valise_list){NULL, 0};
    return vls_write_taint(w, item.tags.count > 0 && !p->tags.items ? &item : NULL, taints,
                           p->declassify, err);
}

int vls_bag_pack_check(vls_scope *scope, const vls_pack_args *args, const vls_change_call *call,
                       valise_error *err)
{
    __attribute__((cleanup(vls_auto_prepared))) prepared p = {.value = NULL};
    int rc = prepare(&p, scope, args, call, err);

    if (rc == 0 && vls_scope_is_owner(scope) && args->node_id.len > 0)
        rc = vls_bag_check_node(args->node_id, err);
    if (rc == 0 && vls_scope_is_owner(scope) && args->node_name.len > 0)
        rc = vls_bag_check_node(args->node_name, err);
    return rc;
}

static int pack(vls_done *out, vls_write *w, const prepared *p, const vls_pack_args *args,
                valise_error *err)
{
    int rc = vls_write_find(w, args->key, VALISE_ACTION_PACK, err);

    if (rc < 0)
        return rc;
    rc = vls_write_check(w, "write", w->live ? &w->newest : NULL, p->namespace_name, err);
    if (rc == 0)
        *out = (vls_done){.denied = true};
    if (rc <= 0)
        return rc;
    rc = vls_write_expect(w, args->expect, err);
    if (rc == 0)
        rc = fill_lists(w, p, args->taints, err);
    if (rc < 0)
        return rc;
    w->commit.namespace_name = p->namespace_name;
    w->commit.value = args->value.id;
    /* Of the arguments, whose bytes are there after this: the blob may be gone. */
    w->commit.summary = vls_commit_summary(args->value.bytes, w->commit.tags);
    rc = vls_write_append(w, p->value, err);
    if (rc < 0)
        return rc;
    vls_write_done(out, w);
    return 0;
}

int vls_bag_pack(vls_done *out, const vls_ledger *ledger, vls_scope *scope,
                 const vls_pack_args *args, const vls_change_call *call, valise_error *err)
{
    __attribute__((cleanup(vls_auto_prepared))) prepared p = {.value = NULL};
    vls_write w;
    int rc = prepare(&p, scope, args, call, err);

    if (rc == 0)
        rc = vls_write_begin(&w, ledger, scope, args->node_id, args->node_name, call, err);
    if (rc < 0)
        return rc;
    rc = pack(out, &w, &p, args, err);
    vls_write_end(&w);
    return rc;
}
