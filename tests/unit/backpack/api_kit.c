/* api_kit.c -- see api_kit.h. */
#include "api_kit.h"

#include "base/mem.h"
#include "base/vec.h"

valise_list names_of(const char *const *names)
{
    size_t count = 0;
    valise_str *list;

    while (names[count])
        count++;
    list = test_alloc((count + 1) * sizeof(*list));
    for (size_t i = 0; i < count; i++)
        list[i] = valise_str_of(names[i]);
    return (valise_list){list, count};
}

/* ---- workspaces ---- */

static int let_pass(void *self, valise_pass *pass, valise_error *err)
{
    (void)self, (void)pass, (void)err;
    return 0;
}

static const valise_middleware passing = {
    .size = sizeof(valise_middleware), .name = "passing", .before = let_pass};
static const valise_middleware *const passing_list[] = {&passing, NULL};

int desk_try(valise **out, const char *param, const char *dir, const valise_options *options,
             valise_error *err)
{
    valise_options o = VALISE_OPTIONS_INIT;
    bool on_disk = param && strcmp(param, "sqlite") == 0;

    if (options)
        o = *options;
    o.flags |= VALISE_OPEN_NO_USER_CONFIG |
               (on_disk && !(o.flags & VALISE_OPEN_READ_ONLY) ? VALISE_OPEN_CREATE : 0u);
    o.durability = VALISE_DURABILITY_NORMAL;
    if (param && strcmp(param, "watched") == 0 && !o.middleware)
        o.middleware = passing_list;
    return valise_open(out, on_disk ? dir : ":memory:", &o, err);
}

static void close_desk(void *arg)
{
    desk *d = arg;

    valise_close(d->v);
}

desk *desk_open_with(test *t, const valise_options *options)
{
    desk *d = test_alloc(sizeof(*d));
    valise_options o = VALISE_OPTIONS_INIT;

    if (options)
        o = *options;
    o.env = t->env;
    *d = (desk){.t = t, .err = &t->err};
    d->durable = t->param && (strcmp(t->param, "memory") == 0 || strcmp(t->param, "sqlite") == 0);
    if (t->param && strcmp(t->param, "sqlite") == 0)
        d->dir = test_format("%s/desk", test_tmpdir());
    CHECK_OK(desk_try(&d->v, t->param, d->dir, &o, &t->err));
    test_defer(close_desk, d);
    return d;
}

desk *desk_open(test *t)
{
    return desk_open_with(t, NULL);
}

void desk_reopen(desk *d)
{
    test *t = d->t;
    valise_options o = VALISE_OPTIONS_INIT;

    valise_close(d->v);
    d->v = NULL;
    o.env = t->env;
    CHECK_OK(desk_try(&d->v, t->param, d->dir, &o, &t->err));
}

valise_backpack_options desk_options(const desk *d, unsigned flags)
{
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;

    o.flags = flags | (d->durable ? VALISE_BACKPACK_DURABLE : 0u);
    return o;
}

static void close_bag(void *arg)
{
    valise_backpack_close(arg);
}

void close_later(valise_backpack *bag)
{
    test_defer(close_bag, bag);
}

valise_backpack *bag_with(desk *d, const char *name, const valise_backpack_options *options)
{
    test *t = d->t;
    valise_backpack *bag = NULL;

    CHECK_OK(valise_backpack_open(&bag, d->v, name, options, &t->err));
    close_later(bag);
    return bag;
}

valise_backpack *bag_of(desk *d, const char *name)
{
    valise_backpack_options o = desk_options(d, 0);

    return bag_with(d, name, &o);
}

valise_backpack *node_of(desk *d, valise_backpack *bag, const char *id, const char *space,
                         const valise_permissions *permissions)
{
    test *t = d->t;
    const valise_node node = {.size = sizeof(node),
                              .id = valise_str_of(id),
                              .namespace_name = valise_str_of(space),
                              .permissions = permissions};
    valise_backpack *view = NULL;

    CHECK_OK(valise_backpack_node(&view, bag, &node, &t->err));
    close_later(view);
    return view;
}

