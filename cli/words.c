/* words.c -- splitting a command line: options of all commands, fields of this one, operands. */
#include "cli/words.h"

#include "base/text.h"
#include "cli/print.h"

#define AT(member) offsetof(cli_options, member)

const cli_option cli_options_table[] = {
    {"--json", NULL, NULL, "Print answers and errors as JSON.", AT(json), CLI_WHEN_ALWAYS},
    {"--help", "-h", NULL, "Show this help.", AT(help), CLI_WHEN_ALWAYS},
    {"--version", NULL, NULL, "Print the version.", AT(version), CLI_WHEN_ANY},
    {"--directory", "-C", "DIR", "Run as if started in DIR.", AT(directory), CLI_WHEN_ANY},
    {"--workspace", NULL, "DIR", "Use the workspace in DIR (or VALISE_DIR).", AT(workspace),
     CLI_WHEN_ANY},
    {"--actor", NULL, "ID", "Act as ID (or VALISE_ACTOR).", AT(actor), CLI_WHEN_ANY},
    {"--agent", NULL, "ID", "Same as --actor.", AT(agent), CLI_WHEN_CONTEXT},
    {"--at", NULL, "WHEN",
     "Answer as of a log entry (its seq or id) or a time, such as 2026-11-19 or "
     "'2026-11-19 10:00' (UTC; a date is its beginning).",
     AT(at), CLI_WHEN_QUERY},
    {"--expect", NULL, "JSON", "Fail with a conflict unless the current state is this.", AT(expect),
     CLI_WHEN_EXPECT},
    {"--id", NULL, "UUID", "Id of this command; running it again changes nothing.", AT(id),
     CLI_WHEN_COMMAND},
    {"--dry-run", NULL, NULL, "Show the answer, but change nothing.", AT(dry_run), CLI_WHEN_TRIAL},
    {"--exit-code", NULL, NULL, "Exit with 8 if there are differences.", AT(exit_code),
     CLI_WHEN_DIFFERENT},
    {"--follow", "-f", NULL, "Keep printing what comes, until Ctrl-C.", AT(follow),
     CLI_WHEN_FOLLOW},
    {"--oneline", NULL, NULL, "One line per entry.", AT(oneline), CLI_WHEN_ONELINE},
    {"--graph", NULL, NULL, "Draw the branches, one line per entry.", AT(graph), CLI_WHEN_GRAPH},
    {"--text", NULL, NULL, "Print a text as it is, without quotes.", AT(text), CLI_WHEN_TEXT},
    {"--color", NULL, "WHEN", "When to use colours: auto, always or never.", AT(color),
     CLI_WHEN_ANY},
    {"--no-pager", NULL, NULL, "Do not use a pager.", AT(no_pager), CLI_WHEN_ANY},
    {"--quiet", "-q", NULL, "No progress and headings; commands print nothing.", AT(quiet),
     CLI_WHEN_ANY},
    {NULL, NULL, NULL, NULL, 0, 0},
};

bool cli_option_fits(const cli_option *option, const cli_command *command)
{
    const valise_op *op = command->op;
    bool any = command->builtin && strcmp(op->name, "run") == 0;

    switch (option->when) {
    case CLI_WHEN_COMMAND:
        return any || op->kind == VALISE_COMMAND;
    case CLI_WHEN_TRIAL:
        return any || op->kind == VALISE_COMMAND ||
               (command->builtin && strcmp(op->name, "batch") == 0);
    case CLI_WHEN_QUERY:
        return any || (op->kind == VALISE_QUERY && !(op->flags & VALISE_OP_NO_WORKSPACE));
    case CLI_WHEN_EXPECT:
        return any || op->current || (command->behind && command->behind->current);
    case CLI_WHEN_DIFFERENT:
        return any || cli_can_differ(op);
    case CLI_WHEN_FOLLOW:
        return any || cli_can_follow(op);
    case CLI_WHEN_ONELINE:
        return any || cli_can_be_brief(op);
    case CLI_WHEN_GRAPH:
        return any || cli_can_draw(op);
    case CLI_WHEN_TEXT:
        return any || cli_can_be_text(op);
    case CLI_WHEN_CONTEXT:
        return any || (op->needs && strncmp(op->needs, "context:", 8) == 0);
    default:
        return true;
    }
}

bool cli_is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && !(word[1] >= '0' && word[1] <= '9');
}

/* ---- options of all commands ---- */

/* The words from here on. */
typedef struct reader {
    cli *c;
    cli_words *words;
    const char *const *at;
    size_t left;
    const char *option; /* being read, as it was typed, without what is behind '=' */
    char name[128];
    const char *attached; /* what stands behind '=', or NULL */
} reader;

