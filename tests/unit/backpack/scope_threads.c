/* scope_threads.c -- a scope is shared: many threads ask it at once. */
#include "kit.h"

static void ask(size_t index, void *arg)
{
    vls_scope *scope = arg;

    for (int i = 0; i < 3000; i++) {
        const char *key = test_format("k%d", (i * 7 + (int)index) % 500);
        valise_commit c = {.namespace_name = VLS_STR("a.b")};
        bool expected = key[strlen(key) - 1] != '3';
        CHECK(vls_scope_may_read(scope, valise_str_of(key), &c, &c) == expected);
        CHECK(vls_scope_may_write(scope, valise_str_of(key), NULL, VLS_STR("x.y")) ==
              (key[1] == '4' && expected));
        if (i % 100 == 0)
            vls_scope_set_run(scope, vls_scope_run(scope) + 1, 0);
    }
}

TEST(scope_threads, ask_one_scope)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n =
        bag_node(t, b, "n", "",
                 &(valise_permissions){
                     .write = NAMES("k4*"), .deny = NAMES("*3"), .namespace_read = NAMES("a.*")});

    test_threads(4, ask, n);
}
