/* manifest.c -- the bytes of a manifest, and those that are none. [C31] */
#include "checkpoint/manifest.h"

#include "base/hex.h"
#include "harness/test.h"

static vls_manifest_entry some(int kind, const char *path)
{
    vls_manifest_entry e = {.kind = (vls_manifest_kind)kind, .path = valise_str_of(path)};

    if (kind == VLS_MANIFEST_FILE || kind == VLS_MANIFEST_DIR)
        e.mode = kind == VLS_MANIFEST_DIR ? 0755 : 0644;
    if (kind == VLS_MANIFEST_FILE) {
        e.size = 300;
        memset(e.content.bytes, 0xab, sizeof(e.content.bytes));
    }
    if (kind == VLS_MANIFEST_LINK)
        e.target = VLS_STR("to");
    if (kind == VLS_MANIFEST_LACKING)
        e.lack = VLS_LACK_SIZE;
    return e;
}

static void add(vls_buf *out, int kind, const char *path)
{
    const vls_manifest_entry e = some(kind, path);

    vls_manifest_add(out, &e);
}

static int read_all(test *t, valise_str bytes, size_t *count)
{
    VLS_AUTO(manifest_reader) vls_manifest_reader reader = {.any = false};
    vls_manifest_entry e;
    int rc = vls_manifest_open(&reader, t->env, bytes, &t->err);

    *count = 0;
    while (rc == 0 && (rc = vls_manifest_next(&e, &reader, &t->err)) > 0) {
        ++*count;
        rc = 0;
    }
    return rc;
}

/* docs/formats.md has it. */
TEST(manifest, golden)
{
    VLS_AUTO(buf) vls_buf bytes = {0};
    VLS_AUTO(buf) vls_buf hex = {0};
    size_t count;

    vls_buf_init(&bytes, t->env, 4096);
    vls_buf_init(&hex, t->env, 4096);
    vls_manifest_begin(&bytes, false);
    add(&bytes, VLS_MANIFEST_DIR, "");
    add(&bytes, VLS_MANIFEST_FILE, "a");
    add(&bytes, VLS_MANIFEST_LACKING, "b");
    add(&bytes, VLS_MANIFEST_LINK, "c");
    vls_hex_encode(&hex, vls_buf_str(&bytes));
    CHECK_STR(VLS_STR("76616c697365206d616e696665737420310a" /* "valise manifest 1\n" */
                      "00"                                   /* whole */
                      "0200ed03"                             /* dir, "", 0755 */
                      "010161a403ac02"                       /* file, "a", 0644, 300 */
                      "abababababababababababababababababababababababababababababababab"
                      "04016201"       /* lacking, "b", over the cap */
                      "03016302746f"), /* link, "c", "to" */
              vls_buf_str(&hex));
    CHECK_RC(0, read_all(t, vls_buf_str(&bytes), &count));
    CHECK_INT(4, (int64_t)count);
}

TEST(manifest, every_piece_of_one_is_refused_or_shorter)
{
    VLS_AUTO(buf) vls_buf bytes = {0};
    size_t count;

    vls_buf_init(&bytes, t->env, 4096);
    vls_manifest_begin(&bytes, false);
    add(&bytes, VLS_MANIFEST_DIR, "");
    add(&bytes, VLS_MANIFEST_DIR, "d");
    add(&bytes, VLS_MANIFEST_FILE, "d/f");
    add(&bytes, VLS_MANIFEST_LINK, "e");
    for (size_t len = 0; len < bytes.len; len++) {
        int rc = read_all(t, vls_str_head(vls_buf_str(&bytes), len), &count);
        CHECK_MSG(rc == VALISE_E_CORRUPT || (rc == 0 && count < 4), "%zu: %d", len, rc);
    }
    for (size_t i = 0; i < bytes.len; i++) { /* and no byte can make it fall over */
        char was = bytes.ptr[i];
        for (int bit = 0; bit < 8; bit++) {
            int rc;
            bytes.ptr[i] = (char)(was ^ (1 << bit));
            rc = read_all(t, vls_buf_str(&bytes), &count);
            CHECK(rc == 0 || rc == VALISE_E_CORRUPT);
        }
        bytes.ptr[i] = was;
    }
}

/* Words "kind:path", whole unless it begins with "partial". */
static int try_words(test *t, const char *words)
{
    static const char kinds[] = "gfdlx";
    VLS_AUTO(buf) vls_buf bytes = {0};
    valise_str rest = valise_str_of(words), word;
    bool partial = vls_str_starts(rest, VLS_STR("partial "));
    size_t count;

    vls_buf_init(&bytes, t->env, 65536);
    vls_manifest_begin(&bytes, partial);
    if (partial)
        rest = vls_str_from(rest, 8);
    else
        add(&bytes, VLS_MANIFEST_DIR, "");
    while (rest.len > 0) {
        (void)vls_str_cut(&word, &rest, rest, ' ');
        add(&bytes, (int)(strchr(kinds, word.ptr[0]) - kinds),
            test_format("%.*s", (int)word.len - 2, word.ptr + 2));
    }
    return read_all(t, vls_buf_str(&bytes), &count);
}

TEST(manifest, paths_that_must_not_be)
{
    static const char *const good[] = {"",
                                       "f:a d:b f:b/c f:b.c l:c x:d",
                                       "d:a d:a/b f:a/b/c f:b",
                                       "partial g:a f:b/c/d",
                                       "partial ",
                                       "f:.gitignore f:a.git",
                                       "x:.GIT",
                                       "f:.gitx f:a~1 f:git f:git~ f:git~10 f:valise"};
    static const char *const bad[] = {
        "f:../a",
        "f:a/../b",
        "d:.. f:../a",
        "f:/etc/passwd",
        "f:a//b",
        "f:./a",
        "d:.git",
        "d:.GIT",
        "d:.Git f:.Git/config",
        "d:a d:a/.git",
        "d:.valise",
        "d:a f:a/.VALISE",
        "d:GIT~1",
        "d:git~2 f:git~2/config",
        "d:.git.",
        "d:.git...",
        "d:.git::$INDEX_ALLOCATION",
        "d:.g\xe2\x80\x8cit",
        "d:\xef\xbb\xbf.GI\xe2\x81\xafT f:\xef\xbb\xbf.GI\xe2\x81\xafT/x",
        "d:VALISE~1",
        "d:.valise.",
        "partial f:.git/config",
        "partial l:x/.gIt/y",
        "f:b f:a",
        "f:a f:a",
        "f:a/b",
        "f:a f:a/b",
        "l:a f:a/b",
        "x:a f:a/b",
        "d:a d:b f:a/c",
        "g:a",
        "partial f:",
        "partial f:a/"};

    for (size_t i = 0; i < VLS_COUNT(good); i++)
        CHECK_RC(0, try_words(t, good[i]));
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        test_context("%s", bad[i]);
        CHECK_RC(VALISE_E_CORRUPT, try_words(t, bad[i]));
    }
    test_context_end();
}
