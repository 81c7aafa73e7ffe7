/* program.c -- programs as policies: seal, run. What running is: base/exec.c. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/exec.h"
#include "base/hash.h"
#include "derive/program.h"

int vls_program_seal(vls_sealed *out, const char *path, const valise_id *expected,
                     valise_error *err)
{
    VLS_AUTO(sealed) vls_sealed sealed = {.fd = -1};
    int rc = vls_sealed_open(&sealed, path, err);

    if (rc < 0)
        return rc;
    if (expected && !vls_id_equal(expected, &sealed.id)) {
        (void)vls_fail(err, VALISE_E_DENIED, "%s is not the program that was recorded", path);
        vls_hint(err, "'valise synthesize DIR --program %s' uses the one that is there now", path);
        return VALISE_E_DENIED;
    }
    /* The copy could be run in any case: its owner is us. */
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0) {
        (void)vls_fail(err, VALISE_E_DENIED, "%s is not executable", path);
        vls_hint(err, "chmod +x %s", path);
        return VALISE_E_DENIED;
    }
    *out = sealed;
    sealed.fd = -1;
    return 0;
}

/* The program is there, since it was sealed: what else can be wrong with it? */
static void hint_at_start(int why, valise_error *err)
{
    if (why == ENOENT)
        vls_hint(err, "check that /proc is there, and the program that its first line (#!) names");
    else if (why == EACCES || why == EPERM)
        vls_hint(err, "this system may not allow programs in memory (vm.memfd_noexec)");
}

int vls_program_run(vls_buf *out, const vls_program *program, valise_str input, valise_error *err)
{
    VLS_AUTO(buf) vls_buf words = {0}; /* its name and PATH, which posix_spawn wants to be ours */
    char locale[] = "LC_ALL=C", zone[] = "TZ=UTC";
    char *argv[] = {NULL, NULL};
    char *environment[] = {NULL, locale, zone, NULL};
    vls_exec_end end = {.not_started = 0};
    size_t path;
    int rc;

    VLS_ARG(program->env && program->name && program->sealed && program->sealed->fd >= 0, err);
    vls_buf_init(&words, program->env, 1 << 20);
    vls_buf_add_text(&words, program->name);
    vls_buf_add_byte(&words, '\0');
    path = words.len;
    vls_buf_add(&words, VLS_STR("PATH="));
    vls_buf_add_text(&words, program->path ? program->path : VLS_PROGRAM_PATH);
    vls_buf_add_byte(&words, '\0');
    if (vls_buf_check(&words, err) < 0)
        return words.failed;
    argv[0] = words.ptr;
    environment[0] = words.ptr + path;
    const vls_exec exec = {.env = program->env,
                           .name = program->name,
                           .start = {.file = "/proc/self/fd/3",
                                     .argv = argv,
                                     .environment = environment,
                                     .folder = "/",
                                     .fds = &program->sealed->fd,
                                     .count = 1},
                           .timeout_ms = program->timeout_ms,
                           .max_bytes = program->max_bytes,
                           .said = program->said,
                           .look = program->look,
                           .self = program->self};
    rc = vls_exec_run(out, &exec, input, &end, err);
    if (rc < 0)
        hint_at_start(end.not_started, err);
    return rc;
}
