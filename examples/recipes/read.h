/* read.h -- as much of reading JSON as the recipes need, without any memory.
 *
 * What the engine hands out is canonical JSON: valid, without blanks, member names plain. So a
 * value ends where its brackets and quotes are closed, and a text can be carried elsewhere as it
 * stands, with its escapes.
 *
 * Threads: pure functions. */
#ifndef RECIPES_READ_H
#define RECIPES_READ_H

#include <stdbool.h>
#include <string.h>

#include <valise/str.h>

/* Bytes of the character at text[0]: two and more for an escape. */
static inline size_t character_len(valise_str text)
{
    size_t len = text.ptr[0] != '\\' ? 1 : text.len > 1 && text.ptr[1] == 'u' ? 6 : 2;

    return len < text.len ? len : text.len;
}

static inline size_t string_len(valise_str json)
{
    size_t at = 1;

    while (at < json.len && json.ptr[at] != '"')
        at += character_len((valise_str){json.ptr + at, json.len - at});
    return at < json.len ? at + 1 : json.len;
}

/* Up to the comma or bracket behind the first value. */
static inline size_t value_len(valise_str json)
{
    size_t at = 0, open = 0;

    while (at < json.len) {
        char c = json.ptr[at];
        if (open == 0 && (c == ',' || c == ']' || c == '}' || c == ':'))
            break;
        open += c == '{' || c == '[';
        open -= c == '}' || c == ']';
        at += c == '"' ? string_len((valise_str){json.ptr + at, json.len - at}) : 1;
    }
    return at;
}

/* The next value of what stands between brackets; false at the end. At first rest is all of the
 * object or array. Members of objects are two values each: name and value. */
static inline bool next_value(valise_str *value, valise_str *rest)
{
    if (rest->len < 2 || rest->ptr[0] == '}' || rest->ptr[0] == ']')
        return false;
    rest->ptr++, rest->len--; /* the bracket, comma or colon in front */
    *value = (valise_str){rest->ptr, value_len(*rest)};
    rest->ptr += value->len, rest->len -= value->len;
    return value->len > 0;
}

static inline bool is_text(valise_str json, const char *text)
{
    size_t len = strlen(text);

    return json.len == len + 2 && json.ptr[0] == '"' && memcmp(json.ptr + 1, text, len) == 0;
}

/* The value of a member; false when there is none. */
static inline bool find_member(valise_str *out, valise_str object, const char *name)
{
    valise_str key, value;

    while (next_value(&key, &object) && next_value(&value, &object)) {
        if (is_text(key, name)) {
            *out = value;
            return true;
        }
    }
    return false;
}

/* The words of the next block of text, without quotes and with escapes; false at the end. */
static inline bool next_text(valise_str *out, valise_str *blocks)
{
    valise_str block, type, text;

    while (next_value(&block, blocks)) {
        if (find_member(&type, block, "type") && is_text(type, "text") &&
            find_member(&text, block, "text") && text.len >= 2) {
            *out = (valise_str){text.ptr + 1, text.len - 2};
            return true;
        }
    }
    return false;
}

#endif
