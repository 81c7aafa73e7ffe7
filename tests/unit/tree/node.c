/* node.c -- paths, their order, and the ids of nodes. [C1] */
#include "harness/test.h"

#include "base/hex.h"
#include "tree/node.h"

/* ---- paths ---- */

TEST(path, is_names_with_slashes_between)
{
    static const char *const good[] = {"", "a", "a/b", ".a", "..a", "a..", "...", "a\nb", "\xff"};
    static const char *const bad[] = {"/", "a/", "/a", "a//b", ".", "..", "a/.", "../a", "a/../b"};
    char text[VLS_PATH_MAX + 1];

    for (size_t i = 0; i < VLS_COUNT(good); i++)
        CHECK_OK(vls_path_check(valise_str_of(good[i]), &t->err));
    for (size_t i = 0; i < VLS_COUNT(bad); i++)
        CHECK_RC(VALISE_E_INVALID, vls_path_check(valise_str_of(bad[i]), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_path_check(vls_str("a\0b", 3), &t->err));
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = i % 2 ? '/' : 'x';
    CHECK_OK(vls_path_check(vls_str(text, VLS_PATH_MAX - 1), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_path_check(vls_str(text, VLS_PATH_MAX + 1), &t->err));
    memset(text, 'n', sizeof(text));
    CHECK_OK(vls_path_check(vls_str(text, VLS_NODE_NAME_MAX), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_path_check(vls_str(text, VLS_NODE_NAME_MAX + 1), &t->err));
}

TEST(path, has_a_parent_and_a_name)
{
    CHECK_STR(VLS_STR(""), vls_path_parent(VLS_STR("a")));
    CHECK_STR(VLS_STR("a"), vls_path_name(VLS_STR("a")));
    CHECK_STR(VLS_STR("a/bc"), vls_path_parent(VLS_STR("a/bc/d")));
    CHECK_STR(VLS_STR("d"), vls_path_name(VLS_STR("a/bc/d")));
}

TEST(path, lies_under_another)
{
    CHECK(vls_path_is_under(VLS_STR("a/b"), VLS_STR("a")));
    CHECK(vls_path_is_under(VLS_STR("a"), VLS_STR("a")));
    CHECK(vls_path_is_under(VLS_STR("a"), VLS_STR("")));
    CHECK(vls_path_is_under(VLS_STR(""), VLS_STR("")));
    CHECK(!vls_path_is_under(VLS_STR("ab"), VLS_STR("a")));
    CHECK(!vls_path_is_under(VLS_STR("a"), VLS_STR("a/b")));
}

TEST(path, comes_before_what_is_in_it_and_that_before_the_next)
{
    static const char *const order[] = {"",    "A",   "a",   "a/x", "a/x/y", "a/x!",   "a/y",
                                        "a\n", "a-b", "a.c", "ab",  "b",     "b/\x01", "\xff"};

    for (size_t i = 0; i < VLS_COUNT(order); i++) {
        for (size_t k = 0; k < VLS_COUNT(order); k++) {
            int expected = (i > k) - (i < k);
            CHECK_INT(expected, vls_path_compare(valise_str_of(order[i]), valise_str_of(order[k])));
        }
    }
}

TEST(path, is_what_people_write)
{
    static const struct {
        const char *here, *given, *path;
    } cases[] = {{"", "a", "a"},         {"", "./a//b/", "a/b"}, {"", ".", ""},
                 {"d", "a", "d/a"},      {"d/e", "../a", "d/a"}, {"d/e", "../..", ""},
                 {"d", "a/../b", "d/b"}, {"d", "", "d"},         {"", "a/./.././b", "b"}};
    VLS_AUTO(buf) vls_buf out = {0};

    vls_buf_init(&out, t->env, VLS_PATH_MAX);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        CHECK_OK(vls_path_resolve(&out, valise_str_of(cases[i].here), valise_str_of(cases[i].given),
                                  &t->err));
        CHECK_STR(valise_str_of(cases[i].path), vls_buf_str(&out));
    }
    CHECK_RC(VALISE_E_INVALID, vls_path_resolve(&out, VLS_STR("d"), VLS_STR("../../x"), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_path_resolve(&out, VLS_STR(""), VLS_STR(".."), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_path_resolve(&out, VLS_STR(""), vls_str("a\0b", 3), &t->err));
}

/* ---- ids ---- */

#define HELLO "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"

static valise_id id_of(const char *hex)
{
    VLS_AUTO(buf) vls_buf bytes = {0};
    valise_id id;

    vls_buf_init(&bytes, valise_env_default(), 32);
    CHECK_INT(0, vls_hex_decode(&bytes, valise_str_of(hex), NULL));
    memcpy(id.bytes, bytes.ptr, sizeof(id.bytes));
    return id;
}

/* What the code gives is what is written here, and what the format's page says. */
static void check_id(const char *hex, const valise_id *id)
{
    const char *root = getenv("VALISE_SOURCE_ROOT");
    valise_str text = test_read_file(test_format("%s/docs/formats.md", root ? root : "."));

    CHECK_TEXT(hex, vls_id_hex(id).s);
    CHECK(strstr(text.ptr, test_format("= %s\n", hex)) != NULL);
}

/* As docs/formats.md has them, from a script that shares nothing with this code. */
TEST(node, ids_are_those_of_the_format)
{
    vls_hasher hasher;
    vls_node file = {.kind = VLS_NODE_FILE, .size = 6, .content = id_of(HELLO)};
    vls_node link = {.kind = VLS_NODE_LINK, .size = 3, .target = VLS_STR("a/b")};
    vls_node unreadable = {.kind = VLS_NODE_UNREADABLE};
    valise_id file_id, dir, id;

    vls_node_hash(&file);
    check_id("8f32ae7533ab6df342cf31f91e1b2d2335389f55d3cf1d5e0e39bd7a721f71ad", &file.object);
    file_id = file.object;
    file.exec = true;
    vls_node_hash(&file);
    check_id("2a7d17e332f8b426a8684075d0347eb2b6ebf494b5acc64f03b259c42018b2c9", &file.object);
    vls_node_hash(&link);
    check_id("c64caa12c7a7d2b6866cc7d7a61851016848ca1c770493d64cd57753fea7ab31", &link.object);
    vls_node_hash(&unreadable);
    check_id("204ccdc7990c08bf2149f07a8900dbd254e16f3f21126543fa4d8968ee3ec73a",
             &unreadable.object);
    vls_dir_hash_begin(&hasher, 0);
    vls_dir_hash_end(&id, &hasher);
    check_id("1a059b98d6a0909408c582af5c03c5c9780a36d992ceec1e4489ea1a67d6517b", &id);
    vls_dir_hash_begin(&hasher, 2);
    vls_dir_hash_entry(&hasher, VLS_STR("a"), VLS_NODE_FILE, &file_id);
    vls_dir_hash_entry(&hasher, VLS_STR("b\xff"), VLS_NODE_LINK, &link.object);
    vls_dir_hash_end(&dir, &hasher);
    check_id("708d6bb93318d3fd511f1b07a9348547656bd186cff2820c38dcba311f1206e1", &dir);
    vls_node_id(&id, VLS_STR("d/a"), &file_id);
    check_id("e411b7f0f9cd5680e4badac5186a4baa9dd192ec9117d2e097a3757ad9969679", &id);
    vls_node_id(&id, VLS_STR(""), &dir);
    check_id("4d4070489e4d4e8adb42f0d1c211204a4d195d93bdbb3a6e89cc776fe8cc09de", &id);
}
