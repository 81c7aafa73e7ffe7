/* frames.c -- see frames.h. A frame is a line of what it is and its content below, indented. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/frames.h"

#include "base/base64.h"
#include "base/fd.h"
#include "base/text.h"
#include "cli/backpack.h"
#include "cli/paths.h"

#define INDENT "    "
#define SHORT_ID 8u
#define REASON_COLUMNS 60u

static void add_styled(cli *c, cli_style style, const char *text)
{
    cli_style_begin(c->out, style);
    cli_add_text(c, text);
    cli_style_end(c->out, style);
}

/* A line is complete: whatever is long goes through a pager. */
static int end_line(cli *c, valise_error *err)
{
    cli_add_text(c, "\n");
    return cli_out_row(c->out, err);
}

/* A member as fields of this type are shown: ids short, times to the second. */
static void add_member(cli *c, vls_json row, const char *name, uint16_t type)
{
    const valise_field field = {.name = name, .type = type};
    const vls_json *value = vls_json_get(row, valise_str_of(name));

    if (value && value->type != VLS_JSON_NULL)
        cli_show(&c->out->text, &field, *value);
}

static bool has(vls_json row, const char *name)
{
    const vls_json *value = vls_json_get(row, valise_str_of(name));

    return value && value->type != VLS_JSON_NULL;
}

static void add_tree_path(cli *c, vls_json row, const char *name)
{
    if (has(row, name))
        cli_add_path(&c->out->text, c, vls_member_of(row, name));
}

static void add_size(cli *c, vls_json row)
{
    int64_t bytes = cli_number_of(row, "size");

    cli_show_size(&c->out->text, (uint64_t)VLS_MAX(bytes, 0));
}

/* ---- states ---- */

/* What lies at the path of a row, in a word. It is about something that is there. */
static const char *word_of(const cli *c, vls_json row)
{
    VLS_AUTO(buf) vls_buf path = {0};
    struct stat st;

    vls_buf_init(&path, c->env, (size_t)4 * PATH_MAX);
    vls_buf_add_byte(&path, '/');
    vls_buf_add(&path, c->tree_root);
    vls_buf_add_byte(&path, '/');
    cli_add_path_bytes(&path, vls_member_of(row, "path"));
    if (!vls_buf_cstr(&path) || lstat(vls_buf_cstr(&path), &st) < 0 || S_ISREG(st.st_mode))
        return "file";
    return S_ISDIR(st.st_mode) ? "directory" : "link";
}

static void add_reason(vls_buf *out, const cli *c, vls_json row, vls_json reason)
{
    valise_str what = cli_text_of(reason, "reason");
    VLS_AUTO(buf) vls_buf child = {0};

    vls_buf_init(&child, c->env, (size_t)2 * PATH_MAX);
    cli_add_path_bytes(&child, vls_member_of(reason, "child"));
    if (vls_str_equal(what, VLS_STR("node-changed"))) {
        vls_buf_printf(out, "the %s changed", word_of(c, row));
        return;
    }
    if (vls_str_equal(what, VLS_STR("recipe-changed"))) {
        vls_buf_add_text(out, "the recipe changed");
        return;
    }
    vls_buf_add_text(out, "the ");
    vls_buf_add(out, cli_text_of(reason, "type"));
    vls_buf_add_text(out, " of ");
    cli_add_quoted_name(out, vls_buf_str(&child));
    vls_buf_add_text(out, vls_str_ends(what, VLS_STR("missing")) ? " is missing" : " changed");
}

/* What meta says of rows and nodes alike. */
static bool is_tree(vls_json row, const char *word)
{
    return vls_str_equal(cli_text_of(vls_member_of(row, "meta"), "tree"), valise_str_of(word));
}

/* Why it was invalidated: the first line, or as much of it as a line has room for. */
static void add_mark(vls_buf *out, vls_json row)
{
    valise_str reason = cli_text_of(vls_member_of(row, "meta"), "reason"), rest;

    (void)vls_str_cut(&reason, &rest, reason, '\n');
    if (reason.len == 0)
        return;
    vls_buf_add_text(out, ": ");
    vls_text_fit(out, reason, REASON_COLUMNS, 0);
}

