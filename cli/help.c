/* help.c -- what stands on the pages of help. */
#include "cli/help.h"

#include "cli/paths.h"
#include "cli/print.h"
#include "cli/words.h"
#include "engine/config.h"

#define HELP_LINE_MAX ((size_t)64 << 10)
#define NESTED_MAX 4u /* options of structs inside structs are listed so deep */

/* ---- one command ---- */

static void add_usage(vls_buf *out, const valise_op *op, const cli_name *name)
{
    bool options = false;

    vls_buf_printf(out, "valise %s", name->s);
    for (const valise_field *f = op->in; f && f->type != VALISE_T_END; f++)
        options |= !(f->flags & (VALISE_POSITIONAL | VALISE_HIDDEN));
    if (options || op->kind != 0)
        vls_buf_add_text(out, " [options]");
    for (const valise_field *f = op->in; f && f->type != VALISE_T_END; f++) {
        if (f->flags & VALISE_REQUIRED && !(f->flags & (VALISE_POSITIONAL | VALISE_SECRET)))
            vls_buf_printf(out, " --%s %s", cli_option_name(f).s, cli_value_name(f));
    }
    for (const valise_field *f = op->in; f && f->type != VALISE_T_END; f++) {
        if (f->flags & VALISE_POSITIONAL && !(f->flags & (VALISE_HIDDEN | VALISE_SECRET)))
            vls_buf_printf(out, " %s", cli_operand_name(f).s);
    }
}

/* Names of an ENUM, and that a list may be given several times. */
static void add_remarks(vls_buf *out, const valise_field *field)
{
    const valise_field *item = field->type == VALISE_T_LIST ? field->more : field;
    const char *const *names = item->type == VALISE_T_ENUM ? item->more : NULL;

    if (names) {
        vls_buf_add_text(out, " One of ");
        for (size_t i = 0; names[i]; i++)
            vls_buf_printf(out, "%s%s", i > 0 ? ", " : "", names[i]);
        vls_buf_add_byte(out, '.');
    }
    if (cli_can_be_empty(field))
        vls_buf_printf(out, " May be given more than once; --no-%s is an empty list.",
                       vls_field_words(field->name, '-').s);
    else if (field->type == VALISE_T_LIST && !(field->flags & VALISE_POSITIONAL))
        vls_buf_add_text(out, " May be given more than once.");
    if (item->ref && strcmp(item->ref, CLI_TREE_HERE) == 0)
        vls_buf_add_text(out, " On the command line: the current folder, and paths are relative to "
                              "it.");
    else if (cli_is_tree_path(field))
        vls_buf_add_text(out, " On the command line, paths are relative to the current folder.");
    if (field->flags & VALISE_SECRET)
        vls_buf_printf(out, " Read from %s, or from a file that only its owner can read.",
                       cli_secret_variable(field->name).s);
}

static void add_entry(cli_page *page, const char *term, const valise_field *field)
{
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, page->out->env, HELP_LINE_MAX);
    vls_buf_add_text(&text, field->help ? field->help : "");
    add_remarks(&text, field);
    page->format->entry(page, term, vls_buf_cstr(&text) ? vls_buf_cstr(&text) : "");
}

static void add_field_options(cli_page *page, const valise_field *fields, const char *prefix,
                              size_t depth);

