/* keep.c -- what prompts keep from expiring, and what an erasure takes from them. [P8] [K20] [K30]
 */
#include <stdio.h>

#include "memory/kit.h"

TEST_PARAMS(keep, "memory", "sqlite")

static const char *quoted(const char *text)
{
    char *copy = test_alloc(strlen(text) + 1);

    for (size_t i = 0; text[i]; i++)
        copy[i] = text[i] == '\'' ? '"' : text[i];
    return copy;
}

static const char *run(den *d, const char *op, const char *json)
{
    return den_run(d, op, quoted(json));
}

static den *begin(test *t)
{
    den *d = den_open(t);

    (void)run(d, "session:create", "{'label':'s','topics':['a']}");
    (void)run(d, "turn:add",
              "{'sessionId':'s','turn':{'role':'user','blocks':[{'type':'text','text':'hi'}]}}");
    return d;
}

static const char *build_with(den *d, const char *more)
{
    return den_member(run(d, "prompt:build",
                          test_format("{'session':'s','provider':'openai','model':'m'%s}", more)),
                      "id");
}

static const char *build(den *d)
{
    return build_with(d, "");
}

static const char *show(den *d, const char *id)
{
    return run(d, "prompt:show", test_format("{'prompt':'%s','neutral':true}", id));
}

static void is_as_it_was(den *d, const char *id)
{
    const char *shown = show(d, id);

    CHECK_MSG(strstr(shown, "\"neutralSame\":true") && strstr(shown, "\"wireSame\":true"), "%s",
              shown);
}

/* So many parts of it are gone, and nothing of these bytes is left. */
static void is_erased(den *d, const char *id, int parts, const char *bytes)
{
    const char *shown = show(d, id);

    CHECK_MSG(strstr(shown, test_format("\"erased\":%d", parts)), "%s", shown);
    CHECK_MSG(strstr(shown, "[erased]"), "%s", shown);
    CHECK(strstr(shown, "\"neutralSame\":false") && strstr(shown, "\"wireSame\":false"));
    CHECK_MSG(!strstr(shown, bytes), "%s", shown);
    CHECK_MSG(!den_has_bytes(d, bytes), "%s is left in some file", bytes);
}

/* The log forgets, and what nothing refers to goes. */
static void forget(den *d)
{
    (void)run(d, "retention:set", "{'kind':'log','keepLatest':1}");
    (void)run(d, "workspace:gc", "{'grace':'0s'}");
    (void)run(d, "session:create", "{}"); /* the log keeps its last entry */
    (void)run(d, "workspace:gc", "{'grace':'0s'}");
}

/* ---- what changed since does not matter ---- */

TEST(keep, what_changed_since_does_not_matter)
{
    den *d = begin(t);
    const char *id, *before;

    (void)run(d, "preference:add",
              "{'content':'Be brief.','id':'00000000-0000-7000-8000-000000000001'}");
    (void)run(d, "context:add", "{'key':'k','text':'planted-one','topics':['a']}");
    (void)run(d, "backpack:create", "{'name':'bag','items':{'x':'planted-x'}}");
    (void)run(d, "backpack:permit", "{'backpack':'bag','nodeId':'n','read':['*']}");
    id = build_with(d, ",'window':4000,'backpack':'bag','node':'n','params':{'temperature':0.5}");
    before = show(d, id);
    for (int i = 0; i < 3; i++)
        (void)run(d, "turn:add",
                  "{'sessionId':'s','turn':{'role':'assistant','blocks':[{'type':'text',"
                  "'text':'later'}]}}");
    (void)run(d, "preference:delete", "{'id':'00000000-0000-7000-8000-000000000001'}");
    (void)run(d, "context:update", "{'key':'k','text':'another'}");
    (void)run(d, "backpack:pack", "{'backpack':'bag','key':'x','value':'other'}");
    (void)run(d, "backpack:permit", "{'backpack':'bag','nodeId':'n','read':['y']}");
    (void)run(d, "session:update", "{'sessionId':'s','topics':['b']}");
    CHECK_TEXT(before, show(d, id));
    is_as_it_was(d, id);
    den_check(d);
}

/* Who ranks is named, and stands in the manifest with its version. [P2] */
TEST(keep, the_retriever_is_an_option)
{
    den *d = begin(t);
    const char *shown =
        run(d, "prompt:show",
            test_format("{'prompt':'%s','manifest':true}", build_with(d, ",'retriever':'bm25'")));

    CHECK(strstr(shown, "\"retriever\":\"bm25\",\"retrieverVersion\":1,\"scale\":16"));
    CHECK(strstr(shown, "\"reserve\":0,\"retriever\":\"bm25\"")); /* of the request */
    den_refused(d, VALISE_E_NOT_FOUND, "there is no retriever 'nobody'", "prompt:build",
                quoted("{'session':'s','provider':'openai','model':'m','retriever':'nobody'}"));
}

