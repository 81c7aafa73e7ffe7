/* mcp_server.c -- an MCP server, good or bad: a process of its own, without a line of Valise.
 *
 *     mcp-server MODE LOG
 *
 * MODE says how it greets and what it lists; the names of its tools say what they do. Each line
 * that it reads goes to the file LOG. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *mode;
static FILE *log_file;
static char line[1 << 20];
static int calls;

static void say(const char *text)
{
    fputs(text, stdout);
    fputc('\n', stdout);
    fflush(stdout);
}

static bool is(const char *what)
{
    return strcmp(mode, what) == 0;
}

static bool hear(void)
{
    if (!fgets(line, sizeof(line), stdin))
        return false;
    fputs(line, log_file);
    fflush(log_file);
    return true;
}

static void pause_ms(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

static long id_of(void)
{
    const char *id = strstr(line, "\"id\":");

    return id ? strtol(id + 5, NULL, 10) : 0;
}

static bool asks(const char *method)
{
    char text[100];

    snprintf(text, sizeof(text), "\"method\":\"%s\"", method);
    return strstr(line, text) != NULL;
}

/* Of the tool: in our lines its arguments stand before it. */
static bool calls_tool(const char *name)
{
    char text[100];

    snprintf(text, sizeof(text), "\"name\":\"%s\"}}", name);
    return strstr(line, text) != NULL;
}

static void result(long id, const char *body)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":%s}\n", id, body);
    fflush(stdout);
}

static void text(long id, const char *words)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
           "\"%s\"}]}}\n",
           id, words);
    fflush(stdout);
}

/* ---- greeting ---- */

static void greet(long id)
{
    char body[200];
    const char *version = is("old") ? "2024-11-05" : is("new") ? "2099-01-01" : "2025-11-25";

    if (is("no-version")) {
        result(id, "{\"capabilities\":{}}");
    } else if (is("refuses")) {
        printf("{\"jsonrpc\":\"2.0\",\"id\":%ld,\"error\":{\"code\":-32000,\"message\":\"not "
               "today\"}}\n",
               id);
        fflush(stdout);
    } else {
        snprintf(body, sizeof(body),
                 "{\"protocolVersion\":\"%s\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{"
                 "\"name\":\"toy\",\"version\":\"1\"}}",
                 version);
        result(id, body);
    }
}

/* ---- listing ---- */

#define ANY "\"inputSchema\":{\"type\":\"object\"}"

static const char *const good[] = {"fails", "structured", "both",   "error", "count",  "dies",
                                   "never", "late",       "big",    "asks",  "noise",  "env",
                                   "batch", "wrong",      "string", "null",  "closes", "endless",
                                   "flood", "strange",    "deaf",   "pings", "slow"};

static void list_good(long id)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"tools\":[{\"name\":\"echo\","
           "\"description\":\"Says it again.\",\"inputSchema\":{\"$schema\":"
           "\"http://json-schema.org/draft-07/schema#\",\"type\":\"object\",\"properties\":{"
           "\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}}",
           id);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        printf(",{\"name\":\"%s\"," ANY "}", good[i]);
    printf("]}}\n");
    fflush(stdout);
}

static void list_many(long id, int count)
{
    printf("{\"id\":%ld,\"jsonrpc\":\"2.0\",\"result\":{\"tools\":[", id);
    for (int i = 0; i < count; i++)
        printf("%s{\"name\":\"tool%d\"," ANY "}", i ? "," : "", i);
    printf("]}}\n");
    fflush(stdout);
}

/* Two that can be used, and what cannot between them. */
static void list_many_bad(long id)
{
    printf("{\"id\":%ld,\"jsonrpc\":\"2.0\",\"result\":{\"tools\":[{\"name\":\"first\"," ANY "}",
           id);
    for (int i = 0; i < 3000; i++)
        printf(",{\"name\":\"bad%d\",\"inputSchema\":{\"type\":\"objekt\"}}", i);
    printf(",{\"name\":\"fine\"," ANY "}]}}\n");
    fflush(stdout);
}

