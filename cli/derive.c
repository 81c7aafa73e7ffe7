/* derive.c -- see derive.h. */
#include <limits.h>
#include <unistd.h>

#include "cli/derive.h"

#include "base/fd.h"
#include "base/text.h"
#include "cli/backpack.h"
#include "cli/call.h"
#include "cli/paths.h"
#include "engine/engine.h"

#define SHORT_ID 8u

static void add_id(cli *c, vls_json row, const char *name)
{
    cli_add_data(c->out, vls_str_head(cli_text_of(row, name), SHORT_ID), 0);
}

static void add_path(cli *c, vls_json row)
{
    const vls_json *path = vls_json_get(row, VLS_STR("path"));

    if (path)
        cli_add_path(&c->out->text, c, *path);
}

static bool is_outcome(vls_json row, const char *outcome)
{
    return vls_str_equal(cli_text_of(row, "outcome"), valise_str_of(outcome));
}

/* ---- runs ---- */

/* Were programs to be run? Then one that was not is one that a dry run tells of. */
static bool runs_programs(const cli *c)
{
    const vls_json *run = c->payload ? vls_json_get(*c->payload, VLS_STR("run")) : NULL;

    return (run && run->type == VLS_JSON_BOOL && run->truth) ||
           (c->payload && vls_json_get(*c->payload, VLS_STR("program")));
}

/* What is said of a slot in a word; NULL: it is as it was, which is no news. */
static const char *word_of(const cli *c, vls_json row)
{
    static const char *const words[][2] = {
        {"needs-author", "needs its author"}, {"needs-run", "needs its program"},
        {"unknown", "unknown policy"},        {"orphaned", "orphaned"},
        {"out-of-scope", "out of scope"},     {"failed", "failed"}};

    if (is_outcome(row, "made"))
        return !vls_json_get(row, VLS_STR("before")) ? "new"
               : vls_str_equal(cli_text_of(row, "before"), cli_text_of(row, "after"))
                   ? "the same again"
                   : "changed";
    if (is_outcome(row, "needs-run") && runs_programs(c))
        return "would run";
    for (size_t i = 0; i < VLS_COUNT(words); i++) {
        if (is_outcome(row, words[i][0]))
            return words[i][1];
    }
    return NULL;
}

static void add_row(cli *c, vls_json row)
{
    vls_buf *out = &c->out->text;
    const char *word = word_of(c, row);
    bool made = is_outcome(row, "made");

    if (!word)
        return;
    cli_style_begin(c->out, made ? CLI_GREEN : CLI_YELLOW);
    vls_buf_printf(out, "%-17s", word);
    cli_style_end(c->out, made ? CLI_GREEN : CLI_YELLOW);
    vls_buf_add_byte(out, ' ');
    add_path(c, row);
    vls_buf_add_byte(out, ' ');
    cli_add_data(c->out, cli_text_of(row, "type"), 0);
    if (made) {
        vls_buf_add_byte(out, ' ');
        add_id(c, row, "after");
    }
    if (made && vls_json_get(row, VLS_STR("before"))) {
        vls_buf_add_text(out, " (was ");
        add_id(c, row, "before");
        vls_buf_add_byte(out, ')');
    }
    if (cli_text_of(row, "why").len > 0) {
        vls_buf_add_text(out, ": ");
        cli_add_data(c->out, cli_text_of(row, "why"), 0);
    }
    vls_buf_add_byte(out, '\n');
}

int cli_print_run(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    const vls_json *rows = vls_json_get(answer, VLS_STR("slots"));
    const vls_json *dry_run = vls_json_get(answer, VLS_STR("dryRun"));
    vls_buf *out = &c->out->text;

    (void)op, (void)err;
    for (uint32_t i = 0; rows && i < rows->len; i++)
        add_row(c, rows->items[i]);
    vls_buf_printf(out, "%lld %s, %lld unchanged", (long long)cli_number_of(answer, "made"),
                   dry_run && dry_run->truth ? "would be made" : "made",
                   (long long)cli_number_of(answer, "unchanged"));
    cli_add_some(out, cli_number_of(answer, "needsAuthor"), "needs its author",
                 "need their author");
    if (runs_programs(c))
        cli_add_some(out, cli_number_of(answer, "needsRun"), "by a program", "by programs");
    else
        cli_add_some(out, cli_number_of(answer, "needsRun"), "needs its program (--run)",
                     "need their program (--run)");
    cli_add_some(out, cli_number_of(answer, "unknown"), "of an unknown policy",
                 "of unknown policies");
    cli_add_some(out, cli_number_of(answer, "orphaned"), "orphaned", "orphaned");
    cli_add_some(out, cli_number_of(answer, "outOfScope"), "out of scope", "out of scope");
    cli_add_some(out, cli_number_of(answer, "missing"), "entry without a frame",
                 "entries without a frame");
    cli_add_some(out, cli_number_of(answer, "stale"), "stale input", "stale inputs");
    cli_add_some(out, cli_number_of(answer, "failed"), "failed", "failed");
    vls_buf_add_text(out, "  context ");
    add_id(c, answer, "contextRoot");
    vls_buf_add_byte(out, '\n');
    if (vls_str_equal(cli_text_of(answer, "tree"), VLS_STR("outdated")))
        vls_buf_add_text(out, "tree: outdated; the run itself would look at the files first, and "
                              "may make more ('valise scan')\n");
    return 0;
}

