/* search.h -- full text over turns, context entries and heads of slots. [W14]
 *
 *     words   ->  query.c     what people write, as an expression of quoted tokens
 *     rows    ->  text.c      what a row says, as plain text
 *     log     ->  follow.c    what changed since, into the index
 *     index   ->  find.c      matches, filtered, in order, with snippets
 *
 * The index is a projection in an SQLite file of its own, search.db beside the store; in memory
 * where the store is no SQLite file or may not be written. It is derived: it is made again whenever
 * it is damaged, of another workspace, or behind what the log still tells.
 *
 *     state   one row: how far it has come (seq and hash of that entry), how far building it has
 *     doc     one row for each that says something, under
 *             seq << 30 | number << 10 | length << 2 | kind
 *     fts     FTS5 over text, name and topics of doc
 *
 * The seq in the id is that of the entry that made the row, the length is that of its text
 * (rank.c): so the newest and the best are known without a look, and an index that was built at
 * once equals one that followed.
 *
 * Threads: vls_search is shared: one thread works with it at a time. The rest are pure. */
#ifndef VLS_SEARCH_H
#define VLS_SEARCH_H

#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/vec.h"
#include "bus/bus.h"
#include "json/json.h"
#include "store/view.h"

#define VLS_SEARCH_FILE "search.db"
#define VLS_SEARCH_QUERY_MAX 4096             /* bytes */
#define VLS_SEARCH_TERMS_MAX 64               /* words and phrases of one query */
#define VLS_SEARCH_TEXT_MAX ((size_t)4 << 20) /* bytes of one row that are searched */
#define VLS_SEARCH_SEQ_SHIFT 30
#define VLS_SEARCH_LIMIT_MAX 1000
#define VLS_SEARCH_OFFSET_MAX 9000

enum { VLS_SEARCH_TURN, VLS_SEARCH_CONTEXT, VLS_SEARCH_FRAME, VLS_SEARCH_KINDS };
extern const char *const vls_search_kinds[]; /* "turn", "context", "frame", NULL */
const valise_coll *vls_search_coll(int kind);

/* ---- tokens.c ---- */

/* Make the tokenizer "valise" known to a connection: unicode61 without diacritics, in which each
 * character of a script that has no spaces is a token. The result is SQLite's. */
int vls_search_tokenizer(sqlite3 *db);
int vls_search_fts5(fts5_api **out, sqlite3 *db); /* the interface of FTS5; the same */

/* That tokenizer, for who asks it: single. A zeroed or closed one can be closed. */
typedef struct vls_search_words {
    fts5_tokenizer base;
    Fts5Tokenizer *self; /* NULL: closed */
} vls_search_words;
int vls_search_words_open(vls_search_words *out, sqlite3 *db); /* SQLite's result */
void vls_search_words_close(vls_search_words *words);
/* How many tokens there are. */
size_t vls_search_count_words(const vls_search_words *words, valise_str text);

/* ---- rank.c ---- */

typedef struct vls_search_rank {
    double lengths[256]; /* tokens, by what an id says */
    double rows;         /* of the index, when it was last asked */
    /* For who may not read all: how often a word is there, and how long texts are, would tell of
     * what he may not read. So each word counts the same, and a text of usual length is one of 100.
     */
    bool plain;
} vls_search_rank;
/* Make the function fit(fts) known to a connection, in whose life *rank must stay where it is. */
int vls_search_rank_open(vls_search_rank *rank, sqlite3 *db);
int64_t vls_search_length(size_t tokens); /* as an id says it */
double vls_search_idf(double rows, double hits);

/* ---- query.c ---- */

/* A word, or a phrase of several tokens. */
typedef struct vls_search_term {
    valise_str text;
    valise_str *tokens; /* as the tokenizer has them */
    size_t count;       /* of these, at least 1; more than 64 are not marked in snippets */
    bool prefix;        /* the last one is a beginning */
} vls_search_term;

typedef struct vls_search_terms {
    vls_search_term items[VLS_SEARCH_TERMS_MAX];
    size_t count;
} vls_search_terms;

/* What people write, taken apart. VALISE_E_INVALID: there is nothing to look for; VALISE_E_LIMIT.
 */
int vls_search_parse(vls_search_terms *out, valise_str query, const vls_search_words *words,
                     vls_arena *arena, valise_error *err);

