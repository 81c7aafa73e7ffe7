/* find.c -- commits by the end of their ids, in all backpacks of a workspace.
 *
 * Ids are stored nowhere. In each backpack the digits leave few numbers (one in 16 for each digit),
 * which are looked at one by one. */
#include "backpack/rows.h"

#include "base/hex.h"

#define USED_MAX 12u /* digits of which a number is made; the rest is compared */

typedef struct finding {
    valise_view *view;
    valise_str digits;
    uint64_t ending; /* the last digits as a number */
    unsigned bits;
    valise_find_fn *fn;
    void *arg;
} finding;

static unsigned value_of(char digit)
{
    return digit <= '9' ? (unsigned)(digit - '0') : (unsigned)(digit - 'a') + 10;
}

static bool ends_with(const valise_uuid *id, valise_str digits)
{
    static const char hex[] = "0123456789abcdef";

    for (size_t i = 0; i < digits.len; i++) {
        size_t at = 2 * sizeof(id->bytes) - digits.len + i;
        uint8_t byte = id->bytes[at / 2];
        if (hex[at % 2 ? byte & 15 : byte >> 4] != digits.ptr[i])
            return false;
    }
    return true;
}

static int read_last(int64_t *seq, valise_view *view, const valise_uuid *backpack,
                     valise_error *err)
{
    valise_commit commit = {.backpack = *backpack};
    const valise_select select = {.row = &commit, .equal = 1, .flags = VALISE_SCAN_REVERSE};
    VLS_AUTO(view_scan) valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_bag_commits, &select, err);

    if (rc == 0)
        rc = valise_scan_next(&commit, scan, err);
    *seq = rc > 0 ? commit.seq : 0;
    return rc < 0 ? rc : 0;
}

static int find_in(const finding *f, const valise_uuid *backpack, valise_error *err)
{
    int64_t seq = vls_commit_seq_ending(backpack, f->ending, f->bits), last;
    int rc = read_last(&last, f->view, backpack, err);

    for (; rc == 0 && seq <= last; seq += INT64_C(1) << f->bits) {
        valise_commit commit = {.backpack = *backpack, .seq = seq};
        if (seq == 0)
            continue;
        rc = valise_view_get(&commit, f->view, &vls_bag_commits, err);
        if (rc <= 0)
            continue;
        commit.id = vls_commit_id(backpack, commit.seq, commit.time);
        rc = ends_with(&commit.id, f->digits) ? f->fn(f->arg, &commit, &commit.id, err) : 0;
    }
    return rc;
}

int vls_commit_find(valise_view *view, valise_str digits, valise_find_fn *fn, void *arg,
                    valise_error *err)
{
    finding f = {.view = view, .digits = digits, .fn = fn, .arg = arg};
    const valise_select all = {.index = NULL};
    VLS_AUTO(view_scan) valise_scan *scan = NULL;
    size_t used = VLS_MIN(digits.len, USED_MAX);
    vls_bag_row bag;
    int rc;

    if (used == 0 || digits.len > 2 * sizeof(valise_uuid))
        return 0;
    for (size_t i = digits.len - used; i < digits.len; i++)
        f.ending = f.ending << 4 | value_of(digits.ptr[i]);
    f.bits = (unsigned)(4 * used);
    rc = valise_view_scan(&scan, view, &vls_bags, &all, err);
    while (rc == 0 && (rc = valise_scan_next(&bag, scan, err)) > 0)
        rc = find_in(&f, &bag.id, err);
    return rc;
}
