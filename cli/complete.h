/* complete.h -- what could stand at the end of a command line.
 *
 * `valise __complete -- WORD...` is what the scripts for bash, zsh and fish ask. The last word is
 * the one being typed. The answer is a line for each candidate, "word<TAB>description"; a line
 * that begins with a tab says what the shell itself shall complete:
 *
 *     <TAB>files      names of files
 *     <TAB>@files     names of files behind an @
 *     <TAB>dirs       names of folders
 *
 * It is silent about everything that goes wrong, and never slow: ids are asked for up to a limit
 * of rows and time.
 *
 * Threads: single. */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "cli/words.h"

/* Append the candidates for words[count - 1]. */
void cli_complete(vls_buf *out, cli *c, size_t count, const char *const *words);

/* Append the script for "bash", "zsh" or "fish". (completion.c) */
void cli_completion_script(vls_buf *out, const char *shell);

#endif
