/* spec.c -- what operations do, as data, through every surface (README.md here). [K6 Q24] */
#include <dirent.h>
#include <stdlib.h>

#include <valise.h>
#include <valise/workspace.h>

#include "harness/process.h"
#include "harness/test.h"

#include "base/arena.h"
#include "base/hex.h"
#include "base/str.h"
#include "base/time.h"
#include "json/json.h"

TEST_PARAMS(spec, "memory", "sqlite", "cli")

typedef struct world {
    test *t;
    vls_arena arena;
    valise *v;       /* C API */
    const char *dir; /* command line */
} world;

/* ---- answers ---- */

/* What a step gave: a code and either an answer or an error. */
typedef struct answer {
    int code;     /* 0 or below */
    bool nothing; /* there was no output at all */
    vls_json value;
    const char *message, *hint;
} answer;

static vls_json parse(world *w, valise_str text)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_str copy = {NULL, 0};
    vls_json v;

    CHECK_INT(0, vls_arena_dup(&copy, &w->arena, text, &err));
    CHECK_MSG(vls_json_parse(&v, &w->arena, copy, NULL, &err) == 0, "%s in %.*s", err.message,
              VALISE_STR_ARG(text));
    return v;
}

static valise_str text_of(world *w, const vls_json *v)
{
    vls_buf out;
    valise_str copy = {NULL, 0};
    valise_error err = VALISE_ERROR_INIT;

    vls_buf_init(&out, w->t->env, 1 << 24);
    CHECK_INT(0, vls_json_write(&out, v ? *v : vls_json_null(), &err));
    CHECK_INT(0, vls_arena_dup(&copy, &w->arena, vls_buf_str(&out), &err));
    vls_buf_release(&out);
    return copy;
}

static valise_str member(vls_json step, const char *name)
{
    const vls_json *v = vls_json_get(step, valise_str_of(name));

    return v ? vls_json_str(*v) : (valise_str){NULL, 0};
}

static vls_json rows_of(vls_json v)
{
    const vls_json *items = vls_json_get(v, VLS_STR("items"));

    return items && v.len == 1 ? *items : v;
}

/* ---- the C API ---- */

static answer run_api(world *w, vls_json step)
{
    const vls_json *with = vls_json_get(step, VLS_STR("with"));
    const vls_json *expect = vls_json_get(step, VLS_STR("expect"));
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    valise_error err = VALISE_ERROR_INIT;
    answer a = {0};

    call.actor = member(step, "as");
    call.at = member(step, "at");
    if (expect)
        call.expect = text_of(w, expect);
    a.code = valise_dispatch_str(&reply, w->v, member(step, "run"),
                                 with ? text_of(w, with) : VLS_STR("{}"), &call, &err);
    if (a.code == 0)
        a.value = rows_of(parse(w, valise_blob_bytes(reply.json)));
    a.message = test_format("%s %s", err.message, err.path);
    a.hint = test_format("%s", err.hint);
    valise_reply_release(&reply);
    return a;
}

/* ---- the command line ---- */

static int code_of(valise_str name)
{
    for (int code = -1; code > -32; code--) {
        if (vls_str_equal(valise_str_of(valise_error_name(code)), name))
            return code;
    }
    CHECK_MSG(false, "'%.*s' is no code", VALISE_STR_ARG(name));
    return 0;
}

/* One document, or one a line. */
static vls_json parse_lines(world *w, valise_str text, bool list)
{
    vls_json rows[256];
    size_t count = 0;

    while (text.len > 0) {
        valise_str line;
        (void)vls_str_cut(&line, &text, text, '\n');
        CHECK(count < VLS_COUNT(rows));
        rows[count++] = parse(w, line);
    }
    if (!list) {
        CHECK_INT(1, count);
        return rows[0];
    }
    vls_json *kept = vls_arena_array(&w->arena, count, sizeof(*kept));
    CHECK(kept);
    memcpy(kept, rows, count * sizeof(*kept));
    return vls_json_array(kept, count);
}

/* The command line may show a part of the answer. */
static const vls_json *expected_of(const world *w, vls_json step)
{
    const vls_json *shows = w->v ? NULL : vls_json_get(step, VLS_STR("shows"));

    return shows ? shows : vls_json_get(step, VLS_STR("gives"));
}

