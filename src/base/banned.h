/* banned.h -- calls that do not compile in Valise.
 *
 * These are unbounded string functions, parsers that depend on the locale or guess errno, and raw
 * allocation. Memory comes from the environment (base/mem.h), so that a host can supply it and a
 * test can make it fail. base.h includes this header last, after the system headers that declare
 * these names. base/env.c is the only file that needs malloc; it defines VLS_ALLOW_MALLOC. */
#ifndef VLS_BANNED_H
#define VLS_BANNED_H

#define VLS_BANNED(name) sorry_##name##_is_banned_see_banned_h

#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef stpcpy
#undef sprintf
#undef vsprintf
#undef gets
#undef strtok
#undef atoi
#undef atol
#undef atoll
#undef atof
#undef strtod
#undef alloca
#undef rand
#undef asprintf
#define strcpy(...) VLS_BANNED(strcpy)
#define strcat(...) VLS_BANNED(strcat)
#define strncpy(...) VLS_BANNED(strncpy)
#define strncat(...) VLS_BANNED(strncat)
#define stpcpy(...) VLS_BANNED(stpcpy)
#define sprintf(...) VLS_BANNED(sprintf)
#define vsprintf(...) VLS_BANNED(vsprintf)
#define gets(...) VLS_BANNED(gets)
#define strtok(...) VLS_BANNED(strtok)
#define atoi(...) VLS_BANNED(atoi)
#define atol(...) VLS_BANNED(atol)
#define atoll(...) VLS_BANNED(atoll)
#define atof(...) VLS_BANNED(atof)
#define strtod(...) VLS_BANNED(strtod)
#define alloca(...) VLS_BANNED(alloca)
#define rand(...) VLS_BANNED(rand)
#define asprintf(...) VLS_BANNED(asprintf)

#ifndef VLS_ALLOW_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef strdup
#undef strndup
#define malloc(...) VLS_BANNED(malloc)
#define calloc(...) VLS_BANNED(calloc)
#define realloc(...) VLS_BANNED(realloc)
#define free(...) VLS_BANNED(free)
#define strdup(...) VLS_BANNED(strdup)
#define strndup(...) VLS_BANNED(strndup)
#endif

#endif
