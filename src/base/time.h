/* time.h -- the clock of a handle, times as text (RFC 3339), and durations.
 *
 * A moment is nanoseconds since 1970-01-01 UTC in an int64_t, which reaches from 1677 to 2262. Days
 * are those of the Gregorian calendar, 86,400 seconds each; leap seconds do not exist. Nothing here
 * depends on the locale or on a time zone.
 *
 * Threads: vls_clock is shared; everything else is plain values. */
#ifndef VLS_TIME_H
#define VLS_TIME_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/buf.h"

#define VLS_NS_PER_SECOND INT64_C(1000000000)

/* ---- the clock ---- */

/* The wall clock of env, made to never go back: after a jump back it stands until real time
 * has caught up. */
typedef struct vls_clock {
    const valise_env *env;
    _Atomic int64_t last_ns;
} vls_clock;

void vls_clock_init(vls_clock *clock, const valise_env *env);
int64_t vls_clock_now_ns(vls_clock *clock);

/* The tick at which a timeout is over; of the longest ones never. None, or less: it is now. */
int64_t vls_deadline_ns(const valise_env *env, int64_t timeout_ns);

/* ---- moments ---- */

/* "2024-02-29T12:30:00.000Z": always UTC, with milliseconds, or with nanoseconds where milliseconds
 * would lose something. vls_time_text_of(ns).s */
typedef struct vls_time_text {
    char s[32];
} vls_time_text;

vls_time_text vls_time_text_of(int64_t ns);

/* Read an RFC 3339 date-time, the whole of text: a fraction of up to 9 digits and an offset are
 * accepted, T and Z also in lower case. VALISE_E_INVALID names the part that is wrong and its
 * byte offset: days that do not exist, hour 24, leap seconds, and moments that are outside the
 * years 0001 to 9999 in UTC. VALISE_E_LIMIT before 1677-09-21 and after 2262-04-11. */
int vls_time_parse_ns(int64_t *out, valise_str text, valise_error *err);

/* The same of what people write: a date, or a time without a zone, is told in UTC as times are
 * printed. "2026-11-19" is its beginning, "2026-11-19 10:00" has no seconds. complete: such a text
 * as a whole one; false: it is none, and nothing to be completed. */
int vls_time_parse_said(int64_t *out, valise_str text, valise_error *err);
bool vls_time_complete(vls_time_text *out, valise_str text);

/* ---- durations (duration.c) ---- */

/* Read a whole number and a unit without a space, "90s": ns, us, ms, s, m, h, d, w.
 * VALISE_E_INVALID for anything else, VALISE_E_LIMIT over 292 years. Never negative. */
int vls_duration_parse(int64_t *out_ns, valise_str text, valise_error *err);

/* Append the duration in the largest unit that gives a whole number: 90 s is "90s", 3600 s is
 * "1h", nothing is "0s". A negative duration gets a '-'; vls_duration_parse refuses those. */
void vls_duration_write(vls_buf *out, int64_t ns);

#endif
