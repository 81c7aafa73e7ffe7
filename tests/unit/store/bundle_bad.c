/* bundle_bad.c -- bundles that were cut, altered or made up. [K36] [Q20] [Q26]
 *
 * Two kinds: bytes that somebody damaged, which the hash at the end gives away; and bundles that
 * somebody made, hash and all, which only the checks of each record can refuse. */
#include "base/bytes.h"
#include "base/hash.h"
#include "base/str.h"
#include "shelf.h"
#include "store/log.h"

/* ---- damage ---- */

static valise_str small_bundle(test *t, const char *const *places)
{
    stage a;
    shelf_bundle bundle;

    shelf_open(&a, t, "memory", NULL, false);
    shelf_put_author(&a, "ann", 1900);
    shelf_put_shelf(&a, "s", NULL);
    shelf_put(&a, &(shelf_book){.shelf = "s", .number = 1, .text = VLS_STR("one")});
    shelf_put(&a, &(shelf_book){.shelf = "s", .number = 2, .text = VLS_STR("two")});
    shelf_put(&a, &(shelf_book){.shelf = "s", .number = 1, .title = "T"});
    shelf_remove(&a, "s", 2);
    bundle = shelf_export(&a, places, NULL);
    stage_close(&a);
    return bundle.bytes;
}

static void check_refused(test *t, valise_str bytes)
{
    valise_error err = VALISE_ERROR_INIT;
    int rc = shelf_verify(t, bytes, &err);

    CHECK_MSG(rc == VALISE_E_CORRUPT || rc == VALISE_E_UNSUPPORTED, "%d", rc);
    CHECK(err.code == rc && err.message[0]);
}

TEST(bundle_bad, every_flipped_byte_is_seen)
{
    valise_str good = small_bundle(t, NULL);
    char *bytes = test_alloc(good.len);

    memcpy(bytes, good.ptr, good.len);
    CHECK_OK(shelf_verify(t, good, &t->err));
    for (size_t i = 0; i < good.len; i++) {
        static const char flips[] = {1, (char)0x80, (char)0xff};
        test_context("byte %zu of %zu", i, good.len);
        for (size_t k = 0; k < sizeof(flips); k++) {
            bytes[i] = (char)(good.ptr[i] ^ flips[k]);
            check_refused(t, vls_str(bytes, good.len));
        }
        bytes[i] = good.ptr[i];
    }
    test_context_end();
}

TEST(bundle_bad, every_cut_is_seen)
{
    valise_str good = small_bundle(t, NULL);
    char *more = test_alloc(good.len + 1);

    for (size_t len = 0; len < good.len; len++) {
        test_context("the first %zu of %zu bytes", len, good.len);
        check_refused(t, vls_str_head(good, len));
    }
    test_context_end();
    memcpy(more, good.ptr, good.len);
    check_refused(t, vls_str(more, good.len + 1));
}

/* ---- forgeries ---- */

#define MAX_RECORDS 64

typedef struct forged {
    test *t;
    size_t count;
    char tags[MAX_RECORDS];
    valise_str bodies[MAX_RECORDS];
} forged;

static forged take_apart(test *t, valise_str bytes)
{
    forged f = {.t = t};
    vls_reader in = vls_reader_of(vls_str_from(bytes, 16));

    while (vls_reader_left(&in) > 0) {
        CHECK(f.count < MAX_RECORDS);
        f.tags[f.count] = (char)vls_reader_u8(&in);
        f.bodies[f.count++] = vls_reader_string(&in);
    }
    CHECK(!in.failed && f.tags[f.count - 1] == 'Z');
    f.count--;
    return f;
}

/* The records with a hash that is right. */
static valise_str put_together(const forged *f)
{
    test *t = f->t;
    vls_buf out = {0};
    valise_id id;
    char *copy;
    size_t len;

    vls_buf_init(&out, t->env, SIZE_MAX);
    vls_buf_add_text(&out, "valise bundle 1\n");
    for (size_t i = 0; i < f->count; i++) {
        vls_buf_add_byte(&out, f->tags[i]);
        vls_bytes_add_string(&out, f->bodies[i]);
    }
    vls_hash_bytes(&id, vls_buf_str(&out));
    vls_buf_add_byte(&out, 'Z');
    vls_bytes_add_string(&out, vls_str(&id, sizeof(id)));
    len = out.len;
    copy = test_alloc(len);
    memcpy(copy, out.ptr, len);
    vls_buf_release(&out);
    return vls_str(copy, len);
}

