/* ini_git.c -- the same files through git: what it reads we read, what it refuses we refuse, on
 * the same line; and what either writes the other reads.
 *
 * Files are made of pieces of the syntax, then damaged in some places. Each costs one run of git,
 * started with an argument vector. Without git these tests are skipped. */
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ini.h"
#include "unit/base/ini_list.h"

#define FILES 400
#define EDITS 150

/* ---- running git ---- */

typedef struct git_run {
    int status; /* exit status; -1: git could not be started */
    valise_str out, err;
} git_run;

static void write_file(const char *path, valise_str text)
{
    FILE *file = fopen(path, "wb");

    CHECK(file && fwrite(text.ptr ? text.ptr : "", 1, text.len, file) == text.len);
    CHECK(fclose(file) == 0);
}

static git_run run_git(const char *const *args)
{
    static const char *const env[] = {"LC_ALL=C",
                                      "GIT_CONFIG_NOSYSTEM=1",
                                      "GIT_CONFIG_GLOBAL=/dev/null",
                                      "GIT_CEILING_DIRECTORIES=/",
                                      NULL,
                                      NULL};
    const char *out_path = test_format("%s/out", test_tmpdir());
    const char *err_path = test_format("%s/err", test_tmpdir());
    const char *argv[12] = {"git"}, *envp[VLS_COUNT(env)];
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = -1;

    for (size_t i = 0; args[i]; i++)
        argv[i + 1] = args[i];
    memcpy(envp, env, sizeof(env));
    envp[VLS_COUNT(env) - 2] = test_format("PATH=%s", getenv("PATH") ? getenv("PATH") : "/usr/bin");

    CHECK(posix_spawn_file_actions_init(&actions) == 0);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int rc = posix_spawnp(&pid, "git", &actions, NULL, (char *const *)(uintptr_t)argv,
                          (char *const *)(uintptr_t)envp);
    posix_spawn_file_actions_destroy(&actions);
    if (rc != 0)
        return (git_run){.status = -1};
    while (waitpid(pid, &status, 0) < 0)
        CHECK(errno == EINTR);
    CHECK(WIFEXITED(status));
    return (git_run){WEXITSTATUS(status), test_read_file(out_path), test_read_file(err_path)};
}

static void need_git(void)
{
    const char *const args[] = {"--version", NULL};
    git_run run = run_git(args);

    if (run.status != 0)
        SKIP("git is not installed");
    test_note("%.*s", VALISE_STR_ARG(vls_str_trim(run.out)));
}

static git_run git_list(valise_str text)
{
    const char *path = test_format("%s/config", test_tmpdir());
    const char *const args[] = {"config", "--file", path, "--list", "-z", NULL};

    write_file(path, text);
    return run_git(args);
}

/* git before 2.45 turned white space within values into spaces. */
static bool git_keeps_tabs(void)
{
    return vls_str_equal(git_list(VLS_STR("[a]\nk = v\tw\n")).out, VLS_STR("a.k\nv\tw\0"));
}

static valise_str without_tabs(valise_str s)
{
    char *copy = test_alloc(s.len);

    for (size_t i = 0; i < s.len; i++)
        copy[i] = s.ptr[i] == '\t' || s.ptr[i] == '\r' ? ' ' : s.ptr[i];
    return vls_str(copy, s.len);
}

/* ---- making files ---- */

typedef struct maker {
    test_rng rng;
    char *text;
    size_t len, max;
} maker;

static maker maker_new(uint64_t seed)
{
    return (maker){test_rng_new(seed), test_alloc(8192), 0, 8192};
}

static uint64_t pick(maker *m, uint64_t limit)
{
    return test_random_below(&m->rng, limit);
}

static void add(maker *m, const char *piece)
{
    size_t len = strlen(piece);

    if (len <= m->max - m->len) {
        memcpy(m->text + m->len, piece, len);
        m->len += len;
    }
}

#define ADD_ONE_OF(m, ...)                                                                         \
    do {                                                                                           \
        static const char *const pieces_[] = {__VA_ARGS__};                                        \
        add((m), pieces_[pick((m), VLS_COUNT(pieces_))]);                                          \
    } while (0)

static void add_header(maker *m)
{
    ADD_ONE_OF(m, "[core]", "[Core]", "[a]", "[A \"B\"]", "[a \"b\"]", "[a.B]", "[a.b \"C d\"]",
               "[x-1]", "[1]", "[]", "[.]", "[a \"q\\\"r\\\\s\\t\"]", "[a\t \"\"]", "[ \"x\"]",
               "[a \"#;\"]", "[a \"]\"]", "[a\r\"x\"]", "[a \"\xC3\xA9\xFF\"]");
}

