/* assets.c -- stage 4: inline, file ids, what is not there. [P4] */
#include "prompt/kit.h"

TEST_PARAMS(assets, "memory", "sqlite")

/* A blob of these bytes (base64); its hash. */
static const char *put(pot *p, const char *data, const char *media)
{
    return talk_member(
        p->k,
        pot_do(p, "blob:register", "{'data':'%s','mediaType':'%s','hold':'test'}", data, media),
        "sha256");
}

static const char *with_image(pot *p, const char *blob)
{
    const char *s = pot_session(p, "");

    pot_say(p, s, "user",
            test_format("[{'type':'text','text':'look'},{'type':'image','blob':'%s'}]", blob));
    return s;
}

TEST(assets, small_ones_are_inline)
{
    pot *p = pot_open(t);
    const char *blob = put(p, "aGVsbG8K", "image/png"), *s = with_image(p, blob);

    pot_build(p, s);
    CHECK_TEXT("U[look|image(image/png,,6)]", p->said);
    /* No base64 is in the neutral prompt, and none in the text of the wire. */
    CHECK_HAS_NOT(p->neutral, "aGVsbG8K");
    CHECK_HAS_NOT(p->wire, "aGVsbG8K");
    CHECK_HAS(p->wire, "data:image/png;base64,");
    CHECK(p->budget.sections[VLS_SECTION_HISTORY] > 100);
}

TEST(assets, a_file_id_that_lasts)
{
    pot *p = pot_open(t);
    const char *blob = put(p, "aGVsbG8K", "image/png"), *s = with_image(p, blob);

    (void)pot_do(p, "blob:record-file-id",
                 "{'blob':'%s','provider':'openai','fileId':'file-1','expires':"
                 "'2023-11-15T00:00:00Z'}",
                 blob);
    /* The build is on the 14th, 22:13. */
    pot_build(p, s);
    CHECK_TEXT("U[look|image(image/png,file-1,6)]", p->said);
    p->ask.time += INT64_C(3000) * 1000000000; /* within an hour of its end */
    pot_build(p, s);
    CHECK_TEXT("U[look|image(image/png,,6)]", p->said);
}

/* What a turn says of an id is nobody's word: neither where it stands with us nor in a result. */
TEST(assets, a_file_id_within_a_turn)
{
    static const char *const adapters[] = {"openai",  "openai-responses", "anthropic", "gemini",
                                           "mistral", "bedrock",          "compatible"};
    pot *p = pot_open(t);
    const char *blob = put(p, "aGVsbG8K", "image/png"), *s = pot_session(p, "");

    pot_say(p, s, "user",
            test_format("[{'type':'text','text':'look'},{'type':'image','blob':'%s',"
                        "'fileId':'https://evil.example/x.png','size':1}]",
                        blob));
    pot_say(p, s, "assistant", "[{'type':'tool_use','callId':'c0','name':'shot','args':{}}]");
    pot_say(p, s, "tool",
            test_format("[{'type':'tool_result','callId':'c0','content':[{'type':'image',"
                        "'blob':'%s','fileId':'file-evil'}]}]",
                        blob));
    for (size_t i = 0; i < sizeof(adapters) / sizeof(*adapters); i++) {
        p->provider = adapters[i];
        pot_build(p, s);
        CHECK_HAS(p->said, "U[look|image(image/png,,6)]");
        CHECK_HAS(p->said, "T[res(c0,image(image/png,,6))]");
        CHECK_HAS_NOT(p->neutral, "evil");
        CHECK_HAS_NOT(p->wire, "evil");
    }
    (void)pot_do(p, "blob:record-file-id", "{'blob':'%s','provider':'openai','fileId':'file-1'}",
                 blob);
    p->provider = "openai";
    pot_build(p, s);
    CHECK_HAS(p->said, "U[look|image(image/png,file-1,6)]");
    CHECK_HAS_NOT(p->neutral, "evil");
}

