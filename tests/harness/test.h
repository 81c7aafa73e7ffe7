/* test.h -- what every C test of Valise is written with.
 *
 *     #include "harness/test.h"
 *
 *     TEST(buf, refuses_what_is_over_its_maximum)   [K4] in the comment or the name pins a
 *     {                                              requirement
 *         vls_buf buf;
 *         vls_buf_init(&buf, t->env, 4);
 *         vls_buf_add(&buf, VLS_STR("hello"));
 *         CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&buf, &t->err));
 *     }
 *
 * A test program is linked from any number of such files and the harness; it speaks TAP on its
 * standard output (what tests print themselves goes to standard error). A failed check ends its
 * test, on whatever thread it stands; in a child process it ends the child. A test also fails
 * when it leaves memory of t->env or a file descriptor behind, when it exits, when it crashes
 * and when it ran no check at all. Run a program with --help for its options.
 *
 * The other kinds: fault.h (failing allocations), fault_io.h (failing file calls), kill.h
 * (kill -9 and power cuts), process.h (children), model.h (random operations). tests/README.md
 * has an example of each. */
#ifndef TEST_H
#define TEST_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/str.h"

typedef struct test {
    const char *suite, *name;
    const char *param;     /* of suites run once per TEST_PARAMS entry, else NULL */
    const valise_env *env; /* counting allocator; checked for leaks after the test */
    valise_error err;      /* fresh for each test; printed when CHECK_RC fails */
} test;

typedef void test_fn(test *t);

typedef struct test_case {
    const char *suite, *name, *file;
    int line;
    test_fn *fn;
    struct test_case *next;
} test_case;

void test_register(test_case *c);

#define TEST(suite_, name_)                                                                        \
    static void test_##suite_##_##name_(test *t);                                                  \
    __attribute__((constructor)) static void register_##suite_##_##name_(void)                     \
    {                                                                                              \
        static test_case c = {#suite_, #name_, __FILE__, __LINE__, test_##suite_##_##name_, NULL}; \
        test_register(&c);                                                                         \
    }                                                                                              \
    static void test_##suite_##_##name_(__attribute__((unused)) test *t)

/* Run every test of a suite once for each of these values of t->param:
 *     TEST_PARAMS(store, "memory", "sqlite") */
typedef struct test_params {
    const char *suite;
    const char *const *values; /* ends in NULL */
    struct test_params *next;
} test_params;

void test_register_params(test_params *p);

#define TEST_PARAMS(suite_, ...)                                                                   \
    __attribute__((constructor)) static void params_##suite_(void)                                 \
    {                                                                                              \
        static const char *const values[] = {__VA_ARGS__, NULL};                                   \
        static test_params p = {#suite_, values, NULL};                                            \
        test_register_params(&p);                                                                  \
    }

/* ---- checks: each ends the test when it fails ---- */

#define CHECK(ok) CHECK_MSG(ok, "%s", #ok)

#define CHECK_MSG(ok, ...)                                                                         \
    do {                                                                                           \
        test_count_check();                                                                        \
        if (!(ok))                                                                                 \
            test_fail(__FILE__, __LINE__, __VA_ARGS__);                                            \
    } while (0)

#define CHECK_INT(expected, actual)                                                                \
    test_check_int(__FILE__, __LINE__, #actual, (intmax_t)(expected), (intmax_t)(actual))

/* Two slices. CHECK_TEXT takes NUL-ended strings. */
#define CHECK_STR(expected, actual)                                                                \
    test_check_str(__FILE__, __LINE__, #actual, (expected), (actual))
#define CHECK_TEXT(expected, actual)                                                               \
    test_check_str(__FILE__, __LINE__, #actual, valise_str_of(expected), valise_str_of(actual))

/* The call must return this code; prints t->err when it does not. */
#define CHECK_RC(code, call) test_check_rc(__FILE__, __LINE__, #call, (code), (call), t)
#define CHECK_OK(call) CHECK_RC(0, call)

/* Leave the test without a verdict, with a reason that the report shows. */
#define SKIP(...) test_skip(__VA_ARGS__)

void test_fail(const char *file, int line, const char *format, ...) VALISE_PRINTF(3, 4)
    __attribute__((noreturn));
void test_skip(const char *format, ...) VALISE_PRINTF(1, 2) __attribute__((noreturn));
void test_check_int(const char *file, int line, const char *what, intmax_t expected,
                    intmax_t actual);
void test_check_str(const char *file, int line, const char *what, valise_str expected,
                    valise_str actual);
void test_check_rc(const char *file, int line, const char *what, int expected, int actual, test *t);

extern atomic_bool test_has_checked;

static inline void test_count_check(void)
{
    atomic_store_explicit(&test_has_checked, true, memory_order_relaxed);
}

#include "harness/support.h"

#endif
