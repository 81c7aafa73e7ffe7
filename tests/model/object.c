/* object.c -- objects against a plain list: put, change, erase, delete, sweep, undo, reopen.
 * [K1 K29] */
#include "store/object.h"

#include "base/bytes.h"
#include "harness/model.h"

#define VALUES 24u /* different contents */
#define ROOM 40000u

typedef enum { ABSENT, PRESENT, ERASED } value_state;

typedef struct pair {
    test *t;
    const char *dir;
    vls_store *store;
    vls_txn txn; /* the one that goes on, or none */
    int64_t time;
    value_state state[VALUES];
    value_state before[VALUES]; /* when the transaction began */
    char *room;
} pair;

/* Sizes from nothing to some tens of chunks; neighbours share most of their bytes. */
static valise_str value(pair *p, unsigned n)
{
    static const size_t sizes[] = {0, 100, 4096, 4097, 9000, 30000};
    size_t len = n % 6 ? sizes[n % 6] : n;
    test_rng rng = test_rng_new(n % 6 + n / 12 * 100);

    for (size_t i = 0; i < len; i += 8)
        vls_bytes_store_u64(p->room + i, test_random(&rng));
    if (len > 0)
        p->room[len / 2] = (char)(p->room[len / 2] + (char)n);
    return vls_str(p->room, len);
}

static valise_id id_of(pair *p, valise_str bytes)
{
    test *t = p->t;
    valise_id id;

    CHECK_OK(vls_object_id(&id, "value", bytes, &t->err));
    return id;
}

static void open_store(pair *p)
{
    test *t = p->t;
    bool sqlite = strcmp(t->param, "sqlite") == 0;
    vls_store_options options = {.env = t->env,
                                 .ops = sqlite ? valise_store_sqlite() : valise_store_memory(),
                                 .where = p->dir,
                                 .flags = VALISE_STORE_CREATE};

    CHECK_OK(vls_store_open(&p->store, &options, &t->err));
}

static void *start(test *t, const char *dir)
{
    pair *p = test_alloc(sizeof(*p));

    p->t = t;
    p->dir = dir;
    p->room = test_alloc(ROOM);
    open_store(p);
    return p;
}

/* ---- transactions ---- */

static void begin(pair *p)
{
    test *t = p->t;

    if (p->txn.backend)
        return;
    CHECK_OK(vls_txn_begin(&p->txn, p->store, VALISE_TXN_WRITE, &t->err));
    memcpy(p->before, p->state, sizeof(p->before));
}

static void op_commit(void *state, model_args *a)
{
    pair *p = state;
    test *t = p->t;

    (void)a;
    if (p->txn.backend)
        CHECK_OK(vls_txn_commit(&p->txn, &t->err));
}

static void op_rollback(void *state, model_args *a)
{
    pair *p = state;

    (void)a;
    if (!p->txn.backend)
        return;
    vls_txn_rollback(&p->txn);
    memcpy(p->state, p->before, sizeof(p->before));
}

/* ---- changes ---- */

static void put(pair *p, unsigned n)
{
    valise_str bytes = value(p, n);
    valise_id id = id_of(p, bytes);
    test *t = p->t;
    bool existed;

    CHECK_OK(vls_object_put(&p->txn, &id, "value", bytes, p->time++, &existed, &t->err));
    CHECK_INT(p->state[n] == PRESENT, existed);
    p->state[n] = PRESENT;
}

static void op_put(void *state, model_args *a)
{
    pair *p = state;

    begin(p);
    put(p, (unsigned)model_below(a, "value", VALUES));
}

static void op_undo(void *state, model_args *a)
{
    pair *p = state;
    test *t = p->t;
    value_state states[VALUES];
    unsigned outer = (unsigned)model_below(a, "value", VALUES);
    unsigned inner = (unsigned)model_below(a, "inner", VALUES);
    bool back_inner = model_below(a, "back", 2), back_outer = model_below(a, "back all", 2);

    begin(p);
    memcpy(states, p->state, sizeof(states));
    CHECK_OK(vls_txn_mark(&p->txn, VALISE_MARK_SET, &t->err));
    put(p, outer);
    value_state between[VALUES];
    memcpy(between, p->state, sizeof(between));
    CHECK_OK(vls_txn_mark(&p->txn, VALISE_MARK_SET, &t->err));
    put(p, inner);
    CHECK_OK(vls_txn_mark(&p->txn, back_inner ? VALISE_MARK_BACK : VALISE_MARK_RELEASE, &t->err));
    if (back_inner)
        memcpy(p->state, between, sizeof(between));
    CHECK_OK(vls_txn_mark(&p->txn, back_outer ? VALISE_MARK_BACK : VALISE_MARK_RELEASE, &t->err));
    if (back_outer)
        memcpy(p->state, states, sizeof(states));
}

