/* checkpoint.c -- see checkpoint.h. */
#include <unistd.h>

#include "cli/checkpoint.h"

#include "base/fd.h"
#include "base/text.h"
#include "cli/backpack.h"
#include "cli/paths.h"

#define LINES 20u /* of what was done */

static void add_size(vls_buf *out, vls_json answer, const char *name)
{
    int64_t bytes = cli_number_of(answer, name);

    cli_show_size(out, (uint64_t)VLS_MAX(bytes, 0));
}

/* A line for each that is listed, and how many more there are; to standard error. */
static int warn_of(cli *c, vls_json answer, const char *list, const char *count, const char *what,
                   valise_error *err)
{
    const vls_json *rows = vls_json_get(answer, valise_str_of(list));
    uint32_t listed = rows ? rows->len : 0;
    int64_t all = cli_number_of(answer, count);
    VLS_AUTO(buf) vls_buf text = {0};
    int rc = cli_locate(c, err);

    if (rc < 0)
        return rc;
    vls_buf_init(&text, c->env, (size_t)16 << 20);
    for (uint32_t i = 0; i < listed; i++) {
        const vls_json *path = vls_json_get(rows->items[i], VLS_STR("path"));
        vls_buf_printf(&text, "valise: %s ", what);
        if (path)
            cli_add_path(&text, c, *path);
        vls_buf_add_text(&text, ": ");
        vls_text_neutralize(&text, cli_text_of(rows->items[i], "reason"), 0);
        vls_buf_add_byte(&text, '\n');
    }
    if (all > listed)
        vls_buf_printf(&text, "valise: %s %lld more\n", what, (long long)all - listed);
    (void)vls_fd_write_all(STDERR_FILENO, vls_buf_str(&text));
    return 0;
}

/* ---- tree:checkpoint ---- */

int cli_print_checkpoint(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    vls_buf *out = &c->out->text;
    valise_str name = cli_text_of(answer, "name");

    (void)op, (void)err;
    if (vls_truth_of(answer, "existed")) {
        vls_buf_add_text(out, "nothing changed since checkpoint ");
        cli_add_data(c->out, name, 0);
        vls_buf_add_byte(out, '\n');
        return 0;
    }
    vls_buf_add_text(out, name.len > 0 ? "checkpoint " : "a checkpoint would have ");
    if (name.len > 0) {
        cli_add_data(c->out, name, 0);
        vls_buf_add_text(out, ": ");
    }
    cli_add_count(out, cli_number_of(answer, "files"), "file", "files");
    cli_add_some(out, cli_number_of(answer, "dirs"), "directory", "directories");
    cli_add_some(out, cli_number_of(answer, "links"), "link", "links");
    vls_buf_add_text(out, ", ");
    add_size(out, answer, "bytes");
    vls_buf_add_text(out, "; ");
    cli_add_count(out, cli_number_of(answer, "stored"), "content", "contents");
    vls_buf_add_text(out, " new, ");
    add_size(out, answer, "storedBytes");
    vls_buf_add_byte(out, '\n');
    return 0;
}

int cli_warn_of_checkpoint(cli *c, vls_json answer, valise_error *err)
{
    return warn_of(c, answer, "lacking", "lackingCount", "it lacks", err);
}

/* What is too large was left out on purpose. */
int cli_status_of_checkpoint(const cli *c, vls_json answer)
{
    (void)c;
    return cli_number_of(answer, "failedCount") > 0 ? 1 : CLI_DONE;
}

/* ---- tree:restore ---- */

static bool is_dry(vls_json answer)
{
    return cli_text_of(answer, "saved").len == 0 && vls_truth_of(answer, "dryRun");
}

static int add_changes(cli *c, vls_json answer, valise_error *err)
{
    const vls_json *rows = vls_json_get(answer, VLS_STR("changes"));
    int64_t all = cli_number_of(answer, "restored") + cli_number_of(answer, "deleted");
    uint32_t listed = rows ? rows->len : 0;
    int rc = cli_locate(c, err);

    if (rc < 0)
        return rc;
    if (!is_dry(answer))
        listed = VLS_MIN(listed, LINES);
    for (uint32_t i = 0; i < listed; i++) {
        const vls_json *path = vls_json_get(rows->items[i], VLS_STR("path"));
        vls_buf_printf(&c->out->text, "%-7.*s ",
                       VALISE_STR_ARG(cli_text_of(rows->items[i], "change")));
        if (path)
            cli_add_path(&c->out->text, c, *path);
        vls_buf_add_byte(&c->out->text, '\n');
    }
    if (all > listed && listed > 0)
        vls_buf_printf(&c->out->text, "and %lld more\n", (long long)all - listed);
    return 0;
}

