/* clients.c -- see clients.h. */
#include "prompt/clients.h"

#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/text.h"

#define CLIENTS_MAX 16
#define VALUE_MAX ((size_t)64 << 10)
#define KEYS_MAX 16

/* ---- providers ---- */

static bool is_name(valise_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool fine = vls_is_alnum(c) || c == '-' || c == '_' || c == '.';

        if (!fine)
            return false;
    }
    return name.len > 0 && name.len <= VLS_PROVIDER_NAME_MAX;
}

int vls_setting_read(valise_str *out, vls_arena *arena, const valise *v, const char *name,
                     valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    valise_str line, rest;
    int rc;

    *out = (valise_str){NULL, 0};
    if (!v->place.setting)
        return 0;
    vls_buf_init(&text, v->env, VALUE_MAX);
    rc = v->place.setting(&text, v, name, err);
    rest = vls_str_trim(vls_buf_str(&text));
    line = rest;
    while (vls_str_cut(&line, &rest, rest, '\n'))
        line = rest;
    return rc < 0 || line.len == 0 ? rc : vls_arena_dup(out, arena, line, err);
}

static int read_settings(vls_provider_setting *settings, size_t *count, vls_arena *arena,
                         const valise *v, valise_str name, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; vls_provider_keys[i] && rc == 0; i++) {
        vls_provider_setting *s = &settings[*count];
        char full[VLS_PROVIDER_NAME_MAX + 64];

        assert(*count < KEYS_MAX);
        (void)snprintf(full, sizeof(full), "provider.%.*s.%s", VALISE_STR_ARG(name),
                       vls_provider_keys[i]);
        rc = vls_setting_read(&s->value, arena, v, full, err);
        if (rc == 0 && s->value.ptr) {
            rc = vls_arena_dup(&s->name, arena, valise_str_of(full), err);
            (*count)++;
        }
    }
    return rc;
}

int vls_prompt_provider(vls_provider *out, vls_arena *arena, valise *v, valise_str name,
                        valise_str replay, valise_error *err)
{
    vls_provider_setting settings[KEYS_MAX];
    vls_provider_sources sources = {.settings = settings,
                                    .environment = (const char *const *)environ};
    vls_provider made;
    int rc;

    if (!name.ptr && !replay.ptr) {
        (void)vls_fail(err, VALISE_E_INVALID, "no provider given");
        vls_hint(err, "give --provider NAME, or --replay FILE for answers from a file");
        return VALISE_E_INVALID;
    }
    if (!name.ptr)
        name = valise_str_of(vls_adapter_compatible.name);
    if (!is_name(name))
        return vls_fail(err, VALISE_E_INVALID, "'%s' is not the name of a provider",
                        vls_text_short(name).s);
    rc = read_settings(settings, &sources.count, arena, v, name, err);
    if (rc == 0)
        rc = vls_provider_find(&made, arena, &sources, name, err);
    if (rc == 0 && replay.ptr)
        rc = vls_arena_dup(&made.replay, arena, replay, err);
    if (rc == 0)
        *out = made;
    return rc;
}

/* ---- clients ---- */

typedef struct entry {
    vls_buf what; /* all that is said of the provider */
    vls_client *client;
    size_t users;
} entry;

typedef struct clients {
    const valise_env *env;
    pthread_mutex_t lock;
    entry all[CLIENTS_MAX];
} clients;

static const char key; /* its address is what they are kept under */

static void drop(entry *e)
{
    vls_client_free(e->client);
    vls_buf_release(&e->what);
    *e = (entry){.users = 0};
}

static void free_all(void *self)
{
    clients *c = self;

    for (size_t i = 0; i < CLIENTS_MAX; i++)
        drop(&c->all[i]);
    (void)pthread_mutex_destroy(&c->lock);
    vls_mem_free(c->env, c, sizeof(*c));
}

static int make(void **out, valise *v, valise_error *err)
{
    clients *c = vls_mem_zalloc(v->env, sizeof(*c));

    if (!c)
        return vls_fail_memory(err);
    c->env = v->env;
    (void)pthread_mutex_init(&c->lock, NULL);
    *out = c;
    return 0;
}

static int describe(vls_buf *out, const valise_env *env, const vls_provider *p, valise_error *err)
{
    const valise_str texts[] = {p->name,    valise_str_of(p->adapter->name),
                                p->url,     p->model,
                                p->key_env, p->key_file,
                                p->replay,  p->proxy};
    const int64_t numbers[] = {p->timeout_ns, p->idle_ns, p->connect_ns, p->retries, p->max_answer};

    vls_buf_init(out, env, (size_t)1 << 20);
    for (size_t i = 0; i < VLS_COUNT(texts); i++) {
        vls_buf_add_byte(out, texts[i].ptr ? '+' : '-');
        vls_buf_add(out, texts[i]);
        vls_buf_add_byte(out, '\0');
    }
    for (size_t i = 0; i < VLS_COUNT(numbers); i++)
        vls_buf_printf(out, "%lld ", (long long)numbers[i]);
    return vls_buf_check(out, err);
}

/* One that is for this provider, else a free place, else one that nobody uses; NULL: there is none.
 */
static entry *find_place(clients *c, valise_str what)
{
    entry *idle = NULL, *empty = NULL;

    for (size_t i = 0; i < CLIENTS_MAX; i++) {
        entry *e = &c->all[i];

        if (e->client && vls_str_equal(vls_buf_str(&e->what), what))
            return e;
        if (!e->client && !empty)
            empty = e;
        if (e->client && e->users == 0 && !idle)
            idle = e;
    }
    return empty ? empty : idle;
}

static int take(vls_client **out, clients *c, vls_buf *what, const vls_provider *provider,
                valise_error *err)
{
    entry *e = find_place(c, vls_buf_str(what));
    vls_client *client = NULL;
    int rc = 0;

    if (!e)
        return vls_fail(err, VALISE_E_BUSY, "%d providers are being asked already", CLIENTS_MAX);
    if (!e->client || !vls_str_equal(vls_buf_str(&e->what), vls_buf_str(what))) {
        rc = vls_client_new(&client, c->env, provider, err);
        if (rc < 0)
            return rc;
        drop(e);
        e->client = client;
        e->what = *what;
        *what = (vls_buf){0};
    }
    e->users++;
    *out = e->client;
    return 0;
}

int vls_prompt_client(vls_client **out, valise *v, const vls_provider *provider, valise_error *err)
{
    VLS_AUTO(buf) vls_buf what = {0};
    void *self = NULL;
    clients *c;
    int rc = vls_bus_keep(&self, v, &key, make, free_all, err);

    if (rc == 0)
        rc = describe(&what, v->env, provider, err);
    if (rc < 0)
        return rc;
    c = self;
    (void)pthread_mutex_lock(&c->lock);
    rc = take(out, c, &what, provider, err);
    (void)pthread_mutex_unlock(&c->lock);
    return rc;
}

void vls_prompt_client_return(valise *v, const vls_client *client)
{
    clients *c = client ? vls_bus_kept(v, &key) : NULL;

    if (!c)
        return;
    (void)pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        if (c->all[i].client == client)
            c->all[i].users--;
    (void)pthread_mutex_unlock(&c->lock);
}
