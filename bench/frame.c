/* frame.c -- a frame is put: an entry of the log, a content of 300 bytes, the frame, an entry of
 * one of 1,000 slots, the slot, four pages of Merkle maps and the context. [Q7] */
#include <fcntl.h>
#include <unistd.h>

#include "bench/durable.h"

#include "base/base64.h"
#include "base/str.h"

#include <valise/workspace.h>

#define FILES 1000u
#define PAYLOAD_MAX 1024

static void make_files(const char *dir)
{
    for (unsigned i = 0; i < FILES; i++) {
        char path[300];
        int fd, len = snprintf(path, sizeof(path), "%s/file-%03u", dir, i);
        MUST(len > 0 && (size_t)len < sizeof(path));
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        MUST(fd >= 0 && write(fd, path, (size_t)len) == len && close(fd) == 0);
    }
}

static void *open_side(const char *dir, bool full)
{
    valise *v = raw_open_workspace(dir, full, NULL);
    valise_error err = VALISE_ERROR_INIT;

    make_files(dir);
    if (valise_dispatch(NULL, v, "tree:scan", "{}", NULL, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
    return v;
}

static void close_side(void *self)
{
    valise_close(self);
}

/* The n-th frame, as the payload of a command. */
static valise_str payload_of(char out[PAYLOAD_MAX], uint64_t n)
{
    char content[301], base64[500];
    vls_buf text = {.ptr = base64, .cap = sizeof(base64), .max = sizeof(base64) - 1};
    int len;

    memset(content, 'x', 300);
    len = snprintf(content, sizeof(content), "frame %llu", (unsigned long long)n);
    content[len] = ' ';
    vls_base64_encode(&text, vls_str(content, 300));
    len =
        snprintf(out, PAYLOAD_MAX, "{\"content\":\"%.*s\",\"noScan\":true,\"node\":\"file-%03u\"}",
                 (int)text.len, text.ptr, (unsigned)(n * 617 % FILES));
    return vls_str(out, (size_t)len);
}

static void run(void *self, uint64_t n)
{
    valise_error err = VALISE_ERROR_INIT;
    char payload[PAYLOAD_MAX];

    if (valise_dispatch_str(NULL, self, VLS_STR("frame:put"), payload_of(payload, n), NULL, &err) <
        0)
        raw_die(__FILE__, __LINE__, err.message);
}

static void run_many(void *self, uint64_t first)
{
    static char payloads[DURABLE_MANY][PAYLOAD_MAX];
    static valise_command commands[DURABLE_MANY];
    valise_error err = VALISE_ERROR_INIT;

    for (uint64_t i = 0; i < DURABLE_MANY; i++)
        commands[i] = (valise_command){.type = VLS_STR("frame:put"),
                                       .payload = payload_of(payloads[i], first + i)};
    if (valise_dispatch_batch(NULL, self, commands, DURABLE_MANY, NULL, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
}

/* ---- by hand ---- */

static void write_entry(raw_row *row, const durable_rows *rows)
{
    raw_set_int(row, "number", raw_get_int(row, "number") + 1);
    raw_set_bytes(row, "frame", rows->mix);
    raw_set_int(row, "time", rows->now);
    raw_set_int(row, "from_seq", rows->seq);
    raw_insert(row);
}

static void write_frame(raw_row *row, const durable_rows *rows)
{
    raw_set_bytes(row, "id", rows->mix);
    raw_set_bytes(row, "content", rows->mix + 1);
    raw_set_int(row, "from_seq", rows->seq);
    raw_insert(row);
}

static void write_slot(raw_row *row, const durable_rows *rows)
{
    raw_set_bytes(row, "head", rows->mix);
    raw_set_int(row, "from_seq", rows->seq);
    raw_update(row);
}

/* Three of the map of all heads, one of the slot's frames: all as large as the last, which is the
 * smallest. */
static void write_pages(raw_row *row, const durable_rows *rows)
{
    for (int i = 0; i < 4; i++) {
        raw_set_int(row, "from_seq", rows->seq);
        raw_update(row);
    }
}

static void write_context(raw_row *row, const durable_rows *rows)
{
    raw_set_bytes(row, "root", rows->mix);
    raw_set_int(row, "from_seq", rows->seq);
    raw_update(row);
}

BENCH(frame)
{
    durable_compare(b, &(durable_command){.one = "a frame put at NORMAL",
                                          .many = "1,000 frames put in a batch",
                                          .one_full = "a frame put at FULL",
                                          .threads = "16 threads at FULL, 20 frames each",
                                          .open = open_side,
                                          .close = close_side,
                                          .run = run,
                                          .run_many = run_many,
                                          .table = "slot_entry",
                                          .key = "seq",
                                          .write = write_entry,
                                          .more = {{"frame", "from_seq", write_frame},
                                                   {"slot", "id", write_slot},
                                                   {"merkle", "set", write_pages},
                                                   {"context_root", "tree", write_context}}});
}
