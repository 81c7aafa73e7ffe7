/* counted.c -- see counted.h. */
#include "derive/counted.h"

#include <valise/sys/extension.h>

#include "base/str.h"

static int calls;
static void (*meanwhile)(void *arg);
static void *meanwhile_arg;

static int write_input(valise_making *making, size_t i, bool lead, valise_error *err)
{
    const valise_policy_input *input = valise_making_input(making, i);
    valise_str content, line, rest;
    int rc = valise_making_content(&content, making, i, err);

    if (rc < 0)
        return rc;
    if (lead && vls_str_cut(&line, &rest, content, '\n'))
        content = line;
    rc = valise_making_write(making, input->name, err);
    if (rc == 0)
        rc = valise_making_write(making, VLS_STR(": "), err);
    if (rc == 0)
        rc = valise_making_write(making, content, err);
    return rc < 0 ? rc : valise_making_write(making, VLS_STR("\n"), err);
}

static int write_all(valise_making *making, bool lead, valise_error *err)
{
    int rc = 0;

    calls++;
    if (meanwhile)
        meanwhile(meanwhile_arg);
    for (size_t i = 0; rc == 0 && i < valise_making_count(making); i++)
        rc = write_input(making, i, lead, err);
    return rc;
}

static int join(valise_making *making, const void *params, valise_error *err)
{
    (void)params;
    return write_all(making, false, err);
}

static int lead(valise_making *making, const void *params, valise_error *err)
{
    (void)params;
    return write_all(making, true, err);
}

#define POLICY(number, word)                                                                       \
    {                                                                                              \
        .size = sizeof(valise_policy), .name = "toy." #word, .version = (number),                  \
        .brief = "Counts.", .make = word                                                           \
    }
#define EXTENSION(number)                                                                          \
    static const valise_policy join##number = POLICY(number, join);                                \
    static const valise_policy lead##number = POLICY(number, lead);                                \
    static const valise_policy *const policies##number[] = {&join##number, &lead##number, NULL};   \
    static const valise_extension toy##number = {.size = sizeof(valise_extension),                 \
                                                 .abi = VALISE_EXTENSION_ABI,                      \
                                                 .name = "toy",                                    \
                                                 .version = "1",                                   \
                                                 .policies = policies##number};                    \
    static const valise_extension *const extensions##number[] = {&toy##number, NULL}

EXTENSION(1);
EXTENSION(2);

static void close_it(void *arg)
{
    yard *y = arg;

    valise_close(y->v);
}

yard *counted_open_at(test *t, const char *dir, int version)
{
    yard *y = test_alloc(sizeof(*y));
    valise_options o = VALISE_OPTIONS_INIT;

    *y = (yard){.t = t};
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = version == 0 ? NULL : version == 1 ? extensions1 : extensions2;
    CHECK_OK(valise_open(&y->v, dir, &o, &t->err));
    test_defer(close_it, y);
    calls = 0;
    meanwhile = NULL;
    return y;
}

yard *counted_open(test *t, const char *name, int version)
{
    bool memory = !t->param || strcmp(t->param, "memory") == 0;

    return counted_open_at(t, memory ? ":memory:" : test_format("%s/%s", test_tmpdir(), name),
                           version);
}

void counted_meanwhile(void (*fn)(void *arg), void *arg)
{
    meanwhile = fn;
    meanwhile_arg = arg;
}

int counted_calls(void)
{
    int was = calls;

    calls = 0;
    return was;
}
