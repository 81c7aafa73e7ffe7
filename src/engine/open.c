/* open.c -- valise_open and valise_close: the parts of a handle, one after the other. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/engine.h"
#include "base/file.h"
#include "engine/trust.h"
#include "kernel/kernel.h"
#include "kernel/residue.h"
#include "kernel/retention.h"

#define ARENA_MAX ((size_t)4 << 20)
#define MAX_MIDDLEWARE 1024u

/* ---- options ---- */

/* As much of the caller's struct as there is; the rest is as if not given. */
static int read_options(valise_options *out, const valise_options *options, valise_error *err)
{
    const unsigned known = VALISE_OPEN_READ_ONLY | VALISE_OPEN_CREATE | VALISE_OPEN_NO_USER_CONFIG |
                           VALISE_OPEN_ANYBODY;
    size_t size = options ? options->size : 0;

    *out = (valise_options)VALISE_OPTIONS_INIT;
    if (options && (size < offsetof(valise_options, env) || size > ((size_t)1 << 20)))
        return vls_fail(err, VALISE_E_INVALID,
                        "valise_options has a size of %zu: start from VALISE_OPTIONS_INIT", size);
    if (options)
        memcpy(out, options, VLS_MIN(size, sizeof(*out)));
    if (!out->env)
        out->env = valise_env_default();
    if (out->flags & ~known)
        return vls_fail(err, VALISE_E_INVALID, "valise_options has unknown flags 0x%x",
                        out->flags & ~known);
    if ((out->flags & VALISE_OPEN_READ_ONLY) &&
        (out->flags & (VALISE_OPEN_CREATE | VALISE_OPEN_ANYBODY)))
        return vls_fail(err, VALISE_E_INVALID, "a workspace cannot be created read-only");
    if (out->durability < VALISE_DURABILITY_WORKSPACE ||
        out->durability > VALISE_DURABILITY_NORMAL || out->timeout_ns < 0)
        return vls_fail(err, VALISE_E_INVALID,
                        "durability must be a VALISE_DURABILITY_..., and timeout_ns not below 0");
    return vls_env_check(out->env, err);
}

/* ---- configuration ---- */

static int find_user_file(const char **out, vls_engine *e, const valise_options *o,
                          valise_error *err)
{
    valise_str kept;
    int rc;

    *out = NULL;
    if (o->flags & VALISE_OPEN_NO_USER_CONFIG)
        return 0;
    if (o->user_config) {
        rc = vls_arena_dup(&kept, &e->arena, valise_str_of(o->user_config), err);
        *out = rc == 0 ? kept.ptr : NULL; /* NUL-ended, as all of an arena's copies */
        return rc;
    }
    rc = vls_config_user_file(out, &e->arena, err);
    if (rc != VALISE_E_NOT_FOUND)
        return rc;
    *out = NULL; /* a user without a home has no configuration */
    return 0;
}

static int load_config(vls_engine *e, const valise_options *o, valise_error *err)
{
    vls_config_sources sources = {.environment = o->environment};
    int rc = find_user_file(&sources.user_file, e, o, err);

    if (rc == 0 && e->folder)
        rc = vls_path_join(&sources.workspace_file, &e->arena, e->folder, VLS_CONFIG_FILE, err);
    if (rc == 0)
        rc = vls_config_load(&e->config, e->env, &sources, err);
    if (rc == 0)
        vls_config_now_init(&e->now, e->env, &sources);
    return rc;
}

/* ---- registry ---- */

static int add_package(void *arg, const valise_extension *package, valise_error *err)
{
    vls_engine *e = arg;

    return vls_registry_add(e->registry, package, false, err);
}

static int fill_registry(vls_engine *e, const valise_options *o, valise_error *err)
{
    int rc = vls_registry_new(&e->registry, e->env, err);

    for (size_t i = 0; rc == 0 && vls_areas[i]; i++)
        rc = vls_registry_add(e->registry, vls_areas[i], true, err);
    for (size_t i = 0; rc == 0 && o->extensions && o->extensions[i]; i++)
        rc = vls_registry_add(e->registry, o->extensions[i], false, err);
    if (rc == 0 && !(o->flags & VALISE_OPEN_NO_USER_CONFIG))
        rc = vls_extensions_load(&e->extensions, e->config, e->root, add_package, e, err);
    return rc;
}

