/* send.c -- see send.h. */
#include "prompt/send.h"

#include "base/hex.h"
#include "json/make.h"

#define CHUNK_MAX ((size_t)1 << 20) /* bytes of the payload of an event */

typedef struct sending {
    const vls_prompt_sending *of;
    vls_blob_reader *reader;
    valise_error stop; /* why the job is to end */
    bool stopped;
} sending;

/* ---- blobs ---- */

static int open_blob(void *arg, const valise_id *blob, valise_error *err)
{
    sending *s = arg;
    valise *v = valise_job_workspace(s->of->job);

    if (!v->blobs)
        return vls_fail(err, VALISE_E_UNSUPPORTED, "this workspace has no blob storage");
    return vls_blob_reader_open(&s->reader, v->blobs, blob, err);
}

static int read_blob(size_t *len, void *arg, void *room, size_t room_bytes, valise_error *err)
{
    sending *s = arg;

    return vls_blob_reader_read(len, s->reader, room, room_bytes, err);
}

static void close_blob(void *arg)
{
    sending *s = arg;

    vls_blob_reader_close(s->reader);
    s->reader = NULL;
}

/* ---- pieces ---- */

static const char *kind_name(uint8_t kind)
{
    if (kind == VLS_SAID_THINKING)
        return "thinking";
    return kind == VLS_SAID_CALL ? "call" : "text";
}

/* A live event has the text, and is in no log; who may not read sessions does not get it. */
static void tell(sending *s, const vls_piece *piece)
{
    valise_job *job = s->of->job;
    valise *v = valise_job_workspace(job);
    VLS_AUTO(buf) vls_buf payload = {0};
    valise_event event = {.size = sizeof(event), .type = VLS_STR("session:STREAM_CHUNK")};
    vls_uuid_string session;

    if (!s->of->session || !vls_bus_listens(v))
        return;
    session = vls_uuid_text(s->of->session);
    vls_buf_init(&payload, v->env, CHUNK_MAX);
    vls_buf_printf(&payload, "{\"block\":%zu,\"kind\":\"%s\"", piece->block,
                   kind_name(piece->kind));
    if (piece->name.len > 0) {
        vls_buf_add_text(&payload, ",\"name\":");
        vls_json_write_string(&payload, piece->name);
    }
    vls_buf_printf(&payload, ",\"session\":\"%s\",\"text\":", session.s);
    vls_json_write_string(&payload, piece->text);
    vls_buf_add_text(&payload, "}");
    if (vls_buf_check(&payload, NULL) < 0)
        return; /* who listens misses a piece; the answer has all of it */
    event.payload = vls_buf_str(&payload);
    (void)valise_publish(v, valise_job_actor(job), &event, NULL);
}

static int on_piece(void *arg, const vls_piece *piece, valise_error *err)
{
    sending *s = arg;

    tell(s, piece);
    return valise_job_step(s->of->job, piece->text.len, err);
}

/* Asked about twenty times a second: the clock decides, not the number of steps. */
static bool is_cancelled(void *arg)
{
    sending *s = arg;

    if (!s->stopped)
        s->stopped = vls_progress_look(vls_job_progress(s->of->job), &s->stop) < 0;
    return s->stopped;
}

int vls_prompt_send(vls_answer *out, const vls_prompt_sending *of, valise_error *err)
{
    valise *v = valise_job_workspace(of->job);
    sending s = {.of = of, .stop = VALISE_ERROR_INIT};
    const vls_wire_blobs blobs = {&s, open_blob, read_blob, close_blob};
    vls_sending asked = {.wire = of->wire,
                         .blobs = &blobs,
                         .neutral = of->neutral,
                         .model = of->model,
                         .stream = of->stream,
                         .on_piece = on_piece,
                         .arg = &s,
                         .cancelled = is_cancelled};
    vls_client *client = NULL;
    int rc = vls_prompt_client(&client, v, of->provider, err);

    if (rc < 0)
        return rc;
    valise_job_stage(of->job, of->stage, "bytes", 0);
    rc = vls_client_send(out, &of->job->arena, client, &asked, err);
    vls_prompt_client_return(v, client);
    return rc;
}

int vls_usage_json(vls_json *out, vls_arena *arena, const vls_usage *usage, valise_error *err)
{
    return VLS_PAIRS(
        out, arena, err, {"input", vls_json_int(usage->input), usage->input == VALISE_NONE},
        {"output", vls_json_int(usage->output), usage->output == VALISE_NONE},
        {"cacheRead", vls_json_int(usage->cache_read), usage->cache_read == VALISE_NONE},
        {"cacheWrite", vls_json_int(usage->cache_write), usage->cache_write == VALISE_NONE},
        {"reasoning", vls_json_int(usage->reasoning), usage->reasoning == VALISE_NONE});
}
