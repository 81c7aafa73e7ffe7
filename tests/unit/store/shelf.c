/* shelf.c -- see shelf.h. */
#include "shelf.h"

#include "base/hex.h"
#include "base/str.h"
#include "store/validate.h"

/* ---- collections ---- */

static const valise_field shelf_fields[] = {
    VALISE_FIELD(shelf_row, name, STR, VALISE_REQUIRED | VALISE_KEY, "Its name."),
    VALISE_FIELD_WITH(shelf_row, owner, STR, VALISE_NULLABLE, "Whose it is.", .ref = "author"),
    VALISE_FIELD_END,
};
static const valise_field note_item = {.type = VALISE_T_ID, .ref = "object"};
static const valise_field book_fields[] = {
    VALISE_FIELD_WITH(book_row, shelf, STR, VALISE_REQUIRED | VALISE_KEY, "Where it stands.",
                      .ref = "shelf"),
    VALISE_FIELD(book_row, number, INT, VALISE_REQUIRED | VALISE_KEY, "Its place."),
    VALISE_FIELD_WITH(book_row, author, STR, VALISE_NULLABLE, "Who wrote it.", .ref = "author"),
    VALISE_FIELD(book_row, title, STR, VALISE_NULLABLE | VALISE_CONTENT, "Its title."),
    VALISE_FIELD_WITH(book_row, text, ID, VALISE_NULLABLE | VALISE_CONTENT, "What it says.",
                      .ref = "object"),
    VALISE_FIELD_WITH(book_row, cover, ID, VALISE_NULLABLE, "Its picture.", .ref = "blob"),
    VALISE_FIELD_WITH(book_row, notes, LIST, VALISE_NULLABLE, "Notes.", .more = &note_item),
    VALISE_FIELD_END,
};
static const valise_field author_fields[] = {
    VALISE_FIELD(author_row, name, STR, VALISE_REQUIRED | VALISE_KEY, "Name."),
    VALISE_FIELD(author_row, born, INT, 0, "When born."),
    VALISE_FIELD_END,
};
static const valise_field stone_fields[] = {
    VALISE_FIELD(stone, number, INT, VALISE_REQUIRED | VALISE_KEY, "Its number."),
    VALISE_FIELD(stone, text, STR, 0, "What is carved into it."),
    VALISE_FIELD_END,
};
static const char *const by_author[] = {"author", NULL};
static const valise_coll_index book_indexes[] = {{"author", by_author}, {NULL, NULL}};

#define COLL(coll_name, struct_type, table, ...)                                                   \
    {                                                                                              \
        .size = sizeof(valise_coll), .name = (coll_name), .help = "A row.", .fields = (table),     \
        .row_size = sizeof(struct_type), __VA_ARGS__                                               \
    }

const valise_coll shelf_shelves = COLL("shelf", shelf_row, shelf_fields, .flags = 0);
const valise_coll shelf_books = COLL("book", book_row, book_fields, .indexes = book_indexes);
const valise_coll shelf_authors = COLL("author", author_row, author_fields, .flags = 0);
static int tell(valise_event *out, valise_view *view, const void *before, const void *after,
                valise_error *err)
{
    (void)out, (void)view, (void)before, (void)after, (void)err;
    return 0;
}

const valise_coll shelf_grains =
    COLL("grain", stone, stone_fields, .flags = VALISE_COLL_IMMUTABLE | VALISE_COLL_QUIET,
         .event = tell);
const valise_coll shelf_caches = COLL("cache", stone, stone_fields, .flags = VALISE_COLL_EXEMPT);
const valise_coll shelf_privates = COLL("private", stone, stone_fields, .flags = 0);
const char *const shelf_local[] = {"private", NULL};

static const valise_coll *const in_order[] = {
    &shelf_shelves,  &shelf_books, &shelf_authors, &shelf_grains, &shelf_caches,
    &shelf_privates, NULL};
static const valise_coll *const in_reverse[] = {
    &shelf_privates, &shelf_caches,  &shelf_grains, &shelf_authors,
    &shelf_books,    &shelf_shelves, NULL};
static const valise_coll *const without_books[] = {&shelf_shelves, &shelf_authors,  &shelf_grains,
                                                   &shelf_caches,  &shelf_privates, NULL};

static void open_with(stage *k, test *t, const char *backend, const char *dir,
                      const valise_coll *const *colls)
{
    vls_store_options options = stage_options(t, backend, dir);

    options.colls = colls;
    *k = (stage){.t = t, .now = 1000};
    CHECK_RC(0, vls_store_open(&k->store, &options, &t->err));
}

void shelf_open(stage *k, test *t, const char *backend, const char *dir, bool reversed)
{
    open_with(k, t, backend, dir, reversed ? in_reverse : in_order);
}

