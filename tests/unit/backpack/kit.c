/* kit.c -- a backpack over a ledger, and its answers as texts. */
#include "kit.h"

#include "store/object.h"

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

/* ---- opening ---- */

static void start(bag *b, const valise_env *env, valise_error *err)
{
    *b = (bag){.env = env, .err = err, .now = 1000};
    vls_arena_init(&b->arena, env, SIZE_MAX);
}

static const naive_options usual = {.id = {{0x01, 0x97, 1}}, .name = {"run-1", 5}};

int bag_init(bag *b, const valise_env *env, const naive_options *options, valise_error *err)
{
    int rc;

    start(b, env, err);
    rc = naive_new(&b->n, env, options ? options : &usual, err);
    if (rc < 0)
        return rc;
    b->ledger = naive_ledger(b->n);
    return vls_scope_new(&b->owner, env, &b->ledger, NULL, err);
}

void bag_release(bag *b)
{
    vls_scope_free(b->owner);
    vls_auto_opened(&b->opened);
    naive_free(b->n);
    vls_arena_release(&b->arena);
}

static void release(void *arg)
{
    bag_release(arg);
}

/* One of the kind that the test's param names; from: NULL, or what it is forked from. */
static void open_kind(test *t, bag *b, const vls_ledger *from, const naive_options *o)
{
    const vls_bag_row row = {.id = o->id,
                             .name = o->name,
                             .lenient = o->lenient,
                             .taint = o->taint,
                             .sticky = o->sticky};

    start(b, t->env, &t->err);
    b->opened = from ? ledger_fork_with(t, from, &row) : ledger_open_with(t, &row);
    b->ledger = b->opened.ledger;
    CHECK_OK(vls_scope_new(&b->owner, t->env, &b->ledger, NULL, &t->err));
}

bag *bag_open(test *t, const naive_options *options)
{
    bag *b = test_alloc(sizeof(*b));

    test_defer(release, b);
    if (t->param)
        open_kind(t, b, NULL, options ? options : &usual);
    else
        CHECK_OK(bag_init(b, t->env, options, &t->err));
    return b;
}

bag *bag_fork(test *t, bag *from, const vls_ledger *state)
{
    bag *b = test_alloc(sizeof(*b));
    naive_options options = {.id = {{0x01, 0x97, 0x0f, 0x0f}}, .name = VLS_STR("fork")};

    options.id.bytes[15] = (uint8_t)from->now;
    test_defer(release, b);
    open_kind(t, b, state, &options);
    b->now = from->now;
    return b;
}

void bag_forget(bag *b, int64_t edge)
{
    if (b->opened.kind)
        b->opened.kind->forget(b->opened.self, edge);
    else
        naive_set_edge(b->n, edge);
}

static void free_scope(void *arg)
{
    vls_scope_free(arg);
}

vls_scope *bag_node(test *t, bag *b, const char *id, const char *name,
                    const valise_permissions *permissions)
{
    valise_node node = {.size = sizeof(node),
                        .id = valise_str_of(id),
                        .name = VLS_STR("Node"),
                        .namespace_name = valise_str_of(name),
                        .permissions = permissions};
    vls_scope *scope = NULL;

    CHECK_OK(vls_scope_new(&scope, t->env, &b->ledger, &node, &t->err));
    test_defer(free_scope, scope);
    return scope;
}

/* ---- writes ---- */

static vls_change_call call_of(bag *b)
{
    return (vls_change_call){
        .now = b->now++, .may_declassify = b->may_declassify, .arena = &b->arena};
}

int put_with(bag *b, vls_scope *scope, const char *key, const char *json, vls_pack_args args)
{
    vls_change_call call = call_of(b);
    int rc;

    args.key = valise_str_of(key);
    args.value.bytes = valise_str_of(json);
    args.value.size = (int64_t)strlen(json);
    rc = vls_object_id(&args.value.id, "value", args.value.bytes, b->err);
    return rc < 0 ? rc : vls_bag_pack(&b->done, &b->ledger, scope, &args, &call, b->err);
}

int put(bag *b, vls_scope *scope, const char *key, const char *json)
{
    return put_with(b, scope, key, json, (vls_pack_args){PACK_ARGS});
}

int put_as(bag *b, const char *node, const char *key, const char *json)
{
    return put_with(b, b->owner, key, json,
                    (vls_pack_args){PACK_ARGS, .node_id = valise_str_of(node)});
}

int drop(bag *b, vls_scope *scope, const char *key)
{
    static const valise_str none = {NULL, 0};
    vls_change_call call = call_of(b);

    return vls_bag_remove(&b->done, &b->ledger, scope, valise_str_of(key), VALISE_NONE, none, none,
                          &call, b->err);
}