static void add_field_option(cli_page *page, const valise_field *field, const char *prefix,
                             size_t depth)
{
    char name[512], term[1152];
    bool secret = field->flags & VALISE_SECRET;
    const char *brief = depth == 0 ? cli_short_form(field) : NULL;

    (void)snprintf(name, sizeof(name), "%s%s", prefix, vls_field_words(field->name, '-').s);
    if (cli_can_be_negated(field))
        (void)snprintf(term, sizeof(term), "%s%s--%s, --no-%s", brief ? brief : "",
                       brief ? ", " : "", name, name);
    else if (cli_is_switch(field))
        (void)snprintf(term, sizeof(term), "--%s", name);
    else if (field->flags & VALISE_BARE)
        (void)snprintf(term, sizeof(term), "--%s[=%s]", name, cli_value_name(field));
    else
        (void)snprintf(term, sizeof(term), "%s%s--%s%s%s %s%s%s", brief ? brief : "",
                       brief ? ", " : "", prefix, cli_option_name(field).s, secret ? "-file" : "",
                       secret ? "FILE" : cli_value_name(field),
                       cli_can_be_empty(field) ? ", --no-" : "",
                       cli_can_be_empty(field) ? name : "");
    add_entry(page, term, field);
    if (field->type == VALISE_T_STRUCT && depth < NESTED_MAX) {
        (void)snprintf(term, sizeof(term), "%s.", name);
        add_field_options(page, ((const valise_struct *)field->more)->fields, term, depth + 1);
    }
}

static void add_field_options(cli_page *page, const valise_field *fields, const char *prefix,
                              size_t depth)
{
    for (const valise_field *f = fields; f && f->type != VALISE_T_END; f++) {
        bool operand = depth == 0 && f->flags & VALISE_POSITIONAL && !(f->flags & VALISE_SECRET);
        if (!operand && !(f->flags & VALISE_HIDDEN))
            add_field_option(page, f, prefix, depth);
        if (f->flags & VALISE_PLAIN && depth == 0)
            page->format->entry(page, "--text TEXT|@FILE",
                                "A plain text instead: no JSON, no quotes.");
    }
}

static void add_common(cli_page *page, const cli_command *command, bool only_special)
{
    char term[128];

    for (const cli_option *o = cli_options_table; o->name; o++) {
        bool special = o->when > CLI_WHEN_ANY;
        if (command && !cli_option_fits(o, command))
            continue;
        if (only_special && !special && strcmp(o->name, "--json") != 0)
            continue;
        if (command && cli_find_option(&(cli_given){0}, command->op, valise_str_of(o->name + 2)))
            continue; /* a field has taken the name */
        (void)snprintf(term, sizeof(term), "%s%s%s%s%s", o->brief ? o->brief : "",
                       o->brief ? ", " : "", o->name, o->value ? " " : "",
                       o->value ? o->value : "");
        page->format->entry(page, term, o->help);
    }
}

static bool has_operands(const valise_op *op)
{
    for (const valise_field *f = op->in; f && f->type != VALISE_T_END; f++) {
        if (f->flags & VALISE_POSITIONAL && !(f->flags & (VALISE_HIDDEN | VALISE_SECRET)))
            return true;
    }
    return false;
}

static void add_operands(cli_page *page, const valise_op *op)
{
    if (!has_operands(op))
        return;
    page->format->section(page, "operands");
    for (const valise_field *f = op->in; f->type != VALISE_T_END; f++) {
        if (f->flags & VALISE_POSITIONAL && !(f->flags & (VALISE_HIDDEN | VALISE_SECRET)))
            add_entry(page, cli_operand_name(f).s, f);
    }
}

/* "valise-pin-add", the name of a man page. */
static void add_page_name(vls_buf *out, const cli_name *name)
{
    vls_buf_add_text(out, "valise-");
    for (const char *at = name->s; *at; at++)
        vls_buf_add_byte(out, *at == ' ' ? '-' : *at);
}

/* "Also `valise workspace gc`. " */
static void add_other_names(vls_buf *out, const valise_op *op, const cli_name *name)
{
    size_t count = 0;
    cli_name other;

    for (size_t i = 0; cli_name_at(&other, op, i); i++) {
        if (strcmp(other.s, name->s) != 0)
            vls_buf_printf(out, "%s `valise %s`", count++ > 0 ? "," : "Also", other.s);
    }
    if (count > 0)
        vls_buf_add_text(out, ". ");
}

