/* hash.c -- SHA-256 and tagged hashes. [K1] */
#include "harness/test.h"

#include "base/hash.h"

/* ---- helpers ---- */

static const char *hex(const valise_id *id)
{
    char *text = test_alloc(2 * sizeof(id->bytes));

    for (size_t i = 0; i < sizeof(id->bytes); i++)
        (void)snprintf(text + 2 * i, 3, "%02x", id->bytes[i]);
    return text;
}

static unsigned digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

static valise_str unhex(valise_str text)
{
    char *bytes = test_alloc(text.len / 2);

    for (size_t i = 0; i + 1 < text.len; i += 2)
        bytes[i / 2] = (char)(digit(text.ptr[i]) << 4 | digit(text.ptr[i + 1]));
    return (valise_str){bytes, text.len / 2};
}

static valise_id hash_of(valise_str bytes)
{
    valise_id id;

    vls_hash_bytes(&id, bytes);
    return id;
}

/* ---- plain ---- */

TEST(hash, agrees_with_the_vectors_of_the_standard)
{
    static const struct {
        const char *message, *id;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"\xd3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"},
        {"\x11\xaf", "5ca7133fa735326081558ac312c620eeca9970d1e70a4b95533d956f072d1f98"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
         "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        valise_id id = hash_of(valise_str_of(cases[i].message));
        CHECK_TEXT(cases[i].id, hex(&id));
    }
}

TEST(hash, a_million_times_a)
{
    vls_hasher hasher;
    char thousand[1000];
    valise_id id;

    memset(thousand, 'a', sizeof(thousand));
    vls_hash_begin(&hasher);
    for (int i = 0; i < 1000; i++)
        vls_hash_update(&hasher, vls_str(thousand, sizeof(thousand)));
    vls_hash_end(&id, &hasher);
    CHECK_TEXT("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", hex(&id));
}

TEST(hash, pieces_give_the_same_as_the_whole)
{
    vls_hasher hasher;
    test_rng rng = test_rng_new(test_seed());
    char bytes[300];
    valise_id pieces;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)test_random(&rng);
    for (size_t len = 0; len <= sizeof(bytes); len++) {
        valise_id whole = hash_of(vls_str(bytes, len));
        vls_hash_begin(&hasher);
        for (size_t at = 0; at < len;) {
            size_t piece = test_random_below(&rng, len - at + 1);
            vls_hash_update(&hasher, vls_str(bytes + at, piece));
            at += piece;
        }
        vls_hash_end(&pieces, &hasher);
        CHECK(vls_id_equal(&whole, &pieces));
    }
}

TEST(hash, a_begin_forgets_what_was_not_ended)
{
    vls_hasher hasher;
    valise_id id;

    vls_hash_begin_tagged(&hasher, "valise.test.1");
    vls_hash_field_u64(&hasher, 5);
    vls_hash_begin(&hasher);
    vls_hash_update(&hasher, VLS_STR("abc"));
    vls_hash_end(&id, &hasher);
    valise_id fresh = hash_of(VLS_STR("abc"));
    CHECK(vls_id_equal(&fresh, &id));
}

TEST(hash, ids_are_ordered_by_their_bytes)
{
    valise_id a = {{0}}, b = {{0}};

    CHECK(vls_id_equal(&a, &b) && vls_id_compare(&a, &b) == 0);
    b.bytes[31] = 1;
    CHECK(!vls_id_equal(&a, &b) && vls_id_compare(&a, &b) < 0);
    a.bytes[0] = 0x80;
    CHECK(vls_id_compare(&a, &b) > 0);
}

/* ---- tagged ---- */

/* One word of a vector: "text:ab", "hex:00ff", "u64:5", "none". */
static void add_word(vls_hasher *hasher, valise_str word)
{
    valise_str kind, value;
    uint64_t number;

    (void)vls_str_cut(&kind, &value, word, ':');
    if (vls_str_equal(kind, VLS_STR("none"))) {
        vls_hash_field_none(hasher);
    } else if (vls_str_equal(kind, VLS_STR("u64"))) {
        CHECK(vls_str_to_u64(&number, value));
        vls_hash_field_u64(hasher, number);
    } else if (vls_str_equal(kind, VLS_STR("hex"))) {
        vls_hash_field(hasher, unhex(value));
    } else {
        CHECK_STR(VLS_STR("text"), kind);
        vls_hash_field(hasher, value);
    }
}

