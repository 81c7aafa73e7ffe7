/* merkle.c -- Merkle maps: by examples, against a naive recomputation, proofs, vectors. [C11] */
#include "context/merkle_page.h"

#include "base/bytes.h"
#include "base/hex.h"
#include "harness/fault.h"
#include "kit/bed.h"
#include "store/validate.h"

TEST_PARAMS(merkle, "memory", "sqlite")

static const valise_coll *const colls[] = {&vls_merkles, NULL};
static const valise_uuid set_a = {{1}}, set_b = {{2}};

/* A key whose first steps are these hex digits; the rest is made of n. */
static valise_id key_of(const char *digits, unsigned n)
{
    valise_id key = {{0}};

    for (size_t i = 0; digits[i]; i++) {
        unsigned step = (unsigned)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
        key.bytes[i / 2] |= (uint8_t)(step << (i % 2 == 0 ? 4 : 0));
    }
    vls_bytes_store_u32(key.bytes + 28, n);
    return key;
}

static valise_id value_of(unsigned n)
{
    valise_id value = {{0xee}};

    vls_bytes_store_u32(value.bytes + 28, n);
    return value;
}

static valise_id root_of(bed *b, const valise_uuid *set, int64_t *count)
{
    test *t = b->t;
    valise_id root;
    bool inside = b->view.txn != NULL;

    if (!inside)
        bed_look(b, -1);
    CHECK_OK(vls_merkle_root(&root, count, &b->view, set, &t->err));
    if (!inside)
        bed_end(b);
    return root;
}

/* ---- what it should be ---- */

/* The root of sorted pairs, from the definition alone. */
static valise_id naive_root(test *t, const vls_merkle_pair *pairs, size_t count, size_t depth)
{
    vls_hasher hasher;
    VLS_AUTO(buf) vls_buf bytes = {0};
    valise_id out, children[16];
    size_t from = 0, counts[16] = {0};
    unsigned which = 0;

    vls_buf_init(&bytes, t->env, 4096);
    vls_buf_add_byte(&bytes, count > 16);
    if (count <= 16) {
        vls_buf_add_byte(&bytes, (char)count);
        vls_buf_add(&bytes, vls_str(pairs, count * sizeof(*pairs)));
    } else {
        for (unsigned step = 0; step < 16; step++) {
            while (from + counts[step] < count &&
                   vls_merkle_step(&pairs[from + counts[step]].key, depth) == step)
                counts[step]++;
            if (counts[step] > 0) {
                children[step] = naive_root(t, pairs + from, counts[step], depth + 1);
                which |= 0x8000u >> step;
            }
            from += counts[step];
        }
        vls_bytes_add_u16(&bytes, (uint16_t)which);
        for (unsigned step = 0; step < 16; step++) {
            if (counts[step] > 0) {
                vls_bytes_add_varint(&bytes, counts[step]);
                vls_buf_add(&bytes, vls_str(children[step].bytes, 32));
            }
        }
    }
    vls_hash_begin_tagged(&hasher, "valise.merkle.1");
    vls_hash_field(&hasher, vls_buf_str(&bytes));
    vls_hash_end(&out, &hasher);
    return out;
}

#define CHECK_ID(a, b) CHECK_STR(vls_str((a).bytes, 32), vls_str((b).bytes, 32))

/* ---- examples ---- */

TEST(merkle, an_empty_set_has_a_root_of_its_own)
{
    bed b;
    valise_id empty, root, value, key = key_of("1", 1);
    int64_t count = -1;

    bed_open_with(&b, t, t->param, colls);
    vls_merkle_empty(&empty);
    root = root_of(&b, &set_a, &count);
    CHECK_ID(empty, root);
    CHECK_INT(0, count);
    bed_begin(&b, true);
    CHECK_INT(0, vls_merkle_get(&value, &b.view, &set_a, &key, &t->err));
    CHECK_INT(0, vls_merkle_delete(&b.view, &set_a, &key, &t->err));
    CHECK_INT(1, vls_merkle_put(&b.view, &set_a, &key, &key, &t->err));
    CHECK_INT(1, vls_merkle_delete(&b.view, &set_a, &key, &t->err));
    root = root_of(&b, &set_a, &count);
    bed_end(&b);
    CHECK_ID(empty, root);
    bed_close(&b);
}

