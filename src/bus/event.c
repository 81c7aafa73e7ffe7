/* event.c -- events made from entries and rows (event.h). */
#include "bus/event.h"

#include "base/glob.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/uuid.h"
#include "field/field.h"
#include "json/json.h"

/* ---- sets of events ---- */

int vls_events_new(vls_events **out, const valise_env *env, int64_t seq, size_t max,
                   valise_error *err)
{
    vls_events *events = vls_mem_zalloc(env, sizeof(*events));

    if (!events)
        return vls_fail_memory(err);
    vls_ref_init(&events->refs);
    vls_arena_init(&events->arena, env, VLS_VIEW_MAX_BYTES);
    events->seq = seq;
    events->events = vls_arena_array(&events->arena, max, sizeof(valise_event));
    if (!events->events) {
        int rc = vls_arena_fail(&events->arena, err);
        vls_events_unref(events);
        return rc;
    }
    *out = events;
    return 0;
}

vls_events *vls_events_ref(vls_events *events)
{
    vls_ref_get(&events->refs);
    return events;
}

void vls_events_unref(vls_events *events)
{
    const valise_env *env;

    if (!events || !vls_ref_put(&events->refs))
        return;
    env = events->arena.env;
    vls_arena_release(&events->arena);
    vls_mem_free(env, events, sizeof(*events));
}

int vls_events_add(vls_events *events, const valise_event *event, valise_error *err)
{
    valise_event copy = *event;
    valise_str *texts[] = {&copy.type,           &copy.source, &copy.node_id,
                           &copy.namespace_name, &copy.run_id, &copy.payload};

    copy.size = sizeof(copy);
    for (size_t i = 0; i < VLS_COUNT(texts); i++) {
        int rc = vls_arena_dup(texts[i], &events->arena, *texts[i], err);
        if (rc < 0)
            return rc;
    }
    events->events[events->count++] = copy;
    return 0;
}

/* ---- the command ---- */

/* What every event of an entry has in common; its type is the command's. */
static valise_event event_of(const vls_entry *entry)
{
    return (valise_event){
        .size = sizeof(valise_event),
        .id = entry->id,
        .seq = entry->seq,
        .time = entry->time,
        .type = entry->type,
        .source = entry->actor,
        .cause = entry->cause,
        .payload = VLS_STR("{}"),
    };
}

/* {"result":...,"seq":12,"type":"pin:add"}: answers hold ids and sizes, never contents. */
static int add_command(vls_events *events, const vls_entry *entry, valise_error *err)
{
    valise_event event = event_of(entry);
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    vls_buf_init(&text, events->arena.env, VLS_EVENT_MAX_PAYLOAD);
    vls_buf_add_byte(&text, '{');
    if (entry->result.len > 0 && entry->result.len <= VLS_EVENT_MAX_RESULT) {
        vls_buf_add_text(&text, "\"result\":");
        vls_buf_add(&text, entry->result);
        vls_buf_add_byte(&text, ',');
    }
    vls_buf_add_text(&text, "\"seq\":");
    vls_buf_add_i64(&text, entry->seq);
    vls_buf_add_text(&text, ",\"type\":");
    vls_json_write_string(&text, entry->type);
    vls_buf_add_byte(&text, '}');
    rc = vls_buf_check(&text, err);
    if (rc < 0)
        return rc;
    event.payload = vls_buf_str(&text);
    return vls_events_add(events, &event, err);
}

/* ---- changes ---- */

int vls_event_of_change(valise_event *out, vls_changes_walk *walk, const vls_change *change,
                        const void *before, const void *after, valise_error *err)
{
    const valise_coll *desc = change->coll->desc;
    valise_event event = event_of(walk->entry);
    valise_event told = {.size = sizeof(told)};
    int rc = 0;

    event.index = change->index;
    vls_uuid_derive(&event.id, &walk->entry->id, VLS_EVENT_FIRST_ID + event.index);
    if (desc->event)
        rc = desc->event(&told, &walk->view, before, after, err);
    if (rc < 0)
        return rc;
    if (rc > 0 && told.type.len > 0) {
        event.type = told.type;
        event.node_id = told.node_id;
        event.namespace_name = told.namespace_name;
        event.run_id = told.run_id;
        if (told.payload.len > 0)
            event.payload = told.payload;
    }
    *out = event;
    return rc > 0 && told.type.len > 0;
}

