/* adapter.c -- see adapter.h. */
#include "agent/adapter.h"

#include "context/api.h"
#include "derive/api.h"

static int read_context(valise_frames **out, void *self, const char *node, const char *view,
                        const valise_node_options *options, valise_error *err)
{
    const vls_agent *agent = self;

    return vls_node_get_by(out, &agent->runner, node, view, options, NULL, err);
}

static int write_context(valise_placed *out, void *self, const char *node, valise_str content,
                         const valise_frame_options *options, valise_error *err)
{
    const vls_agent *agent = self;

    return vls_frame_put_by(out, &agent->runner, node, content, options, NULL, err);
}

static int synthesize(valise_derived **out, void *self, const char *node,
                      const valise_synthesize_options *options, valise_error *err)
{
    const vls_agent *agent = self;

    return vls_synthesize_by(out, &agent->runner, node, options, NULL, err);
}

void vls_agent_init(vls_agent *agent, vls_runner runner, void (*close)(void *self))
{
    agent->runner = runner;
    agent->table = (valise_agent_adapter){.size = sizeof(valise_agent_adapter),
                                          .self = agent,
                                          .read_context = read_context,
                                          .write_context = write_context,
                                          .synthesize = synthesize,
                                          .close = close};
}

void valise_agent_close(valise_agent_adapter *adapter)
{
    if (adapter)
        adapter->close(adapter->self);
}