/* The order in which pairs come does not matter, nor what was there in between. [C11] */
TEST(merkle, equal_sets_have_equal_roots)
{
    bed b;
    valise_id one, other, value;

    bed_open_with(&b, t, t->param, colls);
    bed_begin(&b, true);
    for (unsigned i = 0; i < 200; i++) {
        valise_id k = key_of(test_format("%x", i % 16), i), v = value_of(i);
        CHECK_INT(1, vls_merkle_put(&b.view, &set_a, &k, &v, &t->err));
    }
    for (unsigned i = 300; i-- > 0;) {
        valise_id k = key_of(test_format("%x", i % 16), i), v = value_of(i);
        CHECK_INT(1, vls_merkle_put(&b.view, &set_b, &k, &v, &t->err));
    }
    one = root_of(&b, &set_a, NULL);
    other = root_of(&b, &set_b, NULL);
    CHECK(!vls_id_equal(&one, &other));
    for (unsigned i = 200; i < 300; i++) {
        valise_id k = key_of(test_format("%x", i % 16), i);
        CHECK_INT(1, vls_merkle_delete(&b.view, &set_b, &k, &t->err));
        CHECK_INT(0, vls_merkle_get(&value, &b.view, &set_b, &k, &t->err));
    }
    other = root_of(&b, &set_b, NULL);
    CHECK_ID(one, other);
    bed_end(&b);
    bed_check(&b);
    bed_close(&b);
}

/* Views of a batch live until its end: what a put takes of their memory is what it puts. */
TEST(merkle, a_put_takes_little_of_the_memory_of_a_view)
{
    bed b;

    bed_open_with(&b, t, t->param, colls);
    bed_begin(&b, true);
    for (unsigned i = 0; i < 1000; i++) {
        valise_id k = key_of(test_format("%03x", i), i), v = value_of(i);
        CHECK_INT(1, vls_merkle_put(&b.view, &set_a, &k, &v, &t->err));
    }
    CHECK(b.view.arena.used < 1000 * (size_t)16384);
    bed_end(&b);
    bed_close(&b);
}

/* Seventeen keys that share 59 steps and more: one page per step. */
TEST(merkle, keys_may_share_almost_everything)
{
    bed b;
    vls_merkle_pair pairs[17];
    valise_id root, expected;
    int64_t count;

    bed_open_with(&b, t, t->param, colls);
    bed_begin(&b, true);
    for (unsigned i = 0; i < 17; i++) {
        pairs[i] = (vls_merkle_pair){key_of("", i), value_of(i)};
        CHECK_INT(1, vls_merkle_put(&b.view, &set_a, &pairs[i].key, &pairs[i].value, &t->err));
        CHECK_INT(0, vls_merkle_put(&b.view, &set_a, &pairs[i].key, &pairs[i].value, &t->err));
    }
    bed_end(&b);
    bed_check(&b);
    root = root_of(&b, &set_a, &count);
    expected = naive_root(t, pairs, 17, 0);
    CHECK_INT(17, count);
    CHECK_ID(expected, root);
    bed_begin(&b, true);
    CHECK_INT(1, vls_merkle_delete(&b.view, &set_a, &pairs[16].key, &t->err));
    bed_end(&b);
    bed_check(&b);
    root = root_of(&b, &set_a, &count);
    expected = naive_root(t, pairs, 16, 0);
    CHECK_ID(expected, root);
    bed_close(&b);
}

/* ---- against the naive recomputation ---- */

enum { ROOM = 400, STEPS = 60 };

