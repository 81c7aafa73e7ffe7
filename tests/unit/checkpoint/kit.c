/* kit.c -- see kit.h. */
#include "checkpoint/kit.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/hex.h"
#include "kit/replayed.h"

static void close_it(void *arg)
{
    valise_close(((shed *)arg)->v);
}

shed *shed_open_in(test *t, const char *dir, bool memory)
{
    shed *s = test_alloc(sizeof(*s));
    valise_options o = VALISE_OPTIONS_INIT;

    *s = (shed){.t = t, .dir = dir, .memory = memory};
    (void)mkdir(dir, 0700);
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    CHECK_OK(valise_open(&s->v, memory ? ":memory:" : dir, &o, &t->err));
    test_defer(close_it, s);
    return s;
}

#define NOBODY 65534

static void be_root(void *arg)
{
    (void)arg;
    CHECK_INT(0, seteuid(0));
}

/* For root every directory is open. */
static void be_user(void)
{
    if (geteuid() != 0)
        return;
    CHECK_INT(0, chown(test_tmpdir(), NOBODY, NOBODY));
    CHECK_INT(0, seteuid(NOBODY));
    test_defer(be_root, NULL);
}

shed *shed_open(test *t)
{
    if (t->param && strcmp(t->param, "user") == 0)
        be_user();
    return shed_open_in(t, test_format("%s/shed", test_tmpdir()),
                        t->param && strcmp(t->param, "memory") == 0);
}

static const char *payload(const shed *s, const char *op, const char *members)
{
    bool files = s->memory && strncmp(op, "tree:", 5) == 0 && strcmp(op, "tree:ls") != 0;

    return files ? test_format("{\"dir\":\"%s\"%s%s}", s->dir, members[0] ? "," : "", members)
                 : test_format("{%s}", members);
}

const char *shed_run(shed *s, const char *op, const char *members)
{
    test *t = s->t;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *text;

    CHECK_OK(valise_dispatch(&reply, s->v, op, payload(s, op, members), NULL, &t->err));
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

int shed_try(shed *s, const char *op, const char *members)
{
    return valise_dispatch(NULL, s->v, op, payload(s, op, members), NULL, &s->t->err);
}

const char *shed_member(const char *json, const char *name)
{
    const char *at = strstr(json, test_format("\"%s\":", name));

    if (!at)
        return "";
    at += strlen(name) + 3;
    if (*at == '"')
        return test_format("%.*s", (int)strcspn(at + 1, "\""), at + 1);
    return test_format("%.*s", (int)strcspn(at, ",}]"), at);
}

/* ---- files ---- */

const char *shed_path(const shed *s, const char *path)
{
    return test_format("%s/%s", s->dir, path);
}

static void make_folders(const char *path, size_t from)
{
    for (const char *at = strchr(path + from, '/'); at; at = strchr(at + 1, '/'))
        (void)mkdir(test_format("%.*s", (int)(at - path), path), 0755);
}

void shed_write(shed *s, const char *path, const char *text, unsigned mode)
{
    const char *whole = shed_path(s, path);

    make_folders(whole, strlen(s->dir) + 1);
    test_write_file(whole, valise_str_of(text));
    CHECK_INT(0, chmod(whole, mode));
}

void shed_dir(shed *s, const char *path, unsigned mode)
{
    const char *whole = shed_path(s, path);

    make_folders(whole, strlen(s->dir) + 1);
    (void)mkdir(whole, 0755);
    CHECK_INT(0, chmod(whole, mode));
}

void shed_link(shed *s, const char *path, const char *target)
{
    (void)unlink(shed_path(s, path));
    CHECK_INT(0, symlink(target, shed_path(s, path)));
}

void shed_remove(shed *s, const char *path)
{
    test_remove(shed_path(s, path));
}

/* ---- all of them ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *describe(const char *path, const char *shown)
{
    struct stat st;
    valise_id id;
    char target[4096];
    ssize_t len;

    CHECK_INT(0, lstat(path, &st));
    if (S_ISLNK(st.st_mode)) {
        len = readlink(path, target, sizeof(target));
        return test_format("link %s -> %.*s\n", shown, (int)len, target);
    }
    if (S_ISDIR(st.st_mode))
        return test_format("dir  %03o %s\n", st.st_mode & 07777, shown);
    if (!S_ISREG(st.st_mode))
        return test_format("else %s\n", shown);
    vls_hash_bytes(&id, test_read_file(path));
    return test_format("file %03o %s %lld %.16s\n", st.st_mode & 07777, shown,
                       (long long)st.st_size, vls_id_hex(&id).s);
}

static const char *describe_all(const char *dir, const char *shown, unsigned depth)
{
    const char *names[2048], *text = "";
    size_t count = 0;
    struct dirent *e;
    DIR *d = opendir(dir);

    CHECK_MSG(depth < 50, "%s", dir);
    if (!d)
        return ""; /* it is closed */
    while ((e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            strcmp(e->d_name, ".valise") != 0 && count < VLS_COUNT(names))
            names[count++] = test_format("%s", e->d_name);
    (void)closedir(d);
    qsort(names, count, sizeof(*names), by_name);
    for (size_t i = 0; i < count; i++) {
        const char *path = test_format("%s/%s", dir, names[i]), *line;
        struct stat st;
        line = test_format("%s%s", shown, names[i]);
        text = test_format("%s%s", text, describe(path, line));
        if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
            text =
                test_format("%s%s", text, describe_all(path, test_format("%s/", line), depth + 1));
    }
    return text;
}

const char *shed_text(const char *dir)
{
    return describe_all(dir, "", 0);
}

void shed_check(shed *s)
{
    const char *found = shed_run(s, "workspace:validate", "");

    CHECK_MSG(!strstr(found, "\"kind\":\"problem\""), "%s", found);
    CHECK_TEXT(state_of(s->t, s->v), replayed(s->t, s->v));
}
