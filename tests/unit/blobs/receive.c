/* receive.c -- bytes that come with a command. [W9] [W17] */
#include "blobs/kit.h"

TEST_PARAMS(blob_receive, "memory", "sqlite")

#define HELLO_ID "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"

static const char *write_of(const char *blocks)
{
    return test_format("{\"name\":\"a\",\"blocks\":%s}", blocks);
}

/* The payload that the newest entry of this type has in the log. */
static const char *logged(test *t, valise *v)
{
    return desk_run(t, v, "log:list", "{\"type\":\"desk:write\"}");
}

TEST(blob_receive, the_log_has_the_hash_and_the_store_the_bytes)
{
    valise *v = desk_open(t);
    valise_id id = desk_hash(VLS_STR("hello\n"));
    const char *shown;

    desk_run(t, v, "desk:write",
             write_of("[{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"document\",\"data\":"
                      "\"aGVsbG8K\",\"filename\":\"h.txt\",\"extra\":1}]"));
    CHECK(desk_has_file(t, v, &id));
    CHECK_INT(1, (int)desk_count(t, v, &id)); /* held by the sheet alone */
    shown = desk_run(t, v, "blob:show", test_format("{\"blob\":\"%s\"}", HELLO_ID));
    CHECK(strstr(shown, "\"holders\":[\"turn/a\"]") && strstr(shown, "\"filename\":\"h.txt\"") &&
          strstr(shown, "\"mediaType\":\"text/plain\"") && strstr(shown, "\"size\":6"));
    CHECK(!strstr(logged(t, v), "aGVsbG8K"));
    desk_run(t, v, "desk:clear", "{\"name\":\"a\"}");
    CHECK(!desk_has_file(t, v, &id));
    desk_validate(t, v);
}

TEST(blob_receive, results_of_tools_have_images_too)
{
    valise *v = desk_open(t);
    valise_id id = desk_hash(VLS_STR("hello\n"));

    desk_run(t, v, "desk:write",
             write_of("[{\"type\":\"tool_result\",\"callId\":\"1\",\"content\":[{\"type\":\"text\","
                      "\"text\":\"\"},{\"type\":\"image\",\"data\":\"aGVsbG8K\",\"mediaType\":"
                      "\"image/x\"}]}]"));
    CHECK_INT(1, (int)desk_count(t, v, &id));
    CHECK(strstr(desk_run(t, v, "blob:list", NULL), "image/x"));
}

TEST(blob_receive, a_block_that_names_a_blob_needs_a_record)
{
    valise *v = desk_open(t);
    const char *blocks = write_of("[{\"type\":\"image\",\"blob\":\"" HELLO_ID "\"}]");

    desk_fails(t, v, VALISE_E_NOT_FOUND, "desk:write", blocks);
    (void)desk_register(t, v, "hello\n", NULL);
    desk_run(t, v, "desk:write", blocks);
}

TEST(blob_receive, what_cannot_be_read_is_refused_by_name)
{
    static const struct {
        const char *blocks, *path;
    } bad[] = {
        {"[{\"type\":\"text\",\"text\":\"\"},{\"type\":\"image\",\"data\":\"%%%\"}]",
         "blocks[1].data"},
        {"[{\"type\":\"image\",\"data\":7}]", "blocks[0]"},
        {"[{\"type\":\"image\",\"data\":\"\"}]", "blocks[0].data"},
        {"[{\"type\":\"image\",\"data\":\"aGE=\",\"mediaType\":1}]", "blocks[0]"},
        {"[{\"type\":\"image\",\"data\":\"aGE=\",\"blob\":\"" HELLO_ID "\"}]", "blocks[0]"},
        {"[{\"type\":\"tool_result\",\"content\":[{\"type\":\"image\",\"data\":\"a\"}]}]",
         "blocks[0].content[0].data"},
    };
    valise *v = desk_open(t);

    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        test_context("%s", bad[i].blocks);
        desk_fails(t, v, VALISE_E_INVALID, "desk:write", write_of(bad[i].blocks));
        CHECK_TEXT(bad[i].path, t->err.path);
    }
    CHECK_INT(0, (int)desk_count_files(t, v));
    /* What is no block of bytes is as it was. */
    desk_run(t, v, "desk:write", write_of("[{\"type\":\"other\",\"data\":\"aGE=\"}]"));
    CHECK_INT(0, (int)desk_count_files(t, v));
}

