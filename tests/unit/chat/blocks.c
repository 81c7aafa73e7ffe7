/* blocks.c -- what a turn may say, and the path of what is wrong in it. [W17] */
#include "chat/blocks.h"

#include "base/hex.h"
#include "harness/test.h"

#define HASH_A "aa00000000000000000000000000000000000000000000000000000000000000"
#define HASH_B "bb00000000000000000000000000000000000000000000000000000000000000"
#define REF "018f0000-0000-7000-8000-000000000001@1"

static int read_in(vls_blocks *out, vls_arena *arena, test *t, const char *json)
{
    vls_arena_init(arena, t->env, 64 << 20);
    vls_error_clear(&t->err);
    return vls_blocks_read(out, arena, valise_str_of(json), &t->err);
}

/* Accepted; what it says is thrown away. */
static void fine(test *t, const char *json)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_blocks blocks = {.unknown = 0};

    test_context("with %s", json);
    CHECK_OK(read_in(&blocks, &arena, t, json));
    test_context_end();
}

/* Refused, with this path. */
static void bad(test *t, const char *path, const char *json)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_blocks blocks = {.unknown = 77};

    test_context("with %s", json);
    CHECK_RC(VALISE_E_INVALID, read_in(&blocks, &arena, t, json));
    CHECK_TEXT(path, t->err.path);
    CHECK(t->err.message[0] != '\0');
    CHECK_INT(77, blocks.unknown);
    test_context_end();
}

TEST(blocks, what_commands_must_know)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_blocks blocks = {.unknown = 0};

    CHECK_OK(
        read_in(&blocks, &arena, t,
                "[{\"type\":\"text\",\"text\":\"hello\"},"
                "{\"type\":\"thinking\",\"text\":\"hm\",\"signature\":\"s\",\"x\":{\"kept\":1}},"
                "{\"type\":\"image\",\"blob\":\"" HASH_B "\",\"mediaType\":\"image/png\"},"
                "{\"type\":\"document\",\"text\":\"inline\"},"
                "{\"type\":\"document\",\"blob\":\"" HASH_A "\",\"filename\":\"a.pdf\"},"
                "{\"type\":\"tool_use\",\"callId\":\"c2\",\"name\":\"ls\",\"args\":{}},"
                "{\"type\":\"tool_use\",\"callId\":\"c1\",\"name\":\"ls\",\"args\":{\"a\":[1]}},"
                "{\"type\":\"tool_result\",\"callId\":\"c0\",\"content\":"
                "[{\"type\":\"text\",\"text\":\"\"},{\"type\":\"image\",\"blob\":\"" HASH_A "\"},"
                "{\"type\":\"chart\"}],\"isError\":false},"
                "{\"type\":\"summary\",\"text\":\"s\",\"covers\":{\"from\":\"" REF
                "\",\"to\":\"" REF "\",\"hash\":\"" HASH_A "\"}},"
                "{\"type\":\"summary\",\"text\":\"s\",\"covers\":{\"from\":\"" REF
                "\",\"to\":\"" REF "\"}},"
                "{\"type\":\"hologram\",\"depth\":3}]"));
    CHECK_INT(11, blocks.all.len);
    CHECK_INT(2, blocks.calls.len);
    CHECK_STR(VLS_STR("c2"), blocks.calls.ptr[0]);
    CHECK_STR(VLS_STR("c1"), blocks.calls.ptr[1]);
    CHECK_INT(1, blocks.results.len);
    CHECK_STR(VLS_STR("c0"), blocks.results.ptr[0]);
    CHECK_INT(2, blocks.blobs.len); /* sorted, each once */
    CHECK_TEXT(HASH_A, vls_id_hex(&blocks.blobs.ptr[0]).s);
    CHECK_TEXT(HASH_B, vls_id_hex(&blocks.blobs.ptr[1]).s);
    CHECK_INT(2, blocks.covers.len);
    CHECK_INT(8, blocks.covers.ptr[0].block);
    CHECK_STR(VLS_STR(REF), blocks.covers.ptr[0].to);
    CHECK_STR(VLS_STR(HASH_A), blocks.covers.ptr[0].hash);
    CHECK(blocks.covers.ptr[1].hash.ptr == NULL);
    CHECK_INT(2, blocks.unknown);
    CHECK(blocks.to.ptr == NULL);
}