/* What is true of the operation and not seen from its fields. */
static void add_facts(cli_page *page, const cli *c, const cli_command *command,
                      const cli_name *name)
{
    const valise_op *op = command->op;
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, c->env, HELP_LINE_MAX);
    add_other_names(&text, op, name);
    if (op->needs)
        vls_buf_printf(&text, "Needs the capability %s. ", op->needs);
    if (op->flags & VALISE_OP_DESTRUCTIVE)
        vls_buf_add_text(&text, "What it removes cannot be recovered. ");
    if (op->current && op->expect_help)
        vls_buf_printf(&text, "--expect is compared with %s. ", op->expect_help);
    if (text.len > 0 && vls_buf_cstr(&text))
        page->format->paragraphs(page, vls_buf_cstr(&text));
}

/* ---- several ---- */

/* "backpack pack BACKPACK KEY VALUE" */
static void add_term(vls_buf *out, const cli_command *command, const cli_name *name)
{
    vls_buf_add_text(out, name->s);
    for (const valise_field *f = command->op->in; f && f->type != VALISE_T_END; f++) {
        if (f->flags & VALISE_POSITIONAL && !(f->flags & (VALISE_HIDDEN | VALISE_SECRET)))
            vls_buf_printf(out, " %s", cli_operand_name(f).s);
    }
}

static void add_command_entry(cli_page *page, const cli *c, const cli_command *command,
                              const cli_name *name)
{
    VLS_AUTO(buf) vls_buf term = {0};

    vls_buf_init(&term, c->env, HELP_LINE_MAX);
    add_term(&term, command, name);
    if (vls_buf_cstr(&term))
        page->format->entry(page, vls_buf_cstr(&term), command->op->brief);
}

void cli_help_entry(cli_page *page, const cli *c, const char *words)
{
    const char *list[4];
    size_t used = 0, count = 0;
    char room[128];
    const cli_command *command;

    (void)snprintf(room, sizeof(room), "%s", words);
    for (char *at = room, *word; count < VLS_COUNT(list) && (word = strsep(&at, " "));)
        list[count++] = word;
    command = cli_catalog_find(&used, c->catalog, count, list);
    if (command)
        page->format->entry(page, words, command->op->brief);
}

static bool is_listed(const cli_command *command)
{
    return !(command->op->flags & VALISE_OP_INTERNAL);
}

/* A command stands below one title: with `memory` and `context`, where one is the other name of the
 * group, what has a name of its own (prune, report) stands below the name of the group. */
static bool stands_below(const cli_command *command, const char *title, const char *group)
{
    if (!is_listed(command) || !cli_command_is_of(command, group, strlen(group)))
        return false;
    return !cli_group_is_called_by_alias(group) ||
           (strcmp(title, group) == 0) == (command->op->alias != NULL);
}

static void add_how_values_come(cli_page *page)
{
    page->format->paragraphs(
        page,
        "A value is JSON, @FILE for the contents of a file, or - for standard input. After --,\n"
        "nothing is read as an option.");
}

/* On the page of a group: all of it, or with `memory` what stands below that title. */
static bool is_on_page(const cli_command *command, const char *typed, const char *group)
{
    return is_listed(command) && cli_command_is_of(command, group, strlen(group)) &&
           (strcmp(typed, group) == 0 || stands_below(command, typed, group));
}

/* How wide the terms of a group are, but for the few that are much longer than the rest. */
static size_t group_terms(const cli *c, const char *group, const char *typed)
{
    const size_t most = 34;
    size_t widest = 0, len = strlen(group);
    VLS_AUTO(buf) vls_buf term = {0};

    vls_buf_init(&term, c->env, HELP_LINE_MAX);
    for (size_t i = 0; i < c->catalog->count; i++) {
        const cli_command *command = &c->catalog->commands[i];
        cli_name name;
        if (!is_on_page(command, typed, group))
            continue;
        name = cli_name_typed(2, (const char *const[]){typed, command->op->name + len + 1});
        vls_buf_clear(&term);
        add_term(&term, command, &name);
        if (term.len <= most)
            widest = VLS_MAX(widest, term.len);
    }
    return widest + 1;
}

