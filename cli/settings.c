/* settings.c -- what the user's file, the environment and the options say of a run. [L9]
 *
 *     colours      core.color < NO_COLOR < VALISE_COLOR < --color
 *     pager        PAGER < core.pager < VALISE_PAGER < --no-pager, as in git
 *     actor        core.actor < VALISE_ACTOR < --actor
 *     the engine   what both files say < VALISE_DURABILITY, VALISE_PROGRAM_TIMEOUT, ...
 *
 * The workspace's file is not asked here: it may be a stranger's, and who acts, what runs and what
 * a terminal is sent is for the user to say. The engine reads of it what concerns the workspace.
 *
 * Only who runs something or prints a list comes here; help, version and completion read nothing.
 */
#include <unistd.h>

#include "cli/call.h"

#include "cli/output.h"
#include "engine/config.h"

#define PAGER "less -FRX"

static int load(vls_config **out, cli *c, valise_error *err)
{
    vls_config_sources sources = {.environment = (const char *const *)environ};
    int rc = vls_config_user_file(&sources.user_file, &c->arena, err);

    if (rc < 0 && rc != VALISE_E_NOT_FOUND) /* a user without a home has no file */
        return rc;
    return vls_config_load(out, c->env, &sources, err);
}

/* The value that a variable or the user's file gives a setting; NULL when neither does. */
static const vls_config_entry *find(const cli *c, const char *name)
{
    return c->settings ? vls_config_find(c->settings, valise_str_of(name)) : NULL;
}

/* ---- colours ---- */

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value && value[0];
}

static valise_str color_wanted(const cli *c)
{
    const vls_config_entry *entry = find(c, "core.color");

    if (c->options.color)
        return valise_str_of(c->options.color);
    /* What is said of all programs is stronger than a file, and weaker than what is said of this
     * one where it was started. */
    if (entry && (entry->layer == VLS_LAYER_ENVIRONMENT || !is_set("NO_COLOR")))
        return entry->value;
    return VLS_STR("auto");
}

bool cli_wants_color(const cli *c, bool terminal)
{
    const char *term = getenv("TERM");
    valise_str wanted = color_wanted(c);

    if (!vls_str_equal(wanted, VLS_STR("auto")))
        return vls_str_equal(wanted, VLS_STR("always"));
    return terminal && !is_set("NO_COLOR") && !(term && strcmp(term, "dumb") == 0);
}

/* ---- the pager ---- */

static const char *pager_wanted(const cli *c)
{
    const vls_config_entry *entry = find(c, "core.pager");
    const char *variable = getenv("VALISE_PAGER"), *others = getenv("PAGER");

    if (variable && !variable[0])
        return ""; /* none, as it is in git */
    if (entry)
        return entry->value.ptr;
    return others ? others : PAGER;
}

/* ---- all ---- */

int cli_settle(cli *c, valise_error *err)
{
    int rc = c->settings ? 0 : load(&c->settings, c, err);

    if (rc < 0)
        return rc;
    c->out->color = cli_wants_color(c, c->out->terminal);
    c->out->pager_line = c->options.no_pager ? "" : pager_wanted(c);
    return 0;
}

valise_str cli_actor(const cli *c)
{
    if (c->options.agent || c->options.actor)
        return valise_str_of(c->options.agent ? c->options.agent : c->options.actor);
    return vls_config_text(c->settings, "core.actor");
}

/* It reads the files itself, and the workspace's is the weaker one. */
void cli_tell_engine(valise_options *options)
{
    options->environment = (const char *const *)environ;
}