typedef struct model {
    test *t;
    bed b;
    test_rng rng;
    vls_merkle_pair pairs[ROOM];
    size_t count;
} model;

static size_t find(const model *m, const valise_id *key)
{
    size_t at = 0;

    while (at < m->count && vls_id_compare(&m->pairs[at].key, key) < 0)
        at++;
    return at;
}

/* Keys crowd: few different steps in front, so that pages split deep down. */
static valise_id some_key(model *m)
{
    static const char *const fronts[] = {"", "0000", "0001", "f", "ff", "fff", "abc", "abd"};
    unsigned n = (unsigned)test_random_below(&m->rng, 40);
    valise_id key = key_of(fronts[test_random_below(&m->rng, VLS_COUNT(fronts))], n);

    key.bytes[4] = (uint8_t)(n * 37);
    return key;
}

static void change(model *m)
{
    test *t = m->t;
    bool removing = test_random_below(&m->rng, 3) == 0;

    bed_begin(&m->b, true);
    for (uint64_t n = 1 + test_random_below(&m->rng, 40); n > 0; n--) {
        vls_merkle_pair pair = {some_key(m), value_of((unsigned)test_random_below(&m->rng, 3))};
        size_t at = find(m, &pair.key), rest = m->count - at;
        bool there = at < m->count && vls_id_equal(&m->pairs[at].key, &pair.key);
        if (removing) {
            CHECK_INT(there, vls_merkle_delete(&m->b.view, &set_a, &pair.key, &t->err));
            if (there)
                memmove(&m->pairs[at], &m->pairs[at + 1], (rest - 1) * sizeof(pair));
            m->count -= there;
            continue;
        }
        CHECK_INT(!there || !vls_id_equal(&m->pairs[at].value, &pair.value),
                  vls_merkle_put(&m->b.view, &set_a, &pair.key, &pair.value, &t->err));
        if (!there)
            memmove(&m->pairs[at + 1], &m->pairs[at], rest * sizeof(pair));
        m->count += !there;
        m->pairs[at] = pair;
    }
    bed_end(&m->b);
}

static int compare_next(void *arg, const valise_id *key, const valise_id *value, valise_error *err)
{
    const vls_merkle_pair **next = arg;

    (void)err;
    CHECK_ID((*next)->key, *key);
    CHECK_ID((*next)->value, *value);
    (*next)++;
    return 0;
}

static void check_proof(model *m, const valise_id *key)
{
    test *t = m->t;
    VLS_AUTO(buf) vls_buf proof = {0};
    size_t at = find(m, key);
    bool there = at < m->count && vls_id_equal(&m->pairs[at].key, key);
    valise_id root = root_of(&m->b, &set_a, NULL), value;

    vls_buf_init(&proof, t->env, VLS_MERKLE_PROOF_MAX);
    CHECK_OK(vls_merkle_prove(&proof, &m->b.view, &set_a, key, &t->err));
    CHECK_INT(there, vls_merkle_verify(&value, &root, key, vls_buf_str(&proof), &t->err));
    if (there)
        CHECK_ID(m->pairs[at].value, value);
}

static void compare(model *m)
{
    test *t = m->t;
    const vls_merkle_pair *next = m->pairs;
    valise_id root, expected = naive_root(t, m->pairs, m->count, 0), value;
    int64_t count;

    bed_look(&m->b, -1);
    root = root_of(&m->b, &set_a, &count);
    CHECK_ID(expected, root);
    CHECK_INT(m->count, count);
    CHECK_OK(vls_merkle_walk(&m->b.view, &set_a, compare_next, &next, &t->err));
    CHECK(next == m->pairs + m->count);
    for (int i = 0; i < 5; i++) {
        valise_id key = some_key(m);
        size_t at = find(m, &key);
        bool there = at < m->count && vls_id_equal(&m->pairs[at].key, &key);
        CHECK_INT(there, vls_merkle_get(&value, &m->b.view, &set_a, &key, &t->err));
        check_proof(m, &key);
    }
    bed_end(&m->b);
}

