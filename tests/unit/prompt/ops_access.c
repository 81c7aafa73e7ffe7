/* ops_access.c -- who may do what with prompts; and that nobody learns through one what he may not
 * read. [K30] [P8] */
#include "prompt/ops_kit.h"

TEST_PARAMS(ops_access, "memory", "sqlite")

static const char *const all_caps[] = {"session:read", "role:read",     "preference:read",
                                       "memory:read",  "backpack:read", "context:read"};

static const char *caps_without(const char *without, const char *more)
{
    const char *text = more;

    for (size_t i = 0; i < VLS_COUNT(all_caps); i++)
        if (strcmp(all_caps[i], without) != 0)
            text = test_format("%s%s'%s'", text, text[0] ? "," : "", all_caps[i]);
    return text;
}

/* ---- who may ---- */

#define HI "{'version':1,'messages':[{'role':'user','blocks':[{'type':'text','text':'Hi'}]}]}"

TEST(ops_access, reading_and_writing_are_two_things)
{
    ops *o = ops_open(t);
    const char *file = ops_file("{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"y\"}]}}");
    const char *read[][2] = {
        {"prompt:list", "{}"},
        {"prompt:show", test_format("{'prompt':'%s'}", o->a)},
        {"prompt:blame", test_format("{'prompt':'%s'}", o->a)},
        {"prompt:diff", test_format("{'a':'%s','b':'%s'}", o->a, o->b)},
        {"prompt:explain-miss", test_format("{'a':'%s','b':'%s'}", o->a, o->b)},
        {"prompt:budget", "{'session':'s','provider':'openai'}"},
        {"prompt:render", "{'provider':'openai','model':'m','neutral':" HI "}"},
    };
    const char *write[][2] = {
        {"prompt:build", "{'session':'s','provider':'openai','model':'new'}"},
        {"prompt:calibrate", "{'model':'m','estimated':500,'reported':500}"},
        {"prompt:ask", test_format("{'session':'s','provider':'openai','model':'m','text':'x',"
                                   "'replay':'%s'}",
                                   file)},
        {"prompt:delete", test_format("{'prompt':'%s'}", o->a)},
    };

    ops_admit(o, "reads", caps_without("", "'prompt:read'"));
    ops_admit(o, "writes", caps_without("", "'prompt:write','session:write'"));
    ops_admit(o, "nobody", caps_without("", ""));
    for (size_t i = 0; i < VLS_COUNT(read); i++) {
        ops_refused(o, "writes", VALISE_E_DENIED, "prompt:read", read[i][0], "%s", read[i][1]);
        ops_refused(o, "nobody", VALISE_E_DENIED, "prompt:read", read[i][0], "%s", read[i][1]);
        (void)ops_run(o, "reads", read[i][0], "%s", read[i][1]);
    }
    for (size_t i = 0; i < VLS_COUNT(write); i++) {
        ops_refused(o, "reads", VALISE_E_DENIED, "prompt:write", write[i][0], "%s", write[i][1]);
        ops_refused(o, "nobody", VALISE_E_DENIED, "prompt:write", write[i][0], "%s", write[i][1]);
        (void)ops_run(o, "writes", write[i][0], "%s", write[i][1]);
    }
    /* Of nothing of the workspace: anybody may. */
    (void)ops_run(o, "nobody", "prompt:lint", "{'provider':'openai','neutral':" HI "}");
    den_check(o->d);
}

/* A summary is a turn: who may write sessions, and read what it sums up. */
TEST(ops_access, compact_is_for_who_may_read_and_write_sessions)
{
    ops *o = ops_open(t);

    ops_admit(o, "reads", caps_without("", "'prompt:write'"));
    ops_admit(o, "writes", "'session:write'");
    ops_admit(o, "both", "'session:write','session:read'");
    ops_refused(o, "reads", VALISE_E_DENIED, "session:write", "prompt:compact",
                "{'session':'s','keep':0,'text':'x'}");
    ops_refused(o, "writes", VALISE_E_DENIED, "session:read", "prompt:compact",
                "{'session':'s','keep':0,'text':'x'}");
    ops_refused(o, "writes", VALISE_E_DENIED, "session:read", "prompt:compact",
                "{'session':'s','keep':0,'dryRun':true}");
    (void)ops_run(o, "both", "prompt:compact", "{'session':'s','keep':0,'text':'x'}");
    den_check(o->d);
}