static size_t count_middleware(const valise_middleware *const *list)
{
    size_t n = 0;

    while (list && list[n] && n <= MAX_MIDDLEWARE)
        n++;
    return n;
}

/* Those of extensions first, then the host's, which so have the last word. */
static int list_middleware(vls_engine *e, const valise_options *o, valise_error *err)
{
    const valise_middleware *const *first = vls_registry_middleware(e->registry);
    size_t count = count_middleware(first), more = count_middleware(o->middleware);

    if (more > MAX_MIDDLEWARE)
        return vls_fail(err, VALISE_E_LIMIT, "more than %u middleware", MAX_MIDDLEWARE);
    e->middleware = vls_arena_array(&e->arena, count + more + 1, sizeof(*e->middleware));
    if (!e->middleware)
        return vls_arena_fail(&e->arena, err);
    for (size_t i = 0; i < count; i++)
        e->middleware[i] = first[i];
    for (size_t i = 0; i < more; i++)
        e->middleware[count + i] = o->middleware[i];
    e->middleware[count + more] = NULL;
    return 0;
}

/* ---- store ---- */

/* Somebody else's workspace is read and not written, until the user says otherwise. */
static void judge_owner(vls_engine *e)
{
    e->foreign = e->folder && e->owner != (int64_t)geteuid() &&
                 !vls_trust_has_workspace(e->config, e->root, e->owner);
}

static bool is_full_sync(const vls_engine *e, const valise_options *o)
{
    if (o->durability != VALISE_DURABILITY_WORKSPACE)
        return o->durability == VALISE_DURABILITY_FULL;
    return vls_str_equal(vls_config_text(e->config, "core.durability"), VLS_STR("full"));
}

static int open_store(vls_engine *e, const valise_options *o, valise_error *err)
{
    bool read_only = e->foreign || (o->flags & VALISE_OPEN_READ_ONLY);
    bool create = !e->folder || (o->flags & VALISE_OPEN_CREATE);
    vls_store_options store = {
        .env = e->env,
        .ops = o->store,
        .where = e->folder,
        .flags = (read_only ? (unsigned)VALISE_STORE_READ_ONLY : 0) |
                 (create && !read_only ? (unsigned)VALISE_STORE_CREATE : 0),
        .full_sync = is_full_sync(e, o),
        .busy_timeout_ns =
            o->timeout_ns ? o->timeout_ns : vls_config_duration_ns(e->config, "core.timeout"),
        .colls = vls_registry_colls(e->registry),
    };

    valise_error why = VALISE_ERROR_INIT;
    int rc;

    if (!store.ops)
        store.ops = e->folder ? valise_store_sqlite() : valise_store_memory();
    rc = vls_store_open(&e->store, &store, &why);
    if (rc == VALISE_E_DENIED && store.flags == 0) {
        /* Where nothing may be written, what there is can still be read. */
        store.flags = VALISE_STORE_READ_ONLY;
        e->unwritable = vls_store_open(&e->store, &store, NULL) == 0;
        rc = e->unwritable ? 0 : rc;
    }
    if (rc < 0 && err)
        *err = why;
    return rc;
}

static int open_blobs(vls_engine *e, const valise_options *o, valise_error *err)
{
    bool read_only = vls_store_read_only(e->store);
    vls_blobs_options blobs = {
        .env = e->env,
        .ops = o->blobs,
        .flags =
            read_only ? (unsigned)VALISE_BLOB_STORE_READ_ONLY : (unsigned)VALISE_BLOB_STORE_CREATE,
    };
    int rc = 0;

    if (!blobs.ops)
        blobs.ops = e->folder ? valise_blob_store_file() : valise_blob_store_memory();
    if (e->folder)
        rc = vls_path_join(&blobs.where, &e->arena, e->folder, "blobs", err);
    return rc < 0 ? rc : vls_blobs_open(&e->blobs, &blobs, err);
}

/* ---- bus ---- */

static int check_access(void *self, valise_view *view, valise_str actor, const valise_op *op,
                        const void *args, valise_error *err)
{
    return vls_access_check(self, view, actor, op, args, err);
}

