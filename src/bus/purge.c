/* purge.c -- see purge.h. */
#include "bus/purge.h"

#include <stdlib.h>

#include "base/hex.h"
#include "store/holders.h"

typedef struct purged {
    valise_id id;
    int64_t since; /* when the command let go of it */
} purged;

typedef struct purge {
    valise *v;
    vls_vec(purged) all; /* sorted, each once */
} purge;

/* ---- which ---- */

static bool add_own(purge *p, const vls_command *command)
{
    for (size_t i = 0; i < command->let_go.len; i++) {
        if (!vls_vec_push(&p->all, p->v->env,
                          ((purged){command->let_go.ptr[i], command->entry.time})))
            return false;
    }
    return true;
}

/* With the commands that were added to it. */
static bool add_command(purge *p, const vls_command *command)
{
    bool added = add_own(p, command);

    for (size_t i = 0; added && i < command->before.len; i++)
        added = add_command(p, command->before.ptr[i]);
    for (size_t i = 0; added && i < command->after.len; i++)
        added = add_command(p, command->after.ptr[i]);
    return added;
}

static int compare(const void *a, const void *b)
{
    const purged *x = a, *y = b;
    int order = memcmp(&x->id, &y->id, sizeof(x->id));

    return order ? order : (x->since < y->since) - (x->since > y->since);
}

/* The last time that a command let go of it comes first, and is what counts. */
static void sort(purge *p)
{
    size_t left = 0;

    if (p->all.len > 1)
        qsort(p->all.ptr, p->all.len, sizeof(*p->all.ptr), compare);
    for (size_t i = 0; i < p->all.len; i++) {
        if (left == 0 || !vls_id_equal(&p->all.ptr[i].id, &p->all.ptr[left - 1].id))
            p->all.ptr[left++] = p->all.ptr[i];
    }
    p->all.len = left;
}

/* ---- removing ---- */

static int remove_one(const purge *p, const purged *one, valise_error *err)
{
    int64_t time = INT64_MIN;
    int rc = vls_blobs_time(&time, p->v->blobs, &one->id, err);

    /* Put again: whoever did is about to name it. */
    if (rc >= 0 && time > one->since)
        return 0;
    if (rc >= 0)
        rc = vls_blobs_remove(p->v->blobs, &one->id, err);
    return rc == VALISE_E_NOT_FOUND ? 0 : vls_settle(rc);
}

static int remove_free(const purge *p, valise_view *view, const purged *some, size_t count,
                       valise_error *err)
{
    valise_id ids[VLS_PURGE_STEP];
    bool held[VLS_PURGE_STEP];
    const vls_holders holders = {.target = "blob", .ids = ids, .count = count, .held = held};
    int rc;

    for (size_t i = 0; i < count; i++)
        ids[i] = some[i].id;
    rc = vls_holders_find(&holders, view, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = held[i] ? 0 : remove_one(p, &some[i], err);
    return rc;
}

/* A transaction of its own, not one that is shared with commands: these could be undone, and the
 * file would be gone. Nothing is written in it. */
static int remove_some(const purge *p, const purged *some, size_t count, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(view) valise_view view = {0};
    int rc = vls_txn_begin(&txn, p->v->store, VALISE_TXN_WRITE, err);

    if (rc < 0)
        return rc;
    vls_view_init(&view, &txn, p->v->env);
    /* Rows of a package that is not loaded are not seen: they may name it. */
    rc = vls_txn_check_complete(&txn, err);
    if (rc == 0)
        rc = remove_free(p, &view, some, count, err);
    return rc;
}

/* ---- all of it ---- */

static void tell_left(valise *v, size_t count, const valise_error *why)
{
    VLS_AUTO(buf) vls_buf text = {0};
    valise_event event = {.size = sizeof(event), .type = VLS_STR(VLS_PURGE_LEFT)};

    if (!vls_bus_listens(v))
        return;
    vls_buf_init(&text, v->env, 4096);
    vls_buf_add_text(&text, "{\"blobs\":");
    vls_buf_add_u64(&text, count);
    vls_buf_add_text(&text, ",\"reason\":");
    vls_json_write_string(&text, valise_str_of(why->message));
    vls_buf_add_text(&text, "}");
    event.payload = vls_buf_str(&text);
    if (vls_buf_check(&text, NULL) == 0)
        (void)valise_publish(v, v->actor, &event, NULL);
}

void vls_purge(valise *v, const vls_bus_request *request)
{
    purge p = {.v = v};
    valise_error why = VALISE_ERROR_INIT;
    bool known = true;
    size_t done = 0;
    int rc = 0;

    if (request->dry_run || !v->blobs)
        return;
    for (size_t i = 0; known && i < request->count; i++)
        known = add_command(&p, &request->commands[i]);
    if (!known)
        rc = vls_fail_memory(&why);
    sort(&p);
    for (; rc == 0 && done < p.all.len; done += VLS_PURGE_STEP) {
        size_t left = p.all.len - done;
        rc = remove_some(&p, &p.all.ptr[done], VLS_MIN(left, VLS_PURGE_STEP), &why);
    }
    if (rc < 0)
        tell_left(v, p.all.len, &why);
    vls_vec_release(&p.all, v->env);
}
