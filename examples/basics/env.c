/* env.c -- a workspace with a clock and randomness of ours: the same ids and hashes in each run.
 *
 * What a library takes from the world (memory, time, randomness) comes through valise_env. Tests
 * that compare what was written want this; so does a host that counts or limits memory. */
#include <stdio.h>
#include <stdlib.h>

#include <valise.h>
#include <valise/sys/env.h>

typedef struct world {
    int64_t now;
    uint64_t random;
    long long bytes, most; /* of memory, now and at most */
} world;

/* One thread uses it, so a plain struct will do; functions of an env are called from any. */
static void *resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    world *w = self;
    void *block = NULL;

    if (new_size > 0 && !(block = realloc(ptr, new_size)))
        return NULL; /* out of memory: the old block is as it was */
    if (new_size == 0)
        free(ptr);
    w->bytes += (long long)new_size - (long long)old_size;
    w->most = w->bytes > w->most ? w->bytes : w->most;
    return block;
}

static int64_t tick(void *self)
{
    world *w = self;

    return w->now += 1000000; /* a millisecond passes whenever somebody looks */
}

/* Not for secrets: whoever knows the seed knows it all. (splitmix64) */
static int fill(void *self, void *bytes, size_t len)
{
    world *w = self;
    unsigned char *at = bytes;

    for (size_t i = 0; i < len; i++) {
        uint64_t x = w->random += 0x9e3779b97f4a7c15u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        at[i] = (unsigned char)(x >> 56);
    }
    return 0;
}

static int work(valise *v, valise_error *err)
{
    valise_reply entry = VALISE_REPLY_INIT, hash = VALISE_REPLY_INIT;
    char id[VALISE_UUID_TEXT];
    int rc = valise_dispatch(&entry, v, "context:add", "{\"key\":\"color\",\"text\":\"green\"}",
                             NULL, err);

    if (rc == 0)
        rc = valise_dispatch(&hash, v, "workspace:hash", NULL, NULL, err);
    if (rc == 0)
        printf("command %s\n%s\n", valise_uuid_text(id, &entry.id), valise_blob_text(hash.json));
    valise_reply_release(&hash);
    valise_reply_release(&entry);
    return rc;
}

int main(void)
{
    world w = {1767225600000000000, 1, 0, 0}; /* 2026 begins, and the seed is 1 */
    const valise_env env = {sizeof(env), &w, resize, tick, tick, fill};
    valise_options options = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;
    int rc;

    options.env = &env;
    options.flags = VALISE_OPEN_NO_USER_CONFIG; /* nothing from this machine */
    rc = valise_open(&v, ":memory:", &options, &err);
    if (rc == 0)
        rc = work(v, &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_close(v);
    printf("%s, %lld bytes are left\n", w.most > 0 ? "memory came from us" : "it did not ask us",
           w.bytes);
    return rc < 0;
}