TEST(blob_receive, files_become_blocks)
{
    valise *v = desk_open(t);
    const char *png = test_format("%s/a.png", test_tmpdir());
    const char *txt = test_format("%s/b.txt", test_tmpdir());

    test_write_file(png, VLS_STR("\x89PNG\r\n\x1a\n"));
    test_write_file(txt, VLS_STR("hello\n"));
    desk_run(t, v, "desk:write",
             test_format("{\"name\":\"a\",\"files\":[\"%s\",\"%s\"]}", png, txt));
    CHECK(strstr(desk_run(t, v, "blob:list", "{\"mediaType\":\"image/png\"}"), "a.png"));
    CHECK(strstr(desk_run(t, v, "blob:list", "{\"filename\":\"b.txt\"}"), HELLO_ID));
    CHECK(!strstr(logged(t, v), test_tmpdir()));
    desk_fails(t, v, VALISE_E_NOT_FOUND, "desk:write",
               "{\"name\":\"a\",\"files\":[\"/no/where\"]}");
    CHECK_TEXT("attach[0]", t->err.path);
    desk_fails(t, v, VALISE_E_INVALID, "desk:write", "{\"name\":\"a\",\"files\":[\"/\"]}");
}

TEST(blob_receive, a_dry_run_leaves_no_file)
{
    valise *v = desk_open(t);
    valise_call call = VALISE_CALL_INIT;

    call.flags = VALISE_CALL_DRY_RUN;
    CHECK_OK(valise_dispatch(NULL, v, "desk:write",
                             write_of("[{\"type\":\"image\",\"data\":\"aGVsbG8K\"}]"), &call,
                             &t->err));
    CHECK_INT(0, (int)desk_count_files(t, v));
}

/* A middleware that changes the payload has it received once more: what came along is known. */
static int rename_it(void *self, valise_pass *pass, valise_error *err)
{
    valise_str json;
    const char *text, *at;
    int rc;

    (void)self;
    if (strcmp(valise_pass_op(pass)->name, "desk:write") != 0)
        return 0;
    rc = valise_pass_payload(&json, pass, err);
    if (rc < 0)
        return rc;
    text = test_format("%.*s", VALISE_STR_ARG(json));
    at = strstr(text, "\"name\":\"a\"");
    CHECK(at && !strstr(text, "aGVsbG8K"));
    text = test_format("%.*s\"name\":\"z\"%s", (int)(at - text), text, at + 10);
    return valise_pass_change(pass, valise_str_of(text), err);
}

TEST(blob_receive, middleware_may_change_what_has_blobs)
{
    const valise_middleware m = {.size = sizeof(m), .name = "m", .before = rename_it};
    const valise_middleware *const list[] = {&m, NULL};
    bool memory = strcmp(t->param, "memory") == 0;
    valise *v = desk_open_at(t, memory ? ":memory:" : desk_path(), list);

    desk_run(t, v, "desk:write", write_of("[{\"type\":\"image\",\"data\":\"aGVsbG8K\"}]"));
    CHECK(strstr(desk_run(t, v, "blob:show", "{\"blob\":\"" HELLO_ID "\"}"), "turn/z"));
    valise_close(v);
}

/* Somebody who lets go of the same bytes takes the file away between its put and the command, ten
 * times: nobody is asked to try again, alone or in a batch. [W9] */
typedef struct thief {
    valise **v;
    int left;
} thief;

