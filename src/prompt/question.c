/* question.c -- what memory is asked for: the latest words of the user. [P2] */
#include "base/hash.h"
#include "chat/graph.h"
#include "json/make.h"
#include "prompt/stage.h"
#include "store/view.h"

#define LOOK_BACK 64 /* turns: a long tool loop may lie between */

typedef struct looking {
    valise_view *view;
    valise_str found;
    int64_t left;
} looking;

static int look_at(void *arg, const vls_turn_row *turn, valise_error *err)
{
    static const vls_json_limits limits = {.max_bytes = UINT32_MAX - 1};
    looking *l = arg;
    vls_json value = vls_json_null();
    valise_str text = {NULL, 0};
    int rc = 0;

    if (turn->role != VLS_TURN_USER || turn->noprompt || vls_id_is_none(&turn->blocks))
        return --l->left == 0;
    rc = valise_view_object(&text, l->view, &turn->blocks, err);
    if (rc == 0)
        rc = vls_json_parse(&value, &l->view->arena, text, &limits, err);
    for (uint32_t i = 0; rc == 0 && value.type == VLS_JSON_ARRAY && i < value.len; i++)
        if (vls_str_equal(vls_text_of(value.items[i], "type"), VLS_STR("text")) && !l->found.ptr)
            l->found = vls_text_of(value.items[i], "text");
    return rc < 0 ? rc : l->found.ptr || --l->left == 0;
}

int vls_find_question(valise_str *out, valise_view *view, const vls_request *request,
                      valise_error *err)
{
    looking l = {.view = view, .left = LOOK_BACK};
    vls_trail trail = {.env = NULL};
    int rc = 0;

    *out = (valise_str){NULL, 0};
    if (request->head.ref.version == 0)
        return 0;
    rc = vls_trail_make(&trail, view, &request->head, NULL, request->first_parents, err);
    if (rc == 0)
        rc = vls_settle(vls_trail_each(&trail, view, 0, true, look_at, &l, err));
    vls_trail_release(&trail);
    if (rc == 0)
        *out = l.found;
    return rc;
}