TEST(merkle, agrees_with_a_naive_recomputation)
{
    model *m = test_alloc(sizeof(*m));
    valise_id roots[STEPS];
    int64_t seqs[STEPS];

    m->t = t;
    m->rng = test_rng_new(test_seed());
    bed_open_with(&m->b, t, t->param, colls);
    for (int i = 0; i < STEPS; i++) {
        change(m);
        compare(m);
        bed_look(&m->b, -1);
        roots[i] = root_of(&m->b, &set_a, NULL);
        seqs[i] = m->b.txn.tip.seq;
        bed_end(&m->b);
    }
    bed_check(&m->b); /* among others: every page is known to the one above it */
    for (int i = 0; i < STEPS; i++) {
        valise_id root;
        bed_look(&m->b, seqs[i]);
        root = root_of(&m->b, &set_a, NULL);
        bed_end(&m->b);
        CHECK_ID(roots[i], root);
    }
    bed_close(&m->b);
}

/* ---- proofs that lie ---- */

/* A set of 100 pairs, a proof for one of them and one for a key that is not there. */
static valise_id prove_both(bed *b, vls_buf *in, vls_buf *out, const valise_id *key,
                            const valise_id *absent)
{
    test *t = b->t;
    valise_id root;

    bed_begin(b, true);
    for (unsigned i = 0; i < 100; i++) {
        valise_id k = key_of(test_format("%x%x", i % 4, i % 3), i), v = value_of(i);
        CHECK_INT(1, vls_merkle_put(&b->view, &set_a, &k, &v, &t->err));
    }
    root = root_of(b, &set_a, NULL);
    CHECK_OK(vls_merkle_prove(in, &b->view, &set_a, key, &t->err));
    CHECK_OK(vls_merkle_prove(out, &b->view, &set_a, absent, &t->err));
    bed_end(b);
    return root;
}

static void refuse(test *t, const valise_id *root, const valise_id *key, valise_str proof)
{
    valise_id value = {{7}}, before = value;

    CHECK_RC(VALISE_E_CORRUPT, vls_merkle_verify(&value, root, key, proof, &t->err));
    CHECK_ID(before, value);
}

TEST(merkle, hostile_proofs_are_refused)
{
    VLS_AUTO(buf) vls_buf in = {0}, out = {0}, bad = {0};
    valise_id key = key_of("00", 0), absent = key_of("f", 0), root, other, value;
    bed b;

    vls_buf_init(&in, t->env, VLS_MERKLE_PROOF_MAX);
    vls_buf_init(&out, t->env, VLS_MERKLE_PROOF_MAX);
    vls_buf_init(&bad, t->env, 2 * VLS_MERKLE_PROOF_MAX);
    bed_open_with(&b, t, t->param, colls);
    root = prove_both(&b, &in, &out, &key, &absent);
    CHECK_INT(1, vls_merkle_verify(&value, &root, &key, vls_buf_str(&in), &t->err));
    CHECK_INT(0, vls_merkle_verify(&value, &root, &absent, vls_buf_str(&out), &t->err));

    refuse(t, &root, &key, VLS_STR("")); /* the set is not empty */
    refuse(t, &root, &absent, vls_buf_str(&in));
    refuse(t, &root, &key, vls_buf_str(&out));
    other = root;
    other.bytes[31] ^= 1;
    refuse(t, &other, &key, vls_buf_str(&in));
    for (size_t i = 0; i < in.len; i++) { /* each bit matters */
        in.ptr[i] ^= 1;
        refuse(t, &root, &key, vls_buf_str(&in));
        in.ptr[i] ^= 1;
        refuse(t, &root, &key, vls_str(in.ptr, i));
    }
    vls_buf_add(&bad, vls_buf_str(&in));
    vls_buf_add_byte(&bad, 0);
    refuse(t, &root, &key, vls_buf_str(&bad));
    while (bad.len <= VLS_MERKLE_PROOF_MAX)
        vls_buf_add_byte(&bad, 0);
    refuse(t, &root, &key, vls_buf_str(&bad));
    bed_close(&b);
}

