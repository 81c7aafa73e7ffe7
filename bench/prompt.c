/* prompt.c -- from a session to a request, with its manifest [Q9].
 *
 * The transcript is what must be read for it anyway: each turn and its blocks, and nothing else is
 * done with them. With pictures the request is also written out as it is sent; by hand their file
 * is read and made base64 as often. */
#define VLS_ALLOW_MALLOC
#include "bench/durable.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/base64.h"
#include "bus/bus.h"
#include "chat/graph.h"
#include "prompt/manifest.h"
#include "prompt/pour.h"

#define SESSION "018f0000-0000-7000-8000-000000000001"
#define BATCH 500u
#define PICTURE_BYTES ((size_t)64 << 10)

typedef struct talked {
    char dir[256];
    valise *v;
    size_t turns, bytes; /* bytes: of the neutral prompt; with pictures, of what is sent */
    bool pictures;
    vls_request request; /* but for session and head */
} talked;

static void must(int rc, const valise_error *err)
{
    if (rc < 0)
        raw_die(__FILE__, __LINE__, err->message);
}

#define MUST(ok)                                                                                   \
    do {                                                                                           \
        if (!(ok))                                                                                 \
            raw_die(__FILE__, __LINE__, #ok);                                                      \
    } while (0)

static void run_one(valise *v, const char *type, const char *payload)
{
    valise_error err = VALISE_ERROR_INIT;

    must(valise_dispatch(NULL, v, type, payload, NULL, &err), &err);
}

/* ---- what is said ---- */

/* The n-th turn: words, so that there is something to estimate, and a picture where one is. */
static size_t say(char *out, size_t room, size_t n, size_t bytes, const char *picture)
{
    static const char *const words[] = {"the ",  "parcel ", "is ",    "where ", "it was: ",
                                        "line ", "number ", "(42), ", "and ",   "then; "};
    size_t len = (size_t)snprintf(out, room,
                                  "{\"sessionId\":\"" SESSION "\",\"turn\":{\"role\":\"%s\","
                                  "\"blocks\":[{\"type\":\"text\",\"text\":\"%zu ",
                                  n % 2 ? "assistant" : "user", n);

    for (size_t i = n, end = len + bytes; len < end; i++)
        len += (size_t)snprintf(out + len, room - len, "%s", words[i * 7 % VLS_COUNT(words)]);
    len += (size_t)snprintf(out + len, room - len, "\"}");
    if (picture && n % 2 == 0)
        len += (size_t)snprintf(out + len, room - len, ",{\"type\":\"image\",\"blob\":\"%s\"}",
                                picture);
    return len + (size_t)snprintf(out + len, room - len, "]}}");
}

/* What a picture has, as base64. */
static void fill(uint8_t *bytes)
{
    uint32_t x = 1;

    for (size_t i = 0; i < PICTURE_BYTES; i++) {
        x = x * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(x >> 24);
    }
}

static void path_of(char out[300], const talked *k)
{
    (void)snprintf(out, 300, "%s/picture", k->dir);
}

/* Register the picture; its id; and the same bytes as a file for the other side. */
static void add_picture(char id[VALISE_ID_TEXT], talked *k)
{
    static uint8_t bytes[PICTURE_BYTES];
    vls_buf text;
    valise_id blob;
    char path[300];
    int fd;

    fill(bytes);
    vls_hash_bytes(&blob, vls_str(bytes, sizeof(bytes)));
    (void)valise_id_text(id, &blob);
    vls_buf_init(&text, valise_env_default(), SIZE_MAX / 2);
    vls_buf_add_text(&text, "{\"hold\":\"bench\",\"mediaType\":\"image/png\",\"data\":\"");
    vls_base64_encode(&text, vls_str(bytes, sizeof(bytes)));
    vls_buf_add_text(&text, "\"}");
    run_one(k->v, "blob:register", vls_buf_cstr(&text));
    vls_buf_release(&text);
    path_of(path, k);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    MUST(fd >= 0 && write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) && close(fd) == 0);
}

static talked *make(size_t turns, size_t bytes, bool pictures)
{
    char picture[VALISE_ID_TEXT] = "";
    talked *k = calloc(1, sizeof(*k));
    size_t room = bytes + 512;
    char *text = malloc(room * BATCH);
    valise_command *commands = calloc(BATCH, sizeof(*commands));
    valise_error err = VALISE_ERROR_INIT;

    MUST(k && text && commands);
    raw_make_dir(k->dir, "prompt");
    k->v = raw_open_workspace(k->dir, false, NULL);
    k->turns = turns;
    k->pictures = pictures;
    run_one(k->v, "session:create", "{\"id\":\"" SESSION "\",\"label\":\"bench\"}");
    if (pictures)
        add_picture(picture, k);
    for (size_t n = 0; n < turns; n += BATCH) {
        for (size_t i = 0; i < BATCH; i++)
            commands[i] = (valise_command){
                .type = VLS_STR("turn:add"),
                .payload = {text + room * i,
                            say(text + room * i, room, n + i, bytes, pictures ? picture : NULL)}};
        must(valise_dispatch_batch(NULL, k->v, commands, BATCH, NULL, &err), &err);
    }
    k->request = (vls_request){.time = INT64_C(1700000000000000000),
                               .inline_max = VALISE_NONE,
                               .window = VALISE_NONE,
                               .scale = 16,
                               .no_text = true, /* as prompt:build does it */
                               .model = VLS_STR("m"),
                               .asked = VLS_STR("{}")};
    must(vls_adapter_get(&k->request.adapter, VLS_STR("openai"), &err), &err);
    free(text);
    free(commands);
    return k;
}

