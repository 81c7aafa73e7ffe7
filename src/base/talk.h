/* talk.h -- a conversation with a program, line by line.
 *
 *     us                                         the program
 *     input   --- socket ------------------->    standard input      no SIGPIPE when it is gone
 *     output  <-- pipe ----------------------    standard output
 *     said    <-- pipe ----------------------    standard error      its end is kept
 *
 * Nothing here waits except vls_talk_wait and the two functions that end the conversation:
 * deadlines are the caller's.
 *
 * Threads: single. The host must do what process.h asks of it. */
#ifndef VLS_TALK_H
#define VLS_TALK_H

#include "base/mark.h"
#include "base/process.h"

typedef struct vls_talk {
    const valise_env *env;
    vls_process process; /* pid 0: none runs */
    vls_mark mark;       /* where it was wanted */
    int input, output;   /* our ends; -1: closed, or it ended */
    int life;            /* our end of vls_process_tie; -1: it is not tied */
    vls_buf came;        /* and was not asked for yet */
    size_t line; /* bytes of `came` that were handed out: the next line stands behind them */
    size_t max_line;
    bool skipping; /* the rest of a line that was too long */
} vls_talk;

void vls_talk_init(vls_talk *talk, const valise_env *env, size_t max_line);
void vls_talk_release(vls_talk *talk); /* one that was ended */

/* start: its fds are filled in here. tied: it is killed when we are gone. name: what messages call
 * it. VALISE_E_IO, VALISE_E_NO_MEMORY; then nothing runs. */
int vls_talk_start(vls_talk *talk, const vls_process_start *start, bool tied, const char *name,
                   valise_error *err);

/* 1: a line, without its newline, which stays until the next call. 0: there is none now.
 * VALISE_E_TOO_LARGE: one is too long, and what comes of it is dropped up to its end;
 * VALISE_E_NO_MEMORY. After the end of the output (talk->output is -1) there is no line more. */
int vls_talk_line(valise_str *out, vls_talk *talk);

/* Send as much as goes now. Where nobody reads any more the input is closed, and its output
 * tells. */
void vls_talk_send(size_t *sent, vls_talk *talk, valise_str bytes);

/* Until something comes, or can be sent, for at most so long. Hears what it complains of. */
void vls_talk_wait(vls_talk *talk, bool sending, int64_t ms);

/* Without its input and output it may end by itself: wait for that, so long at most. */
void vls_talk_let_it_end(vls_talk *talk, int64_t ms);

/* Nothing of it stays but its last words, and what one that ended by itself left in sessions of
 * their own. grace_ms: between SIGTERM and SIGKILL. Returns its
 * status, -1: nobody knows. */
int vls_talk_end(vls_talk *talk, int64_t grace_ms);

#endif
