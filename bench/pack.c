/* pack.c -- a durable pack: an entry of the log, a value of 300 bytes and a commit of one of 1,000
 * items, with its two indexes. [Q7] */
#include "bench/durable.h"

#include "base/mem.h"

#include <valise/backpack.h>
#include <valise/workspace.h>

#define KEYS 1000u
#define KEY_MAX 32

typedef struct side {
    valise *v;
    valise_backpack *bag, *behind; /* the same one; what is packed into the second waits */
} side;

static void open_one(valise_backpack **out, side *s, unsigned flags)
{
    valise_backpack_options options = VALISE_BACKPACK_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;

    options.flags = VALISE_BACKPACK_DURABLE | flags;
    if (valise_backpack_open(out, s->v, "run-1", &options, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
}

static void *open_side(const char *dir, bool full)
{
    side *s = vls_mem_zalloc(valise_env_default(), sizeof(*s));

    MUST(s);
    s->v = raw_open_workspace(dir, full, NULL);
    open_one(&s->bag, s, 0);
    open_one(&s->behind, s, VALISE_BACKPACK_WRITE_BEHIND);
    return s;
}

static void close_side(void *self)
{
    side *s = self;

    valise_backpack_close(s->behind);
    valise_backpack_close(s->bag);
    valise_close(s->v);
    vls_mem_free(valise_env_default(), s, sizeof(*s));
}

static void key_of(char out[KEY_MAX], uint64_t n)
{
    (void)snprintf(out, KEY_MAX, "run:1:step:item:%011u", (unsigned)(n * 617 % KEYS));
}

static void pack(valise_backpack *bag, uint64_t n)
{
    static const char filler[] = "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz01";
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    char key[KEY_MAX], json[400];

    key_of(key, n);
    (void)snprintf(json, sizeof(json), "{\"n\":%010llu,\"text\":\"%s%s%s%s\"}",
                   (unsigned long long)n + 1000000000, filler, filler, filler, filler);
    options.node_id = valise_str_of("research-2");
    options.node_name = valise_str_of("Research");
    if (valise_pack(NULL, bag, key, json, &options, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
}

static void run(void *self, uint64_t n)
{
    pack(((side *)self)->bag, n);
}

static void run_many(void *self, uint64_t first)
{
    side *s = self;
    valise_error err = VALISE_ERROR_INIT;

    for (uint64_t i = 0; i < DURABLE_MANY; i++)
        pack(s->behind, first + i);
    if (valise_backpack_flush(s->behind, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
}

static void write_commit(raw_row *row, const durable_rows *rows)
{
    char key[KEY_MAX];

    key_of(key, rows->n);
    raw_set_int(row, "seq", raw_get_int(row, "seq") + 1);
    raw_set_bytes(row, "key", key);
    raw_set_bytes(row, "value_id", rows->mix);
    raw_set_int(row, "timestamp", rows->now);
    raw_set_int(row, "from_seq", rows->seq);
    raw_insert(row);
}

BENCH(pack)
{
    durable_compare(b, &(durable_command){.one = "a durable pack at NORMAL",
                                          .many = "1,000 packs behind, and a flush",
                                          .one_full = "a durable pack at FULL",
                                          .threads = "16 threads at FULL, 20 packs each",
                                          .open = open_side,
                                          .close = close_side,
                                          .run = run,
                                          .run_many = run_many,
                                          .table = "backpack_commit",
                                          .key = "seq",
                                          .write = write_commit});
}