TEST(assets, too_large)
{
    pot *p = pot_open(t);
    const char *blob = put(p, "aGVsbG8K", "image/png"), *s = with_image(p, blob);

    p->ask.inline_max = 5;
    CHECK_RC(VALISE_E_NOT_FOUND, pot_try(p, s));
    CHECK_HAS(t->err.message, "it is too large to be sent");
    p->ask.missing = VLS_MISSING_TEXT;
    pot_build(p, s);
    CHECK_TEXT("U[look|[image without a name: it is too large to be sent]]", p->said);
}

TEST(assets, not_there)
{
    pot *p = pot_open(t);
    const char *blob = put(p, "aGVsbG8K", "image/png"), *s = with_image(p, blob);

    (void)pot_do(p, "workspace:erase", "{'content':'%s','reason':'r'}", blob);
    CHECK_RC(VALISE_E_NOT_FOUND, pot_try(p, s));
    CHECK_HAS(t->err.message, "it is not there");
    p->ask.missing = VLS_MISSING_TEXT;
    pot_build(p, s);
    CHECK_HAS(p->said, "[image without a name: it is not there]");
}

TEST(assets, pictures_in_results_and_entries)
{
    pot *p = pot_open(t);
    const char *blob = put(p, "aGVsbG8K", "image/png"), *s = pot_session(p, "'a'");
    vls_policy_results clear = {.keep = 1};

    pot_say(p, s, "user", "go");
    for (int i = 0; i < 2; i++) {
        pot_say(p, s, "assistant",
                test_format("[{'type':'tool_use','callId':'c%d','name':'shot','args':{}}]", i));
        pot_say(p, s, "tool",
                test_format("[{'type':'tool_result','callId':'c%d','content':[{'type':'text',"
                            "'text':'here'},{'type':'image','blob':'%s'}]}]",
                            i, blob));
    }
    (void)pot_do(p, "context:add", "{'key':'k','blob':'%s','topics':['a']}", blob);
    pot_build(p, s);
    CHECK_HAS(p->said, "T[res(c0,here+image(image/png,,6))]");
    CHECK_HAS(p->said, "U[Memory k:\n|image(image/png,,6)]");
    {
        int64_t before = p->budget.sections[VLS_SECTION_HISTORY];

        /* A cleared result has no picture either, and does not cost one. */
        p->ask.policies.clear_results = &clear;
        pot_build(p, s);
        CHECK_HAS(p->said, "T[res(c0,[The result was cleared");
        CHECK(p->budget.sections[VLS_SECTION_HISTORY] < before - 500);
    }
    (void)pot_do(p, "workspace:erase", "{'content':'%s','reason':'r'}", blob);
    p->ask.missing = VLS_MISSING_TEXT;
    pot_build(p, s);
    CHECK_HAS_NOT(p->neutral, "blob\":");
}

/* ---- files that are text ---- */

#define SLIP "VHJhY2sgYW5kIHRyYWNlOiA0NzEx" /* Track and trace: 4711 */

static const char *with_document(pot *p, const char *blob, const char *more)
{
    const char *s = pot_session(p, "'a'");

    pot_say(p, s, "user",
            test_format("[{'type':'text','text':'look'},{'type':'document','blob':'%s',"
                        "'filename':'slip.txt'%s}]",
                        blob, more));
    return s;
}

TEST(assets, a_file_of_text_is_sent_to_everybody)
{
    static const char *const words[] = {"openai", "openai-responses", "anthropic", "mistral",
                                        "compatible"};
    static const char *const files[] = {"gemini", "bedrock"};
    pot *p = pot_open(t);
    const char *blob = put(p, SLIP, "text/plain"), *s = with_document(p, blob, "");
    const char *erased = NULL;
    pot_again again;

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        p->provider = words[i];
        pot_build(p, s);
        CHECK_TEXT("U[look|document(text/plain,,21)={Track and trace: 4711}]", p->said);
        CHECK_HAS(p->wire, "File slip.txt:");
        CHECK_HAS(p->wire, "Track and trace: 4711");
        CHECK_INT(0, p->repairs);
        CHECK(p->budget.sections[VLS_SECTION_HISTORY] < 60);
        again = pot_rebuild(p, p->manifest);
        CHECK(again.neutral_same && again.wire_same && again.erased == 0);
        erased = p->manifest;
    }
    /* These take such files. */
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        p->provider = files[i];
        pot_build(p, s);
        CHECK_TEXT("U[look|document(text/plain,,21)]", p->said);
        CHECK_HAS_NOT(p->wire, "Track");
        CHECK_INT(0, p->repairs);
    }
    (void)pot_do(p, "workspace:erase", "{'content':'%s','reason':'r'}", blob);
    again = pot_rebuild(p, erased);
    CHECK(!again.neutral_same && !again.wire_same);
    CHECK_INT(1, again.erased);
    CHECK_TEXT("U[look|document(text/plain,,21)={[erased]}]", again.said);
}

