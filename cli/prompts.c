/* prompts.c -- see prompts.h. */
#include "cli/prompts.h"

#include <unistd.h>

#include "base/fd.h"
#include "base/text.h"
#include "bus/bus.h"
#include "cli/backpack.h"
#include "cli/turns.h"
#include "prompt/ops.h"

#define BAR 32     /* columns of a whole one */
#define LISTED 10u /* of what was left out */
#define SOURCE 34  /* columns of where a piece comes from */
#define SOURCE_NARROW 26
#define NARROW 100u     /* a terminal with fewer columns */
#define STRETCH_MIN 12u /* columns of a text that say something */

/* ---- parts ---- */

/* "turn 9728ea63@1", "entry team/style@3", "[denied]" */
static void add_source(vls_buf *out, vls_json part)
{
    valise_str kind = cli_text_of(part, "kind"), name = cli_text_of(part, "name");
    vls_json version = vls_member_of(part, "version");

    if (vls_member_of(part, "denied").truth) {
        vls_buf_add_text(out, "[denied]");
        return;
    }
    vls_buf_add(out, kind);
    if (name.len > 0)
        vls_buf_add_byte(out, ' ');
    if (vls_str_equal(kind, VLS_STR("turn")))
        name = cli_short_ref(name);
    else if (vls_str_equal(kind, VLS_STR("preference")) && name.len > 8)
        name = vls_str_from(name, name.len - 8);
    vls_buf_add(out, name);
    if (version.type == VLS_JSON_INT)
        vls_buf_printf(out, "@%lld", (long long)version.integer);
}

static int print_source(cli *c, vls_json part, size_t columns, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    vls_buf_init(&text, c->env, (size_t)1 << 20);
    add_source(&text, part);
    rc = vls_buf_check(&text, err);
    if (rc < 0)
        return rc;
    if (columns > 0)
        vls_text_fit(&c->out->text, vls_buf_str(&text), columns, VLS_TEXT_PAD);
    else
        cli_add_data(c->out, vls_buf_str(&text), 0);
    return 0;
}

/* ---- sections and what was left out ---- */

static void add_bar(cli *c, int64_t tokens, int64_t most)
{
    int64_t columns = most > 0 ? (tokens * BAR + most - 1) / most : 0;

    for (int64_t i = 0; i < columns && i < BAR; i++)
        vls_buf_add_byte(&c->out->text, '#');
}

static void print_sections(cli *c, vls_json answer)
{
    vls_json all = vls_member_of(answer, "sections");
    int64_t most = 0;

    for (uint32_t i = 0; i < all.len; i++) {
        int64_t tokens = cli_number_of(all.items[i], "tokens");

        most = VLS_MAX(most, tokens);
    }
    for (uint32_t i = 0; i < all.len; i++) {
        int64_t tokens = cli_number_of(all.items[i], "tokens");
        int64_t parts = cli_number_of(all.items[i], "parts");

        if (parts == 0)
            continue;
        vls_buf_printf(&c->out->text, "  %-8.*s %8lld tokens %6lld %s",
                       VALISE_STR_ARG(cli_text_of(all.items[i], "section")), (long long)tokens,
                       (long long)parts, parts == 1 ? "part" : "parts");
        if (tokens > 0) {
            cli_add_text(c, parts == 1 ? "   " : "  ");
            cli_style_begin(c->out, CLI_GREEN);
            add_bar(c, tokens, most);
            cli_style_end(c->out, CLI_GREEN);
        }
        cli_add_text(c, "\n");
    }
}

static int print_left(cli *c, vls_json answer, valise_error *err)
{
    vls_json all = vls_member_of(answer, "left");
    int rc = 0;

    if (all.len > 0)
        cli_add_text(c, "left out:\n");
    for (uint32_t i = 0; i < all.len && i < LISTED && rc == 0; i++) {
        cli_add_text(c, "  ");
        rc = print_source(c, all.items[i], SOURCE, err);
        vls_buf_printf(&c->out->text, " %6lld tokens  ",
                       (long long)cli_number_of(all.items[i], "tokens"));
        cli_add_data(c->out, cli_text_of(all.items[i], "reason"), 0);
        cli_add_text(c, "\n");
    }
    if (all.len > LISTED)
        vls_buf_printf(&c->out->text, "  and %u more\n", all.len - LISTED);
    return rc;
}

