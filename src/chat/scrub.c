/* scrub.c -- see scrub.h. */
#include "chat/scrub.h"

#include "base/hex.h"
#include "bus/job.h"
#include "store/view.h"

#define TRIES 8 /* others may say more while it is erased */

static const valise_id no_id;

void vls_scrub_init(vls_scrub *out, const valise_env *env)
{
    *out = (vls_scrub){.places = VLS_VEC_INIT};
    vls_arena_init(&out->arena, env, VLS_VIEW_MAX_BYTES);
}

void vls_scrub_release(vls_scrub *scrub)
{
    vls_arena_release(&scrub->arena);
}

static int add(vls_scrub *scrub, const char *text, valise_error *err)
{
    valise_str place;
    int rc = vls_arena_dup(&place, &scrub->arena, valise_str_of(text), err);

    if (rc == 0 && !vls_vec_push_in(&scrub->places, &scrub->arena, place))
        rc = vls_arena_fail(&scrub->arena, err);
    return rc;
}

bool vls_turn_has_contents(const vls_turn_row *turn)
{
    return !vls_id_equal(&turn->blocks, &no_id) || !vls_id_equal(&turn->metadata, &no_id) ||
           !vls_id_equal(&turn->source, &no_id);
}

int vls_scrub_turn(vls_scrub *scrub, const vls_turn_row *turn, valise_error *err)
{
    char text[96];

    if (!vls_turn_has_contents(turn))
        return 0; /* it was erased before */
    (void)snprintf(text, sizeof(text), "%s/%s/%lld", vls_turns.name, vls_uuid_text(&turn->ref.id).s,
                   (long long)turn->ref.version);
    return add(scrub, text, err);
}

int vls_scrub_session(vls_scrub *scrub, const vls_session_row *session, valise_error *err)
{
    char text[96];

    (void)snprintf(text, sizeof(text), "%s/%s", vls_sessions.name, vls_uuid_text(&session->id).s);
    return add(scrub, text, err);
}

int vls_scrub_run(valise_str *residue, vls_scrub *scrub, valise_job *job, valise_str reason,
                  valise_error *err)
{
    for (size_t at = 0; at < scrub->places.len; at += VLS_SCRUB_STEP) {
        const size_t left = scrub->places.len - at;
        const vls_erase_args args = {
            .places = {scrub->places.ptr + at, VLS_MIN(left, VLS_SCRUB_STEP)}, .reason = reason};
        vls_erase_answer answer = {.entries = 0};
        int rc = vls_erase_places(&answer, job, &args, err);
        if (rc == 0)
            rc = valise_job_step(job, args.places.count, err);
        if (rc < 0)
            return rc;
        if (answer.residue.ptr)
            *residue = answer.residue;
    }
    scrub->places.len = 0;
    return 0;
}

int vls_scrub_until_done(valise_job *job, vls_view_fn *look, vls_scrub_fn *run, void *arg,
                         valise_error *err)
{
    int rc = VALISE_E_CONFLICT;

    for (int i = 0; rc == VALISE_E_CONFLICT && i < TRIES; i++) {
        rc = vls_job_view(job, look, arg, err);
        if (rc < 0)
            return rc;
        rc = run(arg, job, err);
    }
    return rc;
}
