/* diff.c -- see diff.h. */
#include "cli/diff.h"

#include "base/base64.h"
#include "base/text.h"
#include "cli/backpack.h"
#include "cli/paths.h"

#define PATCH_MAX ((size_t)256 << 20)

static cli_style style_of(valise_str change)
{
    if (vls_str_equal(change, VLS_STR("added")) || vls_str_equal(change, VLS_STR("found")))
        return CLI_GREEN;
    if (vls_str_equal(change, VLS_STR("removed")) || vls_str_equal(change, VLS_STR("orphaned")))
        return CLI_RED;
    return CLI_YELLOW;
}

static void add_member_path(cli *c, vls_json row, const char *name)
{
    const vls_json *path = vls_json_get(row, valise_str_of(name));

    if (path && path->type != VLS_JSON_NULL)
        cli_add_path(&c->out->text, c, *path);
}

/* "changed     src/a.c", of what moved "moved       old.c -> new.c". */
static void add_front(cli *c, vls_json row)
{
    valise_str change = cli_text_of(row, "change");
    const vls_json *from = vls_json_get(row, VLS_STR("from"));

    cli_style_begin(c->out, style_of(change));
    vls_buf_printf(&c->out->text, "%-11.*s", VALISE_STR_ARG(change));
    cli_style_end(c->out, style_of(change));
    vls_buf_add_byte(&c->out->text, ' ');
    if (from && from->type != VLS_JSON_NULL) {
        add_member_path(c, row, "from");
        vls_buf_add_text(&c->out->text, " -> ");
    }
    add_member_path(c, row, "path");
}

/* ---- patches ---- */

static void add_patch_line(cli_out *out, valise_str line)
{
    cli_style style = CLI_PLAIN;

    if (vls_str_starts(line, VLS_STR("diff ")) || vls_str_starts(line, VLS_STR("--- ")) ||
        vls_str_starts(line, VLS_STR("+++ ")))
        style = CLI_BOLD;
    else if (vls_str_starts(line, VLS_STR("@@")))
        style = CLI_DIM;
    else if (vls_str_starts(line, VLS_STR("-")))
        style = CLI_RED;
    else if (vls_str_starts(line, VLS_STR("+")))
        style = CLI_GREEN;
    cli_style_begin(out, style);
    cli_add_data(out, line, 0);
    cli_style_end(out, style);
    vls_buf_add_byte(&out->text, '\n');
}

static void add_lines(cli_out *out, valise_str text)
{
    valise_str line;
    bool more = text.len > 0;

    while (more && text.len > 0) {
        more = vls_str_cut(&line, &text, text, '\n');
        add_patch_line(out, line);
    }
}

/* Whether there is one. Elsewhere than on a terminal its bytes are as they are. */
static bool add_patch(cli *c, vls_json row)
{
    valise_str text = cli_text_of(row, "patch"), data = cli_text_of(row, "patchData");
    VLS_AUTO(buf) vls_buf bytes = {0};

    if (text.len == 0 && data.len == 0)
        return false;
    vls_buf_init(&bytes, c->env, PATCH_MAX);
    if (text.len == 0 && vls_base64_decode(&bytes, data, NULL) == 0)
        text = vls_buf_str(&bytes);
    if (c->out->terminal || c->out->color)
        add_lines(c->out, text);
    else
        vls_buf_add(&c->out->text, text);
    return true;
}

static void add_unshown(cli *c, vls_json row)
{
    valise_str why = cli_text_of(row, "unshown");

    if (why.len == 0)
        return;
    vls_buf_add_text(&c->out->text, "  (");
    cli_add_data(c->out, why, 0);
    vls_buf_add_byte(&c->out->text, ')');
}

/* ---- nodes ---- */

static bool member_is_true(const vls_json *object, const char *name)
{
    const vls_json *value = object ? vls_json_get(*object, valise_str_of(name)) : NULL;

    return value && value->truth;
}

static valise_str member_of(const vls_json *object, const char *name)
{
    return object && object->type == VLS_JSON_OBJECT ? cli_text_of(*object, name) : VLS_STR("");
}

/* What else is to be said of one that changed: another kind, or whether it can be run. */
static void add_how(cli *c, vls_json row)
{
    const vls_json *before = vls_json_get(row, VLS_STR("before")),
                   *after = vls_json_get(row, VLS_STR("after"));
    valise_str old = member_of(before, "kind"), new = member_of(after, "kind");

    if (old.len == 0 || new.len == 0)
        return;
    if (!vls_str_equal(old, new))
        vls_buf_printf(&c->out->text, "  %.*s -> %.*s", VALISE_STR_ARG(old), VALISE_STR_ARG(new));
    else if (member_is_true(before, "exec") != member_is_true(after, "exec"))
        vls_buf_add_text(&c->out->text, member_is_true(after, "exec") ? "  +x" : "  -x");
}

