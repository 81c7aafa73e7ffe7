/* answer.h -- what a model said: blocks, why it stopped, what it cost. [P11]
 *
 * A stream is bytes in any cut. They become server-sent events (sse.c), each of which an adapter
 * understands with the functions below. What is there at any moment is a valid answer so far: one
 * that was cut or cancelled can be kept (partial).
 *
 *     {"type":"text","text":...}
 *     {"type":"thinking","text":...,"signature"?,"redacted"?,"partial"?}
 *     {"type":"tool_use","callId":...,"name":...,"args":{...},"rawArgs"?,"partial"?}
 *
 * and in each `meta.VENDOR`: what the provider wants back. turn:add takes all of it. A call with
 * `rawArgs` must not be run: its arguments are no JSON object. `partial` says why: of a call, that
 * they were cut; of thinking, that the signature had not come yet. Ids of calls that are missing,
 * too long or there twice are replaced. Blocks in which nothing came are left out; an answer that
 * has no others is one text "". Bytes that are no UTF-8 and halves of surrogate pairs become
 * U+FFFD, but halves that two events bring one after the other are joined.
 *
 * Threads: single. */
#ifndef VLS_ANSWER_H
#define VLS_ANSWER_H

#include <valise/sys/field.h>

#include "wire/plan.h"

struct vls_adapter;

typedef struct vls_usage {
    int64_t input;       /* tokens, all of them; VALISE_NONE: not told, here and below */
    int64_t output;      /* with reasoning */
    int64_t cache_read;  /* of input */
    int64_t cache_write; /* of input */
    int64_t reasoning;   /* of output */
} vls_usage;

typedef enum vls_stop {
    VLS_STOP_NONE, /* not told */
    VLS_STOP_END,
    VLS_STOP_CALLS, /* tools are to be run */
    VLS_STOP_LIMIT, /* of tokens */
    VLS_STOP_SEQUENCE,
    VLS_STOP_REFUSED, /* by the provider or the model */
    VLS_STOP_OTHER,
} vls_stop;
extern const char *const vls_stops[]; /* "none", "end", "calls", "limit", ... NULL */

typedef struct vls_answer {
    vls_json blocks;      /* an array, as turn:add takes it; never empty */
    int64_t stop;         /* vls_stop */
    valise_str stop_text; /* in the provider's word; ptr NULL */
    valise_str model, id; /* as the provider says; ptr NULL */
    vls_usage usage;
    bool partial;        /* the stream did not come to its end */
    valise_list dropped; /* of valise_str: kinds of parts that have no block, each once */
} vls_answer;

/* A whole response. Everything lives in the arena. VALISE_E_INVALID for what is no answer of this
 * provider; VALISE_E_REMOTE for an error object of its, with its words. */
int vls_answer_read(vls_answer *out, vls_arena *arena, const struct vls_adapter *adapter,
                    valise_str body, valise_error *err);

/* Tools by the names that we gave them. plan may be NULL. */
int vls_answer_rename(vls_answer *answer, vls_arena *arena, const vls_plan *plan,
                      valise_error *err);

/* The arguments of a call as a provider wrote them, into a block: `args`, and what keeps them word
 * for word (neutral.h). Blank ones are {}. Never fails for what they are: an answer was paid for.
 */
int vls_answer_args(vls_json *block, vls_arena *arena, const char *vendor, valise_str raw,
                    valise_error *err);

/* The words of a provider that says no: {"error":{"message","type","code"}}, {"error":"..."}, or an
 * array of one of these. any: also {"message":...} and {"detail":...}, for what came with a status
 * that is an error already. What is not told is "". */
typedef struct vls_refusal {
    valise_str message, type;
    bool passing; /* it may be of use to ask again: too many requests, overloaded */
} vls_refusal;
bool vls_answer_refused(vls_refusal *out, vls_json body, bool any);

/* VALISE_E_REMOTE with these words, cut and harmless. */
int vls_answer_refuse(const vls_refusal *refusal, valise_error *err);

/* Words of others in one line of at most size bytes with its NUL: control characters become spaces,
 * what is no UTF-8 a question mark. */
void vls_answer_line(char *out, size_t size, valise_str text);

/* JSON of a provider: of two equal keys the last one counts, and what is no text becomes U+FFFD. */
int vls_answer_parse(vls_json *out, vls_arena *arena, valise_str text, valise_error *err);

/* ---- streams ---- */

/* What came: a piece of a text, of thinking, or of the arguments of a call (name says which; the
 * first one comes with the name, and its text is empty). Redacted thinking is in no piece. */
typedef struct vls_piece {
    uint8_t kind; /* VLS_SAID_TEXT, _THINKING, _CALL */
    size_t block; /* in the order in which they began */
    valise_str text;
    valise_str name; /* CALL: of the tool, in the provider's word */
} vls_piece;
typedef int vls_piece_fn(void *arg, const vls_piece *piece, valise_error *err);

typedef struct vls_stream vls_stream;

/* on_piece may be NULL. */
int vls_stream_new(vls_stream **out, const valise_env *env, const struct vls_adapter *adapter,
                   vls_piece_fn *on_piece, void *arg, valise_error *err);
void vls_stream_free(vls_stream *stream); /* NULL is fine */

static inline void vls_auto_stream(vls_stream **stream)
{
    vls_stream_free(*stream);
}

#define VLS_STREAM_MAX_BYTES ((size_t)256 << 20) /* of one answer */
#define VLS_STREAM_MAX_BLOCKS 4096u              /* as many as a turn can have */
#define VLS_STREAM_MAX_NAME 512u                 /* bytes of ids, models, names of tools */

