/* output.c -- standard output, colours, the pager. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/output.h"

#include "base/fd.h"
#include "base/text.h"

#define WRITE_BYTES ((size_t)32 << 10) /* so much is collected before it is written */
#define WRITE_EVERY_NS INT64_C(100000000)
#define OUT_MAX_BYTES ((size_t)1 << 30)
#define PAGER_WORDS 16

/* COLUMNS and LINES win over what the terminal says, as in other programs. */
static size_t size_from(const char *variable, unsigned short told, size_t otherwise)
{
    const char *text = getenv(variable);
    uint64_t number = 0;

    if (text && vls_str_to_u64(&number, valise_str_of(text)) && number > 0 && number < 10000)
        return (size_t)number;
    return told > 0 ? told : otherwise;
}

void cli_out_init(cli_out *out, const cli *c)
{
    struct winsize size = {0};

    *out = (cli_out){.env = c->env, .fd = STDOUT_FILENO, .fail = VALISE_ERROR_INIT};
    vls_buf_init(&out->text, c->env, OUT_MAX_BYTES);
    out->terminal = isatty(STDOUT_FILENO) == 1;
    out->color = cli_wants_color(c, out->terminal);
    if (out->terminal)
        (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    out->columns = size_from("COLUMNS", size.ws_col, 80);
    out->rows = size_from("LINES", size.ws_row, 24);
    out->wrote_ns = c->env->ticks_ns(c->env->self);
}

void cli_out_page(cli_out *out, const cli *c)
{
    out->paged = out->terminal && !c->options.no_pager && out->pager_line;
    out->streamed = true;
}

/* ---- the pager ---- */

/* It is split at blanks and started without a shell. None when it is empty or cat. */
static size_t split_pager(char *room, size_t size, char *words[PAGER_WORDS + 1], const char *line)
{
    size_t count = 0;

    (void)snprintf(room, size, "%s", line);
    for (char *at = room; *at && count < PAGER_WORDS;) {
        at += strspn(at, " \t");
        if (!*at)
            break;
        words[count++] = at;
        at += strcspn(at, " \t");
        if (*at)
            *at++ = '\0';
    }
    words[count] = NULL;
    return count == 1 && strcmp(words[0], "cat") == 0 ? 0 : count;
}

static void run_pager(char **words, const int pipe_fd[2])
{
    struct sigaction normal = {.sa_handler = SIG_DFL};

    (void)sigaction(SIGPIPE, &normal, NULL);
    if (dup2(pipe_fd[0], STDIN_FILENO) < 0)
        _exit(126);
    (void)close(pipe_fd[0]);
    (void)close(pipe_fd[1]);
    (void)setenv("LESS", "FRX", 0); /* colours pass, one screen does not wait */
    (void)execvp(words[0], words);
    /* No pager: the text goes out as it is. */
    for (;;) {
        char bytes[4096];
        ssize_t got = read(STDIN_FILENO, bytes, sizeof(bytes));
        if (got <= 0 || vls_fd_write_all(STDOUT_FILENO, vls_str(bytes, (size_t)got)) < 0)
            _exit(0);
    }
}

static void start_pager(cli_out *out)
{
    char *words[PAGER_WORDS + 1], room[1024];
    int pipe_fd[2];

    out->paged = false;
    if (split_pager(room, sizeof(room), words, out->pager_line) == 0 ||
        pipe2(pipe_fd, O_CLOEXEC) < 0)
        return;
    out->pager = fork();
    if (out->pager == 0)
        run_pager(words, pipe_fd);
    (void)close(pipe_fd[0]);
    if (out->pager < 0) {
        out->pager = 0;
        (void)close(pipe_fd[1]);
        return;
    }
    out->fd = pipe_fd[1];
}

static void end_pager(cli_out *out)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    int status;

    if (out->pager == 0)
        return;
    (void)close(out->fd); /* a pipe: nothing is lost here that write did not tell */
    /* Ctrl-C is the pager's now: it decides when it ends. */
    (void)sigaction(SIGINT, &ignore, NULL);
    while (waitpid(out->pager, &status, 0) < 0 && errno == EINTR)
        continue;
    out->pager = 0;
    out->fd = STDOUT_FILENO;
}

