/* index.c -- the file of the index: found, made, opened, thrown away.
 *
 * Whoever opens, makes or removes it holds a lock (flock) on the folder meanwhile. A file that was
 * removed while others have it open is theirs alone until they look again, which they do before
 * each use: its number is no longer that of the name. */
#include "search/search.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/time.h"
#include "store/sqlite.h"

#define APPLICATION_ID 0x56736368 /* "Vsch" */
#define FORMAT 1
#define BUSY_MS 5000
#define LOCK_NS (5 * VLS_NS_PER_SECOND)
#define GONE_MAX 16u /* so often in a row the file may be taken away */

static const char key;

static const char *const sql[VLS_SEARCH_STATEMENTS] = {
    [VLS_SEARCH_BEGIN] = "BEGIN",
    [VLS_SEARCH_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [VLS_SEARCH_COMMIT] = "COMMIT",
    [VLS_SEARCH_ROLLBACK] = "ROLLBACK",
    [VLS_SEARCH_GET_STATE] = "SELECT seq, hash, building, at, erased FROM state",
    [VLS_SEARCH_PUT_STATE] = "INSERT OR REPLACE INTO state VALUES (1, ?1, ?2, ?3, ?4, ?5)",
    [VLS_SEARCH_DOC_BY_KEY] = "SELECT id, object FROM doc WHERE kind = ?1 AND key = ?2",
    [VLS_SEARCH_DOC_TEXT] = "SELECT text, name, topics FROM doc WHERE id = ?1",
    [VLS_SEARCH_DOC_LAST] = "SELECT max(id) FROM doc WHERE id BETWEEN ?1 AND ?2",
    [VLS_SEARCH_DOC_PUT] = "INSERT INTO doc VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [VLS_SEARCH_DOC_DELETE] = "DELETE FROM doc WHERE id = ?1",
    [VLS_SEARCH_DOC_SHOWN] = "SELECT key, time, expires, topics FROM doc WHERE id = ?1",
    [VLS_SEARCH_DOC_OF_FRAME] = "SELECT id FROM doc WHERE frame = ?1",
    [VLS_SEARCH_DOC_ALL] = "SELECT id, object FROM doc ORDER BY id",
    [VLS_SEARCH_DOC_WORDS] = "SELECT id, text, name, topics FROM doc",
    [VLS_SEARCH_FTS_PUT] = "INSERT INTO fts(rowid, text, name, topics) VALUES (?1, ?2, ?3, ?4)",
    [VLS_SEARCH_FTS_DELETE] = ("INSERT INTO fts(fts, rowid, text, name, topics) "
                               "VALUES ('delete', ?1, ?2, ?3, ?4)"),
    [VLS_SEARCH_FTS_WORDS] = ("SELECT p.term, p.doc, p.col, p.offset FROM temp.terms AS t "
                              "CROSS JOIN temp.places AS p WHERE p.term = t.term"),
    [VLS_SEARCH_MATCH] = "SELECT rowid, fit(fts) FROM fts WHERE fts MATCH ?1 ORDER BY rowid DESC",
};

static const char *const tables[] = {
    "CREATE TABLE state(one INTEGER PRIMARY KEY, seq INTEGER, hash BLOB, building INTEGER, "
    "at BLOB, erased INTEGER)",
    "CREATE TABLE doc(id INTEGER PRIMARY KEY, kind INTEGER, key BLOB, object BLOB, frame BLOB, "
    "time INTEGER, expires INTEGER, name TEXT, topics TEXT, text TEXT)",
    "CREATE UNIQUE INDEX doc_key ON doc(kind, key)",
    "CREATE INDEX doc_frame ON doc(frame) WHERE frame IS NOT NULL",
    "CREATE VIRTUAL TABLE fts USING fts5(text, name, topics, content='doc', content_rowid='id', "
    "tokenize='valise', columnsize=0)",
};

/* ---- statements ---- */

/* Does the name stand for the file that was opened? */
static bool is_named(const vls_search *s)
{
    struct stat st;

    return lstat(s->path, &st) == 0 && st.st_ino == s->opened.st_ino &&
           st.st_dev == s->opened.st_dev;
}

/* What may not be written can be no index either: the store beside it can be. A file that somebody
 * took away while it was being opened is none any more. */
int vls_search_fail(vls_search *s, int rc, valise_error *err)
{
    int code = rc & 0xff;

    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR ||
        code == SQLITE_SCHEMA || code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH ||
        code == SQLITE_FORMAT || code == SQLITE_READONLY)
        s->damaged = true;
    if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && s->path && !is_named(s))
        s->gone = true;
    return vls_sqlite_report(s->path ? s->path : "the search index in memory", s->db, rc, err);
}

