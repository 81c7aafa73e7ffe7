/* ops_args.c -- what the operations of prompts answer, and what they refuse. [P1] to [P16] */
#include "prompt/ops_kit.h"

TEST_PARAMS(ops_args, "memory", "sqlite")

/* ---- prompts that were made ---- */

TEST(ops_args, list_is_the_newest_first)
{
    ops *o = ops_open(t);
    const char *all = ops_run(o, NULL, "prompt:list", "{}");

    CHECK_INT(2, den_times(all, "\"id\":"));
    CHECK_TEXT(o->b, den_member(all, "id"));
    CHECK_TEXT("m", den_member(all, "model"));
    CHECK_TEXT("openai", den_member(all, "provider"));
    CHECK_TEXT("local", den_member(all, "actor"));
    CHECK_INT(1, den_times(ops_run(o, NULL, "prompt:list", "{'limit':1}"), "\"id\":"));
    CHECK_INT(2, den_times(ops_run(o, NULL, "prompt:list", "{'session':'s'}"), "\"id\":"));
    (void)ops_run(o, NULL, "session:create", "{'label':'other'}");
    CHECK_INT(0, den_times(ops_run(o, NULL, "prompt:list", "{'session':'other'}"), "\"id\":"));
    ops_refused(o, NULL, VALISE_E_NOT_FOUND, "nosuch", "prompt:list", "{'session':'nosuch'}");
    ops_refused(o, NULL, VALISE_E_INVALID, "limit", "prompt:list", "{'limit':-1}");
    ops_refused(o, NULL, VALISE_E_INVALID, "session", "prompt:list", "{'session':''}");
    den_check(o->d);
}

/* All that take a prompt take it in the same ways. */
TEST(ops_args, an_id_and_its_beginning)
{
    static const char *const one[] = {"prompt:show", "prompt:blame", "prompt:delete"};
    static const char *const two[] = {"prompt:diff", "prompt:explain-miss"};
    ops *o = ops_open(t);
    const char *none = "0000000000000000000000000000000000000000000000000000000000000000";

    for (size_t i = 0; i < VLS_COUNT(one); i++) {
        ops_refused(o, NULL, VALISE_E_NOT_FOUND, "no prompt", one[i], "{'prompt':'%s'}", none);
        ops_refused(o, NULL, VALISE_E_NOT_FOUND, "no prompt", one[i], "{'prompt':'zzzz'}");
        ops_refused(o, NULL, VALISE_E_NOT_FOUND, "no prompt", one[i], "{'prompt':'../..'}");
        ops_refused(o, NULL, VALISE_E_NOT_FOUND, "no prompt", one[i], "{'prompt':'%.60sZZZZ'}",
                    o->a);
        ops_refused(o, NULL, VALISE_E_NOT_FOUND, "prompt", one[i], "{'prompt':'%.3s'}", o->a);
        ops_refused(o, NULL, VALISE_E_NOT_FOUND, "prompt", one[i], "{'prompt':'%s0'}", o->a);
        ops_refused(o, NULL, VALISE_E_INVALID, "prompt", one[i], "{'prompt':7}");
        ops_refused(o, NULL, VALISE_E_INVALID, "prompt", one[i], "{}");
        ops_refused(o, NULL, VALISE_E_INVALID, "nosuch", one[i], "{'prompt':'%s','nosuch':1}",
                    o->a);
    }
    for (size_t i = 0; i < VLS_COUNT(two); i++) {
        ops_refused(o, NULL, VALISE_E_NOT_FOUND, "no prompt", two[i], "{'a':'%s','b':'%s'}", o->a,
                    none);
        ops_refused(o, NULL, VALISE_E_NOT_FOUND, "no prompt", two[i], "{'a':'%s','b':'%s'}", none,
                    o->a);
        ops_refused(o, NULL, VALISE_E_INVALID, "b", two[i], "{'a':'%s'}", o->a);
    }
    CHECK_TEXT(o->a, den_member(ops_run(o, NULL, "prompt:show", "{'prompt':'%.8s'}", o->a), "id"));
    CHECK_TEXT(o->a,
               den_member(ops_run(o, NULL, "prompt:delete", "{'prompt':'%.9s'}", o->a), "id"));
    ops_refused(o, NULL, VALISE_E_NOT_FOUND, "no prompt", "prompt:show", "{'prompt':'%s'}", o->a);
    CHECK_TEXT(o->b, den_member(ops_run(o, NULL, "prompt:show", "{'prompt':'%s'}", o->b), "id"));
    den_check(o->d);
}

