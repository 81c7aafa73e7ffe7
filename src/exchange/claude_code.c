/* claude_code.c -- a Claude Code session: lines that name their parents.
 *
 *     user, assistant     turns; lines with one message.id are one turn
 *     isSidechain         a conversation of its own for each agent, forked from this one
 *     compact_boundary    its summary is a turn behind the one it names as its logical parent
 *     system              a turn that models do not see
 *     summary, *-title    the label
 *     all other types     counted; what has a uuid stands between its parent and its children
 *
 * A summary covers the path up to there, but for what was kept.
 *
 * Calls that ran side by side: their results are all children of the calls; they become a chain, as
 * models want them. claude_blocks.c reads what is said. */
#include "exchange/claude.h"

#include <stdio.h>

#include "base/time.h"
#include "chat/rows.h"

#define FORMAT VLS_CLAUDE_FORMAT
#define NEAR 64u /* results between two lines of one message */

/* ---- lines ---- */

static bool has_uuid(const void *item, const void *key)
{
    return vls_str_equal(((const vls_claude_line_of *)item)->uuid, *(const valise_str *)key);
}

static bool has_message(const void *item, const void *key)
{
    return vls_str_equal(((const vls_claude_line_of *)item)->message_id, *(const valise_str *)key);
}

static bool has_agent(const void *item, const void *key)
{
    return vls_str_equal(((const vls_claude_line_of *)item)->agent, *(const valise_str *)key);
}

int vls_claude_begin(vls_claude **out, vls_translation *r, valise_error *err)
{
    vls_claude *c = vls_arena_zalloc(r->arena, sizeof(*c));

    if (!c)
        return vls_arena_fail(r->arena, err);
    c->r = r;
    c->seed = (uint64_t)(uintptr_t)c;
    *out = c;
    return 0;
}

static int kind_of(vls_json record, valise_str type)
{
    bool message = vls_member_of(record, "message").type == VLS_JSON_OBJECT;

    if (message && vls_str_equal(type, VLS_STR("user")))
        return VLS_LINE_USER;
    if (message && vls_str_equal(type, VLS_STR("assistant")))
        return VLS_LINE_ASSISTANT;
    if (!vls_str_equal(type, VLS_STR("system")))
        return VLS_LINE_OTHER;
    if (vls_str_equal(vls_text_of(record, "subtype"), VLS_STR("compact_boundary")))
        return VLS_LINE_BOUNDARY;
    return vls_text_of(record, "content").ptr ? VLS_LINE_SYSTEM : VLS_LINE_OTHER;
}

/* What people call it: their own title, one that was made, the summary of it. */
static bool read_label(vls_claude *c, valise_str type, vls_json record)
{
    static const struct {
        const char *type, *member;
        int rank;
    } titles[] = {
        {"custom-title", "customTitle", 3}, {"ai-title", "aiTitle", 2}, {"summary", "summary", 1}};

    for (size_t i = 0; i < VLS_COUNT(titles); i++) {
        valise_str text = vls_text_of(record, titles[i].member);
        if (!vls_str_equal(type, valise_str_of(titles[i].type)) || text.len == 0)
            continue;
        if (titles[i].rank >= c->label_rank) {
            c->label = text;
            c->label_rank = titles[i].rank;
        }
        return true;
    }
    return false;
}

int vls_claude_line(vls_claude *c, valise_str text, vls_json record, valise_error *err)
{
    valise_str type = vls_text_of(record, "type"), session = vls_text_of(record, "sessionId");
    vls_claude_line_of line = {.text = text,
                               .record = record,
                               .uuid = vls_text_of(record, "uuid"),
                               .parent = vls_text_of(record, "parentUuid"),
                               .turn = VLS_NO_TURN,
                               .line = c->r->line,
                               .offset = c->r->offset};
    int rc = 0;

    if (record.type != VLS_JSON_OBJECT)
        return vls_notes_problem(c->r->notes, c->r->line, c->r->offset, err,
                                 "the line is not a JSON object");
    if (session.len > 0)
        c->session = session;
    if (read_label(c, type, record))
        return 0;
    line.kind = kind_of(record, type);
    if (line.kind == VLS_LINE_OTHER)
        rc = vls_notes_unknown(c->r->notes, type, err);
    if (rc < 0)
        return rc;
    if (!line.uuid.ptr)
        return line.kind == VLS_LINE_OTHER
                   ? 0
                   : vls_notes_problem(c->r->notes, c->r->line, c->r->offset, err,
                                       "the line has no uuid");
    line.message_id = vls_text_of(vls_member_of(record, "message"), "id");
    line.boundary = vls_text_of(record, "logicalParentUuid");
    return vls_vec_push_in(&c->lines, c->r->arena, line) ? 0 : vls_arena_fail(c->r->arena, err);
}