static const char *const *string_at(const cli_options *options, size_t offset)
{
    return (const char *const *)((const char *)options + offset);
}

static bool is_same_option(const cli_option *option, const char *name)
{
    return strcmp(option->name, name) == 0 || (option->brief && strcmp(option->brief, name) == 0);
}

static const cli_option *find_common(const char *name)
{
    for (const cli_option *o = cli_options_table; o->name; o++) {
        if (is_same_option(o, name))
            return o;
    }
    return NULL;
}

/* Where its options are told. */
static void hint_options(const reader *r, const char *near, valise_error *err)
{
    const char *name = r->words->command ? r->words->name.s : "";
    const char *blank = name[0] ? " " : "";

    if (near[0])
        vls_hint(err, "did you mean '%s'? 'valise %s%s--help' lists the options", near, name,
                 blank);
    else
        vls_hint(err, "'valise %s%s--help' lists the options", name, blank);
}

static int refuse_missing(const reader *r, const char *what, valise_error *err)
{
    vls_report(err, CLI_E_USAGE, -1, "'%s' needs a value: %s", r->name, what);
    hint_options(r, "", err);
    return CLI_E_USAGE;
}

static int refuse_attached(const reader *r, valise_error *err)
{
    vls_report(err, CLI_E_USAGE, -1, "'%s' takes no value", r->name);
    vls_hint(err, "leave out the '=' and what follows it");
    return CLI_E_USAGE;
}

/* The value of the option being read: attached, or the next word. */
static int take_value(const char **out, reader *r, const char *what, valise_error *err)
{
    if (r->attached) {
        *out = r->attached;
        return 0;
    }
    if (r->left == 0)
        return refuse_missing(r, what, err);
    *out = *r->at++;
    r->left--;
    return 0;
}

/* May it change something? */
static bool changes(const cli_command *command)
{
    return command->op->kind != VALISE_QUERY && !(command->op->flags & VALISE_OP_READ_ONLY);
}

static const char *why_not(const cli_option *option, const cli_command *command)
{
    static const char *const why[] = {
        [CLI_WHEN_QUERY] = "it does not look at a state",
        [CLI_WHEN_EXPECT] = "there is nothing it could compare",
        [CLI_WHEN_DIFFERENT] = "it looks for no differences",
        [CLI_WHEN_FOLLOW] = "its answer has an end",
        [CLI_WHEN_ONELINE] = "its answer has one form only",
        [CLI_WHEN_GRAPH] = "there is nothing that branches",
        [CLI_WHEN_TEXT] = "its answer is not a value",
        [CLI_WHEN_CONTEXT] = "it is not about what agents know; --actor is for all commands",
    };

    if (option->when == CLI_WHEN_COMMAND)
        return changes(command) ? "it is not a command of the log" : "it changes nothing";
    if (option->when == CLI_WHEN_TRIAL)
        return changes(command) ? "it cannot be tried" : "it changes nothing";
    return why[option->when];
}

static int refuse_misplaced(const reader *r, const cli_option *option, valise_error *err)
{
    vls_report(err, CLI_E_USAGE, -1, "'valise %s' takes no %s: %s", r->words->name.s, option->name,
               why_not(option, r->words->command));
    hint_options(r, "", err);
    return CLI_E_USAGE;
}

static int take_common(reader *r, const cli_option *option, valise_error *err)
{
    cli_options *options = &r->c->options;
    const char *value = NULL;
    int rc;

    if (option->value) {
        rc = take_value(&value, r, option->value, err);
        if (rc == 0 && !value[0]) /* a variable that was not set, most likely */
            rc = refuse_missing(r, option->value, err);
        if (rc == 0)
            *(const char **)((char *)options + option->offset) = value;
        return rc;
    }
    if (r->attached)
        return refuse_attached(r, err);
    *(bool *)((char *)options + option->offset) = true;
    return 0;
}

/* ---- fields ---- */

static bool is_kebab_of(const valise_field *field, valise_str text)
{
    vls_field_name words = vls_field_words(field->name, '-');

    return vls_str_equal(valise_str_of(words.s), text);
}

/* Each gives one: "tags" as "tag", "entries" as "entry". */
cli_option_text cli_option_name(const valise_field *field)
{
    vls_field_name words = vls_field_words(field->name, '-');
    valise_str name = valise_str_of(words.s);
    const char *ending = "";
    cli_option_text text;

    if (field->type == VALISE_T_LIST && vls_str_ends(name, VLS_STR("ies"))) {
        name.len -= 3;
        ending = "y";
    } else if (field->type == VALISE_T_LIST && name.len > 1 && vls_str_ends(name, VLS_STR("s"))) {
        name.len--;
    }
    (void)snprintf(text.s, sizeof(text.s), "%.*s%s", VALISE_STR_ARG(name), ending);
    return text;
}

