/* ignore_kit.c -- random rule files and paths, and git. */
#include "tree/ignore_kit.h"

#include <sys/stat.h>

#include "harness/process.h"

/* ---- text ---- */

void text_add(text *to, valise_str s)
{
    if (to->cap - to->len < s.len || !to->ptr) {
        size_t cap = 2 * (to->cap + s.len) + 64;
        char *grown = test_alloc(cap);
        if (to->len)
            memcpy(grown, to->ptr, to->len);
        to->ptr = grown;
        to->cap = cap;
    }
    if (s.len)
        memcpy(to->ptr + to->len, s.ptr, s.len);
    to->len += s.len;
}

static void text_add_byte(text *to, char c)
{
    text_add(to, vls_str(&c, 1));
}

static valise_str text_str(const text *t)
{
    return vls_str(t->ptr, t->len);
}

valise_str join(valise_str dir, valise_str name)
{
    text t = {0};

    text_add(&t, dir);
    if (dir.len > 0)
        text_add_byte(&t, '/');
    text_add(&t, name);
    return text_str(&t);
}

const char *shown(valise_str bytes)
{
    text t = {0};

    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char c = (unsigned char)bytes.ptr[i];
        if (c == '\n')
            text_add(&t, VLS_STR("\\n"));
        else if (c < 32 || c > 126)
            text_add(&t, valise_str_of(test_format("\\x%02x", c)));
        else
            text_add_byte(&t, (char)c);
    }
    text_add_byte(&t, '\0');
    return t.ptr;
}

/* ---- random rules ---- */

static bool chance(test_rng *rng, unsigned percent)
{
    return test_random_below(rng, 100) < percent;
}

/* A text that random ones are put together from. */
typedef struct piece {
    const char *ptr;
    size_t len;
} piece;

#define P(literal)                                                                                 \
    {                                                                                              \
        "" literal, sizeof(literal) - 1                                                            \
    }

static const piece plain_pieces[] = {P("a"), P("b"),  P("c"), P("ab"), P("ba"), P("x"),
                                     P("."), P(".c"), P("-"), P("a"),  P("b"),  P("a")};

static const piece odd_pieces[] = {P(" "),        P("\t"), P("\r"), P(":"),    P("!"),    P("#"),
                                   P("\xC3\xA4"), P("]"),  P("^"),  P("\xFF"), P("\x7F"), P("\v")};

static const piece wild_pieces[] = {P("*"),
                                    P("*"),
                                    P("*"),
                                    P("*"),
                                    P("**"),
                                    P("**"),
                                    P("***"),
                                    P("?"),
                                    P("?"),
                                    P("/"),
                                    P("/"),
                                    P("/"),
                                    P("/**/"),
                                    P("/**"),
                                    P("**/"),
                                    P("/*/"),
                                    P("[ab]"),
                                    P("[!a]"),
                                    P("[^ab]"),
                                    P("[a-c]"),
                                    P("[!a-c]"),
                                    P("[]a]"),
                                    P("[!]a]"),
                                    P("[a-]"),
                                    P("[-a]"),
                                    P("[\\]a]"),
                                    P("[\\a-c]"),
                                    P("[a-\\c]"),
                                    P("[c-a]"),
                                    P("[a-b-x]"),
                                    P("[--0]"),
                                    P("[[:alpha:]]"),
                                    P("[[:lower:]b]"),
                                    P("[![:digit:]]"),
                                    P("[[:punct:]]"),
                                    P("[[:space:]]"),
                                    P("[[:cntrl:]]"),
                                    P("[[:foo:]]"),
                                    P("[[:]"),
                                    P("[[:a]"),
                                    P("[[::]]"),
                                    P("[[:alpha:]-x]"),
                                    P("[a/b]"),
                                    P("[!/]"),
                                    P("["),
                                    P("[a"),
                                    P("[!"),
                                    P("[\\"),
                                    P("\\"),
                                    P("\\*"),
                                    P("\\a"),
                                    P("\\/"),
                                    P("\\?"),
                                    P("\\["),
                                    P("\\\\"),
                                    P("**\\/"),
                                    P("[\x80-\xFF]"),
                                    P("[.]"),
                                    P("[a-[:alpha:]]"),
                                    P("\\ ")};

#define PICK(rng, pieces) pick((rng), (pieces), VLS_COUNT(pieces))

static valise_str pick(test_rng *rng, const piece *pieces, size_t count)
{
    const piece *p = &pieces[test_random_below(rng, count)];

    return vls_str(p->ptr, p->len);
}