/* ---- which line goes where ---- */

static vls_claude_line_of *find_line(const vls_claude *c, valise_str uuid)
{
    return uuid.ptr ? vls_map_get(&c->by_uuid, vls_str_hash(uuid, c->seed), &uuid) : NULL;
}

/* The line above, past a compaction too. */
static vls_claude_line_of *line_above(const vls_claude *c, const vls_claude_line_of *line)
{
    vls_claude_line_of *up = find_line(c, line->parent);

    if (!up && line->kind == VLS_LINE_BOUNDARY)
        up = find_line(c, line->boundary);
    return up == line ? NULL : up;
}

static int add_talk(vls_claude *c, valise_str key, valise_error *err)
{
    vls_claude_talk talk = {
        .key = key, .foreign = {.format = FORMAT, .created = VALISE_NONE, .head = VLS_NO_TURN}};

    return vls_vec_push_in(&c->talks, c->r->arena, talk) ? 0 : vls_arena_fail(c->r->arena, err);
}

/* Put the line into the conversation of this agent, a new one where there is none yet. */
static int find_talk(vls_claude *c, vls_claude_line_of *line, valise_str key, valise_error *err)
{
    uint64_t hash = vls_str_hash(key, c->seed);
    const vls_claude_line_of *first = vls_map_get(&c->by_agent, hash, &key);

    line->talk = first ? first->talk : c->talks.len;
    if (first)
        return 0;
    line->agent = key;
    if (vls_map_put(NULL, &c->by_agent, hash, &key, line) < 0)
        return vls_fail_memory(err);
    return add_talk(c, key, err);
}

/* 0 is the session itself; an agent is known by its id, or by its first line. */
static int choose_talk(vls_claude *c, vls_claude_line_of *line, valise_error *err)
{
    valise_str key = vls_text_of(line->record, "agentId");
    const vls_claude_line_of *up;

    line->talk = 0;
    if (!vls_truth_of(line->record, "isSidechain"))
        return 0;
    up = find_line(c, line->parent);
    if (key.len == 0 && up && up->talk > 0) {
        line->talk = up->talk;
        return 0;
    }
    return find_talk(c, line, key.len > 0 ? key : line->uuid, err);
}

/* A line of a message that is there already: its parent is one of them, or the result of one. */
static const vls_claude_line_of *same_message(const vls_claude *c, const vls_claude_line_of *line)
{
    const vls_claude_line_of *first, *up = find_line(c, line->parent);

    if (line->kind != VLS_LINE_ASSISTANT || line->message_id.len == 0)
        return NULL;
    first = vls_map_get(&c->by_message, vls_str_hash(line->message_id, c->seed), &line->message_id);
    if (!first || first->talk != line->talk)
        return NULL;
    for (unsigned i = 0; up && i < NEAR; i++) {
        if (up->turn == first->turn && up->talk == first->talk && up->turn != VLS_NO_TURN)
            return first;
        if (up->kind == VLS_LINE_ASSISTANT || up->kind == VLS_LINE_BOUNDARY)
            return NULL;
        up = find_line(c, up->parent);
    }
    return NULL;
}

static int add_turn(vls_claude *c, vls_claude_line_of *line, valise_error *err)
{
    vls_claude_talk *talk = &c->talks.ptr[line->talk];
    vls_foreign_turn turn = {.parent = VLS_NO_TURN,
                             .time = VALISE_NONE,
                             .covers_to = VLS_NO_TURN,
                             .source = line->text,
                             .line = line->line};
    valise_error ignored = VALISE_ERROR_INIT;
    int rc = 0;

    if (talk->foreign.turns.len >= VLS_FOREIGN_TURNS_MAX)
        return vls_notes_problem(c->r->notes, line->line, 0, err, "there are too many turns");
    (void)vls_time_parse_ns(&turn.time, vls_text_of(line->record, "timestamp"), &ignored);
    turn.hidden = vls_truth_of(line->record, "isMeta");
    rc = vls_claude_said(&turn, c->r, line, err);
    if (rc < 0)
        return rc;
    line->turn = talk->foreign.turns.len;
    if (!vls_vec_push_in(&talk->foreign.turns, c->r->arena, turn) ||
        !vls_vec_push_in(&talk->firsts, c->r->arena, (size_t)(line - c->lines.ptr)) ||
        !vls_vec_push_in(&talk->lasts, c->r->arena, (size_t)(line - c->lines.ptr)))
        return vls_arena_fail(c->r->arena, err);
    if (line->kind == VLS_LINE_ASSISTANT && line->message_id.len > 0 &&
        vls_map_put(NULL, &c->by_message, vls_str_hash(line->message_id, c->seed),
                    &line->message_id, line) < 0)
        return vls_fail_memory(err);
    return 0;
}