/* Whether trying again may help. What always fails must not hold up everybody who follows: that
 * change tells nothing, and `validate` finds what is wrong with its row. */
static bool may_pass(int rc)
{
    return rc == VALISE_E_NO_MEMORY || rc == VALISE_E_IO || rc == VALISE_E_BUSY;
}

static int add_change(vls_events *events, vls_changes_walk *walk, const vls_change *change,
                      valise_error *err)
{
    valise_error trouble = VALISE_ERROR_INIT;
    const void *before, *after;
    valise_event event = {0};
    int rc = vls_change_before(&before, walk, change, &trouble);

    if (rc == 0)
        rc = vls_change_after(&after, walk, change, &trouble);
    if (rc == 0 && (before || after)) /* a QUIET row may have expired: then nothing is told */
        rc = vls_event_of_change(&event, walk, change, before, after, &trouble);
    if (rc > 0)
        rc = vls_events_add(events, &event, &trouble);
    if (!may_pass(rc))
        return 0;
    if (err)
        *err = trouble;
    return rc;
}

static int count_changes(size_t *count, const vls_entry *entry, valise_error *err)
{
    vls_image image;
    size_t at = 0;
    int rc;

    *count = 0;
    while ((rc = vls_changes_next(&image, &at, entry->changes, err)) > 0)
        ++*count;
    return rc;
}

int vls_events_of_entry(vls_events **out, vls_txn *txn, const vls_entry *entry,
                        const vls_ahead *ahead, valise_error *err)
{
    VLS_AUTO(events) vls_events *events = NULL;
    VLS_AUTO(changes) vls_changes_walk walk = {0};
    vls_change change;
    size_t count;
    int rc = count_changes(&count, entry, err);

    if (rc == 0)
        rc = vls_events_new(&events, vls_store_env(txn->store), entry->seq, count + 1, err);
    if (rc == 0)
        rc = add_command(events, entry, err);
    if (rc == 0)
        rc = vls_changes_begin(&walk, txn, entry, ahead, err);
    if (rc < 0)
        return rc;
    assert(events);
    while (rc >= 0 && (rc = vls_changes_step(&change, &walk, err)) > 0) {
        if (change.coll && !change.coll->foreign && change.coll->desc->event)
            rc = add_change(events, &walk, &change, err);
    }
    if (rc < 0)
        return rc;
    *out = VLS_TAKE(events);
    return 0;
}

/* ---- filters ---- */

static int check_text(const char *name, valise_str text, valise_error *err)
{
    if (text.len <= VLS_EVENT_MAX_TEXT)
        return 0;
    return vls_fail(err, VALISE_E_INVALID, "filter: %s has more than %u bytes", name,
                    VLS_EVENT_MAX_TEXT);
}

int vls_filter_check(const valise_filter *filter, valise_error *err)
{
    int rc = check_text("node", filter->node_id, err);

    if (rc == 0)
        rc = check_text("run", filter->run_id, err);
    if (rc == 0)
        rc = check_text("namespace", filter->namespace_pattern, err);
    if (rc == 0 && filter->namespace_pattern.len > 0)
        rc = vls_glob_check(&vls_glob_dotted, filter->namespace_pattern, err);
    for (size_t i = 0; rc == 0 && filter->types && filter->types[i]; i++) {
        valise_str type = valise_str_of(filter->types[i]);
        if (i >= VLS_EVENT_MAX_TEXT)
            return vls_fail(err, VALISE_E_LIMIT, "filter: more than %u types", VLS_EVENT_MAX_TEXT);
        rc = check_text("type", type, err);
        if (rc == 0)
            rc = vls_glob_check(&vls_glob_flat, type, err);
    }
    return rc;
}

static bool type_matches(const char *const *types, valise_str type)
{
    if (!types)
        return true;
    for (size_t i = 0; types[i]; i++) {
        if (vls_glob_match(&vls_glob_flat, valise_str_of(types[i]), type))
            return true;
    }
    return false;
}

