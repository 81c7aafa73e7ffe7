/* catalog.c -- finding commands by the words that name them. */
#include "cli/catalog.h"

#include "base/str.h"
#include "base/text.h"

/* Groups that have another name; `first`: help and documents use it. */
static const struct {
    const char *alias, *group;
    bool first;
} group_aliases[] = {
    {"bp", "backpack", false},
    {"memory", "context", true},
};

static int compare_commands(const void *a, const void *b)
{
    return strcmp(((const cli_command *)a)->op->name, ((const cli_command *)b)->op->name);
}

static cli_command *find_same(cli_command *commands, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(commands[i].op->name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

const valise_op *cli_command_operation(const cli_command *command)
{
    return command->builtin ? command->behind : command->op;
}

int cli_catalog_init(cli_catalog *out, vls_arena *arena, const valise_op *const *operations,
                     const cli_builtin *const *builtins, valise_error *err)
{
    size_t count = 0, room = 1;
    cli_command *commands;

    for (size_t i = 0; operations[i]; i++)
        room++;
    for (size_t i = 0; builtins[i]; i++)
        room++;
    commands = vls_arena_array(arena, room, sizeof(*commands));
    if (!commands)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; operations[i]; i++) {
        if (!(operations[i]->flags & VALISE_OP_INTERNAL))
            commands[count++] = (cli_command){.op = operations[i]};
    }
    for (size_t i = 0; builtins[i]; i++) {
        cli_command *same = find_same(commands, count, builtins[i]->op.name);
        cli_command command = {.op = &builtins[i]->op, .builtin = builtins[i]};
        command.behind = same ? same->op : NULL;
        *(same ? same : &commands[count++]) = command;
    }
    qsort(commands, count, sizeof(*commands), compare_commands);
    *out = (cli_catalog){commands, count};
    return 0;
}

size_t cli_group_len(const char *name)
{
    return strcspn(name, ":");
}

const char *cli_group_alias(const char *group)
{
    for (size_t i = 0; i < VLS_COUNT(group_aliases); i++) {
        if (strcmp(group_aliases[i].group, group) == 0)
            return group_aliases[i].alias;
    }
    return NULL;
}

/* The group that a word names when it is an alias, else the word. */
static const char *without_alias(const char *word)
{
    for (size_t i = 0; i < VLS_COUNT(group_aliases); i++) {
        if (strcmp(group_aliases[i].alias, word) == 0)
            return group_aliases[i].group;
    }
    return word;
}

/* How many words spell the whole name; 0 when they do not. A word may have colons, as the name has:
 * `session role:switch` is `session role switch`. */
static size_t count_matching(const char *name, size_t count, const char *const *words)
{
    size_t used = 0;

    while (used < count) {
        const char *word = used == 0 ? without_alias(words[0]) : words[used];
        size_t len = strlen(word);
        if (len == 0 || strncmp(word, name, len) != 0 || strchr(word, ' ') ||
            !strchr(": ", name[len]))
            return 0;
        used++;
        if (name[len] == '\0')
            return used;
        name += len + 1;
    }
    return 0;
}

const cli_command *cli_catalog_find(size_t *used, const cli_catalog *catalog, size_t count,
                                    const char *const *words)
{
    const cli_command *found = NULL;
    size_t longest = 0;

    for (size_t i = 0; i < catalog->count; i++) {
        const valise_op *op = catalog->commands[i].op;
        size_t by_name = count_matching(op->name, count, words);
        size_t by_alias = op->alias ? count_matching(op->alias, count, words) : 0;
        if (count > 0 && strcmp(op->name, words[0]) == 0)
            by_name = 1;
        if (by_name > longest || (by_name > 0 && by_name == longest) || by_alias > longest) {
            longest = VLS_MAX(by_name, by_alias);
            found = &catalog->commands[i];
        }
    }
    if (found)
        *used = longest;
    return found;
}

bool cli_command_is_of(const cli_command *command, const char *group, size_t len)
{
    return cli_group_len(command->op->name) == len && command->op->name[len] == ':' &&
           memcmp(command->op->name, group, len) == 0;
}

const char *cli_catalog_group(const cli_catalog *catalog, const char *word)
{
    const char *group = without_alias(word);

    for (size_t i = 0; i < catalog->count; i++) {
        if (cli_command_is_of(&catalog->commands[i], group, strlen(group)))
            return group;
    }
    return NULL;
}

/* ---- what they are called ---- */

static void split_colons(cli_name *name)
{
    for (char *at = name->s; *at; at++) {
        if (*at == ':')
            *at = ' ';
    }
}

bool cli_group_is_called_by_alias(const char *group)
{
    for (size_t i = 0; i < VLS_COUNT(group_aliases); i++) {
        if (strcmp(group_aliases[i].group, group) == 0)
            return group_aliases[i].first;
    }
    return false;
}

bool cli_name_at(cli_name *out, const valise_op *op, size_t index)
{
    size_t len = cli_group_len(op->name);
    char group[64];
    bool by_alias;
    const char *other;

    if (op->alias && index-- == 0) {
        (void)snprintf(out->s, sizeof(out->s), "%s", op->alias);
        return true;
    }
    (void)snprintf(group, sizeof(group), "%.*s", (int)len, op->name);
    other = op->name[len] ? cli_group_alias(group) : NULL;
    if (index > (other ? 1 : 0))
        return false;
    by_alias = !op->alias && cli_group_is_called_by_alias(group);
    if ((index == 0) == by_alias)
        (void)snprintf(out->s, sizeof(out->s), "%s%s", other, op->name + len);
    else
        (void)snprintf(out->s, sizeof(out->s), "%s", op->name);
    split_colons(out);
    return true;
}

cli_name cli_name_of(const valise_op *op)
{
    cli_name name;

    (void)cli_name_at(&name, op, 0);
    return name;
}

cli_name cli_name_typed(size_t count, const char *const *words)
{
    cli_name name = {""};
    size_t used = 0;

    for (size_t i = 0; i < count && used < sizeof(name.s); i++)
        used += (size_t)snprintf(name.s + used, sizeof(name.s) - used, "%s%s", i > 0 ? " " : "",
                                 words[i]);
    split_colons(&name);
    return name;
}

/* ---- words that name nothing ---- */

static void try_first_words(cli_near *near, const cli_catalog *catalog)
{
    char word[64];

    for (size_t i = 0; i < catalog->count; i++) {
        const valise_op *op = catalog->commands[i].op;
        (void)snprintf(word, sizeof(word), "%.*s", (int)cli_group_len(op->name), op->name);
        if (!(op->flags & VALISE_OP_INTERNAL))
            cli_near_try(near, word);
        if (op->alias)
            cli_near_try(near, op->alias);
    }
}

static void try_verbs(cli_near *near, const cli_catalog *catalog, const char *group)
{
    size_t len = strlen(group);
    cli_name verb;

    for (size_t i = 0; i < catalog->count; i++) {
        if (!cli_command_is_of(&catalog->commands[i], group, len))
            continue;
        (void)snprintf(verb.s, sizeof(verb.s), "%s", catalog->commands[i].op->name + len + 1);
        split_colons(&verb);
        cli_near_try(near, verb.s);
    }
}

static bool has_verb(const cli_catalog *catalog, const char *group, valise_str verb)
{
    for (size_t i = 0; i < catalog->count; i++) {
        const cli_command *command = &catalog->commands[i];
        if (cli_command_is_of(command, group, strlen(group)) &&
            vls_str_equal(valise_str_of(command->op->name + strlen(group) + 1), verb))
            return true;
    }
    return false;
}

bool cli_catalog_meant(char *out, size_t room, const cli_catalog *catalog, const char *called,
                       const char *word)
{
    const char *group = cli_catalog_group(catalog, called);
    valise_str verbs = valise_str_of(cli_verbs_like(word)), verb;
    size_t used = 0;
    cli_near near;

    out[0] = '\0';
    for (size_t found = 0; group && verbs.len > 0 && found < 2 && used < room;) {
        (void)vls_str_cut(&verb, &verbs, verbs, ' ');
        if (!has_verb(catalog, group, verb))
            continue;
        used += (size_t)snprintf(out + used, room - used, "%s'valise %s %.*s'",
                                 found++ > 0 ? " or " : "", called, VALISE_STR_ARG(verb));
    }
    if (used > 0 || !group)
        return used > 0;
    cli_near_init(&near, word);
    try_verbs(&near, catalog, group);
    if (near.best[0])
        (void)snprintf(out, room, "'valise %s %s'", called, near.best);
    return near.best[0] != '\0';
}

int cli_catalog_refuse(const cli_catalog *catalog, size_t count, const char *const *words,
                       valise_error *err)
{
    const char *group = cli_catalog_group(catalog, words[0]);
    vls_text_brief first = vls_text_short(valise_str_of(words[0]));
    char meant[128];
    cli_near near;

    if (group && count > 1) {
        vls_report(err, CLI_E_USAGE, -1, "there is no command '%s %s'", first.s,
                   vls_text_short(valise_str_of(words[1])).s);
        if (cli_catalog_meant(meant, sizeof(meant), catalog, words[0], words[1]))
            vls_hint(err, "did you mean %s? 'valise help %s' lists its commands", meant, words[0]);
        else
            vls_hint(err, "run 'valise help %s' for its commands", words[0]);
        return CLI_E_USAGE;
    }
    cli_near_init(&near, words[0]);
    try_first_words(&near, catalog);
    vls_report(err, CLI_E_USAGE, -1, "there is no command '%s'", first.s);
    if (near.best[0])
        vls_hint(err, "did you mean 'valise %s'? 'valise help' lists all commands", near.best);
    else
        vls_hint(err, "run 'valise help' for all commands");
    return CLI_E_USAGE;
}
