/* main.c -- runs registered tests and reports in TAP.
 *
 * Tests run in one process, one after the other, in the order of their files and lines. A check
 * that fails jumps back to run_one() (verdict.c says how from other threads and processes);
 * memory the test held is then lost, which does not matter: the test has failed. The plan is
 * printed first, so that a run that ends early never looks complete. */
#include "harness/internal.h"

#include <fnmatch.h>

static test_case *all_cases;
static test_params *all_params;

const char *test_program = "";
/* ---- registration ---- */

static bool comes_before(const test_case *a, const test_case *b)
{
    int files = strcmp(a->file, b->file);

    return files != 0 ? files < 0 : a->line < b->line;
}

void test_register(test_case *c)
{
    test_case **at = &all_cases;

    while (*at && comes_before(*at, c))
        at = &(*at)->next;
    c->next = *at;
    *at = c;
}

void test_register_params(test_params *p)
{
    p->next = all_params;
    all_params = p;
}

/* ---- running ---- */

static void full_name(char *out, size_t size, const test_case *c, const char *param)
{
    (void)snprintf(out, size, "%s.%s%s%s", c->suite, c->name, *param ? "/" : "", param);
}

/* What a test that passed must have done. */
static void check_leftovers(const test_case *c, const test_files *before)
{
    size_t left = counting_env_in_use(&test_now.env);
    const char *open_file = test_left_open(before);

    if (left > 0)
        test_fail_leak(c->file, c->line,
                       test_format("%zu bytes in %zu blocks were not freed", left,
                                   counting_env_blocks(&test_now.env)));
    if (open_file)
        test_fail(c->file, c->line, "a descriptor was not closed: %s", open_file);
    if (!atomic_load(&test_has_checked))
        test_fail(c->file, c->line, "no check ran: this test cannot fail");
}

static int run_one(test_case *c, const char *param, int number)
{
    test t = {.suite = c->suite, .name = c->name, .err = VALISE_ERROR_INIT};
    char name[256];
    test_files files;

    test_list_files(&files);
    full_name(name, sizeof(name), c, param);
    (void)snprintf(test_now.lost, sizeof(test_now.lost), "not ok %d - %s\n", number, name);
    test_now.state = TEST_RUNNING;
    test_now.context[0] = '\0';
    atomic_store(&test_has_checked, false);
    counting_env_init(&test_now.env);
    t.env = &test_now.env.env;
    t.param = *param ? param : NULL;

    test_now.running = 1;
    if (setjmp(test_now.out) == 0) {
        c->fn(&t);
        if (test_in_child())
            test_fail(c->file, c->line, "a child process came back from the test");
    }
    /* A deferred function that fails comes back here; the others follow. */
    (void)setjmp(test_now.out);
    test_support_end();
    if (setjmp(test_now.out) == 0 && test_now.state == TEST_RUNNING)
        check_leftovers(c, &files);
    test_now.running = 0;
    test_support_end();

    test_report("%s %d - %s%s%s\n", test_now.state == TEST_FAILED ? "not ok" : "ok", number, name,
                test_now.state == TEST_SKIPPED ? " # SKIP " : "",
                test_now.state == TEST_SKIPPED ? test_now.message : "");
    if (test_now.state == TEST_FAILED)
        test_report_remark(test_now.message);
    return test_now.state == TEST_FAILED;
}

static const char *const *params_of(const test_case *c)
{
    static const char *const none[] = {"", NULL};

    for (test_params *p = all_params; p; p = p->next) {
        if (strcmp(p->suite, c->suite) == 0)
            return p->values;
    }
    return none;
}

/* A pattern fits the name with its parameter or without. */
static bool wanted(const test_case *c, const char *param, const char *pattern)
{
    char full[256];

    full_name(full, sizeof(full), c, "");
    if (!pattern || fnmatch(pattern, full, 0) == 0)
        return true;
    full_name(full, sizeof(full), c, param);
    return fnmatch(pattern, full, 0) == 0;
}

typedef enum { COUNT, LIST, RUN } mode;

/* Returns how many there are (COUNT, LIST) or how many failed (RUN). */
static int each_test(mode what, const char *only)
{
    int number = 0, failed = 0;
    char name[256];

    for (test_case *c = all_cases; c; c = c->next) {
        for (const char *const *param = params_of(c); *param; param++) {
            if (!wanted(c, *param, only))
                continue;
            number++;
            full_name(name, sizeof(name), c, *param);
            if (what == LIST)
                test_report("%s\n", name);
            if (what == RUN)
                failed += run_one(c, *param, number);
        }
    }
    return what == RUN ? failed : number;
}

static int usage(int code)
{
    fprintf(code ? stderr : stdout,
            "usage: %s [--list] [--only PATTERN] [--seed N]\n"
            "  --list          print the names of the tests\n"
            "  --only PATTERN  run those whose name (suite.name or suite.name/param) fits\n"
            "  --seed N        the seed of random tests, also VALISE_TEST_SEED=N\n",
            test_program);
    return code;
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    const char *seed_text = getenv("VALISE_TEST_SEED");
    bool list = false;
    uint64_t seed = 0;

    test_program = argv[0];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0)
            list = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed_text = argv[++i];
        else
            return usage(strcmp(argv[i], "--help") == 0 ? 0 : 2);
    }
    if (seed_text && !seed_text[0])
        seed_text = NULL;
    if (seed_text && !vls_str_to_u64(&seed, valise_str_of(seed_text)))
        return usage(2);
    if (seed_text)
        test_support_seed(seed);
    if (list)
        return each_test(LIST, only) > 0 ? 0 : 2;

    int count = each_test(COUNT, only);
    if (count == 0) {
        fprintf(stderr, "%s: no test fits %s\n", test_program, only ? only : "");
        return 2;
    }
    test_verdict_init();

    test_report("TAP version 13\n1..%d\n", count);
    int failed = each_test(RUN, only);
    /* A failed check loses memory; leaks are worth a look only where nothing else failed. */
    if (failed && !test_now.only_leaks)
        test_child_exit(1);
    return failed ? 1 : 0;
}
