/* blob.c -- what every blob store does. The harness runs each case once per backend. [K18] [W11] */
#include <fcntl.h>
#include <unistd.h>

#include "blob_kit.h"

#include "harness/fault.h"

TEST_PARAMS(blob, "file", "memory", "host")

/* ---- in and out ---- */

TEST(blob, what_is_put_is_found_under_its_hash)
{
    static const size_t sizes[] = {0, 1, 1000, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7};
    valise_id ids[VLS_COUNT(sizes)];
    world w;

    start(t, &w);
    for (size_t i = 0; i < VLS_COUNT(sizes); i++) {
        valise_id expected = id_of(content(sizes[i], i));
        check_lacks(t, &w, &expected);
        ids[i] = put_ok(t, &w, content(sizes[i], i));
    }
    for (size_t i = 0; i < VLS_COUNT(sizes); i++)
        check_has(t, &w, &ids[i], content(sizes[i], i));
    CHECK_INT(VLS_COUNT(sizes), count_blobs(t, &w));
    stop(&w);
}

TEST(blob, the_id_is_what_sha256sum_prints)
{
    world w;

    start(t, &w);
    valise_id id = put_ok(t, &w, VLS_STR("abc"));
    CHECK_TEXT("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
               vls_id_hex(&id).s);
    stop(&w);
}

TEST(blob, the_same_bytes_are_stored_once)
{
    world w;

    start(t, &w);
    valise_id id = put_ok(t, &w, content(5000, 1));
    for (unsigned i = 0; i < 3; i++)
        put_ok(t, &w, content(5000, 1));
    CHECK_INT(1, count_blobs(t, &w));
    check_has(t, &w, &id, content(5000, 1));
    CHECK_OK(vls_blobs_remove(w.blobs, &id, &t->err));
    check_lacks(t, &w, &id);
    stop(&w);
}

TEST(blob, get_has_a_limit)
{
    world w;
    valise_blob *blob = NULL;

    start(t, &w);
    valise_id id = put_ok(t, &w, content(100, 1));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_blobs_get(&blob, w.blobs, &id, 99, &t->err));
    CHECK_TEXT(test_format("blob %s has 100 bytes; the limit is 99", vls_id_hex(&id).s),
               t->err.message);
    CHECK(!blob);
    CHECK_OK(vls_blobs_get(&blob, w.blobs, &id, 100, &t->err));
    (void)valise_blob_unref(blob);
    stop(&w);
}

/* ---- sources ---- */

typedef struct feed {
    valise_str rest;
    size_t step;    /* bytes a call at most */
    size_t calls;   /* so far */
    size_t fail_at; /* the call that fails; 0: none */
    const test *t;
    size_t peak; /* the most memory that was in use */
} feed;

static int give(size_t *len, void *arg, void *room, size_t room_bytes, valise_error *err)
{
    feed *f = arg;

    f->calls++;
    if (f->calls == f->fail_at)
        return vls_fail(err, VALISE_E_CANCELLED, "no more of this");
    if (f->t)
        f->peak = VLS_MAX(f->peak, test_bytes_in_use(f->t));
    *len = VLS_MIN(VLS_MIN(f->rest.len, f->step), room_bytes);
    if (*len)
        memcpy(room, f->rest.ptr, *len);
    f->rest = vls_str_from(f->rest, *len);
    return 0;
}

TEST(blob, a_source_may_give_pieces_of_any_size)
{
    static const size_t steps[] = {1, 7, 1000, PIECE};
    valise_str bytes = content(2000, 5);
    world w;

    start(t, &w);
    for (size_t i = 0; i < VLS_COUNT(steps); i++) {
        feed f = {.rest = bytes, .step = steps[i]};
        valise_id id, expected = id_of(bytes);
        uint64_t size = 0;
        CHECK_OK(vls_blobs_put(&id, &size, w.blobs, give, &f, NO_LIMIT, &t->err));
        CHECK(vls_id_equal(&expected, &id));
        CHECK_INT(bytes.len, size);
        check_has(t, &w, &id, bytes);
        CHECK_OK(vls_blobs_remove(w.blobs, &id, &t->err));
    }
    stop(&w);
}

