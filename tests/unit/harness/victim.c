/* victim.c -- running harness-victim, which stands beside this program. */
#include "victim.h"

#include <libgen.h>
#include <limits.h>
#include <unistd.h>

static const char *victim_path(void)
{
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

    CHECK(len > 0);
    self[len] = '\0';
    return test_format("%s/harness-victim", dirname(self));
}

void victim_run(process_result *out, const char *only, const char *const *env)
{
    /* What was asked of this program is not meant for that one. */
    static const char *const usual[] = {"VALISE_TEST_TIMEOUT_MS=1000", "VALISE_FAULT_MAX=300",
                                        "VALISE_KILL_ROUNDS=",         "VALISE_MODEL_RUNS=",
                                        "VALISE_MODEL_STEPS=",         "VALISE_MODEL_SECONDS=",
                                        "VALISE_MODEL_REPLAY=",        "VALISE_TEST_LONG=",
                                        "VALISE_UPDATE_GOLDEN=",       NULL};
    const char *all[16] = {NULL};
    size_t count = 0;

    for (; usual[count]; count++)
        all[count] = usual[count];
    for (; env && *env && count < VLS_COUNT(all) - 1; env++)
        all[count++] = *env;
    process_run(out, (const char *[]){victim_path(), "--only", only, "--seed", "1", NULL},
                &(process_options){.env = all, .timeout_ms = 60000});
    CHECK_MSG(!out->timed_out, "%s: %s", only, process_describe(out));
}

void victim_check_has(const char *file, int line, valise_str text, const char *needle)
{
    test_count_check();
    if (vls_str_find(text, valise_str_of(needle)) == text.len)
        test_fail(file, line, "\"%s\" is not in:\n%.*s", needle,
                  VALISE_STR_ARG(vls_str_head(text, 2500)));
}

void victim_must_fail(const char *name, const char *message)
{
    process_result r;

    victim_run(&r, name, NULL);
    CHECK_MSG(r.exit_code != 0, "%s passed:\n%s%s", name, r.out.ptr, r.err.ptr);
    CHECK_HAS(r.out, test_format("not ok 1 - %s\n", name));
    CHECK_HAS(r.out, message);
}