static void add_value(maker *m)
{
    for (uint64_t n = pick(m, 6); n > 0; n--)
        ADD_ONE_OF(m, "v", "value", " ", "  ", "\t", "\"", "\"a b\"", "\"  \"", "\\n", "\\t", "\\b",
                   "\\\\", "\\\"", "\\\n", "\\\r\n", " \\\n  ", "#c", ";", "\" # ; \"", "=", "[x]",
                   "'", "\r", "\xC3\xA9", "\xFF", "1", "true", "-");
}

static void add_entry(maker *m)
{
    ADD_ONE_OF(m, "", "\t", "  ", " \t", "\r");
    ADD_ONE_OF(m, "k", "K", "key", "Key-2", "a", "zZ9", "k-");
    ADD_ONE_OF(m, "", " ", "\t ");
    if (pick(m, 6)) {
        ADD_ONE_OF(m, "=", "= ", "=\t");
        add_value(m);
    }
}

static void damage(maker *m)
{
    static const char signs[] = "[]\"\\#;=.-_ \t\r\naZ09\x80\xEF\x01'{";
    size_t at = pick(m, m->len);
    char c = signs[pick(m, sizeof(signs) - 1)];

    switch (pick(m, 3)) {
    case 0:
        m->text[at] = c;
        break;
    case 1:
        memmove(m->text + at, m->text + at + 1, m->len - at - 1);
        m->len--;
        break;
    default:
        if (m->len < m->max) {
            memmove(m->text + at + 1, m->text + at, m->len - at);
            m->text[at] = c;
            m->len++;
        }
    }
}

static valise_str make_file(maker *m)
{
    m->len = 0;
    if (pick(m, 8) == 0)
        ADD_ONE_OF(m, "\xEF\xBB\xBF", "\xEF\xBB\xBF", "\xEF\xBB");
    for (uint64_t lines = pick(m, 9); lines > 0; lines--) {
        if (pick(m, 3) == 0)
            add_header(m);
        switch (pick(m, 8)) {
        case 0:
            ADD_ONE_OF(m, "# comment", "; comment \\", " # [x]", "", "  ", "\t");
            break;
        default:
            add_entry(m);
        }
        ADD_ONE_OF(m, "\n", "\n", "\n", "\r\n", "\n\n");
    }
    if (m->len > 0 && pick(m, 3) == 0)
        m->len--;
    for (uint64_t n = pick(m, 4) ? 0 : 1 + pick(m, 3); n > 0 && m->len > 0; n--)
        damage(m);
    return ini_exact(vls_str(m->text, m->len));
}

/* The text in a form in which a failed check can show it. */
static const char *shown(valise_str s)
{
    char *out = test_alloc(4 * s.len);
    size_t len = 0;

    for (size_t i = 0; i < s.len; i++)
        len +=
            (size_t)snprintf(out + len, 5, s.ptr[i] >= 0x20 && s.ptr[i] < 0x7F ? "%c" : "\\x%02x",
                             (unsigned char)s.ptr[i]);
    return out;
}

/* ---- reading ---- */

static unsigned line_in(valise_str message)
{
    valise_str needle = VLS_STR("bad config line ");
    size_t at = vls_str_find(message, needle);
    unsigned line = 0;

    CHECK_MSG(at < message.len, "git says: %.*s", VALISE_STR_ARG(message));
    for (at += needle.len; at < message.len && message.ptr[at] >= '0' && message.ptr[at] <= '9';
         at++)
        line = line * 10 + (unsigned)(message.ptr[at] - '0');
    return line;
}

static void check_same_line(test *t, valise_str text, valise_str git_message)
{
    size_t at = (size_t)t->err.offset;
    /* git is on the next line already where the character it does not like ends one. */
    bool at_end = at >= text.len || text.ptr[at] == '\n' ||
                  (text.ptr[at] == '\r' && at + 1 < text.len && text.ptr[at + 1] == '\n');
    unsigned theirs = line_in(git_message), ours = 0;

    /* Of half a byte order mark it does not like the byte that is not the other half. */
    at_end = at_end || (at == 0 && text.ptr[0] == '\xEF');

    CHECK(sscanf(t->err.message, "config:%u:", &ours) == 1);
    CHECK_MSG(ours == theirs || (at_end && ours + 1 == theirs), "line %u, git says %u (%s): %s",
              ours, theirs, t->err.message, shown(text));
}

