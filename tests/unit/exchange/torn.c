/* torn.c -- files that end anywhere, and records of which one is bad: what is whole comes, what is
 * not is told, and nothing else changes. [W20] [Q26] */
#include <sys/stat.h>

#include "exchange/kit.h"

/* ---- cuts at every byte ---- */

typedef struct cutting {
    desk *d;
    const char *more; /* members of the payload */
    long seq;
} cutting;

/* The first `len` bytes: the answer, or NULL where they were refused, which changes nothing. */
static const char *import_head(cutting *c, valise_str file, size_t len)
{
    test *t = c->d->t;
    const char *path = test_format("%s/cut", test_tmpdir());
    valise_reply reply = VALISE_REPLY_INIT;
    const char *answer;
    int rc;

    c->seq = desk_seq(c->d);
    test_write_file(path, vls_str(file.ptr, len));
    rc = valise_dispatch(&reply, c->d->v, "session:import",
                         test_format("{\"path\":\"%s\"%s}", path, c->more), NULL, &t->err);
    if (rc < 0) {
        CHECK_MSG(rc == VALISE_E_INVALID && t->err.message[0], "%zu: %d %s", len, rc,
                  t->err.message);
        vls_error_clear(&t->err);
        CHECK_INT(c->seq, desk_seq(c->d));
        return NULL;
    }
    answer = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return answer;
}

static bool is_blank(valise_str file, size_t from)
{
    for (size_t i = from; i < file.len; i++)
        if (!strchr(" \r\n", file.ptr[i]))
            return false;
    return true;
}

/* Conversations of the file end where `ends` says, ascending and 0-ended; [ and ] stand around them
 * where it is an array. */
static void cut_everywhere(test *t, const char *name, const size_t *ends, bool array)
{
    cutting c = {.d = desk_open(t), .more = ""};
    valise_str file = test_read_file(desk_data(name));
    size_t whole = 0;

    for (size_t len = 0; len <= file.len; len++) {
        const char *answer = import_head(&c, file, len);
        size_t behind = whole > 0 ? ends[whole - 1] : 0;
        bool ended = len == 0 || is_blank(file, len) ||
                     (!array && len <= behind + 1); /* a line without its end, or just begun */
        bool fresh = ends[whole] != 0 && len == ends[whole];
        whole += fresh;
        if (!answer) {
            CHECK_INT(0, whole); /* only where there is nothing to take */
            continue;
        }
        CHECK_MSG(desk_number(answer, "sessions") == fresh, "%zu: %s", len, answer);
        CHECK_MSG(desk_number(answer, "conversations") == (long)whole, "%zu: %s", len, answer);
        CHECK_MSG(fresh || desk_seq(c.d) == c.seq, "%zu: %s", len, answer);
        if (!array || !ended) /* the last element of the array is bad in itself */
            CHECK_MSG((desk_number(answer, "problemCount") > 0) == !(ended || (!array && fresh)),
                      "%zu: %s", len, answer);
    }
    CHECK(whole > 1 && ends[whole] == 0);
    desk_check(c.d);
}

static size_t end_of(valise_str file, const char *text)
{
    const char *at = memmem(file.ptr, file.len, text, strlen(text));

    CHECK_MSG(at, "%s", text);
    return (size_t)(at - file.ptr) + strlen(text);
}

TEST(torn, chatgpt_at_every_byte)
{
    valise_str file = test_read_file(desk_data("conversations.json"));
    size_t ends[3] = {0};

    ends[0] = end_of(file, ",\n{\"conversation_id\"") - strlen(",\n{\"conversation_id\"");
    ends[1] = end_of(file, ",\n{\"title\":\"no id\"") - strlen(",\n{\"title\":\"no id\"");
    cut_everywhere(t, "conversations.json", ends, true);
}

TEST(torn, openai_at_every_byte)
{
    valise_str file = test_read_file(desk_data("openai.jsonl"));
    size_t ends[16] = {0}, count = 0;

    for (size_t i = 0; i < file.len; i++)
        if (file.ptr[i] == '\n' && count < VLS_COUNT(ends) - 1)
            ends[count++] = i;
    cut_everywhere(t, "openai.jsonl", ends, false);
}

