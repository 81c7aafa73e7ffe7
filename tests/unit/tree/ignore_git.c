/* ignore_git.c -- the ignore rules against git itself: random rule files and paths, the same
 * verdict, from the same line of the same file; and random trees, the same files. [C3]
 *
 * Paths need not exist to be asked about, so a run of git answers thousands. */
#include "tree/ignore.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree/ignore_kit.h"

enum { MAX_DIRS = 128, MAX_PATHS = 12000, MAX_DEPTH = 8 };

/* A tree with rule files, and paths to ask about. */
typedef struct world {
    test *t;
    git_repo *git;
    test_rng rng;
    valise_str dirs[MAX_DIRS];  /* the first is the top, "" */
    valise_str rules[MAX_DIRS]; /* of each, or empty */
    size_t dir_count;
    valise_str paths[MAX_PATHS];
    size_t path_count;
    valise_str excludes; /* the weakest rules of all, and the file they are in */
    const char *excludes_path;
    size_t matched, negated; /* how many of git's answers named a rule; one with "!" */
} world;

static size_t rounds(size_t usual)
{
    return test_is_long() ? 20 * usual : usual;
}

static world *world_new(test *t)
{
    world *w = test_alloc(sizeof(*w));

    w->t = t;
    w->git = git_start();
    w->rng = test_rng_new(test_seed());
    w->excludes_path = "";
    return w;
}

static void clear(world *w)
{
    git_clear(w->git);
    w->dirs[0] = (valise_str){NULL, 0};
    w->rules[0] = (valise_str){NULL, 0};
    w->dir_count = 1;
    w->path_count = 0;
}

static size_t find_dir(const world *w, valise_str path)
{
    for (size_t i = 0; i < w->dir_count; i++) {
        if (vls_str_equal(w->dirs[i], path))
            return i;
    }
    return SIZE_MAX;
}

static void add_dir(world *w, valise_str path)
{
    if (w->dir_count == MAX_DIRS || find_dir(w, path) != SIZE_MAX)
        return;
    git_mkdir(w->git, path);
    w->dirs[w->dir_count] = path;
    w->rules[w->dir_count++] = (valise_str){NULL, 0};
}

static void set_rules(world *w, size_t dir, valise_str rules)
{
    w->rules[dir] = rules;
    git_write(w->git, join(w->dirs[dir], VLS_STR(".gitignore")), rules);
}

static void add_path(world *w, valise_str path)
{
    if (w->path_count < MAX_PATHS)
        w->paths[w->path_count++] = path;
}

static int enter(vls_ignore **out, vls_ignore *above, valise_str dir, void *arg, valise_error *err)
{
    const world *w = arg;
    size_t at = find_dir(w, dir);

    return vls_ignore_enter(out, above, dir, at == SIZE_MAX ? VLS_STR("") : w->rules[at],
                            VLS_STR(""), err);
}

static void check_path(world *w, vls_ignore *root, valise_str path, const git_answer *git)
{
    test *t = w->t;
    VLS_AUTO(ignore) vls_ignore *keep = NULL;
    vls_ignore_verdict v;
    bool is_dir = find_dir(w, path) != SIZE_MAX;

    CHECK_OK(vls_ignore_check(&v, &keep, root, path, is_dir, enter, w, &t->err));
    valise_str line = v.matched ? valise_str_of(test_format("%u", v.line)) : VLS_STR("");
    CHECK_MSG(vls_str_equal(v.source, git->source) && vls_str_equal(v.pattern, git->pattern) &&
                  vls_str_equal(line, git->line),
              "'%s' %s: we say '%s' (%s:%s), git says '%s' (%s:%s)", shown(path),
              is_dir ? "(directory)" : "", shown(v.pattern), shown(v.source), shown(line),
              shown(git->pattern), shown(git->source), shown(git->line));
    CHECK(v.negated == vls_str_starts(git->pattern, VLS_STR("!")));
    CHECK(v.ignored == (v.matched && !v.negated));
    w->matched += v.matched;
    w->negated += v.negated;
}

static void compare(world *w)
{
    test *t = w->t;
    VLS_AUTO(ignore) vls_ignore *root = NULL;
    git_answer *git = git_check_ignore(w->git, w->paths, w->path_count, w->excludes_path);

    CHECK_OK(vls_ignore_root(&root, t->env, valise_str_of(w->excludes_path), w->excludes, &t->err));
    for (size_t i = 0; i < w->path_count; i++)
        check_path(w, root, w->paths[i], &git[i]);
}

