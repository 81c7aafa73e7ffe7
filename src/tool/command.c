/* command.c -- how a program is started: its words, what it knows of our environment, where.
 *
 * Of our variables a program gets five. The others may be keys, which are no tool's business. */
#include <unistd.h>

#include "tool/inside.h"

#define WORDS_MAX 4096u
#define TIMEOUT_MAX_NS INT64_C(1000000000000000) /* 11 days */
#define BYTES_MAX ((size_t)64 << 20)

static const char *const inherited[] = {"PATH", "HOME", "LANG", "LC_ALL", "TZ"};

#define PATH_WITHOUT "PATH=/usr/local/bin:/usr/bin:/bin" /* where we have none */

/* A word that the system can take: NUL-ended, and no NUL inside. */
static int copy_word(char **out, vls_arena *arena, valise_str word, const char *what,
                     valise_error *err)
{
    if (vls_str_find_byte(word, '\0') < word.len)
        return vls_fail(err, VALISE_E_INVALID, "%s of a program has a NUL byte: %s", what,
                        vls_text_short(word).s);
    *out = vls_arena_alloc(arena, word.len + 1);
    if (!*out)
        return vls_arena_fail(arena, err);
    if (word.len > 0)
        memcpy(*out, word.ptr, word.len);
    (*out)[word.len] = '\0';
    return 0;
}

static int copy_argv(vls_tool_start *out, vls_arena *arena, const vls_tool_command *command,
                     valise_error *err)
{
    int rc = 0;

    if (command->count == 0 || command->argv[0].len == 0)
        return vls_fail(err, VALISE_E_INVALID, "a command names no program");
    if (command->count > WORDS_MAX)
        return vls_fail(err, VALISE_E_INVALID, "a command has %zu words; %u at most",
                        command->count, WORDS_MAX);
    out->argv = vls_arena_array(arena, command->count + 1, sizeof(*out->argv));
    if (!out->argv)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; rc == 0 && i < command->count; i++)
        rc = copy_word(&out->argv[i], arena, command->argv[i], "a word", err);
    out->argv[command->count] = NULL;
    return rc;
}

/* ---- the environment ---- */

static size_t name_length(const char *variable)
{
    return strcspn(variable, "=");
}

/* The later one of two with a name counts. */
static void set_variable(char **list, size_t *count, char *variable)
{
    size_t len = name_length(variable), i = 0;

    while (i < *count && strncmp(list[i], variable, len + 1) != 0)
        i++;
    list[i] = variable;
    *count += i == *count;
}

static int inherit(char **list, size_t *count, vls_arena *arena, valise_error *err)
{
    char *copy;
    int rc = copy_word(&copy, arena, VLS_STR(PATH_WITHOUT), "", err);

    if (rc == 0)
        set_variable(list, count, copy);
    for (size_t i = 0; rc == 0 && i < VLS_COUNT(inherited); i++) {
        size_t len = strlen(inherited[i]);
        for (char *const *at = environ; rc == 0 && at && *at; at++) {
            if (name_length(*at) != len || strncmp(*at, inherited[i], len) != 0)
                continue;
            rc = copy_word(&copy, arena, valise_str_of(*at), "a variable", err);
            if (rc == 0)
                set_variable(list, count, copy);
        }
    }
    return rc;
}

static int copy_environment(vls_tool_start *out, vls_arena *arena, const vls_tool_command *command,
                            valise_error *err)
{
    size_t count = 0;
    char *copy;
    int rc;

    if (command->environment_count > WORDS_MAX)
        return vls_fail(err, VALISE_E_INVALID, "a command has %zu variables; %u at most",
                        command->environment_count, WORDS_MAX);
    out->environment = vls_arena_array(arena, VLS_COUNT(inherited) + command->environment_count + 1,
                                       sizeof(*out->environment));
    if (!out->environment)
        return vls_arena_fail(arena, err);
    rc = inherit(out->environment, &count, arena, err);
    for (size_t i = 0; rc == 0 && i < command->environment_count; i++) {
        valise_str variable = command->environment[i];
        size_t name = vls_str_find_byte(variable, '=');
        if (name == 0 || name == variable.len) /* its value may be a secret */
            return vls_fail(err, VALISE_E_INVALID,
                            "variable %zu of a program is not of the form NAME=value", i + 1);
        rc = copy_word(&copy, arena, variable, "a variable", NULL);
        if (rc == VALISE_E_INVALID)
            return vls_fail(err, rc, "variable %zu of a program has a NUL byte", i + 1);
        if (rc < 0)
            return vls_arena_fail(arena, err);
        set_variable(out->environment, &count, copy);
    }
    out->environment[count] = NULL;
    return rc;
}

int vls_tool_command_env(vls_tool_command *command, vls_arena *arena, vls_json variables,
                         valise_error *err)
{
    valise_str *all;
    int rc = 0;

    if (variables.type != VLS_JSON_OBJECT || variables.len == 0)
        return 0;
    all = vls_arena_array(arena, variables.len, sizeof(*all));
    if (!all)
        return vls_arena_fail(arena, err);
    for (uint32_t i = 0; i < variables.len && rc == 0; i++) {
        vls_buf text;

        vls_buf_init_in(&text, arena, VLS_JSON_MAX_BYTES);
        vls_buf_add(&text, vls_json_str(variables.members[i].key));
        vls_buf_add_byte(&text, '=');
        vls_buf_add(&text, vls_json_str(variables.members[i].value));
        rc = vls_buf_keep(&all[i], &text, err);
    }
    command->environment = all;
    command->environment_count = variables.len;
    return rc;
}

/* ---- all of it ---- */

int vls_tool_start_make(vls_tool_start *out, vls_arena *arena, const vls_tool_command *command,
                        valise_error *err)
{
    vls_tool_start start = {.timeout_ms = VLS_TOOL_TIMEOUT_NS / 1000000,
                            .max_bytes = VLS_TOOL_OUTPUT_MAX,
                            .may = command->may};
    char *folder = NULL;
    int rc;

    if ((command->timeout_ns != VALISE_NONE && command->timeout_ns <= 0) ||
        (command->max_bytes != VALISE_NONE && command->max_bytes <= 0))
        return vls_fail(err, VALISE_E_INVALID, "a limit of a program must be above 0");
    if (command->timeout_ns != VALISE_NONE)
        start.timeout_ms =
            VLS_MAX(1, VLS_MIN(command->timeout_ns, TIMEOUT_MAX_NS) / INT64_C(1000000));
    if (command->max_bytes != VALISE_NONE)
        start.max_bytes = VLS_MIN((size_t)command->max_bytes, BYTES_MAX);
    rc = copy_argv(&start, arena, command, err);
    if (rc == 0)
        rc = copy_environment(&start, arena, command, err);
    if (rc == 0 && command->folder.len > 0)
        rc = copy_word(&folder, arena, command->folder, "the folder", err);
    start.folder = folder;
    if (rc == 0)
        *out = start;
    return rc;
}

int vls_tool_start_may(const vls_tool_start *start, valise_error *err)
{
    const vls_tool_may *may = &start->may;

    return may->fn ? may->fn(may->arg, start->folder, start->argv[0], err) : 0;
}
