/* api_open.c -- the C functions that give handles: backpacks, nodes' views, forks. */
#include "backpack/handle.h"

#include "base/sized.h"
#include "json/json.h"

#define ALL_FLAGS                                                                                  \
    (VALISE_BACKPACK_DURABLE | VALISE_BACKPACK_WRITE_BEHIND | VALISE_BACKPACK_LENIENT |            \
     VALISE_BACKPACK_TAINT | VALISE_BACKPACK_NEW | VALISE_BACKPACK_KNOWN)

/* ---- options ---- */

static int take_options(valise_backpack_options *out, const valise_backpack_options *options,
                        valise_error *err)
{
    int rc;

    *out = (valise_backpack_options)VALISE_BACKPACK_OPTIONS_INIT;
    rc = vls_sized_take(out, sizeof(*out), options, offsetof(valise_backpack_options, max_commits),
                        "valise_backpack_options", err);
    if (rc < 0)
        return rc;
    if (out->flags & ~(unsigned)ALL_FLAGS)
        return vls_fail(err, VALISE_E_INVALID, "valise_backpack_options has unknown flags 0x%x",
                        out->flags);
    if ((out->flags & VALISE_BACKPACK_NEW) && (out->flags & VALISE_BACKPACK_KNOWN))
        return vls_fail(err, VALISE_E_INVALID, "a backpack cannot be both NEW and KNOWN");
    if (out->max_commits < 0 || out->max_bytes < 0)
        return vls_fail(err, VALISE_E_INVALID, "the bounds of a history must not be negative");
    if (!(out->flags & VALISE_BACKPACK_DURABLE)) {
        if (out->flags & VALISE_BACKPACK_WRITE_BEHIND)
            return vls_fail(err, VALISE_E_INVALID, "only a durable backpack can be written behind");
        return 0;
    }
    return out->max_commits > 0 || out->max_bytes > 0 || out->archive.len > 0
               ? vls_ephemeral_only(err)
               : 0;
}

/* ---- ephemeral ---- */

static int pack_item(void *arg, valise_str key, valise_str value, valise_error *err)
{
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;

    options.node_id = options.node_name = VLS_STR("system");
    return valise_pack_str(NULL, arg, key, value, &options, err);
}

int vls_handle_pack_first(valise_backpack *bag, valise_str items, valise_error *err)
{
    return items.len == 0 ? 0 : vls_create_each_item(items, bag->env, pack_item, bag, err);
}

/* The handle has it open from here on. */
static void adopt(valise_backpack *bag, vls_ephemeral *memory)
{
    assert(memory);
    bag->memory = memory;
    bag->ring = memory->ring;
    bag->id = bag->who.id = memory->id;
    bag->entered = true;
}

typedef struct making {
    valise_backpack *bag;
    const valise_backpack_options *o;
    const valise_uuid *id;
} making;

/* May the actor make this one, under this name? */
static int check_new(void *arg, valise_view *view, valise_error *err)
{
    const making *m = arg;
    const char *attrs[] = {"backpack", m->bag->name.ptr, NULL};
    int rc = valise_view_allows(view, "backpack:write", attrs, err);

    if (rc == 0)
        rc = vls_ephemeral_check_name(view, m->bag->name, err);
    if (rc == 0 && m->o->archive.len > 0)
        rc = vls_ephemeral_check_archive(view, m->o->archive, err);
    return rc;
}

static int prepare_new(vls_ephemeral_new *like, valise_uuid *id, valise_backpack *bag,
                       const valise_backpack_options *o, valise_error *err)
{
    making m = {.bag = bag, .o = o};
    const valise_call call = vls_handle_call(bag);
    int rc;

    rc = vls_with_view(bag->v, &call, check_new, &m, err);
    if (rc == 0)
        rc = vls_uuid_new(id, &bag->v->ids, err);
    *like = (vls_ephemeral_new){.name = bag->name,
                                .archive = o->archive,
                                .actor = bag->actor,
                                .created = vls_clock_now_ns(&bag->v->clock),
                                .id = id};
    return rc;
}

static vls_ring_options ring_options(const valise_backpack_options *o)
{
    return (vls_ring_options){.lenient = o->flags & VALISE_BACKPACK_LENIENT,
                              .taint = o->flags & VALISE_BACKPACK_TAINT,
                              .sticky = o->sticky,
                              .max_commits = o->max_commits,
                              .max_bytes = o->max_bytes};
}

