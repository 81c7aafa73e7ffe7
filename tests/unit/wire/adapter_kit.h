/* adapter_kit.h -- requests and answers of adapters, for tests of Anthropic, Gemini and Bedrock.
 *
 * Answers are written with ' for ", too (wire_kit.h). */
#ifndef ADAPTER_KIT_H
#define ADAPTER_KIT_H

#include "wire/wire_kit.h"

#define ID64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SAYS(role, blocks) "{'role':'" role "','blocks':[" blocks "]}"
#define TEXT(text) "{'type':'text','text':'" text "'}"
#define CALL(id, name, args)                                                                       \
    "{'type':'tool_use','callId':'" id "','name':'" name "','args':" args "}"
#define RESULT(id, text) "{'type':'tool_result','callId':'" id "','content':'" text "'}"
#define PROMPT(messages, more) "{'version':1,'messages':[" messages "]" more "}"

#define CHECK_PART(text, part) CHECK_MSG(strstr((text), (part)), "%s is not in %s", (part), (text))

/* A prompt as a body. *repairs may be NULL. */
const char *body_of(test *t, const vls_adapter *adapter, const char *model, const char *prompt,
                    bool no_cache, const char **repairs);

/* A whole answer: {"blocks":[...],"stop":"end","usage":[in,out,read,write,reasoning]} */
const char *answer_of(test *t, const vls_adapter *adapter, const char *response);
/* The same of a stream; cut > 0: in two pieces there, < 0: byte by byte. */
const char *stream_of(test *t, const vls_adapter *adapter, const char *sse, long cut);
/* Both are as said, whereever the stream is cut. */
void check_answer(test *t, const vls_adapter *adapter, const char *response, const char *sse,
                  const char *said);

/* Every allocation fails in turn while an answer is read. */
void check_memory(test *t, const vls_adapter *adapter, const char *response);

/* A request as a neutral prompt. */
const char *read_of(test *t, const vls_adapter *adapter, const char *body);
/* The error of a request that is none. */
void check_no_request(test *t, const vls_adapter *adapter, const char *body, const char *path);
/* The error of an answer that is none. */
void check_no_answer(test *t, const vls_adapter *adapter, int rc, const char *response,
                     const char *message);

#endif
