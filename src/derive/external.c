/* external.c -- slots that programs make.
 *
 * A program may take a minute, and nobody holds a state open for that long:
 *
 *     view       what goes in is read, as JSON                      slot.c, make.c
 *     nothing    the program runs                                   here
 *     store      what it wrote, at once: who is killed now need not run it again
 *     view       what lies above joins the queue                    run.c
 *
 * Whether what was read still holds is asked when the heads move, as of all that a run makes. */
#include "base/hex.h"
#include "base/text.h"
#include "base/time.h"
#include "bus/job.h"
#include "context/slot.h"
#include "derive/program.h"
#include "derive/run_impl.h"
#include "store/store.h"

#define SETTING_MAX 4096u
#define PATH_BYTES_MAX 65536u

void vls_run_waiting_release(vls_waiting *waiting)
{
    vls_buf_release(&waiting->basis);
    vls_buf_release(&waiting->input);
    *waiting = (vls_waiting){.task = NULL};
}

/* ---- what was made before ---- */

/* What happened last to the frame in this slot: the number of the entry, 0 for nothing;
 * VALISE_NONE: somebody wanted another one. */
static int last_entry(int64_t *out, vls_run_state *r, const vls_slot_row *slot,
                      const valise_id *frame, valise_error *err)
{
    vls_slot_entry_row row = {.frame = *frame};
    const valise_select select = {
        .index = "frame", .row = &row, .equal = 2, .flags = VALISE_SCAN_REVERSE};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    int rc;

    *out = 0;
    if (!slot)
        return 0;
    row.slot = slot->id;
    rc = valise_view_scan(&scan, r->view, &vls_slot_entries, &select, err);
    if (rc == 0)
        rc = valise_scan_next(&row, scan, err);
    if (rc > 0)
        *out = row.kind == VLS_ENTRY_INVALIDATE ? VALISE_NONE : row.number;
    return vls_settle(rc);
}

/* Of the same basis a program may have made several: the one that was the head last. */
int vls_run_remembered(vls_frame_row *out, vls_run_state *r, const vls_frame_row *like,
                       const vls_slot_row *slot, valise_error *err)
{
    const valise_select select = {.index = "basis", .row = like, .equal = 3};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_frame_row row;
    valise_id best;
    int64_t number, most = -1;
    int rc = valise_view_scan(&scan, r->view, &vls_frames, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = last_entry(&number, r, slot, &row.id, err);
        if (rc < 0 || number == VALISE_NONE || vls_id_is_none(&row.content) || number <= most)
            continue;
        most = number;
        best = row.id;
    }
    return rc < 0 || most < 0 ? rc : vls_frame_get(out, r->view, &best, err);
}

/* ---- what goes wrong ---- */

int vls_run_fail(vls_run_state *r, const vls_task *task, bool has_head, const valise_error *why,
                 valise_error *err)
{
    bool alone = r->options->recipe && !r->options->recursive;
    char text[sizeof(why->message) + sizeof(why->hint) + 8];
    int rc = 0;

    if (alone || why->code == VALISE_E_CANCELLED || why->code == VALISE_E_NO_MEMORY ||
        why->code == VALISE_E_CORRUPT) {
        if (err)
            *err = *why;
        return why->code;
    }
    (void)snprintf(text, sizeof(text), why->hint[0] ? "%s (%s)" : "%s%s", why->message, why->hint);
    if (has_head && r->view) /* it may be in doubt, and it stays so */
        rc = vls_run_looked(r, task, true, err);
    else if (has_head)
        r->after = (vls_afterwards){.task = task, .looked = true, .known = true};
    return rc < 0 ? rc : vls_run_tell(r, task, VLS_RUN_FAILED, NULL, NULL, text, err);
}

/* ---- the program ---- */

static int fail_untrusted(const vls_waiting *w, valise_error *err)
{
    (void)vls_fail(
        err, VALISE_E_DENIED,
        "%s (sha256 %.16s...) is not trusted: a workspace alone cannot make programs run",
        vls_text_short(valise_str_of(w->name)).s, vls_id_hex(&w->program).s);
    vls_hint(err, "valise trust PATH, where PATH is that program");
    return VALISE_E_DENIED;
}

/* A recipe has no path: the user's list says where a program with these bytes lies, and its name
 * there is what it hears itself called. What the recipe calls it is anybody's word, and some
 * programs do another thing under another name. The last one that ran is kept, since it is usually
 * the next one, too. */
static int find_trusted(vls_run_state *r, const vls_waiting *w, valise_error *err)
{
    const vls_bus_place *place = &r->v->place;
    VLS_AUTO(buf) vls_buf path = {0};
    vls_sealed sealed = {.fd = -1};
    int rc = 1, opened = -1;

    if (r->sealed.fd >= 0 && vls_id_equal(&r->sealed.id, &w->program))
        return 0;
    vls_buf_init(&path, r->env, PATH_BYTES_MAX);
    for (size_t i = 0; rc > 0 && opened < 0; i++) {
        vls_buf_clear(&path);
        rc = place->trusted ? place->trusted(&path, r->v, &w->program, i, err) : 0;
        if (rc == 0 && i == 0)
            return fail_untrusted(w, err);
        if (rc > 0)
            opened = vls_program_seal(&sealed, vls_buf_cstr(&path), &w->program, err);
    }
    if (rc < 0 || opened < 0)
        return rc < 0 ? rc : opened;
    vls_sealed_close(&r->sealed);
    r->sealed = sealed;
    (void)snprintf(r->sealed_name, sizeof(r->sealed_name), "%.*s",
                   VALISE_STR_ARG(vls_path_name(vls_buf_str(&path))));
    return 0;
}

