/* run.c -- the typed path: structs in, structs out, through the same pipeline. */
#include "bus/operate.h"

#include "base/mem.h"
#include "bus/runner.h"

static const vls_run_more own = {.internal = true};

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

int vls_run_own(valise *v, const valise_op *op, const void *args, void *result, vls_memory *memory,
                const valise_call *call, valise_error *err)
{
    return vls_run(v, op, args, result, memory, call, &own, err);
}

int vls_run_rounds(valise *v, const valise_op *op, const valise_call *call, valise_error *err)
{
    union {
        bool more; /* where every such result begins */
        unsigned char room[256];
    } result;
    int rc;

    assert(!op->in && op->out && op->out_size <= sizeof(result));
    do {
        memset(&result, 0, sizeof(result));
        rc = vls_run_own(v, op, NULL, &result, NULL, call, err);
    } while (rc == 0 && result.more);
    return rc;
}

static int run_here(void *self, const valise_op *op, const void *args, void *result,
                    vls_memory *memory, const valise_call *call, const vls_run_more *more,
                    valise_error *err)
{
    return vls_run(self, op, args, result, memory, call, more, err);
}

vls_runner vls_runner_of(valise *v)
{
    return (vls_runner){v->env, run_here, v};
}

/* ---- several at once ---- */

typedef struct many {
    valise *v;
    vls_command *commands;
    size_t count, bytes;
    vls_told told;
} many;

static void vls_auto_many(many *m)
{
    if (!m->commands)
        return;
    for (size_t i = 0; i < m->count; i++)
        vls_command_release(&m->commands[i]);
    vls_mem_free(m->v->env, m->commands, m->count * sizeof(*m->commands));
}

int vls_command_own(vls_command *command, valise *v, const vls_run_item *item,
                    const valise_call *call, vls_told *told, valise_error *err)
{
    const vls_operation o = {.v = v, .op = item->op, .call = *call, .more = &own};
    int rc = vls_operation_check(&o, err);

    assert(item->op->kind == VALISE_COMMAND && (item->args || !item->op->in));
    if (rc == 0)
        rc = vls_operation_check_store(&o, err);
    if (rc == 0)
        rc = vls_command_init(command, v, item->op, call, true, err);
    if (rc < 0)
        return rc;
    command->told = told;
    command->want_struct = item->result != NULL;
    rc = vls_command_take(command, item->args, err);
    if (rc == 0)
        rc = vls_apart_refuse(command, "one of many", err);
    return rc;
}

void vls_command_give(const vls_command *commands, const vls_run_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (items[i].result && commands[i].result)
            memcpy(items[i].result, commands[i].result, items[i].op->out_size);
}

static int submit(many *m, const vls_run_item *items, valise_str actor, valise_error *err)
{
    vls_bus_request request = {.item = {.commands = m->count, .bytes = m->bytes},
                               .commands = m->commands,
                               .count = m->count};
    int rc = vls_bus_request_submit(&request, m->v, err);

    if (rc == 0)
        vls_told_follow(&m->told, m->v, actor);
    (void)vls_told_publish(&m->told, m->v, NULL); /* commands leave nothing for after */
    if (rc == 0)
        vls_command_give(m->commands, items, m->count);
    return rc;
}

int vls_run_many(valise *v, const vls_run_item *items, size_t count, const valise_call *call,
                 valise_error *err)
{
    VLS_AUTO(many) many m = {.v = v, .count = count};
    valise_call read;
    int rc = vls_call_read(&read, call, err);

    assert(count > 0);
    m.commands = vls_mem_zalloc(v->env, count * sizeof(*m.commands));
    if (!m.commands)
        return vls_fail_memory(err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = vls_command_own(&m.commands[i], v, &items[i], &read, &m.told, err);
        m.bytes += rc == 0 ? vls_command_bytes(&m.commands[i]) : 0;
    }
    return rc < 0 ? rc : submit(&m, items, read.actor, err);
}
