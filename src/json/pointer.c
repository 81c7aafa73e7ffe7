/* pointer.c -- parsing pointers and following them.
 *
 * Start reading at vls_pointer_get(). Errors name the ancestor where the walk ended, because
 * that is what one looks at next: "/a has no member "b"". */
#include "json/pointer.h"

#include "base/text.h"
#include "base/utf8.h"

/* ---- text ---- */

vls_pointer_quote vls_pointer_brief(valise_str path)
{
    vls_pointer_quote quote;
    size_t room = sizeof(quote.s) - 1;

    if (path.len == 0) {
        (void)snprintf(quote.s, sizeof(quote.s), "\"\"");
    } else if (path.len <= room) {
        (void)snprintf(quote.s, sizeof(quote.s), "%.*s", VALISE_STR_ARG(path));
    } else {
        size_t half = (room - 3) / 2;
        valise_str head = vls_utf8_head(path, half);
        (void)snprintf(quote.s, sizeof(quote.s), "%.*s...%.*s", VALISE_STR_ARG(head),
                       VALISE_STR_ARG(vls_utf8_tail(path, half)));
    }
    return quote;
}

void vls_pointer_add_key(vls_buf *buf, valise_str key)
{
    size_t done = 0;

    vls_buf_add_byte(buf, '/');
    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] != '~' && key.ptr[i] != '/')
            continue;
        vls_buf_add(buf, (valise_str){key.ptr + done, i - done});
        vls_buf_add(buf, key.ptr[i] == '~' ? VLS_STR("~0") : VLS_STR("~1"));
        done = i + 1;
    }
    vls_buf_add(buf, vls_str_from(key, done));
}

void vls_pointer_add_index(vls_buf *buf, size_t index)
{
    vls_buf_add_byte(buf, '/');
    vls_buf_add_u64(buf, index);
}

bool vls_pointer_index(size_t *out, valise_str step)
{
    uint64_t index;

    if (step.len > 1 && step.ptr[0] == '0')
        return false;
    if (!vls_str_to_u64(&index, step) || index > SIZE_MAX)
        return false;
    *out = (size_t)index;
    return true;
}

valise_str vls_pointer_head(const vls_pointer *pointer, size_t count)
{
    size_t at = 0;

    if (count >= pointer->count)
        return pointer->text;
    /* Each step begins with the only kind of '/' there is in the text. */
    for (size_t slashes = 0; at < pointer->text.len; at++) {
        if (pointer->text.ptr[at] == '/' && slashes++ == count)
            break;
    }
    return vls_str_head(pointer->text, at);
}

bool vls_pointer_is_below(const vls_pointer *inner, const vls_pointer *outer)
{
    if (inner->count <= outer->count)
        return false;
    for (size_t i = 0; i < outer->count; i++) {
        if (!vls_str_equal(inner->steps[i], outer->steps[i]))
            return false;
    }
    return true;
}

/* ---- parsing ---- */

static bool is_escape(valise_str s)
{
    return vls_str_starts(s, VLS_STR("~0")) || vls_str_starts(s, VLS_STR("~1"));
}

/* Count the steps and look at every escape, so that what follows cannot fail on the text. */
static int check_text(size_t *count, valise_str text, valise_error *err)
{
    size_t steps = 0;

    if (text.len > 0 && text.ptr[0] != '/') {
        int rc = vls_fail_at(err, VALISE_E_INVALID, 0, "pointer %s does not start with \"/\"",
                             vls_pointer_brief(text).s);
        vls_hint(err, "a pointer is empty, or has a \"/\" before each step: /a/0");
        return rc;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '/')
            steps++;
        if (text.ptr[i] == '~' && !is_escape(vls_str_from(text, i))) {
            int rc = vls_fail_at(err, VALISE_E_INVALID, i,
                                 "pointer %s has a \"~\" that is not followed by 0 or 1",
                                 vls_pointer_brief(text).s);
            vls_hint(err, "write \"~0\" for \"~\" and \"~1\" for \"/\"");
            return rc;
        }
    }
    if (steps > VLS_POINTER_MAX_STEPS)
        return vls_fail(err, VALISE_E_LIMIT, "pointer %s has %zu steps, the limit is %u",
                        vls_pointer_brief(text).s, steps, VLS_POINTER_MAX_STEPS);
    *count = steps;
    return 0;
}