void shelf_open_without_books(stage *k, test *t, const char *backend, const char *dir)
{
    open_with(k, t, backend, dir, without_books);
}

/* ---- rows ---- */

static valise_str text_or_none(const char *text)
{
    return text ? valise_str_of(text) : (valise_str){NULL, 0};
}

static int put_book(valise_view *view, void *arg, valise_error *err)
{
    const shelf_book *b = arg;
    valise_id note;
    book_row row = {.shelf = valise_str_of(b->shelf),
                    .number = b->number,
                    .author = text_or_none(b->author),
                    .title = text_or_none(b->title),
                    .cover = b->cover};
    int rc = 0;

    if (b->text.len > 0)
        rc = valise_view_add(&row.text, view, "text", b->text, err);
    if (rc == 0 && b->note.len > 0) {
        rc = valise_view_add(&note, view, "note", b->note, err);
        row.notes = (valise_list){&note, 1};
    }
    return rc < 0 ? rc : valise_view_put(view, &shelf_books, &row, err);
}

void shelf_put(stage *k, const shelf_book *book)
{
    shelf_book copy = *book;

    stage_do(k, put_book, &copy);
}

static int remove_book(valise_view *view, void *arg, valise_error *err)
{
    const shelf_book *b = arg;
    book_row row = {.shelf = valise_str_of(b->shelf), .number = b->number};
    int rc = valise_view_delete(view, &shelf_books, &row, err);

    return rc < 0 ? rc : 0;
}

void shelf_remove(stage *k, const char *shelf, int64_t number)
{
    shelf_book book = {.shelf = shelf, .number = number};

    stage_do(k, remove_book, &book);
}

static int put_author(valise_view *view, void *arg, valise_error *err)
{
    return valise_view_put(view, &shelf_authors, arg, err);
}

void shelf_put_author(stage *k, const char *name, int64_t born)
{
    author_row row = {valise_str_of(name), born};

    stage_do(k, put_author, &row);
}

static int put_shelf(valise_view *view, void *arg, valise_error *err)
{
    return valise_view_put(view, &shelf_shelves, arg, err);
}

void shelf_put_shelf(stage *k, const char *name, const char *owner)
{
    shelf_row row = {valise_str_of(name), text_or_none(owner)};

    stage_do(k, put_shelf, &row);
}

static int put_stones(valise_view *view, void *arg, valise_error *err)
{
    stone one = {1, VLS_STR("one")};
    int rc = valise_view_put(view, &shelf_grains, &one, err);

    (void)arg;
    if (rc == 0)
        rc = valise_view_put(view, &shelf_caches, &one, err);
    return rc < 0 ? rc : valise_view_put(view, &shelf_privates, &one, err);
}

void shelf_fill(stage *k)
{
    static char large[30000];
    uint32_t x = 7;

    for (size_t i = 0; i < sizeof(large); i++) {
        x = x * 1103515245u + 12345u;
        large[i] = (char)(x >> 16);
    }
    shelf_put_author(k, "ann", 1900);
    shelf_put_author(k, "bob", 1910);
    shelf_put_author(k, "cyd", 1920);
    shelf_put_shelf(k, "left", "cyd");
    shelf_put_shelf(k, "right", NULL);
    shelf_put(k, &(shelf_book){.shelf = "left",
                               .number = 1,
                               .author = "ann",
                               .title = "First",
                               .text = VLS_STR("once upon a time"),
                               .note = VLS_STR("nice")});
    shelf_put(k, &(shelf_book){.shelf = "left",
                               .number = 2,
                               .author = "bob",
                               .title = "Second",
                               .text = vls_str(large, sizeof(large))});
    shelf_put(k,
              &(shelf_book){
                  .shelf = "right", .number = 1, .title = "Third", .text = VLS_STR("elsewhere")});
    shelf_put(k, &(shelf_book){.shelf = "left",
                               .number = 1,
                               .author = "ann",
                               .title = "First!",
                               .text = VLS_STR("once upon another time")});
    shelf_put(k, &(shelf_book){
                     .shelf = "left", .number = 3, .title = "gone", .text = VLS_STR("gone soon")});
    shelf_remove(k, "left", 3);
    stage_do(k, put_stones, NULL);
}

void shelf_name(stage *k, const char *uuid)
{
    test *t = k->t;
    vls_txn txn = {0};

    CHECK_OK(vls_txn_begin(&txn, k->store, VALISE_TXN_WRITE, &t->err));
    CHECK_OK(vls_meta_put_str(&txn, "workspace", valise_str_of(uuid), &t->err));
    CHECK_OK(vls_txn_commit(&txn, &t->err));
}

/* ---- bundles ---- */

typedef struct exporting {
    stage *k;
    shelf_bundle *out;
    const char *const *places;
    vls_blobs *blobs;
    vls_buf bytes;
} exporting;

