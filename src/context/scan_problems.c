/* scan_problems.c -- see scan_problems.h. */
#include "context/scan_problems.h"

#include "base/text.h"

static const valise_field fields[] = {
    VALISE_FIELD(vls_tree_scan_problem, path, PATH, VALISE_REQUIRED, "The path."),
    VALISE_FIELD(vls_tree_scan_problem, reason, STR, VALISE_REQUIRED, "The reason."),
    VALISE_FIELD_END,
};
static const valise_struct problem = {sizeof(vls_tree_scan_problem), fields};
const valise_field vls_scan_problem_item = {
    .name = "problem", .type = VALISE_T_STRUCT, .more = &problem};

/* A message as text that can be shown: names in it are any bytes. */
static int keep_text(valise_str *out, vls_arena *arena, valise_str message, valise_error *err)
{
    vls_buf text;

    vls_buf_init_in(&text, arena, (size_t)1 << 20);
    vls_text_neutralize(&text, message, 0);
    return vls_buf_keep(out, &text, err);
}

int vls_scan_problems(valise_list *out, vls_arena *arena, const vls_scan_problem *problems,
                      size_t count, valise_error *err)
{
    size_t listed = VLS_MIN(count, VLS_SCAN_LISTED_MAX);
    vls_tree_scan_problem *rows;
    void **items;
    int rc = 0;

    if (listed == 0)
        return 0;
    rows = vls_arena_array(arena, listed, sizeof(*rows));
    items = vls_arena_array(arena, listed, sizeof(*items));
    if (!rows || !items)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; rc == 0 && i < listed; i++) {
        items[i] = &rows[i];
        rc = vls_arena_dup(&rows[i].path, arena, problems[i].path, err);
        if (rc == 0)
            rc = keep_text(&rows[i].reason, arena, problems[i].message, err);
    }
    if (rc == 0)
        *out = (valise_list){items, listed};
    return rc;
}