/* Some three of a hundred share their first digit with another one: they are told apart. */
TEST(ops_args, a_beginning_of_several)
{
    ops *o = ops_open(t);
    const char *ids[600], *mine = NULL, *other = NULL;
    size_t count = 0;

    for (; count < VLS_COUNT(ids) && !mine; count++) {
        ids[count] = den_member(
            ops_run(o, NULL, "prompt:build",
                    "{'session':'s','provider':'openai','model':'m','params':{'maxTokens':%zu}}",
                    count + 1),
            "id");
        for (size_t i = 0; i < count && !mine; i++)
            if (strncmp(ids[i], ids[count], 4) == 0) {
                mine = ids[count];
                other = ids[i];
            }
    }
    if (!mine)
        return; /* once in ten runs nobody is alike */
    ops_refused(o, NULL, VALISE_E_CONFLICT, "", "prompt:show", "{'prompt':'%.4s'}", mine);
    CHECK(strstr(t->err.message, "several") || strstr(t->err.message, "ambiguous") ||
          strstr(t->err.message, "more than one"));
    CHECK_TEXT(other, den_member(ops_run(o, NULL, "prompt:show", "{'prompt':'%s'}", other), "id"));
}

TEST(ops_args, show_gives_what_is_asked_for)
{
    ops *o = ops_open(t);
    const char *plain = ops_run(o, NULL, "prompt:show", "{'prompt':'%s'}", o->a);
    const char *built =
        ops_run(o, NULL, "prompt:build", "{%s,'turn':'HEAD~1','wire':true,'neutral':true}",
                ops_prompt_args(o));
    const char *shown =
        ops_run(o, NULL, "prompt:show", "{'prompt':'%s','wire':true,'neutral':true}", o->a);
    const char *manifest = ops_run(o, NULL, "prompt:show", "{'prompt':'%s','manifest':true}", o->a);
    const char *path = test_format("%s/request", test_tmpdir());

    CHECK_TEXT(o->a, den_member(built, "id")); /* the same again */
    CHECK_TEXT("true", den_member(built, "existed"));
    CHECK_TEXT(den_member(built, "wireHash"), den_member(shown, "wireHash"));
    CHECK(strstr(shown, "\"wireSame\":true") && strstr(shown, "\"neutralSame\":true"));
    CHECK(strstr(shown, "planted-session") && !strstr(plain, "planted"));
    CHECK(!strstr(plain, "\"manifest\":{") && !strstr(plain, "\"wire\":"));
    CHECK(strstr(manifest, "name-memory") && !strstr(manifest, "planted")); /* [P8] no text */
    (void)ops_run(o, NULL, "prompt:show", "{'prompt':'%s','output':'%s'}", o->a, path);
    CHECK(strstr(test_read_file(path).ptr, "planted-session"));
    ops_refused(o, NULL, VALISE_E_EXISTS, "already exists", "prompt:show",
                "{'prompt':'%s','output':'%s'}", o->a, path);
    (void)ops_run(o, NULL, "prompt:show", "{'prompt':'%s','output':'%s','force':true}", o->a, path);
    CHECK_INT(VALISE_E_NOT_FOUND,
              den_try(o->d, "prompt:show",
                      ops_quote(test_format("{'prompt':'%s','output':'%s/no/such'}", o->a,
                                            test_tmpdir()))));
}

