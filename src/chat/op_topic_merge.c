/* op_topic_merge.c -- topic:merge, several topics become one. [W13]
 *
 * One command over every row that has one of them. Rows are looked for first and changed then: a
 * scan need not see what is changed under it. A role gets a new version, since versions never
 * change. */
#include "base/str.h"
#include "base/vec.h"
#include "bus/bus.h"
#include "chat/index.h"
#include "chat/rows.h"
#include "memory/role.h"
#include "store/view.h"

#define FROM_MAX 64
#define ROWS_MAX 10000 /* that one merge changes */

typedef struct merge_args {
    valise_list from;
    valise_str to;
} merge_args;

static const valise_field merge_in[] = {
    VALISE_FIELD_WITH(merge_args, to, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The topic that they become.", .min = 1, .max = VLS_TOPIC_MAX),
    VALISE_FIELD_WITH(merge_args, from, LIST, VALISE_REQUIRED, "A topic to rename.",
                      .more = &vls_topic_item, .min = 1, .max = FROM_MAX),
    VALISE_FIELD_END,
};

typedef struct merge_result {
    int64_t changed[VLS_TOPIC_KINDS];
} merge_result;

static const valise_field merge_out[] = {
    VALISE_FIELD_AS(merge_result, changed[VLS_TOPIC_SESSION], "sessions", INT, VALISE_REQUIRED,
                    "Sessions that were changed."),
    VALISE_FIELD_AS(merge_result, changed[VLS_TOPIC_ROLE], "roles", INT, VALISE_REQUIRED,
                    "Roles that got a new version."),
    VALISE_FIELD_AS(merge_result, changed[VLS_TOPIC_PREFERENCE], "preferences", INT,
                    VALISE_REQUIRED, "Preferences that were changed."),
    VALISE_FIELD_AS(merge_result, changed[VLS_TOPIC_CONTEXT], "entries", INT, VALISE_REQUIRED,
                    "Context entries that were changed."),
    VALISE_FIELD_END,
};

/* Each begins with its key. */
typedef union any_row {
    valise_uuid id;
    valise_str name;
    vls_session_row session;
    vls_role_row role;
    vls_preference_row preference;
    vls_context_entry_row entry;
} any_row;

typedef struct merging {
    valise_view *view;
    valise_list from; /* tidy, without `to` */
    valise_str to;
    size_t rows;
} merging;

/* ---- what a kind of row needs ---- */

static int put_session(merging *m, any_row *row, valise_error *err)
{
    row->session.updated = m->view->stamp.time;
    return valise_view_put(m->view, &vls_sessions, &row->session, err);
}

static int put_role(merging *m, any_row *row, valise_error *err)
{
    vls_role_version_row version;
    vls_role_made made;
    int rc = vls_role_version_get(&version, m->view, row->role.name, row->role.version, err);

    if (rc < 0)
        return rc;
    version.topics = row->role.topics;
    return vls_role_put(&made, m->view, &version, row->role.created, err);
}

static int put_preference(merging *m, any_row *row, valise_error *err)
{
    row->preference.version++;
    row->preference.updated = m->view->stamp.time;
    row->preference.actor = m->view->stamp.actor;
    return valise_view_put(m->view, &vls_preferences, &row->preference, err);
}

static int put_entry(merging *m, any_row *row, valise_error *err)
{
    row->entry.version++;
    row->entry.updated = m->view->stamp.time;
    row->entry.actor = m->view->stamp.actor;
    return valise_view_put(m->view, &vls_context_entries, &row->entry, err);
}

typedef struct kind {
    const valise_coll *coll;
    const char *needs;
    size_t topics; /* offset */
    bool named;    /* the key is a text, else a UUID */
    int (*put)(merging *m, any_row *row, valise_error *err);
} kind;

static const kind kinds[VLS_TOPIC_KINDS] = {
    {&vls_sessions, "session:write", offsetof(vls_session_row, topics), false, put_session},
    {&vls_roles, "role:write", offsetof(vls_role_row, topics), true, put_role},
    {&vls_preferences, "preference:write", offsetof(vls_preference_row, topics), false,
     put_preference},
    {&vls_context_entries, "memory:write", offsetof(vls_context_entry_row, topics), true,
     put_entry},
};

static valise_list *topics_of(const kind *k, any_row *row)
{
    return (valise_list *)(void *)((char *)row + k->topics);
}

/* ---- which rows ---- */

typedef vls_vec(any_row) keys; /* only their keys are set */

static bool has_one(const merging *m, valise_list topics)
{
    const valise_str *topic = topics.items;

    for (size_t i = 0; i < topics.count; i++) {
        if (vls_topics_have(m->from, topic[i]))
            return true;
    }
    return false;
}

static int keep_key(keys *out, merging *m, const kind *k, const any_row *row, valise_error *err)
{
    any_row key;
    int rc = 0;

    if (++m->rows > ROWS_MAX) {
        (void)vls_fail(err, VALISE_E_LIMIT,
                       "more than %d sessions, roles, preferences and entries have these topics",
                       ROWS_MAX);
        vls_hint(err, "merge fewer topics at once, or change the sessions one by one: valise "
                      "session update --topics");
        return VALISE_E_LIMIT;
    }
    memset(&key, 0, sizeof(key));
    if (k->named)
        rc = vls_arena_dup(&key.name, &m->view->arena, row->name, err);
    else
        key.id = row->id;
    if (rc == 0 && !vls_vec_push_in(out, &m->view->arena, key))
        rc = vls_arena_fail(&m->view->arena, err);
    return rc;
}

static int find(keys *out, merging *m, const kind *k, valise_error *err)
{
    valise_scan *scan = NULL;
    any_row row;
    int rc = valise_view_scan(&scan, m->view, k->coll, NULL, err);

    memset(&row, 0, sizeof(row));
    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        if (has_one(m, *topics_of(k, &row)))
            rc = keep_key(out, m, k, &row, err);
    }
    valise_scan_close(scan);
    return rc;
}