static bool check_like_git(test *t, valise_str text, bool keeps_tabs)
{
    git_run git = git_list(text);
    int rc;
    valise_str ours = ini_list(t, &rc, text), theirs = git.out;

    CHECK_MSG((rc == 0) == (git.status == 0), "we say %s, git exits with %d (%.*s): %s",
              rc == 0 ? "ok" : t->err.message, git.status, VALISE_STR_ARG(git.err), shown(text));
    if (rc < 0) {
        check_same_line(t, text, git.err);
        return false;
    }
    if (!keeps_tabs) {
        ours = without_tabs(ours);
        theirs = without_tabs(theirs);
    }
    CHECK_MSG(vls_str_equal(ours, theirs), "we read %s, git %s, from %s", shown(ours),
              shown(theirs), shown(text));
    return true;
}

TEST(ini_git, reads_what_git_reads_and_refuses_what_it_refuses)
{
    need_git();
    bool keeps_tabs = git_keeps_tabs();
    maker m = maker_new(test_seed());
    int good = 0;

    for (int i = 0; i < FILES; i++)
        good += check_like_git(t, make_file(&m), keeps_tabs);
    test_note("%d files, %d of them good", FILES, good);
    CHECK(good > FILES / 10 && good < FILES * 9 / 10);
}

/* ---- editing ---- */

static valise_str random_value(maker *m)
{
    static const char signs[] = " \t\n\r\"\\#;=abc\b\x01\x7F\xC3\xFF[]'";
    size_t len = pick(m, 4) ? pick(m, 6) : pick(m, 40);
    char *value = test_alloc(len);

    for (size_t i = 0; i < len; i++)
        value[i] = signs[pick(m, sizeof(signs) - 1)];
    return vls_str(value, len);
}

static vls_ini_name random_name(maker *m)
{
    static const char *const sections[] = {"core", "a", "A", "x-1", "new"};
    static const char *const subsections[] = {NULL, NULL, "b", "B", "", "q\"r\\s", "n e\tw]"};
    static const char *const keys[] = {"k", "K", "key", "zz9", "new-key"};

    return (vls_ini_name){valise_str_of(sections[pick(m, VLS_COUNT(sections))]),
                          valise_str_of(subsections[pick(m, VLS_COUNT(subsections))]),
                          valise_str_of(keys[pick(m, VLS_COUNT(keys))])};
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* "section.subsection.key" as a reader names it. */
static const char *full_name(vls_ini_name name)
{
    char *text = test_alloc(name.section.len + name.subsection.len + name.key.len + 3), *at = text;

    for (size_t i = 0; i < name.section.len; i++)
        *at++ = lower(name.section.ptr[i]);
    *at++ = '.';
    if (name.subsection.ptr) {
        memcpy(at, name.subsection.ptr, name.subsection.len);
        at += name.subsection.len;
        *at++ = '.';
    }
    for (size_t i = 0; i < name.key.len; i++)
        *at++ = lower(name.key.ptr[i]);
    return text;
}

typedef struct listing {
    valise_str items[256];
    size_t len;
} listing;

static listing split_list(valise_str list)
{
    listing l = {.len = 0};

    while (list.len > 0 && l.len < VLS_COUNT(l.items)) {
        valise_str head, rest;
        vls_str_cut(&head, &rest, list, '\0');
        l.items[l.len++] = head;
        list = rest;
    }
    return l;
}

static bool item_has_name(valise_str item, const char *name)
{
    valise_str head, rest;

    vls_str_cut(&head, &rest, item, '\n');
    return vls_str_equal(head, valise_str_of(name));
}

/* after is before with the last entry of that name changed to value (NULL: all of them gone), or
 * one such entry more. */
static void check_only_change(valise_str before, valise_str after, const char *name,
                              const valise_str *value)
{
    listing old = split_list(before), new = split_list(after);
    size_t last = SIZE_MAX, at = 0;

    for (size_t i = 0; i < old.len; i++) {
        if (item_has_name(old.items[i], name))
            last = i;
    }
    for (size_t i = 0; i < new.len; i++) {
        if (value && last == SIZE_MAX && item_has_name(new.items[i], name)) {
            /* added: its place depends on the sections; check_set_with_git checks its value */
            CHECK_STR(*value, vls_str_from(new.items[i], strlen(name) + 1));
            continue;
        }
        while (!value && at < old.len && item_has_name(old.items[at], name))
            at++;
        CHECK(at < old.len);
        if (value && at == last)
            CHECK_STR(*value, vls_str_from(new.items[i], strlen(name) + 1));
        else
            CHECK_STR(old.items[at], new.items[i]);
        at++;
    }
    while (!value && at < old.len && item_has_name(old.items[at], name))
        at++;
    CHECK_INT(old.len, at);
    CHECK_INT(old.len + (value && last == SIZE_MAX), value ? new.len : old.len);
}

static valise_str edited(test *t, int *rc, valise_str text, vls_ini_name name,
                         const valise_str *value)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 1 << 20);
    *rc = value ? vls_ini_set(&out, VLS_STR("config"), text, &name, *value, &t->err)
                : vls_ini_unset(&out, VLS_STR("config"), text, &name, &t->err);
    return ini_exact(vls_buf_str(&out));
}

