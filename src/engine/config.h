/* config.h -- settings, from files in git's syntax, the environment and the command line.
 *
 *     layer         where                                  may set
 *     workspace     .valise/config                         what concerns this workspace
 *     user          $XDG_CONFIG_HOME/valise/config         everything; code and trust only here
 *     environment   VALISE_... (as the host passes it)     everything but code, trust, providers
 *     flag          of the command line                    everything but code and trust
 *
 * Later layers take precedence. What a layer may not set is read and reported, but has no effect: a
 * workspace is a folder that somebody else may have made, and must not be able to make code run, or
 * to trust itself.
 *
 * The library itself reads only the two files, and the user's only if the options allow it.
 *
 * Threads: vls_config is immutable once loaded, vls_config_now is shared. Writing a file is safe
 * beside other writers. */
#ifndef VLS_CONFIG_H
#define VLS_CONFIG_H

#include <pthread.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"

typedef struct vls_config vls_config;

typedef enum vls_layer {
    VLS_LAYER_DEFAULT,
    VLS_LAYER_WORKSPACE,
    VLS_LAYER_USER,
    VLS_LAYER_ENVIRONMENT,
    VLS_LAYER_FLAG,
} vls_layer;

extern const char *const vls_layer_names[]; /* "default", "workspace", ... */

typedef enum vls_setting_type {
    VLS_SETTING_TEXT,
    VLS_SETTING_CHOICE, /* one of the words in `choices` */
    VLS_SETTING_DURATION,
    VLS_SETTING_INT,
    VLS_SETTING_PATH, /* absolute, in the user's layer */
    VLS_SETTING_HASH, /* 64 digits */
} vls_setting_type;

/* One key that means something. "extension.*.path": of any subsection. */
typedef struct vls_setting {
    const char *name;
    const char *help;     /* one sentence */
    const char *choices;  /* separated by blanks */
    const char *initial;  /* what holds when nobody sets it; NULL: nothing */
    const char *variable; /* of the environment, shorter than the usual one; NULL: none */
    vls_setting_type type;
    unsigned layers; /* bits 1 << VLS_LAYER_... that may set it */
} vls_setting;

extern const vls_setting vls_settings[]; /* ended by name NULL */

typedef struct vls_config_entry {
    valise_str name;       /* "core.durability", "extension.Name.path" */
    valise_str subsection; /* "Name"; ptr NULL: none */
    valise_str value;      /* ptr NULL: the key stood alone, true */
    vls_layer layer;
    valise_str file;            /* path, or name of the variable; "" for flags */
    uint32_t line;              /* 0 where there are none */
    const vls_setting *setting; /* NULL: nobody knows this key */
    bool ignored;               /* its layer may not set it */
} vls_config_entry;

typedef struct vls_config_sources {
    const char *workspace_file; /* NULL: none; a file that is not there is empty. As the next */
    const char *user_file;
    const char *const *environment; /* "NAME=value", NULL-ended; NULL: none */
    const char *const *flags;       /* "core.durability=normal", NULL-ended; NULL: none */
} vls_config_sources;

/* VALISE_E_INVALID with file and line for a file that cannot be read as such, and for a value that
 * its setting does not take; VALISE_E_DENIED, VALISE_E_IO. */
int vls_config_load(vls_config **out, const valise_env *env, const vls_config_sources *sources,
                    valise_error *err);
void vls_config_free(vls_config *config); /* NULL is fine */

/* Everything that was read, weakest first; and only what counts under that name: NULL when nobody
 * set it. */
const vls_config_entry *vls_config_entries(size_t *count, const vls_config *config);
const vls_config_entry *vls_config_find(const vls_config *config, valise_str name);

/* The value of a key in a subsection: of "trust.*.owner" that of [trust "SUBSECTION"]; ptr NULL:
 * nobody set it. */
valise_str vls_config_in(const vls_config *config, const char *setting, valise_str subsection);

/* The value that holds, the initial one too; ptr NULL: none. Values were checked when read. */
valise_str vls_config_text(const vls_config *config, const char *name);
int64_t vls_config_duration_ns(const vls_config *config, const char *name);

/* "extension.My.Name.path": what stands before the first dot, behind the last, and between (ptr
 * NULL: nothing). */
void vls_setting_split(valise_str *section, valise_str *subsection, valise_str *key,
                       valise_str name);

/* The variable of the environment that sets it: VALISE_SECTION_KEY, or a shorter one; "": there is
 * none. NAME stands for a subsection: VALISE_VIEW_NAME_SPEC. */
typedef struct vls_setting_text {
    char s[64];
} vls_setting_text;
vls_setting_text vls_setting_variable(const vls_setting *setting);

/* The setting a name belongs to, or NULL. */
const vls_setting *vls_setting_find(valise_str name);
/* Does the setting take this value? VALISE_E_INVALID says what it takes. */
int vls_setting_check(const vls_setting *setting, valise_str value, valise_error *err);

/* $XDG_CONFIG_HOME/valise/config, or ~/.config/valise/config; VALISE_E_NOT_FOUND when neither
 * variable says anything. The path lives in arena. */
int vls_config_user_file(const char **out, vls_arena *arena, valise_error *err);

/* ---- as the files say now (config_now.c) ---- */

/* Which file it was. */
typedef struct vls_config_stamp {
    bool there;
    int64_t mtime_ns, ctime_ns, size;
    dev_t device;
    ino_t inode;
} vls_config_stamp;

/* A workspace may stay open for days: what concerns the work in it (not how it was opened) is asked
 * of the files each time. They are read again where their stat is another one. Threads: shared. */
typedef struct vls_config_now {
    const valise_env *env; /* NULL: not initialised */
    vls_config_sources sources;
    pthread_mutex_t lock;
    vls_config *config; /* NULL: nobody has asked yet */
    vls_config_stamp stamps[2];
    bool racy; /* they may change again without a trace */
} vls_config_now;

/* The strings of the sources must outlive it. */
void vls_config_now_init(vls_config_now *now, const valise_env *env,
                         const vls_config_sources *sources);
void vls_config_now_release(vls_config_now *now); /* a zeroed one is fine */

/* Append all values that were set, a line each; or the one that holds when nobody did. A file that
 * cannot be read as settings (any more) is as it was before. */
int vls_config_now_read(vls_buf *out, vls_config_now *now, const char *name, valise_error *err);

/* Ask all of it, while nobody else does. What the function returns is the result. */
typedef int vls_config_now_fn(void *arg, const vls_config *config, valise_error *err);
int vls_config_now_ask(vls_config_now *now, vls_config_now_fn *fn, void *arg, valise_error *err);

/* ---- writing (config_edit.c) ---- */

/* Set a value, or remove it (value NULL), in the file of a layer; comments and order stay. The file
 * is there with the old text or the new one, whatever happens. VALISE_E_INVALID for a name nobody
 * knows, a value it does not take, or a layer that may not set it; VALISE_E_NOT_FOUND when there is
 * nothing to remove; VALISE_E_BUSY. */
int vls_config_write(const valise_env *env, const char *file, vls_layer layer, valise_str name,
                     const valise_str *value, valise_error *err);

#endif
