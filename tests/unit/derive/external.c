/* external.c -- runs in which programs make frames, seen from inside: recipes to the byte, what is
 * held while one runs, and what happens without memory. The rest is tests/cli/74-program.sh. [C17]
 * [C21] [C23] [K34] */
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/hex.h"
#include "base/sealed.h"
#include "base/str.h"
#include "bus/bus.h"
#include "context/kit.h"
#include "context/ops.h"
#include "context/recipe.h"
#include "harness/fault.h"
#include "store/object.h"

TEST_PARAMS(external, "memory", "sqlite")

static const char *file(const char *name)
{
    return test_format("%s/%s", test_tmpdir(), name);
}

static const char *write_program(const char *name, const char *text)
{
    test_write_file(file(name), valise_str_of(test_format("#!/bin/sh\n%s\n", text)));
    CHECK_INT(0, chmod(file(name), 0700));
    return file(name);
}

/* A user who lets the program at this path run, and whose list has all bytes there. */
static const char *the_path;

static int may_run(const valise *v, const char *path, const valise_id *id, valise_error *err)
{
    (void)v, (void)id;
    return strcmp(path, the_path) == 0 ? 0 : vls_fail(err, VALISE_E_DENIED, "no");
}

static int trusted(vls_buf *out, const valise *v, const valise_id *id, size_t nth,
                   valise_error *err)
{
    (void)v, (void)id;
    if (nth > 0)
        return 0;
    vls_buf_add_text(out, the_path);
    return vls_buf_check(out, err) < 0 ? out->failed : 1;
}

/* A tree with two frames in src, and a user who lets one program run. */
static yard *prepare(test *t, const char *text)
{
    yard *y = yard_open(t);

    yard_grow(y, "src/x.c=1 src/y.c=2", "");
    (void)yard_put(y, NULL, "src/x.c", "notes", "about x", "");
    (void)yard_put(y, NULL, "src/y.c", "notes", "about y", "");
    the_path = write_program("toy", text);
    y->v->place.may_run = may_run;
    y->v->place.trusted = trusted;
    return y;
}

static const char *synthesis(const char *more)
{
    return test_format("{\"node\":\"src\",\"noScan\":true,\"program\":\"%s\"%s}", the_path, more);
}

static const char *head(yard *y, const char *member)
{
    return yard_member(y, yard_run(y, "head:get", "{\"node\":\"src\",\"type\":\"notes\"}"),
                       test_format("items.0.%s", member));
}

/* ---- recipes ---- */

/* docs/formats.md: types, name, SHA-256, parameters, `=`, id of the recipe. */
TEST(external, recipes_are_those_of_the_document)
{
    const char *from = getenv("VALISE_SOURCE_ROOT");
    valise_str text = test_read_file(test_format("%s/docs/formats.md", from ? from : "."));
    valise_str line, word[6], open = VLS_STR("```program-vectors\n");
    int count = 0;

    text = vls_str_from(text, vls_str_find(text, open) + open.len);
    while (vls_str_cut(&line, &text, text, '\n') && !vls_str_starts(line, VLS_STR("```"))) {
        VLS_AUTO(buf) vls_buf bytes = {0};
        vls_recipe recipe = {.program = true}, back;
        vls_arena arena;
        valise_id id;
        for (int i = 0; i < 6; i++)
            (void)vls_str_cut(&word[i], &line, line, ' ');
        recipe.input = word[0];
        recipe.policy = word[1];
        recipe.params = word[3];
        CHECK_OK(vls_id_parse(&recipe.program_id, word[2], &t->err));
        vls_buf_init(&bytes, t->env, VLS_RECIPE_MAX);
        CHECK_OK(vls_recipe_write(&bytes, &recipe, &t->err));
        CHECK_OK(vls_object_id(&id, "recipe", vls_buf_str(&bytes), &t->err));
        CHECK_STR(word[5], valise_str_of(vls_id_hex(&id).s));
        /* and back */
        vls_arena_init(&arena, t->env, 1 << 20);
        CHECK_INT(1, vls_recipe_read(&back, vls_buf_str(&bytes), &arena, &t->err));
        CHECK(back.program && vls_id_equal(&back.program_id, &recipe.program_id));
        CHECK_STR(word[1], back.policy);
        vls_arena_release(&arena);
        count++;
    }
    CHECK_INT(2, count);
}

