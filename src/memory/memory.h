/* memory.h -- what roles, preferences and entries share: names, topics, contents, time.
 *
 * Threads: single, as the view is. */
#ifndef VLS_MEMORY_H
#define VLS_MEMORY_H

#include <valise/sys/operation.h>

#include "base/base.h"
#include "base/hash.h"
#include "memory/rows.h"

/* What completes arguments on a command line (valise_field.ref). */
#define VLS_REF_ROLE_NAME "role:list.name"
#define VLS_REF_PREFERENCE "preference:list.id"
#define VLS_REF_ENTRY "context:list.key"

#define VLS_TOPICS_FIELD(args, flags, text)                                                        \
    VALISE_FIELD_WITH(args, topics, LIST, flags, text, .more = &vls_topic_item,                    \
                      .max = VLS_TOPICS_MAX)

/* What becomes of topics: others instead, or some more and some less. */
typedef struct vls_topics_change {
    valise_list all; /* items NULL: not given */
    valise_list add, remove;
} vls_topics_change;

#define VLS_TOPICS_CHANGE_FIELDS(args, all_, add_, remove_)                                        \
    VALISE_FIELD_AS_WITH(args, all_, "topics", LIST, VALISE_NULLABLE,                              \
                         "Its topics, replacing the old ones.", .more = &vls_topic_item,           \
                         .max = VLS_TOPICS_MAX),                                                   \
        VALISE_FIELD_AS_WITH(args, add_, "addTopics", LIST, 0, "Topics to add.",                   \
                             .more = &vls_topic_item, .max = VLS_TOPICS_MAX),                      \
        VALISE_FIELD_AS_WITH(args, remove_, "removeTopics", LIST, 0, "Topics to remove.",          \
                             .more = &vls_topic_item, .max = VLS_TOPICS_MAX)

/* Tidy, in memory of the view. A topic that is to go and is not there is no error; one that is to
 * go and to come is there then. VALISE_E_INVALID for both ways at once, and for too many. */
int vls_topics_apply(valise_list *topics, valise_view *view, const vls_topics_change *change,
                     valise_error *err);

/* A name or key people type: no control characters, no blanks at its ends. what: "the name of a
 * role". VALISE_E_INVALID. */
int vls_memory_check_name(valise_str name, const char *what, valise_error *err);

/* Both are tidy. */
bool vls_topics_equal(valise_list a, valise_list b);
bool vls_topics_have(valise_list topics, valise_str topic);

/* Was it given? */
static inline bool vls_content_given(const valise_content *content)
{
    return content->size != VALISE_NONE;
}

/* For a row: its object, or none. */
static inline valise_id vls_content_id(const valise_content *content)
{
    return vls_content_given(content) ? content->id : (valise_id){{0}};
}

/* Of two copies of a row: what was erased in one of them is no difference. */
static inline bool vls_memory_same_or_erased(const valise_id *a, const valise_id *b)
{
    return memcmp(a, b, sizeof(*a)) == 0 || vls_id_is_none(a) || vls_id_is_none(b);
}

/* The beginning of a text as one line, in memory of the view: for lists. */
#define VLS_MEMORY_BRIEF_MAX 200u /* bytes of it that are looked at */
int vls_memory_brief(valise_str *out, valise_view *view, valise_str text, valise_error *err);

/* What an object says, in memory of the view; ptr NULL where there is none or it was erased. */
int vls_memory_text(valise_str *out, valise_view *view, const valise_id *id, valise_error *err);

/* Against which expiry is held: when the command was given; when the query was asked, or of a query
 * about the past when the state was that it sees. */
int vls_memory_now(int64_t *out, valise_view *view, valise_error *err);

/* "3", or "null": what `expect` is compared with. version 0: there is none. */
int vls_memory_current(valise_str *json, valise_view *view, int64_t version, valise_error *err);

/* Who wrote an entry of the log, and when; none where it has expired. */
int vls_memory_who(valise_str *actor, int64_t *time, valise_view *view, int64_t seq,
                   valise_error *err);

#endif