static void print_repairs(cli *c, vls_json answer)
{
    vls_json all = vls_member_of(answer, "repairs");

    if (all.len > 0)
        cli_add_text(c, "repaired for the provider:\n");
    for (uint32_t i = 0; i < all.len; i++) {
        vls_json message = vls_member_of(all.items[i], "message");
        valise_str name = cli_text_of(all.items[i], "name");

        vls_buf_printf(&c->out->text, "  %-6.*s ",
                       VALISE_STR_ARG(cli_text_of(all.items[i], "rule")));
        cli_add_data(c->out, cli_text_of(all.items[i], "what"), 0);
        if (name.len > 0) {
            cli_add_text(c, ": ");
            cli_add_data(c->out, name, 0);
        }
        if (message.type == VLS_JSON_INT)
            vls_buf_printf(&c->out->text, " (message %lld)", (long long)message.integer);
        cli_add_text(c, "\n");
    }
}

/* ---- a prompt ---- */

static void print_tokens(cli *c, vls_json answer)
{
    vls_json limit = vls_member_of(answer, "limit");

    vls_buf_printf(&c->out->text, "%lld", (long long)cli_number_of(answer, "tokens"));
    if (limit.type == VLS_JSON_INT)
        vls_buf_printf(&c->out->text, " of %lld", (long long)limit.integer);
    cli_add_text(c, " tokens");
    if (cli_number_of(answer, "trimmed") > 0) {
        cli_add_text(c, ", ");
        cli_add_count(&c->out->text, cli_number_of(answer, "trimmed"), "turn", "turns");
        cli_add_text(c, " trimmed");
    }
}

static void print_title(cli *c, vls_json answer)
{
    valise_str model = cli_text_of(answer, "model"), head = cli_text_of(answer, "head");

    if (vls_member_of(answer, "id").type == VLS_JSON_STRING) {
        cli_add_text(c, "prompt ");
        cli_style_begin(c->out, CLI_YELLOW);
        cli_add_id(c, answer, "id");
        cli_style_end(c->out, CLI_YELLOW);
        if (vls_truth_of(answer, "existed"))
            cli_add_text(c, " (there already)");
    } else {
        cli_add_text(c, "prompt, not recorded");
    }
    cli_add_text(c, "  ");
    cli_add_data(c->out, cli_text_of(answer, "provider"), 0);
    if (model.len > 0) {
        cli_add_text(c, " ");
        cli_add_data(c->out, model, 0);
    }
    if (head.len > 0) {
        cli_add_text(c, "  up to ");
        cli_add_data(c->out, cli_short_ref(head), 0);
    }
    cli_add_text(c, "  ");
    print_tokens(c, answer);
    cli_add_text(c, "\n");
}

/* "made 2026-01-02T03:04:05Z by local; as it was sent" */
static void print_same(cli *c, vls_json answer)
{
    static const valise_field field = {.name = "time", .type = VALISE_T_TIME};

    if (vls_member_of(answer, "time").type == VLS_JSON_NULL)
        return;
    cli_add_text(c, "made ");
    cli_show(&c->out->text, &field, vls_member_of(answer, "time"));
    cli_add_text(c, " by ");
    cli_add_data(c->out, cli_text_of(answer, "actor"), 0);
    cli_add_text(c, vls_member_of(answer, "neutralSame").truth &&
                            vls_member_of(answer, "wireSame").truth
                        ? "; it can be shown as it was\n"
                        : "; it cannot be shown as it was any more\n");
}

static int print_value(cli *c, vls_json value, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    vls_buf_init(&text, c->env, (size_t)1 << 30);
    rc = value.type == VLS_JSON_STRING ? 0 : vls_json_write_around(&text, value, err);
    if (rc < 0)
        return rc;
    cli_add_data(c->out, value.type == VLS_JSON_STRING ? vls_json_str(value) : vls_buf_str(&text),
                 0);
    if (c->out->terminal)
        cli_add_text(c, "\n");
    return 0;
}

int cli_print_prompt(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    static const char *const texts[] = {"wire", "neutral", "manifest"};

    (void)op;
    for (size_t i = 0; i < VLS_COUNT(texts); i++) {
        vls_json text = vls_member_of(answer, texts[i]);

        if (text.type != VLS_JSON_NULL)
            return print_value(c, text, err);
    }
    if (vls_member_of(answer, "provider").type == VLS_JSON_STRING)
        print_title(c, answer);
    else
        vls_buf_printf(&c->out->text, "request of %lld bytes\n",
                       (long long)cli_number_of(answer, "bytes"));
    print_same(c, answer);
    print_sections(c, answer);
    print_repairs(c, answer);
    return print_left(c, answer, err);
}

