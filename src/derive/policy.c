/* policy.c -- what the built-in policies share. */
#include "derive/policy.h"

#include "base/utf8.h"
#include "derive/policy_impl.h"

#define MARKER_FORMAT "[cut at %zu bytes: %zu of %zu inputs left out]\n"

const valise_policy *const vls_policies[] = {
    &vls_policy_concatenation,
    &vls_policy_filtering,
    &vls_policy_summarization,
    NULL,
};

/* ---- parameters ---- */

int vls_policy_budget(size_t *out, const void *params, size_t otherwise, valise_error *err)
{
    const vls_policy_params *given = params;
    int64_t budget = given ? given->budget : 0;

    if (budget != 0 && (budget < VLS_POLICY_BUDGET_MIN || budget > VLS_POLICY_BUDGET_MAX))
        return vls_fail(err, VALISE_E_INVALID, "a budget of %lld bytes: it must be %d to %lld",
                        (long long)budget, VLS_POLICY_BUDGET_MIN, (long long)VLS_POLICY_BUDGET_MAX);
    *out = budget == 0 ? otherwise : (size_t)budget;
    return 0;
}

int vls_policy_check(const void *params, valise_error *err)
{
    size_t budget;

    return vls_policy_budget(&budget, params, 0, err);
}

/* ---- headings ---- */

bool vls_policy_is_text(valise_str content)
{
    return vls_str_find_byte(content, '\0') == content.len && vls_utf8_valid(content);
}

/* Stays as it is: this list belongs to the format and is no matter of display. */
static bool is_plain(uint32_t c)
{
    return c >= 0x20 && c != '\\' && !(c >= 0x7f && c <= 0x9f) && !(c >= 0x2028 && c <= 0x202e) &&
           !(c >= 0x2066 && c <= 0x2069);
}

/* `also` are characters that would end the word too early. */
static void add_escaped(vls_buf *out, valise_str s, const char *also)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t at = 0; at < s.len;) {
        uint32_t c = 0;
        size_t len = vls_utf8_decode(&c, s.ptr + at, s.len - at);
        bool plain = len > 0 && is_plain(c) && !(c < 0x80 && strchr(also, (int)c));
        if (plain)
            vls_buf_add(out, vls_str(s.ptr + at, len));
        len = len > 0 ? len : 1;
        for (size_t i = 0; !plain && i < len; i++) {
            unsigned char byte = (unsigned char)s.ptr[at + i];
            char escape[] = {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
            vls_buf_add(out, vls_str(escape, sizeof(escape)));
        }
        at += len;
    }
}

void vls_policy_heading(vls_buf *out, const valise_policy_input *input, int64_t size)
{
    vls_buf_add(out, VLS_STR("## "));
    add_escaped(out, input->name, "");
    vls_buf_add_text(out, input->directory ? "/ (" : " (");
    add_escaped(out, input->type, " (),");
    vls_buf_add(out, VLS_STR(", "));
    add_escaped(out, input->agent, " (),");
    vls_buf_add(out, VLS_STR(", "));
    vls_buf_add_i64(out, size);
    if (size < input->size) {
        vls_buf_add(out, VLS_STR(" of "));
        vls_buf_add_i64(out, input->size);
    }
    vls_buf_add(out, VLS_STR(" bytes)\n"));
}

/* ---- sections and other lines ---- */

size_t vls_policy_section_len(bool first, valise_str heading, valise_str body)
{
    size_t len = (first ? 0 : 1) + heading.len;

    if (body.len > 0)
        len += 1 + body.len + (body.ptr[body.len - 1] == '\n' ? 0 : 1);
    return len;
}

void vls_policy_section(vls_buf *out, bool first, valise_str heading, valise_str body)
{
    if (!first)
        vls_buf_add_byte(out, '\n');
    vls_buf_add(out, heading);
    if (body.len == 0)
        return;
    vls_buf_add_byte(out, '\n');
    vls_buf_add(out, body);
    if (body.ptr[body.len - 1] != '\n')
        vls_buf_add_byte(out, '\n');
}

vls_policy_line vls_policy_no_text(const valise_policy_input *input)
{
    vls_policy_line line;

    (void)snprintf(line.s, sizeof(line.s), "[no text, %lld bytes]", (long long)input->size);
    return line;
}

int vls_policy_nothing(valise_making *making, valise_error *err)
{
    if (valise_making_is_empty(making))
        return valise_making_write(making, VLS_STR(VLS_POLICY_EMPTY "\n"), err);
    return valise_making_write(making, VLS_STR(VLS_POLICY_UNKNOWN "\n"), err);
}

size_t vls_policy_marker_len(size_t budget, size_t count)
{
    int len = snprintf(NULL, 0, "\n" MARKER_FORMAT, budget, count, count);

    assert(len > 0 && len < VLS_POLICY_BUDGET_MIN);
    return (size_t)len;
}

void vls_policy_marker(vls_buf *out, bool first, size_t budget, size_t left_out, size_t count)
{
    if (!first)
        vls_buf_add_byte(out, '\n');
    vls_buf_printf(out, MARKER_FORMAT, budget, left_out, count);
}

/* ---- knowing them again ---- */

/* Take digits away from the end; false when there are none. */
static bool drop_number(valise_str *s)
{
    size_t len = s->len;

    while (len > 0 && s->ptr[len - 1] >= '0' && s->ptr[len - 1] <= '9')
        len--;
    if (len == s->len)
        return false;
    s->len = len;
    return true;
}

static bool drop_end(valise_str *s, valise_str end)
{
    if (!vls_str_ends(*s, end))
        return false;
    s->len -= end.len;
    return true;
}

static bool is_heading(valise_str line)
{
    if (!vls_str_starts(line, VLS_STR("## ")) || !drop_end(&line, VLS_STR(" bytes)")) ||
        !drop_number(&line))
        return false;
    if (drop_end(&line, VLS_STR(" of ")) && !drop_number(&line))
        return false;
    return vls_str_ends(line, VLS_STR(", ")) && vls_str_find(line, VLS_STR(" (")) < line.len;
}

bool vls_policy_is_own(valise_str line)
{
    if (is_heading(line) || vls_str_equal(line, VLS_STR(VLS_POLICY_EMPTY)) ||
        vls_str_equal(line, VLS_STR(VLS_POLICY_UNKNOWN)))
        return true;
    if (vls_str_starts(line, VLS_STR("[no text, ")))
        return drop_end(&line, VLS_STR(" bytes]")) && drop_number(&line);
    return vls_str_starts(line, VLS_STR("[cut at ")) &&
           vls_str_ends(line, VLS_STR(" inputs left out]"));
}
