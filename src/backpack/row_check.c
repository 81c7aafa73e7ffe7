/* row_check.c -- what tables cannot say of the rows of a backpack: for `validate`, and for rows
 * that come with a bundle.
 *
 *     backpack   a name that nobody else has, an end of the lineage
 *     commit     the one before it, behind the edge; what it says of its value and of its item's
 *                version before
 *     others     commits that are there
 *
 * Commits up to the edge may have expired: of these only what is held is missed. Those behind it
 * follow each other without gaps, so that each of them need only look for the one before. */
#include "backpack/row_check.h"

#include "backpack/rows.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/uuid.h"
#include "store/validate.h"

#define PROBLEM(check, err, ...) valise_check_problem(check, err, VLS_REMEDY_RESTORE, __VA_ARGS__)

static int check_number(valise_check *check, const char *what, int64_t number, int64_t least,
                        valise_error *err)
{
    if (number >= least && number <= VLS_BAG_ROW_NUMBER_MAX)
        return 0;
    return PROBLEM(check, err, "%s: %lld is impossible", what, (long long)number);
}

/* The newest commit that the backpack has, or has had: 1; or 0 where there is no such backpack,
 * which is told with the reference, or it is being removed. */
static int last_of(int64_t *last, vls_bag_row *bag, valise_view *view, const valise_uuid *id,
                   valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc;

    *bag = (vls_bag_row){.id = *id};
    rc = valise_view_get(bag, view, &vls_bags, err);
    if (rc <= 0 || bag->dropped)
        return vls_settle(rc);
    rc = vls_rows_last(cells, view, id, err);
    if (rc < 0)
        return rc;
    *last = bag->edge;
    if (rc > 0 && cells[VLS_COMMIT_SEQ].type == VALISE_CELL_INT)
        *last = VLS_MAX(cells[VLS_COMMIT_SEQ].as.integer, bag->edge);
    return 1;
}

/* ---- backpack ---- */

/* Another one that can be opened under the same name: 1, 0. */
static int has_namesake(valise_view *view, const vls_bag_row *bag, valise_error *err)
{
    const valise_select by_name = {.index = "name", .row = bag, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_bag_row other;
    int rc = valise_view_scan(&scan, view, &vls_bags, &by_name, err);

    while (rc == 0 && (rc = valise_scan_next(&other, scan, err)) > 0) {
        if (!other.dropped && !vls_uuid_equal(&other.id, &bag->id))
            return 1;
        rc = 0;
    }
    return rc;
}

int vls_bags_arrive(valise_view *view, const void *const *rows, size_t count, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && !view->replaying && i < count; i++) {
        const vls_bag_row *bag = rows[i];
        rc = bag->dropped ? 0 : has_namesake(view, bag, err);
        if (rc <= 0)
            continue;
        (void)vls_fail(err, VALISE_E_CONFLICT, "a backpack '%s' is in the bundle, and another here",
                       vls_text_short(bag->name).s);
        vls_hint(err, "nothing was imported; one of the two must go, or be exported elsewhere");
        return VALISE_E_CONFLICT;
    }
    return rc;
}

/* Forks of forks come to an end, soon enough, and begin with a state that their origin has. What an
 * origin lacks itself is told there. */
static int check_lineage(valise_check *check, valise_view *view, const vls_bag_row *bag,
                         valise_error *err)
{
    vls_bag_row origin;
    int64_t last = 0;
    valise_uuid at = bag->origin;
    int rc = last_of(&last, &origin, view, &at, err);

    if (rc == 0)
        return PROBLEM(check, err, "the backpack that it was forked from is missing");
    if (rc > 0 && bag->origin_seq > last)
        return PROBLEM(check, err, "its origin has no commit %lld", (long long)bag->origin_seq);
    for (int i = 1; rc > 0; i++) {
        if (i > VLS_BAG_DEPTH_MAX)
            return PROBLEM(check, err, "it is at the end of a chain of more than %d forks",
                           VLS_BAG_DEPTH_MAX);
        at = origin.origin;
        if (vls_uuid_is_none(&at))
            return 0;
        origin = (vls_bag_row){.id = at};
        rc = valise_view_get(&origin, view, &vls_bags, err);
    }
    return vls_settle(rc);
}

