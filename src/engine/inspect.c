/* inspect.c -- a look at a workspace that cannot be opened. */
#include <unistd.h>

#include "base/progress.h"
#include "engine/engine.h"

#define ARENA_MAX ((size_t)1 << 20)

static int inspect(vls_store *store, vls_finding_fn *fn, void *arg, valise_error *err)
{
    vls_progress progress;
    vls_validation found = {0};
    int rc;

    vls_progress_init(&progress, vls_store_env(store), NULL);
    rc = vls_validate(&found, store, &progress, fn, arg, err);
    if (rc < 0 || found.problems == 0)
        return rc;
    (void)vls_fail(err, VALISE_E_CORRUPT, "%lld problem%s found; rows were not checked",
                   (long long)found.problems, found.problems == 1 ? "" : "s");
    vls_hint(err, "the remedy is shown with each");
    return VALISE_E_CORRUPT;
}

int vls_engine_inspect(const valise_env *env, const char *path, vls_finding_fn *fn, void *arg,
                       valise_error *err)
{
    vls_engine e = {.env = env};
    vls_store_options options = {.env = env, .ops = valise_store_sqlite()};
    vls_store *store = NULL;
    int rc;

    vls_arena_init(&e.arena, env, ARENA_MAX);
    rc = vls_folder_open(&e, path, err);
    if (rc == 0) {
        options.where = e.folder;
        options.flags = e.owner == (int64_t)geteuid() ? 0 : (unsigned)VALISE_STORE_READ_ONLY;
        rc = vls_store_open_bare(&store, &options, err);
    }
    if (rc == 0)
        rc = inspect(store, fn, arg, err);
    vls_store_close(store);
    vls_arena_release(&e.arena);
    return rc;
}
