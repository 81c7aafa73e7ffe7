/* find.c -- sessions and turns by what people write for them; the neighbours of a version. */
#include "chat/find.h"

#include "base/hex.h"
#include "base/text.h"
#include "chat/seen.h"

#define END_MIN 4     /* digits */
#define CANDIDATES 4u /* that a message names */

/* ---- ends of ids ---- */

/* The digits of an end, lower case and without dashes. False: that is none. */
typedef struct id_end {
    char digits[32];
    size_t len;
} id_end;

static bool end_of(id_end *out, valise_str text)
{
    *out = (id_end){.len = 0};
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '-')
            continue;
        if (c >= 'A' && c <= 'F')
            c = (char)(c - 'A' + 'a');
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) || out->len == sizeof(out->digits))
            return false;
        out->digits[out->len++] = c;
    }
    return out->len >= END_MIN;
}

static bool ends_so(const valise_uuid *id, const id_end *end)
{
    static const char hex[] = "0123456789abcdef";

    for (size_t i = 0; i < end->len; i++) {
        size_t at = 31 - i;
        uint8_t byte = id->bytes[at / 2];
        if (hex[at % 2 ? byte & 15 : byte >> 4] != end->digits[end->len - 1 - i])
            return false;
    }
    return true;
}

/* What was found so far: ids that differ. */
typedef struct candidates {
    valise_uuid ids[CANDIDATES];
    size_t count; /* may be more than are kept */
} candidates;

static void add_candidate(candidates *c, const valise_uuid *id)
{
    for (size_t i = 0; i < VLS_MIN(c->count, CANDIDATES); i++) {
        if (vls_uuid_equal(&c->ids[i], id))
            return;
    }
    if (c->count < CANDIDATES)
        c->ids[c->count] = *id;
    c->count++;
}

static int ambiguous(const candidates *c, const char *what, valise_str text, valise_error *err)
{
    char names[CANDIDATES * 48] = "";
    size_t len = 0;

    for (size_t i = 0; i < VLS_MIN(c->count, CANDIDATES); i++) {
        int n = snprintf(names + len, sizeof(names) - len, "%s%s", i > 0 ? ", " : "",
                         vls_uuid_text(&c->ids[i]).s);
        len += (size_t)n;
    }
    (void)vls_fail(err, VALISE_E_CONFLICT, "'%s' is ambiguous: %s%s %s", vls_text_short(text).s,
                   c->count > CANDIDATES ? "several " : "", what, names);
    vls_hint(err, "give an id, or more of its end");
    return VALISE_E_CONFLICT;
}

/* ---- sessions ---- */

/* By label: as candidates. */
static int by_label(candidates *c, vls_session_row *out, valise_view *view, valise_str text,
                    valise_error *err)
{
    vls_session_row row = {.label = text};
    valise_select select = {.index = "label", .row = &row, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_sessions, &select, err);

    while (rc >= 0 && c->count <= CANDIDATES && (rc = valise_scan_next(&row, scan, err)) > 0) {
        add_candidate(c, &row.id);
        out->id = row.id;
    }
    valise_scan_close(scan);
    return vls_settle(rc);
}

static int by_end(candidates *c, vls_session_row *out, valise_view *view, const id_end *end,
                  valise_error *err)
{
    valise_scan *scan = NULL;
    vls_session_row row = {0};
    int rc = valise_view_scan(&scan, view, &vls_sessions, NULL, err);

    while (rc >= 0 && c->count <= CANDIDATES && (rc = valise_scan_next(&row, scan, err)) > 0) {
        if (!ends_so(&row.id, end))
            continue;
        add_candidate(c, &row.id);
        out->id = row.id;
    }
    valise_scan_close(scan);
    return vls_settle(rc);
}

bool vls_turn_is_meant(valise_str text)
{
    return vls_str_find_byte(text, '@') < text.len || vls_str_starts(text, VLS_STR("HEAD"));
}

static int no_session(valise_str text, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no session '%s'", vls_text_short(text).s);
    if (vls_turn_is_meant(text))
        vls_hint(err, "give the session first, then the turn: SESSION TURN");
    else
        vls_hint(err, "give a label, an id or the end of an id; 'valise session list' lists them");
    return VALISE_E_NOT_FOUND;
}

