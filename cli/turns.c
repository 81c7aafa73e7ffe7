/* turns.c -- see turns.h. What is said is data: every line of it is neutralized. */
#include "cli/turns.h"

#include "base/text.h"
#include "chat/blocks.h"
#include "cli/backpack.h"

#define DIGITS 8u /* of an id: its end */
#define ARGS_MAX 200u
#define RESULT_MAX 200u

/* What stands before each line, and its colour. */
typedef struct page {
    cli *c;
    const char *sign;   /* "", "- ", "+ " */
    const char *indent; /* behind it */
    cli_style style;
} page;

valise_str cli_short_ref(valise_str ref)
{
    size_t at = vls_str_find_byte(ref, '@');

    return vls_str_from(ref, at > DIGITS ? at - DIGITS : 0);
}

/* ---- lines ---- */

static void begin_line(const page *p)
{
    cli_style_begin(p->c->out, p->style);
    vls_buf_add_text(&p->c->out->text, p->sign);
    vls_buf_add_text(&p->c->out->text, p->indent);
}

static void end_line(const page *p)
{
    cli_style_end(p->c->out, p->style);
    vls_buf_add_byte(&p->c->out->text, '\n');
}

static void add_data(const page *p, valise_str text)
{
    vls_text_neutralize(&p->c->out->text, text, VLS_TEXT_KEEP_TAB | VLS_TEXT_KEEP_BACKSLASH);
}

/* A text, each line of it behind sign and indent. */
static void add_text(const page *p, valise_str text)
{
    valise_str line;
    bool more = true;

    while (text.len > 0 && text.ptr[text.len - 1] == '\n')
        text.len--;
    while (more) {
        more = vls_str_cut(&line, &text, text, '\n');
        begin_line(p);
        add_data(p, line);
        end_line(p);
    }
}

/* "name: a, b" where there are any. */
static void add_refs(const page *p, const char *name, vls_json refs)
{
    if (refs.type != VLS_JSON_ARRAY || refs.len == 0)
        return;
    begin_line(p);
    vls_buf_add_text(&p->c->out->text, name);
    for (uint32_t i = 0; i < refs.len; i++) {
        vls_buf_add_text(&p->c->out->text, i > 0 ? ", " : " ");
        add_data(p, cli_short_ref(vls_json_str(refs.items[i])));
    }
    end_line(p);
}

/* ---- blocks ---- */

/* JSON in one line, cut. */
static int add_json(const page *p, vls_json value, size_t max, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    vls_buf_init(&text, p->c->env, (size_t)1 << 30);
    rc = vls_json_write_around(&text, value, err);
    if (rc == 0)
        vls_text_fit(&p->c->out->text, vls_buf_str(&text), max, 0);
    return rc;
}

static int add_call(const page *p, vls_json block, valise_error *err)
{
    int rc;

    begin_line(p);
    vls_buf_add_text(&p->c->out->text, "> ");
    add_data(p, cli_text_of(block, "name"));
    vls_buf_add_byte(&p->c->out->text, ' ');
    rc = add_json(p, vls_member_of(block, "args"), ARGS_MAX, err);
    end_line(p);
    return rc;
}

static void add_result(const page *p, vls_json block)
{
    VLS_AUTO(buf) vls_buf text = {0};
    vls_json content = vls_member_of(block, "content");

    vls_buf_init(&text, p->c->env, (size_t)1 << 30);
    if (content.type == VLS_JSON_STRING)
        vls_text_neutralize(&text, vls_json_str(content), VLS_TEXT_KEEP_BACKSLASH);
    else
        vls_blocks_brief(&text, content);
    begin_line(p);
    vls_buf_add_text(&p->c->out->text, vls_truth_of(block, "isError") ? "< error: " : "< ");
    vls_text_fit(&p->c->out->text, vls_buf_str(&text), RESULT_MAX, 0);
    end_line(p);
}

/* "[image a.png image/png 1a2b3c4d]" */
static void add_blob(const page *p, vls_json block, valise_str type)
{
    static const char *const names[] = {"filename", "mediaType"};
    valise_str blob = cli_text_of(block, "blob");

    begin_line(p);
    vls_buf_add_byte(&p->c->out->text, '[');
    add_data(p, type);
    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        valise_str text = cli_text_of(block, names[i]);
        vls_buf_add_text(&p->c->out->text, text.len > 0 ? " " : "");
        add_data(p, text);
    }
    vls_buf_add_text(&p->c->out->text, blob.len > 0 ? " " : "");
    add_data(p, vls_str_head(blob, DIGITS));
    vls_buf_add_byte(&p->c->out->text, ']');
    end_line(p);
}

