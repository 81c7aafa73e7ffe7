/* taint.c -- which sticky tags a node has read, and what it packs carries of them.
 *
 * A mark has the commit that was read (source), of whichever backpack, and the newest seq at that
 * moment (since). Once the node has written, since is inverted: the mark has been used, and does
 * not count for a run that starts later. So a mark counts
 *
 *     for a run that was started (vls_bag_run_start)    when it was made since the run's start
 *     for the first write of any other run              when it was not used yet
 *     for the later writes of that run                  always: those of earlier runs are gone
 *
 * After the commit is made nothing may fail in a ring: a mark that cannot be changed then stays,
 * and something carries a tag too many, never one too few. Where the command is undone as a whole
 * (vls_ledger_ops.undone) it fails instead: whoever replays it has memory, and must see the same.
 */
#include "backpack/scope_impl.h"

#include "base/uuid.h"

static valise_list sticky_of(const vls_ledger_head *head)
{
    return head->sticky.items ? head->sticky : vls_bag_sticky;
}

static bool list_has(valise_list list, valise_str name)
{
    const valise_str *names = list.items;

    for (size_t i = 0; i < list.count; i++) {
        if (vls_str_equal(names[i], name))
            return true;
    }
    return false;
}

static bool is_used(int64_t since)
{
    return since < 0;
}

static int64_t made_at(int64_t since)
{
    return since < 0 ? ~since : since;
}

/* Does it count for what is written next? */
static bool counts(const vls_scope *scope, int64_t since, bool new_run)
{
    if (scope->run > 0)
        return made_at(since) >= scope->run_start;
    return !new_run || !is_used(since);
}

/* ---- the marks of the scope itself ---- */

static vls_scope_mark *find_mark(vls_scope *scope, valise_str tag)
{
    for (size_t i = 0; i < scope->marks.len; i++) {
        if (vls_str_equal(scope->marks.ptr[i].source.tag, tag))
            return &scope->marks.ptr[i];
    }
    return NULL;
}

/* What a read makes of a mark, old or new. False: it says so already. */
static bool renew(const vls_scope *scope, valise_taint *source, int64_t *since, bool known,
                  const vls_ledger_head *head, const valise_commit *item)
{
    static const valise_uuid own;
    bool goes_on = scope->run > 0 ? made_at(*since) >= scope->run_start
                                  : vls_str_equal(head->last_node, scope->node_id);

    if (known && (scope->run > 0 ? goes_on : !is_used(*since)))
        return false;
    /* Within one run the first thing that was read is the source. */
    if (!known || !goes_on) {
        source->seq = item->seq;
        source->backpack = vls_uuid_equal(&item->backpack, &head->id) ? own : item->backpack;
    }
    *since = VLS_MAX(head->last, scope->run_start); /* a snapshot's last lies before */
    return true;
}

/* row: what the ledger has of it, which the read has made new already; its backpack is none where
 * it is not known. */
static int mark_in_scope(vls_scope *scope, valise_str tag, const vls_taint_row *row,
                         const vls_ledger_head *head, const valise_commit *item, valise_error *err)
{
    vls_scope_mark *mark = find_mark(scope, tag);
    vls_scope_mark fresh = {.source = row->source, .since = row->since};
    int rc = 0;

    if (mark) {
        (void)renew(scope, &mark->source, &mark->since, true, head, item);
        return 0;
    }
    if (vls_uuid_is_none(&row->backpack))
        (void)renew(scope, &fresh.source, &fresh.since, false, head, item);
    rc = vls_arena_dup(&fresh.source.tag, &scope->texts, tag, err);
    if (rc == 0 && !vls_vec_push(&scope->marks, scope->env, fresh))
        rc = vls_fail_memory(err);
    return rc;
}

/* ---- the marks of the ledger ---- */

static int get_row(vls_taint_row *row, const vls_scope *scope, const vls_ledger *ledger,
                   const vls_ledger_head *head, valise_str tag, valise_error *err)
{
    *row = (vls_taint_row){.backpack = head->id, .node_id = scope->node_id, .source = {.tag = tag}};
    return ledger->ops->row_get(row, ledger->self, &vls_bag_taints, err);
}