/* "  (but for a, b and 3 more)": what could not be saved, and cannot come back. */
static void add_unsaved(cli *c, vls_json answer)
{
    const vls_json *rows = vls_json_get(answer, VLS_STR("unsaved"));
    int64_t all = cli_number_of(answer, "unsavedCount");
    uint32_t listed = rows ? VLS_MIN(rows->len, LINES) : 0;

    if (all <= 0)
        return;
    vls_buf_add_text(&c->out->text, "  (but for ");
    for (uint32_t i = 0; i < listed; i++) {
        const vls_json *path = vls_json_get(rows->items[i], VLS_STR("path"));
        if (i > 0)
            vls_buf_add_text(&c->out->text, ", ");
        if (path)
            cli_add_path(&c->out->text, c, *path);
    }
    if (all > listed)
        vls_buf_printf(&c->out->text, " and %lld more", (long long)all - listed);
    vls_buf_add_text(&c->out->text, ", which could not be saved)");
}

int cli_print_restore(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    vls_buf *out = &c->out->text;
    valise_str saved = cli_text_of(answer, "saved");
    const vls_json *late = vls_json_get(answer, VLS_STR("late"));
    int rc = add_changes(c, answer, err);

    (void)op;
    if (rc < 0)
        return rc;
    vls_buf_printf(out, "%s%lld restored, %lld unchanged", is_dry(answer) ? "would be: " : "",
                   (long long)cli_number_of(answer, "restored"),
                   (long long)cli_number_of(answer, "unchanged"));
    cli_add_some(out, cli_number_of(answer, "deleted"), "deleted", "deleted");
    cli_add_some(out, cli_number_of(answer, "kept"), "kept that the checkpoint does not have",
                 "kept that the checkpoint does not have");
    vls_buf_add_byte(out, '\n');
    if (saved.len > 0) {
        vls_buf_add_text(out, "to undo: valise restore ");
        cli_add_data(c->out, saved, 0);
        vls_buf_add_text(out, " --delete");
        add_unsaved(c, answer);
        vls_buf_add_byte(out, '\n');
    }
    for (uint32_t i = 0; late && i < late->len; i++) {
        vls_buf_add_text(out, "and before that: valise restore ");
        cli_add_data(c->out, vls_json_str(late->items[i]), 0);
        vls_buf_add_byte(out, '\n');
    }
    return 0;
}

int cli_warn_of_restore(cli *c, vls_json answer, valise_error *err)
{
    const vls_json *found = vls_json_get(answer, VLS_STR("found"));
    VLS_AUTO(buf) vls_buf text = {0};
    int rc = warn_of(c, answer, "inTheWay", "inTheWayCount", "in the way:", err);

    if (rc == 0)
        rc = warn_of(c, answer, "lacking", "lackingCount", "the checkpoint lacks", err);
    if (rc < 0)
        return rc;
    vls_buf_init(&text, c->env, (size_t)1 << 20);
    for (uint32_t i = 0; found && i < found->len; i++) {
        vls_buf_add_text(&text, "valise: a file that was edited during a restore: ");
        vls_text_neutralize(&text, vls_json_str(found->items[i]), 0);
        vls_buf_add_byte(&text, '\n');
    }
    (void)vls_fd_write_all(STDERR_FILENO, vls_buf_str(&text));
    return 0;
}

int cli_status_of_restore(const cli *c, vls_json answer)
{
    (void)c;
    return cli_number_of(answer, "inTheWayCount") > 0 ? 1 : CLI_DONE;
}

/* ---- checkpoint:remove ---- */

int cli_print_removed(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    vls_buf *out = &c->out->text;

    (void)op, (void)err;
    vls_buf_add_text(out, "removed checkpoint ");
    cli_add_data(c->out, cli_text_of(answer, "name"), 0);
    vls_buf_add_text(out, "; ");
    cli_add_count(out, cli_number_of(answer, "contents"), "content", "contents");
    vls_buf_add_text(out, ", ");
    add_size(out, answer, "bytes");
    vls_buf_add_text(out, ", no other needs\n");
    return 0;
}
