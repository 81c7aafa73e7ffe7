/* adapter.h -- one provider's form of requests and answers: one file, one table. [P5]
 *
 * `demands` and `media` are what the plan must obey; `write` puts a plan into JSON; `read` takes a
 * request apart again, for lint; `answer` and `event` understand what comes back. `http` is what a
 * client must know. The version counts changes of the bytes that `write` makes.
 *
 * Threads: immutable tables, pure functions. */
#ifndef VLS_ADAPTER_H
#define VLS_ADAPTER_H

#include "wire/answer.h"
#include "wire/wire.h"

/* What it demands. */
enum {
    VLS_DEMANDS_ALTERNATION = 1,      /* R2: no two neighbours of one role */
    VLS_DEMANDS_USER_FIRST = 2,       /* R2 */
    VLS_DEMANDS_USER_LAST = 4,        /* R2, R5: user or tool */
    VLS_DEMANDS_BRIDGE = 8,           /* R2: no user message right after a tool message; a tail goes
                                         into the last result instead */
    VLS_DEMANDS_RESULTS_IN_USER = 16, /* results are blocks of the next user message, first */
    VLS_DEMANDS_NO_EMPTY = 32,        /* R3 */
    VLS_DEMANDS_SYSTEM_AT_TOP = 64,   /* system turns within become text of the user */
    VLS_DEMANDS_TEXT_BESIDE = 128,    /* R8: a document never alone in its message */
    VLS_DEMANDS_PLAIN_CONTENT = 256,  /* a message is one string (small compatible servers) */
    VLS_DEMANDS_NINE = 512,           /* R9: ids of calls are nine letters or digits */
    VLS_DEMANDS_SIGNED = 1024,        /* R4: thinking only with its signature */
    VLS_DEMANDS_NO_THINKING = 2048,   /* R4: it takes none */
    VLS_DEMANDS_TOOLS = 4096,         /* R11: calls in the history need tools in the request */
    VLS_DEMANDS_NO_TEMPERATURE = 8192,  /* params that this model refuses are left out, and told */
    VLS_DEMANDS_OLD_NAMES = 16384,      /* OpenAI: "system" and "max_tokens", as before reasoning */
    VLS_DEMANDS_OBJECT_ARGS = 32768,    /* R10: arguments of calls are an object, not a text */
    VLS_DEMANDS_LETTER_FIRST = 1 << 16, /* R9: names of tools begin with a letter or _ */
    VLS_DEMANDS_SIGNED_CALLS = 1 << 17, /* R4: the first call of a message has a signature */
    VLS_DEMANDS_PLAIN_SCHEMA = 1 << 18, /* R11: no oneOf and the like at the top of a schema */
    VLS_DEMANDS_NO_STOP = 1 << 19,      /* no texts that end an answer */
    VLS_DEMANDS_ECHO = 1 << 21,         /* R4: thinking goes back beside calls (thinking.h) */
    VLS_DEMANDS_CLAUDE = 1 << 20, /* R4, R12: what Claude demands where it thinks (thinking.h) */
};

/* Where media can stand, and which. */
enum {
    VLS_MEDIA_USER = 1,
    VLS_MEDIA_ASSISTANT = 2,
    VLS_MEDIA_RESULT = 4, /* in results of tools */
    VLS_MEDIA_ERROR = 8,  /* in those that are errors */
};
typedef struct vls_media {
    uint32_t images, documents;        /* VLS_MEDIA_...; 0: it takes none */
    const char *const *image_types;    /* "image/png", NULL-ended */
    const char *const *document_types; /* that are sent as files; text is always sent as text */
    int64_t max_image, max_document;   /* bytes; 0: no limit known */
    int64_t max_images, max_documents; /* in one request; 0: no limit known */
} vls_media;

typedef struct vls_http {
    const char *base;     /* "https://api.anthropic.com"; NULL: must be configured */
    const char *path;     /* behind it; {model} stands for the model */
    const char *stream;   /* path for streams, where it is another; NULL: the same */
    const char *key_env;  /* "ANTHROPIC_API_KEY" */
    const char *key_head; /* "x-api-key: ", "Authorization: Bearer ": what stands before the key */
    const char *heads[4]; /* fixed headers, NULL-ended */
} vls_http;

/* What some models demand besides; the first pattern that fits counts. */
typedef struct vls_model_rule {
    const char *models; /* a pattern with stars (base/glob.h), "o3*"; NULL ends the list */
    uint32_t add, remove;
} vls_model_rule;

