/* replay.c -- answers from a file, for tests and demos: one JSON object a line, used in order.
 *
 *     {"answer":{"blocks":[...],"stop":"end","usage":{"input":1,"output":2}}}
 *     {"response":{...}}                 the body of the provider
 *     {"stream":["data: {...}", ...]}    events of the provider; the empty line behind is added
 *     {"error":{"status":429,"message":"...","retryAfter":0}}
 *
 * and in each of them, if wanted, "expect": a text that must stand in the request. Empty lines and
 * those that begin with # are passed over. An error is tried again as one of a server is, with the
 * next line. A file that has run out is an error. */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"
#include "client/inside.h"
#include "json/make.h"

#define FILE_MAX ((size_t)64 << 20)
#define PIECE_MAX 24u /* bytes, about a word or two */

struct vls_client_replay {
    const valise_env *env;
    vls_buf path, text;
    pthread_mutex_t lock;
    size_t at;   /* behind the lock: where the next line begins */
    size_t line; /* its number, from 0 */
    size_t used; /* answers */
};

/* ---- the file ---- */

/* A flow names it, and who waits for a pipe that nobody writes to waits for ever. */
static int open_file(int *out, valise_str file, const char *path, valise_error *err)
{
    VLS_AUTO(fd) int fd = vls_fd_open_at(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return vls_fail_errno(err, "cannot read the answers in", file);
    if (S_ISFIFO(st.st_mode))
        return vls_fail(err, VALISE_E_INVALID, "%s is not a file", path);
    *out = vls_fd_take(&fd);
    return 0;
}

static int read_all(vls_buf *out, int fd, const char *path, valise_error *err)
{
    ssize_t got = 1;

    while (got > 0) {
        char *room = vls_buf_reserve(out, (size_t)64 << 10);
        if (!room)
            return vls_buf_check(out, err);
        got = vls_fd_read(fd, room, (size_t)64 << 10);
        if (got > 0)
            vls_buf_advance(out, (size_t)got);
    }
    return got < 0 ? vls_fail_errno(err, "cannot read", valise_str_of(path)) : 0;
}

int vls_client_replay_open(vls_client_replay **out, const valise_env *env, valise_str file,
                           valise_error *err)
{
    vls_client_replay *replay = vls_mem_zalloc(env, sizeof(*replay));
    VLS_AUTO(fd) int fd = -1;
    const char *path;
    int rc = 0;

    if (!replay)
        return vls_fail_memory(err);
    replay->env = env;
    (void)pthread_mutex_init(&replay->lock, NULL);
    vls_buf_init(&replay->path, env, 4096);
    vls_buf_init(&replay->text, env, FILE_MAX + ((size_t)64 << 10));
    vls_buf_add(&replay->path, file);
    path = vls_buf_cstr(&replay->path);
    if (!path)
        rc = vls_buf_check(&replay->path, err);
    if (rc == 0)
        rc = open_file(&fd, file, path, err);
    if (rc == 0)
        rc = read_all(&replay->text, fd, path, err);
    if (rc < 0) {
        vls_client_replay_close(replay);
        return rc;
    }
    *out = replay;
    return 0;
}

void vls_client_replay_close(vls_client_replay *replay)
{
    if (!replay)
        return;
    vls_buf_release(&replay->path);
    vls_buf_release(&replay->text);
    (void)pthread_mutex_destroy(&replay->lock);
    vls_mem_free(replay->env, replay, sizeof(*replay));
}

/* The next line that says something. */
static int next_line(valise_str *out, size_t *number, vls_client_replay *replay, valise_error *err)
{
    valise_str line = VLS_STR(""), rest;
    size_t used;
    bool found = false;

    (void)pthread_mutex_lock(&replay->lock);
    while (!found && replay->at < replay->text.len) {
        (void)vls_str_cut(&line, &rest, vls_str_from(vls_buf_str(&replay->text), replay->at), '\n');
        replay->at += line.len + 1;
        replay->line++;
        line = vls_str_trim(line);
        found = line.len > 0 && line.ptr[0] != '#';
    }
    *number = replay->line;
    used = replay->used;
    replay->used += found;
    (void)pthread_mutex_unlock(&replay->lock);
    if (!found) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "%s has no more answers: all %zu were used",
                       vls_text_short(vls_buf_str(&replay->path)).s, used);
        vls_hint(err, "each line of it is one answer, and each request takes the next one");
        return VALISE_E_NOT_FOUND;
    }
    *out = line;
    return 0;
}