static void list_page(long id)
{
    static int page;

    if (page > 0 && !strstr(line, "\"cursor\":\"after "))
        exit(9);
    page++;
    if (is("paged") && page == 3)
        result(id, "{\"tools\":[{\"name\":\"third\"," ANY "}]}");
    else if (is("paged"))
        result(id, page == 1 ? "{\"tools\":[{\"name\":\"first\"," ANY
                               "}],\"nextCursor\":\"after 1\"}"
                             : "{\"tools\":[],\"nextCursor\":\"after 2\"}");
    else
        result(id, "{\"tools\":[],\"nextCursor\":\"after it\"}");
}

static void list(long id)
{
    if (is("paged") || is("pages"))
        list_page(id);
    else if (is("twice"))
        result(id, "{\"tools\":[{\"name\":\"a.b\"," ANY "},{\"name\":\"a/b\"," ANY
                   "},{\"name\":\"fine\"," ANY "}]}");
    else if (is("bad-schema"))
        result(id, "{\"tools\":[{\"name\":\"fine\"," ANY "},{\"name\":\"bad\",\"inputSchema\":{"
                   "\"type\":\"objekt\"}}]}");
    else if (is("many-bad"))
        list_many_bad(id);
    else if (is("no-name"))
        result(id, "{\"tools\":[{\"name\":7," ANY "},7,{},{\"name\":\"fine\"," ANY "}]}");
    else if (is("wrong-list"))
        result(id, "{\"tools\":{\"a\":1}}");
    else if (is("wrong-cursor"))
        result(id, "{\"tools\":[],\"nextCursor\":7}");
    else if (is("wrong-schema"))
        result(id, "{\"tools\":[{\"name\":\"a\",\"inputSchema\":[]}]}");
    else if (is("names"))
        result(id, "{\"tools\":[{\"name\":\"files/read it\"," ANY "}]}");
    else if (is("long-name"))
        result(id, "{\"tools\":[{\"name\":\"a23456789b123456789c123456789d123456789e123456789f123"
                   "456789g12345\"," ANY "}]}");
    else if (is("many"))
        list_many(id, 5000);
    else
        list_good(id);
}

/* ---- calling ---- */

static void call_asks(long id)
{
    char words[300] = "";

    say("{\"jsonrpc\":\"2.0\",\"id\":\"p\\\"1\",\"method\":\"ping\"}");
    say("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"roots/list\"}");
    for (int i = 0; i < 2 && hear(); i++) {
        if (strstr(line, "{\"id\":\"p\\\"1\"") && strstr(line, "\"result\":{}"))
            strcat(words, "pong ");
        if (strstr(line, "{\"error\":{\"code\":-32601") ||
            strstr(line, "\"error\":{\"code\":-32601"))
            strcat(words, "no roots");
    }
    text(id, words);
}

static void call_noise(long id)
{
    say("this is a log line");
    say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    say("{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999999999,\"result\":{}}");
    say("{\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{}}");
    say("{\"jsonrpc\":\"2.0\",\"id\":4711,\"error\":7}");
    say("{\"jsonrpc\":\"2.0\",\"id\":[],\"result\":{}}");
    say("{\"id\":{},\"method\":\"ping\"}");
    say("{\"method\":7,\"id\":1}");
    say("[]");
    say("17");
    say("");
    say("\r");
    text(id, "through the noise");
}

