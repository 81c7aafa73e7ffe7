/* bundle.c -- bundles: what comes out goes in again, and nothing else does. [K36] [Q20] [Q26] */
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/hex.h"
#include "base/str.h"
#include "shelf.h"
#include "store/own.h"
#include "store/retention.h"

static const char *folder(const char *name)
{
    const char *path = test_format("%s/%s", test_tmpdir(), name);

    mkdir(path, 0700);
    return path;
}

/* ---- round trips ---- */

TEST(bundle, goes_from_memory_to_sqlite_and_back_as_it_was) /* [K36] [K32] */
{
    stage a, b, c;
    shelf_bundle first, second, third;
    const char *state;

    shelf_open(&a, t, "memory", NULL, false);
    shelf_open(&b, t, "sqlite", folder("b"), true);
    shelf_open(&c, t, "memory", NULL, false);
    shelf_fill(&a);
    state = shelf_state(&a);
    first = shelf_export(&a, NULL, NULL);
    CHECK_OK(shelf_restore(&b, first.bytes, &t->err));
    CHECK_TEXT(state, shelf_state(&b));
    CHECK_INT(stage_tip(&a), stage_tip(&b));
    shelf_validate(&b);
    second = shelf_export(&b, NULL, NULL);
    CHECK_STR(first.bytes, second.bytes); /* other numbers of collections, the same bytes */
    CHECK_OK(shelf_restore(&c, second.bytes, &t->err));
    third = shelf_export(&c, NULL, NULL);
    CHECK_STR(first.bytes, third.bytes);
    shelf_validate(&c);
    CHECK_INT(stage_tip(&a), first.counts.entries);
    stage_close(&c);
    stage_close(&b);
    stage_close(&a);
}

static int see_old_title(valise_view *view, void *arg, valise_error *err)
{
    book_row row = {.shelf = VLS_STR("left"), .number = 1};
    valise_str text;

    (void)arg;
    CHECK_INT(1, valise_view_get(&row, view, &shelf_books, err));
    CHECK_STR(VLS_STR("First"), row.title);
    CHECK_INT(0, valise_view_object(&text, view, &row.text, err));
    CHECK_STR(VLS_STR("once upon a time"), text);
    row = (book_row){.shelf = VLS_STR("left"), .number = 3};
    CHECK_INT(0, valise_view_get(&row, view, &shelf_books, err));
    return 0;
}

TEST(bundle, keeps_the_past_and_goes_on_from_there) /* [K35] [K36] */
{
    stage a, b;

    shelf_open(&a, t, "memory", NULL, false);
    shelf_open(&b, t, "sqlite", folder("b"), true);
    shelf_fill(&a);
    CHECK_OK(shelf_restore(&b, shelf_export(&a, NULL, NULL).bytes, &t->err));
    CHECK_OK(stage_read(&b, 8, see_old_title, NULL, &t->err));
    b.now = a.now;
    shelf_put_author(&a, "dee", 1930);
    shelf_put_author(&b, "dee", 1930);
    CHECK_STR(shelf_export(&a, NULL, NULL).bytes, shelf_export(&b, NULL, NULL).bytes);
    shelf_validate(&b);
    stage_close(&b);
    stage_close(&a);
}

TEST(bundle, of_an_empty_store)
{
    stage a, b;

    shelf_open(&a, t, "memory", NULL, false);
    shelf_open(&b, t, "memory", NULL, false);
    CHECK_OK(shelf_restore(&b, shelf_export(&a, NULL, NULL).bytes, &t->err));
    CHECK_INT(0, stage_tip(&b));
    CHECK_STR(shelf_export(&a, NULL, NULL).bytes, shelf_export(&b, NULL, NULL).bytes);
    stage_close(&b);
    stage_close(&a);
}

/* A large one, and one that was there before under another form. */
static int add_garbage(valise_view *view, void *arg, valise_error *err)
{
    valise_id id;

    (void)arg;
    return valise_view_add(&id, view, "text", VLS_STR("nobody wants it"), err);
}