int vls_search_stmt(sqlite3_stmt **out, vls_search *s, int which, valise_error *err)
{
    sqlite3_stmt **stmt = &s->stmts[which];
    int rc = SQLITE_OK;

    if (!*stmt)
        rc = sqlite3_prepare_v3(s->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    if (rc != SQLITE_OK)
        return vls_search_fail(s, rc, err);
    (void)sqlite3_reset(*stmt);
    (void)sqlite3_clear_bindings(*stmt);
    *out = *stmt;
    return 0;
}

int vls_search_step(vls_search *s, sqlite3_stmt *stmt, valise_error *err)
{
    int rc = sqlite3_step(stmt);

    if (rc == SQLITE_ROW)
        return 1;
    if (rc == SQLITE_DONE)
        return 0;
    rc = vls_search_fail(s, rc, err);
    (void)sqlite3_reset(stmt);
    return rc;
}

int vls_search_finish(vls_search *s, sqlite3_stmt *stmt, valise_error *err)
{
    int rc;

    while ((rc = vls_search_step(s, stmt, err)) > 0)
        ;
    (void)sqlite3_reset(stmt);
    return rc;
}

int vls_search_run(vls_search *s, int which, valise_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = vls_search_stmt(&stmt, s, which, err);

    return rc < 0 ? rc : vls_search_finish(s, stmt, err);
}

int vls_search_exec(vls_search *s, const char *text, valise_error *err)
{
    int rc = vls_sqlite_exec(s->db, text);

    return rc == SQLITE_OK ? 0 : vls_search_fail(s, rc, err);
}

int vls_search_make_tables(vls_search *s, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < VLS_COUNT(tables); i++)
        rc = vls_search_exec(s, tables[i], err);
    return rc;
}

/* ---- opening ---- */

static void close_db(vls_search *s)
{
    vls_search_words_close(&s->words);
    for (size_t i = 0; i < VLS_COUNT(s->stmts); i++) {
        (void)sqlite3_finalize(s->stmts[i]);
        s->stmts[i] = NULL;
    }
    (void)sqlite3_close_v2(s->db);
    s->db = NULL;
}

/* In WAL mode two who come at once may be refused without being asked to wait; the folder is
 * locked, so these are others that use it. */
static int set_wal(vls_search *s, valise_error *err)
{
    const valise_env *env = s->v->env;
    int64_t until = env->ticks_ns(env->self) + LOCK_NS;
    int rc;

    while (((rc = vls_sqlite_exec(s->db, "PRAGMA journal_mode=WAL")) & 0xff) == SQLITE_BUSY) {
        if (env->ticks_ns(env->self) >= until)
            break;
        (void)nanosleep(&(struct timespec){0, (long)(VLS_NS_PER_SECOND / 500)}, NULL);
    }
    return rc == SQLITE_OK ? 0 : vls_search_fail(s, rc, err);
}

/* secure_delete: what goes leaves no bytes behind. synchronous=NORMAL: a power cut takes the end of
 * it, never the rest. */
static int set_up(vls_search *s, valise_error *err)
{
    static const char *const pragmas[] = {
        "PRAGMA cell_size_check=ON",
        "PRAGMA temp_store=MEMORY",
        "PRAGMA mmap_size=0",
        "PRAGMA secure_delete=ON",
        "PRAGMA synchronous=NORMAL",
        "PRAGMA cache_size=-16384",
        "PRAGMA journal_size_limit=67108864",
    };
    static const int off[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                              SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION};
    int persist = 1, now, rc = SQLITE_OK;

    (void)sqlite3_busy_timeout(s->db, BUSY_MS);
    for (size_t i = 0; rc == SQLITE_OK && i < VLS_COUNT(off); i++)
        rc = sqlite3_db_config(s->db, off[i], 0, &now);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, &now);
    (void)sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 1); /* VACUUM takes one */
    for (size_t i = 0; rc == SQLITE_OK && i < VLS_COUNT(pragmas); i++)
        rc = vls_sqlite_exec(s->db, pragmas[i]);
    if (rc == SQLITE_OK)
        rc = sqlite3_file_control(s->db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
    if (rc == SQLITE_OK || rc == SQLITE_NOTFOUND)
        rc = vls_search_tokenizer(s->db);
    if (rc == SQLITE_OK)
        rc = vls_search_words_open(&s->words, s->db);
    if (rc == SQLITE_OK)
        rc = vls_search_rank_open(&s->rank, s->db);
    return rc == SQLITE_OK ? 0 : vls_search_fail(s, rc, err);
}

