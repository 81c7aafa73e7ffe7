/* wal.c -- damage to the files that SQLite keeps beside its own: -wal and -shm. What was
 * checkpointed is never lost, what is seen is whole entries, and validate says the truth. [K22 Q19]
 *
 *     entries 1 to DONE    in valise.db
 *     DONE + 1 to ALL      in valise.db-wal only: the process that wrote them was killed
 *
 * Not here: a -shm file that is cut while it is used, which SQLite has mapped (SIGBUS); and a -wal
 * file of another store that holds all pages of it, which makes the file that other store. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "harness/process.h"
#include "stage.h"
#include "store/validate.h"

#define DONE 30
#define ALL 60

/* ---- a store whose writer was killed ---- */

typedef struct made {
    const char *dir;
    uint64_t salt; /* contents differ with it */
    bool checkpointed;
} made;

typedef struct step {
    int64_t seq;
    uint64_t salt;
} step;

static valise_str label_of(const step *s)
{
    return valise_str_of(
        test_format("%0300llu", (unsigned long long)s->salt * 1000 + (unsigned long long)s->seq));
}

/* Entry n changes one of ten rows, adds another, and an object now and then. */
static int write_step(valise_view *view, void *arg, valise_error *err)
{
    const step *s = arg;
    const char name[] = {(char)('a' + s->seq % 10), '\0'};
    thing row = {VLS_STR("bag"), valise_str_of(name), s->seq, label_of(s)};
    stone carved = {s->seq, label_of(s)};
    holder h = {valise_str_of(name), {{0}}};
    int rc = valise_view_put(view, &stage_things, &row, err);

    if (rc == 0)
        rc = valise_view_put(view, &stage_stones, &carved, err);
    if (rc == 0)
        rc = valise_view_add(&h.object, view, "note", label_of(s), err);
    return rc < 0 ? rc : valise_view_put(view, &stage_holders, &h, err);
}

static void checkpoint(vls_store *store)
{
    valise_error err = VALISE_ERROR_INIT;
    int64_t left = -1;
    void *self;
    const valise_store_ops *ops = vls_store_ops(store, &self);

    CHECK_INT(0, ops->maintain(&left, self, VALISE_MAINTAIN_TRUNCATE, &err));
    CHECK_INT(0, left);
}

static int write_and_die(size_t index, void *arg)
{
    const made *m = arg;
    test t = {.param = "sqlite", .env = valise_env_default()};
    stage k;

    (void)index;
    stage_open(&k, &t, "sqlite", m->dir);
    for (int64_t i = 1; i <= ALL; i++) {
        stage_do(&k, write_step, &(step){i, m->salt});
        if (i == DONE && m->checkpointed)
            checkpoint(k.store);
    }
    _exit(0); /* as if killed: nothing is closed */
}

/* The three files, as bytes. */
typedef struct files {
    valise_str db, wal, shm;
} files;

static const char *name_of(const char *dir, const char *ending)
{
    return test_format("%s/valise.db%s", dir, ending);
}

static files make(const char *name, uint64_t salt, bool checkpointed)
{
    made m = {test_format("%s/%s", test_tmpdir(), name), salt, checkpointed};
    process_result r;

    CHECK_INT(0, mkdir(m.dir, 0700));
    process_all(&r, 1, write_and_die, &m);
    CHECK_MSG(r.exit_code == 0, "%s", process_describe(&r));
    return (files){test_read_file(name_of(m.dir, "")), test_read_file(name_of(m.dir, "-wal")),
                   test_read_file(name_of(m.dir, "-shm"))};
}

/* ---- looking at what is there now ---- */

typedef struct looked {
    uint64_t salt;
    int64_t seq;
} looked;

