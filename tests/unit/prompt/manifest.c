/* manifest.c -- the record of a prompt: written, read, rendered again. [P6] [P8] [P14] */
#include "prompt/kit.h"

#include "base/str.h"

TEST_PARAMS(manifest, "memory", "sqlite")

/* One with all kinds of parts. */
static const char *rich(pot *p)
{
    static const valise_str tools[] = {
        POT_STR("{\"name\":\"ls\",\"inputSchema\":{\"type\":\"object\"}}")};
    static const vls_policy_results clear = {.keep = 1};
    const char *s;

    (void)pot_do(p, "role:add",
                 "{'name':'coder','persona':'You write C.','topics':['a'],"
                 "'constraints':{'temperature':0.5}}");
    (void)pot_do(p, "preference:add",
                 "{'content':'Be brief.','id':'00000000-0000-7000-8000-000000000001'}");
    (void)pot_do(p, "context:add", "{'key':'old','text':'an old one','topics':['a']}");
    s = talk_member(p->k, pot_do(p, "session:create", "{'role':'coder'}"), "id");
    pot_say(p, s, "user", "go \\\"on\\\" \\u00e4");
    for (int i = 0; i < 3; i++) {
        pot_say(p, s, "assistant",
                test_format("[{'type':'tool_use','callId':'c%d','name':'ls','args':{}}]", i));
        pot_say(p, s, "tool",
                test_format("[{'type':'tool_result','callId':'c%d','content':'%0400d'}]", i, i));
    }
    pot_say(p, s, "user", "and now?");
    (void)pot_do(p, "context:add", "{'key':'new','text':'a new one','topics':['a']}");
    p->ask.tools = (valise_list){tools, 1};
    p->ask.params = VLS_STR("{\"maxTokens\":100}");
    p->ask.policies.clear_results = &clear;
    p->ask.asked = VLS_STR("{\"window\":null}");
    return s;
}

/* The same without what came with the request: nobody has recorded that. */
static const char *rich_without_given(pot *p)
{
    const char *s = rich(p);

    p->ask.tools = (valise_list){NULL, 0};
    p->ask.params = (valise_str){NULL, 0};
    return s;
}

TEST(manifest, it_can_be_written_read_and_written)
{
    pot *p = pot_open(t);
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf again = {0};
    vls_manifest m;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    pot_build(p, rich(p));
    CHECK_OK(vls_manifest_read(&m, &arena, valise_str_of(p->manifest), &t->err));
    vls_buf_init(&again, t->env, SIZE_MAX / 2);
    CHECK_OK(vls_manifest_write(&again, &m, &t->err));
    CHECK(vls_str_equal(vls_buf_str(&again), valise_str_of(p->manifest)));
    /* No text of its own. */
    CHECK_HAS_NOT(p->manifest, "and now?");
    CHECK_HAS_NOT(p->manifest, "an old one");
    CHECK_HAS_NOT(p->manifest, "You write C.");
    CHECK_HAS_NOT(p->manifest, "Be brief.");
    /* Canonical JSON. */
    {
        vls_json value;

        vls_buf_clear(&again);
        CHECK_OK(vls_json_parse(&value, &arena, valise_str_of(p->manifest), NULL, &t->err));
        CHECK_OK(vls_json_write(&again, value, &t->err));
        CHECK(vls_str_equal(vls_buf_str(&again), valise_str_of(p->manifest)));
    }
}

/* Equal inputs: byte-equal prompts, and manifests but for the seq. [P6] */
TEST(manifest, equal_inputs_give_equal_bytes)
{
    pot *p = pot_open(t);
    const char *s = rich(p), *neutral, *wire, *manifest;

    pot_build(p, s);
    neutral = p->neutral;
    wire = p->wire;
    manifest = p->manifest;
    pot_build(p, s);
    CHECK_TEXT(neutral, p->neutral);
    CHECK_TEXT(wire, p->wire);
    CHECK_TEXT(manifest, p->manifest);
}

