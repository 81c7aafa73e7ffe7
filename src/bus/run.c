/* run.c -- the typed path: structs in, structs out, through the same pipeline. */
#include "bus/operate.h"

int vls_run(valise *v, const valise_op *op, const void *args, void *result, vls_memory *memory,
            const valise_call *call, const vls_run_more *more, valise_error *err)
{
    static const vls_run_more nothing_more;
    vls_operation o = {.v = v,
                       .op = op,
                       .more = more ? more : &nothing_more,
                       .typed = true,
                       .args = args,
                       .result = result,
                       .memory = memory,
                       .reply = VALISE_REPLY_INIT};
    int rc = vls_call_read(&o.call, call, err);

    assert(args || !op->in);
    if (rc == 0)
        rc = vls_operation_run(&o, err);
    if (more && more->reply)
        *more->reply = o.reply;
    else
        valise_reply_release(&o.reply);
    return rc;
}