TEST(ops_args, blame_diff_and_miss)
{
    ops *o = ops_open(t);
    const char *all = ops_run(o, NULL, "prompt:blame", "{'prompt':'%s','all':true}", o->b);
    const char *some = ops_run(o, NULL, "prompt:blame", "{'prompt':'%s'}", o->b);

    CHECK(den_times(all, "\"offset\":") > den_times(some, "\"offset\":"));
    CHECK(strstr(some, "name-memory") && strstr(some, "planted-memory"));
    CHECK(
        strstr(ops_run(o, NULL, "prompt:blame", "{'prompt':'%s','part':0}", o->b), "\"offset\":"));
    ops_refused(o, NULL, VALISE_E_NOT_FOUND, "no part 99", "prompt:blame",
                "{'prompt':'%s','part':99}", o->b);
    ops_refused(o, NULL, VALISE_E_INVALID, "part", "prompt:blame", "{'prompt':'%s','part':-1}",
                o->b);
    CHECK_INT(0, den_times(ops_run(o, NULL, "prompt:diff", "{'a':'%s','b':'%s'}", o->a, o->a),
                           "\"change\":"));
    CHECK_INT(1, den_times(ops_run(o, NULL, "prompt:diff", "{'a':'%s','b':'%s'}", o->a, o->b),
                           "\"change\":\"entered\""));
    CHECK_INT(1, den_times(ops_run(o, NULL, "prompt:diff", "{'a':'%s','b':'%s'}", o->b, o->a),
                           "\"change\":\"left\""));
    CHECK(strstr(ops_run(o, NULL, "prompt:explain-miss", "{'a':'%s','b':'%s'}", o->a, o->a),
                 "\"hit\":true"));
    all = ops_run(o, NULL, "prompt:explain-miss", "{'a':'%s','b':'%s'}", o->a, o->b);
    CHECK(strstr(all, "\"hit\":false") && strstr(all, "\"before\":{") &&
          strstr(all, "\"after\":{"));
    some = den_member(
        ops_run(o, NULL, "prompt:build", "{'session':'s','provider':'mistral','model':'m'}"), "id");
    ops_refused(o, NULL, VALISE_E_INVALID, "do not share a cache", "prompt:explain-miss",
                "{'a':'%s','b':'%s'}", o->a, some);
}

/* ---- building ---- */

TEST(ops_args, build_refuses)
{
    static const struct {
        int code;
        const char *says, *more; /* beside session and provider */
    } bad[] = {
        {VALISE_E_NOT_FOUND, "nowhere", "'session':'s','provider':'nowhere'"},
        {VALISE_E_NOT_FOUND, "nosuch", "'session':'nosuch','provider':'openai'"},
        {VALISE_E_INVALID, "provider", "'session':'s'"},
        {VALISE_E_INVALID, "provider", "'session':'s','provider':''"},
        {VALISE_E_INVALID, "session", "'provider':'openai'"},
        {VALISE_E_INVALID, "model", "'session':'s','provider':'openai','model':''"},
        {VALISE_E_NOT_FOUND, "", "'session':'s','provider':'openai','turn':'HEAD~9'"},
        {VALISE_E_INVALID, "window", "'session':'s','provider':'openai','window':0"},
        {VALISE_E_INVALID, "window", "'session':'s','provider':'openai','window':-1"},
        {VALISE_E_INVALID, "window", "'session':'s','provider':'openai','window':1e99"},
        {VALISE_E_INVALID, "reserve", "'session':'s','provider':'openai','reserve':-1"},
        {VALISE_E_INVALID, "reserved for the answer",
         "'session':'s','provider':'openai','window':100,'reserve':100"},
        {VALISE_E_INVALID, "reserved for the answer",
         "'session':'s','provider':'openai','window':100,'params':{'maxTokens':100}"},
        {VALISE_E_LIMIT, "tokens", "'session':'s','provider':'openai','window':9"},
        {VALISE_E_INVALID, "contextShare", "'session':'s','provider':'openai','contextShare':101"},
        {VALISE_E_INVALID, "tailShare", "'session':'s','provider':'openai','tailShare':-1"},
        {VALISE_E_INVALID, "merge", "'session':'s','provider':'openai','merge':'none'"},
        {VALISE_E_INVALID, "thinking", "'session':'s','provider':'openai','thinking':'x'"},
        {VALISE_E_INVALID, "array", "'session':'s','provider':'openai','tools':{}"},
        {VALISE_E_INVALID, "object", "'session':'s','provider':'openai','params':[]"},
        {VALISE_E_INVALID, "give `node`", "'session':'s','provider':'openai','backpack':'bag'"},
        {VALISE_E_INVALID, "give `backpack`", "'session':'s','provider':'openai','node':'n'"},
        {VALISE_E_NOT_FOUND, "nobag",
         "'session':'s','provider':'openai','backpack':'nobag','node':'n'"},
        {VALISE_E_NOT_FOUND, "", "'session':'s','provider':'openai','paths':['no.c']"},
        {VALISE_E_INVALID, "policies", "'session':'s','provider':'openai','policies':{'nosuch':1}"},
        {VALISE_E_INVALID, "time", "'session':'s','provider':'openai','time':'soon'"},
        {VALISE_E_INVALID, "query", "'session':'s','provider':'openai','query':''"},
        {VALISE_E_INVALID, "inlineMax", "'session':'s','provider':'openai','inlineMax':-5"},
    };
    ops *o = ops_open(t);
    static const char *const both[] = {"prompt:build", "prompt:budget"};

    for (size_t b = 0; b < VLS_COUNT(both); b++)
        for (size_t i = 0; i < VLS_COUNT(bad); i++)
            ops_refused(o, NULL, bad[i].code, bad[i].says, both[b], "{%s}", bad[i].more);
    (void)ops_run(o, NULL, "session:create", "{'label':'empty'}");
    ops_refused(o, NULL, VALISE_E_NOT_FOUND, "has no turns yet", "prompt:build",
                "{'session':'empty','provider':'openai'}");
    ops_refused(o, NULL, VALISE_E_INVALID, "tools", "prompt:build",
                "{'session':'s','provider':'openai','model':'m','tools':[7]}");
    ops_refused(o, NULL, VALISE_E_INVALID, "tools", "prompt:build",
                "{'session':'s','provider':'openai','model':'m','tools':[{}]}");
    ops_refused(o, NULL, VALISE_E_INVALID, "no model", "prompt:build",
                "{'session':'s','provider':'openai'}");
    if (o->tree)
        ops_refused(o, NULL, VALISE_E_INVALID, "outside", "prompt:build",
                    "{'session':'s','provider':'openai','model':'m','paths':['../x']}");
    ops_refused(o, NULL, VALISE_E_INVALID, "largest", "prompt:budget",
                "{'session':'s','provider':'openai','largest':1001}");
    CHECK_INT(2, den_times(ops_run(o, NULL, "prompt:list", "{}"), "\"id\":"));
    den_check(o->d);
}

