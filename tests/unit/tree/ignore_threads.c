/* ignore_threads.c -- one set of rules, many threads: they match, enter directories and let go.
 * [C3] */
#include "tree/ignore.h"

#include "harness/test.h"

enum { THREADS = 8, ROUNDS = 300 };

typedef struct shared {
    test *t;
    vls_ignore *rules;
} shared;

static void match_and_enter(size_t index, void *arg)
{
    shared *s = arg;
    valise_str dir = valise_str_of(test_format("sub/%zu", index));
    valise_str path = valise_str_of(test_format("sub/%zu/a.o", index));

    for (size_t i = 0; i < ROUNDS; i++) {
        VLS_AUTO(ignore) vls_ignore *same = NULL;
        VLS_AUTO(ignore) vls_ignore *below = NULL;
        valise_error err = VALISE_ERROR_INIT;
        CHECK_INT(0, vls_ignore_enter(&same, s->rules, dir, VLS_STR(""), VLS_STR(""), &err));
        CHECK_INT(0, vls_ignore_enter(&below, same, dir, VLS_STR("!*.o"), VLS_STR(""), &err));
        CHECK(vls_ignore_match(NULL, same, path, false));
        CHECK(!vls_ignore_match(NULL, below, path, false));
    }
}

static void drop_rules(size_t index, void *arg)
{
    vls_ignore **refs = arg;

    CHECK(vls_ignore_match(NULL, refs[index], VLS_STR("sub/a.o"), false));
    vls_ignore_unref(refs[index]);
}

TEST(ignore_threads, share_rules)
{
    VLS_AUTO(ignore) vls_ignore *root = NULL;
    VLS_AUTO(ignore) vls_ignore *rules = NULL;
    vls_ignore *refs[THREADS];

    CHECK_OK(vls_ignore_root(&root, t->env, VLS_STR("config"), VLS_STR("b"), &t->err));
    CHECK_OK(vls_ignore_enter(&rules, root, VLS_STR("sub"), VLS_STR("*.o\n[ab]c*d"), VLS_STR(""),
                              &t->err));
    test_threads(THREADS, match_and_enter, &(shared){t, rules});
    for (size_t i = 0; i < THREADS; i++)
        refs[i] = vls_ignore_ref(rules);
    rules = vls_ignore_unref(rules);
    test_threads(THREADS, drop_rules, refs); /* whoever is last frees them */
}
