/* config.c -- the layers of settings. */
#include "engine/config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/hex.h"
#include "base/ini.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/text.h"
#include "base/time.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "base/file.h"

#define ARENA_MAX ((size_t)16 << 20)
#define MAX_ENTRIES 10000u

const char *const vls_layer_names[] = {"default", "workspace", "user", "environment", "flag"};

#define ANY_LAYER                                                                                  \
    (1u << VLS_LAYER_WORKSPACE | 1u << VLS_LAYER_USER | 1u << VLS_LAYER_ENVIRONMENT |              \
     1u << VLS_LAYER_FLAG)
#define NOT_WORKSPACE (ANY_LAYER & ~(1u << VLS_LAYER_WORKSPACE))
#define ONLY_USER (1u << VLS_LAYER_USER)
#define ONLY_WORKSPACE (1u << VLS_LAYER_WORKSPACE)
#define FILES (1u << VLS_LAYER_WORKSPACE | 1u << VLS_LAYER_USER)

const vls_setting vls_settings[] = {
    {"checkpoint.max-file", "The largest file that a checkpoint keeps, in bytes.", NULL, "67108864",
     NULL, VLS_SETTING_INT, ANY_LAYER},
    {"compose.*.spec", "A named policy for `compose`, such as recency,sources=node+children.", NULL,
     NULL, NULL, VLS_SETTING_TEXT, ANY_LAYER},
    {"context.frame-max", "The largest content that a frame may have, in bytes.", NULL, "1048576",
     NULL, VLS_SETTING_INT, ANY_LAYER},
    {"core.actor", "Who acts, unless --actor says so.", NULL, "local", "VALISE_ACTOR",
     VLS_SETTING_TEXT, NOT_WORKSPACE},
    {"core.color", "When to use colours.", "auto always never", "auto", "VALISE_COLOR",
     VLS_SETTING_CHOICE, NOT_WORKSPACE},
    {"core.durability",
     "What a finished command survives: full, a power cut; normal, the end of the process.",
     "full normal", "full", "VALISE_DURABILITY", VLS_SETTING_CHOICE, ANY_LAYER},
    {"core.pager", "The pager for long output on a terminal.", NULL, NULL, "VALISE_PAGER",
     VLS_SETTING_TEXT, NOT_WORKSPACE},
    {"core.timeout", "How long a command waits for other writers.", NULL, "10s", "VALISE_TIMEOUT",
     VLS_SETTING_DURATION, ANY_LAYER},
    {"credential.*.env", "The environment variable with a secret, which flows name as @cred:NAME.",
     NULL, NULL, NULL, VLS_SETTING_TEXT, ONLY_USER},
    {"credential.*.file", "The file with the secret; only its owner may be able to read it.", NULL,
     NULL, NULL, VLS_SETTING_PATH, ONLY_USER},
    {"extension.*.path", "A shared object to load.", NULL, NULL, NULL, VLS_SETTING_PATH, FILES},
    {"extension.*.sha256", "The SHA-256 that the shared object must have.", NULL, NULL, NULL,
     VLS_SETTING_HASH, ONLY_USER},
    {"program.timeout", "How long a program may take to make a frame.", NULL, "1m", NULL,
     VLS_SETTING_DURATION, ANY_LAYER},
    {"provider.*.adapter", "The format of the provider's requests and answers, such as anthropic.",
     NULL, NULL, NULL, VLS_SETTING_TEXT, ONLY_USER},
    {"provider.*.connect", "How long to wait for a connection.", NULL, NULL, NULL,
     VLS_SETTING_DURATION, ONLY_USER},
    {"provider.*.idle", "How long a request may stay without any data before it is given up.", NULL,
     NULL, NULL, VLS_SETTING_DURATION, ONLY_USER},
    {"provider.*.key-env", "The environment variable with the key.", NULL, NULL, NULL,
     VLS_SETTING_TEXT, ONLY_USER},
    {"provider.*.key-file", "The file with the key; only its owner may be able to read it.", NULL,
     NULL, NULL, VLS_SETTING_PATH, ONLY_USER},
    {"provider.*.max-answer", "The largest answer to accept, in bytes.", NULL, NULL, NULL,
     VLS_SETTING_INT, ONLY_USER},
    {"provider.*.model", "The model to use if none is given.", NULL, NULL, NULL, VLS_SETTING_TEXT,
     ONLY_USER},
    {"provider.*.proxy", "The proxy to use.", NULL, NULL, NULL, VLS_SETTING_TEXT, ONLY_USER},
    {"provider.*.replay", "A file of recorded answers, instead of the provider.", NULL, NULL, NULL,
     VLS_SETTING_PATH, ONLY_USER},
    {"provider.*.retries", "How often to retry after an error that may be temporary.", NULL, NULL,
     NULL, VLS_SETTING_INT, ONLY_USER},
    {"provider.*.timeout", "How long a request may take, retries included.", NULL, NULL, NULL,
     VLS_SETTING_DURATION, ONLY_USER},
    {"provider.*.url", "The URL of the provider, to which the key is sent.", NULL, NULL, NULL,
     VLS_SETTING_TEXT, ONLY_USER},
    {"tree.ignore",
     "A pattern as in .gitignore: what to leave out of the tree. May be set more than once.", NULL,
     NULL, NULL, VLS_SETTING_TEXT, ONLY_WORKSPACE},
    {"trust.*.owner", "The owner of the workspace, who is trusted.", NULL, NULL, NULL,
     VLS_SETTING_INT, ONLY_USER},
    {"trust.*.sha256", "The SHA-256 of the program or shared object that is trusted.", NULL, NULL,
     NULL, VLS_SETTING_HASH, ONLY_USER},
    {"view.*.spec", "A named view, such as recency,max=10,type=summary.", NULL, NULL, NULL,
     VLS_SETTING_TEXT, ANY_LAYER},
    {NULL, NULL, NULL, NULL, NULL, VLS_SETTING_TEXT, 0},
};

