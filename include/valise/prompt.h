/* valise/prompt.h -- the request a model gets of a session, and the same again later.
 *
 *     valise_prompt *prompt = NULL;
 *
 *     rc = valise_prompt_build(&prompt, v, "support", "anthropic", NULL, NULL, err);
 *     if (rc == 0)
 *         send(prompt->wire.ptr, prompt->wire.len);
 *     valise_prompt_free(prompt);
 *
 * How it came to be is recorded, without any text; its id gives the same bytes again
 * (valise_prompt_show), as long as nothing of it was erased. Nothing is sent. All options of
 * `valise prompt build` are there through valise_dispatch, "prompt:build".
 *
 * Threads: the functions may be called on one handle by many threads; a prompt is immutable. */
#ifndef VALISE_PROMPT_H
#define VALISE_PROMPT_H

#include <stdbool.h>

#include <valise/error.h>
#include <valise/workspace.h>

VALISE_BEGIN

typedef struct valise_prompt {
    valise_id id; /* of its manifest; zero: it was not recorded */
    valise_uuid session;
    valise_str head; /* TurnRef; ptr NULL: nothing was said */
    valise_str provider;
    valise_str model;       /* ptr NULL: none */
    int64_t tokens;         /* estimated */
    int64_t limit;          /* INT64_MIN: none */
    int64_t trimmed;        /* turns that did not fit */
    valise_str neutral;     /* the neutral prompt, canonical JSON */
    valise_str wire;        /* the request; 16 MiB at most */
    bool same;              /* these are the bytes of then; of a new one: true */
    int64_t erased, denied; /* parts whose text is gone, or may not be read */
} valise_prompt;

typedef struct valise_prompt_options {
    size_t size;
    const char *turn;   /* the path to this turn; NULL: the head */
    const char *model;  /* NULL: that of the role */
    int64_t window;     /* tokens of prompt and answer; 0: as the role says */
    const char *tools;  /* JSON, an array; NULL: none */
    const char *params; /* JSON, an object; NULL: none */
    bool stream;        /* ask for a stream */
    bool no_record;     /* keep nothing of it */
} valise_prompt_options;

#define VALISE_PROMPT_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(valise_prompt_options), NULL, NULL, 0, NULL, NULL, false, false                     \
    }

/* session: its id, the end of it, or its label. options and call may be NULL. VALISE_E_NOT_FOUND,
 * VALISE_E_DENIED; VALISE_E_INVALID, also where neither options nor the role name a model and the
 * provider wants one; VALISE_E_LIMIT: instructions and the last turn alone are over the window;
 * VALISE_E_TOO_LARGE: the request is over 16 MiB. */
VALISE_API int valise_prompt_build(valise_prompt **out, valise *v, const char *session,
                                   const char *provider, const valise_prompt_options *options,
                                   const valise_call *call, valise_error *err);

/* prompt: digits of its id, four or more of its beginning; or a session, whose last one it is then:
 * "support~1" is the one before. VALISE_E_NOT_FOUND, VALISE_E_CONFLICT: several begin so;
 * VALISE_E_DENIED. */
VALISE_API int valise_prompt_show(valise_prompt **out, valise *v, const char *prompt,
                                  const valise_call *call, valise_error *err);

VALISE_API void valise_prompt_free(valise_prompt *prompt); /* NULL is fine */

/* What a piece of a prompt was made of. */
enum {
    VALISE_SOURCE_TURN,
    VALISE_SOURCE_ROLE,
    VALISE_SOURCE_PREFERENCE,
    VALISE_SOURCE_ENTRY,
    VALISE_SOURCE_FRAME,
    VALISE_SOURCE_ITEM,  /* of a backpack */
    VALISE_SOURCE_GIVEN, /* by who built it */
};

/* A stretch of the neutral prompt, and where it comes from. */
typedef struct valise_prompt_piece {
    int64_t offset, length; /* in the neutral prompt */
    valise_str text;        /* the beginning of what it says */
    bool cut;               /* there is more of it */
    int64_t part;           /* number of the part, from 0 */
    int kind;               /* VALISE_SOURCE_...; -1: denied */
    valise_str name;        /* which one; ptr NULL: denied, as the next ones then */
    int64_t version;        /* of it; VALISE_NONE */
    valise_str author;      /* who wrote it */
    valise_str reason;      /* why it is there */
    valise_str edit;        /* what was done to it; ptr NULL: nothing */
    int64_t tokens;         /* of the whole part, estimated */
    bool denied;            /* its source may not be read */
} valise_prompt_piece;
typedef int valise_prompt_piece_fn(void *arg, const valise_prompt_piece *piece, valise_error *err);

/* Each piece, in their order; messages come before system and tools. prompt: as for
 * valise_prompt_show. prompt:blame */
VALISE_API int valise_prompt_blame(valise *v, const char *prompt, valise_prompt_piece_fn *fn,
                                   void *arg, const valise_call *call, valise_error *err);

VALISE_END

#endif