static size_t find(const forged *f, char tag, size_t nth)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->tags[i] == tag && nth-- == 0)
            return i;
    }
    CHECK(false);
    return 0;
}

static void drop(forged *f, size_t at)
{
    f->count--;
    memmove(f->tags + at, f->tags + at + 1, f->count - at);
    memmove(f->bodies + at, f->bodies + at + 1, (f->count - at) * sizeof(f->bodies[0]));
}

static void refuse(const forged *f, const char *why)
{
    test *t = f->t;

    CHECK_RC(VALISE_E_CORRUPT, shelf_verify(t, put_together(f), &t->err));
    CHECK_MSG(strstr(t->err.message, why), "%s", t->err.message);
    CHECK(t->err.hint[0]);
}

/* Replace one text by another of the same length in a body. */
static void replace(forged *f, size_t at, const char *old, const char *now)
{
    valise_str body = f->bodies[at];
    size_t where = vls_str_find(body, valise_str_of(old));
    char *copy = test_alloc(body.len);

    CHECK(where < body.len && strlen(old) == strlen(now));
    memcpy(copy, body.ptr, body.len);
    memcpy(copy + where, now, strlen(now));
    f->bodies[at] = vls_str(copy, body.len);
}

static void set(forged *f, size_t at, const void *bytes, size_t len)
{
    f->bodies[at] = vls_str(bytes, len);
}

TEST(bundle_bad, taken_apart_and_put_together_is_the_same)
{
    valise_str good = small_bundle(t, NULL);
    forged f = take_apart(t, good);

    CHECK_STR(good, put_together(&f));
}

TEST(bundle_bad, records_that_stand_twice_or_are_exchanged_or_missing)
{
    forged good = take_apart(t, small_bundle(t, NULL));

    for (size_t i = 0; i < good.count; i++) {
        forged f = good;
        test_context("record %zu (%c)", i, good.tags[i]);
        drop(&f, i);
        /* Without one: the rows and objects that are left may still be a bundle, but not that
         * of this state. */
        if (!strchr("OXRG", good.tags[i]))
            CHECK_RC(VALISE_E_CORRUPT, shelf_verify(t, put_together(&f), &t->err));
        f = good;
        memmove(f.tags + i + 1, f.tags + i, f.count - i);
        memmove(f.bodies + i + 1, f.bodies + i, (f.count - i) * sizeof(f.bodies[0]));
        f.count++;
        CHECK_RC(VALISE_E_CORRUPT, shelf_verify(t, put_together(&f), &t->err));
        for (size_t k = i + 1; k < good.count; k++) {
            f = good;
            f.tags[i] = good.tags[k];
            f.tags[k] = good.tags[i];
            f.bodies[i] = good.bodies[k];
            f.bodies[k] = good.bodies[i];
            CHECK_RC(VALISE_E_CORRUPT, shelf_verify(t, put_together(&f), &t->err));
        }
    }
    test_context_end();
}

/* Rows that are missing show when everything is there: in the transaction, which is then not
 * committed. */
TEST(bundle_bad, rows_that_are_missing)
{
    forged good = take_apart(t, small_bundle(t, NULL));

    for (size_t i = 0; i < good.count; i++) {
        forged f = good;
        stage b;
        if (good.tags[i] != 'R')
            continue;
        test_context("record %zu", i);
        drop(&f, i);
        shelf_open(&b, t, "memory", NULL, false);
        CHECK_RC(VALISE_E_CORRUPT, shelf_restore(&b, put_together(&f), &t->err));
        CHECK(strstr(t->err.message, "do not match its state"));
        CHECK_INT(0, stage_tip(&b));
        stage_close(&b);
    }
    test_context_end();
}

