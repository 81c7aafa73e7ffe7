/* program.c -- a program from start to end: spawn, read until its output ends, wait, clean up.
 *
 * Its input is a file in memory, so nobody waits for a program that does not read, and no write can
 * bring a SIGPIPE. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hash.h"
#include "base/hex.h"
#include "base/process.h"
#include "base/text.h"
#include "base/utf8.h"
#include "derive/program.h"

#define LOOK_MS 100
#define PAUSE_MAX_MS 50
#define TIMEOUT_MAX_MS INT64_C(1000000000)

/* What the program gets as 0 to 4. */
typedef struct given {
    int input, output, said, self, life;
} given;

typedef struct run {
    const vls_program *program;
    vls_process process;
    int output;         /* our end, -1 once it ended */
    int life;           /* our end: closed when we are gone */
    vls_buf *out;       /* where the output goes */
    size_t begin, max;  /* where it begins, and how much it may be */
    int64_t end_ns;     /* the deadline */
    int64_t timeout_ms; /* ... as it was given */
} run;

/* What messages call it. */
static vls_text_brief called(const run *r)
{
    return vls_text_short(valise_str_of(r->program->name));
}

static void vls_auto_given(given *g)
{
    g->input = vls_fd_close(g->input);
    g->output = vls_fd_close(g->output);
    g->said = vls_fd_close(g->said);
    g->self = vls_fd_close(g->self);
    g->life = vls_fd_close(g->life);
}

/* ---- before ---- */

