/* format.c -- lists of changes and the stat cache are, byte for byte, those of docs/formats.md.
 * [K9] */
#include "harness/test.h"

#include <stdlib.h>
#include <string.h>

#include "tree/changes.h"
#include "tree/stat_cache.h"

/* The hex digits of a fenced block; what stands behind '|' is for people. */
static valise_str vector_of(const char *name)
{
    const char *root = getenv("VALISE_SOURCE_ROOT");
    valise_str text = test_read_file(test_format("%s/docs/formats.md", root ? root : "."));
    const char *at = strstr(text.ptr, test_format("```%s\n", name));
    const char *end = at ? strstr(at, "\n```") : NULL;
    static char digits[4096];
    bool skip = false;
    size_t len = 0;

    CHECK_MSG(at && end, "docs/formats.md has no %s", name);
    for (at = strchr(at, '\n'); at < end && len < sizeof(digits); at++) {
        if (*at == '|' || *at == '\n')
            skip = *at == '|';
        else if (!skip && *at != ' ')
            digits[len++] = *at;
    }
    return (valise_str){digits, len};
}

static void check_vector(test *t, const char *name, valise_str bytes)
{
    VLS_AUTO(buf) vls_buf hex = {0};

    vls_buf_init(&hex, t->env, SIZE_MAX);
    for (size_t i = 0; i < bytes.len; i++)
        vls_buf_printf(&hex, "%02x", (unsigned char)bytes.ptr[i]);
    CHECK_OK(vls_buf_check(&hex, &t->err));
    CHECK_STR(vector_of(name), vls_buf_str(&hex));
}

TEST(tree_format, of_changes)
{
    VLS_AUTO(buf) vls_buf out = {0};
    vls_tree_changes_writer writer;
    const vls_tree_change some[] = {
        {VLS_STR(""), {.kind = VLS_NODE_DIR, .size = 3, .object = {{0xd1}}}},
        {VLS_STR("lib/a.c"),
         {.kind = VLS_NODE_FILE, .exec = true, .size = 300, .content = {{0xf1}}}},
        {VLS_STR("lib/b"), {.kind = VLS_NODE_LINK, .size = 3, .target = VLS_STR("a.c")}},
        {VLS_STR("old"), {.kind = VLS_NODE_GONE}},
    };

    vls_buf_init(&out, t->env, SIZE_MAX);
    vls_tree_changes_begin(&writer, &out);
    for (size_t i = 0; i < VLS_COUNT(some); i++)
        vls_tree_changes_add(&writer, &some[i]);
    CHECK_OK(vls_buf_check(&out, &t->err));
    check_vector(t, "tree-changes-vector", vls_buf_str(&out));
}

/* Numbers in it are as the machine has them: the page has those of one with the low byte first. */
TEST(tree_format, of_the_stat_cache)
{
    VLS_AUTO(cache_builder) vls_cache_builder b = {0};
    VLS_AUTO(cache) vls_tree_cache cache = {0};
    const vls_node root = {.kind = VLS_NODE_DIR, .size = 1, .object = {{0xd1}}};
    const vls_node file = {
        .kind = VLS_NODE_FILE, .size = 6, .content = {{0xf1}}, .object = {{0x0b}}};

    if (*(const char *)&(const uint16_t){1} != 1)
        SKIP("the high byte comes first here");
    vls_cache_build_begin(&b, t->env, NULL);
    CHECK_OK(vls_cache_build_add(&b, VLS_STR(""), &root, &t->err));
    CHECK_OK(vls_cache_build_add(&b, VLS_STR("a.c"), &file, &t->err));
    CHECK_OK(vls_cache_build_end(&cache, &b, &t->err));
    CHECK_INT(1, vls_cache_check(t->env, vls_str(cache.bytes, cache.size), &t->err));
    check_vector(t, "stat-cache-vector", vls_str(cache.bytes, cache.size));
}