/* With `strict` a file that is torn changes nothing at all. */
TEST(torn, strict_takes_nothing_of_it)
{
    static const char *const files[] = {"conversations.json", "openai.jsonl"};

    for (size_t i = 0; i < VLS_COUNT(files); i++) {
        cutting c = {.d = desk_open(t), .more = ",\"strict\":true"};
        valise_str file = test_read_file(desk_data(files[i]));
        for (size_t len = 1; len < file.len; len += 7) {
            if (!is_blank(file, len) && file.ptr[len] != '\n' && file.ptr[len - 1] != '\n')
                CHECK_MSG(!import_head(&c, file, len), "%s: %zu", files[i], len);
        }
    }
}

/* What only the command refuses, too: a turn that is too deep, or too large. */
TEST(torn, strict_takes_nothing_before_it)
{
    const size_t large = ((size_t)64 << 20) + 100;
    cutting c = {.d = desk_open(t), .more = ",\"strict\":true"};
    static const char good[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"good %03d\"}]}\n"
                               "{\"messages\":[{\"role\":\"user\",\"content\":";
    char *text = test_alloc(large + 400);
    unsigned refused = 0;
    size_t len;

    for (int depth = 110; depth < 128; depth++) {
        len = (size_t)snprintf(text, 400, good, depth);
        memset(text + len, '[', (size_t)depth);
        memset(text + len + depth, ']', (size_t)depth);
        len += 2 * (size_t)depth;
        memcpy(text + len, "}]}\n", 4);
        refused += !import_head(&c, vls_str(text, len + 4), len + 4);
    }
    test_note("%u depths were refused", refused);
    CHECK(refused > 0 && refused < 18);
    if (test_is_watched() && !test_is_long())
        return; /* 64 MiB are much for a sanitizer */
    len = (size_t)snprintf(text, 400, good, 999);
    text[len++] = '"';
    memset(text + len, 'x', large);
    memcpy(text + len + large, "\"}]}\n", 5);
    CHECK(!import_head(&c, vls_str(text, len + large + 5), len + large + 5));
}

/* ---- one bad record ---- */

#define SAYS(uuid, parent, more)                                                                   \
    "{\"type\":\"assistant\",\"uuid\":\"" uuid "\",\"parentUuid\":" parent                         \
    ",\"sessionId\":\"s\",\"message\":{\"id\":\"m" uuid "\",\"role\":\"assistant\",\"content\":["  \
    "{\"type\":\"text\",\"text\":\"says " uuid "\"}" more "]}}\n"

static const char *many_blocks(unsigned count)
{
    char *text = test_alloc((size_t)count * 32 + 1);
    size_t len = 0;

    for (unsigned i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, 32, ",{\"type\":\"text\",\"text\":\"\"}");
    text[len] = '\0';
    return text;
}

/* A turn that cannot be costs its line; what follows it comes behind what is left. */
TEST(torn, a_line_with_too_much_costs_itself)
{
    desk *d = desk_open(t);
    const char *answer =
        desk_import(d,
                    test_format("%s%.*s%s]}}\n%s", SAYS("1", "null", ""),
                                (int)(sizeof(SAYS("2", "\"1\"", "")) - 5), SAYS("2", "\"1\"", ""),
                                many_blocks(4100), SAYS("3", "\"2\"", "")),
                    "");

    CHECK_INT(2, desk_number(answer, "turns"));
    CHECK_INT(1, desk_number(answer, "problemCount"));
    CHECK(strstr(answer, "\"line\":2") && strstr(answer, "blocks"));
    CHECK(strstr(
        desk_export(d, test_format("\"sessionId\":\"%s\"", desk_member(answer, "sessionId"))),
        "says 1\n\n## assistant"));
    desk_check(d);
}

/* One message in thousands of lines: what does not fit goes on in another turn. */
TEST(torn, a_message_of_very_many_lines)
{
    desk *d = desk_open(t);
    const char *path = test_format("%s/lines.jsonl", test_tmpdir()), *answer;
    FILE *file = fopen(path, "w");

    CHECK(file);
    for (int i = 0; i < 4200; i++)
        (void)fprintf(file,
                      "{\"type\":\"assistant\",\"uuid\":\"%d\",\"parentUuid\":\"%d\","
                      "\"sessionId\":\"s\",\"message\":{\"id\":\"m\",\"role\":\"assistant\","
                      "\"content\":[{\"type\":\"text\",\"text\":\"%0200d\"}]}}\n",
                      i, i - 1, i);
    (void)fclose(file);
    answer = desk_import_path(d, path);
    CHECK_INT(2, desk_number(answer, "turns"));
    CHECK_INT(0, desk_number(answer, "problemCount"));
    CHECK_INT(0, desk_number(desk_import_path(d, path), "turns"));
    desk_check(d);
}

/* Lines that are there twice are one; another with the same uuid is told. */
TEST(torn, a_uuid_twice)
{
    desk *d = desk_open(t);
    const char *answer = desk_import(
        d, SAYS("1", "null", "") SAYS("1", "null", "") SAYS("1", "null", ",{\"type\":\"x\"}"), "");

    CHECK_INT(1, desk_number(answer, "turns"));
    CHECK_INT(1, desk_number(answer, "problemCount"));
    CHECK(strstr(answer, "\"line\":3") && strstr(answer, "line 1 has the same uuid"));
}

/* What a record is called is told without what stands behind it in the file. */
TEST(torn, a_node_without_an_author)
{
    desk *d = desk_open(t);
    const char *answer =
        desk_import(d, "[{\"id\":\"c\",\"mapping\":{\"a\\u001b\":{\"message\":{}}}}]", "");

    CHECK_MSG(strstr(answer, "node 'a\\\\x1b' has an unknown author"), "%s", answer);
}

/* Nodes without messages are passed, however many there are, and where they go round. */
static const char *import_empty_nodes(desk *d, const char *head)
{
    const char *path = test_format("%s/empty.json", test_tmpdir());
    FILE *file = fopen(path, "w");

    CHECK(file);
    (void)fprintf(file, "[{\"id\":\"%s\",\"current_node\":\"%s\",\"mapping\":{", head, head);
    for (int i = 0; i < 300; i++)
        (void)fprintf(file, "\"e%d\":{\"parent\":\"%s%d\"},", i, i == 299 ? "top" : "e", i + 1);
    (void)fprintf(file, "\"x\":{\"parent\":\"y\"},\"y\":{\"parent\":\"x\"},");
    for (int i = 0; i < 3; i++)
        (void)fprintf(file,
                      "\"%s\":{\"parent\":\"%s\",\"message\":{\"author\":{\"role\":\"user\"},"
                      "\"content\":{\"content_type\":\"text\",\"parts\":[\"said %d\"]}}}%s",
                      (const char *[]){"leaf", "top300", "zzz"}[i],
                      (const char *[]){"e0", "none", "x"}[i], i, i < 2 ? "," : "}}]");
    (void)fclose(file);
    return desk_import_path(d, path);
}

TEST(torn, nodes_without_messages)
{
    desk *d = desk_open(t);
    const char *answer = import_empty_nodes(d, "leaf"), *text;

    CHECK_INT(3, desk_number(answer, "turns"));
    CHECK_INT(0, desk_number(answer, "problemCount"));
    answer = test_format("\"sessionId\":\"%s\"", desk_member(answer, "sessionId"));
    text = desk_export(d, answer);
    CHECK(strstr(text, "said 1") && strstr(strstr(text, "said 1"), "said 0"));
    CHECK_INT(1, desk_number(desk_run(d, "session:export", answer), "branches"));
    /* A head that is empty is what stands above it. */
    answer = import_empty_nodes(d, "e1");
    text = desk_export(d, test_format("\"sessionId\":\"%s\"", desk_member(answer, "sessionId")));
    CHECK(strstr(text, "said 1") && !strstr(text, "said 0") && !strstr(text, "said 2"));
    desk_check(d);
}

/* ---- files that hold others ---- */

TEST(torn, packed_files)
{
    desk *d = desk_open(t);
    const char *dir = test_format("%s/packed", test_tmpdir()), *answer;

    CHECK_INT(0, mkdir(dir, 0700));
    test_write_file(test_format("%s/a.jsonl", dir), VLS_STR("\x1F\x8B\x08\x00\n{}\n"));
    CHECK_RC(VALISE_E_UNSUPPORTED,
             desk_try(d, "session:import", test_format("\"path\":\"%s/a.jsonl\"", dir)));
    CHECK(strstr(t->err.message, "gzip"));
    vls_error_clear(&t->err);
    /* In a folder it does not keep the others out. */
    test_write_file(test_format("%s/b.jsonl", dir), VLS_STR("PK\x03\x04"));
    test_write_file(test_format("%s/c.jsonl", dir), VLS_STR(SAYS("1", "null", "")));
    answer = desk_import_path(d, dir);
    CHECK_INT(1, desk_number(answer, "turns"));
    CHECK_INT(2, desk_number(answer, "problemCount"));
    CHECK(strstr(answer, "gzip") && strstr(answer, "zip file"));
}
