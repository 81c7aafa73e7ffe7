/* extension.h -- extensions in shared objects, which are loaded for a handle and unloaded with it.
 *
 * What is loaded is a sealed copy of the file in memory (base/sealed.h), so that the bytes that run
 * are those that were checked. Each handle has a copy of its own: two workspaces in one process do
 * not share an extension's variables.
 *
 * The extension is unloaded when the handle is closed, after everything that may point into it is
 * gone; keeping it would leak a copy with every open. An extension that leaves a thread behind must
 * be linked with -Wl,-z,nodelete.
 *
 * Threads: single. */
#ifndef VLS_ENGINE_EXTENSION_H
#define VLS_ENGINE_EXTENSION_H

#include <valise/sys/extension.h>

#include "base/vec.h"
#include "engine/trust.h"

typedef struct vls_extension_loaded {
    void *library;
    vls_sealed sealed; /* open as long as it is loaded: the linker knows it by this number */
} vls_extension_loaded;

typedef struct vls_extensions {
    const valise_env *env;
    vls_vec(vls_extension_loaded) loaded;
} vls_extensions;

void vls_extensions_init(vls_extensions *list, const valise_env *env);
/* Nothing may point into them any more. */
void vls_extensions_release(vls_extensions *list); /* a zeroed one is fine */

/* A function that gets each package right after it was loaded. */
typedef int vls_extension_fn(void *arg, const valise_extension *package, valise_error *err);

/* Load what the configuration names: the user's own, and those of the workspace in this folder
 * that the user trusts. VALISE_E_DENIED, with the line that trusts it; VALISE_E_UNSUPPORTED for
 * what is no extension, or one of another ABI; VALISE_E_NOT_FOUND. */
int vls_extensions_load(vls_extensions *list, const vls_config *config, const char *workspace,
                        vls_extension_fn *fn, void *arg, valise_error *err);

#endif