TEST(blob, a_source_that_fails_stores_nothing)
{
    valise_str bytes = content(3 * PIECE, 5);
    valise_id id = {{1}}, expected = id_of(bytes), before = id;
    uint64_t size = 7;
    world w;

    start(t, &w);
    for (size_t at = 1; at <= 4; at++) { /* the fourth call would have been the end */
        feed f = {.rest = bytes, .step = PIECE, .fail_at = at};
        CHECK_RC(VALISE_E_CANCELLED,
                 vls_blobs_put(&id, &size, w.blobs, give, &f, NO_LIMIT, &t->err));
        CHECK_TEXT("no more of this", t->err.message);
        CHECK(vls_id_equal(&id, &before) && size == 7);
        check_lacks(t, &w, &expected);
        CHECK_INT(0, count_blobs(t, &w));
    }
    stop(&w);
}

TEST(blob, put_has_a_limit)
{
    valise_str bytes = content(1000, 5);
    valise_id id, expected = id_of(bytes);
    world w;

    start(t, &w);
    feed f = {.rest = bytes, .step = 300};
    CHECK_RC(VALISE_E_TOO_LARGE, vls_blobs_put(&id, NULL, w.blobs, give, &f, 999, &t->err));
    CHECK_TEXT("a blob is larger than its limit of 999 bytes", t->err.message);
    f = (feed){.rest = bytes, .step = 300};
    CHECK_RC(VALISE_E_TOO_LARGE, vls_blobs_put(&id, NULL, w.blobs, give, &f, 0, &t->err));
    check_lacks(t, &w, &expected);
    f = (feed){.rest = bytes, .step = 300};
    CHECK_OK(vls_blobs_put(&id, NULL, w.blobs, give, &f, 1000, &t->err));
    check_has(t, &w, &id, bytes);
    stop(&w);
}

TEST(blob, from_a_descriptor)
{
    const char *path = test_format("%s/source", test_tmpdir());
    valise_str bytes = content(2 * PIECE + 5, 9);
    valise_id id;
    uint64_t size;
    int ends[2];
    world w;

    start(t, &w);
    test_write_file(path, bytes);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && lseek(fd, 5, SEEK_SET) == 5); /* from where it stands */
    CHECK_OK(vls_blobs_put_fd(&id, &size, w.blobs, fd, NO_LIMIT, &t->err));
    CHECK_INT(2 * PIECE, size);
    check_has(t, &w, &id, vls_str_from(bytes, 5));
    CHECK_OK(vls_blobs_put_fd(&id, &size, w.blobs, fd, NO_LIMIT, &t->err)); /* at its end */
    CHECK_INT(0, size);
    check_has(t, &w, &id, VLS_STR(""));
    CHECK_INT(0, close(fd));

    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    CHECK(write(ends[1], "through a pipe", 14) == 14);
    CHECK_INT(0, close(ends[1]));
    CHECK_OK(vls_blobs_put_fd(&id, NULL, w.blobs, ends[0], NO_LIMIT, &t->err));
    check_has(t, &w, &id, VLS_STR("through a pipe"));
    CHECK_INT(0, close(ends[0]));

    CHECK_RC(VALISE_E_IO, vls_blobs_put_fd(&id, NULL, w.blobs, -1, NO_LIMIT, &t->err));
    CHECK_TEXT("cannot read what is to become a blob: Bad file descriptor", t->err.message);
    CHECK_INT(3, count_blobs(t, &w));
    stop(&w);
}

/* ---- reading in pieces ---- */

TEST(blob, read_in_pieces_of_any_size)
{
    test_rng rng = test_rng_new(test_seed());
    valise_str bytes = content(5000, 3);
    char *room = test_alloc(6000), *all = test_alloc(6000);
    world w;

    start(t, &w);
    valise_id id = put_ok(t, &w, bytes);
    for (unsigned round = 0; round < 20; round++) {
        VLS_AUTO(blob_reader) vls_blob_reader *reader = NULL;
        size_t at = 0, len = 1, want = round == 0 ? 6000 : round == 1 ? 5000 : 0;

        CHECK_OK(vls_blob_reader_open(&reader, w.blobs, &id, &t->err));
        CHECK_INT(5000, vls_blob_reader_size(reader));
        while (len > 0) {
            size_t size = want ? want : 1 + test_random_below(&rng, 900);
            CHECK_OK(vls_blob_reader_read(&len, reader, room, size, &t->err));
            CHECK(len <= size && at + len <= 5000);
            memcpy(all + at, room, len);
            at += len;
        }
        CHECK_INT(5000, at);
        CHECK(memcmp(all, bytes.ptr, 5000) == 0);
        CHECK_OK(vls_blob_reader_read(&len, reader, room, 1, &t->err)); /* the end stays */
        CHECK_INT(0, len);
    }
    stop(&w);
}

