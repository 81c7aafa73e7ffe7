/* things.c -- stage 2: frames of named paths, items of a backpack. [P2] [P10] [C25] [B21] */
#include "prompt/kit.h"

#include <stdio.h>
#include <sys/stat.h>

TEST_PARAMS(things, "memory", "sqlite")

/* ---- items ---- */

static pot *with_items(test *t, const char **session, const char *how)
{
    pot *p = pot_open(t);

    (void)pot_do(p, "backpack:create", "{'name':'bag','items':{'b':[1,2],'a':{'x':1},'c':'no'}%s}",
                 how);
    (void)pot_do(p, "backpack:permit", "{'backpack':'bag','nodeId':'n','read':['a','b*','q']}");
    *session = pot_session(p, "");
    pot_say(p, *session, "user", "hi");
    p->ask.backpack = VLS_STR("bag");
    p->ask.node = VLS_STR("n");
    p->ask.asked = VLS_STR("{\"backpack\":\"bag\",\"node\":\"n\"}");
    return p;
}

TEST(things, items_that_the_node_may_read)
{
    const char *s;
    pot *p = with_items(t, &s, "");
    static const valise_str denied[] = {POT_STR("c")}, absent[] = {POT_STR("zzz")},
                            some[] = {POT_STR("b*"), POT_STR("b"), POT_STR("b")};

    pot_build(p, s);
    CHECK_TEXT("U[hi] U[Item a:\n{\"x\":1}|Item b:\n[1,2]]", p->said);
    CHECK_HAS(p->parts, "tail item bag/a|tail item bag/b");
    p->ask.items = (valise_list){some, 3};
    pot_build(p, s);
    CHECK_TEXT("U[hi] U[Item b:\n[1,2]]", p->said);
    p->ask.items = (valise_list){denied, 1};
    CHECK_RC(VALISE_E_DENIED, pot_try(p, s));
    p->ask.node = VLS_STR("");
    p->ask.items = (valise_list){absent, 1};
    CHECK_RC(VALISE_E_NOT_FOUND, pot_try(p, s));
    p->ask.items = (valise_list){denied, 1};
    pot_build(p, s);
    CHECK_TEXT("U[hi] U[Item c:\n\"no\"]", p->said);
    p->ask.backpack = VLS_STR("nobody");
    CHECK_RC(VALISE_E_NOT_FOUND, pot_try(p, s));
}

/* [P10]: what is in quarantine is in no prompt; a packed error is. */
TEST(things, quarantine)
{
    const char *s;
    pot *p = with_items(t, &s, "");

    (void)pot_do(p, "backpack:pack", "{'backpack':'bag','key':'q','value':'failed: secret'}");
    (void)pot_do(p, "backpack:pack", "{'backpack':'bag','key':'b','value':{'error':'no net'}}");
    pot_build(p, s);
    CHECK_HAS(p->neutral, "failed: secret");
    (void)pot_do(p, "backpack:quarantine", "{'backpack':'bag','key':'q','reason':'r'}");
    pot_build(p, s);
    CHECK_HAS_NOT(p->neutral, "failed: secret");
    CHECK_HAS(p->said, "no net");
}

TEST(things, items_that_do_not_fit)
{
    const char *s;
    pot *p = with_items(t, &s, "");

    p->ask.window = 120;
    p->ask.tail_share = 25;
    pot_build(p, s);
    CHECK_HAS(p->parts, "tail item bag/a");
    CHECK_HAS(p->left, "item bag/b: does not fit");
}

/* What was never to be on a disk is not there afterwards: a manifest says that it was. */
TEST(things, an_ephemeral_backpack)
{
    const char *s;
    pot *p = with_items(t, &s, ",'ephemeral':true");
    pot_again again;

    pot_build(p, s);
    CHECK_HAS(p->said, "Item a:\n{\"x\":1}");
    again = pot_rebuild(p, p->manifest);
    CHECK(!again.neutral_same);
    CHECK_INT(2, again.erased);
    CHECK_HAS(again.said, "Item a:\n[not kept]");
}

/* ---- frames ---- */

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    CHECK(f != NULL);
    CHECK(fputs(text, f) >= 0);
    CHECK(fclose(f) == 0);
}

TEST(things, frames_of_named_paths)
{
    static const valise_str paths[] = {POT_STR("z.c"), POT_STR("a.c")},
                            absent[] = {POT_STR("no.c")};
    pot *p;
    const char *s;

    if (strcmp(t->param, "memory") == 0) {
        CHECK(true); /* a tree needs a folder */
        return;
    }
    p = pot_open(t);
    s = pot_session(p, "");
    pot_say(p, s, "user", "hi");
    write_file(test_format("%s/a.c", p->k->path), "int a;");
    write_file(test_format("%s/z.c", p->k->path), "int z;");
    (void)pot_do(p, "tree:scan", "{}");
    (void)pot_do(p, "frame:put", "{'node':'z.c','type':'summary','content':'emVk'}");
    (void)pot_do(p, "frame:put", "{'node':'a.c','type':'summary','content':'YWFh'}");
    (void)pot_do(p, "frame:put", "{'node':'a.c','type':'risk','content':'cmlzaw=='}");
    (void)pot_do(p, "frame:put", "{'node':'a.c','type':'bytes','content':'//79'}");
    p->ask.paths = (valise_list){paths, 2};
    pot_build(p, s);
    CHECK_HAS(p->said, "U[Note on a.c (risk by ");
    CHECK_HAS(p->parts, "context frame a.c|context frame a.c|context frame z.c|history turn");
    CHECK_HAS(p->said, "):\nrisk|Note on a.c (summary by ");
    CHECK_HAS(p->left, "frame a.c: it is not a text");
    p->ask.frame_type = VLS_STR("summary");
    pot_build(p, s);
    CHECK_HAS_NOT(p->said, "risk");
    (void)pot_do(p, "slot:invalidate", "{'node':'a.c','type':'summary','reason':'wrong'}");
    pot_build(p, s);
    CHECK_HAS_NOT(p->said, "aaa");
    CHECK_HAS(p->left, "frame a.c: it is not to be relied on");
    {
        pot_again again;

        p->ask.frame_type = (valise_str){NULL, 0};
        pot_build(p, s);
        again = pot_rebuild(p, p->manifest);
        CHECK(again.neutral_same && again.wire_same);
        /* Who may read another type only, or another path, sees none of it. */
        (void)pot_do(p, "agent:add",
                     "{'id':'guest','role':'none','capabilities':['session:read',"
                     "'context:read type=summary']}");
        p->actor = "guest";
        again = pot_rebuild(p, p->manifest);
        CHECK_INT(1, again.denied);
        CHECK_HAS(again.said, "[denied]");
        CHECK_HAS_NOT(again.said, "):\nrisk");
        CHECK_HAS(again.said, "zed");
        p->actor = NULL;
    }
    p->ask.window = 60;
    p->ask.context_share = 50;
    pot_build(p, s);
    CHECK_HAS(p->left, ": does not fit");
    p->ask.paths = (valise_list){absent, 1};
    CHECK_RC(VALISE_E_NOT_FOUND, pot_try(p, s));
}
