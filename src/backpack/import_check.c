/* import_check.c -- do the commits and rows of a document make sense together?
 *
 *     items      seqs rise up to the edge, with gaps: what is between them was superseded
 *     history    edge + 1 and on, without gaps; versions grow; each action fits what was before
 *     rows       in the order of their keys, about commits that are there
 *
 * Times never decrease over both. All numbers can be counted on from. */
#include "backpack/import.h"

#include "backpack/decide.h"
#include "backpack/look.h"

#include "base/map.h"
#include "base/uuid.h"

typedef struct key_state {
    valise_str key;
    int64_t version, seq;
    bool live;
    valise_id value; /* of the item */
} key_state;

typedef struct check {
    const vls_import *in;
    const vls_document *doc;
    vls_map keys;
    vls_arena arena;
    int64_t last, time; /* of the commit before */
    int64_t runs;       /* the highest number of a run */
    bool any;
} check;

static const valise_id no_value;

#define REFUSE(err, ...) vls_fail((err), VALISE_E_INVALID, __VA_ARGS__)

static bool is_key(const void *item, const void *key)
{
    return vls_str_equal(((const key_state *)item)->key, *(const valise_str *)key);
}

static int state_of(key_state **out, check *c, valise_str key, valise_error *err)
{
    uint64_t hash = vls_str_hash(key, 0);
    key_state *state = vls_map_get(&c->keys, hash, &key);

    if (!state) {
        state = vls_arena_zalloc(&c->arena, sizeof(*state));
        if (!state)
            return vls_arena_fail(&c->arena, err);
        state->key = key;
        if (vls_map_put(NULL, &c->keys, hash, &key, state) < 0)
            return vls_fail_memory(err);
    }
    *out = state;
    return 0;
}

/* More than that only where it counts on: what an import went on with can be exported too. */
static int check_upto(const char *member, int64_t number, int64_t counted, valise_error *err)
{
    int64_t max = VLS_MAX(counted, VLS_BAG_NUMBER_MAX);

    if (number >= 0 && number <= max)
        return 0;
    (void)REFUSE(err, "%lld is not between 0 and %lld", (long long)number, (long long)max);
    vls_error_prepend(err, "%s", member);
    return VALISE_E_INVALID;
}

static int check_number(const char *member, int64_t number, valise_error *err)
{
    return check_upto(member, number, 0, err);
}

/* ---- one commit by itself ---- */

static int check_names(const char *member, valise_list names, size_t max,
                       int (*fn)(valise_str name, valise_error *err), valise_error *err)
{
    const valise_str *name = names.items;
    int rc = names.count > max
                 ? vls_fail(err, VALISE_E_LIMIT, "%zu names: %zu are allowed", names.count, max)
                 : 0;

    for (size_t i = 0; i < names.count && rc == 0; i++) {
        rc = fn(name[i], err);
        if (rc == 0 && i > 0 && vls_str_compare(name[i - 1], name[i]) >= 0)
            rc = REFUSE(err, "names are sorted, and none stands twice");
    }
    if (rc < 0)
        vls_error_prepend(err, "%s", member);
    return rc;
}

int vls_commit_check_texts(const valise_commit *m, valise_error *err)
{
    int rc = vls_bag_check_key(m->key, err);

    if (rc == 0)
        rc = vls_bag_check_node(m->node_id, err);
    if (rc == 0)
        rc = vls_bag_check_node(m->node_name, err);
    if (rc == 0 && m->namespace_name.ptr)
        rc = vls_bag_check_namespace(m->namespace_name, err);
    if (rc == 0)
        rc = check_names("tags", m->tags, VLS_BAG_TAGS_MAX, vls_bag_check_tag, err);
    if (rc == 0)
        rc = check_names("read", m->read, VLS_BAG_LIST_MAX, vls_bag_check_node, err);
    if (rc == 0)
        rc = check_names("write", m->write, VLS_BAG_LIST_MAX, vls_bag_check_node, err);
    if (rc == 0)
        rc = check_names("declassified", m->declassified, VLS_BAG_TAGS_MAX, vls_bag_check_tag, err);
    if (rc == 0 && (m->reason.len > VLS_BAG_REASON_MAX || m->error.len > VLS_BAG_ERROR_MAX))
        rc = vls_fail(err, VALISE_E_LIMIT, "the reason or the error is too long");
    if (rc == 0 && m->action != VALISE_ACTION_QUARANTINE && (m->reason.ptr || m->error.ptr))
        rc = REFUSE(err, "only a quarantine has a reason or an error");
    return rc;
}

