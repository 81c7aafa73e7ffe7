/* purge.h -- after a commit: the files of blobs that a command let go of. [W10]
 *
 * On the thread of who asked, in write transactions of its own, so that no command comes between
 * the look and the removal: a file goes when then no row of any collection names it, and when it
 * was not put again since the command. The command is through in any case: a file that could not
 * be removed is left to gc, and those who listen hear of it (a live event, "blob.left"). */
#ifndef VLS_PURGE_H
#define VLS_PURGE_H

#include "bus/request.h"

#define VLS_PURGE_STEP 64u /* files that go in one transaction */
#define VLS_PURGE_LEFT "blob.left"

/* Of a request that was committed. */
void vls_purge(valise *v, const vls_request *request);

#endif
