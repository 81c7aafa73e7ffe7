/* adapter.h -- an adapter from inside: three functions over whoever runs operations.
 *
 *     valise_agent_open     local.c     a handle, and the name of an agent
 *     valise_agent_start    process.c   a program that is asked over pipes (protocol.h)
 *
 * Both are a runner (bus/runner.h) and nothing else: that they answer the same is a matter of
 * course.
 *
 * Threads: shared. */
#ifndef VLS_AGENT_ADAPTER_H
#define VLS_AGENT_ADAPTER_H

#include <valise/agent.h>

#include "bus/runner.h"

typedef struct vls_agent {
    valise_agent_adapter table; /* first: what the caller has; its self is this struct */
    vls_runner runner;
} vls_agent;

void vls_agent_init(vls_agent *agent, vls_runner runner, void (*close)(void *self));

#endif
