/* shown.c -- what must be shown of regeneration, counted: one edit among 10,000 files, what is
 * looked at, what is computed and what is written because of it; and the same in a clone. [C20]
 * [C22] */
#include "base/base64.h"
#include "base/vec.h"
#include "derive/counted.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

enum { OUTER = 100, INNER = 10, LEAVES = 10, FILES = OUTER * INNER * LEAVES };
enum { DIRS = 1 + OUTER + OUTER * INNER, ABOVE = 3 /* directories above a file */ };

TEST_PARAMS(shown, "sqlite")

static const char *path_of(int i)
{
    return test_format("d%02d/s%d/f%d.txt", i / INNER / LEAVES, i / LEAVES % INNER, i % LEAVES);
}

/* With a time long ago: nobody needs to look twice because it may have changed just now. */
static void write_at(const char *place, int i, const char *content, int seconds)
{
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    const char *path = test_format("%s/%s/%s", test_tmpdir(), place, path_of(i));

    test_write_file(path, valise_str_of(content));
    CHECK_INT(0, utimensat(AT_FDCWD, path, times, 0));
}

static void make_dir(const char *path)
{
    CHECK(mkdir(test_format("%s/%s", test_tmpdir(), path), 0777) == 0);
}

/* Files in order, or the last ones first. */
static void grow(const char *place, bool backwards)
{
    make_dir(place);
    for (int d = 0; d < OUTER; d++) {
        int at = backwards ? OUTER - 1 - d : d;
        make_dir(test_format("%s/d%02d", place, at));
        for (int s = 0; s < INNER; s++)
            make_dir(test_format("%s/d%02d/s%d", place, at, s));
    }
    for (int i = 0; i < FILES; i++) {
        int at = backwards ? FILES - 1 - i : i;
        write_at(place, at, test_format("content of %d\n", at), 1000000000);
    }
}

static const char *put_payload(test *t, int i, const char *words)
{
    VLS_AUTO(buf) vls_buf data = {0};

    vls_buf_init(&data, t->env, SIZE_MAX / 2);
    vls_base64_encode(&data, valise_str_of(words));
    return test_format("{\"node\":\"%s\",\"content\":\"%.*s\",\"noScan\":true}", path_of(i),
                       VALISE_STR_ARG(vls_buf_str(&data)));
}

static void say(yard *y, int i, const char *words)
{
    (void)yard_run(y, "frame:put", put_payload(y->t, i, words));
}

static const char *words_of(int i)
{
    return test_format("File %d.\nIts second line.", i);
}

/* A file that is scanned in the moment in which it was written is read once more by the next scan:
 * no such moment. */
static void edit(const char *place, int i, const char *content, int seconds)
{
    const struct timespec moment = {.tv_nsec = 30000000};

    write_at(place, i, content, seconds);
    (void)nanosleep(&moment, NULL);
}

/* About every file something was written. */
static void say_all(yard *y)
{
    enum { PIECE = 1000 };
    test *t = y->t;

    for (int from = 0; from < FILES; from += PIECE) {
        valise_command commands[PIECE];
        valise_reply replies[PIECE];
        for (int i = 0; i < PIECE; i++) {
            replies[i] = (valise_reply)VALISE_REPLY_INIT;
            commands[i] = (valise_command){
                .type = VLS_STR("frame:put"),
                .payload = valise_str_of(put_payload(t, from + i, words_of(from + i)))};
        }
        CHECK_OK(valise_dispatch_batch(replies, y->v, commands, PIECE, NULL, &t->err));
        for (int i = 0; i < PIECE; i++)
            valise_reply_release(&replies[i]);
    }
}

static const char *scan(yard *y)
{
    return yard_run(y, "tree:scan", "{}");
}

static const char *regenerate(yard *y)
{
    return yard_run(y, "context:regenerate", "{\"recursive\":true,\"noScan\":true}");
}

static const char *seq_of(yard *y)
{
    return yard_member(y, yard_run(y, "log:list", "{}"), "items.0.seq");
}

