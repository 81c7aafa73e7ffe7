/* frames.c -- stage 2: what is known about files and directories that were named. [P2] [C25]
 *
 * The paths are composed together, each for itself: nothing around them comes along. No question is
 * asked, so which frames there are and where they stand is the same with each turn: what does not
 * fit is decided by relevance, and what is sent is in the order of paths and types. The tree counts
 * as it was scanned last: a build does not look at the disk. */
#include "context/compose.h"
#include "prompt/cost.h"
#include "prompt/stage.h"
#include "store/view.h"

#define FRAMES_MAX 1000
#define FRAMES_BYTES_MAX ((int64_t)16 << 20)

static const char before_path[] = "Note on ";
static const char before_type[] = " (";
static const char before_agent[] = " by ";

/* A frame that is sent, and what it is sorted by. */
typedef struct noted {
    vls_part part;
    valise_str type;
} noted;
typedef vls_vec(noted) notes;

/* ---- the places ---- */

static int find_place(vls_place *out, valise_view *view, valise_str path, valise_error *err)
{
    int rc = vls_place_find(out, view, path, VLS_STR(""), err);

    if (rc == 0)
        rc = vls_place_allows(out, view, "context:read", VLS_STR(""), err);
    if (rc == 0 && !out->there)
        rc = vls_place_fail(out, err);
    return rc;
}

/* The first path is what is composed for, the others are related to it. */
static int find_places(vls_place *first, vls_compose_request *out, valise_view *view,
                       valise_list given, valise_error *err)
{
    const valise_str *paths = given.items;
    valise_str *found = vls_arena_array(&view->arena, given.count, sizeof(*found));
    int rc;

    if (!found)
        return vls_arena_fail(&view->arena, err);
    rc = find_place(first, view, paths[0], err);
    for (size_t i = 0; i < given.count && rc == 0; i++) {
        vls_place place = *first;

        if (i > 0)
            rc = find_place(&place, view, paths[i], err);
        if (rc == 0)
            found[i] = place.path;
    }
    out->place = first;
    out->related = found + 1; /* the first one stands before */
    out->related_count = given.count - 1;
    return rc;
}

/* ---- one frame ---- */

static int say_words(valise_str *out, valise_view *view, const vls_shown *shown, valise_error *err)
{
    vls_buf words;

    vls_buf_init_in(&words, &view->arena,
                    shown->path.len + shown->type.len + shown->agent.len + 64);
    vls_buf_add_text(&words, before_path);
    vls_buf_add(&words, shown->path);
    vls_buf_add_text(&words, before_type);
    vls_buf_add(&words, shown->type);
    vls_buf_add_text(&words, before_agent);
    vls_buf_add(&words, shown->agent);
    vls_buf_add_text(&words, "):\n");
    return vls_buf_keep(out, &words, err);
}

valise_str vls_frame_part_type(const vls_part *part)
{
    size_t at = strlen(before_path) + part->name.len + strlen(before_type), end;

    if (part->words.len < at || !vls_str_starts(part->words, valise_str_of(before_path)))
        return VLS_STR("");
    for (end = at; end < part->words.len && part->words.ptr[end] != ' '; end++) {
    }
    return (valise_str){part->words.ptr + at, end - at};
}

/* Why it is not sent; NULL: it is. */
static const char *reason_against(const vls_shown *shown)
{
    if (shown->state.state == VLS_STATE_INVALIDATED)
        return "it is not to be relied on";
    return shown->text.ptr ? NULL : "it is not a text";
}

static int make_part(vls_part *out, valise_view *view, const vls_shown *shown, valise_error *err)
{
    vls_frame_row frame;
    int rc = vls_frame_get(&frame, view, &shown->frame_id, err);

    if (rc == 0)
        return vls_fail(err, VALISE_E_CORRUPT, "a frame of a slot is missing");
    if (rc < 0)
        return rc;
    *out = (vls_part){.section = VLS_SECTION_CONTEXT,
                      .kind = VLS_PART_FRAME,
                      .kept = true,
                      .name = shown->path,
                      .version = VALISE_NONE,
                      .id = frame.content,
                      .author = shown->agent,
                      .reason = VLS_STR("its path was named"),
                      .text = shown->text};
    rc = say_words(&out->words, view, shown, err);
    if (rc < 0)
        return rc;
    out->tokens = vls_text_cost(out->words) + vls_text_cost(out->text);
    return 0;
}

/* ---- all of them ---- */

