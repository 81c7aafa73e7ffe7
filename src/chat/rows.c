/* rows.c -- the tables of conversations, and the texts of TurnRefs. */
#include "chat/rows.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/hex.h"
#include "bus/bus.h"
#include "chat/bundle.h"
#include "chat/find.h"
#include "chat/table.h"

const char *const vls_turn_roles[] = {"user", "assistant", "system", "tool", NULL};

/* ---- sessions ---- */

static const valise_field session_fields[] = {
    VALISE_FIELD(vls_session_row, id, UUID, VALISE_REQUIRED | VALISE_KEY, "Id of the session."),
    VALISE_FIELD_WITH(vls_session_row, label, STR, VALISE_NULLABLE | VALISE_CONTENT,
                      "Its label, for people.", .max = VLS_SESSION_LABEL_MAX),
    VALISE_FIELD_WITH(vls_session_row, role, STR, VALISE_NULLABLE | VALISE_LOOSE,
                      "The role in force.", .max = VLS_ROLE_NAME_MAX, .ref = "role"),
    VALISE_FIELD_AS_WITH(vls_session_row, first_role, "firstRole", STR, VALISE_NULLABLE,
                         "The role before any transition.", .max = VLS_ROLE_NAME_MAX),
    VALISE_FIELD_WITH(vls_session_row, topics, LIST, 0, "Its topics.", .more = &vls_topic_item,
                      .max = VLS_TOPICS_MAX),
    VALISE_FIELD_AS(vls_session_row, head.id, "head", UUID, VALISE_NULLABLE, "The head."),
    VALISE_FIELD_AS(vls_session_row, head.version, "headVersion", INT, 0, "Its version; 0: none."),
    VALISE_FIELD_AS(vls_session_row, place.lane, "headLane", UUID, VALISE_NULLABLE,
                    "The lane of the head."),
    VALISE_FIELD_AS(vls_session_row, place.depth, "headDepth", INT, 0, "The depth of the head."),
    VALISE_FIELD_WITH(vls_session_row, metadata, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "Whatever else was told.", .ref = "object"),
    VALISE_FIELD_AS(vls_session_row, forked_from, "forkedFrom", UUID, VALISE_NULLABLE,
                    "The session it was forked from."),
    VALISE_FIELD_WITH(vls_session_row, source, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "What an import had besides turns.", .ref = "object"),
    VALISE_FIELD(vls_session_row, created, TIME, 0, "When it was made."),
    VALISE_FIELD(vls_session_row, updated, TIME, 0, "When it was changed last."),
    VALISE_FIELD_WITH(vls_session_row, actor, STR, 0, "Who made it.", .max = VLS_ACTOR_MAX),
    VALISE_FIELD_END,
};

static const char *const by_label[] = {"label", NULL};
static const char *const by_role[] = {"role", NULL};
static const char *const by_head[] = {"headLane", "headDepth", NULL};
static const valise_coll_index session_indexes[] = {
    {"label", by_label}, {"role", by_role}, {"head", by_head}, {NULL, NULL}};

const valise_coll vls_sessions = {.size = sizeof(valise_coll),
                                  .name = "session",
                                  .help = "A conversation: where its head is.",
                                  .fields = session_fields,
                                  .row_size = sizeof(vls_session_row),
                                  .indexes = session_indexes,
                                  .check = vls_session_check,
                                  .event = vls_session_event,
                                  .needs = "session:read",
                                  .leads = vls_session_leads,
                                  .meet = vls_session_meet,
                                  .arrive = vls_sessions_arrive,
                                  .restored = vls_sessions_restored};