/* ---- changing them ---- */

static int merge_kind(int64_t *changed, merging *m, const kind *k, valise_error *err)
{
    const vls_topics_change change = {.add = {&m->to, 1}, .remove = m->from};
    keys found = VLS_VEC_INIT;
    int rc = find(&found, m, k, err);

    if (rc == 0 && found.len > 0)
        rc = valise_view_allows(m->view, k->needs, NULL, err);
    for (size_t i = 0; rc == 0 && i < found.len; i++) {
        any_row *row = &found.ptr[i];
        rc = valise_view_get(row, m->view, k->coll, err);
        if (rc > 0)
            rc = vls_topics_apply(topics_of(k, row), m->view, &change, err);
        if (rc == 0)
            rc = k->put(m, row, err);
    }
    *changed = (int64_t)found.len;
    return rc;
}

/* Those that go, tidy; a topic does not become itself. */
static int settle(merging *m, const merge_args *args, valise_error *err)
{
    valise_list from = args->from;
    valise_str *kept;
    size_t count = 0;
    int rc = vls_memory_check_name(args->to, "a topic", err);

    if (rc == 0)
        rc = vls_topics_tidy(&from, m->view, err);
    if (rc < 0)
        return rc;
    kept = vls_arena_array(&m->view->arena, from.count + 1, sizeof(*kept));
    if (!kept)
        return vls_arena_fail(&m->view->arena, err);
    for (size_t i = 0; i < from.count; i++) {
        valise_str topic = ((const valise_str *)from.items)[i];
        if (!vls_str_equal(topic, args->to))
            kept[count++] = topic;
    }
    m->from = (valise_list){kept, count};
    m->to = args->to;
    return 0;
}

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    merging m = {.view = view};
    merge_result *out = result;
    int rc = settle(&m, in, err);

    for (size_t i = 0; rc == 0 && i < VLS_TOPIC_KINDS; i++)
        rc = merge_kind(&out->changed[i], &m, &kinds[i], err);
    return rc;
}

const valise_op vls_op_chat_topic_merge = {
    .size = sizeof(valise_op),
    .name = "topic:merge",
    .brief = "Merge several topics into one, everywhere.",
    .help = "Sessions, roles, preferences and context entries that have one of them get the new "
            "one instead; a role gets a new version. Needs the right to write each of them.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "session:write",
    .in = merge_in,
    .in_size = sizeof(merge_args),
    .out = merge_out,
    .out_size = sizeof(merge_result),
    .decide = decide,
    .example = "{\"from\":[\"golang\",\"go-lang\"],\"to\":\"go\"}",
};