TEST(bundle, has_neither_garbage_nor_derived_data)
{
    stage a, b;

    shelf_open(&a, t, "memory", NULL, false);
    shelf_open(&b, t, "memory", NULL, false);
    stage_do(&a, add_garbage, NULL);
    shelf_fill(&a);
    shelf_bundle bundle = shelf_export(&a, NULL, NULL);
    CHECK(vls_str_find(bundle.bytes, VLS_STR("nobody wants it")) == bundle.bytes.len);
    CHECK(vls_str_find(bundle.bytes, VLS_STR("cache")) == bundle.bytes.len);
    CHECK_OK(shelf_restore(&b, bundle.bytes, &t->err));
    CHECK_TEXT(shelf_state(&a), shelf_state(&b));
    stage_close(&b);
    stage_close(&a);
}

static void expire(stage *k, int64_t bound)
{
    test *t = k->t;
    VLS_AUTO(txn) vls_txn txn = {0};
    int64_t removed;
    bool more;

    CHECK_OK(vls_txn_begin(&txn, k->store, VALISE_TXN_WRITE, &t->err));
    CHECK_OK(vls_log_expire(&removed, &more, &txn, bound, 1000, &t->err));
    CHECK_OK(vls_txn_commit(&txn, &t->err));
}

TEST(bundle, of_a_log_that_has_lost_its_beginning) /* [K32] [K36] */
{
    stage a, b;

    shelf_open(&a, t, "memory", NULL, false);
    shelf_open(&b, t, "sqlite", folder("b"), true);
    shelf_fill(&a);
    expire(&a, 7);
    shelf_bundle bundle = shelf_export(&a, NULL, NULL);
    CHECK_INT(stage_tip(&a) - 7, bundle.counts.entries);
    CHECK_OK(shelf_restore(&b, bundle.bytes, &t->err));
    CHECK_STR(bundle.bytes, shelf_export(&b, NULL, NULL).bytes);
    shelf_validate(&b);
    CHECK_RC(VALISE_E_LIMIT, stage_read(&b, 6, see_old_title, NULL, &t->err));
    b.now = a.now;
    shelf_put_author(&b, "dee", 1930);
    shelf_validate(&b);
    stage_close(&b);
    stage_close(&a);
}

/* Empty the object of a text, and the payload of an entry. */
static void erase_text(stage *k, valise_str bytes, int64_t seq)
{
    test *t = k->t;
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_entry entry;
    valise_id id;

    vls_arena_init(&arena, t->env, 1 << 20);
    CHECK_OK(vls_txn_begin(&txn, k->store, VALISE_TXN_WRITE, &t->err));
    CHECK_OK(vls_object_id(&id, "text", bytes, &t->err));
    CHECK_INT(1, vls_object_erase(&txn, &id, &t->err));
    CHECK_INT(1, vls_log_get(&entry, &txn, seq, &arena, &t->err));
    entry.payload = entry.nonce = entry.result = (valise_str){NULL, 0};
    CHECK_OK(vls_log_rewrite(&txn, &entry, &t->err));
    CHECK_OK(vls_txn_commit(&txn, &t->err));
}

static int object_is_erased(valise_view *view, void *arg, valise_error *err)
{
    book_row row = {.shelf = VLS_STR("right"), .number = 1};
    vls_object_info info;

    (void)arg;
    CHECK_INT(1, valise_view_get(&row, view, &shelf_books, err));
    CHECK_INT(1, vls_object_stat(&info, view->txn, &row.text, err));
    CHECK(info.erased && info.size == 9);
    return 0;
}

TEST(bundle, carries_what_was_erased_as_erased) /* [K20] [K36] */
{
    stage a, b;

    shelf_open(&a, t, "memory", NULL, false);
    shelf_open(&b, t, "sqlite", folder("b"), false);
    shelf_fill(&a);
    erase_text(&a, VLS_STR("elsewhere"), 8);
    shelf_bundle bundle = shelf_export(&a, NULL, NULL);
    CHECK_INT(1, bundle.counts.erased);
    CHECK(vls_str_find(bundle.bytes, VLS_STR("elsewhere")) == bundle.bytes.len);
    CHECK_OK(shelf_restore(&b, bundle.bytes, &t->err));
    CHECK_OK(stage_read(&b, -1, object_is_erased, NULL, &t->err));
    CHECK_STR(bundle.bytes, shelf_export(&b, NULL, NULL).bytes);
    shelf_validate(&b);
    stage_close(&b);
    stage_close(&a);
}

static char *make_noise(size_t len)
{
    test_rng rng = test_rng_new(42);
    char *bytes = test_alloc(len);

    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)test_random(&rng);
    return bytes;
}