TEST(ops_args, build_and_budget_agree)
{
    ops *o = ops_open(t);
    const char *payload = test_format("{%s,'window':4000,'reserve':500}", ops_prompt_args(o));
    int64_t seq = den_seq(o->d);
    const char *budget = ops_run(o, NULL, "prompt:budget", "%s", payload);
    const char *built;

    CHECK_INT(seq, den_seq(o->d));
    built = ops_run(o, NULL, "prompt:build", "%s", payload);
    CHECK_TEXT(den_member(strstr(built, "\"sessionId\":"), "tokens"),
               den_member(strstr(budget, "}],\"tokens\":"), "tokens"));
    CHECK_TEXT("3500", den_member(budget, "limit"));
    CHECK(den_seq(o->d) > seq);
    seq = den_seq(o->d);
    built =
        ops_run(o, NULL, "prompt:build", "{%s,'noRecord':true,'wire':true}", ops_prompt_args(o));
    CHECK_INT(seq, den_seq(o->d));
    CHECK(strstr(built, "planted-session") && !strstr(built, "\"id\":\""));
    CHECK(strstr(ops_run(o, NULL, "prompt:budget", "{%s,'largest':1}", ops_prompt_args(o)),
                 "\"largest\":[{"));
    CHECK_TEXT("[", test_format("%.1s", strstr(ops_run(o, NULL, "prompt:budget", "{%s,'largest':0}",
                                                       ops_prompt_args(o)),
                                               "\"largest\":[]") +
                                            10));
}

/* What fits with the policies alone is weighed all the same: that is what they are for. [P15] */
TEST(ops_args, budget_of_what_fits_by_its_policies_alone)
{
    ops *o = ops_open(t);
    const char *budget;

    (void)ops_run(o, NULL, "turn:add",
                  "{'sessionId':'s','turn':{'role':'assistant','blocks':[{'type':'tool_use',"
                  "'callId':'c1','name':'read','args':{}}]}}");
    (void)ops_run(o, NULL, "turn:add",
                  "{'sessionId':'s','turn':{'role':'tool','blocks':[{'type':'tool_result',"
                  "'callId':'c1','content':'%09000d'}]}}",
                  7);
    ops_refused(o, NULL, VALISE_E_LIMIT, "tokens", "prompt:budget",
                "{'session':'s','provider':'openai','window':1000}");
    budget = ops_run(o, NULL, "prompt:budget",
                     "{'session':'s','provider':'openai','window':1000,'policies':{'cutResults':"
                     "{'over':1000,'head':100,'tail':100}}}");
    CHECK(strtoll(den_member(budget, "saved"), NULL, 10) > 1000);
    CHECK(strtoll(den_member(budget, "without"), NULL, 10) > 1000);
    CHECK(!strstr(budget, "trimmedWithout"));
}

/* ---- what needs no session ---- */

#define HI "{'version':1,'messages':[{'role':'user','blocks':[{'type':'text','text':'Hi'}]}]}"