TEST(external, recipes_that_are_none)
{
    static const char *const bad[] = {
        "{\"policy\":\"a\",\"version\":1}", /* no program */
        "{\"program\":\""                   /* no name */
        "1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c\"}",
        "{\"policy\":\"a\",\"program\":\"1f3a\"}",
        /* arguments, paths and what comes later: nobody guesses */
        "{\"args\":[\"-c\"],\"policy\":\"sh\",\"program\":\""
        "1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c\"}",
    };
    vls_arena arena;
    vls_recipe recipe;

    vls_arena_init(&arena, t->env, 1 << 20);
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        valise_str bytes = valise_str_of(test_format("program\n%s", bad[i]));
        CHECK_RC(VALISE_E_INVALID, vls_recipe_read(&recipe, bytes, &arena, &t->err));
    }
    vls_arena_release(&arena);
}

/* A frame by a recipe as it stands, as the head of src. */
static void put_made(yard *y, const char *recipe)
{
    test *t = y->t;
    vls_run_more more = {.internal = true};
    VLS_AUTO(buf) vls_buf basis = {0};
    vls_dependency dep = {.kind = VLS_DEP_RECIPE};
    vls_frame_store_args store = {.type = VLS_STR("notes"),
                                  .agent = VLS_STR("local"),
                                  .recipe.bytes = valise_str_of(recipe),
                                  .content.bytes = VLS_STR("made")};
    vls_slot_head head = {.path = VLS_STR("src"), .type = VLS_STR("notes")};
    const vls_slot_head *heads[] = {&head};
    vls_slot_advance_args advance = {.version = VALISE_NONE, .heads = {heads, 1}, .looks = {"", 0}};
    vls_frame_row frame;

    vls_buf_init(&basis, t->env, VLS_BASIS_MAX);
    CHECK_OK(vls_object_id(&dep.id, "recipe", store.recipe.bytes, &t->err));
    vls_basis_add(&basis, &dep);
    store.basis.bytes = vls_buf_str(&basis);
    CHECK_OK(vls_frame_compute(&frame,
                               &(vls_frame_new){.type = store.type,
                                                .agent = store.agent,
                                                .basis = store.basis.bytes,
                                                .content.bytes = store.content.bytes},
                               VLS_FRAME_EXTERNAL, &dep.id, &t->err));
    head.frame = frame.id;
    CHECK_OK(vls_run(y->v, &vls_op_context_frame_store, &store, NULL, NULL, NULL, &more, &t->err));
    CHECK_OK(
        vls_run(y->v, &vls_op_context_slot_advance, &advance, NULL, NULL, NULL, &more, &t->err));
}

/* Who comes later may have more in a recipe. It is left to them. */
TEST(external, a_recipe_of_a_newer_kind_is_left_alone)
{
    yard *y = prepare(t, test_format("echo ran >%s", file("ran")));
    const char *answer;

    put_made(y, "program\n{\"policy\":\"toy\",\"program\":"
                "\"1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c\","
                "\"sandbox\":true}");
    (void)yard_put(y, NULL, "src/x.c", "notes", "other", "");
    answer = yard_run(y, "context:regenerate", "{\"recursive\":true,\"run\":true,\"noScan\":true}");
    CHECK_TEXT("1", yard_member(y, answer, "unknown"));
    CHECK_TEXT("unknown", yard_member(y, answer, "slots.0.outcome"));
    CHECK_TEXT("0", yard_member(y, answer, "failed"));
    CHECK_TEXT("made", head(y, "text"));
    CHECK(access(file("ran"), F_OK) != 0);
}

/* What somebody put with a recipe of their own never runs, whatever it says. [K34] */
TEST(external, what_was_put_with_a_recipe_never_runs)
{
    yard *y = prepare(t, test_format("echo ran >%s", file("ran")));
    const char *answer;
    VLS_AUTO(buf) vls_buf recipe = {0};

    vls_buf_init(&recipe, t->env, 1 << 16);
    vls_base64_encode(&recipe,
                      valise_str_of("program\n{\"policy\":\"toy\",\"program\":\"1f3a5b7c1f3a5b7c1f3"
                                    "a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c\"}"));
    (void)yard_put(y, NULL, "src", "notes", "mine",
                   test_format(",\"recipe\":\"%s\"", vls_buf_cstr(&recipe)));
    yard_grow(y, "src/x.c=2 src/y.c=2", "");
    answer = yard_run(y, "context:regenerate", "{\"recursive\":true,\"run\":true,\"noScan\":true}");
    CHECK_TEXT("0", yard_member(y, answer, "failed"));
    CHECK_TEXT("0", yard_member(y, answer, "made"));
    CHECK_TEXT("mine", head(y, "text"));
    CHECK(access(file("ran"), F_OK) != 0);
}

/* ---- runs ---- */

