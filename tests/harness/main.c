/* main.c -- runs registered tests and reports in TAP.
 *
 * Tests run in one process, one after the other, in the order of their files and lines. A check
 * that fails jumps back to run_one(); memory the test held is then lost, which does not matter:
 * the test has failed. A crash ends the program, and the missing TAP lines fail the run. */
#define VLS_ALLOW_MALLOC
#include "harness/test.h"

#include <errno.h>
#include <fnmatch.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/counting_env.h"

typedef struct leftover {
    struct leftover *next;
    _Alignas(16) char bytes[];
} leftover;

static test_case *all_cases;
static test_params *all_params;

static struct {
    jmp_buf out;
    enum { RUNNING, FAILED, SKIPPED } state;
    char message[2048];
    leftover *leftovers;
    char tmpdir[4096];
    counting_env env;
} now;

static uint64_t seed;
static bool seed_known;

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

/* ---- verdicts ---- */

VALISE_PRINTF(2, 0)
static void leave(int state, const char *format, va_list args)
{
    now.state = (__typeof__(now.state))state;
    (void)vsnprintf(now.message, sizeof(now.message), format, args);
    longjmp(now.out, 1);
}

void test_fail(const char *file, int line, const char *format, ...)
{
    char text[1800];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    now.state = FAILED;
    (void)snprintf(now.message, sizeof(now.message), "%s:%d: %s", file, line, text);
    longjmp(now.out, 1);
}

void test_skip(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    leave(SKIPPED, format, args);
    va_end(args);
    abort(); /* not reached */
}

void test_check_int(const char *file, int line, const char *what, intmax_t expected,
                    intmax_t actual)
{
    if (expected != actual)
        test_fail(file, line, "%s is %jd, expected %jd", what, actual, expected);
}

void test_check_str(const char *file, int line, const char *what, valise_str expected,
                    valise_str actual)
{
    if (!vls_str_equal(expected, actual))
        test_fail(file, line, "%s is \"%.*s\" (%zu bytes), expected \"%.*s\" (%zu bytes)", what,
                  VALISE_STR_ARG(vls_str_head(actual, 700)), actual.len,
                  VALISE_STR_ARG(vls_str_head(expected, 700)), expected.len);
}

void test_check_rc(const char *file, int line, const char *what, int expected, int actual, test *t)
{
    if (expected != actual)
        test_fail(file, line, "%s returned %s, expected %s%s%s", what, valise_error_name(actual),
                  valise_error_name(expected), t->err.message[0] ? ": " : "", t->err.message);
}

/* Each line of text behind "# ", so that TAP takes it for a remark. */
static void print_remark(const char *text)
{
    fputs("# ", stdout);
    for (; *text; text++) {
        putchar(*text);
        if (*text == '\n')
            fputs("# ", stdout);
    }
    putchar('\n');
}

void test_note(const char *format, ...)
{
    char text[2048];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    print_remark(text);
    fflush(stdout);
}

/* ---- things tests need ---- */

void *test_alloc(size_t size)
{
    leftover *l = malloc(sizeof(leftover) + size + 1);

    if (!l)
        abort();
    l->next = now.leftovers;
    now.leftovers = l;
    memset(l->bytes, 0, size + 1);
    return l->bytes;
}

const char *test_format(const char *format, ...)
{
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = test_alloc((size_t)len + 1);
    va_start(args, format);
    (void)vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}

uint64_t test_seed(void)
{
    if (!seed_known) {
        (void)valise_env_default()->random(NULL, &seed, sizeof(seed));
        seed &= 0xffffffff;
        seed_known = true;
    }
    test_note("seed %ju (repeat with VALISE_TEST_SEED=%ju)", (uintmax_t)seed, (uintmax_t)seed);
    return seed;
}

test_rng test_rng_new(uint64_t start)
{
    return (test_rng){start};
}

uint64_t test_random(test_rng *rng)
{
    /* splitmix64 */
    uint64_t z = rng->state += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t test_random_below(test_rng *rng, uint64_t limit)
{
    return test_random(rng) % limit;
}

valise_str test_read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *bytes;
    long size;

    if (!file)
        test_fail(__FILE__, __LINE__, "cannot read %s: %s", path, strerror(errno));
    if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 ||
        fseek(file, 0, SEEK_SET) != 0) {
        fclose(file);
        test_fail(__FILE__, __LINE__, "cannot seek in %s", path);
    }
    bytes = test_alloc((size_t)size);
    size_t got = fread(bytes, 1, (size_t)size, file);
    fclose(file);
    return (valise_str){bytes, got};
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

