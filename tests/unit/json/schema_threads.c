/* schema_threads.c -- one compiled schema, checked from several threads at once. */
#include "harness/test.h"

#include <pthread.h>

#include "json/schema.h"

#define THREADS 4
#define ROUNDS 200

typedef struct worker {
    const vls_schema *schema;
    vls_json good, bad;
    int wrong;
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    valise_error err = VALISE_ERROR_INIT;

    for (int i = 0; i < ROUNDS; i++) {
        w->wrong += vls_schema_check(w->schema, w->good, NULL, &err) != 0;
        w->wrong += vls_schema_check(w->schema, w->bad, NULL, &err) != VALISE_E_INVALID;
    }
    return NULL;
}

TEST(schema_threads, one_schema_checks_from_many)
{
    /* What keeps notes while it checks: patterns, sets of evaluated items, hashes, scopes. */
    static const char text[] =
        "{\"$dynamicAnchor\":\"a\",\"items\":{\"pattern\":\"^(a|b)*$\",\"not\":{\"enum\":[\"aa\"]}}"
        ","
        "\"anyOf\":[{\"maxItems\":1},{\"contains\":{\"$dynamicRef\":\"#a\"}}],"
        "\"uniqueItems\":true,\"unevaluatedItems\":false}";
    pthread_t threads[THREADS];
    worker workers[THREADS];
    VLS_AUTO(schema) vls_schema *schema = NULL;
    VLS_AUTO(arena) vls_arena arena;
    vls_json value, good, bad;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_OK(vls_json_parse(&value, &arena, valise_str_of(text), NULL, &t->err));
    CHECK_OK(vls_json_parse(&good, &arena, VLS_STR("[\"ab\",\"ba\",\"abba\"]"), NULL, &t->err));
    CHECK_OK(vls_json_parse(&bad, &arena, VLS_STR("[\"ab\",\"ac\"]"), NULL, &t->err));
    CHECK_OK(vls_schema_compile(&schema, t->env, value, NULL, &t->err));
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){schema, good, bad, 0};
        CHECK_INT(0, pthread_create(&threads[i], NULL, work, &workers[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT(0, pthread_join(threads[i], NULL));
        CHECK_INT(0, workers[i].wrong);
    }
}