TEST(external, the_author_stays)
{
    yard *y = prepare(t, "cat");
    const char *answer;

    (void)yard_run_as(y, "s", "context:synthesize", synthesis(""));
    CHECK_TEXT("s", head(y, "agent"));
    (void)yard_put(y, NULL, "src/x.c", "notes", "other", "");
    CHECK_RC(VALISE_E_DENIED, yard_try(y, "r", "context:synthesize", synthesis(""), NULL));
    CHECK_RC(VALISE_E_DENIED, yard_try(y, "r", "context:regenerate",
                                       "{\"node\":\"src\",\"run\":true,\"noScan\":true}", NULL));
    answer = yard_run(y, "context:regenerate", "{\"node\":\"src\",\"run\":true,\"noScan\":true}");
    CHECK_TEXT("1", yard_member(y, answer, "made"));
    CHECK_TEXT("s", head(y, "agent"));
    CHECK(strstr(head(y, "text"), "other"));
    yard_check(y);
}

/* A workspace without a user, or a host that lets nothing run. */
TEST(external, where_nobody_lets_programs_run)
{
    yard *y = prepare(t, test_format("echo ran >%s", file("ran")));
    const char *answer;

    y->v->place.may_run = NULL;
    CHECK_RC(VALISE_E_DENIED, yard_try(y, NULL, "context:synthesize", synthesis(""), NULL));
    CHECK_TEXT("", head(y, "frameId"));
    put_made(y, "program\n{\"policy\":\"toy\",\"program\":"
                "\"1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c1f3a5b7c\"}");
    (void)yard_put(y, NULL, "src/x.c", "notes", "other", "");
    y->v->place.trusted = NULL;
    answer = yard_run(y, "context:regenerate", "{\"recursive\":true,\"run\":true,\"noScan\":true}");
    CHECK_TEXT("1", yard_member(y, answer, "failed"));
    CHECK(strstr(yard_member(y, answer, "slots.0.why"), "is not trusted"));
    /* A list that names another one under these bytes is not believed. */
    y->v->place.trusted = trusted;
    answer = yard_run(y, "context:regenerate", "{\"recursive\":true,\"run\":true,\"noScan\":true}");
    CHECK(strstr(yard_member(y, answer, "slots.0.why"), "is not the program that was recorded"));
    CHECK(access(file("ran"), F_OK) != 0);
    yard_check(y);
}

/* Who may only ask for programs does not learn which files there are. [K34] */
TEST(external, what_is_not_trusted_is_not_looked_at)
{
    yard *y = prepare(t, "true");
    const char *there = write_program("there", "true"),
               *given[] = {there, file("nothing"), file("link"), file("plain")};

    test_write_file(file("plain"), VLS_STR("x"));
    CHECK_INT(0, symlink(there, file("link")));
    for (size_t i = 0; i < VLS_COUNT(given); i++) {
        CHECK_RC(
            VALISE_E_DENIED,
            yard_try(y, "s", "context:synthesize",
                     test_format("{\"node\":\"src\",\"noScan\":true,\"program\":\"%s\"}", given[i]),
                     NULL));
        CHECK(strstr(t->err.message, "is not trusted: "));
        CHECK(i == 0 || !strstr(t->err.message, "there"));
    }
    the_path = file("nothing"); /* it is trusted, and gone */
    CHECK_RC(VALISE_E_NOT_FOUND, yard_try(y, "s", "context:synthesize", synthesis(""), NULL));
}

/* What a program is called is what the user's list calls it: a recipe comes from anybody, and some
 * programs do another thing under another name. */
TEST(external, a_recipe_does_not_say_what_a_program_is_called)
{
    VLS_AUTO(sealed) vls_sealed sealed = {.fd = -1};
    yard *y = prepare(t, "true");
    const char *answer, *why;

    the_path = file("honest"); /* a shell, which complains of JSON, by its own name */
    test_write_file(the_path, test_read_file("/bin/sh"));
    CHECK_INT(0, chmod(the_path, 0700));
    CHECK_OK(vls_sealed_open(&sealed, the_path, &t->err));
    put_made(y, test_format("program\n{\"policy\":\"forged\",\"program\":\"%s\"}",
                            vls_id_hex(&sealed.id).s));
    (void)yard_put(y, NULL, "src/x.c", "notes", "other", "");
    answer = yard_run(y, "context:regenerate", "{\"recursive\":true,\"run\":true,\"noScan\":true}");
    CHECK_TEXT("1", yard_member(y, answer, "failed"));
    why = yard_member(y, answer, "slots.0.why");
    CHECK(strstr(why, "honest: ") && !strstr(why, "forged"));
    yard_check(y);
}

typedef struct listener {
    yard *y;
    bool put, cancel;
    int calls;
} listener;

