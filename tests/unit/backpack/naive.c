/* naive.c -- the naive ledger answers what a person would. */
#include "kit/naive.h"

#include "base/buf.h"
#include "base/hash.h"
#include "harness/test.h"

static const valise_uuid id = {{1, 2, 3, 4}}, other = {{5, 6, 7, 8}};

static void append(test *t, const vls_ledger *ledger, const char *key, const char *value,
                   const char *name)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    valise_commit commit = {.time = 7,
                            .key = valise_str_of(key),
                            .node_id = VLS_STR("n"),
                            .version = 1,
                            .action = value ? VALISE_ACTION_PACK : VALISE_ACTION_DELETE};

    if (value) {
        vls_hash_bytes(&commit.value, valise_str_of(value));
        CHECK_OK(vls_blob_new(&blob, t->env, valise_str_of(value), &t->err));
        commit.value_size = (int64_t)strlen(value);
    }
    if (name)
        commit.namespace_name = valise_str_of(name);
    ledger->ops->enter(ledger->self);
    CHECK_OK(ledger->ops->append(ledger->self, &commit, blob, &t->err));
    ledger->ops->leave(ledger->self);
}

static int note(void *arg, const valise_commit *commit, valise_error *err)
{
    vls_buf *out = arg;

    (void)err;
    vls_buf_printf(out, "%.*s@%lld ", VALISE_STR_ARG(commit->key), (long long)commit->seq);
    return 0;
}

static const char *items(test *t, const vls_ledger *ledger, const char *pattern)
{
    VLS_AUTO(buf) vls_buf out = {0};

    vls_buf_init(&out, t->env, 1000);
    if (pattern)
        CHECK_OK(
            ledger->ops->each_named(ledger->self, valise_str_of(pattern), note, &out, &t->err));
    else
        CHECK_OK(ledger->ops->each_item(ledger->self, note, &out, &t->err));
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&out)));
}

TEST(naive, shows_states)
{
    VLS_AUTO(naive) naive *n = NULL;
    VLS_AUTO(naive) naive *fork = NULL;
    vls_ledger ledger, forked, old = {0};

    CHECK_OK(naive_new(&n, t->env, &(naive_options){.id = id}, &t->err));
    ledger = naive_ledger(n);
    append(t, &ledger, "b", "1", "sales.chat");
    append(t, &ledger, "a", "2", "sales.research.web");
    append(t, &ledger, "b", NULL, NULL);
    append(t, &ledger, "c", "3", "sales");
    CHECK_TEXT("a@2 c@4 ", items(t, &ledger, NULL));
    CHECK_TEXT("a@2 ", items(t, &ledger, "sales.*.*"));
    CHECK_TEXT("a@2 c@4 ", items(t, &ledger, "sales.**"));
    CHECK_TEXT("a@2 ", items(t, &ledger, "**.web"));
    CHECK_TEXT("", items(t, &ledger, "sales.*"));
    CHECK_OK(ledger.ops->freeze(&old, ledger.self, 2, &t->err));
    CHECK_TEXT("a@2 b@1 ", items(t, &old, NULL));
    CHECK_OK(naive_fork(&fork, &old, &(naive_options){.id = other}, &t->err));
    forked = naive_ledger(fork);
    append(t, &forked, "a", NULL, NULL);
    CHECK_TEXT("b@1 ", items(t, &forked, NULL));
    naive_set_edge(n, 3);
    CHECK_TEXT("a@2 c@4 ", items(t, &ledger, NULL));
    old.ops->release(old.self);
}