/* The expression for FTS5: each word and phrase as a quoted string, all of which must match; `*`
 * behind one: what begins so. Nothing else has a meaning. */
int vls_search_expression(vls_buf *out, const vls_search_terms *terms, valise_error *err);

/* ---- text.c ---- */

/* What one row says, and what is shown of it besides. */
typedef struct vls_search_row {
    int64_t seq;           /* of the entry that made it */
    valise_id object;      /* what the text comes from; zero: none */
    valise_id frame;       /* FRAME */
    int64_t time, expires; /* VALISE_NONE: none */
    valise_str name;       /* the key, the path */
    valise_str topics;     /* a line for each */
    bool json, blocks;     /* what the object is; neither: a text */
} vls_search_row;

/* The row of this kind and key (cells) as the view sees it: 1; 0: none, or nothing to look for.
 * Strings live in the view. */
int vls_search_look(vls_search_row *out, valise_view *view, int kind, const valise_cell *key,
                    valise_error *err);
/* Its text, appended: UTF-8 without control characters but newlines. An object that is gone or no
 * text: nothing. */
int vls_search_text(vls_buf *out, valise_view *view, const vls_search_row *row, valise_error *err);

/* ---- index.c ---- */

enum {
    VLS_SEARCH_BEGIN,
    VLS_SEARCH_BEGIN_WRITE,
    VLS_SEARCH_COMMIT,
    VLS_SEARCH_ROLLBACK,
    VLS_SEARCH_GET_STATE,
    VLS_SEARCH_PUT_STATE,
    VLS_SEARCH_DOC_BY_KEY,
    VLS_SEARCH_DOC_TEXT,
    VLS_SEARCH_DOC_LAST,
    VLS_SEARCH_DOC_PUT,
    VLS_SEARCH_DOC_DELETE,
    VLS_SEARCH_DOC_SHOWN,
    VLS_SEARCH_DOC_OF_FRAME,
    VLS_SEARCH_DOC_ALL,
    VLS_SEARCH_DOC_WORDS,
    VLS_SEARCH_FTS_PUT,
    VLS_SEARCH_FTS_DELETE,
    VLS_SEARCH_FTS_WORDS, /* sums.c makes its tables */
    VLS_SEARCH_MATCH,
    VLS_SEARCH_STATEMENTS,
};

typedef struct vls_search {
    valise *v;
    pthread_mutex_t lock; /* over everything below */
    char *path;           /* NULL: in memory */
    size_t path_size;
    sqlite3 *db; /* NULL: not open */
    vls_search_words words;
    vls_search_rank rank;
    struct stat opened; /* the file that was opened */
    bool damaged;       /* what failed was the index itself */
    bool gone;          /* what failed was a file that somebody had taken away */
    sqlite3_stmt *stmts[VLS_SEARCH_STATEMENTS];
} vls_search;

/* Work with the index, which is open meanwhile and locked: what is damaged is made anew, and fn is
 * called once more; but not where somebody asks whether it is (damaged, else NULL). */
typedef int vls_search_fn(void *arg, vls_search *s, valise_error *err);
int vls_search_with(valise *v, bool *damaged, vls_search_fn *fn, void *arg, valise_error *err);

/* Is there an index that was made before? Nothing is opened. */
int vls_search_exists(bool *out, valise *v, valise_error *err);
/* Within vls_search_with, or without an index: the files are gone, and what was open is closed. */
int vls_search_discard(vls_search *s, valise_error *err);

/* End the transaction, if there is one, without what it changed. */
void vls_search_end(vls_search *s);

/* Report what SQLite returned. */
int vls_search_fail(vls_search *s, int rc, valise_error *err);
/* Run a statement without parameters and answers to its end. */
int vls_search_run(vls_search *s, int which, valise_error *err);
int vls_search_exec(vls_search *s, const char *text, valise_error *err);
/* The statement, reset and without parameters. */
int vls_search_stmt(sqlite3_stmt **out, vls_search *s, int which, valise_error *err);
/* Step: 1 a row, 0 the end. */
int vls_search_step(vls_search *s, sqlite3_stmt *stmt, valise_error *err);
/* In a write transaction: the tables of an empty index. */
int vls_search_make_tables(vls_search *s, valise_error *err);
/* Step to the end and reset. */
int vls_search_finish(vls_search *s, sqlite3_stmt *stmt, valise_error *err);

