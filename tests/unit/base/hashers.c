/* hashers.c -- hashers that are lent and come back. */
#include "base/hashers.h"

#include "harness/fault.h"

#include "base/hex.h"

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static int hash_abc(vls_hashers *hashers, valise_error *err)
{
    VLS_AUTO(borrowed_hasher) vls_hasher *hasher = NULL;
    valise_id id;
    int rc = vls_hashers_borrow(&hasher, hashers, err);

    if (rc == 0)
        rc = vls_hash_bytes(&id, hasher, VLS_STR("abc"), err);
    if (rc == 0)
        CHECK_TEXT(ABC, vls_id_hex(&id).s);
    return rc;
}

TEST(hashers, one_that_came_back_is_lent_again)
{
    VLS_AUTO(hashers) vls_hashers hashers = {0};
    vls_hasher *first = NULL, *second = NULL, *again = NULL;

    vls_hashers_init(&hashers, t->env);
    CHECK_OK(vls_hashers_borrow(&first, &hashers, &t->err));
    CHECK_OK(vls_hashers_borrow(&second, &hashers, &t->err));
    CHECK(first != second);
    CHECK_INT(2, hashers.lent_count);
    vls_hash_begin_tagged(first, "valise.test.1"); /* in the middle of something */
    vls_hash_field_u64(first, 10);
    CHECK(!vls_hashers_return(first));
    size_t in_use = test_bytes_in_use(t);
    CHECK_OK(vls_hashers_borrow(&again, &hashers, &t->err));
    CHECK(again == first);
    CHECK_INT(in_use, test_bytes_in_use(t));
    CHECK(!vls_hashers_return(again));
    CHECK(!vls_hashers_return(second));
    CHECK_OK(hash_abc(&hashers, &t->err));
    CHECK_INT(0, hashers.lent_count);
}

TEST(hashers, only_some_are_kept)
{
    VLS_AUTO(hashers) vls_hashers hashers = {0};
    vls_hasher *lent[VLS_HASHERS_KEPT + 5];

    vls_hashers_init(&hashers, t->env);
    for (size_t i = 0; i < VLS_COUNT(lent); i++)
        CHECK_OK(vls_hashers_borrow(&lent[i], &hashers, &t->err));
    size_t in_use = test_bytes_in_use(t);
    for (size_t i = 0; i < VLS_COUNT(lent); i++)
        (void)vls_hashers_return(lent[i]);
    CHECK_INT(VLS_HASHERS_KEPT, hashers.idle_count);
    CHECK_INT(in_use / VLS_COUNT(lent) * VLS_HASHERS_KEPT, test_bytes_in_use(t));
}

TEST(hashers, nothing_is_fine)
{
    vls_hashers hashers = {0};

    vls_hashers_release(&hashers);
    CHECK(!vls_hashers_return(NULL));
    vls_hashers_init(&hashers, t->env);
    vls_hashers_release(&hashers);
    vls_hashers_release(&hashers);
}

static int lend_once(fault *f, void *arg)
{
    VLS_AUTO(hashers) vls_hashers hashers = {0};
    vls_hasher *held = NULL;
    int rc;

    (void)arg;
    fault_off(f);
    vls_hashers_init(&hashers, f->env);
    CHECK_INT(0, vls_hashers_borrow(&held, &hashers, NULL));
    fault_on(f);
    rc = hash_abc(&hashers, &f->err);
    fault_off(f);
    CHECK_INT(1, hashers.lent_count);
    CHECK_INT(0, hash_abc(&hashers, NULL)); /* the next one has memory again */
    (void)vls_hashers_return(held);
    return rc;
}

TEST(hashers, without_memory)
{
    fault_each_alloc(t, 0, lend_once, NULL);
}