/* The exit code of a success: not 0 where the answer is no good news. */
static int exit_of(vls_json step)
{
    const vls_json *code = vls_json_get(step, VLS_STR("exit"));

    return code ? (int)code->integer : 0;
}

static answer run_cli(world *w, vls_json step)
{
    const vls_json *with = vls_json_get(step, VLS_STR("with"));
    const vls_json *expect = vls_json_get(step, VLS_STR("expect"));
    const vls_json *gives = expected_of(w, step);
    const char *binary = getenv("VALISE");
    const char *argv[24];
    process_result r;
    answer a = {0};
    int n = 0;

    CHECK_MSG(binary, "VALISE is not set");
    argv[n++] = binary;
    argv[n++] = "-C";
    argv[n++] = w->dir;
    argv[n++] = "--json";
    if (member(step, "as").len) {
        argv[n++] = "--actor";
        argv[n++] = test_format("%.*s", VALISE_STR_ARG(member(step, "as")));
    }
    if (member(step, "at").len) {
        argv[n++] = "--at";
        argv[n++] = test_format("%.*s", VALISE_STR_ARG(member(step, "at")));
    }
    if (expect) {
        argv[n++] = "--expect";
        argv[n++] = test_format("%.*s", VALISE_STR_ARG(text_of(w, expect)));
    }
    argv[n++] = "run";
    argv[n++] = test_format("%.*s", VALISE_STR_ARG(member(step, "run")));
    argv[n++] = with ? test_format("%.*s", VALISE_STR_ARG(text_of(w, with))) : "{}";
    argv[n] = NULL;
    process_run(&r, argv, NULL);
    bool list = gives && gives->type == VLS_JSON_ARRAY; /* without rows it is no output either */
    a.nothing = r.out.len == 0 && r.err.len == 0 && !list;
    if (r.exit_code == exit_of(step) && a.nothing)
        return a;
    if (r.exit_code == exit_of(step)) {
        a.value = parse_lines(w, r.out, list);
    } else {
        const vls_json *error = vls_json_get(parse(w, vls_str_trim(r.err)), VLS_STR("error"));
        CHECK_MSG(error, "%.*s", VALISE_STR_ARG(r.err));
        a.code = code_of(member(*error, "code"));
        a.message = test_format("%.*s %.*s", VALISE_STR_ARG(member(*error, "message")),
                                VALISE_STR_ARG(member(*error, "path")));
        a.hint = test_format("%.*s", VALISE_STR_ARG(member(*error, "hint")));
    }
    return a;
}

/* ---- comparing ---- */

static bool matches(vls_json expected, vls_json actual);

static bool matches_kind(valise_str kind, vls_json actual)
{
    valise_id id;
    valise_uuid uuid;
    int64_t time;

    if (vls_str_equal(kind, VLS_STR("$any")))
        return true;
    if (actual.type != VLS_JSON_STRING)
        return false;
    if (vls_str_equal(kind, VLS_STR("$uuid")))
        return vls_uuid_parse(&uuid, vls_json_str(actual), NULL) == 0;
    if (vls_str_equal(kind, VLS_STR("$id")))
        return vls_id_parse(&id, vls_json_str(actual), NULL) == 0;
    CHECK_MSG(vls_str_equal(kind, VLS_STR("$time")), "%.*s is no kind", VALISE_STR_ARG(kind));
    return vls_time_parse_ns(&time, vls_json_str(actual), NULL) == 0;
}

static bool matches_object(vls_json expected, vls_json actual)
{
    bool open = vls_json_get(expected, VLS_STR("...")) != NULL;

    if (actual.type != VLS_JSON_OBJECT || (!open && actual.len != expected.len))
        return false;
    for (uint32_t i = 0; i < expected.len; i++) {
        valise_str key = vls_json_str(expected.members[i].key);
        const vls_json *value = vls_json_get(actual, key);
        if (vls_str_equal(key, VLS_STR("...")))
            continue;
        if (!value || !matches(expected.members[i].value, *value))
            return false;
    }
    return true;
}

