/* export.c -- a backpack as JSON.
 *
 * Everything is collected first and then written in one go. A fork stands alone afterwards: the
 * commits that it has from its origin get the numbers 1 to k, its own come k later. */
#include "backpack/document.h"
#include "backpack/look_impl.h"

#include "base/hex.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "field/field.h"
#include "json/json.h"

typedef struct value {
    valise_id id;
    valise_blob *blob;
} value;

typedef struct place { /* of a commit; and the number that one of the origin gets */
    valise_uuid backpack;
    int64_t seq, number;
} place;

typedef vls_vec(void *) pointers;

typedef struct export
{
    const vls_ledger *ledger; /* as it is now */
    vls_ledger edge;          /* frozen there */
    vls_scope *scope;
    vls_ledger_head head;
    vls_document doc;
    vls_arena arena;
    int64_t shift;
    vls_vec(valise_commit *) items, history;
    vls_vec(place) held;    /* what the quarantine is about, sorted */
    vls_vec(place) foreign; /* sorted */
    pointers checkpoints, merges, permissions, quarantine, rules, runs;
    vls_vec(value) values;
}
export;

/* ---- collecting ---- */

static int keep_value(export *e, const valise_commit *commit, valise_blob *blob, valise_error *err)
{
    if (!blob)
        return 0;
    if (!vls_vec_reserve(&e->values, e->arena.env, e->values.len + 1))
        return vls_fail_memory(err);
    e->values.ptr[e->values.len++] = (value){commit->value, valise_blob_ref(blob)};
    return 0;
}

/* A copy of the commit, if it may be seen, and its value: 1, or 0. */
static int take(valise_commit **out, export *e, const vls_ledger *ledger,
                const valise_commit *commit, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    valise_commit *copy = NULL;
    valise_commit shown;
    int rc = vls_look_show(&blob, &shown, ledger, e->scope, commit, err);

    if (rc <= 0)
        return rc;
    copy = vls_arena_alloc(&e->arena, sizeof(*copy));
    if (!copy)
        return vls_arena_fail(&e->arena, err);
    rc = vls_commit_copy(copy, &shown, &e->arena, err);
    if (rc == 0)
        rc = keep_value(e, commit, blob, err);
    if (rc != 0)
        return rc;
    if (!blob) { /* erased: the id of nothing helps nobody */
        copy->value = (valise_id){{0}};
        copy->value_size = 0;
        copy->summary = (valise_str){NULL, 0};
    }
    *out = copy;
    return 1;
}

static int take_item(void *arg, const valise_commit *commit, valise_error *err)
{
    export *e = arg;
    valise_commit *copy = NULL;
    int rc = take(&copy, e, &e->edge, commit, err);

    if (rc == 1 && !vls_vec_push(&e->items, e->arena.env, copy))
        rc = vls_fail_memory(err);
    return rc < 0 ? rc : 0;
}

static int take_commit(void *arg, const valise_commit *commit, valise_error *err)
{
    export *e = arg;
    valise_commit *copy = NULL;
    int rc = take(&copy, e, e->ledger, commit, err);

    if (rc == 1 && !vls_vec_push(&e->history, e->arena.env, copy))
        rc = vls_fail_memory(err);
    return rc < 0 ? rc : 0;
}

/* ---- what quarantine holds ---- */

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    int side = vls_uuid_compare(&x->backpack, &y->backpack);

    return side ? side : (x->seq > y->seq) - (x->seq < y->seq);
}

static int compare_item_places(const void *a, const void *b)
{
    const valise_commit *x = *(valise_commit *const *)a, *y = *(valise_commit *const *)b;
    place p = {x->backpack, x->seq, 0}, q = {y->backpack, y->seq, 0};

    return compare_places(&p, &q);
}

static int take_held(export *e, const place *at, valise_error *err)
{
    const vls_ledger *ledger = e->ledger;
    valise_commit commit = {0}, *copy = NULL;
    int rc;

    ledger->ops->enter(ledger->self);
    rc = ledger->ops->commit(&commit, ledger->self, &at->backpack, at->seq, err);
    if (rc == 1) {
        rc = vls_commit_copy(&commit, &commit, &e->arena, err);
        rc = rc < 0 ? rc : 1;
    }
    ledger->ops->leave(ledger->self);
    if (rc == 1)
        rc = take(&copy, e, ledger, &commit, err);
    if (rc == 1 && !vls_vec_push(&e->items, e->arena.env, copy))
        rc = vls_fail_memory(err);
    return rc < 0 ? rc : 0;
}

