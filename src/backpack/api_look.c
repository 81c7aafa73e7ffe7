/* api_look.c -- the C functions that walk over a backpack: items, history, differences. */
#include "backpack/handle.h"

#include "base/sized.h"

/* ---- items ---- */

typedef struct walking {
    valise_str pattern; /* ptr NULL: all */
    bool values, quarantined;
    valise_item_fn *fn;
    void *arg;
} walking;

static int walk(void *arg, const vls_glance *at, valise_error *err)
{
    const walking *w = arg;

    if (w->quarantined)
        return vls_bag_quarantined(at->seen->ledger, at->seen->scope, w->fn, w->arg, err);
    return vls_bag_each(at->seen->ledger, at->seen->scope, w->pattern, w->values, w->fn, w->arg,
                        err);
}

int valise_each_item(valise_backpack *bag, valise_item_fn *fn, void *arg, valise_error *err)
{
    walking w = {.values = true, .fn = fn, .arg = arg};

    VLS_ARG(bag && fn, err);
    return vls_handle_read(bag, walk, &w, err);
}

int valise_each_key(valise_backpack *bag, valise_item_fn *fn, void *arg, valise_error *err)
{
    walking w = {.fn = fn, .arg = arg};

    VLS_ARG(bag && fn, err);
    return vls_handle_read(bag, walk, &w, err);
}

int valise_items_by_namespace(valise_backpack *bag, valise_str pattern, valise_item_fn *fn,
                              void *arg, valise_error *err)
{
    walking w = {.pattern = pattern, .values = true, .fn = fn, .arg = arg};

    VLS_ARG(bag && fn && pattern.ptr, err);
    return vls_handle_read(bag, walk, &w, err);
}

int valise_quarantined(valise_backpack *bag, valise_item_fn *fn, void *arg, valise_error *err)
{
    walking w = {.quarantined = true, .fn = fn, .arg = arg};

    VLS_ARG(bag && fn, err);
    return vls_handle_read(bag, walk, &w, err);
}

typedef struct counting {
    const valise_backpack *bag;
    int64_t count;
} counting;

static int count_item(void *arg, const valise_item *item, valise_error *err)
{
    counting *c = arg;

    (void)item;
    (void)err;
    c->count++;
    return 0;
}

/* In memory they are counted already. A node sees only some of them. */
static int count_items(void *arg, const vls_glance *at, valise_error *err)
{
    const vls_scoped *seen = at->seen;
    counting *c = arg;
    valise_usage usage;
    int rc;

    if (!c->bag->ring || c->bag->snapshot || !vls_scope_is_owner(seen->scope))
        return vls_bag_each(seen->ledger, seen->scope, (valise_str){NULL, 0}, false, count_item, c,
                            err);
    rc = seen->ledger->ops->usage(&usage, seen->ledger->self, err);
    if (rc == 0)
        c->count = usage.items;
    return rc;
}

int valise_backpack_size(int64_t *out, valise_backpack *bag, valise_error *err)
{
    counting c = {bag, 0};
    int rc;

    VLS_ARG(out && bag, err);
    rc = vls_handle_read(bag, count_items, &c, err);
    if (rc == 0)
        *out = c.count;
    return rc;
}

typedef struct picking {
    valise_str key;
    valise_item_fn *fn;
    void *arg;
    const valise_env *env;
    bool found;
} picking;

static int pick(void *arg, const vls_glance *at, valise_error *err)
{
    picking *p = arg;
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(blob) valise_blob *value = NULL;
    valise_commit commit;
    vls_look look = {.now = at->now, .arena = &arena, .commit = &commit};
    int rc;

    vls_arena_init(&arena, p->env, (size_t)1 << 24);
    rc = vls_bag_get(&value, at->seen->ledger, at->seen->scope, p->key, &look, err);
    if (rc <= 0)
        return rc;
    p->found = true;
    return p->fn(p->arg, &(valise_item){&commit, value}, err);
}

int valise_item_get(valise_backpack *bag, const char *key, valise_item_fn *fn, void *arg,
                    valise_error *err)
{
    picking p = {.key = valise_str_of(key), .fn = fn, .arg = arg};
    int rc;

    VLS_ARG(bag && key && fn, err);
    p.env = bag->env;
    rc = vls_handle_read(bag, pick, &p, err);
    return rc != 0 ? rc : p.found;
}

typedef struct texting {
    vls_buf *out;
    valise_str pattern;
} texting;

static int write_object(void *arg, const vls_glance *at, valise_error *err)
{
    const texting *t = arg;

    return vls_bag_object(t->out, at->seen->ledger, at->seen->scope, t->pattern, err);
}

int valise_unpack_by_namespace(valise_blob **out, valise_backpack *bag, valise_str pattern,
                               valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    texting t = {&text, pattern};
    int rc;

    VLS_ARG(out && bag && pattern.ptr, err);
    vls_buf_init(&text, bag->env, VLS_REPLY_MAX);
    rc = vls_handle_read(bag, write_object, &t, err);
    return rc < 0 ? rc : vls_blob_new(out, bag->env, vls_buf_str(&text), err);
}

/* ---- history ---- */

typedef struct telling {
    const valise_history *filter;
    valise_str key; /* or node */
    bool writes;
    valise_commit_fn *fn;
    void *arg;
} telling;

