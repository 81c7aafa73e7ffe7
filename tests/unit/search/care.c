/* care.c -- what is erased leaves the index with all its bytes, and the index equals the rows.
 * [W14] [K20] [K22] */
#include "search/kit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"

TEST_PARAMS(care, "sqlite")

#define SECRET "xylophonic"

static void fill(desk *d)
{
    desk_talk(d);
    for (unsigned i = 1; i <= 60; i++)
        desk_say(d, i, i == 30 ? "the " SECRET " word" : test_format("plain words number %u", i));
    desk_note(d, "m", "also " SECRET "ally", "");
}

static const char turn_30[] = "\"place\":\"turn/018f0000-0000-7000-8000-000000000030/1\"";

TEST(care, an_erased_turn_leaves_no_byte)
{
    desk *d = desk_open(t);

    fill(d);
    CHECK_TEXT("t30", desk_find(d, SECRET, ""));
    CHECK(desk_holds(d, "search.db", SECRET));
    (void)desk_run(d, "workspace:erase", turn_30);
    (void)desk_run(d, "workspace:erase", "\"place\":\"context/m\"");
    CHECK(!desk_holds(d, "search.db", SECRET));
    CHECK(!desk_holds(d, "", SECRET));
    CHECK_TEXT("", desk_find(d, SECRET "*", ""));
    CHECK(!desk_holds(d, "", SECRET));
    CHECK_TEXT("t7", desk_find(d, "number 7", ""));
}

TEST(care, an_erased_frame_leaves_no_byte)
{
    desk *d = desk_open(t);
    const char *answer, *id;

    test_write_file(test_format("%s/a.c", d->dir), valise_str_of("a"));
    (void)desk_run(d, "tree:scan", "");
    answer = desk_run(d, "frame:put",
                      "\"node\":\"a.c\",\"type\":\"x\",\"noScan\":true,"
                      "\"content\":\"eHlsb3Bob25pYyBmcmFtZQ==\"");
    id = strstr(answer, "\"frameId\":\"");
    CHECK(id);
    CHECK_TEXT("f:a.c:x", desk_find(d, SECRET, ""));
    (void)desk_run(d, "workspace:erase", test_format("\"place\":\"frame/%.64s\"", id + 11));
    CHECK(!desk_holds(d, "", SECRET));
    CHECK_TEXT("", desk_find(d, SECRET, ""));
    CHECK_TEXT("", desk_find(d, "frame", ""));
}

/* Of two frames that say the same one is erased: what it said is still there, but not of it. */
TEST(care, an_erased_frame_is_no_hit_though_its_words_stay)
{
    desk *d = desk_open(t);
    static const char put[] = "\"node\":\"%s\",\"type\":\"x\",\"noScan\":true,"
                              "\"content\":\"eHlsb3Bob25pYyBmcmFtZQ==\"";
    const char *id;

    test_write_file(test_format("%s/a.c", d->dir), valise_str_of("a"));
    test_write_file(test_format("%s/b.c", d->dir), valise_str_of("b"));
    (void)desk_run(d, "tree:scan", "");
    id = strstr(desk_run(d, "frame:put", test_format(put, "a.c")), "\"frameId\":\"");
    (void)desk_run(d, "frame:put", test_format(put, "b.c"));
    CHECK(id);
    CHECK_TEXT("f:b.c:x f:a.c:x", desk_find(d, SECRET, ""));
    (void)desk_run(d, "workspace:erase", test_format("\"place\":\"frame/%.64s\"", id + 11));
    CHECK_TEXT("f:b.c:x", desk_find(d, SECRET, ""));
}

/* Erased while a second handle has the index open, and one of it in memory. */
TEST(care, a_second_handle_forgets_too)
{
    desk *d = desk_open(t);
    desk *other = desk_open_in(t, d->dir, false);

    fill(d);
    CHECK_TEXT("t30", desk_find(other, SECRET, ""));
    CHECK_TEXT("t30", desk_find(d, SECRET, ""));
    (void)desk_run(d, "workspace:erase", turn_30);
    (void)desk_run(d, "workspace:erase", "\"place\":\"context/m\"");
    CHECK_TEXT("", desk_find(other, SECRET, ""));
    CHECK_TEXT("", desk_find(d, SECRET, ""));
    CHECK(!desk_holds(d, "search.db", SECRET));
}

/* Killed between the erasure and what follows: the mark is in the store, and the next open goes on.
 * The child waits for the folder's lock, which the index is opened under, when it dies. */
