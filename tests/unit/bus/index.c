/* index.c -- memory indexes: loaded, patched, moved through time, compared. [K16] [K11] [K28] */
#include "kit/feed.h"

#include "json/patch.h"

TEST_PARAMS(index, "memory", "sqlite")

static const char *kinds(garden *g, const char *at)
{
    test *t = g->t;
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *text;

    call.at = valise_str_of(at);
    CHECK_OK(valise_dispatch(&reply, g->v, "index:query", "{\"name\":\"kinds\"}", &call, &t->err));
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

static vls_index *index_named(garden *g, const char *name)
{
    test *t = g->t;
    vls_index *index;

    CHECK_OK(vls_indexes_find(&index, &g->feed->indexes, valise_str_of(name), &t->err));
    return index;
}

#define ROSE3 "{\"key\":\"flower/rose\",\"value\":{\"size\":3}}"
#define OAK9 "{\"key\":\"tree/oak\",\"value\":{\"size\":9}}"

/* [K16] built from the store, patched by each command; can be queried by name */
TEST(index, follows_each_command)
{
    garden *g = garden_open(t, NULL);

    garden_put(g, "rose", "flower", 3);
    CHECK_TEXT("{\"items\":[" ROSE3 "]}", kinds(g, ""));
    garden_put(g, "oak", "tree", 9);
    CHECK_INT(2, index_named(g, "kinds")->seq); /* by the leader, not by a reader */
    CHECK_TEXT("{\"items\":[" ROSE3 "," OAK9 "]}", kinds(g, ""));
    garden_put(g, "rose", "herb", 4);
    CHECK_TEXT("{\"items\":[{\"key\":\"herb/rose\",\"value\":{\"size\":4}}," OAK9 "]}",
               kinds(g, ""));
    garden_run(g, "plant:drop", "{\"name\":\"rose\"}");
    CHECK_TEXT("{\"items\":[" OAK9 "]}", kinds(g, ""));
    garden_put(g, "oak", "tree", -1); /* which makes no entry */
    CHECK_TEXT("{\"items\":[]}", kinds(g, ""));
}

TEST(index, is_loaded_when_it_is_used_first)
{
    garden *g = garden_open(t, NULL);
    uint64_t maps = atomic_load(&garden_maps);

    garden_put(g, "rose", "flower", 3);
    CHECK_INT(maps, atomic_load(&garden_maps));
    CHECK(strstr(garden_ask(g, "index:list", "{}"), "\"loaded\":false,\"name\":\"kinds\""));
    CHECK_TEXT("{\"items\":[" ROSE3 "]}", kinds(g, ""));
    CHECK_INT(maps + 1, atomic_load(&garden_maps));
    CHECK(strstr(garden_ask(g, "index:list", "{}"),
                 "{\"entries\":1,\"help\":\"By kind.\",\"loaded\":true,\"name\":\"kinds\","
                 "\"seq\":1}"));
}

TEST(index, queries_by_prefix_and_page)
{
    garden *g = garden_open(t, NULL);

    garden_run(g, "plant:many", "{\"names\":[\"a\",\"b\",\"c\"],\"kind\":\"k\"}");
    garden_run(g, "plant:many", "{\"names\":[\"d\"],\"kind\":\"kk\"}");
    CHECK(strstr(garden_ask(g, "index:query", "{\"name\":\"kinds\",\"prefix\":\"kk\"}"),
                 "[{\"key\":\"kk/d\""));
    CHECK_TEXT("{\"items\":[{\"key\":\"k/a\",\"value\":{\"size\":0}},{\"key\":\"k/b\",\"value\":{"
               "\"size\":0}}]}",
               garden_ask(g, "index:query", "{\"name\":\"kinds\",\"prefix\":\"k/\",\"limit\":2}"));
    CHECK_TEXT(
        "{\"items\":[{\"key\":\"k/c\",\"value\":{\"size\":0}}]}",
        garden_ask(g, "index:query", "{\"name\":\"kinds\",\"prefix\":\"k/\",\"after\":\"k/b\"}"));
    CHECK_TEXT(
        "{\"items\":[{\"key\":\"kk/d\",\"value\":{\"size\":0}}]}",
        garden_ask(g, "index:query", "{\"name\":\"kinds\",\"prefix\":\"kk\",\"after\":\"a\"}"));
    CHECK_TEXT(
        "{\"items\":[]}",
        garden_ask(g, "index:query", "{\"name\":\"kinds\",\"prefix\":\"k/\",\"after\":\"kk\"}"));
    CHECK_RC(VALISE_E_NOT_FOUND,
             valise_dispatch(NULL, g->v, "index:query", "{\"name\":\"x\"}", NULL, &t->err));
    CHECK(strstr(t->err.hint, "index list"));
}

/* One row may make several entries, and several collections one index. */
TEST(index, of_two_collections)
{
    garden *g = garden_open(t, NULL);

    garden_put(g, "oak", "tree", 9);
    garden_run(g, "plant:log", "{\"name\":\"oak\"}");
    CHECK_TEXT("{\"items\":[{\"key\":\"size/00000009/oak\",\"value\":{\"size\":9}}]}",
               garden_ask(g, "index:query", "{\"name\":\"sizes\",\"prefix\":\"size/\"}"));
    garden_run(g, "plant:log", "{\"name\":\"oak\"}");
    garden_put(g, "oak", "tree", 10);
    CHECK_TEXT("{\"items\":[{\"key\":\"size/00000010/oak\",\"value\":{\"size\":10}}]}",
               garden_ask(g, "index:query", "{\"name\":\"sizes\",\"prefix\":\"size/\"}"));
    CHECK_INT(4, index_named(g, "sizes")->map.len);
}

/* ---- through time ---- */

TEST(index, as_of_an_earlier_state)
{
    garden *g = garden_open(t, NULL);

    garden_put(g, "rose", "flower", 3);
    garden_put(g, "oak", "tree", 9);
    garden_put(g, "rose", "flower", 5);
    garden_put(g, "rose", "herb", 7);
    garden_run(g, "plant:drop", "{\"name\":\"oak\"}");
    for (int round = 0; round < 2; round++) {
        CHECK_TEXT("{\"items\":[]}", kinds(g, "0"));
        CHECK_TEXT("{\"items\":[" ROSE3 "]}", kinds(g, "1"));
        CHECK_TEXT("{\"items\":[" ROSE3 "," OAK9 "]}", kinds(g, "2"));
        CHECK_TEXT("{\"items\":[{\"key\":\"herb/rose\",\"value\":{\"size\":7}}]}", kinds(g, "5"));
        CHECK_TEXT("{\"items\":[{\"key\":\"herb/rose\",\"value\":{\"size\":7}}]}", kinds(g, ""));
    }
}

static int count_entry(void *arg, const vls_index_entry *entry, valise_error *err)
{
    (void)entry, (void)err;
    ++*(int *)arg;
    return 0;
}

static int count_entries(garden *g, valise_view *view)
{
    test *t = g->t;
    VLS_AUTO(pmap) vls_pmap map = {0};
    int count = 0;

    CHECK_OK(vls_index_read(&map, index_named(g, "kinds"), view, &t->err));
    CHECK_OK(vls_index_each(&map, &(vls_index_range){0}, count_entry, &count, &t->err));
    return count;
}

/* A reader that is slow sees the state it began with, also in an index that went on. */
static int read_slowly(void *arg, valise_view *view, valise_error *err)
{
    garden *g = arg;

    (void)err;
    CHECK_INT(1, count_entries(g, view));
    garden_put(g, "oak", "tree", 9);
    garden_run(g, "plant:drop", "{\"name\":\"rose\"}");
    garden_put(g, "elm", "tree", 9);
    CHECK_INT(4, index_named(g, "kinds")->seq);
    CHECK_INT(1, count_entries(g, view));
    return 0;
}

TEST(index, is_what_the_view_sees)
{
    garden *g = garden_open(t, NULL);

    garden_put(g, "rose", "flower", 3);
    CHECK_OK(vls_with_view(g->v, NULL, read_slowly, g, &t->err));
}

/* ---- others ---- */

/* [K11] indexes catch up from the log tail, not by a rebuild */
TEST(index, catches_up_with_other_handles)
{
    garden *a = garden_open(t, &(garden_options){.backend = "sqlite"});
    garden *b = garden_open(t, &(garden_options){.backend = "sqlite"});
    uint64_t maps;

    for (int i = 0; i < 50; i++)
        garden_put(a, test_format("p%d", i), "k", i);
    kinds(a, "");
    for (int i = 0; i < 20; i++) /* several changes of one key */
        garden_put(b, "p7", i % 2 ? "k" : "l", 100 + i);
    garden_run(b, "plant:drop", "{\"name\":\"p8\"}");
    garden_put(b, "new", "n", 1);
    garden_put(b, "gone", "n", 1);
    garden_run(b, "plant:drop", "{\"name\":\"gone\"}");
    maps = atomic_load(&garden_maps);
    CHECK(strstr(kinds(a, ""), "{\"key\":\"k/p7\",\"value\":{\"size\":119}}"));
    CHECK_INT(maps + 4, atomic_load(&garden_maps)); /* p7 and p8 go, p7 and new come */
    CHECK_TEXT(kinds(b, ""), kinds(a, ""));
    garden_put(a, "own", "n", 1); /* and goes on with what it writes itself */
    CHECK_INT(garden_seq(a), index_named(a, "kinds")->seq);
}

/* What this handle writes is not put on top of an index that misses what another wrote before. */
TEST(index, has_no_gaps)
{
    garden *a = garden_open(t, &(garden_options){.backend = "sqlite"});
    garden *b = garden_open(t, &(garden_options){.backend = "sqlite"});

    garden_put(a, "rose", "k", 1);
    kinds(a, "");
    garden_put(b, "rose", "l", 2);
    garden_put(a, "oak", "k", 3);
    CHECK_INT(1, index_named(a, "kinds")->seq);
    CHECK_TEXT(kinds(b, ""), kinds(a, ""));
    CHECK_INT(3, index_named(a, "kinds")->seq);
}

static int expire(void *arg, vls_txn *txn, valise_error *err)
{
    int64_t base = *(int64_t *)arg;
    int rc = vls_meta_put_int(txn, "base_seq", base, err);

    for (int64_t seq = 1; rc >= 0 && seq <= base; seq++)
        rc = vls_log_delete(txn, seq, err);
    return rc < 0 ? rc : 0;
}

/* Where the log does not tell how a row was, the store is asked. */
TEST(index, is_loaded_anew_where_the_log_cannot_tell)
{
    garden *a = garden_open(t, &(garden_options){.backend = "sqlite"});
    garden *b = garden_open(t, &(garden_options){.backend = "sqlite"});
    int64_t seq;

    garden_put(a, "rose", "flower", 3);
    kinds(a, "");
    seq = garden_put(b, "rose", "herb", 4);
    CHECK_OK(vls_with_txn(b->v, expire, &seq, &t->err));
    garden_put(b, "oak", "tree", 9);
    CHECK_TEXT("{\"items\":[{\"key\":\"herb/rose\",\"value\":{\"size\":4}}," OAK9 "]}",
               kinds(a, ""));
}

#define PLAIN "{\"items\":[{\"key\":\"k/rose\",\"value\":{\"size\":0}}]}"

static void label_and_erase(garden *g)
{
    garden_run(g, "plant:put", "{\"name\":\"rose\",\"kind\":\"k\",\"label\":\"secret\"}");
    garden_run(g, "workspace:erase", "{\"place\":\"plant.item/rose\"}");
}

/* An erasure rewrites what the log says about rows: nobody keeps an entry with what was erased. */
TEST(index, forgets_what_was_erased)
{
    garden *a = garden_open(t, &(garden_options){.backend = "sqlite"});
    garden *b = garden_open(t, &(garden_options){.backend = "sqlite"});

    garden_run(a, "plant:put", "{\"name\":\"rose\",\"kind\":\"k\",\"label\":\"secret\"}");
    CHECK(strstr(kinds(a, ""), "k/rose/secret"));
    CHECK(strstr(kinds(b, ""), "k/rose/secret"));
    garden_run(b, "workspace:erase", "{\"place\":\"plant.item/rose\"}");
    CHECK_TEXT(PLAIN, kinds(b, ""));  /* by the leader */
    CHECK_TEXT(PLAIN, kinds(a, ""));  /* from the log */
    CHECK_TEXT(PLAIN, kinds(a, "1")); /* backwards */
    label_and_erase(b);
    CHECK_TEXT(PLAIN, kinds(a, ""));
}

/* ---- indexers that fail ---- */

TEST(index, names_the_indexer_that_fails)
{
    garden *g = garden_open(t, NULL);

    garden_put(g, "rose", "flower", 3);
    kinds(g, "");
    garden_put(g, "bad", "unmapped", 1);
    CHECK_RC(VALISE_E_INVALID,
             valise_dispatch(NULL, g->v, "index:query", "{\"name\":\"kinds\"}", NULL, &t->err));
    CHECK_TEXT("index kinds", t->err.path);
    garden_ask(g, "index:query", "{\"name\":\"sizes\"}");
    garden_run(g, "plant:drop", "{\"name\":\"bad\"}");
    CHECK_TEXT("{\"items\":[" ROSE3 "]}", kinds(g, ""));
    garden_put(g, "bad", "twice", 1);
    CHECK_RC(VALISE_E_EXISTS,
             valise_dispatch(NULL, g->v, "index:query", "{\"name\":\"kinds\"}", NULL, &t->err));
}

static int accept(valise_index_out *out, valise_str key, valise_str json, valise_error *err)
{
    (void)out, (void)key, (void)json, (void)err;
    return 0;
}

TEST(index, refuses_entries_that_are_none)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_index_out out = {.take = accept, .arena = &arena, .env = t->env};
    static char large[5000];

    vls_arena_init(&arena, t->env, 1u << 20);
    memset(large, 'x', sizeof(large) - 1);
    CHECK_RC(VALISE_E_INVALID, valise_index_add(&out, VLS_STR(""), VLS_STR("1"), &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_index_add(&out, VLS_STR("a\0b"), VLS_STR("1"), &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_index_add(&out, VLS_STR("\xc3"), VLS_STR("1"), &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_index_add(&out, valise_str_of(large), VLS_STR("1"), &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_index_add(&out, VLS_STR("a"), VLS_STR("{"), &t->err));
    CHECK_OK(valise_index_add(&out, VLS_STR("a"), VLS_STR("{}"), &t->err));
}

TEST(index, refuses_sources_that_no_entry_lists)
{
    garden *g = garden_open(t, NULL);
    static const valise_index_source sources[] = {{&plant_quiet, NULL}, {NULL, NULL}};
    static const valise_indexer quiet = {sizeof(quiet), "quiet", "", sources};
    static const valise_indexer *const list[] = {&quiet, NULL};
    static valise_index_source many[70];
    static const valise_indexer large = {sizeof(large), "large", "", many};
    static const valise_indexer *const lists[] = {&large, NULL};
    vls_indexes indexes;

    CHECK_RC(VALISE_E_INVALID, vls_indexes_open(&indexes, g->store, list, &t->err));
    CHECK(strstr(t->err.message, "plant.quiet"));
    for (size_t i = 0; i < 69; i++)
        many[i].coll = &plant_item;
    CHECK_RC(VALISE_E_LIMIT, vls_indexes_open(&indexes, g->store, lists, &t->err));
}

/* ---- copies elsewhere ---- */

typedef struct copy {
    vls_arena arena;
    vls_json document;
    int64_t seq;
    int count, result;
} copy;

static int apply(void *arg, int64_t seq, valise_str text, valise_error *err)
{
    copy *c = arg;
    vls_json patch;
    valise_str kept;

    CHECK(c->count == 0 || seq > c->seq);
    c->seq = seq;
    c->count++;
    CHECK_INT(0, vls_arena_dup(&kept, &c->arena, text, err));
    CHECK_INT(0, vls_json_parse(&patch, &c->arena, kept, NULL, err));
    CHECK_INT(0, vls_json_patch(&c->document, &c->arena, c->document, patch, NULL, err));
    return c->result;
}

static const char *copy_text(test *t, const copy *c)
{
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, t->env, 1u << 20);
    CHECK_OK(vls_json_write(&text, c->document, &t->err));
    return test_format("%s", vls_buf_cstr(&text));
}

/* [K16] A host can subscribe to index patches (JSON Patch with seq) and keep its own copy. */
TEST(index, patches_keep_a_copy)
{
    garden *g = garden_open(t, NULL);
    copy c = {.document = {.type = VLS_JSON_NULL}};
    valise_subscription *s = NULL;

    vls_arena_init(&c.arena, t->env, 1u << 24);
    garden_put(g, "a/b~c", "k", 1);
    CHECK_OK(valise_index_subscribe(&s, g->v, "kinds", apply, &c, &t->err));
    CHECK_INT(1, c.seq);
    CHECK_TEXT("{\"k/a/b~c\":{\"size\":1}}", copy_text(t, &c));
    garden_put(g, "a/b~c", "k", 2);
    CHECK_INT(2, c.seq);
    CHECK_TEXT("{\"k/a/b~c\":{\"size\":2}}", copy_text(t, &c));
    garden_run(g, "plant:many", "{\"names\":[\"x\",\"y\",\"a/b~c\"],\"kind\":\"m\"}");
    CHECK_TEXT("{\"m/a/b~c\":{\"size\":0},\"m/x\":{\"size\":0},\"m/y\":{\"size\":0}}",
               copy_text(t, &c));
    garden_run(g, "plant:drop", "{\"name\":\"x\"}");
    garden_run(g, "plant:log", "{\"name\":\"x\"}"); /* changes nothing of it */
    CHECK_INT(4, c.seq);
    CHECK_INT(4, c.count);
    CHECK_TEXT("{\"m/a/b~c\":{\"size\":0},\"m/y\":{\"size\":0}}", copy_text(t, &c));
    valise_unsubscribe(s);
    garden_put(g, "z", "k", 2);
    CHECK_INT(4, c.count);
    CHECK_RC(VALISE_E_NOT_FOUND, valise_index_subscribe(&s, g->v, "no", apply, &c, &t->err));
    vls_arena_release(&c.arena);
}

TEST(index, patches_of_what_others_wrote)
{
    garden *a = garden_open(t, &(garden_options){.backend = "sqlite"});
    garden *b = garden_open(t, &(garden_options){.backend = "sqlite"});
    copy c = {.result = VALISE_E_IO};
    valise_subscription *s = NULL;
    uint64_t failed;

    vls_arena_init(&c.arena, t->env, 1u << 24);
    CHECK_OK(valise_index_subscribe(&s, a->v, "sizes", apply, &c, &t->err));
    garden_put(b, "p", "k", 1);
    garden_put(b, "p", "k", 2);
    garden_run(b, "plant:drop", "{\"name\":\"p\"}");
    garden_put(b, "q", "k", 3);
    CHECK_RC(1, valise_poll(a->v, 0, &t->err));
    CHECK_INT(5, c.count); /* one for each commit */
    CHECK_TEXT("{\"name/q\":{\"size\":3},\"size/00000003/q\":{\"size\":3}}", copy_text(t, &c));
    valise_subscription_losses(NULL, &failed, s);
    CHECK_INT(5, failed);
    valise_unsubscribe(s);
    vls_arena_release(&c.arena);
}

TEST(index, patches_forget_what_was_erased)
{
    garden *a = garden_open(t, &(garden_options){.backend = "sqlite"});
    garden *b = garden_open(t, &(garden_options){.backend = "sqlite"});
    copy c = {0};
    valise_subscription *s = NULL;

    vls_arena_init(&c.arena, t->env, 1u << 24);
    garden_run(a, "plant:put", "{\"name\":\"rose\",\"kind\":\"k\",\"label\":\"secret\"}");
    CHECK_OK(valise_index_subscribe(&s, a->v, "kinds", apply, &c, &t->err));
    CHECK_TEXT("{\"k/rose/secret\":{\"size\":0}}", copy_text(t, &c));
    garden_run(a, "workspace:erase", "{\"place\":\"plant.item/rose\"}");
    CHECK_TEXT("{\"k/rose\":{\"size\":0}}", copy_text(t, &c));
    label_and_erase(b);
    CHECK_RC(1, valise_poll(a->v, 0, &t->err));
    CHECK_TEXT("{\"k/rose\":{\"size\":0}}", copy_text(t, &c));
    CHECK_INT(garden_seq(a), c.seq);
    garden_put(a, "oak", "k", 1);
    CHECK_TEXT("{\"k/oak\":{\"size\":1},\"k/rose\":{\"size\":0}}", copy_text(t, &c));
    valise_unsubscribe(s);
    vls_arena_release(&c.arena);
}

TEST(index, patches_only_for_who_may_read)
{
    garden *g = garden_open(t, &(garden_options){.actor = "nobody"});
    valise_subscription *s = NULL;

    CHECK_RC(VALISE_E_DENIED, valise_index_subscribe(&s, g->v, "kinds", apply, NULL, &t->err));
    CHECK(s == NULL);
}

/* [K23] Who may read indexes still may not read what is in rows of others. */
TEST(index, entries_only_for_who_may_read_the_rows)
{
    garden *g = garden_open(t, NULL), blind;
    valise_call call = VALISE_CALL_INIT;
    valise_subscription *s = NULL;

    garden_put(g, "secret", "k", 1);
    CHECK_OK(valise_dispatch(NULL, g->v, "index:query", "{\"name\":\"kinds\"}", &call, &t->err));
    call.actor = VLS_STR("blind");
    CHECK_RC(VALISE_E_DENIED,
             valise_dispatch(NULL, g->v, "index:query", "{\"name\":\"kinds\"}", &call, &t->err));
    CHECK_OK(valise_dispatch(NULL, g->v, "index:list", NULL, &call, &t->err));
    CHECK_OK(garden_try_open(
        &blind, &(garden_options){.env = t->env, .store = g->store, .actor = "blind"}, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_index_subscribe(&s, blind.v, "kinds", apply, NULL, &t->err));
    garden_close(&blind);
}

/* ---- sync ---- */

static int take_finding(void *arg, const vls_finding *finding, valise_error *err)
{
    (void)err;
    CHECK_TEXT("index kinds", finding->place);
    CHECK_MSG(strstr(finding->problem, "plant.item weed"), "%s", finding->problem);
    CHECK(finding->remedy[0]);
    ++*(int *)arg;
    return 0;
}

/* [K16 K22] Which row it is; and the other indexes are looked at. */
TEST(index, a_row_that_an_indexer_refuses_is_named)
{
    garden *g = garden_open(t, NULL);
    const char *text;
    int64_t problems = 0;
    int found = 0;

    garden_put(g, "weed", "unmapped", 1);
    CHECK_RC(VALISE_E_INVALID, valise_dispatch(NULL, g->v, "workspace:sync", "{}", NULL, &t->err));
    CHECK_MSG(strstr(t->err.message, "plant.item weed: this kind has no entry"), "%s",
              t->err.message);
    CHECK_OK(vls_index_verify(g->v, take_finding, &found, &problems, &t->err));
    CHECK_INT(1, found);
    CHECK_INT(1, problems);
    text = garden_ask(g, "index:query", "{\"name\":\"sizes\"}");
    CHECK(strstr(text, "name/weed"));
}

/* [K16] workspace:sync rebuilds all of them in parallel and reports any difference */
TEST(index, sync_finds_differences)
{
    garden *g = garden_open(t, NULL);
    vls_index *index = index_named(g, "kinds");
    const char *report;

    garden_put(g, "rose", "flower", 3);
    garden_put(g, "oak", "tree", 9);
    report = garden_ask(g, "workspace:sync", "{}");
    CHECK(strstr(report, "{\"differences\":0,\"duplicates\":0,\"entries\":2,\"example\":\"\","
                         "\"name\":\"kinds\",\"seq\":2}"));
    CHECK(strstr(report, "\"entries\":4,\"example\":\"\",\"name\":\"sizes\""));
    CHECK(index->loaded);
    garden_put(g, "elm", "tree", 9);
    CHECK_INT(3, index->seq);
    CHECK(strstr(garden_ask(g, "workspace:sync", "{}"), "{\"differences\":0"));
    /* Break it. */
    CHECK_OK(vls_pmap_remove(NULL, &index->map,
                             vls_str("flower/rose\0\0\0\4rose\0\0", sizeof("flower/rose") + 9)));
    CHECK_TEXT("{\"items\":[{\"key\":\"tree/elm\",\"value\":{\"size\":9}}," OAK9 "]}",
               kinds(g, ""));
    CHECK_RC(VALISE_E_CORRUPT,
             valise_dispatch(NULL, g->v, "workspace:validate", "{}", NULL, &t->err));
    CHECK(strstr(garden_ask(g, "workspace:sync", "{}"),
                 "{\"differences\":1,\"duplicates\":0,\"entries\":3,\"example\":\"flower/rose\""));
    CHECK(strstr(kinds(g, ""), ROSE3));
    CHECK(strstr(garden_ask(g, "workspace:sync", "{}"), "{\"differences\":0"));
}

/* Entries with the same key from two rows are reported, and do not disturb each other. */
TEST(index, sync_reports_keys_that_are_not_unique)
{
    garden *g = garden_open(t, NULL);

    garden_run(g, "plant:many", "{\"names\":[\"a\",\"b\",\"c\"],\"kind\":\"k\"}");
    CHECK_TEXT("{\"items\":[{\"key\":\"k\",\"value\":1}]}",
               garden_ask(g, "index:query", "{\"name\":\"clash\"}"));
    CHECK(strstr(garden_ask(g, "workspace:sync", "{}"),
                 "{\"differences\":0,\"duplicates\":2,\"entries\":3,\"example\":\"k\",\"name\":"
                 "\"clash\""));
    CHECK_RC(VALISE_E_CORRUPT,
             valise_dispatch(NULL, g->v, "workspace:validate", "{}", NULL, &t->err));
    garden_run(g, "plant:drop", "{\"name\":\"a\"}");
    garden_run(g, "plant:drop", "{\"name\":\"b\"}");
    CHECK_TEXT("{\"items\":[{\"key\":\"k\",\"value\":1}]}",
               garden_ask(g, "index:query", "{\"name\":\"clash\"}"));
    CHECK(strstr(garden_ask(g, "workspace:sync", "{}"),
                 "{\"differences\":0,\"duplicates\":0,\"entries\":1,\"example\":\"\",\"name\":"
                 "\"clash\""));
    garden_ask(g, "workspace:validate", "{}");
}

static int stop(void *arg, const valise_progress_state *state)
{
    ++*(int *)arg;
    CHECK_TEXT("build indexes", state->stage);
    return 1;
}

/* [K28] reports progress and can be cancelled, which leaves everything consistent */
TEST(index, sync_can_be_cancelled)
{
    garden *g = garden_open(t, NULL);
    valise_call call = VALISE_CALL_INIT;
    int calls = 0;
    int rc;

    for (int i = 0; i < 300; i++)
        garden_put(g, test_format("p%d", i), "k", i);
    call.progress = (valise_progress){stop, &calls};
    rc = valise_dispatch(NULL, g->v, "workspace:sync", "{}", &call, &t->err);
    CHECK(rc == VALISE_E_CANCELLED || rc == 0); /* it may be done before anybody looks */
    CHECK(calls > 0);
    CHECK(strstr(garden_ask(g, "workspace:sync", "{}"), "{\"differences\":0"));
}

static int tick_no(void *arg, uint64_t rows, valise_error *err)
{
    (void)arg, (void)rows;
    return vls_fail(err, VALISE_E_CANCELLED, "no");
}

TEST(index, a_cancelled_check_swaps_nothing)
{
    garden *g = garden_open(t, NULL);
    atomic_bool stopped = true;
    vls_index_report report;
    const vls_index_sync how = {.swap = true, .tick = tick_no};

    garden_put(g, "rose", "flower", 3);
    CHECK_RC(VALISE_E_CANCELLED,
             vls_index_check(&report, index_named(g, "kinds"), true, NULL, &stopped, &t->err));
    CHECK(!index_named(g, "kinds")->loaded);
    CHECK_RC(VALISE_E_CANCELLED, vls_indexes_check(&g->feed->indexes, &how, &t->err));
    garden_put(g, "bad", "unmapped", 3);
    CHECK_RC(VALISE_E_INVALID, valise_dispatch(NULL, g->v, "workspace:sync", "{}", NULL, &t->err));
}

TEST(index, without_any)
{
    garden *g = garden_open(t, &(garden_options){.absent = true});

    CHECK_TEXT("{\"items\":[]}", garden_ask(g, "index:list", "{}"));
    CHECK_TEXT("{\"items\":[]}", garden_ask(g, "workspace:sync", "{}"));
}