static const valise_field *find_field(const valise_field *fields, valise_str name)
{
    const valise_field *singular = NULL;

    for (const valise_field *f = fields; f && f->type != VALISE_T_END; f++) {
        if (is_kebab_of(f, name))
            return f;
        if (vls_str_equal(valise_str_of(cli_option_name(f).s), name))
            singular = f;
    }
    return singular;
}

const valise_field *cli_find_option(cli_given *out, const valise_op *op, valise_str name)
{
    const valise_field *fields = op->in, *field = NULL;
    valise_str part;

    out->depth = 0;
    while (fields) {
        bool more = vls_str_cut(&part, &name, name, '.');
        field = find_field(fields, part);
        if (!field || out->depth == VLS_FIELDS_MAX_DEPTH)
            return NULL;
        out->path[out->depth++] = field;
        if (!more)
            return field;
        fields =
            field->type == VALISE_T_STRUCT ? ((const valise_struct *)field->more)->fields : NULL;
    }
    return NULL;
}

static cli_given *next_given(reader *r)
{
    return &r->words->given[r->words->given_count];
}

const valise_field *cli_find_plain(const valise_op *op)
{
    for (const valise_field *f = op->in; f && f->type != VALISE_T_END; f++) {
        if (f->flags & VALISE_PLAIN)
            return f;
    }
    return NULL;
}

/* --no-flag, --no-tags, the file of a secret, and a text that is no JSON. */
static const valise_field *find_variant(cli_given *given, const valise_op *op, valise_str name)
{
    const valise_field *field;

    if (vls_str_starts(name, VLS_STR("no-"))) {
        field = cli_find_option(given, op, vls_str_from(name, 3));
        given->how = field && cli_is_switch(field) ? CLI_AS_FALSE : CLI_AS_EMPTY;
        if (field && (cli_can_be_negated(field) || cli_can_be_empty(field)))
            return field;
    }
    if (vls_str_ends(name, VLS_STR("-file"))) {
        field = cli_find_option(given, op, vls_str_head(name, name.len - 5));
        given->how = CLI_AS_SECRET_FILE;
        if (field && field->flags & VALISE_SECRET)
            return field;
    }
    field = vls_str_equal(name, VLS_STR("text")) ? cli_find_plain(op) : NULL;
    given->path[0] = field;
    given->depth = 1;
    given->how = CLI_AS_PLAIN;
    return field;
}

static int refuse_secret(const reader *r, const valise_field *field, valise_error *err)
{
    vls_report(err, CLI_E_USAGE, -1, "'%s' is a secret, and others can see the command line",
               r->name);
    vls_hint(err, "set %s, or put it into a file that only you can read and give %s-file FILE",
             cli_secret_variable(field->name).s, r->name);
    return CLI_E_USAGE;
}

static bool is_number(const char *word)
{
    return word[0] && word[strspn(word, "0123456789")] == '\0';
}

/* --up alone: the largest there is; a number may stand behind it. */
static int take_bare(cli_given *given, reader *r, const valise_field *field, valise_error *err)
{
    char room[VLS_U64_DIGITS];
    valise_str kept = {NULL, 0};
    int rc;

    if (r->attached || (r->left > 0 && is_number(*r->at)))
        return take_value(&given->word, r, cli_value_name(field), err);
    rc = vls_arena_dup(&kept, &r->c->arena, vls_u64_digits(room, (uint64_t)field->max), err);
    given->word = kept.ptr;
    return rc;
}

/* An option that is a field of the command; false: it is none. */
static int take_field(bool *taken, reader *r, valise_error *err)
{
    const valise_op *op = r->words->command ? r->words->command->op : NULL;
    valise_str name = vls_str_from(valise_str_of(r->name), 2);
    cli_given *given = next_given(r);
    const valise_field *field;

    *given = (cli_given){.how = CLI_AS_TEXT};
    field = op && name.len ? cli_find_option(given, op, name) : NULL;
    if (field && field->flags & VALISE_SECRET)
        return refuse_secret(r, field, err);
    if (!field && op && name.len)
        field = find_variant(given, op, name);
    *taken = field != NULL;
    if (!field)
        return 0;
    r->words->given_count++;
    if (given->how == CLI_AS_TEXT && cli_is_switch(field) && !r->attached) {
        given->how = CLI_AS_TRUE;
        return 0;
    }
    if (given->how == CLI_AS_FALSE || given->how == CLI_AS_EMPTY)
        return r->attached ? refuse_attached(r, err) : 0;
    if (given->how == CLI_AS_TEXT && field->flags & VALISE_BARE)
        return take_bare(given, r, field, err);
    return take_value(&given->word, r, cli_value_name(field), err);
}

