/* process.c -- forking, capturing, waiting with a limit.
 *
 * A child prints into memory files instead of pipes: nobody has to read while it runs, so
 * nothing can block, and what it printed is there whole even when it was killed. Waiting is
 * polling: signals and descriptors stay free for the tested code. */
#include "harness/process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "harness/internal.h"

#define MAX_LIVE 256

static process *live[MAX_LIVE]; /* the running test's children */

/* ---- time ---- */

int64_t process_now_ms(void)
{
    return valise_env_default()->ticks_ns(NULL) / 1000000;
}

void process_sleep_us(int64_t us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};

    (void)nanosleep(&time, NULL);
}

int process_timeout_ms(void)
{
    return (int)test_setting("VALISE_TEST_TIMEOUT_MS", 20000);
}

/* ---- children and their ends ---- */

static void forget(process *p)
{
    for (size_t i = 0; i < MAX_LIVE; i++) {
        if (live[i] == p)
            live[i] = NULL;
    }
    (void)close(p->out);
    (void)close(p->err);
}

/* Deferred: the test is over, and p with it unless it was allocated. */
static void end_child(void *arg)
{
    process *copy = arg;

    for (size_t i = 0; i < MAX_LIVE; i++) {
        if (live[i] == copy) {
            (void)kill(copy->pid, SIGKILL);
            (void)waitpid(copy->pid, NULL, 0);
            forget(copy);
        }
    }
}

static process *find(const process *p)
{
    for (size_t i = 0; i < MAX_LIVE; i++) {
        if (live[i] && live[i]->pid == p->pid)
            return live[i];
    }
    return NULL;
}

/* Fork, with output into memory files. Returns as fork does. */
static pid_t start(process *p)
{
    process *kept = test_alloc(sizeof(process));
    size_t slot = 0;

    (void)test_tmpdir(); /* one for all, and removed by us */
    while (slot < MAX_LIVE && live[slot])
        slot++;
    NEED(slot < MAX_LIVE, "more than %d children at once", MAX_LIVE);
    p->out = memfd_create("out", MFD_CLOEXEC);
    p->err = memfd_create("err", MFD_CLOEXEC);
    NEED(p->out >= 0 && p->err >= 0, "memfd_create: %s", strerror(errno));

    pid_t parent = getpid();
    p->pid = fork();
    NEED(p->pid >= 0, "fork: %s", strerror(errno));
    if (p->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(TEST_EXIT_FAILED);
        (void)dup2(p->out, STDOUT_FILENO);
        (void)dup2(p->err, STDERR_FILENO);
        return 0;
    }
    *kept = *p;
    live[slot] = kept;
    test_defer(end_child, kept);
    return p->pid;
}

void process_start(process *p, process_fn *fn, size_t index, void *arg)
{
    if (start(p) == 0)
        test_child_exit(fn(index, arg));
}

static valise_str captured(int fd)
{
    struct stat st = {0};

    (void)fstat(fd, &st);
    char *bytes = test_alloc((size_t)st.st_size);
    ssize_t got = pread(fd, bytes, (size_t)st.st_size, 0);
    return vls_str(bytes, got < 0 ? 0 : (size_t)got);
}