static void add_state(vls_buf *out, const cli *c, vls_json row)
{
    const vls_json *reasons = vls_json_get(row, VLS_STR("reasons"));

    vls_buf_add(out, cli_text_of(row, "state"));
    if (reasons && reasons->type == VLS_JSON_ARRAY && reasons->len > 0) {
        vls_buf_add_text(out, ": ");
        add_reason(out, c, row, reasons->items[0]);
        if (reasons->len > 1)
            vls_buf_printf(out, " (and %u more)", reasons->len - 1);
    }
    add_mark(out, row);
}

void cli_add_state(vls_buf *out, const cli *c, vls_json row)
{
    add_state(out, c, row);
    if (is_tree(row, "outdated"))
        vls_buf_add_text(out, " at the last scan (the file changed since)");
    else if (is_tree(row, "earlier"))
        vls_buf_add_text(out, " (for an earlier version of the file)");
}

cli_style cli_style_of_state(valise_str text)
{
    static const struct {
        const char *state;
        cli_style style;
    } styles[] = {
        {"fresh", CLI_GREEN},  {"stale", CLI_YELLOW}, {"invalidated", CLI_RED},
        {"orphaned", CLI_RED}, {"empty", CLI_DIM},
    };

    for (size_t i = 0; i < VLS_COUNT(styles); i++) {
        if (vls_str_starts(text, valise_str_of(styles[i].state)))
            return styles[i].style;
    }
    return CLI_PLAIN;
}

/* ---- one frame ---- */

/* in_node: that the node changed since is said above. */
static void add_title(cli *c, vls_json row, bool in_node)
{
    VLS_AUTO(buf) vls_buf state = {0};
    vls_json meta = vls_member_of(row, "meta");

    vls_buf_init(&state, c->env, (size_t)4 * PATH_MAX);
    if (in_node)
        add_state(&state, c, row);
    else
        cli_add_state(&state, c, row);
    cli_style_begin(c->out, CLI_YELLOW);
    cli_add_inline(c, cli_text_of(row, "type"));
    cli_add_text(c, " ");
    cli_add_id(c, row, "frameId");
    cli_style_end(c->out, CLI_YELLOW);
    if (!vls_truth_of(row, "head"))
        cli_add_text(c, " (not the head)");
    cli_add_text(c, "  ");
    cli_style_begin(c->out, cli_style_of_state(vls_buf_str(&state)));
    cli_add_inline(c, vls_buf_str(&state));
    cli_style_end(c->out, cli_style_of_state(vls_buf_str(&state)));
    cli_add_text(c, "  ");
    cli_add_inline(c, cli_text_of(row, "agent"));
    cli_add_text(c, "  ");
    add_member(c, meta, "time", VALISE_T_TIME);
    if (has(meta, "movedFrom")) {
        cli_add_text(c, "  moved from ");
        add_tree_path(c, meta, "movedFrom");
    }
}

static bool is_binary(vls_json row)
{
    return has(row, "data");
}

/* Each line indented; what is no text is only measured. */
int cli_add_frame_content(cli *c, vls_json row, valise_error *err)
{
    valise_str text = cli_text_of(row, "text"), line;
    int rc = 0;

    if (vls_truth_of(row, "erased") || is_binary(row) || text.len == 0) {
        cli_add_text(c, INDENT);
        cli_style_begin(c->out, CLI_DIM);
        if (is_binary(row)) {
            cli_add_text(c, "(binary, ");
            add_size(c, row);
            cli_add_text(c, ")");
        } else {
            cli_add_text(c, vls_truth_of(row, "erased") ? CLI_ERASED : "(empty)");
        }
        cli_style_end(c->out, CLI_DIM);
        return end_line(c, err);
    }
    while (text.len > 0 && rc == 0) {
        (void)vls_str_cut(&line, &text, text, '\n');
        cli_add_text(c, line.len > 0 ? INDENT : "");
        cli_add_data(c->out, line, 0);
        rc = end_line(c, err);
    }
    return rc;
}

static int add_frame(cli *c, vls_json row, bool in_node, valise_error *err)
{
    int rc;

    add_title(c, row, in_node);
    rc = end_line(c, err);
    if (rc == 0)
        rc = end_line(c, err);
    if (rc == 0)
        rc = cli_add_frame_content(c, row, err);
    return rc < 0 ? rc : end_line(c, err);
}

