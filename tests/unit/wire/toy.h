/* toy.h -- an adapter for tests: events that say what is to be done, one function each.
 *
 *     {"do":"text","at":0,"text":"..."}       {"do":"think",...} {"do":"sign","at":0,"text":...}
 *     {"do":"call","at":0,"id":...,"name":...} {"do":"args","at":0,"text":...}
 *     {"do":"value","at":0,"value":{...}} {"do":"meta","at":0,"kind":"text","key":...,"value":...}
 *     {"do":"redact","at":0}  {"do":"head","id","model"}  {"do":"stop","why":"end","text":...}
 *     {"do":"usage","input":1,"output":2}     {"do":"drop","text":...}     {"do":"end"}
 *
 * A whole response is {"events":[...]}. */
#ifndef TOY_H
#define TOY_H

#include "wire/adapter.h"

extern const vls_adapter toy, toy_of_nobody;

#endif