valise_backpack *at_point(desk *d, valise_backpack *bag, const char *point)
{
    test *t = d->t;
    valise_backpack *state = NULL;

    CHECK_OK(valise_snapshot_at(&state, bag, valise_str_of(point), &t->err));
    close_later(state);
    return state;
}

valise_backpack *fork_of(desk *d, valise_backpack *from, const char *name)
{
    test *t = d->t;
    valise_backpack *fork = NULL;

    CHECK_OK(valise_backpack_fork(&fork, from, name, NULL, &t->err));
    close_later(fork);
    return fork;
}

/* ---- operations ---- */

const char *run_op(desk *d, const char *type, const char *payload)
{
    test *t = d->t;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *text;

    CHECK_OK(valise_dispatch(&reply, d->v, type, payload, NULL, &t->err));
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

int run_as(desk *d, const char *actor, const char *type, const char *payload)
{
    valise_call call = VALISE_CALL_INIT;

    call.actor = valise_str_of(actor);
    return valise_dispatch(NULL, d->v, type, payload, &call, d->err);
}

void let_in(desk *d, const char *actor, const char *role, const char *capabilities)
{
    run_op(d, "agent:add",
           test_format("{\"id\":\"%s\",\"role\":\"%s\",\"capabilities\":[%s]}", actor, role,
                       capabilities));
}

int pack(valise_backpack *bag, const char *key, const char *json, valise_error *err)
{
    return valise_pack(NULL, bag, key, json, NULL, err);
}

int pack_as(valise_backpack *bag, const char *node, const char *key, const char *json,
            valise_error *err)
{
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;

    options.node_id = valise_str_of(node);
    return valise_pack(NULL, bag, key, json, &options, err);
}

int jail(valise_backpack *bag, const char *key, const char *reason, valise_error *err)
{
    const valise_quarantine_options options = {.size = sizeof(options),
                                               .reason = valise_str_of(reason)};

    return valise_quarantine(NULL, bag, key, &options, err);
}

/* ---- reads ---- */

static const char *code_text(int rc)
{
    switch (rc) {
    case 0:
        return "(absent)";
    case VALISE_E_DENIED:
        return "(denied)";
    case VALISE_E_NOT_FOUND:
        return "(not found)";
    case VALISE_E_INVALID:
        return "(invalid)";
    case VALISE_E_LIMIT:
        return "(limit)";
    default:
        return test_format("(%d)", rc);
    }
}

static const char *take_value(int rc, valise_blob *value)
{
    const char *text;

    if (!value)
        return code_text(rc);
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(value)));
    valise_blob_unref(value);
    return text;
}

const char *got(valise_backpack *bag, const char *key)
{
    valise_blob *value = NULL;
    int rc = valise_unpack(&value, bag, key, NULL);

    return take_value(rc, value);
}

const char *seen(valise_backpack *bag, const char *key)
{
    valise_blob *value = NULL;
    int rc = valise_peek(&value, bag, key, NULL);

    return take_value(rc, value);
}

int removal(valise_backpack *bag, const char *key, valise_error *err)
{
    bool removed = false;
    int rc = valise_remove(&removed, bag, key, err);

    return rc < 0 ? rc : removed;
}

const char *needed(valise_backpack *bag, const char *key)
{
    valise_blob *value = NULL;
    int rc = valise_unpack_required(&value, bag, key, NULL);

    return take_value(rc, value);
}

typedef struct text {
    vls_buf buf;
} text;

static void text_init(text *out)
{
    vls_buf_init(&out->buf, valise_env_default(), (size_t)1 << 26);
}

static const char *finish(text *out, int rc)
{
    const char *result =
        rc < 0 ? code_text(rc) : test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&out->buf)));

    vls_buf_release(&out->buf);
    return result;
}

static void separate(text *out, const char *by)
{
    if (out->buf.len > 0)
        vls_buf_add_text(&out->buf, by);
}