/* VALISE_E_INVALID: it is no stream of this provider; VALISE_E_REMOTE: an error event;
 * VALISE_E_LIMIT; what on_piece returned. After a failure no more is taken, and what there is can
 * be had. What comes behind the end is passed over. */
int vls_stream_feed(vls_stream *stream, valise_str bytes, valise_error *err);

/* No more bytes will come: what stands without a line's end counts too. VALISE_E_INVALID also when
 * there were bytes and no event. */
int vls_stream_finish(vls_stream *stream, valise_error *err);

/* What there is, whether the stream has come to its end (partial says) or not. */
int vls_stream_answer(vls_answer *out, vls_arena *arena, vls_stream *stream, valise_error *err);

/* The provider said that it has ended, or why the model stopped. */
bool vls_stream_has_ended(const vls_stream *stream);

/* Something was handed out: it is too late to ask again. */
bool vls_stream_has_begun(const vls_stream *stream);

/* What failed was a refusal that may pass: overloaded, too many requests. */
bool vls_stream_is_passing(const vls_stream *stream);

/* ---- for adapters: what an event means ----
 *
 * All of these copy what they are given. Events with a member `error` and data that are [DONE]
 * (which ends the stream) are seen to before an adapter is asked. A whole response can be put
 * together with these functions too, so that both ways give the same blocks:
 *
 *     VLS_AUTO(stream) vls_stream *s = NULL;
 *     rc = vls_stream_new(&s, arena->env, &vls_adapter_x, NULL, NULL, err);
 *     ... vls_stream_block, vls_stream_text, ...
 *     vls_stream_end(s);
 *     rc = vls_stream_answer(out, arena, s, err); */

/* Begin block number `index` of the provider's count, or find it. Blocks are told apart by index
 * and kind (TEXT, THINKING, CALL). _LAST: the newest block if it is of this kind, else a new one;
 * _NEW: a new one, always. VALISE_E_LIMIT: too many. */
#define VLS_STREAM_LAST (-1)
#define VLS_STREAM_NEW (-2)
int vls_stream_block(size_t *out, vls_stream *stream, int64_t index, vls_said_kind kind,
                     valise_error *err);
/* From here on the index is a new block of this kind: some servers count all calls as number 0. */
int vls_stream_anew(size_t *out, vls_stream *stream, int64_t index, vls_said_kind kind,
                    valise_error *err);
/* The id of a call as far as it was told; "". */
valise_str vls_stream_call_id(const vls_stream *stream, size_t block);
/* Whether it was begun. */
bool vls_stream_find(size_t *out, const vls_stream *stream, int64_t index, vls_said_kind kind);
/* The newest block is of this kind, and has nothing in meta: more text can be added to it. */
bool vls_stream_goes_on(const vls_stream *stream, vls_said_kind kind);
int vls_stream_text(vls_stream *stream, size_t block, valise_str more, valise_error *err);
/* Both at once: more text for the block of this index and kind. */
int vls_stream_say(vls_stream *stream, int64_t index, vls_said_kind kind, valise_str more,
                   valise_error *err);
/* What is empty says nothing; what was said first counts. */
int vls_stream_call(vls_stream *stream, size_t block, valise_str id, valise_str name,
                    valise_error *err);
int vls_stream_args(vls_stream *stream, size_t block, valise_str more, valise_error *err);
/* Arguments that are a value and no text: all of them. What was there is replaced. null: they were
 * not told. */
int vls_stream_args_value(vls_stream *stream, size_t block, vls_json args, valise_error *err);
/* Bytes of text or arguments so far: an event that repeats all of it is of use if this is 0. */
size_t vls_stream_length(const vls_stream *stream, size_t block);
/* A member of meta.VENDOR, all of it; one of its name is replaced. Adapters without a vendor keep
 * none. What is nested too deep to be kept is told as dropped. */
int vls_stream_meta(vls_stream *stream, size_t block, const char *key, vls_json value,
                    valise_error *err);
/* More of the signature. */
int vls_stream_sign(vls_stream *stream, size_t block, valise_str more, valise_error *err);
void vls_stream_redact(vls_stream *stream, size_t block); /* its text is opaque */
int vls_stream_head(vls_stream *stream, valise_str id, valise_str model, valise_error *err);
int vls_stream_stop(vls_stream *stream, vls_stop stop, valise_str text, valise_error *err);
/* Why it stopped, by the word of the provider. Its words end with NULL: what is not among them is
 * OTHER, and "" says nothing. */
typedef struct vls_stop_word {
    const char *word;
    vls_stop stop;
} vls_stop_word;
int vls_stream_stop_by(vls_stream *stream, const vls_stop_word *words, valise_str why,
                       valise_error *err);
vls_usage *vls_stream_usage(vls_stream *stream);
int vls_stream_drop(vls_stream *stream, valise_str kind, valise_error *err); /* it has no block */
/* An event that is an error: VALISE_E_REMOTE. */
int vls_stream_refuse(vls_stream *stream, const vls_refusal *refusal, valise_error *err);
/* Whether an error of this type may pass. */
bool vls_refusal_passes(valise_str type);
void vls_stream_end(vls_stream *stream); /* the provider said so */

/* ---- members of what comes ---- */

/* Whether its member "type" says so. */
bool vls_is_type(vls_json object, const char *type);
/* A number of tokens; VALISE_NONE: not told, or none. */
int64_t vls_count_of(vls_json object, const char *key);
/* The same: where it is not told, *out stays. */
void vls_count_take(int64_t *out, vls_json object, const char *key);
/* Sums of these; what is not told counts as nothing, and all of it not told is not told. */
int64_t vls_count_sum(int64_t a, int64_t b);

#endif
