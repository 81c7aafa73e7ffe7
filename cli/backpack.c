/* backpack.c -- see backpack.h. A history reads like `git log`, a difference like a diff. */
#include "cli/backpack.h"

#include "base/text.h"
#include "cli/call.h"
#include "json/diff.h"

#define SUMMARY_MIN 8u /* columns that are worth showing the beginning of a value */

static void add_number(cli *c, int64_t number)
{
    vls_buf_add_i64(&c->out->text, number);
}

/* Ids are given back by their end. */
static void add_id(cli *c, valise_str id)
{
    cli_add_data(c->out, id.len > 8 ? vls_str_from(id, id.len - 8) : id, 0);
}

/* To the second. */
static void add_time(cli *c, valise_str time)
{
    size_t fraction = vls_str_find_byte(time, '.');

    cli_add_data(c->out, vls_str_head(time, fraction), 0);
    cli_add_text(c, fraction < time.len ? "Z" : "");
}

static void add_line(cli *c, const char *label, valise_str text)
{
    if (text.len == 0)
        return;
    cli_add_text(c, label);
    cli_add_inline(c, text);
    cli_add_text(c, "\n");
}

static int add_value_line(cli *c, const char *label, const vls_json *value, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    if (!value || value->type == VLS_JSON_NULL)
        return 0;
    vls_buf_init(&text, c->env, (size_t)1 << 30);
    rc = vls_json_write(&text, *value, err);
    if (rc == 0)
        add_line(c, label, vls_buf_str(&text));
    return rc;
}

static void add_names(cli *c, const char *label, const vls_json *names)
{
    if (!names || names->type != VLS_JSON_ARRAY || names->len == 0)
        return;
    cli_add_text(c, label);
    for (uint32_t i = 0; i < names->len; i++) {
        cli_add_text(c, i > 0 ? ", " : "");
        if (names->items[i].type == VLS_JSON_STRING)
            cli_add_inline(c, vls_json_str(names->items[i]));
    }
    cli_add_text(c, "\n");
}

/* ---- commits ---- */

/* "research-2 (ResearchNode) in sales.research" */
static void add_node(cli *c, vls_json row)
{
    valise_str id = cli_text_of(row, "nodeId"), name = cli_text_of(row, "nodeName"),
               space = cli_text_of(row, "sourceNamespace");

    cli_add_inline(c, id);
    if (name.len > 0 && !vls_str_equal(name, VLS_STR("unknown"))) {
        cli_add_text(c, " (");
        cli_add_inline(c, name);
        cli_add_text(c, ")");
    }
    if (space.len > 0) {
        cli_add_text(c, " in ");
        cli_add_inline(c, space);
    }
}

/* Reads, and writes that were denied, are no commits: they have no id. */
static bool is_read(vls_json row)
{
    return cli_text_of(row, "outcome").len > 0;
}

/* What an outcome says that is not the usual. */
static void add_outcome(cli *c, vls_json row)
{
    valise_str outcome = cli_text_of(row, "outcome");
    bool denied = vls_str_equal(outcome, VLS_STR("denied"));

    if (outcome.len == 0)
        return;
    cli_add_text(c, " ");
    cli_style_begin(c->out, denied ? CLI_RED : CLI_PLAIN);
    cli_add_inline(c, outcome);
    cli_style_end(c->out, denied ? CLI_RED : CLI_PLAIN);
}

/* "pack fact v2", and the outcome. The key in so many columns at most. */
static void add_action(cli *c, vls_json row, size_t columns)
{
    cli_add_inline(c, cli_text_of(row, "action"));
    cli_add_text(c, " ");
    cli_style_begin(c->out, CLI_BOLD);
    if (columns == SIZE_MAX)
        cli_add_inline(c, cli_text_of(row, "key"));
    else
        vls_text_fit(&c->out->text, cli_text_of(row, "key"), columns, 0);
    cli_style_end(c->out, CLI_BOLD);
    if (cli_number_of(row, "version") > 0) {
        cli_add_text(c, " v");
        add_number(c, cli_number_of(row, "version"));
    }
    add_outcome(c, row);
}

static void add_title(cli *c, vls_json row)
{
    cli_style_begin(c->out, CLI_YELLOW);
    cli_add_text(c, is_read(row) ? "read" : "commit ");
    if (!is_read(row)) {
        add_number(c, cli_number_of(row, "seq"));
        cli_add_text(c, " ");
        add_id(c, cli_text_of(row, "commitId"));
    }
    cli_style_end(c->out, CLI_YELLOW);
    cli_add_text(c, "  ");
    add_action(c, row, SIZE_MAX);
    cli_add_text(c, "\n");
}