TEST(bundle, of_objects_that_are_stored_in_chunks) /* [K29] [K36] */
{
    const size_t len = (size_t)5 << 20;
    char *large = make_noise(len);
    shelf_bundle first;
    stage a, b;

    shelf_open(&a, t, "sqlite", folder("a"), false);
    shelf_open(&b, t, "sqlite", folder("b"), false);
    shelf_put_shelf(&a, "s", NULL);
    shelf_put(&a, &(shelf_book){.shelf = "s", .number = 1, .text = vls_str(large, len)});
    large[len / 2] = (char)(large[len / 2] + 1);
    shelf_put(&a, &(shelf_book){.shelf = "s", .number = 2, .text = vls_str(large, len)});
    first = shelf_export(&a, NULL, NULL);
    CHECK_INT(2, first.counts.objects);
    CHECK_OK(shelf_restore(&b, first.bytes, &t->err));
    CHECK_STR(first.bytes, shelf_export(&b, NULL, NULL).bytes);
    shelf_validate(&b);
    stage_close(&b);
    stage_close(&a);
}

static void put_cursor(stage *k, const char *name, int64_t seq)
{
    test *t = k->t;
    vls_cursor_row row = {valise_str_of(name), seq, 1};
    vls_txn txn = {0};

    CHECK_OK(vls_txn_begin(&txn, k->store, VALISE_TXN_WRITE, &t->err));
    CHECK_OK(vls_own_put(&txn, VLS_TABLE_CURSOR, &row, &t->err));
    CHECK_OK(vls_txn_commit(&txn, &t->err));
}

static int see_cursor(valise_view *view, void *arg, valise_error *err)
{
    vls_cursor_row *row = arg;

    return vls_own_get(row, view->txn, VLS_TABLE_CURSOR, &view->arena, err) == 1 ? 0 : -1;
}

TEST(bundle, is_not_followed_as_if_it_had_just_happened) /* [K14] */
{
    vls_cursor_row row = {.name = VLS_STR("processor:x")};
    stage a, b;

    shelf_open(&a, t, "memory", NULL, false);
    shelf_open(&b, t, "memory", NULL, false);
    shelf_fill(&a);
    put_cursor(&b, "processor:x", 0);
    CHECK_OK(shelf_restore(&b, shelf_export(&a, NULL, NULL).bytes, &t->err));
    CHECK_OK(stage_read(&b, -1, see_cursor, &row, &t->err));
    CHECK_INT(stage_tip(&a) + 1, row.seq);
    CHECK_INT(0, row.item);
    stage_close(&b);
    stage_close(&a);
}

/* A source that is another the second time it is read. */
typedef struct shifty {
    valise_str first, second;
    bool again;
} shifty;

static int read_shifty(void *arg, uint64_t at, void *room, size_t len, valise_error *err)
{
    const shifty *s = arg;
    valise_str bytes = s->again ? s->second : s->first;

    (void)err;
    CHECK(at + len <= bytes.len);
    memcpy(room, bytes.ptr + at, len);
    return 0;
}

TEST(bundle, that_changes_while_it_is_read_is_refused) /* [Q26] */
{
    stage a, b;
    shifty s = {.again = false};
    vls_bundle_source source = {.read = read_shifty, .arg = &s};
    vls_progress silent;
    vls_bundle_import how = {.env = t->env, .source = &source, .progress = &silent};
    vls_bundle_counts counts;
    vls_bundle_pack pack = {0};
    vls_txn txn = {0};

    vls_progress_init(&silent, t->env, NULL);
    shelf_open(&a, t, "memory", NULL, false);
    shelf_open(&b, t, "memory", NULL, false);
    shelf_put_author(&a, "ann", 1900);
    s.first = shelf_export(&a, NULL, NULL).bytes;
    stage_close(&a);
    shelf_open(&a, t, "memory", NULL, false);
    shelf_put_author(&a, "bob", 1900);
    s.second = shelf_export(&a, NULL, NULL).bytes;
    CHECK_INT(s.first.len, s.second.len);
    source.size_bytes = s.first.len;
    CHECK_OK(vls_bundle_verify(&how.id, &counts, t->env, &source, &silent, &t->err));
    s.again = true;
    CHECK_OK(vls_txn_begin(&txn, b.store, VALISE_TXN_WRITE, &t->err));
    CHECK_RC(VALISE_E_CORRUPT, vls_bundle_restore(&txn, &how, &t->err));
    CHECK(strstr(t->err.message, "was changed while"));
    vls_txn_rollback(&txn);
    CHECK_RC(VALISE_E_CORRUPT, vls_bundle_pack_read(&pack, b.store, NULL, &how, &t->err));
    CHECK_RC(VALISE_E_CORRUPT, vls_bundle_put_blobs(NULL, &how, &t->err));
    stage_close(&b);
    stage_close(&a);
}

