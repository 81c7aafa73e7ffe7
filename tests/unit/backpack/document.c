/* document.c -- a backpack as JSON, there and back. [B27] */
#include "kit.h"

#include "base/buf.h"
#include "base/uuid.h"
#include "field/field.h"
#include "json/json.h"

#include "backpack/document.h"

static int load(bag *b, const char *json)
{
    return vls_bag_import(&b->ledger, valise_str_of(json), 77, b->env, b->err);
}

static bag *restored(test *t, const char *json, const naive_options *options)
{
    bag *b = bag_open(t, options);

    CHECK_OK(load(b, json));
    return b;
}

static const naive_options full = {
    .id = {{0x01, 0x97, 4, 4}}, .name = {"full", 4}, .lenient = true, .taint = true};

/* One of everything. */
static bag *eventful(test *t)
{
    bag *b = bag_open(t, &full);
    vls_scope *n = bag_node(t, b, "node", "a.b", NULL);
    int64_t run = 0;

    b->may_declassify = true;
    CHECK_OK(put_with(b, b->owner, "mail", "\"a@b\"",
                      (vls_pack_args){PACK_ARGS, .tags = NAMES("pii"), .read = NAMES("node"),
                                      .write = NAMES("node", "x")}));
    CHECK_OK(vls_bag_run_start(&run, &b->ledger, n, &t->err));
    get(b, n, "mail");
    CHECK_OK(put(b, n, "out", "{\"a\":[1,2.5,\"\xc3\xa4\"]}"));
    CHECK_OK(put_with(b, n, "plain", "1", (vls_pack_args){PACK_ARGS, .declassify = NAMES("pii")}));
    CHECK_OK(vls_bag_run_end(&b->ledger, n, run, &t->err));
    CHECK_OK(vls_bag_checkpoint(NULL, &b->ledger, VLS_STR("early"), VLS_STR("me"), 5, &t->err));
    CHECK_OK(put_as(b, "other", "plain", "1"));
    CHECK_OK(jail(b, b->owner, "plain", "because"));
    CHECK_OK(jail(b, b->owner, "never", "not packed"));
    CHECK_OK(put(b, b->owner, "plain", "2"));
    CHECK_INT(1, drop(b, b->owner, "plain"));
    CHECK_OK(unjail(b, b->owner, "plain", 0));
    CHECK_OK(jail(b, b->owner, "plain", "again"));
    CHECK_OK(vls_bag_checkpoint(NULL, &b->ledger, VLS_STR("late"), VLS_STR("me"), 6, &t->err));
    CHECK_OK(put(b, b->owner, "last", "null"));
    CHECK_OK(vls_bag_permit(&b->ledger, VLS_STR("node"),
                            &(valise_permissions){.read = NAMES("*"),
                                                  .write = NOBODY,
                                                  .deny = NAMES("x*"),
                                                  .namespace_read = NAMES("a.*")},
                            &t->err));
    CHECK_OK(
        vls_bag_permit(&b->ledger, VLS_STR("zzz"), &(valise_permissions){.read = UNSAID}, &t->err));
    CHECK_OK(
        vls_bag_tag_rule(&b->ledger, VLS_STR("pii"), NAMES("node"), UNSAID, &b->arena, &t->err));
    return b;
}

static void check_tables(test *t)
{
    CHECK_OK(vls_fields_check(vls_document_fields, sizeof(vls_document), &t->err));
    CHECK_OK(vls_fields_check(vls_commit_record, sizeof(valise_commit), &t->err));
    CHECK_OK(vls_fields_check(vls_commit_fields, sizeof(valise_commit), &t->err));
}

static void check_canonical(test *t, const char *json)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf out = {0};
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&out, t->env, (size_t)1 << 24);
    CHECK_OK(vls_json_parse(&v, &arena, valise_str_of(json), NULL, &t->err));
    CHECK_OK(vls_json_write(&out, v, &t->err));
    CHECK_STR(valise_str_of(json), vls_buf_str(&out));
}

TEST(document, all_of_it_comes_back_byte_for_byte)
{
    bag *b = eventful(t), *c;
    const char *json = exported(b, &b->ledger, b->owner, -1);

    check_tables(t);
    check_canonical(t, json);
    c = restored(t, json, &full);
    CHECK_TEXT(json, exported(c, &c->ledger, c->owner, -1));
    CHECK_TEXT(items(b, &b->ledger, b->owner, NULL), items(c, &c->ledger, c->owner, NULL));
    CHECK_TEXT(all_history(b, b->owner), all_history(c, c->owner));
    CHECK_TEXT(jailed(b, &b->ledger, b->owner), jailed(c, &c->ledger, c->owner));
    for (int64_t seq = 0; seq <= 11; seq++) {
        vls_ledger x = at(t, b, test_format("%lld", (long long)seq));
        vls_ledger y = at(t, c, test_format("%lld", (long long)seq));
        CHECK_TEXT(items(b, &x, b->owner, NULL), items(c, &y, c->owner, NULL));
        CHECK_TEXT(jailed(b, &x, b->owner), jailed(c, &y, c->owner));
    }
    CHECK_INT(3, point(c, &c->ledger, "early"));
    CHECK_INT(1, point(c, &c->ledger, "before:node"));
    /* Versions and runs go on. */
    CHECK_OK(put(b, b->owner, "plain", "3"));
    CHECK_OK(put(c, c->owner, "plain", "3"));
    CHECK_INT(b->done.packed.version, c->done.packed.version);
    CHECK_INT(b->done.commit.run, c->done.commit.run);
}