int vls_bag_check_row(valise_check *check, valise_view *view, const void *row, valise_error *err)
{
    const vls_bag_row *bag = row;
    valise_error why = VALISE_ERROR_INIT;
    int rc = check_number(check, "edge", bag->edge, 0, err);

    if (rc == 0)
        rc = check_number(check, "originSeq", bag->origin_seq, 0, err);
    if (rc == 0 && vls_bag_check_name(bag->name, &why) < 0)
        rc = PROBLEM(check, err, "%s", why.message);
    if (rc != 0 || bag->dropped)
        return rc;
    rc = has_namesake(view, bag, err);
    if (rc > 0)
        rc = PROBLEM(check, err, "another backpack is called '%s' as well",
                     vls_text_short(bag->name).s);
    if (rc < 0 || vls_uuid_is_none(&bag->origin))
        return rc;
    return check_lineage(check, view, bag, err);
}

int vls_bag_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                  valise_error *err)
{
    const vls_bag_row origin = {.id = ((const vls_bag_row *)row)->origin};

    (void)view;
    return vls_uuid_is_none(&origin.id) ? 0 : fn(arg, &vls_bags, &origin, err);
}

/* ---- commits ---- */

static int check_commit_numbers(valise_check *check, const valise_commit *c, valise_error *err)
{
    const struct {
        const char *what;
        int64_t number, least;
    } all[] = {{"seq", c->seq, 1},
               {"version", c->version, 0},
               {"previous", c->previous, 0},
               {"run", c->run, 0},
               {"valueSize", c->value_size, 0},
               {"entry", c->entry, -VLS_BAG_ROW_NUMBER_MAX}};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < VLS_COUNT(all); i++)
        rc = check_number(check, all[i].what, all[i].number, all[i].least, err);
    if (rc == 0 && c->previous >= VLS_MAX(c->seq, 1))
        rc = PROBLEM(check, err, "previous: %lld does not come before it", (long long)c->previous);
    if (rc == 0 && (c->action < 0 || c->action >= VALISE_ACTION_UNPACK))
        rc = PROBLEM(check, err, "its action changes nothing");
    return rc;
}

/* One that was erased says nothing; one that is missing or damaged is told elsewhere. */
static int check_value(valise_check *check, valise_view *view, const valise_commit *c,
                       valise_error *err)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    valise_error why = VALISE_ERROR_INIT;
    valise_str bytes;
    int rc = vls_id_is_none(&c->value) ? VALISE_E_NOT_FOUND
                                       : vls_view_blob(&value, view, &c->value, &why);

    if (rc == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    if (rc < 0)
        return 0;
    bytes = vls_blob_bytes(value);
    if (c->value_size != (int64_t)bytes.len)
        return PROBLEM(check, err, "its value has %zu bytes, not %lld", bytes.len,
                       (long long)c->value_size);
    if (c->summary.ptr && !vls_str_equal(c->summary, vls_commit_summary(bytes, c->tags)))
        return PROBLEM(check, err, "its summary is not that of its value");
    return 0;
}

/* The commit of the key before it. What was an item stays for as long as this one is history. */
static int check_previous(valise_check *check, valise_view *view, const vls_bag_row *bag,
                          const valise_commit *c, valise_error *err)
{
    valise_commit p = {.backpack = c->backpack, .seq = c->previous};
    int rc;

    if (c->previous == 0 || (c->previous <= bag->edge && vls_id_is_none(&c->previous_value)))
        return 0;
    rc = valise_view_get(&p, view, &vls_bag_commits, err);
    if (rc == 0)
        return PROBLEM(check, err, "commit %lld, which it follows, is missing",
                       (long long)c->previous);
    if (rc > 0 && !vls_str_equal(p.key, c->key))
        return PROBLEM(check, err, "commit %lld, which it follows, is of another key",
                       (long long)c->previous);
    if (rc > 0 && c->version < p.version + vls_commit_is_live(c))
        return PROBLEM(check, err, "its version does not follow that of commit %lld",
                       (long long)c->previous);
    return vls_settle(rc);
}

static int check_history(valise_check *check, valise_view *view, const valise_commit *c,
                         valise_error *err)
{
    const valise_commit before = {.backpack = c->backpack, .seq = c->seq - 1};
    vls_bag_row bag = {.id = c->backpack};
    int64_t seq = 0;
    int rc = valise_view_get(&bag, view, &vls_bags, err);

    if (rc <= 0 || bag.dropped || c->seq <= bag.edge)
        return vls_settle(rc);
    if (c->seq > bag.edge + 1) {
        rc = valise_view_version(&seq, view, &vls_bag_commits, &before, err);
        if (rc == 0 && seq == 0)
            rc = PROBLEM(check, err, "the commit before it is missing");
    }
    return rc < 0 ? rc : check_previous(check, view, &bag, c, err);
}