TEST(bundle, goes_into_an_empty_store_only)
{
    stage a, b;

    shelf_open(&a, t, "memory", NULL, false);
    shelf_open(&b, t, "memory", NULL, false);
    shelf_fill(&a);
    shelf_put_author(&b, "own", 1);
    CHECK_RC(VALISE_E_EXISTS, shelf_restore(&b, shelf_export(&a, NULL, NULL).bytes, &t->err));
    CHECK_INT(1, stage_tip(&b));
    stage_close(&b);
    stage_close(&a);
}

TEST(bundle, with_a_collection_nobody_knows_is_refused)
{
    stage a, b;

    shelf_open(&a, t, "memory", NULL, false);
    shelf_open_without_books(&b, t, "memory", NULL);
    shelf_fill(&a);
    CHECK_RC(VALISE_E_UNSUPPORTED, shelf_restore(&b, shelf_export(&a, NULL, NULL).bytes, &t->err));
    CHECK(strstr(t->err.message, "book"));
    CHECK_INT(0, stage_tip(&b));
    stage_close(&b);
    /* What is not used is no reason. */
    shelf_open_without_books(&b, t, "memory", NULL);
    stage_close(&a);
    shelf_open(&a, t, "memory", NULL, false);
    shelf_put_author(&a, "ann", 1900);
    CHECK_OK(shelf_restore(&b, shelf_export(&a, NULL, NULL).bytes, &t->err));
    stage_close(&b);
    stage_close(&a);
}

/* ---- blobs ---- */

static vls_blobs *open_blobs(test *t)
{
    vls_blobs_options options = {
        .env = t->env, .ops = valise_blob_store_memory(), .flags = VALISE_BLOB_STORE_CREATE};
    vls_blobs *blobs = NULL;

    CHECK_OK(vls_blobs_open(&blobs, &options, &t->err));
    return blobs;
}

static valise_id put_blob(test *t, vls_blobs *blobs, size_t size)
{
    char *bytes = test_alloc(size + 1);
    valise_id id;

    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 31 + size);
    CHECK_OK(vls_blobs_put_bytes(&id, blobs, vls_str(bytes, size), &t->err));
    return id;
}

static int put_all_blobs(test *t, vls_blobs *blobs, valise_str bytes, valise_error *err)
{
    vls_bundle_source source = shelf_source(&bytes);
    vls_bundle_counts counts;
    vls_progress silent;
    vls_bundle_import how = {.env = t->env, .source = &source, .progress = &silent};

    vls_progress_init(&silent, t->env, NULL);
    CHECK_OK(vls_bundle_verify(&how.id, &counts, t->env, &source, &silent, err));
    return vls_bundle_put_blobs(blobs, &how, err);
}