TEST(blob, a_reader_reads_on_when_its_blob_is_removed_or_put_again)
{
    valise_str bytes = content(3000, 3);
    char room[2000];
    size_t len = 0;
    world w;

    start(t, &w);
    valise_id id = put_ok(t, &w, bytes);
    for (unsigned round = 0; round < 2; round++) {
        vls_blob_reader *reader = NULL, *given_up = NULL;
        CHECK_OK(vls_blob_reader_open(&reader, w.blobs, &id, &t->err));
        CHECK_OK(vls_blob_reader_open(&given_up, w.blobs, &id, &t->err));
        CHECK_OK(vls_blob_reader_read(&len, reader, room, 1000, &t->err));
        if (round == 0)
            put_ok(t, &w, bytes);
        else
            CHECK_OK(vls_blobs_remove(w.blobs, &id, &t->err));
        size_t at = len;
        while (at < 3000) {
            CHECK_OK(vls_blob_reader_read(&len, reader, room, sizeof(room), &t->err));
            CHECK(len > 0 && memcmp(room, bytes.ptr + at, len) == 0);
            at += len;
        }
        vls_blob_reader_close(reader);
        vls_blob_reader_close(given_up);
    }
    check_lacks(t, &w, &id);
    vls_blob_reader_close(NULL);
    stop(&w);
}

/* ---- lists ---- */

typedef struct listing {
    world *w;
    size_t calls, stop_at;
    bool removes;
} listing;

static int on_listed(void *arg, const valise_id *id, uint64_t size_bytes, valise_error *err)
{
    listing *l = arg;

    (void)size_bytes;
    l->calls++;
    if (l->calls == l->stop_at)
        return vls_fail(err, VALISE_E_CANCELLED, "enough");
    return l->removes ? vls_blobs_remove(l->w->blobs, id, err) : 0;
}

TEST(blob, a_list_has_every_blob_once_and_may_be_swept)
{
    enum { COUNT = 600 }; /* several in most shelves */
    world w;

    start(t, &w);
    for (size_t i = 0; i < COUNT; i++)
        put_ok(t, &w, content(i % 50, i));
    CHECK(count_blobs(t, &w) > 580); /* the empty ones are one */
    size_t count = count_blobs(t, &w);

    listing l = {&w, 0, 7, false};
    CHECK_RC(VALISE_E_CANCELLED, vls_blobs_list(w.blobs, on_listed, &l, &t->err));
    CHECK_TEXT("enough", t->err.message);
    CHECK_INT(7, l.calls);
    l = (listing){&w, 0, 0, true};
    CHECK_OK(vls_blobs_list(w.blobs, on_listed, &l, &t->err));
    CHECK_INT(count, l.calls);
    CHECK_INT(0, count_blobs(t, &w));
    stop(&w);
}

TEST(blob, nothing_to_clean)
{
    uint64_t removed = 7;
    world w;

    start(t, &w);
    valise_id id = put_ok(t, &w, VLS_STR("abc"));
    CHECK_OK(vls_blobs_clean(&removed, w.blobs, 0, &t->err));
    CHECK_INT(0, removed);
    CHECK_OK(vls_blobs_clean(NULL, w.blobs, 0, &t->err));
    check_has(t, &w, &id, VLS_STR("abc"));
    stop(&w);
}

/* When it was put, if the store knows; to put it again makes it young. [K21] */
TEST(blob, knows_when_it_was_put)
{
    valise_id id, missing = id_of(VLS_STR("never put"));
    int64_t first = 0, second = 0;
    world w;

    start(t, &w);
    id = put_ok(t, &w, VLS_STR("abc"));
    int rc = vls_blobs_time(&first, w.blobs, &id, &t->err);
    if (rc > 0) {
        CHECK(first > 0);
        put_ok(t, &w, VLS_STR("abc"));
        CHECK_RC(1, vls_blobs_time(&second, w.blobs, &id, &t->err));
        CHECK(second >= first);
        CHECK_RC(VALISE_E_NOT_FOUND, vls_blobs_time(&first, w.blobs, &missing, &t->err));
    }
    CHECK(rc >= 0);
    stop(&w);
}

