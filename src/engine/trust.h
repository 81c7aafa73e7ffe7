/* trust.h -- whose code may run here, and whose workspaces may be written to. [K34]
 *
 * A workspace alone never makes code run. What the user trusts is in the user's own configuration
 * and nowhere else:
 *
 *     [trust "/home/u/ext/libx.so"]       a program or shared object, by path and bytes
 *         sha256 = 1f3a...
 *     [trust "/srv/shared/project"]       a workspace that belongs to somebody else
 *         owner = 1001
 *     [extension "x"]                     naming it here is trust already; with sha256 only
 *         path = /home/u/ext/libx.so      these bytes
 *         sha256 = 1f3a...
 *
 * Threads: pure functions over a configuration and the file system. */
#ifndef VLS_TRUST_H
#define VLS_TRUST_H

#include "base/sealed.h"
#include "engine/config.h"

#define VLS_FOLDER ".valise" /* what makes a folder a workspace */

/* May these bytes at this path (absolute, without links) run? id NULL: may any? VALISE_E_DENIED
 * with the line that would trust them. */
int vls_trust_check(const vls_config *config, const char *path, const valise_id *id,
                    valise_error *err);

/* The path of the nth file with these bytes that is trusted, or ptr NULL. Whoever opens it looks
 * whether it still has them. */
valise_str vls_trust_find(const vls_config *config, const valise_id *id, size_t nth);

/* Is the workspace in this folder (absolute, without links), which belongs to the user `owner`,
 * trusted? */
bool vls_trust_has_workspace(const vls_config *config, const char *folder, int64_t owner);

/* May the workspace in this folder be written: is it the user's own, or trusted? VALISE_E_DENIED,
 * with the command that would trust it. */
int vls_trust_check_workspace(const vls_config *config, const char *folder, valise_error *err);

/* `valise trust PATH`: record a file by its bytes, or a workspace by its owner, in the user's
 * file. */
int vls_trust_add(const valise_env *env, const char *user_file, const char *path,
                  valise_error *err);
/* `valise trust --remove PATH`. VALISE_E_NOT_FOUND. */
int vls_trust_remove(const valise_env *env, const char *user_file, const char *path,
                     valise_error *err);

#endif