static int take_bytes(void *arg, valise_str bytes, valise_error *err)
{
    exporting *e = arg;

    vls_buf_add(&e->bytes, bytes);
    return vls_buf_check(&e->bytes, err);
}

static int write_it(valise_view *view, void *arg, valise_error *err)
{
    exporting *e = arg;
    valise_str roots[16];
    vls_progress silent;
    vls_bundle_header header;
    vls_bundle_export how = {.view = view,
                             .blobs = e->blobs,
                             .roots = roots,
                             .local = shelf_local,
                             .sink = take_bytes,
                             .arg = e,
                             .progress = &silent};

    vls_progress_init(&silent, e->k->t->env, NULL);
    while (e->places && e->places[how.root_count]) {
        roots[how.root_count] = valise_str_of(e->places[how.root_count]);
        how.root_count++;
    }
    return vls_bundle_write(&e->out->counts, &header, &how, err);
}

int shelf_try_export(shelf_bundle *out, stage *k, const char *const *places, vls_blobs *blobs,
                     valise_error *err)
{
    exporting e = {.k = k, .out = out, .places = places, .blobs = blobs};
    int rc;

    vls_buf_init(&e.bytes, k->t->env, SIZE_MAX);
    rc = stage_read(k, -1, write_it, &e, err);
    if (rc == 0) {
        char *copy = test_alloc(e.bytes.len);
        memcpy(copy, e.bytes.ptr, e.bytes.len);
        out->bytes = vls_str(copy, e.bytes.len);
        CHECK(out->counts.bytes == e.bytes.len);
    }
    vls_buf_release(&e.bytes);
    return rc;
}

shelf_bundle shelf_export(stage *k, const char *const *places, vls_blobs *blobs)
{
    test *t = k->t;
    shelf_bundle out = {.bytes = {NULL, 0}};

    CHECK_OK(shelf_try_export(&out, k, places, blobs, &t->err));
    return out;
}

static int read_memory(void *arg, uint64_t at, void *room, size_t len, valise_error *err)
{
    const valise_str *bytes = arg;

    (void)err;
    CHECK(at <= bytes->len && len <= bytes->len - at);
    memcpy(room, bytes->ptr + at, len);
    return 0;
}

vls_bundle_source shelf_source(const valise_str *bytes)
{
    union {
        const valise_str *in;
        void *out;
    } plain = {.in = bytes};

    return (vls_bundle_source){.size_bytes = bytes->len, .read = read_memory, .arg = plain.out};
}

int shelf_verify(test *t, valise_str bytes, valise_error *err)
{
    vls_bundle_source source = shelf_source(&bytes);
    vls_bundle_counts counts;
    vls_progress silent;
    valise_id id;

    vls_progress_init(&silent, t->env, NULL);
    return vls_bundle_verify(&id, &counts, t->env, &source, &silent, err);
}

int shelf_restore(stage *k, valise_str bytes, valise_error *err)
{
    const valise_env *env = vls_store_env(k->store);
    vls_bundle_source source = shelf_source(&bytes);
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_progress silent;
    vls_bundle_import how = {.env = env, .source = &source, .now = 5000, .progress = &silent};
    vls_bundle_counts counts;
    int rc;

    vls_progress_init(&silent, env, NULL);
    rc = vls_bundle_verify(&how.id, &counts, env, &source, &silent, err);
    if (rc == 0)
        rc = vls_txn_begin(&txn, k->store, VALISE_TXN_WRITE, err);
    if (rc == 0)
        rc = vls_bundle_restore(&txn, &how, err);
    return rc < 0 ? rc : vls_txn_commit(&txn, err);
}

/* ---- looking ---- */

static int hash_it(valise_view *view, void *arg, valise_error *err)
{
    return vls_state_hash(arg, view, err);
}

const char *shelf_state(stage *k)
{
    test *t = k->t;
    valise_id id;

    CHECK_OK(stage_read(k, -1, hash_it, &id, &t->err));
    return test_format("%s", vls_id_hex(&id).s);
}

static int note_finding(void *arg, const vls_finding *finding, valise_error *err)
{
    (void)err;
    if (arg)
        test_note("%s: %s", finding->place, finding->problem);
    return 0;
}

static int64_t find_problems(stage *k, bool noted)
{
    test *t = k->t;
    vls_validation found = {0};
    vls_progress silent;

    vls_progress_init(&silent, t->env, NULL);
    CHECK_OK(vls_validate(&found, k->store, &silent, note_finding, noted ? k : NULL, &t->err));
    return found.problems;
}

int64_t shelf_problems(stage *k)
{
    return find_problems(k, false);
}

void shelf_validate(stage *k)
{
    CHECK_INT(0, find_problems(k, true));
}