struct vls_config {
    const valise_env *env;
    vls_arena arena;
    vls_vec(vls_config_entry) entries;
};

/* ---- settings ---- */

void vls_setting_split(valise_str *section, valise_str *subsection, valise_str *key,
                       valise_str name)
{
    size_t last = name.len;

    (void)vls_str_cut(section, key, name, '.');
    *subsection = (valise_str){NULL, 0};
    while (last > 0 && name.ptr[last - 1] != '.')
        last--;
    if (last <= section->len + 1)
        return;
    *key = vls_str_from(name, last);
    *subsection = vls_str(name.ptr + section->len + 1, last - section->len - 2);
}

static bool is_same(valise_str a, valise_str b)
{
    valise_str section_a, section_b, sub_a, sub_b, key_a, key_b;

    vls_setting_split(&section_a, &sub_a, &key_a, a);
    vls_setting_split(&section_b, &sub_b, &key_b, b);
    return vls_str_equal(section_a, section_b) && vls_str_equal(key_a, key_b) &&
           (sub_a.ptr != NULL) == (sub_b.ptr != NULL);
}

const vls_setting *vls_setting_find(valise_str name)
{
    for (const vls_setting *s = vls_settings; s->name; s++) {
        if (is_same(valise_str_of(s->name), name))
            return s;
    }
    return NULL;
}

static bool is_choice(const char *choices, valise_str value)
{
    valise_str rest = valise_str_of(choices), word;
    bool more;

    do {
        more = vls_str_cut(&word, &rest, rest, ' ');
        if (vls_str_equal(word, value))
            return true;
    } while (more);
    return false;
}

static bool takes(const vls_setting *setting, valise_str value)
{
    valise_id id;
    int64_t number;

    switch (setting->type) {
    case VLS_SETTING_CHOICE:
        return is_choice(setting->choices, value);
    case VLS_SETTING_DURATION:
        return vls_duration_parse(&number, value, NULL) == 0;
    case VLS_SETTING_INT:
        return vls_str_to_i64(&number, value) && number >= 0;
    case VLS_SETTING_HASH:
        return vls_id_parse(&id, value, NULL) == 0;
    case VLS_SETTING_TEXT:
    case VLS_SETTING_PATH:
        break;
    }
    return value.len > 0 && vls_utf8_valid(value) && !memchr(value.ptr, '\0', value.len);
}

