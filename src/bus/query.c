/* query.c -- queries: one read transaction, one view, one answer. */
#include "bus/operate.h"

static int ask(vls_operation *o, vls_reading *r, const void *args, void *result, valise_error *err)
{
    const valise_op *op = o->op;
    int rc = 0;

    if (op->needs && !o->more->internal)
        rc = o->v->access.check(o->v->access.self, &r->view, r->actor, op, args, err);
    if (rc >= 0)
        rc = op->query(&r->view, args, result, err);
    if (rc == VALISE_E_CANCELLED && r->sink->stopped)
        rc = 0;
    return vls_op_judge(op, rc, err);
}

static void give_memory(vls_operation *o, vls_reading *r)
{
    if (!o->memory)
        return;
    r->view.txn = NULL;
    r->view.hooks = (vls_view_hooks){0};
    *o->memory = (vls_memory){.view = r->view};
    r->view = (valise_view){0};
}

int vls_operation_query(vls_operation *o, valise_error *err)
{
    VLS_AUTO(reading) vls_reading reading = {0};
    VLS_AUTO(sink) vls_sink sink = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    const void *args = NULL;
    void *result = NULL;
    int rc;

    /* Arguments are made before the transaction begins, and outlive the view. */
    vls_arena_init(&arena, o->v->env, VLS_COMMAND_MAX_BYTES);
    vls_operation_sink(&sink, o);
    rc = vls_operation_args(&args, o, &arena, err);
    if (rc == 0)
        rc = vls_operation_result(&result, o, &arena, err);
    if (rc == 0)
        rc = vls_reading_begin(&reading, o->v, &o->call, !(o->op->flags & VALISE_OP_NO_WORKSPACE),
                               err);
    if (rc < 0)
        return rc;
    reading.sink = &sink;
    reading.view.told = &o->told;
    reading.internal = o->more->internal;
    rc = ask(o, &reading, args, result, err);
    if (rc == 0 && !o->typed)
        rc = vls_sink_finish(&o->reply.json, &sink, result, err);
    if (rc < 0)
        return rc;
    o->reply.seq = reading.view.stamp.seq;
    o->reply.time = reading.view.stamp.time;
    give_memory(o, &reading);
    return 0;
}
