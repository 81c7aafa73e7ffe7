/* catalog.h -- the commands there are: operations of the registry and the few that are none.
 *
 *     pin:add           valise pin add       group "pin", and one word more
 *     alias "validate"  valise validate      for workspace:validate
 *     bp                valise bp pack       another name of a group (group_aliases)
 *
 * A command that is no operation (help, init, completion, ...) has an entry of the same kind, so
 * that words, help, man page and completion treat it like any other; it brings a function. One with
 * the name of an operation stands before it: it adds what only a command line can do, and runs the
 * operation for the rest.
 *
 * Threads: immutable once made. */
#ifndef CLI_CATALOG_H
#define CLI_CATALOG_H

#include <valise/sys/operation.h>

#include "base/near.h"
#include "cli/cli.h"

struct cli_words;

typedef struct cli_builtin {
    valise_op op; /* names, fields, help; no capability and no function */
    /* args: a struct of op.in; raw: a const vls_json *, the object as it was given. Fills *status
     * with the exit code. */
    int (*run)(int *status, cli *c, const struct cli_words *words, const void *args,
               valise_error *err);
    bool raw;
    /* With --json: tables of the lines it prints, NULL-ended, where op.out is not all. */
    const valise_field *const *lines;
    const char *other; /* an operation whose answer may be printed as well, or NULL */
    const char *own;   /* it prints nothing of its own, or no JSON: what to do instead */
} cli_builtin;

typedef struct cli_command {
    const valise_op *op;
    const cli_builtin *builtin; /* NULL: an operation of the registry */
    const valise_op *behind;    /* the operation of the same name that a builtin hides, or NULL */
} cli_command;

typedef struct cli_catalog {
    const cli_command *commands; /* sorted by name */
    size_t count;
} cli_catalog;

/* Both lists are NULL-ended; what they point at must outlive the catalog. Operations that only
 * the engine submits are left out. */
int cli_catalog_init(cli_catalog *out, vls_arena *arena, const valise_op *const *operations,
                     const cli_builtin *const *builtins, valise_error *err);

/* The command that the words name, and how many words that took; NULL when there is none. The
 * longest name wins; names win over aliases. "pin:add" as one word does as well. */
const cli_command *cli_catalog_find(size_t *used, const cli_catalog *catalog, size_t count,
                                    const char *const *words);

/* The operation of the registry that a command is, or NULL. */
const valise_op *cli_command_operation(const cli_command *command);

/* The name of the group a word stands for ("backpack" for "bp"), or NULL. */
const char *cli_catalog_group(const cli_catalog *catalog, const char *word);
bool cli_command_is_of(const cli_command *command, const char *group, size_t len);

/* The length of the first part of a name: 3 for "pin:add". */
size_t cli_group_len(const char *name);

/* What a command is called on a command line: "pin add". */
typedef struct cli_name {
    char s[128];
} cli_name;

/* All its names, the one that help and the reference use first: the alias, where there is one;
 * then the words of its own name, then those with the other name of its group. false: no more. */
bool cli_name_at(cli_name *out, const valise_op *op, size_t index);
cli_name cli_name_of(const valise_op *op); /* the first */

/* The name that these words are; "pin:add" is "pin add" too. */
cli_name cli_name_typed(size_t count, const char *const *words);

/* VALISE_E_... USAGE that names the words and, where something is similar, that. */
int cli_catalog_refuse(const cli_catalog *catalog, size_t count, const char *const *words,
                       valise_error *err);

/* The commands of a group (as it was called) that somebody meant who gave this word: those with
 * another word for the same thing, or what is similar. "'valise bp rm' or 'valise bp drop'"; false:
 * none, and "". */
bool cli_catalog_meant(char *out, size_t room, const cli_catalog *catalog, const char *called,
                       const char *word);

/* Another name of a group, or NULL; whether help and documents use that one ("memory"). */
const char *cli_group_alias(const char *group);
bool cli_group_is_called_by_alias(const char *group);

/* ---- what was meant (near.c) ---- */

/* Remembers the candidate that is most similar to a word, if one is similar enough. */
typedef struct cli_near {
    vls_near near;
    char best[96]; /* "" when there is none */
} cli_near;

void cli_near_init(cli_near *near, const char *word);
void cli_near_try(cli_near *near, const char *candidate);

/* Other verbs for what this one says, the best first, with blanks between them; "": none. */
const char *cli_verbs_like(const char *word);

#endif