/* The commands of a group, which is called as it was typed; but for one, which is shown already. */
static void add_group_entries(cli_page *page, const cli *c, const char *typed, const valise_op *but)
{
    const char *group = cli_catalog_group(c->catalog, typed);
    size_t len = group ? strlen(group) : 0;

    page->terms = group ? group_terms(c, group, typed) : 0;
    for (size_t i = 0; group && i < c->catalog->count; i++) {
        const cli_command *command = &c->catalog->commands[i];
        cli_name name;
        if (command->op == but || !is_on_page(command, typed, group))
            continue;
        name = cli_name_typed(2, (const char *const[]){typed, command->op->name + len + 1});
        add_command_entry(page, c, command, &name);
    }
    page->terms = 0;
}

/* `valise log` is a command, and there are more that begin with this word. */
static void add_group_of(cli_page *page, const cli *c, const cli_command *command,
                         const cli_name *name)
{
    if (!cli_catalog_group(c->catalog, name->s))
        return;
    page->format->section(page, "more commands");
    add_group_entries(page, c, name->s, command->op);
}

/* What a man page has behind the rest; valise(1) has all of it. */
static void add_man_rest(cli_page *page, const valise_op *op)
{
    page->format->section(page, "exit status");
    page->format->entry(page, "0", "Success.");
    page->format->entry(page, "2", "Wrong usage of the command line.");
    if (cli_can_differ(op))
        page->format->entry(page, "8", "Differences were found, and --exit-code was given.");
    page->format->paragraphs(page, "The other codes are listed in valise(1).");
    page->format->section(page, "environment");
    if (!(op->flags & VALISE_OP_NO_WORKSPACE)) {
        page->format->entry(page, "VALISE_DIR", "The folder of the workspace, like --workspace.");
        page->format->entry(page, "VALISE_ACTOR", "Who acts, like --actor.");
    }
    for (const valise_field *f = op->in; f && f->type != VALISE_T_END; f++) {
        if (f->flags & VALISE_SECRET)
            page->format->entry(page, cli_secret_variable(f->name).s, f->help);
    }
    page->format->paragraphs(page, "Colours, the pager and the rest are described in valise(1).");
    page->format->section(page, "see also");
    page->format->paragraphs(page, "valise(1)");
}

void cli_help_command(cli_page *page, const cli *c, const cli_command *command,
                      const cli_name *name)
{
    const valise_op *op = command->op;
    VLS_AUTO(buf) vls_buf usage = {0};
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&usage, c->env, HELP_LINE_MAX);
    vls_buf_init(&text, c->env, HELP_LINE_MAX);
    add_usage(&usage, op, name);
    add_page_name(&text, name);
    if (!vls_buf_cstr(&usage) || !vls_buf_cstr(&text))
        return;
    page->format->begin(page, vls_buf_cstr(&text), op->brief, vls_buf_cstr(&usage));
    if (page->format == &cli_page_man)
        page->format->section(page, "description");
    if (op->help || page->format == &cli_page_man)
        page->format->paragraphs(page, op->help ? op->help : op->brief);
    add_facts(page, c, command, name);
    add_operands(page, op);
    page->format->section(page, "options");
    add_field_options(page, op->in, "", 0);
    add_common(page, command, page->format != &cli_page_man);
    vls_buf_clear(&text);
    cli_add_example(&text, c, op, name);
    if (text.len > 0 && vls_buf_cstr(&text)) {
        page->format->section(page, page->format == &cli_page_man ? "examples" : "example");
        page->format->code(page, vls_buf_cstr(&text));
    }
    add_group_of(page, c, command, name);
    if (page->format == &cli_page_man)
        add_man_rest(page, op);
    page->format->end(page);
}

