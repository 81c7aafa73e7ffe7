/* backpack.c -- the ring behind an ephemeral backpack: what a pack, a read, a query, a snapshot and
 * a difference cost, and what it takes in memory.
 *
 * A pack is what the handle does for one below its checks: hash the value, make its blob, look for
 * the newest commit of the key, append. Histories keep 10,000 commits, so packs drop old ones as
 * they go. Guides that are no ratios are measured in CPU time of the process. [Q1] to [Q5] */
#include <malloc.h>
#include <time.h>

#include "bench/bench.h"

#include "backpack/ring.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#define SEED 42
#define VALUE_MAX 1024

typedef struct key {
    size_t len;
    char bytes[40];
} key;

typedef struct state {
    vls_ring *ring;
    vls_ledger ledger;
    vls_hasher hasher;
    key *keys;
    size_t count, next;
    uint64_t packs, chance;
    size_t value_len;
    char value[VALUE_MAX];
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

static valise_str next_key(state *s)
{
    const key *k = &s->keys[draw(s) % s->count];

    return (valise_str){k->bytes, k->len};
}

/* A value that no pack had before. */
static valise_str next_value(state *s)
{
    uint64_t n = ++s->packs;

    for (size_t i = 16; i > 1; i--, n >>= 4)
        s->value[i] = "0123456789abcdef"[n & 15];
    return (valise_str){s->value, s->value_len};
}

static void pack(state *s, valise_str name, valise_str space)
{
    static const valise_str node = {"research-2", 10}, title = {"Research", 8};
    const vls_ledger_ops *ops = s->ledger.ops;
    void *self = s->ledger.self;
    valise_str value = next_value(s);
    valise_commit before, commit = {.key = name,
                                    .node_id = node,
                                    .node_name = title,
                                    .namespace_name = space,
                                    .time = (int64_t)s->packs,
                                    .version = 1,
                                    .value_size = (int64_t)value.len};
    valise_blob *blob = NULL;
    int rc;

    must(vls_hash_bytes(&commit.value, &s->hasher, value, NULL));
    must(vls_blob_new(&blob, valise_env_default(), value, NULL));
    ops->enter(self);
    rc = ops->newest(&before, self, name, NULL);
    if (rc == 1) {
        commit.version = before.version + 1;
        commit.previous = before.seq;
        commit.previous_value = before.value;
    }
    must(ops->append(self, &commit, blob, NULL));
    ops->leave(self);
    valise_blob_unref(blob);
}

static bool key_equal(const void *item, const void *name)
{
    const key *k = item;
    const valise_str *n = name;

    return k->len == n->len && memcmp(k->bytes, n->ptr, k->len) == 0;
}

static void new_ring(state *s)
{
    vls_ring_options options = {.id = {{1, 2, 3}}, .name = VLS_STR("bench")};

    must(vls_ring_new(&s->ring, valise_env_default(), &options, NULL));
    s->ledger = vls_ring_ledger(s->ring);
}

/* A ring with so many keys, in as many namespaces of the form team5.chat3; 0: in none. */
static state *set_up(size_t count, size_t value_len, size_t spaces)
{
    const valise_env *env = valise_env_default();
    state *s = vls_mem_zalloc(env, sizeof(*s));

    if (!s || !(s->keys = vls_mem_alloc(env, count * sizeof(key))))
        abort();
    must(vls_hasher_init(&s->hasher, NULL));
    new_ring(s);
    s->count = count;
    s->value_len = value_len;
    s->chance = 88172645463325252u;
    memset(s->value, 'x', sizeof(s->value));
    s->value[0] = s->value[value_len - 1] = '"';
    vls_map_init(&s->table, env, key_equal);
    for (size_t i = 0; i < count; i++) {
        key *k = &s->keys[i];
        char name[32];
        valise_str str, space = {NULL, 0};
        k->len = (size_t)snprintf(k->bytes, sizeof(k->bytes), "run:1:step:item:%011zu", i);
        str = (valise_str){k->bytes, k->len};
        if (spaces > 0)
            space = (valise_str){name, (size_t)snprintf(name, sizeof(name), "team%zu.chat%zu",
                                                        i % spaces / 10, i % 10)};
        pack(s, str, space);
        must(vls_map_put(NULL, &s->table, vls_str_hash(str, SEED), &str, k));
    }
    return s;
}

static void tear_down(state *s)
{
    const valise_env *env = valise_env_default();

    vls_map_release(&s->table);
    vls_ring_unref(s->ring);
    vls_hasher_release(&s->hasher);
    vls_mem_free(env, s->keys, s->count * sizeof(key));
    vls_mem_free(env, s, sizeof(*s));
}

/* ---- Q1 ---- */

static void pack_existing(void *arg, size_t times)
{
    state *s = arg;

    while (times--)
        pack(s, next_key(s), (valise_str){NULL, 0});
}

static void hash_and_insert(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        key *k = &s->keys[draw(s) % s->count];
        valise_str name = {k->bytes, k->len}, value = next_value(s);
        valise_id id;
        must(vls_hash_bytes(&id, &s->hasher, value, NULL));
        bench_use(&id);
        must(vls_map_put(NULL, &s->table, vls_str_hash(name, SEED), &name, k));
        bench_use(&s->table);
    }
}