int vls_setting_check(const vls_setting *setting, valise_str value, valise_error *err)
{
    static const char *const kinds[] = {"a text",   "one of", "a time such as 90s",
                                        "a number", "a path", "64 hexadecimal digits"};
    bool choice = setting->type == VLS_SETTING_CHOICE;

    if (takes(setting, value))
        return 0;
    (void)vls_fail(err, VALISE_E_INVALID, "%s is %s%s%s, not \"%s\"", setting->name,
                   kinds[setting->type], choice ? " " : "", choice ? setting->choices : "",
                   vls_text_short(value).s);
    if (choice)
        vls_hint(err, "give one of: %s", setting->choices);
    else
        vls_hint(err, "give %s", kinds[setting->type]);
    return VALISE_E_INVALID;
}

/* ---- loading ---- */

/* What is being read. */
typedef struct loading {
    vls_config *config;
    vls_layer layer;
    valise_str file; /* in the arena */
} loading;

/* "config:3: " in front of what is wrong with a value. */
static int check_value(const vls_config_entry *e, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc = vls_setting_check(e->setting, e->value, &why);

    if (rc == 0)
        return 0;
    if (e->line > 0) {
        (void)vls_fail(err, rc, "%.*s:%u: %s", VALISE_STR_ARG(e->file), (unsigned)e->line,
                       why.message);
        vls_hint(err, "fix that line, or remove it: valise config unset%s %.*s",
                 e->layer == VLS_LAYER_USER ? " --user" : "", VALISE_STR_ARG(e->name));
        return rc;
    }
    (void)vls_fail(err, rc, "%.*s: %s",
                   VALISE_STR_ARG(e->file.len ? e->file : VLS_STR("command line")), why.message);
    if (e->file.len)
        vls_hint(err, "set %.*s to something else, or unset it", VALISE_STR_ARG(e->file));
    return rc;
}

static int add_entry(const loading *l, valise_str name, valise_str value, uint32_t line,
                     valise_error *err)
{
    vls_config *config = l->config;
    vls_config_entry e = {.layer = l->layer, .file = l->file, .line = line};
    valise_str section, key;
    int rc = vls_arena_dup(&e.name, &config->arena, name, err);

    if (rc == 0 && value.ptr)
        rc = vls_arena_dup(&e.value, &config->arena, value, err);
    if (rc < 0)
        return rc;
    vls_setting_split(&section, &e.subsection, &key, e.name);
    e.setting = vls_setting_find(e.name);
    e.ignored = e.setting && !(e.setting->layers & 1u << l->layer);
    if (e.setting && !e.ignored)
        rc = check_value(&e, err);
    if (rc < 0)
        return rc;
    if (config->entries.len >= MAX_ENTRIES)
        return vls_fail(err, VALISE_E_LIMIT, "%.*s: more than %u settings", VALISE_STR_ARG(l->file),
                        MAX_ENTRIES);
    return vls_vec_push(&config->entries, config->env, e) ? 0 : vls_fail_memory(err);
}

static int add_from_file(void *arg, const vls_ini_entry *entry, valise_error *err)
{
    return add_entry(arg, entry->full_name, entry->value, entry->line, err);
}

static int load_file(vls_config *config, vls_layer layer, const char *path, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    loading l = {.config = config, .layer = layer};
    valise_error why = VALISE_ERROR_INIT;
    int rc;

    if (!path)
        return 0;
    vls_buf_init(&text, config->env, VLS_INI_MAX_BYTES);
    rc = vls_file_read(&text, path, layer == VLS_LAYER_WORKSPACE ? VLS_FILE_NO_LINK : 0, &why);
    if (rc == VALISE_E_NOT_FOUND) /* that is fine, and nobody's error */
        return 0;
    if (rc < 0 && err)
        *err = why;
    if (rc == 0)
        rc = vls_arena_dup(&l.file, &config->arena, valise_str_of(path), err);
    if (rc < 0)
        return rc;
    rc = vls_ini_read(config->env, l.file, vls_buf_str(&text), add_from_file, &l, err);
    if (rc == VALISE_E_INVALID && err && !err->hint[0])
        vls_hint(err, "correct that line of the file, or remove it");
    return rc;
}

/* ---- the environment ---- */

