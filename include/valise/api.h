/* valise/api.h -- version, visibility and C++ guards. Every other header starts here.
 *
 * What all of them have in common, and do not say again:
 *
 * Results. A function that can fail returns an int:
 *
 *     below 0   a code, VALISE_E_...; what it was to fill is as it was, and the valise_error says
 * why 0         done above 0   only from functions that ask, which say so: 1 for found, valid,
 * something came; 0 for no
 *
 * So `if (rc == 0)` leads from one step to the next. A function that changes something never
 * answers 1: whether there was something to change stands in an output. (The views and stores of
 * valise/sys/ are the exception: they say 1 where a row was deleted.)
 *
 * Callbacks return an int as well: 0 goes on; a code below 0, with err filled, stops, and is the
 * error of the function that called; a number above 0 stops too, is no error, and is what the
 * function returns. What a callback is handed is valid until it returns. Where it cannot be so (an
 * event has no caller who could fail) the header says it.
 *
 * Parameters come in this order: what is filled, the handle, what is given, options, a callback
 * with its arg, the call, err. err may be NULL, and so may options, calls, and outputs that the
 * header says nobody must want. Structs that may grow begin with their size, which NAME_INIT sets.
 *
 * Ownership. What comes through ** is the caller's, who lets go of it with the function of its
 * type; these take NULL. What is returned, or stands in a struct, is borrowed: from the handle or
 * the struct it came from. What is passed in is borrowed for the call, unless the header says that
 * it must live longer.
 *
 * Texts are UTF-8; const char * ends in NUL, a valise_str does not. Points in time are nanoseconds
 * since 1970-01-01 UTC, spans of time are nanoseconds and end in _ns. Sizes are in bytes.
 *
 * Threads. A type is *shared* (any thread, at any time), *immutable* (the same, since nothing
 * changes) or *single* (one thread at a time); each header has the word. */
#ifndef VALISE_API_H
#define VALISE_API_H

#define VALISE_VERSION_MAJOR 0
#define VALISE_VERSION_MINOR 1
#define VALISE_VERSION_PATCH 0
#define VALISE_VERSION "0.1.0"

#if defined(__GNUC__)
#define VALISE_API __attribute__((visibility("default")))
#define VALISE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define VALISE_API
#define VALISE_PRINTF(fmt, args)
#endif

#ifdef __cplusplus
#define VALISE_BEGIN extern "C" {
#define VALISE_END }
#define VALISE_CAST(type, value) static_cast<type>(value)
#else
#define VALISE_BEGIN
#define VALISE_END
#define VALISE_CAST(type, value) ((type)(value))
#endif

VALISE_BEGIN

/* The version of the library that is linked, "major.minor.patch". It may differ from
 * VALISE_VERSION, the version of the headers that were compiled against. */
VALISE_API const char *valise_version(void);

VALISE_END

#endif
