/* replayed.c -- see replayed.h. */
#include "kit/replayed.h"

#include "base/hex.h"
#include "bus/access.h"
#include "kit/log_replay.h"

static int ask_nobody(void *self, valise_view *view, valise_str actor, const valise_op *op,
                      const void *args, valise_error *err)
{
    (void)self, (void)view, (void)actor, (void)op, (void)args, (void)err;
    return 0;
}

static int allow_all(void *self, valise_view *view, valise_str actor, const char *capability,
                     const char *const *attrs, valise_error *err)
{
    (void)self, (void)view, (void)actor, (void)capability, (void)attrs, (void)err;
    return 0;
}

static int hash_state(void *arg, valise_view *view, valise_error *err)
{
    return vls_state_hash(arg, view, err);
}

const char *state_of(test *t, valise *v)
{
    valise_id hash = {{0}};

    CHECK_OK(vls_with_view(v, NULL, hash_state, &hash, &t->err));
    return test_format("%s", vls_id_hex(&hash).s);
}

const char *replayed(test *t, valise *v)
{
    vls_store_options options = {.env = t->env,
                                 .ops = valise_store_memory(),
                                 .flags = VALISE_STORE_CREATE,
                                 .colls = vls_registry_colls(v->registry)};
    log_replay replay = {.from = v->store,
                         .registry = v->registry,
                         .access = {.check = ask_nobody, .allows = allow_all}};
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(view) valise_view view = {0};
    valise_id hash = {{0}};

    CHECK_OK(vls_store_open(&replay.to, &options, &t->err));
    CHECK_OK(log_replay_run(NULL, &replay, &t->err));
    CHECK_OK(vls_txn_begin(&txn, replay.to, VALISE_TXN_READ, &t->err));
    vls_view_init(&view, &txn, t->env);
    CHECK_OK(hash_state(&hash, &view, &t->err));
    vls_view_release(&view);
    vls_txn_rollback(&txn);
    vls_store_close(replay.to);
    return test_format("%s", vls_id_hex(&hash).s);
}
