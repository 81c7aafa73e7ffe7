/* toy.c -- an adapter for tests. */
#include "toy.h"

static vls_json of(vls_json event, const char *key)
{
    const vls_json *member = vls_json_get(event, valise_str_of(key));

    return member ? *member : vls_json_null();
}

static valise_str text_of(vls_json event, const char *key)
{
    vls_json member = of(event, key);

    return member.type == VLS_JSON_STRING ? vls_json_str(member) : VLS_STR("");
}

static int64_t int_of(vls_json event, const char *key)
{
    vls_json member = of(event, key);

    return member.type == VLS_JSON_INT ? member.integer : VALISE_NONE;
}

static bool does(vls_json event, const char *what)
{
    return vls_str_equal(text_of(event, "do"), valise_str_of(what));
}

static vls_stop stop_of(valise_str why)
{
    for (int i = 0; vls_stops[i]; i++) {
        if (vls_str_equal(why, valise_str_of(vls_stops[i])))
            return (vls_stop)i;
    }
    return VLS_STOP_OTHER;
}

static vls_said_kind kind_of(vls_json event)
{
    valise_str kind = text_of(event, "kind");

    if (does(event, "think") || does(event, "sign") || does(event, "redact") ||
        vls_str_equal(kind, VLS_STR("thinking")))
        return VLS_SAID_THINKING;
    if (does(event, "call") || does(event, "args") || does(event, "value") ||
        vls_str_equal(kind, VLS_STR("call")))
        return VLS_SAID_CALL;
    return VLS_SAID_TEXT;
}

static int toy_block(vls_stream *s, vls_json event, valise_error *err)
{
    size_t block = 0;
    int rc = vls_stream_block(&block, s, int_of(event, "at"), kind_of(event), err);

    if (rc < 0)
        return rc;
    if (does(event, "text") || does(event, "think"))
        return vls_stream_text(s, block, text_of(event, "text"), err);
    if (does(event, "sign"))
        return vls_stream_sign(s, block, text_of(event, "text"), err);
    if (does(event, "call"))
        return vls_stream_call(s, block, text_of(event, "id"), text_of(event, "name"), err);
    if (does(event, "args"))
        return vls_stream_args(s, block, text_of(event, "text"), err);
    if (does(event, "value"))
        return vls_stream_args_value(s, block, of(event, "value"), err);
    if (does(event, "meta")) {
        char key[600] = "";
        valise_str name = text_of(event, "key");
        memcpy(key, name.ptr, VLS_MIN(name.len, sizeof(key) - 1));
        return vls_stream_meta(s, block, key, of(event, "value"), err);
    }
    vls_stream_redact(s, block);
    return 0;
}

static int toy_event(vls_stream *s, valise_str name, vls_json event, valise_error *err)
{
    (void)name;
    if (event.type != VLS_JSON_OBJECT || text_of(event, "do").len == 0)
        return vls_fail(err, VALISE_E_INVALID, "it is no event of a toy");
    if (does(event, "head"))
        return vls_stream_head(s, text_of(event, "id"), text_of(event, "model"), err);
    if (does(event, "stop"))
        return vls_stream_stop(s, stop_of(text_of(event, "why")), text_of(event, "text"), err);
    if (does(event, "drop"))
        return vls_stream_drop(s, text_of(event, "text"), err);
    if (does(event, "usage")) {
        vls_stream_usage(s)->input = int_of(event, "input");
        vls_stream_usage(s)->output = int_of(event, "output");
        return 0;
    }
    if (does(event, "end")) {
        vls_stream_end(s);
        return 0;
    }
    return toy_block(s, event, err);
}

static int toy_answer(vls_stream *s, vls_json response, valise_error *err)
{
    vls_json events = of(response, "events");
    int rc = 0;

    if (events.type != VLS_JSON_ARRAY)
        return vls_fail(err, VALISE_E_INVALID, "it is no answer of a toy");
    for (uint32_t i = 0; rc == 0 && i < events.len; i++)
        rc = toy_event(s, VLS_STR(""), events.items[i], err);
    return rc;
}

const vls_adapter toy = {
    .name = "toy",
    .vendor = "toys",
    .brief = "An adapter for tests.",
    .version = 1,
    .http = {.path = "/v1/{model}/say",
             .stream = "/v1/{model}/stream",
             .key_env = "TOY_API_KEY",
             .key_head = "x-toy-key: ",
             .heads = {"x-toy-version: 1", NULL}},
    .answer = toy_answer,
    .event = toy_event,
};

const vls_adapter toy_of_nobody = {
    .name = "nobody",
    .vendor = "",
    .brief = "An adapter without opaque data.",
    .version = 1,
    .answer = toy_answer,
    .event = toy_event,
};