static int on_item(void *arg, const valise_item *item, valise_error *err)
{
    text *out = arg;
    const valise_commit *c = item->commit;

    (void)err;
    separate(out, " ");
    if (c->action == VALISE_ACTION_QUARANTINE)
        vls_buf_printf(&out->buf, "%lld:", (long long)c->entry);
    vls_buf_add(&out->buf, c->key);
    if (item->value) {
        vls_buf_add_byte(&out->buf, '=');
        vls_buf_add(&out->buf, valise_blob_bytes(item->value));
    }
    if (c->action == VALISE_ACTION_QUARANTINE)
        vls_buf_printf(&out->buf, "(%.*s)", VALISE_STR_ARG(c->reason));
    return 0;
}

const char *items(valise_backpack *bag)
{
    text out;

    text_init(&out);
    return finish(&out, valise_each_item(bag, on_item, &out, NULL));
}

const char *items_in(valise_backpack *bag, const char *pattern)
{
    text out;

    text_init(&out);
    return finish(&out,
                  valise_items_by_namespace(bag, valise_str_of(pattern), on_item, &out, NULL));
}

const char *keys(valise_backpack *bag)
{
    text out;

    text_init(&out);
    return finish(&out, valise_each_key(bag, on_item, &out, NULL));
}

const char *jailed(valise_backpack *bag)
{
    text out;

    text_init(&out);
    return finish(&out, valise_quarantined(bag, on_item, &out, NULL));
}

static int on_commit(void *arg, const valise_commit *c, valise_error *err)
{
    static const char *const actions[] = {"pack",  "delete", "quarantine", "release",
                                          "merge", "import", "unpack"};
    static const char *const outcomes[] = {"found", "absent", "denied"};
    text *out = arg;

    (void)err;
    separate(out, "; ");
    if (c->seq == 0 || c->action == VALISE_ACTION_UNPACK || c->outcome == VALISE_READ_DENIED)
        vls_buf_printf(&out->buf, "%s %.*s %s", actions[c->action], VALISE_STR_ARG(c->key),
                       outcomes[c->outcome]);
    else
        vls_buf_printf(&out->buf, "%lld %s %.*s v%lld", (long long)c->seq, actions[c->action],
                       VALISE_STR_ARG(c->key), (long long)c->version);
    vls_buf_printf(&out->buf, " by %.*s", VALISE_STR_ARG(c->node_id));
    return 0;
}

const char *history(valise_backpack *bag, const valise_history *filter)
{
    text out;

    text_init(&out);
    return finish(&out, valise_history_each(bag, filter, on_commit, &out, NULL));
}

const char *all_history(valise_backpack *bag)
{
    valise_history filter = VALISE_HISTORY_INIT;

    filter.oldest_first = true;
    return history(bag, &filter);
}

const char *accesses(valise_backpack *bag, const char *node, bool writes)
{
    text out;

    text_init(&out);
    return finish(&out, valise_access_log(bag, node, writes, on_commit, &out, NULL));
}

const char *blamed(valise_backpack *bag, const char *key)
{
    text out;

    text_init(&out);
    return finish(&out, valise_blame(bag, key, on_commit, &out, NULL));
}

static int on_change(void *arg, const valise_change *c, valise_error *err)
{
    text *out = arg;

    (void)err;
    separate(out, " ");
    vls_buf_add_byte(&out->buf, "+~-"[c->kind]);
    vls_buf_add(&out->buf, c->key);
    vls_buf_add_byte(&out->buf, '=');
    if (c->old_value)
        vls_buf_add(&out->buf, valise_blob_bytes(c->old_value));
    if (c->kind == VALISE_CHANGE_MODIFIED)
        vls_buf_add_byte(&out->buf, '>');
    if (c->new_value)
        vls_buf_add(&out->buf, valise_blob_bytes(c->new_value));
    return 0;
}

const char *differs(valise_backpack *a, valise_backpack *b)
{
    text out;

    text_init(&out);
    return finish(&out, valise_backpack_diff(a, b, on_change, &out, NULL));
}

