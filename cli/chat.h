/* chat.h -- a session in the terminal: what is typed is said, what comes back is shown. [P12]
 *
 *     chat.c         lines in, answers out
 *     chat_words.c   lines that begin with a slash
 *
 * Threads: single. Pieces of an answer come while `prompt:ask` runs, on the same thread. */
#ifndef CLI_CHAT_H
#define CLI_CHAT_H

#include "cli/call.h"

typedef struct chat_args {
    valise_str session, message, provider, model, replay, params, tools;
    valise_list paths; /* of valise_str */
    int64_t window;    /* VALISE_NONE */
} chat_args;

typedef struct chat {
    cli *c;
    valise *v;
    const chat_args *args;
    vls_arena arena;       /* of the line at hand */
    char session[40];      /* its id */
    char prompt[72];       /* the last one that was sent; "": none */
    vls_buf model;         /* that is asked; empty: as the role or the provider says */
    vls_buf typed;         /* read, and not used yet */
    bool terminal;         /* somebody sits there */
    bool over;             /* no more lines, please */
    size_t pieces;         /* of the answer at hand */
    uint64_t kind, block;  /* of the last of them */
    int64_t input, output; /* tokens of all answers, as reported */
    int64_t answers;
} chat;

/* Run an operation with this JSON; the reply's text lives until the next line. */
int chat_dispatch(vls_json *out, chat *h, const char *type, valise_str payload, valise_error *err);

/* Say something (ptr NULL: answer what was said last), and show what comes back. */
int chat_ask(chat *h, valise_str text, valise_error *err);

/* The next line, without its end, valid until the next one: 1; 0: there are no more. */
int chat_read(valise_str *out, chat *h, const char *prompt, valise_error *err);

/* A line that begins with a slash. */
int chat_command(chat *h, valise_str line, valise_error *err);

/* Members of a payload: {"a":"...", ... begin with `{`, and are closed by the caller. */
void chat_add(vls_buf *out, const char *key, valise_str text);

#endif
