/* backpack.c -- an ephemeral backpack through the public functions: what a pack, a read, a query, a
 * snapshot and a difference cost, what it takes in memory, and how each grows. [Q1] [Q2] [Q3] [Q4]
 * [Q5] [Q15]
 *
 * Histories keep 10,000 commits, so packs drop old ones as they go. Reads go through a node's view:
 * its permissions are checked, and an unpack is recorded. Guides that are no ratios are measured in
 * CPU time of the process. */
#include <malloc.h>
#include <time.h>

#include "bench/bench.h"

#include "backpack/handle.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "json/json.h"

#include <valise/backpack.h>
#include <valise/workspace.h>

#define SEED 42
#define TEN 10

typedef struct key {
    size_t len;
    char bytes[40];
} key;

typedef struct state {
    valise *v;
    valise_backpack *bag;
    valise_backpack *one, *ten; /* views whose node may read one pattern of namespaces, or ten */
    valise_backpack *from, *to; /* snapshots */
    key *keys;
    size_t count;
    uint64_t packs, chance;
    char *json; /* the value, whose digits at `digits` change with each pack */
    size_t json_len, json_cap, digits;
    valise_str pattern;
    size_t matched;
    vls_map table; /* of the baseline */
} state;

static void must(int rc)
{
    if (rc < 0)
        abort();
}

static uint64_t draw(state *s)
{
    s->chance ^= s->chance << 13;
    s->chance ^= s->chance >> 7;
    s->chance ^= s->chance << 17;
    return s->chance;
}

static valise_str str_of(const key *k)
{
    return (valise_str){k->bytes, k->len};
}

static key *next_key(state *s)
{
    return &s->keys[draw(s) % s->count];
}

/* A value that no pack had before. */
static valise_str next_value(state *s)
{
    uint64_t n = ++s->packs;

    for (size_t i = 16; i > 0; i--, n >>= 4)
        s->json[s->digits + i - 1] = "0123456789abcdef"[n & 15];
    return (valise_str){s->json, s->json_len};
}

/* Short values are one string, longer ones an object with a list of small records. */
static void make_value(state *s, size_t len)
{
    static const char record[] = "{\"id\":123456,\"name\":\"an item\",\"score\":0.25,\"ok\":true},";
    size_t at = 0;

    s->json_cap = len + 256;
    s->json = vls_mem_alloc(valise_env_default(), s->json_cap);
    if (!s->json)
        abort();
    if (len < 256) {
        memset(s->json, 'x', len);
        s->json[0] = s->json[len - 1] = '"';
        s->digits = 1;
        s->json_len = len;
        return;
    }
    at = (size_t)snprintf(s->json, 256, "{\"n\":\"");
    s->digits = at;
    at += 16;
    at += (size_t)snprintf(s->json + at, 64, "\",\"rows\":[");
    for (; at + sizeof(record) < len; at += sizeof(record) - 1)
        memcpy(s->json + at, record, sizeof(record));
    at += (size_t)snprintf(s->json + at - 1, 8, "]}") - 1;
    s->json_len = at;
}

static bool key_equal(const void *item, const void *name)
{
    const key *k = item;
    const valise_str *n = name;

    return k->len == n->len && memcmp(k->bytes, n->ptr, k->len) == 0;
}

/* ---- a backpack ---- */

static void open_view(valise_backpack **out, state *s, const char *id, size_t patterns)
{
    valise_str names[TEN];
    char text[TEN][16];
    valise_permissions may = {.namespace_read = {names, patterns}};
    valise_node node = {.size = sizeof(node),
                        .id = valise_str_of(id),
                        .name = valise_str_of("Reader"),
                        .permissions = patterns > 0 ? &may : NULL};

    for (size_t i = 0; i < patterns; i++)
        names[i] =
            (valise_str){text[i], (size_t)snprintf(text[i], sizeof(text[i]), "team%zu.*", i)};
    must(valise_backpack_node(out, s->bag, &node, NULL));
}

