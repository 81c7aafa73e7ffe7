/* fuzz_prompt.c -- any neutral prompt at all: refused with a place, or a plan in which no rule
 * finds anything, for toys that demand all kinds of things and for every adapter there is; and a
 * body that is JSON. A member "x-demands" says what one of the toys demands. [P13] [Q20] */
#include "fuzz/fuzz.h"

#include "wire/lint.h"

static const char *const image_types[] = {"image/png", NULL};

/* A body is JSON, whatever was said, and read back no rule finds anything in it. */
static void check_body(const vls_adapter *adapter, const vls_plan *plan, vls_arena *arena)
{
    VLS_AUTO(wire) vls_wire wire = {.env = NULL};
    const vls_json_limits limits = {.around = VLS_JSON_MAX_AROUND};
    vls_findings found = VLS_VEC_INIT;
    vls_json back = vls_json_null();
    vls_wire_write how = {.stream = plan->messages.len % 2};

    if (!adapter->write)
        return;
    vls_wire_init(&wire, arena->env);
    if (adapter->write(&wire, plan, &how, NULL) < 0 || vls_wire_check(&wire, NULL) < 0)
        return;
    FUZZ_CHECK(vls_json_parse(&back, arena, vls_buf_str(&wire.text), &limits, NULL) == 0);
    if (!adapter->read)
        return;
    FUZZ_CHECK(vls_lint_request(&found, arena, adapter, back, NULL) == 0);
    FUZZ_CHECK(found.len == 0);
}

static void try_adapter(const vls_adapter *adapter, const vls_neutral *prompt)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    valise_error err = VALISE_ERROR_INIT;
    vls_findings found = VLS_VEC_INIT;
    vls_plan plan = {.arena = NULL};
    int rc;

    vls_arena_init(&arena, valise_env_default(), (size_t)256 << 20);
    rc = vls_plan_make(&plan, &arena, adapter, prompt, (valise_str){NULL, 0}, &err);
    FUZZ_CHECK(rc == 0 || err.message[0]);
    if (rc == 0) {
        FUZZ_CHECK(vls_lint_plan(&found, &arena, adapter, &plan, NULL, NULL) == 0);
        FUZZ_CHECK(found.len == 0);
        check_body(adapter, &plan, &arena);
    }
    FUZZ_CHECK(vls_lint_neutral(&found, &arena, adapter, prompt, &err) == 0);
    for (size_t i = 0; i < found.len; i++)
        FUZZ_CHECK(found.ptr[i].mended || rc < 0);
    vls_plan_release(&plan);
}

static void try_toys(const vls_neutral *prompt, uint32_t given)
{
    const uint32_t demands[] = {0, given, VLS_DEMANDS_ALTERNATION | VLS_DEMANDS_BRIDGE, 32767};

    for (uint32_t i = 0; i < VLS_COUNT(demands); i++) {
        vls_adapter toy = {.name = "toy", .vendor = "toys", .demands = demands[i]};
        toy.media.images = given >> 16 & 7;
        toy.media.documents = given >> 19 & 7;
        toy.media.image_types = image_types;
        toy.media.max_images = i;
        try_adapter(&toy, prompt);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    const vls_json_limits limits = {.around = VLS_NEUTRAL_AROUND};
    valise_error err = VALISE_ERROR_INIT;
    vls_json all = vls_json_null();
    vls_neutral prompt = {.context = 0};
    const vls_json *given;

    vls_arena_init(&arena, valise_env_default(), (size_t)64 << 20);
    if (vls_json_parse(&all, &arena, vls_str(data, size), &limits, NULL) < 0)
        return 0;
    if (vls_neutral_of(&prompt, all, &err) < 0) {
        FUZZ_CHECK(err.message[0]);
        return 0;
    }
    given = vls_json_get(all, VLS_STR("x-demands"));
    try_toys(&prompt, given && given->type == VLS_JSON_INT ? (uint32_t)given->integer : 0);
    for (size_t i = 0; vls_adapters[i]; i++)
        try_adapter(vls_adapters[i], &prompt);
    return 0;
}