/* Whoever looks at a text must know that it is not what was sent. */
int cli_warn_of_prompt(cli *c, vls_json answer, valise_error *err)
{
    int64_t erased = cli_number_of(answer, "erased"), denied = cli_number_of(answer, "denied");
    VLS_AUTO(buf) vls_buf line = {0};

    (void)err;
    if (vls_member_of(answer, "wireSame").type != VLS_JSON_BOOL ||
        (vls_member_of(answer, "neutralSame").truth && vls_member_of(answer, "wireSame").truth))
        return 0;
    vls_buf_init(&line, c->env, 4096);
    vls_buf_add_text(&line, "valise: this is not what was sent:");
    if (erased > 0)
        vls_buf_printf(&line, " %lld part%s erased", (long long)erased, erased == 1 ? "" : "s");
    if (denied > 0)
        vls_buf_printf(&line, "%s %lld that you may not read", erased > 0 ? "," : "",
                       (long long)denied);
    if (erased <= 0 && denied <= 0)
        vls_buf_add_text(&line, " this version writes other bytes");
    vls_buf_add_byte(&line, '\n');
    (void)vls_fd_write_all(STDERR_FILENO, vls_buf_str(&line)); /* nobody is told that this failed */
    return 0;
}

/* ---- bytes as they are ---- */

static int write_piece(void *arg, valise_str bytes, valise_error *err)
{
    cli *c = arg;

    if (c->out->closed || vls_fd_write_all(c->out->fd, bytes) == 0)
        return 0;
    if (errno == EPIPE) {
        c->out->closed = true; /* nobody reads any more */
        return 0;
    }
    return vls_fail_errno(err, "cannot write", VLS_STR("to standard output"));
}

/* On a terminal, and with --json, it is an answer like others. */
static int decode(void *args, cli *c, const valise_op *op, valise_str payload, valise_error *err)
{
    vls_json value = vls_json_null();
    int rc = vls_json_parse(&value, &c->arena, payload, NULL, err);

    if (rc < 0 || c->options.json || c->out->terminal || !vls_member_of(value, "wire").truth ||
        vls_member_of(value, "output").type != VLS_JSON_NULL)
        return vls_settle(rc);
    rc = vls_fields_decode(args, op->in, op->in_size, value, VLS_FIELD_INPUT, &c->arena, err);
    if (rc == 0)
        rc = cli_out_flush(c->out, err);
    return rc < 0 ? rc : 1;
}

int cli_pour_prompt_build(cli *c, valise *v, valise_str payload, const valise_call *call,
                          valise_error *err)
{
    const valise_op *op = &vls_op_prompt_prompt_build;
    vls_prompt_build_args args = {.force = false};
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_prompt_built built;
    int rc = decode(&args, c, op, payload, err);

    if (rc <= 0)
        return rc;
    args.pour = write_piece;
    args.pour_arg = c;
    rc = vls_run(v, op, &args, &built, &memory, call, NULL, err);
    return rc < 0 ? rc : 1;
}

int cli_pour_prompt_show(cli *c, valise *v, valise_str payload, const valise_call *call,
                         valise_error *err)
{
    const valise_op *op = &vls_op_prompt_prompt_show;
    vls_prompt_show_args args = {.force = false};
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_prompt_shown shown;
    int rc = decode(&args, c, op, payload, err);

    if (rc <= 0)
        return rc;
    args.pour = write_piece;
    args.pour_arg = c;
    rc = vls_run(v, op, &args, &shown, &memory, call, NULL, err);
    if (rc == 0 && !(shown.neutral_same && shown.wire_same)) {
        static const char text[] = "valise: this is not what was sent: valise prompt show tells\n";

        (void)vls_fd_write_all(STDERR_FILENO, valise_str_of(text)); /* as above */
    }
    return rc < 0 ? rc : 1;
}

/* ---- blame ---- */

/* Behind the string that a JSON text begins with, or NULL where it does not end in there. */
static const char *string_end(const char *at, const char *end)
{
    for (at++; at < end; at++) {
        if (*at == '"')
            return at + 1;
        at += *at == '\\';
    }
    return NULL;
}