static void drop(talked *k)
{
    valise_close(k->v);
    raw_remove_dir(k->dir);
    free(k);
}

/* ---- the transcript ---- */

static int see(void *arg, const vls_turn_row *turn, valise_error *err)
{
    valise_str bytes;
    int rc = valise_view_object(&bytes, arg, &turn->blocks, err);

    if (rc == 0)
        bench_use(bytes.ptr);
    return rc;
}

static int read_path(void *arg, valise_view *view, valise_error *err)
{
    vls_session_row session;
    vls_turn_row head;
    vls_trail trail = {0};
    int rc = vls_session_find(&session, view, VLS_STR("bench"), err);

    (void)arg;
    if (rc == 0)
        rc = vls_turn_get(&head, view, &session.head, err) > 0 ? 0 : VALISE_E_NOT_FOUND;
    if (rc == 0)
        rc = vls_trail_make(&trail, view, &head, NULL, false, err);
    if (rc == 0)
        rc = vls_trail_each(&trail, view, 0, true, see, view, err);
    vls_trail_release(&trail);
    return rc;
}

static void read_all(void *arg, size_t times)
{
    talked *k = arg;
    valise_error err = VALISE_ERROR_INIT;

    while (times--)
        must(vls_with_view(k->v, NULL, read_path, k, &err), &err);
}

/* The file of the picture, read and made base64 by the plainest loop. */
static void encode_file(const char *path, char *out)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static uint8_t bytes[PICTURE_BYTES + 2];
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    MUST(fd >= 0 && read(fd, bytes, PICTURE_BYTES) == (ssize_t)PICTURE_BYTES && close(fd) == 0);
    for (size_t i = 0; i < PICTURE_BYTES; i += 3, out += 4) {
        uint32_t three = (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];

        for (int k = 0; k < 4; k++)
            out[k] = letters[three >> (18 - 6 * k) & 63];
    }
}

static void read_pictures(void *arg, size_t times)
{
    static char out[PICTURE_BYTES / 3 * 4 + 8];
    talked *k = arg;
    char path[300];

    path_of(path, k);
    while (times--) {
        read_all(k, 1);
        for (size_t i = 0; i < k->turns / 2; i++) {
            encode_file(path, out);
            bench_use(out);
        }
    }
}

/* ---- the build ---- */

static int count_bytes(void *arg, valise_str bytes, valise_error *err)
{
    size_t *sum = arg;

    (void)err;
    bench_use(bytes.ptr);
    *sum += bytes.len;
    return 0;
}

static int build_one(void *arg, valise_view *view, valise_error *err)
{
    talked *k = arg;
    vls_request request = k->request;
    vls_built built = {0};
    vls_buf manifest;
    int rc = vls_session_find(&request.session, view, VLS_STR("bench"), err);

    if (rc == 0)
        rc = vls_turn_get(&request.head, view, &request.session.head, err);
    if (rc > 0)
        rc = vls_build(&built, view, &request, err);
    if (rc < 0)
        return rc;
    k->bytes = built.rendered.bytes;
    vls_buf_init(&manifest, valise_env_default(), SIZE_MAX / 2);
    rc = vls_manifest_write(&manifest, &built.manifest, err);
    bench_use(manifest.ptr);
    if (rc == 0 && k->pictures) {
        k->bytes = 0;
        rc = vls_wire_pour(&built.wire, k->v->blobs, count_bytes, &k->bytes, err);
    }
    vls_buf_release(&manifest);
    vls_built_release(&built);
    return rc;
}

static void build(void *arg, size_t times)
{
    talked *k = arg;
    valise_error err = VALISE_ERROR_INIT;

    while (times--)
        must(vls_with_view(k->v, NULL, build_one, k, &err), &err);
}

static void compare(bench *b, talked *k, const char *name, double at_most)
{
    build(k, 1);
    bench_compare(b, &(bench_row){.name = name,
                                  .against = k->pictures ? "the transcript, read, base64"
                                                         : "the transcript is read",
                                  .requires = "Q9",
                                  .ours = build,
                                  .baseline = k->pictures ? read_pictures : read_all,
                                  .arg = k,
                                  .bytes = k->bytes,
                                  .at_most = at_most,
                                  .cpu = true});
    drop(k);
}

BENCH(prompt)
{
    bool quick = bench_is_quick(b);

    compare(b, make(quick ? 1000 : 10000, 200, false), "a prompt of turns of 200 bytes", 2.0);
    compare(b, make(quick ? 500 : 5000, 4096, false), "a prompt of turns of 4 KB", 0);
    compare(b, make(1000, 300, true), "1,000 turns, 500 pictures of 64 KB", 2.0);
}
