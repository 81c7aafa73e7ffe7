/* power.h -- what a power cut leaves of a directory.
 *
 * kill -9 loses nothing that was written; a power cut loses what was not synced. With
 * fault_io_plan.record, each fsync and fdatasync below the directory is remembered: of a file
 * its content, of a directory its names. power_cut() then makes of the directory what may be
 * found after the cut:
 *
 *     POWER_LOSE_ALL    names and contents as last synced: what POSIX promises
 *     POWER_KEEP_NAMES  all names, contents as last synced, empty if never: a file system that
 *                       journals names only; punishes a rename before the fsync
 *     POWER_TEAR        all names; each 512-byte sector of a file old or new, by chance
 *
 * Not modelled: writes through mmap (SQLite's -shm needs none), O_SYNC, symbolic links, modes.
 *
 * kill_each_power_cut() in kill.h does all of this at every file call of a program. */
#ifndef POWER_H
#define POWER_H

#include "harness/test.h"

typedef enum power_loss { POWER_LOSE_ALL, POWER_KEEP_NAMES, POWER_TEAR, POWER_LOSSES } power_loss;

/* Make dir what a power cut leaves of it. It must have been recorded, by this process or by a
 * child that is dead now. */
void power_cut(const char *dir, power_loss loss, test_rng *rng);
const char *power_loss_name(power_loss loss);

/* For fault_io.c: all in dir is safe; what fd is open on is safe; a new file or directory (fd,
 * or path below fd) begins without anything safe. */
void power_begin(const char *dir);
void power_synced(int fd);
void power_created(int fd, const char *path);

#endif