int jail(bag *b, vls_scope *scope, const char *key, const char *reason)
{
    vls_change_call call = call_of(b);

    return vls_bag_quarantine(
        &b->done, &b->ledger, scope,
        &(vls_quarantine_args){.key = valise_str_of(key), .reason = valise_str_of(reason)}, &call,
        b->err);
}

int unjail(bag *b, vls_scope *scope, const char *key, int64_t seq)
{
    static const valise_str none = {NULL, 0};
    vls_change_call call = call_of(b);

    return vls_bag_release(&b->done, &b->ledger, scope, valise_str_of(key), seq, none, none, &call,
                           b->err);
}

/* ---- reads ---- */

static const char *code(int rc)
{
    return test_format("(%s)", valise_error_text(rc));
}

static const char *look_at(bag *b, vls_scope *scope, const char *key, vls_look look)
{
    valise_blob *value = NULL;
    const char *text;
    int rc;

    look.now = b->now;
    rc = vls_bag_get(&value, &b->ledger, scope, valise_str_of(key), &look, b->err);
    if (rc != 1)
        return rc == 0 ? "(absent)" : code(rc);
    text = test_format("%.*s", VALISE_STR_ARG(vls_blob_bytes(value)));
    valise_blob_unref(value);
    return text;
}

const char *get(bag *b, vls_scope *scope, const char *key)
{
    return look_at(b, scope, key, (vls_look){.record = true});
}

const char *peek(bag *b, vls_scope *scope, const char *key)
{
    return look_at(b, scope, key, (vls_look){.record = false});
}

const char *need(bag *b, vls_scope *scope, const char *key)
{
    return look_at(b, scope, key, (vls_look){.record = true, .required = true});
}

typedef struct text {
    char *at;
    size_t left;
} text;

static void add(text *out, const char *part)
{
    size_t len = strlen(part);

    CHECK(len < out->left);
    memcpy(out->at, part, len + 1);
    out->at += len;
    out->left -= len;
}

static text text_new(char **start)
{
    *start = test_alloc(20000);
    return (text){*start, 20000};
}

static const char *finish(char *start, int rc)
{
    size_t len = strlen(start);

    if (rc != 0)
        return code(rc);
    if (len > 0 && start[len - 1] == ' ')
        start[len - 1] = 0;
    if (len > 1 && start[len - 2] == ';')
        start[len - 2] = 0;
    return start;
}

static int add_item(void *arg, const valise_item *item, valise_error *err)
{
    (void)err;
    add(arg, test_format("%.*s=%.*s ", VALISE_STR_ARG(item->commit->key),
                         item->value ? (int)vls_blob_bytes(item->value).len : 1,
                         item->value ? vls_blob_bytes(item->value).ptr : "?"));
    return 0;
}

const char *items(bag *b, const vls_ledger *ledger, vls_scope *scope, const char *pattern)
{
    char *start;
    text out = text_new(&start);
    valise_str p = pattern ? valise_str_of(pattern) : (valise_str){NULL, 0};

    return finish(start, vls_bag_each(ledger, scope, p, true, add_item, &out, b->err));
}

static int add_jailed(void *arg, const valise_item *item, valise_error *err)
{
    (void)err;
    add(arg, test_format("%lld:%.*s=%.*s(%.*s) ", (long long)item->commit->entry,
                         VALISE_STR_ARG(item->commit->key),
                         item->value ? (int)vls_blob_bytes(item->value).len : 1,
                         item->value ? vls_blob_bytes(item->value).ptr : "?",
                         VALISE_STR_ARG(item->commit->reason)));
    return 0;
}

const char *jailed(bag *b, const vls_ledger *ledger, vls_scope *scope)
{
    char *start;
    text out = text_new(&start);

    return finish(start, vls_bag_quarantined(ledger, scope, add_jailed, &out, b->err));
}

static int add_commit(void *arg, const valise_commit *c, valise_error *err)
{
    static const char *const actions[] = {"pack",  "delete", "quarantine", "release",
                                          "merge", "import", "unpack"};
    static const char *const outcomes[] = {"found", "absent", "denied"};

    (void)err;
    if (c->outcome != VALISE_NONE)
        add(arg, test_format("%s %.*s %s by %.*s; ", actions[c->action], VALISE_STR_ARG(c->key),
                             outcomes[c->outcome], VALISE_STR_ARG(c->node_id)));
    else
        add(arg,
            test_format("%lld %s %.*s v%lld by %.*s; ", (long long)c->seq, actions[c->action],
                        VALISE_STR_ARG(c->key), (long long)c->version, VALISE_STR_ARG(c->node_id)));
    return 0;
}

