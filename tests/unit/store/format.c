/* format.c -- the log's chain and the state hash are those of docs/formats.md. [K1 K9 K32] */
#include "base/hex.h"
#include "base/str.h"
#include "stage.h"

/* The digits behind the line of docs/formats.md that begins with these words. */
static const char *vector(const char *beginning)
{
    valise_str doc =
        test_read_file(test_format("%s/docs/formats.md", getenv("VALISE_SOURCE_ROOT")));
    const char *at = strstr(doc.ptr, test_format("\n%s", beginning));

    CHECK_MSG(at, "docs/formats.md has no '%s'", beginning);
    at = strstr(at, " = ");
    CHECK(at);
    return test_format("%.64s", at + 3);
}

static vls_entry entry_of(int64_t seq)
{
    vls_entry e = {.seq = seq,
                   .id = {{0x01, 0x7f, 0x22, 0xe2, 0x79, 0xb0, 0x7c, 0xc3, 0x98, 0xc4, 0xdc, 0x0c,
                           0x0c, 0x07, 0x39, 0x8f}},
                   .time = INT64_C(1700000000000000000) + seq - 1,
                   .actor = VLS_STR("local"),
                   .type = VLS_STR("pin:add"),
                   .nonce =
                       VLS_STR("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"),
                   .payload = VLS_STR("{\"name\":\"a\"}"),
                   .result = VLS_STR("{}"),
                   .changes = VLS_STR("")};

    if (seq == 2) {
        e.cause = e.id;
        e.id.bytes[5]++;
        e.id.bytes[14] = 0x39;
        e.id.bytes[15] = 0x90;
    }
    return e;
}

TEST(format, of_the_chain)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_entry one = entry_of(1), two = entry_of(2);
    bool unverifiable = true;
    stage k;

    stage_open(&k, t, "memory", NULL);
    CHECK_OK(vls_txn_begin(&txn, k.store, VALISE_TXN_WRITE, &t->err));
    CHECK_OK(vls_log_append(&txn, &one, &t->err));
    CHECK_OK(vls_log_append(&txn, &two, &t->err));
    CHECK_TEXT(vector("payload nonce"), vls_id_hex(&one.commitment).s);
    CHECK_TEXT(vector("entry 1 "), vls_id_hex(&one.hash).s);
    CHECK_TEXT(vector("entry 2 "), vls_id_hex(&two.hash).s);

    CHECK_OK(vls_log_verify(&unverifiable, &two, &one.hash, &t->err));
    CHECK(!unverifiable);
    CHECK_RC(VALISE_E_CORRUPT, vls_log_verify(&unverifiable, &two, NULL, &t->err));
    two.payload = VLS_STR("{\"name\":\"b\"}");
    CHECK_RC(VALISE_E_CORRUPT, vls_log_verify(&unverifiable, &two, &one.hash, &t->err));
    two.payload = two.nonce = (valise_str){NULL, 0};
    CHECK_OK(vls_log_verify(&unverifiable, &two, &one.hash, &t->err));
    CHECK(unverifiable);
    two.actor = VLS_STR("loca1");
    CHECK_RC(VALISE_E_CORRUPT, vls_log_verify(&unverifiable, &two, &one.hash, &t->err));
    vls_txn_rollback(&txn);
    stage_close(&k);
}

static int put_stones(valise_view *view, void *arg, valise_error *err)
{
    stone one = {1, VLS_STR("a")}, two = {2, VLS_STR("")};
    int rc = valise_view_put(view, &stage_stones, &two, err);

    (void)arg;
    return rc < 0 ? rc : valise_view_put(view, &stage_stones, &one, err);
}

static int hash_state(valise_view *view, void *arg, valise_error *err)
{
    return vls_state_hash(arg, view, err);
}

TEST(format, of_the_state_hash)
{
    valise_id hash = {{0}};
    stage k;

    stage_open(&k, t, "memory", NULL);
    CHECK_OK(stage_read(&k, -1, hash_state, &hash, &t->err));
    CHECK_TEXT(vector("(nothing)"), vls_id_hex(&hash).s);
    stage_do(&k, put_stones, NULL);
    CHECK_OK(stage_read(&k, -1, hash_state, &hash, &t->err));
    CHECK_TEXT(vector("stone(1,"), vls_id_hex(&hash).s);
    stage_close(&k);
}

TEST(format, of_changes)
{
    VLS_AUTO(buf) vls_buf out = {0};
    vls_image written[] = {
        {.coll = 9, .key = VLS_STR("k\0y"), .gone_seq = 300},
        {.coll = 200, .key = VLS_STR(""), .from_seq = 7, .cells = VLS_STR("\0")}};
    vls_image read;
    size_t at = 0;
    valise_str bytes;

    vls_buf_init(&out, t->env, 1000);
    vls_changes_write(&out, &written[0]);
    vls_changes_write(&out, &written[1]);
    bytes = vls_buf_str(&out);
    CHECK_STR(VLS_STR("\x09\x03k\0y\x00\xac\x02\xc8\x01\x00\x07\x01\x00"), bytes);
    CHECK_RC(1, vls_changes_next(&read, &at, bytes, &t->err));
    CHECK_INT(300, read.gone_seq);
    CHECK_RC(1, vls_changes_next(&read, &at, bytes, &t->err));
    CHECK_INT(7, read.from_seq);
    CHECK_STR(VLS_STR("\0"), read.cells);
    CHECK_RC(0, vls_changes_next(&read, &at, bytes, &t->err));
    /* Cut anywhere but between two: damaged. */
    for (size_t len = 1; len < bytes.len; len++) {
        int rc;
        at = 0;
        while ((rc = vls_changes_next(&read, &at, vls_str(bytes.ptr, len), &t->err)) > 0)
            continue;
        CHECK_INT(len == 8 ? 0 : VALISE_E_CORRUPT, rc);
    }
}