TEST(blocks, a_change_of_role_stands_alone)
{
    VLS_AUTO(arena) vls_arena arena;
    vls_blocks blocks = {.unknown = 0};

    CHECK_OK(read_in(&blocks, &arena, t, "[{\"type\":\"role:transition\",\"to\":\"b\"}]"));
    CHECK_STR(VLS_STR("b"), blocks.to);
    fine(t, "[{\"type\":\"role:transition\",\"from\":null,\"to\":\"b\"}]");
    fine(t, "[{\"type\":\"role:transition\",\"from\":\"a\",\"to\":\"b\"}]");
    bad(t, "blocks[0].to", "[{\"type\":\"role:transition\",\"from\":\"a\"}]");
    bad(t, "blocks[0].to", "[{\"type\":\"role:transition\",\"to\":\"\"}]");
    bad(t, "blocks[0].from", "[{\"type\":\"role:transition\",\"from\":1,\"to\":\"b\"}]");
    bad(t, "blocks[1].type",
        "[{\"type\":\"text\",\"text\":\"\"},{\"type\":\"role:transition\",\"to\":\"b\"}]");
}

/* "an empty block list, an image without a blob: refused". */
TEST(blocks, what_is_refused)
{
    bad(t, "blocks", "[]");
    bad(t, "blocks", "{}");
    bad(t, "blocks", "\"text\"");
    bad(t, "blocks", "[");
    bad(t, "blocks[0]", "[1]");
    bad(t, "blocks[0].type", "[{}]");
    bad(t, "blocks[0].type", "[{\"type\":1}]");
    bad(t, "blocks[0].type", "[{\"type\":\"\"}]");
    bad(t, "blocks[1].text", "[{\"type\":\"odd\"},{\"type\":\"text\"}]");
    bad(t, "blocks[0].text", "[{\"type\":\"text\",\"text\":null}]");
    bad(t, "blocks[0].text", "[{\"type\":\"thinking\",\"signature\":\"s\"}]");
    bad(t, "blocks[0].signature", "[{\"type\":\"thinking\",\"text\":\"\",\"signature\":[]}]");
    bad(t, "blocks[0].blob", "[{\"type\":\"image\"}]");
    bad(t, "blocks[0].blob", "[{\"type\":\"image\",\"blob\":\"aa\"}]");
    bad(t, "blocks[0].blob",
        "[{\"type\":\"image\",\"blob\":\"AA00000000000000000000000000000000000000000000000000000000"
        "000000\"}]");
    bad(t, "blocks[0].mediaType", "[{\"type\":\"image\",\"blob\":\"" HASH_A "\",\"mediaType\":7}]");
    bad(t, "blocks[0].filename", "[{\"type\":\"document\",\"text\":\"\",\"filename\":{}}]");
    bad(t, "blocks[0].blob", "[{\"type\":\"document\"}]");
    bad(t, "blocks[0].text", "[{\"type\":\"document\",\"text\":3}]");
    fine(t, "[{\"type\":\"document\",\"text\":\"a\",\"blob\":\"" HASH_A "\"}]");
}

TEST(blocks, tools)
{
    bad(t, "blocks[0].callId", "[{\"type\":\"tool_use\",\"name\":\"a\",\"args\":{}}]");
    bad(t, "blocks[0].callId",
        "[{\"type\":\"tool_use\",\"callId\":\"\",\"name\":\"a\",\"args\":{}}]");
    bad(t, "blocks[0].name", "[{\"type\":\"tool_use\",\"callId\":\"c\",\"args\":{}}]");
    bad(t, "blocks[0].args", "[{\"type\":\"tool_use\",\"callId\":\"c\",\"name\":\"a\"}]");
    bad(t, "blocks[0].args",
        "[{\"type\":\"tool_use\",\"callId\":\"c\",\"name\":\"a\",\"args\":[]}]");
    bad(t, "blocks[2].callId",
        "[{\"type\":\"tool_use\",\"callId\":\"c\",\"name\":\"a\",\"args\":{}},"
        "{\"type\":\"text\",\"text\":\"\"},"
        "{\"type\":\"tool_use\",\"callId\":\"c\",\"name\":\"b\",\"args\":{}}]");
    fine(t, "[{\"type\":\"tool_use\",\"callId\":\"c\",\"name\":\"a\",\"args\":{}},"
            "{\"type\":\"tool_result\",\"callId\":\"c\",\"content\":\"\"}]");
    fine(t, "[{\"type\":\"tool_result\",\"callId\":\"c\",\"content\":[],\"isError\":null}]");
    bad(t, "blocks[0].content", "[{\"type\":\"tool_result\",\"callId\":\"c\"}]");
    bad(t, "blocks[0].content", "[{\"type\":\"tool_result\",\"callId\":\"c\",\"content\":null}]");
    bad(t, "blocks[0].isError",
        "[{\"type\":\"tool_result\",\"callId\":\"c\",\"content\":\"\",\"isError\":1}]");
    bad(t, "blocks[0].content[1].blob",
        "[{\"type\":\"tool_result\",\"callId\":\"c\",\"content\":"
        "[{\"type\":\"text\",\"text\":\"\"},{\"type\":\"image\"}]}]");
    bad(t, "blocks[0].content[0].type",
        "[{\"type\":\"tool_result\",\"callId\":\"c\",\"content\":[{\"type\":\"tool_result\","
        "\"callId\":\"d\",\"content\":\"\"}]}]");
    bad(t, "blocks[0].content[0]",
        "[{\"type\":\"tool_result\",\"callId\":\"c\",\"content\":[\"text\"]}]");
    bad(t, "blocks[1].callId",
        "[{\"type\":\"tool_result\",\"callId\":\"c\",\"content\":\"\"},"
        "{\"type\":\"tool_result\",\"callId\":\"c\",\"content\":\"\"}]");
    /* A block of another type may have what it likes. */
    fine(t, "[{\"type\":\"tool_use\",\"callId\":\"c\",\"name\":\"a\",\"args\":{}},"
            "{\"type\":\"tool_log\",\"callId\":\"c\"},{\"type\":\"tool_log\",\"callId\":7}]");
    /* Behind a result the outside is read again. */
    fine(t, "[{\"type\":\"tool_result\",\"callId\":\"c\",\"content\":[{\"type\":\"odd\"}]},"
            "{\"type\":\"thinking\",\"text\":\"\"}]");
}

