/* changes.c -- lists of changes as bytes, and back. */
#include "harness/test.h"

#include "tree/changes.h"

static vls_tree_changes_reader reader;

#define TEXT(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static const vls_tree_change some[] = {
    {TEXT(""), {.kind = VLS_NODE_DIR, .size = 3, .object = {{1, 2}}}},
    {TEXT("a"), {.kind = VLS_NODE_DIR, .size = 1, .object = {{3}}}},
    {TEXT("a/b"), {.kind = VLS_NODE_FILE, .exec = true, .size = 1234567, .content = {{4}}}},
    {TEXT("a.c"),
     {.kind = VLS_NODE_LINK,
      .size = 4,
      .target = TEXT("a/\xff"
                     "b")}},
    {TEXT("ab"), {.kind = VLS_NODE_GONE}},
    {TEXT("ac"), {.kind = VLS_NODE_UNREADABLE}},
    {TEXT("z"), {.kind = VLS_NODE_FILE, .size = 0, .content = {{5}}}},
};

static void write_some(vls_buf *out, test *t)
{
    vls_tree_changes_writer writer;

    vls_buf_init(out, t->env, SIZE_MAX);
    vls_tree_changes_begin(&writer, out);
    for (size_t i = 0; i < VLS_COUNT(some); i++)
        vls_tree_changes_add(&writer, &some[i]);
    CHECK_OK(vls_buf_check(out, &t->err));
}

TEST(changes, come_back_as_they_were)
{
    VLS_AUTO(buf) vls_buf out = {0};
    vls_tree_change change;

    write_some(&out, t);
    vls_tree_changes_open(&reader, vls_buf_str(&out));
    for (size_t i = 0; i < VLS_COUNT(some); i++) {
        CHECK_INT(1, vls_tree_changes_next(&change, &reader, &t->err));
        CHECK_STR(some[i].path, change.path);
        CHECK_INT(some[i].node.kind, change.node.kind);
        CHECK_INT(some[i].node.exec, change.node.exec);
        CHECK_INT(some[i].node.size, change.node.size);
        CHECK_STR(some[i].node.target, change.node.target);
        CHECK(vls_id_equal(&some[i].node.content, &change.node.content));
        CHECK(vls_id_equal(&some[i].node.object, &change.node.object));
    }
    CHECK_OK(vls_tree_changes_next(&change, &reader, &t->err));
}

/* 0 when all of it was read. */
static int read_all(valise_str bytes, test *t)
{
    vls_tree_change change;
    int rc;

    vls_tree_changes_open(&reader, bytes);
    while ((rc = vls_tree_changes_next(&change, &reader, &t->err)) > 0)
        CHECK_OK(vls_path_check(change.path, &t->err));
    CHECK(rc == 0 || rc == VALISE_E_CORRUPT);
    return rc;
}

TEST(changes, that_are_cut_are_refused_or_end_between_two)
{
    VLS_AUTO(buf) vls_buf out = {0};
    size_t whole = 0;

    write_some(&out, t);
    for (size_t i = 0; i < out.len; i++)
        whole += read_all(vls_str(out.ptr, i), t) == 0;
    CHECK_INT(VLS_COUNT(some), whole); /* behind the magic and behind each but the last */
}

static int read_hex(const char *bytes, size_t len, test *t)
{
    VLS_AUTO(buf) vls_buf all = {0};

    vls_buf_init(&all, t->env, SIZE_MAX);
    vls_buf_add(&all, VLS_STR("valise changes 1\n"));
    vls_buf_add(&all, vls_str(bytes, len));
    return read_all(vls_buf_str(&all), t);
}

#define READ(literal) read_hex(literal, sizeof(literal) - 1, t)

TEST(changes, of_any_other_form_are_refused)
{
    CHECK_INT(VALISE_E_CORRUPT, read_all(VLS_STR(""), t));
    CHECK_INT(VALISE_E_CORRUPT, read_all(VLS_STR("valise changes 2\n"), t));
    CHECK_INT(0, READ(""));
    CHECK_INT(0, READ("\0\0\0\1a"));
    CHECK_INT(0, READ("\0\0\0\1a\0\0\0\1b"));
    CHECK_INT(VALISE_E_CORRUPT, READ("\0\0\0\1b\0\0\0\1a")); /* not in order */
    CHECK_INT(VALISE_E_CORRUPT, READ("\0\0\0\1a\0\0\1\0"));  /* twice */
    CHECK_INT(VALISE_E_CORRUPT, READ("\0\0\0\0\0\0\0\0"));   /* the root twice */
    CHECK_INT(VALISE_E_CORRUPT, READ("\5\0\0\1a"));          /* no kind */
    CHECK_INT(VALISE_E_CORRUPT, READ("\0\1\0\1a"));          /* exec, but no file */
    CHECK_INT(VALISE_E_CORRUPT, READ("\0\0\1\1a"));          /* shares more than there is */
    CHECK_INT(VALISE_E_CORRUPT, READ("\0\0\0\2a/"));         /* no path */
    CHECK_INT(VALISE_E_CORRUPT, READ("\0\0\0\2.."));         /* no path */
    CHECK_INT(VALISE_E_CORRUPT, READ("\0\0\0\377\377\3a"));  /* cut, and too long */
    CHECK_INT(VALISE_E_CORRUPT, READ("\1\0\0\1a\5content")); /* cut */
    CHECK_INT(VALISE_E_CORRUPT, READ("\1\0\0\1a\377\377\377\377\377\377\377\377\377\1"
                                     "01234567890123456789012345678901")); /* a size below 0 */
}