/* With every number of commits: the state and those commits are equal. */
TEST(document, the_last_commits_with_the_state)
{
    bag *b = eventful(t);

    for (int64_t n = 0; n <= 11; n++) {
        const char *json = exported(b, &b->ledger, b->owner, n);
        bag *c = restored(t, json, &full);
        check_canonical(t, json);
        CHECK_TEXT(items(b, &b->ledger, b->owner, NULL), items(c, &c->ledger, c->owner, NULL));
        CHECK_TEXT(jailed(b, &b->ledger, b->owner), jailed(c, &c->ledger, c->owner));
        for (int64_t seq = 11 - n; seq <= 11; seq++) {
            vls_ledger x = at(t, b, test_format("%lld", (long long)seq));
            vls_ledger y = at(t, c, test_format("%lld", (long long)seq));
            CHECK_TEXT(items(b, &x, b->owner, NULL), items(c, &y, c->owner, NULL));
        }
        CHECK_TEXT(json, exported(c, &c->ledger, c->owner, -1));
        CHECK_OK(unjail(c, c->owner, "plain", 0));
        CHECK_TEXT("1", peek(c, c->owner, "plain"));
    }
}

TEST(document, after_history_was_dropped)
{
    bag *b = eventful(t), *c;
    const char *json;

    naive_set_edge(b->n, 8);
    json = exported(b, &b->ledger, b->owner, -1);
    c = restored(t, json, &full);
    CHECK_TEXT(json, exported(c, &c->ledger, c->owner, -1));
    CHECK_INT(VALISE_E_LIMIT, point(c, &c->ledger, "7"));
    CHECK_TEXT(items(b, &b->ledger, b->owner, NULL), items(c, &c->ledger, c->owner, NULL));
}

TEST(document, of_a_snapshot)
{
    bag *b = eventful(t), *c;
    vls_ledger state = at(t, b, "6");

    c = restored(t, exported(b, &state, b->owner, -1), &full);
    CHECK_TEXT(items(b, &state, b->owner, NULL), items(c, &c->ledger, c->owner, NULL));
    CHECK_TEXT(jailed(b, &state, b->owner), jailed(c, &c->ledger, c->owner));
}

/* A fork stands alone in its document. */
TEST(document, of_a_fork)
{
    bag *b = bag_open(t, NULL), *f, *c;
    vls_ledger state;
    const char *json;
    vls_ledger_head head;

    CHECK_OK(put_as(b, "n", "gone", "1"));
    CHECK_OK(put_as(b, "n", "z", "1"));
    CHECK_OK(put_as(b, "n", "k", "1"));
    CHECK_OK(put_as(b, "n", "k", "2"));
    CHECK_OK(put_as(b, "n", "j", "3"));
    state = at(t, b, "now");
    f = bag_fork(t, b, &state);
    CHECK_OK(put_as(f, "f", "k", "5"));
    CHECK_OK(jail(f, f->owner, "j", "x"));
    CHECK_INT(1, drop(f, f->owner, "gone"));
    CHECK_OK(vls_bag_checkpoint(NULL, &f->ledger, VLS_STR("mark"), VLS_STR("me"), 6, &t->err));
    CHECK_OK(put_as(f, "f", "k", "6"));
    json = exported(f, &f->ledger, f->owner, -1);
    CHECK_OK(vls_bag_import_head(&head, valise_str_of(json), &f->arena, &t->err));
    CHECK_INT(5, head.origin_seq);
    CHECK_STR(VLS_STR("fork"), head.name);
    c = bag_open(t, NULL);
    CHECK_OK(load(c, json));
    CHECK_TEXT("k=6 z=1", items(c, &c->ledger, c->owner, NULL));
    CHECK_TEXT("6:j=3(x)", jailed(c, &c->ledger, c->owner));
    CHECK_OK(unjail(c, c->owner, "j", 0));
    CHECK_TEXT("j=3 k=6 z=1", items(c, &c->ledger, c->owner, NULL));
    state = at(t, c, "mark");
    CHECK_TEXT("k=5 z=1", items(c, &state, c->owner, NULL));
    state = at(t, c, "before:f");
    CHECK_TEXT("gone=1 j=3 k=2 z=1", items(c, &state, c->owner, NULL));
}

/* What one node may see is for looking at. [B21] */
TEST(document, of_a_node)
{
    bag *b = eventful(t), *c = bag_open(t, &full);
    vls_scope *n = bag_node(t, b, "n", "", &(valise_permissions){.read = NAMES("last")});
    const char *json = exported(b, &b->ledger, n, -1);

    CHECK(strstr(json, "\"partial\":true"));
    CHECK(strstr(json, "\"quarantine\":[]") && strstr(json, "\"permissions\":[]"));
    CHECK(!strstr(json, "mail") && !strstr(json, "because"));
    CHECK_RC(VALISE_E_INVALID, load(c, json));
}