TEST(assets, files_of_text_in_results_and_entries)
{
    pot *p = pot_open(t);
    const char *blob = put(p, SLIP, "application/json; charset=utf-8"), *s = pot_session(p, "'a'");
    vls_policy_results clear = {.keep = 1};
    char *long_text;
    pot_again again;

    pot_say(p, s, "user", "go");
    pot_say(p, s, "assistant", "[{'type':'tool_use','callId':'c0','name':'read','args':{}}]");
    pot_say(p, s, "tool",
            test_format("[{'type':'tool_result','callId':'c0','content':[{'type':'document',"
                        "'blob':'%s'}]}]",
                        blob));
    pot_say(p, s, "user", "and?");
    (void)pot_do(p, "context:add", "{'key':'k','blob':'%s','topics':['a']}", blob);
    pot_build(p, s);
    CHECK_HAS(p->said, "T[res(c0,document(application/json; charset=utf-8,,21)={Track and trace: "
                       "4711})]");
    CHECK_HAS(p->said, "U[Memory k:\n|document(application/json; charset=utf-8,,21)={Track and "
                       "trace: 4711}]");
    again = pot_rebuild(p, p->manifest);
    CHECK(again.neutral_same && again.wire_same);
    /* A result is as long as the files in it. */
    long_text = test_alloc(4001);
    memset(long_text, 'Q', 4000);
    blob = put(p, long_text, "text/x-long");
    for (int i = 1; i < 3; i++) {
        pot_say(p, s, "assistant",
                test_format("[{'type':'tool_use','callId':'c%d','name':'read','args':{}}]", i));
        pot_say(p, s, "tool",
                test_format("[{'type':'tool_result','callId':'c%d','content':[{'type':'document',"
                            "'blob':'%s'}]}]",
                            i, blob));
    }
    p->ask.policies.clear_results = &clear;
    pot_build(p, s);
    CHECK_HAS(p->said, "T[res(c1,[The result was cleared");
}

/* What is no text after all, too much of it, a file that the provider has, an image: as ever. */
TEST(assets, files_that_are_no_text)
{
    static const char *const no_texts[] = {"AAECAw==", "/////w==", "YQBi"};
    pot *p = pot_open(t);
    char *long_text = test_alloc(((size_t)700 << 10) + 1);
    const char *s;

    for (size_t i = 0; i < sizeof(no_texts) / sizeof(*no_texts); i++) {
        s = with_document(p, put(p, no_texts[i], "text/plain"), "");
        pot_build(p, s);
        CHECK_HAS_NOT(p->said, "={");
        CHECK_HAS(p->wire, "[document slip.txt (text/plain): cannot be shown here]");
    }
    memset(long_text, 'Q', (size_t)700 << 10);
    s = with_document(p, put(p, long_text, "text/plain"), "");
    pot_build(p, s);
    CHECK_HAS(p->wire, "cannot be shown here");
    s = with_document(p, put(p, SLIP, "text/plain"), ",'text':'own'");
    pot_build(p, s);
    CHECK_TEXT("U[look|document(text/plain,,21)={own}]", p->said);
    s = with_image(p, put(p, SLIP, "text/plain"));
    pot_build(p, s);
    CHECK_HAS_NOT(p->said, "={");
}
