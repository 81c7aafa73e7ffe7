/* far_server.c -- the far side: a server that behaves as servers do on a bad day.
 *
 *     far-server LOG KEY [OTHER-PORT]
 *
 * It prints its port and serves until its standard input ends. The first part of the path says what
 * happens: http://127.0.0.1:PORT/SCRIPT/... Each request is a line of LOG: method, path, bytes of
 * the body, their FNV-1a hash, whether the key was right, what is accepted. The numbers that a
 * script is called with count from 1 for each script. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static FILE *log_file;
static const char *key;
static const char *other_port = "1";
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct peer {
    int fd;
    char buffer[65536];
    size_t at, len;
    bool gone;
} peer;

typedef struct request {
    char path[512], key[5000], accept[200], expect[50], encoding[50];
    long long length;
    uint64_t hash;
    bool chunked;
} request;

/* ---- bytes ---- */

static void put(peer *p, const void *bytes, size_t len)
{
    const char *from = bytes;

    while (len > 0 && !p->gone) {
        ssize_t sent = send(p->fd, from, len, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0) {
            p->gone = true;
            return;
        }
        from += sent;
        len -= (size_t)sent;
    }
}

__attribute__((format(printf, 2, 3))) static void say(peer *p, const char *format, ...)
{
    char text[8192];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    put(p, text, len < (int)sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

static void chunk(peer *p, const char *bytes, size_t len)
{
    say(p, "%zx\r\n", len);
    put(p, bytes, len);
    put(p, "\r\n", 2);
}

static int next_byte(peer *p)
{
    if (p->at == p->len) {
        ssize_t got = recv(p->fd, p->buffer, sizeof(p->buffer), 0);
        if (got <= 0)
            return -1;
        p->at = 0;
        p->len = (size_t)got;
    }
    return (unsigned char)p->buffer[p->at++];
}

static bool read_line(peer *p, char *line, size_t size)
{
    size_t len = 0;
    int c;

    while ((c = next_byte(p)) >= 0 && c != '\n') {
        if (c != '\r' && len + 1 < size)
            line[len++] = (char)c;
    }
    line[len] = '\0';
    return c >= 0;
}

static void sleep_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

/* ---- requests ---- */

static void take(char *out, size_t size, const char *line, const char *name)
{
    size_t len = strlen(name);

    if (strncasecmp(line, name, len) == 0)
        snprintf(out, size, "%s", line + len);
}

static bool read_body(peer *p, request *r)
{
    r->hash = UINT64_C(0xcbf29ce484222325);
    for (long long i = 0; i < r->length; i++) {
        int c = next_byte(p);
        if (c < 0)
            return false;
        r->hash = (r->hash ^ (uint64_t)c) * UINT64_C(0x100000001b3);
    }
    return true;
}

static bool read_request(peer *p, request *r)
{
    char line[16384], length[32] = "", method[16] = "", encoding[50] = "", more[50] = "";

    memset(r, 0, sizeof(*r));
    if (!read_line(p, line, sizeof(line)) || sscanf(line, "%15s %511s", method, r->path) != 2)
        return false;
    while (read_line(p, line, sizeof(line)) && line[0]) {
        take(r->key, sizeof(r->key), line, "x-toy-key: ");
        take(r->accept, sizeof(r->accept), line, "accept: ");
        take(r->expect, sizeof(r->expect), line, "expect: ");
        take(r->encoding, sizeof(r->encoding), line, "accept-encoding: ");
        take(length, sizeof(length), line, "content-length: ");
        take(encoding, sizeof(encoding), line, "cookie: ");
        take(more, sizeof(more), line, "x-toy-more: ");
    }
    r->length = atoll(length);
    if (!read_body(p, r))
        return false;
    pthread_mutex_lock(&log_lock);
    fprintf(log_file, "%s %s len=%lld hash=%016llx key=%s accept=%s%s%s\n", method, r->path,
            r->length, (unsigned long long)r->hash,
            strcmp(r->key, key) == 0 ? "ok"
            : r->key[0]              ? "bad"
                                     : "none",
            r->accept, r->expect[0] || r->encoding[0] || encoding[0] ? " ODD" : "", more);
    fflush(log_file);
    pthread_mutex_unlock(&log_lock);
    return true;
}

/* ---- answers ---- */

#define TEXT(words) "{\"do\":\"text\",\"at\":0,\"text\":\"" words "\"}"
#define STOP "{\"do\":\"stop\",\"why\":\"end\",\"text\":\"end_turn\"}"
#define EVENT(json) "event: x\r\ndata: " json "\r\n\r\n"

static void whole(peer *p, int status, const char *headers, const char *body)
{
    say(p,
        "HTTP/1.1 %d Whatever\r\nContent-Type: application/json\r\n%sContent-Length: %zu\r\n\r\n",
        status, headers, strlen(body));
    put(p, body, strlen(body));
}

static void hello(peer *p)
{
    whole(p, 200, "request-id: req-7\r\n", "{\"events\":[" TEXT("hello") "," STOP "]}");
}

static void begin_stream(peer *p)
{
    say(p, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
           "request-id: req-8\r\nTransfer-Encoding: chunked\r\n\r\n");
}

static const char *const stream_text =
    "\xEF\xBB\xBF: welcome\r\n" EVENT("{\"do\":\"head\",\"id\":\"m-1\",\"model\":\"toy-9\"}")
        EVENT(TEXT("Hel")) ": ping\n\n" EVENT(TEXT("lo \xC3\xA4\\ud83d")) EVENT(TEXT("\\ude00!"))
            EVENT("{\"do\":\"usage\",\"input\":12,\"output\":3}") EVENT(STOP) "data: [DONE]\n\n";

static void stream_in_cuts(peer *p, const char *text, long pause_ms)
{
    size_t len = strlen(text), step = 1;

    begin_stream(p);
    for (size_t at = 0; at < len && !p->gone; at += step) {
        step = 1 + at % 7;
        step = step < len - at ? step : len - at;
        chunk(p, text + at, step);
        if (pause_ms)
            sleep_ms(pause_ms);
    }
    put(p, "0\r\n\r\n", 5);
}

static void one_piece(peer *p)
{
    begin_stream(p);
    chunk(p, EVENT(TEXT("so far")), strlen(EVENT(TEXT("so far"))));
}

/* Until the client has gone. */
static void wait_for_end(peer *p)
{
    while (next_byte(p) >= 0)
        ;
    p->gone = true;
}

static void fill(peer *p, const char *event, size_t bytes)
{
    char *block = malloc(1 << 16);
    size_t len = strlen(event), have = 0;

    while (have + len <= 1 << 16) {
        memcpy(block + have, event, len);
        have += len;
    }
    begin_stream(p);
    for (size_t sent = 0; sent < bytes && !p->gone; sent += have)
        chunk(p, block, have);
    free(block);
    chunk(p, EVENT(TEXT("end")) EVENT(STOP), strlen(EVENT(TEXT("end")) EVENT(STOP)));
    put(p, "0\r\n\r\n", 5);
}

/* ---- scripts ---- */

typedef void script_fn(peer *p, const request *r, int count);

static void do_whole(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    hello(p);
}

static void do_stream(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    stream_in_cuts(p, stream_text, 0);
}

static void do_drip(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    stream_in_cuts(p, stream_text, 18);
}

static void do_busy(peer *p, const request *r, int count)
{
    (void)r;
    if (count == 1)
        whole(p, 429, "Retry-After: 1\r\n",
              "{\"error\":{\"type\":\"rate_limit_error\",\"message\":\"Slow down\"}}");
    else
        hello(p);
}

static void do_busy_date(peer *p, const request *r, int count)
{
    time_t then = time(NULL) + 2;
    char text[64], header[100];
    struct tm tm;

    (void)r;
    gmtime_r(&then, &tm);
    strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
    snprintf(header, sizeof(header), "Retry-After: %s\r\n", text);
    if (count == 1)
        whole(p, 503, header, "{}");
    else
        hello(p);
}

static void do_busy_long(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    whole(p, 429, "Retry-After: 3600\r\n", "{\"error\":{\"message\":\"Come tomorrow\"}}");
}

static void do_quota(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    whole(p, 429, "",
          "{\"error\":{\"type\":\"insufficient_quota\",\"message\":\"You have no money\"}}");
}

static void do_should_not(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    whole(p, 503, "x-should-retry: false\r\n", "{\"error\":\"never\"}");
}

static void do_broken(peer *p, const request *r, int count)
{
    (void)r;
    if (count < 3)
        whole(p, count == 1 ? 500 : 529, "retry-after-ms: 20\r\n", "oops");
    else
        hello(p);
}

static void do_broken_always(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    say(p, "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nretry-after-ms: 10\r\n"
           "x-request-id: req-9\r\nContent-Length: 20\r\n\r\n<html>nginx</html>\r\n");
}

static void do_denied(peer *p, const request *r, int count)
{
    char headers[6000], body[12000];

    (void)count;
    snprintf(headers, sizeof(headers), "request-id: %s\r\n", r->key);
    snprintf(
        body, sizeof(body),
        "{\"type\":\"error\",\"error\":{\"type\":\"authentication_%s\",\"message\":\"%0200d your "
        "key %s is wrong\"}}",
        r->key, 0, r->key);
    whole(p, 401, headers, body);
}

/* The key in a plain body, around where a message is cut; in a status line and a strange header. */
static void do_echo(peer *p, const request *r, int count)
{
    char body[12000];

    (void)count;
    snprintf(body, sizeof(body), "%0205d%s%s", 0, r->key, r->key);
    say(p,
        "HTTP/1.1 400 %s\r\nContent-Type: text/plain\r\nlocation: %s\r\nx-request-id: "
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx%s\r\n"
        "Content-Length: %zu\r\n\r\n%s",
        r->key, r->key, r->key, strlen(body), body);
}

/* A stream that echoes it in an error event. */
static void do_echo_event(peer *p, const request *r, int count)
{
    char event[12000];

    (void)count;
    snprintf(event, sizeof(event),
             "data: {\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":\"%s\"}}\n\n",
             r->key, r->key);
    begin_stream(p);
    chunk(p, event, strlen(event));
    put(p, "0\r\n\r\n", 5);
}

/* In all that an answer has. */
static void do_echo_answer(peer *p, const request *r, int count)
{
    char body[12000];

    (void)count;
    snprintf(body, sizeof(body),
             "{\"events\":[{\"do\":\"head\",\"id\":\"%s\",\"model\":\"m %s\"},"
             "{\"do\":\"think\",\"at\":0,\"text\":\"it is %s?\"},"
             "{\"do\":\"text\",\"at\":1,\"text\":\"%s%s\"},"
             "{\"do\":\"call\",\"at\":2,\"id\":\"c\",\"name\":\"tell\"},"
             "{\"do\":\"args\",\"at\":2,\"text\":\"{\\\"%s\\\":[\\\"%s\\\"]}\"},"
             "{\"do\":\"stop\",\"why\":\"calls\",\"text\":\"%s\"}]}",
             r->key, r->key, r->key, r->key, r->key, r->key, r->key, r->key);
    whole(p, 200, "", body);
}

static void say_text(peer *p, int at, const char *text, size_t len)
{
    char event[200];

    snprintf(event, sizeof(event), "data: {\"do\":\"text\",\"at\":%d,\"text\":\"%.*s\"}\n\n", at,
             (int)len, text);
    chunk(p, event, strlen(event));
}

/* A few bytes at a time; what only looks like it stays. */
static void do_echo_stream(peer *p, const request *r, int count)
{
    size_t len = strlen(r->key);

    (void)count;
    begin_stream(p);
    say_text(p, 0, "it is sk-", 9);
    say_text(p, 0, "ilful: ", 7);
    for (size_t at = 0; at < len; at += 5)
        say_text(p, 0, r->key + at, len - at < 5 ? len - at : 5);
    say_text(p, 0, ", or sk-toy", 11);
    say_text(p, 1, "!", 1);
    chunk(p, EVENT(STOP), strlen(EVENT(STOP)));
    put(p, "0\r\n\r\n", 5);
}

static void do_silence(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    wait_for_end(p);
}

static void do_silence_inside(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    one_piece(p);
    wait_for_end(p);
}

static void do_lingering(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    begin_stream(p);
    chunk(p, stream_text, strlen(stream_text));
    wait_for_end(p);
}

static void do_cut_before(peer *p, const request *r, int count)
{
    (void)r;
    if (count < 3)
        p->gone = true;
    else
        hello(p);
}

static void do_cut_inside(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    one_piece(p);
    p->gone = true;
}

static void do_cut_whole(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    say(p, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"events\":[");
    p->gone = true;
}

static void do_garbage(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    whole(p, 200, "request-id: req-10\r\n", "{\"events\":[}");
}

static void do_empty(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    whole(p, 200, "", "");
}

static void do_redirect(peer *p, const request *r, int count)
{
    (void)count;
    say(p,
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:%s/whole%s\r\n"
        "Content-Length: 0\r\n\r\n",
        other_port, r->path);
}

static void do_wrong_type(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    say(p, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n",
        strlen(stream_text));
    put(p, stream_text, strlen(stream_text));
}

static void do_old(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    say(p, "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
    put(p, stream_text, strlen(stream_text));
    p->gone = true;
}

static void do_huge_headers(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    say(p, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 1000 && !p->gone; i++)
        say(p, "x-header-%d: %01000d\r\n", i, 7);
    say(p, "Content-Length: 2\r\n\r\n{}");
}

static void do_interim(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    say(p, "HTTP/1.1 103 Early Hints\r\nLink: x\r\nRetry-After: 9\r\n\r\n");
    hello(p);
}

static void do_comments(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    fill(p, ": nothing to see here\n\n", (size_t)100 << 20);
}

static void do_endless(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    fill(p, EVENT(TEXT("0123456789012345678901234567890123456789")), (size_t)100 << 20);
}

static void do_overloaded(peer *p, const request *r, int count)
{
    static const char event[] =
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
        "\"message\":\"Overloaded\"}}\n\n";

    (void)r;
    if (count < 2) {
        begin_stream(p);
        chunk(p, event, sizeof(event) - 1);
        put(p, "0\r\n\r\n", 5);
    } else {
        stream_in_cuts(p, stream_text, 0);
    }
}

static void do_overloaded_late(peer *p, const request *r, int count)
{
    static const char event[] =
        "data: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";

    (void)r;
    (void)count;
    one_piece(p);
    chunk(p, event, sizeof(event) - 1);
    put(p, "0\r\n\r\n", 5);
}

static void do_missing(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    whole(p, 404, "", "{\"error\":{\"message\":\"model: toy-9\\u001b[31m\"}}");
}

static void do_big_error(peer *p, const request *r, int count)
{
    (void)r;
    (void)count;
    say(p, "HTTP/1.1 400 No\r\nContent-Type: text/plain\r\nContent-Length: 104857600\r\n\r\nToo "
           "much ");
    for (int i = 0; i < 104857600 / 1000 && !p->gone; i++)
        say(p, "%01000d", 0);
}

static struct script {
    const char *name;
    script_fn *run;
    atomic_int count;
} scripts[] = {
    {"whole", do_whole, 0},
    {"stream", do_stream, 0},
    {"drip", do_drip, 0},
    {"busy", do_busy, 0},
    {"busy-date", do_busy_date, 0},
    {"busy-long", do_busy_long, 0},
    {"quota", do_quota, 0},
    {"should-not", do_should_not, 0},
    {"broken", do_broken, 0},
    {"broken-always", do_broken_always, 0},
    {"denied", do_denied, 0},
    {"echo", do_echo, 0},
    {"echo-event", do_echo_event, 0},
    {"echo-answer", do_echo_answer, 0},
    {"echo-stream", do_echo_stream, 0},
    {"silence", do_silence, 0},
    {"silence-inside", do_silence_inside, 0},
    {"lingering", do_lingering, 0},
    {"cut-before", do_cut_before, 0},
    {"cut-inside", do_cut_inside, 0},
    {"cut-whole", do_cut_whole, 0},
    {"garbage", do_garbage, 0},
    {"empty", do_empty, 0},
    {"redirect", do_redirect, 0},
    {"wrong-type", do_wrong_type, 0},
    {"old", do_old, 0},
    {"huge-headers", do_huge_headers, 0},
    {"interim", do_interim, 0},
    {"comments", do_comments, 0},
    {"endless", do_endless, 0},
    {"overloaded", do_overloaded, 0},
    {"overloaded-late", do_overloaded_late, 0},
    {"missing", do_missing, 0},
    {"big-error", do_big_error, 0},
};

static void serve(peer *p, const request *r)
{
    size_t len = strcspn(r->path + 1, "/");

    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        if (strlen(scripts[i].name) == len && strncmp(r->path + 1, scripts[i].name, len) == 0) {
            scripts[i].run(p, r, atomic_fetch_add(&scripts[i].count, 1) + 1);
            return;
        }
    }
    whole(p, 400, "", "{\"error\":\"no such script\"}");
}

static void *serve_peer(void *arg)
{
    peer *p = arg;
    request *r = malloc(sizeof(*r));

    while (!p->gone && read_request(p, r))
        serve(p, r);
    shutdown(p->fd, SHUT_WR);
    close(p->fd);
    free(r);
    free(p);
    return NULL;
}

static void *accept_all(void *arg)
{
    int listener = *(int *)arg;

    for (;;) {
        peer *p = calloc(1, sizeof(*p));
        pthread_t thread;
        p->fd = accept(listener, NULL, NULL);
        if (p->fd < 0 || pthread_create(&thread, NULL, serve_peer, p) != 0) {
            free(p);
            continue;
        }
        pthread_detach(thread);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    pthread_t thread;
    char byte;

    if (argc < 3)
        return 2;
    log_file = fopen(argv[1], "w");
    key = argv[2];
    if (argc > 3)
        other_port = argv[3];
    if (!log_file || bind(listener, (struct sockaddr *)&address, len) < 0 ||
        listen(listener, 64) < 0 || getsockname(listener, (struct sockaddr *)&address, &len) < 0)
        return 1;
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    if (pthread_create(&thread, NULL, accept_all, &listener) != 0)
        return 1;
    while (read(0, &byte, 1) > 0)
        ;
    _exit(0);
}
