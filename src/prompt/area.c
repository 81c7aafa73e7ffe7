/* area.c -- the collections and operations of prompts. */
#include "prompt/area.h"

#include "prompt/rows.h"
#include "prompt/scale.h"
#include "prompt/sweep.h"

static const valise_coll *const collections[] = {&vls_prompts, &vls_prompt_holds, &vls_token_scales,
                                                 NULL};

const valise_extension vls_area_prompt = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "prompt",
    .version = VALISE_VERSION,
    .collections = collections,
    .operations = vls_ops_prompt,
    .collect = vls_prompts_collect,
};
