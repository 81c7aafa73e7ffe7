/* error.c -- filling valise_error, and the table behind the codes.
 *
 * Messages are one line of valid UTF-8: what an error quotes may come from anywhere, so
 * control characters and bytes that are no UTF-8 are replaced, and a cut never splits a
 * character. */
#include "base/str.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdarg.h>

typedef struct error_row {
    int code;
    const char *name;
    const char *text;
    int exit_code;
    int http_status;
} error_row;

static const error_row rows[] = {
#define X(name, number, text, exit_code, http_status) {number, #name, text, exit_code, http_status},
#include <valise/errors.def>
#undef X
};

static const error_row *find_row(int code)
{
    for (size_t i = 0; i < VLS_COUNT(rows); i++) {
        if (rows[i].code == code)
            return &rows[i];
    }
    return NULL;
}

const char *valise_error_name(int code)
{
    const error_row *row = find_row(code);

    if (code == 0)
        return "OK";
    return row ? row->name : "UNKNOWN";
}

int vls_error_of_name(valise_str name)
{
    for (size_t i = 0; i < VLS_COUNT(rows); i++) {
        if (vls_str_equal(name, valise_str_of(rows[i].name)))
            return rows[i].code;
    }
    return 0;
}

const char *valise_error_text(int code)
{
    const error_row *row = find_row(code);

    if (code == 0)
        return "ok";
    return row ? row->text : "unknown error";
}

int valise_error_exit_code(int code)
{
    const error_row *row = find_row(code);

    if (code == 0)
        return 0;
    return row ? row->exit_code : 1;
}

int valise_error_http_status(int code)
{
    const error_row *row = find_row(code);

    if (code == 0)
        return 200;
    return row ? row->http_status : 500;
}

/* vsnprintf cuts at a byte; take back what is left of a character that was cut. */
static void drop_cut_character(char *text, size_t len)
{
    size_t start = len;

    while (start > 0 && len - start < 3 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;

    unsigned char lead = (unsigned char)text[start - 1];
    size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (need > 1 && len - (start - 1) < need)
        text[start - 1] = '\0';
}

static void clean_line(char *text)
{
    size_t len = strlen(text);
    uint32_t c;

    for (size_t at = 0, used; at < len; at += used) {
        used = vls_utf8_decode(&c, text + at, len - at);
        if (used == 0 || vls_utf8_is_control(c)) {
            used = VLS_MAX(used, 1);
            memset(text + at, '?', used);
        }
    }
}

VALISE_PRINTF(3, 0)
static void format_line(char *out, size_t size, const char *format, va_list args)
{
    int wanted = vsnprintf(out, size, format, args);

    if (wanted < 0)
        out[0] = '\0';
    else if ((size_t)wanted >= size)
        drop_cut_character(out, size - 1);
    clean_line(out);
}

VALISE_PRINTF(4, 0)
static void fill(valise_error *err, int code, int64_t offset, const char *format, va_list args)
{
    if (!err)
        return;
    err->code = code;
    err->offset = offset;
    err->path[0] = '\0';
    err->hint[0] = '\0';
    format_line(err->message, sizeof(err->message), format, args);
}

void vls_report(valise_error *err, int code, int64_t offset, const char *format, ...)
{
    va_list args;

    assert(code < 0);
    va_start(args, format);
    fill(err, code, offset, format, args);
    va_end(args);
}

int valise_error_set(valise_error *err, int code, const char *format, ...)
{
    va_list args;

    code = code < 0 ? code : VALISE_E_INVALID;
    va_start(args, format);
    fill(err, code, -1, format, args);
    va_end(args);
    return code;
}

/* What to do about it, where that can be said of any file; NULL: it cannot. */
static const char *way_out(int number)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        return "check the path";
    case EACCES:
    case EPERM:
        return "see who may read and write it";
    case EISDIR:
        return "give a file, not a folder";
    case ENAMETOOLONG:
        return "give a shorter path";
    case ENOSPC:
    case EDQUOT:
        return "make room on the disk and run it again";
    case EFBIG:
        return "a file may not grow so large here: raise the limit (ulimit -f)";
    case EROFS:
        return "it is mounted to be read only";
    case EMFILE:
    case ENFILE:
        return "too many files are open: close some, or raise the limit (ulimit -n)";
    case EBADF:
        return "it is closed: connect it to a file, a pipe or a terminal";
    default:
        return NULL;
    }
}

int vls_report_errno(valise_error *err, const char *what, valise_str path)
{
    int saved = errno;
    char reason[96];
    int code = VALISE_E_IO;

    if (saved == ENOENT || saved == ENOTDIR)
        code = VALISE_E_NOT_FOUND;
    else if (saved == EACCES || saved == EPERM)
        code = VALISE_E_DENIED;
    else if (saved == EEXIST)
        code = VALISE_E_EXISTS;
    else if (saved == ENOMEM)
        code = VALISE_E_NO_MEMORY;

    else if (saved == ENAMETOOLONG)
        code = VALISE_E_INVALID;

    /* The GNU strerror_r: thread-safe, and it may not use our buffer at all. */
    const char *text = strerror_r(saved, reason, sizeof(reason));
    (void)vls_fail(err, code, "%s %.*s: %s", what, VALISE_STR_ARG(path), text);
    if (way_out(saved))
        vls_hint(err, "%s", way_out(saved));
    return code;
}

void vls_hint(valise_error *err, const char *format, ...)
{
    va_list args;

    if (!err)
        return;
    va_start(args, format);
    format_line(err->hint, sizeof(err->hint), format, args);
    va_end(args);
}

void vls_error_prepend(valise_error *err, const char *format, ...)
{
    char step[sizeof(err->path)];
    char whole[2 * sizeof(err->path)];
    va_list args;

    if (!err)
        return;
    va_start(args, format);
    format_line(step, sizeof(step), format, args);
    va_end(args);

    const char *dot = err->path[0] && err->path[0] != '[' ? "." : "";
    size_t len = (size_t)snprintf(whole, sizeof(whole), "%s%s%s", step, dot, err->path);
    size_t keep = VLS_MIN(len, sizeof(err->path) - 1);
    memcpy(err->path, whole, keep);
    err->path[keep] = '\0';
    if (keep < len)
        drop_cut_character(err->path, keep);
}
