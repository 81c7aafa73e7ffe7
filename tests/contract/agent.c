/* agent.c -- what every adapter for agents does, once per implementation; and that there is no
 * difference between them. [C29] */
#include "agent_kit.h"

#include "base/hash.h"

TEST_PARAMS(agent, "here", "process")

/* ---- the three calls ---- */

TEST(agent, reads_what_it_wrote)
{
    desk *d = desk_open(t);
    valise_agent_adapter *a = desk_agent(d, "w");
    valise_placed placed = VALISE_PLACED_INIT, again = VALISE_PLACED_INIT;
    valise_frame_options o = VALISE_FRAME_OPTIONS_INIT;
    valise_frames *known = NULL;

    CHECK_INT(sizeof(valise_agent_adapter), a->size);
    CHECK_OK(a->write_context(&placed, a->self, "lib/a.c", VLS_STR("about a"), NULL, &t->err));
    CHECK(placed.head && !placed.existed && placed.seq > 0);
    CHECK_OK(a->write_context(&again, a->self, "lib/a.c", VLS_STR("about a"), NULL, &t->err));
    CHECK(again.existed && vls_id_equal(&placed.frame, &again.frame));
    CHECK_OK(a->read_context(&known, a->self, "lib/a.c", NULL, NULL, &t->err));
    CHECK_INT(1, known->count);
    CHECK_STR(VLS_STR("about a"), known->items[0]->content);
    CHECK_STR(VLS_STR("w"), known->items[0]->agent); /* the author is the agent */
    CHECK(vls_id_equal(&placed.frame, &known->items[0]->id));
    CHECK(vls_id_equal(&placed.context_root, &known->context_root));
    CHECK(known->seq >= placed.seq);
    CHECK_STR(VLS_STR("lib/a.c"), known->node->path);
    valise_frames_free(known);

    o.type = VLS_STR("blob");
    o.media_type = VLS_STR("application/octet-stream");
    o.metadata = VLS_STR("{\"b\":[1],  \"a\":\"\\u00e4\"}");
    o.recipe = VLS_STR("how");
    CHECK_OK(a->write_context(NULL, a->self, "lib/\xff", VLS_STR("\0\xff\n\"x"), &o, &t->err));
    CHECK_OK(a->read_context(&known, a->self, "lib/\xff", "recency,max=1", NULL, &t->err));
    CHECK_STR(VLS_STR("\0\xff\n\"x"), known->items[0]->content);
    CHECK_STR(VLS_STR("lib/\xff"), known->items[0]->path);
    CHECK_STR(VLS_STR("{\"a\":\"\xc3\xa4\",\"b\":[1]}"), known->items[0]->metadata);
    CHECK_INT(VALISE_FRAME_EXTERNAL, known->items[0]->kind);
    valise_frames_free(known);

    CHECK_OK(a->write_context(NULL, a->self, "README", (valise_str){NULL, 0}, NULL, &t->err));
    CHECK_OK(a->read_context(&known, a->self, "README", NULL, NULL, &t->err));
    CHECK(known->items[0]->content.ptr && known->items[0]->content.len == 0);
    valise_frames_free(known);
}

/* The head that is expected, and the race that is lost. */
TEST(agent, writes_only_what_it_expects)
{
    desk *d = desk_open(t);
    valise_agent_adapter *a = desk_agent(d, "w");
    valise_placed placed = VALISE_PLACED_INIT;
    valise_frame_options o = VALISE_FRAME_OPTIONS_INIT;
    const valise_id none = {{0}};
    valise_id first;

    o.expect = &none;
    CHECK_OK(a->write_context(&placed, a->self, "lib/a.c", VLS_STR("one"), &o, &t->err));
    CHECK_RC(VALISE_E_CONFLICT,
             a->write_context(&placed, a->self, "lib/a.c", VLS_STR("two"), &o, &t->err));
    first = placed.frame;
    o.expect = &first;
    CHECK_OK(a->write_context(&placed, a->self, "lib/a.c", VLS_STR("two"), &o, &t->err));
    CHECK(vls_id_equal(&first, &placed.previous_head));
    o.expect = NULL;
    o.frame_id = &first;
    CHECK_RC(VALISE_E_INVALID,
             a->write_context(&placed, a->self, "lib/a.c", VLS_STR("three"), &o, &t->err));
}

