/* schema_regex.c -- an ECMA-262 pattern as a PCRE2 pattern.
 *
 * Most of both languages is the same; this is about the rest. What ECMA-262 has and PCRE2 says
 * differently is rewritten:
 *
 *     .          [^\n\r\x{2028}\x{2029}]          \s     all white space of Unicode
 *     \v \0 \cA  \x{b} \x{0} \x{1}                \u{1F600}  \ud83d\ude00   \x{1f600}
 *     \1         \g{1}                            [      in a class: \[, so no [:alpha:]
 *     {          not a quantifier: \{             \p{Letter}  \p{gc=L}      \p{L}
 *
 * What only PCRE2 has (\A, (?>...), (*LIMIT_MATCH=1), a++, ...) is refused, as ECMA-262 would.
 * Identity escapes of punctuation that need none (\-, \_, \@) are let through: ECMA-262 allows
 * them without the u flag and many patterns have them. Group structure is left to PCRE2's own
 * parser, which complains about what does not fit together. */
#include "json/schema_impl.h"

#include "base/utf8.h"

#define NO_CHARACTER UINT32_MAX

/* White space, and everything else, as the inside of a class. */
#define SPACES                                                                                     \
    "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"           \
    "\\x{205f}\\x{3000}\\x{feff}"
#define NO_SPACES                                                                                  \
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}"               \
    "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"                 \
    "\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"

typedef struct regex {
    valise_str source;
    size_t at;
    vls_buf *out;
    vls_regex_traits *traits;
    bool can_repeat; /* what was last written may have a quantifier */
    valise_error *err;
} regex;

