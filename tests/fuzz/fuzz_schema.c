/* fuzz_schema.c -- any schema on any instance: refused with a message, or a verdict. [Q20]
 *
 *     schema text, byte 0xFF, instance text
 *
 * 0xFF is in no UTF-8 text, so neither side can contain it. What must hold besides not crashing:
 * the verdict is the same with and without a report, and a second compilation agrees. */
#include "fuzz/fuzz.h"

#include "json/schema.h"

static int count_finding(void *arg, const vls_schema_finding *finding)
{
    uint32_t *count = arg;

    FUZZ_CHECK(finding->reason.len > 0);
    FUZZ_CHECK(finding->instance_path.len == 0 || finding->instance_path.ptr[0] == '/');
    FUZZ_CHECK(finding->schema_path.len == 0 || finding->schema_path.ptr[0] == '/');
    (*count)++;
    return 0;
}

static void check(const vls_schema *schema, vls_json instance)
{
    uint32_t count = 0;
    vls_schema_report report = {.found = count_finding, .arg = &count};
    valise_error err = VALISE_ERROR_INIT;
    int rc = vls_schema_check(schema, instance, NULL, &err);
    int again = vls_schema_check(schema, instance, &report, NULL);

    FUZZ_CHECK((rc == 0) == (err.code == 0) && (rc == 0 || err.message[0]));
    FUZZ_CHECK(rc == 0 || rc == VALISE_E_INVALID || rc == VALISE_E_LIMIT ||
               rc == VALISE_E_TOO_LARGE);
    FUZZ_CHECK(report.count == count);
    /* To find everything may take more work than to find something. */
    FUZZ_CHECK(again == rc || (rc == VALISE_E_INVALID && again == VALISE_E_LIMIT));
    FUZZ_CHECK(rc != 0 || count == 0);
    FUZZ_CHECK(again != VALISE_E_INVALID || count > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const vls_schema_limits limits = {.max_steps = 20000, .max_bytes = (size_t)16 << 20};
    const valise_env *env = valise_env_default();
    VLS_AUTO(schema) vls_schema *schema = NULL;
    VLS_AUTO(arena) vls_arena arena;
    valise_error err = VALISE_ERROR_INIT;
    valise_str schema_text, instance_text;
    vls_json value, instance;

    vls_arena_init(&arena, env, (size_t)64 << 20);
    vls_str_cut(&schema_text, &instance_text, vls_str(data, size), (char)0xFF);
    if (vls_json_parse(&value, &arena, schema_text, NULL, NULL) < 0)
        return 0;
    if (vls_json_parse(&instance, &arena, instance_text, NULL, NULL) < 0)
        instance = value;
    int rc = vls_schema_compile(&schema, env, value, &limits, &err);
    FUZZ_CHECK((rc == 0) == (schema != NULL) && (rc == 0 || (err.code == rc && err.message[0])));
    if (schema)
        check(schema, instance);
    return 0;
}