/* Nothing is computed, nothing is written. */
static void check_quiet(yard *y)
{
    const char *seq = seq_of(y), *hash = yard_run(y, "workspace:hash", NULL), *answer;

    (void)counted_calls();
    CHECK_TEXT("0", yard_member(y, scan(y), "hashed"));
    answer = regenerate(y);
    CHECK_TEXT("0", yard_member(y, answer, "made"));
    CHECK_INT(0, counted_calls());
    CHECK_TEXT(seq, seq_of(y));
    CHECK_TEXT(hash, yard_run(y, "workspace:hash", NULL));
}

/* What an answer says, in numbers. */
static void check_run(yard *y, const char *answer, int made, int unchanged, int needs_author,
                      int calls)
{
    CHECK_TEXT(test_format("%d", made), yard_member(y, answer, "made"));
    CHECK_TEXT(test_format("%d", unchanged), yard_member(y, answer, "unchanged"));
    CHECK_TEXT(test_format("%d", needs_author), yard_member(y, answer, "needsAuthor"));
    CHECK_INT(calls, counted_calls());
}

/* Ids of all that lies in a directory, and of the directories in it that a path goes through. */
static int count_new(yard *y, const char *dir, const char *way, int version)
{
    const char *list = yard_run(y, "tree:ls", test_format("{\"path\":\"%s\"}", dir));
    int count = 0;

    for (int i = 0;; i++) {
        const char *path = yard_member(y, list, test_format("items.%d.path", i));
        const char *since = yard_member(y, list, test_format("items.%d.version", i));
        if (*path == '\0')
            return count;
        if (strcmp(since, test_format("%d", version)) != 0)
            continue;
        count++;
        if (strncmp(way, path, strlen(path)) == 0 && way[strlen(path)] == '/')
            count += count_new(y, path, way, version);
    }
}

/* One file was read, and it and the directories above it alone have other ids. */
static void check_scan(yard *y, int i)
{
    const char *answer = scan(y), *way = path_of(i);

    CHECK_TEXT("1", yard_member(y, answer, "hashed"));
    CHECK_TEXT("1", yard_member(y, answer, "changed"));
    CHECK_TEXT("0", yard_member(y, answer, "added"));
    CHECK_TEXT("0", yard_member(y, answer, "removed"));
    CHECK(strcmp(yard_member(y, answer, "treeRoot"), yard_member(y, answer, "oldTreeRoot")) != 0);
    y->version = y->version + 1;
    CHECK_INT(ABOVE, count_new(y, "", way, (int)y->version)); /* the file, and two of the three */
}

/* All of it in one place; what the context was after each step. */
static size_t walk(test *t, const char *place, bool backwards, const char **roots)
{
    const int edited = 4300; /* the first of its directory, and that of its own */
    yard *y;
    size_t n = 0;

    grow(place, backwards);
    y = counted_open(t, place, 1);
    CHECK_TEXT(test_format("%d", FILES), yard_member(y, scan(y), "hashed"));
    y->version = 1;
    say_all(y);
    check_run(y,
              yard_run(y, "context:synthesize",
                       "{\"recursive\":true,\"noScan\":true,\"policy\":\"toy.lead\"}"),
              DIRS, 0, 0, DIRS);
    check_quiet(y);
    roots[n++] = yard_member(y, regenerate(y), "contextRoot");

    /* One file changes: it and what lies above it is looked at; who wrote about it is asked. */
    edit(place, edited, "something else\n", 1000000100);
    check_scan(y, edited);
    check_run(y, regenerate(y), 0, ABOVE, 1, 0); /* looked at, and not computed */
    check_quiet(y);
    /* Taken back: all is fresh, and nobody had to do anything. */
    edit(place, edited, test_format("content of %d\n", edited), 1000000200);
    check_scan(y, edited);
    check_run(y, regenerate(y), 0, 1 + ABOVE, 0, 0);
    CHECK_TEXT(roots[0], yard_member(y, regenerate(y), "contextRoot"));
    CHECK_TEXT("fresh", yard_state(y, path_of(edited), "notes"));
    check_quiet(y);

    /* Its author says something else: what is made of it, and nothing besides, is made again. */
    edit(place, edited, "something else\n", 1000000300);
    check_scan(y, edited);
    say(y, edited, "Something else.\nIts second line.");
    check_run(y, regenerate(y), ABOVE, 1, 0, ABOVE); /* and the file was looked at */
    check_quiet(y);
    roots[n++] = yard_member(y, regenerate(y), "contextRoot");
    /* What does not change the text of the directory goes no further. */
    say(y, edited, "Something else.\nAnother second line.");
    check_run(y, regenerate(y), 1, 0, 0, 1);
    check_quiet(y);
    roots[n++] = yard_member(y, regenerate(y), "contextRoot");
    /* All of it taken back: the old frames stand again, and none was computed. */
    edit(place, edited, test_format("content of %d\n", edited), 1000000400);
    check_scan(y, edited);
    say(y, edited, words_of(edited));
    check_run(y, regenerate(y), ABOVE, 1, 0, 0);
    check_quiet(y);
    roots[n++] = yard_member(y, regenerate(y), "contextRoot");
    CHECK_TEXT(roots[0], roots[n - 1]);
    return n;
}

