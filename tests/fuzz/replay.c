/* replay.c -- runs a fuzz target once on every file of its corpus and reports in TAP.
 *
 * usage: replay-NAME DIRECTORY...
 *
 * A target that finds something aborts: the remark before it says on which file, and the
 * missing TAP lines fail the run. A corpus without files is a failure too. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz/fuzz.h"

static int cases, failures;

/* The whole file in a block of exactly its size, so that ASan sees a step over its end. */
static uint8_t *read_file(size_t *size, const char *path)
{
    struct stat st;
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;

    if (file && fstat(fileno(file), &st) == 0) {
        *size = (size_t)st.st_size;
        bytes = malloc(*size ? *size : 1);
        if (bytes && fread(bytes, 1, *size, file) != *size) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (file)
        fclose(file);
    return bytes;
}

static void replay_file(const char *path, const char *name)
{
    size_t size = 0;
    uint8_t *bytes;

    printf("# %s\n", path);
    fflush(stdout);
    bytes = read_file(&size, path);
    if (bytes)
        (void)LLVMFuzzerTestOneInput(bytes, size);
    else
        printf("# cannot read it: %s\n", strerror(errno));
    printf("%s %d - %s\n", bytes ? "ok" : "not ok", ++cases, name);
    failures += !bytes;
    free(bytes);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void replay_directory(const char *dir)
{
    struct dirent **entries;
    int count = scandir(dir, &entries, visible, alphasort);

    if (count < 0) {
        printf("not ok %d - read %s: %s\n", ++cases, dir, strerror(errno));
        failures++;
        return;
    }
    for (int i = 0; i < count; i++) {
        char path[4096];

        (void)snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
        replay_file(path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    puts("TAP version 13");
    for (int i = 1; i < argc; i++)
        replay_directory(argv[i]);
    if (cases == 0) {
        printf("not ok %d - the corpus has no files\n", ++cases);
        failures++;
    }
    printf("# %d inputs\n", cases);
    printf("1..%d\n", cases);
    return failures ? 1 : 0;
}