static void op_erase(void *state, model_args *a)
{
    pair *p = state;
    test *t = p->t;
    unsigned n = (unsigned)model_below(a, "value", VALUES);
    valise_id id = id_of(p, value(p, n));

    begin(p);
    CHECK_RC(p->state[n] != ABSENT, vls_object_erase(&p->txn, &id, &t->err));
    if (p->state[n] == PRESENT)
        p->state[n] = ERASED;
}

static void op_delete(void *state, model_args *a)
{
    pair *p = state;
    test *t = p->t;
    unsigned n = (unsigned)model_below(a, "value", VALUES);
    valise_id id = id_of(p, value(p, n));
    vls_object_info info;

    begin(p);
    CHECK_RC(p->state[n] != ABSENT, vls_object_stat(&info, &p->txn, &id, &t->err));
    if (p->state[n] == ABSENT)
        return;
    CHECK_OK(vls_object_delete(&p->txn, info.number, &t->err));
    p->state[n] = ABSENT;
}

static int mark_one(void *arg, const vls_object_info *info, valise_error *err)
{
    void **two = arg;

    return vls_object_mark_chunks(two[0], two[1], info->number, err);
}

static void op_sweep(void *state, model_args *a)
{
    pair *p = state;
    test *t = p->t;
    vls_bits bits = {.env = t->env};
    void *two[] = {&bits, &p->txn};
    int64_t removed, bytes;
    bool half = model_below(a, "half", 2);
    int64_t last;

    begin(p);
    CHECK_OK(vls_object_each(&p->txn, 0, mark_one, two, &t->err));
    CHECK_OK(vls_chunk_last(&last, &p->txn, &t->err));
    CHECK_OK(
        vls_chunk_sweep(&removed, &bytes, &p->txn, &bits, half ? last / 2 : 0, last + 1, &t->err));
    vls_bits_release(&bits);
}

static void op_reopen(void *state, model_args *a)
{
    pair *p = state;

    op_commit(state, a);
    if (strcmp(p->t->param, "memory") == 0)
        return;
    vls_store_close(p->store);
    open_store(p);
}

static void op_forget(void *state, model_args *a)
{
    pair *p = state;

    (void)a;
    vls_chunks_forget(vls_store_chunks(p->store));
}

/* ---- comparing ---- */

static void compare_in(pair *p, vls_txn *txn)
{
    test *t = p->t;

    for (unsigned n = 0; n < VALUES; n++) {
        VLS_AUTO(blob) valise_blob *blob = NULL;
        valise_str bytes = value(p, n);
        valise_id id = id_of(p, bytes);
        CHECK_RC(p->state[n] == PRESENT ? 0 : VALISE_E_NOT_FOUND,
                 vls_object_get(&blob, txn, &id, &t->err));
        CHECK(!blob || vls_str_equal(bytes, vls_blob_bytes(blob)));
        CHECK(p->state[n] != ERASED || strstr(t->err.message, "erased"));
    }
}

static void op_compare(void *state, model_args *a)
{
    pair *p = state;
    VLS_AUTO(txn) vls_txn txn = {0};
    test *t = p->t;

    (void)a;
    if (p->txn.backend) {
        compare_in(p, &p->txn);
        return;
    }
    CHECK_OK(vls_txn_begin(&txn, p->store, VALISE_TXN_READ, &t->err));
    compare_in(p, &txn);
}

static void stop(void *state)
{
    pair *p = state;

    op_compare(p, NULL);
    op_commit(p, NULL);
    op_compare(p, NULL);
    vls_store_close(p->store);
}

TEST_PARAMS(object_model, "memory", "sqlite")

TEST(object_model, agrees_with_a_list)
{
    static const model m = {.start = start,
                            .stop = stop,
                            .wants_dir = true,
                            .runs = 25,
                            .steps = 60,
                            .ops = {{"put", 12, op_put},
                                    {"undo", 4, op_undo},
                                    {"erase", 3, op_erase},
                                    {"delete", 4, op_delete},
                                    {"sweep", 4, op_sweep},
                                    {"commit", 4, op_commit},
                                    {"rollback", 2, op_rollback},
                                    {"reopen", 1, op_reopen},
                                    {"forget", 1, op_forget},
                                    {"compare", 2, op_compare}}};

    model_test(t, &m);
}
