/* api.c -- the C functions: each runs an operation with structs. See valise/checkpoint.h. */
#include <valise/checkpoint.h>

#include "base/sized.h"
#include "base/str.h"
#include "bus/bus.h"
#include "checkpoint/ops.h"

_Static_assert(VALISE_CHECKPOINT_NAME_MAX == VLS_CHECKPOINT_NAME_MAX, "one limit");

static void take_name(char out[VALISE_CHECKPOINT_NAME_MAX + 1], valise_str name)
{
    name = vls_str_head(name, VALISE_CHECKPOINT_NAME_MAX);
    if (name.len > 0)
        memcpy(out, name.ptr, name.len);
    out[name.len] = '\0';
}

/* ---- what is told ---- */

typedef struct telling {
    valise_restore_fn *fn;
    void *arg;
} telling;

static int tell_problems(const telling *to, int kind, const valise_list *list, valise_error *err)
{
    const vls_checkpoint_problem *const *items = list->items;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < list->count; i++)
        rc = to->fn(to->arg, &(valise_restore_step){kind, items[i]->path, items[i]->reason}, err);
    return rc;
}

static int tell_texts(const telling *to, int kind, const valise_list *list, valise_error *err)
{
    const valise_str *items = list->items;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < list->count; i++)
        rc = to->fn(to->arg, &(valise_restore_step){kind, items[i], VLS_STR("")}, err);
    return rc;
}

static int tell_changes(const telling *to, const valise_list *list, valise_error *err)
{
    static const int kinds[] = {[VLS_RESTORE_CREATE] = VALISE_RESTORED_CREATED,
                                [VLS_RESTORE_REPLACE] = VALISE_RESTORED_REPLACED,
                                [VLS_RESTORE_MODE] = VALISE_RESTORED_MODE,
                                [VLS_RESTORE_DELETE] = VALISE_RESTORED_DELETED};
    const vls_restore_change *const *items = list->items;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < list->count; i++)
        rc = to->fn(to->arg,
                    &(valise_restore_step){kinds[items[i]->change], items[i]->path, VLS_STR("")},
                    err);
    return rc;
}

/* ---- keeping ---- */

int valise_tree_checkpoint(valise_checkpointed *out, valise *v, const char *name,
                           const valise_tree_checkpoint_options *options, const valise_call *call,
                           valise_error *err)
{
    VLS_AUTO(memory) vls_memory memory = {0};
    valise_tree_checkpoint_options o = VALISE_TREE_CHECKPOINT_OPTIONS_INIT;
    vls_tree_checkpoint_args args = {.dry_run = false};
    vls_tree_checkpoint_result r;
    valise_checkpointed ours;
    int rc;

    VLS_ARG(v, err);
    rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_tree_checkpoint_options, dir),
                        "valise_tree_checkpoint_options", err);
    if (rc == 0 && (o.flags & ~(unsigned)VALISE_TREE_CHECKPOINT_DRY_RUN))
        rc = vls_fail(err, VALISE_E_INVALID,
                      "valise_tree_checkpoint_options has unknown flags 0x%x", o.flags);
    if (rc == 0 && out)
        rc = vls_sized_check(out, offsetof(valise_checkpointed, version), "valise_checkpointed",
                             err);
    if (rc < 0)
        return rc;
    args.name = name ? valise_str_of(name) : (valise_str){NULL, 0};
    args.dir = vls_str_or_none(o.dir);
    args.dry_run = o.flags & VALISE_TREE_CHECKPOINT_DRY_RUN;
    rc = vls_run(v, &vls_op_checkpoint_tree_checkpoint, &args, &r, &memory, call, NULL, err);
    if (rc < 0)
        return rc;
    ours = (valise_checkpointed){.existed = r.existed,
                                 .version = r.version,
                                 .tree_root = r.tree_root,
                                 .files = r.files,
                                 .dirs = r.dirs,
                                 .links = r.links,
                                 .bytes = r.bytes,
                                 .stored = r.stored,
                                 .stored_bytes = r.stored_bytes,
                                 .lacking = r.lacking_count};
    take_name(ours.name, r.name);
    if (out)
        vls_sized_give(out, &ours, sizeof(ours));
    return o.fn ? tell_problems(&(telling){o.fn, o.arg}, VALISE_RESTORED_LACKING, &r.lacking, err)
                : 0;
}

/* ---- bringing back ---- */