/* Every row is as the newest entry left it. */
static int check_rows(valise_view *view, void *arg, valise_error *err)
{
    looked *l = arg;
    int rc = 0;

    l->seq = view->txn->tip.seq;
    for (int64_t i = 1; i <= l->seq; i++) {
        stone s = {.number = i};
        rc = valise_view_get(&s, view, &stage_stones, err);
        if (rc < 0)
            return rc;
        /* A bit of a page that is no row's hides rows: a look cannot know, validate does. */
        if (rc == 0 || !vls_str_equal(label_of(&(step){i, l->salt}), s.text))
            return vls_fail(err, VALISE_E_CONFLICT, "row %lld is gone, or of another store",
                            (long long)i);
    }
    for (int64_t i = VLS_MAX(l->seq - 9, 1); i <= l->seq; i++) {
        const char name[] = {(char)('a' + i % 10), '\0'};
        thing row = {.bag = VLS_STR("bag"), .name = valise_str_of(name)};
        rc = valise_view_get(&row, view, &stage_things, err);
        if (rc < 0)
            return rc;
        if (rc == 0)
            return vls_fail(err, VALISE_E_CONFLICT, "thing %lld is gone", (long long)i);
        CHECK_INT(i, row.count);
    }
    return 0;
}

static int64_t problems_of(stage *k, int *rc)
{
    vls_validation v = {0};
    vls_progress p;
    test *t = k->t;

    vls_progress_init(&p, t->env, NULL);
    *rc = vls_validate(&v, k->store, &p, NULL, NULL, &t->err);
    return v.problems;
}

/* Opens it for writing. The seq that is there, when all is well; or -1 when somebody said that it
 * is not. Then nothing is seen that was not written. */
static int64_t outcome(test *t, const char *dir, uint64_t salt)
{
    vls_store_options options = stage_options(t, "sqlite", dir);
    stage k = {.t = t, .now = 100000};
    looked l = {.salt = salt};
    int64_t problems;
    int rc;

    options.flags = 0;
    options.busy_timeout_ns = 100000000;
    t->err = (valise_error)VALISE_ERROR_INIT;
    rc = vls_store_open(&k.store, &options, &t->err);
    if (rc < 0) {
        CHECK(t->err.message[0]);
        return -1;
    }
    problems = problems_of(&k, &rc);
    if (rc == 0 && problems == 0) {
        CHECK_RC(0, stage_read(&k, -1, check_rows, &l, &t->err));
        stage_do(&k, write_step, &(step){l.seq + 1, salt}); /* and it goes on */
        CHECK_RC(0, stage_read(&k, -1, check_rows, &l, &t->err));
        CHECK_INT(0, problems_of(&k, &rc));
        l.seq--;
    } else {
        CHECK(rc == 0 || t->err.message[0]);
        l.seq = -1;
    }
    stage_close(&k);
    return l.seq;
}

static void put(const char *ending, valise_str bytes)
{
    if (bytes.ptr)
        test_write_file(name_of(test_tmpdir(), ending), bytes);
    else
        (void)unlink(name_of(test_tmpdir(), ending));
}

/* Only reading: an error, or what was written. */
static void look_only(test *t, uint64_t salt)
{
    vls_store_options options = stage_options(t, "sqlite", test_tmpdir());
    stage k = {.t = t};
    looked l = {.salt = salt};
    int rc;

    options.flags = VALISE_STORE_READ_ONLY;
    rc = vls_store_open(&k.store, &options, &t->err);
    if (rc == 0)
        rc = stage_read(&k, -1, check_rows, &l, &t->err);
    if (rc == 0)
        CHECK(l.seq >= DONE && l.seq <= ALL);
    else
        CHECK(rc != VALISE_E_CONFLICT && t->err.message[0]);
    stage_close(&k);
}

static int64_t outcome_of(test *t, const files *f, uint64_t salt)
{
    put("", f->db);
    put("-wal", f->wal);
    put("-shm", f->shm);
    look_only(t, salt);
    return outcome(t, test_tmpdir(), salt);
}

static valise_str flipped(valise_str bytes, size_t at, unsigned bit)
{
    char *copy = test_alloc(bytes.len);

    memcpy(copy, bytes.ptr, bytes.len);
    copy[at] = (char)(copy[at] ^ 1 << bit);
    return vls_str(copy, bytes.len);
}