/* VALISE_E_UNSUPPORTED: the ledger cannot be changed. *row: what was to be put. */
static int mark_in_ledger(vls_taint_row *row, vls_scope *scope, const vls_ledger *ledger,
                          const vls_ledger_head *head, valise_str tag, const valise_commit *item,
                          valise_error *err)
{
    valise_error cannot = VALISE_ERROR_INIT;
    int rc;

    *row = (vls_taint_row){.since = 0};
    if (ledger->frozen)
        return VALISE_E_UNSUPPORTED;
    rc = get_row(row, scope, ledger, head, tag, err);
    if (rc < 0 || !renew(scope, &row->source, &row->since, rc == 1, head, item))
        return rc < 0 ? rc : 0;
    rc = ledger->ops->row_put(ledger->self, &vls_bag_taints, row, &cannot);
    if (rc < 0 && rc != VALISE_E_UNSUPPORTED && err)
        *err = cannot;
    return rc;
}

static bool is_watched(const vls_scope *scope, const vls_ledger_head *head,
                       const valise_commit *item)
{
    return !scope->owner && head->taint && item->tags.count > 0;
}

int vls_scope_taint(vls_scope *scope, const vls_ledger *ledger, const vls_ledger_head *head,
                    const valise_commit *item, valise_error *err)
{
    valise_list sticky = sticky_of(head);
    const valise_str *tag = item->tags.items;
    vls_taint_row row;
    int rc = 0;

    if (!is_watched(scope, head, item))
        return 0;
    pthread_mutex_lock(&scope->lock);
    for (size_t i = 0; i < item->tags.count && rc == 0; i++) {
        if (!list_has(sticky, tag[i]))
            continue;
        rc = mark_in_ledger(&row, scope, ledger, head, tag[i], item, err);
        if (rc == VALISE_E_UNSUPPORTED)
            rc = mark_in_scope(scope, tag[i], &row, head, item, err);
    }
    pthread_mutex_unlock(&scope->lock);
    return rc;
}

int vls_scope_add_marks(vls_scope *scope, const vls_ledger *ledger, const vls_ledger_head *head,
                        valise_list taints, valise_error *err)
{
    const valise_taint *const *taint = taints.items;
    int rc = 0;

    for (size_t i = 0; i < taints.count && rc == 0; i++) {
        const valise_commit item = {
            .backpack = taint[i]->backpack, .seq = taint[i]->seq, .tags = {&taint[i]->tag, 1}};
        rc = vls_scope_taint(scope, ledger, head, &item, err);
    }
    return rc;
}

/* ---- what is packed ---- */

/* The mark of one tag that counts: 1, or 0. */
static int find_taint(valise_taint *out, vls_scope *scope, const vls_ledger *ledger,
                      const vls_ledger_head *head, valise_str tag, bool new_run, valise_error *err)
{
    const vls_scope_mark *mark = find_mark(scope, tag);
    vls_taint_row row;
    int rc;

    if (mark && counts(scope, mark->since, new_run)) {
        *out = mark->source;
        out->tag = tag;
        return 1;
    }
    rc = get_row(&row, scope, ledger, head, tag, err);
    if (rc <= 0 || !counts(scope, row.since, new_run))
        return rc < 0 ? rc : 0;
    *out = row.source;
    out->tag = tag;
    return 1;
}

static int compare_taints(const void *a, const void *b)
{
    return vls_str_compare((*(const valise_taint *const *)a)->tag,
                           (*(const valise_taint *const *)b)->tag);
}

int vls_scope_taints(valise_list *out, valise_list *left_out, vls_scope *scope,
                     const vls_ledger *ledger, const vls_ledger_head *head, bool new_run,
                     valise_list declassify, vls_arena *arena, valise_error *err)
{
    valise_list sticky = sticky_of(head);
    const valise_str *tag = sticky.items;
    valise_taint **taints = NULL;
    valise_str *names = NULL;
    size_t count = 0, name_count = 0;
    int rc = 0;

    *out = *left_out = (valise_list){NULL, 0};
    if (scope->owner || !head->taint)
        return 0;
    taints = vls_arena_array(arena, sticky.count + 1, sizeof(valise_taint *));
    names = vls_arena_array(arena, sticky.count + 1, sizeof(*names));
    if (!taints || !names)
        return vls_arena_fail(arena, err);
    pthread_mutex_lock(&scope->lock);
    for (size_t i = 0; i < sticky.count && rc >= 0; i++) {
        valise_taint *taint = vls_arena_alloc(arena, sizeof(*taint));
        rc = taint ? find_taint(taint, scope, ledger, head, tag[i], new_run, err)
                   : vls_arena_fail(arena, err);
        if (rc == 1 && vls_bag_has_name(declassify, tag[i]))
            names[name_count++] = tag[i];
        else if (rc == 1)
            taints[count++] = taint;
    }
    pthread_mutex_unlock(&scope->lock);
    if (rc < 0)
        return rc;
    qsort(taints, count, sizeof(valise_taint *), compare_taints);
    *out = (valise_list){taints, count};
    *left_out = (valise_list){names, name_count};
    return 0;
}

