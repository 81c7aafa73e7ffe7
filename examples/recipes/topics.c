/* topics.c -- topic discovery: what users speak about becomes a topic of the session.
 *
 *     cc -shared -fPIC $(pkg-config --cflags valise) topics.c -o topics.so
 *     valise agent add topic-discovery --role writer
 *
 * A turn processor on user turns. Here a table of words decides; a model could. It adds topics to
 * each session in which the turn was said, and takes none away. */
#include "said.h"

/* What begins like the word, in any case, is about the topic. */
static const struct {
    const char *word, *topic;
} rules[] = {
    {"bill", "invoices"},  {"invoice", "invoices"}, {"parcel", "parcels"},
    {"refund", "refunds"}, {"ship", "parcels"},
};

enum { RULES = sizeof(rules) / sizeof(rules[0]) };

/* ---- finding ---- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool begins_with(valise_str text, const char *word)
{
    size_t i = 0;

    while (word[i] && i < text.len && lower(text.ptr[i]) == word[i])
        i++;
    return !word[i];
}

static void find_topics(bool found[RULES], valise_str text)
{
    bool inside = false; /* of a word */

    while (text.len > 0) {
        size_t len = character_len(text);
        char c = lower(text.ptr[0]);
        for (size_t i = 0; i < RULES && !inside; i++)
            found[i] |= begins_with(text, rules[i].word);
        inside = len == 1 && ((c >= 'a' && c <= 'z') || (c & 0x80));
        text.ptr += len, text.len -= len;
    }
}

/* ---- telling ---- */

static bool has(valise_str topics, const char *topic)
{
    valise_str one;

    while (next_value(&one, &topics)) {
        if (is_text(one, topic))
            return true;
    }
    return false;
}

/* The payload of session:update: what was found and is new. NULL: nothing is. */
static int extend(char **out, valise_job *job, const char *session, valise_str topics,
                  const bool found[RULES], valise_error *err)
{
    size_t room = (size_t)64 * (RULES + 2), used;
    bool more = false;
    void *text;
    char *at;
    int rc = valise_job_alloc(&text, job, room, err);

    if (rc < 0)
        return rc;
    at = text;
    used = (size_t)snprintf(at, room, "{\"sessionId\":\"%s\",\"addTopics\":[", session);
    for (size_t i = 0; i < RULES; i++) {
        if (!found[i] || has(topics, rules[i].topic))
            continue;
        used +=
            (size_t)snprintf(at + used, room - used, "%s\"%s\"", more ? "," : "", rules[i].topic);
        more = true;
    }
    (void)snprintf(at + used, room - used, "]}");
    *out = more ? at : NULL;
    return 0;
}

static int tell_session(valise_job *job, const char *session, const bool found[RULES],
                        valise_error *err)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_str topics = valise_str_of("[]");
    char *payload = NULL;
    valise_call call;
    int rc = valise_job_call(&call, job, err); /* one for each session, needed or not */

    if (rc == 0)
        rc = ask(&reply, job, "session:show", "sessionId", session, err);
    if (rc == 0) {
        (void)find_member(&topics, valise_blob_bytes(reply.json), "topics");
        rc = extend(&payload, job, session, topics, found, err);
    }
    if (rc == 0 && payload)
        rc =
            valise_dispatch(NULL, valise_job_workspace(job), "session:update", payload, &call, err);
    valise_reply_release(&reply);
    /* It was deleted, or has as many as it may; or this was done before, with other topics. */
    return rc == VALISE_E_NOT_FOUND || rc == VALISE_E_INVALID || rc == VALISE_E_EXISTS ? 0 : rc;
}

/* The sessions whose heads or tips lie at or below the turn. */
static int find_sessions(valise_str *out, valise_reply *reply, valise_job *job,
                         const valise_turn_row *row, valise_error *err)
{
    char wanted[VALISE_TURN_REF_TEXT];
    valise_str items, item, ref;
    int rc =
        ask(reply, job, "turn:branches", "turnId", valise_turn_ref_text(wanted, &row->ref), err);

    *out = (valise_str){"", 0};
    if (rc < 0 || !find_member(&items, valise_blob_bytes(reply->json), "items"))
        return rc == VALISE_E_NOT_FOUND ? 0 : rc;
    while (next_value(&item, &items)) {
        if (find_member(&ref, item, "ref") && is_text(ref, wanted))
            (void)find_member(out, item, "sessions");
    }
    return 0;
}

static int tell_sessions(valise_job *job, const valise_turn_row *row, const bool found[RULES],
                         valise_error *err)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_str sessions, session, id;
    char text[VALISE_UUID_TEXT];
    int rc = find_sessions(&sessions, &reply, job, row, err);

    while (rc == 0 && next_value(&session, &sessions)) {
        if (!find_member(&id, session, "id") || id.len != VALISE_UUID_TEXT + 1)
            continue;
        (void)snprintf(text, sizeof(text), "%.*s", VALISE_UUID_TEXT - 1, id.ptr + 1);
        rc = tell_session(job, text, found, err);
    }
    valise_reply_release(&reply);
    return rc;
}

static int run(void *self, valise_job *job, const valise_event *event, const void *row,
               valise_error *err)
{
    valise_reply reply = VALISE_REPLY_INIT;
    bool found[RULES] = {false};
    valise_str blocks, text;
    int rc = read_blocks(&blocks, &reply, job, row, err);

    (void)self, (void)event;
    while (rc == 0 && next_text(&text, &blocks))
        find_topics(found, text);
    valise_reply_release(&reply);
    for (size_t i = 0; rc == 0 && i < RULES; i++) {
        if (found[i])
            return tell_sessions(job, row, found, err);
    }
    return rc;
}

static const valise_processor processor = {
    .size = sizeof(valise_processor),
    .name = "topic-discovery",
    .coll = &valise_turns,
    .wants = valise_turn_is_user,
    .run = run,
};
static const valise_processor *const processors[] = {&processor, NULL};

static const valise_extension package = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "topic_discovery",
    .version = "1.0",
    .processors = processors,
};

VALISE_API const valise_extension *valise_extension_v1(void);

const valise_extension *valise_extension_v1(void)
{
    return &package;
}
