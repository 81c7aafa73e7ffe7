/* valise.h -- everything a host program needs. To extend Valise, include headers of valise/sys/ as
 * well. */
#ifndef VALISE_H
#define VALISE_H

#include <valise/agent.h>
#include <valise/api.h>
#include <valise/backpack.h>
#include <valise/blob.h>
#include <valise/blobs.h>
#include <valise/checkpoint.h>
#include <valise/context.h>
#include <valise/derive.h>
#include <valise/error.h>
#include <valise/event.h>
#include <valise/flow.h>
#include <valise/id.h>
#include <valise/json.h>
#include <valise/memory.h>
#include <valise/progress.h>
#include <valise/prompt.h>
#include <valise/search.h>
#include <valise/session.h>
#include <valise/str.h>
#include <valise/watch.h>
#include <valise/workspace.h>

#endif
