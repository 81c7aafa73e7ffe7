/* index.c -- memory indexes of sessions and of topics (index.h). [W16] [K16] */
#include "chat/index.h"

#include "base/hex.h"
#include "bus/index.h"
#include "chat/rows.h"
#include "memory/rows.h"

#define TOPIC_KEY_MAX (3 * VLS_TOPIC_MAX + VLS_MEMORY_KEY_MAX + 32)

_Static_assert(TOPIC_KEY_MAX <= VLS_INDEX_KEY_MAX, "every topic has a key");

const char *const vls_topic_kinds[] = {"session", "role", "preference", "context", NULL};

/* ---- keys ---- */

static void escape(vls_buf *out, valise_str topic)
{
    for (size_t i = 0; i < topic.len; i++) {
        unsigned char c = (unsigned char)topic.ptr[i];
        if (c == '%' || c == '/' || c < 0x20)
            vls_buf_printf(out, "%%%02X", c);
        else
            vls_buf_add_byte(out, (char)c);
    }
}

static int digit(char c)
{
    return c >= 'A' ? c - 'A' + 10 : c - '0';
}

void vls_topic_unescape(vls_buf *out, valise_str escaped)
{
    for (size_t i = 0; i < escaped.len; i++) {
        if (escaped.ptr[i] == '%' && i + 2 < escaped.len) {
            vls_buf_add_byte(out,
                             (char)(digit(escaped.ptr[i + 1]) * 16 + digit(escaped.ptr[i + 2])));
            i += 2;
        } else {
            vls_buf_add_byte(out, escaped.ptr[i]);
        }
    }
}

/* ---- sessions ---- */

static int map_session(valise_index_out *out, const void *row, valise_error *err)
{
    vls_uuid_string id = vls_uuid_text(&((const vls_session_row *)row)->id);

    return vls_index_add_row(out, valise_str_of(id.s), row, vls_sessions.fields, err);
}

/* ---- topics ---- */

typedef struct topic_entry {
    valise_str topic;
    int64_t kind;
    valise_str of;
} topic_entry;

static const valise_field topic_fields[] = {
    VALISE_FIELD(topic_entry, topic, STR, VALISE_REQUIRED, "The topic."),
    VALISE_FIELD_WITH(topic_entry, kind, ENUM, VALISE_REQUIRED, "What has it.",
                      .more = vls_topic_kinds),
    VALISE_FIELD(topic_entry, of, STR, VALISE_REQUIRED, "Its id, name or key."),
    VALISE_FIELD_END,
};

static int add_topics(valise_index_out *out, valise_list topics, int64_t kind, valise_str of,
                      valise_error *err)
{
    const valise_str *topic = topics.items;
    VLS_AUTO(buf) vls_buf key = {0};
    int rc = 0;

    vls_buf_init(&key, out->env, TOPIC_KEY_MAX);
    for (size_t i = 0; rc == 0 && i < topics.count; i++) {
        const topic_entry entry = {topic[i], kind, of};
        vls_buf_clear(&key);
        escape(&key, topic[i]);
        vls_buf_printf(&key, "/%s/%.*s", vls_topic_kinds[kind], VALISE_STR_ARG(of));
        rc = vls_buf_check(&key, err);
        if (rc == 0)
            rc = vls_index_add_row(out, vls_buf_str(&key), &entry, topic_fields, err);
    }
    return rc;
}

static int map_topics_session(valise_index_out *out, const void *p, valise_error *err)
{
    const vls_session_row *row = p;
    vls_uuid_string id = vls_uuid_text(&row->id);

    return add_topics(out, row->topics, VLS_TOPIC_SESSION, valise_str_of(id.s), err);
}

static int map_topics_role(valise_index_out *out, const void *p, valise_error *err)
{
    const vls_role_row *row = p;

    return add_topics(out, row->topics, VLS_TOPIC_ROLE, row->name, err);
}

static int map_topics_preference(valise_index_out *out, const void *p, valise_error *err)
{
    const vls_preference_row *row = p;
    vls_uuid_string id = vls_uuid_text(&row->id);

    return add_topics(out, row->topics, VLS_TOPIC_PREFERENCE, valise_str_of(id.s), err);
}

static int map_topics_entry(valise_index_out *out, const void *p, valise_error *err)
{
    const vls_context_entry_row *row = p;

    return add_topics(out, row->topics, VLS_TOPIC_CONTEXT, row->key, err);
}

static const valise_index_source session_sources[] = {{&vls_sessions, map_session}, {NULL, NULL}};
static const valise_index_source topic_sources[] = {{&vls_sessions, map_topics_session},
                                                    {&vls_roles, map_topics_role},
                                                    {&vls_preferences, map_topics_preference},
                                                    {&vls_context_entries, map_topics_entry},
                                                    {NULL, NULL}};

static const valise_indexer sessions = {sizeof(valise_indexer), "sessions", "Sessions by id.",
                                        session_sources};
static const valise_indexer topics = {sizeof(valise_indexer), VLS_TOPIC_INDEX,
                                      "Topics, and behind each what has it.", topic_sources};

const valise_indexer *const vls_chat_indexers[] = {&sessions, &topics, NULL};
