/* sort.c -- a stable merge sort for members.
 *
 * Most objects arrive sorted (we wrote them) or have a dozen members, so: one pass that finds
 * nothing to do, then insertion into runs of 16. Larger objects merge the runs through scratch
 * memory, or without any by rotation (SymMerge, O(n log^2 n)), so that sorting cannot fail. */
#include "json/sort.h"

#include "base/mem.h"

#define RUN 16u
#define FEW 64u /* members that are sorted in place in any case */

static inline int compare(const vls_member *a, const vls_member *b)
{
    /* The first bytes mostly decide. (Below 0x80 they order as UTF-16 does.) */
    if (a->key.len > 0 && b->key.len > 0) {
        int difference = (unsigned char)a->key.text[0] - (unsigned char)b->key.text[0];
        if (difference != 0 && (((unsigned char)a->key.text[0] | b->key.text[0]) & 0x80) == 0)
            return difference;
    }
    return vls_json_key_compare(vls_json_str(a->key), vls_json_str(b->key));
}

static void insertion_sort(vls_member *m, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        vls_member moving = m[i];
        size_t at = i;
        while (at > 0 && compare(&m[at - 1], &moving) > 0) {
            m[at] = m[at - 1];
            at--;
        }
        m[at] = moving;
    }
}

static void reverse(vls_member *m, size_t count)
{
    for (size_t i = 0, j = count; i + 1 < j; i++) {
        vls_member t = m[i];
        m[i] = m[--j];
        m[j] = t;
    }
}

/* Exchange the first `left` members with the rest. */
static void rotate(vls_member *m, size_t left, size_t count)
{
    if (left == 0 || left == count)
        return;
    reverse(m, left);
    reverse(m + left, count - left);
    reverse(m, count);
}

/* Merge m[0..middle) and m[middle..count), both sorted. Recursion halves: at most 32 deep. */
static void merge_in_place(vls_member *m, size_t middle, size_t count)
{
    size_t half, low, high, sum;

    if (middle == 0 || middle == count || compare(&m[middle - 1], &m[middle]) <= 0)
        return;
    if (count == 2) {
        reverse(m, 2);
        return;
    }
    /* Find the cut that puts the smaller half before `half`, symmetric around it. */
    half = count / 2;
    sum = half + middle;
    low = middle > half ? sum - count : 0;
    high = middle > half ? half : middle;
    while (low < high) {
        size_t c = low + (high - low) / 2;
        if (compare(&m[sum - 1 - c], &m[c]) >= 0)
            low = c + 1;
        else
            high = c;
    }
    size_t end = sum - low;
    if (low < middle && middle < end)
        rotate(m + low, middle - low, end - low);
    merge_in_place(m, low, half);
    merge_in_place(m + half, end - half, count - half);
}

/* The same through scratch, which has room for the first half. */
static void merge_through(vls_member *scratch, vls_member *m, size_t middle, size_t count)
{
    size_t left = 0, right = middle, at = 0;

    if (compare(&m[middle - 1], &m[middle]) <= 0)
        return;
    memcpy(scratch, m, middle * sizeof(*m));
    while (left < middle) {
        if (right < count && compare(&m[right], &scratch[left]) < 0)
            m[at++] = m[right++];
        else
            m[at++] = scratch[left++];
    }
}

static bool is_sorted(const vls_member *m, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (compare(&m[i - 1], &m[i]) >= 0)
            return false;
    }
    return true;
}

static void merge_runs(vls_member *m, size_t count, const valise_env *env)
{
    size_t bytes = count * sizeof(*m); /* they are in memory, so this is a size */
    vls_member *scratch = env && count > FEW ? vls_mem_alloc(env, bytes) : NULL;

    for (size_t width = RUN; width < count; width *= 2) {
        for (size_t i = 0; i + width < count; i += 2 * width) {
            if (scratch)
                merge_through(scratch, m + i, width, VLS_MIN(2 * width, count - i));
            else
                merge_in_place(m + i, width, VLS_MIN(2 * width, count - i));
        }
    }
    if (scratch)
        vls_mem_free(env, scratch, bytes);
}

bool vls_json_sort_members(size_t *twice, vls_member *members, size_t count, const valise_env *env)
{
    if (is_sorted(members, count))
        return true;
    for (size_t i = 0; i < count; i += RUN)
        insertion_sort(members + i, VLS_MIN(RUN, count - i));
    merge_runs(members, count, env);
    for (size_t i = 1; i < count; i++) {
        if (compare(&members[i - 1], &members[i]) == 0) {
            *twice = i;
            return false;
        }
    }
    return true;
}
