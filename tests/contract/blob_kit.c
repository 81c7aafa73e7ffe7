/* blob_kit.c -- stores and contents for the tests of blobs. */
#include "blob_kit.h"

const valise_blob_store_ops *backend(const char *name)
{
    static valise_blob_store_ops host;

    if (strcmp(name, "file") == 0)
        return valise_blob_store_file();
    if (strcmp(name, "memory") == 0)
        return valise_blob_store_memory();
    host = *valise_blob_store_memory();
    host.name = name;
    host.size = offsetof(valise_blob_store_ops, clean);
    memset(&host.clean, 0xEE, sizeof(host.clean)); /* not a part of it */
    return &host;
}

int try_start(world *w, const valise_env *env, const char *name, const char *dir, unsigned flags,
              valise_error *err)
{
    vls_blobs_options options = {
        .env = env, .ops = backend(name), .where = test_format("%s/blobs", dir), .flags = flags};

    *w = (world){.env = env};
    return vls_blobs_open(&w->blobs, &options, err);
}

void start(test *t, world *w)
{
    CHECK_OK(try_start(w, t->env, t->param ? t->param : "file", test_tmpdir(),
                       VALISE_BLOB_STORE_CREATE, &t->err));
}

void stop(world *w)
{
    vls_blobs_close(w->blobs);
}

valise_str content(size_t len, uint64_t seed)
{
    test_rng rng = test_rng_new(seed);
    char *bytes = test_alloc(len + 8);

    for (size_t i = 0; i < len; i += 8) {
        uint64_t number = test_random(&rng);
        memcpy(bytes + i, &number, 8);
    }
    return (valise_str){bytes, len};
}

valise_id id_of(valise_str bytes)
{
    valise_id id;

    vls_hash_bytes(&id, bytes);
    return id;
}

valise_id put_ok(test *t, world *w, valise_str bytes)
{
    valise_id id, expected = id_of(bytes);

    CHECK_OK(vls_blobs_put_bytes(&id, w->blobs, bytes, &t->err));
    CHECK(vls_id_equal(&id, &expected));
    return id;
}

void check_has(test *t, world *w, const valise_id *id, valise_str bytes)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    uint64_t size = 7;
    bool exists = false;

    CHECK_OK(vls_blobs_get(&blob, w->blobs, id, SIZE_MAX, &t->err));
    CHECK(vls_str_equal(bytes, valise_blob_bytes(blob)));
    CHECK_OK(vls_blobs_size(&size, w->blobs, id, &t->err));
    CHECK_INT(bytes.len, size);
    CHECK_OK(vls_blobs_exists(&exists, w->blobs, id, &t->err));
    CHECK(exists);
}

void check_lacks(test *t, world *w, const valise_id *id)
{
    valise_blob *blob = NULL;
    vls_blob_reader *reader = NULL;
    uint64_t size = 7;
    bool exists = true;

    CHECK_RC(VALISE_E_NOT_FOUND, vls_blobs_get(&blob, w->blobs, id, SIZE_MAX, &t->err));
    CHECK_TEXT(test_format("there is no blob %s", vls_id_hex(id).s), t->err.message);
    CHECK_RC(VALISE_E_NOT_FOUND, vls_blob_reader_open(&reader, w->blobs, id, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_blobs_size(&size, w->blobs, id, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_blobs_remove(w->blobs, id, &t->err));
    CHECK_TEXT(test_format("there is no blob %s", vls_id_hex(id).s), t->err.message);
    t->err = (valise_error)VALISE_ERROR_INIT;
    CHECK_OK(vls_blobs_exists(&exists, w->blobs, id, &t->err));
    CHECK_INT(0, t->err.code); /* that it is not there is no error */
    CHECK(!blob && !reader && size == 7 && !exists);
}

typedef struct counter {
    test *t;
    world *w;
    size_t count;
} counter;

static int count_one(void *arg, const valise_id *id, uint64_t size_bytes, valise_error *err)
{
    counter *c = arg;
    test *t = c->t;
    valise_blob *blob = NULL;

    (void)err;
    CHECK_OK(vls_blobs_get(&blob, c->w->blobs, id, SIZE_MAX, &t->err));
    CHECK_INT(size_bytes, valise_blob_bytes(blob).len);
    (void)valise_blob_unref(blob);
    c->count++;
    return 0;
}

size_t count_blobs(test *t, world *w)
{
    counter c = {t, w, 0};

    CHECK_OK(vls_blobs_list(w->blobs, count_one, &c, &t->err));
    return c.count;
}

const char *path_of(const char *dir, const valise_id *id)
{
    vls_id_text hex = vls_id_hex(id);

    return test_format("%s/blobs/%.2s/%s", dir, hex.s, hex.s);
}