static const valise_field tip_fields[] = {
    VALISE_FIELD(vls_tip_row, session, UUID, VALISE_REQUIRED | VALISE_KEY,
                 "The session."), /* no reference: tips of one that is going may outlive it */
    VALISE_FIELD_AS(vls_tip_row, turn.id, "turn", UUID, VALISE_REQUIRED | VALISE_KEY, "The turn."),
    VALISE_FIELD_AS(vls_tip_row, turn.version, "version", INT, VALISE_REQUIRED | VALISE_KEY,
                    "Its version."),
    VALISE_FIELD_AS(vls_tip_row, place.lane, "lane", UUID, VALISE_REQUIRED, "Its lane."),
    VALISE_FIELD_AS(vls_tip_row, place.depth, "depth", INT, 0, "Its depth."),
    VALISE_FIELD(vls_tip_row, time, TIME, 0, "When the head was moved away."),
    VALISE_FIELD_END,
};

static const char *const by_lane[] = {"lane", "depth", NULL};
static const valise_coll_index tip_indexes[] = {{"lane", by_lane}, {NULL, NULL}};

const valise_coll vls_tips = {.size = sizeof(valise_coll),
                              .name = "session_tip",
                              .help = "A leaf that the head of a session was moved away from.",
                              .fields = tip_fields,
                              .row_size = sizeof(vls_tip_row),
                              .indexes = tip_indexes,
                              .check = vls_tip_check,
                              .event = vls_tip_event,
                              .needs = "session:read",
                              .leads = vls_tip_leads,
                              .meet = vls_tip_meet,
                              .arrive = vls_tips_arrive,
                              .restored = vls_tips_restored};

/* ---- turns ---- */

static const valise_field turn_fields[] = {
    VALISE_FIELD_AS(vls_turn_row, ref.id, "id", UUID, VALISE_REQUIRED | VALISE_KEY, "The turn."),
    VALISE_FIELD_AS(vls_turn_row, ref.version, "version", INT, VALISE_REQUIRED | VALISE_KEY,
                    "1, 2, 3."),
    VALISE_FIELD_WITH(vls_turn_row, role, ENUM, 0, "Who speaks.", .more = vls_turn_roles),
    VALISE_FIELD_WITH(vls_turn_row, blocks, ID, VALISE_NULLABLE | VALISE_CONTENT, "What is said.",
                      .ref = "object"),
    VALISE_FIELD_AS(vls_turn_row, parent.id, "parent", UUID, VALISE_NULLABLE, "The first parent."),
    VALISE_FIELD_AS(vls_turn_row, parent.version, "parentVersion", INT, 0, "Its version; 0: none."),
    VALISE_FIELD(vls_turn_row, merges, BOOL, 0, "There are further parents, among the edges."),
    VALISE_FIELD_AS(vls_turn_row, place.lane, "lane", UUID, VALISE_REQUIRED, "Where to look."),
    VALISE_FIELD_AS(vls_turn_row, place.depth, "depth", INT, 0, "First parents up to the root."),
    VALISE_FIELD_AS(vls_turn_row, jump.id, "jump", UUID, VALISE_NULLABLE,
                    "An ancestor further up."),
    VALISE_FIELD_AS(vls_turn_row, jump.version, "jumpVersion", INT, 0, "Its version; 0: none."),
    VALISE_FIELD_AS(vls_turn_row, jump_depth, "jumpDepth", INT, 0, "Its depth."),
    VALISE_FIELD_AS(vls_turn_row, jump_gap, "jumpGap", INT, 0, "How far it jumps itself."),
    VALISE_FIELD_AS(vls_turn_row, merge.id, "merge", UUID, VALISE_NULLABLE,
                    "The nearest merge at or above."),
    VALISE_FIELD_AS(vls_turn_row, merge.version, "mergeVersion", INT, 0, "Its version; 0: none."),
    VALISE_FIELD_AS_WITH(vls_turn_row, in_force, "inForce", STR, VALISE_NULLABLE,
                         "The role of the last transition up to here.", .max = VLS_ROLE_NAME_MAX),
    VALISE_FIELD(vls_turn_row, calls, BOOL, 0, "There is a tool_use in it."),
    VALISE_FIELD(vls_turn_row, hidden, BOOL, 0, "Not shown to people, unless they ask."),
    VALISE_FIELD(vls_turn_row, noprompt, BOOL, 0, "Not shown to models."),
    VALISE_FIELD(vls_turn_row, time, TIME, 0, "When it was said."),
    VALISE_FIELD_WITH(vls_turn_row, actor, STR, 0, "Who wrote it.", .max = VLS_ACTOR_MAX),
    VALISE_FIELD_WITH(vls_turn_row, metadata, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "Whatever else was told.", .ref = "object"),
    VALISE_FIELD_WITH(vls_turn_row, source, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "The record of an import, word for word.", .ref = "object"),
    VALISE_FIELD_END,
};