int vls_session_find(vls_session_row *out, valise_view *view, valise_str text, valise_error *err)
{
    vls_session_row row = {0};
    candidates found = {.count = 0};
    id_end end;
    int rc = 0;

    if (text.len == 36 && vls_uuid_parse(&row.id, text, NULL) == 0) {
        rc = valise_view_get(&row, view, &vls_sessions, err);
        if (rc > 0)
            *out = row;
        return rc == 0 ? no_session(text, err) : vls_settle(rc);
    }
    if (text.len > 0 && text.len <= VLS_SESSION_LABEL_MAX)
        rc = by_label(&found, &row, view, text, err);
    if (rc == 0 && found.count == 0 && end_of(&end, text))
        rc = by_end(&found, &row, view, &end, err);
    if (rc < 0)
        return rc;
    if (found.count == 0)
        return no_session(text, err);
    if (found.count > 1)
        return ambiguous(&found, "the sessions", text, err);
    rc = valise_view_get(&row, view, &vls_sessions, err);
    if (rc > 0)
        *out = row;
    return vls_settle(rc);
}

/* ---- neighbours ---- */

int vls_turn_get(vls_turn_row *out, valise_view *view, const vls_turn_ref *ref, valise_error *err)
{
    vls_turn_row row = {.ref = *ref};
    int rc = valise_view_get(&row, view, &vls_turns, err);

    if (rc > 0)
        *out = row;
    return rc;
}

int vls_turn_parents(vls_turn_ref **out, size_t *count, valise_view *view, const vls_turn_row *turn,
                     valise_error *err)
{
    vls_edge_row edge = {.child = turn->ref, .position = 1};
    valise_select select = {.index = "child", .row = &edge, .equal = 2, .from = 1};
    vls_vec(vls_turn_ref) parents = VLS_VEC_INIT;
    valise_scan *scan = NULL;
    int rc = 0;

    if (turn->parent.version > 0 && !vls_vec_push_in(&parents, &view->arena, turn->parent))
        return vls_arena_fail(&view->arena, err);
    if (turn->merges)
        rc = valise_view_scan(&scan, view, &vls_edges, &select, err);
    while (rc >= 0 && scan && parents.len <= VLS_TURN_PARENTS_MAX &&
           (rc = valise_scan_next(&edge, scan, err)) > 0) {
        if (!vls_vec_push_in(&parents, &view->arena, edge.parent))
            rc = vls_arena_fail(&view->arena, err);
    }
    valise_scan_close(scan);
    if (rc < 0)
        return rc;
    *out = parents.ptr;
    *count = parents.len;
    return 0;
}

/* Those that go on in the same lane. */
static int each_in_lane(valise_view *view, const vls_turn_row *turn, vls_turn_fn *fn, void *arg,
                        valise_error *err)
{
    vls_turn_row row = {.place = {turn->place.lane, turn->place.depth + 1}};
    valise_select select = {.index = "lane", .row = &row, .equal = 2};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_turns, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = vls_turn_ref_equal(&row.parent, &turn->ref) ? fn(arg, &row, err) : 0;
    valise_scan_close(scan);
    return rc;
}

int vls_turn_each_child(valise_view *view, const vls_turn_row *turn, vls_turn_fn *fn, void *arg,
                        valise_error *err)
{
    vls_edge_row edge = {.parent = turn->ref};
    valise_select select = {.row = &edge, .equal = 2};
    valise_scan *scan = NULL;
    int rc = each_in_lane(view, turn, fn, arg, err);

    if (rc == 0)
        rc = valise_view_scan(&scan, view, &vls_edges, &select, err);
    while (rc == 0 && scan && (rc = valise_scan_next(&edge, scan, err)) > 0) {
        vls_turn_row child = {0};
        rc = vls_turn_get(&child, view, &edge.child, err);
        if (rc == 0)
            rc = vls_fail(err, VALISE_E_CORRUPT, "turn %s is missing, and %s comes after it",
                          vls_turn_ref_write(&edge.child).s, vls_turn_ref_write(&turn->ref).s);
        if (rc > 0)
            rc = fn(arg, &child, err);
    }
    valise_scan_close(scan);
    return rc;
}

/* ---- turns ---- */

