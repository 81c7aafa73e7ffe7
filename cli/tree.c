/* tree.c -- see tree.h. */
#include <unistd.h>

#include "cli/tree.h"

#include "base/fd.h"
#include "base/text.h"
#include "cli/backpack.h"
#include "cli/paths.h"

#define SHORT_ID 8u

static void add_tree_path(vls_buf *out, const cli *c, vls_json row, const char *name)
{
    const vls_json *value = vls_json_get(row, valise_str_of(name));

    if (value)
        cli_add_path(out, c, *value);
}

static bool is_kind(vls_json row, const char *kind)
{
    return vls_str_equal(cli_text_of(row, "kind"), valise_str_of(kind));
}

/* ---- tree:scan ---- */

/* "3 files, 2 directories, 1 link". */
static void add_contents(vls_buf *out, vls_json answer)
{
    cli_add_count(out, cli_number_of(answer, "files"), "file", "files");
    cli_add_some(out, cli_number_of(answer, "dirs"), "directory", "directories");
    cli_add_some(out, cli_number_of(answer, "links"), "link", "links");
    cli_add_some(out, cli_number_of(answer, "unreadable"), "unreadable", "unreadable");
}

/* What moved is neither added nor removed. */
static void add_changes(vls_buf *out, vls_json answer)
{
    int64_t moved = cli_number_of(answer, "moved");

    vls_buf_printf(
        out, ": %lld added, %lld changed, %lld removed", (long long)cli_number_of(answer, "added"),
        (long long)cli_number_of(answer, "changed"), (long long)cli_number_of(answer, "removed"));
    if (moved > 0)
        vls_buf_printf(out, ", %lld moved", (long long)moved);
}

static bool is_unchanged(vls_json answer)
{
    return vls_str_equal(cli_text_of(answer, "treeRoot"), cli_text_of(answer, "oldTreeRoot"));
}

/* Why, without the path again: "open b.c: Permission denied". */
static valise_str reason_of(const cli *c, vls_json row)
{
    const vls_json *path = vls_json_get(row, VLS_STR("path"));
    valise_str reason = cli_text_of(row, "reason");
    VLS_AUTO(buf) vls_buf name = {0};
    size_t at;

    vls_buf_init(&name, c->env, (size_t)1 << 16);
    if (path)
        cli_add_path_bytes(&name, *path);
    vls_buf_add_text(&name, ": ");
    at = vls_str_find(reason, vls_buf_str(&name));
    /* What stands before it is a verb, or more than that: then it stays. */
    return at < reason.len && vls_str_find_byte(vls_str_head(reason, at), ':') == at
               ? vls_str_from(reason, at + name.len)
               : reason;
}

/* A line for each, up to how many are listed, and how many more there are. */
static void add_problems(vls_buf *out, const cli *c, vls_json answer, const char *list,
                         const char *count, const char *what)
{
    const vls_json *rows = vls_json_get(answer, valise_str_of(list));
    uint32_t listed = rows ? rows->len : 0;
    int64_t all = cli_number_of(answer, count);

    for (uint32_t i = 0; i < listed; i++) {
        vls_buf_printf(out, "%s ", what);
        add_tree_path(out, c, rows->items[i], "path");
        vls_buf_add_text(out, ": ");
        vls_text_neutralize(out, reason_of(c, rows->items[i]), VLS_TEXT_KEEP_BACKSLASH);
        vls_buf_add_byte(out, '\n');
    }
    if (all > listed)
        vls_buf_printf(out, "%s %lld more\n", what, (long long)all - listed);
}

int cli_warn_of_scan(cli *c, vls_json answer, valise_error *err)
{
    VLS_AUTO(buf) vls_buf errors = {0};
    int rc = cli_locate(c, err);

    if (rc < 0)
        return rc;
    vls_buf_init(&errors, c->env, (size_t)16 << 20);
    add_problems(&errors, c, answer, "errors", "errorCount", "valise: cannot read");
    (void)vls_fd_write_all(STDERR_FILENO, vls_buf_str(&errors)); /* the exit code tells too */
    return 0;
}