TEST(agent, synthesizes)
{
    desk *d = desk_open(t);
    valise_agent_adapter *w = desk_agent(d, "w"), *s = desk_agent(d, "s");
    valise_synthesize_options o = VALISE_SYNTHESIZE_OPTIONS_INIT;
    valise_derived *made = NULL, *again = NULL;
    valise_frames *known = NULL;

    CHECK_OK(w->write_context(NULL, w->self, "lib/a.c", VLS_STR("about a"), NULL, &t->err));
    CHECK_OK(w->write_context(NULL, w->self, "lib/sub/z.c", VLS_STR("about z"), NULL, &t->err));
    o.flags = VALISE_DERIVE_RECURSIVE;
    o.params = VLS_STR("{\"budget\": 4000}");
    CHECK_OK(s->synthesize(&made, s->self, "lib", &o, &t->err));
    CHECK_INT(2, made->made);
    CHECK_OK(s->synthesize(&again, s->self, "lib", &o, &t->err));
    CHECK_INT(2, again->unchanged);
    CHECK(vls_id_equal(&made->frame, &again->frame));
    CHECK_OK(w->read_context(&known, w->self, "lib", NULL, NULL, &t->err));
    CHECK(vls_id_equal(&made->frame, &known->items[0]->id));
    CHECK_INT(VALISE_FRAME_DERIVED, known->items[0]->kind);
    CHECK_STR(VLS_STR("s"), known->items[0]->agent);
    valise_frames_free(known);
    valise_derived_free(made);
    valise_derived_free(again);
    CHECK_OK(s->synthesize(NULL, s->self, "lib", NULL, &t->err)); /* nobody wants to know */
}

/* ---- what it may ---- */