static int add_commit(cli *c, vls_json row, valise_error *err)
{
    add_title(c, row);
    cli_add_text(c, "Node:   ");
    add_node(c, row);
    cli_add_text(c, "\n");
    cli_add_text(c, "Date:   ");
    add_time(c, cli_text_of(row, "timestamp"));
    cli_add_text(c, "\n");
    add_names(c, "Tags:   ", vls_json_get(row, VLS_STR("tags")));
    add_line(c, "Reason: ", cli_text_of(row, "reason"));
    return add_value_line(c, "Error:  ", vls_json_get(row, VLS_STR("error")), err);
}

static void add_erased(cli *c, const char *before)
{
    cli_add_text(c, before);
    cli_style_begin(c->out, CLI_DIM);
    cli_add_text(c, CLI_ERASED);
    cli_style_end(c->out, CLI_DIM);
    cli_add_text(c, "\n");
}

int cli_print_commit(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    valise_str summary = cli_text_of(row, "valueSummary");
    int rc = add_commit(c, row, err);

    (void)op;
    if (cli_is_erased(row)) {
        add_erased(c, "\n    ");
    } else if (summary.len > 0) {
        cli_add_text(c, "\n    ");
        cli_add_inline(c, summary);
        cli_add_text(c, cli_is_cut(row) ? CLI_MORE "\n" : "\n");
    }
    cli_add_text(c, "\n");
    return rc;
}

/* "3 8b444187 (run-1) pack fact v2 research-2" */
static void add_head(cli *c, vls_json row, valise_str decoration, size_t key_columns)
{
    cli_style_begin(c->out, CLI_YELLOW);
    add_number(c, cli_number_of(row, "seq"));
    if (!is_read(row)) {
        cli_add_text(c, " ");
        add_id(c, cli_text_of(row, "commitId"));
    }
    cli_style_end(c->out, CLI_YELLOW);
    if (decoration.len > 0) {
        cli_add_text(c, " ");
        cli_style_begin(c->out, CLI_GREEN);
        cli_add_text(c, "(");
        cli_add_inline(c, decoration);
        cli_add_text(c, ")");
        cli_style_end(c->out, CLI_GREEN);
    }
    cli_add_text(c, " ");
    add_action(c, row, key_columns);
    cli_add_text(c, " ");
    cli_add_inline(c, cli_text_of(row, "nodeId"));
}

/* The beginning of the value, in so many columns. */
static void add_summary(cli *c, vls_json row, size_t columns)
{
    cli_out *out = c->out;
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, c->env, 4096);
    vls_text_neutralize(&text, cli_text_of(row, "valueSummary"), VLS_TEXT_KEEP_BACKSLASH);
    if (cli_is_erased(row))
        vls_buf_add_text(&text, CLI_ERASED);
    else if (cli_is_cut(row))
        vls_buf_add_text(&text, CLI_MORE);
    if (text.len == 0 || columns < SUMMARY_MIN)
        return;
    cli_add_text(c, "  ");
    cli_style_begin(out, CLI_DIM);
    if (out->terminal)
        vls_text_fit(&out->text, vls_buf_str(&text), columns, 0);
    else
        vls_buf_add(&out->text, vls_buf_str(&text));
    cli_style_end(out, CLI_DIM);
}

void cli_add_commit_line(cli *c, vls_json row, valise_str decoration, size_t indent)
{
    cli_out *out = c->out;
    size_t start = out->text.len, used, key = SIZE_MAX;

    /* Colours take no room: what is shown is measured without them. */
    bool color = out->color;
    out->color = false;
    add_head(c, row, decoration, key);
    used = indent + vls_text_width(vls_str_from(vls_buf_str(&out->text), start));
    out->text.len = start;
    out->color = color;
    if (out->terminal && used > out->columns) { /* a long key is cut, within reason */
        size_t width = vls_text_width(cli_text_of(row, "key")), over = used - out->columns;
        key = width > over + SUMMARY_MIN ? width - over : SUMMARY_MIN;
    }
    add_head(c, row, decoration, key);
    if (!out->terminal)
        add_summary(c, row, SIZE_MAX);
    else if (used + 2 < out->columns)
        add_summary(c, row, out->columns - used - 2);
    cli_add_text(c, "\n");
}

int cli_print_commit_line(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    (void)op;
    cli_add_commit_line(c, row, VLS_STR(""), 0);
    return vls_buf_check(&c->out->text, err);
}

/* ---- differences ---- */

typedef struct printing {
    cli *c;
    const char *indent;
    valise_error *err;
} printing;

