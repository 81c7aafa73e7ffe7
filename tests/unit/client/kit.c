/* kit.c -- a client and the far side of it. */
#include "client/kit.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

double kit_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- the server ---- */

static void far_stop(void *arg)
{
    far *f = arg;

    close(f->in);
    close(f->out);
    waitpid((pid_t)f->pid, NULL, 0);
}

far *far_start(const far *other)
{
    static int number;
    const char *root = getenv("VALISE_BUILD_ROOT");
    far *f = test_alloc(sizeof(*f));
    const char *path = test_format("%s/tests/unit/far-server", root ? root : ".");
    const char *port = test_format("%d", other ? other->port : 1);
    char line[32] = "";
    int in[2], out[2];
    posix_spawn_file_actions_t actions;
    pid_t pid;

    f->log = test_format("%s/far-%d.log", test_tmpdir(), ++number);
    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    char *argv[] = {(char *)(uintptr_t)path, (char *)(uintptr_t)f->log, (char *)(uintptr_t)KEY,
                    (char *)(uintptr_t)port, NULL};
    CHECK_INT(0, posix_spawn(&pid, path, &actions, NULL, argv, environ));
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    f->in = in[1];
    f->out = out[0];
    f->pid = pid;
    test_defer(far_stop, f);
    CHECK(read(f->out, line, sizeof(line) - 1) > 0);
    CHECK(sscanf(line, "%d", &f->port) == 1);
    CHECK(setenv("TOY_API_KEY", KEY, 1) == 0);
    return f;
}

const char *far_log(const far *f)
{
    return test_read_file(f->log).ptr;
}

/* ---- the client ---- */

vls_provider kit_provider(const far *f, const char *script)
{
    return (vls_provider){
        .name = VLS_STR("toy"),
        .adapter = &toy,
        .url = valise_str_of(test_format("http://127.0.0.1:%d/%s/", f ? f->port : 1, script)),
        .model = VLS_STR("toy-9"),
        .timeout_ns = INT64_C(60) * 1000000000,
        .idle_ns = INT64_C(20) * 1000000000,
        .connect_ns = INT64_C(10) * 1000000000,
        .retries = 3,
        .max_answer = VALISE_NONE,
    };
}

static void free_client(void *arg)
{
    vls_client_free(arg);
}

vls_client *kit_client(test *t, const vls_provider *provider)
{
    vls_client *client = NULL;

    CHECK_OK(vls_client_new(&client, t->env, provider, &t->err));
    test_defer(free_client, client);
    return client;
}

typedef struct asking {
    sent *s;
    const how *how;
    const test *t;
} asking;

static int on_piece(void *arg, const vls_piece *piece, valise_error *err)
{
    asking *a = arg;

    vls_buf_add(&a->s->pieces, piece->text);
    return a->how->refuse_piece < 0 ? vls_fail(err, a->how->refuse_piece, "no more") : 0;
}

static void on_retry(void *arg, int64_t attempt, int64_t wait_ns, const valise_error *why)
{
    asking *a = arg;

    CHECK_INT(attempt, a->s->retried + 1);
    CHECK(wait_ns >= 0);
    CHECK(!strstr(why->message, KEY));
    a->s->retried++;
    vls_buf_printf(&a->s->retries, "%s\n", why->message);
}

static bool is_cancelled(void *arg)
{
    asking *a = arg;
    size_t used = test_bytes_in_use(a->t);

    a->s->peak = VLS_MAX(a->s->peak, used);
    return a->how->cancelled && a->how->cancelled(a->s);
}

static void release(void *arg)
{
    sent *s = arg;

    vls_arena_release(&s->arena);
    vls_buf_release(&s->pieces);
    vls_buf_release(&s->retries);
}

/* No part of the key that would be of use to somebody is anywhere. */
static void check_hidden(const sent *s)
{
    CHECK(!strstr(s->err.message, "PLANTED") && !strstr(s->err.message, "sk-toy-01234"));
    CHECK(!strstr(s->err.hint, "PLANTED") && !strstr(s->err.path, "PLANTED"));
    CHECK(!s->blocks || !strstr(s->blocks, "PLANTED"));
    CHECK(s->pieces.len == 0 || !memmem(s->pieces.ptr, s->pieces.len, "PLANTED", 7));
}

sent *kit_send(test *t, vls_client *client, const how *given)
{
    static const how plain = {.stream = false};
    sent *s = test_alloc(sizeof(*s));
    const how *asked = given ? given : &plain;
    asking a = {s, asked, t};
    vls_wire wire;
    vls_sending sending = {
        .wire = asked->wire ? asked->wire : &wire,
        .blobs = asked->blobs,
        .neutral = VLS_STR("{}"),
        .stream = asked->stream,
        .on_piece = on_piece,
        .on_retry = on_retry,
        .arg = &a,
        .cancelled = is_cancelled,
    };
    vls_buf text;

    vls_wire_init(&wire, t->env);
    vls_buf_add_text(&wire.text, "{\"say\":\"hello\"}");
    vls_arena_init(&s->arena, t->env, (size_t)1 << 30);
    vls_buf_init(&s->pieces, t->env, (size_t)1 << 28);
    vls_buf_init(&s->retries, t->env, (size_t)1 << 20);
    test_defer(release, s);
    s->seconds = kit_now();
    s->rc = vls_client_send(&s->answer, &s->arena, client, &sending, &s->err);
    s->seconds = kit_now() - s->seconds;
    vls_wire_release(&wire);
    if (s->answer.blocks.type == VLS_JSON_ARRAY) {
        vls_buf_init_in(&text, &s->arena, (size_t)1 << 28);
        CHECK(vls_json_write_around(&text, s->answer.blocks, NULL) == 0);
        s->blocks = vls_buf_cstr(&text);
    }
    check_hidden(s);
    return s;
}

sent *kit_ask(test *t, const far *f, const char *script, bool stream)
{
    vls_provider provider = kit_provider(f, script);
    how h = {.stream = stream};

    return kit_send(t, kit_client(t, &provider), &h);
}