/* A file that can be read, with fewer entries than a listing holds. */
static valise_str make_good_file(test *t, maker *m)
{
    valise_str text;
    int rc;

    do {
        text = make_file(m);
        (void)ini_list(t, &rc, text);
    } while (rc < 0);
    return text;
}

TEST(ini_git, reads_what_set_and_unset_write)
{
    need_git();
    bool keeps_tabs = git_keeps_tabs();
    maker m = maker_new(test_seed());
    int rc;

    for (int i = 0; i < EDITS; i++) {
        valise_str text = make_good_file(t, &m), value = random_value(&m);
        valise_str before = ini_list(t, &rc, text);
        vls_ini_name name = random_name(&m);
        bool set = pick(&m, 4) != 0;

        valise_str result = edited(t, &rc, text, name, set ? &value : NULL);
        if (!set && rc == VALISE_E_NOT_FOUND) {
            listing l = split_list(before);
            for (size_t k = 0; k < l.len; k++)
                CHECK(!item_has_name(l.items[k], full_name(name)));
            continue;
        }
        CHECK_RC(0, rc);
        valise_str after = ini_list(t, &rc, result);
        CHECK_RC(0, rc);
        check_only_change(before, after, full_name(name), set ? &value : NULL);
        CHECK(check_like_git(t, result, keeps_tabs));
        if (set) {
            const char *path = test_format("%s/config", test_tmpdir());
            const char *const args[] = {"config", "--file",        path, "-z",
                                        "--get",  full_name(name), NULL};
            git_run git = run_git(args);
            CHECK_INT(0, git.status);
            CHECK_STR(value, vls_str_head(git.out, git.out.len - 1));
        }
    }
}

TEST(ini_git, set_and_unset_change_nothing_else)
{
    maker m = maker_new(test_seed());
    int rc;

    for (int i = 0; i < 3000; i++) {
        valise_str text = make_good_file(t, &m), value = random_value(&m);
        valise_str before = ini_list(t, &rc, text);
        vls_ini_name name = random_name(&m);

        valise_str with = edited(t, &rc, text, name, &value);
        CHECK_RC(0, rc);
        check_only_change(before, ini_list(t, &rc, with), full_name(name), &value);
        valise_str without = edited(t, &rc, with, name, NULL);
        CHECK_RC(0, rc);
        check_only_change(before, ini_list(t, &rc, without), full_name(name), NULL);
        /* Setting what is set already changes the text of that value at most. */
        valise_str again = edited(t, &rc, with, name, &value);
        CHECK_RC(0, rc);
        CHECK_STR(with, again);
    }
}

TEST(ini_git, reads_what_git_writes)
{
    need_git();
    maker m = maker_new(test_seed());
    const char *path = test_format("%s/written", test_tmpdir());

    for (int i = 0; i < EDITS; i++) {
        /* git of this version may write a CR in a way that it reads as a space. */
        valise_str value = random_value(&m);
        if (vls_str_find_byte(value, '\r') < value.len)
            continue;
        const char *name = full_name(random_name(&m));
        const char *const args[] = {"config", "--file", path, name, value.ptr, NULL};
        git_run git = run_git(args);
        int rc;

        CHECK_MSG(git.status == 0, "%.*s", VALISE_STR_ARG(git.err));
        listing l = split_list(ini_list(t, &rc, test_read_file(path)));
        CHECK_RC(0, rc);
        valise_str last = {NULL, 0};
        for (size_t k = 0; k < l.len; k++) {
            if (item_has_name(l.items[k], name))
                last = l.items[k];
        }
        CHECK_STR(value, vls_str_from(last, strlen(name) + 1));
    }
}

/* ---- values ---- */
