/* merkle_page.c -- pages of Merkle maps as bytes, and what a proof says.
 *
 * What is here knows no store. Bytes come from disks and from other machines: everything that is
 * read is checked, and one page has one encoding. */
#include "context/merkle_page.h"

#include "base/bytes.h"
#include "base/str.h"

enum { LEAF, INNER };

static int fail_page(valise_error *err, const char *why)
{
    return vls_fail(err, VALISE_E_CORRUPT, "a page of a Merkle map is damaged: %s", why);
}

static bool has_prefix(const valise_id *key, const valise_id *prefix, size_t depth)
{
    for (size_t i = 0; i < depth; i++) {
        if (vls_merkle_step(key, i) != vls_merkle_step(prefix, i))
            return false;
    }
    return true;
}

static void read_id(valise_id *out, vls_reader *in)
{
    valise_str bytes = vls_reader_slice(in, sizeof(out->bytes));

    if (bytes.len == sizeof(out->bytes))
        memcpy(out->bytes, bytes.ptr, bytes.len);
}

static int read_leaf(vls_merkle_page *out, vls_reader *in, const valise_id *prefix, size_t depth,
                     valise_error *err)
{
    out->count = vls_reader_u8(in);
    if (out->count > VLS_MERKLE_FANOUT)
        return fail_page(err, "it has too many pairs");
    for (unsigned i = 0; i < out->count && !in->failed; i++) {
        read_id(&out->pairs[i].key, in);
        read_id(&out->pairs[i].value, in);
        if (in->failed)
            break;
        if (i > 0 && vls_id_compare(&out->pairs[i - 1].key, &out->pairs[i].key) >= 0)
            return fail_page(err, "its keys are not in order");
        if (!has_prefix(&out->pairs[i].key, prefix, depth))
            return fail_page(err, "it has a key that does not belong there");
    }
    if (depth > 0 && out->count == 0)
        return fail_page(err, "it is empty");
    return 0;
}

static int read_inner(vls_merkle_page *out, vls_reader *in, size_t depth, valise_error *err)
{
    unsigned which = vls_reader_u16(in);
    uint64_t total = 0;

    if (depth >= VLS_MERKLE_DEPTH)
        return fail_page(err, "it is too deep");
    for (unsigned i = 0; i < VLS_MERKLE_FANOUT; i++) {
        vls_merkle_child *child = &out->children[i];
        uint64_t count;
        *child = (vls_merkle_child){0};
        if (!(which & 0x8000u >> i))
            continue;
        count = vls_reader_varint(in);
        read_id(&child->hash, in);
        if (in->failed)
            break;
        if (count == 0 || count > INT32_MAX)
            return fail_page(err, "it has an impossible count");
        child->count = (int64_t)count;
        total += count;
    }
    if (!in->failed && total <= VLS_MERKLE_FANOUT)
        return fail_page(err, "it need not have been split");
    return 0;
}

int vls_merkle_page_read(vls_merkle_page *out, valise_str bytes, const valise_id *prefix,
                         size_t depth, valise_error *err)
{
    vls_reader in = vls_reader_of(bytes);
    unsigned kind = vls_reader_u8(&in);
    int rc;

    if (kind > INNER)
        return fail_page(err, "its kind is unknown");
    out->inner = kind == INNER;
    out->count = 0;
    rc = out->inner ? read_inner(out, &in, depth, err) : read_leaf(out, &in, prefix, depth, err);
    if (rc == 0 && !vls_reader_is_done(&in))
        rc = fail_page(err, "it is too short or too long");
    return rc;
}

static void add_id(vls_buf *out, const valise_id *id)
{
    vls_buf_add(out, vls_str(id->bytes, sizeof(id->bytes)));
}