/* Known, and shown by its name. */
static bool is_known(valise_str type)
{
    static const char *const names[] = {"thinking", "summary", "document", "image",
                                        "role:transition"};

    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        if (vls_str_equal(type, valise_str_of(names[i])))
            return true;
    }
    return false;
}

/* "[type ...]" and the text of it, if it has one. */
static void add_other(const page *p, vls_json block, valise_str type)
{
    valise_str text = cli_text_of(block, "text"), to = cli_text_of(block, "to");

    begin_line(p);
    vls_buf_add_byte(&p->c->out->text, '[');
    add_data(p, type);
    vls_buf_add_text(&p->c->out->text, to.len > 0 ? " " : "");
    add_data(p, to);
    vls_buf_add_text(&p->c->out->text, is_known(type) ? "]" : "] (unknown)");
    end_line(p);
    if (text.len > 0)
        add_text(p, text);
}

static int add_block(const page *p, vls_json block, valise_error *err)
{
    valise_str type = cli_text_of(block, "type"), text = cli_text_of(block, "text");

    if (vls_str_equal(type, VLS_STR("text")))
        add_text(p, text);
    else if (vls_str_equal(type, VLS_STR("tool_use")))
        return add_call(p, block, err);
    else if (vls_str_equal(type, VLS_STR("tool_result")))
        add_result(p, block);
    else if (cli_text_of(block, "blob").len > 0)
        add_blob(p, block, type);
    else
        add_other(p, block, type);
    return 0;
}

/* ---- turns ---- */

/* "assistant 4e5f956f@2  2026-11-16T11:26:37Z  local (hidden)" */
static void add_heading(const page *p, vls_json row)
{
    static const char *const marks[] = {"hidden", "noprompt", "erased"};
    cli_out *out = p->c->out;
    valise_str time = cli_text_of(row, "time");

    cli_style_begin(out, p->style);
    vls_buf_add_text(&out->text, p->sign);
    cli_style_end(out, p->style);
    cli_style_begin(out, CLI_BOLD);
    add_data(p, cli_text_of(row, "role"));
    cli_style_end(out, CLI_BOLD);
    vls_buf_add_byte(&out->text, ' ');
    cli_style_begin(out, CLI_YELLOW);
    add_data(p, cli_short_ref(cli_text_of(row, "ref")));
    cli_style_end(out, CLI_YELLOW);
    vls_buf_add_text(&out->text, "  ");
    cli_style_begin(out, CLI_DIM);
    add_data(p, vls_str_head(time, vls_str_find_byte(time, '.')));
    vls_buf_add_text(&out->text, vls_str_find_byte(time, '.') < time.len ? "Z  " : "  ");
    add_data(p, cli_text_of(row, "actor"));
    cli_style_end(out, CLI_DIM);
    for (size_t i = 0; i < VLS_COUNT(marks); i++) {
        if (vls_truth_of(row, marks[i]))
            vls_buf_printf(&out->text, " (%s)", marks[i]);
    }
    vls_buf_add_byte(&out->text, '\n');
}

static int add_turn(const page *p, vls_json row, valise_error *err)
{
    vls_json blocks = vls_member_of(row, "blocks"), parents = vls_member_of(row, "parents");
    int rc = 0;

    add_heading(p, row);
    if (parents.type == VLS_JSON_ARRAY && parents.len > 1)
        add_refs(p, "merge of", parents);
    for (uint32_t i = 0; blocks.type == VLS_JSON_ARRAY && i < blocks.len && rc == 0; i++)
        rc = add_block(p, blocks.items[i], err);
    return rc < 0 ? rc : vls_buf_check(&p->c->out->text, err);
}

int cli_print_turn(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    page p = {c, "", "    ", CLI_PLAIN};
    int rc = add_turn(&p, row, err);

    (void)op;
    vls_buf_add_byte(&c->out->text, '\n');
    return rc;
}

