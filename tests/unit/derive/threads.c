/* threads.c -- policies and programs in many threads at once. */
#include <sys/stat.h>

#include "derive/kit.h"
#include "derive/program.h"

static const kit_input inputs[] = {
    {"a", KIT_TEXT("# Title\nFirst words. Second words. Third words."), false, NULL, NULL},
    {"b", KIT_TEXT("\xff"), true, NULL, NULL},
    {"c", KIT_TEXT("Other text stands here. It has words too."), false, NULL, NULL},
};

static void run_policies(size_t index, void *arg)
{
    const valise_str *expected = arg;

    for (size_t i = 0; i < 30; i++) {
        VLS_AUTO(buf) vls_buf out = {0};
        kit k = {.inputs = inputs, .count = VLS_COUNT(inputs), .budget = 256};
        size_t p = (index + i) % 3;
        CHECK_INT(0, kit_run(&out, &k, valise_env_default(), vls_policies[p], NULL));
        CHECK_STR(expected[p], vls_buf_str(&out));
    }
}

TEST(policy_threads, one_policy_in_many)
{
    kit k = {.inputs = inputs, .count = VLS_COUNT(inputs), .budget = 256};
    valise_str expected[3];

    for (size_t p = 0; p < 3; p++)
        expected[p] = kit_make(t, &k, vls_policies[p]);
    test_threads(8, run_policies, expected);
}

static void run_programs(size_t index, void *arg)
{
    const vls_program *program = arg;

    for (int i = 0; i < 5; i++) {
        VLS_AUTO(buf) vls_buf out = {0};
        const char *input = test_format("%zu %d", index, i);
        vls_buf_init(&out, valise_env_default(), 1000);
        CHECK_INT(0, vls_program_run(&out, program, valise_str_of(input), NULL));
        CHECK_STR(valise_str_of(input), vls_buf_str(&out));
    }
}

TEST(program_threads, one_program_in_many)
{
    VLS_AUTO(sealed) vls_sealed sealed = {.fd = -1};
    const char *path = test_format("%s/script", test_tmpdir());
    vls_program program = {.env = valise_env_default(), .name = "toy", .sealed = &sealed};

    test_write_file(path, VLS_STR("#!/bin/sh\ncat\n"));
    CHECK_INT(0, chmod(path, 0700));
    CHECK_OK(vls_program_seal(&sealed, path, NULL, &t->err));
    test_threads(8, run_programs, &program);
}