/* ---- compaction ---- */

/* What a boundary kept is under it from then on. */
static void mark_kept(vls_claude *c, vls_claude_line_of *line, size_t number)
{
    vls_json about = vls_member_of(line->record, "compactMetadata"), kept, uuids;
    vls_claude_line_of *one;

    if (about.type == VLS_JSON_NULL)
        about = vls_member_of(line->record, "compact_metadata");
    kept = vls_member_of(about, "preservedMessages");
    if (kept.type == VLS_JSON_NULL)
        kept = vls_member_of(about, "preserved_messages");
    uuids = vls_member_of(kept, "uuids");
    for (uint32_t i = 0; uuids.type == VLS_JSON_ARRAY && i < uuids.len; i++) {
        if (uuids.items[i].type != VLS_JSON_STRING)
            continue;
        one = find_line(c, vls_json_str(uuids.items[i]));
        if (!one || one >= line)
            continue;
        one->kept_by = number + 1;
        if (!line->first_kept || one < line->first_kept)
            line->first_kept = one;
    }
    kept = vls_member_of(about, "preservedSegment");
    one = find_line(c, vls_text_of(kept, "tailUuid"));
    if (one && one < line)
        one->kept_by = number + 1;
    one = find_line(c, vls_text_of(kept, "headUuid"));
    if (one && one < line && !line->first_kept)
        line->first_kept = one;
}

/* ---- parents ---- */

/* The turn of a line, or of the nearest one above that has one. */
static size_t turn_of(vls_claude *c, vls_claude_line_of *line, size_t talk)
{
    vls_claude_line_of *at = line, *up;
    size_t found = VLS_NO_TURN, steps = c->lines.len;

    while (at && at->turn == VLS_NO_TURN && !at->resolved && steps-- > 0)
        at = line_above(c, at);
    if (at && at->turn != VLS_NO_TURN && at->talk == talk)
        found = at->turn;
    else if (at && at->resolved && at->talk == talk)
        found = at->above;
    /* A chain of lines without turns is walked once. */
    for (at = line, steps = c->lines.len; at && at->turn == VLS_NO_TURN && !at->resolved; at = up) {
        up = line_above(c, at);
        at->resolved = true;
        at->above = found;
        if (steps-- == 0)
            break;
    }
    return found;
}

static size_t parent_of(vls_claude *c, const vls_claude_line_of *line)
{
    vls_claude_line_of *up = find_line(c, line->parent);
    const vls_claude_line_of *boundary;

    if (!up || up == line)
        return VLS_NO_TURN;
    if (up->kept_by > 0) {
        boundary = &c->lines.ptr[up->kept_by - 1];
        if (boundary < line && boundary->summary != VLS_NO_TURN && boundary->talk == line->talk)
            return boundary->summary;
    }
    return turn_of(c, up, line->talk);
}

static void link_turns(vls_claude *c, size_t t)
{
    vls_claude_talk *talk = &c->talks.ptr[t];

    for (size_t i = 0; i < talk->foreign.turns.len; i++) {
        vls_foreign_turn *turn = &talk->foreign.turns.ptr[i];
        vls_claude_line_of *line = &c->lines.ptr[talk->firsts.ptr[i]], *up;
        turn->parent = parent_of(c, line);
        if (turn->parent == i)
            turn->parent = VLS_NO_TURN;
        if (!line->is_summary)
            continue;
        up = find_line(c, line->parent);
        turn->covers_to = turn->parent;
        if (up && up->first_kept)
            turn->covers_to = parent_of(c, up->first_kept);
    }
}

/* ---- results side by side ---- */

static bool is_result_of(const vls_foreign_turn *turn, vls_json call)
{
    vls_json id = vls_member_of(call, "callId");

    for (uint32_t i = 0; id.type == VLS_JSON_STRING && i < turn->blocks.len; i++)
        if (vls_json_equal(vls_member_of(turn->blocks.items[i], "callId"), id))
            return true;
    return false;
}