/* ---- frame:list ---- */

bool cli_frame_cell(vls_buf *out, const cli *c, const char *field, vls_json row)
{
    if (strcmp(field, "state") == 0) {
        cli_add_state(out, c, row);
        return true;
    }
    if (strcmp(field, "head") == 0) {
        vls_buf_add_text(out, vls_truth_of(row, "head") ? "*" : "");
        return true;
    }
    return false;
}

/* ---- frame:put ---- */

int cli_print_put(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    bool existed = vls_truth_of(answer, "existed"), head = vls_truth_of(answer, "head");
    bool was_head =
        vls_str_equal(cli_text_of(answer, "frameId"), cli_text_of(answer, "previousHead"));

    (void)op, (void)err;
    add_tree_path(c, answer, "path");
    cli_add_text(c, " ");
    cli_add_inline(c, cli_text_of(answer, "type"));
    cli_add_text(c, " ");
    cli_style_begin(c->out, CLI_YELLOW);
    cli_add_id(c, answer, "frameId");
    cli_style_end(c->out, CLI_YELLOW);
    if (!head)
        cli_add_text(c, existed ? "  is there already, and not the head; nothing written"
                        : has(answer, "previousHead") ? "  put beside the head, which stays"
                                                      : "  put into the history; there is no head");
    else if (existed && (was_head || !has(answer, "previousHead")))
        cli_add_text(c, "  is the head already, nothing written");
    else
        cli_add_text(c, existed ? "  head again" : "  new head");
    if (head && !was_head && has(answer, "previousHead")) {
        cli_add_text(c, " (was ");
        cli_add_id(c, answer, "previousHead");
        cli_add_text(c, ")");
    }
    cli_add_text(c, "\n");
    return 0;
}

/* ---- head:get ---- */

/* Is the content of one slot asked for, and nothing else? */
static bool is_bare(const cli *c)
{
    return c->payload && vls_json_get(*c->payload, VLS_STR("type")) != NULL;
}

static bool is_state(vls_json row, const char *state)
{
    return vls_str_equal(cli_text_of(row, "state"), valise_str_of(state));
}

/* What who reads only the content has to know besides. */
static void warn(cli *c, vls_json row)
{
    VLS_AUTO(buf) vls_buf text = {0};
    VLS_AUTO(buf) vls_buf line = {0};

    vls_buf_init(&text, c->env, (size_t)8 * PATH_MAX);
    vls_buf_init(&line, c->env, (size_t)8 * PATH_MAX);
    cli_add_path(&text, c, vls_member_of(row, "path"));
    if (is_state(row, "empty")) {
        vls_buf_add_text(&text, ": there is no frame of type ");
        vls_buf_add(&text, cli_text_of(row, "type"));
    } else {
        vls_buf_add_byte(&text, ' ');
        vls_buf_add(&text, cli_text_of(row, "type"));
        vls_buf_add_byte(&text, ' ');
        vls_buf_add(&text, vls_str_head(cli_text_of(row, "frameId"), SHORT_ID));
        vls_buf_add_text(&text, vls_truth_of(row, "erased") ? ": erased, " : ": ");
        cli_add_state(&text, c, row);
    }
    vls_buf_add_text(&line, "valise: ");
    vls_text_neutralize(&line, vls_buf_str(&text), VLS_TEXT_KEEP_BACKSLASH);
    vls_buf_add_byte(&line, '\n');
    if (is_state(row, "empty")) {
        vls_buf_clear(&text);
        cli_add_path(&text, c, vls_member_of(row, "path"));
        vls_buf_add_text(&line, "hint: 'valise list-frames ");
        vls_text_neutralize(&line, vls_buf_str(&text), VLS_TEXT_KEEP_BACKSLASH);
        vls_buf_add_text(&line, "' shows what there is\n");
    }
    (void)vls_fd_write_all(STDERR_FILENO, vls_buf_str(&line));
}