TEST(manifest, it_is_rendered_again_after_the_session_moved_on)
{
    pot *p = pot_open(t);
    const char *s = rich_without_given(p), *manifest, *neutral;
    pot_again again;

    pot_build(p, s);
    manifest = p->manifest;
    neutral = p->neutral;
    pot_say(p, s, "assistant", "this came later");
    (void)pot_do(p, "role:update", "{'name':'coder','persona':'Another one.'}");
    (void)pot_do(p, "preference:update",
                 "{'id':'00000000-0000-7000-8000-000000000001','content':'Talk a lot.'}");
    (void)pot_do(p, "context:update", "{'key':'old','text':'changed'}");
    again = pot_rebuild(p, manifest);
    CHECK_TEXT(neutral, again.neutral);
    CHECK(again.neutral_same && again.wire_same);
    CHECK_INT(0, again.erased);
    CHECK_INT(0, again.denied);
}

/* Explicit erasure goes through: the span shows it, and the answer says so. */
TEST(manifest, what_was_erased)
{
    pot *p = pot_open(t);
    const char *s = rich_without_given(p), *manifest, *ref;
    pot_again again;

    ref = pot_say(p, s, "user", "a secret of mine");
    pot_say(p, s, "user", "end");
    pot_build(p, s);
    CHECK_HAS(p->neutral, "a secret of mine");
    manifest = p->manifest;
    (void)pot_do(p, "turn:delete", "{'sessionId':'%s','turnId':'%s','reason':'r'}", s, ref);
    again = pot_rebuild(p, manifest);
    CHECK_INT(1, again.erased);
    CHECK(!again.neutral_same && !again.wire_same);
    CHECK_HAS(again.said, "U[[erased]]");
    CHECK_HAS_NOT(again.neutral, "secret");
    (void)pot_do(p, "preference:erase",
                 "{'id':'00000000-0000-7000-8000-000000000001','reason':'r'}");
    again = pot_rebuild(p, manifest);
    CHECK_INT(2, again.erased);
    CHECK_HAS(again.system, "Preference: [erased]");
    (void)pot_do(p, "context:erase", "{'key':'old','reason':'r'}");
    again = pot_rebuild(p, manifest);
    CHECK_INT(3, again.erased);
    CHECK_HAS(again.said, "Memory old:\n[erased]");
}

/* What came with the request and was not kept: the prompt is shown all the same. */
TEST(manifest, given_things_that_are_gone)
{
    pot *p = pot_open(t);
    const char *s = rich(p);
    pot_again again;

    pot_build(p, s);
    again = pot_rebuild(p, p->manifest);
    CHECK_INT(2, again.erased);
    CHECK_HAS(again.neutral, pot_quote("{'description':'[erased]','inputSchema':{'type':'object'},"
                                       "'name':'erased'}"));
    CHECK_HAS_NOT(again.neutral, "maxTokens");
}

/* Who may not read a source does not see its text. */
TEST(manifest, what_is_denied)
{
    pot *p = pot_open(t);
    const char *s = rich_without_given(p);
    pot_again again;

    pot_build(p, s);
    (void)pot_do(p, "agent:add", "{'id':'guest','role':'none','capabilities':['session:read']}");
    p->actor = "guest";
    again = pot_rebuild(p, p->manifest);
    CHECK_HAS(again.said, "and now?");
    CHECK_HAS_NOT(again.neutral, "an old one");
    CHECK_HAS_NOT(again.neutral, "You write C.");
    CHECK_HAS_NOT(again.neutral, "Be brief.");
    CHECK(!again.neutral_same);
    CHECK(again.denied >= 4);
    CHECK_INT(0, again.erased);
}

