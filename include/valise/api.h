/* valise/api.h -- version, visibility and C++ guards. Every other header starts here. */
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
#else
#define VALISE_BEGIN
#define VALISE_END
#endif

VALISE_BEGIN

/* The version of the library that is linked, "major.minor.patch". It may differ from
 * VALISE_VERSION, the version of the headers that were compiled against. */
VALISE_API const char *valise_version(void);

VALISE_END

#endif