/* How to write. */
typedef struct vls_wire_write {
    bool stream;   /* ask for a stream */
    bool no_cache; /* no marks for caches */
} vls_wire_write;

struct vls_looking;

typedef struct vls_adapter {
    const char *name;   /* "openai", "openai-responses", "anthropic", ... */
    const char *vendor; /* whose opaque data and file ids: "openai", "google"; "": nobody's */
    const char *brief;  /* one line with a period */
    int64_t version;
    uint32_t demands;
    const vls_model_rule *models; /* NULL: all are alike */
    vls_media media;
    uint32_t max_stops; /* texts that end an answer; 0: no limit known */
    double max_heat;    /* the highest temperature; 0: no limit known */
    vls_http http;
    bool framed;         /* streams may come in frames.h, too */
    const void *dialect; /* where it differs from others of its family; NULL: it has none */

    /* After all other repairs; NULL: nothing. */
    int (*settle)(vls_plan *plan, valise_error *err);
    int (*write)(vls_wire *out, const vls_plan *plan, const vls_wire_write *how, valise_error *err);
    /* A request of this form as a neutral prompt (data of media is left out: the block says
     * "x-data" and how much). VALISE_E_INVALID names the place. */
    int (*read)(vls_json *out, vls_arena *arena, const struct vls_adapter *adapter,
                vls_json request, valise_error *err);
    /* What nothing but its own form has, and can have wrong: vls_look_find. NULL: nothing. */
    int (*look)(struct vls_looking *looking, vls_json request, valise_error *err);
    /* A whole response, as if it were a stream of one event. */
    int (*answer)(vls_stream *stream, vls_json response, valise_error *err);
    /* One event: its name ("" where the provider has none) and its data. */
    int (*event)(vls_stream *stream, valise_str name, vls_json data, valise_error *err);
} vls_adapter;

extern const vls_adapter vls_adapter_openai, vls_adapter_responses, vls_adapter_anthropic,
    vls_adapter_gemini, vls_adapter_bedrock, vls_adapter_mistral, vls_adapter_compatible;
extern const vls_adapter *const vls_adapters[]; /* NULL-ended */

/* Of all there are, or of a list that ends with NULL. NULL: there is none of that name. */
const vls_adapter *vls_adapter_find(valise_str name);
const vls_adapter *vls_adapter_among(const vls_adapter *const *all, valise_str name);
/* A hint: what, and the names of all. */
void vls_adapter_hint(const vls_adapter *const *all, const char *what, valise_error *err);
/* VALISE_E_NOT_FOUND names those there are. */
int vls_adapter_get(const vls_adapter **out, valise_str name, valise_error *err);

/* What it demands of this model; model may be empty. */
uint32_t vls_adapter_demands(const vls_adapter *adapter, valise_str model);

/* Extras of params (a provider's own members) may be anything but what the writer itself says:
 * "messages", "system", "tools", "model", "stream" ... VALISE_E_INVALID names the member. In the
 * order of their keys. */
int vls_wire_extras(vls_wire *wire, vls_json extras, const char *const *ours, valise_error *err);

/* ---- lint (lint.c) ---- */

/* One thing that the provider would refuse. */
typedef struct vls_wire_finding {
    const char *rule; /* "R1.2"; docs/prompt.md lists them */
    const char *what; /* a sentence */
    valise_str place; /* "messages[3].content[0]" */
    valise_str more;  /* an id, a type; "" */
    bool mended;      /* of a neutral prompt: the adapter repairs it */
} vls_wire_finding;
typedef vls_vec(vls_wire_finding) vls_findings;

/* What `look` finds in a request. The place is as printf has it. */
typedef struct vls_looking {
    vls_findings *out;
    vls_arena *arena;
} vls_looking;
int vls_look_find(vls_looking *looking, const char *rule, valise_str more, valise_error *err,
                  const char *place, ...) VALISE_PRINTF(5, 6);

/* Look at a neutral prompt (what would be repaired counts as mended), or at a request as it is. */
int vls_lint_neutral(vls_findings *out, vls_arena *arena, const vls_adapter *adapter,
                     const vls_neutral *prompt, valise_error *err);
int vls_lint_request(vls_findings *out, vls_arena *arena, const vls_adapter *adapter,
                     vls_json request, valise_error *err);

#endif