TEST(document, says_what_the_backpack_is)
{
    naive_options options = full;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_ledger_head head;
    bag *b;

    options.sticky = NAMES("a", "b");
    b = bag_open(t, &options);
    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_OK(vls_bag_import_head(&head, valise_str_of(exported(b, &b->ledger, b->owner, -1)),
                                 &arena, &t->err));
    CHECK(vls_uuid_equal(&full.id, &head.id));
    CHECK(head.lenient && head.taint && head.sticky.count == 2 && head.origin_seq == 0);
    CHECK_OK(vls_bag_import_head(&head, VLS_STR("{\"items\":[]}"), &arena, &t->err));
    CHECK_INT(0, head.name.len);
    CHECK_RC(VALISE_E_UNSUPPORTED,
             vls_bag_import_head(&head, VLS_STR("{\"format\":\"x\"}"), &arena, &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_bag_import_head(&head, VLS_STR("[]"), &arena, &t->err));
    CHECK_RC(
        VALISE_E_INVALID,
        vls_bag_import_head(&head, VLS_STR("{\"format\":\"valise.backpack.1\"}"), &arena, &t->err));
}

/* docs/formats.md has it: what is exported never changes unnoticed. */
TEST(document, the_vector_of_the_documentation)
{
    naive_options options = {
        .id = {{0x01, 0x97, 0xa0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 1}},
        .name = VLS_STR("run-1")};
    bag *b = bag_open(t, &options), *c;
    const char *json;
    valise_str docs;

    b->now = INT64_C(1767323045000000000);
    CHECK_OK(put_with(
        b, b->owner, "query", "\"What is AI?\"",
        (vls_pack_args){PACK_ARGS, .node_id = VLS_STR("chat-1"), .node_name = VLS_STR("Chat"),
                        .namespace_name = VLS_STR("sales.chat"), .tags = NAMES("user-input")}));
    json = exported(b, &b->ledger, b->owner, -1);
    docs = formats_page();
    CHECK_MSG(vls_str_find(docs, valise_str_of(json)) < docs.len, "docs/formats.md has no %s",
              json);
    c = restored(t, json, &options);
    CHECK_TEXT(json, exported(c, &c->ledger, c->owner, -1));
}

/* ---- the seed's shape ---- */

TEST(document, the_shape_of_the_first_specification)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n;
    valise_commit c;

    CHECK_OK(load(
        b, "{\"items\":[[\"b\",{\"key\":\"b\",\"value\":{\"z\":1,\"a\":null},\"metadata\":"
           "{\"sourceNodeId\":\"n2\",\"sourceNodeName\":\"ChatNode\",\"sourceNamespace\":"
           "\"sales.chat\",\"timestamp\":2000,\"version\":7,\"tags\":[\"x\",\"a\"]}}],"
           "[\"a\",{\"key\":\"a\",\"value\":0,\"metadata\":{\"timestamp\":1000}}]],"
           "\"history\":[{\"commitId\":\"abc\",\"action\":\"unpack\",\"key\":\"a\"}],"
           "\"permissions\":{\"z\":{},\"n\":{\"read\":[\"a\"],\"namespaceRead\":[\"x.*\"]}}}"));
    CHECK_TEXT("a=0 b={\"a\":null,\"z\":1}", items(b, &b->ledger, b->owner, NULL));
    CHECK_TEXT("1 import a v1 by unknown; 2 import b v7 by n2", all_history(b, b->owner));
    c = commit_of(t, b, 2);
    CHECK_STR(VLS_STR("sales.chat"), c.namespace_name);
    CHECK_STR(VLS_STR("ChatNode"), c.node_name);
    CHECK_INT(2, c.tags.count);
    CHECK_INT(INT64_C(2000000000), c.time);
    n = bag_node(t, b, "n", "", NULL);
    CHECK_TEXT("a=0", items(b, &b->ledger, n, NULL));
    CHECK_OK(put(b, b->owner, "b", "1"));
    CHECK_INT(8, b->done.packed.version);
    /* There is something in it now. */
    CHECK_RC(VALISE_E_EXISTS, load(b, "{\"items\":[]}"));
    b = bag_open(t, NULL);
    CHECK_OK(load(b, "{\"items\":[]}"));
    CHECK_TEXT("", items(b, &b->ledger, b->owner, NULL));
}

/* An item, and an entry of the history, of that shape. */
#define OLD_ITEM(key, value, time, version)                                                        \
    "[\"" key "\",{\"value\":" value ",\"metadata\":{\"timestamp\":" time ",\"version\":" version  \
    ",\"sourceNodeId\":\"n\",\"tags\":[\"t\"]}}]"
#define OLD_PACK(key, value, time, version)                                                        \
    "{\"action\":\"pack\",\"key\":\"" key "\",\"nodeId\":\"n\",\"timestamp\":" time                \
    ",\"newValue\":" value ",\"metadata\":{\"version\":" version ",\"tags\":[\"t\"]}}"
#define OLD_DELETE(key, time)                                                                      \
    "{\"action\":\"delete\",\"key\":\"" key "\",\"nodeId\":\"d\",\"timestamp\":" time "}"
#define OLD_READ(key, time)                                                                        \
    "{\"action\":\"unpack\",\"key\":\"" key "\",\"nodeId\":\"r\",\"timestamp\":" time "}"
#define LARGE "{\"_type\":\"large-value-ref\",\"size\":200000}"

