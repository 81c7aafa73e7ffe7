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

/* ---- what areas have ---- */

#define RETAIN ":retain"

#define LATEST                                                                                     \
    VALISE_FIELD_AS(vls_retain_args, keep_latest, "keepLatest", INT, VALISE_NULLABLE,              \
                    "Keep so many of the newest.")
#define ONE_IN                                                                                     \
    VALISE_FIELD_AS(vls_retain_args, keep_one_in, "keepOneIn", INT, VALISE_NULLABLE,               \
                    "Of the older ones, keep one in so many.")
#define AGE VALISE_FIELD(vls_retain_args, age, DURATION, VALISE_NULLABLE, "Keep what is younger.")
#define MAX                                                                                        \
    VALISE_FIELD_WITH(vls_retain_args, max, INT, 0, "At most so many at once; 0: all.",            \
                      .max = INT64_MAX)

const valise_field vls_retain_in[] = {
    LATEST,
    ONE_IN,
    VALISE_FIELD(vls_retain_args, bytes, INT, VALISE_NULLABLE, "Keep so many bytes."),
    AGE,
    MAX,
    VALISE_FIELD_END,
};

const valise_field vls_retain_counted_in[] = {LATEST, ONE_IN, AGE, MAX, VALISE_FIELD_END};

const valise_field vls_retain_out[] = {
    VALISE_FIELD(vls_retained, removed, INT, 0, "How many are gone."),
    VALISE_FIELD(vls_retained, more, BOOL, 0, "Whether there are more."),
    VALISE_FIELD_END,
};

static bool is_retain_table(const valise_field *fields)
{
    return fields == vls_retain_in || fields == vls_retain_counted_in;
}

valise_str vls_retention_kind(const valise_op *op)
{
    valise_str name = valise_str_of(op->name);

    if (op->kind != VALISE_JOB || !(op->flags & VALISE_OP_INTERNAL) || !is_retain_table(op->in) ||
        !vls_str_ends(name, VLS_STR(RETAIN)))
        return (valise_str){NULL, 0};
    return vls_str(name.ptr, name.len - strlen(RETAIN));
}

const valise_op *vls_retention_job(const valise *v, valise_str kind)
{
    char name[80];
    int len = snprintf(name, sizeof(name), "%.*s" RETAIN, VALISE_STR_ARG(kind));
    const valise_op *op;

    if (len < 0 || (size_t)len >= sizeof(name))
        return NULL;
    op = vls_registry_op(v->registry, valise_str_of(name));
    return op && vls_retention_kind(op).len > 0 ? op : NULL;
}

typedef struct kinds {
    vls_arena arena;
    vls_vec(vls_retention) rows;
} kinds;

static int read_kinds(void *arg, valise_view *view, valise_error *err)
{
    kinds *k = arg;
    valise_scan *scan = NULL;
    vls_retention row;
    int rc = valise_view_scan(&scan, view, &vls_retentions, NULL, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = vls_arena_dup(&row.kind, &k->arena, row.kind, err);
        if (rc == 0 && !vls_vec_push(&k->rows, k->arena.env, row))
            rc = vls_fail_memory(err);
    }
    valise_scan_close(scan);
    return rc;
}

static int retain(vls_expired *out, bool *more, valise *v, const vls_retention *limits, int64_t max,
                  valise_error *err)
{
    const valise_op *op = vls_retention_job(v, limits->kind);
    const vls_retain_args args = {limits->keep_latest, limits->keep_one_in, limits->bytes,
                                  limits->age, max};
    vls_retained done = {0};
    int rc = op ? vls_run_own(v, op, &args, &done, NULL, NULL, err) : 0;

    out->rows += done.removed;
    *more |= done.more;
    return rc;
}

static int retain_all(vls_expired *out, bool *more, valise *v, int64_t max, valise_error *err)
{
    kinds k = {.rows = VLS_VEC_INIT};
    int rc;

    vls_arena_init(&k.arena, v->env, VLS_VIEW_MAX_BYTES);
    rc = vls_with_view(v, NULL, read_kinds, &k, err);
    for (size_t i = 0; rc == 0 && i < k.rows.len; i++)
        rc = retain(out, more, v, &k.rows.ptr[i], max, err);
    vls_vec_release(&k.rows, v->env);
    vls_arena_release(&k.arena);
    return rc;
}

/* ---- all of it ---- */

static int expire_log(vls_expired *out, bool *more, valise *v, int64_t max, valise_error *err)
{
    plan p = {.any = false};
    int rc = vls_with_view(v, NULL, read_plan, &p, err); /* mostly nobody has to wait for this */
    bool some = p.any;

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

int vls_retention_apply(vls_expired *out, bool *more, valise *v, int64_t max, valise_error *err)
{
    int rc;

    *out = (vls_expired){0};
    rc = expire_log(out, more, v, max, err);
    return rc < 0 ? rc : retain_all(out, more, v, max, err);
}

void vls_retention_upkeep(valise *v)
{
    void *self;
    const valise_store_ops *ops = vls_store_ops(v->store, &self);
    vls_expired expired;
    int64_t freed;
    bool more;

    if (vls_retention_apply(&expired, &more, v, 2 * STEP, NULL) == 0 &&
        expired.entries + expired.rows > 0 && ops->maintain)
        (void)ops->maintain(&freed, self, VALISE_MAINTAIN_SHRINK, NULL);
}
