/* second.c -- equal inputs give byte-equal prompts on another machine too. [P6] [P8] [K36]
 *
 * A bundle is restored in another folder, behind another backend, under another locale and time
 * zone; what is built of it at the same time is the same, to the id of the manifest. */
#include "kit/talk.h"

#include <locale.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/base.h"
#include "prompt/kit.h"

TEST_PARAMS(second, "memory", "sqlite")

static const char *say(talk *k, const char *type, const char *json)
{
    return talk_run(k, type, "%s", pot_quote(json));
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    CHECK(f != NULL);
    CHECK(fputs(text, f) >= 0);
    CHECK(fclose(f) == 0);
}

static void talk_a_lot(talk *k)
{
    for (int i = 0; i < 12; i++) {
        (void)say(k, "turn:add",
                  test_format("{'sessionId':'s','turn':{'role':'user','blocks':[{'type':'text',"
                              "'text':'Gr\\u00fc\\u00dfe %d, and \\u4f60\\u597d'}]}}",
                              i));
        (void)say(k, "turn:add",
                  test_format("{'sessionId':'s','turn':{'role':'assistant','blocks':["
                              "{'type':'thinking','text':'hm','signature':'sig'},"
                              "{'type':'tool_use','callId':'c%d','name':'ls','args':{'n':1.5}}]}}",
                              i));
        (void)say(k, "turn:add",
                  test_format("{'sessionId':'s','turn':{'role':'tool','blocks':[{'type':"
                              "'tool_result','callId':'c%d','content':'%0300d'}]}}",
                              i, i));
    }
}

/* One with all kinds of sources. */
static void fill(talk *k)
{
    const char *blob;

    (void)say(k, "role:add",
              "{'name':'coder','persona':'You write C.','topics':['a'],"
              "'constraints':{'temperature':0.25,'maxTokens':500}}");
    for (int i = 0; i < 5; i++) {
        (void)say(k, "preference:add", test_format("{'content':'Be brief, %d.'}", i));
        (void)say(k, "context:add",
                  test_format("{'key':'old%d','text':'an old one, %d','topics':['a']}", i, i));
    }
    (void)say(k, "session:create", "{'label':'s','role':'coder'}");
    blob = talk_member(
        k, say(k, "blob:register", "{'data':'iVBORw0KGgo=','mediaType':'image/png'}"), "sha256");
    talk_a_lot(k);
    (void)say(k, "turn:add",
              test_format("{'sessionId':'s','turn':{'role':'user','blocks':[{'type':'image','blob':"
                          "'%s','mediaType':'image/png'},{'type':'text','text':'and this?'}]}}",
                          blob));
    for (int i = 0; i < 5; i++)
        (void)say(
            k, "context:add",
            test_format("{'key':'new%d','text':'a new one of %d words','topics':['a']}", i, i));
    (void)say(k, "backpack:create", "{'name':'bag','items':{'b':[1,2.5],'a':{'x':1}}}");
    (void)say(k, "backpack:permit", "{'backpack':'bag','nodeId':'n','read':['*']}");
}

/* A tree needs a folder: notes on files, where there is one. */
static bool note(talk *k)
{
    if (strcmp(k->path, ":memory:") == 0)
        return false;
    write_file(test_format("%s/z.c", k->path), "int z;");
    (void)say(k, "tree:scan", "{}");
    (void)say(k, "frame:put", "{'node':'z.c','type':'summary','content':'emVk'}");
    return true;
}

static const char *build(talk *k, const char *provider, bool notes)
{
    return say(
        k, "prompt:build",
        test_format("{'session':'s','provider':'%s','model':'m','neutral':true,'wire':true,"
                    "'time':'2026-11-16T10:00:00Z','window':3500,'backpack':'bag','node':'n',%s"
                    "'tools':[{'name':'ls','inputSchema':{'type':'object'}}],"
                    "'params':{'temperature':0.5},'policies':{'clearResults':{'keep':2}}}",
                    provider, notes ? "'paths':['z.c']," : ""));
}

static void go_elsewhere(const char *zone)
{
    CHECK(setenv("TZ", zone, 1) == 0);
    tzset();
    (void)setlocale(LC_ALL, strcmp(zone, "UTC") == 0 ? "C" : "C.utf8");
}

TEST(second, the_same_bundle_gives_the_same_bytes)
{
    static const char *const providers[] = {"openai", "openai-responses", "anthropic",
                                            "gemini", "bedrock",          "mistral"};
    const char *dir = test_tmpdir(), *bundle = test_format("%s/all.bundle", dir);
    bool files = strcmp(t->param, "sqlite") == 0, notes;
    talk a, b;

    talk_open_at(&a, t, t->env, files ? test_format("%s/one", dir) : ":memory:");
    talk_open_at(&b, t, t->env, files ? ":memory:" : test_format("%s/another", dir));
    fill(&a);
    notes = note(&a);
    (void)say(&a, "workspace:export", test_format("{'file':'%s'}", bundle));
    CHECK(strstr(say(&b, "workspace:import", test_format("{'file':'%s'}", bundle)),
                 "\"restored\":true"));
    for (size_t i = 0; i < VLS_COUNT(providers); i++) {
        const char *here, *there;

        go_elsewhere("UTC");
        here = build(&a, providers[i], notes);
        go_elsewhere("Asia/Kathmandu");
        there = build(&b, providers[i], notes);
        CHECK_TEXT(here, there); /* neutral, wire, both hashes, the id of the manifest */
        CHECK_HAS(here, "\"existed\":false");
        CHECK(strlen(talk_member(&a, here, "id")) == 64);
        CHECK(strtoll(talk_member(&a, here, "trimmed"), NULL, 10) > 0);
    }
    go_elsewhere("UTC");
    CHECK(!files || notes);
    valise_close(a.v);
    valise_close(b.v);
}