static inline valise_str vls_search_column(sqlite3_stmt *stmt, int column)
{
    const char *bytes = sqlite3_column_blob(stmt, column);

    return vls_str(bytes ? bytes : "", (size_t)sqlite3_column_bytes(stmt, column));
}

static inline int64_t vls_search_int_or_none(sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_type(stmt, column) == SQLITE_NULL ? VALISE_NONE
                                                            : sqlite3_column_int64(stmt, column);
}

/* Zero for what is no id. */
static inline valise_id vls_search_id(sqlite3_stmt *stmt, int column)
{
    valise_str bytes = vls_search_column(stmt, column);
    valise_id id = {{0}};

    if (bytes.len == sizeof(id))
        memcpy(&id, bytes.ptr, bytes.len);
    return id;
}

static inline void vls_search_bind(sqlite3_stmt *stmt, int number, valise_str bytes, bool text)
{
    const char *ptr = bytes.ptr ? bytes.ptr : "";

    /* Both fail only where there is no memory or the number is wrong: the step tells. */
    if (text)
        (void)sqlite3_bind_text64(stmt, number, ptr, bytes.len, SQLITE_STATIC, SQLITE_UTF8);
    else
        (void)sqlite3_bind_blob64(stmt, number, ptr, bytes.len, SQLITE_STATIC);
}

/* ---- follow.c ---- */

typedef struct vls_search_state {
    int64_t seq;
    valise_id hash;
    int64_t building; /* kind that is being read; VLS_SEARCH_KINDS: none, it is whole */
    valise_str at;    /* key up to which it was read */
    int64_t erased;   /* the newest erasure that it knows of */
    bool there;       /* there is a state at all */
} vls_search_state;

/* Bring it to what the view sees: 0. 1: it is ahead of the view, or knows of an erasure that the
 * view does not: take a newer view. *ahead is zero at first, and says so to the next call. */
int vls_search_follow(vls_search *s, valise_view *view, vls_search_state *ahead, valise_error *err);

/* Is it what the view sees, neither more nor less? 1, or 0. Within a read transaction of the index
 * it stays so. */
int vls_search_is_current(vls_search *s, valise_view *view, valise_error *err);

/* In a write transaction: it knows of the erasures that the view does. */
int vls_search_know_erasure(vls_search *s, valise_view *view, valise_error *err);
/* In a write transaction: this one goes. */
int vls_search_drop(vls_search *s, int64_t doc, valise_error *err);

/* ---- sums.c ---- */

/* Outside a transaction: do searches find each word of each doc, and nothing else? If not, the
 * index is damaged: VALISE_E_CORRUPT. */
int vls_search_check_words(vls_search *s, valise_error *err);

/* ---- what is asked and found ---- */

typedef struct vls_search_args {
    valise_str query;
    valise_list kinds;  /* of int64_t; none: all */
    valise_list topics; /* of valise_str; none: all */
    valise_str session; /* ptr NULL: all */
    int64_t limit, offset;
} vls_search_args;

/* One hit. */
typedef struct vls_search_hit {
    int64_t kind;
    valise_str place; /* as `show` takes it */
    valise_str ref;   /* TURN: ID@VERSION */
    valise_str key;   /* CONTEXT */
    valise_str path;  /* FRAME, and its type */
    valise_str type;
    valise_list topics; /* of valise_str */
    int64_t time, seq;
    double score; /* the higher the better */
    valise_str snippet;
    valise_list marks; /* of int64_t: first byte of a match in snippet, and the one behind it */
} vls_search_hit;

/* ---- snippet.c ---- */

/* Fill snippet and marks from the text, in memory of the arena. */
int vls_search_snippet(vls_search_hit *hit, const vls_search_words *words,
                       const vls_search_terms *terms, valise_str text, vls_arena *arena,
                       valise_error *err);

/* ---- find.c ---- */

/* The hits that the actor of the view may see, best first, in memory of `to`. Within a transaction
 * of the index. */
int vls_search_find(const vls_search_hit **hits, size_t *count, vls_search *s, valise_view *view,
                    const vls_search_args *args, vls_arena *to, valise_error *err);

extern const valise_op vls_op_search_search_query;

#endif