/* ---- erasures ---- */

/* The blob of an earlier version is held by prompts alone. */
TEST(keep, an_erased_entry_takes_the_blob_it_was_before)
{
    den *d = begin(t);
    const char *id;

    (void)run(d, "context:add",
              "{'key':'k','data':'cGxhbnRlZC1vbmU=','mediaType':'text/plain','topics':['a']}");
    id = build(d);
    (void)run(d, "context:update",
              "{'key':'k','data':'cGxhbnRlZC10d28=','mediaType':'text/plain'}");
    is_as_it_was(d, id);
    (void)run(d, "context:erase", "{'key':'k'}");
    is_erased(d, id, 1, "planted-one");
    CHECK(!den_has_bytes(d, "planted-two"));
    den_check(d);
}

/* The log has forgotten the version that was sent. */
TEST(keep, an_erased_entry_takes_the_text_it_was_before)
{
    den *d = begin(t);
    const char *id;

    (void)run(d, "context:add", "{'key':'k/%','text':'planted-one','topics':['a']}");
    id = build(d);
    (void)run(d, "context:update", "{'key':'k/%','text':'planted-two'}");
    forget(d);
    is_as_it_was(d, id);
    (void)run(d, "context:erase", "{'key':'k/%'}");
    is_erased(d, id, 1, "planted-one");
    CHECK(!den_has_bytes(d, "planted-two"));
    den_check(d);
}

TEST(keep, an_entry_that_expired_can_be_erased)
{
    den *d = begin(t);
    const char *id;

    (void)run(d, "context:add", "{'key':'k','text':'planted-one','topics':['a'],'ttl':'1h'}");
    (void)run(d, "context:add",
              "{'key':'f','data':'cGxhbnRlZC10d28=','mediaType':'text/plain','topics':['a'],"
              "'ttl':'1h'}");
    id = build(d);
    den_wait(d, 2 * HOUR);
    (void)run(d, "workspace:gc", "{'grace':'0s'}");
    is_as_it_was(d, id);
    (void)run(d, "context:erase", "{'key':'f'}");
    is_erased(d, id, 1, "planted-two");
    forget(d);
    (void)run(d, "context:erase", "{'key':'k'}");
    is_erased(d, id, 2, "planted-one");
    den_check(d);
}

TEST(keep, an_erased_preference_takes_what_it_was_before)
{
    den *d = begin(t);
    const char *id;

    (void)run(d, "preference:add",
              "{'content':'planted-one','id':'00000000-0000-7000-8000-000000000001'}");
    id = build(d);
    (void)run(d, "preference:update",
              "{'id':'00000000-0000-7000-8000-000000000001','content':'planted-two'}");
    forget(d);
    is_as_it_was(d, id);
    (void)run(d, "preference:erase", "{'id':'00000000-0000-7000-8000-000000000001'}");
    is_erased(d, id, 1, "planted-one");
    den_check(d);
}

TEST(keep, an_erased_item_takes_what_it_was_before)
{
    den *d = begin(t);
    const char *id;

    (void)run(d, "backpack:create", "{'name':'bag','items':{'x':'planted-one'}}");
    (void)run(d, "backpack:permit", "{'backpack':'bag','nodeId':'n','read':['*']}");
    id = build_with(d, ",'backpack':'bag','node':'n'");
    for (int i = 0; i < 3; i++)
        (void)run(d, "backpack:pack",
                  test_format("{'backpack':'bag','key':'x','value':'planted-two-%d'}", i));
    (void)run(d, "retention:set", "{'kind':'backpack','keepLatest':1}");
    forget(d);
    is_as_it_was(d, id);
    (void)run(d, "backpack:erase", "{'backpack':'bag','key':'x'}");
    is_erased(d, id, 1, "planted-one");
    CHECK(!den_has_bytes(d, "planted-two"));
    den_check(d);
}

/* What another place has stays, there and in prompts. */
TEST(keep, what_another_place_holds_stays)
{
    den *d = begin(t);
    const char *id;

    (void)run(d, "context:add", "{'key':'k','text':'planted-one','topics':['a']}");
    (void)run(d, "context:add", "{'key':'l','text':'planted-one','topics':['a']}");
    id = build(d);
    (void)run(d, "context:erase", "{'key':'k'}");
    is_as_it_was(d, id);
    (void)run(d, "context:erase", "{'key':'l'}");
    is_erased(d, id, 2, "planted-one");
    den_check(d);
}

