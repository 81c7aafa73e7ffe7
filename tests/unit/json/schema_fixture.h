/* schema_fixture.h -- what the tests of schemas share. JSON is written with ' for " in them. */
#ifndef SCHEMA_FIXTURE_H
#define SCHEMA_FIXTURE_H

#include "harness/test.h"

#include "json/schema.h"

#define META_BASE "https://json-schema.org/draft/2020-12/"
#define META META_BASE "schema"

typedef struct fixture {
    test *t;
    vls_arena arena;
    vls_schema *schema;
} fixture;

static inline void fixture_init(fixture *f, test *t)
{
    *f = (fixture){.t = t};
    vls_arena_init(&f->arena, t->env, SIZE_MAX);
}

static inline void fixture_release(fixture *f)
{
    vls_schema_free(f->schema);
    vls_arena_release(&f->arena);
}

static inline vls_json js(fixture *f, const char *text)
{
    test *t = f->t;
    size_t len = strlen(text);
    char *copy = test_alloc(len + 1);
    vls_json v;

    for (size_t i = 0; i < len; i++)
        copy[i] = text[i] == '\'' ? '"' : text[i];
    CHECK_OK(vls_json_parse(&v, &f->arena, vls_str(copy, len), NULL, &t->err));
    return v;
}

static inline int compile_with(fixture *f, const char *text, const vls_schema_limits *limits)
{
    vls_schema_free(f->schema);
    f->schema = NULL;
    return vls_schema_compile(&f->schema, f->t->env, js(f, text), limits, &f->t->err);
}

static inline int compile(fixture *f, const char *text)
{
    return compile_with(f, text, NULL);
}

static inline int check(fixture *f, const char *instance)
{
    return vls_schema_check(f->schema, js(f, instance), NULL, &f->t->err);
}

/* A string of count times unit between head and tail. */
static inline const char *repeat(const char *head, const char *unit, size_t count, const char *tail)
{
    size_t unit_len = strlen(unit), at = strlen(head);
    char *text = test_alloc(at + unit_len * count + strlen(tail) + 1);

    memcpy(text, head, at);
    for (size_t i = 0; i < count; i++, at += unit_len)
        memcpy(text + at, unit, unit_len);
    memcpy(text + at, tail, strlen(tail) + 1);
    return text;
}

/* Findings as lines of text; ends the check after stop_after of them. */
typedef struct collected {
    char text[1024];
    size_t len;
    int stop_after;
} collected;

static inline int collect(void *arg, const vls_schema_finding *finding)
{
    collected *c = arg;

    c->len +=
        (size_t)snprintf(c->text + c->len, sizeof(c->text) - c->len, "%.*s|%.*s#%.*s|%.*s|%.*s\n",
                         VALISE_STR_ARG(finding->instance_path),
                         VALISE_STR_ARG(finding->schema_uri), VALISE_STR_ARG(finding->schema_path),
                         VALISE_STR_ARG(finding->keyword), VALISE_STR_ARG(finding->reason));
    return --c->stop_after == 0;
}

#endif
