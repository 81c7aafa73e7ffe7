/* vault.h -- an extension for tests: entries with contents of every kind, to be erased. */
#ifndef TEST_VAULT_H
#define TEST_VAULT_H

#include <valise/sys/extension.h>

/* vault:put {name, label, body, meta}; vault:tell, the same, which answers with the
 * label; vault:judge, which keeps only that; vault:remove {name}; vault:get {name}. */
extern const valise_extension vault_extension;

/* folder:put {name, pages, scan}: a list of texts, and the id of a blob. */
extern const valise_extension folder_extension;

#endif