/* The bytes of the content; on a terminal they are made harmless, and end with a line. */
static int add_bare(cli *c, vls_json row, valise_error *err)
{
    VLS_AUTO(buf) vls_buf bytes = {0};
    valise_str text = cli_text_of(row, "text"), line;
    bool more = true;
    int rc;

    vls_buf_init(&bytes, c->env, (size_t)1 << 30);
    vls_buf_add(&bytes, text);
    rc = is_binary(row) ? vls_base64_decode(&bytes, cli_text_of(row, "data"), err) : 0;
    if (rc == 0)
        rc = vls_buf_check(&bytes, err);
    if (rc < 0)
        return rc;
    text = vls_buf_str(&bytes);
    if (!c->out->terminal) {
        vls_buf_add(&c->out->text, text);
        return 0;
    }
    while (rc == 0 && more && text.len > 0) {
        more = vls_str_cut(&line, &text, text, '\n');
        cli_add_data(c->out, line, 0);
        rc = end_line(c, err);
    }
    return rc;
}

int cli_print_head(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    (void)op;
    if (!is_bare(c))
        return add_frame(c, row, false, err);
    if (!is_state(row, "fresh") || vls_truth_of(row, "erased") ||
        has(vls_member_of(row, "meta"), "tree"))
        warn(c, row);
    return add_bare(c, row, err);
}

int cli_status_of_head(const cli *c, vls_json row)
{
    (void)c;
    return is_state(row, "empty") ? valise_error_exit_code(VALISE_E_NOT_FOUND) : CLI_DONE;
}

/* ---- node:get ---- */

static bool is_dir(vls_json node)
{
    return vls_str_equal(cli_text_of(node, "kind"), VLS_STR("dir"));
}

static void add_label(cli *c, const char *label)
{
    add_styled(c, CLI_BOLD, label);
}

/* "file src/a.c  1.2 KiB  executable" */
static void add_node_title(cli *c, vls_json node)
{
    long long size = (long long)cli_number_of(node, "size");

    cli_style_begin(c->out, CLI_YELLOW);
    cli_add_inline(c, is_dir(node) ? VLS_STR("directory") : cli_text_of(node, "kind"));
    cli_add_text(c, " ");
    add_tree_path(c, node, "path");
    cli_style_end(c->out, CLI_YELLOW);
    if (has(node, "target")) {
        VLS_AUTO(buf) vls_buf target = {0};
        vls_buf_init(&target, c->env, (size_t)2 * PATH_MAX);
        cli_add_path_bytes(&target, vls_member_of(node, "target"));
        cli_add_text(c, " -> ");
        cli_add_quoted_name(&c->out->text, vls_buf_str(&target));
    } else if (is_dir(node)) {
        cli_add_text(c, "  ");
        cli_add_count(&c->out->text, size, "entry", "entries");
    } else {
        cli_add_text(c, "  ");
        add_size(c, node);
    }
    cli_add_text(c, vls_truth_of(node, "exec") ? "  executable\n" : "\n");
}

static void add_tree_is(cli *c, vls_json answer)
{
    vls_json meta = vls_member_of(answer, "meta");

    if (is_tree(answer, "outdated")) {
        add_label(c, "Tree:   ");
        add_styled(c, CLI_YELLOW, "outdated");
        cli_add_text(c, ": it has changed since; `valise scan` looks at it\n");
    } else if (is_tree(answer, "earlier")) {
        add_label(c, "Tree:   ");
        add_styled(c, CLI_YELLOW, "an earlier version of it");
        if (!has(meta, "now")) {
            cli_add_text(c, ": it is gone by now, or nobody said anything about it where it is\n");
            return;
        }
        cli_add_text(c, ": `valise get-node ");
        add_tree_path(c, meta, "now");
        cli_add_text(c, "` shows today's\n");
    }
}

static void add_node_ids(cli *c, vls_json answer, vls_json node)
{
    vls_json meta = vls_member_of(answer, "meta");

    add_label(c, "Node:   ");
    cli_add_id(c, node, "nodeId");
    cli_add_text(c, "\n");
    add_label(c, "Object: ");
    cli_add_id(c, node, "objectId");
    cli_add_text(c, "\n");
    if (has(node, "parent")) {
        add_label(c, "Parent: ");
        add_tree_path(c, node, "parent");
        cli_add_text(c, "  ");
        cli_add_id(c, node, "parentId");
        cli_add_text(c, "\n");
    }
    add_label(c, "Roots:  ");
    cli_add_text(c, "tree ");
    cli_add_id(c, answer, "treeRoot");
    vls_buf_printf(&c->out->text, " (version %lld), context ",
                   (long long)cli_number_of(meta, "version"));
    cli_add_id(c, answer, "contextRoot");
    cli_add_text(c, "\n");
    add_tree_is(c, answer);
}

