/* blob_threads.c -- one blob store, many threads. Worth most with -fsanitize=thread. */
#include "blob_kit.h"

TEST_PARAMS(blob_threads, "file", "memory")

#define THREADS 5
#define ROUNDS 60u
#define BLOBS 12

typedef struct job {
    world w;
    valise_id ids[BLOBS];
    valise_str bytes[BLOBS];
    atomic_size_t wrong;
} job;

static int see_one(void *arg, const valise_id *id, uint64_t size_bytes, valise_error *err)
{
    (void)id;
    (void)err;
    *(uint64_t *)arg += size_bytes;
    return 0;
}

/* All work on the same few blobs. Whatever is found is right; that is all one can say. Checks only
 * take note: a failed CHECK jumps, which must not leave its thread. */
static void work(size_t index, void *arg)
{
    job *j = arg;
    test_rng rng = test_rng_new(index + 1);

    for (unsigned i = 0; i < ROUNDS; i++) {
        VLS_AUTO(blob) valise_blob *blob = NULL;
        size_t which = test_random_below(&rng, BLOBS);
        uint64_t seen = 0;
        valise_id id;
        int rc = 0;

        switch (test_random_below(&rng, 5)) {
        case 0:
        case 1:
            rc = vls_blobs_put_bytes(&id, j->w.blobs, j->bytes[which], NULL);
            break;
        case 2:
            rc = vls_blobs_remove(j->w.blobs, &j->ids[which], NULL);
            break;
        case 3:
            rc = vls_blobs_list(j->w.blobs, see_one, &seen, NULL);
            break;
        default:
            rc = vls_blobs_get(&blob, j->w.blobs, &j->ids[which], SIZE_MAX, NULL);
            if (rc == 0 && !vls_str_equal(valise_blob_bytes(blob), j->bytes[which]))
                atomic_fetch_add(&j->wrong, 1);
        }
        if (rc < 0 && rc != VALISE_E_NOT_FOUND)
            atomic_fetch_add(&j->wrong, 1);
    }
}

TEST(blob_threads, find_only_whole_blobs)
{
    job j = {.wrong = 0};

    start(t, &j.w);
    for (size_t i = 0; i < BLOBS; i++) {
        j.bytes[i] = content(i * 20000, i);
        j.ids[i] = id_of(j.bytes[i]);
    }
    test_threads(THREADS, work, &j);
    CHECK_INT(0, atomic_load(&j.wrong));
    CHECK(count_blobs(t, &j.w) <= BLOBS);
    stop(&j.w);
}