/* A commit at or before the edge. */
static int want(export *e, const valise_uuid *backpack, int64_t seq, valise_error *err)
{
    if (seq == 0 || (vls_uuid_equal(backpack, &e->head.id) && seq > e->doc.edge) ||
        vls_vec_push(&e->held, e->arena.env, (place){*backpack, seq, 0}))
        return 0;
    return vls_fail_memory(err);
}

/* Those that are no items at the edge, each once. */
static int take_all_held(export *e, valise_error *err)
{
    size_t known = e->items.len;
    int rc = 0;

    for (size_t i = 0; i < e->quarantine.len && rc == 0; i++) {
        const vls_quarantine_row *row = e->quarantine.ptr[i];
        rc = want(e, &row->item_backpack, row->item, err);
        if (rc == 0)
            rc = want(e, vls_entry_backpack(row), vls_entry_seq(row), err);
    }
    if (rc < 0 || e->held.len == 0)
        return rc;
    qsort(e->held.ptr, e->held.len, sizeof(place), compare_places);
    if (known > 0)
        qsort(e->items.ptr, known, sizeof(valise_commit *), compare_item_places);
    for (size_t i = 0; i < e->held.len && rc == 0; i++) {
        const place *at = &e->held.ptr[i];
        const valise_commit probe = {.backpack = at->backpack, .seq = at->seq}, *key = &probe;
        bool again = i > 0 && compare_places(at - 1, at) == 0;
        if (!again && (known == 0 || !bsearch(&key, e->items.ptr, known, sizeof(valise_commit *),
                                              compare_item_places)))
            rc = take_held(e, at, err);
    }
    return rc;
}

/* ---- rows ---- */

static int keep_row(export *e, pointers *list, const void *row, size_t size, valise_error *err)
{
    void *copy = vls_arena_alloc(&e->arena, size);

    if (!copy)
        return vls_arena_fail(&e->arena, err);
    memcpy(copy, row, size);
    return vls_vec_push(list, e->arena.env, copy) ? 0 : vls_fail_memory(err);
}

static int take_checkpoint(void *arg, const void *row, valise_error *err)
{
    export *e = arg;
    vls_bag_checkpoint_row copy = *(const vls_bag_checkpoint_row *)row;
    int rc;

    if (copy.seq < e->doc.edge || copy.seq > e->head.last)
        return 0; /* its state is not in the document */
    rc = vls_arena_dup(&copy.name, &e->arena, copy.name, err);
    if (rc == 0)
        rc = vls_arena_dup(&copy.actor, &e->arena, copy.actor, err);
    return rc < 0 ? rc : keep_row(e, &e->checkpoints, &copy, sizeof(copy), err);
}

static int take_run(void *arg, const void *row, valise_error *err)
{
    export *e = arg;
    vls_run_row copy = *(const vls_run_row *)row;
    int rc;

    if (copy.start > e->head.last)
        return 0;
    if (copy.end > e->head.last || copy.end == VALISE_NONE)
        copy.end = 0; /* nobody can end it in the copy */
    rc = vls_arena_dup(&copy.node_id, &e->arena, copy.node_id, err);
    return rc < 0 ? rc : keep_row(e, &e->runs, &copy, sizeof(copy), err);
}

static int take_merge(void *arg, const void *row, valise_error *err)
{
    export *e = arg;
    const vls_merge_row *merge = row;

    return merge->seq > e->head.last ? 0 : keep_row(e, &e->merges, merge, sizeof(*merge), err);
}

/* The state that a fork began with is in it like one that was merged. */
static int take_origin(export *e, valise_error *err)
{
    const vls_merge_row row = {.theirs = e->head.origin, .upto = e->head.origin_seq};

    return e->doc.origin ? keep_row(e, &e->merges, &row, sizeof(row), err) : 0;
}

static int compare_merges(const void *a, const void *b)
{
    const vls_merge_row *x = *(vls_merge_row *const *)a, *y = *(vls_merge_row *const *)b;

    return x->seq != y->seq ? (x->seq < y->seq ? -1 : 1) : vls_uuid_compare(&x->theirs, &y->theirs);
}

static int take_permission(void *arg, const void *row, valise_error *err)
{
    export *e = arg;
    vls_permission_row copy = *(const vls_permission_row *)row;
    int rc = vls_arena_dup(&copy.node_id, &e->arena, copy.node_id, err);

    if (rc == 0)
        rc = vls_permissions_copy(&copy.allow, &e->arena, err);
    return rc < 0 ? rc : keep_row(e, &e->permissions, &copy, sizeof(copy), err);
}

