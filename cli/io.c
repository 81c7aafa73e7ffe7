/* io.c -- operands in, results and errors out. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "cli/cli.h"

#include "base/text.h"

#define READ_STEP ((size_t)64 << 10)
#define REPORT_MAX ((size_t)64 << 10)

/* ---- out ---- */

/* Write all of it, or as much as goes. 0, or -1 with errno. */
static int write_all(int fd, valise_str s)
{
    while (s.len > 0) {
        ssize_t done = write(fd, s.ptr, s.len);
        if (done < 0 && errno != EINTR)
            return -1;
        if (done > 0)
            s = vls_str_from(s, (size_t)done);
    }
    return 0;
}

/* Words of the command line may be any bytes: made harmless they are also valid UTF-8, as JSON
 * must be. */
static void add_harmless(vls_buf *out, const char *text)
{
    vls_text_neutralize(out, valise_str_of(text), VLS_TEXT_KEEP_BACKSLASH);
}

static void add_json_member(vls_buf *out, const cli *c, const char *key, const char *text)
{
    VLS_AUTO(buf) vls_buf harmless = {0};

    vls_buf_init(&harmless, c->env, REPORT_MAX);
    add_harmless(&harmless, text);
    vls_json_write_string(out, valise_str_of(key));
    vls_buf_add_byte(out, ':');
    vls_json_write_string(out, vls_buf_str(&harmless));
}

static void report(const cli *c, const char *code, const char *message, const char *hint)
{
    vls_buf text;

    vls_buf_init(&text, c->env, REPORT_MAX);
    if (c->json) {
        vls_buf_add_text(&text, "{\"error\":{");
        add_json_member(&text, c, "code", code);
        vls_buf_add_byte(&text, ',');
        if (hint[0]) {
            add_json_member(&text, c, "hint", hint);
            vls_buf_add_byte(&text, ',');
        }
        add_json_member(&text, c, "message", message);
        vls_buf_add_text(&text, "}}\n");
    } else {
        vls_buf_add_text(&text, "valise: ");
        add_harmless(&text, message);
        vls_buf_add_byte(&text, '\n');
        if (hint[0]) {
            vls_buf_add_text(&text, "hint: ");
            add_harmless(&text, hint);
            vls_buf_add_byte(&text, '\n');
        }
    }
    (void)write_all(STDERR_FILENO, vls_buf_str(&text)); /* there is nobody left to tell */
    vls_buf_release(&text);
}

int cli_fail(cli *c, const valise_error *err)
{
    vls_buf_clear(&c->out);
    report(c, valise_error_name(err->code),
           err->message[0] ? err->message : valise_error_text(err->code), err->hint);
    return valise_error_exit_code(err->code);
}

int cli_usage(const cli *c, const char *hint, const char *format, ...)
{
    char message[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    report(c, "USAGE", message, hint);
    return CLI_USAGE;
}

int cli_print_json(cli *c, vls_json v, bool pretty, valise_error *err)
{
    int rc = pretty ? vls_json_write_pretty(&c->out, v, err) : vls_json_write(&c->out, v, err);

    if (rc < 0)
        return rc;
    vls_buf_add_byte(&c->out, '\n');
    return vls_buf_check(&c->out, err);
}

int cli_flush(cli *c)
{
    valise_error err = VALISE_ERROR_INIT;
    VLS_AUTO(buf) vls_buf harmless = {0};
    valise_str text = vls_buf_str(&c->out);

    vls_buf_init(&harmless, c->env, SIZE_MAX);
    if (vls_buf_check(&c->out, &err) < 0)
        return cli_fail(c, &err);
    if (isatty(STDOUT_FILENO)) {
        vls_text_neutralize(&harmless, text,
                            VLS_TEXT_KEEP_NEWLINE | VLS_TEXT_KEEP_TAB | VLS_TEXT_KEEP_BACKSLASH);
        if (vls_buf_check(&harmless, &err) < 0)
            return cli_fail(c, &err);
        text = vls_buf_str(&harmless);
    }
    if (write_all(STDOUT_FILENO, text) == 0)
        return CLI_DONE;
    vls_fail_errno(&err, "cannot write to", VLS_STR("standard output"));
    return cli_fail(c, &err);
}

/* ---- in ---- */

static int read_all(vls_buf *out, int fd, valise_str name, valise_error *err)
{
    for (;;) {
        char *at = vls_buf_reserve(out, READ_STEP);
        if (!at) {
            if (out->failed == VALISE_E_TOO_LARGE)
                return vls_fail(err, VALISE_E_TOO_LARGE, "%.*s is larger than %zu MiB",
                                VALISE_STR_ARG(name), VLS_JSON_MAX_BYTES >> 20);
            return vls_buf_check(out, err);
        }
        ssize_t got = read(fd, at, READ_STEP);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return vls_fail_errno(err, "cannot read", name);
        if (got == 0)
            return 0;
        vls_buf_advance(out, (size_t)got);
    }
}

/* Read what fd has into the run's arena. */
static int read_into_arena(valise_str *out, cli *c, int fd, valise_str name, valise_error *err)
{
    VLS_AUTO(buf) vls_buf bytes = {0};
    int rc;

    vls_buf_init(&bytes, c->env, VLS_JSON_MAX_BYTES + READ_STEP);
    rc = read_all(&bytes, fd, name, err);
    return rc < 0 ? rc : vls_arena_dup(out, &c->arena, vls_buf_str(&bytes), err);
}

int cli_read_operand(valise_str *out, cli *c, const char *operand, valise_error *err)
{
    int fd, rc;

    if (strcmp(operand, "-") == 0) {
        if (c->stdin_used)
            return vls_fail(err, VALISE_E_INVALID, "standard input can be read only once");
        c->stdin_used = true;
        return read_into_arena(out, c, STDIN_FILENO, VLS_STR("standard input"), err);
    }
    if (operand[0] != '@') {
        *out = valise_str_of(operand);
        return 0;
    }
    operand++;
    if (operand[0] == '\0')
        return vls_fail(err, VALISE_E_INVALID, "there is no name of a file behind @");
    fd = open(operand, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return vls_fail_errno(err, "cannot open", valise_str_of(operand));
    rc = read_into_arena(out, c, fd, valise_str_of(operand), err);
    (void)close(fd); /* only read from: there is nothing to lose */
    return rc;
}

int cli_read_json(vls_json *out, cli *c, const char *operand, valise_error *err)
{
    valise_str text;
    int rc = cli_read_operand(&text, c, operand, err);

    if (rc < 0)
        return rc;
    rc = vls_json_parse(out, &c->arena, text, NULL, err);
    if (rc == VALISE_E_INVALID && operand[0] == '@')
        vls_hint(err, "the file is %s", operand + 1);
    else if (rc == VALISE_E_INVALID && err->offset == 0 &&
             (operand[0] == '\0' || !strchr("-0123456789", operand[0])))
        vls_hint(err, "give JSON, @FILE for the contents of a file, or - for standard input");
    return rc;
}
