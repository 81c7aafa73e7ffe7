/* merkle.c -- Merkle radix maps as rows: merkle.h says what they are.
 *
 * A change reads the pages from the root to the leaf, changes the leaf and writes the pages on the
 * way back with the new hashes. Two things can happen on the way: a leaf with 17 pairs is split
 * (grow), and an inner page that is left with 16 becomes a leaf again (shrink). Start reading at
 * vls_merkle_put. */
#include "context/merkle_page.h"

#include "base/bytes.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/validate.h"
#include "store/view.h"

static const valise_field merkle_fields[] = {
    /* Those of a tree belong to it; those of a slot come with its entries. */
    VALISE_FIELD_WITH(vls_merkle_row, set, UUID, VALISE_REQUIRED | VALISE_KEY | VALISE_LOOSE,
                      "The set.", .ref = "tree"),
    VALISE_FIELD_WITH(vls_merkle_row, prefix, BYTES, VALISE_KEY,
                      "What the keys of the page begin with, a byte for four bits.",
                      .max = VLS_MERKLE_DEPTH),
    VALISE_FIELD_WITH(vls_merkle_row, page, BYTES, 0, "The page.", .max = VLS_MERKLE_PAGE_MAX),
    VALISE_FIELD_END,
};

static int check_row(valise_check *check, valise_view *view, const void *arg, valise_error *err);

const valise_coll vls_merkles = {.size = sizeof(valise_coll),
                                 .name = "merkle",
                                 .help = "A page of a Merkle map.",
                                 .fields = merkle_fields,
                                 .row_size = sizeof(vls_merkle_row),
                                 .check = check_row,
                                 .needs = "context:read"};

/* ---- pages ---- */

typedef struct prefix_bytes {
    char s[VLS_MERKLE_DEPTH];
} prefix_bytes;

/* The row of the page that key meets at this depth. It borrows from room. */
static vls_merkle_row row_at(prefix_bytes *room, const valise_uuid *set, const valise_id *key,
                             size_t depth)
{
    for (size_t i = 0; i < depth; i++)
        room->s[i] = (char)vls_merkle_step(key, i);
    return (vls_merkle_row){.set = *set, .prefix = vls_str(room->s, depth)};
}

/* 1 and the page; 0: there is none. */
static int get_page(vls_merkle_page *out, valise_str *bytes, valise_view *view,
                    const valise_uuid *set, const valise_id *key, size_t depth, valise_error *err)
{
    prefix_bytes room;
    vls_merkle_row row = row_at(&room, set, key, depth);
    int rc = valise_view_get(&row, view, &vls_merkles, err);

    if (rc <= 0)
        return rc;
    if (bytes)
        *bytes = row.page;
    rc = vls_merkle_page_read(out, row.page, key, depth, err);
    return rc < 0 ? rc : 1;
}

/* A page that another one promises: 1. */
static int need_page(vls_merkle_page *out, valise_str *bytes, valise_view *view,
                     const valise_uuid *set, const valise_id *key, size_t depth, valise_error *err)
{
    int rc = get_page(out, bytes, view, set, key, depth, err);

    return rc != 0 ? rc
                   : vls_fail(err, VALISE_E_CORRUPT, "a page of Merkle map %s is missing",
                              vls_uuid_text(set).s);
}

/* The way to a key. */
typedef struct way {
    valise_view *view;
    const valise_uuid *set;
    const valise_id *key;
    size_t depth;
    vls_merkle_page leaf;
    vls_merkle_page *path; /* changes: VLS_MERKLE_DEPTH of them; NULL: not kept */
} way;

/* Down to the leaf that has the key, or would have it: 1; 0: the way ends at an inner page without
 * such a child, or there is no page at all, and depth is where the leaf would be. path: the inner
 * pages on the way, depth of them. */
static int descend(way *w, valise_error *err)
{
    vls_merkle_page *page = &w->leaf;
    int rc = get_page(page, NULL, w->view, w->set, w->key, 0, err);

    for (w->depth = 0; rc > 0 && page->inner; w->depth++) {
        if (w->path)
            w->path[w->depth] = *page;
        if (page->children[vls_merkle_step(w->key, w->depth)].count == 0)
            rc = 0;
        else
            rc = need_page(page, NULL, w->view, w->set, w->key, w->depth + 1, err);
    }
    return rc;
}

/* ---- reading ---- */

int vls_merkle_root(valise_id *root, int64_t *count, valise_view *view, const valise_uuid *set,
                    valise_error *err)
{
    static const valise_id any;
    vls_merkle_page page = {0};
    valise_str bytes = vls_str("\0\0", 2); /* of an empty leaf */
    int rc = get_page(&page, &bytes, view, set, &any, 0, err);

    if (rc < 0)
        return rc;
    vls_merkle_page_hash(root, bytes);
    if (count)
        *count = vls_merkle_page_total(&page);
    return 0;
}