/* "view.*.spec" as VALISE_VIEW_, what stands for the star, and _SPEC. */
static void add_upper(vls_setting_text *out, const char *text, size_t len)
{
    size_t used = strlen(out->s);

    for (size_t i = 0; i < len && used + 1 < sizeof(out->s); i++) {
        char c = text[i];
        out->s[used++] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c == '*' ? '*' : '_');
    }
    out->s[used] = '\0';
}

static vls_setting_text usual_variable(const vls_setting *setting)
{
    vls_setting_text text = {"VALISE_"};

    if (!(setting->layers & 1u << VLS_LAYER_ENVIRONMENT))
        return (vls_setting_text){""};
    add_upper(&text, setting->name, strlen(setting->name));
    return text;
}

vls_setting_text vls_setting_variable(const vls_setting *setting)
{
    vls_setting_text usual = usual_variable(setting), text = usual;
    char *star = strchr(text.s, '*');

    if (setting->variable)
        (void)snprintf(text.s, sizeof(text.s), "%s", setting->variable);
    else if (star)
        (void)snprintf(star, sizeof(text.s) - (size_t)(star - text.s), "NAME%s",
                       strchr(usual.s, '*') + 1);
    return text;
}

/* The name that a variable sets, in lower case: a subsection of letters and digits alone, since
 * nobody can tell what else an underscore stands for. */
static bool name_of(vls_setting_text *out, const vls_setting *setting, valise_str variable)
{
    vls_setting_text usual = usual_variable(setting);
    const char *star = strchr(usual.s, '*');
    valise_str before = valise_str_of(usual.s), behind, sub;

    (void)snprintf(out->s, sizeof(out->s), "%s", setting->name);
    if (!star)
        return usual.s[0] && vls_str_equal(before, variable);
    before.len = (size_t)(star - usual.s);
    behind = valise_str_of(star + 1);
    if (!vls_str_starts(variable, before) || variable.len <= before.len + behind.len ||
        !vls_str_equal(vls_str_from(variable, variable.len - behind.len), behind))
        return false;
    sub = vls_str(variable.ptr + before.len, variable.len - before.len - behind.len);
    if (sub.len + strlen(setting->name) >= sizeof(out->s))
        return false;
    star = strchr(setting->name, '*');
    memcpy(out->s + (star - setting->name), sub.ptr, sub.len);
    (void)snprintf(out->s + (star - setting->name) + sub.len,
                   sizeof(out->s) - (size_t)(star - setting->name) - sub.len, "%s", star + 1);
    for (size_t i = 0; i < sub.len; i++) {
        char *c = &out->s[(size_t)(star - setting->name) + i];
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
        else if (*c < '0' || *c > '9')
            return false;
    }
    return true;
}

/* Which setting a variable sets, under which name. brief: by its shorter variable. */
static const vls_setting *setting_of_variable(vls_setting_text *name, valise_str variable,
                                              bool brief)
{
    for (const vls_setting *s = vls_settings; s->name; s++) {
        if (!brief && name_of(name, s, variable))
            return s;
        if (brief && s->variable && vls_str_equal(valise_str_of(s->variable), variable)) {
            (void)snprintf(name->s, sizeof(name->s), "%s", s->name);
            return s;
        }
    }
    return NULL;
}

static int load_variables(vls_config *config, const char *const *environment, bool brief,
                          valise_error *err)
{
    int rc = 0;

    for (; rc == 0 && environment && *environment; environment++) {
        loading l = {.config = config, .layer = VLS_LAYER_ENVIRONMENT};
        valise_str variable, value;
        vls_setting_text name;
        if (!vls_str_cut(&variable, &value, valise_str_of(*environment), '=') || value.len == 0 ||
            !vls_str_starts(variable, VLS_STR("VALISE_")) ||
            !setting_of_variable(&name, variable, brief))
            continue; /* VALISE_DIR and the like are the command line's; empty is as if unset */
        rc = vls_arena_dup(&l.file, &config->arena, variable, err);
        if (rc == 0)
            rc = add_entry(&l, valise_str_of(name.s), value, 0, err);
    }
    return rc;
}