/* A backpack with so many keys, in as many namespaces of the form team5.chat3; 0: in none. */
static state *set_up(size_t count, size_t value_len, size_t spaces)
{
    const valise_env *env = valise_env_default();
    valise_options options = VALISE_OPTIONS_INIT;
    state *s = vls_mem_zalloc(env, sizeof(*s));

    if (!s || !(s->keys = vls_mem_alloc(env, count * sizeof(key))))
        abort();
    options.flags = VALISE_OPEN_NO_USER_CONFIG;
    must(valise_open(&s->v, ":memory:", &options, NULL));
    must(valise_backpack_open(&s->bag, s->v, "bench", NULL, NULL));
    s->count = count;
    s->chance = 88172645463325252u;
    make_value(s, value_len);
    vls_map_init(&s->table, env, key_equal);
    for (size_t i = 0; i < count; i++) {
        key *k = &s->keys[i];
        char name[32];
        valise_pack_options pack = VALISE_PACK_OPTIONS_INIT;
        valise_str str;
        k->len = (size_t)snprintf(k->bytes, sizeof(k->bytes), "run:1:step:item:%011zu", i);
        str = str_of(k);
        pack.node_id = valise_str_of("research-2");
        pack.node_name = valise_str_of("Research");
        if (spaces > 0)
            pack.namespace_name =
                (valise_str){name, (size_t)snprintf(name, sizeof(name), "team%zu.chat%zu",
                                                    i % spaces / 10, i % 10)};
        must(valise_pack_str(NULL, s->bag, str, next_value(s), &pack, NULL));
        must(vls_map_put(NULL, &s->table, vls_str_hash(str, SEED), &str, k));
    }
    return s;
}

static void tear_down(void *arg)
{
    const valise_env *env = valise_env_default();
    state *s = arg;

    valise_backpack_close(s->from);
    valise_backpack_close(s->to);
    valise_backpack_close(s->one);
    valise_backpack_close(s->ten);
    valise_backpack_close(s->bag);
    valise_close(s->v);
    vls_map_release(&s->table);
    vls_mem_free(env, s->json, s->json_cap);
    vls_mem_free(env, s->keys, s->count * sizeof(key));
    vls_mem_free(env, s, sizeof(*s));
}

/* ---- Q1: packing ---- */

static void pack(void *arg, size_t times)
{
    state *s = arg;
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;

    options.node_id = valise_str_of("research-2");
    options.node_name = valise_str_of("Research");
    while (times--)
        must(valise_pack_str(NULL, s->bag, str_of(next_key(s)), next_value(s), &options, NULL));
}

static void hash_and_insert(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        key *k = next_key(s);
        valise_str name = str_of(k), value = next_value(s);
        valise_id id;
        vls_hash_bytes(&id, value);
        bench_use(&id);
        must(vls_map_put(NULL, &s->table, vls_str_hash(name, SEED), &name, k));
        bench_use(&s->table);
    }
}

static void parse_and_hash(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        VLS_AUTO(arena) vls_arena arena = {0};
        valise_str value = next_value(s);
        vls_json json;
        valise_id id;
        vls_arena_init(&arena, valise_env_default(), SIZE_MAX);
        must(vls_json_parse(&json, &arena, value, NULL, NULL));
        bench_use(&json);
        vls_hash_bytes(&id, value);
        bench_use(&id);
    }
}

/* Keys in order: nothing is left to be done to make the text canonical. */
static void sort_value(state *s)
{
    static const char ok[] = "\"ok\":true,\"score\":0.25", as_made[] = "\"score\":0.25,\"ok\":true";
    size_t len = sizeof(ok) - 1;

    for (size_t at = 0; at + len <= s->json_len; at++) {
        if (memcmp(s->json + at, as_made, len) == 0)
            memcpy(s->json + at, ok, len);
    }
}

static void bench_pack(bench *b, size_t count, size_t len, bool sorted, const char *name,
                       double at_most)
{
    state *s = set_up(count, len, 0);
    bool is_short = len < 256;

    if (sorted)
        sort_value(s);
    pack(s, is_short ? 20000 : 2000); /* until old commits are dropped as new ones come */
    bench_compare(
        b, &(bench_row){.name = name,
                        .requires = "Q1",
                        .arg = s,
                        .ours = pack,
                        .against = is_short ? "SHA-256, hash table insert" : "parse, SHA-256",
                        .baseline = is_short ? hash_and_insert : parse_and_hash,
                        .cpu = true,
                        .at_most = at_most});
    tear_down(s);
}

/* ---- CPU time of one operation, the best of five rounds ---- */

static double cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double best_of(bench_fn *fn, state *s, size_t times)
{
    double best = 1e18;

    for (int round = 0; round < 5; round++) {
        double start = cpu_ns(), took;
        fn(s, times);
        took = (cpu_ns() - start) / (double)times;
        best = took < best ? took : best;
    }
    return best;
}

/* ---- Q2: reading ---- */

static void peek(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        valise_blob *value = NULL;
        must(valise_peek(&value, s->bag, next_key(s)->bytes, NULL));
        bench_use(value);
        valise_blob_unref(value);
    }
}

static void unpack_as(state *s, valise_backpack *view, size_t times)
{
    while (times--) {
        valise_blob *value = NULL;
        must(valise_unpack(&value, view, next_key(s)->bytes, NULL));
        bench_use(value);
        valise_blob_unref(value);
    }
}

static void unpack_one(void *arg, size_t times)
{
    state *s = arg;

    unpack_as(s, s->one, times);
}

