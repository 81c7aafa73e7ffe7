/* exchange.c -- see exchange.h. */
#include "cli/exchange.h"

#include <unistd.h>

#include "base/fd.h"
#include "base/text.h"
#include "cli/backpack.h"

/* ---- import ---- */

int cli_print_imported(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    vls_json sessions = vls_member_of(answer, "imported");
    vls_buf *out = &c->out->text;

    (void)op;
    (void)err;
    for (uint32_t i = 0; i < sessions.len; i++) {
        vls_json one = sessions.items[i];
        valise_str id = cli_text_of(one, "sessionId"), label = cli_text_of(one, "label");
        vls_buf_add(out, vls_str_from(id, id.len > 8 ? id.len - 8 : 0));
        vls_buf_add_text(out, "  ");
        cli_add_count(out, cli_number_of(one, "turns"), "turn", "turns");
        if (vls_truth_of(one, "existed"))
            vls_buf_add_text(out, " more");
        if (label.len > 0) {
            vls_buf_add_text(out, "  ");
            cli_add_data(c->out, label, 0);
        }
        vls_buf_add_byte(out, '\n');
    }
    vls_buf_add_text(out, "imported ");
    cli_add_count(out, cli_number_of(answer, "sessions"), "session", "sessions");
    vls_buf_add_text(out, ", ");
    cli_add_count(out, cli_number_of(answer, "turns"), "turn", "turns");
    vls_buf_add_text(out, ", ");
    cli_add_count(out, cli_number_of(answer, "blobs"), "blob", "blobs");
    if (cli_number_of(answer, "there") > 0) {
        vls_buf_add_text(out, "; there already: ");
        cli_add_count(out, cli_number_of(answer, "there"), "turn", "turns");
    }
    if (cli_number_of(answer, "deleted") > 0) {
        vls_buf_add_text(out, "; deleted here: ");
        cli_add_count(out, cli_number_of(answer, "deleted"), "turn", "turns");
    }
    vls_buf_add_byte(out, '\n');
    return 0;
}

static void add_problems(vls_buf *lines, vls_json answer)
{
    vls_json problems = vls_member_of(answer, "problems");
    int64_t more = cli_number_of(answer, "problemCount") - (int64_t)problems.len;

    for (uint32_t i = 0; i < problems.len; i++) {
        valise_str file = cli_text_of(problems.items[i], "file");
        vls_buf_add_text(lines, "valise: skipped: ");
        if (file.len > 0) {
            vls_text_neutralize(lines, file, 0);
            vls_buf_add_text(lines, ", ");
        }
        vls_buf_printf(
            lines, "line %lld, byte %lld: ", (long long)cli_number_of(problems.items[i], "line"),
            (long long)cli_number_of(problems.items[i], "offset"));
        vls_text_neutralize(lines, cli_text_of(problems.items[i], "message"),
                            VLS_TEXT_KEEP_BACKSLASH);
        vls_buf_add_byte(lines, '\n');
    }
    if (more > 0)
        vls_buf_printf(lines, "valise: and %lld more problems\n", (long long)more);
}

int cli_warn_of_import(cli *c, vls_json answer, valise_error *err)
{
    vls_json unknown = vls_member_of(answer, "unknown");
    VLS_AUTO(buf) vls_buf lines = {0};

    (void)err;
    vls_buf_init(&lines, c->env, (size_t)1 << 20);
    add_problems(&lines, answer);
    for (uint32_t i = 0; i < unknown.len; i++) {
        vls_buf_add_text(&lines, i == 0 ? "valise: not understood: " : ", ");
        vls_text_neutralize(&lines, cli_text_of(unknown.items[i], "type"), 0);
        vls_buf_printf(&lines, " (%lld)", (long long)cli_number_of(unknown.items[i], "count"));
    }
    if (unknown.len > 0)
        vls_buf_add_byte(&lines, '\n');
    if (cli_number_of(answer, "orphans") > 0) {
        vls_buf_add_text(&lines, "valise: ");
        cli_add_count(&lines, cli_number_of(answer, "orphans"), "result", "results");
        vls_buf_add_text(&lines, " without a call, kept as x-orphan-tool_result\n");
    }
    (void)vls_fd_write_all(STDERR_FILENO,
                           vls_buf_str(&lines)); /* nobody is told that this failed */
    return 0;
}

/* ---- export ---- */

int cli_print_exported(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    vls_json text = vls_member_of(answer, "text");

    (void)op;
    (void)err;
    if (text.type == VLS_JSON_STRING) {
        cli_add_data(c->out, vls_json_str(text),
                     VLS_TEXT_KEEP_NEWLINE | VLS_TEXT_KEEP_TAB | VLS_TEXT_KEEP_BACKSLASH);
        return 0;
    }
    vls_buf_add_text(&c->out->text, "exported ");
    cli_add_count(&c->out->text, cli_number_of(answer, "sessions"), "session", "sessions");
    vls_buf_add_text(&c->out->text, ", ");
    cli_add_count(&c->out->text, cli_number_of(answer, "turns"), "turn", "turns");
    vls_buf_add_byte(&c->out->text, '\n');
    return 0;
}

int cli_warn_of_export(cli *c, vls_json answer, valise_error *err)
{
    static const struct {
        const char *name, *one, *more;
    } kinds[] = {{"branches", "branch", "branches"},
                 {"thinking", "block of thinking", "blocks of thinking"},
                 {"hidden", "hidden turn", "hidden turns"},
                 {"noprompt", "turn that is not for models", "turns that are not for models"},
                 {"erased", "erased turn", "erased turns"},
                 {"blocks", "block without a place there", "blocks without a place there"}};
    vls_json dropped = vls_member_of(answer, "dropped");
    VLS_AUTO(buf) vls_buf line = {0};

    (void)err;
    vls_buf_init(&line, c->env, 4096);
    for (size_t i = 0; i < VLS_COUNT(kinds); i++) {
        int64_t count = cli_number_of(dropped, kinds[i].name);
        if (count <= 0)
            continue;
        vls_buf_add_text(&line, line.len == 0 ? "valise: left out: " : ", ");
        cli_add_count(&line, count, kinds[i].one, kinds[i].more);
    }
    if (line.len > 0)
        vls_buf_add_byte(&line, '\n');
    (void)vls_fd_write_all(STDERR_FILENO, vls_buf_str(&line)); /* nobody is told that this failed */
    return 0;
}