static int check_taints(const valise_commit *m, valise_error *err)
{
    const valise_taint *const *taint = m->taints.items;
    int rc = 0;

    for (size_t i = 0; i < m->taints.count && rc == 0; i++) {
        rc = vls_bag_check_tag(taint[i]->tag, err);
        if (rc == 0 && taint[i]->seq < 1)
            rc = REFUSE(err, "commits are numbered from 1");
        if (rc == 0)
            rc = check_upto("seq", taint[i]->seq, m->seq, err);
        if (rc == 0 && !vls_bag_has_name(m->tags, taint[i]->tag))
            rc = REFUSE(err, "'%.*s' is not a tag of the item", VALISE_STR_ARG(taint[i]->tag));
        if (rc < 0)
            vls_error_prepend(err, "taints[%zu]", i);
    }
    return rc;
}

static int check_value(const check *c, const valise_commit *m, valise_error *err)
{
    bool has = !vls_id_equal(&m->value, &no_value);
    const valise_blob *value = has ? vls_import_find(c->in, &m->value) : NULL;
    valise_str bytes;

    if (!has && (m->value_size != 0 || m->summary.ptr))
        return REFUSE(err, "a size or a summary without a value");
    if (!has)
        return 0;
    if (m->action == VALISE_ACTION_DELETE)
        return REFUSE(err, "a delete has no value");
    if (!value)
        return REFUSE(err, "its value is not among the values");
    bytes = vls_blob_bytes(value);
    if (m->value_size != (int64_t)bytes.len)
        return REFUSE(err, "its value has %zu bytes, not %lld", bytes.len,
                      (long long)m->value_size);
    if (!vls_str_equal(m->summary, vls_commit_summary(bytes, m->tags)))
        return REFUSE(err, "the summary is not that of the value");
    return 0;
}

/* ---- one commit after the others ---- */

/* Is the commit that is known of the key the one before? Not where it lies before the edge and is
 * no item: the quarantine holds it, and what came after may have been dropped. */
static bool is_exact(const check *c, const key_state *s)
{
    return s->seq > c->doc->edge || s->live || (s->seq == 0 && c->doc->edge == 0);
}

/* Versions grow. Not by one where commits are missing: an archive may have lost some. */
static int check_version(const valise_commit *m, const key_state *s, valise_error *err)
{
    int64_t least = vls_commit_is_live(m) ? s->version + 1 : s->version;

    return m->version >= least
               ? 0
               : REFUSE(err, "version %lld of '%.*s' does not follow %lld", (long long)m->version,
                        VALISE_STR_ARG(m->key), (long long)s->version);
}