static void add_pattern(text *to, test_rng *rng)
{
    size_t count = 1 + test_random_below(rng, 6);

    if (chance(rng, 3)) {
        text_add(to, VLS_STR("*a*a*a*b*a"));
        return;
    }
    if (chance(rng, 3)) {
        text_add(to, VLS_STR("**/a/**/**/b*/**/a"));
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t which = test_random_below(rng, 100);
        if (which < 50)
            text_add(to, PICK(rng, plain_pieces));
        else if (which < 94)
            text_add(to, PICK(rng, wild_pieces));
        else
            text_add(to, PICK(rng, odd_pieces));
    }
    if (chance(rng, 1))
        text_add(to, vls_str("\0a", 2));
}

static void add_line(text *to, test_rng *rng)
{
    static const piece others[] = {P(""),   P("#"),    P("# a"),  P("#a"),  P(" "),   P("!"),
                                   P("/"),  P("//"),   P("\r"),   P("\\"),  P("!/"),  P("  a"),
                                   P("a "), P("\\#a"), P("\\!a"), P("!#a"), P("!!a"), P("a\\ ")};

    if (chance(rng, 10)) {
        text_add(to, PICK(rng, others));
        return;
    }
    if (chance(rng, 25))
        text_add(to, VLS_STR("!"));
    if (chance(rng, 20))
        text_add(to, VLS_STR("/"));
    add_pattern(to, rng);
    if (chance(rng, 25))
        text_add(to, VLS_STR("/"));
    if (chance(rng, 8))
        text_add(to, vls_str("    ", 1 + test_random_below(rng, 3)));
}

valise_str random_rules(test_rng *rng, size_t rules)
{
    size_t count = 1 + test_random_below(rng, rules);
    text t = {0};

    if (chance(rng, 8))
        text_add(&t, VLS_STR("\xEF\xBB\xBF"));
    for (size_t i = 0; i < count; i++) {
        add_line(&t, rng);
        if (chance(rng, 8))
            text_add_byte(&t, '\r');
        if (i + 1 < count || chance(rng, 70))
            text_add_byte(&t, '\n');
    }
    return text_str(&t);
}

/* ---- random paths ---- */

static bool is_reserved(valise_str name)
{
    static const char *const reserved[] = {"",        ".",          "..",           ".git",
                                           ".valise", ".gitignore", ".valiseignore"};

    for (size_t i = 0; i < VLS_COUNT(reserved); i++) {
        if (vls_str_equal(name, valise_str_of(reserved[i])))
            return true;
    }
    return false;
}

valise_str random_name(test_rng *rng)
{
    static const piece odd_names[] = {P("*"), P("**"), P("?"), P("["), P("\\"), P("\n"), P("a]")};
    text t = {0};

    do {
        size_t count = 1 + test_random_below(rng, 4);
        t.len = 0;
        for (size_t i = 0; i < count; i++) {
            uint64_t which = test_random_below(rng, 100);
            if (which < 85)
                text_add(&t, PICK(rng, plain_pieces));
            else if (which < 93)
                text_add(&t, PICK(rng, odd_pieces));
            else
                text_add(&t, PICK(rng, odd_names));
        }
    } while (is_reserved(text_str(&t)));
    return text_str(&t);
}

valise_str random_path(test_rng *rng)
{
    valise_str path = random_name(rng);

    for (size_t more = test_random_below(rng, 4); more > 0; more--)
        path = join(path, random_name(rng));
    return path;
}

/* A path of these bytes: without empty or reserved names. */
static valise_str cleaned(test_rng *rng, valise_str bytes)
{
    valise_str name, path = {NULL, 0};

    for (valise_str rest = bytes; rest.len > 0;) {
        (void)vls_str_cut(&name, &rest, rest, '/');
        if (!is_reserved(name) && vls_str_find_byte(name, '\0') == name.len)
            path = join(path, name);
    }
    return path.len > 0 ? path : random_path(rng);
}

/* What a star may stand for. */
static void add_run(text *to, test_rng *rng, bool slashes)
{
    for (size_t n = test_random_below(rng, 3); n > 0; n--) {
        text_add(to, PICK(rng, plain_pieces));
        if (slashes && chance(rng, 50))
            text_add_byte(to, '/');
    }
}

/* Turn a pattern into something that it could match: stars into runs, sets into a member. */
static valise_str instance(test_rng *rng, valise_str line)
{
    text t = {0};
    size_t i = vls_str_starts(line, VLS_STR("!"));

    for (; i < line.len; i++) {
        char c = line.ptr[i];
        if (c == '*') {
            add_run(&t, rng, i + 1 < line.len && line.ptr[i + 1] == '*');
        } else if (c == '?') {
            text_add(&t, PICK(rng, plain_pieces));
        } else if (c == '[') {
            text_add_byte(&t, "abcx.-5: \t\xFF"[test_random_below(rng, 11)]);
            while (i + 1 < line.len && line.ptr[i] != ']')
                i++;
        } else if (c == '\\' && i + 1 < line.len) {
            text_add_byte(&t, line.ptr[++i]);
        } else {
            text_add_byte(&t, c);
        }
    }
    return text_str(&t);
}