static const valise_coll_index turn_indexes[] = {{"lane", by_lane}, {NULL, NULL}};

const valise_coll valise_turns = {.size = sizeof(valise_coll),
                                  .name = "turn",
                                  .help = "One version of one turn: what was said.",
                                  .fields = turn_fields,
                                  .row_size = sizeof(vls_turn_row),
                                  .flags = VALISE_COLL_IMMUTABLE,
                                  .indexes = turn_indexes,
                                  .check = vls_turn_check,
                                  .event = vls_turn_event,
                                  .needs = "session:read",
                                  .leads = vls_turn_leads,
                                  .erased = vls_turn_erased,
                                  .meet = vls_turn_meet,
                                  .arrive = vls_turns_arrive,
                                  .restored = vls_turns_restored,
                                  .named = vls_turn_named};

static bool is_said_by(const void *row, int64_t role)
{
    static const valise_id erased = {{0}};
    const vls_turn_row *turn = row;

    return turn->role == role && !vls_id_equal(&turn->blocks, &erased);
}

bool valise_turn_is_user(void *self, const void *row)
{
    (void)self;
    return is_said_by(row, VLS_TURN_USER);
}

bool valise_turn_is_assistant(void *self, const void *row)
{
    (void)self;
    return is_said_by(row, VLS_TURN_ASSISTANT);
}

bool valise_turn_is_system(void *self, const void *row)
{
    (void)self;
    return is_said_by(row, VLS_TURN_SYSTEM);
}

bool valise_turn_is_tool(void *self, const void *row)
{
    (void)self;
    return is_said_by(row, VLS_TURN_TOOL);
}

static const valise_field edge_fields[] = {
    VALISE_FIELD_AS(vls_edge_row, parent.id, "parent", UUID, VALISE_REQUIRED | VALISE_KEY,
                    "The parent."),
    VALISE_FIELD_AS(vls_edge_row, parent.version, "parentVersion", INT,
                    VALISE_REQUIRED | VALISE_KEY, "Its version."),
    VALISE_FIELD_AS(vls_edge_row, child.id, "child", UUID, VALISE_REQUIRED | VALISE_KEY,
                    "The child."),
    VALISE_FIELD_AS(vls_edge_row, child.version, "childVersion", INT, VALISE_REQUIRED | VALISE_KEY,
                    "Its version."),
    VALISE_FIELD(vls_edge_row, position, INT, 0, "Among the parents of the child."),
    VALISE_FIELD_AS(vls_edge_row, above.lane, "aboveLane", UUID, VALISE_REQUIRED,
                    "The lane of the parent."),
    VALISE_FIELD_AS(vls_edge_row, above.depth, "aboveDepth", INT, 0, "The depth of the parent."),
    VALISE_FIELD_AS(vls_edge_row, below.lane, "belowLane", UUID, VALISE_REQUIRED,
                    "The lane of the child."),
    VALISE_FIELD_AS(vls_edge_row, below.depth, "belowDepth", INT, 0, "The depth of the child."),
    VALISE_FIELD_END,
};

static const char *const by_above[] = {"aboveLane", "aboveDepth", NULL};
static const char *const by_child[] = {"child", "childVersion", "position", NULL};
static const valise_coll_index edge_indexes[] = {
    {"above", by_above}, {"child", by_child}, {NULL, NULL}};

const valise_coll vls_edges = {.size = sizeof(valise_coll),
                               .name = "turn_edge",
                               .help = "A parent that the lane does not show.",
                               .fields = edge_fields,
                               .row_size = sizeof(vls_edge_row),
                               .flags = VALISE_COLL_IMMUTABLE,
                               .indexes = edge_indexes,
                               .check = vls_edge_check,
                               .needs = "session:read",
                               .leads = vls_edge_leads,
                               .arrive = vls_edges_arrive,
                               .restored = vls_edges_restored};