static const valise_str none = {NULL, 0};

/* ---- nobody has it open ---- */

TEST(wal, is_recovered_after_a_kill)
{
    files f = make("made", 1, true);

    CHECK(f.wal.len > 32 && f.shm.len > 0);
    CHECK_INT(ALL, outcome_of(t, &f, 1));
    f.shm = none;
    CHECK_INT(ALL, outcome_of(t, &f, 1));
}

TEST(wal, that_is_missing_or_empty_leaves_what_was_checkpointed)
{
    files f = make("made", 1, true);

    f.wal = none;
    CHECK_INT(DONE, outcome_of(t, &f, 1));
    f.wal = VLS_STR("");
    CHECK_INT(DONE, outcome_of(t, &f, 1));
    f.shm = none;
    CHECK_INT(DONE, outcome_of(t, &f, 1));
    f.wal = none;
    CHECK_INT(DONE, outcome_of(t, &f, 1));
}

TEST(wal, that_is_cut_or_flipped_ends_at_a_whole_entry)
{
    files f = make("made", 1, true), bad = f;
    test_rng rng = test_rng_new(test_seed());
    int64_t last = DONE;
    int between = 0;

    test_unwatched();
    for (size_t i = 0; i <= 24; i++) {
        int64_t seq;
        bad.wal = vls_str(f.wal.ptr, f.wal.len * i / 24 - i % 3);
        test_context("cut to %zu", bad.wal.len);
        seq = outcome_of(t, &bad, 1);
        CHECK(seq >= last && seq <= ALL); /* a longer log has no less */
        last = seq;
        between += seq > DONE && seq < ALL;
    }
    CHECK(between > 5);
    for (int i = 0; i < 40; i++) {
        size_t at = test_random_below(&rng, i < 5 ? 32 : f.wal.len);
        int64_t seq;
        bad.wal = flipped(f.wal, at, (unsigned)test_random_below(&rng, 8));
        test_context("a bit of byte %zu", at);
        seq = outcome_of(t, &bad, 1);
        CHECK(seq >= DONE && seq <= ALL);
    }
    test_context_end();
}

TEST(shm, is_made_anew_when_nobody_has_it)
{
    files f = make("made", 1, true), bad = f;
    test_rng rng = test_rng_new(test_seed());

    bad.shm = VLS_STR("");
    CHECK_INT(ALL, outcome_of(t, &bad, 1));
    bad.shm = vls_str(f.shm.ptr, 100);
    CHECK_INT(ALL, outcome_of(t, &bad, 1));
    bad.shm = make("other", 2, true).shm;
    CHECK_INT(ALL, outcome_of(t, &bad, 1));
    for (int i = 0; i < 20; i++) {
        bad.shm = flipped(f.shm, test_random_below(&rng, i < 10 ? 136 : f.shm.len), 3);
        CHECK_INT(ALL, outcome_of(t, &bad, 1));
    }
}

/* Pages of another store among one's own: SQLite cannot know, but rows and chain do not fit. */
TEST(wal, of_another_store_is_noticed)
{
    files f = make("made", 1, true), other = make("other", 2, true);

    put("", f.db);
    put("-wal", other.wal);
    put("-shm", none);
    CHECK_INT(-1, outcome(t, test_tmpdir(), 1));
}

/* ---- while a process has it open ---- */

/* Done by another process: whoever closes a file drops the locks his own process has on it. */
typedef struct harm {
    const char *ending;
    int64_t cut;    /* -1: not; else to so many bytes */
    bool removed;   /* unlinked */
    valise_str put; /* over the beginning */
    int64_t flip;   /* the byte of which a bit is flipped; -1: none */
} harm;

