/* provider.c -- what is configured, and what is known of the usual providers. */
#include "base/text.h"
#include "base/time.h"
#include "client/inside.h"

#define NAME_MAX_BYTES 64u
#define VARIABLE "VALISE_PROVIDER_"

typedef enum value_kind { VALUE_ADAPTER, VALUE_TEXT, VALUE_DURATION, VALUE_NUMBER } value_kind;

/* In the order of vls_provider_keys. */
static const struct {
    value_kind kind;
    size_t offset;
} values[] = {
    {VALUE_ADAPTER, 0},
    {VALUE_TEXT, offsetof(vls_provider, url)},
    {VALUE_TEXT, offsetof(vls_provider, model)},
    {VALUE_TEXT, offsetof(vls_provider, key_env)},
    {VALUE_TEXT, offsetof(vls_provider, key_file)},
    {VALUE_TEXT, offsetof(vls_provider, replay)},
    {VALUE_TEXT, offsetof(vls_provider, proxy)},
    {VALUE_DURATION, offsetof(vls_provider, timeout_ns)},
    {VALUE_DURATION, offsetof(vls_provider, idle_ns)},
    {VALUE_DURATION, offsetof(vls_provider, connect_ns)},
    {VALUE_NUMBER, offsetof(vls_provider, retries)},
    {VALUE_NUMBER, offsetof(vls_provider, max_answer)},
};
const char *const vls_provider_keys[] = {"adapter", "url",        "model",   "key-env", "key-file",
                                         "replay",  "proxy",      "timeout", "idle",    "connect",
                                         "retries", "max-answer", NULL};
_Static_assert(VLS_COUNT(vls_provider_keys) == VLS_COUNT(values) + 1, "one value for each key");

/* ---- adapters ---- */

static const vls_adapter *const *adapters_of(const vls_provider_sources *sources)
{
    return sources->adapters ? sources->adapters : vls_adapters;
}

/* ---- values ---- */

static int set_value(vls_provider *provider, const vls_provider_sources *sources, valise_str key,
                     valise_str value, valise_error *err)
{
    size_t at = 0;
    char *place;
    int64_t number = 0;

    while (vls_provider_keys[at] && !vls_str_equal(key, valise_str_of(vls_provider_keys[at])))
        at++;
    if (!vls_provider_keys[at])
        return vls_fail(err, VALISE_E_INVALID, "a provider has no '%s'", vls_text_short(key).s);
    place = (char *)provider + values[at].offset;
    switch (values[at].kind) {
    case VALUE_ADAPTER:
        provider->adapter = vls_adapter_among(adapters_of(sources), value);
        if (provider->adapter)
            return 0;
        (void)vls_fail(err, VALISE_E_INVALID, "there is no adapter '%s'", vls_text_short(value).s);
        vls_adapter_hint(adapters_of(sources), "there are", err);
        return VALISE_E_INVALID;
    case VALUE_TEXT:
        value = vls_str_or_none(value); /* an empty one takes back what was said before */
        memcpy(place, &value, sizeof(value));
        return 0;
    case VALUE_DURATION:
        if (vls_duration_parse(&number, value, err) < 0)
            return VALISE_E_INVALID;
        break;
    case VALUE_NUMBER:
        if (!vls_str_to_i64(&number, value) || number < 0)
            return vls_fail(err, VALISE_E_INVALID, "'%s' is not a number", vls_text_short(value).s);
        break;
    }
    memcpy(place, &number, sizeof(number));
    return 0;
}

/* "provider.NAME.key" of this provider: its key; else nothing. */
static bool is_of(valise_str *key, valise_str setting, valise_str name)
{
    const valise_str head = VLS_STR("provider.");
    valise_str rest;

    if (!vls_str_starts(setting, head))
        return false;
    rest = (valise_str){setting.ptr + head.len, setting.len - head.len};
    if (!vls_str_starts(rest, name) || rest.len <= name.len + 1 || rest.ptr[name.len] != '.')
        return false;
    *key = vls_str_from(rest, name.len + 1);
    return vls_str_find_byte(*key, '.') == key->len; /* "a.b" is another provider than "a" */
}