static void unpack_ten(void *arg, size_t times)
{
    state *s = arg;

    unpack_as(s, s->ten, times);
}

static void bench_reads(bench *b)
{
    state *s = set_up(10000, 64, 100); /* team0.chat0 to team9.chat9 */

    open_view(&s->one, s, "reader", 1);
    open_view(&s->ten, s, "reader-of-ten", TEN);
    bench_fact(b, "peek, 10,000 keys", best_of(peek, s, 200000), "ns", 50);
    bench_fact(b, "unpack, checked and recorded, 10,000 keys", best_of(unpack_ten, s, 200000), "ns",
               150);
    s->count = 10; /* team0.chat0 to team0.chat9: what both views may read */
    bench_compare(b, &(bench_row){.name = "unpack, ten patterns of namespaces",
                                  .requires = "Q2",
                                  .arg = s,
                                  .ours = unpack_ten,
                                  .against = "one pattern",
                                  .baseline = unpack_one,
                                  .cpu = true,
                                  .at_most = 2});
    s->count = 10000;
    tear_down(s);
}

/* ---- Q3: namespaces ---- */

static int count_item(void *arg, const valise_item *item, valise_error *err)
{
    (void)err;
    bench_use(item);
    ++*(size_t *)arg;
    return 0;
}

static void query(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        s->matched = 0;
        must(valise_items_by_namespace(s->bag, s->pattern, count_item, &s->matched, NULL));
    }
}

static void bench_query(bench *b, state *s, const char *pattern, const char *name)
{
    double took;

    s->pattern = valise_str_of(pattern);
    query(s, 1);
    took = best_of(query, s, 1 + 100000 / (s->matched + 1));
    bench_fact(b, name, took / (double)s->matched, "ns a match", 100);
}

/* ---- SC-5: what a node does with its backpack ---- */

/* One execution: its view, ten reads, a query, five packs, and the end of the run. */
static void execute_node(void *arg, size_t times)
{
    state *s = arg;
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;

    options.namespace_name = valise_str_of("team0.chat0"); /* what it may read */
    while (times--) {
        open_view(&s->one, s, "node", 1);
        unpack_as(s, s->one, 10);
        s->matched = 0;
        must(valise_items_by_namespace(s->one, s->pattern, count_item, &s->matched, NULL));
        for (int i = 0; i < 5; i++)
            must(valise_pack_str(NULL, s->bag, str_of(next_key(s)), next_value(s), &options, NULL));
        valise_backpack_close(s->one);
        s->one = NULL;
    }
}

static void bench_node(bench *b)
{
    state *s = set_up(100, 64, 10);

    s->pattern = valise_str_of("team0.*");
    bench_fact(b, "a node: view, 10 reads, query, 5 packs", best_of(execute_node, s, 2000) / 1000,
               "us", 5000);
    tear_down(s);
}

/* ---- Q6: what a run of a node costs, whatever it does ---- */

/* A view with its first run, closed. */
static void view_node(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        open_view(&s->one, s, "node", 0);
        valise_backpack_close(s->one);
        s->one = NULL;
    }
}

/* One more run of a view that is kept, as flows keep theirs. */
static void run_node(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        must(vls_handle_begin_run(s->one, NULL));
        must(vls_handle_end_run(s->one, NULL));
    }
}

static void keep_view(state *s)
{
    const valise_node node = {.size = sizeof(node),
                              .id = valise_str_of("agent/search/chat"),
                              .name = valise_str_of("Chat"),
                              .namespace_name = valise_str_of("agent.search.chat")};

    must(vls_handle_node(&s->one, s->bag, &node, NULL));
}

/* As many keys, and as many runs. */
static void *grown_runs(size_t size)
{
    state *s = set_up(size, 64, 0);

    keep_view(s);
    run_node(s, size);
    return s;
}

static void bench_runs(bench *b)
{
    state *s = set_up(10000, 64, 10);

    bench_fact(b, "a view of a node, its run, closed", best_of(view_node, s, 20000), "ns", 4000);
    keep_view(s);
    run_node(s, 40000); /* until old runs go as new ones come */
    bench_fact(b, "a run of a kept view", best_of(run_node, s, 50000), "ns", 1500);
    tear_down(s);
}

/* ---- Q4: time travel ---- */

static void snapshot(void *arg, size_t times)
{
    state *s = arg;
    int64_t last = (int64_t)s->packs;

    while (times--) {
        valise_backpack *then = NULL;
        must(valise_snapshot_at_seq(&then, s->bag, last - (int64_t)(draw(s) % 7900), NULL));
        bench_use(then);
        valise_backpack_close(then);
    }
}

static int count_change(void *arg, const valise_change *change, valise_error *err)
{
    (void)err;
    bench_use(change);
    ++*(size_t *)arg;
    return 0;
}

