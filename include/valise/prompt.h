/* valise/prompt.h -- build the request that a model gets for a session, and rebuild it later.
 *
 *     valise_prompt *prompt = NULL;
 *
 *     rc = valise_prompt_build(&prompt, v, "support", "anthropic", NULL, NULL, err);
 *     if (rc == 0)
 *         send(prompt->wire.ptr, prompt->wire.len);
 *     valise_prompt_free(prompt);
 *
 * A build sends nothing. It records how the prompt was made (its *manifest*), without any text.
 * From the id of the manifest, valise_prompt_show makes the same bytes again, as long as none of
 * their sources was erased. valise_dispatch with "prompt:build" has all options of `valise prompt
 * build`.
 *
 * Threads: many threads may call the functions on one handle. A prompt is immutable. */
#ifndef VALISE_PROMPT_H
#define VALISE_PROMPT_H

#include <stdbool.h>

#include <valise/error.h>
#include <valise/workspace.h>

VALISE_BEGIN

typedef struct valise_prompt {
    valise_id id; /* of the manifest; zero: not recorded */
    valise_uuid session;
    valise_str head; /* ID@VERSION; ptr NULL: the session has no turns */
    valise_str provider;
    valise_str model;       /* ptr NULL: none */
    int64_t tokens;         /* estimated */
    int64_t limit;          /* VALISE_NONE: no limit */
    int64_t trimmed;        /* turns left out because they did not fit */
    valise_str neutral;     /* the neutral prompt, canonical JSON */
    valise_str wire;        /* the request body; 16 MiB at most */
    bool same;              /* the bytes are those of the build; always true for a new one */
    int64_t erased, denied; /* parts whose text was erased, or may not be read */
} valise_prompt;

typedef struct valise_prompt_options {
    size_t size;
    const char *turn;   /* the conversation up to this turn; NULL: the head */
    const char *model;  /* NULL: the model of the role */
    int64_t window;     /* tokens of prompt and answer together; 0: as the role says */
    const char *tools;  /* a JSON array; NULL: none */
    const char *params; /* a JSON object; NULL: none */
    bool stream;        /* ask the model to stream its answer */
    bool no_record;     /* record nothing */
} valise_prompt_options;

#define VALISE_PROMPT_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(valise_prompt_options), NULL, NULL, 0, NULL, NULL, false, false                     \
    }

/* Build the prompt of a session for a provider. *out is freed with valise_prompt_free. session is
 * an id, the end of an id, or a label. options and call may be NULL. VALISE_E_NOT_FOUND;
 * VALISE_E_DENIED; VALISE_E_INVALID, also if the provider needs a model and neither options nor the
 * role name one; VALISE_E_LIMIT: the instructions and the last turn alone exceed the window;
 * VALISE_E_TOO_LARGE: the request exceeds 16 MiB. */
VALISE_API int valise_prompt_build(valise_prompt **out, valise *v, const char *session,
                                   const char *provider, const valise_prompt_options *options,
                                   const valise_call *call, valise_error *err);

/* Make a recorded prompt again. prompt is the id of the manifest, or its first digits (four or
 * more); or a session, meaning its last prompt, where "support~1" is the one before. *out is freed
 * with valise_prompt_free. VALISE_E_NOT_FOUND; VALISE_E_CONFLICT: several ids begin with these
 * digits; VALISE_E_DENIED. */
VALISE_API int valise_prompt_show(valise_prompt **out, valise *v, const char *prompt,
                                  const valise_call *call, valise_error *err);

/* Free a prompt; NULL is fine. */
VALISE_API void valise_prompt_free(valise_prompt *prompt);

/* The kinds of sources that pieces of a prompt come from. */
enum {
    VALISE_SOURCE_TURN,
    VALISE_SOURCE_ROLE,
    VALISE_SOURCE_PREFERENCE,
    VALISE_SOURCE_ENTRY,
    VALISE_SOURCE_FRAME,
    VALISE_SOURCE_ITEM,  /* an item of a backpack */
    VALISE_SOURCE_GIVEN, /* given by the caller of the build */
};

/* A piece of the neutral prompt, and its source. */
typedef struct valise_prompt_piece {
    int64_t offset, length; /* bytes of the neutral prompt */
    valise_str text;        /* the beginning of its text */
    bool cut;               /* text is only the beginning */
    int64_t part;           /* number of its part, from 0 */
    int kind;               /* VALISE_SOURCE_...; -1: denied */
    valise_str name;        /* of the source; ptr NULL: denied, and so for the members below */
    int64_t version;        /* of the source; VALISE_NONE: it has none */
    valise_str author;      /* who wrote the source */
    valise_str reason;      /* why it is in the prompt */
    valise_str edit;        /* how it was changed; ptr NULL: not at all */
    int64_t tokens;         /* of the whole part, estimated */
    bool denied;            /* the source may not be read */
} valise_prompt_piece;
typedef int valise_prompt_piece_fn(void *arg, const valise_prompt_piece *piece, valise_error *err);

/* List the pieces of a prompt in the order of the neutral prompt; messages come before system and
 * tools. prompt: as for valise_prompt_show. Operation prompt:blame. */
VALISE_API int valise_prompt_blame(valise *v, const char *prompt, valise_prompt_piece_fn *fn,
                                   void *arg, const valise_call *call, valise_error *err);

VALISE_END

#endif
