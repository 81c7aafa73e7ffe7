/* local.c -- the adapter in this process: a handle, and who acts. */
#include "agent/adapter.h"

#include "base/mem.h"
#include "base/str.h"
#include "bus/command.h"

typedef struct local {
    vls_agent agent; /* first */
    valise *v;
    char actor[VLS_ACTOR_MAX + 1];
} local;

static int run(void *self, const valise_op *op, const void *args, void *result, vls_memory *memory,
               const valise_call *call, const vls_run_more *more, valise_error *err)
{
    const local *l = self;
    valise_call own;
    int rc = vls_call_read(&own, call, err);

    own.actor = valise_str_of(l->actor);
    return rc < 0 ? rc : vls_run(l->v, op, args, result, memory, &own, more, err);
}

static void close_local(void *self)
{
    local *l = self;

    vls_mem_free(l->v->env, l, sizeof(*l));
}

int valise_agent_open(valise_agent_adapter **out, valise *v, const char *agent, valise_error *err)
{
    size_t len;
    local *l;

    VLS_ARG(out && v && agent, err);
    len = strlen(agent);
    if (len == 0 || len > VLS_ACTOR_MAX)
        return vls_fail(err, VALISE_E_INVALID, "the name of an agent has 1 to %u bytes",
                        VLS_ACTOR_MAX);
    l = vls_mem_zalloc(v->env, sizeof(*l));
    if (!l)
        return vls_fail_memory(err);
    l->v = v;
    memcpy(l->actor, agent, len);
    vls_agent_init(&l->agent, (vls_runner){v->env, run, l}, close_local);
    *out = &l->agent.table;
    return 0;
}
