/* blob_core.c -- what stands above every blob store: tables are checked, and backends that lie or
 * break down are found out. [K18] [W11] */
#include "blob_kit.h"

/* ---- tables ---- */

static int open_with(test *t, const valise_blob_store_ops *ops)
{
    VLS_AUTO(blobs) vls_blobs *blobs = NULL;

    return vls_blobs_open(&blobs, &(vls_blobs_options){.env = t->env, .ops = ops}, &t->err);
}

TEST(blob_core, tables_of_another_abi_are_refused)
{
    valise_blob_store_ops ops = *valise_blob_store_memory();

    CHECK_OK(open_with(t, &ops));
    ops.abi = 2;
    CHECK_RC(VALISE_E_UNSUPPORTED, open_with(t, &ops));
    CHECK_TEXT("blob store 'memory' has ABI 2; this is ABI 1", t->err.message);
    ops.name = NULL;
    CHECK_RC(VALISE_E_UNSUPPORTED, open_with(t, &ops));
}

TEST(blob_core, tables_that_lack_something_are_refused)
{
    valise_blob_store_ops whole = *valise_blob_store_memory(), ops = whole;
    size_t checked = 0;

    ops.size = offsetof(valise_blob_store_ops, clean) - 1;
    CHECK_RC(VALISE_E_INVALID, open_with(t, &ops));
    CHECK_TEXT(test_format("a blob store's table has %zu bytes, not %zu", ops.size, sizeof(ops)),
               t->err.message);
    /* From the name to the last required function: none may be missing. */
    for (size_t at = offsetof(valise_blob_store_ops, name);
         at < offsetof(valise_blob_store_ops, clean); at += sizeof(void *)) {
        ops = whole;
        memset((char *)&ops + at, 0, sizeof(void *));
        CHECK_RC(VALISE_E_INVALID, open_with(t, &ops));
        checked++;
    }
    CHECK_INT(13, checked);
    CHECK_TEXT("blob store 'memory' lacks a name or a function", t->err.message);
    vls_blobs_close(NULL);
}

/* ---- backends that lie ---- */

enum { HONEST, FLIP_FIRST, FLIP_LAST, END_EARLY, SAY_LESS, SAY_MORE, FAIL_LATE };

typedef struct liar {
    void *reader; /* of the memory store */
    uint64_t at;
} liar;

/* Tests run one after the other in one process. */
static int lie;
static uint64_t true_size;

static int liar_open(void **out, uint64_t *size_bytes, void *self, const valise_id *id,
                     valise_error *err)
{
    static liar l;
    int rc = valise_blob_store_memory()->read_open(&l.reader, &true_size, self, id, err);

    if (rc < 0)
        return rc;
    l.at = 0;
    *size_bytes = true_size - (lie == SAY_LESS) + (lie == SAY_MORE);
    *out = &l;
    return 0;
}

static int liar_read(size_t *len, void *self, void *room, size_t room_bytes, valise_error *err)
{
    liar *l = self;
    uint64_t end = true_size - (lie == END_EARLY);
    int rc;

    if (lie == FAIL_LATE && l->at > 0)
        return vls_fail(err, VALISE_E_IO, "the cable was pulled");
    room_bytes = (size_t)VLS_MIN(room_bytes, end - l->at);
    rc = valise_blob_store_memory()->read_some(len, l->reader, room, room_bytes, err);
    if (rc < 0 || *len == 0)
        return rc;
    if (lie == FLIP_FIRST && l->at == 0)
        *(char *)room ^= 1;
    l->at += *len;
    if (lie == FLIP_LAST && l->at == true_size)
        ((char *)room)[*len - 1] ^= 1;
    return 0;
}

static void liar_close(void *self)
{
    valise_blob_store_memory()->read_close(((liar *)self)->reader);
}

static void start_liar(test *t, world *w)
{
    valise_blob_store_ops ops = *valise_blob_store_memory();

    ops.read_open = liar_open;
    ops.read_some = liar_read;
    ops.read_close = liar_close;
    *w = (world){.env = t->env};
    CHECK_OK(vls_blobs_open(&w->blobs, &(vls_blobs_options){.env = t->env, .ops = &ops}, &t->err));
}