static int make_ephemeral(valise_backpack *bag, const valise_backpack_options *o, valise_error *err)
{
    const vls_ring_options options = ring_options(o);
    vls_ephemeral *memory = NULL;
    vls_ephemeral_new like;
    valise_uuid id;
    int rc;

    if (o->flags & VALISE_BACKPACK_KNOWN)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no ephemeral backpack '%.*s'",
                        VALISE_STR_ARG(bag->name));
    rc = prepare_new(&like, &id, bag, o, err);
    if (rc == 0)
        rc = vls_ephemeral_make(&memory, bag->v, &like, &options, err);
    if (rc < 0)
        return rc;
    adopt(bag, memory);
    rc = vls_handle_scope(bag, NULL, err);
    return rc < 0 ? rc : vls_handle_pack_first(bag, o->items, err);
}

static int find_durable(void *arg, valise_view *view, valise_error *err)
{
    valise_backpack *bag = arg;
    vls_bag_row row;
    int rc = vls_rows_find(&row, view, bag->name, err);

    if (rc > 0)
        bag->id = bag->who.id = row.id;
    return rc;
}

/* 1, or 0. */
static int has_durable(valise_backpack *bag, valise_error *err)
{
    return vls_with_view(bag->v, NULL, find_durable, bag, err);
}

static int open_ephemeral(valise_backpack *bag, const valise_backpack_options *o, valise_error *err)
{
    bool must_be_new = o->flags & VALISE_BACKPACK_NEW;
    int rc = VALISE_E_EXISTS;

    /* Somebody else may make it at the same time: then it is there. */
    while (rc == VALISE_E_EXISTS && !bag->memory) {
        valise_error why = VALISE_ERROR_INIT;
        vls_ephemeral *memory = vls_ephemeral_enter(bag->v, bag->name);
        if (memory) {
            adopt(bag, memory);
            break;
        }
        rc = make_ephemeral(bag, o, &why);
        /* What was there is one in memory, and may be gone again. */
        if (rc == VALISE_E_EXISTS && !bag->memory && !must_be_new && has_durable(bag, NULL) == 0)
            continue;
        if (rc < 0 && err)
            *err = why;
        return rc;
    }
    if (must_be_new)
        return vls_fail(err, VALISE_E_EXISTS, "an ephemeral backpack '%.*s' already exists",
                        VALISE_STR_ARG(bag->name));
    return vls_handle_scope(bag, NULL, err);
}

/* ---- durable ---- */

static int make_durable(valise_backpack *bag, const valise_backpack_options *o, valise_error *err)
{
    vls_create_args args = {.name = bag->name,
                            .lenient = o->flags & VALISE_BACKPACK_LENIENT,
                            .taint = o->flags & VALISE_BACKPACK_TAINT,
                            .sticky = o->sticky};
    VLS_AUTO(blob) valise_blob *items = NULL;
    vls_create_result result = {{{0}}, 0};
    const valise_call call = vls_handle_call(bag);
    int rc = 0;

    if (o->items.len > 0)
        rc = vls_json_canonical(&items, bag->env, o->items, err);
    if (rc < 0)
        return rc;
    args.items = vls_use_content(items);
    rc = vls_run(bag->v, &vls_op_backpack_create, &args, &result, NULL, &call, NULL, err);
    bag->id = bag->who.id = result.id;
    return rc;
}

/* Two backpacks of one name would be hard to tell apart. */
static int check_memory(const valise_backpack *bag, valise_error *err)
{
    vls_ephemeral *memory = vls_ephemeral_find(bag->v, bag->name, NULL);

    vls_ephemeral_unref(memory);
    if (!memory)
        return 0;
    (void)vls_fail(err, VALISE_E_EXISTS, "'%.*s' is an ephemeral backpack",
                   VALISE_STR_ARG(bag->name));
    vls_hint(err, "open it without VALISE_BACKPACK_DURABLE, or choose another name");
    return VALISE_E_EXISTS;
}

static int find_or_make(valise_backpack *bag, const valise_backpack_options *o, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc = has_durable(bag, err);

    if (rc > 0 && (o->flags & VALISE_BACKPACK_NEW))
        return vls_fail(err, VALISE_E_EXISTS, "a backpack '%.*s' already exists",
                        VALISE_STR_ARG(bag->name));
    if (rc != 0)
        return rc < 0 ? rc : 0;
    if (o->flags & VALISE_BACKPACK_KNOWN)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no backpack '%.*s'",
                        VALISE_STR_ARG(bag->name));
    rc = check_memory(bag, err);
    if (rc < 0)
        return rc;
    rc = make_durable(bag, o, &why);
    /* Another process was faster. */
    if (rc == VALISE_E_EXISTS && !(o->flags & VALISE_BACKPACK_NEW) && has_durable(bag, NULL) > 0)
        return 0;
    if (rc < 0 && err)
        *err = why;
    return rc;
}