int cli_print_turn_line(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    VLS_AUTO(buf) vls_buf line = {0};
    valise_str ref = cli_short_ref(cli_text_of(row, "ref")), role = cli_text_of(row, "role");
    size_t used = ref.len + role.len + 2;

    (void)op;
    vls_buf_init(&line, c->env, (size_t)1 << 20);
    vls_blocks_brief(&line, vls_member_of(row, "blocks"));
    cli_style_begin(c->out, CLI_YELLOW);
    cli_add_data(c->out, ref, 0);
    cli_style_end(c->out, CLI_YELLOW);
    vls_buf_add_byte(&c->out->text, ' ');
    cli_add_data(c->out, role, 0);
    vls_buf_add_byte(&c->out->text, ' ');
    vls_text_fit(&c->out->text,
                 vls_truth_of(row, "erased") ? VLS_STR(CLI_ERASED) : vls_buf_str(&line),
                 c->out->terminal && c->out->columns > used ? c->out->columns - used : SIZE_MAX, 0);
    vls_buf_add_byte(&c->out->text, '\n');
    return vls_buf_check(&line, err);
}

/* ---- what was done ---- */

/* One of a kind: what was made just now is the newest, and its version 1 goes without saying. */
static void add_ref(cli *c, valise_str ref, bool made)
{
    valise_str text = cli_short_ref(ref);

    if (made && vls_str_ends(text, VLS_STR("@1")))
        text.len -= 2;
    cli_style_begin(c->out, CLI_YELLOW);
    cli_add_data(c->out, text, 0);
    cli_style_end(c->out, CLI_YELLOW);
}

static void add_id(cli *c, valise_str id)
{
    cli_style_begin(c->out, CLI_YELLOW);
    cli_add_data(c->out, vls_str_from(id, id.len > DIGITS ? id.len - DIGITS : 0), 0);
    cli_style_end(c->out, CLI_YELLOW);
}

int cli_print_said(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    bool moved = strcmp(op->name, "turn:checkout") == 0;

    vls_buf_add_text(&c->out->text, moved ? "head " : "turn ");
    add_ref(c, cli_text_of(answer, "ref"), !moved);
    vls_buf_add_byte(&c->out->text, '\n');
    return vls_buf_check(&c->out->text, err);
}

int cli_print_session_made(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    valise_str head = cli_text_of(answer, "head"), role = cli_text_of(answer, "role");

    (void)op;
    vls_buf_add_text(&c->out->text, "session ");
    add_id(c, cli_text_of(answer, "id"));
    if (head.len > 0) {
        vls_buf_add_text(&c->out->text, " at ");
        add_ref(c, head, false);
    }
    vls_buf_add_text(&c->out->text, role.len > 0 ? ", role " : "");
    cli_add_data(c->out, role, 0);
    vls_buf_add_byte(&c->out->text, '\n');
    return vls_buf_check(&c->out->text, err);
}

/* "turn 4e5f956f@2 erased, head 61bea13f@1"; how many, where there were more. */
int cli_print_turn_deleted(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    int64_t erased = cli_number_of(answer, "erased"), removed = cli_number_of(answer, "removed");
    valise_str head = cli_text_of(answer, "head"), residue = cli_text_of(answer, "residue");

    (void)op;
    vls_buf_add_text(&c->out->text, "turn ");
    add_id(c, cli_text_of(answer, "turnId"));
    vls_buf_printf(&c->out->text, "@%lld ", (long long)cli_number_of(answer, "version"));
    if (erased > 1)
        vls_buf_printf(&c->out->text, "and %lld more ", (long long)erased - 1);
    vls_buf_add_text(&c->out->text, removed > 0 ? "erased and removed" : "erased; its place stays");
    vls_buf_add_text(&c->out->text, head.len > 0 ? ", head " : ", no head is left");
    add_ref(c, head, false);
    vls_buf_add_byte(&c->out->text, '\n');
    if (residue.len > 0) {
        vls_buf_add_text(&c->out->text, "bytes are left until a reader is done: ");
        cli_add_data(c->out, residue, 0);
        vls_buf_add_byte(&c->out->text, '\n');
    }
    return vls_buf_check(&c->out->text, err);
}

int cli_print_session_deleted(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    int64_t removed = cli_number_of(answer, "removed");

    (void)op;
    vls_buf_add_text(&c->out->text, "session ");
    add_id(c, cli_text_of(answer, "id"));
    vls_buf_add_text(&c->out->text, " deleted");
    if (removed > 0)
        vls_buf_printf(&c->out->text, ", and %lld %s%s", (long long)removed,
                       removed == 1 ? "turn or tip" : "turns and tips",
                       vls_truth_of(answer, "more") ? " so far" : " that nobody else has");
    vls_buf_add_byte(&c->out->text, '\n');
    return vls_buf_check(&c->out->text, err);
}

