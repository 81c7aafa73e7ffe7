/* adapter.c -- find an adapter, and write what a provider alone understands. */
#include "wire/adapter.h"

#include "base/glob.h"
#include "base/text.h"

const vls_adapter *vls_adapter_among(const vls_adapter *const *all, valise_str name)
{
    for (size_t i = 0; all[i]; i++) {
        if (vls_str_equal(name, valise_str_of(all[i]->name)))
            return all[i];
    }
    return NULL;
}

const vls_adapter *vls_adapter_find(valise_str name)
{
    return vls_adapter_among(vls_adapters, name);
}

void vls_adapter_hint(const vls_adapter *const *all, const char *what, valise_error *err)
{
    char names[160] = "";
    size_t len = 0;

    for (size_t i = 0; all[i]; i++) {
        int more =
            snprintf(names + len, sizeof(names) - len, "%s%s", i > 0 ? ", " : "", all[i]->name);
        if (more > 0)
            len = VLS_MIN(len + (size_t)more, sizeof(names) - 1);
    }
    vls_hint(err, "%s %s", what, names);
}

int vls_adapter_get(const vls_adapter **out, valise_str name, valise_error *err)
{
    const vls_adapter *found = vls_adapter_find(name);

    if (found) {
        *out = found;
        return 0;
    }
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no adapter '%s'", vls_text_short(name).s);
    vls_adapter_hint(vls_adapters, "there are", err);
    return VALISE_E_NOT_FOUND;
}

uint32_t vls_adapter_demands(const vls_adapter *adapter, valise_str model)
{
    for (const vls_model_rule *rule = adapter->models; rule && rule->models; rule++) {
        if (vls_glob_match(&vls_glob_flat, valise_str_of(rule->models), model))
            return (adapter->demands | rule->add) & ~rule->remove;
    }
    return adapter->demands;
}

/* ---- extras ---- */

/* What says something of the conversation, or of the way the answer comes, in any provider's form:
 * nobody may say it a second time. */
static const char *const always_ours[] = {
    "messages",          "system",       "tools",      "model", "stream", "input", "contents",
    "systemInstruction", "instructions", "toolConfig", NULL,
};

static bool is_among(const char *const *names, valise_str name)
{
    for (size_t i = 0; names && names[i]; i++) {
        if (vls_str_equal(name, valise_str_of(names[i])))
            return true;
    }
    return false;
}

int vls_wire_extras(vls_wire *wire, vls_json extras, const char *const *ours, valise_error *err)
{
    if (extras.type == VLS_JSON_NULL)
        return 0;
    if (extras.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "extras must be an object, not %s",
                        vls_json_type_name(extras));
    for (uint32_t i = 0; i < extras.len; i++) {
        valise_str key = vls_json_str(extras.members[i].key);
        if (!is_among(always_ours, key) && !is_among(ours, key))
            continue;
        (void)vls_fail(err, VALISE_E_INVALID, "extras cannot set '%s': the request already does",
                       vls_text_short(key).s);
        vls_error_prepend(err, "params.extras");
        return VALISE_E_INVALID;
    }
    for (uint32_t i = 0; i < extras.len; i++) {
        vls_wire_member(wire, vls_json_str(extras.members[i].key));
        vls_wire_json(wire, extras.members[i].value);
    }
    return 0;
}