/* The shorter variable is the stronger one. */
static int load_environment(vls_config *config, const char *const *environment, valise_error *err)
{
    int rc = load_variables(config, environment, false, err);

    return rc < 0 ? rc : load_variables(config, environment, true, err);
}

/* ---- files, flags, all of it ---- */

static int load_flags(vls_config *config, const char *const *flags, valise_error *err)
{
    int rc = 0;

    for (; rc == 0 && flags && *flags; flags++) {
        loading l = {.config = config, .layer = VLS_LAYER_FLAG, .file = VLS_STR("")};
        valise_str name, value;
        if (!vls_str_cut(&name, &value, valise_str_of(*flags), '='))
            return vls_fail(err, VALISE_E_INVALID, "'%s' is not of the form core.color=never",
                            vls_text_short(valise_str_of(*flags)).s);
        if (!vls_setting_find(name))
            return vls_fail(err, VALISE_E_INVALID, "there is no setting '%s'",
                            vls_text_short(name).s);
        rc = add_entry(&l, name, value, 0, err);
    }
    return rc;
}

int vls_config_load(vls_config **out, const valise_env *env, const vls_config_sources *sources,
                    valise_error *err)
{
    vls_config *config = vls_mem_zalloc(env, sizeof(*config));
    int rc;

    if (!config)
        return vls_fail_memory(err);
    config->env = env;
    vls_arena_init(&config->arena, env, ARENA_MAX);
    rc = load_file(config, VLS_LAYER_WORKSPACE, sources->workspace_file, err);
    if (rc == 0)
        rc = load_file(config, VLS_LAYER_USER, sources->user_file, err);
    if (rc == 0)
        rc = load_environment(config, sources->environment, err);
    if (rc == 0)
        rc = load_flags(config, sources->flags, err);
    if (rc < 0)
        vls_config_free(config);
    else
        *out = config;
    return rc;
}

void vls_config_free(vls_config *config)
{
    if (!config)
        return;
    vls_vec_release(&config->entries, config->env);
    vls_arena_release(&config->arena);
    vls_mem_free(config->env, config, sizeof(*config));
}

/* ---- asking ---- */

const vls_config_entry *vls_config_entries(size_t *count, const vls_config *config)
{
    *count = config->entries.len;
    return config->entries.ptr;
}

const vls_config_entry *vls_config_find(const vls_config *config, valise_str name)
{
    for (size_t i = config->entries.len; i > 0; i--) {
        const vls_config_entry *e = &config->entries.ptr[i - 1];
        if (!e->ignored && vls_str_equal(e->name, name))
            return e;
    }
    return NULL;
}

valise_str vls_config_in(const vls_config *config, const char *setting, valise_str subsection)
{
    for (size_t i = config->entries.len; i > 0; i--) {
        const vls_config_entry *e = &config->entries.ptr[i - 1];
        if (e->setting && !e->ignored && strcmp(e->setting->name, setting) == 0 &&
            vls_str_equal(e->subsection, subsection))
            return e->value;
    }
    return (valise_str){NULL, 0};
}

valise_str vls_config_text(const vls_config *config, const char *name)
{
    const vls_config_entry *e = vls_config_find(config, valise_str_of(name));
    const vls_setting *setting = vls_setting_find(valise_str_of(name));

    assert(setting);
    return e ? e->value : valise_str_of(setting->initial);
}

int64_t vls_config_duration_ns(const vls_config *config, const char *name)
{
    int64_t ns = 0;

    (void)vls_duration_parse(&ns, vls_config_text(config, name), NULL);
    return ns;
}

int vls_config_user_file(const char **out, vls_arena *arena, valise_error *err)
{
    static const char *const places[][2] = {{"XDG_CONFIG_HOME", "/valise/config"},
                                            {"HOME", "/.config/valise/config"}};

    for (size_t i = 0; i < VLS_COUNT(places); i++) {
        const char *folder = getenv(places[i][0]);
        /* A relative path is to be ignored, says the specification of these variables. */
        if (folder && folder[0] == '/')
            return vls_path_join(out, arena, folder, places[i][1] + 1, err);
    }
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no place for your configuration");
    vls_hint(err, "set HOME or XDG_CONFIG_HOME");
    return VALISE_E_NOT_FOUND;
}
