/* api.c -- the C functions of valise/prompt.h. */
#include <valise/prompt.h>

#include "base/sized.h"
#include "bus/held.h"
#include "json/json.h"
#include "prompt/ops.h"

typedef struct held {
    valise_prompt prompt; /* first: what the caller has */
    vls_held own;
} held;

void valise_prompt_free(valise_prompt *prompt)
{
    held *h = (held *)prompt;

    if (h)
        vls_held_free(h, &h->own);
}

static void vls_auto_held(held **h)
{
    valise_prompt_free((valise_prompt *)*h);
}

/* Fields of JSON take canonical text. */
static int take_json(valise_str *out, vls_arena *arena, const char *text, valise_error *err)
{
    vls_json value = vls_json_null();
    vls_buf canonical;
    int rc;

    if (!text)
        return 0;
    rc = vls_json_parse(&value, arena, valise_str_of(text), NULL, err);
    vls_buf_init_in(&canonical, arena, VLS_JSON_MAX_BYTES);
    if (rc == 0)
        rc = vls_json_write(&canonical, value, err);
    return rc < 0 ? rc : vls_buf_keep(out, &canonical, err);
}

static int take_options(vls_prompt_build_args *args, vls_arena *arena,
                        const valise_prompt_options *options, valise_error *err)
{
    valise_prompt_options o = VALISE_PROMPT_OPTIONS_INIT;
    int rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_prompt_options, model),
                            "valise_prompt_options", err);

    if (rc < 0)
        return rc;
    args->of.turn = valise_str_of(o.turn);
    args->of.model = valise_str_of(o.model);
    args->of.window = o.window > 0 ? o.window : VALISE_NONE;
    args->of.stream = o.stream;
    args->no_record = o.no_record;
    rc = take_json(&args->of.tools, arena, o.tools, err);
    return rc < 0 ? rc : take_json(&args->of.params, arena, o.params, err);
}

int valise_prompt_build(valise_prompt **out, valise *v, const char *session, const char *provider,
                        const valise_prompt_options *options, const valise_call *call,
                        valise_error *err)
{
    VLS_AUTO(held) held *h = NULL;
    vls_prompt_build_args args = {.neutral = true, .wire = true};
    vls_prompt_built built = {.existed = false};
    int rc;

    VLS_ARG(out && v && session && provider, err);
    h = vls_held_new(v->env, sizeof(*h), offsetof(held, own));
    if (!h)
        return vls_fail_memory(err);
    args.of.session = valise_str_of(session);
    args.of.provider = valise_str_of(provider);
    args.of.time = args.of.inline_max = args.of.reserve = VALISE_NONE;
    args.of.context_share = args.of.tail_share = VALISE_NONE;
    rc = take_options(&args, &h->own.arena, options, err);
    if (rc == 0)
        rc =
            vls_run(v, &vls_op_prompt_prompt_build, &args, &built, &h->own.memory, call, NULL, err);
    if (rc < 0)
        return rc;
    h->prompt = (valise_prompt){.id = built.id,
                                .session = built.session,
                                .head = built.head,
                                .provider = built.provider,
                                .model = built.model,
                                .tokens = built.tokens,
                                .limit = built.limit,
                                .trimmed = built.trimmed,
                                .neutral = built.neutral.bytes,
                                .wire = built.wire,
                                .same = true};
    *out = &VLS_TAKE(h)->prompt;
    return 0;
}

/* ---- blame ---- */

_Static_assert((int)VALISE_SOURCE_TURN == (int)VLS_PART_TURN &&
                   (int)VALISE_SOURCE_ROLE == (int)VLS_PART_ROLE &&
                   (int)VALISE_SOURCE_PREFERENCE == (int)VLS_PART_PREFERENCE &&
                   (int)VALISE_SOURCE_ENTRY == (int)VLS_PART_ENTRY &&
                   (int)VALISE_SOURCE_FRAME == (int)VLS_PART_FRAME &&
                   (int)VALISE_SOURCE_ITEM == (int)VLS_PART_ITEM &&
                   (int)VALISE_SOURCE_GIVEN == (int)VLS_PART_GIVEN,
               "kinds of pieces are those of parts");

typedef struct telling {
    valise_prompt_piece_fn *fn;
    void *arg;
    int said; /* by fn */
} telling;

static int tell(void *arg, const void *row, valise_error *err)
{
    telling *t = arg;
    const vls_prompt_blamed *b = row;

    t->said = t->fn(t->arg,
                    &(valise_prompt_piece){.offset = b->offset,
                                           .length = b->length,
                                           .text = b->text,
                                           .cut = b->cut,
                                           .part = b->source.part,
                                           .kind = b->source.denied ? -1 : (int)b->source.kind,
                                           .name = b->source.name,
                                           .version = b->source.version,
                                           .author = b->source.author,
                                           .reason = b->source.reason,
                                           .edit = b->edit,
                                           .tokens = b->source.tokens,
                                           .denied = b->source.denied},
                    err);
    return t->said;
}

int valise_prompt_blame(valise *v, const char *prompt, valise_prompt_piece_fn *fn, void *arg,
                        const valise_call *call, valise_error *err)
{
    telling t = {.fn = fn, .arg = arg};
    const vls_run_more more = {.emit = tell, .emit_arg = &t};
    int rc;

    VLS_ARG(v && prompt && fn, err);
    rc = vls_run(v, &vls_op_prompt_prompt_blame,
                 &(vls_prompt_blame_args){.prompt = valise_str_of(prompt), .part = VALISE_NONE},
                 NULL, NULL, call, &more, err);
    return rc == 0 ? t.said : rc;
}

/* ---- */

int valise_prompt_show(valise_prompt **out, valise *v, const char *prompt, const valise_call *call,
                       valise_error *err)
{
    VLS_AUTO(held) held *h = NULL;
    vls_prompt_show_args args = {.neutral = true, .wire = true};
    vls_prompt_shown shown = {.parts = 0};
    int rc;

    VLS_ARG(out && v && prompt, err);
    h = vls_held_new(v->env, sizeof(*h), offsetof(held, own));
    if (!h)
        return vls_fail_memory(err);
    args.prompt = valise_str_of(prompt);
    rc = vls_run(v, &vls_op_prompt_prompt_show, &args, &shown, &h->own.memory, call, NULL, err);
    if (rc < 0)
        return rc;
    h->prompt = (valise_prompt){.id = shown.id,
                                .session = shown.session,
                                .head = shown.head,
                                .provider = shown.provider,
                                .model = shown.model,
                                .tokens = shown.tokens,
                                .limit = shown.limit,
                                .trimmed = shown.trimmed,
                                .neutral = shown.neutral.bytes,
                                .wire = shown.wire,
                                .same = shown.neutral_same && shown.wire_same,
                                .erased = shown.erased,
                                .denied = shown.denied};
    *out = &VLS_TAKE(h)->prompt;
    return 0;
}