static const struct {
    const char *items, *history, *made, *state;
} old_ones[] = {
    /* The packs of an item, the last of which is the item; reads are none. */
    {OLD_ITEM("k", "3", "3", "3"),
     OLD_PACK("k", "1", "1", "1") "," OLD_READ("k", "1") "," OLD_PACK(
         "k", "2", "2", "2") "," OLD_PACK("k", "3", "3", "3"),
     "1 pack k v1 by n; 2 pack k v2 by n; 3 pack k v3 by n", "k=3"},
    /* The history began later than the key. */
    {OLD_ITEM("k", "9", "3", "9"), OLD_PACK("k", "8", "2", "8") "," OLD_PACK("k", "9", "3", "9"),
     "1 import k v8 by n; 2 pack k v9 by n", "k=9"},
    /* A value that was too large stands only among the items. */
    {OLD_ITEM("k", "3", "3", "3"),
     OLD_PACK("k", "1", "1", "1") "," OLD_PACK("k", LARGE, "2", "2") "," OLD_PACK("k", LARGE, "3",
                                                                                  "3"),
     "1 pack k v1 by n; 2 import k v3 by n", "k=3"},
    /* Deleted and gone, or packed again; what came to nothing otherwise is not told. */
    {OLD_ITEM("again", "2", "3", "2"),
     OLD_PACK("gone", "1", "1", "1") "," OLD_PACK("lost", "1", "1", "1") "," OLD_PACK(
         "again", "1", "1", "1") "," OLD_DELETE("gone", "2") "," OLD_DELETE("again", "2"),
     "1 pack gone v1 by n; 2 pack again v1 by n; 3 delete gone v1 by d; 4 delete again v1 by d; "
     "5 import again v2 by n",
     "again=2"},
    /* That shape counted anew after a deletion: then only what is the item's fits. */
    {OLD_ITEM("k", "7", "4", "1"),
     OLD_PACK("k", "1", "1", "1") "," OLD_PACK("k", "2", "2", "2") "," OLD_DELETE(
         "k", "3") "," OLD_PACK("k", "7", "4", "1"),
     "1 pack k v1 by n", "k=7"},
    /* Nothing is later than the item. */
    {OLD_ITEM("k", "1", "1", "1"), OLD_PACK("k", "2", "5", "2") "," OLD_DELETE("k", "6"),
     "1 import k v1 by n", "k=1"},
    {OLD_ITEM("k", "1", "5", "1"), OLD_DELETE("k", "1") "," OLD_DELETE("none", "1"),
     "1 import k v1 by n", "k=1"},
};

TEST(document, the_history_of_the_first_specification)
{
    for (size_t i = 0; i < VLS_COUNT(old_ones); i++) {
        bag *b = bag_open(t, NULL);
        const char *json = test_format("{\"items\":[%s],\"history\":[%s]}", old_ones[i].items,
                                       old_ones[i].history);
        test_context("%s", json);
        CHECK_OK(load(b, json));
        CHECK_TEXT(old_ones[i].made, all_history(b, b->owner));
        CHECK_TEXT(old_ones[i].state, items(b, &b->ledger, b->owner, NULL));
        CHECK(strstr(exported(b, &b->ledger, b->owner, -1), "valise.backpack.1"));
    }
    test_context_end();
}

/* What is taken leads from one state to the next. */
TEST(document, the_states_of_that_history)
{
    bag *b = bag_open(t, NULL);
    vls_ledger early;
    valise_commit c;

    CHECK_OK(load(
        b, "{\"items\":[" OLD_ITEM("k", "2", "3", "2") "],\"history\":[" OLD_PACK(
               "k", "1", "1", "1") "," OLD_PACK("l", "5", "1", "1") "," OLD_DELETE("l", "2") "]}"));
    early = at(t, b, "2");
    CHECK_TEXT("k=1 l=5", items(b, &early, b->owner, NULL));
    c = commit_of(t, b, 4);
    CHECK_INT(1, c.previous);
    CHECK_INT(INT64_C(3000000), c.time);
    c = commit_of(t, b, 3);
    CHECK_INT(2, c.previous);
    CHECK_INT(1, c.tags.count);
    CHECK_OK(put(b, b->owner, "l", "6"));
    CHECK_INT(2, b->done.packed.version);
}

/* ---- what is refused ---- */

typedef struct bad {
    const char *json;
    int code;
    const char *path;
} bad;

static void check_refused(test *t, const bad *list)
{
    for (; list->json; list++) {
        bag *b = bag_open(t, &full);
        vls_ledger_head head;
        t->err = (valise_error)VALISE_ERROR_INIT;
        test_context("%.300s", list->json);
        CHECK_RC(list->code, load(b, list->json));
        CHECK_TEXT(list->path, t->err.path);
        b->ledger.ops->enter(b->ledger.self);
        CHECK_OK(b->ledger.ops->head(&head, b->ledger.self, &t->err));
        b->ledger.ops->leave(b->ledger.self);
        CHECK_INT(0, head.last);
        CHECK_INT(1, head.generation);
    }
    test_context_end();
}

#define OLD_ENTRY(members) "{\"items\":[],\"history\":[{" members "}]}"
#define ITEM(key, meta) "{\"items\":[[" key ",{\"value\":1,\"metadata\":" meta "}]]}"

