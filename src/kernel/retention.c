/* retention.c -- see retention.h. */
#include "kernel/retention.h"

#include "base/str.h"
#include "kernel/kernel.h"
#include "store/retention.h"

#define STEP INT64_C(1000) /* entries of one transaction: others want to write too */

/* ---- the limits ---- */

typedef struct plan {
    bool any;
    vls_log_limits limits;
} plan;

static int read_pins(plan *p, valise_view *view, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_pin pin;
    int rc = valise_view_scan(&scan, view, &vls_pins, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&pin, scan, err)) > 0) {
        bool older = p->limits.pinned_seq == VALISE_NONE || pin.seq < p->limits.pinned_seq;
        if (older && vls_pin_holds_log(&pin))
            p->limits.pinned_seq = pin.seq;
    }
    valise_scan_close(scan);
    return rc;
}

static int read_plan(void *arg, valise_view *view, valise_error *err)
{
    plan *p = arg;
    vls_retention row = {.kind = VLS_STR("log")};
    int rc = valise_view_get(&row, view, &vls_retentions, err);

    if (rc <= 0)
        return rc;
    p->any = true;
    p->limits = (vls_log_limits){row.keep_latest, row.age, row.bytes, VALISE_NONE};
    return read_pins(p, view, err);
}

/* ---- steps ---- */

typedef struct step {
    const valise_env *env;
    int64_t now, max;
    int64_t removed;
    bool more;
} step;

/* The limits are read under the write lock: a pin that comes meanwhile counts. */
static int expire(void *arg, vls_txn *txn, valise_error *err)
{
    step *s = arg;
    VLS_AUTO(view) valise_view view = {0};
    plan p = {.any = false};
    int64_t bound;
    int rc;

    vls_view_init(&view, txn, s->env);
    rc = read_plan(&p, &view, err);
    if (rc < 0 || !p.any)
        return rc;
    rc = vls_log_bound(&bound, txn, &p.limits, s->now, err);
    return rc < 0 ? rc : vls_log_expire(&s->removed, &s->more, txn, bound, s->max, err);
}

typedef struct forgetting {
    valise_str after;
    vls_arena arena;
    int64_t removed;
} forgetting;

static int forget(void *arg, vls_txn *txn, valise_error *err)
{
    forgetting *f = arg;

    return vls_gone_expire(&f->removed, &f->after, txn, STEP, &f->arena, err);
}

static int forget_deletions(valise *v, valise_error *err)
{
    forgetting f = {.removed = 0};
    int rc;

    vls_arena_init(&f.arena, v->env, VLS_VIEW_MAX_BYTES);
    do {
        rc = vls_with_txn(v, forget, &f, err);
    } while (rc == 0 && f.after.len > 0);
    vls_arena_release(&f.arena);
    return rc;
}

int vls_retention_apply(vls_expired *out, bool *more, valise *v, int64_t max, valise_error *err)
{
    plan p = {.any = false};
    int rc = vls_with_view(v, NULL, read_plan, &p, err); /* mostly nobody has to wait for this */
    bool some = p.any;

    *out = (vls_expired){0};
    while (rc == 0 && some && (max == 0 || out->entries < max)) {
        /* Not the clock of the entries, which never falls: one wrong jump ahead, and everything
         * would be old. */
        step s = {.env = v->env, .now = v->env->now_ns(v->env->self), .max = STEP};
        if (max > 0)
            s.max = VLS_MIN(s.max, max - out->entries);
        rc = vls_with_txn(v, expire, &s, err);
        out->entries += s.removed;
        some = s.more;
    }
    *more = some && out->entries > 0;
    if (rc == 0 && out->entries > 0 && !*more)
        rc = forget_deletions(v, err);
    return rc;
}

void vls_retention_upkeep(valise *v)
{
    void *self;
    const valise_store_ops *ops = vls_store_ops(v->store, &self);
    vls_expired expired;
    int64_t freed;
    bool more;

    if (vls_retention_apply(&expired, &more, v, 2 * STEP, NULL) == 0 && expired.entries > 0 &&
        ops->maintain)
        (void)ops->maintain(&freed, self, VALISE_MAINTAIN_SHRINK, NULL);
}
