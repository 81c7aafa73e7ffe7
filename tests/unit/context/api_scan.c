/* api_scan.c -- scans through the public C functions, in a folder with files. [C2] [C10] */
#include <sys/stat.h>
#include <unistd.h>

#include <valise.h>

#include "base/hash.h"
#include "base/str.h"
#include "harness/test.h"

static const char *in_ws(const char *name)
{
    return test_format("%s/ws/%s", test_tmpdir(), name);
}

static void close_it(void *arg)
{
    valise_close(arg);
}

static valise *open_here(test *t)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;

    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    CHECK_OK(valise_open(&v, test_format("%s/ws", test_tmpdir()), &o, &t->err));
    test_defer(close_it, v);
    return v;
}

static void put(const char *name, const char *text)
{
    test_write_file(in_ws(name), valise_str_of(text));
}

static void some_files(void)
{
    CHECK(mkdir(in_ws("d"), 0700) == 0);
    put("a", "1");
    put("d/b", "two");
    put("d/c", "three");
}

typedef struct told {
    const char *text;
    int stop; /* returned by the first call */
} told;

static int tell(void *arg, const valise_tree_change *c, valise_error *err)
{
    static const char *const kinds[] = {"added", "changed",   "removed",
                                        "moved", "ambiguous", "error"};
    told *to = arg;

    (void)err;
    to->text = test_format("%s%s %.*s%s%.*s%s\n", to->text, kinds[c->kind], VALISE_STR_ARG(c->path),
                           c->from.len ? " from " : "", VALISE_STR_ARG(c->from),
                           c->reason.len ? " why" : "");
    return to->stop;
}

static valise_tree_scan_options telling(told *to)
{
    valise_tree_scan_options o = VALISE_TREE_SCAN_OPTIONS_INIT;

    *to = (told){.text = ""};
    o.fn = tell;
    o.arg = to;
    return o;
}

static int64_t version_of(test *t, valise *v)
{
    valise_roots roots = VALISE_ROOTS_INIT;

    CHECK_OK(valise_roots_get(&roots, v, NULL, &t->err));
    return roots.version;
}

TEST(api_scan, what_is_different)
{
    valise *v = open_here(t);
    valise_tree_scanned s = VALISE_TREE_SCANNED_INIT, again = VALISE_TREE_SCANNED_INIT;
    valise_roots roots = VALISE_ROOTS_INIT;
    valise_tree_scan_options o;
    const valise_id none = {{0}};
    told to;

    some_files();
    o = telling(&to);
    CHECK_OK(valise_tree_scan(&s, v, &o, NULL, &t->err));
    CHECK_TEXT("added a\nadded d\nadded d/b\nadded d/c\n", to.text);
    CHECK_INT(1, s.version);
    CHECK_INT(3, s.files);
    CHECK_INT(1, s.dirs);
    CHECK_INT(3, s.hashed);
    CHECK_INT(9, s.bytes);
    CHECK(vls_id_equal(&none, &s.old_tree_root));
    put("a", "22");
    CHECK(unlink(in_ws("d/b")) == 0 && rename(in_ws("d/c"), in_ws("e")) == 0);
    CHECK(mkdir(in_ws("f"), 0700) == 0);
    o = telling(&to);
    CHECK_OK(valise_tree_scan(&again, v, &o, NULL, &t->err));
    CHECK_TEXT("changed a\nremoved d/b\nremoved d/c\nadded e\nadded f\nmoved e from d/c\n",
               to.text);
    CHECK(vls_id_equal(&s.tree_root, &again.old_tree_root));
    CHECK_INT(1, again.moved);
    CHECK_OK(valise_roots_get(&roots, v, NULL, &t->err));
    CHECK(vls_id_equal(&again.tree_root, &roots.tree));
    o = telling(&to);
    CHECK_OK(valise_tree_scan(&again, v, &o, NULL, &t->err)); /* nothing new */
    CHECK_TEXT("", to.text);
    CHECK_INT(2, again.version);
    CHECK_OK(valise_tree_scan(NULL, v, NULL, NULL, &t->err));
}

TEST(api_scan, only_a_part_and_all_anew)
{
    valise *v = open_here(t);
    valise_tree_scanned s = VALISE_TREE_SCANNED_INIT;
    valise_tree_scan_options o;
    told to;

    some_files();
    CHECK_OK(valise_tree_scan(NULL, v, NULL, NULL, &t->err));
    put("a", "22");
    put("d/b", "22");
    o = telling(&to);
    o.path = VLS_STR("d");
    CHECK_OK(valise_tree_scan(&s, v, &o, NULL, &t->err));
    CHECK_TEXT("changed d/b\n", to.text);
    o = telling(&to);
    o.flags = VALISE_TREE_SCAN_FORCE;
    CHECK_OK(valise_tree_scan(&s, v, &o, NULL, &t->err));
    CHECK_TEXT("changed a\n", to.text);
    CHECK_INT(3, s.hashed);
    o.path = VLS_STR("../x");
    CHECK_RC(VALISE_E_INVALID, valise_tree_scan(&s, v, &o, NULL, &t->err));
}