/* Pages whose hash is right and that cannot be: whoever makes up a root can make up such a one. */
TEST(merkle, pages_that_cannot_be_are_refused)
{
    static const char *const pages[] = {
        "02",         /* of no kind */
        "00",         /* without a count */
        "0011",       /* more than 16 pairs */
        "0001",       /* without its pair */
        "000000",     /* too long */
        "010000",     /* inner, of nothing */
        "01800010",   /* one child without its hash */
        "018000",     /* without its count */
        "0180008001", /* a count of 128, written as it should be, and no hash */
    };
    valise_id key = key_of("0", 0), root;

    for (size_t i = 0; i < VLS_COUNT(pages); i++) {
        VLS_AUTO(buf) vls_buf page = {0}, proof = {0};
        test_context("page %s", pages[i]);
        vls_buf_init(&page, t->env, 4096);
        vls_buf_init(&proof, t->env, 4096);
        CHECK_OK(vls_hex_decode(&page, valise_str_of(pages[i]), &t->err));
        vls_merkle_page_hash(&root, vls_buf_str(&page));
        vls_bytes_add_string(&proof, vls_buf_str(&page));
        refuse(t, &root, &key, vls_buf_str(&proof));
        test_context_end();
    }
}

/* ---- damage ---- */

static int count_problem(void *arg, const vls_finding *finding, valise_error *err)
{
    (void)finding, (void)err;
    ++*(int *)arg;
    return 0;
}

static int problems(bed *b)
{
    test *t = b->t;
    vls_validation found;
    vls_progress p;
    int count = 0;

    vls_progress_init(&p, t->env, NULL);
    CHECK_OK(vls_validate(&found, b->store, &p, count_problem, &count, &t->err));
    return count;
}

static void put_row(bed *b, const char *prefix, size_t depth, const char *hex)
{
    test *t = b->t;
    VLS_AUTO(buf) vls_buf page = {0};
    vls_merkle_row row = {.set = set_a, .prefix = vls_str(prefix, depth)};

    vls_buf_init(&page, t->env, 4096);
    CHECK_OK(vls_hex_decode(&page, valise_str_of(hex), &t->err));
    row.page = vls_buf_str(&page);
    bed_begin(b, true);
    CHECK_OK(valise_view_put(&b->view, &vls_merkles, &row, &t->err));
    bed_end(b);
}

TEST(merkle, validate_finds_pages_that_do_not_fit)
{
    bed b;
    valise_id key = key_of("00", 0), absent = key_of("f", 0), value;
    VLS_AUTO(buf) vls_buf in = {0}, out = {0};
    vls_merkle_row row = {.set = set_a, .prefix = vls_str("\0", 1)};

    vls_buf_init(&in, t->env, VLS_MERKLE_PROOF_MAX);
    vls_buf_init(&out, t->env, VLS_MERKLE_PROOF_MAX);
    bed_open_with(&b, t, t->param, colls);
    (void)prove_both(&b, &in, &out, &key, &absent);
    CHECK_INT(0, problems(&b));
    put_row(&b, "\x0e", 1, "0000"); /* empty, and nothing leads to it: told once */
    CHECK_INT(1, problems(&b));
    put_row(&b, "\x1f", 1, "0000");
    CHECK_INT(2, problems(&b));
    bed_begin(&b, true);
    CHECK_INT(1, valise_view_delete(&b.view, &vls_merkles, &row, &t->err));
    bed_end(&b);
    CHECK(problems(&b) > 2); /* one that is missing, and those it led to */
    bed_look(&b, -1);
    CHECK_RC(VALISE_E_CORRUPT, vls_merkle_get(&value, &b.view, &set_a, &key, &t->err));
    CHECK_RC(VALISE_E_CORRUPT, vls_merkle_prove(&in, &b.view, &set_a, &key, &t->err));
    bed_end(&b);
    bed_begin(&b, true);
    CHECK_RC(VALISE_E_CORRUPT, vls_merkle_put(&b.view, &set_a, &key, &key, &t->err));
    CHECK_RC(VALISE_E_CORRUPT, vls_merkle_delete(&b.view, &set_a, &key, &t->err));
    bed_end(&b);
    bed_close(&b);
}