static int check_before(const check *c, const valise_commit *m, const key_state *s,
                        valise_error *err)
{
    bool had = !vls_id_equal(&m->previous_value, &no_value);

    if (m->action == VALISE_ACTION_DELETE && !s->live)
        return REFUSE(err, "'%.*s' cannot be deleted: it is not there", VALISE_STR_ARG(m->key));
    if (m->action == VALISE_ACTION_RELEASE && s->live)
        return REFUSE(err, "'%.*s' cannot be released: it is there", VALISE_STR_ARG(m->key));
    if (m->previous < 0 || m->previous >= m->seq ||
        (m->previous != 0 && is_exact(c, s) && m->previous != s->seq))
        return REFUSE(err, "commit %lld is not the one before", (long long)m->previous);
    if (had && !(s->live && vls_id_equal(&m->previous_value, &s->value)))
        return REFUSE(err, "the previous value is not the item's");
    if (m->run < 0 || m->run > c->runs)
        return REFUSE(err, "there is no run %lld", (long long)m->run);
    if (m->entry < 0 || m->entry > VLS_MAX(m->seq, VLS_BAG_NUMBER_MAX) ||
        (m->entry > 0 && m->action != VALISE_ACTION_RELEASE && m->action != VALISE_ACTION_MERGE))
        return REFUSE(err, "only a release or a merge has an entry");
    return 0;
}

static int check_commit(check *c, const valise_commit *m, valise_error *err)
{
    key_state *s = NULL;
    bool old = m->seq <= c->doc->edge;
    int rc = vls_commit_check_texts(m, err);

    if (rc == 0 && m->action == VALISE_ACTION_UNPACK)
        rc = REFUSE(err, "reads are no commits");
    if (rc == 0 && c->any && m->time < c->time)
        rc = REFUSE(err, "its time lies before that of the commit before");
    if (rc == 0)
        rc = check_value(c, m, err);
    if (rc == 0)
        rc = check_taints(m, err);
    if (rc == 0)
        rc = state_of(&s, c, m->key, err);
    if (rc == 0)
        rc = check_upto("version", m->version, s->version + 1, err);
    if (rc == 0)
        rc = check_version(m, s, err);
    if (rc == 0 && !old)
        rc = check_before(c, m, s, err);
    if (rc != 0)
        return rc;
    *s = (key_state){m->key, m->version, m->seq, vls_commit_is_live(m), m->value};
    c->last = m->seq;
    c->time = m->time;
    c->any = true;
    return 0;
}

static int check_commits(check *c, const char *member, valise_list commits, bool gaps,
                         valise_error *err)
{
    const valise_commit *const *list = commits.items;
    int rc = 0;

    for (size_t i = 0; i < commits.count && rc == 0; i++) {
        const valise_commit *m = list[i];
        if (gaps ? m->seq <= c->last || m->seq > c->doc->edge
                 : m->seq != c->doc->edge + 1 + (int64_t)i)
            rc = REFUSE(err, "commit %lld does not follow", (long long)m->seq);
        if (rc == 0)
            rc = check_commit(c, m, err);
        if (rc < 0 && c->in->places)
            vls_error_prepend(err, "%s[%zu]", c->in->places[i].member, c->in->places[i].index);
        else if (rc < 0)
            vls_error_prepend(err, "%s[%zu]", member, i);
    }
    return rc;
}

/* ---- rows ---- */

static int compare_seq(const void *key, const void *item)
{
    int64_t seq = *(const int64_t *)key;
    const valise_commit *commit = *(const valise_commit *const *)item;

    return (seq > commit->seq) - (seq < commit->seq);
}

static const valise_commit *commit_at(const vls_document *doc, int64_t seq)
{
    valise_list list = seq > doc->edge ? doc->history : doc->items;
    const valise_commit *const *found =
        list.count == 0
            ? NULL
            : bsearch(&seq, list.items, list.count, sizeof(valise_commit *), compare_seq);

    return found ? *found : NULL;
}