static void swap_id(forged *f, size_t at, size_t offset)
{
    char *copy = test_alloc(f->bodies[at].len);

    memcpy(copy, f->bodies[at].ptr, f->bodies[at].len);
    copy[offset] = (char)(copy[offset] ^ 1);
    f->bodies[at] = vls_str(copy, f->bodies[at].len);
}

TEST(bundle_bad, an_object_that_a_row_names_and_that_is_not_there)
{
    forged f;
    stage a, b;

    shelf_open(&a, t, "memory", NULL, false);
    shelf_open(&b, t, "memory", NULL, false);
    shelf_put(&a, &(shelf_book){.shelf = "s", .number = 1, .text = VLS_STR("one")});
    f = take_apart(t, shelf_export(&a, NULL, NULL).bytes);
    drop(&f, find(&f, 'O', 0));
    CHECK_OK(shelf_verify(t, put_together(&f), &t->err));
    CHECK_RC(VALISE_E_CORRUPT, shelf_restore(&b, put_together(&f), &t->err));
    CHECK(strstr(t->err.message, "which is not in it"));
    CHECK_INT(0, stage_tip(&b));
    stage_close(&b);
    stage_close(&a);
}

TEST(bundle_bad, objects_with_other_ids_or_kinds)
{
    forged good = take_apart(t, small_bundle(t, NULL)), f = good;
    static const char nul[] = "\4te\0t0123456789012345678901234567890";
    static const char erased[] = "\4TEXT01234567890123456789012345678901\5";
    static const char huge[] = "\4text01234567890123456789012345678901\xff\xff\xff\xff\xff\1";
    size_t at = find(&good, 'O', 0);

    swap_id(&f, at, 5);
    refuse(&f, "an object that does not match its id");
    f = good;
    swap_id(&f, at, good.bodies[at].len - 1);
    refuse(&f, "an object that does not match its id");
    f = good;
    replace(&f, at, "text", "Text");
    refuse(&f, "an invalid object");
    f = good;
    set(&f, at, nul, sizeof(nul) - 1);
    refuse(&f, "an invalid object");
    f = good;
    f.tags[at] = 'X';
    set(&f, at, erased, sizeof(erased) - 1);
    refuse(&f, "an invalid erased object");
    set(&f, at, huge, sizeof(huge) - 1);
    refuse(&f, "an invalid erased object");
}

TEST(bundle_bad, headers_that_make_no_sense)
{
    forged good = take_apart(t, small_bundle(t, NULL)), f = good;
    static const char *const place[] = {"author/ann", NULL};

    replace(&f, 0, "\"whole\":true", "\"whole\":null");
    refuse(&f, "its header is invalid");
    f = good;
    replace(&f, 0, "\"tipSeq\":6", "\"tipSeq\":0");
    refuse(&f, "its header is inconsistent");
    f = good;
    replace(&f, 0, "\"tipSeq\":6", "\"tipSeq\":7");
    refuse(&f, "its log does not reach its tip");
    f = good;
    replace(&f, 0, "\"tipSeq\":6", "\"tipSeq\":5");
    refuse(&f, "a deletion of a row that is not there");
    f = good;
    replace(&f, 0, "\"format\":1", "\"format\":9");
    CHECK_RC(VALISE_E_UNSUPPORTED, shelf_verify(t, put_together(&f), &t->err));
    f = good;
    replace(&f, 0, "{\"format\":1", "{\"formaz\":1");
    refuse(&f, "its header is invalid");
    f = take_apart(t, small_bundle(t, place));
    replace(&f, 0, "\"whole\":false", "\"whole\":true "); /* not canonical */
    refuse(&f, "its header is inconsistent");
    f = good;
    f.tags[0] = 'C';
    refuse(&f, "it has no header");
}