TEST(document, bad_ones_of_the_first_shape)
{
    static const bad list[] = {
        {"", VALISE_E_INVALID, ""},
        {"1", VALISE_E_INVALID, ""},
        {"{}", VALISE_E_INVALID, ""},
        {"{\"items\":{}}", VALISE_E_INVALID, "items"},
        {"{\"items\":[],\"history\":1}", VALISE_E_INVALID, "history"},
        {"{\"items\":[],\"permissions\":[]}", VALISE_E_INVALID, "permissions"},
        {"{\"items\":[],\"permissions\":{\"n\":{\"read\":1}}}", VALISE_E_INVALID,
         "permissions.n.read"},
        {"{\"items\":[],\"permissions\":{\"n\":{\"other\":1}}}", VALISE_E_INVALID,
         "permissions.n.other"},
        {"{\"items\":[],\"permissions\":{\"n\":{\"namespaceRead\":[\"a..b\"]}}}", VALISE_E_INVALID,
         "permissions[0].namespaceRead[0]"},
        {"{\"items\":[1]}", VALISE_E_INVALID, "items[0]"},
        {"{\"items\":[[\"k\"]]}", VALISE_E_INVALID, "items[0]"},
        {"{\"items\":[[\"k\",{\"value\":1}]]}", VALISE_E_INVALID, "items[0]"},
        {ITEM("\"k\"", "1"), VALISE_E_INVALID, "items[0][1].metadata"},
        {ITEM("\"k\"", "{\"tags\":1}"), VALISE_E_INVALID, "items[0][1].metadata.tags"},
        {ITEM("\"k\"", "{\"tags\":[1]}"), VALISE_E_INVALID, "items[0][1].metadata.tags"},
        {ITEM("\"k\"", "{\"version\":0}"), VALISE_E_INVALID, "items[0][1].metadata.version"},
        {ITEM("\"k\"", "{\"timestamp\":1.5}"), VALISE_E_INVALID, "items[0][1].metadata.timestamp"},
        {ITEM("\"k\"", "{\"timestamp\":9223372036854775807}"), VALISE_E_INVALID,
         "items[0][1].metadata.timestamp"},
        {ITEM("\"k\"", "{\"sourceNodeId\":1}"), VALISE_E_INVALID,
         "items[0][1].metadata.sourceNodeId"},
        {ITEM("\"\"", "{}"), VALISE_E_INVALID, "items[0]"},
        {ITEM("\"k\"", "{\"sourceNamespace\":\"a..b\"}"), VALISE_E_INVALID, "items[0]"},
        {"{\"items\":[[\"k\",{\"value\":1,\"metadata\":{\"timestamp\":9}}],"
         "[\"k\",{\"value\":2,\"metadata\":{\"timestamp\":2}}]]}",
         VALISE_E_INVALID, "items[0]"},
        {ITEM("\"k\"", "{\"version\":9223372036854775807}"), VALISE_E_INVALID, "items[0].version"},
        {"{\"items\":[],\"history\":[1]}", VALISE_E_INVALID, "history[0]"},
        {"{\"items\":[],\"history\":[{\"key\":\"k\"}]}", VALISE_E_INVALID, "history[0]"},
        {OLD_ENTRY("\"action\":1"), VALISE_E_INVALID, "history[0].action"},
        {OLD_ENTRY("\"action\":\"merge\""), VALISE_E_INVALID, "history[0]"},
        {OLD_ENTRY("\"action\":\"pack\",\"key\":7"), VALISE_E_INVALID, "history[0].key"},
        {OLD_ENTRY("\"action\":\"pack\",\"key\":\"\""), VALISE_E_INVALID, "history[0]"},
        {OLD_ENTRY("\"action\":\"delete\",\"key\":\"k\",\"timestamp\":\"x\""), VALISE_E_INVALID,
         "history[0].timestamp"},
        {OLD_ENTRY("\"action\":\"pack\",\"key\":\"k\",\"nodeId\":[]"), VALISE_E_INVALID,
         "history[0].nodeId"},
        {OLD_ENTRY("\"action\":\"pack\",\"key\":\"k\",\"metadata\":1"), VALISE_E_INVALID,
         "history[0].metadata"},
        {NULL, 0, NULL},
    };

    check_refused(t, list);
}

/* The good document with one place made bad. */
static const char *with(test *t, const char *json, const char *from, const char *to)
{
    const char *at_ = strstr(json, from);

    CHECK_MSG(at_, "%s is not in %s", from, json);
    (void)t;
    return test_format("%.*s%s%s", (int)(at_ - json), json, to, at_ + strlen(from));
}