/* [C3] One or a few rules each, in many directories: each pattern meets many paths alone. */
TEST(ignore_git, agrees_on_single_rules)
{
    world *w = world_new(t);
    size_t count = rounds(8), asked = 0;

    for (size_t round = 0; round < count; round++) {
        clear(w);
        for (size_t i = 0; i < 100; i++) {
            valise_str dir = valise_str_of(test_format("d%zu", i));
            add_dir(w, dir);
            set_rules(w, w->dir_count - 1, random_rules(&w->rng, 1 + i % 3));
        }
        for (size_t i = 1; i <= 100; i++) {
            for (size_t n = 0; n < 30; n++)
                add_path(w, join(w->dirs[i], path_for_rules(&w->rng, w->rules[i])));
            for (size_t n = 0; n < 15; n++)
                add_path(w, join(w->dirs[i], random_path(&w->rng)));
        }
        compare(w);
        asked += w->path_count;
    }
    test_note("%zu paths, %zu matched, %zu of them by !", asked, w->matched, w->negated);
    CHECK(w->matched > asked / 10 && w->negated > asked / 100);
}

/* A random tree below the top, with rules in half of its directories and weaker ones outside. */
static void grow(world *w, size_t dirs, size_t rules)
{
    while (w->dir_count < dirs) {
        valise_str above = w->dirs[test_random_below(&w->rng, w->dir_count)];
        size_t depth = 0;
        for (size_t i = 0; i < above.len; i++)
            depth += above.ptr[i] == '/';
        if (depth + 1 < MAX_DEPTH)
            add_dir(w, join(above, random_name(&w->rng)));
    }
    for (size_t i = 0; i < w->dir_count; i++) {
        if (test_random_below(&w->rng, 2) == 0)
            set_rules(w, i, random_rules(&w->rng, rules));
    }
}

/* [C3] Rules above rules, directories that exist, and rules weaker than all of them. */
TEST(ignore_git, agrees_on_nested_rules)
{
    world *w = world_new(t);
    size_t count = rounds(40), asked = 0;

    w->excludes_path = test_format("%s/excludes", test_tmpdir());
    for (size_t round = 0; round < count; round++) {
        clear(w);
        w->excludes = random_rules(&w->rng, 4);
        test_write_file(w->excludes_path, w->excludes);
        grow(w, 16, 6);
        for (size_t i = 0; i < w->dir_count; i++) {
            if (i > 0)
                add_path(w, w->dirs[i]);
            for (size_t n = 0; n < 20; n++)
                add_path(w, join(w->dirs[i], n % 2 ? random_path(&w->rng)
                                                   : path_for_rules(&w->rng, w->rules[i])));
        }
        compare(w);
        asked += w->path_count;
    }
    test_note("%zu paths, %zu matched, %zu of them by !", asked, w->matched, w->negated);
    CHECK(w->matched > asked / 10 && w->negated > asked / 100);
}

/* [C3] Every byte against every class, and against sets that are easily misread. */
TEST(ignore_git, agrees_on_every_byte)
{
    static const char *const sets[] = {
        "[[:alnum:]]",   "[[:alpha:]]",
        "[[:blank:]]",   "[[:cntrl:]]",
        "[[:digit:]]",   "[[:graph:]]",
        "[[:lower:]]",   "[[:print:]]",
        "[[:punct:]]",   "[[:space:]]",
        "[[:upper:]]",   "[[:xdigit:]]",
        "[![:punct:]]",  "[^[:print:][:cntrl:]]",
        "[ -~]",         "[!-~]",
        "[\\!-~]",       "[]-a]",
        "[!]-a]",        "[--0]",
        "[+--]",         "[a-c-e]",
        "[a\\-c]",       "[\\[-\\]]",
        "[[-]]",         "[z-a]",
        "[[:digit:]-z]", "[a-[:digit:]",
        "[\x80-\xBF]",   "[[.a.]]",
        "[[=a=]]",       "[[:]",
        "[[:a]",         "[a-\\]z]",
        "[^!]",          "[!^]",
        "[!!]",          "?",
        "[\\\\]",        "[[:Alpha:]]",
    };
    world *w = world_new(t);

    clear(w);
    for (size_t i = 0; i < VLS_COUNT(sets); i++) {
        add_dir(w, valise_str_of(test_format("d%zu", i)));
        set_rules(w, w->dir_count - 1, valise_str_of(test_format("x%s", sets[i])));
        for (unsigned c = 1; c < 256; c++) {
            if (c != '/')
                add_path(w, valise_str_of(test_format("d%zu/x%c", i, (int)c)));
        }
    }
    CHECK(w->path_count == 254 * VLS_COUNT(sets));
    compare(w);
    CHECK(w->matched > 1000);
}

