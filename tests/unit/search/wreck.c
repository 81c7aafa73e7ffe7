/* wreck.c -- files that are gone, foreign or damaged, a full disk, kill -9, two processes. [W14]
 * [Q18] [Q19] [K11] */
#include "search/kit.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "harness/fault.h"
#include "harness/fault_io.h"

TEST_PARAMS(wreck, "sqlite")

static void fill(desk *d, unsigned from, unsigned to)
{
    if (!d->talks)
        desk_talk(d);
    for (unsigned i = from; i <= to; i++)
        desk_say(d, i, test_format("common words of number%u", i));
}

static const char *many(desk *d)
{
    return desk_find(d, "common", "\"limit\":1000");
}

TEST(wreck, what_is_no_index_is_made_anew)
{
    desk *d = desk_open(t);
    const char *want, *path = desk_path(d, "search.db");
    struct stat st;

    fill(d, 1, 50);
    want = many(d);
    CHECK_INT(0, stat(path, &st));
    CHECK_INT(0600, st.st_mode & 0777);
    /* While it is open: removed, replaced by garbage, by nothing. */
    CHECK_INT(0, unlink(path));
    CHECK_TEXT(want, many(d));
    desk_close(d);
    test_write_file(path, valise_str_of("this is no database at all, but it is long enough"));
    desk_reopen(d);
    CHECK_TEXT(want, many(d));
    desk_close(d);
    test_write_file(path, VLS_STR(""));
    desk_reopen(d);
    CHECK_TEXT(want, many(d));
    desk_close(d);
    CHECK_INT(0, unlink(path));
    CHECK_INT(0, symlink("/etc/passwd", path));
    desk_reopen(d);
    CHECK_TEXT(want, many(d));
    CHECK_INT(0, lstat(path, &st));
    CHECK(S_ISREG(st.st_mode));
    CHECK_OK(desk_try(d, "", "workspace:validate", ""));
}

/* Pages overwritten one after the other: the right answer, always. */
TEST(wreck, damaged_pages)
{
    desk *d = desk_open(t);
    const char *want, *path = desk_path(d, "search.db");
    valise_str file;

    fill(d, 1, 200);
    want = many(d);
    desk_close(d);
    file = test_read_file(path);
    for (size_t page = 0; page * 4096 < file.len; page++) {
        char *copy = test_alloc(file.len);
        memcpy(copy, file.ptr, file.len);
        memset(copy + page * 4096, 0x5A, VLS_MIN((size_t)4096, file.len - page * 4096));
        test_write_file(path, vls_str(copy, file.len));
        (void)unlink(desk_path(d, "search.db-wal"));
        desk_reopen(d);
        const char *got = many(d);
        if (strcmp(want, got) != 0)
            test_note("page %zu: %.200s", page, got);
        CHECK_TEXT(want, got);
        desk_close(d);
    }
    desk_reopen(d);
}

/* The index of another workspace, and one of a store that was brought back from a backup. */
TEST(wreck, another_store)
{
    desk *d = desk_open(t);
    desk *other = desk_open_in(t, test_format("%s/other", test_tmpdir()), false);
    valise_str old, index;

    fill(d, 1, 20);
    desk_say(other, 1, "foreign words");
    CHECK_TEXT("t1", desk_find(other, "foreign", ""));
    (void)many(d);
    desk_close(d);
    desk_close(other);
    old = test_read_file(desk_path(d, "valise.db"));
    test_write_file(desk_path(d, "search.db"), test_read_file(desk_path(other, "search.db")));
    desk_reopen(d);
    CHECK_TEXT("", desk_find(d, "foreign", ""));
    CHECK_TEXT("t7", desk_find(d, "number7", ""));
    fill(d, 21, 30);
    CHECK_TEXT("t25", desk_find(d, "number25", ""));
    desk_close(d);
    index = test_read_file(desk_path(d, "search.db"));
    CHECK(index.len > 0);
    (void)unlink(desk_path(d, "valise.db-wal"));
    test_write_file(desk_path(d, "valise.db"), old); /* ten turns less, and the index knows them */
    desk_reopen(d);
    CHECK_TEXT("", desk_find(d, "number25", ""));
    CHECK_TEXT("t7", desk_find(d, "number7", ""));
    desk_reopen(other);
}

/* A read-only handle finds the same, and writes nothing. */
TEST(wreck, read_only)
{
    desk *d = desk_open(t);
    valise_options o = VALISE_OPTIONS_INIT;
    desk reader = {.t = t, .dir = d->dir};
    struct stat st;

    fill(d, 1, 20);
    desk_close(d);
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_READ_ONLY;
    CHECK_OK(valise_open(&reader.v, d->dir, &o, &t->err));
    CHECK_TEXT("t7", desk_find(&reader, "number7", ""));
    CHECK(stat(desk_path(d, "search.db"), &st) != 0);
    desk_close(&reader);
    desk_reopen(d);
}

/* ---- a disk that is full, calls that fail ---- */

static void remove_index(desk *d)
{
    desk_reopen(d);
    (void)unlink(desk_path(d, "search.db"));
    (void)unlink(desk_path(d, "search.db-wal"));
    (void)unlink(desk_path(d, "search.db-shm"));
}