TEST(document, bad_ones)
{
    bag *b = eventful(t);
    const char *good = exported(b, &b->ledger, b->owner, 10);
    char *deep = test_alloc(2000);

    memset(deep, '[', 999);
    const bad list[] = {
        {with(t, good, "backpack.1", "backpack.2"), VALISE_E_UNSUPPORTED, "format"},
        {with(t, good, "\"partial\":false", "\"partial\":0"), VALISE_E_INVALID, "partial"},
        {with(t, good, "\"partial\":false", "\"partial\":true"), VALISE_E_INVALID, ""},
        {with(t, good, "\"partial\":false", "\"partial\":false,\"x\":1"), VALISE_E_INVALID, "x"},
        {with(t, good, "\"partial\":false", "\"partial\":false,\"edge\":1"), VALISE_E_INVALID, ""},
        {with(t, good, "\"edge\":1", "\"edge\":-1"), VALISE_E_INVALID, "edge"},
        {with(t, good, "\"edge\":1", "\"edge\":2"), VALISE_E_INVALID, "history[0]"},
        {with(t, good, "\"edge\":1", "\"edge\":0"), VALISE_E_INVALID, "items[0]"},
        {with(t, good, "\"values\"", "\"other\""), VALISE_E_INVALID, "other"},
        {with(t, good, "\"values\":{", "\"values\":[],\"v\":{"), VALISE_E_INVALID, "v"},
        {with(t, good, "\"values\":{", "\"values\":{\"x\":1,"), VALISE_E_INVALID, "values.x"},
        {with(t, good, ":\"a@b\"", ":\"a@c\""), VALISE_E_INVALID,
         "values.db087b6216ecbf094172013c0037583490a1de3045f8cc391042a6ac60e92580"},
        {with(t, good, "\"seq\":3,\"s", "\"seq\":4,\"s"), VALISE_E_INVALID, "history[1]"},
        {with(t, good, "\"seq\":3,\"s", "\"s"), VALISE_E_INVALID, "history[1].seq"},
        {with(t, good, "\"action\":\"pack\"", "\"action\":\"unpack\""), VALISE_E_INVALID, NULL},
        {with(t, good, "\"version\":2", "\"version\":3"), VALISE_E_INVALID, NULL},
        {with(t, good, "\"nodeId\":\"node\"", "\"nodeId\":\"\""), VALISE_E_INVALID, NULL},
        {with(t, good, "\"tags\":[\"pii\"]", "\"tags\":[\"pii\",\"pii\"]"), VALISE_E_INVALID, NULL},
        {with(t, good, "\"read\":[\"node\"]", "\"read\":[\"\\n\"]"), VALISE_E_INVALID, NULL},
        {with(t, good, "\"seq\":1,\"tag\":\"pii\"", "\"seq\":0,\"tag\":\"pii\""), VALISE_E_INVALID,
         "history[0].taints[0]"},
        {with(t, good, "\"seq\":1,\"tag\":\"pii\"", "\"seq\":1,\"tag\":\"x\""), VALISE_E_INVALID,
         "history[0].taints[0]"},
        {with(t, good, "[redacted]", "a@b"), VALISE_E_INVALID, NULL},
        {with(t, good, "\"valueSize\":5", "\"valueSize\":6"), VALISE_E_INVALID, NULL},
        {with(t, good, "1970-01-01T00:00:00.000001001Z", "1970-01-01T00:00:00.000000001Z"),
         VALISE_E_INVALID, "history[0]"},
        {with(t, good, "\"run\":2", "\"run\":99"), VALISE_E_INVALID, "history[0]"},
        {with(t, good, "\"entry\":5", "\"entry\":6"), VALISE_E_INVALID, NULL},
        {with(t, good, "\"item\":4", "\"item\":3"), VALISE_E_INVALID, NULL},
        {with(t, good, "\"released\":9", "\"released\":8"), VALISE_E_INVALID, NULL},
        {with(t, good, "\"name\":\"early\"", "\"name\":\"now\""), VALISE_E_INVALID,
         "checkpoints[0]"},
        {with(t, good, "\"name\":\"early\"", "\"name\":\"zoo\""), VALISE_E_INVALID,
         "checkpoints[1]"},
        {with(t, good, "\"number\":1,", "\"number\":0,"), VALISE_E_INVALID, "runs[0]"},
        {with(t, good, "\"number\":3,", "\"number\":2,"), VALISE_E_INVALID, "runs[2]"},
        {with(t, good, "\"start\":1}", "\"start\":100}"), VALISE_E_INVALID, NULL},
        {with(t, good, "\"nodeId\":\"zzz\"", "\"nodeId\":\"a\""), VALISE_E_INVALID,
         "permissions[1]"},
        {with(t, good, "[\"a.*\"]", "[\"a..*\"]"), VALISE_E_INVALID,
         "permissions[0].namespaceRead[0]"},
        {with(t, good, "\"tag\":\"pii\"}]", "\"tag\":\"\"}]"), VALISE_E_INVALID, NULL},
        {deep, VALISE_E_LIMIT, ""},
        {NULL, 0, NULL},
    };
    for (size_t i = 0; list[i].json; i++) {
        bag *c = bag_open(t, &full);
        vls_ledger_head head;
        t->err = (valise_error)VALISE_ERROR_INIT;
        test_context("%zu: %.2000s", i, list[i].json);
        CHECK_RC(list[i].code, load(c, list[i].json));
        if (list[i].path)
            CHECK_TEXT(list[i].path, t->err.path);
        c->ledger.ops->enter(c->ledger.self);
        CHECK_OK(c->ledger.ops->head(&head, c->ledger.self, &t->err));
        c->ledger.ops->leave(c->ledger.self);
        CHECK_INT(0, head.last);
        CHECK_INT(1, head.generation);
    }
}

/* A million items are refused, in the time it takes to read them. */
TEST(document, too_many_items)
{
    bag *b = bag_open(t, &full);
    size_t count = 500001;
    char *json = test_alloc(count * 2 + 100);
    size_t at_ = strlen("{\"items\":[");

    memcpy(json, "{\"items\":[", at_);
    memset(json + at_, '1', count * 2);
    for (size_t i = 0; i < count; i++)
        json[at_ + 2 * i + 1] = i + 1 < count ? ',' : ']';
    json[at_ + 2 * count] = '}';
    CHECK_RC(VALISE_E_LIMIT, load(b, json));
}

/* ---- commits that do not go together ---- */