static int check_entry(const check *c, const vls_quarantine_row *row, valise_error *err)
{
    const valise_commit *put = commit_at(c->doc, row->seq);
    const valise_commit *item = row->item > 0 ? commit_at(c->doc, row->item) : NULL;
    const valise_commit *out = row->released > 0 ? commit_at(c->doc, row->released) : NULL;

    if (!put || put->action != VALISE_ACTION_QUARANTINE || !vls_str_equal(put->key, row->key))
        return REFUSE(err, "commit %lld has not quarantined '%.*s'", (long long)row->seq,
                      VALISE_STR_ARG(row->key));
    if (row->item != 0 &&
        (!item || row->item >= row->seq || !vls_commit_is_live(item) ||
         !vls_str_equal(item->key, row->key) || (put->previous > 0 && put->previous != row->item) ||
         !vls_uuid_equal(&row->item_backpack, &c->doc->id)))
        return REFUSE(err, "commit %lld is not an item that it could hold", (long long)row->item);
    if (row->released != 0 &&
        (!out || out->action != VALISE_ACTION_RELEASE || out->entry != row->seq))
        return REFUSE(err, "commit %lld has not released it", (long long)row->released);
    return 0;
}

static int check_quarantine(const check *c, valise_error *err)
{
    const vls_quarantine_row *const *rows = c->doc->quarantine.items;
    const valise_commit *const *history = c->doc->history.items;
    size_t released = 0, releases = 0;
    int rc = 0;

    for (size_t i = 0; i < c->doc->quarantine.count && rc == 0; i++) {
        if (i > 0 && rows[i - 1]->seq >= rows[i]->seq)
            rc = REFUSE(err, "entries are in the order of their commits");
        if (rc == 0)
            rc = check_entry(c, rows[i], err);
        if (rc < 0)
            vls_error_prepend(err, "quarantine[%zu]", i);
        released += rows[i]->released > 0;
    }
    for (size_t i = 0; i < c->doc->history.count; i++)
        releases += history[i]->action == VALISE_ACTION_RELEASE && history[i]->entry > 0;
    if (rc == 0 && released != releases)
        rc = REFUSE(err, "quarantine: %zu entries were released, by %zu commits", released,
                    releases);
    return rc;
}

static int check_checkpoints(const check *c, valise_error *err)
{
    const vls_bag_checkpoint_row *const *rows = c->doc->checkpoints.items;
    int rc = 0;

    for (size_t i = 0; i < c->doc->checkpoints.count && rc == 0; i++) {
        vls_point point = {0};
        rc = vls_point_parse(&point, rows[i]->name, err);
        if (rc == 0 && point.kind != VLS_POINT_NAME)
            rc = REFUSE(err, "'%.*s' cannot be the name of a checkpoint",
                        VALISE_STR_ARG(rows[i]->name));
        if (rc == 0 && i > 0 && vls_str_compare(rows[i - 1]->name, rows[i]->name) >= 0)
            rc = REFUSE(err, "checkpoints are in the order of names");
        if (rc == 0 && (rows[i]->seq < c->doc->edge || rows[i]->seq > c->last))
            rc = REFUSE(err, "there is no state %lld", (long long)rows[i]->seq);
        if (rc < 0)
            vls_error_prepend(err, "checkpoints[%zu]", i);
    }
    return rc;
}

static int check_merges(const check *c, valise_error *err)
{
    const vls_merge_row *const *rows = c->doc->merges.items;
    int rc = 0;

    for (size_t i = 0; i < c->doc->merges.count && rc == 0; i++) {
        const vls_merge_row *row = rows[i];
        rc = check_number("upto", row->upto, err);
        if (rc == 0 && (row->seq < 0 || row->seq > c->last))
            rc = REFUSE(err, "there is no state %lld", (long long)row->seq);
        if (rc == 0 && i > 0 &&
            (rows[i - 1]->seq > row->seq ||
             (rows[i - 1]->seq == row->seq &&
              vls_uuid_compare(&rows[i - 1]->theirs, &row->theirs) >= 0)))
            rc = REFUSE(err, "merges are in the order of their commits");
        if (rc < 0)
            vls_error_prepend(err, "merges[%zu]", i);
    }
    return rc;
}