/* As `ls -F` marks them. */
static int add_children(cli *c, vls_json node, valise_error *err)
{
    const vls_json *children = vls_json_get(node, VLS_STR("children"));
    int rc = 0;

    if (!is_dir(node) || cli_number_of(node, "size") == 0)
        return 0;
    rc = end_line(c, err);
    if (rc == 0 && (!children || children->len == 0)) {
        cli_add_text(c, INDENT "(too many to be listed here: valise tree ls ");
        add_tree_path(c, node, "path");
        cli_add_text(c, ")");
        return end_line(c, err);
    }
    for (uint32_t i = 0; rc == 0 && i < children->len; i++) {
        vls_json child = children->items[i];
        VLS_AUTO(buf) vls_buf name = {0};
        vls_buf_init(&name, c->env, (size_t)2 * PATH_MAX);
        cli_add_path_bytes(&name, vls_member_of(child, "name"));
        cli_add_text(c, INDENT);
        cli_add_id(c, child, "nodeId");
        cli_add_text(c, "  ");
        cli_add_quoted_name(&c->out->text, vls_buf_str(&name));
        cli_add_text(c, is_dir(child)                                                ? "/"
                        : vls_str_equal(cli_text_of(child, "kind"), VLS_STR("link")) ? "@"
                                                                                     : "");
        rc = end_line(c, err);
    }
    return rc;
}

/* "2 frames", or how many of how many. */
static void add_counts(cli *c, vls_json answer)
{
    long long total = (long long)cli_number_of(answer, "total"),
              matched = (long long)cli_number_of(answer, "matched"),
              returned = (long long)cli_number_of(answer, "returned");

    if (total == 0)
        cli_add_text(c, "no frames");
    else if (returned == total)
        cli_add_count(&c->out->text, total, "frame", "frames");
    else if (matched == total)
        vls_buf_printf(&c->out->text, "%lld of %lld frames", returned, total);
    else
        vls_buf_printf(&c->out->text, "%lld of %lld frames that match, %lld in all", returned,
                       matched, total);
    cli_add_text(c, "\n");
}

int cli_print_node(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    const vls_json *frames = vls_json_get(answer, VLS_STR("frames"));
    vls_json node = vls_member_of(answer, "node");
    int rc;

    (void)op;
    cli_out_page(c->out, c);
    add_node_title(c, node);
    add_node_ids(c, answer, node);
    rc = add_children(c, node, err);
    if (rc == 0)
        rc = end_line(c, err);
    for (uint32_t i = 0; rc == 0 && frames && i < frames->len; i++)
        rc = add_frame(c, frames->items[i], true, err);
    if (rc == 0)
        add_counts(c, answer);
    return rc;
}

/* ---- frame:show ---- */

/* "made of  node 1a2b3c4d", "frame 5e6f7a8b  summary of b.c", "recipe 99aabbcc" */
static void add_basis(cli *c, vls_json answer)
{
    const vls_json *list = vls_json_get(answer, VLS_STR("madeOf"));

    for (uint32_t i = 0; list && i < list->len; i++) {
        vls_json part = list->items[i];
        add_label(c, i == 0 ? "Of:     " : "        ");
        cli_add_inline(c, cli_text_of(part, "kind"));
        cli_add_text(c, " ");
        cli_add_id(c, part, "id");
        if (has(part, "name")) {
            VLS_AUTO(buf) vls_buf name = {0};
            vls_buf_init(&name, c->env, (size_t)2 * PATH_MAX);
            cli_add_path_bytes(&name, vls_member_of(part, "name"));
            cli_add_text(c, ", ");
            cli_add_inline(c, cli_text_of(part, "type"));
            cli_add_text(c, " of ");
            cli_add_quoted_name(&c->out->text, vls_buf_str(&name));
        }
        if (has(part, "frameId")) {
            cli_add_text(c, ", frame ");
            cli_add_id(c, part, "frameId");
        }
        cli_add_text(c, "\n");
    }
}

