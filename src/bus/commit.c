/* commit.c -- the requests of a group as one transaction.
 *
 *     begin   { mark, commands of a request, release or back }*   commit   followers are told
 *
 * A request that fails is undone and leaves the others alone. When the transaction itself fails,
 * all of its requests do, with its reason, and the state is as before.
 *
 * A mark makes the backend keep copies of what changes behind it: a tenth of the time of a group.
 * One that is alone needs none. Nor does a group whose requests can all be run again, since
 * deciding has no effects: when one fails, the transaction is rolled back and the group runs once
 * more, with marks; and so do the next groups, for failures come in swarms. */
#include "bus/purge.h"

#define CAREFUL_GROUPS 64u /* that have marks after one failed */

typedef struct work {
    valise *v;
    vls_txn txn;
    bool alone;
    bool marks;     /* each request can be taken back by itself */
    bool kept;      /* there is something to commit */
    size_t commits; /* entries there will be */
} work;

/* ---- one request ---- */

/* Entries of one command, without those of the commands that were added to it. */
static size_t count_own(const vls_command *command)
{
    return (command->applied ? 1u : 0u) + (command->admitted ? 1u : 0u);
}

static size_t count_applied(const vls_command *command)
{
    size_t count = count_own(command);

    for (size_t i = 0; i < command->before.len; i++)
        count += count_own(command->before.ptr[i]);
    for (size_t i = 0; i < command->after.len; i++)
        count += count_own(command->after.ptr[i]);
    return count;
}

static int run_commands(vls_bus_request *r, vls_txn *txn)
{
    for (size_t i = 0; i < r->count; i++) {
        vls_command *command = &r->commands[i];
        int rc = vls_pipeline_run(command, txn, &r->err);
        if (rc < 0) {
            r->failed = i;
            return rc;
        }
        r->kept |= count_applied(command) > 0;
    }
    return 0;
}

static int run_request(vls_bus_request *r, vls_txn *txn)
{
    if (r->fn) {
        r->kept = true;
        return r->fn(r->arg, txn, &r->err);
    }
    return run_commands(r, txn);
}

/* Take back what a request did. 1: only together with all others. A failure means that the whole
 * transaction is lost. */
static int go_back(work *w, const vls_tip *tip, valise_error *err)
{
    w->txn.tip = *tip;
    if (w->alone)
        return 0;
    return w->marks ? vls_txn_mark(&w->txn, VALISE_MARK_BACK, err) : 1;
}

/* Run one request. Negative only when nothing can go on; 1 when all must be run again. */
static int run_one(work *w, vls_bus_request *r, valise_error *err)
{
    vls_tip tip = w->txn.tip;
    int rc = w->marks ? vls_txn_mark(&w->txn, VALISE_MARK_SET, err) : 0;

    if (rc < 0)
        return rc;
    r->rc = run_request(r, &w->txn);
    if (r->rc < 0 || r->dry_run) {
        r->kept = false;
        return go_back(w, &tip, err);
    }
    w->kept |= r->kept;
    return w->marks ? vls_txn_mark(&w->txn, VALISE_MARK_RELEASE, err) : 0;
}

/* ---- the group ---- */

static vls_bus_request *request_of(vls_group_item *item)
{
    return (vls_bus_request *)item;
}

/* Nothing was kept: all who have not failed by themselves fail for this reason. */
static void fail_all(vls_group_item *first, int rc, const valise_error *why)
{
    for (vls_group_item *item = first; item; item = item->next) {
        vls_bus_request *r = request_of(item);
        if (r->rc < 0)
            continue;
        r->rc = rc;
        r->err = *why;
        r->failed = r->count; /* none in particular */
    }
}

static int commit(work *w, valise_error *err)
{
    if (w->kept)
        return vls_txn_commit(&w->txn, err);
    vls_txn_rollback(&w->txn);
    return 0;
}

/* ---- followers ---- */

/* Room for what `committed` will be told, before the commit: afterwards nothing may fail. */
static int reserve_commits(work *w, vls_group_item *first, valise_error *err)
{
    if (!w->v->feed)
        return 0;
    for (vls_group_item *item = first; item; item = item->next) {
        const vls_bus_request *r = request_of(item);
        for (size_t i = 0; r->rc == 0 && r->kept && i < r->count; i++)
            w->commits += count_applied(&r->commands[i]);
    }
    return vls_vec_reserve(&w->v->commits, w->v->env, w->commits) ? 0 : vls_fail_memory(err);
}

static void list_one(valise *v, vls_command *command)
{
    command->view.txn = NULL; /* it is over */
    v->commits.ptr[v->commits.len++] =
        (vls_commit){command->op, &command->entry, &command->view.changes, &command->view};
}

static void list_commit(valise *v, vls_command *command)
{
    if (command->admitted)
        list_one(v, command->admitted);
    if (command->applied)
        list_one(v, command);
}

