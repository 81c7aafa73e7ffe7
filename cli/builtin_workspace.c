/* builtin_workspace.c -- what there is to do around a workspace: make one, settings, trust. */
#include <limits.h>
#include <unistd.h>

#include "bus/bus.h"
#include "cli/call.h"

#include "base/text.h"
#include "cli/print.h"
#include "engine/engine.h"
#include "base/file.h"
#include "engine/trust.h"

#define PATH_BYTES 4095

/* Print one answer of a builtin as that of an operation is printed. */
static int print_object(int *status, cli *c, const cli_builtin *builtin, vls_json value,
                        valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    vls_buf_init(&text, c->env, (size_t)1 << 20);
    rc = vls_json_write(&text, value, err);
    return rc < 0 ? rc : cli_print_answer(status, c, &builtin->op, vls_buf_str(&text), err);
}

/* As operations do that have nothing to answer. */
static int answer_nothing(cli *c)
{
    c->done = true;
    if (c->options.json && !c->options.quiet)
        vls_buf_add_text(&c->out->text, "{}\n");
    return 0;
}

/* ---- init ---- */

typedef struct init_args {
    valise_str dir;
    bool open;
} init_args;

static const valise_field init_in[] = {
    VALISE_FIELD_WITH(init_args, dir, STR, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "The folder (default: the current one).", .ref = "cli.dir", .min = 1,
                      .max = PATH_BYTES),
    VALISE_FIELD(init_args, open, BOOL, 0, "Admit unknown actors as writers."),
    VALISE_FIELD_END,
};

typedef struct init_result {
    bool existed;
    valise_str path;
} init_result;

static const valise_field init_out[] = {
    VALISE_FIELD(init_result, existed, BOOL, 0, "There was one before."),
    VALISE_FIELD(init_result, path, STR, 0, "The folder that holds it."),
    VALISE_FIELD_END,
};

/* The folders above it, as git init makes them. */
static int make_parents(const char *dir, valise_error *err)
{
    char path[PATH_MAX];
    int rc = 0;

    if (strlen(dir) >= sizeof(path))
        return 0; /* for who opens it to say */
    for (size_t i = 0; rc == 0 && dir[i]; i++) {
        path[i] = dir[i];
        path[i + 1] = '\0';
        if (dir[i + 1] == '/' && dir[i] != '/' && access(path, F_OK) < 0)
            rc = vls_folder_make(path, 0777, err);
    }
    return rc;
}

static int run_init(int *status, cli *c, const cli_words *words, const void *args,
                    valise_error *err)
{
    const init_args *a = args;
    const char *named = c->options.workspace ? c->options.workspace : ".";
    const char *dir = a->dir.ptr ? a->dir.ptr : named;
    VLS_AUTO(json_builder) vls_json_builder b = {0};
    valise_options options = VALISE_OPTIONS_INIT;
    vls_json value;
    int rc;

    (void)words;
    options.env = c->env;
    options.flags = VALISE_OPEN_CREATE | (a->open ? (unsigned)VALISE_OPEN_ANYBODY : 0);
    rc = cli_settle(c, err);
    if (rc == 0) {
        cli_tell_engine(&options);
        rc = make_parents(dir, err);
    }
    if (rc == 0) {
        rc = valise_open(&c->workspace, dir, &options, err);
    }
    if (rc < 0)
        return rc;
    c->done = true;
    vls_json_builder_init(&b, &c->arena);
    vls_json_open(&b, VLS_JSON_OBJECT);
    vls_json_add_member(&b, VLS_STR("existed"),
                        vls_json_bool(!vls_engine_of(c->workspace)->created));
    vls_json_add_text(&b, VLS_STR("path"), valise_str_of(vls_engine_of(c->workspace)->root));
    vls_json_close(&b);
    rc = vls_json_builder_finish(&value, &b, err);
    return rc < 0 || c->options.quiet ? rc : print_object(status, c, &cli_builtin_init, value, err);
}

