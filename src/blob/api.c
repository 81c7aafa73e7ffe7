/* api.c -- the C functions: each runs an operation with structs. See valise/blobs.h. */
#include <valise/blobs.h>

#include "base/mem.h"
#include "base/sized.h"
#include "blob/ops.h"
#include "bus/bus.h"

/* ---- taking in ---- */

static int take_in(valise_blob_registered *out, valise *v, vls_blob_register_args *args,
                   const valise_blob_options *options, const valise_call *call, valise_error *err)
{
    valise_blob_options o = VALISE_BLOB_OPTIONS_INIT;
    VLS_AUTO(memory) vls_memory memory = {0};
    valise_blob_registered ours = VALISE_BLOB_REGISTERED_INIT;
    vls_blob_registered told;
    int rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_blob_options, filename),
                            "valise_blob_options", err);

    if (rc == 0 && out)
        rc = vls_sized_check(out, offsetof(valise_blob_registered, taken), "valise_blob_registered",
                             err);
    if (rc < 0)
        return rc;
    args->media_type = valise_str_of(o.media_type);
    args->filename = valise_str_of(o.filename);
    args->hold = valise_str_of(o.hold);
    rc = vls_run(v, &vls_op_blob_blob_register, args, &told, &memory, call, NULL, err);
    if (rc < 0 || !out)
        return rc;
    ours.sha256 = told.sha256;
    ours.bytes = told.size;
    ours.taken = told.taken;
    ours.count = told.count;
    vls_sized_give(out, &ours, sizeof(ours));
    return 0;
}

int valise_blob_register_fd(valise_blob_registered *out, valise *v, int fd,
                            const valise_blob_options *options, const valise_call *call,
                            valise_error *err)
{
    vls_blob_register_args args = {.fd = &fd};

    VLS_ARG(v && fd >= 0, err);
    return take_in(out, v, &args, options, call, err);
}

int valise_blob_register_bytes(valise_blob_registered *out, valise *v, valise_str bytes,
                               const valise_blob_options *options, const valise_call *call,
                               valise_error *err)
{
    vls_blob_register_args args = {.data = bytes.ptr ? bytes : VLS_STR("")};

    VLS_ARG(v && (bytes.ptr || bytes.len == 0), err);
    return take_in(out, v, &args, options, call, err);
}

/* ---- holding ---- */

static int change_hold(bool *changed, valise *v, const valise_op *op, const valise_id *blob,
                       const char *hold, const valise_call *call, valise_error *err)
{
    const vls_blob_hold_args args = {*blob, valise_str_of(hold)};
    vls_blob_held held = {.count = 0};
    int rc = vls_run(v, op, &args, &held, NULL, call, NULL, err);

    if (rc == 0 && changed)
        *changed = held.changed;
    return rc;
}

int valise_blob_hold(bool *taken, valise *v, const valise_id *blob, const char *hold,
                     const valise_call *call, valise_error *err)
{
    VLS_ARG(v && blob, err);
    return change_hold(taken, v, &vls_op_blob_blob_retain, blob, hold, call, err);
}

int valise_blob_release(bool *released, valise *v, const valise_id *blob, const char *hold,
                        const valise_call *call, valise_error *err)
{
    VLS_ARG(v && blob, err);
    return change_hold(released, v, &vls_op_blob_blob_release, blob, hold, call, err);
}

/* ---- reading ---- */

struct valise_blob_reader {
    const valise_env *env;
    vls_blob_reader *reader;
};

int valise_blob_open(valise_blob_reader **out, valise *v, const valise_id *blob,
                     const valise_call *call, valise_error *err)
{
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_blob_shown shown;
    valise_blob_reader *reader;
    int rc;

    VLS_ARG(out && v && blob, err);
    /* Rights, and whether there is a record. */
    rc = vls_run(v, &vls_op_blob_blob_show, &(vls_blob_show_args){*blob}, &shown, &memory, call,
                 NULL, err);
    if (rc == 0)
        rc = vls_blobs_need(v->blobs, err);
    if (rc < 0)
        return rc;
    reader = vls_mem_zalloc(v->env, sizeof(*reader));
    if (!reader)
        return vls_fail_memory(err);
    reader->env = v->env;
    rc = vls_blob_reader_open(&reader->reader, v->blobs, blob, err);
    if (rc < 0) {
        vls_mem_free(v->env, reader, sizeof(*reader));
        return rc;
    }
    *out = reader;
    return 0;
}

void valise_blob_close(valise_blob_reader *reader)
{
    if (!reader)
        return;
    vls_blob_reader_close(reader->reader);
    vls_mem_free(reader->env, reader, sizeof(*reader));
}

int64_t valise_blob_size(const valise_blob_reader *reader)
{
    return (int64_t)vls_blob_reader_size(reader->reader);
}

int valise_blob_read(size_t *len, valise_blob_reader *reader, void *room, size_t room_bytes,
                     valise_error *err)
{
    VLS_ARG(len && reader && room && room_bytes > 0, err);
    return vls_blob_reader_read(len, reader->reader, room, room_bytes, err);
}

/* ---- listing ---- */

typedef struct listing {
    valise_blob_info_fn *fn;
    void *arg;
    int rc; /* of the last call: a number above 0 is ours to hand on */
} listing;

static int give(void *arg, const void *row, valise_error *err)
{
    listing *l = arg;
    const vls_blob_line *line = row;
    const valise_blob_info info = {.sha256 = line->sha256,
                                   .bytes = line->size,
                                   .count = line->count,
                                   .media_type = line->media_type,
                                   .filename = line->filename,
                                   .created = line->created};

    l->rc = l->fn(l->arg, &info, err);
    return l->rc;
}

int valise_blob_list(valise *v, const char *hold, valise_blob_info_fn *fn, void *arg,
                     const valise_call *call, valise_error *err)
{
    const vls_blob_list_args args = {.hold = valise_str_of(hold)};
    listing l = {.fn = fn, .arg = arg};
    const vls_run_more more = {.emit = give, .emit_arg = &l};
    int rc;

    VLS_ARG(v && fn, err);
    rc = vls_run(v, &vls_op_blob_blob_list, &args, NULL, NULL, call, &more, err);
    return rc == 0 ? l.rc : rc;
}
