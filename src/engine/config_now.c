/* config_now.c -- settings as the files say now, in a workspace that stays open; see config.h. */
#include <sys/stat.h>

#include "base/str.h"
#include "base/time.h"
#include "engine/config.h"

/* A file that was changed so lately may change again without a trace. */
#define RACY_NS (2 * VLS_NS_PER_SECOND)

static int64_t ns_of(struct timespec time)
{
    int64_t ns;

    if (__builtin_mul_overflow((int64_t)time.tv_sec, VLS_NS_PER_SECOND, &ns))
        return time.tv_sec < 0 ? INT64_MIN : INT64_MAX;
    return ns + time.tv_nsec;
}

static vls_config_stamp stamp_of(const char *file)
{
    struct stat st;

    if (!file || stat(file, &st) < 0)
        return (vls_config_stamp){.there = false};
    return (vls_config_stamp){true,       ns_of(st.st_mtim), ns_of(st.st_ctim),
                              st.st_size, st.st_dev,         st.st_ino};
}

static bool is_same(const vls_config_stamp *a, const vls_config_stamp *b)
{
    return a->there == b->there && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns &&
           a->size == b->size && a->device == b->device && a->inode == b->inode;
}

static bool is_racy(const vls_config_now *now, const vls_config_stamp *stamp)
{
    int64_t time_ns = now->env->now_ns(now->env->self);

    return stamp->there && VLS_MAX(stamp->mtime_ns, stamp->ctime_ns) > time_ns - RACY_NS;
}

void vls_config_now_init(vls_config_now *now, const valise_env *env,
                         const vls_config_sources *sources)
{
    *now = (vls_config_now){.env = env, .sources = *sources};
    (void)pthread_mutex_init(&now->lock, NULL);
}

void vls_config_now_release(vls_config_now *now)
{
    if (!now->env)
        return;
    vls_config_free(now->config);
    (void)pthread_mutex_destroy(&now->lock);
    now->env = NULL;
}

/* Read the files again where they may be others. What cannot be read as settings changes nothing:
 * somebody is writing it, and who opens the workspace anew is told. */
static int refresh(vls_config_now *now, valise_error *err)
{
    const vls_config_stamp is[] = {stamp_of(now->sources.workspace_file),
                                   stamp_of(now->sources.user_file)};
    vls_config *config = NULL;
    int rc;

    if (now->config && !now->racy && is_same(&is[0], &now->stamps[0]) &&
        is_same(&is[1], &now->stamps[1]))
        return 0;
    rc = vls_config_load(&config, now->env, &now->sources, now->config ? NULL : err);
    if (rc == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    if (rc < 0)
        return now->config ? 0 : rc;
    vls_config_free(now->config);
    now->config = config;
    for (size_t i = 0; i < VLS_COUNT(is); i++)
        now->stamps[i] = is[i];
    now->racy = is_racy(now, &is[0]) || is_racy(now, &is[1]);
    return 0;
}

/* All that was set, since some are lists; or what holds when nobody did. */
static int write_setting(vls_buf *out, const vls_config *config, const char *name,
                         valise_error *err)
{
    size_t count, found = 0;
    const vls_config_entry *entries = vls_config_entries(&count, config);

    for (size_t i = 0; i < count; i++) {
        if (entries[i].ignored || !entries[i].value.ptr ||
            !vls_str_equal(entries[i].name, valise_str_of(name)))
            continue;
        vls_buf_add(out, entries[i].value);
        vls_buf_add_byte(out, '\n');
        found++;
    }
    if (found == 0)
        vls_buf_add(out, vls_config_text(config, name));
    return vls_buf_check(out, err);
}

int vls_config_now_ask(vls_config_now *now, vls_config_now_fn *fn, void *arg, valise_error *err)
{
    int rc;

    (void)pthread_mutex_lock(&now->lock);
    rc = refresh(now, err);
    if (rc == 0)
        rc = fn(arg, now->config, err);
    (void)pthread_mutex_unlock(&now->lock);
    return rc;
}

typedef struct reading {
    vls_buf *out;
    const char *name;
} reading;

static int read_setting(void *arg, const vls_config *config, valise_error *err)
{
    const reading *r = arg;

    return write_setting(r->out, config, r->name, err);
}

int vls_config_now_read(vls_buf *out, vls_config_now *now, const char *name, valise_error *err)
{
    reading r = {out, name};

    return vls_config_now_ask(now, read_setting, &r, err);
}
