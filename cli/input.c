/* input.c -- what comes in: files, standard input, secrets. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

#include "base/utf8.h"
#include "field/field.h"

#define READ_STEP ((size_t)64 << 10)
#define SECRET_MAX_BYTES ((size_t)64 << 10)

static int read_all(vls_buf *out, int fd, valise_str name, valise_error *err)
{
    for (;;) {
        char *at = vls_buf_reserve(out, READ_STEP);
        if (!at) {
            if (out->failed == VALISE_E_TOO_LARGE)
                return vls_fail(err, VALISE_E_TOO_LARGE, "%.*s is larger than %zu MiB",
                                VALISE_STR_ARG(name), out->max >> 20);
            return vls_buf_check(out, err);
        }
        ssize_t got = read(fd, at, READ_STEP);
        if (got < 0 && errno == EINTR) {
            int rc = cli_check_interrupt(err);
            if (rc < 0)
                return rc;
            continue;
        }
        if (got < 0)
            return vls_fail_errno(err, "cannot read", name);
        if (got == 0)
            return 0;
        vls_buf_advance(out, (size_t)got);
    }
}

/* Read what fd has into the arena of the run. */
static int read_into_arena(valise_str *out, cli *c, int fd, valise_str name, size_t max_bytes,
                           valise_error *err)
{
    VLS_AUTO(buf) vls_buf bytes = {0};
    int rc;

    vls_buf_init(&bytes, c->env, max_bytes + READ_STEP);
    rc = read_all(&bytes, fd, name, err);
    return rc < 0 ? rc : vls_arena_dup(out, &c->arena, vls_buf_str(&bytes), err);
}

static int check_file(int fd, const char *path, valise_error *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return vls_fail_errno(err, "cannot look at", valise_str_of(path));
    if (!S_ISDIR(st.st_mode))
        return 0;
    (void)vls_fail(err, VALISE_E_INVALID, "%s is a folder", path);
    vls_hint(err, "give a file, or - for standard input");
    return VALISE_E_INVALID;
}

/* Somebody may have given the text itself. */
static int refuse_path(const char *path, valise_error *err)
{
    int rc = vls_fail_errno(err, "cannot open", valise_str_of(path));

    if (rc == VALISE_E_NOT_FOUND)
        vls_hint(err, "give the path of a file, or - to read standard input");
    return rc;
}

int cli_read_file(valise_str *out, cli *c, const char *path, size_t max_bytes, valise_error *err)
{
    int fd, rc;

    if (strcmp(path, "-") == 0) {
        if (c->stdin_used)
            return vls_fail(err, VALISE_E_INVALID, "standard input can be read only once");
        c->stdin_used = true;
        return read_into_arena(out, c, STDIN_FILENO, VLS_STR("standard input"), max_bytes, err);
    }
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return refuse_path(path, err);
    rc = check_file(fd, path, err);
    if (rc == 0)
        rc = read_into_arena(out, c, fd, valise_str_of(path), max_bytes, err);
    (void)close(fd); /* only read from: there is nothing to lose */
    return rc;
}

/* @FILE, or a text whose first letter is an @. */
static int read_named(valise_str *out, cli *c, const char *word, valise_error *err)
{
    int rc = cli_read_file(out, c, word + 1, VLS_JSON_MAX_BYTES, err);

    if (rc == VALISE_E_NOT_FOUND)
        vls_hint(err, "check the path; write @@ for a text that begins with @");
    return rc;
}

int cli_read_word(valise_str *out, cli *c, const char *word, valise_error *err)
{
    if (strcmp(word, "-") == 0)
        return cli_read_file(out, c, word, VLS_JSON_MAX_BYTES, err);
    if (word[0] == '@' && word[1] == '\0')
        return vls_fail(err, VALISE_E_INVALID, "there is no file name after @");
    /* A file of the name "-" is what it says, not standard input. */
    if (strcmp(word, "@-") == 0)
        return cli_read_file(out, c, "./-", VLS_JSON_MAX_BYTES, err);
    if (word[0] == '@' && word[1] != '@')
        return read_named(out, c, word, err);
    *out = valise_str_of(word[0] == '@' ? word + 1 : word);
    return 0;
}

/* Could it have been meant as a text? Then it lacks its quotes. */
static bool looks_like_text(const char *word)
{
    return word[0] != '\0' && !strchr("-0123456789[{\"@", word[0]) && strcmp(word, "-") != 0;
}

int cli_read_json(vls_json *out, cli *c, const char *word, uint32_t around, valise_error *err)
{
    valise_str text;
    int rc = cli_read_word(&text, c, word, err);

    if (rc < 0)
        return rc;
    rc = vls_json_parse(out, &c->arena, text, &(vls_json_limits){.around = around}, err);
    if (rc != VALISE_E_INVALID || !err)
        return rc;
    if (word[0] == '@')
        vls_hint(err, "look at the file %s", word + 1);
    else if (looks_like_text(word) && strlen(word) <= 40 && !strpbrk(word, "'\"\\") &&
             vls_utf8_valid(text))
        vls_hint(err, "a text is JSON with its quotes: '\"%s\"'; @FILE and - are read", word);
    else if (looks_like_text(word) || text.len == 0)
        vls_hint(err, "give JSON (a text with its quotes: '\"text\"'), @FILE, or - for standard "
                      "input");
    else
        vls_hint(err, "fix the JSON there; with @FILE no shell quoting gets in the way");
    return rc;
}

/* ---- secrets ---- */

cli_secret_name cli_secret_variable(const char *field_name)
{
    vls_field_name words = vls_field_words(field_name, '_');
    cli_secret_name out;

    for (char *c = words.s; *c; c++) {
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    }
    (void)snprintf(out.s, sizeof(out.s), "VALISE_SECRET_%s", words.s);
    return out;
}

static int check_private(int fd, const char *path, valise_error *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return vls_fail_errno(err, "cannot look at", valise_str_of(path));
    if ((st.st_mode & 077) == 0)
        return 0;
    vls_report(err, VALISE_E_DENIED, -1, "others can read the secret in %s", path);
    vls_hint(err, "chmod 600 %s", path);
    return VALISE_E_DENIED;
}

int cli_read_secret(valise_str *out, cli *c, const char *field_name, const char *path,
                    valise_error *err)
{
    const char *value = getenv(cli_secret_variable(field_name).s);
    valise_str text = {value, value ? strlen(value) : 0};
    int rc = 0;

    if (path) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return vls_fail_errno(err, "cannot open", valise_str_of(path));
        rc = check_private(fd, path, err);
        if (rc == 0)
            rc = read_into_arena(&text, c, fd, valise_str_of(path), SECRET_MAX_BYTES, err);
        (void)close(fd); /* only read from */
        if (rc < 0)
            return rc;
        text = vls_str_trim(text);
    }
    /* Not even its bytes are told. */
    if (!vls_utf8_valid(text))
        return vls_fail(err, VALISE_E_INVALID, "the secret '%s' is not UTF-8", field_name);
    *out = text;
    return 0;
}