TEST(wreck, a_full_disk)
{
    desk *d = desk_open(t);
    unsigned failed = 0;

    fill(d, 1, 40);
    for (size_t room = 0; room < 200000; room += 7001) {
        const char *got;
        remove_index(d);
        fault_io_begin(&(fault_io_plan){.dir = d->dir, .limited = true, .space_bytes = room});
        got = desk_find(d, "number7", "");
        fault_io_end();
        if (strcmp(got, "t7") != 0) {
            CHECK(strstr(got, "error: ") == got && strstr(got, "disk full"));
            failed++;
        }
        CHECK_TEXT("t7", desk_find(d, "number7", "")); /* there is room again */
    }
    CHECK(failed > 3);
    CHECK_OK(desk_try(d, "", "workspace:validate", ""));
}

/* An erasure on a full disk removes the index rather than leave the bytes. */
TEST(wreck, erased_on_a_full_disk)
{
    desk *d = desk_open(t);

    fill(d, 1, 40);
    desk_say(d, 50, "xylophonic");
    CHECK_TEXT("t50", desk_find(d, "xylophonic", ""));
    (void)desk_run(d, "workspace:erase",
                   "\"place\":\"turn/018f0000-0000-7000-8000-000000000050/1\"");
    desk_say(d, 51, "xylophonic");
    CHECK_TEXT("t51", desk_find(d, "xylophonic", ""));
    CHECK(desk_holds(d, "search.db", "xylophonic"));
    fault_io_begin(&(fault_io_plan){.dir = d->dir, .limited = true, .space_bytes = 60000});
    (void)desk_try(d, "", "workspace:erase",
                   "\"place\":\"turn/018f0000-0000-7000-8000-000000000051/1\"");
    fault_io_end();
    desk_reopen(d);
    CHECK(!desk_holds(d, "search.db", "xylophonic"));
    (void)desk_try(d, "", "workspace:erase",
                   "\"place\":\"turn/018f0000-0000-7000-8000-000000000051/1\"");
    CHECK(!desk_holds(d, "search.db", "xylophonic"));
    CHECK_TEXT("", desk_find(d, "xylophonic", ""));
    CHECK_TEXT("t7", desk_find(d, "number7", ""));
}

/* ---- no memory ---- */

static int search_once(fault *f, void *arg)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise_hits *hits = NULL;
    valise *v = NULL;
    test *t = arg;
    int rc;

    fault_off(f);
    o.env = f->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG;
    CHECK_OK(valise_open(&v, ":memory:", &o, &f->err));
    CHECK_OK(valise_dispatch(NULL, v, "context:add", "{\"key\":\"k\",\"text\":\"one two\"}", NULL,
                             &f->err));
    fault_on(f);
    rc = valise_search(&hits, v, "two \"one two\" tw*", NULL, NULL, &f->err);
    fault_off(f);
    if (rc == 0)
        CHECK_INT(1, hits->count);
    valise_hits_free(rc == 0 ? hits : NULL);
    valise_close(v);
    return rc;
}

TEST(wreck, without_memory)
{
    fault_each_alloc(t, 0, search_once, t);
    fault_each_alloc(t, FAULT_ONWARD, search_once, t);
}

/* ---- kill -9, two processes ---- */

static void search_in_child(desk *d, test *t, int after_us, unsigned add)
{
    pid_t pid = fork();

    if (pid == 0) {
        desk *c = desk_open_in(t, d->dir, false);
        c->talks = true;
        for (unsigned i = 0; i < (add ? 20u : 1u); i++) {
            if (add)
                desk_say(c, add + i, test_format("common words of number%u", add + i));
            (void)many(c);
        }
        _exit(0);
    }
    if (after_us >= 0) {
        (void)usleep((useconds_t)after_us);
        (void)kill(pid, SIGKILL);
    }
    CHECK(waitpid(pid, NULL, 0) == pid);
}

TEST(wreck, killed_while_it_catches_up)
{
    desk *d = desk_open(t);
    const char *want;

    fill(d, 1, 300);
    desk_close(d);
    for (int i = 0; i < 12; i++) {
        search_in_child(d, t, i * 20000, 0);
        if (i % 4 == 3)
            (void)unlink(desk_path(d, "search.db")); /* and from the start */
    }
    desk_reopen(d);
    want = many(d);
    CHECK(strstr(want, "t300 t299") == want);
    CHECK_OK(desk_try(d, "", "workspace:validate", ""));
}

TEST(wreck, processes_at_once)
{
    desk *d = desk_open(t);
    pid_t pids[4];

    fill(d, 1, 200);
    desk_close(d);
    for (int p = 0; p < 4; p++) {
        pids[p] = fork();
        if (pids[p] == 0) {
            desk *c = desk_open_in(t, d->dir, false);
            c->talks = true;
            c->talks = true;
            unsigned from = 1000 + 100 * (unsigned)p;
            for (unsigned i = 0; i < 20; i++) {
                desk_say(c, from + i, test_format("common words of number%u", from + i));
                const char *got = desk_find(c, test_format("number%u", from + i), "");
                if (strcmp(got, test_format("t%u", from + i)) != 0) {
                    test_note("%u: %s", from + i, got);
                    _exit(3);
                }
            }
            _exit(0);
        }
    }
    for (int p = 0; p < 4; p++) {
        int status = 1;
        CHECK(waitpid(pids[p], &status, 0) == pids[p]);
        CHECK_INT(0, status);
    }
    desk_reopen(d);
    CHECK_TEXT("t1319", desk_find(d, "number1319", ""));
    CHECK_OK(desk_try(d, "", "workspace:validate", ""));
}