TEST(bundle, carries_blobs_in_pieces) /* [K18] [K36] */
{
    static const size_t sizes[] = {0, 1, VLS_BUNDLE_PIECE_BYTES, VLS_BUNDLE_PIECE_BYTES + 1,
                                   3 * VLS_BUNDLE_PIECE_BYTES};
    stage a;
    vls_blobs *from, *to;
    valise_id ids[VLS_COUNT(sizes)];
    shelf_bundle bundle;

    from = open_blobs(t);
    to = open_blobs(t);
    shelf_open(&a, t, "memory", NULL, false);
    for (size_t i = 0; i < VLS_COUNT(sizes); i++) {
        ids[i] = put_blob(t, from, sizes[i]);
        shelf_put(&a, &(shelf_book){.shelf = "s", .number = (int64_t)i, .cover = ids[i]});
    }
    (void)put_blob(t, from, 77); /* that nobody names */
    shelf_remove(&a, "s", 0);    /* it is named by the past */
    bundle = shelf_export(&a, NULL, from);
    CHECK_INT(VLS_COUNT(sizes), bundle.counts.blobs);
    CHECK_OK(put_all_blobs(t, to, bundle.bytes, &t->err));
    for (size_t i = 0; i < VLS_COUNT(sizes); i++) {
        uint64_t size = 99;
        CHECK_OK(vls_blobs_size(&size, to, &ids[i], &t->err));
        CHECK_INT(sizes[i], size);
    }
    CHECK_RC(VALISE_E_UNSUPPORTED, put_all_blobs(t, NULL, bundle.bytes, &t->err));
    CHECK_RC(VALISE_E_UNSUPPORTED, shelf_try_export(&bundle, &a, NULL, NULL, &t->err));
    CHECK_OK(vls_blobs_remove(from, &ids[2], &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, shelf_try_export(&bundle, &a, NULL, from, &t->err));
    vls_blobs_close(from);
    vls_blobs_close(to);
    stage_close(&a);
}

/* ---- parts ---- */

typedef struct listing {
    char text[4096];
    size_t len;
} listing;

static void list(listing *l, const char *text)
{
    l->len += (size_t)snprintf(l->text + l->len, sizeof(l->text) - l->len, "%s ", text);
}

/* What a bundle has: rows by their places, objects by their bytes. */
static const char *contents(test *t, valise_str bytes)
{
    vls_bundle_source source = shelf_source(&bytes);
    vls_bundle_reader *reader = NULL;
    vls_bundle_record record;
    listing l = {.len = 0};
    int rc;

    CHECK_OK(vls_bundle_open(&reader, t->env, &source, &t->err));
    while ((rc = vls_bundle_next(&record, reader, &t->err)) > 0) {
        if (record.tag == 'R')
            list(&l, vls_coll_place(record.coll, record.cells).s);
        else if (record.tag == 'O')
            list(&l, test_format("'%.*s'", (int)VLS_MIN(record.bytes.len, 22), record.bytes.ptr));
        else if (record.tag != 'C')
            list(&l, test_format("%c", record.tag));
    }
    CHECK_OK(rc);
    CHECK_INT(0, vls_bundle_next(&record, reader, &t->err));
    vls_bundle_close(reader);
    return test_format("%s", l.text);
}

TEST(bundle, of_a_part_has_what_it_needs_and_no_log) /* [K36] */
{
    static const char *const right[] = {"shelf/right", NULL};
    static const char *const left[] = {"shelf/left", NULL};
    static const char *const author[] = {"author/bob", "author/ann", "author/bob", NULL};
    static const char *const missing[] = {"shelf/middle", NULL};
    static const char *const local[] = {"private/1", NULL};
    stage a;
    shelf_bundle bundle;

    shelf_open(&a, t, "memory", NULL, false);
    shelf_fill(&a);
    CHECK_TEXT("'elsewhere' book right 1 shelf right ",
               contents(t, shelf_export(&a, right, NULL).bytes));
    CHECK_TEXT("author ann author bob ", contents(t, shelf_export(&a, author, NULL).bytes));
    bundle = shelf_export(&a, left, NULL);
    CHECK(strstr(contents(t, bundle.bytes), "author ann author bob author cyd book left 1 "
                                            "book left 2 shelf left "));
    CHECK_INT(2, bundle.counts.objects); /* not those of the past */
    CHECK_INT(0, bundle.counts.entries);
    CHECK(vls_str_find(bundle.bytes, VLS_STR("right")) == bundle.bytes.len);
    CHECK(vls_str_find(bundle.bytes, VLS_STR("tester")) == bundle.bytes.len);
    CHECK_RC(VALISE_E_NOT_FOUND, shelf_try_export(&bundle, &a, missing, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, shelf_try_export(&bundle, &a, local, NULL, &t->err));
    stage_close(&a);
}

TEST(bundle, of_a_part_cannot_take_the_place_of_a_workspace)
{
    static const char *const right[] = {"shelf/right", NULL};
    stage a, b;

    shelf_open(&a, t, "memory", NULL, false);
    shelf_open(&b, t, "memory", NULL, false);
    shelf_fill(&a);
    CHECK_RC(VALISE_E_INVALID, shelf_restore(&b, shelf_export(&a, right, NULL).bytes, &t->err));
    stage_close(&b);
    stage_close(&a);
}

/* ---- the vector of docs/formats.md ---- */

/* Lines of hex digits, with remarks behind '|', and of text behind an apostrophe. */
static valise_str from_lines(valise_str text)
{
    char *bytes = test_alloc(text.len);
    size_t len = 0;
    valise_str line;

    while (vls_str_cut(&line, &text, text, '\n')) {
        unsigned value;
        if (line.len > 0 && line.ptr[0] == '\'') {
            memcpy(bytes + len, line.ptr + 1, line.len - 1);
            len += line.len - 1;
            continue;
        }
        line = vls_str_trim(vls_str_head(line, vls_str_find_byte(line, '|')));
        for (size_t i = 0; i < line.len; i += 3) {
            CHECK(sscanf(line.ptr + i, "%2x", &value) == 1);
            bytes[len++] = (char)value;
        }
    }
    return vls_str(bytes, len);
}

TEST(bundle, is_what_the_documentation_says) /* [K1] [K36] */
{
    const char *root = getenv("VALISE_SOURCE_ROOT"), *fence = "```bundle-vector\n";
    valise_str text = test_read_file(test_format("%s/docs/formats.md", root ? root : "."));
    size_t start = vls_str_find(text, valise_str_of(fence));
    stage a;
    shelf_bundle bundle;

    shelf_open(&a, t, "memory", NULL, false);
    shelf_name(&a, "018f2c4e-7b1a-7c3d-9e4f-000000000001");
    stage_do(&a, add_garbage, NULL);
    shelf_put(&a, &(shelf_book){.shelf = "s", .number = 300, .text = VLS_STR("hello")});
    expire(&a, 1);
    bundle = shelf_export(&a, NULL, NULL);
    CHECK(start < text.len);
    text = vls_str_from(text, start + strlen(fence));
    CHECK_STR(from_lines(vls_str_head(text, vls_str_find(text, VLS_STR("```")))), bundle.bytes);
    stage_close(&a);
}

/* ---- merging ---- */

static int merge_it(valise_view *view, void *arg, valise_error *err)
{
    int64_t added = -1;
    int rc = vls_bundle_merge(&added, view, *(const valise_str *)arg, err);

    if (rc == 0)
        CHECK_INT(1, added);
    return rc;
}

static int look_at_it(valise_view *view, void *arg, valise_error *err)
{
    vls_bundle_pack pack = {.env = view->arena.env};
    int64_t added = -1;
    int rc;

    vls_buf_init(&pack.rows, pack.env, 4096);
    vls_buf_add(&pack.rows, *(const valise_str *)arg);
    rc = vls_bundle_look(&added, &pack, view, NULL, NULL, err);
    vls_bundle_pack_release(&pack);
    if (rc == 0)
        CHECK_INT(0, added);
    return rc;
}

TEST(bundle, rows_that_a_command_is_given_are_looked_at) /* [Q20] */
{
    static const char good[] = "\1\6author\2\x8\3\3ann\1\xd8\x1d";
    static const struct {
        const char *bytes;
        size_t len;
        int code;
    } bad[] = {
        {"\2\5\3\3ann", 7, VALISE_E_CORRUPT},         /* of no collection */
        {"\1\6author\2\5", 10, VALISE_E_CORRUPT},     /* cut off */
        {"\3\1x", 3, VALISE_E_CORRUPT},               /* nobody knows */
        {"\1\3log\2\2\1\2", 9, VALISE_E_UNSUPPORTED}, /* the store's own */
        {"\1\4none", 6, VALISE_E_UNSUPPORTED},        /* none at all */
        {"\1\6author\2\1\7", 11, VALISE_E_CORRUPT},   /* no cells */
    };
    valise_str rows = {good, sizeof(good) - 1};
    stage a;

    shelf_open(&a, t, "memory", NULL, false);
    stage_do(&a, merge_it, &rows);
    CHECK_OK(stage_read(&a, -1, look_at_it, &rows, &t->err));
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        test_context("case %zu", i);
        rows = vls_str(bad[i].bytes, bad[i].len);
        CHECK_RC(bad[i].code, stage_command(&a, merge_it, &rows, &t->err));
        CHECK_RC(bad[i].code, stage_read(&a, -1, look_at_it, &rows, &t->err));
    }
    test_context_end();
    shelf_put_author(&a, "ann", 1);
    rows = vls_str(good, sizeof(good) - 1);
    CHECK_RC(VALISE_E_CONFLICT, stage_command(&a, merge_it, &rows, &t->err));
    CHECK(strstr(t->err.message, "author ann"));
    stage_close(&a);
}
