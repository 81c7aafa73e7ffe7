/* nodes_kit.c -- see nodes_kit.h. */
#include "nodes_kit.h"

#include <sys/stat.h>

#include "json/make.h"

const char *quoted(const char *text)
{
    char *copy = test_alloc(strlen(text) + 1);
    size_t len = strlen(text);

    for (size_t i = 0; i <= len; i++)
        copy[i] = text[i];
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return copy;
}

const char *answers_of(const char *lines)
{
    static _Atomic unsigned count;
    const char *path = test_format("%s/answers-%u", test_tmpdir(), ++count);

    test_write_file(path, valise_str_of(quoted(lines)));
    return path;
}

const char *says(const char *text)
{
    return test_format("{'answer':{'blocks':[{'type':'text','text':'%s'}],'usage':{'input':7,"
                       "'output':3}}}\n",
                       text);
}

const char *calls(const char *id, const char *tool, const char *args)
{
    return test_format("{'answer':{'blocks':[{'type':'tool_use','callId':'%s','name':'%s',"
                       "'args':%s}]}}\n",
                       id, tool, args);
}

void put_program(const char *name, const char *script)
{
    const char *path = test_format("%s/%s", test_tmpdir(), name);

    test_write_file(path, valise_str_of(test_format("#!/bin/sh\n%s\n", script)));
    CHECK(chmod(path, 0700) == 0);
}

static void free_flow(void *arg)
{
    valise_flow_free(arg);
}

valise_flow *flow_with(desk *d, const char *config, const valise_service *services)
{
    valise_flow_options options = VALISE_FLOW_OPTIONS_INIT;
    valise_flow *flow = NULL;
    int rc;

    options.flags = VALISE_FLOW_PROGRAMS;
    options.folder = test_tmpdir();
    options.services = services;
    rc =
        valise_flow_from_config(&flow, d->v, valise_str_of(quoted(config)), NULL, &options, d->err);
    if (rc < 0)
        test_note("%s: %s", d->err->path, d->err->message);
    CHECK(rc == 0);
    test_defer(free_flow, flow);
    return flow;
}

valise_flow *flow_of(desk *d, const char *config)
{
    return flow_with(d, config, NULL);
}

valise_flow *nodes_of(desk *d, const char *nodes, const char *edges)
{
    return flow_of(d, test_format("{'namespace':'test','nodes':[%s],'edges':[%s]}", nodes, edges));
}

const char *ran(desk *d, valise_flow *flow, valise_backpack *bag)
{
    valise_flow_result result = VALISE_FLOW_RESULT_INIT;
    int rc;

    *d->err = (valise_error)VALISE_ERROR_INIT;
    rc = valise_flow_run(&result, NULL, flow, bag, NULL, d->err);
    if (rc < 0)
        return test_format("%s: %s", valise_error_name(rc), d->err->message);
    return test_format("%s at %s", result.action, result.node);
}

const char *wrong(desk *d, const char *node)
{
    valise_blob *report = NULL;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json all, errors;
    const char *text = "";

    vls_arena_init(&arena, d->t->env, (size_t)16 << 20);
    CHECK(valise_flow_check(&report, d->v,
                            valise_str_of(quoted(test_format("{'nodes':[%s]}", node))), NULL,
                            d->err) >= 0);
    CHECK(vls_json_parse(&all, &arena, valise_blob_bytes(report), NULL, d->err) == 0);
    errors = vls_member_of(all, "errors");
    if (errors.len > 0)
        text = test_format("%.*s: %.*s", VALISE_STR_ARG(vls_text_of(errors.items[0], "path")),
                           VALISE_STR_ARG(vls_text_of(errors.items[0], "message")));
    valise_blob_unref(report);
    return text;
}
