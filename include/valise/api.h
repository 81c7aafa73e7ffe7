/* valise/api.h -- version, visibility and C++ guards. All other headers include this one.
 *
 * The following holds for all headers, which do not repeat it:
 *
 * Results. A function that can fail returns an int:
 *
 *     below 0   a code, VALISE_E_...; outputs are untouched, and the valise_error says why
 *     0         success
 *     above 0   only from functions that answer a question, and whose comments say so: 1 means
 *               found, valid, or that something arrived; 0 means no
 *
 * A function that changes something never returns 1, so `if (rc == 0)` leads from one step to the
 * next; whether there was anything to change is in an output. (The views and stores of valise/sys/
 * are the exception: they return 1 if a row was deleted.)
 *
 * Callbacks return an int as well. 0: continue. A negative code, with err filled: stop; the calling
 * function fails with that error. A positive number: stop; this is no error, and the calling
 * function returns the number. Whatever a callback receives is valid until it returns. Its err may
 * be NULL if the calling function was given none; valise_error_set takes care of that. Where these
 * rules cannot hold (an event has no caller who could fail), the header says so.
 *
 * Parameters come in this order: outputs, the handle, inputs, options, a callback and its arg, the
 * call, err. err may be NULL, and so may options, the call, and any output whose comment says so.
 * Structs that a program makes, and that may grow, begin with their size, which NAME_INIT sets.
 * Structs that the library lends (results, and what callbacks get) have none: copy their members,
 * not the whole.
 *
 * Ownership. What a function hands out through ** belongs to the caller, who releases it with the
 * function of its type; all of these functions accept NULL. Pointers that are returned, or that are
 * members of a struct, are borrowed from the handle or the struct they come from. Arguments are
 * borrowed for the duration of the call, unless the header says that they must live longer.
 *
 * Texts are UTF-8. A const char * ends in NUL, a valise_str need not. Points in time are
 * nanoseconds since 1970-01-01 UTC; spans of time are nanoseconds too, and their names end in _ns.
 * Sizes are in bytes.
 *
 * Threads. A type is *shared* (any thread may use it at any time), *immutable* (likewise, since
 * nothing changes it) or *single* (one thread at a time). Each header says which. */
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
 * VALISE_VERSION, the version of the headers that the program was compiled with. */
VALISE_API const char *valise_version(void);

VALISE_END

#endif
