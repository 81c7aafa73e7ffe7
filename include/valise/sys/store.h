/* valise/sys/store.h -- backends that keep tables of cells: everything but large files.
 *
 * Everything Valise keeps in a store is a row of a table: state, the log, objects, chunks. A row is
 * a list of cells; a cell is NULL, an integer, a double, text or bytes. A backend moves cells and
 * knows nothing else. Hashing, history, access, garbage collection and erasure are done above it,
 * in code that all backends share. The library has two backends, `sqlite` and `memory`; a host may
 * bring its own. A backend must pass tests/contract/store.c.
 *
 * Order: rows are ordered by their key cells, one after the other. All cells of a column have one
 * type. Integers and doubles are ordered by value, text and bytes by their bytes (a prefix comes
 * first); NULL comes before everything. A double is never NaN, and -0.0 is stored as 0.0.
 *
 * Threads: a store is shared; a transaction and a scan are single, but may be passed between
 * threads. Any number of read transactions can run beside one write transaction. A read transaction
 * sees, until it ends, the last commit before it began. */
#ifndef VALISE_SYS_STORE_H
#define VALISE_SYS_STORE_H

#include <stdbool.h>

#include <valise/error.h>
#include <valise/str.h>
#include <valise/sys/env.h>

VALISE_BEGIN

#define VALISE_STORE_ABI 1
#define VALISE_MAX_COLUMNS 64
#define VALISE_MAX_ROW_BYTES 900000000 /* text and bytes of one row; more is VALISE_E_TOO_LARGE */
#define VALISE_MAX_KEY_BYTES 4096      /* the same for the key of a row of a collection */

enum { VALISE_CELL_NULL, VALISE_CELL_INT, VALISE_CELL_REAL, VALISE_CELL_TEXT, VALISE_CELL_BLOB };

typedef struct valise_cell {
    uint8_t type; /* VALISE_CELL_... */
    union {
        int64_t integer;
        double real;
        valise_str bytes; /* TEXT (UTF-8) and BLOB */
    } as;
} valise_cell;

typedef struct valise_column {
    const char *name; /* snake_case */
    uint8_t type;     /* VALISE_CELL_...; cells may also be NULL if nullable */
    bool nullable;
} valise_column;

typedef struct valise_table_index {
    const char *name; /* of the index, unique within the table */
    /* The key columns that are not among these follow them, so that the order is total. */
    const uint16_t *columns;
    uint16_t count;
} valise_table_index;

enum {
    VALISE_TABLE_NUMBERED = 1, /* the key is one integer column, mostly appended to */
};

/* Valid as long as the store is open. */
typedef struct valise_table {
    const char *name; /* snake_case */
    const valise_column *columns;
    uint16_t column_count;
    uint16_t key_count; /* the first columns are the key; never NULL, together unique */
    uint16_t index_count;
    uint16_t flags;
    const valise_table_index *indexes;
} valise_table;

enum {
    VALISE_STORE_READ_ONLY = 1, /* write nothing, not even a file */
    VALISE_STORE_CREATE = 2,    /* create it if it does not exist */
    VALISE_STORE_EXCLUSIVE = 4, /* with CREATE: VALISE_E_EXISTS if it exists */
};

typedef struct valise_store_open {
    size_t size;
    const char *where; /* a folder (sqlite: valise.db in it); memory: ignored, always a new store */
    unsigned flags;
    bool full_sync;          /* commits survive a power cut */
    int64_t busy_timeout_ns; /* how long begin waits for another writer; 0: not at all */
    const valise_env *env;
    const valise_table *tables; /* the first tables, with the numbers 0 to table_count - 1 */
    uint32_t table_count;
} valise_store_open;

enum {
    VALISE_TXN_READ,
    VALISE_TXN_WRITE,
    /* WRITE, for data that is not state: VALISE_E_BUSY at once if somebody else is writing, and the
     * commit need not wait for the disk. A power cut may lose this transaction, but none before it.
     */
    VALISE_TXN_LAZY,
};
enum { VALISE_MARK_SET, VALISE_MARK_RELEASE, VALISE_MARK_BACK };

enum {
    VALISE_SCAN_REVERSE = 1,
    /* Begin after the row(s) at `from`, not at them; without `from` it has no effect. */
    VALISE_SCAN_AFTER = 2,
};

/* Rows whose index (or key) begins with `equal`, from `from` on, in ascending or, with REVERSE,
 * descending order. The cells of `from` are those that follow the cells of `equal`; together there
 * may be fewer cells than index columns and key columns. A row is at `from` if it has these cells,
 * whatever follows them. */
typedef struct valise_range {
    uint32_t table;
    int32_t index; /* -1: by key */
    unsigned flags;
    const valise_cell *equal;
    uint16_t equal_count;
    const valise_cell *from;
    uint16_t from_count;
} valise_range;