/* Is it an index, and one of ours? What is new or empty is made one. */
static int identify(vls_search *s, valise_error *err)
{
    int64_t application = 0, format = 0, things = 0;
    int rc = vls_sqlite_number(&application, s->db, "PRAGMA application_id");

    if (rc == SQLITE_OK)
        rc = vls_sqlite_number(&format, s->db, "PRAGMA user_version");
    if (rc == SQLITE_OK)
        rc = vls_sqlite_number(&things, s->db, "SELECT count(*) FROM sqlite_schema");
    if (rc != SQLITE_OK)
        return vls_search_fail(s, rc, err);
    if (application == APPLICATION_ID && format == FORMAT)
        return 0;
    if (application != 0 || format != 0 || things != 0) {
        s->damaged = true;
        return vls_fail(err, VALISE_E_CORRUPT, "%s is not a search index of this version", s->path);
    }
    rc = vls_search_run(s, VLS_SEARCH_BEGIN_WRITE, err);
    if (rc == 0)
        rc = vls_search_exec(s, "PRAGMA application_id=1450402664", err);
    if (rc == 0)
        rc = vls_search_exec(s, "PRAGMA user_version=1", err);
    if (rc == 0)
        rc = vls_search_make_tables(s, err);
    return rc < 0 ? rc : vls_search_run(s, VLS_SEARCH_COMMIT, err);
}

static int open_memory(vls_search *s, valise_error *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(":memory:", &s->db, flags, NULL);

    if (rc != SQLITE_OK)
        return vls_search_fail(s, rc, err);
    rc = set_up(s, err);
    return rc < 0 ? rc : identify(s, err);
}

/* ---- the file ---- */

/* With the folder locked. */
static int remove_files(const vls_search *s, valise_error *err)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    VLS_AUTO(buf) vls_buf name = {0};

    vls_buf_init(&name, s->v->env, s->path_size + 16);
    for (size_t i = 0; i < VLS_COUNT(endings); i++) {
        const char *path;
        vls_buf_clear(&name);
        vls_buf_add_text(&name, s->path);
        vls_buf_add_text(&name, endings[i]);
        path = vls_buf_cstr(&name);
        if (!path)
            return vls_fail_memory(err);
        if (unlink(path) != 0 && errno != ENOENT)
            return vls_fail_errno(err, "remove", valise_str_of(path));
    }
    return 0;
}

/* A plain file of its owner, made if there is none. What else lies there is no index. */
static int find_file(vls_search *s, valise_error *err)
{
    VLS_AUTO(fd) int fd = -1;
    bool there = lstat(s->path, &s->opened) == 0;
    int rc;

    if (there && S_ISREG(s->opened.st_mode))
        return 0;
    /* Somebody may have removed the file alone: what lies beside it is not of the next one, and may
     * be in use by who still has the old one open. */
    rc = remove_files(s, err);
    if (rc < 0)
        return rc;
    fd = vls_fd_open_at(AT_FDCWD, s->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd < 0 || fstat(fd, &s->opened) != 0)
        return vls_fail_errno(err, "make", valise_str_of(s->path));
    return 0;
}

static int open_file(vls_search *s, valise_error *err)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
                      SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW;
    VLS_AUTO(fd) int lock = -1;
    int rc = vls_folder_lock(&lock, s->v->env, s->v->place.folder, LOCK_NS, err);

    if (rc == 0)
        rc = find_file(s, err);
    if (rc < 0)
        return rc;
    rc = sqlite3_open_v2(s->path, &s->db, flags, NULL);
    if (rc != SQLITE_OK)
        return vls_search_fail(s, rc, err);
    rc = set_up(s, err);
    if (rc == 0)
        rc = set_wal(s, err);
    return rc < 0 ? rc : identify(s, err);
}

/* Is what is open what the name stands for? */
static bool is_current(const vls_search *s)
{
    return s->db && (!s->path || is_named(s));
}

static int ensure_open(vls_search *s, valise_error *err)
{
    int rc;

    if (is_current(s))
        return 0;
    close_db(s);
    rc = s->path ? open_file(s, err) : open_memory(s, err);
    if (rc < 0)
        close_db(s);
    return rc;
}