/* ---- deleting ---- */

/* What was deleted is not kept for prompts: it goes when the log lets go of it. */
TEST(keep, what_is_deleted_goes_with_the_log)
{
    den *d = begin(t);
    const char *id;

    (void)run(d, "context:add", "{'key':'k','text':'planted-one','topics':['a']}");
    (void)run(d, "preference:add",
              "{'content':'planted-two','id':'00000000-0000-7000-8000-000000000001'}");
    id = build(d);
    (void)run(d, "context:delete", "{'key':'k'}");
    (void)run(d, "preference:delete", "{'id':'00000000-0000-7000-8000-000000000001'}");
    is_as_it_was(d, id); /* the history has it */
    forget(d);
    is_erased(d, id, 2, "planted-");
    den_check(d);
}

/* ---- retention ---- */

static int64_t prompts(den *d)
{
    return den_times(run(d, "prompt:list", "{}"), "\"provider\"");
}

static void say(den *d, const char *text)
{
    (void)run(d, "turn:add",
              test_format("{'sessionId':'s','turn':{'role':'user','blocks':[{'type':'text','text':"
                          "'%s'}]}}",
                          text));
}

/* Records of prompts expire by number and age, with what they alone kept. */
TEST(keep, prompts_expire)
{
    den *d = begin(t);
    const char *ids[4];

    (void)run(d, "context:add", "{'key':'k','text':'planted-one','topics':['a']}");
    ids[0] = build(d);
    (void)run(d, "context:update", "{'key':'k','text':'planted-two'}");
    for (int i = 1; i < 4; i++) {
        den_wait(d, HOUR);
        say(d, "more");
        ids[i] = build(d);
    }
    (void)run(d, "pin:add", test_format("{'name':'p','target':'prompt/%s'}", ids[1]));
    (void)run(d, "retention:set", "{'kind':'prompt','keepLatest':3}");
    forget(d);
    CHECK_INT(3, prompts(d));
    CHECK_INT(VALISE_E_NOT_FOUND,
              den_try(d, "prompt:show", quoted(test_format("{'prompt':'%s'}", ids[0]))));
    (void)run(d, "retention:set", "{'kind':'prompt','age':'90m'}");
    (void)run(d, "workspace:gc", "{'grace':'0s'}");
    CHECK_INT(3, prompts(d)); /* the second is pinned */
    (void)run(d, "pin:remove", "{'name':'p'}");
    forget(d);
    CHECK_INT(2, prompts(d));
    CHECK(!den_has_bytes(d, "planted-one"));
    is_as_it_was(d, ids[2]);
    is_as_it_was(d, ids[3]);
    den_refused(d, VALISE_E_INVALID, "bytes are not counted", "retention:set",
                quoted("{'kind':'prompt','bytes':100}"));
    den_check(d);
}

/* In small steps while commands are written: no gc is needed. A session whose prompts are gone can
 * go itself. */
TEST(keep, prompts_expire_by_themselves)
{
    den *d = begin(t);

    (void)build(d);
    (void)run(d, "retention:set", "{'kind':'session','age':'1h'}");
    (void)run(d, "retention:set", "{'kind':'prompt','age':'1h'}");
    den_wait(d, 2 * HOUR);
    for (int i = 0; i < 3000 && prompts(d) > 0; i++)
        (void)run(d, "session:create", "{'label':'x'}");
    CHECK_INT(0, prompts(d));
    (void)run(d, "workspace:gc", "{}");
    CHECK(!strstr(run(d, "session:list", "{}"), "\"label\":\"s\""));
}