bool vls_filter_match(const valise_filter *filter, const valise_event *event)
{
    if (filter->node_id.len > 0 && !vls_str_equal(filter->node_id, event->node_id))
        return false;
    if (filter->run_id.len > 0 && !vls_str_equal(filter->run_id, event->run_id))
        return false;
    if (filter->namespace_pattern.len > 0 &&
        !vls_glob_match(&vls_glob_dotted, filter->namespace_pattern, event->namespace_name))
        return false;
    return type_matches(filter->types, event->type);
}

static int copy_types(const char *const **out, const char *const *types, vls_arena *arena,
                      valise_error *err)
{
    const char **copy;
    size_t count = 0;

    while (types[count])
        count++;
    copy = vls_arena_array(arena, count + 1, sizeof(*copy));
    if (!copy)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < count; i++) {
        valise_str text;
        int rc = vls_arena_dup(&text, arena, valise_str_of(types[i]), err);
        if (rc < 0)
            return rc;
        copy[i] = text.ptr;
    }
    copy[count] = NULL;
    *out = copy;
    return 0;
}

int vls_filter_copy(valise_filter *out, const valise_filter *filter, vls_arena *arena,
                    valise_error *err)
{
    valise_filter copy = *filter;
    int rc = vls_arena_dup(&copy.node_id, arena, filter->node_id, err);

    copy.size = sizeof(copy);
    if (rc == 0)
        rc = vls_arena_dup(&copy.run_id, arena, filter->run_id, err);
    if (rc == 0)
        rc = vls_arena_dup(&copy.namespace_pattern, arena, filter->namespace_pattern, err);
    if (rc == 0 && filter->types)
        rc = copy_types(&copy.types, filter->types, arena, err);
    if (rc == 0)
        *out = copy;
    return rc;
}

/* ---- what a row tells ---- */

int vls_event_tell(valise_event *out, valise_view *view, const char *type, const void *told,
                   const valise_field *fields, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    valise_str payload;
    int rc;

    vls_buf_init(&text, view->arena.env, (size_t)64 * 1024);
    rc = vls_fields_write(&text, told, fields, VLS_FIELD_LOGGED, 0, err);
    if (rc == 0)
        rc = vls_arena_dup(&payload, &view->arena, vls_buf_str(&text), err);
    if (rc < 0)
        return rc;
    out->type = valise_str_of(type);
    out->payload = payload;
    return 1;
}

/* ---- who may see it ---- */

/* The area of the capability that the command itself needs: `context:add` writes memory. Where that
 * says nothing (admin, a live event), the area of its name. */
static valise_str area_of(const vls_registry *registry, valise_str command)
{
    valise_str area, needed, rest;
    bool cut = vls_str_cut(&area, &rest, command, ':');
    /* No operation has capitals: of "flow:NODE_START" nothing need be looked up. */
    bool live = cut && rest.len > 0 && rest.ptr[0] >= 'A' && rest.ptr[0] <= 'Z';
    const valise_op *op = live ? NULL : vls_registry_op(registry, command);

    if (op && op->needs && vls_str_cut(&needed, &rest, valise_str_of(op->needs), ':'))
        return needed;
    return cut ? area : (valise_str){NULL, 0};
}

void vls_event_need_of(vls_event_need *out, const vls_registry *registry, const valise_event *event,
                       valise_str command)
{
    const struct {
        const char *name;
        valise_str value;
    } pairs[] = {
        {"namespace", event->namespace_name},
        {"nodeId", event->node_id},
        {"runId", event->run_id},
    };
    valise_str area = area_of(registry, command);
    size_t n = 0;

    if (area.len == 0 || area.len > 64)
        area = VLS_STR("event");
    *out = (vls_event_need){0};
    memcpy(out->capability, area.ptr, area.len); /* for each event: printing shows */
    memcpy(out->capability + area.len, ":read", sizeof(":read"));
    for (size_t i = 0; i < VLS_COUNT(pairs); i++) {
        if (pairs[i].value.len > 0) {
            out->attrs[n++] = pairs[i].name;
            out->attrs[n++] = pairs[i].value.ptr;
        }
    }
}
