/* support.h -- what tests need besides checks: seeds, files, golden files, threads.
 *
 * Part of test.h. What these functions hand out lives until the test ends. They may be called
 * from any thread of the test. */
#ifndef TEST_SUPPORT_H
#define TEST_SUPPORT_H

/* ---- the report ---- */

/* A line in the report ("# ...") that does not judge: how many cases ran, the seed. */
void test_note(const char *format, ...) VALISE_PRINTF(1, 2);

/* Say what is being tried from here on ("while allocation 7 fails"): a failure shows it. */
void test_context(const char *format, ...) VALISE_PRINTF(1, 2);
void test_context_end(void);

/* ---- randomness ---- */

/* Deterministic random numbers. test_seed() comes from --seed or VALISE_TEST_SEED, or is drawn
 * anew and noted in the report, so that a failure can be repeated. */
typedef struct test_rng {
    uint64_t state;
} test_rng;

uint64_t test_seed(void);
test_rng test_rng_new(uint64_t seed);
uint64_t test_random(test_rng *rng);
uint64_t test_random_below(test_rng *rng, uint64_t limit); /* 0 .. limit-1; limit > 0 */

/* ---- memory, clean-up, threads ---- */

/* Zeroed memory by plain malloc: for expected values and the like. */
void *test_alloc(size_t size);

/* printf into such memory. */
const char *test_format(const char *format, ...) VALISE_PRINTF(1, 2);

/* Bytes now allocated from the test's environment. */
size_t test_bytes_in_use(const test *t);

/* Call fn(arg) when the test ends, however it ends; the last one registered comes first. */
void test_defer(void (*fn)(void *arg), void *arg);

/* Run body(0, arg) .. body(count-1, arg) on a thread each, all let go at once, and wait for all.
 * A check that fails on one of them ends that thread, and the test once all are back. */
void test_threads(size_t count, void (*body)(size_t index, void *arg), void *arg);

/* ---- files ---- */

/* A new empty directory, removed with all in it when the test ends. The same one for all calls
 * in a test, and for its child processes. It lies in TMPDIR, else in /dev/shm if that has a
 * gigabyte to spare, else in /tmp. */
const char *test_tmpdir(void);

/* A whole file, NUL-ended. Fails the test when it cannot be read. */
valise_str test_read_file(const char *path);

/* Make or replace a file. Fails the test when it cannot be written. */
void test_write_file(const char *path, valise_str content);

/* Remove a file or a directory with all in it; nothing there is fine. */
void test_remove(const char *path);

/* The path of a conformance suite under ../shared/data; SKIPs the test when it is not there. */
const char *test_data(const char *name);

/* Compare with the file tests/PATH. With VALISE_UPDATE_GOLDEN=1 in the environment the file is
 * written instead, and `git diff` shows what changed. */
#define CHECK_GOLDEN(path, actual) test_golden((path), (actual))
void test_golden(const char *path, valise_str actual);

/* ---- settings ---- */

/* A number from the environment, or otherwise; a value that is no number fails the test. */
uint64_t test_setting(const char *name, uint64_t otherwise);

/* Whether there is time for many more rounds: make test-long sets VALISE_TEST_LONG=1. */
bool test_is_long(void);

/* Whether a sanitizer watches: everything takes ten times as long. */
bool test_is_watched(void);

/* For tests of much work whose code others run too: they are for build/release and the long run,
 * and SKIPped where a sanitizer watches. */
void test_unwatched(void);

/* How many to take of what a test is about many of: all of them in build/release and in a long run,
 * a tenth where a sanitizer watches. */
size_t test_many(size_t all);

#endif
