/* shelf.h -- a store to make bundles of: shelves with books, their authors, and what is beside
 * them.
 *
 *     shelf (name)                     owner refers to an author
 *     book (shelf, number)             belongs to a shelf; text and notes are objects, cover a blob
 *     author (name)
 *     grain (number)                   QUIET, with events
 *     cache (number)                   EXEMPT
 *     private (number)                 never leaves the store in a part
 *
 * Threads: single. */
#ifndef STORE_SHELF_H
#define STORE_SHELF_H

#include "stage.h"
#include "store/bundle.h"

typedef struct shelf_row {
    valise_str name;
    valise_str owner; /* NULLABLE, of an author */
} shelf_row;

typedef struct book_row {
    valise_str shelf;
    int64_t number;
    valise_str author; /* NULLABLE */
    valise_str title;  /* NULLABLE, CONTENT */
    valise_id text;    /* NULLABLE, CONTENT */
    valise_id cover;   /* NULLABLE: a blob */
    valise_list notes; /* of valise_id: objects */
} book_row;

typedef struct author_row {
    valise_str name;
    int64_t born;
} author_row;

extern const valise_coll shelf_shelves, shelf_books, shelf_authors, shelf_grains, shelf_caches,
    shelf_privates;
extern const char *const shelf_local[];

/* reversed: the collections in another order, so that they have other numbers. */
void shelf_open(stage *k, test *t, const char *backend, const char *dir, bool reversed);
/* The same without the shelf's `book`. */
void shelf_open_without_books(stage *k, test *t, const char *backend, const char *dir);

/* Put a book; an empty text is no object. */
typedef struct shelf_book {
    const char *shelf;
    int64_t number;
    const char *author, *title;
    valise_str text, note;
    valise_id cover;
} shelf_book;
void shelf_put(stage *k, const shelf_book *book);
void shelf_remove(stage *k, const char *shelf, int64_t number);
void shelf_put_author(stage *k, const char *name, int64_t born);
void shelf_put_shelf(stage *k, const char *name, const char *owner);

/* Several of each, with changes and deletions. */
void shelf_fill(stage *k);

/* The workspace id, so that bundles are the same each time. */
void shelf_name(stage *k, const char *uuid);

/* A bundle of it, in memory that lives as long as the test; places NULL: whole. */
typedef struct shelf_bundle {
    valise_str bytes;
    vls_bundle_counts counts;
} shelf_bundle;
shelf_bundle shelf_export(stage *k, const char *const *places, vls_blobs *blobs);
int shelf_try_export(shelf_bundle *out, stage *k, const char *const *places, vls_blobs *blobs,
                     valise_error *err);

/* A bundle in memory as a source. */
vls_bundle_source shelf_source(const valise_str *bytes);
int shelf_verify(test *t, valise_str bytes, valise_error *err);
/* Verify, then restore in one transaction. */
int shelf_restore(stage *k, valise_str bytes, valise_error *err);

/* The state hash, as hex. */
const char *shelf_state(stage *k);
/* validate: must find nothing; or how much it finds. */
void shelf_validate(stage *k);
int64_t shelf_problems(stage *k);

#endif