void cli_help_group(cli_page *page, const cli *c, const char *typed)
{
    const char *group = cli_catalog_group(c->catalog, typed);
    const char *about = cli_group_is_about(typed);
    bool both = group && strcmp(typed, group) == 0 && cli_group_is_called_by_alias(group);
    char usage[128], name[128], brief[256];

    if (!about && group)
        about = cli_group_is_about(group);
    (void)snprintf(usage, sizeof(usage), "valise %s COMMAND [options] ...", typed);
    (void)snprintf(name, sizeof(name), "valise-%s", typed);
    (void)snprintf(brief, sizeof(brief), "The commands of %s%s%s%s%s.", typed, about ? ": " : "",
                   about ? about : "", both ? "; and " : "",
                   both ? cli_group_is_about(cli_group_alias(group)) : "");
    page->format->begin(page, name, brief, usage);
    if (page->format == &cli_page_man) {
        page->format->section(page, "description");
        page->format->paragraphs(page, brief);
    }
    page->format->section(page, "commands");
    add_group_entries(page, c, typed, NULL);
    add_how_values_come(page);
    if (page->format == &cli_page_man) {
        page->format->section(page, "see also");
        page->format->paragraphs(page, "valise(1)");
    }
    page->format->end(page);
}

/* One line of the list of all: as text without operands, which a line has no room for. */
static void add_listed(cli_page *page, const cli *c, const cli_command *command)
{
    cli_name called = cli_name_of(command->op);

    if (page->format == &cli_page_text)
        page->format->entry(page, called.s, command->op->brief);
    else
        add_command_entry(page, c, command, &called);
}

static void add_group(cli_page *page, const cli *c, const char *title, const char *about)
{
    const char *group = cli_catalog_group(c->catalog, title);
    bool begun = false;

    for (size_t i = 0; group && i < c->catalog->count; i++) {
        const cli_command *command = &c->catalog->commands[i];
        if (!stands_below(command, title, group))
            continue;
        if (!begun)
            page->format->group(page, title, about);
        begun = true;
        add_listed(page, c, command);
    }
}

/* All commands in groups: first those that are alone, which are the command's own; last those of
 * extensions. */
static void add_all_entries(cli_page *page, const cli *c)
{
    const cli_command *commands = c->catalog->commands;
    char last[64] = "";

    page->terms = 20; /* the longest of the names, and a blank */
    page->format->section(page, "commands");
    for (size_t i = 0; i < c->catalog->count; i++) {
        if (is_listed(&commands[i]) && !strchr(commands[i].op->name, ':'))
            add_listed(page, c, &commands[i]);
    }
    for (const cli_group_about *g = cli_groups; g->group; g++)
        add_group(page, c, g->group, g->about);
    for (size_t i = 0; i < c->catalog->count; i++) {
        const char *name = commands[i].op->name;
        char group[64];
        (void)snprintf(group, sizeof(group), "%.*s", (int)cli_group_len(name), name);
        if (!strchr(name, ':') || strcmp(group, last) == 0 || cli_group_is_about(group))
            continue;
        (void)snprintf(last, sizeof(last), "%s", group);
        add_group(page, c, group, NULL);
    }
    page->terms = 0;
}

static const struct {
    const char *term, *text;
} exits[] = {
    {"0", "Success."},
    {"1", "Failure of another kind."},
    {"2", "Wrong usage of the command line."},
    {"3", "Not found."},
    {"4", "Permission denied."},
    {"5", "Conflict: the current state is not the expected one."},
    {"6", "Invalid input."},
    {"7", "Stored data is damaged."},
    {"8", "Differences were found, and --exit-code or --fail-on was given."},
    {"130", "Interrupted with Ctrl-C; 143 or 129 if a job was ended by SIGTERM or SIGHUP."},
};