TEST(ops_args, lint_render_and_parse)
{
    ops *o = ops_open(t);
    const char *done;

    CHECK_INT(0,
              den_times(ops_run(o, NULL, "prompt:lint", "{'provider':'openai','neutral':" HI "}"),
                        "\"rule\":"));
    done = ops_run(o, NULL, "prompt:lint",
                   "{'provider':'openai','request':{'messages':[{'role':'tool','tool_call_id':'x',"
                   "'content':'y'}]}}");
    CHECK(strstr(done, "\"rule\":\"R1.2\"") && strstr(done, "\"mended\":false"));
    ops_refused(o, NULL, VALISE_E_INVALID, "either", "prompt:lint", "{'provider':'openai'}");
    ops_refused(o, NULL, VALISE_E_INVALID, "either", "prompt:lint",
                "{'provider':'openai','neutral':" HI ",'request':{}}");
    ops_refused(o, NULL, VALISE_E_NOT_FOUND, "nowhere", "prompt:lint",
                "{'provider':'nowhere','neutral':" HI "}");
    ops_refused(o, NULL, VALISE_E_INVALID, "version", "prompt:lint",
                "{'provider':'openai','neutral':{'version':9,'messages':[]}}");
    ops_refused(o, NULL, VALISE_E_INVALID, "", "prompt:lint", "{'provider':'openai','neutral':7}");
    done = ops_run(o, NULL, "prompt:render",
                   "{'provider':'anthropic','neutral':" HI ",'model':'m','stream':true}");
    CHECK(strstr(done, "\\\"stream\\\":true") && strstr(done, "\\\"model\\\":\\\"m\\\""));
    ops_refused(o, NULL, VALISE_E_NOT_FOUND, "nowhere", "prompt:render",
                "{'provider':'nowhere','neutral':" HI "}");
    ops_refused(o, NULL, VALISE_E_INVALID, "role", "prompt:render",
                "{'provider':'openai','neutral':{'version':1,'messages':[{'role':'x'}]}}");
    /* A stranger's prompt opens no blob by its hash. */
    ops_refused(o, NULL, VALISE_E_NOT_FOUND, "", "prompt:render",
                "{'provider':'openai','model':'m','neutral':{'version':1,'messages':[{'role':'user'"
                ",'blocks':"
                "[{'type':'image','mediaType':'image/png','size':5,'blob':'%s'}]}]}}",
                o->a);
    done = ops_run(o, NULL, "prompt:parse",
                   "{'provider':'openai','response':'{\\'choices\\':[{\\'message\\':{\\'content\\':"
                   "\\'Hi\\'},\\'finish_reason\\':\\'stop\\'}]}'}");
    CHECK_TEXT("end", den_member(done, "stop"));
    ops_refused(o, NULL, VALISE_E_INVALID, "either", "prompt:parse", "{'provider':'openai'}");
    ops_refused(o, NULL, VALISE_E_INVALID, "either", "prompt:parse",
                "{'provider':'openai','response':'{}','stream':''}");
    ops_refused(o, NULL, VALISE_E_INVALID, "JSON", "prompt:parse",
                "{'provider':'openai','response':'nope'}");
    ops_refused(o, NULL, VALISE_E_NOT_FOUND, "nowhere", "prompt:parse",
                "{'provider':'nowhere','response':'{}'}");
}

/* ---- asking ---- */

#define YES "{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"Yes.\"}],\"stop\":\"end\"}}\n"

/* Whatever a build refuses is refused before anything is said: who repeats the call does not say it
 * twice. */