int vls_program_seal(vls_sealed *out, const char *path, const valise_id *expected,
                     valise_error *err)
{
    VLS_AUTO(sealed) vls_sealed sealed = {.fd = -1};
    int rc = vls_sealed_open(&sealed, path, err);

    if (rc < 0)
        return rc;
    if (expected && !vls_id_equal(expected, &sealed.id)) {
        (void)vls_fail(err, VALISE_E_DENIED, "%s is another program than the one that was meant",
                       path);
        vls_hint(err, "`valise synthesize DIR --program %s` takes the one that is there", path);
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

static int open_input(int *out, valise_str input, valise_error *err)
{
    const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    VLS_AUTO(fd) int fd = memfd_create("valise-input", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int high;

    if (fd < 0 || vls_fd_write_all(fd, input) < 0 || fcntl(fd, F_ADD_SEALS, seals) < 0 ||
        lseek(fd, 0, SEEK_SET) < 0)
        return vls_fail_errno(err, "cannot make", VLS_STR("the input of a program"));
    high = vls_process_copy_fd(fd);
    if (high < 0)
        return vls_fail_errno(err, "cannot make", VLS_STR("the input of a program"));
    *out = high;
    return 0;
}

/* ---- starting ---- */

static int fail_to_start(const vls_program *program, int why, valise_error *err)
{
    errno = why;
    (void)vls_fail_errno(err, "cannot run", valise_str_of(program->name));
    if (why == ENOMEM)
        return VALISE_E_NO_MEMORY;
    if (why == ENOEXEC)
        vls_hint(err, "a script begins with a line such as #!/bin/sh");
    else if (why == ENOENT)
        vls_hint(err, "is the program that its line #! names there, and /proc?");
    else if (why == EACCES || why == EPERM)
        vls_hint(err, "does this system run programs from memory? (vm.memfd_noexec)");
    if (err)
        err->code = VALISE_E_IO; /* whatever the reason: NOT_FOUND is what a search may answer */
    return VALISE_E_IO;
}

static int start(run *r, const given *g, valise_error *err)
{
    const vls_program *program = r->program;
    VLS_AUTO(buf) vls_buf words = {0}; /* its name and PATH, which posix_spawn wants to be ours */
    char locale[] = "LC_ALL=C", zone[] = "TZ=UTC";
    char *argv[] = {NULL, NULL};
    char *environment[] = {NULL, locale, zone, NULL};
    const int fds[] = {g->input, g->output, g->said, g->self, g->life};
    size_t path;
    int why;

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
    why = vls_process_spawn(&r->process, &(vls_process_start){.file = "/proc/self/fd/3",
                                                              .argv = argv,
                                                              .environment = environment,
                                                              .folder = "/",
                                                              .fds = fds,
                                                              .count = VLS_COUNT(fds)});
    return why == 0 ? 0 : fail_to_start(program, why, err);
}

/* Nobody can do anything any more when we are killed: but the kernel can, which tells the owner of
 * a pipe by a signal that its other end was closed. (A process can ask to be killed with its parent
 * by itself only, between fork and exec, where posix_spawn lets nobody in; and it would be killed
 * with the thread that started it.) Where it cannot be arranged, a program outlives us. */
static void tie(const run *r, int life)
{
    if (fcntl(life, F_SETOWN, -r->process.pid) == 0 && fcntl(life, F_SETSIG, SIGKILL) == 0)
        (void)fcntl(life, F_SETFL, O_ASYNC);
}

/* ---- while it runs ---- */

static int64_t now_ns(const run *r)
{
    return r->program->env->ticks_ns(r->program->env->self);
}

static int read_output(run *r, valise_error *err)
{
    char room[VLS_PROCESS_PIECE];
    valise_str piece;

    while (vls_process_read(&piece, room, &r->output)) {
        if (piece.len > r->max - (r->out->len - r->begin))
            return vls_fail(err, VALISE_E_TOO_LARGE, "%s wrote over %zu bytes", called(r).s,
                            r->max);
        vls_buf_add(r->out, piece);
        if (r->out->failed)
            return vls_buf_check(r->out, err);
    }
    return 0;
}

static int fail_late(run *r, valise_error *err)
{
    if (r->output >= 0 && vls_process_has_ended(&r->process))
        return vls_fail(err, VALISE_E_LIMIT,
                        "%s has ended, but what it started kept its output open for %lld ms",
                        called(r).s, (long long)r->timeout_ms);
    return vls_fail(err, VALISE_E_LIMIT, "%s did not end within %lld ms", called(r).s,
                    (long long)r->timeout_ms);
}

/* Wait for output, for at most so long. */
static void wait_a_little(const run *r, int ms)
{
    struct pollfd fds[] = {{.fd = r->output, .events = POLLIN},
                           {.fd = r->process.said, .events = POLLIN}};

    (void)poll(fds, VLS_COUNT(fds), ms); /* a signal is as good as any other reason to go on */
}

/* Until its output has ended and itself too. */
static int follow(run *r, valise_error *err)
{
    int64_t looked_ns = now_ns(r);
    int pause_ms = 1;

    for (;;) {
        int64_t left_ms = (r->end_ns - now_ns(r)) / 1000000;
        int rc = read_output(r, err);
        vls_process_hear(&r->process);
        if (rc < 0)
            return rc;
        if (r->output < 0 && vls_process_has_ended(&r->process))
            return 0;
        if (left_ms <= 0)
            return fail_late(r, err);
        if (r->program->look && now_ns(r) - looked_ns >= LOOK_MS * INT64_C(1000000)) {
            looked_ns = now_ns(r);
            rc = r->program->look(r->program->self, err);
            if (rc < 0)
                return rc;
        }
        pause_ms = r->output >= 0 ? LOOK_MS : VLS_MIN(2 * pause_ms, PAUSE_MAX_MS);
        wait_a_little(r, (int)VLS_MIN(left_ms, pause_ms));
    }
}

/* ---- the end ---- */

static void hand_out_said(const run *r)
{
    if (r->program->said)
        vls_text_neutralize(r->program->said, vls_process_said(&r->process),
                            VLS_TEXT_KEEP_NEWLINE | VLS_TEXT_KEEP_TAB | VLS_TEXT_KEEP_BACKSLASH);
}

static int run_to_end(run *r, valise_error *err)
{
    int rc = follow(r, err), status;

    if (rc < 0) {
        r->output = vls_fd_close(r->output);
        vls_process_end(&r->process, r->program->env);
    }
    status = vls_process_reap(&r->process);
    vls_process_hear(&r->process);
    hand_out_said(r);
    return rc < 0 ? rc : vls_process_judge(&r->process, status, called(r).s, r->program->env, err);
}

int vls_program_run(vls_buf *out, const vls_program *program, valise_str input, valise_error *err)
{
    run r = {.program = program,
             .output = -1,
             .process = VLS_PROCESS_INIT,
             .life = -1,
             .out = out,
             .begin = out->len};
    int rc;

    VLS_ARG(program->env && program->name && program->sealed && program->sealed->fd >= 0, err);
    rc = vls_buf_check(out, err);
    if (rc < 0)
        return rc;
    r.timeout_ms = program->timeout_ms > 0 ? program->timeout_ms : VLS_PROGRAM_TIMEOUT_MS;
    r.timeout_ms = VLS_MIN(r.timeout_ms, TIMEOUT_MAX_MS);
    r.max = program->max_bytes > 0 ? program->max_bytes : VLS_PROGRAM_OUTPUT_MAX;
    {
        VLS_AUTO(given) given g = {-1, -1, -1, -1, -1};
        rc = open_input(&g.input, input, err);
        if (rc == 0)
            rc = vls_process_pipe(&r.output, &g.output, 1, err);
        if (rc == 0)
            rc = vls_process_pipe(&r.process.said, &g.said, 1, err);
        if (rc == 0)
            rc = vls_process_pipe(&r.life, &g.life, 0, err);
        if (rc == 0) {
            g.self = vls_process_copy_fd(program->sealed->fd);
            if (g.self < 0)
                rc = vls_fail_errno(err, "cannot run", valise_str_of(program->name));
        }
        if (rc == 0)
            rc = start(&r, &g, err);
        if (rc == 0)
            tie(&r, g.life);
    } /* its ends are closed: ours see the end of what it writes */
    r.end_ns = now_ns(&r) + r.timeout_ms * INT64_C(1000000);
    if (rc == 0)
        rc = run_to_end(&r, err);
    (void)vls_fd_close(r.output);
    (void)vls_fd_close(r.process.said);
    (void)vls_fd_close(r.life);
    if (rc < 0) {
        out->len = r.begin;
        out->failed = 0;
    }
    return rc;
}