static void bench_pack(bench *b, size_t count, const char *name, double at_most)
{
    state *s = set_up(count, 64, 0);

    pack_existing(s, 20000); /* until old commits are dropped as new ones come */
    bench_compare(b, &(bench_row){.name = name,
                                  .requires = "Q1",
                                  .arg = s,
                                  .ours = pack_existing,
                                  .against = "SHA-256, hash table insert",
                                  .baseline = hash_and_insert,
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

static double best_of(void (*fn)(state *s), state *s, size_t times)
{
    double best = 1e18;

    for (int round = 0; round < 5; round++) {
        double start = cpu_ns(), took;
        for (size_t i = 0; i < times; i++)
            fn(s);
        took = (cpu_ns() - start) / (double)times;
        best = took < best ? took : best;
    }
    return best;
}

/* ---- Q2 ---- */

static void peek(state *s)
{
    const vls_ledger_ops *ops = s->ledger.ops;
    valise_commit commit;
    valise_blob *blob = NULL;

    ops->enter(s->ledger.self);
    if (ops->newest(&commit, s->ledger.self, next_key(s), NULL) == 1)
        must(ops->value(&blob, s->ledger.self, &commit, NULL));
    ops->leave(s->ledger.self);
    valise_blob_unref(blob);
}

static void unpack(state *s)
{
    const vls_ledger_ops *ops = s->ledger.ops;
    valise_str name = next_key(s);
    vls_ledger_read read = {.node_id = VLS_STR("research-2"), .key = name, .time = 5};
    valise_commit commit;
    valise_blob *blob = NULL;

    ops->enter(s->ledger.self);
    if (ops->newest(&commit, s->ledger.self, name, NULL) == 1)
        must(ops->value(&blob, s->ledger.self, &commit, NULL));
    read.seq = commit.seq;
    read.tags = commit.tags;
    ops->read_add(s->ledger.self, &read);
    ops->leave(s->ledger.self);
    valise_blob_unref(blob);
}

/* ---- Q3 ---- */

static int count_one(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)commit;
    (void)err;
    ++*(size_t *)arg;
    return 0;
}

static const char *pattern;
static size_t matched;

static void query(state *s)
{
    matched = 0;
    must(s->ledger.ops->each_named(s->ledger.self, valise_str_of(pattern), count_one, &matched,
                                   NULL));
}

static void bench_query(bench *b, state *s, const char *text, const char *name)
{
    double took;

    pattern = text;
    query(s);
    took = best_of(query, s, 1 + 100000 / (matched + 1));
    bench_fact(b, name, took / (double)matched, "ns a match", 100);
}

/* ---- Q4 ---- */

static void snapshot(state *s)
{
    vls_ledger frozen = {0};
    int64_t last = (int64_t)s->packs, upto = last - (int64_t)(draw(s) % 7900);

    must(s->ledger.ops->freeze(&frozen, s->ledger.self, upto, NULL));
    frozen.ops->release(frozen.self);
}

static vls_ledger from, to;

static int count_difference(void *arg, const valise_commit *a, const valise_commit *b,
                            valise_error *err)
{
    (void)err;
    bench_use(a);
    bench_use(b);
    ++*(size_t *)arg;
    return 0;
}

static void difference(state *s)
{
    (void)s;
    matched = 0;
    must(from.ops->each_difference(from.self, to.self, count_difference, &matched, NULL));
}

static void bench_difference(bench *b, state *s, int64_t back, const char *name, double at_most)
{
    int64_t last = (int64_t)s->packs;
    double took;

    must(s->ledger.ops->freeze(&from, s->ledger.self, last - back, NULL));
    must(s->ledger.ops->freeze(&to, s->ledger.self, last, NULL));
    took = best_of(difference, s, 200);
    bench_fact(b, name, took / 1e3, "us", at_most);
    from.ops->release(from.self);
    to.ops->release(to.self);
}

/* ---- Q5 ---- */

static void bench_memory(bench *b, size_t value_len, const char *name, double at_most)
{
    size_t before = mallinfo2().uordblks, keys;
    state *s = set_up(100, value_len, 0);

    keys = s->count * sizeof(key) + s->table.cap * sizeof(vls_map_slot) + sizeof(*s);
    pack_existing(s, 10000 - 100);
    bench_fact(b, name, (double)(mallinfo2().uordblks - before - keys) / 1e6, "MB", at_most);
    tear_down(s);
}

BENCH(backpack)
{
    state *s;

    bench_pack(b, 100, "pack 64 B, 100 keys", 3);
    bench_pack(b, 10000, "pack 64 B, 10,000 keys", 3);
    bench_pack(b, 100000, "pack 64 B, 100,000 keys", 3);
    bench_pack(b, 1000000, "pack 64 B, 1,000,000 keys", 0);

    s = set_up(10000, 64, 0);
    bench_fact(b, "peek, 10,000 keys", best_of(peek, s, 200000), "ns", 50);
    bench_fact(b, "unpack, recorded, 10,000 keys", best_of(unpack, s, 200000), "ns", 150);
    pack_existing(s, 20000);
    snapshot(s);
    for (int i = 0; i < 1000; i++)
        snapshot(s);
    bench_fact(b, "snapshot at any commit, release", best_of(snapshot, s, 2000) / 1e3, "us", 10);
    bench_difference(b, s, 0, "difference, identical", 0.2);
    bench_difference(b, s, 10, "difference, 10 commits", 10);
    bench_difference(b, s, 1000, "difference, 1,000 commits", 300);
    tear_down(s);

    s = set_up(100000, 64, 1000);
    bench_query(b, s, "team5.chat3", "namespace, 100 of 100,000 items");
    bench_query(b, s, "team5.*", "namespace, 10 spaces, 1,000 items");
    bench_query(b, s, "*.chat0", "namespace, 100 spaces, 10,000 items");
    tear_down(s);

    bench_memory(b, 64, "heap, 10,000 commits, 100 keys, 64 B", 4);
    bench_memory(b, 1024, "heap, 10,000 commits, 100 keys, 1 KB", 15);
}