static int do_harm(size_t index, void *arg)
{
    const harm *h = arg;
    const char *name = name_of(test_tmpdir(), h->ending);
    int fd = open(name, O_RDWR);
    char byte;

    (void)index;
    CHECK(fd >= 0);
    if (h->cut >= 0)
        CHECK_INT(0, ftruncate(fd, (off_t)h->cut));
    if (h->put.len > 0)
        CHECK_INT(h->put.len, pwrite(fd, h->put.ptr, h->put.len, 0));
    if (h->flip >= 0) {
        CHECK_INT(1, pread(fd, &byte, 1, (off_t)h->flip));
        byte = (char)(byte ^ 4);
        CHECK_INT(1, pwrite(fd, &byte, 1, (off_t)h->flip));
    }
    CHECK_INT(0, close(fd));
    if (h->removed)
        CHECK_INT(0, unlink(name));
    return 0;
}

/* Whoever is told that all is well sees what was written. 1 when somebody complained. */
static int use(stage *k, uint64_t salt)
{
    test *t = k->t;
    looked l = {.salt = salt};
    int rc = stage_read(k, -1, check_rows, &l, &t->err);

    if (rc == VALISE_E_CONFLICT) {
        CHECK(problems_of(k, &rc) > 0 || rc < 0); /* a row that is not ours, and validate knows */
        return 1;
    }
    if (rc == 0)
        rc = stage_command(k, write_step, &(step){l.seq + 1, salt}, &t->err);
    if (rc == 0 && problems_of(k, &rc) > 0)
        return 1;
    CHECK(rc == 0 || t->err.message[0]);
    return rc < 0;
}

/* True when somebody complained: who had it open, or who opened it afterwards. */
static bool try_harm(test *t, const harm *h)
{
    bool complained;
    int64_t seq;
    stage k;

    put("", none);
    put("-wal", none);
    put("-shm", none);
    stage_open(&k, t, "sqlite", test_tmpdir());
    for (int64_t i = 1; i <= ALL; i++) {
        stage_do(&k, write_step, &(step){i, 1});
        if (i == DONE)
            checkpoint(k.store);
    }
    process_all(NULL, 1, do_harm, (void *)(uintptr_t)h);
    complained = use(&k, 1) > 0;
    stage_close(&k);
    seq = outcome(t, test_tmpdir(), 1);
    CHECK(seq == -1 || seq >= DONE);
    CHECK(complained || seq == -1 || seq == ALL + 1); /* loss is not silent */
    return complained || seq == -1;
}

TEST(wal, that_is_harmed_while_it_is_used)
{
    files other = make("other", 2, true);

    CHECK(try_harm(t, &(harm){"-wal", .cut = 0, .flip = -1}));
    CHECK(try_harm(t, &(harm){"-wal", .cut = 20000, .flip = -1}));
    CHECK(try_harm(t, &(harm){"-wal", .cut = -1, .flip = -1, .removed = true}));
    CHECK(try_harm(t, &(harm){"-wal", .cut = -1, .flip = -1, .put = other.wal}));
}

TEST(wal, of_which_bits_flip_while_it_is_used)
{
    int rounds = getenv("VALISE_TEST_LONG") ? 200 : 12, found = 0;
    test_rng rng = test_rng_new(test_seed());
    size_t len = make("made", 1, true).wal.len, newest = 150000; /* what is still read */

    for (int i = 0; i < rounds; i++) {
        int64_t at = (int64_t)(len - newest + test_random_below(&rng, newest));
        test_context("byte %lld", (long long)at);
        found += try_harm(t, &(harm){"-wal", .cut = -1, .flip = at});
    }
    test_context_end();
    test_note("%d of %d were noticed, the others hit what is not read any more", found, rounds);
}

TEST(shm, that_is_harmed_while_it_is_used)
{
    static const int64_t at[] = {0, 16, 64, 100, 140, 3000, 20000};
    files other = make("other", 2, true);

    (void)try_harm(t, &(harm){"-shm", .cut = -1, .flip = -1, .removed = true});
    (void)try_harm(t, &(harm){"-shm", .cut = -1, .flip = -1, .put = other.shm});
    for (size_t i = 0; i < VLS_COUNT(at); i++)
        (void)try_harm(t, &(harm){"-shm", .cut = -1, .flip = at[i]});
}