TEST(agent, is_who_it_is_and_may_no_more)
{
    desk *d = desk_open(t);
    valise_agent_adapter *r = desk_agent(d, "r"), *n = desk_agent(d, "n"),
                         *nobody = desk_agent(d, "nobody");
    valise_frame_options o = VALISE_FRAME_OPTIONS_INIT;
    valise_frames *known = (valise_frames *)d; /* stays as it is */
    valise_derived *made = (valise_derived *)d;
    valise_placed placed = VALISE_PLACED_INIT;

    CHECK_RC(VALISE_E_DENIED,
             r->write_context(&placed, r->self, "README", VLS_STR("x"), NULL, &t->err));
    CHECK_RC(VALISE_E_DENIED, r->synthesize(&made, r->self, "lib", NULL, &t->err));
    CHECK_RC(VALISE_E_DENIED,
             nobody->read_context(&known, nobody->self, "lib", NULL, NULL, &t->err));
    /* One with narrow grants. */
    CHECK_OK(n->write_context(&placed, n->self, "lib/a.c", VLS_STR("x"), NULL, &t->err));
    CHECK_RC(VALISE_E_DENIED,
             n->write_context(&placed, n->self, "README", VLS_STR("x"), NULL, &t->err));
    o.type = VLS_STR("summary");
    CHECK_RC(VALISE_E_DENIED,
             n->write_context(&placed, n->self, "lib/a.c", VLS_STR("x"), &o, &t->err));
    CHECK_RC(VALISE_E_DENIED, n->read_context(&known, n->self, "README", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_DENIED, n->synthesize(&made, n->self, "lib", NULL, &t->err));
    CHECK(known == (valise_frames *)d && made == (valise_derived *)d);
    CHECK_OK(n->read_context(&known, n->self, "lib/a.c", NULL, NULL, &t->err));
    valise_frames_free(known);
}

TEST(agent, wrong_arguments)
{
    desk *d = desk_open(t);
    valise_agent_adapter *a = desk_agent(d, "w");
    valise_node_options no = VALISE_NODE_OPTIONS_INIT;
    valise_frame_options fo = VALISE_FRAME_OPTIONS_INIT;
    valise_synthesize_options so = VALISE_SYNTHESIZE_OPTIONS_INIT;
    valise_placed small = VALISE_PLACED_INIT;
    valise_frames *known = NULL;

    CHECK_RC(VALISE_E_INVALID, a->read_context(NULL, a->self, "lib", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, a->read_context(&known, a->self, NULL, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, a->read_context(&known, a->self, "lib", "max=many", NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, a->read_context(&known, a->self, "nowhere", NULL, NULL, &t->err));
    no.flags = 8;
    CHECK_RC(VALISE_E_INVALID, a->read_context(&known, a->self, "lib", NULL, &no, &t->err));
    CHECK_RC(VALISE_E_INVALID, a->write_context(NULL, a->self, NULL, VLS_STR("x"), NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID,
             a->write_context(NULL, a->self, "lib", (valise_str){NULL, 1}, NULL, &t->err));
    small.size = 1;
    CHECK_RC(VALISE_E_INVALID,
             a->write_context(&small, a->self, "lib", VLS_STR("x"), NULL, &t->err));
    fo.type = VLS_STR("Not A Type");
    CHECK_RC(VALISE_E_INVALID, a->write_context(NULL, a->self, "lib", VLS_STR("x"), &fo, &t->err));
    fo.type = VLS_STR("\xff");
    CHECK_RC(VALISE_E_INVALID, a->write_context(NULL, a->self, "lib", VLS_STR("x"), &fo, &t->err));
    so.size = 1;
    CHECK_RC(VALISE_E_INVALID, a->synthesize(NULL, a->self, "lib", &so, &t->err));
    CHECK_RC(VALISE_E_INVALID, a->synthesize(NULL, a->self, NULL, NULL, &t->err));
    CHECK(known == NULL);
    CHECK_RC(VALISE_E_NOT_FOUND, a->read_context(&known, a->self, "nowhere", NULL, NULL, NULL));
    CHECK_OK(a->read_context(&known, a->self, "lib", NULL, NULL, &t->err)); /* it goes on */
    valise_frames_free(known);
}

/* ---- no difference ---- */

static const char *read(valise_agent_adapter *a, const char *node, const char *view)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_frames *known = NULL;
    int rc = a->read_context(&known, a->self, node, view, NULL, &err);

    return rc < 0 ? desk_error(&err) : desk_frames(known);
}

static const char *write_it(valise_agent_adapter *a, const char *node, const char *type,
                            const char *content)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_placed placed = VALISE_PLACED_INIT;
    valise_frame_options o = VALISE_FRAME_OPTIONS_INIT;
    int rc;

    o.type = valise_str_of(type);
    rc = a->write_context(&placed, a->self, node, valise_str_of(content), &o, &err);
    return rc < 0 ? desk_error(&err) : desk_placed(&placed);
}

static const char *synthesize(valise_agent_adapter *a, const char *node, const char *policy,
                              unsigned flags)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_synthesize_options o = VALISE_SYNTHESIZE_OPTIONS_INIT;
    valise_derived *made = NULL;
    int rc;

    o.flags = flags;
    o.policy = valise_str_of(policy);
    rc = a->synthesize(&made, a->self, node, &o, &err);
    return rc < 0 ? desk_error(&err) : desk_derived(made);
}

/* Everything that can be read of one state, and all that can go wrong, is the same to the byte. */
TEST(agents, there_is_no_difference)
{
    static const char *const nodes[] = {"lib/a.c", "lib/\xff", "lib",    ".",        "lib/ln",
                                        "README",  "nowhere",  "abcdef", "lib/a.c/x"};
    static const char *const views[] = {
        NULL, "history,recency,max=5", "max_bytes=3", "state=stale", "max=0", "bogus"};
    static const char *const agents[] = {"w", "s", "n", "nobody"};
    desk *d = desk_open(t);
    valise_agent_adapter *w = desk_here(d, "w");

    CHECK(write_it(w, "lib/a.c", "notes", "one")[0]);
    CHECK(write_it(w, "lib/a.c", "notes", "two\n\x01\xc3\xa4")[0]);
    CHECK(write_it(w, "lib/a.c", "todo", "\xff\xfe")[0]);
    CHECK(write_it(w, "lib/sub/z.c", "notes", "about z")[0]);
    CHECK(synthesize(desk_here(d, "s"), "lib", NULL, VALISE_DERIVE_RECURSIVE)[0]);
    test_write_file(test_format("%s/lib/a.c", d->dir), VLS_STR("11"));
    CHECK_OK(valise_tree_scan(NULL, d->v, NULL, NULL, &t->err));
    CHECK(write_it(w, "lib/sub/z.c", "notes", "more about z")[0]);
    for (size_t i = 0; i < VLS_COUNT(agents); i++) {
        valise_agent_adapter *here = desk_here(d, agents[i]), *there = desk_process(d, agents[i]);
        for (size_t n = 0; n < VLS_COUNT(nodes); n++)
            for (size_t v = 0; v < VLS_COUNT(views); v++)
                CHECK_TEXT(read(here, nodes[n], views[v]), read(there, nodes[n], views[v]));
        CHECK_TEXT(write_it(here, "nowhere", "notes", "x"),
                   write_it(there, "nowhere", "notes", "x"));
        CHECK_TEXT(write_it(here, "lib", "BAD", "x"), write_it(there, "lib", "BAD", "x"));
        CHECK_TEXT(synthesize(here, "lib", "magic", 0), synthesize(there, "lib", "magic", 0));
        CHECK_TEXT(synthesize(here, "lib/a.c", NULL, 0), synthesize(there, "lib/a.c", NULL, 0));
        CHECK_TEXT(synthesize(here, "lib", NULL, VALISE_DERIVE_DRY_RUN | VALISE_DERIVE_RECURSIVE),
                   synthesize(there, "lib", NULL, VALISE_DERIVE_DRY_RUN | VALISE_DERIVE_RECURSIVE));
    }
    CHECK(strstr(read(w, "lib/a.c", NULL), "reason")); /* (it is no comparison of nothing) */
}

/* The same commands in two workspaces: the same state, whichever way they came. */
TEST(agents, the_same_state_either_way)
{
    desk *one = desk_open(t), *two;
    const char *said[2][6];

    CHECK_INT(0, rename(one->dir, test_format("%s/first", test_tmpdir())));
    one->dir = test_format("%s/first", test_tmpdir());
    two = desk_open(t);
    for (int i = 0; i < 2; i++) {
        valise_agent_adapter *w = i ? desk_process(two, "w") : desk_here(one, "w");
        valise_agent_adapter *s = i ? desk_process(two, "s") : desk_here(one, "s");
        said[i][0] = write_it(w, "lib/a.c", "notes", "one");
        said[i][1] = write_it(w, "lib/b.c", "notes", "two");
        said[i][2] = write_it(w, "lib/a.c", "notes", "one");
        said[i][3] = synthesize(s, "lib", "summarization", 0);
        said[i][4] = synthesize(s, "lib", "summarization", 0);
        said[i][5] = read(s, "lib", NULL);
    }
    for (int k = 0; k < 6; k++)
        CHECK_TEXT(said[0][k], said[1][k]);
}

/* ---- opening and closing ---- */

TEST(agents, what_cannot_be_opened)
{
    desk *d = desk_open(t);
    const char *const nothing[] = {"/nowhere/at/all", NULL}, *const empty[] = {NULL},
                      *const folder[] = {"/tmp", NULL}, *const yes[] = {"true", NULL};
    valise_agent_process p = VALISE_AGENT_PROCESS_INIT;
    valise_agent_adapter *a = NULL;
    char name[200];

    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    CHECK_RC(VALISE_E_INVALID, valise_agent_open(&a, d->v, "", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_agent_open(&a, d->v, name, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_agent_open(&a, d->v, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_agent_open(&a, NULL, "w", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_agent_open(NULL, d->v, "w", &t->err));
    p.env = t->env;
    CHECK_RC(VALISE_E_INVALID, valise_agent_start(&a, &p, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_agent_start(&a, NULL, &t->err));
    p.argv = empty;
    CHECK_RC(VALISE_E_INVALID, valise_agent_start(&a, &p, &t->err));
    p.argv = nothing;
    CHECK_RC(VALISE_E_IO, valise_agent_start(&a, &p, &t->err));
    CHECK(strstr(t->err.message, "/nowhere/at/all"));
    p.argv = folder;
    CHECK_RC(VALISE_E_IO, valise_agent_start(&a, &p, &t->err));
    p.argv = yes;
    p.folder = "/nowhere";
    CHECK_RC(VALISE_E_IO, valise_agent_start(&a, &p, &t->err));
    p.folder = NULL;
    p.timeout_ns = -1;
    CHECK_RC(VALISE_E_INVALID, valise_agent_start(&a, &p, &t->err));
    p.timeout_ns = 0;
    p.max_bytes = (size_t)1 << 40;
    CHECK_RC(VALISE_E_INVALID, valise_agent_start(&a, &p, &t->err));
    p.size = 4;
    CHECK_RC(VALISE_E_INVALID, valise_agent_start(&a, &p, &t->err));
    CHECK(a == NULL);
    valise_agent_close(NULL);
    desk_check_alone();
}

/* A host can have one of its own. */
static int own_read(valise_frames **out, void *self, const char *node, const char *view,
                    const valise_node_options *options, valise_error *err)
{
    (void)out, (void)node, (void)view, (void)options, (void)err;
    return ++*(int *)self;
}

static void own_close(void *self)
{
    *(int *)self = -1;
}

TEST(agents, a_table_of_the_host)
{
    int calls = 0;
    valise_agent_adapter own = {
        .size = sizeof(own), .self = &calls, .read_context = own_read, .close = own_close};

    CHECK_INT(1, own.read_context(NULL, own.self, "x", NULL, NULL, NULL));
    valise_agent_close(&own);
    CHECK_INT(-1, calls);
}