/* A stretch that is one block of text is shown as that text; any other as it stands there. */
static void add_stretch(vls_buf *out, cli *c, valise_str stretch)
{
    static const char begin[] = "{\"text\":\"", behind[] = ",\"type\":\"text\"}";
    const char *from = stretch.ptr, *end = stretch.ptr + stretch.len, *to = NULL;
    vls_json text = {0};

    from += stretch.len > 0 && *from == '[';
    if (vls_str_starts(vls_str(from, (size_t)(end - from)), valise_str_of(begin))) {
        from += sizeof(begin) - 2;
        to = string_end(from, end);
    }
    if (to && vls_str_starts(vls_str(to, (size_t)(end - to)), valise_str_of(behind)) &&
        !memmem(to, (size_t)(end - to), begin, sizeof(begin) - 1) &&
        vls_json_parse(&text, &c->arena, vls_str(from, (size_t)(to - from)), NULL, NULL) == 0)
        stretch = vls_json_str(text);
    while (stretch.len > 0 && stretch.ptr[stretch.len - 1] == '\n')
        stretch.len--;
    vls_text_neutralize(out, stretch, VLS_TEXT_KEEP_BACKSLASH); /* a line each */
}

/* "  (the role in force; made shorter)" */
static void add_reason(vls_buf *out, vls_json row)
{
    valise_str edit = cli_text_of(row, "edit"), reason = cli_text_of(row, "reason");

    if (reason.len == 0)
        return;
    vls_buf_add_text(out, "  (");
    vls_text_neutralize(out, reason, VLS_TEXT_KEEP_BACKSLASH);
    if (edit.len > 0) {
        vls_buf_add_text(out, "; ");
        vls_text_neutralize(out, edit, VLS_TEXT_KEEP_BACKSLASH);
    }
    vls_buf_add_byte(out, ')');
}

/* The text and the reason, in so many columns; all of the text where one part was asked for. */
static void add_end(cli *c, valise_str text, valise_str reason, size_t columns)
{
    const vls_json *part = c->payload ? vls_json_get(*c->payload, VLS_STR("part")) : NULL;
    size_t width = vls_text_width(reason);
    bool whole = !c->out->terminal || part;
    bool room = whole || columns >= width + STRETCH_MIN;

    if (room && !whole)
        columns -= width;
    vls_text_fit(&c->out->text, text, whole ? SIZE_MAX : columns, 0);
    cli_style_begin(c->out, CLI_DIM);
    if (room)
        vls_buf_add(&c->out->text, reason);
    cli_style_end(c->out, CLI_DIM);
    cli_add_text(c, "\n");
}

/* "  24 entry team/style@1      local   24+53  Memory team/style: ...  (why)". A terminal that is
 * narrow does without the bytes. */
int cli_print_prompt_blame(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    bool narrow = c->out->terminal && c->out->columns < NARROW;
    size_t source = narrow ? SOURCE_NARROW : SOURCE, used = source + 17 + (narrow ? 0 : 15);
    int64_t part = cli_number_of(row, "part");
    VLS_AUTO(buf) vls_buf text = {0};
    VLS_AUTO(buf) vls_buf reason = {0};
    int rc;

    (void)op;
    vls_buf_init(&text, c->env, (size_t)1 << 30);
    vls_buf_init(&reason, c->env, (size_t)1 << 20);
    cli_style_begin(c->out, CLI_DIM);
    if (part >= 0)
        vls_buf_printf(&c->out->text, "%4lld ", (long long)part);
    else
        cli_add_text(c, "   - ");
    cli_style_end(c->out, CLI_DIM);
    cli_style_begin(c->out, CLI_YELLOW);
    rc = print_source(c, row, source, err);
    cli_style_end(c->out, CLI_YELLOW);
    cli_add_text(c, " ");
    vls_text_fit(&c->out->text, cli_text_of(row, "author"), 10, VLS_TEXT_PAD);
    if (!narrow)
        vls_buf_printf(&c->out->text, " %7lld+%-6lld", (long long)cli_number_of(row, "offset"),
                       (long long)cli_number_of(row, "length"));
    cli_add_text(c, " ");
    add_stretch(&text, c, cli_text_of(row, "text"));
    if (vls_member_of(row, "cut").truth)
        vls_buf_add_text(&text, CLI_MORE);
    add_reason(&reason, row);
    add_end(c, vls_buf_str(&text), vls_buf_str(&reason),
            VLS_MAX(c->out->columns, used + STRETCH_MIN) - used);
    if (rc == 0)
        rc = vls_buf_check(&text, err);
    return rc < 0 ? rc : vls_buf_check(&reason, err);
}

/* ---- diff ---- */