/* Whatever is automatic passes over what prompts need. */
TEST(keep, what_is_automatic_passes_over_it)
{
    den *d = begin(t);
    const char *id;

    (void)run(d, "context:add", "{'key':'k','text':'planted-one','topics':['a'],'ttl':'1h'}");
    (void)run(d, "context:add",
              "{'key':'f','data':'cGxhbnRlZC10d28=','mediaType':'text/plain','topics':['a'],"
              "'ttl':'1h'}");
    (void)run(d, "backpack:create", "{'name':'bag','items':{'x':'planted-x'}}");
    (void)run(d, "backpack:permit", "{'backpack':'bag','nodeId':'n','read':['*']}");
    id = build_with(d, ",'backpack':'bag','node':'n','params':{'temperature':0.5}");
    for (int i = 0; i < 3; i++)
        (void)run(d, "backpack:pack",
                  test_format("{'backpack':'bag','key':'x','value':'other-%d'}", i));
    den_wait(d, 2 * HOUR);
    (void)run(d, "retention:set", "{'kind':'backpack','keepLatest':1}");
    (void)run(d, "retention:set", "{'kind':'session','age':'1m'}");
    forget(d);
    is_as_it_was(d, id);
    (void)run(d, "backpack:drop", "{'backpack':'bag'}");
    forget(d);
    is_as_it_was(d, id);
    den_check(d);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* Notes on a file that is gone can be pruned; prompts that had them still show them. [C30] */
TEST(keep, notes_that_were_pruned)
{
    den *d = begin(t);
    const char *id, *pruned, *file;

    if (!d->dir) {
        CHECK(true); /* a tree needs a folder */
        return;
    }
    file = test_format("%s/a.c", d->dir);
    write_file(file, "int a;");
    (void)run(d, "tree:scan", "{}");
    (void)run(d, "frame:put",
              "{'node':'a.c','type':'summary','content':'cGxhbnRlZC1ub3Rl'}"); /* planted-note */
    id = build_with(d, ",'paths':['a.c']");
    CHECK(strstr(show(d, id), "planted-note"));
    CHECK(remove(file) == 0);
    (void)run(d, "tree:scan", "{}");
    pruned = run(d, "context:prune", "{'orphans':true,'versions':1}");
    CHECK_MSG(strstr(pruned, "\"frames\":1"), "%s", pruned);
    forget(d);
    is_as_it_was(d, id);
    (void)run(d, "prompt:delete", test_format("{'prompt':'%s'}", id));
    forget(d);
    CHECK(!den_has_bytes(d, "planted-note"));
    den_check(d);
}

/* ---- who may see items ---- */

static const char *show_as(den *d, const char *actor, const char *id)
{
    test *t = d->t;
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    const char *text;

    call.actor = valise_str_of(actor);
    CHECK_OK(valise_dispatch(&reply, d->v, "prompt:show",
                             quoted(test_format("{'prompt':'%s','neutral':true}", id)), &call,
                             &t->err));
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

static void add_agent(den *d, const char *name, const char *more)
{
    (void)run(d, "agent:add",
              test_format("{'id':'%s','role':'none','capabilities':['prompt:read','prompt:write',"
                          "'session:read','role:read','preference:read','memory:read',%s]}",
                          name, more));
}

/* To who could build it, and to nobody else: neither more nor less than then. [B21] */
TEST(keep, items_are_shown_to_who_could_build_it)
{
    const char *of = "{'session':'s','provider':'openai','model':'m','backpack':'a/b','node':'n',"
                     "'noRecord':true}";
    den *d = begin(t);
    const char *id;

    (void)run(d, "backpack:create", "{'name':'a/b','items':{'x':'planted-x','y':'planted-y'}}");
    (void)run(d, "backpack:permit", "{'backpack':'a/b','nodeId':'n','read':['x']}");
    add_agent(d, "owner", "'backpack:read'");
    add_agent(d, "node",
              "'backpack:read backpack=a/b node=n','backpack:as-node backpack=a/b node=n'");
    add_agent(d, "another",
              "'backpack:read backpack=a/b node=m','backpack:as-node backpack=a/b node=m'");
    add_agent(d, "stranger", "'backpack:read backpack=a','backpack:as-node backpack=a'");
    id = build_with(d, ",'backpack':'a/b','node':'n'");
    CHECK_INT(0, den_try_as(d, "node", "prompt:build", quoted(of)));
    CHECK_INT(VALISE_E_DENIED, den_try_as(d, "owner", "prompt:build", quoted(of)));
    CHECK_INT(VALISE_E_DENIED, den_try_as(d, "another", "prompt:build", quoted(of)));
    CHECK_INT(VALISE_E_DENIED, den_try_as(d, "stranger", "prompt:build", quoted(of)));
    for (int i = 0; i < 2; i++) {
        CHECK(strstr(show_as(d, "node", id), "planted-x"));
        CHECK(strstr(show_as(d, "node", id), "\"neutralSame\":true"));
        CHECK(!strstr(show_as(d, "owner", id), "planted-x"));
        CHECK(strstr(show_as(d, "owner", id), "[denied]"));
        CHECK(!strstr(show_as(d, "another", id), "planted-x"));
        CHECK(!strstr(show_as(d, "stranger", id), "planted-x"));
        /* What the node may read from now on does not change what it was sent. */
        (void)run(d, "backpack:permit", "{'backpack':'a/b','nodeId':'n','read':['y']}");
    }
}
