/* workspace.c -- which workspace a command works in, and which operations there are.
 *
 *     --workspace DIR     the workspace in DIR itself
 *     -C DIR              as if started in DIR: the one in DIR or above it
 *     VALISE_DIR          as --workspace, unless one of the two is given
 *     nothing             the one in the current folder or above it
 *
 * What is built in is known without reading anything. Extensions are loaded only when a name is
 * not known, and for those who list what there is. */
#include <unistd.h>

#include "cli/call.h"

#include "engine/engine.h"

/* ---- what there is ---- */

static int fill_catalog(cli *c, const valise_op *const *operations, valise_error *err)
{
    cli_catalog *catalog = vls_arena_zalloc(&c->arena, sizeof(*catalog));
    int rc;

    if (!catalog)
        return vls_arena_fail(&c->arena, err);
    rc = cli_catalog_init(catalog, &c->arena, operations, cli_builtins, err);
    if (rc == 0)
        c->catalog = catalog;
    return rc;
}

int cli_make_catalog(cli *c, valise_error *err)
{
    int rc = vls_registry_new(&c->built_in, c->env, err);

    for (size_t i = 0; rc == 0 && vls_areas[i]; i++)
        rc = vls_registry_add(c->built_in, vls_areas[i], true, err);
    c->registry = c->built_in;
    return rc < 0 ? rc : fill_catalog(c, vls_registry_ops(c->registry), err);
}

static size_t count_packages(const vls_registry *registry)
{
    const valise_extension *const *packages = vls_registry_packages(registry);
    size_t count = 0;

    while (packages[count])
        count++;
    return count;
}

static int open_with_extensions(cli *c, valise_error *err)
{
    valise_options options = VALISE_OPTIONS_INIT;

    options.env = c->env;
    return c->none ? 0 : valise_open(&c->none, NULL, &options, err);
}

/* Without a workspace, those of the user. Where there is one, what is wrong with it counts: an
 * extension that is not found, say. */
static int open_for_extensions(cli *c, valise_error *err)
{
    const char *path;

    return cli_find(&path, c, NULL) == VALISE_E_NOT_FOUND ? open_with_extensions(c, err)
                                                          : cli_open(c, err);
}

int cli_extend_catalog(cli *c, bool workspace, valise_error *err)
{
    int rc = workspace ? open_for_extensions(c, err) : open_with_extensions(c, err);
    const vls_registry *registry;

    if (rc < 0)
        return rc;
    registry = vls_engine_of(c->workspace ? c->workspace : c->none)->registry;
    if (count_packages(registry) <= count_packages(c->registry))
        return 0;
    c->registry = registry;
    rc = fill_catalog(c, vls_registry_ops(registry), err);
    return rc < 0 ? rc : 1;
}

/* ---- the workspace ---- */

/* What an option or the environment names; NULL: nothing does. */
static const char *find_named(const cli *c)
{
    const char *folder = c->options.workspace;

    if (!folder && !c->options.directory)
        folder = getenv("VALISE_DIR");
    return folder && folder[0] ? folder : NULL;
}

bool cli_is_named(const cli *c)
{
    return find_named(c) != NULL;
}

/* There must be something where one was named. What it is is the engine's to say. */
static int check_named(const cli *c, const char *folder, valise_error *err)
{
    const char *who = c->options.workspace ? "--workspace" : "VALISE_DIR";

    if (access(folder, F_OK) == 0)
        return 0;
    int rc = vls_fail_errno(err, c->options.workspace ? "--workspace names" : "VALISE_DIR names",
                            valise_str_of(folder));
    vls_hint(err, "correct %s, or make a workspace there: valise init %s", who, folder);
    return rc;
}

int cli_find(const char **out, cli *c, valise_error *err)
{
    const char *folder = find_named(c);
    valise_blob *found = NULL;
    valise_str path;
    int rc;

    if (folder) {
        rc = check_named(c, folder, err);
        if (rc == 0)
            *out = folder;
        return rc;
    }
    rc = valise_find(&found, ".", err);
    if (rc < 0)
        return rc;
    rc = vls_arena_dup(&path, &c->arena, valise_blob_bytes(found), err);
    valise_blob_unref(found);
    if (rc == 0)
        *out = path.ptr;
    return rc;
}

int cli_open(cli *c, valise_error *err)
{
    valise_options options = VALISE_OPTIONS_INIT;
    const char *path = NULL;
    int rc;

    if (c->workspace)
        return 0;
    rc = cli_settle(c, err);
    if (rc == 0)
        rc = cli_find(&path, c, err);
    if (rc < 0)
        return rc;
    options.env = c->env;
    options.actor = cli_actor(c);
    cli_tell_engine(&options);
    return valise_open(&c->workspace, path, &options, err);
}

int cli_open_none(cli *c, valise_error *err)
{
    valise_options options = VALISE_OPTIONS_INIT;

    options.env = c->env;
    options.flags = VALISE_OPEN_NO_USER_CONFIG; /* what is built in needs nobody's settings */
    return c->none ? 0 : valise_open(&c->none, NULL, &options, err);
}

void cli_close(cli *c)
{
    valise_close(c->workspace);
    valise_close(c->none);
    vls_registry_free(c->built_in);
    vls_config_free(c->settings);
    c->settings = NULL;
    c->workspace = c->none = NULL;
    c->registry = c->built_in = NULL;
}