TEST(bundle_bad, collections_that_are_none)
{
    forged good = take_apart(t, small_bundle(t, NULL)), f = good;
    size_t book = find(&good, 'C', 1);

    replace(&f, book, "\"flags\":0", "\"flags\":1"); /* derived data */
    refuse(&f, "a collection whose description is not canonical");
    f = good;
    replace(&f, book, "\"first\":7", "\"first\":6");
    refuse(&f, "a collection whose description is not canonical");
    f = good;
    replace(&f, book, "\"type\":\"int\"", "\"type\":\"xyz\"");
    refuse(&f, "an invalid collection");
    f = good;
    replace(&f, book, "book", "aaaa");
    refuse(&f, "collections out of order");
    f = good;
    replace(&f, book, "book", "b/ok"); /* a name that would be a path */
    refuse(&f, "an invalid collection");
    f = good;
    replace(&f, book, "book", "b\"ok"); /* or a statement */
    refuse(&f, "an invalid collection");
}

/* Another collection under a name that is known. */
TEST(bundle_bad, a_collection_that_means_something_else)
{
    forged f = take_apart(t, small_bundle(t, NULL));
    size_t author = find(&f, 'C', 0);
    stage b;

    replace(&f, author, "\"born\"", "\"dead\"");
    CHECK_OK(shelf_verify(t, put_together(&f), &t->err));
    shelf_open(&b, t, "memory", NULL, false);
    CHECK_RC(VALISE_E_UNSUPPORTED, shelf_restore(&b, put_together(&f), &t->err));
    CHECK(strstr(t->err.message, "author"));
    stage_close(&b);
}

TEST(bundle_bad, rows_that_are_none)
{
    forged good = take_apart(t, small_bundle(t, NULL)), f = good;
    size_t at = find(&good, 'R', 0); /* author ann, born 1900 */
    static const struct {
        const char *bytes;
        size_t len;
        const char *why;
    } rows[] = {
        {"\x00\x01\x03\x03"
         "ann\x01\xd8",
         9, "a row that does not fit its collection"}, /* cut off */
        {"\x00\x01\x01\x02\x01\x02", 6,
         "a row that does not fit its collection"}, /* a number as name */
        {"\x00\x01\x00\x01\x02", 5, "a row that does not fit its collection"}, /* no key */
        {"\x00\x01\x03\x01\xff\x01\x02", 7,
         "a row that does not fit its collection"}, /* not UTF-8 */
        {"\x00\x01\x03\x01x\x01\x02\x01\x02", 9,
         "a row that does not fit its collection"}, /* a cell
                                                 more */
        {"\x00\x01\x03\x01x\x00", 6, "a row"},      /* a NULL at the end */
        {"\x00\x01", 2, "a row that does not fit its collection"},
        {"\x00\x00\x03\x01x\x01\x02", 7, "a row of no known collection"}, /* made by nobody */
        {"\x00\x07\x03\x01x\x01\x02", 7, "a row of no known collection"}, /* made in the future */
        {"\x63\x01\x03\x01x\x01\x02", 7, "a row of no known collection"}, /* of no collection */
        {"\x00", 1, "a row of no known collection"},
        {"", 0, "a row of no known collection"},
    };

    for (size_t i = 0; i < VLS_COUNT(rows); i++) {
        test_context("row %zu", i);
        set(&f, at, rows[i].bytes, rows[i].len);
        refuse(&f, rows[i].why);
    }
    test_context_end();
}

TEST(bundle_bad, deletions_that_are_none)
{
    forged good = take_apart(t, small_bundle(t, NULL)), f = good;
    size_t at = find(&good, 'G', 0); /* 01, 0d: 04 's' 00 00 02 ..., 06 */
    static const char short_key[] = "\1\4\4s\0\0\6";
    static const char other_type[] = "\1\xd\5s\0\0\2\x80\0\0\0\0\0\0\2\6";
    static const char other_coll[] = "\7\xd\4s\0\0\2\x80\0\0\0\0\0\0\2\6";
    static const char no_seq[] = "\1\xd\4s\0\0\2\x80\0\0\0\0\0\0\2\0";

    CHECK_INT(16, good.bodies[at].len);
    set(&f, at, short_key, sizeof(short_key) - 1);
    refuse(&f, "an invalid key");
    set(&f, at, other_type, sizeof(other_type) - 1);
    refuse(&f, "a key that does not fit its collection");
    set(&f, at, other_coll, sizeof(other_coll) - 1);
    refuse(&f, "a deletion of a row that is not there");
    set(&f, at, no_seq, sizeof(no_seq) - 1);
    refuse(&f, "a deletion of a row that is not there");
}

