/* error.c -- telling what went wrong. */
#include <unistd.h>

#include "cli/output.h"
#include "cli/words.h"

#include "base/fd.h"
#include "base/text.h"
#include "json/error.h"

#define REPORT_MAX ((size_t)1 << 20)

/* Words of the command line may be any bytes: made harmless they are also valid UTF-8, as JSON
 * must be. */
static void add_harmless(vls_buf *out, const char *text)
{
    vls_text_neutralize(out, valise_str_of(text), VLS_TEXT_KEEP_BACKSLASH);
}

static const char *code_name(int code)
{
    return code == CLI_E_USAGE ? "USAGE" : valise_error_name(code);
}

static void add_json(vls_buf *out, const cli *c, const valise_error *err, valise_str current)
{
    vls_buf_add_text(out, "{\"error\":");
    vls_json_write_error(out, c->env, err, code_name(err->code), current);
    vls_buf_add_text(out, "}\n");
}

static void add_lines(vls_buf *out, const cli *c, const valise_error *err, const char *message,
                      valise_str current)
{
    bool nested = strpbrk(err->path, ".[") != NULL;

    vls_buf_add_text(out, "valise: ");
    /* A message about a field whose name it does not have. */
    if (err->path[0] && (nested || !c->one_value) && !strstr(message, err->path)) {
        add_harmless(out, err->path);
        vls_buf_add_text(out, ": ");
    }
    add_harmless(out, message);
    vls_buf_add_byte(out, '\n');
    if (!err->hint[0] && current.len == 0)
        return;
    vls_buf_add_text(out, "hint: ");
    add_harmless(out, err->hint);
    if (current.len > 0) {
        vls_buf_add_text(out, err->hint[0] ? "; it is now " : "it is now ");
        vls_text_neutralize(out, vls_str_head(current, 400), VLS_TEXT_KEEP_BACKSLASH);
    }
    vls_buf_add_byte(out, '\n');
}

void cli_hint(valise_error *err, const cli_words *words)
{
    if (err->hint[0])
        return;
    switch (err->code) {
    case VALISE_E_CANCELLED: /* who pressed Ctrl-C knows */
    case VALISE_E_CONFLICT:  /* what is there now is told */
        break;
    case VALISE_E_CORRUPT:
        vls_hint(err, "'valise validate' shows what is damaged and what to do about it");
        break;
    case VALISE_E_BUSY:
        vls_hint(err, "run it again, or wait longer with VALISE_TIMEOUT=60s");
        break;
    case VALISE_E_NO_MEMORY:
        vls_hint(err, "free some memory, or raise the limit (ulimit -v), and run it again");
        break;
    case VALISE_E_IO:
        vls_hint(err, "check the disk and run it again; nothing was left half done");
        break;
    default:
        if (words && words->command)
            vls_hint(err, "see 'valise %s --help'", words->name.s);
        else
            vls_hint(err, "see 'valise help'");
    }
}

void cli_say_words(valise_error *err, const cli_words *words)
{
    const char *op = words->command ? words->command->op->name : "";
    const size_t len = strlen(op);
    const valise_error said = *err;

    if (!len || strncmp(said.message, op, len) != 0 || !strchr(": ", said.message[len]))
        return;
    (void)snprintf(err->message, sizeof(err->message), "%s%.255s", words->name.s,
                   said.message + len);
}

int cli_report(const cli *c, const valise_error *err)
{
    const char *message = err->message[0] ? err->message : valise_error_text(err->code);
    valise_str current = err->code == VALISE_E_CONFLICT ? c->current : (valise_str){NULL, 0};
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, c->env, REPORT_MAX);
    if (c->options.json)
        add_json(&text, c, err, current);
    else
        add_lines(&text, c, err, message, current);
    /* There is nobody left to tell. */
    (void)vls_fd_write_all(STDERR_FILENO, vls_buf_str(&text));
    return err->code == CLI_E_USAGE ? CLI_USAGE : valise_error_exit_code(err->code);
}