static int take_settings(bool *found, vls_provider *provider, const vls_provider_sources *sources,
                         valise_str name, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < sources->count && rc == 0; i++) {
        const vls_provider_setting *setting = &sources->settings[i];
        valise_str key;
        if (!is_of(&key, setting->name, name))
            continue;
        *found = true;
        rc = set_value(provider, sources, key, setting->value, err);
        if (rc < 0)
            vls_error_prepend(err, "%s", vls_text_short(setting->name).s);
    }
    return rc;
}

/* ---- the environment ---- */

/* VALISE_PROVIDER_MY_HOST_KEY_ENV for key-env of "my-host". */
static void variable_of(char *out, size_t size, valise_str name, const char *key)
{
    int len = snprintf(out, size, VARIABLE "%.*s_%s=", VALISE_STR_ARG(name), key);

    assert(len > 0 && (size_t)len < size);
    for (int i = 0; i < len - 1; i++) {
        char c = out[i];
        if (c >= 'a' && c <= 'z')
            out[i] = (char)(c - 32);
        else if (!(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9'))
            out[i] = '_';
    }
}

static int take_variables(bool *found, vls_provider *provider, const vls_provider_sources *sources,
                          valise_str name, valise_error *err)
{
    char variable[sizeof(VARIABLE) + NAME_MAX_BYTES + 32];
    int rc = 0;

    for (size_t i = 0; sources->environment && vls_provider_keys[i] && rc == 0; i++) {
        variable_of(variable, sizeof(variable), name, vls_provider_keys[i]);
        for (size_t at = 0; sources->environment[at] && rc == 0; at++) {
            valise_str entry = valise_str_of(sources->environment[at]);
            if (!vls_str_starts(entry, valise_str_of(variable)))
                continue;
            *found = true;
            entry = vls_str_from(entry, strlen(variable));
            rc = set_value(provider, sources, valise_str_of(vls_provider_keys[i]), entry, err);
            if (rc < 0)
                vls_error_prepend(err, "%.*s", (int)strlen(variable) - 1, variable);
        }
    }
    return rc;
}

/* ---- all of it ---- */

static int copy(valise_str *text, vls_arena *arena, valise_error *err)
{
    return text->ptr ? vls_arena_dup(text, arena, *text, err) : 0;
}

int vls_provider_copy(vls_provider *provider, vls_arena *arena, valise_error *err)
{
    int rc = copy(&provider->name, arena, err);

    for (size_t i = 0; i < VLS_COUNT(values) && rc == 0; i++) {
        valise_str text;
        if (values[i].kind != VALUE_TEXT)
            continue;
        memcpy(&text, (char *)provider + values[i].offset, sizeof(text));
        rc = copy(&text, arena, err);
        memcpy((char *)provider + values[i].offset, &text, sizeof(text));
    }
    return rc;
}

int vls_provider_find(vls_provider *out, vls_arena *arena, const vls_provider_sources *sources,
                      valise_str name, valise_error *err)
{
    vls_provider provider = {
        .name = name,
        .timeout_ns = VALISE_NONE,
        .idle_ns = VALISE_NONE,
        .connect_ns = VALISE_NONE,
        .retries = VALISE_NONE,
        .max_answer = VALISE_NONE,
    };
    bool found = false;
    int rc;

    if (name.len == 0 || name.len > NAME_MAX_BYTES)
        return vls_fail(err, VALISE_E_INVALID, "the name of a provider has 1 to %u bytes",
                        NAME_MAX_BYTES);
    provider.adapter = vls_adapter_among(adapters_of(sources), name);
    rc = take_settings(&found, &provider, sources, name, err);
    if (rc == 0)
        rc = take_variables(&found, &provider, sources, name, err);
    if (rc == 0 && !provider.adapter) {
        rc = found ? VALISE_E_INVALID : VALISE_E_NOT_FOUND;
        if (found)
            (void)vls_fail(err, rc, "the provider '%s' has no adapter", vls_text_short(name).s);
        else
            (void)vls_fail(err, rc, "there is no provider '%s'", vls_text_short(name).s);
        vls_adapter_hint(adapters_of(sources), "set provider.NAME.adapter to one of", err);
    }
    if (rc == 0)
        rc = vls_provider_copy(&provider, arena, err);
    if (rc == 0)
        *out = provider;
    return rc;
}
