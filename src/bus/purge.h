/* purge.h -- after a commit, remove the files of blobs that the command released. [W10]
 *
 * This runs on the caller's thread, in write transactions of its own, so that no command comes
 * between the check and the removal. A file is removed if no row of any collection names its blob,
 * and if the blob was not put again since the command. The command has succeeded in any case: a
 * file that could not be removed is left to gc, and listeners are told (a live event, "blob.left").
 */
#ifndef VLS_PURGE_H
#define VLS_PURGE_H

#include "bus/request.h"

#define VLS_PURGE_STEP 64u /* files that go in one transaction */
#define VLS_PURGE_LEFT "blob.left"

/* Of a request that was committed. */
void vls_purge(valise *v, const vls_bus_request *request);

#endif
