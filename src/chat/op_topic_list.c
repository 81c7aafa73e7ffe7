/* op_topic_list.c -- topic:list, what there is talk about. [W13] [W16]
 *
 * From the memory index, which counts what begins alike without looking at it: it takes as long as
 * there are topics, however many sessions have them. */
#include "base/str.h"
#include "bus/follow.h"
#include "bus/read.h"
#include "bus/sight.h"
#include "chat/index.h"
#include "store/view.h"

typedef struct topic_line {
    valise_str topic;
    int64_t counts[VLS_TOPIC_KINDS];
} topic_line;

static const valise_field list_out[] = {
    VALISE_FIELD(topic_line, topic, STR, VALISE_REQUIRED, "The topic."),
    VALISE_FIELD_AS(topic_line, counts[VLS_TOPIC_SESSION], "sessions", INT, VALISE_REQUIRED,
                    "How many sessions have it."),
    VALISE_FIELD_AS(topic_line, counts[VLS_TOPIC_ROLE], "roles", INT, VALISE_REQUIRED,
                    "How many roles."),
    VALISE_FIELD_AS(topic_line, counts[VLS_TOPIC_PREFERENCE], "preferences", INT, VALISE_REQUIRED,
                    "How many preferences."),
    VALISE_FIELD_AS(topic_line, counts[VLS_TOPIC_CONTEXT], "entries", INT, VALISE_REQUIRED,
                    "How many context entries."),
    VALISE_FIELD_END,
};

/* begin is TOPIC/ as it stands in keys. */
static int emit(valise_view *view, const vls_pmap *map, valise_str begin, valise_error *err)
{
    VLS_AUTO(buf) vls_buf topic = {0};
    VLS_AUTO(buf) vls_buf key = {0};
    topic_line line = {.topic = VLS_STR("")};
    int rc;

    vls_buf_init(&topic, view->arena.env, VLS_INDEX_KEY_MAX);
    vls_buf_init(&key, view->arena.env, VLS_INDEX_KEY_MAX);
    vls_topic_unescape(&topic, vls_str_head(begin, begin.len - 1));
    rc = vls_buf_check(&topic, err);
    for (size_t i = 0; rc == 0 && i < VLS_TOPIC_KINDS; i++) {
        vls_buf_clear(&key);
        vls_buf_printf(&key, "%.*s%s/", VALISE_STR_ARG(begin), vls_topic_kinds[i]);
        rc = vls_buf_check(&key, err);
        if (rc == 0)
            line.counts[i] = (int64_t)vls_pmap_count_in(map, vls_buf_str(&key));
    }
    line.topic = vls_buf_str(&topic);
    return rc < 0 ? rc : valise_view_emit(view, &line, err);
}

static valise_str key_of(const void *item)
{
    vls_index_entry entry = vls_index_entry_of(item);

    return entry.key;
}

static int emit_each(valise_view *view, const vls_pmap *map, valise_error *err)
{
    vls_pmap_cursor at;
    void *item = vls_pmap_first(&at, map);
    int rc = 0;

    while (rc == 0 && item) {
        valise_str key = key_of(item);
        valise_str begin = vls_str_head(key, vls_str_find_byte(key, '/') + 1);
        rc = emit(view, map, begin, err);
        item = vls_pmap_seek_behind(&at, map, begin);
    }
    return rc;
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    VLS_AUTO(pmap) vls_pmap map = {0};
    vls_feed *feed;
    vls_index *index;
    int rc = vls_feed_need(&feed, vls_reading_of(view)->bus, err);

    (void)in;
    (void)result;
    if (rc == 0)
        rc = vls_indexes_find(&index, &feed->indexes, VLS_STR(VLS_TOPIC_INDEX), err);
    if (rc == 0)
        rc = vls_sight_index(view, index, err);
    if (rc == 0)
        rc = vls_index_read(&map, index, view, err);
    return rc < 0 ? rc : emit_each(view, &map, err);
}

const valise_op vls_op_chat_topic_list = {
    .size = sizeof(valise_op),
    .name = "topic:list",
    .brief = "List the topics and how often each is used.",
    .help = "Expired entries count, too, until gc removes them.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "session:read",
    .out = list_out,
    .out_size = sizeof(topic_line),
    .query = query,
    .example = "{}",
};