/* What was written, taken apart. */
typedef struct turn_words {
    valise_str text; /* all of it */
    valise_str name; /* without @VERSION */
    int64_t version; /* VALISE_NONE: none was given */
    bool is_head;
    int64_t up; /* HEAD~up */
    bool is_whole;
    valise_uuid id; /* is_whole */
    id_end end;     /* else */
} turn_words;

static int wrong(valise_str text, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not a turn", vls_text_short(text).s);
    vls_hint(err, "give ID@VERSION, the end of an id (%d digits or more), HEAD or HEAD~2", END_MIN);
    return VALISE_E_INVALID;
}

/* HEAD, HEAD~3; "~" alone is one up. */
static int take_head(turn_words *out, valise_str rest, valise_error *err)
{
    out->is_head = true;
    if (rest.len == 0)
        return 0;
    out->up = 1;
    if (rest.ptr[0] != '~' ||
        (rest.len > 1 && (!vls_str_to_i64(&out->up, vls_str_from(rest, 1)) || out->up < 0)))
        return wrong(out->text, err);
    return 0;
}

static int take_apart(turn_words *out, valise_str text, int64_t version, valise_error *err)
{
    valise_str number;
    int64_t given = 0;

    *out = (turn_words){.text = text, .version = version};
    if (vls_str_starts(text, VLS_STR("HEAD")))
        return take_head(out, vls_str_from(text, 4), err);
    if (vls_str_cut(&out->name, &number, text, '@')) {
        if (!vls_str_to_i64(&given, number) || given < 1)
            return wrong(text, err);
        if (version != VALISE_NONE && version != given)
            return vls_fail(err, VALISE_E_INVALID, "'%s' is not version %lld",
                            vls_text_short(text).s, (long long)version);
        out->version = given;
    }
    out->is_whole = out->name.len == 36 && vls_uuid_parse(&out->id, out->name, NULL) == 0;
    return out->is_whole || end_of(&out->end, out->name) ? 0 : wrong(text, err);
}

static int no_turn(valise_str text, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no turn '%s'", vls_text_short(text).s);
    vls_hint(err, "'valise turn log SESSION' shows those of a session");
    return VALISE_E_NOT_FOUND;
}

static int head_of(vls_turn_row *out, valise_view *view, const vls_session_row *session,
                   valise_error *err)
{
    vls_turn_row row = {0};
    int rc = vls_turn_get(&row, view, &session->head, err);

    if (rc == 0)
        rc = vls_fail(err, VALISE_E_CORRUPT, "turn %s, the head of session %s, is missing",
                      vls_turn_ref_write(&session->head).s, vls_uuid_text(&session->id).s);
    if (rc < 0)
        return rc;
    *out = row;
    return 0;
}

static int find_head(vls_turn_row *out, valise_view *view, const vls_session_row *session,
                     const turn_words *asked, valise_error *err)
{
    vls_turn_row row = {0};
    int rc;

    if (!session) {
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' is relative to a session, and none was given",
                       vls_text_short(asked->text).s);
        vls_hint(err, "give the session first: SESSION %s", vls_text_short(asked->text).s);
        return VALISE_E_INVALID;
    }
    if (session->head.version == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "session %s has no turns yet",
                        vls_uuid_text(&session->id).s);
    rc = head_of(&row, view, session, err);
    if (rc == 0 && asked->up > row.place.depth)
        return vls_fail(err, VALISE_E_NOT_FOUND,
                        "'%s' is before the first turn, which is HEAD~%lld",
                        vls_text_short(asked->text).s, (long long)row.place.depth);
    if (rc == 0)
        rc = vls_turn_up(&row, view, &row, row.place.depth - asked->up, err);
    if (rc == 0 && asked->version != VALISE_NONE && asked->version != row.ref.version)
        return vls_fail(err, VALISE_E_INVALID, "'%s' is version %lld, not %lld",
                        vls_text_short(asked->text).s, (long long)row.ref.version,
                        (long long)asked->version);
    if (rc == 0)
        *out = row;
    return rc;
}

