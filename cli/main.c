/* main.c -- the command `valise`.
 *
 * One row of `commands` is one command: its names, its line of help and its function. What a
 * command prints goes to stdout; complaints go to stderr, one line of what is wrong and one of
 * what to do. Exit codes: 0 done, 1 failed, 2 wrong usage. */
#include <stdio.h>
#include <string.h>

#include <valise.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef struct command {
    const char *name, *option; /* `valise version` and `valise --version` are the same */
    const char *help;
    int (*run)(void);
} command;

static int run_help(void);
static int run_version(void);

static const command commands[] = {
    {"help", "--help", "Show this text.", run_help},
    {"version", "--version", "Show the version.", run_version},
};
static const size_t command_count = sizeof(commands) / sizeof(commands[0]);

static int run_help(void)
{
    puts("Valise keeps the state of AI agents: what they work with, what they know and what was "
         "said.\n"
         "\n"
         "usage: valise COMMAND\n");
    for (size_t i = 0; i < command_count; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].help);
    puts("\n"
         "Exit codes: 0 done, 1 failed, 2 wrong usage.");
    return EXIT_DONE;
}

static int run_version(void)
{
    printf("valise %s\n", valise_version());
    return EXIT_DONE;
}

static const command *find_command(const char *word)
{
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(word, commands[i].name) == 0 || strcmp(word, commands[i].option) == 0)
            return &commands[i];
    }
    return NULL;
}

/* What was printed may still sit in stdio's buffer: a full disk shows only here. */
static int flush_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    perror("valise: cannot write the output");
    return EXIT_FAILED;
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "help";
    const command *chosen = find_command(word);

    if (!chosen) {
        fprintf(stderr, "valise: there is no command '%s'\n", word);
        fputs("Run 'valise help' for the commands there are.\n", stderr);
        return EXIT_USAGE;
    }
    if (argc > 2) {
        fprintf(stderr, "valise: '%s' takes no arguments, and '%s' was given\n", word, argv[2]);
        fputs("Run 'valise help' for the commands there are.\n", stderr);
        return EXIT_USAGE;
    }
    return flush_output(chosen->run());
}
