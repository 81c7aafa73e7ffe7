/* bodies.h -- the sample as fault loops and kill loops run it; arg points to its bugs. */
#ifndef BODIES_H
#define BODIES_H

#include <stdlib.h>

#include "harness/fault.h"
#include "harness/kill.h"
#include "sample.h"

static inline int save_once(fault *f, void *arg)
{
    const unsigned *bugs = arg;
    const char *path = test_format("%s/file", f->dir);

    fault_off(f);
    test_write_file(path, VLS_STR("the old text"));
    fault_on(f);
    int rc = sample_save(f->env, f->dir, VLS_STR("the new text"), *bugs, &f->err);
    fault_off(f);
    fault_check_state(f, rc, VLS_STR("the old text"), VLS_STR("the new text"),
                      test_read_file(path));
    return rc;
}

/* Saves 1, 2, 3: each acknowledged when it is durable. */
static inline void save_three(kill_run *run, void *arg)
{
    const unsigned *bugs = arg;
    valise_error err = VALISE_ERROR_INIT;

    for (int i = 1; i <= 3; i++) {
        const char *text = test_format("version %d", i);
        int rc = sample_save(valise_env_default(), run->dir, valise_str_of(text), *bugs, &err);
        CHECK_MSG(rc == 0, "%s", err.message);
        kill_ack(run, "%d", i);
    }
}

/* The file is a whole version, at least the last one acknowledged. */
static inline void verify_versions(test *t, const kill_run *run, void *arg)
{
    const char *path = test_format("%s/file", run->dir);
    FILE *file = fopen(path, "r");
    int version = 0;

    (void)t;
    (void)arg;
    if (file) {
        fclose(file);
        valise_str text = test_read_file(path);
        CHECK_MSG(text.len == 9 && sscanf(text.ptr, "version %d", &version) == 1,
                  "half a file: \"%s\"", text.ptr);
    }
    CHECK_INT(run->acked, run->acked ? strtol(run->acks[run->acked - 1], NULL, 10) : 0);
    CHECK_MSG((size_t)version >= run->acked, "version %zu was acknowledged, version %d is there",
              run->acked, version);
}

#endif
