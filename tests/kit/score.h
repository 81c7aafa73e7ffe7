/* score.h -- an extension for tests: rows that meet, arrive, and let go when they are erased.
 *
 * score:put {name, points, word, rival}; score:list. Where two meet, the greater points hold, and
 * `met` tells what was seen of the rival then. A rival that is neither here nor in the bundle
 * refuses it. `validate` has something against -999 points. Erasing a score takes its row of
 * score.mark, which every score has. */
#ifndef TEST_SCORE_H
#define TEST_SCORE_H

#include <valise/sys/extension.h>

extern const valise_extension score_extension;

#endif