TEST(api_scan, what_cannot_be_told_apart_or_read)
{
    valise *v = open_here(t);
    valise_tree_scanned s = VALISE_TREE_SCANNED_INIT;
    valise_tree_scan_options o;
    told to;

    put("a", "same");
    CHECK_OK(valise_tree_scan(NULL, v, NULL, NULL, &t->err));
    CHECK(unlink(in_ws("a")) == 0);
    put("b", "same");
    put("c", "same");
    o = telling(&to);
    CHECK_OK(valise_tree_scan(&s, v, &o, NULL, &t->err));
    CHECK(s.ambiguous > 0 && strstr(to.text, "ambiguous "));
    if (geteuid() == 0)
        SKIP("root reads everything");
    put("x", "?");
    CHECK(chmod(in_ws("x"), 0) == 0);
    o = telling(&to);
    CHECK_OK(valise_tree_scan(&s, v, &o, NULL, &t->err));
    CHECK_TEXT("added x\nerror x why\n", to.text);
    CHECK_INT(1, s.errors);
    CHECK_INT(1, s.unreadable);
}

/* The list may be ended; what was found is recorded all the same. */
TEST(api_scan, nobody_wants_more)
{
    valise *v = open_here(t);
    valise_tree_scanned s = VALISE_TREE_SCANNED_INIT;
    valise_tree_scan_options o;
    told to;

    some_files();
    o = telling(&to);
    to.stop = 7;
    CHECK_INT(7, valise_tree_scan(&s, v, &o, NULL, &t->err));
    CHECK_TEXT("added a\n", to.text);
    CHECK_INT(1, s.version);
    CHECK_INT(1, version_of(t, v));
}

static int watch(void *arg, const valise_progress_state *state)
{
    int *seen = arg;

    if (strcmp(state->stage, "scan") == 0)
        seen[0]++;
    return seen[1] > 0 && seen[0] >= seen[1];
}

TEST(api_scan, says_how_far_it_is_and_can_be_stopped)
{
    valise *v = open_here(t);
    valise_tree_scanned s = VALISE_TREE_SCANNED_INIT;
    valise_call call = VALISE_CALL_INIT;
    int seen[2] = {0, 1};

    some_files();
    call.progress = (valise_progress){watch, seen};
    CHECK_RC(VALISE_E_CANCELLED, valise_tree_scan(&s, v, NULL, &call, &t->err));
    CHECK_INT(0, version_of(t, v)); /* nothing of it */
    CHECK_INT(0, s.files);
    seen[0] = seen[1] = 0;
    CHECK_OK(valise_tree_scan(&s, v, NULL, &call, &t->err));
    CHECK(seen[0] > 0);
    CHECK_INT(1, version_of(t, v));
}

TEST(api_scan, in_memory_there_are_no_files)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;

    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG;
    CHECK_OK(valise_open(&v, ":memory:", &o, &t->err));
    test_defer(close_it, v);
    CHECK_RC(VALISE_E_UNSUPPORTED, valise_tree_scan(NULL, v, NULL, NULL, &t->err));
}

/* A put looks at its file, a read says when it is another one by now. [C10] */
TEST(api_scan, puts_and_reads_look_at_the_file)
{
    valise *v = open_here(t);
    valise_placed placed = VALISE_PLACED_INIT;
    valise_frames *f = NULL;

    some_files();
    CHECK_OK(valise_tree_scan(NULL, v, NULL, NULL, &t->err));
    put("a", "something else");
    CHECK_OK(valise_frame_put(&placed, v, "a", VLS_STR("x"), NULL, NULL, &t->err));
    CHECK_INT(2, version_of(t, v));
    CHECK_OK(valise_node_get(&f, v, "a", NULL, NULL, NULL, &t->err));
    CHECK(!f->outdated && vls_id_equal(&placed.node, &f->node->node_id));
    CHECK_INT(14, f->node->size);
    CHECK_INT(VALISE_STATE_FRESH, f->items[0]->state);
    valise_frames_free(f);
    put("a", "and again something");
    CHECK_OK(valise_node_get(&f, v, "a", NULL, NULL, NULL, &t->err));
    CHECK(f->outdated);
    valise_frames_free(f);
    CHECK_RC(1, valise_head_get(&f, v, "a", "notes", 0, NULL, &t->err));
    CHECK(f->outdated && f->items[0]->state == VALISE_STATE_FRESH);
    valise_frames_free(f);
    CHECK_RC(1, valise_head_get(&f, v, "a", "notes", VALISE_NODE_NO_SCAN, NULL, &t->err));
    CHECK(!f->outdated);
    valise_frames_free(f);
    CHECK_OK(valise_frame_list(&f, v, "a", NULL, 0, NULL, &t->err));
    CHECK(f->outdated);
    valise_frames_free(f);
    CHECK_OK(valise_node_get(
        &f, v, "a", NULL,
        &(valise_node_options){.size = sizeof(valise_node_options), .flags = VALISE_NODE_NO_SCAN},
        NULL, &t->err));
    CHECK(!f->outdated);
    valise_frames_free(f);
}

/* Bytes that are no UTF-8 are a path like any other. [C1] */
TEST(api_scan, names_are_bytes)
{
    valise *v = open_here(t);
    valise_frames *f = NULL;

    put("\xff\xfe", "x");
    CHECK_OK(valise_tree_scan(NULL, v, NULL, NULL, &t->err));
    CHECK_OK(valise_frame_put(NULL, v, "\xff\xfe", VLS_STR("odd"), NULL, NULL, &t->err));
    CHECK_RC(1, valise_head_get(&f, v, "./\xff\xfe", "notes", 0, NULL, &t->err));
    CHECK_STR(VLS_STR("\xff\xfe"), f->items[0]->path);
    valise_frames_free(f);
}
