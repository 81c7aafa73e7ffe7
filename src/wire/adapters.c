/* adapters.c -- which adapters there are: one line each, in the order in which they are listed. */
#include "wire/adapter.h"

const vls_adapter *const vls_adapters[] = {
    &vls_adapter_openai,    &vls_adapter_responses, &vls_adapter_mistral, &vls_adapter_compatible,
    &vls_adapter_anthropic, &vls_adapter_gemini,    &vls_adapter_bedrock, NULL,
};