TEST(shown, one_edit_among_many)
{
    const char *here[8], *there[8];
    size_t n;

    test_unwatched();
    n = walk(t, "here", false, here);
    CHECK_INT((int)n, (int)walk(t, "there", true, there));
    for (size_t i = 0; i < n; i++)
        CHECK_TEXT(here[i], there[i]);
    CHECK(strcmp(here[0], here[1]) != 0 && strcmp(here[1], here[2]) != 0);
}

/* ---- the same, whatever the order [C15] [C18] ---- */

enum { RUNS = 50 };

static void shuffle(int *order, int count, test_rng *rng)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = (int)test_random_below(rng, (uint64_t)i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

#define NAMES 12
static const char *const names[NAMES] = {"B.c", "a-b.c", "a.c",    "a/i.c", "a/j.c",      "a/k/l.c",
                                         "b.c", "z/9.c", "z/10.c", "z/Z.c", "\xc3\xa4.c", "cd.c"};

/* All that runs answer, in one text. */
static const char *tell(yard *y, const int *order, bool files, const char *place)
{
    static const char *const policies[] = {"concatenation", "summarization", "filtering"};
    const char *told = "", *words = "";

    for (int i = 0; i < NAMES; i++) {
        const char *name = names[order[i]];
        if (files)
            test_write_file(test_format("%s/%s/%s", test_tmpdir(), place, name), VLS_STR("1"));
        words = test_format("%s %s=1", words, name);
    }
    if (files)
        (void)scan(y);
    else
        yard_grow(y, words, "");
    for (int i = NAMES - 1; i >= 0; i--) {
        const char *name = names[order[i]];
        (void)yard_put(y, NULL, name, "notes",
                       test_format("About %d. The parser reads %s.\n", order[i], name), "");
    }
    for (size_t i = 0; i < VLS_COUNT(policies); i++)
        told = test_format(
            "%s%s\n", told,
            yard_run(y, "context:synthesize",
                     test_format("{\"noScan\":true,\"recursive\":true,\"output\":\"t%zu\","
                                 "\"policy\":\"%s\"}",
                                 i, policies[i])));
    (void)yard_put(y, NULL, "a/k/l.c", "notes", "Other words.", "");
    return test_format("%s%s", told, regenerate(y));
}

static const char *run_all(test *t, bool files)
{
    test_rng rng = test_rng_new(test_seed());
    const char *first = NULL;
    int order[NAMES];

    for (int i = 0; i < RUNS; i++) {
        const char *place = test_format("o%d", i), *told;
        yard *y;
        shuffle(order, NAMES, &rng);
        t->param = files ? "sqlite" : "memory";
        for (int d = 0; files && d < 4; d++) {
            static const char *const dirs[2][4] = {{"", "/a", "/a/k", "/z"},
                                                   {"", "/z", "/a", "/a/k"}};
            make_dir(test_format("%s%s", place, dirs[i % 2][d]));
        }
        y = counted_open(t, place, 1);
        told = tell(y, order, files, place);
        if (!first)
            first = told;
        CHECK_TEXT(first, told);
        valise_close(y->v);
        y->v = NULL;
    }
    return first;
}

/* 100 runs: files and words in any order, in memory and in folders. */
TEST(same, whatever_the_order_and_the_backend)
{
    const char *memory = run_all(t, false), *folder = run_all(t, true);

    CHECK(strstr(memory, "contextRoot"));
    CHECK_TEXT(memory, folder);
}