/* Where it is, and whether it holds there. */
static void add_slots(cli *c, vls_json answer)
{
    const vls_json *list = vls_json_get(answer, VLS_STR("slots"));
    VLS_AUTO(buf) vls_buf state = {0};

    vls_buf_init(&state, c->env, (size_t)4 * PATH_MAX);
    for (uint32_t i = 0; list && i < list->len; i++) {
        add_label(c, i == 0 ? "In:     " : "        ");
        add_tree_path(c, list->items[i], "path");
        vls_buf_clear(&state);
        cli_add_state(&state, c, list->items[i]);
        cli_add_text(c, vls_truth_of(list->items[i], "head") ? "  " : " (not the head)  ");
        cli_style_begin(c->out, cli_style_of_state(vls_buf_str(&state)));
        cli_add_inline(c, vls_buf_str(&state));
        cli_style_end(c->out, cli_style_of_state(vls_buf_str(&state)));
        cli_add_text(c, "\n");
    }
    if (list && cli_number_of(answer, "slotCount") > list->len)
        vls_buf_printf(&c->out->text, "        and in %lld more\n",
                       (long long)cli_number_of(answer, "slotCount") - list->len);
}

int cli_print_frame(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    int rc;

    (void)op;
    rc = cli_locate(c, err);
    if (rc < 0)
        return rc;
    cli_out_page(c->out, c);
    cli_style_begin(c->out, CLI_YELLOW);
    cli_add_text(c, "frame ");
    cli_add_id(c, answer, "frameId");
    cli_style_end(c->out, CLI_YELLOW);
    cli_add_text(c, "  ");
    cli_add_inline(c, cli_text_of(answer, "type"));
    cli_add_text(c, ", ");
    cli_add_inline(c, cli_text_of(answer, "kind"));
    cli_add_text(c, "  ");
    add_size(c, answer);
    cli_add_text(c, "\n");
    add_label(c, "Agent:  ");
    cli_add_inline(c, cli_text_of(answer, "agent"));
    cli_add_text(c, "\n");
    add_label(c, "Basis:  ");
    cli_add_id(c, answer, "basis");
    cli_add_text(c, "\n");
    add_basis(c, answer);
    add_slots(c, answer);
    rc = end_line(c, err);
    return rc < 0 ? rc : cli_add_frame_content(c, answer, err);
}

/* ---- frame:proof, frame:verify ---- */

int cli_print_proof(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    bool member = vls_truth_of(answer, "member");

    (void)op, (void)err;
    cli_add_text(c, "frame ");
    cli_add_id(c, answer, "frameId");
    cli_add_text(c, member ? " is in the slot, whose root is "
                           : " is not in the slot, whose root is ");
    cli_add_id(c, answer, "root");
    cli_add_text(c, "\nthe context root is ");
    cli_add_id(c, answer, "contextRoot");
    cli_add_text(c, "\n\n" INDENT "valise frame verify ");
    cli_add_inline(c, cli_text_of(answer, "root"));
    cli_add_text(c, " ");
    cli_add_inline(c, cli_text_of(answer, "frameId"));
    cli_add_text(c, " ");
    cli_add_inline(c, cli_text_of(answer, "proof"));
    cli_add_text(c, "\n" INDENT "valise frame verify ");
    cli_add_inline(c, cli_text_of(answer, "contextRoot"));
    cli_add_text(c, " ");
    cli_add_inline(c, cli_text_of(answer, "slotKey"));
    cli_add_text(c, " ");
    cli_add_inline(c, cli_text_of(answer, "contextProof"));
    cli_add_text(c, "\n");
    return 0;
}

int cli_print_verified(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    (void)op, (void)err;
    cli_add_text(c, vls_truth_of(answer, "member") ? "the proof holds: it is in the set"
                                                   : "the proof holds: it is not in the set");
    if (has(answer, "value")) {
        cli_add_text(c, ", with ");
        cli_add_id(c, answer, "value");
    }
    cli_add_text(c, "\n");
    return 0;
}

int cli_status_of_verified(const cli *c, vls_json answer)
{
    (void)c;
    return vls_truth_of(answer, "member") ? CLI_DONE : 1;
}
