/* shadow.c -- a shadow turn: in front of each user turn the model reads a line that people do not
 * see.
 *
 *     cc -shared -fPIC $(pkg-config --cflags valise) shadow.c -o shadow.so
 *
 * A middleware: it sees `turn:add` before it is decided, and adds one more in front of it. Both are
 * one transaction. A log that is replayed has both, so it is not asked again. */
#include <stdio.h>

#include <valise/sys/extension.h>

#include "read.h"

#define SHADOW "Say so where you are not sure."

/* `turn:add` comes with all of the turn in `turn`, or with its role and text beside each other. */
static bool is_user_turn(valise_str payload)
{
    valise_str turn = payload, role;

    (void)find_member(&turn, payload, "turn");
    return find_member(&role, turn, "role") && is_text(role, "user");
}

static int before(void *self, valise_pass *pass, valise_error *err)
{
    valise_str payload, session;
    char command[2048];
    int len, rc;

    (void)self;
    if (strcmp(valise_pass_op(pass)->name, "turn:add") != 0)
        return 0;
    rc = valise_pass_payload(&payload, pass, err);
    if (rc < 0 || !is_user_turn(payload) || !find_member(&session, payload, "sessionId"))
        return rc;
    len = snprintf(command, sizeof(command),
                   "{\"sessionId\":%.*s,\"turn\":{\"role\":\"system\",\"hidden\":true,\"blocks\":"
                   "[{\"type\":\"text\",\"text\":\"" SHADOW "\"}]}}",
                   VALISE_STR_ARG(session));
    if (len < 0 || (size_t)len >= sizeof(command))
        return valise_error_set(err, VALISE_E_INVALID, "shadow: the session's name is too long");
    return valise_pass_add(pass, false, "turn:add", (valise_str){command, (size_t)len},
                           valise_str_of(""), err);
}

static const valise_middleware shadow = {sizeof(valise_middleware), "shadow", NULL, before, NULL};
static const valise_middleware *const middleware[] = {&shadow, NULL};

static const valise_extension package = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "shadow",
    .version = "1.0",
    .middleware = middleware,
};

VALISE_API const valise_extension *valise_extension_v1(void);

const valise_extension *valise_extension_v1(void)
{
    return &package;
}
