/* valise/sys/test.h -- try one operation on given rows, and see what it would change.
 *
 * For testing extensions. There is no workspace, no file and no log: only a store in memory with
 * the collections of the extensions, rows that the test gives, and one command that is decided but
 * not applied. Time, ids and seq are the same on every run.
 *
 *     valise_test *t = NULL;
 *     valise_blob *json = NULL;
 *
 *     valise_test_new(&t, extensions, NULL, &err);
 *     valise_test_put(t, "counter.tally", "{\"name\":\"a\",\"value\":7}", &err);
 *     valise_test_run(&json, t, "counter:add", "{\"name\":\"a\",\"by\":2}", NULL, &err);
 *
 *     {"changes":[{"after":{"name":"a","value":9},"before":{"name":"a","value":7},
 *                  "collection":"counter.tally","key":{"name":"a"}}],
 *      "objects":[],"result":{"value":9}}
 *
 * Threads: single. */
#ifndef VALISE_SYS_TEST_H
#define VALISE_SYS_TEST_H

#include <valise/blob.h>
#include <valise/sys/extension.h>
#include <valise/workspace.h>

VALISE_BEGIN

typedef struct valise_test valise_test;

/* Make a test with the collections and operations of these extensions (NULL-ended). env may be
 * NULL. */
VALISE_API int valise_test_new(valise_test **out, const valise_extension *const *extensions,
                               const struct valise_env *env, valise_error *err);
/* Free a test; NULL is fine. */
VALISE_API void valise_test_free(valise_test *t);

/* Put a row, given as a JSON object of the members of its table. It replaces a row with the same
 * key. VALISE_E_NOT_FOUND: no extension has this collection; VALISE_E_INVALID. */
VALISE_API int valise_test_put(valise_test *t, const char *collection, const char *json,
                               valise_error *err);

/* Put an object, for rows to refer to. *out is its id. */
VALISE_API int valise_test_object(valise_id *out, valise_test *t, const char *kind,
                                  valise_str bytes, valise_error *err);

/* Decide a command, without checking access and without middleware. *out is a new blob with
 * canonical JSON: the changes in order, each with the row before and after (null: no row); the
 * objects to be added; and the result. call (may be NULL) gives actor, id, cause and expect. Fails
 * as the operation does. */
VALISE_API int valise_test_run(valise_blob **out, valise_test *t, const char *type,
                               const char *payload, const valise_call *call, valise_error *err);

VALISE_END

#endif