enum {
    VALISE_MAINTAIN_SIZE, /* *result: bytes that the store takes on disk (memory: 0) */
    /* Tidy up behind writers as far as possible without waiting. *result: bytes still in the
     * write-ahead log. */
    VALISE_MAINTAIN_CHECKPOINT,
    /* Also empty the write-ahead log. *result: bytes left in it, not 0 while a reader of another
     * process needs it. */
    VALISE_MAINTAIN_TRUNCATE,
    /* Give back free space, in a bounded step. *result: bytes given back, 0 if there was nothing
     * left to give. */
    VALISE_MAINTAIN_SHRINK,
    VALISE_MAINTAIN_REINDEX, /* rebuild the indexes from the rows; *result: how many */
};

typedef int valise_problem_fn(void *arg, const char *text, valise_error *err);

/* The functions of a backend. They return 0, 1 if they say so, or a negative code with err filled.
 * VALISE_E_INVALID: cells that do not fit the table, an impossible table or range, or a change in a
 * read transaction. VALISE_E_NOT_FOUND: a table that was not created.
 *
 * Cells from get are valid until the next call with that transaction, and during that call: a row
 * may be read, changed and put. Cells from a scan are valid until the next call with that scan,
 * whatever is done with the transaction meanwhile. */
typedef struct valise_store_ops {
    size_t size;
    uint32_t abi; /* VALISE_STORE_ABI */
    const char *name;

    /* VALISE_E_NOT_FOUND: it does not exist, and CREATE is not given; VALISE_E_UNSUPPORTED: a file
     * that is not a store of this kind; VALISE_E_CORRUPT: a damaged one. In a new store, this
     * creates the tables; in an existing one, the caller does, with create. */
    int (*open)(void **self, const valise_store_open *how, valise_error *err);
    void (*close)(void *self);

    /* Make another table known under `number` (the next free one), before it is used; or give the
     * table of this number again, with columns and indexes added at the end. Does not touch the
     * disk. Called while no other thread uses the store and no transaction is open. */
    int (*attach)(void *self, uint32_t number, const valise_table *table, valise_error *err);

    int (*begin)(void **txn, void *self, int mode, valise_error *err); /* VALISE_E_BUSY */
    /* Scans are closed before a transaction ends. commit ends the transaction even if it fails;
     * then nothing of it was kept. The commit of a read transaction does not fail. */
    int (*commit)(void *txn, valise_error *err);
    void (*rollback)(void *txn);

    /* Set a mark to go back to; marks nest. RELEASE keeps what was done since the mark, BACK undoes
     * it; both remove the mark. No scan that was opened since the mark was set is still open.
     *
     * If a put, del or create failed half way, or if a failure of any call (even get) lost the
     * transaction, every call and the commit fail with the same code until BACK or rollback. If
     * BACK fails, only rollback is left. */
    int (*mark)(void *txn, int what, valise_error *err);

    /* Whether anybody but this handle has committed since the last write transaction of this handle
     * that asked this and was committed. Called in a write transaction. The first call says yes.
     * Later calls never say no wrongly, and say yes needlessly only after upkeep (maintain) or a
     * begin that failed. */
    int (*changed)(bool *out, void *txn, valise_error *err);

    /* In a write transaction: create an attached table; or, if it exists, add the columns after the
     * first `have` and the indexes that it lacks. have 0: there is no table yet; VALISE_E_EXISTS if
     * there is one. New columns are nullable, and NULL in old rows. */
    int (*create)(void *txn, uint32_t table, uint16_t have, valise_error *err);

    /* Get a row by its key: 1 and the row, or 0. */
    int (*get)(valise_cell *row, void *txn, uint32_t table, const valise_cell *key,
               valise_error *err);
    /* Insert or replace a row. */
    int (*put)(void *txn, uint32_t table, const valise_cell *row, valise_error *err);
    /* Delete a row: 1 if there was one, else 0. */
    int (*del)(void *txn, uint32_t table, const valise_cell *key, valise_error *err);

    /* Open a scan. It sees the table as it is; putting or deleting rows of the table makes it
     * invalid, except for deleting the row that it is at, or replacing that row without changing
     * the cells it is ordered by. */
    int (*scan_open)(void **scan, void *txn, const valise_range *range, valise_error *err);
    /* Get the next row: 1, or 0 at the end. VALISE_E_CORRUPT: this row cannot be read; the next
     * call continues after it. After any other failure the scan is at its end. */
    int (*scan_next)(valise_cell *row, void *scan, valise_error *err);
    void (*scan_close)(void *scan);

    /* ---- optional ---- */

    /* Upkeep, VALISE_MAINTAIN_.... Called outside this thread's transactions, possibly during those
     * of others. */
    int (*maintain)(int64_t *result, void *self, int what, valise_error *err);
    /* Look for damage in the store's own structures; fn gets a text for each problem. */
    int (*check)(void *self, valise_problem_fn *fn, void *arg, valise_error *err);
    /* The same, only for what the store knows about its tables: quick enough for every open. */
    int (*check_tables)(void *self, valise_problem_fn *fn, void *arg, valise_error *err);
    /* Count the rows of a table, much faster than they can be read: it tells how far work is. */
    int (*count)(int64_t *rows, void *txn, uint32_t table, valise_error *err);
} valise_store_ops;

/* The backends of the library. They are static and never released. */
VALISE_API const valise_store_ops *valise_store_sqlite(void);
VALISE_API const valise_store_ops *valise_store_memory(void);

VALISE_END

#endif