/* Each span is of the part that its text came from. [P8] */
TEST(manifest, spans_show_whose_text_it_is)
{
    pot *p = pot_open(t);
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_manifest m;
    size_t at = 0, found = 0;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    pot_build(p, rich(p));
    CHECK_OK(vls_manifest_read(&m, &arena, valise_str_of(p->manifest), &t->err));
    for (size_t i = 0; i < m.spans.len; i++) {
        const char *text = test_format("%.*s", (int)m.spans.ptr[i].length, p->neutral + at);
        const vls_part *part = m.spans.ptr[i].part < 0 ? NULL : &m.parts.ptr[m.spans.ptr[i].part];

        at += m.spans.ptr[i].length;
        if (strstr(text, "an old one")) {
            CHECK(part && part->kind == VLS_PART_ENTRY);
            CHECK(vls_str_equal(part->name, VLS_STR("old")));
            found++;
        }
        if (strstr(text, "Be brief.")) {
            CHECK(part && part->kind == VLS_PART_PREFERENCE);
            found++;
        }
        if (strstr(text, "You write C.")) {
            CHECK(part && part->kind == VLS_PART_ROLE && part->section == VLS_SECTION_SYSTEM);
            found++;
        }
        if (strstr(text, "temperature")) {
            CHECK(part && part->kind == VLS_PART_ROLE && part->section == VLS_SECTION_PARAMS);
            found++;
        }
        if (strstr(text, "maxTokens") || strstr(text, "inputSchema")) {
            CHECK(part && part->kind == VLS_PART_GIVEN);
            found++;
        }
        if (strstr(text, "and now?")) {
            CHECK(part && part->kind == VLS_PART_TURN && part->says == VLS_SAYS_USER);
            found++;
        }
        if (strstr(text, "was cleared")) {
            CHECK(part && part->kind == VLS_PART_TURN && m.spans.ptr[i].reason);
            CHECK_TEXT("old result", m.spans.ptr[i].reason);
            found++;
        }
        if (!part)
            CHECK_HAS_NOT(text, "one");
    }
    CHECK_INT(strlen(p->neutral), at);
    CHECK_INT(9, found);
}

/* ---- why it was these parts ---- */

static vls_manifest read_it(pot *p, vls_arena *arena)
{
    test *t = p->t;
    vls_manifest m = {0};

    vls_arena_init(arena, t->env, SIZE_MAX);
    CHECK_OK(vls_manifest_read(&m, arena, valise_str_of(p->manifest), &t->err));
    return m;
}

TEST(manifest, it_says_why_it_was_these_parts)
{
    pot *p = pot_open(t);
    VLS_AUTO(arena) vls_arena arena = {0};
    const char *s = pot_session(p, "");
    vls_manifest m;

    for (int i = 0; i < 40; i++)
        pot_say(p, s, i % 2 ? "assistant" : "user", "some words that are said again and again");
    p->ask.window = 400;
    p->ask.scale = 24;
    pot_build(p, s);
    CHECK(p->trimmed > 0);
    m = read_it(p, &arena);
    CHECK_INT(24, m.scale);
    CHECK_INT(p->trimmed, m.trimmed);
    CHECK(vls_str_equal(m.retriever, VLS_STR("bm25")));
    CHECK_INT(VLS_RETRIEVER_OWN_VERSION, m.retriever_version);
}

/* ---- as others have to read it ---- */

/* The text of a fenced block of docs/formats.md, its lines joined. */
static const char *fenced(const char *name)
{
    const char *from = getenv("VALISE_SOURCE_ROOT");
    valise_str all = test_read_file(test_format("%s/docs/formats.md", from ? from : ".")), line;
    valise_str open = valise_str_of(test_format("```%s\n", name));
    size_t at = vls_str_find(all, open), used = 0;
    char *text = test_alloc(all.len + 1);

    CHECK_MSG(at < all.len, "docs/formats.md has no %s", name);
    all = vls_str_from(all, at + open.len);
    while (vls_str_cut(&line, &all, all, '\n') && !vls_str_starts(line, VLS_STR("```"))) {
        memcpy(text + used, line.ptr, line.len);
        used += line.len;
    }
    return text;
}