/* Who asks must be allowed to say something, and to build; else nothing is said. [K30] */
TEST(ops_access, ask_writes_nothing_for_who_may_not_build)
{
    ops *o = ops_open(t);
    const char *file = ops_file("{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"y\"}]}}");

    for (size_t i = 0; i < VLS_COUNT(all_caps); i++) {
        const char *who = test_format("a%zu", i);

        ops_admit(o, who, caps_without(all_caps[i], "'prompt:write','session:write'"));
        if (i >= 4 && !o->tree && strcmp(all_caps[i], "context:read") == 0)
            continue;
        ops_refused(o, who, VALISE_E_DENIED, all_caps[i], "prompt:ask",
                    "{%s,'text':'x','replay':"
                    "'%s'}",
                    ops_prompt_args(o), file);
    }
    ops_admit(o, "mute", caps_without("", "'prompt:write'"));
    ops_refused(o, "mute", VALISE_E_DENIED, "session:write", "prompt:ask",
                "{'session':'s','provider':'openai','model':'m','text':'x','replay':'%s'}", file);
    CHECK_INT(OPS_TURNS, den_times(ops_run(o, NULL, "turn:log", "{'sessionId':'s'}"), "\"role\":"));
}

/* ---- what he may not read ---- */

static const char *const reading[][2] = {
    {"prompt:list", "{}"},
    {"prompt:list", "{'session':'s'}"},
    {"prompt:show", "{'prompt':'A'}"},
    {"prompt:show", "{'prompt':'A','neutral':true,'wire':true}"},
    {"prompt:show", "{'prompt':'A','manifest':true}"},
    {"prompt:blame", "{'prompt':'A'}"},
    {"prompt:blame", "{'prompt':'A','all':true}"},
    {"prompt:blame", "{'prompt':'A','part':0}"},
    {"prompt:blame", "{'prompt':'A','part':1}"},
    {"prompt:blame", "{'prompt':'A','part':2}"},
    {"prompt:blame", "{'prompt':'A','part':3}"},
    {"prompt:blame", "{'prompt':'A','part':4}"},
    {"prompt:blame", "{'prompt':'A','part':5}"},
    {"prompt:diff", "{'a':'A','b':'C'}"},
    {"prompt:diff", "{'a':'C','b':'A'}"},
    {"prompt:explain-miss", "{'a':'A','b':'C'}"},
    {"prompt:explain-miss", "{'a':'C','b':'A'}"},
    {"prompt:budget", "{ALL}"},
    {"prompt:build", "{ALL,'neutral':true,'wire':true}"},
    {"prompt:ask", "{ALL,'replay':'/dev/null'}"},
    {"prompt:compact", "{'session':'s','keep':0,'dryRun':true}"},
};

/* With the ids of prompts, and all arguments there are, in the places of A, C and ALL. */
static const char *fill(const ops *o, const char *payload, const char *c)
{
    const char *out = "";

    for (const char *at = payload; *at;) {
        if (strncmp(at, "'A'", 3) == 0) {
            out = test_format("%s'%s'", out, o->a);
            at += 3;
        } else if (strncmp(at, "'C'", 3) == 0) {
            out = test_format("%s'%s'", out, c);
            at += 3;
        } else if (strncmp(at, "ALL", 3) == 0) {
            out = test_format("%s%s", out, ops_prompt_args(o));
            at += 3;
        } else {
            out = test_format("%s%c", out, *at++);
        }
    }
    return ops_quote(out);
}

/* Each kind of source is taken from him in turn: of it nothing is told, neither text nor name, and
 * all other things are. */
TEST(ops_access, nothing_of_what_he_may_not_read)
{
    ops *o = ops_open(t);
    /* One with none of it but the turns: everything else entered or left. */
    const char *c = den_member(ops_run(o, NULL, "prompt:build",
                                       "{'session':'s','provider':'openai','model':'m',"
                                       "'contextShare':0,'tailShare':0}"),
                               "id");

    for (size_t i = 0; i < VLS_COUNT(all_caps); i++) {
        const char *kind = test_format("%.*s", (int)strcspn(all_caps[i], ":"), all_caps[i]);
        const char *who = test_format("without-%s", kind);

        ops_admit(o, who,
                  caps_without(all_caps[i], "'prompt:read','prompt:write','session:write'"));
        for (size_t r = 0; r < VLS_COUNT(reading); r++) {
            const char *payload = fill(o, reading[r][1], c);
            int rc = 0;
            const char *said = ops_said(&rc, o, who, reading[r][0], payload);
            const char *name = test_format("name-%s", kind);

            CHECK_MSG(!strstr(said, test_format("planted-%s", kind)), "%s, %s %s: %s", who,
                      reading[r][0], payload, said);
            /* What he said himself he knows. */
            CHECK_MSG(!strstr(said, name) || strstr(payload, name), "%s, %s %s: %s", who,
                      reading[r][0], payload, said);
        }
    }
    /* And that is no accident: the owner is told all of it. */
    for (size_t i = 0; i < VLS_COUNT(all_caps); i++) {
        const char *kind = test_format("%.*s", (int)strcspn(all_caps[i], ":"), all_caps[i]);

        if (strcmp(kind, "context") != 0 || o->tree)
            CHECK_MSG(
                strstr(ops_run(o, NULL, "prompt:show", "{'prompt':'%s','neutral':true}", o->a),
                       test_format("planted-%s", kind)),
                "%s", kind);
    }
    den_check(o->d);
}