void vls_merkle_page_write(vls_buf *out, const vls_merkle_page *page)
{
    unsigned which = 0;

    vls_buf_add_byte(out, page->inner ? INNER : LEAF);
    if (!page->inner) {
        assert(page->count <= VLS_MERKLE_FANOUT);
        vls_buf_add_byte(out, (char)page->count);
        for (unsigned i = 0; i < page->count; i++) {
            add_id(out, &page->pairs[i].key);
            add_id(out, &page->pairs[i].value);
        }
        return;
    }
    for (unsigned i = 0; i < VLS_MERKLE_FANOUT; i++)
        which |= page->children[i].count > 0 ? 0x8000u >> i : 0;
    vls_bytes_add_u16(out, (uint16_t)which);
    for (unsigned i = 0; i < VLS_MERKLE_FANOUT; i++) {
        if (page->children[i].count == 0)
            continue;
        vls_bytes_add_varint(out, (uint64_t)page->children[i].count);
        add_id(out, &page->children[i].hash);
    }
}

void vls_merkle_page_hash(valise_id *out, valise_str bytes)
{
    vls_hasher hasher;

    vls_hash_begin_tagged(&hasher, "valise.merkle.1");
    vls_hash_field(&hasher, bytes);
    vls_hash_end(out, &hasher);
}

int64_t vls_merkle_page_total(const vls_merkle_page *page)
{
    int64_t total = 0;

    if (!page->inner)
        return page->count;
    for (unsigned i = 0; i < VLS_MERKLE_FANOUT; i++)
        total += page->children[i].count;
    return total;
}

unsigned vls_merkle_page_find(bool *found, const vls_merkle_page *page, const valise_id *key)
{
    unsigned at = 0;

    while (at < page->count && vls_id_compare(&page->pairs[at].key, key) < 0)
        at++;
    *found = at < page->count && vls_id_equal(&page->pairs[at].key, key);
    return at;
}

void vls_merkle_empty(valise_id *root)
{
    vls_merkle_page_hash(root, vls_str("\0\0", 2));
}

/* ---- verifying ---- */

static int fail_proof(valise_error *err, const char *why)
{
    return vls_fail(err, VALISE_E_CORRUPT, "the proof does not hold: %s", why);
}

static int verify_empty(const valise_id *root, valise_error *err)
{
    valise_id empty;

    vls_merkle_empty(&empty);
    return vls_id_equal(&empty, root)
               ? 0
               : fail_proof(err, "it is empty, and the set with this root is not");
}

/* The next page of the proof, which must have this hash and so many pairs (-1: any). */
static int next_page(vls_merkle_page *out, vls_reader *in, const vls_merkle_child *wanted,
                     const valise_id *key, size_t depth, valise_error *err)
{
    valise_str bytes = vls_reader_string(in);
    valise_id hash;
    int rc = 0;

    if (in->failed || bytes.len == 0)
        return fail_proof(err, "it ends too early");
    vls_merkle_page_hash(&hash, bytes);
    if (!vls_id_equal(&hash, &wanted->hash))
        rc = fail_proof(err, depth == 0 ? "it is one of another root" : "a page is another one");
    if (rc == 0)
        rc = vls_merkle_page_read(out, bytes, key, depth, err);
    if (rc == 0 && wanted->count >= 0 && vls_merkle_page_total(out) != wanted->count)
        rc = fail_proof(err, "a page has a count that does not match the one above it");
    return rc;
}

int vls_merkle_verify(valise_id *value, const valise_id *root, const valise_id *key,
                      valise_str proof, valise_error *err)
{
    vls_merkle_child wanted = {.count = -1, .hash = *root};
    vls_reader in = vls_reader_of(proof);
    vls_merkle_page page;
    unsigned at;
    bool found;
    int rc;

    if (proof.len > VLS_MERKLE_PROOF_MAX)
        return fail_proof(err, "it is too large");
    if (proof.len == 0)
        return verify_empty(root, err);
    for (size_t depth = 0;; depth++) {
        rc = next_page(&page, &in, &wanted, key, depth, err);
        if (rc < 0)
            return rc;
        if (!page.inner)
            break;
        wanted = page.children[vls_merkle_step(key, depth)];
        if (wanted.count == 0) /* nothing begins like this key */
            return vls_reader_is_done(&in) ? 0 : fail_proof(err, "it is too long");
    }
    if (!vls_reader_is_done(&in))
        return fail_proof(err, "it is too long");
    at = vls_merkle_page_find(&found, &page, key);
    if (found)
        *value = page.pairs[at].value;
    return found;
}