static bool share_calls(const vls_foreign_turn *a, const vls_foreign_turn *b)
{
    for (uint32_t i = 0; i < a->blocks.len; i++)
        if (is_result_of(b, a->blocks.items[i]))
            return true;
    return false;
}

/* Results that are children of the same calls, one behind the other; what went on from one of them
 * when the others were there goes on from the last. */
static int chain_results(vls_claude *c, vls_foreign *f, valise_error *err)
{
    size_t *last = vls_arena_array(c->r->arena, f->turns.len + 1, 2 * sizeof(*last));
    size_t *next;

    if (!last)
        return vls_arena_fail(c->r->arena, err);
    next = last + f->turns.len;
    for (size_t i = 0; i < 2 * f->turns.len; i++)
        last[i] = VLS_NO_TURN;
    for (size_t i = 0; i < f->turns.len; i++) {
        vls_foreign_turn *turn = &f->turns.ptr[i];
        size_t up = turn->parent;
        if (up == VLS_NO_TURN || up >= i)
            continue;
        if (turn->role == VLS_TURN_TOOL && f->turns.ptr[up].role == VLS_TURN_ASSISTANT) {
            if (last[up] != VLS_NO_TURN && !share_calls(turn, &f->turns.ptr[last[up]])) {
                turn->parent = last[up];
                next[last[up]] = i;
            }
            last[up] = i;
        } else {
            while (next[turn->parent] != VLS_NO_TURN && next[turn->parent] < i)
                turn->parent = next[turn->parent];
        }
    }
    return 0;
}

/* ---- all of it ---- */

/* The leaf that was written last. */
static int find_head(vls_claude *c, vls_claude_talk *talk, valise_error *err)
{
    vls_foreign *f = &talk->foreign;
    bool *parent = vls_arena_zalloc(c->r->arena, f->turns.len + 1);

    if (!parent)
        return vls_arena_fail(c->r->arena, err);
    for (size_t i = 0; i < f->turns.len; i++)
        if (f->turns.ptr[i].parent != VLS_NO_TURN)
            parent[f->turns.ptr[i].parent] = true;
    for (size_t i = 0; i < f->turns.len; i++)
        if (!parent[i] && (f->head == VLS_NO_TURN || talk->lasts.ptr[i] > talk->lasts.ptr[f->head]))
            f->head = i;
    if (f->head == VLS_NO_TURN && f->turns.len > 0)
        f->head = f->turns.len - 1;
    return 0;
}

static int name_turns(vls_claude *c, vls_claude_talk *talk, valise_error *err)
{
    vls_foreign *f = &talk->foreign;
    int rc = 0;

    vls_foreign_id(&f->id, FORMAT, f->name, (valise_str){NULL, 0});
    for (size_t i = 0; rc == 0 && i < f->turns.len; i++) {
        vls_foreign_turn *turn = &f->turns.ptr[i];
        vls_foreign_id(&turn->id, FORMAT, f->name, c->lines.ptr[talk->firsts.ptr[i]].uuid);
        rc = vls_claude_join(turn, c->r, err);
        if (f->created == VALISE_NONE || (turn->time != VALISE_NONE && turn->time < f->created))
            f->created = turn->time;
    }
    return rc;
}

/* Of all conversations, when their turns have names. */
static void name_parts(vls_claude *c)
{
    for (size_t i = 0; i < c->lines.len; i++) {
        const vls_claude_line_of *line = &c->lines.ptr[i];
        vls_foreign *f = &c->talks.ptr[line->talk].foreign;
        if (line->part > 0)
            vls_foreign_id(&f->turns.ptr[line->turn].parts.ptr[line->part].id, FORMAT, f->name,
                           line->uuid);
    }
}

static int name_talk(vls_claude *c, vls_claude_talk *talk, valise_error *err)
{
    valise_str session = c->session.ptr ? c->session : VLS_STR("");
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, c->r->arena, UINT32_MAX);
    talk->foreign.name = session;
    talk->foreign.label = c->label;
    if (!talk->key.ptr)
        return 0;
    vls_buf_add(&text, session);
    vls_buf_add_byte(&text, '/');
    vls_buf_add(&text, talk->key);
    rc = vls_buf_keep(&talk->foreign.name, &text, err);
    if (rc == 0)
        vls_foreign_id(&talk->foreign.forked_from, FORMAT, session, (valise_str){NULL, 0});
    vls_buf_add(&text, c->label.len > 0 ? c->label : VLS_STR("session"));
    vls_buf_add_text(&text, ", agent ");
    vls_buf_add(&text, talk->key);
    return rc < 0 ? rc : vls_buf_keep(&talk->foreign.label, &text, err);
}