bool process_ended(const process *p)
{
    siginfo_t info = {.si_pid = 0};

    return waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

bool process_poll(process_result *out, process *p)
{
    process *kept = find(p);
    int status;
    pid_t got;

    NEED(kept != NULL, "process %d is not a child of this test", (int)p->pid);
    do {
        got = waitpid(p->pid, &status, WNOHANG);
    } while (got < 0 && errno == EINTR);
    NEED(got >= 0, "waitpid: %s", strerror(errno));
    if (got == 0)
        return false;
    *out = (process_result){
        .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
        .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
        .stuck = "",
        .out = captured(p->out),
        .err = captured(p->err),
    };
    forget(kept);
    return true;
}

void process_kill(process *p)
{
    (void)kill(p->pid, SIGKILL);
}

/* What the kernel knows of a process that does not end. */
static const char *state_of(pid_t pid)
{
    static const char *const sources[] = {"stat", "wchan", "syscall"};
    char text[3][160] = {"", "", ""};

    for (size_t i = 0; i < VLS_COUNT(sources); i++) {
        int fd = open(test_format("/proc/%d/%s", (int)pid, sources[i]), O_RDONLY | O_CLOEXEC);
        ssize_t len = fd < 0 ? 0 : read(fd, text[i], sizeof(text[i]) - 1);
        text[i][len < 0 ? 0 : len] = '\0';
        text[i][strcspn(text[i], "\n")] = '\0';
        if (fd >= 0)
            (void)close(fd);
    }
    char *name_end = strrchr(text[0], ')');
    return test_format("in state %.1s, kernel function %s, system call %s",
                       name_end && name_end[1] ? name_end + 2 : "?", text[1], text[2]);
}

void process_wait(process_result *out, process *p, int timeout_ms)
{
    int64_t end = process_now_ms() + (timeout_ms ? timeout_ms : process_timeout_ms());
    const char *stuck = "";

    for (int64_t pause_us = 50; !process_poll(out, p); pause_us = VLS_MIN(pause_us * 2, 2000)) {
        process_sleep_us(pause_us);
        if (!stuck[0] && process_now_ms() > end) {
            stuck = state_of(p->pid);
            process_kill(p);
        }
    }
    out->stuck = stuck;
    out->timed_out = stuck[0] != '\0';
}

const char *process_describe(const process_result *r)
{
    const char *how = r->timed_out ? test_format("timed out, %s", r->stuck)
                      : r->signal  ? test_format("signal %d (%s)", r->signal, strsignal(r->signal))
                                   : test_format("exit code %d", r->exit_code);
    valise_str err = vls_str_trim(r->err);

    return test_format("%s%s%.*s", how, err.len ? "\n" : "",
                       VALISE_STR_ARG(vls_str_head(err, 2000)));
}

/* ---- programs ---- */

__attribute__((noreturn)) static void become(const char *const *argv, const process_options *o,
                                             int input)
{
    (void)dup2(input, STDIN_FILENO);
    if (o->dir && chdir(o->dir) != 0)
        (void)dprintf(STDERR_FILENO, "%s: %s\n", o->dir, strerror(errno));
    for (const char *const *e = o->env; e && *e; e++) {
        const char *equals = strchr(*e, '=');
        NEED(equals != NULL, "%s: no NAME=value", *e);
        (void)setenv(test_format("%.*s", (int)(equals - *e), *e), equals + 1, 1);
    }
    (void)execvp(argv[0], (char *const *)(uintptr_t)argv);
    (void)dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

void process_run(process_result *out, const char *const *argv, const process_options *options)
{
    process_options o = options ? *options : (process_options){.dir = NULL};
    int input = memfd_create("in", MFD_CLOEXEC);
    process p;

    NEED(input >= 0, "memfd_create: %s", strerror(errno));
    NEED(o.input.len == 0 || pwrite(input, o.input.ptr, o.input.len, 0) == (ssize_t)o.input.len,
         "memory file: %s", strerror(errno));
    if (start(&p) == 0)
        become(argv, &o, input);
    (void)close(input);
    process_wait(out, &p, o.timeout_ms);
}

/* ---- many at once ---- */

typedef struct gate {
    atomic_size_t waiting;
    atomic_bool open;
    process_fn *fn;
    void *arg;
} gate;

static int behind_gate(size_t index, void *arg)
{
    gate *g = arg;

    atomic_fetch_add(&g->waiting, 1);
    while (!atomic_load(&g->open))
        (void)sched_yield();
    return g->fn(index, g->arg);
}

void process_all(process_result *results, size_t count, process_fn *fn, void *arg)
{
    process_result *got = results ? results : test_alloc(count * sizeof(process_result));
    process *children = test_alloc(count * sizeof(process));
    gate *g = process_share(sizeof(gate));
    int64_t end = process_now_ms() + process_timeout_ms();

    g->fn = fn;
    g->arg = arg;
    for (size_t i = 0; i < count; i++)
        process_start(&children[i], behind_gate, i, g);
    while (atomic_load(&g->waiting) < count && process_now_ms() < end)
        process_sleep_us(50);
    atomic_store(&g->open, true);
    for (size_t i = 0; i < count; i++)
        process_wait(&got[i], &children[i], (int)VLS_MAX(end - process_now_ms(), 1));
    for (size_t i = 0; !results && i < count; i++)
        CHECK_MSG(got[i].exit_code == 0 && !got[i].timed_out, "process %zu of %zu: %s", i, count,
                  process_describe(&got[i]));
}

/* ---- shared memory ---- */

typedef struct shared {
    void *at;
    size_t size;
} shared;

static void unmap(void *arg)
{
    shared *s = arg;

    (void)munmap(s->at, s->size);
}

void *process_share(size_t size)
{
    shared *s = test_alloc(sizeof(shared));

    s->size = size;
    s->at =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    NEED(s->at != MAP_FAILED, "mmap: %s", strerror(errno));
    test_defer(unmap, s);
    return s->at;
}
