/* index.h -- memory indexes of sessions and of topics. [W16]
 *
 *     sessions   ID                   -> {id, label, role, topics, head, ...}
 *     topics     TOPIC/KIND/HOLDER    -> {topic, kind, of}
 *
 * KIND is session, role, preference or context. In TOPIC '%', '/' and control bytes are written as
 * %XX, so that the keys of one topic are those that begin with TOPIC/.
 *
 * Threads: immutable tables, pure functions. */
#ifndef VLS_CHAT_INDEX_H
#define VLS_CHAT_INDEX_H

#include <valise/sys/extension.h>

#include "base/buf.h"

extern const valise_indexer *const vls_chat_indexers[]; /* NULL-ended */

#define VLS_TOPIC_INDEX "topics"

enum {
    VLS_TOPIC_SESSION,
    VLS_TOPIC_ROLE,
    VLS_TOPIC_PREFERENCE,
    VLS_TOPIC_CONTEXT,
    VLS_TOPIC_KINDS
};
extern const char *const vls_topic_kinds[]; /* NULL-ended */

/* A topic out of a key. */
void vls_topic_unescape(vls_buf *out, valise_str escaped);

#endif