const char *history(bag *b, const vls_ledger *ledger, vls_scope *scope, valise_history filter)
{
    char *start;
    text out = text_new(&start);

    return finish(start, vls_bag_history(ledger, scope, &filter, add_commit, &out, b->err));
}

const char *all_history(bag *b, vls_scope *scope)
{
    valise_history filter = VALISE_HISTORY_INIT;

    filter.oldest_first = true;
    return history(b, &b->ledger, scope, filter);
}

const char *access_log(bag *b, vls_scope *scope, const char *node, bool writes)
{
    char *start;
    text out = text_new(&start);

    return finish(start, vls_bag_access_log(&b->ledger, scope, valise_str_of(node), writes,
                                            add_commit, &out, b->err));
}

const char *blamed(bag *b, vls_scope *scope, const char *key)
{
    char *start;
    text out = text_new(&start);

    return finish(
        start, vls_bag_blame(&b->ledger, scope, valise_str_of(key), 1, add_commit, &out, b->err));
}

static const char *shown(const valise_blob *value)
{
    return test_format("%.*s", VALISE_STR_ARG(vls_blob_bytes(value)));
}

static int add_change(void *arg, const valise_change *c, valise_error *err)
{
    (void)err;
    CHECK((c->before != NULL) == (c->old_value != NULL));
    CHECK((c->after != NULL) == (c->new_value != NULL));
    add(arg, test_format("%c%.*s=", "+~-"[c->kind], VALISE_STR_ARG(c->key)));
    if (c->before)
        add(arg, shown(c->old_value));
    if (c->kind == VALISE_CHANGE_MODIFIED)
        add(arg, ">");
    if (c->after)
        add(arg, shown(c->new_value));
    add(arg,
        c->by ? test_format(" by %.*s@%lld ", VALISE_STR_ARG(c->by->node_id), (long long)c->by->seq)
              : " ");
    return 0;
}

const char *diff_of(const vls_scoped *x, const vls_scoped *y, valise_error *err)
{
    char *start;
    text out = text_new(&start);

    return finish(start, vls_bag_diff(x, y, false, add_change, &out, err));
}

const char *diff(bag *b, const vls_ledger *x, const vls_ledger *y, vls_scope *scope)
{
    return diff_of(&(vls_scoped){x, scope}, &(vls_scoped){y, scope}, b->err);
}

/* ---- points ---- */

int64_t point(bag *b, const vls_ledger *ledger, const char *spec)
{
    vls_point p;
    int64_t seq = -1000;
    int rc = vls_point_parse(&p, valise_str_of(spec), b->err);

    if (rc == 0)
        rc = vls_point_resolve(&seq, ledger, b->owner, &p, b->err);
    return rc < 0 ? rc : seq;
}

static void release_state(void *arg)
{
    vls_ledger *state = arg;

    state->ops->release(state->self);
}

vls_ledger at(test *t, bag *b, const char *spec)
{
    vls_ledger *state = test_alloc(sizeof(*state));
    int64_t seq = point(b, &b->ledger, spec);

    CHECK_MSG(seq >= 0, "%s: %s", spec, t->err.message);
    CHECK_OK(b->ledger.ops->freeze(state, b->ledger.self, seq, &t->err));
    test_defer(release_state, state);
    return *state;
}

valise_commit commit_of(test *t, bag *b, int64_t seq)
{
    valise_commit commit = {0}, copy = {0};
    vls_ledger_head head;

    b->ledger.ops->enter(b->ledger.self);
    CHECK_OK(b->ledger.ops->head(&head, b->ledger.self, &t->err));
    CHECK_INT(1, b->ledger.ops->commit(&commit, b->ledger.self, &head.id, seq, &t->err));
    CHECK_OK(vls_commit_copy(&copy, &commit, &b->arena, &t->err));
    b->ledger.ops->leave(b->ledger.self);
    return copy;
}

const char *exported(bag *b, const vls_ledger *ledger, vls_scope *scope, int64_t commits)
{
    VLS_AUTO(buf) vls_buf out = {0};
    int rc;

    vls_buf_init(&out, b->env, (size_t)1 << 24);
    rc = vls_bag_export(&out, ledger, scope, commits, b->err);
    return rc < 0 ? code(rc) : test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&out)));
}

valise_str formats_page(void)
{
    const char *root = getenv("VALISE_SOURCE_ROOT");

    return test_read_file(test_format("%s/docs/formats.md", root ? root : "."));
}
