/* valise/sys/store.h -- the boundary to what keeps the bytes: tables of cells.
 *
 * Everything Valise keeps in a store is a row of a table: state, the log, objects, chunks. A row
 * is a list of cells, a cell is NULL, an integer, a double, text or bytes. A backend moves cells
 * and knows nothing else; hashing, history, access, garbage and erasure are done above it by
 * code that all backends share. There are two in the library, `sqlite` and `memory`; a host may
 * bring its own. tests/contract/store.c is what a backend must pass.
 *
 * Order: rows are ordered by their key cells, one after the other. Cells of one column have one
 * type; integers and doubles are ordered by value, text and bytes by their bytes (a beginning
 * comes first), NULL before everything. A double is never a NaN, and -0.0 is kept as 0.0.
 *
 * Threads: a store is shared; a transaction and a scan are single, but may be passed between
 * threads. Any number of read transactions go on beside one write transaction; a read
 * transaction sees the last commit before it began, to its end. */
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
#define VALISE_MAX_KEY_BYTES 4096      /* the same of the key of a row of a collection */

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
    uint8_t type;     /* VALISE_CELL_...; a cell may also be NULL where nullable */
    bool nullable;
} valise_column;

typedef struct valise_table_index {
    const char *name;        /* of the index, unique within the table */
    const uint16_t *columns; /* the key columns that are not among them follow, so that the */
                             /* order is total */
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
    VALISE_STORE_CREATE = 2,    /* make it when it is not there */
    VALISE_STORE_EXCLUSIVE = 4, /* with CREATE: fail with EXISTS when it is there */
};

typedef struct valise_store_open {
    size_t size;
    const char *where; /* folder (sqlite: valise.db in it); memory: ignored, always a new store */
    unsigned flags;
    bool full_sync;          /* a commit survives a power cut */
    int64_t busy_timeout_ns; /* how long begin waits for another writer; 0: not at all */
    const valise_env *env;
    const valise_table *tables; /* the first tables: numbers 0 to table_count - 1 */
    uint32_t table_count;
} valise_store_open;

enum {
    VALISE_TXN_READ,
    VALISE_TXN_WRITE,
    /* WRITE for what is no state: VALISE_E_BUSY at once where another one is writing, and the
     * commit need not wait for the disk. A power cut may take it, but nothing from before it. */
    VALISE_TXN_LAZY,
};
enum { VALISE_MARK_SET, VALISE_MARK_RELEASE, VALISE_MARK_BACK };

enum {
    VALISE_SCAN_REVERSE = 1,
    VALISE_SCAN_AFTER = 2, /* begin behind the row(s) at `from`, not at them; without `from` */
                           /* it means nothing */
};

/* Rows whose index (or key) begins with `equal`, from `from` on, in order (or backwards). The
 * cells of `from` stand for the components behind those of `equal`; together they may be fewer
 * than the index columns and the key columns behind them. A row is at `from` when it has these
 * cells, whatever follows. With REVERSE, `from` is where it starts downwards. */
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
    VALISE_MAINTAIN_SIZE,       /* *result = bytes the store takes on disk (memory: 0) */
    VALISE_MAINTAIN_CHECKPOINT, /* tidy up behind writers as far as possible without waiting;
                                 *result = bytes still in the write-ahead log */
    VALISE_MAINTAIN_TRUNCATE,   /* also empty the write-ahead log; *result = bytes left in it: not 0
                                   while a reader of another process needs it */
    VALISE_MAINTAIN_SHRINK,     /* give free space back, in a bounded step; *result = bytes given
                                   back, 0 when there is nothing left to give */
    VALISE_MAINTAIN_REINDEX,    /* build the indexes anew from the rows; *result = how many */
};

typedef int valise_problem_fn(void *arg, const char *text, valise_error *err);

/* Functions return 0, 1 where they say so, or a negative code with err filled. VALISE_E_INVALID:
 * cells that do not fit the table, a table or a range that cannot be, a change in a transaction
 * that reads. VALISE_E_NOT_FOUND: a table that was not created.
 *
 * Cells of get are valid until the next call with that transaction, and during it: a row may be
 * read, changed and put. Cells of a scan are valid until the next call with that scan, whatever is
 * done with the transaction meanwhile. */
