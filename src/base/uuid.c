/* uuid.c -- the generator and the derivation of UUIDv7. */
#include "base/uuid.h"

#include "base/bytes.h"

#define TIME_MAX_MS ((UINT64_C(1) << 48) - 1)
#define COUNTER_MAX ((UINT32_C(1) << 26) - 1)
#define COUNTER_START_MASK (COUNTER_MAX >> 1) /* the guard bit starts clear */

void vls_uuid_gen_init(vls_uuid_gen *gen, const valise_env *env)
{
    *gen = (vls_uuid_gen){.env = env};
    (void)pthread_mutex_init(&gen->lock, NULL); /* cannot fail without attributes */
}

void vls_uuid_gen_release(vls_uuid_gen *gen)
{
    (void)pthread_mutex_destroy(&gen->lock);
}

static void put_time(valise_uuid *uuid, uint64_t time_ms)
{
    for (size_t i = 0; i < 6; i++)
        uuid->bytes[i] = (uint8_t)(time_ms >> (40 - 8 * i));
}

static void put_version(valise_uuid *uuid)
{
    uuid->bytes[6] = (uint8_t)(0x70 | (uuid->bytes[6] & 0x0F));
    uuid->bytes[8] = (uint8_t)(0x80 | (uuid->bytes[8] & 0x3F));
}

/* Move (time_ms, counter) to the next greater pair. start is random. False when there is none. */
static bool advance(vls_uuid_gen *gen, uint32_t start)
{
    int64_t now_ns = gen->env->now_ns(gen->env->self);
    uint64_t now_ms = now_ns < 0 ? 0 : (uint64_t)now_ns / 1000000;

    if (!gen->started || now_ms > gen->time_ms) {
        gen->time_ms = now_ms;
        gen->counter = start;
        gen->started = true;
    } else if (gen->counter < COUNTER_MAX) {
        gen->counter++;
    } else if (gen->time_ms < TIME_MAX_MS) {
        gen->time_ms++;
        gen->counter = start;
    } else {
        return false;
    }
    return true;
}

static int new_locked(valise_uuid *out, vls_uuid_gen *gen, valise_error *err)
{
    const uint8_t *random;

    if (gen->drawn == 0) {
        if (gen->env->random(gen->env->self, gen->random, sizeof(gen->random)) < 0)
            return vls_fail(err, VALISE_E_IO, "the environment provides no random bytes for an id");
        gen->drawn = VLS_UUID_BATCH;
    }
    random = gen->random[gen->drawn - 1];
    uint32_t start = vls_bytes_load_u32(random + 6);
    if (!advance(gen, start & COUNTER_START_MASK))
        return vls_fail(err, VALISE_E_LIMIT, "the milliseconds of UUIDv7 are used up");
    gen->drawn--;

    put_time(out, gen->time_ms);
    out->bytes[6] = (uint8_t)(gen->counter >> 22);
    out->bytes[7] = (uint8_t)(gen->counter >> 14);
    out->bytes[8] = (uint8_t)(gen->counter >> 8);
    out->bytes[9] = (uint8_t)gen->counter;
    memcpy(out->bytes + 10, random, 6);
    put_version(out);
    return 0;
}

int vls_uuid_new(valise_uuid *out, vls_uuid_gen *gen, valise_error *err)
{
    int rc;

    (void)pthread_mutex_lock(&gen->lock);
    rc = new_locked(out, gen, err);
    (void)pthread_mutex_unlock(&gen->lock);
    return rc;
}

void vls_uuid_derive(valise_uuid *out, const valise_uuid *command, uint64_t counter)
{
    vls_hasher hasher;
    int64_t time_ms = 0;
    valise_id id;

    vls_hash_begin_tagged(&hasher, "valise.uuid.1");
    vls_hash_field(&hasher, (valise_str){(const char *)command->bytes, sizeof(command->bytes)});
    vls_hash_field_u64(&hasher, counter);
    vls_hash_end(&id, &hasher);
    (void)vls_uuid_time_ms(&time_ms, command);
    memcpy(out->bytes, id.bytes, sizeof(out->bytes));
    put_time(out, (uint64_t)time_ms);
    put_version(out);
}

bool vls_uuid_time_ms(int64_t *out, const valise_uuid *uuid)
{
    int64_t time_ms = 0;

    if (!vls_uuid_is_v7(uuid))
        return false;
    for (size_t i = 0; i < 6; i++)
        time_ms = time_ms << 8 | uuid->bytes[i];
    *out = time_ms;
    return true;
}

int vls_uuid_order(const void *a, const void *b)
{
    return vls_uuid_compare(a, b);
}