static const char *record(int seq, const char *action, const char *key, int version,
                          const char *more)
{
    return test_format("{\"seq\":%d,\"timestamp\":\"2026-01-02T03:04:05Z\",\"action\":\"%s\","
                       "\"key\":\"%s\",\"version\":%d,\"nodeId\":\"n\",\"nodeName\":\"n\"%s}",
                       seq, action, key, version, more);
}

static const char *document(const char *history, const char *more)
{
    return test_format("{\"format\":\"valise.backpack.1\",\"id\":"
                       "\"0197a000-0000-7000-8000-000000000001\",\"name\":\"x\",\"edge\":0,"
                       "\"items\":[],\"history\":[%s],\"options\":{},\"values\":{}%s}",
                       history, more);
}

#define PACKED record(1, "pack", "k", 1, "")
#define AND(a, b) test_format("%s,%s", (a), (b))
#define ID_1 "\"0000000000000000000000000000000000000000000000000000000000000001\""
#define JAILED AND(PACKED, record(2, "quarantine", "k", 1, ",\"reason\":\"r\",\"previous\":1"))
#define FREED AND(JAILED, record(3, "release", "k", 2, ",\"entry\":2"))
#define ENTRY(seq, item, released)                                                                 \
    "{\"seq\":" #seq ",\"key\":\"k\",\"item\":" #item ",\"released\":" #released                   \
    ",\"itemBackpack\":\"0197a000-0000-7000-8000-000000000001\"}"

TEST(document, commits_that_fit)
{
    const char *const good[] = {
        document(PACKED, ""),
        document(FREED, ",\"quarantine\":[" ENTRY(2, 1, 3) "]"),
        document(JAILED, ",\"quarantine\":[" ENTRY(2, 1, 0) "]"),
        document(AND(PACKED, record(2, "delete", "k", 1, ",\"previous\":1")), ""),
        document(record(1, "quarantine", "k", 0, ",\"reason\":\"r\",\"error\":{\"a\":1}"), ""),
        document(AND(PACKED, record(2, "import", "k", 7, "")), ""),
        document(AND(PACKED, record(2, "pack", "k", 7, "")), ""), /* some were lost */
        document(AND(PACKED, record(2, "delete", "k", 7, "")), ""),
        document(record(1, "pack", "k", 1111, ""), ""),
        document(record(1, "release", "k", 2, ""), ""), /* the entry stayed elsewhere */
        document(AND(PACKED, record(2, "merge", "k", 2, ",\"entry\":99")), ""),
        document("", ""),
        NULL};

    for (size_t i = 0; good[i]; i++) {
        bag *b = bag_open(t, &full);
        test_context("%s", good[i]);
        CHECK_OK(load(b, good[i]));
    }
}

static const char *long_text(size_t len)
{
    char *text = test_alloc(len + 1);

    memset(text, 'x', len);
    return text;
}

static const char *many_tags(void)
{
    const char *text = "\"t10\"";

    for (int i = 11; i < 75; i++)
        text = test_format("%s,\"t%d\"", text, i);
    return text;
}

#define MERGES(list) ",\"merges\":[" list "]"
#define MERGE(seq, digit, upto)                                                                    \
    "{\"seq\":" seq ",\"theirs\":\"00000000-0000-0000-0000-00000000000" digit "\",\"upto\":" upto  \
    "}"