TEST(ops_args, ask_refuses_before_anything_is_said)
{
    static const struct {
        int code;
        const char *says, *more;
    } bad[] = {
        {VALISE_E_NOT_FOUND, "nosuch", "'session':'nosuch','model':'m'"},
        {VALISE_E_INVALID, "no model", "'session':'s'"},
        {VALISE_E_INVALID, "head", "'session':'s','model':'m','turn':'HEAD~1'"},
        {VALISE_E_INVALID, "reserved for the answer",
         "'session':'s','model':'m','window':9,'reserve':9"},
        {VALISE_E_LIMIT, "tokens", "'session':'s','model':'m','window':9"},
        {VALISE_E_INVALID, "array", "'session':'s','model':'m','tools':{}"},
        {VALISE_E_INVALID, "tools", "'session':'s','model':'m','tools':[{}]"},
        {VALISE_E_INVALID, "object", "'session':'s','model':'m','params':[]"},
        {VALISE_E_INVALID, "temperature", "'session':'s','model':'m','params':{'temperature':9}"},
        {VALISE_E_INVALID, "give `node`", "'session':'s','model':'m','backpack':'bag'"},
        {VALISE_E_NOT_FOUND, "nobag", "'session':'s','model':'m','backpack':'nobag','node':'n'"},
        {VALISE_E_NOT_FOUND, "", "'session':'s','model':'m','paths':['no.c']"},
        {VALISE_E_NOT_FOUND, "no/such", "'session':'s','model':'m','attach':['/no/such']"},
        {VALISE_E_INVALID, "blocks", "'session':'s','model':'m','blocks':[{'type':'text'}]"},
        {VALISE_E_INVALID, "white space", "'session':'s','model':'m','text':' \\n\\u2003'"},
    };
    ops *o = ops_open(t);
    const char *file = ops_file(YES);

    for (size_t i = 0; i < VLS_COUNT(bad); i++)
        ops_refused(o, NULL, bad[i].code, bad[i].says, "prompt:ask",
                    strstr(bad[i].more, "'blocks'") || strstr(bad[i].more, "'text':")
                        ? "{'provider':'openai','replay':'%s',%s}"
                        : "{'provider':'openai','text':'x','replay':'%s',%s}",
                    file, bad[i].more);
    (void)ops_run(o, NULL, "session:create", "{'label':'empty'}");
    ops_refused(o, NULL, VALISE_E_NOT_FOUND, "has no turns yet", "prompt:ask",
                "{'session':'empty','provider':'openai','model':'m','replay':'%s'}", file);
    CHECK_TEXT("Yes.", den_member(ops_run(o, NULL, "prompt:ask",
                                          "{'session':'empty','provider':'openai','model':'m',"
                                          "'text':'x','replay':'%s'}",
                                          file),
                                  "text"));
    den_check(o->d);
}

/* Who speaks is who speaks at the head: its constraints count. */
TEST(ops_args, ask_takes_the_model_of_the_role_in_force)
{
    ops *o = ops_open(t);

    (void)ops_run(o, NULL, "role:add", "{'name':'r2','constraints':{'model':'of-the-role'}}");
    (void)ops_run(o, NULL, "session:role:switch", "{'sessionId':'s','newRole':'r2'}");
    CHECK_TEXT("of-the-role", den_member(ops_run(o, NULL, "prompt:ask",
                                                 "{'session':'s','provider':'openai','text':'x',"
                                                 "'replay':'%s'}",
                                                 ops_file(YES)),
                                         "model"));
    den_check(o->d);
}

/* ---- compact, calibrate ---- */

TEST(ops_args, calibrate)
{
    ops *o = ops_open(t);
    const char *done =
        ops_run(o, NULL, "prompt:calibrate", "{'model':'m','estimated':1000,'reported':2000}");

    CHECK_TEXT("32", den_member(done, "scale"));
    CHECK_TEXT("true", den_member(done, "changed"));
    ops_refused(o, NULL, VALISE_E_INVALID, "estimated", "prompt:calibrate",
                "{'model':'m','estimated':0,'reported':5}");
    ops_refused(o, NULL, VALISE_E_INVALID, "reported", "prompt:calibrate",
                "{'model':'m','estimated':500,'reported':-5}");
    ops_refused(o, NULL, VALISE_E_INVALID, "model", "prompt:calibrate",
                "{'model':'','estimated':500,'reported':5}");
    ops_refused(o, NULL, VALISE_E_INVALID, "reported", "prompt:calibrate",
                "{'model':'m','estimated':500}");
    /* What is that far off is no count of this prompt: the scale stays within its bounds. */
    CHECK_TEXT("64", den_member(ops_run(o, NULL, "prompt:calibrate",
                                        "{'model':'x','estimated':64,'reported':1099511627776}"),
                                "scale"));
    den_check(o->d);
}

/* They are for the engine itself: nobody records what was not built. */
TEST(ops_args, record_and_sweep_are_nobodys)
{
    ops *o = ops_open(t);

    ops_refused(o, NULL, VALISE_E_DENIED, "", "prompt:record",
                "{'manifest':{},'session':'00000000-0000-7000-8000-000000000001','adapter':'x',"
                "'time':0,'seq':1,'tokens':1,'neutral':'%s','wire':'%s'}",
                o->a, o->a);
    ops_refused(o, NULL, VALISE_E_DENIED, "", "prompt:sweep", "{'seen':99}");
}