static void difference(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        s->matched = 0;
        must(valise_backpack_diff(s->from, s->to, count_change, &s->matched, NULL));
    }
}

static void bench_difference(bench *b, state *s, int64_t back, const char *name, double at_most)
{
    int64_t last = (int64_t)s->packs;
    double took;

    must(valise_snapshot_at_seq(&s->from, s->bag, last - back, NULL));
    must(valise_snapshot_at_seq(&s->to, s->bag, last, NULL));
    took = best_of(difference, s, 200);
    bench_fact(b, name, took / 1e3, "us", at_most);
    valise_backpack_close(s->from);
    valise_backpack_close(s->to);
    s->from = s->to = NULL;
}

static void bench_travel(bench *b)
{
    state *s = set_up(10000, 64, 0);

    pack(s, 20000);
    snapshot(s, 1000); /* roots are made by the first who looks */
    bench_fact(b, "snapshot at any commit, closed", best_of(snapshot, s, 2000) / 1e3, "us", 10);
    bench_difference(b, s, 0, "difference, identical", 0.5);
    bench_difference(b, s, 10, "difference, 10 commits", 10);
    bench_difference(b, s, 1000, "difference, 1,000 commits", 300);
    tear_down(s);
}

/* ---- Q5: memory ---- */

static void bench_memory(bench *b, size_t len, const char *name, double at_most)
{
    size_t before, after;
    state *s = set_up(1, len, 0);

    s->keys = vls_mem_resize(valise_env_default(), s->keys, sizeof(key), 100 * sizeof(key));
    s->count = 100;
    for (size_t i = 0; i < 100; i++)
        s->keys[i].len =
            (size_t)snprintf(s->keys[i].bytes, sizeof(key) - sizeof(size_t), "item:%zu", i);
    before = mallinfo2().uordblks;
    pack(s, 10000);
    after = mallinfo2().uordblks;
    bench_fact(b, name, (double)(after - before) / 1e6, "MB", at_most);
    tear_down(s);
}

/* ---- Q15: growth ---- */

static void *grown(size_t size)
{
    state *s = set_up(size, 64, 0);

    pack(s, 11000);
    snapshot(s, 100);
    open_view(&s->one, s, "reader", 0);
    return s;
}

static void *grown_named(size_t size)
{
    state *s = set_up(size, 64, size / 10); /* ten items in each namespace */

    s->pattern = valise_str_of("team3.chat3");
    return s;
}

static void bench_growths(bench *b)
{
    static const struct {
        const char *name;
        void *(*setup)(size_t size);
        bench_fn *fn;
    } rows[] = {
        {"pack", grown, pack},
        {"peek", grown, peek},
        {"unpack through a view", grown, unpack_one},
        {"snapshot at any commit", grown, snapshot},
        {"namespace of ten items", grown_named, query},
        {"a run of a kept view", grown_runs, run_node},
    };

    for (size_t i = 0; i < VLS_COUNT(rows); i++)
        bench_growth(b, &(bench_growth_row){.name = rows[i].name,
                                            .setup = rows[i].setup,
                                            .teardown = tear_down,
                                            .fn = rows[i].fn,
                                            .sizes = {100, 10000, 1000000, 0},
                                            .promised = 0});
}

BENCH(backpack)
{
    state *s;

    bench_pack(b, 100, 64, false, "pack 64 B, 100 keys", 3);
    bench_pack(b, 10000, 64, false, "pack 64 B, 10,000 keys", 3);
    bench_pack(b, 100000, 64, false, "pack 64 B, 100,000 keys", 3);
    bench_pack(b, 1000000, 64, false, "pack 64 B, 1,000,000 keys", 0);
    bench_pack(b, 1000, 1024, false, "pack 1 KB of JSON, 1,000 keys", 1.7);
    bench_pack(b, 100, 100 * 1024, false, "pack 100 KB of JSON, 100 keys", 1.5);
    bench_pack(b, 1000, 1024, true, "pack 1 KB of JSON, keys in order", 1.7);
    bench_pack(b, 100, 100 * 1024, true, "pack 100 KB of JSON, keys in order", 1.5);
    bench_reads(b);
    s = set_up(100000, 64, 1000);
    bench_query(b, s, "team5.chat3", "namespace, 100 of 100,000 items");
    bench_query(b, s, "team5.*", "namespace, 10 spaces, 1,000 items");
    bench_query(b, s, "*.chat0", "namespace, 100 spaces, 10,000 items");
    tear_down(s);
    bench_node(b);
    bench_runs(b);
    bench_travel(b);
    bench_memory(b, 64, "heap, 10,000 commits, 100 keys, 64 B", 4);
    bench_memory(b, 1024, "heap, 10,000 commits, 100 keys, 1 KB", 15);
    bench_growths(b);
}