static int tell_history(void *arg, const vls_glance *at, valise_error *err)
{
    const telling *t = arg;

    return vls_bag_history(at->seen->ledger, at->seen->scope, t->filter, t->fn, t->arg, err);
}

int valise_history_each(valise_backpack *bag, const valise_history *filter, valise_commit_fn *fn,
                        void *arg, valise_error *err)
{
    valise_history own = VALISE_HISTORY_INIT;
    telling t = {&own, {NULL, 0}, false, fn, arg};
    int rc;

    VLS_ARG(bag && fn, err);
    rc = vls_sized_take(&own, sizeof(own), filter, offsetof(valise_history, actions),
                        "valise_history", err);
    if (rc < 0)
        return rc;
    return vls_handle_read(bag, tell_history, &t, err);
}

static int tell_accesses(void *arg, const vls_glance *at, valise_error *err)
{
    const telling *t = arg;

    return vls_bag_access_log(at->seen->ledger, at->seen->scope, t->key, t->writes, t->fn, t->arg,
                              err);
}

int valise_access_log(valise_backpack *bag, const char *node_id, bool writes, valise_commit_fn *fn,
                      void *arg, valise_error *err)
{
    telling t = {NULL, valise_str_of(node_id), writes, fn, arg};

    VLS_ARG(bag && fn && node_id, err);
    return vls_handle_read(bag, tell_accesses, &t, err);
}

static int tell_blame(void *arg, const vls_glance *at, valise_error *err)
{
    const telling *t = arg;

    return vls_bag_blame(at->seen->ledger, at->seen->scope, t->key, at->now, t->fn, t->arg, err);
}

int valise_blame(valise_backpack *bag, const char *key, valise_commit_fn *fn, void *arg,
                 valise_error *err)
{
    telling t = {NULL, valise_str_of(key), false, fn, arg};

    VLS_ARG(bag && fn && key, err);
    return vls_handle_read(bag, tell_blame, &t, err);
}

/* ---- differences ---- */

typedef struct comparing {
    valise_change_fn *fn;
    void *arg;
} comparing;

static int compare(void *arg, const vls_glance *at, valise_error *err)
{
    const comparing *c = arg;

    return vls_bag_diff(&at->seen[0], &at->seen[1], false, c->fn, c->arg, err);
}

int valise_backpack_diff(valise_backpack *a, valise_backpack *b, valise_change_fn *fn, void *arg,
                         valise_error *err)
{
    comparing c = {fn, arg};
    valise_backpack *const two[] = {a, b};

    VLS_ARG(a && b && fn, err);
    return vls_handle_read_many(two, 2, compare, &c, err);
}

/* ---- as JSON, against a schema, in numbers ---- */

typedef struct exporting {
    vls_buf *out;
    int64_t commits;
    valise_str key, schema;
    int valid;
} exporting;

static int export(void *arg, const vls_glance *at, valise_error *err)
{
    const exporting *e = arg;

    return vls_bag_export(e->out, at->seen->ledger, at->seen->scope, e->commits, err);
}

int valise_backpack_to_json(valise_blob **out, valise_backpack *bag, int64_t commits,
                            valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    exporting e = {.out = &text, .commits = commits == 0 ? 1000 : commits};
    int rc;

    VLS_ARG(out && bag && commits >= -1, err);
    vls_buf_init(&text, bag->env, VLS_REPLY_MAX);
    rc = vls_handle_read(bag, export, &e, err);
    return rc < 0 ? rc : vls_blob_new(out, bag->env, vls_buf_str(&text), err);
}

static int validate(void *arg, const vls_glance *at, valise_error *err)
{
    exporting *e = arg;

    vls_buf_add_text(e->out, "{\"errors\":");
    e->valid = vls_bag_validate(e->out, at->seen->ledger, at->seen->scope, e->key, e->schema,
                                at->now, err);
    vls_buf_add_text(e->out, e->valid > 0 ? ",\"valid\":true}" : ",\"valid\":false}");
    return e->valid < 0 ? e->valid : vls_buf_check(e->out, err);
}

int valise_backpack_validate(valise_blob **report, valise_backpack *bag, const char *key,
                             valise_str schema, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    exporting e = {.out = &text, .key = valise_str_of(key), .schema = schema};
    int rc;

    VLS_ARG(report && bag && schema.ptr, err);
    vls_buf_init(&text, bag->env, VLS_REPLY_MAX);
    rc = vls_handle_read(bag, validate, &e, err);
    if (rc == 0)
        rc = vls_blob_new(report, bag->env, vls_buf_str(&text), err);
    return rc < 0 ? rc : e.valid;
}

static int use(void *arg, const vls_glance *at, valise_error *err)
{
    const vls_ledger *ledger = at->seen->ledger;
    int rc = vls_scope_owner_only(at->seen->scope, "see the usage", err);

    return rc < 0 ? rc : ledger->ops->usage(arg, ledger->self, err);
}

int valise_backpack_usage(valise_usage *out, valise_backpack *bag, valise_error *err)
{
    valise_usage usage = VALISE_USAGE_INIT;
    int rc;

    VLS_ARG(out && bag, err);
    rc = vls_sized_check(out, offsetof(valise_usage, state_bytes), "valise_usage", err);
    if (rc == 0)
        rc = vls_handle_read(bag, use, &usage, err);
    if (rc < 0)
        return rc;
    vls_sized_give(out, &usage, sizeof(usage));
    return 0;
}