TEST(document, commits_that_do_not)
{
    const bad list[] = {
        {document(record(1, "delete", "k", 0, ""), ""), VALISE_E_INVALID, "history[0]"},
        {document(PACKED, MERGES(MERGE("2", "1", "1"))), VALISE_E_INVALID, "merges[0]"},
        {document(PACKED, MERGES(MERGE("-1", "1", "1"))), VALISE_E_INVALID, "merges[0]"},
        {document(PACKED, MERGES(MERGE("1", "0", "1"))), VALISE_E_INVALID, "merges[0].theirs"},
        {document(PACKED, MERGES(MERGE("1", "1", "-1"))), VALISE_E_INVALID, "merges[0].upto"},
        {document(PACKED, MERGES(MERGE("1", "1", "1") "," MERGE("0", "1", "1"))), VALISE_E_INVALID,
         "merges[1]"},
        {document(PACKED, MERGES(MERGE("1", "1", "1") "," MERGE("1", "1", "2"))), VALISE_E_INVALID,
         "merges[1]"},
        {document(AND(PACKED, record(2, "release", "k", 2, ",\"entry\":1")), ""), VALISE_E_INVALID,
         "history[1]"},
        {document(AND(PACKED, record(2, "pack", "k", 2, ",\"previous\":2")), ""), VALISE_E_INVALID,
         "history[1]"},
        {document(AND(JAILED, record(3, "pack", "k", 2, ",\"previous\":1")), ""), VALISE_E_INVALID,
         "history[2]"},
        {document(AND(PACKED, record(2, "pack", "k", 2, ",\"previousValueId\":" ID_1)), ""),
         VALISE_E_INVALID, "history[1]"},
        {document(AND(PACKED, record(2, "pack", "k", 2, ",\"entry\":1")), ""), VALISE_E_INVALID,
         "history[1]"},
        {document(AND(PACKED, record(2, "pack", "k", 1, "")), ""), VALISE_E_INVALID, "history[1]"},
        {document(AND(PACKED, record(2, "delete", "k", 0, "")), ""), VALISE_E_INVALID,
         "history[1]"},
        {document(AND(PACKED, record(3, "pack", "k", 2, "")), ""), VALISE_E_INVALID, "history[1]"},
        {document(record(1, "pack", "k", 0, ""), ""), VALISE_E_INVALID, "history[0]"},
        {document(record(1, "import", "k", 0, ""), ""), VALISE_E_INVALID, "history[0]"},
        {document(record(1, "pack", "k", 1, ",\"reason\":\"r\""), ""), VALISE_E_INVALID,
         "history[0]"},
        {document(record(1, "pack", "k", 1, ",\"valueSize\":1"), ""), VALISE_E_INVALID,
         "history[0]"},
        {document(record(1, "pack", "k", 1, ",\"valueId\":" ID_1), ""), VALISE_E_INVALID,
         "history[0]"},
        {document(AND(PACKED, record(2, "delete", "k", 1, ",\"valueId\":" ID_1)), ""),
         VALISE_E_INVALID, "history[1]"},
        {document(record(1, "pack", "k", 1, ",\"run\":1"), ""), VALISE_E_INVALID, "history[0]"},
        {document(record(1, "pack", "k\\n", 1, ""), ""), VALISE_E_INVALID, "history[0]"},
        {document(record(1, "pack", "k", 1, ",\"sourceNamespace\":\"*\""), ""), VALISE_E_INVALID,
         "history[0]"},
        {document(record(1, "pack", "k", 1, test_format(",\"tags\":[%s]", many_tags())), ""),
         VALISE_E_LIMIT, "history[0].tags"},
        {document(record(1, "pack", "k", 1, ",\"declassified\":[\"b\",\"a\"]"), ""),
         VALISE_E_INVALID, "history[0].declassified"},
        {document(
             record(1, "quarantine", "k", 0, test_format(",\"reason\":\"%s\"", long_text(5000))),
             ""),
         VALISE_E_LIMIT, "history[0]"},
        {document(FREED, ""), VALISE_E_INVALID, ""},
        {document(FREED, ",\"quarantine\":[" ENTRY(2, 1, 0) "]"), VALISE_E_INVALID, ""},
        {document(FREED, ",\"quarantine\":[" ENTRY(2, 1, 1) "]"), VALISE_E_INVALID,
         "quarantine[0]"},
        {document(FREED, ",\"quarantine\":[" ENTRY(2, 3, 3) "]"), VALISE_E_INVALID,
         "quarantine[0]"},
        {document(FREED, ",\"quarantine\":[" ENTRY(1, 0, 3) "]"), VALISE_E_INVALID,
         "quarantine[0]"},
        {document(FREED, ",\"quarantine\":[" ENTRY(2, 1, 3) "," ENTRY(2, 1, 3) "]"),
         VALISE_E_INVALID, "quarantine[1]"},
        {document(PACKED, ",\"checkpoints\":[{\"name\":\"c\",\"seq\":2}]"), VALISE_E_INVALID,
         "checkpoints[0]"},
        {document(PACKED, ",\"runs\":[{\"number\":1,\"nodeId\":\"\"}]"), VALISE_E_INVALID,
         "runs[0]"},
        {document(PACKED, ",\"runs\":[{\"number\":1,\"nodeId\":\"n\",\"start\":1,\"end\":2}]"),
         VALISE_E_INVALID, "runs[0]"},
        {document(PACKED, ",\"rules\":[{\"tag\":\"t\",\"read\":[\"\"]}]"), VALISE_E_INVALID,
         "rules[0]"},
        {document(PACKED, ",\"rules\":[{\"tag\":\"t\",\"write\":[\"\"]}]"), VALISE_E_INVALID,
         "rules[0]"},
        {document(PACKED, ",\"rules\":[{\"tag\":\"t\"},{\"tag\":\"t\"}]"), VALISE_E_INVALID,
         "rules[1]"},
        {document(PACKED, ",\"permissions\":[{\"nodeId\":\"n\"},{\"nodeId\":\"n\"}]"),
         VALISE_E_INVALID, "permissions[1]"},
        {NULL, 0, NULL},
    };

    check_refused(t, list);
}

/* A fork that has dropped some of its own history. */
TEST(document, of_a_fork_with_an_edge)
{
    bag *b = bag_open(t, NULL), *f, *c;
    vls_ledger state;

    b->now = 5000;
    CHECK_OK(put_as(b, "n", "a", "1"));
    b->now = 5000;
    CHECK_OK(put_as(b, "n", "b", "1"));
    state = at(t, b, "now");
    f = bag_fork(t, b, &state);
    CHECK_OK(put(f, f->owner, "c", "1"));
    CHECK_OK(vls_bag_checkpoint(NULL, &f->ledger, VLS_STR("old"), VLS_STR("me"), 6, &t->err));
    CHECK_OK(jail(f, f->owner, "c", "x"));
    CHECK_OK(put(f, f->owner, "d", "1"));
    CHECK_OK(put(f, f->owner, "a", "2"));
    bag_forget(f, 3);
    c = bag_open(t, NULL);
    CHECK_OK(load(c, exported(f, &f->ledger, f->owner, -1)));
    CHECK_TEXT("a=2 b=1 d=1", items(c, &c->ledger, c->owner, NULL));
    CHECK_TEXT("4:c=1(x)", jailed(c, &c->ledger, c->owner));
    state = at(t, c, "5");
    CHECK_TEXT("a=1 b=1 d=1", items(c, &state, c->owner, NULL));
    CHECK_INT(VALISE_E_NOT_FOUND, point(c, &c->ledger, "old"));
}
