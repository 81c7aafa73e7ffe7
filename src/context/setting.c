/* setting.c -- what the configuration says about contexts. */
#include "base/str.h"
#include "bus/bus.h"
#include "context/ops.h"

#define SETTING_MAX 65536u

/* In the view's memory; the last value where there are several. ptr NULL: nothing. */
static int read_setting(valise_str *out, valise_view *view, const char *name, valise_error *err)
{
    const valise *v = vls_view_bus(view);
    valise_str lines = {NULL, 0}, line = {NULL, 0};
    vls_buf text;
    int rc;

    *out = line;
    if (!v || !v->place.setting)
        return 0;
    vls_buf_init_in(&text, &view->arena, SETTING_MAX);
    rc = v->place.setting(&text, v, name, err);
    if (rc == 0)
        rc = vls_buf_keep(&lines, &text, err);
    if (rc < 0)
        return rc;
    while (lines.len > 0)
        (void)vls_str_cut(&line, &lines, lines, '\n');
    *out = line;
    return 0;
}

static bool is_name(valise_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
            return false;
    }
    return s.len > 0 && s.len <= 64;
}

int vls_context_named(valise_str *out, valise_view *view, const char *what, valise_str given,
                      valise_error *err)
{
    char name[96];

    *out = (valise_str){NULL, 0};
    if (!is_name(given))
        return 0;
    (void)snprintf(name, sizeof(name), "%s.%.*s.spec", what, VALISE_STR_ARG(given));
    return read_setting(out, view, name, err);
}

int vls_context_frame_max(int64_t *out, valise_view *view, valise_error *err)
{
    valise_str text;
    int64_t most;
    int rc = read_setting(&text, view, "context.frame-max", err);

    if (rc < 0)
        return rc;
    if (!vls_str_to_i64(&most, text) || most < 1)
        most = VLS_FRAME_CONTENT_USUAL;
    *out = VLS_MIN(most, VLS_FRAME_CONTENT_MAX);
    return 0;
}