static const struct {
    const char *term, *text;
} variables[] = {
    {"VALISE_DIR", "The folder of the workspace, like --workspace."},
    {"VALISE_ACTOR", "Who acts, like --actor."},
    {"VALISE_SECRET_NAME", "A secret; NAME is the name of the field in capitals."},
    {"VALISE_COLOR", "When to use colours, like --color."},
    {"NO_COLOR", "No colours, unless VALISE_COLOR or --color asks for them."},
    {"VALISE_PAGER",
     "The pager for long output on a terminal; empty or cat means none. Without it the setting "
     "core.pager, then PAGER, then less -FRX are used. It is run without a shell."},
    {"PAGER", "The pager, if neither VALISE_PAGER nor core.pager is set."},
    {"VALISE_DURABILITY, VALISE_TIMEOUT", "Like the settings core.durability and core.timeout."},
    {"COLUMNS, LINES", "The size of the terminal, if it does not tell."},
    {"XDG_CONFIG_HOME", "The folder with valise/config (default: ~/.config)."},
};

static void add_reference_tables(cli_page *page)
{
    page->format->section(page, "exit status");
    for (size_t i = 0; i < VLS_COUNT(exits); i++)
        page->format->entry(page, exits[i].term, exits[i].text);
    page->format->section(page, "environment");
    for (size_t i = 0; i < VLS_COUNT(variables); i++)
        page->format->entry(page, variables[i].term, variables[i].text);
}

/* "When to use colours. One of auto, always, never; auto when nobody says so. VALISE_COLOR." */
static void add_setting(cli_page *page, const vls_setting *s)
{
    const bool workspace = s->layers & 1u << VLS_LAYER_WORKSPACE;
    const vls_setting_text variable = vls_setting_variable(s);
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, page->out->env, HELP_LINE_MAX);
    vls_buf_add_text(&text, s->help);
    if (s->choices) {
        vls_buf_add_text(&text, " One of ");
        for (const char *at = s->choices; *at; at++) {
            if (*at == ' ')
                vls_buf_add_byte(&text, ',');
            vls_buf_add_byte(&text, *at);
        }
        vls_buf_add_byte(&text, '.');
    }
    if (s->initial)
        vls_buf_printf(&text, " Default: %s.", s->initial);
    if (variable.s[0])
        vls_buf_printf(&text, " Environment: %s.", variable.s);
    if (!workspace)
        vls_buf_add_text(&text, variable.s[0] ? " Only in the user's file or the environment."
                                              : " Only in the user's file.");
    if (vls_buf_cstr(&text))
        page->format->entry(page, s->name, vls_buf_cstr(&text));
}

static void add_settings(cli_page *page)
{
    page->format->section(page, "settings");
    page->format->paragraphs(
        page,
        "Settings are read from .valise/config in the workspace, then the user's valise/config, "
        "then the environment; the later one wins. 'valise config' shows and changes them.");
    for (const vls_setting *s = vls_settings; s->name; s++)
        add_setting(page, s);
}

static const char all_description[] = CLI_ABOUT
    "\n\n"
    "A workspace is a folder .valise in a project. It is looked for in the current folder "
    "and then in those above it. 'valise init' creates one.\n\n"
    "Without a command, valise shows what is in the workspace and what to do next. "
    "'valise help COMMAND' explains a command; each has a manual page, such as "
    "valise-backpack-pack(1).";

static const char all_examples[] = "valise init\n"
                                   "valise backpack create run-1\n"
                                   "valise backpack pack run-1 query '\"What is AI?\"'\n"
                                   "valise backpack history run-1\n"
                                   "valise log --json";