static void call_env(long id)
{
    extern char **environ;

    printf("{\"id\":%ld,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"", id);
    for (char **at = environ; *at; at++)
        printf("%.*s ", (int)strcspn(*at, "="), *at);
    printf("\"}]}}\n");
    fflush(stdout);
}

static void call_without_end(const char *bytes)
{
    for (;;) {
        if (fputs(bytes, stdout) < 0 || fflush(stdout) != 0)
            exit(0);
    }
}

static void call_big(long id)
{
    printf("{\"id\":%ld,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"", id);
    for (int i = 0; i < 200000; i++)
        fputc('x', stdout);
    printf("\"}]}}\n");
    fflush(stdout);
}

static void call_count(long id)
{
    char words[100];

    snprintf(words, sizeof(words), "call %d", calls);
    text(id, words);
}

static void call_bad(long id)
{
    if (calls_tool("dies")) {
        fputs("oh no\n", stderr);
        exit(3);
    } else if (calls_tool("closes")) {
        signal(SIGTERM, SIG_IGN);
        fclose(stdout);
        for (;;)
            pause_ms(1000);
    } else if (calls_tool("late")) {
        pause_ms(400);
        text(id, "late");
    } else if (calls_tool("slow")) {
        pause_ms(50);
        call_count(id);
    } else if (calls_tool("endless")) {
        call_without_end("0123456789");
    } else if (calls_tool("flood")) {
        call_without_end("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n");
    } else if (calls_tool("strange")) {
        call_without_end("hello\n");
    } else if (calls_tool("pings")) {
        call_without_end("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    } else if (calls_tool("deaf")) {
        for (;;)
            pause_ms(1000);
    }
}

static void call(long id)
{
    calls++;
    if (calls_tool("echo"))
        text(id, strstr(line, "\"text\":\"hello\"") ? "hello" : "something else");
    else if (calls_tool("fails"))
        result(id, "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no such file\"},"
                   "{\"type\":\"text\",\"text\":\"at all\"}]}");
    else if (calls_tool("structured"))
        result(id, "{\"content\":[{\"type\":\"text\",\"text\":\"{}\"}],\"structuredContent\":{"
                   "\"sum\":3}}");
    else if (calls_tool("both"))
        result(id, "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image\",\"data\":"
                   "\"AA==\",\"mimeType\":\"image/png\"}]}");
    else if (calls_tool("error"))
        printf("{\"id\":%ld,\"error\":{\"code\":-32602,\"message\":\"Unknown tool\\u001b\"}}\n",
               id);
    else if (calls_tool("null"))
        say("{\"id\":null,\"error\":{\"code\":-32700,\"message\":\"what?\"}}");
    else if (calls_tool("string"))
        printf("{\"id\":\"%ld\",\"result\":{\"content\":[]}}\n", id);
    else if (calls_tool("wrong"))
        result(id, "[1,2]");
    else if (calls_tool("batch"))
        printf("[{\"method\":\"notifications/x\"},{\"id\":%ld,\"result\":{\"content\":[]}}]\n", id);
    else if (calls_tool("asks"))
        call_asks(id);
    else if (calls_tool("noise"))
        call_noise(id);
    else if (calls_tool("env"))
        call_env(id);
    else if (calls_tool("big"))
        call_big(id);
    else if (calls_tool("count"))
        call_count(id);
    else
        call_bad(id);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    mode = argv[1];
    log_file = fopen(argv[2], "a");
    if (!log_file)
        return 2;
    fputs("started\n", log_file);
    if (is("dies-at-once")) {
        fputs("cannot find my files\n", stderr);
        return 4;
    }
    while (hear()) {
        if (is("hangs-up")) {
            fclose(stdout);
            pause_ms(60000);
        }
        if (is("silent"))
            continue;
        if (is("garbage"))
            call_without_end("Starting server on port 3000\n");
        if (asks("initialize"))
            greet(id_of());
        else if (asks("tools/list"))
            list(id_of());
        else if (asks("tools/call"))
            call(id_of());
    }
    if (is("stubborn")) {
        signal(SIGTERM, SIG_IGN);
        for (;;)
            pause_ms(1000);
    }
    fputs("ended\n", log_file);
    fclose(log_file);
    return 0;
}