static int take_rule(void *arg, const void *row, valise_error *err)
{
    export *e = arg;
    vls_rule_row copy = *(const vls_rule_row *)row;
    int rc;

    if (!vls_uuid_equal(&copy.backpack, &e->head.id)) /* the workspace's stay there */
        return 0;
    rc = vls_rule_copy(&copy, &e->arena, err);
    return rc < 0 ? rc : keep_row(e, &e->rules, &copy, sizeof(copy), err);
}

static int take_entry(void *arg, const void *row, valise_error *err)
{
    export *e = arg;
    vls_quarantine_row copy = *(const vls_quarantine_row *)row;
    int rc;

    if (copy.seq > e->head.last || (copy.released != 0 && copy.released <= e->doc.edge))
        return 0; /* not yet there, or over before the edge */
    if (copy.released > e->head.last)
        copy.released = 0;
    rc = vls_arena_dup(&copy.key, &e->arena, copy.key, err);
    return rc < 0 ? rc : keep_row(e, &e->quarantine, &copy, sizeof(copy), err);
}

static int take_rows(export *e, valise_error *err)
{
    const struct {
        const valise_coll *coll;
        int (*fn)(void *arg, const void *row, valise_error *err);
    } all[] = {{&vls_bag_checkpoints, take_checkpoint},
               {&vls_bag_runs, take_run},
               {&vls_bag_merges, take_merge},
               {&vls_bag_permissions, take_permission},
               {&vls_bag_rules, take_rule},
               {&vls_bag_quarantines, take_entry}};
    int rc = take_origin(e, err);

    for (size_t i = 0; i < VLS_COUNT(all) && rc == 0; i++)
        rc = e->ledger->ops->each_row(e->ledger->self, all[i].coll, all[i].fn, e, err);
    if (e->merges.len > 0)
        qsort(e->merges.ptr, e->merges.len, sizeof(void *), compare_merges);
    return rc < 0 ? rc : take_all_held(e, err);
}

/* ---- numbers ---- */

static int compare_items(const void *a, const void *b)
{
    const valise_commit *x = *(valise_commit *const *)a, *y = *(valise_commit *const *)b;

    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Those of the origins come first, in the order of time; those of a key in that of its versions. */
static int compare_foreign(const void *a, const void *b)
{
    const valise_commit *x = *(valise_commit *const *)a, *y = *(valise_commit *const *)b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->version != y->version)
        return x->version < y->version ? -1 : 1;
    return x->seq != y->seq ? compare_items(a, b) : vls_uuid_compare(&x->backpack, &y->backpack);
}

static void shift_seq(const export *e, int64_t *seq)
{
    if (*seq > 0)
        *seq += e->shift;
}

static int64_t foreign_seq(const export *e, const valise_uuid *backpack, int64_t seq)
{
    const place key = {*backpack, seq, 0};
    const place *found = e->foreign.len == 0 ? NULL
                                             : bsearch(&key, e->foreign.ptr, e->foreign.len,
                                                       sizeof(place), compare_places);

    return found ? found->number : 0;
}

/* The copies are ours. What has become a commit of the document gets its number; others stay those
 * of their backpack. */
static void adopt_taints(const export *e, const valise_commit *c)
{
    static const valise_uuid own;
    valise_taint *const *taint = c->taints.items;

    for (size_t i = 0; i < c->taints.count; i++) {
        valise_uuid *from = &taint[i]->backpack;
        int64_t number;
        if (vls_uuid_equal(from, &own))
            *from = c->backpack;
        number = foreign_seq(e, from, taint[i]->seq);
        if (vls_uuid_equal(from, &e->head.id))
            number = taint[i]->seq + e->shift;
        if (number > 0)
            *taint[i] = (valise_taint){.tag = taint[i]->tag, .seq = number};
    }
}

static void shift_commit(const export *e, valise_commit *c)
{
    adopt_taints(e, c);
    shift_seq(e, &c->seq);
    shift_seq(e, &c->previous);
    if (c->action == VALISE_ACTION_RELEASE)
        shift_seq(e, &c->entry);
}