/* ---- what is neither ---- */

static void try_fields(cli_near *near, const valise_field *fields)
{
    char name[sizeof(cli_option_text) + 4];

    for (const valise_field *f = fields; f && f->type != VALISE_T_END; f++) {
        if (f->flags & VALISE_HIDDEN)
            continue;
        (void)snprintf(name, sizeof(name), "--%s", cli_option_name(f).s);
        cli_near_try(near, name);
    }
}

static int refuse_option(const reader *r, valise_error *err)
{
    const cli_command *command = r->words->command;
    cli_near near;

    cli_near_init(&near, r->name);
    if (command)
        try_fields(&near, command->op->in);
    if (command && cli_find_plain(command->op))
        cli_near_try(&near, "--text");
    for (const cli_option *o = cli_options_table; o->name; o++) {
        if (!command || cli_option_fits(o, command))
            cli_near_try(&near, o->name);
    }
    vls_report(err, CLI_E_USAGE, -1, "unknown option '%s'",
               vls_text_short(valise_str_of(r->name)).s);
    if (command || near.best[0])
        hint_options(r, near.best, err);
    else
        vls_hint(err, "run 'valise help' for the options");
    return CLI_E_USAGE;
}

/* As in git: -p where there are lines to be shown, -m for a message, -n for how many. */
static const struct {
    const char *brief, *name;
} short_forms[] = {{"-p", "--patch"}, {"-m", "--message"}, {"-n", "--limit"}};

static const char *long_form(const reader *r, const char *word)
{
    const valise_op *op = r->words->command ? r->words->command->op : NULL;

    for (size_t i = 0; op && i < VLS_COUNT(short_forms); i++) {
        const char *name = short_forms[i].name;
        if (strcmp(word, short_forms[i].brief) == 0 && find_field(op->in, valise_str_of(name + 2)))
            return name;
    }
    return word;
}

/* -n3 and -Cdir: what is behind the letter of a short option, or NULL when it has no value. */
static const char *attached_to(char brief[static 3], const reader *r, const char *word)
{
    const cli_option *common;
    const valise_field *field;
    const char *name;

    (void)snprintf(brief, 3, "%.2s", word);
    name = long_form(r, brief);
    common = find_common(name);
    if (name == brief)
        return common && common->value ? word + 2 : NULL;
    field = find_field(r->words->command->op->in, valise_str_of(name + 2));
    return field && !cli_is_switch(field) ? word + 2 : NULL;
}

const char *cli_short_form(const valise_field *field)
{
    for (size_t i = 0; i < VLS_COUNT(short_forms); i++) {
        if (strcmp(field->name, short_forms[i].name + 2) == 0)
            return short_forms[i].brief;
    }
    return NULL;
}

static int take_option(reader *r, const char *given, valise_error *err)
{
    char brief[3];
    const char *behind = given[1] != '-' && given[2] ? attached_to(brief, r, given) : NULL;
    const char *word = long_form(r, behind ? brief : given);
    const char *equals = word[1] == '-' ? strchr(word, '=') : NULL;
    size_t len = equals ? (size_t)(equals - word) : strlen(word);
    bool taken = false;
    int rc;

    r->attached = behind ? behind : equals ? equals + 1 : NULL;
    (void)snprintf(r->name, sizeof(r->name), "%.*s", (int)VLS_MIN(len, (size_t)INT32_MAX), word);
    if (len >= sizeof(r->name))
        return refuse_option(r, err);
    const cli_option *common = find_common(r->name);
    if (!common || (common->when != CLI_WHEN_ALWAYS && r->name[1] == '-')) {
        rc = take_field(&taken, r, err);
        if (rc < 0 || taken)
            return rc;
    }
    if (!common)
        return refuse_option(r, err);
    if (r->words->command && !cli_option_fits(common, r->words->command))
        return refuse_misplaced(r, common, err);
    return take_common(r, common, err);
}

/* ---- all of it ---- */

