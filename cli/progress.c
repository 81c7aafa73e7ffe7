/* progress.c -- the line that says how far long work is. */
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/progress.h"

#include "base/fd.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/output.h"
#include "cli/print.h"

#define BAR_COLUMNS 24u
#define BAR_LEAST 5u  /* a shorter one says nothing */
#define BAR_EXTRA 10u /* "[] 100 %  " */
#define MARGIN 3u     /* for the "^C" that the terminal adds */
#define LINE_MAX_BYTES 4096u

static bool is_bytes(const valise_progress_state *state)
{
    return state->unit && strcmp(state->unit, "bytes") == 0;
}

/* 1,234,567, or 1.1 MiB where bytes are counted. */
static void add_amount(vls_buf *out, const valise_progress_state *state, uint64_t amount)
{
    char room[VLS_U64_DIGITS];
    valise_str digits = vls_u64_digits(room, amount);

    if (is_bytes(state)) {
        cli_show_size(out, amount);
        return;
    }
    for (size_t i = 0; i < digits.len; i++) {
        if (i > 0 && (digits.len - i) % 3 == 0)
            vls_buf_add_byte(out, ',');
        vls_buf_add_byte(out, digits.ptr[i]);
    }
}

static uint64_t percent_of(const valise_progress_state *state)
{
    if (state->done >= state->total)
        return 100;
    return (uint64_t)((double)state->done * 100 / (double)state->total);
}

/* So wide, with the brackets and the number. */
static void add_bar(vls_buf *out, uint64_t percent, size_t width)
{
    size_t full = (size_t)percent * width / 100;

    vls_buf_add_byte(out, '[');
    for (size_t i = 0; i < width; i++)
        vls_buf_add_byte(out, i < full ? '=' : i == full ? '>' : ' ');
    vls_buf_printf(out, "] %3llu %%  ", (unsigned long long)percent);
}

/* "4 s", "2 min 5 s", "1 h 10 min" */
static void add_duration(vls_buf *out, uint64_t seconds)
{
    unsigned long long s = seconds;

    if (s < 60)
        vls_buf_printf(out, "%llu s", s);
    else if (s < 3600)
        vls_buf_printf(out, "%llu min %llu s", s / 60, s % 60);
    else
        vls_buf_printf(out, "%llu h %llu min", s / 3600, s % 3600 / 60);
}

/* Amounts per second, from the start of the stage; 0 while that says nothing yet. */
static double rate_of(const valise_progress_state *state)
{
    if (state->elapsed_ns < VLS_NS_PER_SECOND / 5 || state->done == 0)
        return 0;
    return (double)state->done * (double)VLS_NS_PER_SECOND / (double)state->elapsed_ns;
}

static void add_rate(vls_buf *out, const valise_progress_state *state)
{
    double rate = rate_of(state);

    if (rate <= 0)
        return;
    if (rate >= 1) {
        vls_buf_add_text(out, "  ");
        add_amount(out, state, (uint64_t)rate);
        vls_buf_add_text(out, "/s");
    }
    if (state->total <= state->done)
        return;
    double left = (double)(state->total - state->done) / rate;
    if (left >= 1e9)
        return;
    vls_buf_add_text(out, "  ");
    add_duration(out, (uint64_t)left + 1);
    vls_buf_add_text(out, " left");
}

/* "1,200 of 2,700 files  350/s  4 s left" */
static void add_numbers(vls_buf *out, const valise_progress_state *state)
{
    add_amount(out, state, state->done);
    if (state->total > 0) {
        vls_buf_add_text(out, " of ");
        add_amount(out, state, state->total);
    }
    if (!is_bytes(state)) {
        vls_buf_add_byte(out, ' ');
        vls_text_neutralize(out, valise_str_of(state->unit), VLS_TEXT_KEEP_BACKSLASH);
    }
    add_rate(out, state);
}

void cli_progress_line(vls_buf *out, const valise_progress_state *state, size_t columns)
{
    VLS_AUTO(buf) vls_buf line = {0};
    VLS_AUTO(buf) vls_buf numbers = {0};
    size_t used, most = columns > (size_t)2 * MARGIN ? columns - MARGIN : VLS_MAX(columns, 2) - 1;

    vls_buf_init(&line, out->env, LINE_MAX_BYTES);
    vls_buf_init(&numbers, out->env, LINE_MAX_BYTES);
    vls_text_neutralize(&line, valise_str_of(state->stage), VLS_TEXT_KEEP_BACKSLASH);
    vls_buf_add_text(&line, "  ");
    add_numbers(&numbers, state);
    /* The bar takes what the numbers leave. */
    used = vls_text_width(vls_buf_str(&line)) + vls_text_width(vls_buf_str(&numbers)) + BAR_EXTRA;
    if (state->total > 0 && used + BAR_LEAST <= most)
        add_bar(&line, percent_of(state), VLS_MIN(most - used, BAR_COLUMNS));
    vls_buf_add(&line, vls_buf_str(&numbers));
    /* A line that wraps cannot be wiped away. */
    vls_text_fit(out, vls_buf_str(&line), most, 0);
}

void cli_progress_init(cli_progress *progress, const cli *c)
{
    struct winsize size = {0};

    *progress = (cli_progress){.c = c, .columns = 80};
    progress->visible = !c->options.quiet && isatty(STDERR_FILENO) == 1;
    if (progress->visible && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        progress->columns = size.ws_col;
}

void cli_progress_clear(cli_progress *progress)
{
    if (progress->drawn)
        (void)vls_fd_write_all(STDERR_FILENO, VLS_STR("\r\033[K"));
    progress->drawn = false;
}

int cli_progress_tell(void *arg, const valise_progress_state *state)
{
    cli_progress *progress = arg;
    VLS_AUTO(buf) vls_buf line = {0};

    if (cli_is_interrupted())
        return 1;
    if (!progress->visible)
        return 0;
    vls_buf_init(&line, progress->c->env, LINE_MAX_BYTES);
    vls_buf_add_byte(&line, '\r');
    cli_progress_line(&line, state, progress->columns);
    vls_buf_add_text(&line, "\033[K");
    (void)vls_fd_write_all(STDERR_FILENO, vls_buf_str(&line)); /* work goes on without it */
    progress->drawn = true;
    return 0;
}