/* ---- whole trees ---- */

static int compare_paths(const void *a, const void *b)
{
    return vls_str_compare(*(const valise_str *)a, *(const valise_str *)b);
}

/* The same text with its NUL-ended paths in order. */
static valise_str sorted(valise_str list)
{
    valise_str *paths = test_alloc((list.len + 1) * sizeof(*paths));
    size_t count = 0;
    text t = {0};

    for (valise_str rest = list; rest.len > 0;)
        (void)vls_str_cut(&paths[count++], &rest, rest, '\0');
    qsort(paths, count, sizeof(*paths), compare_paths);
    for (size_t i = 0; i < count; i++) {
        text_add(&t, paths[i]);
        text_add(&t, vls_str("", 1));
    }
    return vls_str(t.ptr, t.len);
}

/* The rule file of a directory, as it is on the disk; empty when there is none. */
static valise_str read_rules(git_repo *git, valise_str dir)
{
    const char *path = git_path(git, join(dir, VLS_STR(".gitignore")));

    return access(path, F_OK) == 0 ? test_read_file(path) : VLS_STR("");
}

static void walk(world *w, text *found, vls_ignore *above, valise_str dir, size_t depth)
{
    test *t = w->t;
    VLS_AUTO(ignore) vls_ignore *rules = NULL;
    DIR *stream = opendir(git_path(w->git, dir));

    CHECK(stream && depth < 2 * MAX_DEPTH);
    CHECK_OK(vls_ignore_enter(&rules, above, dir, read_rules(w->git, dir), VLS_STR(""), &t->err));
    for (struct dirent *e; (e = readdir(stream)) != NULL;) {
        valise_str path = join(dir, valise_str_of(e->d_name));
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        CHECK_INT(0, lstat(git_path(w->git, path), &st));
        if (vls_ignore_match(NULL, rules, path, S_ISDIR(st.st_mode)))
            continue;
        if (S_ISDIR(st.st_mode)) {
            walk(w, found, rules, path, depth + 1);
        } else {
            text_add(found, path);
            text_add(found, vls_str("", 1));
        }
    }
    closedir(stream);
}

/* A file or now and then a symbolic link, unless something of that name is there. */
static void add_file(world *w, valise_str path)
{
    const char *at = git_path(w->git, path);
    struct stat st;

    if (lstat(at, &st) == 0)
        return;
    if (test_random_below(&w->rng, 8) == 0)
        CHECK_INT(0, symlink(test_random_below(&w->rng, 2) ? "." : "nowhere", at));
    else
        test_write_file(at, VLS_STR("x"));
}

/* Files, and what is called .git, here and there. */
static void add_files(world *w)
{
    for (size_t i = 0; i < w->dir_count; i++) {
        valise_str dir = w->dirs[i];
        for (size_t n = test_random_below(&w->rng, 5); n > 0; n--)
            add_file(w, join(dir, random_name(&w->rng)));
        if (i > 0 && test_random_below(&w->rng, 10) == 0) {
            git_mkdir(w->git, join(dir, VLS_STR(".git")));
            git_write(w->git, join(dir, VLS_STR(".git/file")), VLS_STR("x"));
        } else if (i > 0 && test_random_below(&w->rng, 10) == 0) {
            git_write(w->git, join(dir, VLS_STR(".git")), VLS_STR("x"));
        }
    }
}

/* [C3] What a walk finds is what git ls-files -o finds with an empty index. */
TEST(ignore_git, finds_the_same_files)
{
    world *w = world_new(t);
    size_t count = rounds(40), files = 0;

    for (size_t round = 0; round < count; round++) {
        VLS_AUTO(ignore) vls_ignore *root = NULL;
        text found = {0};
        clear(w);
        grow(w, 20, 4);
        add_files(w);
        CHECK_OK(vls_ignore_root(&root, t->env, VLS_STR("config"), VLS_STR(""), &t->err));
        walk(w, &found, root, VLS_STR(""), 0);
        CHECK_STR(sorted(git_ls_files(w->git)), sorted(vls_str(found.ptr, found.len)));
        for (size_t i = 0; i < found.len; i++)
            files += found.ptr[i] == '\0';
    }
    test_note("%zu files in %zu trees", files, count);
    CHECK(files > 5 * count);
}