/* A session that was gone on with has lines of the old one again; others with its uuid are told. */
static int pass_again(vls_claude *c, const vls_claude_line_of *line,
                      const vls_claude_line_of *there, valise_error *err)
{
    if (vls_str_equal(line->text, there->text))
        return 0;
    return vls_notes_problem(c->r->notes, line->line, line->offset, err,
                             "line %llu has the same uuid: that one was imported",
                             (unsigned long long)there->line);
}

/* What a turn has no room for goes on in another; a line that no turn has room for costs itself,
 * not the session. */
static int add_line(vls_claude *c, vls_claude_line_of *line, valise_error *err)
{
    const vls_claude_line_of *first = same_message(c, line);
    char why[sizeof(err->message)];
    int rc = VALISE_E_LIMIT;

    if (first)
        rc = vls_claude_more(&c->talks.ptr[line->talk].foreign.turns.ptr[first->turn], c->r, line,
                             err);
    if (first && rc == 0) {
        line->turn = first->turn;
        c->talks.ptr[line->talk].lasts.ptr[line->turn] = (size_t)(line - c->lines.ptr);
    }
    if (rc == VALISE_E_LIMIT) {
        vls_error_clear(err);
        rc = add_turn(c, line, err);
    }
    if (rc != VALISE_E_LIMIT)
        return rc;
    (void)snprintf(why, sizeof(why), "%s", err->message);
    vls_error_clear(err);
    return vls_notes_problem(c->r->notes, line->line, line->offset, err, "%s", why);
}

static int place_line(vls_claude *c, vls_claude_line_of *line, valise_error *err)
{
    const vls_claude_line_of *there;
    int rc = choose_talk(c, line, err);

    if (rc < 0)
        return rc;
    line->summary = VLS_NO_TURN;
    there = find_line(c, line->uuid);
    if (there)
        return pass_again(c, line, there, err);
    if (vls_map_put(NULL, &c->by_uuid, vls_str_hash(line->uuid, c->seed), &line->uuid, line) < 0)
        return vls_fail_memory(err);
    if (line->kind == VLS_LINE_BOUNDARY)
        mark_kept(c, line, (size_t)(line - c->lines.ptr));
    if (line->kind == VLS_LINE_OTHER || line->kind == VLS_LINE_BOUNDARY)
        return 0;
    rc = add_line(c, line, err);
    if (rc == 0 && line->is_summary && line->turn != VLS_NO_TURN) {
        vls_claude_line_of *up = find_line(c, line->parent);
        if (up && up->kind == VLS_LINE_BOUNDARY)
            up->summary = line->turn;
    }
    return rc;
}

static int finish(vls_claude *c, valise_error *err)
{
    int rc = add_talk(c, (valise_str){NULL, 0}, err);

    for (size_t i = 0; rc == 0 && i < c->lines.len; i++)
        rc = place_line(c, &c->lines.ptr[i], err);
    for (size_t i = 0; rc == 0 && i < c->talks.len; i++) {
        vls_claude_talk *talk = &c->talks.ptr[i];
        link_turns(c, i);
        rc = chain_results(c, &talk->foreign, err);
        if (rc == 0)
            rc = find_head(c, talk, err);
        if (rc == 0)
            rc = name_talk(c, talk, err);
        if (rc == 0)
            rc = name_turns(c, talk, err);
    }
    if (rc == 0)
        name_parts(c);
    return rc;
}

int vls_claude_finish(vls_foreign **out, size_t *count, vls_claude *c, valise_error *err)
{
    vls_foreign *all;
    size_t n = 0;
    int rc;

    vls_map_init(&c->by_uuid, c->r->env, has_uuid);
    vls_map_init(&c->by_message, c->r->env, has_message);
    vls_map_init(&c->by_agent, c->r->env, has_agent);
    rc = finish(c, err);
    vls_map_release(&c->by_uuid);
    vls_map_release(&c->by_message);
    vls_map_release(&c->by_agent);
    if (rc < 0)
        return rc;
    all = vls_arena_array(c->r->arena, c->talks.len + 1, sizeof(*all));
    if (!all)
        return vls_arena_fail(c->r->arena, err);
    for (size_t i = 0; i < c->talks.len; i++)
        if (c->talks.ptr[i].foreign.turns.len > 0)
            all[n++] = c->talks.ptr[i].foreign;
    *out = all;
    *count = n;
    return 0;
}