TEST(blob, read_only_changes_nothing)
{
    valise_id id = {{0}};
    world w;

    start(t, &w);
    stop(&w);
    CHECK_OK(try_start(&w, t->env, t->param, test_tmpdir(),
                       VALISE_BLOB_STORE_READ_ONLY | VALISE_BLOB_STORE_CREATE, &t->err));
    CHECK_RC(VALISE_E_DENIED, vls_blobs_put_bytes(&id, w.blobs, VLS_STR("abc"), &t->err));
    CHECK_TEXT("the blobs are open for reading only", t->err.message);
    CHECK_RC(VALISE_E_DENIED, vls_blobs_remove(w.blobs, &id, &t->err));
    CHECK_RC(VALISE_E_DENIED, vls_blobs_clean(NULL, w.blobs, 0, &t->err));
    CHECK_INT(0, count_blobs(t, &w));
    stop(&w);
}

/* ---- memory ---- */

/* Once without a fault in between, so that the shelves are there: what is in use beside
 * the bytes of a memory store does not depend on the size of the blob. */
TEST(blob, memory_does_not_grow_with_the_blob)
{
    valise_str bytes = content(40 * PIECE, 3);
    size_t peak[2];
    world w;

    if (strcmp(t->param, "file") != 0)
        SKIP("memory keeps the blobs themselves");
    start(t, &w);
    for (size_t i = 0; i < 2; i++) {
        feed f = {.rest = vls_str_head(bytes, i ? bytes.len : 10), .step = PIECE, .t = t};
        valise_id id;
        CHECK_OK(vls_blobs_put(&id, NULL, w.blobs, give, &f, NO_LIMIT, &t->err));
        peak[i] = f.peak;
    }
    CHECK_INT(peak[0], peak[1]);
    CHECK(peak[0] < 2 * PIECE);
    stop(&w);
}

static int use_once(fault *f, void *arg)
{
    valise_str bytes = content(PIECE + 10, 1), other = VLS_STR("other");
    valise_id id, kept;
    valise_blob *blob = NULL;
    world w;
    int rc;

    (void)arg;
    fault_off(f);
    CHECK_INT(0, try_start(&w, f->env, f->t->param, f->dir, VALISE_BLOB_STORE_CREATE, &f->err));
    CHECK_INT(0, vls_blobs_put_bytes(&kept, w.blobs, other, &f->err));
    fault_on(f);
    rc = vls_blobs_put_bytes(&id, w.blobs, bytes, &f->err);
    if (rc == 0)
        rc = vls_blobs_get(&blob, w.blobs, &id, SIZE_MAX, &f->err);
    if (rc == 0)
        rc = vls_blobs_remove(w.blobs, &kept, &f->err);
    fault_off(f);
    /* What did not work changed nothing; the other blob is there until it was removed. */
    valise_id expected = id_of(bytes);
    bool exists[2];
    CHECK_INT(0, vls_blobs_exists(&exists[0], w.blobs, &kept, NULL));
    CHECK_INT(0, vls_blobs_exists(&exists[1], w.blobs, &expected, NULL));
    CHECK(exists[0] == (rc != 0));
    CHECK_INT((size_t)exists[0] + exists[1], count_blobs(f->t, &w));
    CHECK(!blob || vls_str_equal(bytes, valise_blob_bytes(blob)));
    (void)valise_blob_unref(blob);
    stop(&w);
    return rc;
}

TEST(blob, without_memory)
{
    fault_each_alloc(t, 0, use_once, NULL);
}

static int open_once(fault *f, void *arg)
{
    world w;
    int rc = try_start(&w, f->env, f->t->param, f->dir, VALISE_BLOB_STORE_CREATE, &f->err);

    (void)arg;
    if (rc == 0)
        stop(&w);
    return rc;
}

TEST(blob, open_without_memory)
{
    fault_each_alloc(t, 0, open_once, NULL);
}
