/* bisect.c -- the first commit that made something true. */
#include "backpack/look_impl.h"

int vls_bisect(int64_t *seq, int64_t from, int64_t to, vls_holds_at_fn *holds, void *arg,
               valise_error *err)
{
    int rc;

    if (from >= to)
        return vls_fail(err, VALISE_E_INVALID, "commit %lld is not behind commit %lld",
                        (long long)to, (long long)from);
    rc = holds(arg, to, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "it does not hold after commit %lld either",
                        (long long)to);
    if (rc > 0)
        rc = holds(arg, from, err);
    if (rc > 0) {
        (void)vls_fail(err, VALISE_E_INVALID, "it holds after commit %lld already",
                       (long long)from);
        vls_hint(err, "start from an older point, where it does not");
        return VALISE_E_INVALID;
    }
    while (rc >= 0 && to - from > 1) { /* it holds at to, and not at from */
        int64_t middle = from + (to - from) / 2;
        rc = holds(arg, middle, err);
        if (rc > 0)
            to = middle;
        else
            from = middle;
    }
    if (rc < 0)
        return rc;
    *seq = to;
    return 0;
}

typedef struct bisecting {
    const vls_ledger *ledger;
    vls_holds_fn *holds;
    void *arg;
} bisecting;

static int holds_at(void *arg, int64_t seq, valise_error *err)
{
    const bisecting *b = arg;
    vls_ledger state = {0};
    int rc = b->ledger->ops->freeze(&state, b->ledger->self, seq, err);

    if (rc < 0)
        return rc;
    rc = b->holds(b->arg, &state, err);
    state.ops->release(state.self);
    return rc;
}

int vls_bag_bisect(int64_t *seq, const vls_ledger *ledger, int64_t from, int64_t to,
                   vls_holds_fn *holds, void *arg, valise_error *err)
{
    bisecting b = {ledger, holds, arg};
    int64_t at;
    int rc =
        vls_point_resolve(&at, ledger, &(vls_point){.kind = VLS_POINT_SEQ, .number = from}, err);

    if (rc == 0)
        rc = vls_point_resolve(&at, ledger, &(vls_point){.kind = VLS_POINT_SEQ, .number = to}, err);
    return rc < 0 ? rc : vls_bisect(seq, from, to, holds_at, &b, err);
}