/* ---- what a line says ---- */

static int check_request(vls_json line, const vls_sending *sending, valise_error *err)
{
    vls_json expect = vls_member_of(line, "expect");
    valise_str request = sending->wire ? vls_buf_str(&sending->wire->text) : sending->neutral;

    if (expect.type == VLS_JSON_NULL)
        return 0;
    if (expect.type != VLS_JSON_STRING)
        return vls_fail(err, VALISE_E_INVALID, "'expect' must be a text, not %s",
                        vls_json_type_name(expect));
    if (expect.len > 0 && vls_str_find(request, vls_json_str(expect)) == request.len)
        return vls_fail(err, VALISE_E_INVALID, "the request does not contain '%s'",
                        vls_text_short(vls_json_str(expect)).s);
    return 0;
}

/* In pieces of a word or two, as a model speaks. */
static int say(const vls_sending *sending, size_t block, uint8_t kind, valise_str name,
               valise_str text, valise_error *err)
{
    int rc = 0;

    while (rc == 0 && text.len > 0) {
        valise_str head = vls_utf8_head(text, PIECE_MAX);
        vls_piece piece = {.kind = kind, .block = block, .name = name};
        size_t space = head.len < text.len ? head.len : 0;
        while (space > 0 && head.ptr[space - 1] != ' ')
            space--;
        piece.text = space > 0 ? vls_str_head(head, space) : head;
        rc = vls_settle(sending->on_piece(sending->arg, &piece, err));
        text = vls_str_from(text, piece.text.len);
    }
    return rc;
}

static int say_blocks(const vls_sending *sending, vls_json blocks, vls_arena *arena,
                      valise_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < blocks.len && rc == 0; i++) {
        vls_json type = vls_member_of(blocks.items[i], "type"),
                 text = vls_member_of(blocks.items[i], "text"),
                 name = vls_member_of(blocks.items[i], "name");
        uint8_t kind = VLS_SAID_TEXT;
        if (vls_str_equal(vls_json_str(type), VLS_STR("tool_use"))) {
            vls_buf args;
            vls_buf_init_in(&args, arena, VLS_JSON_MAX_BYTES);
            rc = vls_json_write_around(&args, vls_member_of(blocks.items[i], "args"), err);
            if (rc == 0)
                rc = say(sending, i, VLS_SAID_CALL,
                         name.type == VLS_JSON_STRING ? vls_json_str(name) : VLS_STR(""),
                         vls_buf_str(&args), err);
            continue;
        }
        if (vls_str_equal(vls_json_str(type), VLS_STR("thinking")))
            kind = VLS_SAID_THINKING;
        else if (!vls_str_equal(vls_json_str(type), VLS_STR("text")))
            continue;
        if (text.type == VLS_JSON_STRING)
            rc = say(sending, i, kind, VLS_STR(""), vls_json_str(text), err);
    }
    return rc;
}

static int give_answer(vls_trying *trying, vls_json answer, valise_error *err)
{
    int rc = vls_answer_of_json(&trying->answer, trying->arena, answer, err);

    if (rc == 0 && trying->sending->stream && trying->sending->on_piece)
        rc = say_blocks(trying->sending, trying->answer.blocks, trying->arena, err);
    return rc;
}

static int give_response(vls_trying *trying, vls_json response, valise_error *err)
{
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, trying->arena, FILE_MAX);
    rc = vls_json_write_around(&text, response, err);
    if (rc < 0)
        return rc;
    rc = vls_answer_read(&trying->answer, trying->arena, trying->client->provider.adapter,
                         vls_buf_str(&text), err);
    if (rc == 0 && trying->sending->stream && trying->sending->on_piece)
        rc = say_blocks(trying->sending, trying->answer.blocks, trying->arena, err);
    return rc;
}