/* ---- writing ---- */

static void write_out(cli_out *out)
{
    if (!out->closed && out->fail.code == 0 &&
        vls_fd_write_all(out->fd, vls_buf_str(&out->text)) < 0) {
        if (errno == EPIPE)
            out->closed = true;
        else
            vls_fail_errno(&out->fail, "cannot write to", VLS_STR("standard output"));
    }
    vls_buf_clear(&out->text);
    out->wrote_ns = out->env->ticks_ns(out->env->self);
}

static int check(const cli_out *out, valise_error *err)
{
    if (out->fail.code == 0)
        return 0;
    if (err)
        *err = out->fail;
    return out->fail.code;
}

/* Lines that are wider than the terminal take several of its lines. */
bool cli_out_is_long(const cli_out *out)
{
    valise_str line, rest = vls_buf_str(&out->text);
    size_t lines = 0;

    while (out->terminal && rest.len > 0 && lines < out->rows) {
        (void)vls_str_cut(&line, &rest, rest, '\n');
        lines += 1 + (line.len > out->columns ? (vls_text_width(line) - 1) / out->columns : 0);
    }
    return out->terminal && lines >= out->rows;
}

int cli_out_page_all(cli_out *out, const cli *c, valise_error *err)
{
    cli_out_page(out, c);
    return cli_out_row(out, err);
}

int cli_out_row(cli_out *out, valise_error *err)
{
    int rc = vls_buf_check(&out->text, err);

    if (rc < 0)
        return rc;
    if (out->paged) {
        /* Hold it back until it is known to be longer than the screen. */
        if (!cli_out_is_long(out))
            return cli_check_interrupt(err);
        start_pager(out);
    }
    if (out->text.len >= WRITE_BYTES ||
        out->env->ticks_ns(out->env->self) - out->wrote_ns >= WRITE_EVERY_NS)
        write_out(out);
    rc = check(out, err);
    return rc < 0 ? rc : cli_check_interrupt(err);
}

int cli_out_flush(cli_out *out, valise_error *err)
{
    int rc = vls_buf_check(&out->text, err);

    if (rc < 0)
        return rc;
    write_out(out);
    return check(out, err);
}

void cli_out_look(cli_out *out)
{
    struct pollfd fd = {.fd = out->fd};

    /* The other end of a pipe or terminal is gone. */
    if (poll(&fd, 1, 0) == 1 && fd.revents & (POLLERR | POLLHUP | POLLNVAL))
        out->closed = true;
}

int cli_out_finish(cli_out *out, valise_error *err)
{
    int rc = vls_buf_check(&out->text, err);

    if (rc == 0) {
        write_out(out);
        rc = check(out, err);
    }
    end_pager(out);
    return rc;
}

void cli_out_release(cli_out *out)
{
    end_pager(out);
    vls_buf_release(&out->text);
}

/* ---- text ---- */

void cli_add_data(cli_out *out, valise_str text, uint32_t flags)
{
    if (out->terminal)
        vls_text_neutralize(&out->text, text, flags | VLS_TEXT_KEEP_BACKSLASH | VLS_TEXT_KEEP_TAB);
    else
        vls_buf_add(&out->text, text);
}

void cli_add_text(cli *c, const char *text)
{
    vls_buf_add_text(&c->out->text, text);
}

void cli_add_inline(cli *c, valise_str text)
{
    vls_text_neutralize(&c->out->text, text, VLS_TEXT_KEEP_BACKSLASH);
}

void cli_style_begin(cli_out *out, cli_style style)
{
    static const char *const codes[] = {
        [CLI_PLAIN] = "",       [CLI_BOLD] = "\033[1m",   [CLI_DIM] = "\033[2m",
        [CLI_RED] = "\033[31m", [CLI_GREEN] = "\033[32m", [CLI_YELLOW] = "\033[33m",
    };

    if (out->color)
        vls_buf_add_text(&out->text, codes[style]);
}

void cli_style_end(cli_out *out, cli_style style)
{
    if (out->color && style != CLI_PLAIN)
        vls_buf_add_text(&out->text, "\033[0m");
}
