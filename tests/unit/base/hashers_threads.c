/* hashers_threads.c -- many threads, each with its own. Worth most with -fsanitize=thread. */
#include "base/hashers.h"

#include "harness/test.h"

#define THREADS 6
#define ROUNDS 500u

typedef struct job {
    vls_hashers hashers;
    valise_id expected[8];
    atomic_size_t wrong;
} job;

/* Checks only take note: a failed CHECK jumps, which must not leave what is borrowed. */
static void borrow_and_hash(size_t index, void *arg)
{
    job *j = arg;

    for (unsigned i = 0; i < ROUNDS; i++) {
        VLS_AUTO(borrowed_hasher) vls_hasher *hasher = NULL;
        valise_id id;
        size_t which = (index + i) % VLS_COUNT(j->expected);

        if (vls_hashers_borrow(&hasher, &j->hashers, NULL) < 0 ||
            vls_hash_bytes(&id, hasher, vls_str("abcdefgh", which), NULL) < 0 ||
            !vls_id_equal(&id, &j->expected[which]))
            atomic_fetch_add(&j->wrong, 1);
    }
}

TEST(hashers_threads, each_has_one_for_itself)
{
    job j = {.wrong = 0};
    VLS_AUTO(hasher) vls_hasher own = {0};

    CHECK_OK(vls_hasher_init(&own, &t->err));
    for (size_t i = 0; i < VLS_COUNT(j.expected); i++)
        CHECK_OK(vls_hash_bytes(&j.expected[i], &own, vls_str("abcdefgh", i), &t->err));
    vls_hashers_init(&j.hashers, t->env);
    test_threads(THREADS, borrow_and_hash, &j);
    CHECK_INT(0, atomic_load(&j.wrong));
    CHECK(j.hashers.idle_count > 0 && j.hashers.idle_count <= THREADS);
    CHECK_INT(0, j.hashers.lent_count);
    vls_hashers_release(&j.hashers);
}
