/* constraints.c -- what a role asks of models (constraints.h). */
#include "memory/constraints.h"

#include <math.h>

#include "base/buf.h"
#include "field/field.h"
#include "store/view.h"

#define JSON_MAX ((size_t)1 << 20)

static const valise_field stop_item = {
    .name = "stop", .help = "A text.", .type = VALISE_T_STR, .min = 1, .max = 256};

static const valise_field fields[] = {
    VALISE_FIELD_WITH(vls_constraints, model, STR, VALISE_NULLABLE,
                      "Name of the model, as its provider calls it.", .min = 1, .max = 256),
    VALISE_FIELD_WITH(vls_constraints, temperature, REAL, VALISE_NULLABLE,
                      "Sampling temperature, from 0 to 2.", .min = 0, .max = 2),
    VALISE_FIELD_AS_WITH(vls_constraints, max_tokens, "maxTokens", INT, VALISE_NULLABLE,
                         "The maximum number of tokens in an answer.", .min = 1, .max = INT32_MAX),
    VALISE_FIELD_WITH(vls_constraints, window, INT, VALISE_NULLABLE,
                      "The maximum number of tokens in a prompt.", .min = 1, .max = INT32_MAX),
    VALISE_FIELD_WITH(vls_constraints, stop, LIST, VALISE_NULLABLE, "Stop sequences.",
                      .more = &stop_item, .max = VLS_STOPS_MAX),
    VALISE_FIELD_WITH(vls_constraints, extras, JSON, VALISE_NULLABLE,
                      "Further parameters for the provider, as an object.", .max = VLS_EXTRAS_MAX),
    VALISE_FIELD_END,
};
const valise_struct vls_constraint_struct = {sizeof(vls_constraints), fields};

const char *const vls_role_parts[] = {"label",  "persona", "model",  "temperature", "maxTokens",
                                      "window", "stop",    "extras", NULL};

int vls_constraints_check(const vls_constraints *given, valise_error *err)
{
    if (!given || !given->extras.ptr || (given->extras.len > 0 && given->extras.ptr[0] == '{'))
        return 0;
    (void)vls_fail(err, VALISE_E_INVALID, "the extras of a role must be an object");
    vls_hint(err, "{\"extras\":{\"top_k\":40}}");
    return VALISE_E_INVALID;
}

int vls_constraints_read(vls_constraints *out, valise_view *view, const valise_id *id,
                         valise_error *err)
{
    vls_json value;
    valise_str text = {NULL, 0};
    int rc = vls_memory_text(&text, view, id, err);

    vls_fields_clear(out, fields, sizeof(*out));
    if (rc < 0 || !text.ptr)
        return rc;
    rc = vls_json_parse(&value, &view->arena, text, NULL, err);
    return rc < 0 ? rc
                  : vls_fields_decode(out, fields, sizeof(*out), value, VLS_FIELD_ACCEPTED,
                                      &view->arena, err);
}

static bool has_any(const vls_constraints *c)
{
    for (const valise_field *f = fields; f->type != VALISE_T_END; f++) {
        if (!vls_field_is_none(f, c))
            return true;
    }
    return false;
}

int vls_constraints_add(valise_id *out, valise_view *view, const vls_constraints *constraints,
                        valise_error *err)
{
    valise_str kept = {NULL, 0};
    vls_buf text;
    int rc;

    if (!has_any(constraints)) {
        *out = (valise_id){{0}};
        return 0;
    }
    vls_buf_init_in(&text, &view->arena, JSON_MAX);
    rc = vls_fields_write(&text, constraints, fields, VLS_FIELD_LOGGED, 0, err);
    if (rc == 0)
        rc = vls_buf_keep(&kept, &text, err);
    return rc < 0 ? rc : valise_view_add(out, view, "value", kept, err);
}

void vls_constraints_merge(vls_constraints *there, const vls_constraints *given)
{
    if (!given)
        return;
    if (given->model.ptr)
        there->model = given->model;
    if (!isnan(given->temperature))
        there->temperature = given->temperature;
    if (given->max_tokens != VALISE_NONE)
        there->max_tokens = given->max_tokens;
    if (given->window != VALISE_NONE)
        there->window = given->window;
    if (given->stop.items)
        there->stop = given->stop;
    if (given->extras.ptr)
        there->extras = given->extras;
}

void vls_constraints_unset(vls_constraints *there, int64_t part)
{
    if (part == VLS_UNSET_MODEL)
        there->model = (valise_str){NULL, 0};
    else if (part == VLS_UNSET_TEMPERATURE)
        there->temperature = (double)NAN;
    else if (part == VLS_UNSET_MAX_TOKENS)
        there->max_tokens = VALISE_NONE;
    else if (part == VLS_UNSET_WINDOW)
        there->window = VALISE_NONE;
    else if (part == VLS_UNSET_STOP)
        there->stop = (valise_list){NULL, 0};
    else if (part == VLS_UNSET_EXTRAS)
        there->extras = (valise_str){NULL, 0};
}