/* General categories PCRE2 knows by their short names only. */
static const struct {
    const char *name, *brief;
} categories[] = {
    {"Cased_Letter", "L&"},
    {"Close_Punctuation", "Pe"},
    {"Combining_Mark", "M"},
    {"Connector_Punctuation", "Pc"},
    {"Control", "Cc"},
    {"Currency_Symbol", "Sc"},
    {"Dash_Punctuation", "Pd"},
    {"Decimal_Number", "Nd"},
    {"Enclosing_Mark", "Me"},
    {"Final_Punctuation", "Pf"},
    {"Format", "Cf"},
    {"Initial_Punctuation", "Pi"},
    {"LC", "L&"},
    {"Letter", "L"},
    {"Letter_Number", "Nl"},
    {"Line_Separator", "Zl"},
    {"Lowercase_Letter", "Ll"},
    {"Mark", "M"},
    {"Math_Symbol", "Sm"},
    {"Modifier_Letter", "Lm"},
    {"Modifier_Symbol", "Sk"},
    {"Nonspacing_Mark", "Mn"},
    {"Number", "N"},
    {"Open_Punctuation", "Ps"},
    {"Other", "C"},
    {"Other_Letter", "Lo"},
    {"Other_Number", "No"},
    {"Other_Punctuation", "Po"},
    {"Other_Symbol", "So"},
    {"Paragraph_Separator", "Zp"},
    {"Private_Use", "Co"},
    {"Punctuation", "P"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Spacing_Mark", "Mc"},
    {"Surrogate", "Cs"},
    {"Symbol", "S"},
    {"Titlecase_Letter", "Lt"},
    {"Unassigned", "Cn"},
    {"Uppercase_Letter", "Lu"},
    {"cntrl", "Cc"},
    {"digit", "Nd"},
    {"punct", "P"},
};

static int refuse(regex *r, size_t at, const char *why)
{
    return vls_fail_at(r->err, VALISE_E_INVALID, at, "%s at byte %zu of the pattern", why, at);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The byte `ahead` of where we are; NUL past the end (which no comparison here asks for). */
static char peek(const regex *r, size_t ahead)
{
    return r->at + ahead < r->source.len ? r->source.ptr[r->at + ahead] : '\0';
}

static bool skip(regex *r, const char *text)
{
    size_t len = strlen(text);

    if (r->source.len - r->at < len || memcmp(r->source.ptr + r->at, text, len) != 0)
        return false;
    r->at += len;
    return true;
}

static void put(regex *r, const char *text)
{
    vls_buf_add_text(r->out, text);
}

static void put_character(regex *r, uint32_t c)
{
    vls_buf_printf(r->out, "\\x{%x}", (unsigned)c);
}

/* ---- escapes ---- */

/* Exactly len hex digits; the number, or NO_CHARACTER with nothing taken. */
static uint32_t take_hex(regex *r, size_t len)
{
    uint32_t value = 0;

    for (size_t i = 0; i < len; i++) {
        char c = peek(r, i);
        if (is_digit(c))
            value = value * 16 + (uint32_t)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            value = value * 16 + (uint32_t)((c | 0x20) - 'a' + 10);
        else
            return NO_CHARACTER;
    }
    r->at += len;
    return value;
}

static uint32_t take_braced_hex(regex *r)
{
    size_t digits = 0;

    while (peek(r, digits) != '}' && r->at + digits < r->source.len)
        digits++;
    while (digits > 6 && peek(r, 0) == '0') {
        digits--;
        r->at++;
    }
    uint32_t value = digits > 0 && digits <= 6 ? take_hex(r, digits) : NO_CHARACTER;
    return skip(r, "}") ? value : NO_CHARACTER;
}

/* Behind "\u". A pair of surrogates is one character; one alone is in no UTF-8 text. */
static int take_unicode(uint32_t *out, regex *r, size_t start)
{
    uint32_t c = skip(r, "{") ? take_braced_hex(r) : take_hex(r, 4);

    if (c >= 0xD800 && c < 0xDC00 && skip(r, "\\u")) {
        uint32_t low = take_hex(r, 4);
        if (low >= 0xDC00 && low < 0xE000)
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
        return refuse(r, start, "\\u names no character");
    *out = c;
    return 0;
}

static const char *category(valise_str name)
{
    for (size_t i = 0; i < VLS_COUNT(categories); i++) {
        if (vls_str_equal(name, valise_str_of(categories[i].name)))
            return categories[i].brief;
    }
    return NULL;
}

/* Behind "\p" or "\P": {Letter}, {gc=Letter}, {Script=Greek}, {Alphabetic}. */
static int put_property(regex *r, bool negative, size_t start)
{
    valise_str name, value, rest;

    if (!skip(r, "{") || !vls_str_cut(&name, &rest, vls_str_from(r->source, r->at), '}'))
        return refuse(r, start, "\\p needs a property in braces");
    r->at += name.len + 1;
    bool has_value = vls_str_cut(&name, &value, name, '=');
    if (name.len == 0)
        return refuse(r, start, "\\p needs a property in braces");
    for (size_t i = 0; i < name.len + value.len; i++) {
        if (!is_word(i < name.len ? name.ptr[i] : value.ptr[i - name.len]))
            return refuse(r, start, "malformed name of a property");
    }

    bool is_category =
        vls_str_equal(name, VLS_STR("gc")) || vls_str_equal(name, VLS_STR("General_Category"));
    if (has_value && is_category)
        name = value;
    if (vls_str_equal(name, VLS_STR("Assigned"))) {
        name = VLS_STR("Cn");
        negative = !negative;
    }
    const char *brief = has_value && !is_category ? NULL : category(name);
    put(r, negative ? "\\P{" : "\\p{");
    vls_buf_add(r->out, brief ? valise_str_of(brief) : name);
    if (has_value && !is_category) {
        vls_buf_add_byte(r->out, '=');
        vls_buf_add(r->out, value);
    }
    vls_buf_add_byte(r->out, '}');
    return 0;
}

/* An escape that means a set of characters, in a class or on its own. False: it is none. */
static int put_set_escape(bool *is_set, regex *r, bool in_class, size_t start)
{
    char c = peek(r, 0);

    *is_set = true;
    if (c == 'p' || c == 'P') {
        r->at++;
        return put_property(r, c == 'P', start);
    }
    if (c == 's' || c == 'S') {
        put(r, in_class ? "" : "[");
        put(r, c == 's' ? SPACES : NO_SPACES);
        put(r, in_class ? "" : "]");
    } else if (c == 'd' || c == 'D' || c == 'w' || c == 'W') {
        vls_buf_add_byte(r->out, '\\');
        vls_buf_add_byte(r->out, c);
    } else {
        *is_set = false;
        return 0;
    }
    r->at++;
    return 0;
}

/* An escape that means one character. */
static int take_character_escape(uint32_t *out, regex *r, size_t start)
{
    static const char plain[] = "t\tn\nv\vf\fr\r";
    char c = peek(r, 0);

    if (r->at >= r->source.len)
        return refuse(r, start, "nothing after the backslash");
    r->at++;
    for (size_t i = 0; i + 1 < sizeof(plain); i += 2) {
        if (c == plain[i]) {
            *out = (unsigned char)plain[i + 1];
            return 0;
        }
    }
    if (c == 'u')
        return take_unicode(out, r, start);
    if (c == 'x') {
        *out = take_hex(r, 2);
        return *out == NO_CHARACTER ? refuse(r, start, "\\x needs two hex digits") : 0;
    }
    if (c == 'c' && is_word(peek(r, 0)) && peek(r, 0) > '9' && peek(r, 0) != '_') {
        *out = (uint32_t)peek(r, 0) % 32;
        r->at++;
        return 0;
    }
    if (c == '0' && !is_digit(peek(r, 0))) {
        *out = 0;
        return 0;
    }
    if (is_word(c) && c != '_')
        return refuse(r, start, "an escape that ECMA-262 does not have");
    /* Punctuation, or the first byte of a character that needed no backslash. */
    r->at--;
    size_t len = vls_utf8_decode(out, r->source.ptr + r->at, r->source.len - r->at);
    r->at += len;
    return len > 0 ? 0 : refuse(r, start, "not UTF-8");
}

/* \k<name> and \1: what a group matched. */
static int put_back_reference(regex *r, size_t start)
{
    valise_str name, rest;

    r->traits->refers_back = true;
    if (skip(r, "k<")) {
        if (!vls_str_cut(&name, &rest, vls_str_from(r->source, r->at), '>') || name.len == 0)
            return refuse(r, start, "\\k needs the name of a group");
        for (size_t i = 0; i < name.len; i++) {
            if (!is_word(name.ptr[i]))
                return refuse(r, start, "malformed name of a group");
        }
        r->at += name.len + 1;
        vls_buf_printf(r->out, "\\k<%.*s>", VALISE_STR_ARG(name));
        return 0;
    }
    size_t digits = 0;
    while (is_digit(peek(r, digits)))
        digits++;
    vls_buf_printf(r->out, "\\g{%.*s}", (int)digits, r->source.ptr + r->at);
    r->at += digits;
    return 0;
}

/* Behind a backslash outside of classes. */
static int put_escape(regex *r)
{
    size_t start = r->at - 1;
    uint32_t character = NO_CHARACTER;
    bool is_set;
    char c = peek(r, 0);
    int rc;

    r->can_repeat = true;
    if (c == 'b' || c == 'B') {
        r->at++;
        r->can_repeat = false;
        put(r, c == 'b' ? "\\b" : "\\B");
        return 0;
    }
    if (c == 'k' || (c >= '1' && c <= '9'))
        return put_back_reference(r, start);
    rc = put_set_escape(&is_set, r, false, start);
    if (rc < 0 || is_set)
        return rc;
    rc = take_character_escape(&character, r, start);
    if (rc == 0)
        put_character(r, character);
    return rc;
}

/* ---- classes ---- */

/* One member of a class: a character, or a set that was written (then NO_CHARACTER). */
static int take_class_member(uint32_t *out, regex *r)
{
    size_t start = r->at;
    bool is_set;
    int rc;

    *out = NO_CHARACTER;
    if (!skip(r, "\\")) {
        size_t len = vls_utf8_decode(out, r->source.ptr + r->at, r->source.len - r->at);
        r->at += len;
        return len > 0 ? 0 : refuse(r, start, "not UTF-8");
    }
    if (skip(r, "b")) {
        *out = '\b';
        return 0;
    }
    if (skip(r, "-")) {
        *out = '-';
        return 0;
    }
    rc = put_set_escape(&is_set, r, true, start);
    if (rc < 0 || is_set)
        return rc;
    return take_character_escape(out, r, start);
}

/* Behind the bracket that opens a class. */
static int put_class(regex *r)
{
    size_t start = r->at - 1;
    uint32_t low, high;
    int rc;

    put(r, skip(r, "^") ? "[^" : "[");
    while (!skip(r, "]")) {
        if (r->at >= r->source.len)
            return refuse(r, start, "an unclosed character class");
        rc = take_class_member(&low, r);
        if (rc < 0)
            return rc;
        if (low != NO_CHARACTER)
            put_character(r, low);
        if (peek(r, 0) != '-' || peek(r, 1) == ']' || r->at + 1 >= r->source.len)
            continue;

        /* A hyphen beside a set, as in [\w-.], is only a hyphen. Sets write themselves, so the
         * hyphen goes out first, and its range is completed or turned into a character behind. */
        r->at++;
        size_t mark = r->out->len;
        put(r, "\\x{2d}");
        rc = take_class_member(&high, r);
        if (rc < 0)
            return rc;
        if (high == NO_CHARACTER)
            continue;
        if (low != NO_CHARACTER && high < low)
            return refuse(r, start, "a range out of order in the class");
        if (low != NO_CHARACTER && r->out->failed == 0) {
            r->out->len = mark;
            put(r, "-");
        }
        put_character(r, high);
    }
    put(r, "]");
    r->can_repeat = true;
    return 0;
}

/* ---- groups and quantifiers ---- */

/* Behind an opening parenthesis. */
static int put_group(regex *r)
{
    static const char *const openings[] = {"?:", "?=", "?!", "?<=", "?<!"};
    size_t start = r->at - 1;

    r->can_repeat = false;
    for (size_t i = 0; i < VLS_COUNT(openings); i++) {
        if (skip(r, openings[i])) {
            put(r, "(");
            put(r, openings[i]);
            return 0;
        }
    }
    if (peek(r, 0) == '*')
        return refuse(r, start, "nothing to repeat");
    put(r, "(");
    if (!skip(r, "?"))
        return 0;
    if (!skip(r, "<") || !is_word(peek(r, 0)) || is_digit(peek(r, 0)))
        return refuse(r, start, "a kind of group that ECMA-262 does not have");
    put(r, "?<");
    while (is_word(peek(r, 0)))
        vls_buf_add_byte(r->out, r->source.ptr[r->at++]);
    if (!skip(r, ">"))
        return refuse(r, start, "malformed name of a group");
    put(r, ">");
    return 0;
}

/* The length of "{2}", "{2,}" or "{2,5}" where we are; 0 for any other brace. */
static size_t braces_len(const regex *r)
{
    size_t i = 1;

    if (!is_digit(peek(r, i)))
        return 0;
    while (is_digit(peek(r, i)))
        i++;
    if (peek(r, i) == ',') {
        i++;
        while (is_digit(peek(r, i)))
            i++;
    }
    return peek(r, i) == '}' ? i + 1 : 0;
}

static int put_quantifier(regex *r, size_t len)
{
    if (!r->can_repeat)
        return refuse(r, r->at, "nothing to repeat");
    valise_str text = vls_str(r->source.ptr + r->at, len), least, most;
    uint64_t times = 0;

    vls_buf_add(r->out, text);
    vls_str_cut(&least, &most, vls_str_from(vls_str_head(text, len - 1), 1), ',');
    if (vls_str_to_u64(&times, least))
        r->traits->longest_repeat =
            (uint32_t)VLS_MAX(r->traits->longest_repeat, VLS_MIN(times, UINT32_MAX));
    r->at += len;
    if (skip(r, "?"))
        put(r, "?");
    r->can_repeat = false;
    return 0;
}

/* What is neither of the above: a character that stands for itself. */
static int put_literal(regex *r)
{
    uint32_t character;
    size_t len = vls_utf8_decode(&character, r->source.ptr + r->at, r->source.len - r->at);

    if (len == 0)
        return refuse(r, r->at, "not UTF-8");
    if (character < 0x80 && !is_word((char)character))
        put_character(r, character);
    else
        vls_buf_add(r->out, vls_str(r->source.ptr + r->at, len));
    r->at += len;
    r->can_repeat = true;
    return 0;
}

static int put_next(regex *r)
{
    char c = peek(r, 0);
    size_t len = c == '*' || c == '+' || c == '?' ? 1 : c == '{' ? braces_len(r) : 0;

    if (len > 0)
        return put_quantifier(r, len);
    if (c != '\\' && c != '[' && c != '(' && c != ')' && c != '.' && c != '|' && c != '^' &&
        c != '$')
        return put_literal(r);

    r->at++;
    switch (c) {
    case '\\':
        return put_escape(r);
    case '[':
        return put_class(r);
    case '(':
        return put_group(r);
    case '.':
        put(r, "[^\\n\\r\\x{2028}\\x{2029}]");
        r->can_repeat = true;
        return 0;
    default: /* ) | ^ $ */
        vls_buf_add_byte(r->out, c);
        r->can_repeat = c == ')';
        return 0;
    }
}

int vls_regex_translate(vls_buf *out, vls_regex_traits *traits, valise_str source,
                        valise_error *err)
{
    regex r = {.source = source, .out = out, .traits = traits, .err = err};

    *traits = (vls_regex_traits){0};
    while (r.at < source.len) {
        int rc = put_next(&r);
        if (rc < 0)
            return rc;
    }
    return vls_buf_check(out, err);
}