static int add_side(const printing *p, char sign, valise_str path, const vls_json *value)
{
    cli *c = p->c;
    cli_style style = sign == '-' ? CLI_RED : CLI_GREEN;
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    if (!value)
        return 0;
    vls_buf_init(&text, c->env, (size_t)1 << 30);
    vls_buf_add_byte(&text, sign);
    vls_buf_add_byte(&text, ' ');
    if (path.len > 0) {
        vls_buf_add(&text, path);
        vls_buf_add_text(&text, "  ");
    }
    rc = vls_json_write(&text, *value, p->err);
    if (rc < 0)
        return rc;
    cli_add_text(c, p->indent);
    cli_style_begin(c->out, style);
    cli_add_data(c->out, vls_buf_str(&text), 0);
    cli_style_end(c->out, style);
    cli_add_text(c, "\n");
    return 0;
}

static int add_place(void *arg, valise_str path, const vls_json *before, const vls_json *after)
{
    int rc = add_side(arg, '-', path, before);

    return rc < 0 ? rc : add_side(arg, '+', path, after);
}

/* "- /path  old" and "+ /path  new" for each place where two values differ; NULL: there is none. */
static int print_difference(cli *c, const vls_json *before, const vls_json *after,
                            const char *indent, valise_error *err)
{
    printing p = {c, indent, err};
    VLS_AUTO(arena) vls_arena arena = {0};

    if (!before || !after)
        return add_place(&p, VLS_STR(""), before, after);
    vls_arena_init(&arena, c->env, (size_t)1 << 30);
    return vls_json_changes(&arena, *before, *after, NULL, add_place, &p, err);
}

int cli_print_change(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    const vls_json *before = vls_json_get(row, VLS_STR("before")),
                   *after = vls_json_get(row, VLS_STR("after"));
    valise_str change = cli_text_of(row, "change");

    (void)op;
    cli_style_begin(c->out, CLI_BOLD);
    cli_add_inline(c, change);
    cli_add_text(c, " ");
    cli_add_inline(c, cli_text_of(row, "key"));
    cli_style_end(c->out, CLI_BOLD);
    if (cli_number_of(row, "seq") > 0) {
        cli_add_text(c, "  by ");
        cli_add_inline(c, cli_text_of(row, "nodeId"));
        cli_add_text(c, ", commit ");
        add_number(c, cli_number_of(row, "seq"));
        cli_add_text(c, " ");
        add_id(c, cli_text_of(row, "commitId"));
    }
    cli_add_text(c, "\n");
    if (!before && !vls_str_equal(change, VLS_STR("added")))
        add_erased(c, "  - ");
    if (!after && !vls_str_equal(change, VLS_STR("deleted")))
        add_erased(c, "  + ");
    return print_difference(c, before, after, "  ", err);
}

/* What was done to a side of a conflict that has no value: ", deleted by ". */
static const char *deed_of(valise_str action)
{
    if (vls_str_equal(action, VLS_STR("quarantine")))
        return ", quarantined by ";
    return vls_str_equal(action, VLS_STR("delete")) ? ", deleted by " : ", by ";
}

/* "  ours, by research-2" and what it did to the base; one that is gone is all minus. */
static int add_conflict_side(cli *c, vls_json row, const char *side, const char *node,
                             const char *action, valise_error *err)
{
    const vls_json *value = vls_json_get(row, valise_str_of(side));
    const vls_json *base = vls_json_get(row, VLS_STR("base"));
    valise_str who = cli_text_of(row, node);
    const char *deed = value ? ", by " : deed_of(cli_text_of(row, action));

    cli_add_text(c, "  ");
    cli_add_text(c, side);
    cli_add_text(c, who.len == 0 ? "" : deed);
    cli_add_inline(c, who);
    cli_add_text(c, "\n");
    if (base && value && vls_json_equal(*base, *value)) {
        cli_add_text(c, "    the same value, with another namespace, tags or lists of nodes\n");
        return 0;
    }
    if (!value && who.len > 0 && strcmp(deed, ", by ") == 0)
        add_erased(c, "    + ");
    return print_difference(c, base, value, "    ", err);
}

int cli_print_conflict(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    int rc;

    (void)op;
    cli_style_begin(c->out, CLI_RED);
    cli_add_text(c, "conflict ");
    cli_add_inline(c, cli_text_of(row, "key"));
    cli_style_end(c->out, CLI_RED);
    cli_add_text(c, "\n");
    rc = add_conflict_side(c, row, "ours", "ourNode", "ourAction", err);
    return rc < 0 ? rc : add_conflict_side(c, row, "theirs", "theirNode", "theirAction", err);
}

int cli_print_shown(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    const vls_json *commit = vls_json_get(answer, VLS_STR("commit"));
    int rc;

    (void)op;
    if (!commit)
        return 0;
    rc = add_commit(c, *commit, err);
    if (rc < 0)
        return rc;
    if (cli_is_erased(*commit))
        add_erased(c, "\n    + ");
    else
        cli_add_text(c, "\n");
    return print_difference(c, vls_json_get(answer, VLS_STR("previous")),
                            vls_json_get(answer, VLS_STR("value")), "    ", err);
}