static int print_node(cli *c, vls_json row)
{
    if (add_patch(c, row))
        return 0;
    add_front(c, row);
    add_how(c, row);
    add_unshown(c, row);
    vls_buf_add_byte(&c->out->text, '\n');
    return 0;
}

/* ---- slots ---- */

static void add_digits(cli *c, valise_str id)
{
    vls_buf_add(&c->out->text, vls_str_head(id, VLS_MIN(id.len, 8)));
}

/* "1a2b3c4d -> 5e6f7081 by alice" */
static void add_heads(cli *c, vls_json row)
{
    const vls_json *before = vls_json_get(row, VLS_STR("headBefore"));
    const vls_json *after = vls_json_get(row, VLS_STR("headAfter"));
    valise_str old = member_of(before, "frameId"), new = member_of(after, "frameId");
    valise_str agent = new.len > 0 ? member_of(after, "agent") : member_of(before, "agent");

    if (old.len > 0 || new.len > 0)
        vls_buf_add_byte(&c->out->text, ' ');
    add_digits(c, old);
    if (old.len > 0 && new.len > 0 && !vls_str_equal(old, new))
        vls_buf_add_text(&c->out->text, " -> ");
    if (!vls_str_equal(old, new))
        add_digits(c, new);
    if (agent.len > 0) {
        vls_buf_add_text(&c->out->text, " by ");
        cli_add_data(c->out, agent, 0);
    }
}

static int print_slot(cli *c, vls_json row)
{
    add_front(c, row);
    vls_buf_add_text(&c->out->text, " [");
    cli_add_data(c->out, cli_text_of(row, "type"), 0);
    vls_buf_add_byte(&c->out->text, ']');
    add_heads(c, row);
    add_unshown(c, row);
    vls_buf_add_byte(&c->out->text, '\n');
    (void)add_patch(c, row);
    return 0;
}

/* ---- how much ---- */

static void add_count(cli *c, bool *any, vls_json counts, const char *name, const char *text)
{
    int64_t count = cli_number_of(counts, name);

    if (count <= 0)
        return;
    vls_buf_printf(&c->out->text, "%s%lld %s", *any ? ", " : "", (long long)count, text);
    *any = true;
}

static int print_summary(cli *c, vls_json counts)
{
    static const char *const nodes[][2] = {
        {"added", "added"}, {"changed", "changed"}, {"removed", "removed"}, {"moved", "moved"}};
    static const char *const slots[][2] = {{"slotsAdded", "added"},
                                           {"slotsChanged", "changed"},
                                           {"slotsRemoved", "removed"},
                                           {"slotsMoved", "moved"},
                                           {"slotsInvalidated", "invalidated"},
                                           {"slotsReaffirmed", "reaffirmed"},
                                           {"slotsOrphaned", "orphaned"},
                                           {"slotsFound", "found"}};
    bool any = false;

    vls_buf_add_text(&c->out->text, "files: ");
    for (size_t i = 0; i < VLS_COUNT(nodes); i++)
        add_count(c, &any, counts, nodes[i][0], nodes[i][1]);
    vls_buf_add_text(&c->out->text, any ? "; known: " : "nothing; known: ");
    any = false;
    for (size_t i = 0; i < VLS_COUNT(slots); i++)
        add_count(c, &any, counts, slots[i][0], slots[i][1]);
    vls_buf_add_text(&c->out->text, any ? "\n" : "nothing\n");
    return 0;
}

int cli_print_diff(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    const vls_json *counts = vls_json_get(row, VLS_STR("summary"));
    int rc = cli_locate(c, err);

    (void)op;
    if (rc < 0)
        return rc;
    if (counts && counts->type == VLS_JSON_OBJECT)
        return print_summary(c, *counts);
    return vls_str_equal(cli_text_of(row, "what"), VLS_STR("slot")) ? print_slot(c, row)
                                                                    : print_node(c, row);
}

/* ---- checkpoints ---- */

int cli_print_checkpoint_diff(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    const vls_json *before = vls_json_get(row, VLS_STR("before")),
                   *after = vls_json_get(row, VLS_STR("after"));
    valise_str old = member_of(before, "mode"), new = member_of(after, "mode");
    int rc = cli_locate(c, err);

    (void)op;
    if (rc < 0 || add_patch(c, row))
        return rc;
    add_front(c, row);
    add_how(c, row);
    if (old.len > 0 && new.len > 0 && !vls_str_equal(old, new))
        vls_buf_printf(&c->out->text, "  %.*s -> %.*s", VALISE_STR_ARG(old), VALISE_STR_ARG(new));
    add_unshown(c, row);
    vls_buf_add_byte(&c->out->text, '\n');
    return 0;
}
