/* fuzz_summary.c -- any bytes as the contents of some inputs: every policy stays within its budget,
 * gives text, and the same text again. [Q20] [C17]
 *
 *     budget (2 bytes) | content | ff fe | content | ff fe | ... */
#include "fuzz/fuzz.h"

#include "base/str.h"
#include "base/utf8.h"
#include "derive/making.h"
#include "derive/policy.h"

#define INPUTS_MAX 20u

typedef struct inputs {
    valise_policy_input list[INPUTS_MAX];
    valise_str contents[INPUTS_MAX];
    size_t count;
} inputs;

static int content(valise_str *out, void *self, size_t i, valise_error *err)
{
    const inputs *in = self;

    (void)err;
    *out = in->contents[i];
    return 0;
}

static void split(inputs *in, valise_str rest)
{
    static const valise_str names[] = {{"a.c", 3}, {"b\n(", 3}, {"\xff", 1}};

    while (rest.len > 0 && in->count < INPUTS_MAX) {
        size_t end = vls_str_find(rest, VLS_STR("\xff\xfe")), i = in->count++;
        in->contents[i] = vls_str_head(rest, end);
        in->list[i] = (valise_policy_input){.name = names[i % 3],
                                            .directory = i % 2 == 1,
                                            .type = VLS_STR("summary"),
                                            .agent = VLS_STR("local"),
                                            .size = (int64_t)in->contents[i].len};
        rest = vls_str_from(rest, end + 2);
    }
}

static void make(vls_buf *out, inputs *in, const valise_policy *policy, int64_t budget)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_policy_params params = {.budget = budget};
    valise_making making = {.inputs = in->list,
                            .count = in->count,
                            .content = content,
                            .self = in,
                            .arena = &arena,
                            .out = out};

    vls_arena_init(&arena, valise_env_default(), (size_t)1 << 30);
    vls_buf_init(out, valise_env_default(), (size_t)1 << 26);
    FUZZ_CHECK(policy->make(&making, &params, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    inputs in = {.count = 0};
    int64_t budget;

    if (size < 2)
        return 0;
    budget = VLS_POLICY_BUDGET_MIN + data[0] + 16 * data[1];
    split(&in, vls_str(data + 2, size - 2));
    for (size_t p = 0; vls_policies[p]; p++) {
        VLS_AUTO(buf) vls_buf first = {0}, second = {0};
        make(&first, &in, vls_policies[p], budget);
        make(&second, &in, vls_policies[p], budget);
        FUZZ_CHECK(first.len > 0 && first.len <= (size_t)budget);
        FUZZ_CHECK(vls_utf8_valid(vls_buf_str(&first)));
        FUZZ_CHECK(vls_str_equal(vls_buf_str(&first), vls_buf_str(&second)));
    }
    return 0;
}
