/* find.c -- commits by the end of their ids, in all backpacks of a workspace.
 *
 * Ids are stored nowhere. In each backpack the digits leave few numbers (one in 16 for each digit),
 * which are looked at one by one. */
#include "backpack/rows.h"

typedef struct finding {
    valise_view *view;
    vls_commit_ending ending;
    valise_find_fn *fn;
    void *arg;
} finding;

static int find_in(const finding *f, const valise_uuid *backpack, valise_error *err)
{
    int64_t seq = 0, last;
    int rc = vls_rows_last_seq(&last, f->view, backpack, err);

    while (rc == 0 && (seq = vls_commit_ending_next(&f->ending, backpack, seq)) <= last) {
        valise_commit commit = {.backpack = *backpack, .seq = seq};
        rc = valise_view_get(&commit, f->view, &vls_bag_commits, err);
        if (rc <= 0)
            continue;
        commit.id = vls_commit_id(backpack, commit.seq, commit.time);
        rc = vls_commit_ending_matches(&f->ending, &commit.id)
                 ? f->fn(f->arg, &commit, &commit.id, err)
                 : 0;
    }
    return rc;
}

int vls_commit_find(valise_view *view, valise_str digits, valise_find_fn *fn, void *arg,
                    valise_error *err)
{
    finding f = {.view = view, .fn = fn, .arg = arg};
    const valise_select all = {.index = NULL};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_bag_row bag;
    int rc;

    if (digits.len == 0 || digits.len > 2 * sizeof(valise_uuid))
        return 0;
    f.ending = vls_commit_ending_parse(digits);
    rc = valise_view_scan(&scan, view, &vls_bags, &all, err);
    while (rc == 0 && (rc = valise_scan_next(&bag, scan, err)) > 0)
        rc = find_in(&f, &bag.id, err);
    return rc;
}
