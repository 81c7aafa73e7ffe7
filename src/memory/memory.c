/* memory.c -- names, topics, contents and time (memory.h). */
#include "memory/memory.h"

#include <stdlib.h>

#include "base/str.h"
#include "base/text.h"
#include "base/utf8.h"
#include "store/view.h"

/* ---- names ---- */

static bool has_control(valise_str text)
{
    uint32_t c = 0;

    for (size_t at = 0; at < text.len;) {
        size_t len = vls_utf8_decode(&c, text.ptr + at, text.len - at);
        if (len == 0 || vls_utf8_is_control(c))
            return true;
        at += len;
    }
    return false;
}

static bool is_blank_at_an_end(valise_str text)
{
    return text.len > 0 && (text.ptr[0] == ' ' || text.ptr[text.len - 1] == ' ');
}

int vls_memory_check_name(valise_str name, const char *what, valise_error *err)
{
    if (name.len == 0)
        return vls_fail(err, VALISE_E_INVALID, "%s is empty", what);
    if (has_control(name))
        return vls_fail(err, VALISE_E_INVALID, "%s, \"%s\", has a control character", what,
                        vls_text_short(name).s);
    if (is_blank_at_an_end(name))
        return vls_fail(err, VALISE_E_INVALID, "%s, \"%s\", begins or ends with a space", what,
                        vls_text_short(name).s);
    return 0;
}

/* ---- topics ---- */

int vls_topics_tidy(valise_list *topics, valise_view *view, valise_error *err)
{
    const valise_str *given = topics->items;
    valise_str *sorted;
    size_t count = 0;

    if (topics->count == 0)
        return 0;
    sorted = vls_arena_array(&view->arena, topics->count, sizeof(*sorted));
    if (!sorted)
        return vls_arena_fail(&view->arena, err);
    for (size_t i = 0; i < topics->count; i++) {
        int rc = vls_memory_check_name(given[i], "a topic", err);
        if (rc < 0)
            return rc;
        sorted[i] = given[i];
    }
    qsort(sorted, topics->count, sizeof(*sorted), vls_str_order);
    for (size_t i = 0; i < topics->count; i++) {
        if (count == 0 || !vls_str_equal(sorted[count - 1], sorted[i]))
            sorted[count++] = sorted[i];
    }
    *topics = (valise_list){sorted, count};
    return 0;
}

/* Those that stay, and those that come. */
static int join_topics(valise_list *topics, valise_view *view, const vls_topics_change *change,
                       valise_error *err)
{
    const valise_str *old = topics->items, *more = change->add.items;
    valise_list gone = change->remove;
    valise_str *all;
    size_t count = 0;
    int rc = vls_topics_tidy(&gone, view, err);

    if (rc < 0)
        return rc;
    all = vls_arena_array(&view->arena, topics->count + change->add.count + 1, sizeof(*all));
    if (!all)
        return vls_arena_fail(&view->arena, err);
    for (size_t i = 0; i < topics->count; i++) {
        if (!vls_topics_have(gone, old[i]))
            all[count++] = old[i];
    }
    for (size_t i = 0; i < change->add.count; i++)
        all[count++] = more[i];
    *topics = (valise_list){all, count};
    return 0;
}

int vls_topics_apply(valise_list *topics, valise_view *view, const vls_topics_change *change,
                     valise_error *err)
{
    const bool some = change->add.count > 0 || change->remove.count > 0;
    valise_list after = change->all.items ? change->all : *topics;
    int rc = 0;

    if (some && change->all.items) {
        (void)vls_fail(err, VALISE_E_INVALID, "`topics` replaces all topics");
        vls_hint(err, "give either `topics`, or `addTopics` and `removeTopics`");
        return VALISE_E_INVALID;
    }
    if (some)
        rc = join_topics(&after, view, change, err);
    if (rc == 0 && (some || change->all.items))
        rc = vls_topics_tidy(&after, view, err);
    if (rc < 0)
        return rc;
    if (after.count > VLS_TOPICS_MAX) {
        (void)vls_fail(err, VALISE_E_INVALID, "there would be %zu topics: at most %d are allowed",
                       after.count, VLS_TOPICS_MAX);
        vls_hint(err, "remove some with `removeTopics`");
        return VALISE_E_INVALID;
    }
    *topics = after;
    return 0;
}

bool vls_topics_equal(valise_list a, valise_list b)
{
    const valise_str *x = a.items, *y = b.items;

    if (a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; i++) {
        if (!vls_str_equal(x[i], y[i]))
            return false;
    }
    return true;
}

bool vls_topics_have(valise_list topics, valise_str topic)
{
    return topics.count > 0 &&
           bsearch(&topic, topics.items, topics.count, sizeof(topic), vls_str_order) != NULL;
}

/* ---- contents ---- */

int vls_memory_text(valise_str *out, valise_view *view, const valise_id *id, valise_error *err)
{
    valise_blob *blob = NULL;
    valise_str bytes = {NULL, 0};
    int rc;

    *out = bytes;
    if (vls_id_is_none(id))
        return 0;
    /* A copy in the arena of the view, so that a list can let go of it (vls_view_rewind). */
    rc = vls_view_blob(&blob, view, id, err);
    if (rc == 0)
        rc = vls_arena_dup(&bytes, &view->arena, vls_blob_bytes(blob), err);
    (void)valise_blob_unref(blob);
    if (rc == VALISE_E_NOT_FOUND) { /* erased, since another place had it */
        vls_error_clear(err);
        return 0;
    }
    if (rc == 0)
        *out = bytes.ptr ? bytes : VLS_STR("");
    return rc;
}

int vls_memory_brief(valise_str *out, valise_view *view, valise_str text, valise_error *err)
{
    vls_buf line;

    if (!text.ptr)
        return 0;
    vls_buf_init_in(&line, &view->arena, (size_t)8 * VLS_MEMORY_BRIEF_MAX);
    vls_text_add_line(&line, text, VLS_MEMORY_BRIEF_MAX);
    return vls_buf_keep(out, &line, err);
}

/* ---- time ---- */

int vls_memory_now(int64_t *out, valise_view *view, valise_error *err)
{
    valise_str actor;
    int64_t time = VALISE_NONE;
    int rc = 0;

    if (!view->changing && view->txn && view->at != view->txn->tip.seq)
        rc = vls_memory_who(&actor, &time, view, view->at, err);
    if (rc == 0)
        *out = time == VALISE_NONE ? view->stamp.time : time;
    return rc;
}

int vls_memory_who(valise_str *actor, int64_t *time, valise_view *view, int64_t seq,
                   valise_error *err)
{
    vls_entry entry;
    int rc = vls_log_get(&entry, view->txn, seq, &view->arena, err);

    if (rc < 0)
        return rc;
    *actor = rc > 0 ? entry.actor : (valise_str){NULL, 0};
    *time = rc > 0 ? entry.time : VALISE_NONE;
    return 0;
}

int vls_memory_current(valise_str *json, valise_view *view, int64_t version, valise_error *err)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%lld", (long long)version);
    return vls_arena_dup(json, &view->arena, valise_str_of(version > 0 ? text : "null"), err);
}
