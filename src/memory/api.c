/* api.c -- the C functions of valise/memory.h.
 *
 * What is read comes as structs. What is written goes as JSON, the way of every other surface: a
 * put is one of two operations, which share the payload. */
#include <valise/json.h>
#include <valise/memory.h>

#include "base/hex.h"
#include "base/sized.h"
#include "bus/held.h"
#include "json/json.h"
#include "memory/entry.h"
#include "memory/role.h"

#define TRIES 4 /* two for each of two operations, where others write the same */

/* ---- payloads ---- */

static void add_name(vls_buf *out, const char *name)
{
    vls_buf_add_text(out, out->len > 1 ? ",\"" : "\"");
    vls_buf_add_text(out, name);
    vls_buf_add_text(out, "\":");
}

/* A string; ptr NULL: not given. Whoever reads the payload refuses what is not UTF-8. */
static void add_str(vls_buf *out, const char *name, valise_str s)
{
    if (!s.ptr)
        return;
    add_name(out, name);
    vls_json_write_string(out, s);
}

static void add_text(vls_buf *out, const char *name, const char *text)
{
    add_str(out, name, text ? valise_str_of(text) : (valise_str){NULL, 0});
}

static void add_number(vls_buf *out, const char *name, int64_t number)
{
    add_name(out, name);
    vls_buf_add_i64(out, number);
}

/* One JSON value, and not more of the payload. */
static int add_json(vls_buf *out, valise *v, const char *name, valise_str json, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    int rc = json.ptr ? vls_json_canonical(&value, v->env, json, err) : 0;

    if (rc < 0) {
        vls_error_prepend(err, "%s", name);
        return rc;
    }
    if (value) {
        add_name(out, name);
        vls_buf_add(out, vls_blob_bytes(value));
    }
    return 0;
}

static void add_topics(vls_buf *out, const valise_str *topics, size_t count)
{
    if (!topics)
        return;
    add_name(out, "topics");
    vls_buf_add_byte(out, '[');
    for (size_t i = 0; i < count; i++) {
        vls_buf_add_text(out, i > 0 ? "," : "");
        vls_json_write_string(out, topics[i].ptr ? topics[i] : VLS_STR(""));
    }
    vls_buf_add_byte(out, ']');
}

static void begin(vls_buf *out, valise *v)
{
    vls_buf_init(out, v->env, VLS_JSON_MAX_BYTES);
    vls_buf_add_byte(out, '{');
}

static int end(vls_buf *out, valise_error *err)
{
    vls_buf_add_byte(out, '}');
    return vls_buf_check(out, err);
}

/* ---- writing ---- */

/* Whether it is there can change in between, so each of the two is tried until one fits. A retry
 * whose id was the other one's is told so with EXISTS, too. */
static int put(valise_reply *reply, valise *v, const char *change, const char *add,
               const vls_buf *payload, const valise_call *call, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc = VALISE_E_NOT_FOUND;

    for (int i = 0; i < TRIES && (rc == VALISE_E_NOT_FOUND || rc == VALISE_E_EXISTS); i++) {
        valise_str type = valise_str_of(i % 2 == 0 ? change : add);

        vls_error_clear(&why);
        rc = valise_dispatch_str(reply, v, type, vls_buf_str(payload), call, &why);
    }
    if (rc < 0 && err)
        *err = why;
    return rc;
}

static void vls_auto_reply(valise_reply *reply)
{
    valise_reply_release(reply);
}

/* The answer's version. */
static int put_version(int64_t *version, valise *v, const char *change, const char *add,
                       const vls_buf *payload, const valise_call *call, valise_error *err)
{
    VLS_AUTO(reply) valise_reply reply = VALISE_REPLY_INIT;
    int rc = put(&reply, v, change, add, payload, call, err);

    if (rc == 0 && version)
        rc = vls_settle(
            valise_json_get_int(version, valise_blob_bytes(reply.json), "/version", err));
    return rc;
}

static int run(valise *v, const char *type, const char *name, valise_str value,
               const valise_call *call, valise_error *err)
{
    VLS_AUTO(buf) vls_buf payload = {0};
    int rc;

    begin(&payload, v);
    add_str(&payload, name, value);
    rc = end(&payload, err);
    return rc < 0 ? rc
                  : valise_dispatch_str(NULL, v, valise_str_of(type), vls_buf_str(&payload), call,
                                        err);
}