static int take_options(vls_restore_args *args, valise_restore_options *o,
                        const valise_restore_options *options, valise_error *err)
{
    const unsigned known = VALISE_RESTORE_DELETE | VALISE_RESTORE_FORCE | VALISE_RESTORE_DRY_RUN;
    int rc;

    *o = (valise_restore_options)VALISE_RESTORE_OPTIONS_INIT;
    rc = vls_sized_take(o, sizeof(*o), options, offsetof(valise_restore_options, paths),
                        "valise_restore_options", err);
    if (rc == 0 && (o->flags & ~known))
        rc = vls_fail(err, VALISE_E_INVALID, "valise_restore_options has unknown flags 0x%x",
                      o->flags);
    if (rc == 0 && o->path_count > 0 && !o->paths)
        rc = vls_fail(err, VALISE_E_INVALID, "valise_restore_options has a count and no paths");
    if (rc < 0)
        return rc;
    args->paths = (valise_list){o->paths, o->path_count};
    args->dir = vls_str_or_none(o->dir);
    args->remove = o->flags & VALISE_RESTORE_DELETE;
    args->force = o->flags & VALISE_RESTORE_FORCE;
    args->dry_run = o->flags & VALISE_RESTORE_DRY_RUN;
    return 0;
}

static int tell_restored(const telling *to, const vls_restore_result *r, valise_error *err)
{
    int rc = tell_changes(to, &r->changes, err);

    if (rc == 0)
        rc = tell_problems(to, VALISE_RESTORED_IN_THE_WAY, &r->in_the_way, err);
    if (rc == 0)
        rc = tell_problems(to, VALISE_RESTORED_LACKING, &r->lacking, err);
    if (rc == 0)
        rc = tell_texts(to, VALISE_RESTORED_LATE, &r->late, err);
    if (rc == 0)
        rc = tell_texts(to, VALISE_RESTORED_FOUND, &r->found, err);
    return rc;
}

int valise_tree_restore(valise_restored *out, valise *v, const char *checkpoint,
                        const valise_restore_options *options, const valise_call *call,
                        valise_error *err)
{
    VLS_AUTO(memory) vls_memory memory = {0};
    valise_restore_options o;
    vls_restore_args args = {.dry_run = false};
    vls_restore_result r;
    valise_restored ours;
    int rc;

    VLS_ARG(v && checkpoint, err);
    rc = take_options(&args, &o, options, err);
    if (rc == 0 && out)
        rc = vls_sized_check(out, offsetof(valise_restored, restored), "valise_restored", err);
    if (rc < 0)
        return rc;
    args.checkpoint = valise_str_of(checkpoint);
    rc = vls_run(v, &vls_op_checkpoint_tree_restore, &args, &r, &memory, call, NULL, err);
    if (rc < 0)
        return rc;
    ours = (valise_restored){.restored = r.restored,
                             .unchanged = r.unchanged,
                             .deleted = r.deleted,
                             .kept = r.kept,
                             .in_the_way = r.in_the_way_count,
                             .lacking = r.lacking_count,
                             .version = r.version,
                             .tree_root = r.tree_root};
    take_name(ours.saved, r.saved);
    if (out)
        vls_sized_give(out, &ours, sizeof(ours));
    return o.fn ? tell_restored(&(telling){o.fn, o.arg}, &r, err) : 0;
}

/* ---- those there are ---- */

typedef struct listing {
    valise_tree_checkpoint_fn *fn;
    void *arg;
    int said; /* by fn */
} listing;

static int tell_row(void *arg, const void *row, valise_error *err)
{
    listing *l = arg;
    const vls_checkpoint_row *r = row;

    l->said = l->fn(l->arg,
                    &(valise_tree_checkpoint_info){.name = r->name,
                                                   .version = r->version,
                                                   .time = r->time,
                                                   .seq = r->seq,
                                                   .tree_root = r->root,
                                                   .partial = r->partial,
                                                   .agent = r->agent,
                                                   .files = r->files,
                                                   .dirs = r->dirs,
                                                   .links = r->links,
                                                   .bytes = r->bytes,
                                                   .lacking = r->lacking},
                    err);
    return l->said;
}

int valise_tree_checkpoint_list(valise *v, valise_tree_checkpoint_fn *fn, void *arg,
                                const valise_call *call, valise_error *err)
{
    VLS_AUTO(memory) vls_memory memory = {0};
    listing l = {.fn = fn, .arg = arg};
    const vls_run_more more = {.emit = tell_row, .emit_arg = &l};
    int rc;

    VLS_ARG(v && fn, err);
    rc = vls_run(v, &vls_op_checkpoint_checkpoint_list, NULL, NULL, &memory, call, &more, err);
    return rc == 0 ? l.said : rc;
}

int valise_tree_checkpoint_remove(valise *v, const char *checkpoint, const valise_call *call,
                                  valise_error *err)
{
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_checkpoint_remove_args args;
    vls_checkpoint_remove_result r;

    VLS_ARG(v && checkpoint, err);
    args.checkpoint = valise_str_of(checkpoint);
    return vls_run(v, &vls_op_checkpoint_checkpoint_remove, &args, &r, &memory, call, NULL, err);
}