static int steal(void *self, valise_pass *pass, valise_error *err)
{
    thief *th = self;
    valise_id id;

    (void)err;
    if (strcmp(valise_pass_op(pass)->name, "desk:write") != 0 || th->left == 0)
        return 0;
    th->left--;
    CHECK_INT(0, vls_id_parse(&id, VLS_STR(HELLO_ID), NULL));
    CHECK_INT(0, vls_blobs_remove((*th->v)->blobs, &id, NULL));
    return 0;
}

TEST(blob_receive, a_file_that_goes_in_between_is_put_again)
{
    valise *v = NULL;
    thief th = {&v, 10};
    const valise_middleware m = {.size = sizeof(m), .name = "m", .self = &th, .before = steal};
    const valise_middleware *const list[] = {&m, NULL};
    bool memory = strcmp(t->param, "memory") == 0;
    const char *blocks = "[{\"type\":\"image\",\"data\":\"aGVsbG8K\"}]";
    const valise_command both[] = {
        {.type = VLS_STR("desk:clear"), .payload = VLS_STR("{\"name\":\"a\"}")},
        {.type = VLS_STR("desk:write"), .payload = valise_str_of(write_of(blocks))}};

    v = desk_open_at(t, memory ? ":memory:" : desk_path(), list);
    desk_run(t, v, "desk:write", write_of(blocks));
    CHECK_INT(0, th.left);
    desk_run(t, v, "desk:clear", "{\"name\":\"a\"}");
    th.left = 10;
    CHECK_OK(valise_dispatch_batch(NULL, v, both, VLS_COUNT(both), NULL, &t->err));
    CHECK_INT(0, th.left);
    th.left = 1000; /* for ever: then it is told */
    CHECK_RC(VALISE_E_NOT_FOUND,
             valise_dispatch_batch(NULL, v, both, VLS_COUNT(both), NULL, &t->err));
    valise_close(v);
}

/* The retry of a command gets the first answer, though its bytes come once more. */
TEST(blob_receive, a_retry_is_recognised)
{
    valise *v = desk_open(t);
    valise_call call = VALISE_CALL_INIT;
    const char *payload = write_of("[{\"type\":\"image\",\"data\":\"aGVsbG8K\"}]");
    valise_reply reply = VALISE_REPLY_INIT;

    call.id.bytes[15] = 7;
    call.id.bytes[6] = 0x70;
    call.id.bytes[8] = 0x80;
    CHECK_OK(valise_dispatch(NULL, v, "desk:write", payload, &call, &t->err));
    CHECK_OK(valise_dispatch(&reply, v, "desk:write", payload, &call, &t->err));
    CHECK(reply.repeated);
    valise_reply_release(&reply);
}

/* ---- what bytes are ---- */

TEST(blob_receive, sniffs)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *type;
    } kinds[] = {
        {"\x89PNG\r\n\x1a\nrest", 12, "image/png"},
        {"\xff\xd8\xff\xe0", 4, "image/jpeg"},
        {"GIF89a..", 8, "image/gif"},
        {"GIF87a..", 8, "image/gif"},
        {"RIFF\x01\x02\x03\x04WEBPVP8 ", 16, "image/webp"},
        {"RIFX\x01\x02\x03\x04WEBPVP8 ", 16, "application/octet-stream"},
        {"%PDF-1.7", 8, "application/pdf"},
        {"gr\xc3\xbc\xc3\x9f dich\n\t", 13, "text/plain"},
        {"gr\xfc\xdf", 4, "application/octet-stream"},
        {"a\0b", 3, "application/octet-stream"},
        {"\x1b[2J", 4, "application/octet-stream"},
        {"", 0, "application/octet-stream"},
    };

    (void)t;
    for (size_t i = 0; i < VLS_COUNT(kinds); i++) {
        test_context("%zu", i);
        CHECK_TEXT(kinds[i].type, vls_blob_sniff(vls_str(kinds[i].bytes, kinds[i].len), true));
    }
    CHECK_TEXT("text/plain", vls_blob_sniff(VLS_STR("gr\xc3"), false)); /* cut off */
    CHECK_TEXT("application/octet-stream", vls_blob_sniff(VLS_STR("gr\xc3"), true));
}