static void erase_in_child(desk *d, test *t)
{
    int ready[2], go[2], folder;
    char byte = 0;
    pid_t pid;

    CHECK(pipe(ready) == 0 && pipe(go) == 0);
    pid = fork();
    if (pid == 0) {
        desk *c = desk_open_in(t, d->dir, false);
        (void)!write(ready[1], "x", 1);
        (void)!read(go[0], &byte, 1);
        (void)desk_run(c, "workspace:erase", turn_30);
        _exit(0); /* it must not come to this */
    }
    CHECK_INT(1, read(ready[0], &byte, 1));
    folder = open(desk_path(d, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(folder >= 0 && flock(folder, LOCK_EX) == 0);
    CHECK_INT(1, write(go[1], "x", 1));
    (void)usleep(1500000);
    CHECK_INT(0, waitpid(pid, NULL, WNOHANG)); /* it waits */
    CHECK_INT(0, kill(pid, SIGKILL));
    CHECK(waitpid(pid, NULL, 0) == pid);
    (void)close(folder);
    for (int i = 0; i < 2; i++) {
        (void)close(ready[i]);
        (void)close(go[i]);
    }
}

TEST(care, a_killed_erasure_is_finished_by_the_next_open)
{
    desk *d = desk_open(t);

    fill(d);
    (void)desk_run(d, "workspace:erase", "\"place\":\"context/m\"");
    CHECK_TEXT("t30", desk_find(d, SECRET, ""));
    desk_close(d);
    erase_in_child(d, t);
    CHECK(desk_holds(d, "search.db", SECRET));
    desk_reopen(d);
    CHECK(!desk_holds(d, "search.db", SECRET)); /* without a search */
    CHECK(!desk_holds(d, "", SECRET));
    CHECK_TEXT("", desk_find(d, SECRET, ""));
    CHECK_TEXT("t7", desk_find(d, "number 7", ""));
}

TEST(care, validate_and_repair)
{
    desk *d = desk_open(t);
    const char *answer;

    fill(d);
    CHECK_TEXT("t30", desk_find(d, SECRET, ""));
    CHECK(!strstr(desk_run(d, "workspace:validate", ""), "index search"));
    desk_close(d);
    /* A word of the stored text is another. */
    valise_str file = test_read_file(desk_path(d, "search.db"));
    char *copy = test_alloc(file.len);
    memcpy(copy, file.ptr, file.len);
    for (char *at = copy; (at = memmem(at, file.len - (size_t)(at - copy), "the " SECRET, 14));)
        at[5] = 'Y';
    test_write_file(desk_path(d, "search.db"), vls_str(copy, file.len));
    desk_reopen(d);
    CHECK_RC(VALISE_E_CORRUPT, desk_try(d, "", "workspace:validate", ""));
    answer = desk_run(d, "workspace:repair", "");
    CHECK(strstr(answer, "index search") && strstr(answer, "\"left\":0"));
    CHECK(!strstr(desk_run(d, "workspace:validate", ""), "index search"));
    CHECK_TEXT("t30", desk_find(d, SECRET, ""));
    CHECK(strstr(desk_run(d, "workspace:sync", ""), "\"name\":\"search\""));
}

static const char *of_letters(size_t count)
{
    char *text = test_alloc(count + 1);

    memset(text, 'a', count);
    text[count] = 0;
    return text;
}

#define HAN "\xE6\xBC\xA2"
#define GA "\xE3\x81\x8B\xE3\x82\x99" /* a letter and a mark */

/* What FTS5 cuts, folds or splits is no difference; nor is a word that has come and gone. */
TEST(care, words_of_all_kinds_are_as_they_should_be)
{
    static const size_t lengths[] = {32767, 32768, 32769, 70000};
    desk *d = desk_open(t);

    fill(d);
    for (size_t i = 0; i < VLS_COUNT(lengths); i++)
        desk_note(d, test_format("long%zu", i),
                  test_format("\xC3\x89t\xC3\xA9 %s " HAN "%s I\xCC\x87", of_letters(lengths[i]),
                              of_letters(lengths[i] + 7)),
                  "\"topics\":[\"x y\",\"\xC3\x9C"
                  "ber\"]");
    desk_note(d, "mixed", HAN HAN "ab" GA HAN " a a a", "");
    desk_note(d, "none", "... --- ...", "");
    CHECK_TEXT("e:mixed", desk_find(d, HAN HAN, ""));
    CHECK_OK(desk_try(d, "", "workspace:validate", ""));
    for (unsigned i = 1; i <= 20; i++) {
        desk_note(d, "mixed", test_format(GA " number %u", i), "\"topics\":[\"x\"]");
        CHECK_TEXT("e:mixed", desk_find(d, GA, ""));
        CHECK_OK(desk_try(d, "", "workspace:validate", ""));
    }
    CHECK_TEXT("", desk_find(d, HAN HAN, ""));
}