const cli_builtin cli_builtin_init = {
    .op = {.size = sizeof(valise_op),
           .name = "init",
           .brief = "Create a workspace in a folder.",
           .help = "Creates the folder if there is none, and .valise/ in it, which only its owner "
                   "can read and which git ignores. If the\n"
                   "folder has one already, nothing changes.",
           .in = init_in,
           .in_size = sizeof(init_args),
           .out = init_out,
           .out_size = sizeof(init_result),
           .example = "{\"dir\":\"project\"}"},
    .run = run_init,
};

/* ---- config ---- */

static int user_file(const char **out, cli *c, valise_error *err)
{
    return vls_config_user_file(out, &c->arena, err);
}

/* VALISE_E_NOT_FOUND when there is no workspace. */
static int workspace_file(const char **out, cli *c, valise_error *err)
{
    VLS_AUTO(buf) vls_buf path = {0};
    const char *root = NULL;
    valise_str kept;
    int rc = cli_find(&root, c, err);

    if (rc < 0)
        return rc;
    vls_buf_init(&path, c->env, 8192);
    vls_buf_printf(&path, "%s/" VLS_FOLDER "/" VLS_CONFIG_FILE, root);
    rc = vls_buf_check(&path, err);
    if (rc == 0)
        rc = vls_arena_dup(&kept, &c->arena, vls_buf_str(&path), err);
    if (rc == 0)
        *out = kept.ptr;
    return rc;
}

/* The settings that hold here. Without a home or a workspace there are fewer. */
static int load(vls_config **out, cli *c, valise_error *err)
{
    vls_config_sources sources = {.environment = (const char *const *)environ};
    int rc = workspace_file(&sources.workspace_file, c, err);

    if (rc < 0 && (rc != VALISE_E_NOT_FOUND || cli_is_named(c)))
        return rc;
    rc = user_file(&sources.user_file, c, err);
    if (rc == VALISE_E_NOT_FOUND)
        rc = 0;
    return rc < 0 ? rc : vls_config_load(out, c->env, &sources, err);
}

typedef struct config_get_args {
    valise_str name;
    bool show_origin;
} config_get_args;