static const valise_field node_fields[] = {
    VALISE_FIELD(vls_node_row, id, UUID, VALISE_REQUIRED | VALISE_KEY, "The turn."),
    VALISE_FIELD(vls_node_row, last, INT, 0, "Its last version number, of which no row is left."),
    VALISE_FIELD_END,
};

const valise_coll vls_nodes = {.size = sizeof(valise_coll),
                               .name = "turn_node",
                               .help = "A version number that must not be used again.",
                               .fields = node_fields,
                               .row_size = sizeof(vls_node_row),
                               .needs = "session:read",
                               .meet = vls_node_meet};

static const valise_field loose_fields[] = {
    VALISE_FIELD_AS(vls_loose_row, ref.id, "id", UUID, VALISE_REQUIRED | VALISE_KEY, "The turn."),
    VALISE_FIELD_AS(vls_loose_row, ref.version, "version", INT, VALISE_REQUIRED | VALISE_KEY,
                    "Its version."),
    VALISE_FIELD_END,
};

const valise_coll vls_loose = {.size = sizeof(valise_coll),
                               .name = "turn_loose",
                               .help = "A version that nobody refers to and that is still there.",
                               .fields = loose_fields,
                               .row_size = sizeof(vls_loose_row),
                               .check = vls_loose_check,
                               .needs = "session:read"};

/* ---- texts and hashes ---- */

int vls_turn_ref_compare(const void *a, const void *b)
{
    const vls_turn_ref *x = a, *y = b;
    int order = vls_uuid_compare(&x->id, &y->id);

    return order != 0 ? order : (x->version > y->version) - (x->version < y->version);
}

bool vls_turn_ref_is(const void *item, const void *key)
{
    return vls_turn_ref_equal(item, key);
}

vls_turn_ref_text vls_turn_ref_write(const vls_turn_ref *ref)
{
    vls_turn_ref_text text = {""};
    vls_uuid_string id = vls_uuid_text(&ref->id);
    vls_buf out = {.ptr = text.s, .cap = sizeof(text.s), .max = sizeof(text.s) - 1};

    vls_buf_add(&out, vls_str(id.s, sizeof(id.s) - 1));
    vls_buf_add_byte(&out, '@');
    vls_buf_add_i64(&out, ref->version);
    return text;
}

char *valise_turn_ref_text(char out[VALISE_TURN_REF_TEXT], const valise_turn_ref *ref)
{
    vls_turn_ref_text text = vls_turn_ref_write(ref);

    memcpy(out, text.s, sizeof(text.s));
    return out;
}

bool vls_turn_ref_read(vls_turn_ref *out, valise_str text)
{
    valise_str id, number;
    vls_turn_ref ref = {.version = 0};

    if (!vls_str_cut(&id, &number, text, '@') || vls_uuid_parse(&ref.id, id, NULL) < 0 ||
        !vls_str_to_i64(&ref.version, number) || ref.version < 1)
        return false;
    *out = ref;
    return true;
}

void vls_turn_hash(valise_id *out, int64_t role, const valise_id *blocks)
{
    vls_hasher hasher;

    vls_hash_begin_tagged(&hasher, "valise.turn.1");
    vls_hash_field(&hasher, valise_str_of(vls_turn_roles[role]));
    vls_hash_field_id(&hasher, blocks);
    vls_hash_end(out, &hasher);
}

void vls_covers_hash(valise_id *out, const valise_id *content, size_t count)
{
    vls_hasher hasher;
    static const valise_id erased;

    vls_hash_begin_tagged(&hasher, "valise.covers.1");
    for (size_t i = 0; i < count; i++)
        vls_hash_field_id(&hasher, vls_id_equal(&content[i], &erased) ? NULL : &content[i]);
    vls_hash_end(out, &hasher);
}
