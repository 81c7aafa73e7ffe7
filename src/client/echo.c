/* echo.c -- the key, cut out of answers before anybody sees them. [Q25]
 *
 * Of a stream the pieces are looked at as they come, and the answer once more as a whole. A key may
 * be cut between two pieces: what a piece ends with is held back while it is what the key begins
 * with, so that only its length has to be kept.
 *
 *     "it is sk-" "live-0123..."      held: 3    then: all of it is there, and "[key]" is told
 *     "it is sk-" "ilful"             held: 3    then: "sk-ilful" is told
 *
 * A model may write words that are in a key, "test" or "sk-ant-api03-": answers keep these. So keys
 * as short as a word are not looked for, and of the others no part that is less than half of it. */
#include "base/text.h"
#include "client/inside.h"

#define HIDDEN VLS_STR("[key]")
#define WORD_MAX 15u /* no key is as short: servers of this machine take any word for one */
#define PART_MIN 12u /* of a key */
#define GRAM 4u      /* bytes that are looked at first */

/* ---- finding ---- */

static size_t gram_of(const char *at)
{
    uint32_t gram;

    memcpy(&gram, at, GRAM);
    return gram * UINT32_C(2654435761) >> 20;
}

void vls_echo_init(vls_echo *echo, const vls_key *key)
{
    *echo = (vls_echo){.key = vls_key_str(key), .least = VLS_MAX(key->len / 2, PART_MIN)};
    if (key->len <= WORD_MAX)
        echo->key.len = 0;
    for (size_t i = 0; i + GRAM <= echo->key.len; i++) {
        size_t gram = gram_of(key->text + i);
        echo->grams[gram / 64] |= UINT64_C(1) << gram % 64;
    }
}

/* How many bytes from here on are the key, or so much of it that it would help somebody; 0. */
static size_t found_at(const vls_echo *echo, valise_str text)
{
    size_t longest = 0, gram;

    if (text.len < echo->least)
        return 0;
    gram = gram_of(text.ptr);
    if (!(echo->grams[gram / 64] >> gram % 64 & 1))
        return 0;
    for (size_t from = 0; from + echo->least <= echo->key.len; from++) {
        size_t most = VLS_MIN(text.len, echo->key.len - from), len = 0;
        while (len < most && text.ptr[len] == echo->key.ptr[from + len])
            len++;
        longest = VLS_MAX(longest, len);
    }
    return longest >= echo->least ? longest : 0;
}

/* Is all that is left what the key begins with? */
static bool may_go_on(const vls_echo *echo, valise_str text)
{
    return text.len < echo->key.len && vls_str_starts(echo->key, text);
}

/* Nothing is to be done before this byte. */
static size_t first_of(const vls_echo *echo, valise_str text, bool goes_on)
{
    size_t at = 0;

    if (echo->key.len == 0)
        return text.len;
    while (at < text.len && found_at(echo, vls_str_from(text, at)) == 0 &&
           !(goes_on && may_go_on(echo, vls_str_from(text, at))))
        at++;
    return at;
}

/* The text without the key; *held: so many bytes of its end are left out, as it goes on. */
static void add_clean(vls_buf *out, size_t *held, const vls_echo *echo, valise_str text)
{
    for (size_t at = 0; at < text.len;) {
        valise_str rest = vls_str_from(text, at);
        size_t found = found_at(echo, rest), len;

        if (held && may_go_on(echo, rest)) {
            *held = rest.len;
            return;
        }
        if (found > 0) {
            vls_buf_add(out, HIDDEN);
            at += found;
            continue;
        }
        len = 1 + first_of(echo, vls_str_from(rest, 1), held != NULL);
        vls_buf_add(out, vls_str_head(rest, len));
        at += len;
    }
}

/* ---- pieces ---- */

static int tell(vls_echo *echo, const vls_piece *like, valise_str text, valise_error *err)
{
    vls_piece piece = *like;

    piece.text = text;
    return echo->on_piece(echo->arg, &piece, err);
}

/* It was not the key. */
int vls_echo_flush(vls_echo *echo, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    size_t held = echo->held;
    int rc;

    echo->held = 0;
    if (held == 0)
        return 0;
    vls_buf_init(&text, echo->env, VLS_KEY_MAX);
    add_clean(&text, NULL, echo, vls_str_head(echo->key, held));
    rc = vls_buf_check(&text, err);
    return rc < 0 ? rc : tell(echo, &echo->last, vls_buf_str(&text), err);
}

