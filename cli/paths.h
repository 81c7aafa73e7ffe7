/* paths.h -- paths of the tree as people write and read them: from the current folder, as in git.
 *
 * Operations take and give paths from the root of the tree. A field whose `ref` is one of these
 * takes such a path on a command line:
 *
 *     CLI_TREE_PATH    a path
 *     CLI_TREE_NODE    a path, a node id or the first digits of one; "./cafe" is a path in any case
 *     CLI_TREE_HERE    a path; left out: the current folder
 *
 * Where the current folder is not in the tree (--workspace), paths count from its root. An absolute
 * path is one of the tree when it lies in it. JSON, in and out, has paths from the root.
 *
 * Threads: single. */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include <valise/sys/operation.h>

#include "cli/cli.h"

#define CLI_TREE_PATH "tree.path"
#define CLI_TREE_NODE "tree.node"
#define CLI_TREE_HERE "tree.here"
#define CLI_HOST_PROGRAM "host.program" /* derive.h: no path of the tree */

/* Is it one of these, or a list of them? */
bool cli_is_tree_path(const valise_field *field);

/* Make paths of a payload count from the root. VALISE_E_INVALID for one that is not in the tree. */
int cli_resolve_paths(vls_json *payload, cli *c, const valise_op *op, valise_error *err);

/* Find out where the tree is and where in it we are, once: c->tree_root, c->tree_here. */
int cli_locate(cli *c, valise_error *err);

/* What node:get says of the node whose id begins with these digits, if there is exactly one. The
 * workspace is open. */
bool cli_find_node(vls_json *out, cli *c, valise_str digits);

/* The bytes of a path: a string, or an object with base64 where they are no UTF-8. */
void cli_add_path_bytes(vls_buf *out, vls_json value);

/* Append a path for people: from the current folder, "." for the folder itself; quoted. */
void cli_add_path(vls_buf *out, const cli *c, vls_json value);

/* Append a name that lies nowhere in particular. As git does it, names with quotes, backslashes,
 * control characters or bytes that are no UTF-8 stand in quotes: "new\nline", "bad\377". */
void cli_add_quoted_name(vls_buf *out, valise_str name);

#endif