/* What all durable handles get once they know which backpack. */
static int finish_durable(valise_backpack *bag, const valise_backpack_options *o, valise_error *err)
{
    int rc = vls_handle_scope(bag, NULL, err);

    if (rc == 0 && (o->flags & VALISE_BACKPACK_WRITE_BEHIND))
        rc = vls_behind_new(&bag->behind, bag, err);
    return rc;
}

static int open_durable(valise_backpack *bag, const valise_backpack_options *o, valise_error *err)
{
    int rc = find_or_make(bag, o, err);

    return rc < 0 ? rc : finish_durable(bag, o, err);
}

/* ---- opening ---- */

static int start(valise_backpack **out, valise_backpack_options *o, valise *v, const char *name,
                 const valise_backpack_options *options, valise_str actor, valise_error *err)
{
    int rc = take_options(o, options, err);

    if (rc == 0)
        rc = vls_bag_check_name(valise_str_of(name), err);
    return rc < 0
               ? rc
               : vls_handle_new(out, v, valise_str_of(name), o->actor.len ? o->actor : actor, err);
}

static int finish(valise_backpack **out, valise_backpack *bag, int rc)
{
    if (rc < 0)
        valise_backpack_close(bag);
    else
        *out = bag;
    return rc;
}

int valise_backpack_open(valise_backpack **out, valise *v, const char *name,
                         const valise_backpack_options *options, valise_error *err)
{
    valise_backpack_options o;
    valise_backpack *bag = NULL;
    int rc;

    VLS_ARG(out && v && name, err);
    rc = start(&bag, &o, v, name, options, (valise_str){NULL, 0}, err);
    if (rc < 0)
        return rc;
    /* Who may not read it does not learn whether it is there. */
    rc = vls_handle_may(bag, "backpack:read", err);
    if (rc == 0)
        rc = o.flags & VALISE_BACKPACK_DURABLE ? open_durable(bag, &o, err)
                                               : open_ephemeral(bag, &o, err);
    return finish(out, bag, rc);
}

/* ---- forks ---- */

typedef struct forking {
    valise_backpack *fork;
    const valise_backpack_options *o;
    const vls_ephemeral_new *like;
    vls_ephemeral *memory; /* what was made */
} forking;

static int fork_it(void *arg, const vls_glance *at, valise_error *err)
{
    forking *f = arg;
    const vls_ring_options options = ring_options(f->o);
    int64_t seq;

    return vls_ephemeral_fork(&f->memory, &seq, f->fork->v, at->seen->ledger, f->like, &options,
                              err);
}

static int fork_ring(valise_backpack *fork, valise_backpack *from, const valise_backpack_options *o,
                     valise_error *err)
{
    vls_ephemeral_new like;
    forking f = {fork, o, &like, NULL};
    valise_uuid id;
    int rc = prepare_new(&like, &id, fork, o, err);

    if (rc == 0)
        rc = vls_handle_read(from, fork_it, &f, err);
    if (f.memory)
        adopt(fork, f.memory);
    if (rc == 0)
        rc = vls_handle_scope(fork, NULL, err);
    return rc < 0 ? rc : vls_handle_pack_first(fork, o->items, err);
}

static int fork_rows(valise_backpack *fork, valise_backpack *from, const valise_backpack_options *o,
                     valise_error *err)
{
    char digits[VLS_U64_DIGITS];
    vls_fork_args args = {.name = fork->name};
    vls_fork_result result = {{{0}}, 0};
    int rc;

    if (from->snapshot)
        args.point = vls_u64_digits(digits, (uint64_t)from->upto);
    while (from->snapshot)
        from = from->parent;
    rc = check_memory(fork, err);
    if (rc == 0)
        rc = vls_handle_run(from, &vls_op_backpack_fork, &args, &result, NULL, err);
    if (rc < 0)
        return rc;
    fork->id = fork->who.id = result.id;
    rc = finish_durable(fork, o, err);
    return rc < 0 ? rc : vls_handle_pack_first(fork, o->items, err);
}

int valise_backpack_fork(valise_backpack **out, valise_backpack *from, const char *name,
                         const valise_backpack_options *options, valise_error *err)
{
    valise_backpack_options o;
    valise_backpack *fork = NULL;
    int rc;

    VLS_ARG(out && from && name, err);
    rc = vls_handle_check(&from, 1, err);
    if (rc < 0)
        return rc;
    if (from->node)
        return vls_fail(err, VALISE_E_DENIED, "node '%.*s' may not fork: only the owner may",
                        VALISE_STR_ARG(from->who.node));
    rc = start(&fork, &o, from->v, name, options, from->actor, err);
    if (rc < 0)
        return rc;
    if (options && !(o.flags & VALISE_BACKPACK_DURABLE) != (from->ring != NULL))
        rc = vls_fail(err, VALISE_E_UNSUPPORTED,
                      "a fork has the kind of its origin, and '%.*s' is %s",
                      VALISE_STR_ARG(from->name), from->ring ? "ephemeral" : "durable");
    if (rc == 0)
        rc = from->ring ? fork_ring(fork, from, &o, err) : fork_rows(fork, from, &o, err);
    return finish(out, fork, rc);
}

