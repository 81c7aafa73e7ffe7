/* pour.c -- see pour.h. */
#include "prompt/pour.h"

#include "base/file.h"
#include "base/hex.h"
#include "base/mem.h"

/* ---- blobs ---- */

typedef struct source {
    vls_blobs *blobs;
    vls_blob_reader *reader; /* of the hole at hand */
} source;

static int open_blob(void *arg, const valise_id *blob, valise_error *err)
{
    source *s = arg;
    valise_error why = VALISE_ERROR_INIT;
    int rc = vls_blobs_need(s->blobs, err);

    if (rc < 0)
        return rc;
    rc = vls_blob_reader_open(&s->reader, s->blobs, blob, &why);
    if (rc == VALISE_E_NOT_FOUND) {
        (void)vls_fail(err, rc, "blob %s is gone", vls_id_hex(blob).s);
        vls_hint(err, "give --neutral: the neutral prompt needs no bytes of blobs");
    } else if (rc < 0 && err) {
        *err = why;
    }
    return rc;
}

static int read_blob(size_t *len, void *arg, void *room, size_t room_bytes, valise_error *err)
{
    return vls_blob_reader_read(len, ((source *)arg)->reader, room, room_bytes, err);
}

static void close_blob(void *arg)
{
    source *s = arg;

    vls_blob_reader_close(s->reader);
    s->reader = NULL;
}

/* ---- pieces ---- */

int vls_wire_pour(const vls_wire *wire, vls_blobs *blobs, vls_pour_fn *fn, void *arg,
                  valise_error *err)
{
    source s = {.blobs = blobs};
    const vls_wire_blobs from = {&s, open_blob, read_blob, close_blob};
    vls_wire_walk *walk = NULL;
    char *room = vls_mem_alloc(wire->env, VLS_BLOB_PIECE_BYTES);
    size_t len = 0;
    int rc = room ? vls_wire_walk_new(&walk, wire, &from, err) : vls_fail_memory(err);

    while (rc == 0) {
        rc = vls_wire_walk_read(&len, walk, room, VLS_BLOB_PIECE_BYTES, err);
        if (rc < 0 || len == 0)
            break;
        rc = fn(arg, vls_str(room, len), err);
    }
    vls_wire_walk_free(walk);
    vls_mem_free(wire->env, room, VLS_BLOB_PIECE_BYTES);
    return rc;
}

static int add_piece(void *arg, valise_str bytes, valise_error *err)
{
    vls_buf_add(arg, bytes);
    return vls_buf_check(arg, err);
}

int vls_wire_gather(valise_str *out, vls_arena *arena, const vls_wire *wire, vls_blobs *blobs,
                    valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int64_t size = vls_wire_size(wire);
    int rc;

    if (size > VLS_WIRE_ANSWER_MAX) {
        rc =
            vls_fail(err, VALISE_E_TOO_LARGE, "the request has %lld bytes; an answer may have %lld",
                     (long long)size, (long long)VLS_WIRE_ANSWER_MAX);
        vls_hint(err, "write it to a file: --output FILE");
        return rc;
    }
    vls_buf_init(&text, arena->env, (size_t)VLS_WIRE_ANSWER_MAX);
    rc = vls_wire_pour(wire, blobs, add_piece, &text, err);
    return rc < 0 ? rc : vls_arena_dup(out, arena, vls_buf_str(&text), err);
}

typedef struct saving {
    vls_file_out output;
    int64_t bytes;
} saving;

static int save_piece(void *arg, valise_str bytes, valise_error *err)
{
    saving *s = arg;

    s->bytes += (int64_t)bytes.len;
    return vls_file_out_write(&s->output, bytes, err);
}

int vls_wire_save(int64_t *bytes, const vls_wire *wire, vls_blobs *blobs, valise_str path,
                  bool force, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    saving s = {.bytes = 0};
    const char *name = NULL;
    int rc;

    vls_arena_init(&arena, wire->env, (size_t)1 << 20);
    rc = vls_path_text(&name, &arena, path, err);
    if (rc == 0)
        rc = vls_file_out_open(&s.output, wire->env, name, force, err);
    if (rc < 0)
        return rc;
    rc = vls_wire_pour(wire, blobs, save_piece, &s, err);
    if (rc == 0)
        rc = vls_file_out_commit(&s.output, err);
    vls_file_out_abort(&s.output);
    if (rc == 0)
        *bytes = s.bytes;
    return rc;
}
