/* kit.h -- a workspace, a request, and the prompt that comes of it, as short texts.
 *
 *     U[hi] A[hello|call(c1,ls)] T[res(c1,a b)] U[{summary}]      messages and their blocks
 *
 * Payloads and blocks are written with ' for ".
 *
 * Threads: single. */
#ifndef PROMPT_KIT_H
#define PROMPT_KIT_H

#include "kit/talk.h"

#include "prompt/manifest.h"

typedef struct pot {
    test *t;
    talk *k;
    vls_request ask;      /* what is asked for; session and head are looked up */
    const char *provider; /* of the adapter */
    const char *actor;    /* NULL: the usual one */
    vls_parts *also;      /* NULL, or parts of the choice are copied (their edits too) */
    const char *neutral;  /* of the last build */
    const char *wire;     /* its text, without blobs */
    const char *manifest; /* JSON */
    const char *parts;    /* "section kind name|..." */
    const char *left;     /* "kind name: reason|..." */
    const char *said;     /* messages */
    const char *system;   /* texts of the system, with | between */
    vls_budget budget;
    int64_t trimmed, left_turns;
    size_t context, history, part_count;
    size_t repairs;
} pot;

pot *pot_open(test *t);
/* One of several; the test closes it (k->v). */
pot *pot_open_another(test *t, int number);

/* ' becomes ". In memory of the test. */
const char *pot_quote(const char *text);

/* An operation that must go; the answer. */
const char *pot_do(pot *p, const char *type, const char *format, ...) VALISE_PRINTF(3, 4);

const char *pot_session(pot *p, const char *topics); /* "'a','b'"; the id */
/* A turn: blocks is a list, or a text where it begins with no [. flags: "'noprompt':true". The ref.
 */
const char *pot_say(pot *p, const char *session, const char *role, const char *blocks);
const char *pot_say_with(pot *p, const char *session, const char *role, const char *blocks,
                         const char *flags);

int pot_try(pot *p, const char *session);
void pot_build(pot *p, const char *session); /* must go */

typedef struct pot_again {
    bool neutral_same, wire_same;
    size_t erased, denied;
    const char *neutral, *said, *system;
} pot_again;
int pot_try_rebuild(pot_again *out, pot *p, const char *manifest);
pot_again pot_rebuild(pot *p, const char *manifest);

/* For tables. */
#define POT_STR(text)                                                                              \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }

/* Is the text in it? */
#define CHECK_HAS(text, part)                                                                      \
    CHECK_MSG(strstr((text), (part)), "'%s' is not in: %s", (part), (text))
#define CHECK_HAS_NOT(text, part)                                                                  \
    CHECK_MSG(!strstr((text), (part)), "'%s' is in: %s", (part), (text))

#endif