/* docs/formats.md, "Manifests of prompts": what is made of the same is the same, byte for byte. */
TEST(manifest, it_is_as_the_document_says)
{
    pot *p = pot_open(t);
    const char *built;

    (void)pot_do(p, "preference:add",
                 "{'content':'Be brief.','id':'00000000-0000-7000-8000-000000000001'}");
    (void)pot_do(p, "session:create", "{'label':'s','id':'00000000-0000-7000-8000-000000000002'}");
    (void)pot_do(p, "turn:add",
                 "{'sessionId':'s','turn':{'id':'00000000-0000-7000-8000-000000000003',"
                 "'role':'user','blocks':[{'type':'text','text':'Where is my parcel?'}]}}");
    built = pot_do(p, "prompt:build",
                   "{'session':'s','provider':'openai','model':'gpt-4o','neutral':true,"
                   "'time':'2026-01-02T03:04:05Z','window':8000,'params':{'temperature':0}}");
    p->neutral = talk_member(p->k, built, "id");
    p->manifest = strstr(pot_do(p, "prompt:show", "{'prompt':'%s','manifest':true}", p->neutral),
                         "\"manifest\":{");
    CHECK(p->manifest);
    CHECK_HAS(p->manifest, fenced("prompt-manifest"));
    CHECK_HAS(built, fenced("prompt-neutral"));
}

/* ---- hostile ones ---- */

static void try_read(pot *p, const char *json, size_t len, int *taken)
{
    test *t = p->t;
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_error err = VALISE_ERROR_INIT;
    vls_manifest m;
    int rc;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    rc = vls_manifest_read(&m, &arena, (valise_str){json, len}, &err);
    CHECK_MSG(rc == 0 || rc == VALISE_E_CORRUPT || rc == VALISE_E_UNSUPPORTED, "%d", rc);
    *taken += rc == 0;
    if (rc == 0) {
        const char *copy = test_format("%.*s", (int)len, json);
        pot_again again = {0};

        rc = pot_try_rebuild(&again, p, copy);
        CHECK_MSG(rc == 0 ||
                      (rc == VALISE_E_NOT_FOUND || rc == VALISE_E_INVALID ||
                       rc == VALISE_E_CORRUPT || rc == VALISE_E_TOO_LARGE || rc == VALISE_E_LIMIT),
                  "%d: %s", rc, t->err.message);
    }
}

/* Every byte flipped, and every cut: refused, or harmless. */
TEST(manifest, damaged_ones)
{
    pot *p = pot_open(t);
    size_t len;
    char *copy;
    int taken = 0, cut = 0;

    pot_build(p, rich(p));
    len = strlen(p->manifest);
    copy = test_alloc(len + 1);
    for (size_t i = 0; i < len; i++) {
        static const char flips[] = {1, 2, 4, 16, 32};

        memcpy(copy, p->manifest, len + 1);
        copy[i] = (char)(copy[i] ^ flips[i % sizeof(flips)]);
        try_read(p, copy, len, &taken);
    }
    for (size_t i = 0; i < len; i += 7)
        try_read(p, p->manifest, i, &cut);
    CHECK_INT(0, cut);
    CHECK(taken > 0);
}

TEST(manifest, hostile_ones)
{
    static const char *const all[] = {"",
                                      "{}",
                                      "[]",
                                      "null",
                                      "{'version':1}",
                                      "{'version':2}",
                                      "{'version':'1'}",
                                      "{'version':99999999999999999999}"};
    pot *p = pot_open(t);
    int taken = 0;

    for (size_t i = 0; i < VLS_COUNT(all); i++) {
        const char *json = pot_quote(all[i]);

        try_read(p, json, strlen(json), &taken);
    }
    CHECK_INT(0, taken);
}
