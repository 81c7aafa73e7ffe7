/* erase.c -- see erase.h. */
#include "memory/erase.h"

#include "bus/bus.h"
#include "bus/job.h"
#include "store/place.h"

typedef struct finding {
    const vls_memory_erasing *what;
    vls_arena *arena;
    valise_str place;
    bool there;
} finding;

static int find(void *arg, valise_view *view, valise_error *err)
{
    finding *f = arg;
    const valise_coll *desc = f->what->coll;
    const vls_coll *coll = vls_store_coll(view->txn->store, desc);
    valise_cell cells[VALISE_MAX_COLUMNS];
    VLS_AUTO(buf) vls_buf text = {0};
    vls_seen seen = {0};
    int rc = vls_row_to_cells(cells, f->what->row, desc->fields, &view->arena, err);

    if (rc == 0)
        rc = vls_view_see(&seen, view, coll, cells, err);
    if (rc < 0)
        return rc;
    f->there = seen.row != NULL;
    vls_buf_init(&text, view->arena.env, VLS_VIEW_MAX_BYTES);
    vls_place_write(&text, coll, cells);
    rc = vls_buf_check(&text, err);
    return rc < 0 ? rc : vls_arena_dup(&f->place, f->arena, vls_buf_str(&text), err);
}

int vls_memory_erase(vls_erase_answer *out, valise_job *job, const vls_memory_erasing *what,
                     valise_error *err)
{
    finding f = {.what = what, .arena = &job->arena};
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_erase_args args = {.reason = what->reason};
    int rc = vls_with_view(job->v, NULL, find, &f, err);

    if (rc == 0 && f.there) {
        rc = vls_job_run(job, what->remove, what->args, NULL, &memory, err);
        if (rc == VALISE_E_NOT_FOUND) /* somebody else was quicker */
            rc = 0;
    }
    if (rc < 0)
        return rc;
    args.places = (valise_list){&f.place, 1};
    return vls_erase_places(out, job, &args, err);
}