static bool matches(vls_json expected, vls_json actual)
{
    if (expected.type == VLS_JSON_OBJECT)
        return matches_object(expected, actual);
    if (expected.type == VLS_JSON_ARRAY) {
        if (actual.type != VLS_JSON_ARRAY || actual.len != expected.len)
            return false;
        for (uint32_t i = 0; i < expected.len; i++) {
            if (!matches(expected.items[i], actual.items[i]))
                return false;
        }
        return true;
    }
    if (expected.type == VLS_JSON_STRING && vls_str_starts(vls_json_str(expected), VLS_STR("$")))
        return matches_kind(vls_json_str(expected), actual);
    return vls_json_equal(expected, actual);
}

static void contains(const char *what, const char *text, valise_str part)
{
    CHECK_MSG(vls_str_find(valise_str_of(text), part) < strlen(text) || part.len == 0,
              "the %s '%s' does not have '%.*s'", what, text, VALISE_STR_ARG(part));
}

/* ---- running ---- */

/* Nothing is printed at all. */
static bool is_nothing(vls_json expected)
{
    return expected.type == VLS_JSON_STRING &&
           vls_str_equal(vls_json_str(expected), VLS_STR("$nothing"));
}

static void run_step(world *w, vls_json step)
{
    const vls_json *gives = expected_of(w, step);
    valise_str fails = member(step, "fails");
    answer a;

    CHECK_MSG((gives != NULL) != (fails.len > 0), "a step gives or fails");
    a = w->v ? run_api(w, step) : run_cli(w, step);
    if (fails.len == 0) {
        CHECK_MSG(a.code == 0, "%s: %s", valise_error_name(a.code), a.message);
        if (a.nothing || is_nothing(*gives)) {
            CHECK_MSG(a.nothing && is_nothing(*gives), "%s",
                      a.nothing ? "there is no output" : "there is output");
            return;
        }
        CHECK_MSG(matches(*gives, a.value), "got %.*s", VALISE_STR_ARG(text_of(w, &a.value)));
        return;
    }
    CHECK_MSG(a.code == code_of(fails), "%s: %s %.*s", valise_error_name(a.code), a.message,
              VALISE_STR_ARG(text_of(w, &a.value)));
    contains("message", a.message, member(step, "says"));
    contains("hint", a.hint, member(step, "hint"));
}

static void open_world(world *w, test *t, int number)
{
    valise_options o = VALISE_OPTIONS_INIT;

    *w = (world){.t = t};
    vls_arena_init(&w->arena, t->env, (size_t)1 << 28);
    w->dir = test_format("%s/%d", test_tmpdir(), number);
    if (strcmp(t->param, "cli") == 0) {
        process_result r;
        process_run(&r, (const char *[]){getenv("VALISE"), "init", w->dir, NULL}, NULL);
        CHECK_MSG(r.exit_code == 0, "%.*s", VALISE_STR_ARG(r.err));
        return;
    }
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    CHECK_OK(
        valise_open(&w->v, strcmp(t->param, "memory") == 0 ? ":memory:" : w->dir, &o, &t->err));
}

static void run_file(test *t, const char *path, int *number)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json tests;

    vls_arena_init(&arena, t->env, (size_t)1 << 28);
    CHECK_OK(vls_json_parse(&tests, &arena, test_read_file(path), NULL, &t->err));
    for (uint32_t i = 0; i < tests.len; i++) {
        const vls_json *steps = vls_json_get(tests.items[i], VLS_STR("steps"));
        world w;
        open_world(&w, t, ++*number);
        CHECK(steps);
        for (uint32_t s = 0; s < steps->len; s++) {
            test_context("%.*s, step %u: %.*s", VALISE_STR_ARG(member(tests.items[i], "test")),
                         s + 1, VALISE_STR_ARG(member(steps->items[s], "run")));
            run_step(&w, steps->items[s]);
        }
        test_context_end();
        valise_close(w.v);
        vls_arena_release(&w.arena);
    }
}

TEST(spec, every_operation_does_what_it_says)
{
    const char *folder = test_format("%s/tests/spec", getenv("VALISE_SOURCE_ROOT"));
    DIR *dir = opendir(folder);
    int number = 0;

    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        if (vls_str_ends(valise_str_of(e->d_name), VLS_STR(".json")))
            run_file(t, test_format("%s/%s", folder, e->d_name), &number);
    }
    CHECK_INT(0, closedir(dir));
    test_note("%d tests", number);
}