/* The text of a file is as its bytes are. */
TEST(ops_access, files_of_text)
{
    ops *o = ops_open(t);
    const char *s = den_member(ops_run(o, NULL, "session:create", "{}"), "id"), *id;
    const char *blob = den_member(
        ops_run(o, NULL, "blob:register", "{'data':'c2VjcmV0IHNsaXA=','mediaType':'text/plain'}"),
        "sha256");
    const char *build, *shown;

    (void)ops_run(o, NULL, "turn:add",
                  "{'sessionId':'%s','turn':{'role':'user','blocks':[{'type':'document','blob':"
                  "'%s'}]}}",
                  s, blob);
    build = test_format("'session':'%s','provider':'openai','model':'m'", s);
    ops_admit(o, "blind", caps_without("", "'prompt:read','prompt:write','session:write'"));
    ops_admit(o, "sees", caps_without("", "'prompt:read','prompt:write','blob:read'"));
    ops_refused(o, "blind", VALISE_E_DENIED, "blob:read", "prompt:build", "{%s}", build);
    id = den_member(ops_run(o, "sees", "prompt:build", "{%s}", build), "id");
    shown = ops_run(o, "sees", "prompt:show", "{'prompt':'%s','neutral':true}", id);
    CHECK(strstr(shown, "secret slip") && strstr(shown, "\"neutralSame\":true"));
    shown = ops_run(o, "blind", "prompt:show", "{'prompt':'%s','neutral':true,'wire':true}", id);
    CHECK(!strstr(shown, "secret slip") && strstr(shown, "[denied]"));
    CHECK(strstr(shown, "\"denied\":1"));
    CHECK(!strstr(ops_run(o, "blind", "prompt:blame", "{'prompt':'%s','all':true}", id), "secret"));
    den_check(o->d);
}

/* Narrowed to a part of the tree, of notes. */
TEST(ops_access, paths_and_types_are_kept)
{
    ops *o = ops_open(t);
    const char *said;

    if (!o->tree) {
        CHECK(true); /* a tree needs a folder */
        return;
    }
    ops_admit(o, "elsewhere",
              caps_without("context:read",
                           "'prompt:read','prompt:write','context:read path=src/**',"
                           "'backpack:as-node'"));
    ops_admit(
        o, "risks",
        caps_without("context:read", "'prompt:read','prompt:write','context:read type=risk'"));
    said = ops_run(o, "elsewhere", "prompt:show", "{'prompt':'%s','neutral':true}", o->a);
    CHECK(!strstr(said, "planted-context") && !strstr(said, "name-context"));
    CHECK_TEXT("1", den_member(said, "denied"));
    CHECK(strstr(said, "[denied]") && strstr(said, "planted-session"));
    said = ops_run(o, "risks", "prompt:blame", "{'prompt':'%s','all':true}", o->a);
    CHECK(!strstr(said, "planted-context") && !strstr(said, "name-context"));
    ops_refused(o, "risks", VALISE_E_DENIED, "", "prompt:build", "{%s}", ops_prompt_args(o));
    ops_refused(o, "elsewhere", VALISE_E_DENIED, "", "prompt:build", "{%s}", ops_prompt_args(o));
}

/* A backpack narrows by node: who may read the backpack at all reads as the node he names, and the
 * manifest remembers which. */
TEST(ops_access, items_are_read_as_the_node)
{
    ops *o = ops_open(t);

    (void)ops_run(o, NULL, "backpack:permit", "{'backpack':'bag','nodeId':'other','read':['z']}");
    ops_refused(o, NULL, VALISE_E_DENIED, "", "prompt:build",
                "{'session':'s','provider':'openai','model':'m','backpack':'bag','node':'other',"
                "'items':['name-backpack']}");
    CHECK(!strstr(
        ops_run(o, NULL, "prompt:build",
                "{'session':'s','provider':'openai','model':'m','backpack':'bag','node':'other',"
                "'neutral':true,'noRecord':true}"),
        "planted-backpack"));
}