static int allows(void *self, valise_view *view, valise_str actor, const char *capability,
                  const char *const *attrs, valise_error *err)
{
    return vls_access_allows(self, view, actor, capability, attrs, err);
}

static int say_way_out(const char **out, vls_engine *e, valise_error *err)
{
    size_t size = strlen(e->root) + 64;
    char *text = vls_arena_alloc(&e->arena, size);

    if (!text)
        return vls_arena_fail(&e->arena, err);
    (void)snprintf(text, size,
                   e->foreign ? "it belongs to another user: valise trust %s"
                              : "see who may write in %s/" VLS_FOLDER ", and how it is mounted",
                   e->root);
    *out = text;
    return 0;
}

static int read_setting(vls_buf *out, const valise *v, const char *name, valise_error *err)
{
    return vls_config_now_read(out, &vls_engine_of(v)->now, name, err);
}

/* ---- programs ---- */

int vls_engine_consent(valise *v, const char *path, valise_error *err)
{
    vls_engine *e = vls_engine_of(v);
    valise_str copy;
    int rc = vls_arena_dup(&copy, &e->arena, valise_str_of(path), err);

    if (rc == 0)
        e->consent = copy.ptr;
    return rc;
}

/* Trust is asked of the user's file each time: what is taken back while a workspace is open must
 * not run any more. */
typedef struct trusting {
    const char *path;
    const valise_id *id;
    size_t nth;
    vls_buf *out;
} trusting;

static int check_trust(void *arg, const vls_config *config, valise_error *err)
{
    const trusting *what = arg;

    return vls_trust_check(config, what->path, what->id, err);
}

static int may_run(const valise *v, const char *path, const valise_id *id, valise_error *err)
{
    vls_engine *e = vls_engine_of(v);
    trusting what = {.path = path, .id = id};

    if (e->consent && strcmp(e->consent, path) == 0)
        return 0;
    return vls_config_now_ask(&e->now, check_trust, &what, err);
}

static int copy_path(void *arg, const vls_config *config, valise_error *err)
{
    const trusting *what = arg;
    valise_str path = vls_trust_find(config, what->id, what->nth);
    int rc;

    if (!path.ptr)
        return 0;
    vls_buf_add(what->out, path);
    rc = vls_buf_check(what->out, err);
    return rc < 0 ? rc : 1;
}

static int find_trusted(vls_buf *out, const valise *v, const valise_id *id, size_t nth,
                        valise_error *err)
{
    trusting what = {.id = id, .nth = nth, .out = out};

    return vls_config_now_ask(&vls_engine_of(v)->now, copy_path, &what, err);
}

/* ---- bus, all of it ---- */

static int open_bus(vls_engine *e, const valise_options *o, valise_error *err)
{
    vls_bus_options bus = {
        .env = e->env,
        .store = e->store,
        .blobs = e->blobs,
        .registry = e->registry,
        .middleware = e->middleware,
        .actor = o->actor,
        .full_sync = is_full_sync(e, o),
        .engine = e,
        .upkeep = vls_retention_upkeep,
        .place = {.root = e->root,
                  .folder = e->folder,
                  .setting = read_setting,
                  .may_run = may_run,
                  .trusted = find_trusted},
    };
    int rc = e->foreign || e->unwritable ? say_way_out(&bus.read_only_hint, e, err) : 0;

    if (rc == 0)
        rc = vls_access_new(&e->access, e->env, err);
    bus.access = (vls_bus_access){.self = e->access, .check = check_access, .allows = allows};
    return rc < 0 ? rc : vls_bus_open(&e->bus, &bus, err);
}

static int is_empty(bool *out, valise_uuid *id, vls_store *store, valise_error *err)
{
    vls_txn txn = {0};
    int rc = vls_txn_begin(&txn, store, VALISE_TXN_READ, err);

    if (rc < 0)
        return rc;
    *out = txn.tip.seq == 0;
    *id = txn.meta.workspace;
    vls_txn_rollback(&txn);
    return 0;
}

/* The first entry of the log: without it nobody may do anything. It is missing in a new workspace,
 * and in one that was being made when the power went. */