void cli_help_all(cli_page *page, const cli *c)
{
    const bool man = page->format == &cli_page_man;

    page->format->begin(page, "valise", man ? CLI_NAME_LINE : CLI_ABOUT, CLI_USAGE_LINE);
    if (man) {
        page->format->section(page, "description");
        page->format->paragraphs(page, all_description);
    }
    add_all_entries(page, c);
    page->format->section(page, "options");
    add_common(page, NULL, false);
    add_how_values_come(page);
    if (page->format != &cli_page_text)
        add_reference_tables(page);
    if (page->format != &cli_page_text)
        add_settings(page);
    else
        page->format->paragraphs(page, "'valise help COMMAND' explains a command, 'valise help "
                                       "backpack' lists those\nof a group.");
    if (man) {
        page->format->section(page, "examples");
        page->format->code(page, all_examples);
        page->format->section(page, "see also");
        page->format->paragraphs(page, "valise-init(1), valise-status(1), valise-backpack(1), "
                                       "valise-session(1), valise-flow(1)");
    }
    page->format->end(page);
}

/* A group has a page of its own unless its name is a command too. */
static void add_group_name(vls_buf *out, const cli *c, const char *group)
{
    size_t used;

    if (!cli_catalog_find(&used, c->catalog, 1, &group))
        vls_buf_printf(out, "%s\n", group);
}

void cli_help_names(vls_buf *out, const cli *c)
{
    char group[64] = "";

    for (size_t i = 0; i < c->catalog->count; i++) {
        const valise_op *op = c->catalog->commands[i].op;
        size_t len = cli_group_len(op->name);
        cli_name name;
        if (!is_listed(&c->catalog->commands[i]))
            continue;
        if (op->name[len] && (strlen(group) != len || memcmp(group, op->name, len) != 0)) {
            (void)snprintf(group, sizeof(group), "%.*s", (int)len, op->name);
            add_group_name(out, c, group);
            if (cli_group_alias(group))
                add_group_name(out, c, cli_group_alias(group));
        }
        for (size_t n = 0; cli_name_at(&name, op, n); n++)
            vls_buf_printf(out, "%s\n", name.s);
    }
}

static const char reference_head[] =
    "# The command line\n\n"
    "Made from the registry of operations by `tools/gen-cli-docs`; do not edit it.\n\n"
    "Every operation is a command: `pin:add` is `valise pin add`. Its fields are options in\n"
    "kebab-case; those that are listed as operands may also stand without their name, in that\n"
    "order.\n\n"
    "| a field that is | is given as |\n"
    "|---|---|\n"
    "| a text, a number, a time, an id, a name | `--session-id TEXT` or `--session-id=TEXT` |\n"
    "| true or false | `--force`, `--no-force` |\n"
    "| a list | `--tag a --tag b` (`--tags` does as well); as the last operand: all that is "
    "left |\n"
    "| a list, where an empty one says something | also `--no-tags`: an empty list |\n"
    "| a struct | `--turn.role user`, field by field, or `--turn JSON` |\n"
    "| any JSON | JSON itself, `@FILE`, or `-` for standard input; a text keeps its quotes: "
    "`'\"text\"'`, or comes as it is with `--text` where there is such an option |\n"
    "| a text or data of any size | itself, `@FILE` or `-`; `@@x` is the text `@x` |\n"
    "| a secret | never an argument: `VALISE_SECRET_NAME`, or `--name-file FILE` that only its "
    "owner can read |\n\n"
    "With `--json` an answer is one line of canonical JSON, and a list is one line for each row.\n"
    "An error goes to standard error: one line of what went wrong and one of what to do, or with\n"
    "`--json` one object. [json-output.md](json-output.md) has the details.\n";

void cli_help_reference(vls_buf *out, const cli *c)
{
    cli_page page = {.out = out, .format = &cli_page_markdown};

    vls_buf_add_text(out, reference_head);
    cli_help_all(&page, c);
    for (size_t i = 0; i < c->catalog->count; i++) {
        if (!is_listed(&c->catalog->commands[i]))
            continue;
        cli_name name = cli_name_of(c->catalog->commands[i].op);
        vls_buf_printf(out, "\n## valise %s\n", name.s);
        cli_help_command(&page, c, &c->catalog->commands[i], &name);
    }
}
