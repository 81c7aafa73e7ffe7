/* rows.c -- the tables of prompts. */
#include "prompt/rows.h"

#include <stddef.h>

#include "base/hash.h"
#include "bus/bus.h"
#include "chat/rows.h"
#include "store/validate.h"

static const valise_field prompt_fields[] = {
    VALISE_FIELD(vls_prompt_row, id, ID, VALISE_REQUIRED | VALISE_KEY, "Id of its manifest."),
    VALISE_FIELD_WITH(vls_prompt_row, session, UUID, VALISE_LOOSE, "The session it was made of.",
                      .ref = "session"),
    VALISE_FIELD_WITH(vls_prompt_row, head, STR, VALISE_NULLABLE, "The turn it ends with.",
                      .max = VALISE_TURN_REF_TEXT),
    VALISE_FIELD_WITH(vls_prompt_row, adapter, STR, 0, "For which provider.",
                      .max = VLS_ADAPTER_NAME_MAX),
    VALISE_FIELD_WITH(vls_prompt_row, model, STR, VALISE_NULLABLE, "For which model.",
                      .max = VLS_MODEL_MAX),
    VALISE_FIELD(vls_prompt_row, time, TIME, 0, "The time of the build."),
    VALISE_FIELD(vls_prompt_row, seq, INT, 0, "The state it was made of."),
    VALISE_FIELD(vls_prompt_row, recorded, INT, 0, "The command that recorded it."),
    VALISE_FIELD(vls_prompt_row, tokens, INT, 0, "Its tokens, estimated."),
    VALISE_FIELD_WITH(vls_prompt_row, actor, STR, 0, "Who built it.", .max = VLS_ACTOR_MAX),
    VALISE_FIELD(vls_prompt_row, neutral, ID, 0, "Hash of the neutral prompt."),
    VALISE_FIELD(vls_prompt_row, wire, ID, 0, "Hash of the request."),
    VALISE_FIELD_WITH(vls_prompt_row, manifest, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "How it came to be.", .ref = "object"),
    VALISE_FIELD_END,
};

static const char *const by_session[] = {"session", "recorded", NULL};
static const char *const by_recorded[] = {"recorded", NULL};
static const valise_coll_index prompt_indexes[] = {
    {"session", by_session}, {"recorded", by_recorded}, {NULL, NULL}};

static int check_prompt(valise_check *check, valise_view *view, const void *row, valise_error *err)
{
    const vls_prompt_row *prompt = row;

    (void)view;
    if (vls_id_is_none(&prompt->manifest) || vls_id_equal(&prompt->manifest, &prompt->id))
        return 0;
    return valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                "its manifest does not match its key");
}

const valise_coll vls_prompts = {.size = sizeof(valise_coll),
                                 .name = "prompt",
                                 .help = "A prompt that was made.",
                                 .fields = prompt_fields,
                                 .row_size = sizeof(vls_prompt_row),
                                 .indexes = prompt_indexes,
                                 .check = check_prompt,
                                 .needs = "prompt:read",
                                 .leads = vls_prompt_leads};

static const valise_field hold_fields[] = {
    VALISE_FIELD_WITH(vls_prompt_hold_row, object, ID, VALISE_REQUIRED | VALISE_KEY,
                      "What prompts were made with.", .ref = "object"),
    VALISE_FIELD(vls_prompt_hold_row, source, ID, VALISE_REQUIRED | VALISE_KEY, "Whose it was."),
    VALISE_FIELD_END,
};

static const char *const by_source[] = {"source", NULL};
static const valise_coll_index hold_indexes[] = {{"source", by_source}, {NULL, NULL}};

const valise_coll vls_prompt_holds = {.size = sizeof(valise_coll),
                                      .name = "prompt_hold",
                                      .help = "An object that prompts were made with.",
                                      .fields = hold_fields,
                                      .row_size = sizeof(vls_prompt_hold_row),
                                      .flags = VALISE_COLL_WITNESS,
                                      .indexes = hold_indexes,
                                      .needs = "prompt:read"};