/* ---- one turn, and what is around it ---- */

int cli_print_turn_shown(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    static const char *const counts[] = {"childCount", "headCount", "tipCount", "pinCount"};
    static const char *const names[][2] = {
        {"child", "children"}, {"head", "heads"}, {"tip", "tips"}, {"pin", "pins"}};
    page p = {c, "", "    ", CLI_PLAIN};
    page about = {c, "", "", CLI_PLAIN};
    vls_json metadata = vls_member_of(answer, "metadata");
    bool any = false;
    int rc = add_turn(&p, answer, err);

    (void)op;
    vls_buf_add_text(&c->out->text, "\n");
    add_refs(&about, "parents:", vls_member_of(answer, "parents"));
    add_refs(&about, "versions:", vls_member_of(answer, "versions"));
    add_refs(&about, "children:", vls_member_of(answer, "children"));
    vls_buf_add_text(&c->out->text, "needed by:");
    for (size_t i = 0; i < VLS_COUNT(counts); i++) {
        int64_t count = cli_number_of(answer, counts[i]);
        if (count > 0)
            vls_buf_printf(&c->out->text, "%s %lld %s", any ? "," : "", (long long)count,
                           names[i][count > 1]);
        any |= count > 0;
    }
    vls_buf_add_text(&c->out->text, any ? "\n" : " nobody\n");
    if (metadata.type != VLS_JSON_NULL && rc == 0) {
        vls_buf_add_text(&c->out->text, "metadata: ");
        rc = add_json(&about, metadata, SIZE_MAX, err);
        vls_buf_add_byte(&c->out->text, '\n');
    }
    return rc;
}

int cli_print_branch(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    vls_json sessions = vls_member_of(row, "sessions");
    page p = {c, "", "    ", CLI_PLAIN};
    int rc;

    vls_buf_add_text(&c->out->text, vls_truth_of(row, "active") ? "* " : "  ");
    rc = cli_print_turn_line(c, op, row, err);
    add_refs(&p, "followed by", vls_member_of(row, "children"));
    for (uint32_t i = 0; sessions.type == VLS_JSON_ARRAY && i < sessions.len; i++) {
        vls_json one = sessions.items[i];
        valise_str label = cli_text_of(one, "label"), id = cli_text_of(one, "id");
        begin_line(&p);
        vls_buf_add_text(&c->out->text, vls_truth_of(one, "tip") ? "tip of " : "head of ");
        add_data(&p,
                 label.len > 0 ? label : vls_str_from(id, id.len > DIGITS ? id.len - DIGITS : 0));
        vls_buf_add_text(&c->out->text, ": ");
        add_data(&p, cli_short_ref(cli_text_of(one, "ref")));
        end_line(&p);
    }
    return rc;
}

/* ---- differences ---- */

/* Lines of a patch: those with a sign have its colour. */
static void add_patch(cli *c, valise_str patch)
{
    page p = {c, "", "      ", CLI_PLAIN};
    valise_str line;

    while (patch.len > 0) {
        (void)vls_str_cut(&line, &patch, patch, '\n');
        p.style = vls_str_starts(line, VLS_STR("-"))   ? CLI_RED
                  : vls_str_starts(line, VLS_STR("+")) ? CLI_GREEN
                                                       : CLI_PLAIN;
        add_text(&p, line);
    }
}

int cli_print_turn_diff(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    valise_str side = cli_text_of(row, "side"), patch = cli_text_of(row, "patch");
    valise_str edit = cli_text_of(row, "editOf");
    bool a = vls_str_equal(side, VLS_STR("a"));
    page p = {c, a ? "- " : "+ ", "    ", a ? CLI_RED : CLI_GREEN};

    if (vls_str_equal(side, VLS_STR("common"))) {
        vls_buf_add_text(&c->out->text, "common up to ");
        return cli_print_turn_line(c, op, row, err);
    }
    if (patch.len == 0)
        return add_turn(&p, row, err);
    add_heading(&p, row);
    begin_line(&p);
    vls_buf_add_text(&c->out->text, "edits ");
    add_data(&p, cli_short_ref(edit));
    end_line(&p);
    add_patch(c, patch);
    return vls_buf_check(&c->out->text, err);
}

int cli_status_of_turn_diff(const cli *c, vls_json row)
{
    bool differs = !vls_str_equal(cli_text_of(row, "side"), VLS_STR("common"));

    return differs && c->options.exit_code ? CLI_DIFFERENT : CLI_DONE;
}