valise_str path_for_rules(test_rng *rng, valise_str rules)
{
    size_t skip = test_random_below(rng, 6);
    valise_str line = {NULL, 0};

    for (valise_str rest = rules; rest.len > 0 && (skip > 0 || line.len == 0); skip -= skip > 0)
        (void)vls_str_cut(&line, &rest, rest, '\n');
    while (vls_str_ends(line, VLS_STR("\r")) ||
           (vls_str_ends(line, VLS_STR(" ")) && chance(rng, 90)))
        line.len--;
    valise_str path = cleaned(rng, instance(rng, line));
    if (chance(rng, 10))
        path = join(random_name(rng), path);
    if (chance(rng, 10))
        path = join(path, random_name(rng));
    return path;
}

/* ---- git ---- */

/* Nobody's settings, one locale, one repository. */
static const char *const *git_env(git_repo *git)
{
    const char **env = test_alloc(8 * sizeof(*env));

    env[0] = "GIT_CONFIG_GLOBAL=/dev/null";
    env[1] = "GIT_CONFIG_SYSTEM=/dev/null";
    env[2] = "LC_ALL=C";
    env[3] = test_format("HOME=%s", git->dir);
    env[4] = test_format("XDG_CONFIG_HOME=%s", git->dir);
    env[5] = test_format("GIT_DIR=%s", git->dir);
    env[6] = test_format("GIT_WORK_TREE=%s", git->tree);
    return env;
}

git_repo *git_start(void)
{
    git_repo *git = test_alloc(sizeof(*git));
    process_result r;

    process_run(&r, (const char *[]){"git", "--version", NULL}, NULL);
    if (r.exit_code != 0)
        SKIP("git is not installed: there is nothing to compare with");
    test_note("%.*s", (int)vls_str_trim(r.out).len, r.out.ptr);
    git->dir = test_format("%s/repository", test_tmpdir());
    git->tree = test_format("%s/tree", test_tmpdir());
    git_clear(git);
    process_run(&r, (const char *[]){"git", "init", "--quiet", "--template=", NULL},
                &(process_options){.env = git_env(git), .dir = git->tree});
    CHECK_MSG(r.exit_code == 0, "git init: %s", process_describe(&r));
    return git;
}

void git_clear(git_repo *git)
{
    test_remove(git->tree);
    CHECK_INT(0, mkdir(git->tree, 0700));
}

const char *git_path(git_repo *git, valise_str path)
{
    return test_format("%s/%.*s", git->tree, VALISE_STR_ARG(path));
}

void git_mkdir(git_repo *git, valise_str path)
{
    CHECK_MSG(mkdir(git_path(git, path), 0700) == 0, "mkdir %s", shown(path));
}

void git_write(git_repo *git, valise_str path, valise_str bytes)
{
    test_write_file(git_path(git, path), bytes);
}

/* Split off what stands before the next NUL. */
static valise_str take_field(valise_str *rest)
{
    valise_str field;

    CHECK(vls_str_cut(&field, rest, *rest, '\0'));
    return field;
}

git_answer *git_check_ignore(git_repo *git, const valise_str *paths, size_t count,
                             const char *excludes)
{
    const char *setting = test_format("core.excludesFile=%s", excludes);
    const char *argv[] = {"git", "-c", setting,   "check-ignore", "-v",
                          "-n",  "-z", "--stdin", "--no-index",   NULL};
    git_answer *answers = test_alloc((count + 1) * sizeof(*answers));
    process_result r;
    text input = {0};

    /* The dot keeps git from taking a colon at the beginning for one of its own signs. */
    for (size_t i = 0; i < count; i++) {
        text_add(&input, VLS_STR("./"));
        text_add(&input, paths[i]);
        text_add_byte(&input, '\0');
    }
    process_run(
        &r, argv,
        &(process_options){.input = text_str(&input), .env = git_env(git), .dir = git->tree});
    CHECK_MSG(r.exit_code == 0 || r.exit_code == 1, "git check-ignore: %s", process_describe(&r));
    valise_str rest = r.out;
    for (size_t i = 0; i < count; i++) {
        answers[i].source = take_field(&rest);
        answers[i].line = take_field(&rest);
        answers[i].pattern = take_field(&rest);
        answers[i].path = take_field(&rest);
        CHECK_STR(paths[i], vls_str_from(answers[i].path, 2));
    }
    CHECK_INT(0, rest.len);
    return answers;
}

valise_str git_ls_files(git_repo *git)
{
    const char *argv[] = {"git", "ls-files", "-o", "-z", "--exclude-per-directory=.gitignore",
                          NULL};
    process_result r;

    process_run(&r, argv, &(process_options){.env = git_env(git), .dir = git->tree});
    CHECK_MSG(r.exit_code == 0, "git ls-files: %s", process_describe(&r));
    return r.out;
}