TEST(blocks, summaries)
{
    bad(t, "blocks[0].text", "[{\"type\":\"summary\",\"covers\":{}}]");
    bad(t, "blocks[0].covers", "[{\"type\":\"summary\",\"text\":\"\"}]");
    bad(t, "blocks[0].covers", "[{\"type\":\"summary\",\"text\":\"\",\"covers\":[]}]");
    bad(t, "blocks[0].covers.from", "[{\"type\":\"summary\",\"text\":\"\",\"covers\":{}}]");
    bad(t, "blocks[0].covers.from",
        "[{\"type\":\"summary\",\"text\":\"\",\"covers\":{\"from\":\"HEAD\",\"to\":\"" REF "\"}}]");
    bad(t, "blocks[0].covers.to",
        "[{\"type\":\"summary\",\"text\":\"\",\"covers\":{\"from\":\"" REF "\",\"to\":\"" REF
        "0x\"}}]");
    bad(t, "blocks[0].covers.hash",
        "[{\"type\":\"summary\",\"text\":\"\",\"covers\":{\"from\":\"" REF "\",\"to\":\"" REF
        "\",\"hash\":\"abc\"}}]");
}

/* A text of `count` times the same. */
static const char *many(size_t count, const char *open, const char *item, const char *close)
{
    size_t len = strlen(item);
    char *out = test_alloc(strlen(open) + count * (len + 1) + strlen(close) + 1);
    char *at = out;

    memcpy(at, open, strlen(open));
    at += strlen(open);
    for (size_t i = 0; i < count; i++) {
        memcpy(at, item, len);
        at += len;
        if (i + 1 < count)
            *at++ = ',';
    }
    memcpy(at, close, strlen(close) + 1);
    return out;
}

TEST(blocks, limits)
{
    VLS_AUTO(arena) vls_arena arena;
    VLS_AUTO(arena) vls_arena second;
    vls_blocks blocks = {.unknown = 0};
    const char *id = many(VLS_CALL_ID_MAX / 2 + 1, "", "x", "");

    fine(t, many(VLS_BLOCKS_MAX, "[", "{\"type\":\"odd\"}", "]"));
    CHECK_RC(VALISE_E_LIMIT,
             read_in(&blocks, &arena, t, many(VLS_BLOCKS_MAX + 1, "[", "{\"type\":\"odd\"}", "]")));
    CHECK_TEXT("blocks", t->err.path);
    CHECK_RC(VALISE_E_LIMIT,
             read_in(&blocks, &second, t,
                     many(VLS_BLOCKS_MAX + 1,
                          "[{\"type\":\"tool_result\",\"callId\":\"c\",\"content\":[",
                          "{\"type\":\"odd\"}", "]}]")));
    CHECK_TEXT("blocks[0].content", t->err.path);
    CHECK(strlen(id) == VLS_CALL_ID_MAX + 1);
    bad(t, "blocks[0].callId",
        test_format("[{\"type\":\"tool_result\",\"callId\":\"%s\",\"content\":\"\"}]", id));
    fine(t, test_format("[{\"type\":\"tool_result\",\"callId\":\"%s\",\"content\":\"\"}]", id + 1));
}