static void list_command(valise *v, vls_command *command)
{
    for (size_t i = 0; i < command->before.len; i++)
        list_commit(v, command->before.ptr[i]);
    list_commit(v, command);
    for (size_t i = 0; i < command->after.len; i++)
        list_commit(v, command->after.ptr[i]);
}

static void tell_feed(work *w, vls_group_item *first)
{
    valise *v = w->v;

    if (!v->feed || w->commits == 0)
        return;
    v->commits.len = 0;
    for (vls_group_item *item = first; item; item = item->next) {
        vls_bus_request *r = request_of(item);
        for (size_t i = 0; r->rc == 0 && r->kept && i < r->count; i++)
            list_command(v, &r->commands[i]);
    }
    assert(v->commits.len == w->commits);
    v->feed->committed(v->feed_self, v->commits.ptr, v->commits.len);
}

/* ---- with and without marks ---- */

static bool has_effects(const vls_bus_request *r)
{
    return r->fn || r->dry_run || (r->count == 1 && r->commands[0].also);
}

/* Nothing but deciders will run, and nobody is known to fail. */
static bool can_run_again(const valise *v, const vls_group_item *first)
{
    if (v->middleware_count > 0 || v->careful > 0)
        return false;
    for (const vls_group_item *item = first; item; item = item->next) {
        if (has_effects((const vls_bus_request *)item))
            return false;
    }
    return true;
}

static void forget(vls_group_item *first)
{
    for (vls_group_item *item = first; item; item = item->next) {
        vls_bus_request *r = request_of(item);
        for (size_t i = 0; i < r->count; i++)
            vls_command_forget(&r->commands[i]);
        r->rc = 0;
        r->err = (valise_error)VALISE_ERROR_INIT;
        r->failed = 0;
        r->kept = false;
    }
}

/* Nobody waits: neither for others who write nor for the disk. In a group they wait anyway. */
static bool is_lazy(const work *w, vls_group_item *first)
{
    return w->alone && request_of(first)->lazy;
}

static int run_all(work *w, vls_group_item *first, valise_error *err)
{
    int mode = is_lazy(w, first) ? VALISE_TXN_LAZY : VALISE_TXN_WRITE;
    int rc = vls_txn_begin(&w->txn, w->v->store, mode, err);

    for (vls_group_item *item = first; rc == 0 && item; item = item->next)
        rc = run_one(w, request_of(item), err);
    return rc;
}

static int run_again(work *w, vls_group_item *first, valise_error *err)
{
    vls_txn_rollback(&w->txn);
    forget(first);
    w->v->careful = CAREFUL_GROUPS;
    w->marks = true;
    w->kept = false;
    return run_all(w, first, err);
}

static int run_group(work *w, vls_group_item *first, valise_error *err)
{
    int rc = run_all(w, first, err);

    if (rc > 0)
        rc = run_again(w, first, err);
    if (rc == 0)
        rc = reserve_commits(w, first, err);
    if (rc == 0)
        rc = commit(w, err);
    vls_txn_rollback(&w->txn);
    return rc;
}

void vls_commit_group(void *self, vls_group_item *first, size_t count)
{
    valise *v = self;
    work w = {.v = v, .alone = count == 1};
    bool guarded = v->middleware_count > 0 && !is_lazy(&w, first);
    valise_error why = VALISE_ERROR_INIT;
    int rc;

    w.marks = !w.alone && !can_run_again(v, first);
    if (v->careful > 0)
        v->careful--;
    /* Nobody else runs middleware meanwhile: it need not be prepared for that. */
    if (guarded)
        (void)pthread_mutex_lock(&v->aside);
    rc = run_group(&w, first, &why);
    if (guarded)
        (void)pthread_mutex_unlock(&v->aside);
    if (rc < 0) {
        fail_all(first, rc, &why);
        return;
    }
    (void)atomic_fetch_add_explicit(&v->epoch, 1, memory_order_release);
    tell_feed(&w, first);
}

/* ---- the caller's side ---- */

int vls_bus_request_submit(vls_bus_request *request, valise *v, valise_error *err)
{
    bool led = false;

    if (vls_bus_is_inside(v)) {
        (void)vls_fail(err, VALISE_E_INVALID,
                       "a command or middleware cannot dispatch in its own workspace");
        vls_hint(err, "a middleware adds commands with valise_pass_add");
        return VALISE_E_INVALID;
    }
    request->err = (valise_error)VALISE_ERROR_INIT;
    vls_group_submit(&led, &v->group, &request->item);
    if (led && v->feed && v->feed->publish)
        v->feed->publish(v->feed_self);
    if (request->rc == 0)
        vls_purge(v, request);
    if (request->rc < 0 && err)
        *err = request->err;
    return request->rc;
}
