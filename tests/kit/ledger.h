/* ledger.h -- writing into ledgers, and what they show as text: for the contract suite, the model
 * and the tests of one kind of ledger.
 *
 * What must not fail is checked here. Texts are
 *
 *     short   key@seq=value, for people
 *     whole   all members of each commit as JSON, with the bytes of its value, for comparing
 */
#ifndef TEST_LEDGER_H
#define TEST_LEDGER_H

#include "backpack/ledger.h"
#include "base/buf.h"
#include "harness/test.h"

typedef struct ledger_write {
    const char *key;
    const char *value;   /* JSON; NULL: none */
    int64_t action;      /* VALISE_ACTION_...; 0 is PACK */
    const char *space;   /* namespace; NULL: none */
    const char *node;    /* NULL: "n" */
    const char *tags;    /* split at spaces, sorted already; NULL: none */
    const char *readers; /* the same; NULL: all */
    const char *reason;
    int64_t entry, seq, run, version;
    int64_t time; /* 0: one more than the last */
} ledger_write;

/* Append as the layer above does: with version, previous and time. Returns the seq. */
int64_t ledger_put(const vls_ledger *ledger, const valise_env *env, const ledger_write *w);
/* The same, but may fail. */
int ledger_try(int64_t *seq, const vls_ledger *ledger, const valise_env *env, const ledger_write *w,
               valise_error *err);

int64_t ledger_pack(const vls_ledger *ledger, const valise_env *env, const char *key,
                    const char *value);
int64_t ledger_delete(const vls_ledger *ledger, const valise_env *env, const char *key);
/* A commit and its row. */
int64_t ledger_quarantine(const vls_ledger *ledger, const valise_env *env, const char *key);
/* The entry comes back: 0 when the key is live, or there is no such entry. */
int64_t ledger_release(const vls_ledger *ledger, const valise_env *env, int64_t entry);
void ledger_checkpoint(const vls_ledger *ledger, const char *name, int64_t seq);

vls_ledger ledger_freeze(const vls_ledger *ledger, int64_t upto);
void ledger_release_frozen(vls_ledger *ledger); /* none is fine */

vls_ledger_head ledger_head(const vls_ledger *ledger); /* strings are gone */
valise_uuid ledger_uuid(unsigned number);

/* ---- as text: appended to a buffer ---- */

typedef struct ledger_text {
    vls_buf buf;
    const vls_ledger *ledger; /* for values; NULL: without */
    bool whole;
} ledger_text;

void ledger_text_init(ledger_text *text, const valise_env *env, bool whole);
void ledger_text_clear(ledger_text *text);
static inline void vls_auto_ledger_text(ledger_text *text)
{
    vls_buf_release(&text->buf);
}

void ledger_show_commit(ledger_text *out, const valise_commit *commit);
void ledger_show_items(ledger_text *out, const vls_ledger *ledger);
void ledger_show_named(ledger_text *out, const vls_ledger *ledger, const char *pattern);
void ledger_show_versions(ledger_text *out, const vls_ledger *ledger, const char *key);
void ledger_show_commits(ledger_text *out, const vls_ledger *ledger, int64_t first, int64_t last,
                         bool reverse);
void ledger_show_newest(ledger_text *out, const vls_ledger *ledger, const char *key);
void ledger_show_present(ledger_text *out, const vls_ledger *ledger, const char *key);
/* 1 where it was found. */
int ledger_show_at(ledger_text *out, const vls_ledger *ledger, const valise_uuid *backpack,
                   int64_t seq);
void ledger_show_difference(ledger_text *out, const vls_ledger *a, const vls_ledger *b);
void ledger_show_rows(ledger_text *out, const vls_ledger *ledger, const valise_coll *coll);
void ledger_show_reads(ledger_text *out, const vls_ledger *ledger);

/* The texts of the functions above, for CHECK_TEXT. */
const char *ledger_items(const vls_ledger *ledger);
const char *ledger_named(const vls_ledger *ledger, const char *pattern);
const char *ledger_versions(const vls_ledger *ledger, const char *key);
const char *ledger_commits(const vls_ledger *ledger);
const char *ledger_newest(const vls_ledger *ledger, const char *key); /* "": none */
const char *ledger_difference(const vls_ledger *a, const vls_ledger *b);

#endif