/* Give commits of the origin numbers of this backpack. */
static int adopt(export *e, valise_error *err)
{
    size_t count = 0;
    int64_t time = 0;

    for (size_t i = 0; i < e->items.len; i++) { /* foreign ones to the front */
        valise_commit *c = e->items.ptr[i];
        if (vls_uuid_equal(&c->backpack, &e->head.id))
            continue;
        e->items.ptr[i] = e->items.ptr[count];
        e->items.ptr[count++] = c;
    }
    e->shift = (int64_t)count;
    if (count == 0)
        return 0;
    qsort(e->items.ptr, count, sizeof(valise_commit *), compare_foreign);
    for (size_t i = 0; i < count; i++) {
        valise_commit *c = e->items.ptr[i];
        place was = {c->backpack, c->seq, (int64_t)i + 1};
        if (!vls_vec_push(&e->foreign, e->arena.env, was))
            return vls_fail_memory(err);
        c->seq = was.number;
        c->previous = c->run = 0;
        time = c->time;
    }
    qsort(e->foreign.ptr, e->foreign.len, sizeof(place), compare_places);
    for (size_t i = 0; i < count; i++)
        adopt_taints(e, e->items.ptr[i]);
    qsort(e->items.ptr + count, e->items.len - count, sizeof(valise_commit *), compare_items);
    for (size_t i = count; i < e->items.len; i++) {
        shift_commit(e, e->items.ptr[i]);
        e->items.ptr[i]->time = time = VLS_MAX(time, e->items.ptr[i]->time);
    }
    for (size_t i = 0; i < e->history.len; i++) {
        shift_commit(e, e->history.ptr[i]);
        e->history.ptr[i]->time = time = VLS_MAX(time, e->history.ptr[i]->time);
    }
    return 0;
}

/* An entry that the fork began with is about a commit that has become its own; so is its release.
 */
static void adopt_entry(export *e, vls_quarantine_row *row)
{
    int64_t seq = foreign_seq(e, &row->from, row->put);

    if (row->released > e->doc.edge)
        e->history.ptr[row->released - e->doc.edge - 1]->entry = seq;
    row->seq = seq;
    row->put = 0;
    row->from = (valise_uuid){{0}};
}

static int compare_entries(const void *a, const void *b)
{
    const vls_quarantine_row *x = *(vls_quarantine_row *const *)a;
    const vls_quarantine_row *y = *(vls_quarantine_row *const *)b;

    return (x->seq > y->seq) - (x->seq < y->seq);
}

static void adopt_quarantine(export *e)
{
    for (size_t i = 0; i < e->quarantine.len; i++) {
        vls_quarantine_row *row = e->quarantine.ptr[i];
        int64_t item = foreign_seq(e, &row->item_backpack, row->item);
        row->item = item > 0 ? item : row->item + (row->item > 0 ? e->shift : 0);
        if (row->item > 0)
            row->item_backpack = e->head.id;
        if (row->seq > 0)
            shift_seq(e, &row->seq);
        else
            adopt_entry(e, row);
        shift_seq(e, &row->released);
    }
    if (e->quarantine.len > 0)
        qsort(e->quarantine.ptr, e->quarantine.len, sizeof(void *), compare_entries);
}

static void adopt_rows(export *e)
{
    adopt_quarantine(e);
    for (size_t i = 0; i < e->checkpoints.len; i++)
        ((vls_bag_checkpoint_row *)e->checkpoints.ptr[i])->seq += e->shift;
    for (size_t i = 0; i < e->merges.len; i++)
        ((vls_merge_row *)e->merges.ptr[i])->seq += e->shift;
    for (size_t i = 0; i < e->runs.len; i++) {
        vls_run_row *row = e->runs.ptr[i];
        row->start += e->shift;
        shift_seq(e, &row->end);
    }
    e->doc.edge += e->shift;
}

/* ---- writing ---- */

static int compare_values(const void *a, const void *b)
{
    return vls_id_compare(&((const value *)a)->id, &((const value *)b)->id);
}

/* {"id":value,...}, each once. Values are canonical, and the order of ids is that of their digits.
 */
static void write_values(vls_buf *out, export *e)
{
    bool first = true;

    if (e->values.len > 0)
        qsort(e->values.ptr, e->values.len, sizeof(value), compare_values);
    vls_buf_add_byte(out, '{');
    for (size_t i = 0; i < e->values.len; i++) {
        const value *v = &e->values.ptr[i];
        if (i > 0 && vls_id_equal(&v[-1].id, &v->id))
            continue;
        if (!first)
            vls_buf_add_byte(out, ',');
        first = false;
        vls_buf_add_byte(out, '"');
        vls_buf_add_text(out, vls_id_hex(&v->id).s);
        vls_buf_add_text(out, "\":");
        vls_buf_add(out, vls_blob_bytes(v->blob));
    }
    vls_buf_add_byte(out, '}');
}