/* ---- items ---- */

int cli_print_packed(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    const vls_json *applied = vls_json_get(answer, VLS_STR("applied"));

    (void)op;
    (void)err;
    if (c->options.quiet)
        return 0;
    if (applied && !applied->truth) {
        cli_add_text(c, "denied: nothing was done\n");
        return 0;
    }
    cli_add_text(c, "commit ");
    add_number(c, cli_number_of(answer, "seq"));
    cli_add_text(c, " ");
    add_id(c, cli_text_of(answer, "commitId"));
    if (cli_number_of(answer, "version") > 0) {
        cli_add_text(c, "  v");
        add_number(c, cli_number_of(answer, "version"));
    }
    cli_add_text(c, "\n");
    return 0;
}

/* "backpack 4329af22 at commit 2", and what an import brought. */
int cli_print_backpack_made(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    int64_t seq = cli_number_of(answer, "seq"), items = cli_number_of(answer, "items");
    int64_t commits = cli_number_of(answer, "commits");

    cli_add_text(c, "backpack ");
    add_id(c, cli_text_of(answer, "id"));
    if (seq > 0)
        vls_buf_printf(&c->out->text, " at commit %lld", (long long)seq);
    if (strcmp(op->name, "backpack:import") == 0)
        vls_buf_printf(&c->out->text, "  %lld item%s, %lld commit%s", (long long)items,
                       items == 1 ? "" : "s", (long long)commits, commits == 1 ? "" : "s");
    cli_add_text(c, "\n");
    return vls_buf_check(&c->out->text, err);
}

int cli_print_backpack_checkpoint(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    (void)op;
    vls_buf_printf(&c->out->text, "checkpoint at commit %lld\n",
                   (long long)cli_number_of(answer, "seq"));
    return vls_buf_check(&c->out->text, err);
}

int cli_print_merged(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    int64_t merged = cli_number_of(answer, "merged");

    (void)op;
    vls_buf_printf(&c->out->text, "%lld key%s merged\n", (long long)merged, merged == 1 ? "" : "s");
    return vls_buf_check(&c->out->text, err);
}

int cli_status_of_found(const cli *c, vls_json answer)
{
    const vls_json *found = vls_json_get(answer, VLS_STR("found"));

    (void)c;
    return found && found->truth ? CLI_DONE : valise_error_exit_code(VALISE_E_NOT_FOUND);
}

/* ---- `valise show` ---- */

typedef struct name_search {
    valise_str id;
    vls_arena *arena;
    valise_str name;
} name_search;

static int match_id(void *arg, valise_str json, valise_error *err)
{
    name_search *search = arg;
    vls_json row;

    int rc = vls_json_parse(&row, search->arena, json, NULL, err);

    if (rc < 0 || !vls_str_equal(cli_text_of(row, "id"), search->id))
        return rc;
    rc = vls_arena_dup(&search->name, search->arena, cli_text_of(row, "name"), err);
    return rc < 0 ? rc : 1;
}

static int ask_commit(vls_json *out, cli *c, valise_str name, int64_t seq, valise_error *err)
{
    VLS_AUTO(buf) vls_buf payload = {0};

    vls_buf_init(&payload, c->env, 4096);
    vls_buf_add_text(&payload, "{\"backpack\":");
    vls_json_write_string(&payload, name);
    vls_buf_printf(&payload, ",\"commit\":\"%lld\"}", (long long)seq);
    return cli_ask(out, c, "backpack:show", &payload, err);
}

/* A commit as `bp show` has it: 1; 0 when it cannot be had, and the row must do. */
static int show_commit(cli *c, vls_json answer, valise_error *err)
{
    const vls_json *row = vls_json_get(answer, VLS_STR("value"));
    const valise_op *list = vls_registry_op(c->registry, VLS_STR("backpack:list"));
    name_search search = {.arena = &c->arena};
    vls_json shown = vls_json_null();
    int rc;

    if (!row || !list || c->options.at)
        return 0;
    search.id = cli_text_of(*row, "backpack");
    (void)cli_stream(c, list, VLS_STR("{}"), match_id, &search, NULL);
    if (search.name.len == 0 ||
        ask_commit(&shown, c, search.name, cli_number_of(*row, "seq"), NULL) < 0)
        return 0;
    cli_add_text(c, "backpack ");
    cli_add_data(c->out, search.name, 0);
    cli_add_text(c, "\n");
    rc = cli_print_shown(c, NULL, shown, err);
    return rc < 0 ? rc : 1;
}

int cli_print_anything(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    int rc = 0;

    if (vls_str_equal(cli_text_of(answer, "kind"), VLS_STR("backpack_commit")))
        rc = show_commit(c, answer, err);
    return rc != 0 ? vls_settle(rc) : cli_show_object(c, op->out, answer, 0, err);
}