int valise_role_put(int64_t *version, valise *v, const char *name, const char *persona,
                    const valise_role_options *options, const valise_call *call, valise_error *err)
{
    valise_role_options o = VALISE_ROLE_OPTIONS_INIT;
    VLS_AUTO(buf) vls_buf payload = {0};
    int rc;

    VLS_ARG(v && name, err);
    rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_role_options, constraints),
                        "valise_role_options", err);
    if (rc < 0)
        return rc;
    begin(&payload, v);
    add_text(&payload, "name", name);
    add_text(&payload, "persona", persona);
    add_str(&payload, "label", o.label);
    add_topics(&payload, o.topics, o.topic_count);
    rc = add_json(&payload, v, "constraints", o.constraints, err);
    if (rc == 0)
        rc = end(&payload, err);
    return rc < 0 ? rc : put_version(version, v, "role:update", "role:add", &payload, call, err);
}

int valise_role_delete(valise *v, const char *name, const valise_call *call, valise_error *err)
{
    VLS_ARG(v && name, err);
    return run(v, "role:delete", "name", valise_str_of(name), call, err);
}

static int put_preference(valise_uuid *out, valise *v, const vls_buf *payload, bool known,
                          const valise_call *call, valise_error *err)
{
    VLS_AUTO(reply) valise_reply reply = VALISE_REPLY_INIT;
    VLS_AUTO(blob) valise_blob *id = NULL;
    int rc = known ? put(&reply, v, "preference:update", "preference:add", payload, call, err)
                   : valise_dispatch_str(&reply, v, VLS_STR("preference:add"), vls_buf_str(payload),
                                         call, err);

    if (rc == 0 && out)
        rc = vls_settle(valise_json_get_text(&id, valise_blob_bytes(reply.json), "/id", err));
    return rc == 0 && id ? vls_uuid_parse(out, vls_blob_bytes(id), err) : rc;
}

int valise_preference_put(valise_uuid *out, valise *v, const char *text,
                          const valise_preference_options *options, const valise_call *call,
                          valise_error *err)
{
    valise_preference_options o = VALISE_PREFERENCE_OPTIONS_INIT;
    VLS_AUTO(buf) vls_buf payload = {0};
    int rc;

    VLS_ARG(v && text, err);
    rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_preference_options, slot),
                        "valise_preference_options", err);
    if (rc == 0 && (o.scope < VALISE_SCOPE_WORKSPACE || o.scope > VALISE_SCOPE_SESSION))
        rc = vls_fail(err, VALISE_E_INVALID, "there is no scope %d", o.scope);
    if (rc < 0)
        return rc;
    begin(&payload, v);
    add_text(&payload, "content", text);
    add_text(&payload, "scope", vls_scopes[o.scope]);
    add_str(&payload, "of", o.of);
    add_str(&payload, "slot", o.slot);
    add_number(&payload, "priority", o.priority);
    add_topics(&payload, o.topics ? o.topics : &(valise_str){NULL, 0},
               o.topics ? o.topic_count : 0);
    if (o.id)
        add_text(&payload, "id", vls_uuid_text(o.id).s);
    rc = end(&payload, err);
    return rc < 0 ? rc : put_preference(out, v, &payload, o.id, call, err);
}

int valise_preference_delete(valise *v, const valise_uuid *preference, const valise_call *call,
                             valise_error *err)
{
    VLS_ARG(v && preference, err);
    return run(v, "preference:delete", "id", valise_str_of(vls_uuid_text(preference).s), call, err);
}

static int add_content(vls_buf *out, valise *v, int kind, const char *content, valise_error *err)
{
    switch (kind) {
    case VALISE_ENTRY_TEXT:
        add_text(out, "text", content);
        return 0;
    case VALISE_ENTRY_JSON:
        return add_json(out, v, "value", valise_str_of(content), err);
    case VALISE_ENTRY_BLOB:
        add_text(out, "blob", content);
        return 0;
    default:
        return vls_fail(err, VALISE_E_INVALID, "there is no kind %d of entries", kind);
    }
}