const char *exported(valise_backpack *bag, int64_t commits)
{
    valise_blob *json = NULL;
    int rc = valise_backpack_to_json(&json, bag, commits, NULL);

    return take_value(rc, json);
}

static valise_str keep(valise_str s)
{
    return s.ptr ? (valise_str){test_format("%.*s", VALISE_STR_ARG(s)), s.len} : s;
}

static int copy_item(void *arg, const valise_item *item, valise_error *err)
{
    valise_commit *out = arg;
    const valise_str *tags = item->commit->tags.items;
    valise_str *copies = test_alloc((item->commit->tags.count + 1) * sizeof(*copies));
    const valise_taint *const *taints = item->commit->taints.items;
    size_t count = item->commit->taints.count;
    valise_taint *sources = test_alloc((count + 1) * sizeof(*sources));
    const valise_taint **list = test_alloc((count + 1) * sizeof(*list));

    (void)err;
    *out = *item->commit;
    out->key = keep(out->key);
    out->summary = keep(out->summary);
    out->node_id = keep(out->node_id);
    out->node_name = keep(out->node_name);
    out->namespace_name = keep(out->namespace_name);
    for (size_t i = 0; i < out->tags.count; i++)
        copies[i] = keep(tags[i]);
    out->tags.items = copies;
    for (size_t i = 0; i < count; i++) {
        sources[i] = *taints[i];
        sources[i].tag = keep(taints[i]->tag);
        list[i] = &sources[i];
    }
    out->taints.items = list;
    out->read = out->write = out->declassified = UNSAID;
    return 0;
}

valise_commit item_of(valise_backpack *bag, const char *key)
{
    valise_commit commit = {0};

    CHECK_INT(1, valise_item_get(bag, key, copy_item, &commit, NULL));
    return commit;
}

static int take_id(void *arg, const valise_commit *c, valise_error *err)
{
    (void)err;
    *(valise_uuid *)arg = c->id;
    return 0;
}

valise_uuid commit_id(valise_backpack *bag, int64_t seq)
{
    valise_history one = VALISE_HISTORY_INIT;
    valise_uuid id = {{0}};

    one.first = one.last = seq;
    CHECK_INT(0, valise_history_each(bag, &one, take_id, &id, NULL));
    return id;
}

/* ---- events ---- */

struct listener {
    valise_subscription *s;
};

static void stop_listening(void *arg)
{
    valise_unsubscribe(((listener *)arg)->s);
}

listener *listen_to(desk *d, const char *types)
{
    test *t = d->t;
    listener *l = test_alloc(sizeof(*l));
    const char *const list[] = {types, NULL};
    const valise_follow follow = {.size = sizeof(follow),
                                  .filter = {.size = sizeof(valise_filter), .types = list},
                                  .live = true,
                                  .queue_max = 1000};

    CHECK_OK(valise_subscribe(&l->s, d->v, &follow, &t->err));
    test_defer(stop_listening, l);
    return l;
}

const char *heard(listener *l)
{
    const valise_event *event;

    if (valise_subscription_next(&event, l->s, 0, NULL) != 1)
        return "";
    return test_format("%.*s %.*s %.*s", VALISE_STR_ARG(event->type),
                       VALISE_STR_ARG(event->node_id), VALISE_STR_ARG(event->payload));
}

/* ---- middleware ---- */

static int guard_before(void *self, valise_pass *pass, valise_error *err)
{
    guard *g = self;

    g->before++;
    if (g->refuses && strcmp(valise_pass_op(pass)->name, g->refuses) == 0)
        return vls_fail(err, VALISE_E_LIMIT, "not now");
    return 0;
}

static int guard_after(void *self, valise_pass *pass, valise_error *err)
{
    (void)pass, (void)err;
    ((guard *)self)->after++;
    return 0;
}

valise_middleware guard_middleware(guard *g)
{
    return (valise_middleware){.size = sizeof(valise_middleware),
                               .name = "guard",
                               .self = g,
                               .before = guard_before,
                               .after = guard_after};
}
