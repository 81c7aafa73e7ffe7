/* fuzz_flow.c -- any configuration at all: refused with a reason, or a flow whose export makes the
 * same flow again, and whose pictures are closed. [F6] [Q20] */
#include "fuzz/fuzz.h"

#include <valise/workspace.h>

#include "flow/flow.h"

static const valise_node_type plain = {
    .size = sizeof(valise_node_type), .name = "PlainNode", .brief = "Any params."};
static const valise_node_type chat = {
    .size = sizeof(valise_node_type), .name = "ChatNode", .brief = "A segment.", .segment = "chat"};
static const valise_node_type strict = {
    .size = sizeof(valise_node_type),
    .name = "StrictNode",
    .brief = "A schema.",
    .params_schema = "{\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}"};
static const valise_node_type *const types[] = {&plain, &chat, &strict, NULL};

static valise *handle(void)
{
    static valise *v;
    valise_options options = VALISE_OPTIONS_INIT;

    options.flags = VALISE_OPEN_NO_USER_CONFIG;
    if (!v)
        FUZZ_CHECK(valise_open(&v, NULL, &options, NULL) == 0);
    return v;
}

/* Quotes come in pairs on each line. */
static void check_picture(valise_flow *flow, int format)
{
    VLS_AUTO(blob) valise_blob *out = NULL;
    valise_str text;
    bool quoted = false;

    FUZZ_CHECK(valise_flow_graph(&out, flow, format, NULL) == 0);
    text = vls_blob_bytes(out);
    for (size_t i = 0; i < text.len; i++) {
        if (quoted && format == VALISE_GRAPH_DOT && text.ptr[i] == '\\')
            i++;
        else if (text.ptr[i] == '"')
            quoted = !quoted;
        FUZZ_CHECK(text.ptr[i] != '\n' || !quoted);
    }
    FUZZ_CHECK(!quoted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VLS_AUTO(flow) valise_flow *flow = NULL, *again = NULL;
    VLS_AUTO(blob) valise_blob *report = NULL, *first = NULL, *second = NULL, *given = NULL;
    valise_flow_options options = VALISE_FLOW_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise_str text = vls_str(data, size);
    int rc, checked;

    options.types = types;
    rc = valise_flow_from_config(&flow, handle(), text, NULL, &options, &err);
    checked = valise_flow_check(&report, handle(), text, &options, NULL);
    FUZZ_CHECK(checked == (rc == 0));
    FUZZ_CHECK(vls_json_is_canonical(vls_blob_bytes(report)));
    FUZZ_CHECK(rc == 0 || (err.code == rc && err.message[0]));
    if (rc < 0)
        return 0;
    FUZZ_CHECK(valise_flow_to_config(&first, flow, NULL) == 0);
    FUZZ_CHECK(vls_json_canonical(&given, valise_env_default(), text, NULL) == 0);
    FUZZ_CHECK(vls_str_equal(vls_blob_bytes(given), vls_blob_bytes(first)));
    FUZZ_CHECK(valise_flow_from_config(&again, handle(), vls_blob_bytes(first), NULL, &options,
                                       NULL) == 0);
    FUZZ_CHECK(valise_flow_to_config(&second, again, NULL) == 0);
    FUZZ_CHECK(vls_str_equal(vls_blob_bytes(first), vls_blob_bytes(second)));
    check_picture(flow, VALISE_GRAPH_MERMAID);
    check_picture(flow, VALISE_GRAPH_DOT);
    return 0;
}