int cli_warn_of_put(cli *c, vls_json answer, valise_error *err)
{
    VLS_AUTO(buf) vls_buf lines = {0};
    int rc = 0;

    if (cli_number_of(answer, "ambiguousCount") > 0)
        rc = cli_locate(c, err);
    if (rc < 0)
        return rc;
    vls_buf_init(&lines, c->env, (size_t)16 << 20);
    add_problems(&lines, c, answer, "ambiguous", "ambiguousCount", "valise: not followed:");
    (void)vls_fd_write_all(STDERR_FILENO, vls_buf_str(&lines)); /* what was put is put */
    return 0;
}

int cli_print_scan(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    vls_buf *out = &c->out->text;

    (void)op, (void)err;
    if (is_unchanged(answer)) {
        vls_buf_add_text(out, "nothing changed");
    } else {
        add_contents(out, answer);
        add_changes(out, answer);
    }
    vls_buf_add_text(out, "  root ");
    cli_add_data(c->out, vls_str_head(cli_text_of(answer, "treeRoot"), SHORT_ID), 0);
    vls_buf_add_byte(out, '\n');
    add_problems(out, c, answer, "ambiguous", "ambiguousCount", "not followed:");
    return 0;
}

int cli_status_of_scan(const cli *c, vls_json answer)
{
    (void)c;
    return cli_number_of(answer, "errorCount") > 0 ? 1 : CLI_DONE;
}

/* ---- tree:ls ---- */

static void add_listed_path(vls_buf *out, const cli *c, vls_json row)
{
    const vls_json *target = vls_json_get(row, VLS_STR("target"));
    VLS_AUTO(buf) vls_buf bytes = {0};

    add_tree_path(out, c, row, "path");
    if (is_kind(row, "dir"))
        vls_buf_add_byte(out, '/');
    if (!target || !is_kind(row, "link"))
        return;
    vls_buf_init(&bytes, c->env, (size_t)1 << 16);
    cli_add_path_bytes(&bytes, *target);
    vls_buf_add_text(out, " -> ");
    cli_add_quoted_name(out, vls_buf_str(&bytes));
}

bool cli_tree_cell(vls_buf *out, const cli *c, const char *field, vls_json row)
{
    const vls_json *exec = vls_json_get(row, VLS_STR("exec"));

    if (strcmp(field, "path") == 0) {
        add_listed_path(out, c, row);
        return true;
    }
    if (strcmp(field, "kind") == 0 && exec && exec->truth) {
        vls_buf_add_text(out, "executable");
        return true;
    }
    if (strcmp(field, "kind") == 0 && is_kind(row, "dir")) {
        vls_buf_add_text(out, "directory");
        return true;
    }
    if (strcmp(field, "entries") == 0) {
        cli_add_count(out, cli_number_of(row, "entries"), "entry", "entries");
        return true;
    }
    return false;
}

/* ---- tree:check-ignore ---- */

/* As it stands in the rule file, or a path from the root: git has both so. */
static void add_plain(cli *c, vls_json row, const char *name)
{
    const vls_json *value = vls_json_get(row, valise_str_of(name));
    VLS_AUTO(buf) vls_buf bytes = {0};

    vls_buf_init(&bytes, c->env, (size_t)1 << 20);
    if (value)
        cli_add_path_bytes(&bytes, *value);
    cli_add_data(c->out, vls_buf_str(&bytes), 0);
}

int cli_print_ignored(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    const vls_json *rows = vls_json_get(answer, VLS_STR("paths"));

    (void)op, (void)err;
    for (uint32_t i = 0; rows && i < rows->len; i++) {
        if (!vls_json_get(rows->items[i], VLS_STR("source")))
            continue;
        add_plain(c, rows->items[i], "source");
        vls_buf_add_byte(&c->out->text, ':');
        if (cli_number_of(rows->items[i], "line") > 0)
            vls_buf_printf(&c->out->text, "%lld", (long long)cli_number_of(rows->items[i], "line"));
        vls_buf_add_byte(&c->out->text, ':');
        add_plain(c, rows->items[i], "pattern");
        vls_buf_add_byte(&c->out->text, '\t');
        add_tree_path(&c->out->text, c, rows->items[i], "path");
        vls_buf_add_byte(&c->out->text, '\n');
    }
    return 0;
}

int cli_status_of_ignored(const cli *c, vls_json answer)
{
    (void)c;
    return cli_number_of(answer, "ignored") > 0 ? CLI_DONE : 1;
}