/* Options in front of the command are those of all commands. */
static int skip_front(reader *r, valise_error *err)
{
    while (r->left > 0 && cli_is_option(*r->at) && strcmp(*r->at, "--") != 0) {
        const char *word = *r->at++;
        r->left--;
        int rc = take_option(r, word, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int find_command(reader *r, valise_error *err)
{
    cli_words *words = r->words;

    if (r->left == 0)
        return 0;
    words->command = cli_catalog_find(&words->name_words, r->c->catalog, r->left, r->at);
    if (words->command) {
        words->name = cli_name_typed(words->name_words, r->at);
        r->at += words->name_words;
        r->left -= words->name_words;
        return 0;
    }
    words->group = cli_catalog_group(r->c->catalog, *r->at) ? *r->at : NULL;
    if (!words->group || (r->left > 1 && !cli_is_option(r->at[1]))) {
        words->unknown = true;
        return cli_catalog_refuse(r->c->catalog, r->left, r->at, err);
    }
    r->at++;
    r->left--;
    return 0;
}

static int take_rest(reader *r, valise_error *err)
{
    bool options = true;
    int rc = 0;

    while (r->left > 0 && rc == 0) {
        const char *word = *r->at++;
        r->left--;
        if (options && strcmp(word, "--") == 0) {
            options = false;
            r->words->dashes_at = r->words->operand_count;
        } else if (options && cli_is_option(word)) {
            rc = take_option(r, word, err);
        } else {
            r->words->operands[r->words->operand_count++] = r->at[-1];
        }
    }
    if (options)
        r->words->dashes_at = r->words->operand_count;
    return rc;
}

/* Options in front of the command that do not fit it were read before it was known. */
static int check_front(const reader *r, valise_error *err)
{
    const cli_options *options = &r->c->options;

    for (const cli_option *o = cli_options_table; o->name && r->words->command; o++) {
        bool given = o->value ? *string_at(options, o->offset) != NULL
                              : *(const bool *)((const char *)options + o->offset);
        if (given && !cli_option_fits(o, r->words->command))
            return refuse_misplaced(r, o, err);
    }
    return 0;
}

static int check_color(const cli_options *options, valise_error *err)
{
    const char *color = options->color;

    if (!color || strcmp(color, "auto") == 0 || strcmp(color, "always") == 0 ||
        strcmp(color, "never") == 0)
        return 0;
    vls_report(err, CLI_E_USAGE, -1, "there is no --color '%s'",
               vls_text_short(valise_str_of(color)).s);
    vls_hint(err, "it is auto, always or never");
    return CLI_E_USAGE;
}

/* `valise checkpoint NAME` makes one: who gives a verb there does not want one of that name. (The
 * verbs that the group has cannot be names at all.) */
static int check_name(const reader *r, valise_error *err)
{
    static const char *const verbs[] = {"ls", "create", "add",     "new",
                                        "rm", "delete", "restore", NULL};
    const cli_words *words = r->words;
    const char *name = words->operands[0];
    char meant[192];
    size_t i = 0;

    if (!words->command || strcmp(words->command->op->name, "tree:checkpoint") != 0 ||
        words->operand_count == 0 || words->dashes_at == 0)
        return 0;
    while (verbs[i] && strcmp(verbs[i], name) != 0)
        i++;
    if (!verbs[i])
        return 0;
    vls_report(err, CLI_E_USAGE, -1, "'%s' is taken for a command, not for a name", name);
    if (strcmp(name, "restore") == 0)
        (void)snprintf(meant, sizeof(meant), "'valise restore NAME'");
    else if (!cli_catalog_meant(meant, sizeof(meant), r->c->catalog, "checkpoint", name))
        (void)snprintf(meant, sizeof(meant), "'valise %s NAME'", words->name.s);
    vls_hint(err, "did you mean %s? a checkpoint with that name is made by 'valise %s -- %s'",
             meant, words->name.s, name);
    return CLI_E_USAGE;
}

int cli_words_split(cli_words *out, cli *c, size_t count, const char *const *words,
                    valise_error *err)
{
    reader r = {.c = c, .words = out, .at = words, .left = count};
    int rc;

    *out = (cli_words){0};
    out->given = vls_arena_array(&c->arena, count + 1, sizeof(*out->given));
    out->operands = vls_arena_array(&c->arena, count + 1, sizeof(*out->operands));
    if (!out->given || !out->operands)
        return vls_arena_fail(&c->arena, err);
    /* Errors that come before it are to be JSON too. */
    for (size_t i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        c->options.json |= strcmp(words[i], "--json") == 0;
    rc = skip_front(&r, err);
    if (rc == 0)
        rc = find_command(&r, err);
    if (rc == 0)
        rc = check_front(&r, err);
    if (rc == 0)
        rc = take_rest(&r, err);
    if (rc == 0 && !c->options.help)
        rc = check_name(&r, err);
    return rc < 0 ? rc : check_color(&c->options, err);
}
