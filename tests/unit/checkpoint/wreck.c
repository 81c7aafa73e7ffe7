/* wreck.c -- checkpoint, wreck the tree at random, restore: byte-equal, with modes; the user's .git
 * untouched. [C31] */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/kit.h"

TEST_PARAMS(wreck, "memory", "sqlite", "user")

enum { NAMES = 4, PATHS = NAMES + NAMES * NAMES + NAMES * NAMES * NAMES, ROUNDS = 60 };

/* Path number n of one to three names, few enough to meet again and again; no rule file, no .git.
 */
static const char *path_number(uint64_t n)
{
    static const char *const names[NAMES] = {"a", "b.c", "e\xff", "f\nf"};

    if (n < NAMES)
        return names[n];
    n -= NAMES;
    return test_format("%s/%s", path_number(n / NAMES), names[n % NAMES]);
}

static const char *some_path(test_rng *rng)
{
    return path_number(test_random_below(rng, PATHS));
}

/* ---- what was done to it ---- */

enum { NOTHING, FILE_, DIR_, LINK, KINDS };

/* How often something became another thing; and of what stayed what it was, what else changed. */
typedef struct tally {
    int kinds[KINDS][KINDS];
    int targets, modes, dir_modes, emptied, bytes;
} tally;

typedef struct sight {
    int kind;
    unsigned mode;
    bool empty;       /* directory */
    const char *text; /* bytes, or where a link leads */
} sight;

static bool is_empty(const char *path)
{
    DIR *d = opendir(path);
    struct dirent *e;
    int count = 0;

    while (d && (e = readdir(d)))
        count++;
    if (d)
        (void)closedir(d);
    return count <= 2;
}

static sight look_at(const char *path)
{
    char target[64];
    struct stat st;
    sight s = {.kind = NOTHING, .text = ""};
    ssize_t len;

    if (lstat(path, &st) < 0)
        return s;
    s.mode = st.st_mode & 0777;
    s.kind = S_ISDIR(st.st_mode) ? DIR_ : S_ISLNK(st.st_mode) ? LINK : FILE_;
    if (s.kind == DIR_)
        s.empty = is_empty(path);
    if (s.kind == LINK && (len = readlink(path, target, sizeof(target))) > 0)
        s.text = test_format("%.*s", (int)len, target);
    if (s.kind == FILE_ && access(path, R_OK) == 0)
        s.text = test_format("%.*s", VALISE_STR_ARG(test_read_file(path)));
    return s;
}

static void look_at_all(sight seen[PATHS], const shed *s)
{
    for (uint64_t i = 0; i < PATHS; i++)
        seen[i] = look_at(shed_path(s, path_number(i)));
}

static void count_changes(tally *out, const sight was[PATHS], const sight is[PATHS])
{
    for (size_t i = 0; i < PATHS; i++) {
        const sight *a = &was[i], *b = &is[i];
        bool same = a->kind == b->kind;
        out->kinds[a->kind][b->kind]++;
        out->targets += same && a->kind == LINK && strcmp(a->text, b->text) != 0;
        out->bytes += same && a->kind == FILE_ && strcmp(a->text, b->text) != 0;
        out->modes += same && a->kind == FILE_ && a->mode != b->mode;
        out->dir_modes += same && a->kind == DIR_ && a->mode != b->mode;
        out->emptied += same && a->kind == DIR_ && !a->empty && b->empty;
    }
}

/* A wreck in which something never happens shows nothing about it. */
static bool has_all(const tally *n)
{
    for (int i = 0; i < KINDS * KINDS; i++)
        if (n->kinds[i / KINDS][i % KINDS] == 0)
            return false;
    return n->targets && n->bytes && n->modes && n->dir_modes && n->emptied;
}

static void check_tally(const tally *n)
{
    for (int a = 0; a < KINDS; a++) {
        for (int b = 0; b < KINDS; b++)
            CHECK_MSG(n->kinds[a][b] > 0, "nothing of kind %d became one of kind %d", a, b);
    }
    CHECK_MSG(has_all(n), "%d %d %d %d %d", n->targets, n->bytes, n->modes, n->dir_modes,
              n->emptied);
}

/* ---- doing it ---- */

static const char *some_text(test_rng *rng)
{
    size_t len = (size_t)test_random_below(rng, test_random_below(rng, 20) == 0 ? 300000 : 200);
    char *text = test_alloc(len + 1);

    for (size_t i = 0; i < len; i++)
        text[i] = (char)('a' + (char)test_random_below(rng, 26));
    text[len] = '\0';
    return text;
}

/* As root all of these can be written to all the same. */
static unsigned some_mode(test_rng *rng, bool dir)
{
    static const unsigned files[] = {0644, 0600, 0755, 0444, 0640, 0711, 0777, 0400};
    static const unsigned dirs[] = {0755, 0700, 0711, 0555, 0777, 0500};

    return dir ? dirs[test_random_below(rng, VLS_COUNT(dirs))]
               : files[test_random_below(rng, VLS_COUNT(files))];
}

static bool is_dir(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Its directories, where nothing else is in the place of one. */
static bool make_room(const shed *s, const char *path)
{
    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        const char *dir = shed_path(s, test_format("%.*s", (int)(at - path), path));
        (void)mkdir(dir, 0755);
        if (!is_dir(dir))
            return false;
        (void)chmod(dir, 0755); /* for who is not root */
    }
    return true;
}

