/* ignore.h -- git's ignore rules: which files do not belong to the tree. [C3]
 *
 * Rules come from four places. The first place that has a rule for a name decides; within one
 * place, the last rule that matches:
 *
 *     built-in                   .git and .valise, of any kind, at any depth: always ignored
 *     DIRECTORY/.valiseignore    of the directory the name is in,
 *     DIRECTORY/.gitignore       then of the one above it, up to the top
 *     the workspace's `ignore`   weakest, as .git/info/exclude is for git
 *
 * A rule file is read as gitignore(5) says, and as git does where that is silent:
 *
 *     line     [!] pattern [/]                "!": not ignored after all; "/": directories only
 *     #...     a comment (only where the line begins with it); empty lines say nothing
 *     pattern  with a slash in it: a path from the file's directory (one leading slash is
 *              dropped); with none: a name in that directory or anywhere below
 *     *        a run of bytes, no slash         ?   one byte, no slash
 *     [...]    one byte of a set, no slash: a-z, [:alpha:], \], and all others with [! or [^.
 *              The POSIX classes are those of ASCII; [:space:] is space, tab, CR and LF
 *     **       between slashes or at the ends: any number of directories, none too; behind all else
 *              everything. Elsewhere it is *. In a path, ** that is the first special thing counts
 *              as standing at the beginning: "lib/x**" also matches "lib/xy/z"
 *     \        the next byte as it is
 *
 * One CR before the newline is dropped, then spaces at the end that no \ protects. A NUL byte ends
 * the line. A UTF-8 BOM before the first line is dropped.
 *
 * A pattern that ends in \, or has an unterminated set or an unknown class, never matches. Bytes
 * are bytes: case matters, and no encoding is assumed.
 *
 * A vls_ignore has the rules of one directory and, through its parent, of all directories above it.
 * A directory without rules of its own shares those of its parent.
 *
 * The walker must do the rest: nothing below an ignored directory is looked at, so no rule can
 * bring it back (vls_ignore_check does the same for a single path); and a rule file that is a
 * symbolic link or not a plain file is not read, as in git.
 *
 * Limits: 1 MiB and 100,000 rules per file. A name is compared with each rule once, in time
 * proportional at most to the length of the pattern times that of the path (ignore_wild.c says
 * why). For most rules, one byte is enough to decide.
 *
 * Threads: immutable; the count of references is shared. */
#ifndef VLS_TREE_IGNORE_H
#define VLS_TREE_IGNORE_H

#include "base/base.h"

#define VLS_IGNORE_MAX_SIZE ((size_t)1024 * 1024)
#define VLS_IGNORE_MAX_RULES 100000

typedef struct vls_ignore vls_ignore;

/* What was decided, and by which rule. The slices live as long as the rules. */
typedef struct vls_ignore_verdict {
    bool ignored;
    bool matched;       /* a rule says so; else no rule spoke, and the rest is empty */
    bool negated;       /* that rule begins with '!': not ignored */
    uint32_t line;      /* from 1; 0: built-in */
    valise_str source;  /* the rule file's path from the top, the source of vls_ignore_root, or */
                        /* "built-in" */
    valise_str pattern; /* the rule as written, without what is dropped at the end of a line */
} vls_ignore_verdict;

/* The rules at the top, before any rule file: the workspace's own, one a line (they may be empty),
 * and what verdicts call their source. All is copied. *out is a new reference.
 * VALISE_E_TOO_LARGE, VALISE_E_LIMIT, VALISE_E_NO_MEMORY. */
int vls_ignore_root(vls_ignore **out, const valise_env *env, valise_str source, valise_str lines,
                    valise_error *err) VLS_NODISCARD;

/* The rules in directory dir, a path from the top without slashes at its ends ("": the top itself),
 * from the bytes of its rule files (empty where there is none), which are copied. above: those of
 * the directory above or of vls_ignore_root. *out is a new reference, to above itself when there is
 * no rule in the files. Errors as for vls_ignore_root; the message names the file. */
int vls_ignore_enter(vls_ignore **out, vls_ignore *above, valise_str dir, valise_str gitignore,
                     valise_str valiseignore, valise_error *err) VLS_NODISCARD;

/* Whether path (from the top, below the directory the rules are of) is ignored, when none of the
 * directories above it is. Not for the top itself: path is not empty. verdict may be NULL. */
bool vls_ignore_match(vls_ignore_verdict *verdict, const vls_ignore *rules, valise_str path,
                      bool is_dir);

/* The rules in directory dir, given those above it: reads the rule files, calls vls_ignore_enter.
 */
typedef int vls_ignore_enter_fn(vls_ignore **out, vls_ignore *above, valise_str dir, void *arg,
                                valise_error *err);

/* Whether path is ignored, by a rule for itself or for a directory above it, from the top on: enter
 * is called for the top ("") and each directory on the way, as far as they are not ignored. root
 * comes from vls_ignore_root. *keep is a new reference to what verdict borrows from. Paths are as
 * above; VALISE_E_INVALID for one that is empty or has a slash too many. */
int vls_ignore_check(vls_ignore_verdict *verdict, vls_ignore **keep, vls_ignore *root,
                     valise_str path, bool is_dir, vls_ignore_enter_fn *enter, void *arg,
                     valise_error *err) VLS_NODISCARD;

vls_ignore *vls_ignore_ref(vls_ignore *rules);
vls_ignore *vls_ignore_unref(vls_ignore *rules); /* NULL is fine; gives NULL */

static inline void vls_auto_ignore(vls_ignore **rules)
{
    *rules = vls_ignore_unref(*rules);
}

#endif
