/* threads.c -- one client of many threads, and somebody who cancels. */
#include <pthread.h>
#include <time.h>

#include "client/kit.h"

typedef struct crowd {
    vls_client *client;
    const valise_env *env;
} crowd;

static int ignore(void *arg, const vls_piece *piece, valise_error *err)
{
    (void)err;
    *(size_t *)arg += piece->text.len;
    return 0;
}

static void ask(size_t index, void *arg)
{
    crowd *c = arg;
    vls_arena arena;
    vls_wire wire;
    vls_answer answer;
    size_t said = 0;
    vls_sending sending = {.wire = &wire, .stream = index % 2, .on_piece = ignore, .arg = &said};
    valise_error err = VALISE_ERROR_INIT;

    vls_arena_init(&arena, c->env, (size_t)1 << 26);
    vls_wire_init(&wire, c->env);
    vls_buf_add_text(&wire.text, "{}");
    for (int i = 0; i < 5; i++) {
        CHECK_INT(0, vls_client_send(&answer, &arena, c->client, &sending, &err));
        CHECK_INT(1, answer.blocks.len);
    }
    vls_wire_release(&wire);
    vls_arena_release(&arena);
}

TEST(threads, share_a_client)
{
    far *f = far_start(NULL);
    vls_provider provider = kit_provider(f, "stream");
    crowd c = {kit_client(t, &provider), t->env};

    test_threads(6, ask, &c);
}

TEST(threads, share_a_file_of_answers)
{
    vls_provider provider = kit_provider(NULL, "x");
    const char *path = test_format("%s/answers", test_tmpdir());
    VLS_AUTO(buf) vls_buf lines;
    crowd c = {NULL, t->env};

    vls_buf_init(&lines, t->env, (size_t)1 << 16);
    for (int i = 0; i < 30; i++)
        vls_buf_add_text(&lines,
                         "{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"a\"}]}}\n");
    test_write_file(path, vls_buf_str(&lines));
    provider.replay = valise_str_of(path);
    c.client = kit_client(t, &provider);
    test_threads(6, ask, &c); /* each line once: six times five */
    CHECK_INT(VALISE_E_NOT_FOUND, kit_send(t, c.client, NULL)->rc);
}

static atomic_bool enough;

static bool is_enough(void *arg)
{
    (void)arg;
    return atomic_load(&enough);
}

static void *cancel_soon(void *arg)
{
    struct timespec time = {0, 300 * 1000000};

    nanosleep(&time, NULL);
    *(double *)arg = kit_now();
    atomic_store(&enough, true);
    return NULL;
}

/* In the middle of a stream, and while nothing comes. */
TEST(threads, cancel_from_another_one)
{
    static const char *const scripts[] = {"drip", "silence", "silence-inside"};
    far *f = far_start(NULL);

    for (size_t i = 0; i < VLS_COUNT(scripts); i++) {
        vls_provider provider = kit_provider(f, scripts[i]);
        vls_client *client = kit_client(t, &provider);
        pthread_t thread;
        double when = 0;
        sent *s;
        atomic_store(&enough, false);
        CHECK_INT(0, pthread_create(&thread, NULL, cancel_soon, &when));
        s = kit_send(t, client, &(how){.stream = true, .cancelled = is_enough});
        CHECK_INT(0, pthread_join(thread, NULL));
        CHECK_INT(VALISE_E_CANCELLED, s->rc);
        test_note("%s: %.0f ms", scripts[i], (kit_now() - when) * 1000);
        CHECK(i < 2 || s->answer.partial);
    }
}