int vls_commit_check_row(valise_check *check, valise_view *view, const void *row, valise_error *err)
{
    const valise_commit *c = row;
    valise_error why = VALISE_ERROR_INIT;
    int64_t before = check->result.problems;
    int rc = check_commit_numbers(check, c, err);

    if (rc == 0 && vls_commit_check_texts(c, &why) < 0)
        rc = PROBLEM(check, err, "%s", why.message);
    if (rc < 0 || check->result.problems > before)
        return rc;
    rc = check_value(check, view, c, err);
    return rc < 0 ? rc : check_history(check, view, c, err);
}

int vls_commit_expired(valise_view *view, const void *key_row, valise_error *err)
{
    const valise_commit *c = key_row;
    vls_bag_row bag = {.id = c->backpack};
    int rc = valise_view_get(&bag, view, &vls_bags, err);

    return rc < 0 ? rc : rc == 0 || bag.dropped || c->seq <= bag.edge;
}

/* ---- what names commits ---- */

static int check_there(valise_check *check, valise_view *view, const valise_uuid *backpack,
                       int64_t seq, const char *what, valise_error *err)
{
    const valise_commit commit = {.backpack = *backpack, .seq = seq};
    int64_t made = 0;
    int rc = valise_view_version(&made, view, &vls_bag_commits, &commit, err);

    if (rc < 0 || made > 0)
        return rc;
    return PROBLEM(check, err, "%s: commit %lld is missing", what, (long long)seq);
}

/* What a fork began with names commits of its origin, where it is told that they are missing. */
int vls_quarantine_check_row(valise_check *check, valise_view *view, const void *row,
                             valise_error *err)
{
    const vls_quarantine_row *entry = row;
    bool own = vls_uuid_equal(&entry->item_backpack, &entry->backpack);
    int64_t last, problems = check->result.problems;
    vls_bag_row bag;
    int rc = check_number(check, "seq", entry->seq, -VLS_BAG_ROW_NUMBER_MAX, err);

    if (rc == 0)
        rc = check_number(check, "put", entry->put, 0, err);
    if (rc == 0)
        rc = check_number(check, "item", entry->item, 0, err);
    if (rc == 0)
        rc = check_number(check, "released", entry->released, 0, err);
    if (rc == 0 && check->result.problems == problems)
        rc = last_of(&last, &bag, view, &entry->backpack, err);
    if (rc <= 0)
        return rc;
    rc = entry->seq < 0 ? 0 : check_there(check, view, &bag.id, entry->seq, "seq", err);
    if (rc == 0 && own && entry->item > 0)
        rc = check_there(check, view, &bag.id, entry->item, "item", err);
    return rc;
}

/* A state that the backpack has had. */
static int check_state(valise_check *check, valise_view *view, const valise_uuid *backpack,
                       const char *what, int64_t seq, valise_error *err)
{
    int64_t last = 0;
    vls_bag_row bag;
    int rc = check_number(check, what, seq, 0, err);

    if (rc == 0)
        rc = last_of(&last, &bag, view, backpack, err);
    if (rc <= 0 || seq <= last || seq > VLS_BAG_ROW_NUMBER_MAX)
        return vls_settle(rc);
    return PROBLEM(check, err, "%s: there is no commit %lld", what, (long long)seq);
}

int vls_point_check_row(valise_check *check, valise_view *view, const void *row, valise_error *err)
{
    const vls_bag_checkpoint_row *point = row;

    return check_state(check, view, &point->backpack, "seq", point->seq, err);
}

int vls_run_check_row(valise_check *check, valise_view *view, const void *row, valise_error *err)
{
    const vls_run_row *run = row;
    int rc = check_number(check, "number", run->number, 1, err);

    if (rc == 0)
        rc = check_number(check, "nth", run->nth, 0, err);
    if (rc == 0)
        rc = check_state(check, view, &run->backpack, "start", run->start, err);
    if (rc == 0 && run->end != VALISE_NONE)
        rc = check_state(check, view, &run->backpack, "end", run->end, err);
    return rc;
}

int vls_merge_check_row(valise_check *check, valise_view *view, const void *row, valise_error *err)
{
    const vls_merge_row *merge = row;
    int rc = check_number(check, "upto", merge->upto, 0, err);

    return rc != 0 ? rc : check_state(check, view, &merge->backpack, "seq", merge->seq, err);
}