static int listen(void *arg, const valise_progress_state *state)
{
    listener *l = arg;

    (void)state;
    if (access(file("waits"), F_OK) != 0)
        return 0;
    l->calls++;
    if (l->put && l->calls == 1) {
        (void)yard_put(l->y, NULL, "src/x.c", "notes", "meanwhile", "");
        test_write_file(file("go"), VLS_STR(""));
    }
    return l->cancel;
}

static int run_with(yard *y, listener *l)
{
    valise_call call = VALISE_CALL_INIT;
    test *t = y->t;

    call.progress = (valise_progress){listen, l};
    return valise_dispatch(NULL, y->v, "context:synthesize", synthesis(""), &call, &t->err);
}

/* Whoever writes meanwhile does not wait; and what it was made of is looked at again. */
TEST(external, others_write_while_it_runs)
{
    yard *y =
        prepare(t, test_format("echo run >>%s; : >%s; while [ ! -e %s ]; do sleep 0.01; done; cat",
                               file("log"), file("waits"), file("go")));
    listener l = {.y = y, .put = true};

    CHECK_OK(run_with(y, &l));
    CHECK(l.calls > 0);
    CHECK(strstr(head(y, "text"), "meanwhile"));
    CHECK_TEXT("fresh", head(y, "state"));
    CHECK_STR(VLS_STR("run\nrun\n"), test_read_file(file("log")));
    yard_check(y);
}

TEST(external, can_be_cancelled)
{
    yard *y = prepare(t, test_format("echo $$ >%s; sleep 100", file("waits")));
    listener l = {.y = y, .cancel = true};
    const char *pid;

    CHECK_RC(VALISE_E_CANCELLED, run_with(y, &l));
    CHECK_TEXT("", head(y, "frameId"));
    pid = test_format("/proc/%.*s", (int)strcspn(test_read_file(file("waits")).ptr, "\n"),
                      test_read_file(file("waits")).ptr);
    CHECK(access(pid, F_OK) != 0);
    yard_check(y);
}

/* JSON makes six bytes of one. */
TEST(external_memory, too_much_is_one_slots_trouble)
{
    yard *y = prepare(t, "cat >/dev/null; echo small");
    const size_t size = (size_t)1 << 20;
    char *words = test_alloc(4096), *ones = test_alloc(size + 1);
    const char *answer;
    size_t at = 0;

    for (int i = 0; i < 11; i++)
        at += (size_t)snprintf(words + at, 4096 - at, "big/f%d=1 ", i);
    yard_grow(y, test_format("%ssrc/x.c=1 src/y.c=2", words), "");
    memset(ones, 1, size);
    ones[size] = '\0';
    for (int i = 0; i < 11; i++)
        (void)yard_put(y, NULL, test_format("big/f%d", i), "notes", ones, "");
    answer =
        yard_run(y, "context:synthesize",
                 test_format("{\"recursive\":true,\"noScan\":true,\"program\":\"%s\"}", the_path));
    CHECK_TEXT("1", yard_member(y, answer, "failed"));
    CHECK_TEXT("2", yard_member(y, answer, "made"));
    CHECK(strstr(answer, "too many for a program"));
}

/* ---- without memory ---- */

static int once(fault *f, void *arg)
{
    valise_options o = VALISE_OPTIONS_INIT;
    yard y = {.t = f->t};
    const char *payload = arg;
    int rc;

    fault_off(f);
    o.env = f->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG;
    CHECK_INT(0, valise_open(&y.v, ":memory:", &o, &f->err));
    yard_grow(&y, "src/x.c=1", "");
    (void)yard_put(&y, NULL, "src/x.c", "notes", "about x", "");
    y.v->place.may_run = may_run;
    y.v->place.trusted = trusted;
    if (strstr(payload, "run")) {
        (void)yard_run(&y, "context:synthesize", synthesis(",\"recursive\":true"));
        (void)yard_put(&y, NULL, "src/x.c", "notes", "other", "");
    }
    fault_on(f);
    rc = valise_dispatch(NULL, y.v,
                         strstr(payload, "run") ? "context:regenerate" : "context:synthesize",
                         payload, NULL, &f->err);
    fault_off(f);
    if (rc == 0 && fault_has_hit(f))
        f->recovered = true; /* caches */
    CHECK(!strstr(yard_run(&y, "workspace:validate", NULL), "\"kind\":\"problem\""));
    valise_close(y.v);
    fault_on(f);
    return rc;
}

TEST(external_memory, without)
{
    the_path = write_program("toy", "cat");
    fault_each_alloc(t, 0, once, (void *)(uintptr_t)synthesis(""));
    fault_each_alloc(t, 0, once,
                     (void *)(uintptr_t) "{\"recursive\":true,\"run\":true,\"noScan\":true}");
}