TEST(bundle_bad, entries_that_were_altered)
{
    forged good = take_apart(t, small_bundle(t, NULL)), f = good;
    size_t at = find(&good, 'L', 4);

    replace(&f, at, "tester", "tastes"); /* who did it */
    refuse(&f, "its log is not one chain");
    f = good;
    replace(&f, at, "{}", "[]"); /* what was asked for */
    refuse(&f, "its log is not one chain");
    f = good;
    replace(&f, at, "{}", "{ "); /* no JSON */
    refuse(&f, "an invalid log entry");
    f = good;
    f.bodies[at] = vls_str_head(f.bodies[at], f.bodies[at].len - 1);
    refuse(&f, "an invalid log entry");
    f = good;
    swap_id(&f, find(&f, 'L', 0), 4); /* a byte of id8 */
    refuse(&f, "a log entry");
}

/* Each byte of each body, with a hash that is right: refused, or the state is right and the store
 * can be read. What no chain and no state hash covers is the past: earlier versions of rows, and
 * which entry made one. `validate` compares these with each other. */
TEST(bundle_bad, every_byte_of_every_record_made_up)
{
    forged good = take_apart(t, small_bundle(t, NULL));
    const size_t step = test_is_watched() && !test_is_long() ? 7 : 1;
    size_t accepted = 0, problems = 0;
    const char *state;
    stage a;

    shelf_open(&a, t, "memory", NULL, false);
    CHECK_OK(shelf_restore(&a, put_together(&good), &t->err));
    state = shelf_state(&a);
    stage_close(&a);
    for (size_t i = 0; i < good.count; i++) {
        for (size_t k = i % step; k < good.bodies[i].len; k += step) {
            forged f = good;
            stage b;
            int rc;
            test_context("byte %zu of record %zu (%c)", k, i, good.tags[i]);
            swap_id(&f, i, k);
            shelf_open(&b, t, "memory", NULL, false);
            rc = shelf_restore(&b, put_together(&f), &t->err);
            if (rc == 0) {
                CHECK(good.tags[i] != 'O');
                CHECK_TEXT(state, shelf_state(&b));
                problems += shelf_problems(&b) > 0;
                accepted++;
            } else {
                CHECK_INT(0, stage_tip(&b));
            }
            stage_close(&b);
        }
    }
    test_context_end();
    test_note("%zu were accepted, validate finds something wrong in %zu", accepted, problems);
    CHECK(accepted < 160 && problems > 20 / step);
}

/* ---- lengths ---- */

TEST(bundle_bad, lengths_that_lie)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *why;
    } cases[] = {
        {"H\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "too large"},
        {"H\xff\xff\xff\xff\xff\xff\xff\xff\xff\x03", 11, "an invalid length"},
        {"H\x80\x00", 3, "an invalid length"},
        {"H\x10{}", 4, "it was cut off"},
        {"H", 1, "it was cut off"},
        {"H\x80", 2, "it was cut off"},
        {"O\xff\xff\xff\x7f", 5, "it was cut off"},
        {"\0\0", 2, "it has no header"},
        {"", 0, "it was cut off"},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        char *bytes = test_alloc(64);
        test_context("case %zu", i);
        memcpy(bytes, "valise bundle 1\n", 16);
        memcpy(bytes + 16, cases[i].bytes, cases[i].len);
        CHECK_RC(VALISE_E_CORRUPT, shelf_verify(t, vls_str(bytes, 16 + cases[i].len), &t->err));
        CHECK_MSG(strstr(t->err.message, cases[i].why), "%s", t->err.message);
    }
    test_context_end();
    CHECK_RC(VALISE_E_UNSUPPORTED, shelf_verify(t, VLS_STR("valise bundle 2\nH"), &t->err));
    CHECK_RC(VALISE_E_CORRUPT, shelf_verify(t, VLS_STR("PK\3\4 some other file"), &t->err));
}
