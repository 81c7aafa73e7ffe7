/* engine.h -- the engine: everything that belongs to an open handle, and how it is wired together.
 *
 *     configuration -> extensions -> registry -> store, blobs -> access -> bus
 *
 * It is opened in this order and closed in the reverse one.
 *
 * Threads: immutable while the handle is open. */
#ifndef VLS_ENGINE_H
#define VLS_ENGINE_H

#include <valise/workspace.h>

#include "bus/access.h"
#include "bus/bus.h"
#include "bus/follow.h"
#include "bus/registry.h"
#include "engine/config.h"
#include "engine/extension.h"
#include "store/blob.h"
#include "store/validate.h"

extern const valise_extension *const vls_areas[]; /* made from src/ops.txt */

typedef struct vls_engine {
    const valise_env *env;
    vls_arena arena;    /* of the paths */
    const char *root;   /* the folder that holds .valise; NULL: in memory, or no workspace */
    const char *folder; /* root/.valise */
    vls_config *config; /* as the files said when it was opened; options may say otherwise */
    vls_config_now now; /* what is asked again and again */
    bool foreign;       /* read-only because it is somebody else's and not trusted */
    bool created;       /* by this open: there was none */
    bool unwritable;    /* read-only because nothing may be written there */
    int64_t owner;      /* user id */
    vls_extensions extensions;
    vls_registry *registry;
    vls_store *store; /* NULL: no workspace */
    vls_blobs *blobs; /* the same */
    vls_access *access;
    const valise_middleware **middleware; /* of extensions, then of the options; in arena */
    valise *bus;
    vls_feed *feed;      /* NULL: no workspace */
    const char *consent; /* path of a program that may run though it is not trusted; or NULL */
} vls_engine;

static inline vls_engine *vls_engine_of(const valise *v)
{
    return v->engine;
}

/* ---- folders (folder.c) ---- */

/* The workspace in folder `path`: real paths of root and .valise, and who owns it.
 * VALISE_E_NOT_FOUND with the line that makes one. */
int vls_folder_open(vls_engine *engine, const char *path, valise_error *err);

/* Take from others what they may do with it, where it is ours: a copy may have lost its modes.
 * Where that cannot be done (it cannot be written), it stays as it is. */
void vls_folder_tighten(vls_engine *engine);

/* Make .valise (0700) in `path`, with .gitignore and config (0600), as far as they are missing.
 * `path` itself is made too, but nothing above it. */
int vls_folder_create(const valise_env *env, const char *path, valise_error *err);

/* ---- programs (open.c) ---- */

/* Whoever sits in front of the machine named this program (absolute, without links): that is
 * consent for what the handle is opened for. Only for surfaces where nobody else can have named it;
 * before the handle is used. */
int vls_engine_consent(valise *v, const char *path, valise_error *err);

/* ---- damage (inspect.c) ---- */

/* `validate` for a workspace in which too much is damaged to open it: everything but the rows of
 * collections. No access check: whoever can read the file can. VALISE_E_CORRUPT when there are
 * problems. */
int vls_engine_inspect(const valise_env *env, const char *path, vls_finding_fn *fn, void *arg,
                       valise_error *err);

#endif