/* In the order of their relevance, each if it still fits. */
static int take(notes *out, vls_choice *choice, valise_view *view, const vls_composition *known,
                int64_t room, valise_error *err)
{
    const vls_composed *const *entries = known->entries.items;
    int rc = 0;

    for (size_t i = 0; i < known->entries.count && rc == 0; i++) {
        const vls_shown *shown = &entries[i]->shown;
        const char *against = reason_against(shown);
        noted one = {.type = shown->type};

        rc = make_part(&one.part, view, shown, err);
        if (rc == 0 && !against && room != VALISE_NONE && one.part.tokens > room)
            against = "does not fit";
        if (rc == 0 && against)
            rc =
                vls_leave(choice, view, VLS_PART_FRAME, shown->path, against, one.part.tokens, err);
        else if (rc == 0 && !vls_vec_push_in(out, &view->arena, one))
            rc = vls_arena_fail(&view->arena, err);
        else if (rc == 0 && room != VALISE_NONE)
            room -= one.part.tokens;
    }
    return rc;
}

/* Of those that are too many to be listed the number is known. */
static int leave_list(vls_choice *choice, valise_view *view, const vls_compose_left *left,
                      const char *reason, valise_error *err)
{
    const valise_left_out *const *list = left->list.items;
    int rc = 0;

    for (size_t i = 0; i < left->list.count && rc == 0; i++)
        rc = vls_leave(choice, view, VLS_PART_FRAME, list[i]->path, reason, 0, err);
    choice->left_count[VLS_PART_FRAME] += left->count - (int64_t)left->list.count;
    return rc;
}

static bool is_listed(const vls_compose_left *left, valise_str path)
{
    const valise_left_out *const *list = left->list.items;

    for (size_t i = 0; i < left->list.count; i++)
        if (vls_str_equal(list[i]->path, path))
            return true;
    return false;
}

static bool is_known(const vls_composition *known, valise_str path)
{
    const vls_composed *const *entries = known->entries.items;

    for (size_t i = 0; i < known->entries.count; i++)
        if (vls_str_equal(entries[i]->shown.path, path))
            return true;
    return is_listed(&known->cut, path) || is_listed(&known->missing, path) ||
           is_listed(&known->corrupt, path);
}

/* A directory has notes of its own, or none: those of what lies in it do not come along. */
static int leave_unknown(vls_choice *choice, valise_view *view, const vls_composition *known,
                         const valise_str *paths, size_t count, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < count && rc == 0; i++)
        if (!is_known(known, paths[i]))
            rc =
                vls_leave(choice, view, VLS_PART_FRAME, paths[i], "there is no note on it", 0, err);
    return rc;
}

static int by_path_and_type(const void *a, const void *b)
{
    const noted *x = a, *y = b;
    int order = vls_str_compare(x->part.name, y->part.name);

    return order != 0 ? order : vls_str_compare(x->type, y->type);
}

static int compose(vls_composition *out, const valise_str **paths, valise_view *view,
                   const vls_request *request, valise_error *err)
{
    vls_compose_policy *policy = vls_arena_zalloc(&view->arena, sizeof(*policy));
    vls_compose_request asked = {.policy = policy};
    vls_place first;
    int rc;

    if (!policy)
        return vls_arena_fail(&view->arena, err);
    rc = vls_compose_parse(policy, VLS_STR("sources=node"), (valise_str){NULL, 0}, err);
    if (rc < 0)
        return rc;
    policy->lens.max_frames = FRAMES_MAX;
    policy->lens.max_bytes = FRAMES_BYTES_MAX;
    if (request->frame_type.ptr) {
        policy->lens.types.globs[0] = request->frame_type;
        policy->lens.types.count = 1;
    }
    rc = find_places(&first, &asked, view, request->paths, err);
    if (rc < 0)
        return rc;
    *paths = asked.related - 1;
    return vls_compose(out, view, &asked, err);
}

int vls_choose_frames(vls_choice *out, valise_view *view, const vls_request *request, int64_t room,
                      valise_error *err)
{
    vls_composition known = {.bytes = 0};
    notes taken = VLS_VEC_INIT;
    const valise_str *paths = NULL;
    int rc;

    if (request->paths.count == 0)
        return 0;
    if (request->paths.count > VLS_COMPOSE_RELATED_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "%zu paths are named: %u are allowed",
                        request->paths.count, VLS_COMPOSE_RELATED_MAX);
    rc = compose(&known, &paths, view, request, err);
    if (rc == 0)
        rc = take(&taken, out, view, &known, room, err);
    if (rc == 0)
        rc = leave_list(out, view, &known.cut, "does not fit", err);
    if (rc == 0)
        rc = leave_list(out, view, &known.missing, "erased", err);
    if (rc == 0)
        rc = leave_list(out, view, &known.corrupt, "it cannot be read", err);
    if (rc == 0)
        rc = leave_unknown(out, view, &known, paths, request->paths.count, err);
    if (taken.len > 1)
        qsort(taken.ptr, taken.len, sizeof(*taken.ptr), by_path_and_type);
    for (size_t i = 0; i < taken.len && rc == 0; i++)
        rc = vls_add_part(out, view, &taken.ptr[i].part, err);
    return rc;
}