static int create_workspace(vls_engine *e, const valise_options *o, valise_error *err)
{
    const valise_op *op = vls_registry_op(e->registry, VLS_STR("workspace:create"));
    valise_call call = VALISE_CALL_INIT;
    vls_workspace_create_args args = {.open = (o->flags & VALISE_OPEN_ANYBODY) != 0};
    bool empty = false;
    int rc = vls_store_read_only(e->store) ? 0 : is_empty(&empty, &args.id, e->store, err);

    if (rc < 0 || !empty)
        return rc;
    assert(op && op->in_size == sizeof(args));
    call.actor = VLS_STR(VLS_ACTOR_LOCAL);
    rc = vls_run_own(e->bus, op, &args, NULL, NULL, &call, err);
    e->created = rc == 0;
    return rc == VALISE_E_EXISTS ? 0 : rc; /* another process was quicker */
}

/* ---- opening and closing ---- */

static void close_engine(vls_engine *e)
{
    const valise_env *env = e->env;

    vls_feed_close(e->feed);
    vls_bus_close(e->bus);
    vls_access_free(e->access);
    vls_blobs_close(e->blobs);
    vls_store_close(e->store);
    vls_registry_free(e->registry);
    vls_extensions_release(&e->extensions); /* after all that may point into them */
    vls_config_now_release(&e->now);
    vls_config_free(e->config);
    vls_arena_release(&e->arena);
    vls_mem_free(env, e, sizeof(*e));
}

static int open_workspace(vls_engine *e, const valise_options *o, valise_error *err)
{
    int rc = open_store(e, o, err);

    return rc < 0 ? rc : open_blobs(e, o, err);
}

static int open_engine(vls_engine *e, const char *path, const valise_options *o, valise_error *err)
{
    bool on_disk = path && strcmp(path, ":memory:") != 0;
    int rc = 0;

    if (on_disk && (o->flags & VALISE_OPEN_CREATE))
        rc = vls_folder_create(e->env, path, err);
    if (rc == 0 && on_disk)
        rc = vls_folder_open(e, path, err);
    if (rc == 0 && on_disk && !(o->flags & VALISE_OPEN_READ_ONLY))
        vls_folder_tighten(e);
    if (rc == 0)
        rc = load_config(e, o, err);
    if (rc < 0)
        return rc;
    judge_owner(e);
    rc = fill_registry(e, o, err);
    if (rc == 0)
        rc = list_middleware(e, o, err);
    if (rc == 0 && path)
        rc = open_workspace(e, o, err);
    if (rc == 0)
        rc = open_bus(e, o, err);
    return rc;
}

/* An erasure whose last bytes a reader held when it was done. If one still does, or somebody
 * writes, gc or the next open finishes it. */
static int finish_erasure(vls_engine *e, valise_error *err)
{
    int64_t left;
    int rc = vls_store_read_only(e->store) ? 0 : vls_residue_finish(&left, e->bus, err);

    return rc == VALISE_E_BUSY ? 0 : rc;
}

/* Followers come before the first command, and act after it. */
static int start(vls_engine *e, const valise_options *o, valise_error *err)
{
    int rc = vls_feed_open(&e->feed, e->bus, err);

    if (rc == 0)
        rc = create_workspace(e, o, err);
    if (rc == 0)
        rc = finish_erasure(e, err);
    if (rc == 0)
        vls_feed_start(e->feed);
    return rc;
}

int valise_open(valise **out, const char *path, const valise_options *options, valise_error *err)
{
    valise_options o;
    vls_engine *e;
    int rc;

    VLS_ARG(out, err);
    rc = read_options(&o, options, err);
    if (rc < 0)
        return rc;
    e = vls_mem_zalloc(o.env, sizeof(*e));
    if (!e)
        return vls_fail_memory(err);
    e->env = o.env;
    vls_arena_init(&e->arena, e->env, ARENA_MAX);
    vls_extensions_init(&e->extensions, e->env);
    rc = open_engine(e, path, &o, err);
    if (rc == 0 && path)
        rc = start(e, &o, err);
    if (rc < 0)
        close_engine(e);
    else
        *out = e->bus;
    return rc;
}

void valise_close(valise *v)
{
    if (v)
        close_engine(vls_engine_of(v));
}