int vls_merkle_get(valise_id *value, valise_view *view, const valise_uuid *set,
                   const valise_id *key, valise_error *err)
{
    way w = {.view = view, .set = set, .key = key};
    unsigned at;
    bool found;
    int rc = descend(&w, err);

    if (rc <= 0)
        return rc;
    at = vls_merkle_page_find(&found, &w.leaf, key);
    if (found)
        *value = w.leaf.pairs[at].value;
    return found;
}

/* What the keys of a row begin with, as far as its prefix goes. */
static valise_id key_of(valise_str prefix)
{
    valise_id key = {{0}};

    for (size_t i = 0; i < prefix.len && i < VLS_MERKLE_DEPTH; i++)
        key.bytes[i / 2] |= (uint8_t)((prefix.ptr[i] & 15) << (i % 2 == 0 ? 4 : 0));
    return key;
}

int vls_merkle_walk(valise_view *view, const valise_uuid *set, vls_merkle_fn *fn, void *arg,
                    valise_error *err)
{
    const vls_merkle_row probe = {.set = *set};
    const valise_select of_set = {.row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_merkle_row row;
    int rc = valise_view_scan(&scan, view, &vls_merkles, &of_set, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        valise_id key = key_of(row.prefix);
        vls_merkle_page page;
        rc = vls_merkle_page_read(&page, row.page, &key, row.prefix.len, err);
        for (unsigned i = 0; rc == 0 && !page.inner && i < page.count; i++)
            rc = fn(arg, &page.pairs[i].key, &page.pairs[i].value, err);
    }
    return rc;
}

int vls_merkle_prove(vls_buf *out, valise_view *view, const valise_uuid *set, const valise_id *key,
                     valise_error *err)
{
    vls_merkle_page page;
    valise_str bytes;
    int rc = get_page(&page, &bytes, view, set, key, 0, err);

    for (size_t depth = 0; rc > 0; depth++) {
        vls_bytes_add_string(out, bytes);
        if (!page.inner || page.children[vls_merkle_step(key, depth)].count == 0)
            break;
        rc = need_page(&page, &bytes, view, set, key, depth + 1, err);
    }
    return rc < 0 ? rc : vls_buf_check(out, err);
}

/* ---- changing ---- */

/* Put the page that key meets at this depth; what the page above has to say about it. */
static int put_page(vls_merkle_child *out, way *w, const valise_id *key, size_t depth,
                    const vls_merkle_page *page, valise_error *err)
{
    char room[VLS_MERKLE_PAGE_MAX + 1];
    vls_buf bytes = {.ptr = room, .cap = sizeof(room), .max = sizeof(room) - 1};
    prefix_bytes prefix;
    vls_merkle_row row = row_at(&prefix, w->set, key, depth);

    vls_merkle_page_write(&bytes, page);
    row.page = vls_buf_str(&bytes);
    vls_merkle_page_hash(&out->hash, row.page);
    out->count = vls_merkle_page_total(page);
    return valise_view_put(w->view, &vls_merkles, &row, err);
}

static int drop_page(way *w, const valise_id *key, size_t depth, valise_error *err)
{
    prefix_bytes room;
    vls_merkle_row row = row_at(&room, w->set, key, depth);

    return vls_settle(valise_view_delete(w->view, &vls_merkles, &row, err));
}

/* The pages between the root and this depth, with what they have to say about the one below. */
static int climb(way *w, vls_merkle_child below, size_t depth, valise_error *err)
{
    int rc = 0;

    while (rc == 0 && depth-- > 0) {
        vls_merkle_page *page = &w->path[depth];
        page->children[vls_merkle_step(w->key, depth)] = below;
        rc = put_page(&below, w, w->key, depth, page, err);
    }
    return rc;
}

/* The 17 pairs of w->leaf as pages from this depth on: as many inner pages as all of them share
 * steps, then one whose children are leaves. */
static int grow(vls_merkle_child *out, way *w, valise_error *err)
{
    const vls_merkle_page *all = &w->leaf;
    const valise_id *first = &all->pairs[0].key, *last = &all->pairs[all->count - 1].key;
    vls_merkle_page inner, leaf = {0};
    size_t depth = w->depth;
    int rc = 0;

    /* In order, so that the first and the last share what all share. */
    while (vls_merkle_step(first, depth) == vls_merkle_step(last, depth))
        depth++;
    memset(&inner, 0, sizeof(inner));
    inner.inner = true;
    for (unsigned i = 0; rc == 0 && i < all->count; i++) {
        unsigned step = vls_merkle_step(&all->pairs[i].key, depth);
        leaf.pairs[leaf.count++] = all->pairs[i];
        if (i + 1 < all->count && vls_merkle_step(&all->pairs[i + 1].key, depth) == step)
            continue;
        rc = put_page(&inner.children[step], w, &all->pairs[i].key, depth + 1, &leaf, err);
        leaf.count = 0;
    }
    if (rc == 0)
        rc = put_page(out, w, first, depth, &inner, err);
    while (rc == 0 && depth-- > w->depth) {
        memset(&inner, 0, sizeof(inner));
        inner.inner = true;
        inner.children[vls_merkle_step(first, depth)] = *out;
        rc = put_page(out, w, first, depth, &inner, err);
    }
    return rc;
}

/* Begin to change: room for the way. That is seldom used for more than its beginning, and not of
 * the view's memory: views of a batch live until its end. */
static int open_way(way *w, valise_error *err)
{
    w->path = vls_mem_alloc(w->view->arena.env, VLS_MERKLE_DEPTH * sizeof(*w->path));
    return w->path ? 0 : vls_fail_memory(err);
}

static void close_way(way *w)
{
    vls_mem_free(w->view->arena.env, w->path, VLS_MERKLE_DEPTH * sizeof(*w->path));
}

static int put_pair(way *w, const valise_id *value, valise_error *err)
{
    vls_merkle_child below;
    unsigned at;
    bool found;
    int rc = descend(w, err);

    if (rc < 0)
        return rc;
    if (rc == 0)
        w->leaf = (vls_merkle_page){.inner = false};
    at = vls_merkle_page_find(&found, &w->leaf, w->key);
    if (found && vls_id_equal(&w->leaf.pairs[at].value, value))
        return 0;
    if (!found) {
        memmove(&w->leaf.pairs[at + 1], &w->leaf.pairs[at],
                (w->leaf.count - at) * sizeof(w->leaf.pairs[0]));
        w->leaf.count++;
    }
    w->leaf.pairs[at] = (vls_merkle_pair){*w->key, *value};
    rc = w->leaf.count > VLS_MERKLE_FANOUT ? grow(&below, w, err)
                                           : put_page(&below, w, w->key, w->depth, &w->leaf, err);
    if (rc == 0)
        rc = climb(w, below, w->depth, err);
    return rc < 0 ? rc : 1;
}

int vls_merkle_put(valise_view *view, const valise_uuid *set, const valise_id *key,
                   const valise_id *value, valise_error *err)
{
    way w = {.view = view, .set = set, .key = key};
    int rc = open_way(&w, err);

    if (rc == 0)
        rc = put_pair(&w, value, err);
    close_way(&w);
    return rc;
}

/* The pairs of the leaves from this depth on, but for the one that goes; the pages below that depth
 * are deleted on the way. */
static int gather(vls_merkle_page *leaf, way *w, size_t depth, valise_error *err)
{
    prefix_bytes room;
    const vls_merkle_row top = row_at(&room, w->set, w->key, depth);
    const valise_select below = {.row = &top, .equal = 1, .from = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_merkle_row row;
    int rc = valise_view_scan(&scan, w->view, &vls_merkles, &below, err);

    *leaf = (vls_merkle_page){.inner = false};
    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0 &&
           vls_str_starts(row.prefix, top.prefix)) {
        valise_id key = key_of(row.prefix);
        vls_merkle_page page;
        rc = vls_merkle_page_read(&page, row.page, &key, row.prefix.len, err);
        for (unsigned i = 0; rc == 0 && !page.inner && i < page.count; i++) {
            if (vls_id_equal(&page.pairs[i].key, w->key))
                continue;
            if (leaf->count == VLS_MERKLE_FANOUT)
                rc = vls_fail(err, VALISE_E_CORRUPT, "Merkle map %s has pages that count wrong",
                              vls_uuid_text(w->set).s);
            else
                leaf->pairs[leaf->count++] = page.pairs[i];
        }
        if (rc == 0 && row.prefix.len > depth)
            rc = vls_settle(valise_view_delete(w->view, &vls_merkles, &row, err));
    }
    return vls_settle(rc);
}

/* The inner page of this depth has one pair too few from now on: it becomes a leaf. */
static int shrink(way *w, size_t depth, valise_error *err)
{
    vls_merkle_child below = {0};
    int rc = gather(&w->leaf, w, depth, err);

    if (rc == 0)
        rc = put_page(&below, w, w->key, depth, &w->leaf, err);
    return rc < 0 ? rc : climb(w, below, depth, err);
}

static int delete_pair(way *w, valise_error *err)
{
    vls_merkle_child below = {0};
    unsigned at;
    bool found;
    int rc = descend(w, err);

    if (rc <= 0)
        return rc;
    at = vls_merkle_page_find(&found, &w->leaf, w->key);
    if (!found)
        return 0;
    for (size_t depth = 0; depth < w->depth; depth++) {
        if (vls_merkle_page_total(&w->path[depth]) == VLS_MERKLE_FANOUT + 1) {
            rc = shrink(w, depth, err);
            return rc < 0 ? rc : 1;
        }
    }
    w->leaf.count--;
    memmove(&w->leaf.pairs[at], &w->leaf.pairs[at + 1],
            (w->leaf.count - at) * sizeof(w->leaf.pairs[0]));
    rc = w->leaf.count > 0 ? put_page(&below, w, w->key, w->depth, &w->leaf, err)
                           : drop_page(w, w->key, w->depth, err);
    if (rc == 0)
        rc = climb(w, below, w->depth, err);
    return rc < 0 ? rc : 1;
}

int vls_merkle_delete(valise_view *view, const valise_uuid *set, const valise_id *key,
                      valise_error *err)
{
    way w = {.view = view, .set = set, .key = key};
    int rc = open_way(&w, err);

    if (rc == 0)
        rc = delete_pair(&w, err);
    close_way(&w);
    return rc;
}

int vls_merkle_drop(valise_view *view, const valise_uuid *set, valise_error *err)
{
    const vls_merkle_row probe = {.set = *set};
    const valise_select of_set = {.row = &probe, .equal = 1, .flags = VLS_SCAN_BELOW};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_merkle_row row;
    int rc = valise_view_scan(&scan, view, &vls_merkles, &of_set, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = vls_settle(valise_view_delete(view, &vls_merkles, &row, err));
    return rc;
}

/* ---- validating ---- */

/* Does the page above know this one? */
static int check_parent(valise_check *check, valise_view *view, const vls_merkle_row *row,
                        const valise_id *key, valise_error *err)
{
    size_t depth = row->prefix.len - 1;
    vls_merkle_page above;
    int rc = get_page(&above, NULL, view, &row->set, key, depth, err);

    if (rc < 0)
        return rc == VALISE_E_CORRUPT ? 0 : rc; /* that page is a problem of its own */
    if (rc == 0 || !above.inner || above.children[vls_merkle_step(key, depth)].count == 0)
        return valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                    "no page of the Merkle map refers to it");
    return 0;
}

static int check_child(valise_check *check, valise_view *view, const vls_merkle_row *row,
                       const vls_merkle_child *promised, unsigned step, valise_error *err)
{
    vls_merkle_page page;
    valise_str bytes;
    valise_id hash, key = key_of(row->prefix);
    size_t depth = row->prefix.len;
    int rc;

    key.bytes[depth / 2] |= (uint8_t)(step << (depth % 2 == 0 ? 4 : 0));
    rc = get_page(&page, &bytes, view, &row->set, &key, depth + 1, err);
    if (rc < 0)
        return rc == VALISE_E_CORRUPT ? 0 : rc;
    if (rc > 0) {
        vls_merkle_page_hash(&hash, bytes);
        if (vls_id_equal(&hash, &promised->hash) && vls_merkle_page_total(&page) == promised->count)
            return 0;
    }
    return valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                "page %u below it is not the original one", step);
}

static int check_row(valise_check *check, valise_view *view, const void *arg, valise_error *err)
{
    const vls_merkle_row *row = arg;
    valise_error why = VALISE_ERROR_INIT;
    valise_id key = key_of(row->prefix);
    vls_merkle_page page;
    int rc = 0;

    for (size_t i = 0; i < row->prefix.len; i++) {
        if (row->prefix.len > VLS_MERKLE_DEPTH || (unsigned char)row->prefix.ptr[i] > 15)
            return valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                        "it has an impossible prefix");
    }
    if (vls_merkle_page_read(&page, row->page, &key, row->prefix.len, &why) < 0 ||
        (!page.inner && page.count == 0))
        return valise_check_problem(check, err, VLS_REMEDY_RESTORE, "%s",
                                    why.message[0] ? why.message : "it is empty");
    if (row->prefix.len > 0)
        rc = check_parent(check, view, row, &key, err);
    for (unsigned i = 0; rc >= 0 && page.inner && i < VLS_MERKLE_FANOUT; i++) {
        if (page.children[i].count > 0)
            rc = check_child(check, view, row, &page.children[i], i, err);
    }
    return rc;
}
