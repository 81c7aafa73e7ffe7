/* io.c -- operands in, results and errors out. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "cli/cli.h"

#include "base/text.h"

#define READ_STEP ((size_t)64 << 10)

/* ---- out ---- */

static void add_json_member(vls_buf *out, const char *key, const char *text)
{
    vls_json_write_string(out, valise_str_of(key));
    vls_buf_add_byte(out, ':');
    vls_json_write_string(out, valise_str_of(text));
}

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

static void report(const cli *c, const char *code, const char *message, const char *hint)
{
    vls_buf text;

    vls_buf_init(&text, c->env, (size_t)64 << 10);
    if (c->json) {
        vls_buf_add_text(&text, "{\"error\":{");
        add_json_member(&text, "code", code);
        vls_buf_add_byte(&text, ',');
        if (hint[0]) {
            add_json_member(&text, "hint", hint);
            vls_buf_add_byte(&text, ',');
        }
        add_json_member(&text, "message", message);
        vls_buf_add_text(&text, "}}\n");
    } else {
        vls_buf_add_text(&text, "valise: ");
        vls_text_neutralize(&text, valise_str_of(message), VLS_TEXT_KEEP_BACKSLASH);
        vls_buf_add_byte(&text, '\n');
        if (hint[0]) {
            vls_buf_add_text(&text, "hint: ");
            vls_text_neutralize(&text, valise_str_of(hint), VLS_TEXT_KEEP_BACKSLASH);
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
    valise_error err;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    /* The words of a command line may be any bytes; those of an error are text. */
    (void)vls_fail(&err, VALISE_E_INVALID, "%s", message);
    report(c, "USAGE", err.message, hint);
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
    VLS_AUTO(buf) vls_buf harmless;
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
    VLS_AUTO(buf) vls_buf bytes;
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