int vls_echo_piece(void *arg, const vls_piece *piece, valise_error *err)
{
    vls_echo *echo = arg;
    VLS_AUTO(buf) vls_buf whole = {0};
    VLS_AUTO(buf) vls_buf clean = {0};
    vls_piece shown = *piece;
    int rc = echo->held > 0 && piece->block != echo->last.block ? vls_echo_flush(echo, err) : 0;

    if (rc < 0)
        return rc;
    if (first_of(echo, piece->name, false) < piece->name.len)
        shown.name = HIDDEN;
    if (echo->held == 0 && first_of(echo, piece->text, true) == piece->text.len)
        return echo->on_piece(echo->arg, &shown, err);
    vls_buf_init(&whole, echo->env, VLS_STREAM_MAX_BYTES);
    vls_buf_init(&clean, echo->env, 2 * VLS_STREAM_MAX_BYTES);
    vls_buf_add(&whole, vls_str_head(echo->key, echo->held));
    vls_buf_add(&whole, piece->text);
    rc = vls_buf_check(&whole, err);
    if (rc < 0)
        return rc;
    echo->held = 0;
    echo->last = shown;
    add_clean(&clean, &echo->held, echo, vls_buf_str(&whole));
    rc = vls_buf_check(&clean, err);
    return rc < 0 || clean.len == 0 ? rc : tell(echo, &shown, vls_buf_str(&clean), err);
}

/* ---- whole answers ---- */

static int clean_text(valise_str *text, const vls_echo *echo, vls_arena *arena, valise_error *err)
{
    vls_buf clean;

    if (first_of(echo, *text, false) == text->len)
        return 0;
    vls_buf_init_in(&clean, arena, VLS_STREAM_MAX_BYTES);
    add_clean(&clean, NULL, echo, *text);
    return vls_buf_keep(text, &clean, err);
}

static bool has_key(const vls_echo *echo, vls_json v)
{
    bool has = false;

    if (v.type == VLS_JSON_STRING)
        return first_of(echo, vls_json_str(v), false) < v.len;
    if (v.type != VLS_JSON_ARRAY && v.type != VLS_JSON_OBJECT)
        return false;
    for (uint32_t i = 0; i < v.len && !has; i++)
        has = v.type == VLS_JSON_ARRAY
                  ? has_key(echo, v.items[i])
                  : has_key(echo, v.members[i].key) || has_key(echo, v.members[i].value);
    return has;
}

static int clean_json(vls_json *v, const vls_echo *echo, vls_arena *arena, valise_error *err);

static int clean_array(vls_json *v, const vls_echo *echo, vls_arena *arena, valise_error *err)
{
    vls_json *items = vls_arena_array(arena, v->len, sizeof(*items));
    int rc = 0;

    if (!items)
        return vls_arena_fail(arena, err);
    for (uint32_t i = 0; i < v->len && rc == 0; i++) {
        items[i] = v->items[i];
        rc = clean_json(&items[i], echo, arena, err);
    }
    *v = vls_json_array(items, v->len);
    return rc;
}

static int clean_object(vls_json *v, const vls_echo *echo, vls_arena *arena, valise_error *err)
{
    vls_member *members = vls_arena_array(arena, v->len, sizeof(*members));
    int rc = 0;

    if (!members)
        return vls_arena_fail(arena, err);
    for (uint32_t i = 0; i < v->len && rc == 0; i++) {
        members[i] = v->members[i];
        rc = clean_json(&members[i].key, echo, arena, err);
        if (rc == 0)
            rc = clean_json(&members[i].value, echo, arena, err);
    }
    return rc < 0 ? rc : vls_json_object(v, members, v->len, err);
}

/* Mostly there is nothing to be done, and nothing is copied. */
static int clean_json(vls_json *v, const vls_echo *echo, vls_arena *arena, valise_error *err)
{
    valise_str text;
    int rc;

    if (!has_key(echo, *v))
        return 0;
    if (v->type == VLS_JSON_ARRAY)
        return clean_array(v, echo, arena, err);
    if (v->type == VLS_JSON_OBJECT)
        return clean_object(v, echo, arena, err);
    text = vls_json_str(*v);
    rc = clean_text(&text, echo, arena, err);
    *v = vls_json_string(text);
    return rc;
}

int vls_echo_clean(vls_answer *answer, vls_arena *arena, const vls_key *key, valise_error *err)
{
    vls_echo echo;
    int rc;

    vls_echo_init(&echo, key);
    if (echo.key.len == 0)
        return 0;
    rc = clean_json(&answer->blocks, &echo, arena, err);
    if (rc == 0)
        rc = clean_text(&answer->stop_text, &echo, arena, err);
    if (rc == 0)
        rc = clean_text(&answer->model, &echo, arena, err);
    if (rc == 0)
        rc = clean_text(&answer->id, &echo, arena, err);
    return rc;
}
