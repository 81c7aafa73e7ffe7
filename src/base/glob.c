/* glob.c -- matching patterns with stars, without ever going back further than the last star. */
#include "base/glob.h"

#include "base/str.h"

const vls_glob_rules vls_glob_flat = {.separator = -1, .star_min = 0};
const vls_glob_rules vls_glob_path = {.separator = '/', .star_min = 0};
const vls_glob_rules vls_glob_dotted = {.separator = '.', .star_min = 1};
const vls_glob_rules vls_glob_colons = {.separator = ':', .star_min = 1};

/* ---- one segment ---- */

/* Behind the character at `at`. Text that is no UTF-8 is taken byte by byte. */
static size_t next_character(valise_str text, size_t at)
{
    at++;
    while (at < text.len && ((unsigned char)text.ptr[at] & 0xC0) == 0x80)
        at++;
    return at;
}

/* When something behind a star does not fit, the star takes one byte more and that is tried again.
 * Only the last star has to: were a match possible with more for an earlier one, the last star
 * could take what is between. So each byte of the pattern meets each byte of the text once. */
static bool match_segment(valise_str pattern, valise_str text, unsigned star_min)
{
    size_t p = 0, s = 0;
    size_t star = SIZE_MAX, taken = 0; /* behind the last star; where what it took ends */

    while (s < text.len || p < pattern.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            if (star_min > 0 && s == text.len)
                return false; /* an earlier star would leave it even less */
            if (star_min > 0)
                s = next_character(text, s);
            star = ++p;
            taken = s;
        } else if (p < pattern.len && s < text.len && pattern.ptr[p] == text.ptr[s]) {
            p++;
            s++;
        } else {
            if (star == SIZE_MAX || taken == text.len)
                return false;
            s = ++taken;
            p = star;
        }
    }
    return true;
}

/* ---- segments ---- */

/* A way through the segments of a pattern or a text. */
typedef struct walk {
    valise_str rest;
    bool more; /* rest is one segment or more; an empty one counts */
} walk;

static valise_str take_segment(walk *w, char separator)
{
    valise_str segment;

    w->more = vls_str_cut(&segment, &w->rest, w->rest, separator);
    return segment;
}

/* The same once more, with segments in the place of bytes and ** in the place of the star. Each
 * segment of the pattern meets each one of the text at most once, so the bytes do too. */
static bool match_segments(const vls_glob_rules *rules, valise_str pattern, valise_str text)
{
    char separator = (char)rules->separator;
    walk p = {pattern, true}, s = {text, text.len > 0};
    walk star = {0}, taken = {0}; /* behind the last **; behind what it took */
    bool starred = false;

    while (p.more || s.more) {
        walk p_next = p, s_next = s;
        valise_str segment = p.more ? take_segment(&p_next, separator) : (valise_str){NULL, 0};

        if (p.more && vls_str_equal(segment, VLS_STR("**"))) {
            starred = true;
            star = p = p_next;
            taken = s;
        } else if (p.more && s.more &&
                   match_segment(segment, take_segment(&s_next, separator), rules->star_min)) {
            p = p_next;
            s = s_next;
        } else {
            if (!starred || !s.more)
                return false; /* more for the star leaves less for the rest */
            (void)take_segment(&taken, separator);
            p = star;
            s = taken;
        }
    }
    return true;
}

bool vls_glob_match(const vls_glob_rules *rules, valise_str pattern, valise_str text)
{
    if (text.len == 0 && rules->star_min > 0)
        return false;
    if (rules->separator < 0)
        return match_segment(pattern, text, rules->star_min);
    return match_segments(rules, pattern, text);
}

int vls_glob_check(const vls_glob_rules *rules, valise_str pattern, valise_error *err)
{
    walk w = {pattern, true};

    if (pattern.len == 0)
        return vls_fail_at(err, VALISE_E_INVALID, 0, "a pattern is empty");
    while (rules->separator >= 0 && w.more) {
        size_t at = pattern.len - w.rest.len;
        if (take_segment(&w, (char)rules->separator).len == 0)
            return vls_fail_at(err, VALISE_E_INVALID, at, "pattern '%.*s' has an empty segment",
                               VALISE_STR_ARG(vls_str_head(pattern, 200)));
    }
    return 0;
}