static void create(shed *s, test_rng *rng, const char *path)
{
    const char *whole = shed_path(s, path);
    struct stat st;

    if (!make_room(s, path) || lstat(whole, &st) == 0)
        return;
    switch (test_random_below(rng, 5)) {
    case 0:
        (void)mkdir(whole, 0755);
        (void)chmod(whole, some_mode(rng, true));
        break;
    case 1:
    case 2:
        CHECK_INT(0, symlink(path_number(test_random_below(rng, NAMES)), whole));
        break;
    default:
        test_write_file(whole, valise_str_of(some_text(rng)));
        (void)chmod(whole, some_mode(rng, false));
    }
}

static void edit(shed *s, test_rng *rng, const char *path)
{
    const char *whole = shed_path(s, path);
    struct stat st;

    if (lstat(whole, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    (void)chmod(whole, 0644);
    test_write_file(whole, valise_str_of(some_text(rng)));
    (void)chmod(whole, st.st_mode & 07777);
}

/* Who is not root has to open directories up before they can be removed. */
static void loosen(const char *path, unsigned depth)
{
    struct dirent *e;
    DIR *d;

    if (!is_dir(path) || depth > 10)
        return;
    (void)chmod(path, 0755);
    d = opendir(path);
    while (d && (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            loosen(test_format("%s/%s", path, e->d_name), depth + 1);
    if (d)
        (void)closedir(d);
}

/* One where something is, if there is one soon. */
static const char *some_thing(const shed *s, test_rng *rng)
{
    const char *path = some_path(rng);
    struct stat st;

    for (int i = 0; i < 20 && lstat(shed_path(s, path), &st) < 0; i++)
        path = some_path(rng);
    return path;
}

static void wreck_once(shed *s, test_rng *rng)
{
    const char *path = some_thing(s, rng), *whole = shed_path(s, path), *other;
    struct stat st;

    switch (test_random_below(rng, 7)) {
    case 0:
        create(s, rng, some_path(rng));
        break;
    case 2:
        edit(s, rng, path);
        break;
    case 3:
        if (lstat(whole, &st) == 0 && !S_ISLNK(st.st_mode))
            (void)chmod(whole, some_mode(rng, S_ISDIR(st.st_mode)));
        break;
    case 1:
    case 4:
        if (!make_room(s, path))
            break;
        loosen(whole, 0);
        test_remove(whole);
        if (test_random_below(rng, 3))
            create(s, rng, path); /* perhaps of another kind */
        break;
    case 5:
        if (!is_dir(whole))
            break;
        loosen(whole, 0);
        for (uint64_t i = 0; i < PATHS; i++) { /* all that is in it goes */
            const char *in = path_number(i);
            if (strncmp(in, path, strlen(path)) == 0 && in[strlen(path)] == '/')
                test_remove(shed_path(s, in));
        }
        break;
    default:
        other = some_path(rng);
        if (make_room(s, other))
            (void)rename(whole, shed_path(s, other));
    }
}

/* Every line of a text is one of another. */
static void check_has_all(const char *all, const char *some)
{
    valise_str rest = valise_str_of(some), line;

    while (rest.len > 0) {
        (void)vls_str_cut(&line, &rest, rest, '\n');
        CHECK_MSG(strstr(all, test_format("%.*s\n", VALISE_STR_ARG(line))), "%.*s is not in\n%s",
                  VALISE_STR_ARG(line), all);
    }
}

TEST(wreck, at_random)
{
    static sight was[PATHS], is[PATHS];
    tally done = {.targets = 0};
    shed *s = shed_open(t);
    test_rng rng = test_rng_new(test_seed());
    const char *git;
    uint64_t rounds = ROUNDS * (test_is_long() ? 20 : 1);

    shed_write(s, ".git/config", "[core]", 0600);
    shed_write(s, ".git/objects/aa/bb", "loose", 0444);
    shed_write(s, ".gitignore", "*.o\n", 0644);
    git = shed_text(shed_path(s, ".git"));
    for (int i = 0; i < 60; i++)
        create(s, &rng, some_path(&rng));
    /* What is rare is waited for: one seed in thousands has none of it in so few rounds. */
    for (uint64_t round = 0; round < rounds || (!has_all(&done) && round < 20 * rounds); round++) {
        const char *before, *after, *answer;
        test_context("round %llu", (unsigned long long)round);
        for (uint64_t i = test_random_below(&rng, 20); i > 0; i--)
            wreck_once(s, &rng);
        before = shed_text(s->dir);
        look_at_all(was, s);
        (void)shed_run(s, "tree:checkpoint",
                       test_format("\"name\":\"r%llu\"", (unsigned long long)round));
        for (uint64_t i = test_random_below(&rng, 60); i > 0; i--)
            wreck_once(s, &rng);
        after = shed_text(s->dir);
        look_at_all(is, s);
        count_changes(&done, was, is);
        if (round % 3 == 0) { /* first without: what it does not have stays where it can */
            (void)shed_run(s, "tree:restore",
                           test_format("\"checkpoint\":\"r%llu\"", (unsigned long long)round));
            check_has_all(shed_text(s->dir), before);
            after = shed_text(s->dir);
        }
        answer = shed_run(
            s, "tree:restore",
            test_format("\"checkpoint\":\"r%llu\",\"delete\":true", (unsigned long long)round));
        CHECK_TEXT("0", shed_member(answer, "inTheWayCount"));
        CHECK_TEXT(before, shed_text(s->dir));
        CHECK_TEXT(git, shed_text(shed_path(s, ".git")));
        if (shed_member(answer, "saved")[0]) {
            (void)shed_run(
                s, "tree:restore",
                test_format("\"checkpoint\":\"%s\",\"delete\":true", shed_member(answer, "saved")));
            CHECK_TEXT(after, shed_text(s->dir));
        }
        test_context_end();
    }
    check_tally(&done);
    shed_check(s);
}