static int read_timeout(int64_t *out_ms, const valise *v, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    valise_str line = {NULL, 0}, rest;
    int64_t ns;
    int rc;

    *out_ms = VLS_PROGRAM_TIMEOUT_MS;
    if (!v->place.setting)
        return 0;
    vls_buf_init(&text, v->env, SETTING_MAX);
    rc = v->place.setting(&text, v, "program.timeout", err);
    if (rc < 0)
        return rc;
    for (rest = vls_buf_str(&text); rest.len > 0;) /* what was said last */
        (void)vls_str_cut(&line, &rest, rest, '\n');
    if (line.len > 0 && vls_duration_parse(&ns, line, NULL) == 0 && ns > 0)
        *out_ms = VLS_MAX(ns / 1000000, 1);
    return 0;
}

static int look(void *self, valise_error *err)
{
    return vls_progress_look(vls_job_progress(self), err);
}

static int run(vls_buf *out, vls_run_state *r, const vls_waiting *w, valise_error *err)
{
    VLS_AUTO(buf) vls_buf again = {0};
    vls_program program = {.env = r->env, .name = w->name, .look = look, .self = r->options->job};
    int rc = read_timeout(&program.timeout_ms, r->v, err);

    if (rc == 0 && !r->options->program)
        rc = find_trusted(r, w, err);
    program.sealed = r->options->program ? r->options->program : &r->sealed;
    if (!r->options->program)
        program.name = r->sealed_name;
    if (rc == 0)
        rc = vls_program_run(out, &program, vls_buf_str(&w->input), err);
    if (rc == VALISE_E_LIMIT && err && !err->hint[0])
        vls_hint(err, "to give it more time: valise config set program.timeout %llds",
                 2 * (long long)program.timeout_ms / 1000 + 1);
    if (rc < 0 || !r->options->verify)
        return rc;
    vls_buf_init(&again, r->env, VLS_PROGRAM_OUTPUT_MAX);
    rc = vls_program_run(&again, &program, vls_buf_str(&w->input), err);
    if (rc < 0 || vls_str_equal(vls_buf_str(out), vls_buf_str(&again)))
        return rc;
    (void)vls_fail(err, VALISE_E_CONFLICT, "%s wrote a different result the second time",
                   vls_text_short(valise_str_of(w->name)).s);
    vls_hint(err, "what it writes must depend only on what it reads; or leave out --verify");
    return VALISE_E_CONFLICT;
}

/* ---- what it made ---- */

static int compute(vls_frame_row *out, const vls_waiting *w, valise_str content, valise_error *err)
{
    const vls_frame_new from = {.type = w->task->type,
                                .agent = w->agent,
                                .basis = vls_buf_str(&w->basis),
                                .content.bytes = content};

    return vls_frame_compute(out, &from, VLS_FRAME_EXTERNAL, &w->recipe_id, err);
}

static int take(vls_run_state *r, vls_waiting *w, vls_buf *content, valise_error *err)
{
    vls_frame_row frame;
    vls_made *made = NULL;
    int rc = compute(&frame, w, vls_buf_str(content), err);

    if (rc == 0 && w->has_head && !w->marked && vls_id_equal(&frame.id, &w->was)) {
        r->after = (vls_afterwards){.task = w->task, .looked = true};
        return vls_run_tell(r, w->task, VLS_RUN_UNCHANGED, NULL, NULL, NULL, err);
    }
    if (rc == 0)
        rc = vls_run_keep(&made, r, w->task, &w->was, err);
    if (rc < 0 || !made)
        return rc;
    made->frame = frame;
    made->recipe = w->recipe;
    made->basis = w->basis;
    made->content = *content;
    w->basis = *content = (vls_buf){0};
    made->pending = true;
    r->pending_bytes += made->basis.len + made->content.len;
    if (vls_map_put(NULL, &r->ahead, vls_task_hash(made->path, made->type), made, made) < 0)
        return vls_fail_memory(err);
    if (!w->has_head || !w->same_agent || !vls_id_equal(&w->said, &frame.content))
        r->after = (vls_afterwards){.task = w->task, .risen = true};
    return vls_run_tell(r, w->task, VLS_RUN_MADE, &w->was, &frame.id, NULL, err);
}

int vls_run_after_program(vls_run_state *r, valise_error *err)
{
    const vls_afterwards after = r->after;
    int rc = 0;

    r->after.task = NULL;
    if (after.task && after.risen)
        rc = vls_run_push_above(r, after.task, err);
    if (rc == 0 && after.task && after.looked)
        rc = vls_run_looked(r, after.task, after.known, err);
    return rc;
}

int vls_run_program(vls_run_state *r, valise_error *err)
{
    vls_waiting *w = &r->waiting;
    VLS_AUTO(buf) vls_buf content = {0};
    valise_error why = VALISE_ERROR_INIT;
    int rc;

    assert(!r->view);
    vls_buf_init(&content, r->env, VLS_PROGRAM_OUTPUT_MAX);
    rc = run(&content, r, w, &why);
    why.code = rc;
    rc = rc < 0 ? vls_run_fail(r, w->task, w->has_head, &why, err) : take(r, w, &content, err);
    vls_run_waiting_release(w);
    return rc;
}