const char *test_tmpdir(void)
{
    const char *base = getenv("TMPDIR");

    if (!now.tmpdir[0]) {
        (void)snprintf(now.tmpdir, sizeof(now.tmpdir), "%s/valise-test-XXXXXX",
                       base && base[0] ? base : "/tmp");
        if (!mkdtemp(now.tmpdir))
            test_fail(__FILE__, __LINE__, "mkdtemp %s: %s", now.tmpdir, strerror(errno));
    }
    return now.tmpdir;
}

static const char *source_root(void)
{
    const char *root = getenv("VALISE_SOURCE_ROOT");

    return root && root[0] ? root : ".";
}

const char *test_data(const char *name)
{
    const char *path = test_format("%s/../shared/data/%s", source_root(), name);

    if (access(path, R_OK) != 0)
        test_skip("conformance data %s is not beside this clone", name);
    return path;
}

void test_golden(const char *path, valise_str actual)
{
    const char *full = test_format("%s/tests/%s", source_root(), path);
    const char *update = getenv("VALISE_UPDATE_GOLDEN");

    if (update && update[0] == '1') {
        FILE *file = fopen(full, "wb");
        bool ok = file && fwrite(actual.ptr ? actual.ptr : "", 1, actual.len, file) == actual.len;
        if (!file || fclose(file) != 0 || !ok)
            test_fail(__FILE__, __LINE__, "cannot write %s", full);
        return;
    }
    valise_str expected = test_read_file(full);
    if (!vls_str_equal(expected, actual))
        test_fail(full, 1, "output differs (VALISE_UPDATE_GOLDEN=1 rewrites it); it is now:\n%.*s",
                  VALISE_STR_ARG(vls_str_head(actual, 1200)));
}

size_t test_bytes_in_use(const test *t)
{
    (void)t;
    return counting_env_in_use(&now.env);
}

/* ---- running ---- */

static void clean_up(void)
{
    while (now.leftovers) {
        leftover *l = now.leftovers;
        now.leftovers = l->next;
        free(l);
    }
    if (now.tmpdir[0])
        (void)nftw(now.tmpdir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    now.tmpdir[0] = '\0';
}

static int run_one(test_case *c, const char *param, int number)
{
    test t = {.suite = c->suite, .name = c->name, .param = param, .err = VALISE_ERROR_INIT};

    now.state = RUNNING;
    now.message[0] = '\0';
    counting_env_init(&now.env);
    t.env = &now.env.env;
    if (setjmp(now.out) == 0) {
        c->fn(&t);
        size_t left = counting_env_in_use(&now.env);
        if (left > 0)
            test_fail(c->file, c->line, "%zu bytes in %zu blocks were not freed", left,
                      counting_env_blocks(&now.env));
    }
    clean_up();

    printf("%s %d - %s.%s%s%s", now.state == FAILED ? "not ok" : "ok", number, c->suite, c->name,
           param ? "/" : "", param ? param : "");
    if (now.state == SKIPPED)
        printf(" # SKIP %s", now.message);
    putchar('\n');
    if (now.state == FAILED)
        print_remark(now.message);
    fflush(stdout);
    return now.state == FAILED;
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

static bool wanted(const test_case *c, const char *pattern)
{
    char full[256];

    (void)snprintf(full, sizeof(full), "%s.%s", c->suite, c->name);
    return !pattern || fnmatch(pattern, full, 0) == 0;
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    const char *seed_text = getenv("VALISE_TEST_SEED");
    bool list = false;
    int number = 0, failed = 0;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            list = true;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            only = argv[++i];
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            seed_text = argv[++i];
        } else {
            fprintf(stderr, "usage: %s [--list] [--only SUITE.NAME-PATTERN] [--seed N]\n", argv[0]);
            return 2;
        }
    }
    if (seed_text)
        seed_known = vls_str_to_u64(&seed, valise_str_of(seed_text));

    puts("TAP version 13");
    for (test_case *c = all_cases; c; c = c->next) {
        const char *const *params = params_of(c);
        for (; wanted(c, only) && *params; params++) {
            if (list)
                printf("# %s.%s %s\n", c->suite, c->name, *params);
            else
                failed += run_one(c, **params ? *params : NULL, ++number);
        }
    }
    printf("1..%d\n", number);
    return failed ? 1 : 0;
}