/* "+ turn 9728ea63@1   history   +11 tokens   said in this session" */
int cli_print_prompt_diff(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    static const struct {
        const char *name;
        char sign;
        cli_style style;
    } changes[] = {{"entered", '+', CLI_GREEN},
                   {"left", '-', CLI_RED},
                   {"changed", '~', CLI_YELLOW},
                   {"moved", '>', CLI_PLAIN}};
    valise_str change = cli_text_of(row, "change");
    size_t at = 0;
    int rc;

    (void)op;
    while (at + 1 < VLS_COUNT(changes) && !vls_str_equal(change, valise_str_of(changes[at].name)))
        at++;
    cli_style_begin(c->out, changes[at].style);
    vls_buf_printf(&c->out->text, "%c ", changes[at].sign);
    rc = print_source(c, row, SOURCE, err);
    vls_buf_printf(&c->out->text, " %-8.*s %+7lld tokens",
                   VALISE_STR_ARG(cli_text_of(row, "section")),
                   (long long)cli_number_of(row, "more"));
    cli_style_end(c->out, changes[at].style);
    if (cli_text_of(row, "reason").len > 0) {
        cli_add_text(c, "  ");
        cli_add_data(c->out, cli_text_of(row, "reason"), 0);
    }
    cli_add_text(c, "\n");
    return rc;
}

/* ---- explain-miss ---- */

int cli_print_prompt_miss(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    vls_json before = vls_member_of(answer, "before"), after = vls_member_of(answer, "after");
    int rc = 0;

    (void)op;
    if (vls_member_of(answer, "hit").truth) {
        vls_buf_printf(&c->out->text, "hit: all %lld tokens of the first prompt begin the second\n",
                       (long long)cli_number_of(answer, "kept"));
    } else {
        vls_buf_printf(&c->out->text, "miss in %.*s: %.*s\n",
                       VALISE_STR_ARG(cli_text_of(answer, "section")),
                       VALISE_STR_ARG(cli_text_of(answer, "why")));
        vls_buf_printf(&c->out->text, "  kept %lld tokens, lost %lld\n",
                       (long long)cli_number_of(answer, "kept"),
                       (long long)cli_number_of(answer, "lost"));
    }
    vls_buf_printf(&c->out->text, "  new  %lld tokens\n",
                   (long long)cli_number_of(answer, "added"));
    if (before.type != VLS_JSON_NULL) {
        cli_add_text(c, "  was  ");
        rc = print_source(c, before, 0, err);
        cli_add_text(c, "\n");
    }
    if (rc == 0 && after.type != VLS_JSON_NULL) {
        cli_add_text(c, "  is   ");
        rc = print_source(c, after, 0, err);
        cli_add_text(c, "\n");
    }
    return rc;
}

/* ---- budget ---- */

int cli_print_prompt_budget(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    vls_json all = vls_member_of(answer, "largest");
    int rc = 0;

    (void)op;
    print_tokens(c, answer);
    if (cli_number_of(answer, "reserve") > 0)
        vls_buf_printf(&c->out->text, "; %lld for the answer",
                       (long long)cli_number_of(answer, "reserve"));
    cli_add_text(c, "\n");
    if (vls_member_of(answer, "saved").type == VLS_JSON_INT)
        vls_buf_printf(&c->out->text, "policies save %lld of %lld tokens\n",
                       (long long)cli_number_of(answer, "saved"),
                       (long long)cli_number_of(answer, "without"));
    print_sections(c, answer);
    if (all.len > 0)
        cli_add_text(c, "largest:\n");
    for (uint32_t i = 0; i < all.len && rc == 0; i++) {
        cli_add_text(c, "  ");
        rc = print_source(c, all.items[i], SOURCE, err);
        vls_buf_printf(&c->out->text, " %-8.*s %6lld tokens\n",
                       VALISE_STR_ARG(cli_text_of(all.items[i], "section")),
                       (long long)cli_number_of(all.items[i], "tokens"));
    }
    return rc < 0 ? rc : print_left(c, answer, err);
}

/* ---- lint ---- */

/* "R1.1  messages[3].blocks[0]: a call has no result: call_1 (repaired)" */
int cli_print_lint(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    valise_str place = cli_text_of(row, "place"), more = cli_text_of(row, "more");

    (void)op;
    (void)err;
    vls_buf_printf(&c->out->text, "%-6.*s ", VALISE_STR_ARG(cli_text_of(row, "rule")));
    if (place.len > 0) {
        cli_add_data(c->out, place, 0);
        cli_add_text(c, ": ");
    }
    cli_add_data(c->out, cli_text_of(row, "what"), 0);
    if (more.len > 0) {
        cli_add_text(c, ": ");
        cli_add_data(c->out, more, 0);
    }
    cli_add_text(c, vls_member_of(row, "mended").truth ? " (a build repairs it)\n" : "\n");
    return 0;
}

int cli_status_of_lint(const cli *c, vls_json row)
{
    (void)c;
    return vls_member_of(row, "mended").truth ? CLI_DONE : valise_error_exit_code(VALISE_E_INVALID);
}
