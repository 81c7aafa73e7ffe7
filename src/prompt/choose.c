/* choose.c -- all parts of a prompt, and what they cost. [P7]
 *
 *     window - reserve          what the prompt may have, in the model's own count
 *       - tools, params, system what must be sent whole
 *       - context, tail         at most their shares of what is left
 *       - history               the rest
 *
 * The estimate is ours; the model's is `scale` sixteenths of it. Room is handed to the stages in
 * our count, so that nothing but the whole depends on the scale. */
#include "prompt/scale.h"
#include "prompt/stage.h"
#include "store/view.h"

int vls_leave(vls_choice *choice, valise_view *view, vls_part_kind kind, valise_str name,
              const char *reason, int64_t tokens, valise_error *err)
{
    vls_left left = {.kind = (uint8_t)kind, .reason = valise_str_of(reason), .tokens = tokens};
    int rc;

    if (choice->left_count[kind]++ >= VLS_LEFT_LISTED)
        return 0;
    rc = vls_arena_dup(&left.name, &view->arena, name, err);
    if (rc == 0 && !vls_vec_push_in(&choice->left, &view->arena, left))
        rc = vls_arena_fail(&view->arena, err);
    return rc;
}

int vls_may_choose(vls_choice *out, valise_view *view, vls_part_kind kind, valise_error *err)
{
    int rc = vls_part_may_read(view, &(vls_part){.kind = (uint8_t)kind}, err);

    if (rc != 0)
        return rc;
    return vls_leave(out, view, kind, VLS_STR(""), "may not be read", 0, err);
}

static int64_t sum_of(const vls_choice *choice, int first, int last)
{
    int64_t sum = 0;

    for (size_t i = 0; i < choice->parts.len; i++)
        if (choice->parts.ptr[i].section >= first && choice->parts.ptr[i].section <= last)
            sum += choice->parts.ptr[i].tokens;
    return sum;
}

/* How much of the window is the prompt's. */
static int64_t limit_of(const vls_request *request)
{
    if (request->window == VALISE_NONE)
        return VALISE_NONE;
    return VLS_MAX(request->window - request->reserve, 0);
}

/* Ours for so many of the model's. */
static int64_t unscaled(int64_t tokens, int64_t scale)
{
    return tokens / scale * VLS_SCALE_ONE + tokens % scale * VLS_SCALE_ONE / scale;
}

static int64_t scaled(int64_t tokens, int64_t scale)
{
    return tokens / VLS_SCALE_ONE * scale +
           (tokens % VLS_SCALE_ONE * scale + VLS_SCALE_ONE - 1) / VLS_SCALE_ONE;
}

static int too_much(int64_t fixed, int64_t limit, valise_error *err)
{
    int rc = vls_fail(err, VALISE_E_LIMIT,
                      "tools and instructions take %lld tokens; the prompt may have %lld",
                      (long long)fixed, (long long)limit);

    vls_hint(err, "give a larger window, or fewer tools");
    return rc;
}

/* Rooms of the stages; VALISE_NONE everywhere without a window. */
typedef struct rooms {
    int64_t all, context, tail;
} rooms;

static int64_t share_of(int64_t all, int64_t percent)
{
    return all / 100 * percent + all % 100 * percent / 100;
}

static int rooms_of(rooms *out, const vls_choice *choice, const vls_request *request,
                    valise_error *err)
{
    int64_t fixed = sum_of(choice, VLS_SECTION_TOOLS, VLS_SECTION_SYSTEM);
    int64_t limit = limit_of(request);

    *out = (rooms){VALISE_NONE, VALISE_NONE, VALISE_NONE};
    if (limit == VALISE_NONE)
        return 0;
    out->all = unscaled(limit, request->scale) - fixed;
    if (out->all < 0)
        return too_much(scaled(fixed, request->scale), limit, err);
    out->context = share_of(out->all, request->context_share);
    out->tail = share_of(out->all, request->tail_share);
    return 0;
}

static bool is_in_order(const vls_parts *parts)
{
    for (size_t i = 1; i < parts->len; i++)
        if (parts->ptr[i].section < parts->ptr[i - 1].section)
            return false;
    return true;
}

/* The stages put parts as they find them; a prompt has them by section. Stable. */
static int by_section(vls_choice *choice, valise_view *view, valise_error *err)
{
    vls_parts sorted = VLS_VEC_INIT;
    size_t at[VLS_SECTION_COUNT + 1] = {0}; /* where the next one of a section goes */

    if (is_in_order(&choice->parts))
        return 0;
    if (!vls_vec_reserve_in(&sorted, &view->arena, choice->parts.len + 1))
        return vls_arena_fail(&view->arena, err);
    for (size_t i = 0; i < choice->parts.len; i++)
        at[choice->parts.ptr[i].section + 1]++;
    for (int section = 0; section < VLS_SECTION_COUNT; section++)
        at[section + 1] += at[section];
    for (size_t i = 0; i < choice->parts.len; i++)
        sorted.ptr[at[choice->parts.ptr[i].section]++] = choice->parts.ptr[i];
    sorted.len = choice->parts.len;
    choice->parts = sorted;
    return 0;
}

static void add_up(vls_choice *choice, const vls_request *request)
{
    vls_budget *budget = &choice->budget;
    int64_t sum = 0;

    for (size_t i = 0; i < choice->parts.len; i++) {
        budget->sections[choice->parts.ptr[i].section] += choice->parts.ptr[i].tokens;
        sum += choice->parts.ptr[i].tokens;
    }
    budget->used = scaled(sum, request->scale);
    budget->limit = limit_of(request);
}

/* The room without what the section has already. */
static int64_t less(int64_t room, const vls_choice *choice, int section)
{
    int64_t used = sum_of(choice, section, section);

    if (room == VALISE_NONE)
        return room;
    return room > used ? room - used : 0;
}

/* What memory, frames and items leave is for the history; what that needs first is known only
 * then: so it is asked last, with what is left. */
static int choose_rest(vls_choice *out, valise_view *view, const vls_request *request,
                       const rooms *r, valise_error *err)
{
    int64_t context = r->context, history = r->all;
    int rc = vls_find_question(&out->question, view, request, err);

    if (rc == 0)
        rc = vls_choose_frames(out, view, request, context, err);
    context = less(context, out, VLS_SECTION_CONTEXT);
    if (rc == 0)
        rc = vls_choose_items(out, view, request, r->tail, err);
    if (rc == 0)
        rc = vls_choose_memory(out, view, request, context, less(r->tail, out, VLS_SECTION_TAIL),
                               err);
    if (rc == 0 && history != VALISE_NONE)
        history -= sum_of(out, VLS_SECTION_CONTEXT, VLS_SECTION_TAIL);
    return rc < 0 ? rc : vls_choose_history(out, view, request, history, err);
}

int vls_choose(vls_choice *out, valise_view *view, const vls_request *request, valise_error *err)
{
    vls_choice made = {0};
    rooms r;
    int rc = vls_choose_instructions(&made, view, request, err);

    if (rc == 0)
        rc = rooms_of(&r, &made, request, err);
    if (rc == 0)
        rc = choose_rest(&made, view, request, &r, err);
    if (rc == 0)
        rc = by_section(&made, view, err);
    if (rc < 0)
        return rc;
    add_up(&made, request);
    *out = made;
    return 0;
}