typedef struct valise_store_ops {
    size_t size;
    uint32_t abi; /* VALISE_STORE_ABI */
    const char *name;

    /* VALISE_E_NOT_FOUND without CREATE; VALISE_E_UNSUPPORTED for a file that is not ours;
     * VALISE_E_CORRUPT for one that is damaged. The tables are made when the store is new; in one
     * that was there, the caller looks after them with create. */
    int (*open)(void **self, const valise_store_open *how, valise_error *err);
    void (*close)(void *self);

    /* Make a further table known under `number` (the next free one), before it is used; or the
     * table of that number once more, with columns and indexes added at the end. Does not touch
     * the disk. Called while no other thread uses the store and no transaction is open. */
    int (*attach)(void *self, uint32_t number, const valise_table *table, valise_error *err);

    int (*begin)(void **txn, void *self, int mode, valise_error *err); /* VALISE_E_BUSY */
    /* Scans are closed before a transaction ends. commit ends it also when it fails; then nothing
     * of it was kept. A commit of a read transaction does not fail. */
    int (*commit)(void *txn, valise_error *err);
    void (*rollback)(void *txn);

    /* A mark to go back to; they nest. RELEASE keeps what was done since, BACK undoes it; both
     * remove the mark. No scan is open that was opened since the mark was set.
     *
     * When a put, del or create failed half way, or a failure of any call (even get) lost the
     * transaction, every call and the commit fail with the same code until BACK or rollback; when
     * BACK fails, only rollback is left. */
    int (*mark)(void *txn, int what, valise_error *err);

    /* Has anybody but this handle committed since this handle's last write transaction that asked
     * and was committed? Ask in a write transaction. A first one says yes; later ones never say
     * no wrongly, and yes without need only after upkeep (maintain) or a begin that failed. */
    int (*changed)(bool *out, void *txn, valise_error *err);

    /* In a write transaction: make an attached table, or give it the columns behind the first
     * `have` (0: there is no table yet; VALISE_E_EXISTS when there is) and the indexes it lacks.
     * New columns are nullable and NULL in old rows. */
    int (*create)(void *txn, uint32_t table, uint16_t have, valise_error *err);

    /* 1 and the row, or 0. */
    int (*get)(valise_cell *row, void *txn, uint32_t table, const valise_cell *key,
               valise_error *err);
    /* Insert or replace. */
    int (*put)(void *txn, uint32_t table, const valise_cell *row, valise_error *err);
    /* 1 when there was one, else 0. */
    int (*del)(void *txn, uint32_t table, const valise_cell *key, valise_error *err);

    /* A scan sees the table as it is; putting or deleting in it ends its validity, except for
     * deleting or replacing the row it stands on without changing what it is ordered by. */
    int (*scan_open)(void **scan, void *txn, const valise_range *range, valise_error *err);
    /* 1, or 0 at the end. VALISE_E_CORRUPT for a row that cannot be read: the next call goes on
     * behind it; after any other failure it is at its end. */
    int (*scan_next)(valise_cell *row, void *scan, valise_error *err);
    void (*scan_close)(void *scan);

    /* ---- optional ---- */

    /* Outside transactions of this thread; beside those of others. */
    int (*maintain)(int64_t *result, void *self, int what, valise_error *err);
    /* Look for damage of the store's own structures; fn gets a text for each. */
    int (*check)(void *self, valise_problem_fn *fn, void *arg, valise_error *err);
    /* The same, of what the store knows about tables alone: quick enough for every open. */
    int (*check_tables)(void *self, valise_problem_fn *fn, void *arg, valise_error *err);
} valise_store_ops;

/* Static: never released. */
VALISE_API const valise_store_ops *valise_store_sqlite(void);
VALISE_API const valise_store_ops *valise_store_memory(void);

VALISE_END

#endif
