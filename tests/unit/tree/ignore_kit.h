/* ignore_kit.h -- random rule files, random paths that they could match, and git to ask about them.
 *
 *     git_repo *git = git_start();            SKIPs the test where there is no git
 *     ... make files below git->tree, which has no .git ...
 *     git_answer *a = git_check_ignore(git, paths, count, excludes);
 *
 * Everything lives until the test ends. */
#ifndef IGNORE_KIT_H
#define IGNORE_KIT_H

#include "harness/test.h"

/* ---- random text ---- */

/* A growing text in memory of the test. */
typedef struct text {
    char *ptr;
    size_t len, cap;
} text;

void text_add(text *to, valise_str s);

/* A rule file of up to `rules` lines: patterns and what else may be in one. */
valise_str random_rules(test_rng *rng, size_t rules);

/* One name of a file or directory; no rule file, nothing built-in, not "." or "..". */
valise_str random_name(test_rng *rng);

/* A path of 1 to 4 names. */
valise_str random_path(test_rng *rng);

/* A path that some line of these rules has a good chance to match; random_path if there is none. */
valise_str path_for_rules(test_rng *rng, valise_str rules);

/* "dir/name", or name where dir is empty. */
valise_str join(valise_str dir, valise_str name);

/* For messages: bytes as a C string shows them. */
const char *shown(valise_str bytes);

/* ---- git ---- */

typedef struct git_repo {
    const char *dir;  /* the repository; never changes */
    const char *tree; /* its files: empty the tree with git_clear */
} git_repo;

/* What git check-ignore -v -n said of a path. */
typedef struct git_answer {
    valise_str source, line, pattern, path; /* the first three are empty: no rule */
} git_answer;

git_repo *git_start(void);
void git_clear(git_repo *git);

/* Make a directory (those above it exist), write a file, below the tree. */
void git_mkdir(git_repo *git, valise_str path);
void git_write(git_repo *git, valise_str path, valise_str bytes);
const char *git_path(git_repo *git, valise_str path);

/* excludes: the path of a file of rules that are weaker than all of the tree's, or "". */
git_answer *git_check_ignore(git_repo *git, const valise_str *paths, size_t count,
                             const char *excludes);

/* git ls-files -o --exclude-per-directory=.gitignore: the paths, each with a NUL behind it. */
valise_str git_ls_files(git_repo *git);

#endif