/* Of an id without a version: the one on the path of the session, else the newest. */
static int find_version(vls_turn_row *out, valise_view *view, const vls_session_row *session,
                        const valise_uuid *id, valise_error *err)
{
    vls_turn_row row = {.ref = {.id = *id}};
    valise_select select = {.row = &row, .equal = 1, .flags = VALISE_SCAN_REVERSE};
    vls_turn_row head = {0};
    vls_turn_ref found = {.version = 0};
    bool looks = session && session->head.version > 0;
    valise_scan *scan = NULL;
    int rc = looks ? head_of(&head, view, session, err) : 0;

    if (rc == 0)
        rc = valise_view_scan(&scan, view, &vls_turns, &select, err);
    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = looks ? vls_turn_is_before(view, &row, &head, err) : 1;
        if (rc > 0 || found.version == 0)
            found = row.ref;
        if (rc > 0)
            break;
    }
    valise_scan_close(scan);
    return rc < 0 || found.version == 0 ? vls_settle(rc) : vls_turn_get(out, view, &found, err);
}

typedef struct end_search {
    const turn_words *asked;
    candidates found;
    valise_uuid id; /* of the last one */
} end_search;

static int match(void *arg, const vls_turn_row *turn, valise_error *err)
{
    end_search *s = arg;

    (void)err;
    if ((s->asked->version == VALISE_NONE || s->asked->version == turn->ref.version) &&
        ends_so(&turn->ref.id, &s->asked->end)) {
        add_candidate(&s->found, &turn->ref.id);
        s->id = turn->ref.id;
    }
    return 0;
}

static int search_path(end_search *s, valise_view *view, const vls_session_row *session,
                       valise_error *err)
{
    vls_trail trail = {.env = NULL};
    vls_turn_row head = {0};
    int rc = head_of(&head, view, session, err);

    if (rc == 0)
        rc = vls_trail_make(&trail, view, &head, NULL, false, err);
    if (rc == 0)
        rc = vls_trail_each(&trail, view, 0, true, match, s, err);
    vls_trail_release(&trail);
    return rc;
}

static int search_all(end_search *s, valise_view *view, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_turn_row row = {0};
    int rc = valise_view_scan(&scan, view, &vls_turns, NULL, err);

    while (rc == 0 && s->found.count <= CANDIDATES && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = match(s, &row, err);
    valise_scan_close(scan);
    return vls_settle(rc);
}

/* The id that ends so. */
static int find_end(turn_words *asked, valise_view *view, const vls_session_row *session,
                    valise_error *err)
{
    end_search s = {.asked = asked};
    int rc = 0;

    if (session && session->head.version > 0)
        rc = search_path(&s, view, session, err);
    if (rc == 0 && s.found.count == 0)
        rc = search_all(&s, view, err);
    if (rc < 0)
        return rc;
    if (s.found.count == 0)
        return no_turn(asked->text, err);
    if (s.found.count > 1)
        return ambiguous(&s.found, "the turns", asked->text, err);
    asked->id = s.id;
    return 0;
}

int vls_turn_find(vls_turn_row *out, valise_view *view, const vls_session_row *session,
                  valise_str text, int64_t version, valise_error *err)
{
    turn_words asked;
    int rc = take_apart(&asked, text, version, err);

    if (rc < 0)
        return rc;
    if (asked.is_head)
        return find_head(out, view, session, &asked, err);
    if (!asked.is_whole)
        rc = find_end(&asked, view, session, err);
    if (rc < 0)
        return rc;
    if (asked.version != VALISE_NONE) {
        vls_turn_ref ref = {asked.id, asked.version};
        rc = vls_turn_get(out, view, &ref, err);
    } else {
        rc = find_version(out, view, session, &asked.id, err);
    }
    return rc == 0 ? no_turn(text, err) : vls_settle(rc);
}

/* An id without a version has the name of the row that counts its versions, and is meant. */
int vls_turn_named(valise_view *view, valise_str text, bool widely, valise_named_fn *fn, void *arg,
                   valise_error *err)
{
    bool has_version = vls_str_find_byte(text, '@') < text.len;
    valise_error why = VALISE_ERROR_INIT;
    vls_turn_row row = {0};
    int rc;

    if (widely || vls_str_starts(text, VLS_STR("HEAD")))
        return 0;
    rc = vls_turn_find(&row, view, NULL, text, VALISE_NONE, &why);
    if (rc == VALISE_E_NOT_FOUND || rc == VALISE_E_INVALID)
        return 0;
    if (rc < 0) {
        if (err)
            *err = why;
        return rc;
    }
    return fn(arg, &row,
              has_version ? vls_turn_ref_write(&row.ref).s : vls_uuid_text(&row.ref.id).s, err);
}