/* [W11] What comes is not what was stored: get gives nothing, and the last read fails. */
TEST(blob_core, lies_are_found_at_the_end_of_reading)
{
    valise_str bytes = content(1000, 1);
    world w;

    start_liar(t, &w);
    valise_id id = put_ok(t, &w, bytes);
    const char *hex = test_format("%s", vls_id_hex(&id).s);
    for (lie = FLIP_FIRST; lie <= SAY_MORE; lie++) {
        valise_blob *blob = NULL;
        vls_blob_reader *reader = NULL;
        char room[100];
        size_t len = 0, got = 0;

        CHECK_RC(VALISE_E_CORRUPT, vls_blobs_get(&blob, w.blobs, &id, SIZE_MAX, &t->err));
        CHECK(!blob && strstr(t->err.message, hex) && t->err.hint[0]);
        CHECK_OK(vls_blob_reader_open(&reader, w.blobs, &id, &t->err));
        int rc = 0;
        while (rc == 0) {
            len = 7;
            rc = vls_blob_reader_read(&len, reader, room, sizeof(room), &t->err);
            got += rc == 0 ? len : 0;
            CHECK(rc < 0 || len > 0); /* never to the end in peace */
        }
        CHECK_INT(7, len);
        CHECK_INT(VALISE_E_CORRUPT, rc);
        CHECK(strstr(t->err.message, hex));
        /* All before the last piece was handed out: 100 bytes at a time, or one byte too few. */
        CHECK_INT(lie == END_EARLY ? 999 : lie == SAY_MORE ? 1000 : 900, got);
        CHECK_TEXT(lie == END_EARLY || lie == SAY_MORE
                       ? test_format("blob %s is damaged: 1 of %d bytes are missing", hex,
                                     lie == END_EARLY ? 1000 : 1001)
                       : test_format("blob %s is damaged: its bytes have changed", hex),
                   t->err.message);
        t->err.message[0] = '\0';
        CHECK_RC(VALISE_E_CORRUPT, vls_blob_reader_read(&len, reader, room, 1, &t->err));
        CHECK(strstr(t->err.message, hex)); /* and so does every read after it */
        vls_blob_reader_close(reader);
    }
    lie = HONEST;
    check_has(t, &w, &id, bytes);
    stop(&w);
}

TEST(blob_core, a_read_that_failed_is_not_tried_again)
{
    vls_blob_reader *reader = NULL;
    valise_blob *blob = NULL;
    char room[10];
    size_t len = 0;
    world w;

    start_liar(t, &w);
    valise_id id = put_ok(t, &w, content(30, 1));
    lie = FAIL_LATE;
    CHECK_OK(vls_blob_reader_open(&reader, w.blobs, &id, &t->err));
    CHECK_OK(vls_blob_reader_read(&len, reader, room, sizeof(room), &t->err));
    CHECK_RC(VALISE_E_IO, vls_blob_reader_read(&len, reader, room, sizeof(room), &t->err));
    CHECK_TEXT("the cable was pulled", t->err.message);
    lie = HONEST;
    CHECK_RC(VALISE_E_IO, vls_blob_reader_read(&len, reader, room, sizeof(room), &t->err));
    CHECK_TEXT(test_format("an earlier read of blob %s failed", vls_id_hex(&id).s), t->err.message);
    vls_blob_reader_close(reader);
    lie = FAIL_LATE;
    CHECK_OK(vls_blobs_get(&blob, w.blobs, &id, SIZE_MAX, &t->err)); /* in one read */
    (void)valise_blob_unref(blob);
    lie = HONEST;
    stop(&w);
}

static int broken_stat(uint64_t *size_bytes, void *self, const valise_id *id, valise_error *err)
{
    (void)size_bytes;
    (void)self;
    (void)id;
    return vls_fail(err, VALISE_E_IO, "the cable was pulled");
}

TEST(blob_core, not_known_is_not_the_same_as_not_there)
{
    valise_blob_store_ops ops = *valise_blob_store_memory();
    vls_blobs *blobs = NULL;
    valise_id id = {{0}};
    bool exists = true;

    ops.stat = broken_stat;
    CHECK_OK(vls_blobs_open(&blobs, &(vls_blobs_options){.env = t->env, .ops = &ops}, &t->err));
    CHECK_RC(VALISE_E_IO, vls_blobs_exists(&exists, blobs, &id, &t->err));
    CHECK_TEXT("the cable was pulled", t->err.message);
    CHECK_RC(VALISE_E_IO, vls_blobs_exists(&exists, blobs, &id, NULL));
    CHECK(exists);
    vls_blobs_close(blobs);
}