int cli_status_of_run(const cli *c, vls_json answer)
{
    (void)c;
    return cli_number_of(answer, "failed") > 0 ? 1 : CLI_DONE;
}

/* Who wants to hear nothing still hears what went wrong; others see it among the rows. */
int cli_warn_of_run(cli *c, vls_json answer, valise_error *err)
{
    const vls_json *rows = vls_json_get(answer, VLS_STR("slots"));
    VLS_AUTO(buf) vls_buf lines = {0};
    int rc = cli_number_of(answer, "failed") > 0 && c->options.quiet ? cli_locate(c, err) : 0;

    vls_buf_init(&lines, c->env, (size_t)16 << 20);
    for (uint32_t i = 0; rc == 0 && c->options.quiet && rows && i < rows->len; i++) {
        const vls_json *path = vls_json_get(rows->items[i], VLS_STR("path"));
        if (!path || !is_outcome(rows->items[i], "failed"))
            continue;
        vls_buf_add_text(&lines, "valise: ");
        cli_add_path(&lines, c, *path);
        vls_buf_add_byte(&lines, ' ');
        vls_text_neutralize(&lines, cli_text_of(rows->items[i], "type"), 0);
        vls_buf_add_text(&lines, ": ");
        vls_text_neutralize(&lines, cli_text_of(rows->items[i], "why"), VLS_TEXT_KEEP_BACKSLASH);
        vls_buf_add_byte(&lines, '\n');
    }
    (void)vls_fd_write_all(STDERR_FILENO, vls_buf_str(&lines)); /* the exit code tells too */
    return rc;
}

/* ---- programs ---- */

int cli_consent(vls_json *payload, cli *c, const valise_op *op, valise_error *err)
{
    VLS_AUTO(buf) vls_buf given = {0};
    char real[PATH_MAX];
    valise_str path;
    vls_member *members;
    bool found = false;
    size_t at = 0;
    int rc;

    for (const valise_field *f = op->in; f && f->type != VALISE_T_END && !found; f++) {
        if (f->ref && strcmp(f->ref, CLI_HOST_PROGRAM) == 0)
            at = vls_json_find(&found, *payload, valise_str_of(f->name));
    }
    if (!found)
        return 0;
    vls_buf_init(&given, c->env, (size_t)2 * PATH_MAX);
    cli_add_path_bytes(&given, payload->members[at].value);
    if (!vls_buf_cstr(&given))
        return vls_buf_check(&given, err);
    if (!realpath(vls_buf_cstr(&given), real))
        return vls_fail_errno(err, "cannot find", vls_buf_str(&given));
    members = vls_arena_array(&c->arena, payload->len, sizeof(*members));
    if (!members)
        return vls_arena_fail(&c->arena, err);
    memcpy(members, payload->members, payload->len * sizeof(*members));
    rc = cli_open(c, err);
    if (rc == 0)
        rc = vls_engine_consent(c->workspace, real, err);
    if (rc == 0)
        rc = vls_arena_dup(&path, &c->arena, valise_str_of(real), err);
    if (rc == 0)
        rc = cli_path_value(&members[at].value, c, path, err);
    return rc < 0 ? rc : vls_json_object(payload, members, payload->len, err);
}

/* ---- marks ---- */

int cli_print_invalidated(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    int64_t marked = cli_number_of(answer, "marked"), already = cli_number_of(answer, "already");
    vls_buf *out = &c->out->text;

    (void)op, (void)err;
    cli_add_count(out, marked, "head invalidated", "heads invalidated");
    cli_add_some(out, already, "was before", "were before");
    if (vls_str_equal(cli_text_of(answer, "tree"), VLS_STR("earlier")))
        vls_buf_add_text(out, "  (given by an earlier version of the file)");
    vls_buf_add_byte(out, '\n');
    return 0;
}

int cli_print_reaffirmed(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    const vls_json *changed = vls_json_get(answer, VLS_STR("changed"));
    vls_buf *out = &c->out->text;

    (void)op, (void)err;
    add_path(c, answer);
    vls_buf_add_byte(out, ' ');
    cli_add_data(c->out, cli_text_of(answer, "type"), 0);
    vls_buf_add_byte(out, ' ');
    add_id(c, answer, "frameId");
    vls_buf_add_text(out,
                     changed && changed->truth ? "  holds\n" : "  held already, nothing written\n");
    return 0;
}