static int use_row(vls_scope *scope, const vls_ledger *ledger, const vls_ledger_head *head,
                   valise_str tag, bool new_run, valise_error *err)
{
    vls_taint_row row;
    int rc = get_row(&row, scope, ledger, head, tag, err);

    if (rc <= 0)
        return rc;
    if (counts(scope, row.since, new_run)) {
        if (is_used(row.since))
            return 0;
        row.since = ~row.since;
        return ledger->ops->row_put(ledger->self, &vls_bag_taints, &row, err);
    }
    if (scope->run > 0)
        return 0;
    rc = ledger->ops->row_delete(ledger->self, &vls_bag_taints, &row, err);
    return rc < 0 ? rc : 0;
}

static void use_marks(vls_scope *scope, bool new_run)
{
    size_t kept = 0;

    for (size_t i = 0; i < scope->marks.len; i++) {
        vls_scope_mark mark = scope->marks.ptr[i];
        if (!counts(scope, mark.since, new_run))
            continue;
        mark.since = is_used(mark.since) ? mark.since : ~mark.since;
        scope->marks.ptr[kept++] = mark;
    }
    scope->marks.len = kept;
}

int vls_scope_wrote(vls_scope *scope, const vls_ledger *ledger, const vls_ledger_head *head,
                    bool new_run, valise_error *err)
{
    const bool may_fail = ledger->ops->undone;
    valise_list sticky = sticky_of(head);
    const valise_str *tag = sticky.items;
    int rc = 0;

    if (scope->owner || !head->taint)
        return 0;
    pthread_mutex_lock(&scope->lock);
    for (size_t i = 0; i < sticky.count && rc == 0; i++) {
        rc = use_row(scope, ledger, head, tag[i], new_run, may_fail ? err : NULL);
        rc = may_fail ? rc : 0;
    }
    if (rc == 0)
        use_marks(scope, new_run);
    pthread_mutex_unlock(&scope->lock);
    return rc;
}

/* ---- handing them on ---- */

int vls_scope_new_marks(valise_list *out, vls_scope *scope, vls_arena *arena, valise_error *err)
{
    vls_taint_row *rows = NULL;
    int rc = 0;

    pthread_mutex_lock(&scope->lock);
    if (scope->marks.len > 0)
        rows = vls_arena_array(arena, scope->marks.len, sizeof(*rows));
    if (!rows && scope->marks.len > 0)
        rc = vls_arena_fail(arena, err);
    for (size_t i = 0; rows && i < scope->marks.len && rc == 0; i++) {
        const vls_scope_mark *mark = &scope->marks.ptr[i];
        rows[i] = (vls_taint_row){.backpack = scope->home,
                                  .node_id = scope->node_id,
                                  .source = mark->source,
                                  .since = mark->since};
        rc = vls_arena_dup(&rows[i].source.tag, arena, mark->source.tag, err);
    }
    if (rc == 0)
        *out = (valise_list){rows, scope->marks.len};
    pthread_mutex_unlock(&scope->lock);
    return rc;
}

void vls_scope_marks_kept(vls_scope *scope, size_t count)
{
    pthread_mutex_lock(&scope->lock);
    count = VLS_MIN(count, scope->marks.len);
    scope->marks.len -= count;
    if (scope->marks.len > 0)
        memmove(scope->marks.ptr, scope->marks.ptr + count,
                scope->marks.len * sizeof(*scope->marks.ptr));
    pthread_mutex_unlock(&scope->lock);
}