int valise_entry_put(int64_t *version, valise *v, const char *key, const char *content,
                     const valise_entry_options *options, const valise_call *call,
                     valise_error *err)
{
    valise_entry_options o = VALISE_ENTRY_OPTIONS_INIT;
    VLS_AUTO(buf) vls_buf payload = {0};
    int rc;

    VLS_ARG(v && key && content, err);
    rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_entry_options, metadata),
                        "valise_entry_options", err);
    if (rc < 0)
        return rc;
    begin(&payload, v);
    add_text(&payload, "key", key);
    add_topics(&payload, o.topics, o.topic_count);
    rc = add_content(&payload, v, o.kind, content, err);
    if (rc == 0)
        rc = add_json(&payload, v, "metadata", o.metadata, err);
    if (rc == 0 && o.ttl_ns != 0) {
        add_name(&payload, "ttl");
        vls_buf_printf(&payload, "\"%lldns\"", (long long)o.ttl_ns);
    }
    if (rc == 0)
        rc = end(&payload, err);
    return rc < 0 ? rc
                  : put_version(version, v, "context:update", "context:add", &payload, call, err);
}

int valise_entry_delete(valise *v, const char *key, const valise_call *call, valise_error *err)
{
    VLS_ARG(v && key, err);
    return run(v, "context:delete", "key", valise_str_of(key), call, err);
}

/* ---- reading ---- */

/* What was asked for is not there: the answer of a get. */
static int absent(int rc, const valise_error *why, valise_error *err)
{
    if (rc == VALISE_E_NOT_FOUND)
        return 0;
    if (err)
        *err = *why;
    return rc;
}

typedef struct held_role {
    valise_role role; /* first: what the caller has */
    vls_held own;
} held_role;

int valise_role_get(valise_role **out, valise *v, const char *name, const valise_call *call,
                    valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    vls_role_shown shown;
    held_role *held;
    int rc;

    VLS_ARG(out && v && name, err);
    held = vls_held_new(v->env, sizeof(*held), offsetof(held_role, own));
    if (!held)
        return vls_fail_memory(err);
    rc = vls_run(v, &vls_op_memory_role_show,
                 &(vls_role_show_args){valise_str_of(name), VALISE_NONE}, &shown, &held->own.memory,
                 call, NULL, &why);
    if (rc < 0) {
        vls_held_free(held, &held->own);
        return absent(rc, &why, err);
    }
    held->role = (valise_role){.name = shown.name,
                               .label = shown.label,
                               .persona = shown.persona,
                               .constraints = shown.constraints,
                               .topics = shown.topics.items,
                               .topic_count = shown.topics.count,
                               .version = shown.version,
                               .time = shown.time,
                               .actor = shown.actor};
    *out = &held->role;
    return 1;
}

void valise_role_free(valise_role *role)
{
    held_role *held = (held_role *)(void *)role;

    if (held)
        vls_held_free(held, &held->own);
}

typedef struct held_entry {
    valise_entry entry; /* first: what the caller has */
    vls_held own;
} held_entry;

int valise_entry_get(valise_entry **out, valise *v, const char *key, const valise_call *call,
                     valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    vls_entry_shown shown;
    held_entry *held;
    int rc;

    VLS_ARG(out && v && key, err);
    held = vls_held_new(v->env, sizeof(*held), offsetof(held_entry, own));
    if (!held)
        return vls_fail_memory(err);
    rc = vls_run(v, &vls_op_memory_context_show, &(vls_entry_ref){valise_str_of(key)}, &shown,
                 &held->own.memory, call, NULL, &why);
    if (rc < 0) {
        vls_held_free(held, &held->own);
        return absent(rc, &why, err);
    }
    held->entry = (valise_entry){.key = shown.key,
                                 .kind = (int)shown.type,
                                 .content = shown.text.ptr ? shown.text : shown.value,
                                 .blob = shown.blob,
                                 .topics = shown.topics.items,
                                 .topic_count = shown.topics.count,
                                 .metadata = shown.metadata,
                                 .expires = shown.expires,
                                 .version = shown.version,
                                 .created = shown.created,
                                 .updated = shown.updated,
                                 .actor = shown.actor};
    *out = &held->entry;
    return 1;
}

void valise_entry_free(valise_entry *entry)
{
    held_entry *held = (held_entry *)(void *)entry;

    if (held)
        vls_held_free(held, &held->own);
}