static const valise_field config_get_in[] = {
    VALISE_FIELD_WITH(config_get_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The name of a setting, such as core.durability.", .ref = "cli.setting"),
    VALISE_FIELD_AS(config_get_args, show_origin, "showOrigin", BOOL, 0,
                    "Also show where it was set."),
    VALISE_FIELD_END,
};

typedef struct config_row {
    valise_str name, value, origin;
} config_row;

static const valise_field config_out[] = {
    VALISE_FIELD(config_row, name, STR, 0, "Its name."),
    VALISE_FIELD(config_row, value, STR, 0, "Its value."),
    VALISE_FIELD(config_row, origin, STR, 0, "Who set it, and where."),
    VALISE_FIELD_END,
};

/* "user /home/u/.config/valise/config:3" */
static int add_origin(vls_json_builder *b, cli *c, const vls_config_entry *entry, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    valise_str kept;
    int rc;

    vls_buf_init(&text, c->env, 8192);
    vls_buf_add_text(&text, vls_layer_names[entry ? entry->layer : VLS_LAYER_DEFAULT]);
    if (entry && entry->file.len > 0)
        vls_buf_printf(&text, " %.*s", VALISE_STR_ARG(entry->file));
    if (entry && entry->line > 0)
        vls_buf_printf(&text, ":%u", entry->line);
    if (entry && entry->ignored)
        vls_buf_add_text(&text, " (has no effect there)");
    else if (entry && !entry->setting)
        vls_buf_add_text(&text, " (nobody knows it)");
    rc = vls_buf_check(&text, err);
    if (rc == 0)
        rc = vls_arena_dup(&kept, &c->arena, vls_buf_str(&text), err);
    if (rc == 0)
        vls_json_add_text(b, VLS_STR("origin"), kept);
    return rc;
}

/* A file may hold any bytes; JSON may not. */
static int add_bytes(vls_json_builder *b, cli *c, valise_str key, valise_str bytes,
                     valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    valise_str kept;
    int rc;

    vls_buf_init(&text, c->env, (size_t)1 << 20);
    vls_text_neutralize(&text, bytes, VLS_TEXT_KEEP_BACKSLASH | VLS_TEXT_KEEP_TAB);
    rc = vls_buf_check(&text, err);
    if (rc == 0)
        rc = vls_arena_dup(&kept, &c->arena, vls_buf_str(&text), err);
    if (rc == 0)
        vls_json_add_text(b, key, kept);
    return rc;
}

static int make_row(vls_json *out, cli *c, valise_str name, valise_str value,
                    const vls_config_entry *entry, bool origin, valise_error *err)
{
    VLS_AUTO(json_builder) vls_json_builder b = {0};
    int rc;

    vls_json_builder_init(&b, &c->arena);
    vls_json_open(&b, VLS_JSON_OBJECT);
    rc = add_bytes(&b, c, VLS_STR("name"), name, err);
    if (rc == 0)
        rc = add_bytes(&b, c, VLS_STR("value"), value, err);
    if (rc == 0 && origin)
        rc = add_origin(&b, c, entry, err);
    if (rc < 0)
        return rc;
    vls_json_close(&b);
    return vls_json_builder_finish(out, &b, err);
}

static int refuse_unset(valise_str name, const vls_setting *known, valise_error *err)
{
    bool is_user = known && known->layers & 1u << VLS_LAYER_USER;

    (void)vls_fail(err, VALISE_E_NOT_FOUND, known ? "'%s' is not set" : "there is no setting '%s'",
                   vls_text_short(name).s);
    if (known)
        vls_hint(err, "valise config set%s %s VALUE", is_user ? " --user" : "",
                 vls_text_short(name).s);
    else
        vls_hint(err, "'valise config list --all' lists them");
    return VALISE_E_NOT_FOUND;
}

static int run_config_get(int *status, cli *c, const cli_words *words, const void *args,
                          valise_error *err)
{
    const config_get_args *a = args;
    vls_config *config = NULL;
    vls_json row;
    int rc = load(&config, c, err);

    (void)words;
    if (rc < 0)
        return rc;
    const vls_config_entry *entry = vls_config_find(config, a->name);
    bool known = vls_setting_find(a->name) && !strchr(a->name.ptr, '*');
    valise_str value = {NULL, 0};
    if (entry || known)
        value = entry ? entry->value : vls_config_text(config, a->name.ptr);
    if (entry && !value.ptr)
        value = VLS_STR("true"); /* a key alone */
    if (!value.ptr)
        rc = refuse_unset(a->name, known ? vls_setting_find(a->name) : NULL, err);
    if (rc == 0)
        rc = make_row(&row, c, a->name, value, entry, true, err);
    if (rc == 0 && c->options.json)
        rc = print_object(status, c, &cli_builtin_config_get, row, err);
    else if (rc == 0) {
        const vls_json *origin = vls_json_get(row, VLS_STR("origin"));
        cli_add_data(c->out, value, 0);
        if (a->show_origin && origin) {
            vls_buf_add_byte(&c->out->text, '\t');
            cli_add_data(c->out, vls_json_str(*origin), 0);
        }
        vls_buf_add_byte(&c->out->text, '\n');
    }
    vls_config_free(config);
    return rc;
}

const cli_builtin cli_builtin_config_get = {
    .op = {.size = sizeof(valise_op),
           .name = "config:get",
           .brief = "Print the value of a setting.",
           .help = "Settings come from two files in git's syntax, .valise/config in the workspace "
                   "and the\nuser's valise/config in $XDG_CONFIG_HOME, then from the environment. "
                   "The later one wins.",
           .in = config_get_in,
           .in_size = sizeof(config_get_args),
           .out = config_out,
           .out_size = sizeof(config_row),
           .example = "{\"name\":\"core.durability\"}"},
    .run = run_config_get,
};

typedef struct config_list_args {
    bool show_origin, all;
} config_list_args;

static const valise_field config_list_in[] = {
    VALISE_FIELD_AS(config_list_args, show_origin, "showOrigin", BOOL, 0,
                    "Also show where it was set."),
    VALISE_FIELD(config_list_args, all, BOOL, 0, "Include settings that are not set."),
    VALISE_FIELD_END,
};

static int print_row(cli *c, cli_rows *rows, vls_json row, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    vls_buf_init(&text, c->env, (size_t)1 << 20);
    rc = vls_json_write(&text, row, err);
    return rc < 0 ? rc : cli_rows_add(rows, vls_buf_str(&text), err);
}

static int list_entries(cli *c, cli_rows *rows, const vls_config *config, bool origin,
                        valise_error *err)
{
    size_t count;
    const vls_config_entry *entries = vls_config_entries(&count, config);
    int rc = 0;

    for (size_t i = 0; i < count && rc == 0; i++) {
        valise_str value = entries[i].value.ptr ? entries[i].value : VLS_STR("true");
        vls_json row;
        rc = make_row(&row, c, entries[i].name, value, &entries[i], origin, err);
        if (rc == 0)
            rc = print_row(c, rows, row, err);
    }
    return rc;
}

/* Settings that have what holds when nobody sets them, or nothing. */
static int list_unset(cli *c, cli_rows *rows, const vls_config *config, bool origin,
                      valise_error *err)
{
    int rc = 0;

    for (const vls_setting *s = vls_settings; s->name && rc == 0; s++) {
        vls_json row;
        if (vls_config_find(config, valise_str_of(s->name)))
            continue;
        rc =
            make_row(&row, c, valise_str_of(s->name), valise_str_of(s->initial), NULL, origin, err);
        if (rc == 0)
            rc = print_row(c, rows, row, err);
    }
    return rc;
}

static int run_config_list(int *status, cli *c, const cli_words *words, const void *args,
                           valise_error *err)
{
    const config_list_args *a = args;
    vls_config *config = NULL;
    cli_rows *rows = NULL;
    int rc = cli_settle(c, err);

    (void)words, (void)status;
    if (rc == 0)
        rc = load(&config, c, err);
    if (rc < 0)
        return rc;
    rc = cli_rows_new(&rows, c, &cli_builtin_config_list.op, err);
    if (rc == 0)
        rc = list_entries(c, rows, config, a->show_origin, err);
    if (rc == 0 && a->all)
        rc = list_unset(c, rows, config, a->show_origin, err);
    if (rc == 0)
        rc = cli_rows_end(rows, err);
    cli_rows_free(rows);
    vls_config_free(config);
    return rc;
}

const cli_builtin cli_builtin_config_list = {
    .op = {.size = sizeof(valise_op),
           .name = "config:list",
           .brief = "List the settings that are set.",
           .flags = VALISE_OP_LIST,
           .in = config_list_in,
           .in_size = sizeof(config_list_args),
           .out = config_out,
           .out_size = sizeof(config_row),
           .example = "{\"showOrigin\":true}"},
    .run = run_config_list,
};

typedef struct config_set_args {
    valise_str name, value;
    bool user;
} config_set_args;

static const valise_field config_set_in[] = {
    VALISE_FIELD_WITH(config_set_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The name of a setting.", .ref = "cli.setting"),
    VALISE_FIELD(config_set_args, value, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Its value."),
    VALISE_FIELD(config_set_args, user, BOOL, 0, "Use the user's file instead of the workspace's."),
    VALISE_FIELD_END,
};

/* Somebody else's workspace is not written until the user trusts it; its settings neither. What it
 * says itself has no part in this, and may be what is to be mended. */
static int check_owner(cli *c, valise_error *err)
{
    vls_config_sources sources = {0};
    vls_config *config = NULL;
    const char *root = NULL;
    int rc = cli_find(&root, c, err);

    if (rc < 0)
        return rc;
    rc = user_file(&sources.user_file, c, err);
    if (rc == 0 || rc == VALISE_E_NOT_FOUND)
        rc = vls_config_load(&config, c->env, &sources, err);
    if (rc == 0)
        rc = vls_trust_check_workspace(config, root, err);
    vls_config_free(config);
    return rc;
}

static int ask_admin(void *arg, valise_view *view, valise_error *err)
{
    const valise *v = vls_view_bus(view);

    (void)arg;
    return v->access.allows(v->access.self, view, v->actor, "admin", NULL, err);
}

/* What holds for everybody in a workspace is for its owners to say, as with every command. Settings
 * that keep it from being opened can be mended all the same. [K23] */
static int check_admin(cli *c, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc = cli_open(c, &why);

    if (rc == VALISE_E_INVALID)
        return 0;
    if (rc < 0) {
        *err = why;
        return rc;
    }
    rc = vls_with_view(c->workspace, NULL, ask_admin, NULL, err);
    return VLS_MIN(rc, 0);
}

static int write_config(cli *c, bool user, valise_str name, const valise_str *value,
                        valise_error *err)
{
    const char *file = NULL;
    int rc = user ? user_file(&file, c, err) : check_owner(c, err);

    if (rc == 0 && !user)
        rc = check_admin(c, err);
    if (rc == 0 && !user)
        rc = workspace_file(&file, c, err);
    if (rc == 0)
        rc = vls_config_write(c->env, file, user ? VLS_LAYER_USER : VLS_LAYER_WORKSPACE, name,
                              value, err);
    return rc < 0 ? rc : answer_nothing(c);
}

static int run_config_set(int *status, cli *c, const cli_words *words, const void *args,
                          valise_error *err)
{
    const config_set_args *a = args;

    (void)status, (void)words;
    return write_config(c, a->user, a->name, &a->value, err);
}

const cli_builtin cli_builtin_config_set = {
    .op = {.size = sizeof(valise_op),
           .name = "config:set",
           .brief = "Set a value in the workspace's or the user's file.",
           .help = "The workspace's file is for actors with the capability admin.",
           .in = config_set_in,
           .in_size = sizeof(config_set_args),
           .example = "{\"name\":\"core.durability\",\"value\":\"normal\"}"},
    .run = run_config_set,
};

typedef struct config_unset_args {
    valise_str name;
    bool user;
} config_unset_args;

static const valise_field config_unset_in[] = {
    VALISE_FIELD_WITH(config_unset_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The name of a setting.", .ref = "cli.setting"),
    VALISE_FIELD(config_unset_args, user, BOOL, 0,
                 "Use the user's file instead of the workspace's."),
    VALISE_FIELD_END,
};

static int run_config_unset(int *status, cli *c, const cli_words *words, const void *args,
                            valise_error *err)
{
    const config_unset_args *a = args;

    (void)status, (void)words;
    return write_config(c, a->user, a->name, NULL, err);
}

const cli_builtin cli_builtin_config_unset = {
    .op = {.size = sizeof(valise_op),
           .name = "config:unset",
           .brief = "Remove a value from the workspace's or the user's file.",
           .help = "The workspace's file is for actors with the capability admin.",
           .in = config_unset_in,
           .in_size = sizeof(config_unset_args),
           .example = "{\"name\":\"core.durability\"}"},
    .run = run_config_unset,
};

/* ---- trust ---- */

typedef struct trust_args {
    valise_str path;
    bool remove;
} trust_args;

static const valise_field trust_in[] = {
    VALISE_FIELD_WITH(trust_args, path, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "A program, a shared object, or the folder of a workspace.",
                      .ref = "cli.file", .min = 1, .max = PATH_BYTES),
    VALISE_FIELD(trust_args, remove, BOOL, 0, "Stop trusting it."),
    VALISE_FIELD_END,
};

static int run_trust(int *status, cli *c, const cli_words *words, const void *args,
                     valise_error *err)
{
    const trust_args *a = args;
    const char *file = NULL;
    int rc = user_file(&file, c, err);

    (void)status, (void)words;
    if (rc < 0)
        return rc;
    rc = a->remove ? vls_trust_remove(c->env, file, a->path.ptr, err)
                   : vls_trust_add(c->env, file, a->path.ptr, err);
    return rc < 0 ? rc : answer_nothing(c);
}

const cli_builtin cli_builtin_trust = {
    .op = {.size = sizeof(valise_op),
           .name = "trust",
           .brief = "Trust a program to run, or somebody else's workspace to be written.",
           .help =
               "A workspace alone never makes code run. What you trust is recorded in your own\n"
               "configuration: a file by its bytes, a workspace by its owner.",
           .in = trust_in,
           .in_size = sizeof(trust_args),
           .example = "{\"path\":\"/srv/shared/project\"}"},
    .run = run_trust,
};