int vls_search_discard(vls_search *s, valise_error *err)
{
    VLS_AUTO(fd) int lock = -1;
    bool ours = is_current(s) || !s->db; /* else somebody else has made another one */
    int rc = 0;

    close_db(s);
    s->damaged = false;
    if (!s->path || !ours)
        return 0;
    rc = vls_folder_lock(&lock, s->v->env, s->v->place.folder, LOCK_NS, err);
    return rc < 0 ? rc : remove_files(s, err);
}

/* ---- with the handle ---- */

static void free_search(void *self)
{
    vls_search *s = self;
    const valise_env *env = s->v->env;

    close_db(s);
    (void)pthread_mutex_destroy(&s->lock);
    vls_mem_free(env, s->path, s->path_size);
    vls_mem_free(env, s, sizeof(*s));
}

/* A file only beside a store that is one, and that may be written. */
static bool has_file(const valise *v)
{
    void *self;
    const valise_store_ops *ops = vls_store_ops(v->store, &self);

    return v->place.folder && strcmp(ops->name, "sqlite") == 0 && !vls_store_read_only(v->store);
}

static int make_search(void **out, valise *v, valise_error *err)
{
    vls_search *s = vls_mem_zalloc(v->env, sizeof(*s));

    if (!s)
        return vls_fail_memory(err);
    s->v = v;
    (void)pthread_mutex_init(&s->lock, NULL);
    if (has_file(v)) {
        s->path_size = strlen(v->place.folder) + sizeof("/" VLS_SEARCH_FILE);
        s->path = vls_mem_alloc(v->env, s->path_size);
        if (!s->path) {
            s->path_size = 0;
            free_search(s);
            return vls_fail_memory(err);
        }
        (void)snprintf(s->path, s->path_size, "%s/" VLS_SEARCH_FILE, v->place.folder);
    }
    *out = s;
    return 0;
}

/* That of the handle. */
static int search_of(vls_search **out, valise *v, valise_error *err)
{
    void *kept = NULL;
    int rc = vls_bus_keep(&kept, v, &key, make_search, free_search, err);

    if (rc == 0)
        *out = kept;
    return rc;
}

int vls_search_exists(bool *out, valise *v, valise_error *err)
{
    vls_search *s = NULL;
    struct stat st;
    int rc = search_of(&s, v, err);

    if (rc < 0)
        return rc;
    assert(s);
    (void)pthread_mutex_lock(&s->lock);
    *out = s->path ? lstat(s->path, &st) == 0 : s->db != NULL;
    (void)pthread_mutex_unlock(&s->lock);
    return 0;
}

/* A statement that stands on a row holds a snapshot, with or without a transaction. */
void vls_search_end(vls_search *s)
{
    for (size_t i = 0; i < VLS_COUNT(s->stmts); i++)
        (void)sqlite3_reset(s->stmts[i]);
    if (s->db && !sqlite3_get_autocommit(s->db))
        (void)vls_search_run(s, VLS_SEARCH_ROLLBACK, NULL);
}

/* Whatever fn left: no transaction outlives it. */
static int attempt(vls_search *s, vls_search_fn *fn, void *arg, valise_error *err)
{
    int rc;

    s->damaged = s->gone = false;
    rc = ensure_open(s, err);
    if (rc == 0)
        rc = fn(arg, s, err);
    vls_search_end(s);
    if (s->db && !sqlite3_get_autocommit(s->db))
        close_db(s);
    return rc;
}

int vls_search_with(valise *v, bool *damaged, vls_search_fn *fn, void *arg, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    vls_search *s = NULL;
    int rc = search_of(&s, v, err);

    if (rc < 0)
        return rc;
    assert(s);
    (void)pthread_mutex_lock(&s->lock);
    rc = attempt(s, fn, arg, &why);
    for (unsigned i = 0; i < GONE_MAX && rc < 0 && s->gone; i++) {
        why = (valise_error)VALISE_ERROR_INIT;
        rc = attempt(s, fn, arg, &why);
    }
    if (damaged) {
        *damaged = rc < 0 && s->damaged;
    } else if (rc < 0 && s->damaged) {
        why = (valise_error)VALISE_ERROR_INIT;
        rc = vls_search_discard(s, &why);
        if (rc == 0)
            rc = attempt(s, fn, arg, &why);
    }
    (void)pthread_mutex_unlock(&s->lock);
    if (rc < 0 && err)
        *err = why;
    return rc;
}