int valise_replay_from_commit(valise_backpack **out, valise_backpack *bag,
                              const valise_uuid *commit, const char *name, valise_error *err)
{
    valise_backpack *state = NULL;
    int rc;

    VLS_ARG(out && bag && commit && name, err);
    rc = valise_snapshot_at_commit(&state, bag, commit, err);
    if (rc == 0)
        rc = valise_backpack_fork(out, state, name, NULL, err);
    valise_backpack_close(state);
    return rc;
}

/* ---- from JSON ---- */

/* What the options do not say, the document does. */
static int import_options(vls_ring_options *out, const valise_backpack_options *o, valise_str json,
                          vls_arena *arena, valise_error *err)
{
    vls_ledger_head head = {.edge = 0};
    int rc = vls_bag_import_head(&head, json, arena, err);

    if (rc < 0)
        return rc;
    *out = ring_options(o);
    out->lenient |= head.lenient;
    out->taint |= head.taint;
    if (!out->sticky.items)
        out->sticky = head.sticky;
    if (out->max_commits == 0)
        out->max_commits = VLS_MAX(head.max_commits, 0);
    if (out->max_bytes == 0)
        out->max_bytes = VLS_MAX(head.max_bytes, 0);
    return 0;
}

static int fill_ring(vls_ring *ring, valise_backpack *bag, valise_str json, valise_error *err)
{
    vls_ledger ledger = vls_ring_ledger(ring);

    return vls_bag_import(&ledger, json, vls_clock_now_ns(&bag->v->clock), bag->env, err);
}

/* It gets its name once it is whole. */
static int import_ring(valise_backpack *bag, valise_str json, const valise_backpack_options *o,
                       valise_error *err)
{
    VLS_AUTO(ring) vls_ring *ring = NULL;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_ephemeral *memory = NULL;
    vls_ring_options options;
    vls_ephemeral_new like;
    valise_uuid id;
    int rc = prepare_new(&like, &id, bag, o, err);

    vls_arena_init(&arena, bag->env, SIZE_MAX);
    if (rc == 0)
        rc = import_options(&options, o, json, &arena, err);
    if (rc < 0)
        return rc;
    options.id = id;
    options.name = bag->name;
    options.archive = o->archive.len > 0;
    rc = vls_ring_new(&ring, bag->env, &options, err);
    if (rc == 0)
        rc = fill_ring(ring, bag, json, err);
    if (rc == 0)
        rc = vls_ephemeral_add(&memory, bag->v, ring, &like, err);
    if (rc < 0)
        return rc;
    adopt(bag, memory);
    return vls_handle_scope(bag, NULL, err);
}

static int import_rows(valise_backpack *bag, valise_str json, const valise_backpack_options *o,
                       valise_error *err)
{
    VLS_AUTO(blob) valise_blob *data = NULL;
    vls_import_args args = {.who = {.backpack = bag->name},
                            .lenient = o->flags & VALISE_BACKPACK_LENIENT,
                            .taint = o->flags & VALISE_BACKPACK_TAINT,
                            .sticky = o->sticky};
    vls_import_result result = {{{0}}, 0, 0};
    const valise_call call = vls_handle_call(bag);
    int rc = check_memory(bag, err);

    if (rc == 0)
        rc = vls_json_canonical(&data, bag->env, json, err);
    args.data = vls_use_content(data);
    if (rc == 0)
        rc = vls_run(bag->v, &vls_op_backpack_import, &args, &result, NULL, &call, NULL, err);
    if (rc < 0)
        return rc;
    bag->id = bag->who.id = result.id;
    return finish_durable(bag, o, err);
}

int valise_backpack_from_json(valise_backpack **out, valise *v, const char *name, valise_str json,
                              const valise_backpack_options *options, valise_error *err)
{
    valise_backpack_options o;
    valise_backpack *bag = NULL;
    int rc;

    VLS_ARG(out && v && name && json.ptr, err);
    rc = start(&bag, &o, v, name, options, (valise_str){NULL, 0}, err);
    if (rc < 0)
        return rc;
    if (o.flags & VALISE_BACKPACK_KNOWN || o.items.len > 0)
        rc = vls_fail(err, VALISE_E_INVALID,
                      "a backpack from JSON must be new, and takes its items from the JSON");
    if (rc == 0)
        rc = o.flags & VALISE_BACKPACK_DURABLE ? import_rows(bag, json, &o, err)
                                               : import_ring(bag, json, &o, err);
    return finish(out, bag, rc);
}