static int unescape(valise_str *step, vls_arena *arena, valise_error *err)
{
    size_t len = 0;

    if (vls_str_find_byte(*step, '~') == step->len)
        return 0;
    char *plain = vls_arena_alloc(arena, step->len);
    if (!plain)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < step->len; i++) {
        if (step->ptr[i] == '~')
            plain[len++] = step->ptr[++i] == '0' ? '~' : '/';
        else
            plain[len++] = step->ptr[i];
    }
    *step = (valise_str){plain, len};
    return 0;
}

int vls_pointer_parse(vls_pointer *out, vls_arena *arena, valise_str text, valise_error *err)
{
    valise_str *steps = NULL;
    valise_str rest = vls_str_from(text, 1);
    size_t count;
    int rc = check_text(&count, text, err);

    if (rc < 0)
        return rc;
    if (count > 0) {
        steps = vls_arena_array(arena, count, sizeof(valise_str));
        if (!steps)
            return vls_arena_fail(arena, err);
    }
    for (size_t i = 0; i < count; i++) {
        (void)vls_str_cut(&steps[i], &rest, rest, '/');
        rc = unescape(&steps[i], arena, err);
        if (rc < 0)
            return rc;
    }
    *out = (vls_pointer){text, steps, count};
    return 0;
}

/* ---- following ---- */

/* "/a", or "the document" where no step was taken yet. */
static vls_pointer_quote where(const vls_pointer *pointer, size_t count)
{
    valise_str head = vls_pointer_head(pointer, count);

    return vls_pointer_brief(count == 0 ? VLS_STR("the document") : head);
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static int fail_no_container(vls_json parent, const vls_pointer *pointer, size_t step,
                             valise_error *err)
{
    return vls_fail(err, VALISE_E_NOT_FOUND, "%s is not an object or array, its type is %s",
                    where(pointer, step).s, vls_json_type_name(parent));
}

static int fail_item(vls_json parent, const vls_pointer *pointer, size_t step, valise_error *err)
{
    valise_str token = pointer->steps[step];
    vls_pointer_quote array = where(pointer, step);
    size_t index;

    if (vls_str_equal(token, VLS_STR("-")))
        return vls_fail(err, VALISE_E_NOT_FOUND, "\"-\" is past the last of the %zu item%s of %s",
                        (size_t)parent.len, plural(parent.len), array.s);
    if (vls_pointer_index(&index, token))
        return vls_fail(err, VALISE_E_NOT_FOUND, "%s has %zu item%s, so there is no item %zu",
                        array.s, (size_t)parent.len, plural(parent.len), index);
    return vls_fail(err, VALISE_E_NOT_FOUND, "\"%s\" is not an index of the array %s",
                    vls_text_short(token).s, array.s);
}

int vls_pointer_find(size_t *at, vls_json parent, const vls_pointer *pointer, size_t step,
                     valise_error *err)
{
    valise_str token = pointer->steps[step];
    size_t index;
    bool found;

    if (parent.type == VLS_JSON_ARRAY) {
        if (!vls_pointer_index(&index, token) || index >= parent.len)
            return fail_item(parent, pointer, step, err);
    } else if (parent.type == VLS_JSON_OBJECT) {
        index = vls_json_find(&found, parent, token);
        if (!found)
            return vls_fail(err, VALISE_E_NOT_FOUND, "%s has no member \"%s\"",
                            where(pointer, step).s, vls_text_short(token).s);
    } else {
        return fail_no_container(parent, pointer, step, err);
    }
    *at = index;
    return 0;
}

int vls_pointer_place(size_t *at, bool *exists, vls_json parent, const vls_pointer *pointer,
                      size_t step, valise_error *err)
{
    valise_str token = pointer->steps[step];
    size_t index = parent.len;
    bool found = false;

    if (parent.type == VLS_JSON_ARRAY) {
        if (!vls_str_equal(token, VLS_STR("-")) &&
            (!vls_pointer_index(&index, token) || index > parent.len))
            return fail_item(parent, pointer, step, err);
    } else if (parent.type == VLS_JSON_OBJECT) {
        index = vls_json_find(&found, parent, token);
    } else {
        return fail_no_container(parent, pointer, step, err);
    }
    *at = index;
    *exists = found;
    return 0;
}

int vls_pointer_get(const vls_json **out, const vls_json *root, const vls_pointer *pointer,
                    valise_error *err)
{
    const vls_json *value = root;
    size_t at = 0;

    for (size_t i = 0; i < pointer->count; i++) {
        int rc = vls_pointer_find(&at, *value, pointer, i, err);
        if (rc < 0)
            return rc;
        value = value->type == VLS_JSON_ARRAY ? &value->items[at] : &value->members[at].value;
    }
    *out = value;
    return 0;
}