static int check_runs(check *c, valise_error *err)
{
    const vls_run_row *const *rows = c->doc->runs.items;
    int64_t last = c->doc->edge + (int64_t)c->doc->history.count;
    int rc = 0;

    for (size_t i = 0; i < c->doc->runs.count && rc == 0; i++) {
        const vls_run_row *row = rows[i];
        rc = vls_bag_check_node(row->node_id, err);
        if (rc == 0 && row->number <= c->runs)
            rc = REFUSE(err, "runs count from 1, in order");
        if (rc == 0)
            rc = check_upto("number", row->number, c->runs + 1, err);
        if (rc == 0 && (row->nth < 0 || row->nth > row->number))
            rc = REFUSE(err, "a node cannot have run more often than all together");
        if (rc == 0 &&
            (row->start < 0 || row->start > last || (row->end < 0 && row->end != VALISE_NONE) ||
             row->end > last || (row->end > 0 && row->end < row->start)))
            rc = REFUSE(err, "it goes over commits that are not there");
        if (rc < 0)
            vls_error_prepend(err, "runs[%zu]", i);
        c->runs = row->number;
    }
    return rc;
}

static int check_permissions(const check *c, valise_error *err)
{
    const vls_permission_row *const *rows = c->doc->permissions.items;
    int rc = 0;

    for (size_t i = 0; i < c->doc->permissions.count && rc == 0; i++) {
        rc = vls_bag_check_node(rows[i]->node_id, err);
        if (rc == 0)
            rc = vls_permissions_check(&rows[i]->allow, err);
        if (rc == 0 && i > 0 && vls_str_compare(rows[i - 1]->node_id, rows[i]->node_id) >= 0)
            rc = REFUSE(err, "permissions are in the order of nodes");
        if (rc < 0)
            vls_error_prepend(err, "permissions[%zu]", i);
    }
    return rc;
}

static int check_rules(const check *c, valise_error *err)
{
    const vls_rule_row *const *rows = c->doc->rules.items;
    int rc = 0;

    for (size_t i = 0; i < c->doc->rules.count && rc == 0; i++) {
        rc = vls_bag_check_tag(rows[i]->tag, err);
        for (size_t n = 0; n < rows[i]->read.count && rc == 0; n++)
            rc = vls_bag_check_node(((const valise_str *)rows[i]->read.items)[n], err);
        for (size_t n = 0; n < rows[i]->write.count && rc == 0; n++)
            rc = vls_bag_check_node(((const valise_str *)rows[i]->write.items)[n], err);
        if (rc == 0 && i > 0 && vls_str_compare(rows[i - 1]->tag, rows[i]->tag) >= 0)
            rc = REFUSE(err, "rules are in the order of tags");
        if (rc < 0)
            vls_error_prepend(err, "rules[%zu]", i);
    }
    return rc;
}

static int check_all(check *c, valise_error *err)
{
    int rc = check_number("edge", c->doc->edge, err);

    if (rc == 0 && c->doc->origin)
        rc = check_number("origin.seq", c->doc->origin->seq, err);
    if (rc == 0)
        rc = check_runs(c, err);
    if (rc == 0)
        rc = check_commits(c, "items", c->doc->items, true, err);
    if (rc == 0)
        rc = check_commits(c, "history", c->doc->history, false, err);
    c->last = VLS_MAX(c->last, c->doc->edge);
    if (rc == 0)
        rc = check_quarantine(c, err);
    if (rc == 0)
        rc = check_checkpoints(c, err);
    if (rc == 0)
        rc = check_merges(c, err);
    if (rc == 0)
        rc = check_permissions(c, err);
    if (rc == 0)
        rc = check_rules(c, err);
    return rc;
}

int vls_import_check(const vls_import *in, valise_error *err)
{
    check c = {.in = in, .doc = &in->doc};
    int rc;

    vls_arena_init(&c.arena, in->env, SIZE_MAX);
    vls_map_init(&c.keys, in->env, is_key);
    rc = check_all(&c, err);
    vls_map_release(&c.keys);
    vls_arena_release(&c.arena);
    return rc;
}
