/* words.h -- from the words of a command line to an operation and its payload.
 *
 *     valise [options] pin add [options] OPERAND ... [options]
 *
 * Every field of the operation's table is an option in kebab-case; those that are POSITIONAL are
 * also operands, in the order of the table:
 *
 *     STR, ENUM, INT, TIME, ...   --name TEXT or --name=TEXT
 *     BOOL                        --flag, --no-flag
 *     LIST                        --tag a --tag b (--tags does as well); as operands: the rest
 *     LIST that is NULLABLE       also --no-tags: given, and empty
 *     STRUCT                      --turn.role TEXT for each field, or --turn JSON
 *     JSON, VALUE, UNION          JSON, @FILE, or - for standard input
 *     VALUE that is PLAIN         also --text TEXT, which is no JSON: the value is this text
 *     TEXT, DATA                  the text itself, @FILE, or -; @@x is the text "@x"
 *     the same that are FILE      the name of a file, or -
 *     SECRET                      never on a command line: VALISE_SECRET_NAME, or --name-file FILE
 *                                 which only its owner may read
 *
 * "--" ends the options; "-" and numbers such as -1 are operands. A field whose `ref` is
 * CLI_PROGRAM takes the words behind "--", and only these. Two steps, because -C has to take effect
 * before files are read: cli_words_split looks at words only, cli_words_payload reads what they
 * stand for.
 *
 * Threads: single. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include "cli/catalog.h"
#include "field/field.h"

/* ---- options that every command takes ---- */

typedef struct cli_option {
    const char *name;  /* "--workspace"; NULL ends the table */
    const char *brief; /* "-C", or NULL */
    const char *value; /* what is behind it, "DIR"; NULL: a switch */
    const char *help;
    size_t offset; /* in cli_options: of a bool, or of a const char * */
    unsigned when; /* CLI_WHEN_... */
} cli_option;

enum {
    CLI_WHEN_ALWAYS,    /* a field of this name is hidden by it */
    CLI_WHEN_ANY,       /* the rest yield to a field of the same name */
    CLI_WHEN_COMMAND,   /* only with what changes something */
    CLI_WHEN_TRIAL,     /* only with what can be done and undone */
    CLI_WHEN_QUERY,     /* only with what reads a workspace */
    CLI_WHEN_EXPECT,    /* only with what knows what to compare */
    CLI_WHEN_DIFFERENT, /* only with what finds differences */
    CLI_WHEN_FOLLOW,    /* only with a list that goes on */
    CLI_WHEN_ONELINE,   /* only with a list that can be short */
    CLI_WHEN_GRAPH,     /* only with what can be drawn */
    CLI_WHEN_TEXT,      /* only with what hands out a value */
    CLI_WHEN_CONTEXT,   /* only with what agents do */
};

extern const cli_option cli_options_table[];

/* Does the option make sense with this command? */
bool cli_option_fits(const cli_option *option, const cli_command *command);

/* ---- words ---- */

typedef enum cli_how {
    CLI_AS_TEXT, /* the word stands for a value, as the field's type says */
    CLI_AS_TRUE,
    CLI_AS_FALSE,
    CLI_AS_EMPTY, /* a list with nothing in it */
    CLI_AS_SECRET_FILE,
    CLI_AS_PLAIN, /* a text, whatever the field's type */
} cli_how;

/* A field that was given. */
typedef struct cli_given {
    const valise_field *path[VLS_FIELDS_MAX_DEPTH]; /* from the outside in */
    size_t depth;
    cli_how how;
    const char *word;
} cli_given;

typedef struct cli_words {
    const cli_command *command; /* NULL: none was named */
    cli_name name;              /* of the command, as it was typed */
    const char *group;          /* the group that was named instead, as it was typed, or NULL */
    cli_given *given;
    size_t given_count;
    const char **operands;
    size_t operand_count;
    size_t dashes_at;  /* how many of them stand before "--"; operand_count: there is none */
    size_t name_words; /* how many words the command's name took */
    bool unknown;      /* no command has this name: perhaps an extension brings it */
} cli_words;

/* Sets c->options too. CLI_E_USAGE. */
int cli_words_split(cli_words *out, cli *c, size_t count, const char *const *words,
                    valise_error *err);

/* The payload of the command: an object, made in the arena of the run. CLI_E_USAGE for operands
 * that are missing or too many, VALISE_E_INVALID for values, and whatever reading files gives. */
int cli_words_payload(vls_json *out, cli *c, const cli_words *words, valise_error *err);

/* A time as RFC 3339 has it, in the arena of the run: what is only a date, or has no zone, is UTC.
 * (value.c) */
int cli_whole_time(const char **out, cli *c, const char *word, valise_error *err);

/* One word as a value of the field (value.c). */
int cli_value(vls_json *out, cli *c, const valise_field *field, const char *word,
              valise_error *err);

/* A path, which may be any bytes, as JSON. Borrows. */
int cli_path_value(vls_json *out, cli *c, valise_str path, valise_error *err);

#define CLI_PROGRAM "cli.program"

static inline bool cli_is_program(const valise_field *item)
{
    return item->ref && strcmp(item->ref, CLI_PROGRAM) == 0;
}

static inline bool cli_takes_program(const valise_op *op)
{
    for (const valise_field *f = op->in; f && f->type != VALISE_T_END; f++) {
        if (f->type == VALISE_T_LIST && cli_is_program(f->more))
            return true;
    }
    return false;
}

/* The field that --text gives, or NULL. */
const valise_field *cli_find_plain(const valise_op *op);

/* "-" and -1 are none. */
bool cli_is_option(const char *word);

/* The field that an option of the command names, with the path to it; NULL: there is none. */
const valise_field *cli_find_option(cli_given *out, const valise_op *op, valise_str name);

/* Does the field stand for itself alone on a command line: no "--no-x", no value behind it? */
static inline bool cli_is_switch(const valise_field *field)
{
    return field->type == VALISE_T_BOOL;
}

/* Does "--no-x" take it back? Not what says no already: there is no --no-no-scan. */
static inline bool cli_can_be_negated(const valise_field *field)
{
    return cli_is_switch(field) &&
           !vls_str_starts(valise_str_of(vls_field_words(field->name, '-').s), VLS_STR("no-"));
}

/* Is it a list that "--no-x" makes empty? Where it need not be given, this is something else. */
static inline bool cli_can_be_empty(const valise_field *field)
{
    return field->type == VALISE_T_LIST && field->flags & VALISE_NULLABLE;
}

/* Does it stand for the arguments of another operation, which hold values themselves? */
static inline bool cli_is_payload(const valise_field *field)
{
    return field->ref && strcmp(field->ref, "cli.payload") == 0;
}

/* For help: "--turn.role", and what stands behind it, "TEXT". */
typedef struct cli_option_text {
    char s[2 * VLS_FIELD_NAME_MAX + 12];
} cli_option_text;
cli_option_text cli_option_name(const valise_field *field);  /* "session-id"; "tag" of "tags" */
const char *cli_short_form(const valise_field *field);       /* "-n" of "limit", or NULL */
cli_option_text cli_operand_name(const valise_field *field); /* SESSION-ID */
const char *cli_value_name(const valise_field *field);       /* TEXT, JSON, NUMBER, ... */

#endif