static void check_vector(valise_str line)
{
    vls_hasher hasher;
    valise_str left = vls_str_head(line, vls_str_find(line, VLS_STR(" = ")));
    valise_str expected = vls_str_trim(vls_str_from(line, left.len + 3));
    valise_str tag, word;
    valise_id id;

    CHECK_INT(64, expected.len);
    left = vls_str_trim(left);
    (void)vls_str_cut(&tag, &left, left, ' ');
    vls_hash_begin_tagged(&hasher, test_format("%.*s", VALISE_STR_ARG(tag)));
    while (left.len > 0) {
        (void)vls_str_cut(&word, &left, left, ' ');
        add_word(&hasher, word);
    }
    vls_hash_end(&id, &hasher);
    CHECK_STR(expected, valise_str_of(hex(&id)));
}

/* The vectors were computed by another program; see docs/formats.md. */
TEST(hash, agrees_with_the_vectors_in_the_documentation)
{
    const char *root = getenv("VALISE_SOURCE_ROOT");
    valise_str text = test_read_file(test_format("%s/docs/formats.md", root ? root : "."));
    valise_str fence = VLS_STR("```tagged-hash-vectors\n"), line;
    int count = 0;

    text = vls_str_from(text, vls_str_find(text, fence) + fence.len);
    while (vls_str_cut(&line, &text, text, '\n') && !vls_str_starts(line, VLS_STR("```"))) {
        check_vector(line);
        count++;
    }
    CHECK_INT(11, count);
}

TEST(hash, an_id_field_is_its_bytes_and_none_when_null)
{
    vls_hasher hasher;
    valise_id field, a, b;

    field = hash_of(VLS_STR("abc"));
    vls_hash_begin_tagged(&hasher, "valise.test.1");
    vls_hash_field_id(&hasher, &field);
    vls_hash_field_id(&hasher, NULL);
    vls_hash_end(&a, &hasher);
    vls_hash_begin_tagged(&hasher, "valise.test.1");
    vls_hash_field(&hasher, vls_str(field.bytes, sizeof(field.bytes)));
    vls_hash_field_none(&hasher);
    vls_hash_end(&b, &hasher);
    CHECK(vls_id_equal(&a, &b));
}

/* Whoever stores the message of an object as a blob must not get the object's id for it. */
TEST(hash, a_blob_with_the_bytes_of_a_message_has_another_id)
{
    static const char message[] = "\0\0\0\0\0\0\0\x0dvalise.test.1"
                                  "\0\0\0\0\0\0\0\x03"
                                  "abc";
    vls_hasher hasher;
    valise_id object, blob;

    vls_hash_begin_tagged(&hasher, "valise.test.1");
    vls_hash_field(&hasher, VLS_STR("abc"));
    vls_hash_end(&object, &hasher);
    blob = hash_of(vls_str(message, sizeof(message) - 1));
    CHECK(!vls_id_equal(&object, &blob));
    for (size_t i = 0; i < sizeof(blob.bytes); i++)
        CHECK_INT(0xFF, object.bytes[i] ^ blob.bytes[i]);
}

/* Every way to cut a text into tag and fields, and every number of fields, is another id. */
TEST(hash, no_two_field_splits_collide)
{
    vls_hasher hasher;
    static const char text[] = "valise";
    valise_id ids[1 << 5];

    for (unsigned cuts = 0; cuts < VLS_COUNT(ids); cuts++) {
        size_t from = 0;
        vls_hash_begin_tagged(&hasher, "t");
        for (size_t i = 1; i <= 6; i++) {
            if (i == 6 || (cuts >> (i - 1) & 1)) {
                vls_hash_field(&hasher, vls_str(text + from, i - from));
                from = i;
            }
        }
        vls_hash_end(&ids[cuts], &hasher);
        for (unsigned other = 0; other < cuts; other++)
            CHECK(!vls_id_equal(&ids[cuts], &ids[other]));
    }
}
