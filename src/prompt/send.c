/* send.c -- see send.h. */
#include "prompt/send.h"

#include "base/hex.h"
#include "json/make.h"

typedef struct sending {
    const vls_prompt_sending *of;
    valise_error stop; /* why the job is to end */
    bool stopped;
} sending;

/* ---- blobs ---- */

static int open_blob(void *arg, const valise_id *blob, valise_error *err)
{
    vls_sent_blobs *s = arg;
    int rc = vls_blobs_need(s->v->blobs, err);

    return rc < 0 ? rc : vls_blob_reader_open(&s->reader, s->v->blobs, blob, err);
}

static int read_blob(size_t *len, void *arg, void *room, size_t room_bytes, valise_error *err)
{
    vls_sent_blobs *s = arg;

    return vls_blob_reader_read(len, s->reader, room, room_bytes, err);
}

static void close_blob(void *arg)
{
    vls_sent_blobs *s = arg;

    vls_blob_reader_close(s->reader);
    s->reader = NULL;
}

vls_wire_blobs vls_sent_blobs_of(vls_sent_blobs *self)
{
    return (vls_wire_blobs){self, open_blob, read_blob, close_blob};
}

/* ---- pieces ---- */

static const char *kind_name(uint8_t kind)
{
    if (kind == VLS_SAID_THINKING)
        return "thinking";
    return kind == VLS_SAID_CALL ? "call" : "text";
}

void vls_piece_write(vls_buf *out, const vls_piece *piece, const char *session)
{
    vls_buf_printf(out, "{\"block\":%zu,\"kind\":\"%s\"", piece->block, kind_name(piece->kind));
    if (piece->name.len > 0) {
        vls_buf_add_text(out, ",\"name\":");
        vls_json_write_string(out, piece->name);
    }
    if (session)
        vls_buf_printf(out, ",\"sessionId\":\"%s\"", session);
    vls_buf_add_text(out, ",\"text\":");
    vls_json_write_string(out, piece->text);
    vls_buf_add_byte(out, '}');
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
    vls_buf_init(&payload, v->env, VLS_PIECE_PAYLOAD_MAX);
    vls_piece_write(&payload, piece, session.s);
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
    vls_sent_blobs reading = {v, NULL};
    const vls_wire_blobs blobs = vls_sent_blobs_of(&reading);
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

int vls_answer_text(valise_str *out, vls_arena *arena, vls_json blocks, valise_error *err)
{
    vls_buf text;

    vls_buf_init_in(&text, arena, VLS_JSON_MAX_BYTES);
    for (uint32_t i = 0; blocks.type == VLS_JSON_ARRAY && i < blocks.len; i++) {
        vls_json block = blocks.items[i];

        if (vls_str_equal(vls_text_of(block, "type"), VLS_STR("text")))
            vls_buf_add(&text, vls_text_of(block, "text"));
    }
    *out = VLS_STR("");
    return text.len == 0 && !text.failed ? 0 : vls_buf_keep(out, &text, err);
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
