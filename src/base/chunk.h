/* chunk.h -- content-defined chunking: where to cut bytes so that equal parts get equal chunks.
 *
 * Whether a chunk may end at a place depends on the 64 bytes before it and on nothing else (but
 * for the limits below), so a change moves only the cuts around it:
 *
 *     before  [  chunk A  ][   B   ][     C     ][   D   ]
 *     after   [  chunk A  ][   B with a change  ][   D   ]
 *
 * A gear hash rolls over the bytes (h = 2h + gear[byte]); a chunk ends where the highest bits of
 * h are all zero. From min up to four fifths of avg two bits more must be zero than avg asks
 * for, from there on two bits fewer, which draws the sizes together around avg ("normalized
 * chunking"); at max the chunk ends in any case:
 *
 *     0            min                      4/5 avg                              max
 *     |-- skipped --|-- log2(avg)+2 bits ----|-- log2(avg)-2 bits ----------------|
 *
 * With another table or other sizes the cuts are elsewhere: old and new chunks then share nothing,
 * but stored objects still read the same.
 *
 * Threads: pure functions of immutable data. */
#ifndef VLS_CHUNK_H
#define VLS_CHUNK_H

#include "base/base.h"

#define VLS_CHUNK_MIN 256u
#define VLS_CHUNK_AVG 1024u /* on random data the average is within 10 % of it */
#define VLS_CHUNK_MAX 4096u

/* The length of the first chunk of bytes, where len is either at least VLS_CHUNK_MAX or all that
 * is left. 0 only when len is 0. A piece shorter than VLS_CHUNK_MIN is a chunk only at the very
 * end. */
size_t vls_chunk_next(const uint8_t *bytes, size_t len);

#endif