static int write(vls_buf *out, export *e, valise_error *err)
{
    vls_document *doc = &e->doc;
    int rc;

    if (e->items.len > 0)
        qsort(e->items.ptr, e->items.len, sizeof(valise_commit *), compare_items);
    doc->items = (valise_list){e->items.ptr, e->items.len};
    doc->history = (valise_list){e->history.ptr, e->history.len};
    doc->checkpoints = (valise_list){e->checkpoints.ptr, e->checkpoints.len};
    doc->merges = (valise_list){e->merges.ptr, e->merges.len};
    doc->permissions = (valise_list){e->permissions.ptr, e->permissions.len};
    doc->quarantine = (valise_list){e->quarantine.ptr, e->quarantine.len};
    doc->rules = (valise_list){e->rules.ptr, e->rules.len};
    doc->runs = (valise_list){e->runs.ptr, e->runs.len};
    rc = vls_fields_write(out, doc, vls_document_fields, VLS_FIELD_INPUT, VLS_FIELD_ALL, err);
    if (rc < 0)
        return rc;
    /* "values" comes behind all other names: it goes in before the last brace. */
    out->len--;
    vls_buf_add_text(out, ",\"values\":");
    write_values(out, e);
    vls_buf_add_byte(out, '}');
    return vls_buf_check(out, err);
}

/* ---- all of it ---- */

static int begin(export *e, int64_t commits, valise_error *err)
{
    const vls_ledger *ledger = e->ledger;
    vls_document_options *options;
    vls_document_origin *origin;
    int rc;

    options = vls_arena_zalloc(&e->arena, sizeof(*options));
    origin = vls_arena_zalloc(&e->arena, sizeof(*origin));
    if (!options || !origin)
        return vls_arena_fail(&e->arena, err);
    rc = vls_scope_enter(&e->head, e->scope, ledger, err);
    if (rc < 0)
        return rc;
    *options = (vls_document_options){e->head.lenient, e->head.taint, e->head.sticky,
                                      e->head.max_commits, e->head.max_bytes};
    *origin = (vls_document_origin){e->head.origin, e->head.origin_seq};
    rc = vls_arena_dup(&e->doc.name, &e->arena, e->head.name, err);
    if (rc == 0)
        rc = vls_bag_copy_names(&options->sticky, &e->arena, err);
    vls_scope_leave(ledger);
    e->doc.format = VLS_STR(VLS_DOCUMENT_FORMAT);
    e->doc.id = e->head.id;
    e->doc.options = options;
    e->doc.origin = vls_uuid_equal(&e->head.origin, &(valise_uuid){{0}}) ? NULL : origin;
    e->doc.partial = !vls_scope_is_owner(e->scope);
    e->doc.edge = commits >= 0 && commits < e->head.last - e->head.edge ? e->head.last - commits
                                                                        : e->head.edge;
    return rc;
}

static int run(vls_buf *out, export *e, int64_t commits, valise_error *err)
{
    const vls_ledger *ledger = e->ledger;
    int rc = begin(e, commits, err);

    if (rc == 0)
        rc = ledger->ops->freeze(&e->edge, ledger->self, e->doc.edge, err);
    if (rc == 0)
        rc = e->edge.ops->each_item(e->edge.self, take_item, e, err);
    if (rc == 0)
        rc = e->edge.ops->each_gone(e->edge.self, take_item, e, err);
    if (rc == 0)
        rc = ledger->ops->each_commit(ledger->self, e->doc.edge + 1, e->head.last, false,
                                      take_commit, e, err);
    if (rc == 0 && !e->doc.partial)
        rc = take_rows(e, err);
    if (rc == 0)
        rc = adopt(e, err);
    if (rc < 0)
        return rc;
    adopt_rows(e);
    return write(out, e, err);
}

int vls_bag_export(vls_buf *out, const vls_ledger *ledger, vls_scope *scope, int64_t commits,
                   valise_error *err)
{
    export e = {.ledger = ledger, .scope = scope};
    const valise_env *env = vls_scope_env(scope);
    int rc;

    vls_arena_init(&e.arena, env, SIZE_MAX);
    rc = run(out, &e, commits, err);
    if (e.edge.ops)
        e.edge.ops->release(e.edge.self);
    for (size_t i = 0; i < e.values.len; i++)
        valise_blob_unref(e.values.ptr[i].blob);
    vls_vec_release(&e.values, env);
    vls_vec_release(&e.items, env);
    vls_vec_release(&e.history, env);
    vls_vec_release(&e.held, env);
    vls_vec_release(&e.foreign, env);
    vls_vec_release(&e.checkpoints, env);
    vls_vec_release(&e.merges, env);
    vls_vec_release(&e.permissions, env);
    vls_vec_release(&e.quarantine, env);
    vls_vec_release(&e.rules, env);
    vls_vec_release(&e.runs, env);
    vls_arena_release(&e.arena);
    return rc;
}