static int feed(vls_stream *stream, vls_json events, const vls_sending *sending, valise_error *err)
{
    int rc = 0;

    if (events.type != VLS_JSON_ARRAY)
        return vls_fail(err, VALISE_E_INVALID, "'stream' must be an array, not %s",
                        vls_json_type_name(events));
    for (uint32_t i = 0; i < events.len && rc == 0; i++) {
        if (events.items[i].type != VLS_JSON_STRING)
            return vls_fail(err, VALISE_E_INVALID, "stream[%u] must be a text, not %s", i,
                            vls_json_type_name(events.items[i]));
        if (sending->cancelled && sending->cancelled(sending->arg))
            return vls_fail(err, VALISE_E_CANCELLED, "cancelled");
        rc = vls_stream_feed(stream, vls_json_str(events.items[i]), err);
        if (rc == 0)
            rc = vls_stream_feed(stream, VLS_STR("\n\n"), err);
    }
    return rc < 0 ? rc : vls_stream_finish(stream, err);
}

static int give_stream(vls_trying *trying, vls_json events, valise_error *err)
{
    const vls_sending *sending = trying->sending;
    VLS_AUTO(stream) vls_stream *stream = NULL;
    int rc = vls_stream_new(&stream, trying->client->env, trying->client->provider.adapter,
                            sending->stream ? sending->on_piece : NULL, sending->arg, err);

    if (rc < 0)
        return rc;
    rc = feed(stream, events, sending, err);
    if (rc == 0 && !vls_stream_has_ended(stream))
        rc = vls_fail(err, VALISE_E_IO, "the answer was cut off");
    if (rc == VALISE_E_REMOTE && !vls_stream_has_begun(stream))
        trying->again = vls_stream_is_passing(stream);
    if (rc == 0)
        return vls_stream_answer(&trying->answer, trying->arena, stream, err);
    if (vls_stream_has_begun(stream))
        (void)vls_stream_answer(&trying->answer, trying->arena, stream, NULL);
    return rc;
}

static int give_error(vls_trying *trying, vls_json error, valise_error *err)
{
    vls_json status = vls_member_of(error, "status"), message = vls_member_of(error, "message"),
             after = vls_member_of(error, "retryAfter");
    vls_status said = {.request_id = "", .location = ""};
    int rc;

    if (status.type != VLS_JSON_INT || status.integer < 300 || status.integer > 599)
        return vls_fail(err, VALISE_E_INVALID, "'error.status' must be 300 to 599");
    said.status = (long)status.integer;
    said.body = message.type == VLS_JSON_STRING ? vls_json_str(message) : VLS_STR("");
    rc = vls_status_fail(trying, &said, err);
    if (after.type == VLS_JSON_INT && after.integer >= 0)
        trying->wait_ns = VLS_MIN(after.integer, 1000000) * 1000000000;
    return rc;
}

static int give(vls_trying *trying, vls_json line, valise_error *err)
{
    static const struct {
        const char *key;
        int (*give)(vls_trying *trying, vls_json value, valise_error *err);
    } kinds[] = {
        {"answer", give_answer},
        {"response", give_response},
        {"stream", give_stream},
        {"error", give_error},
    };
    int rc = check_request(line, trying->sending, err);

    for (size_t i = 0; rc == 0 && i < VLS_COUNT(kinds); i++) {
        const vls_json *value = vls_json_get(line, valise_str_of(kinds[i].key));
        if (value)
            return kinds[i].give(trying, *value, err);
    }
    return rc < 0 ? rc
                  : vls_fail(err, VALISE_E_INVALID,
                             "it has neither 'answer' nor 'response', 'stream' or 'error'");
}

int vls_client_replay_try(vls_trying *trying, valise_error *err)
{
    static const vls_json_limits limits = {.around = VLS_JSON_MAX_AROUND};
    vls_client_replay *replay = trying->client->replay;
    valise_str text = {NULL, 0};
    vls_json line = vls_json_null();
    size_t number = 0;
    int rc = next_line(&text, &number, replay, err);

    if (rc < 0)
        return rc;
    rc = vls_json_parse(&line, trying->arena, text, &limits, err);
    if (rc == 0)
        rc = give(trying, line, err);
    if (rc == VALISE_E_INVALID)
        vls_error_prepend(err, "%s:%zu", vls_text_short(vls_buf_str(&replay->path)).s, number);
    return rc;
}