/* ---- vectors ---- */

/* docs/formats.md: how many pairs, and the root. Pair n is (SHA-256 of "key n", of "value n"). */
static void check_vector(test *t, valise_str line)
{
    valise_str left, right;
    int64_t count;
    bed b;
    valise_id root;

    vls_str_cut(&left, &right, line, '=');
    CHECK(vls_str_to_i64(&count, vls_str_trim(left)));
    bed_open_with(&b, t, t->param, colls);
    bed_begin(&b, true);
    for (int64_t n = 1; n <= count; n++) {
        valise_id key, value;
        valise_str text = valise_str_of(test_format("key %lld", (long long)n));
        vls_hash_bytes(&key, text);
        text = valise_str_of(test_format("value %lld", (long long)n));
        vls_hash_bytes(&value, text);
        CHECK_INT(1, vls_merkle_put(&b.view, &set_a, &key, &value, &t->err));
    }
    root = root_of(&b, &set_a, NULL);
    bed_end(&b);
    bed_close(&b);
    CHECK_STR(vls_str_trim(right), valise_str_of(vls_id_hex(&root).s));
}

TEST(merkle, roots_are_those_of_the_document)
{
    const char *from = getenv("VALISE_SOURCE_ROOT");
    valise_str text = test_read_file(test_format("%s/docs/formats.md", from ? from : "."));
    valise_str line, open = VLS_STR("```merkle-vectors\n");
    int count = 0;

    text = vls_str_from(text, vls_str_find(text, open) + open.len);
    while (strcmp(t->param, "memory") == 0 && vls_str_cut(&line, &text, text, '\n') &&
           !vls_str_starts(line, VLS_STR("```"))) {
        test_remove(test_format("%s/valise.db", test_tmpdir()));
        check_vector(t, line);
        count++;
    }
    CHECK(count == 5 || strcmp(t->param, "sqlite") == 0);
}

/* ---- faults ---- */

static int change_once(fault *f, void *arg)
{
    vls_store_options options = {
        .env = f->env, .ops = valise_store_memory(), .flags = VALISE_STORE_CREATE, .colls = colls};
    vls_store *store = NULL;
    vls_txn txn = {0};
    valise_view view = {0};
    valise_id key, value = value_of(1);
    int rc;

    (void)arg;
    fault_off(f);
    rc = vls_store_open(&store, &options, &f->err);
    CHECK_INT(0, rc);
    fault_on(f);
    rc = vls_txn_begin(&txn, store, VALISE_TXN_WRITE, &f->err);
    if (rc == 0) {
        vls_view_init(&view, &txn, f->env);
        view.changing = true;
        for (unsigned i = 0; rc >= 0 && i < 20; i++) {
            key = key_of("", i);
            rc = vls_merkle_put(&view, &set_a, &key, &value, &f->err);
        }
        for (unsigned i = 0; rc >= 0 && i < 5; i++) {
            key = key_of("", i);
            rc = vls_merkle_delete(&view, &set_a, &key, &f->err);
        }
        vls_view_release(&view);
    }
    vls_txn_rollback(&txn);
    vls_store_close(store);
    return VLS_MIN(rc, 0);
}

TEST(merkle, without_memory)
{
    if (strcmp(t->param, "memory") == 0)
        fault_each_alloc(t, FAULT_ONWARD, change_once, NULL);
    CHECK(true);
}
