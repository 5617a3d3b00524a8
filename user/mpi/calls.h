/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_MPI_CALLS_H
#define ROCESTEER_MPI_CALLS_H

/* Found by programs; all else in the library is its own. */
#define CALL	__attribute__((visibility("default")))

/* Behind MPI_Init(), however it was called. */
void calls_start(void);

/* Before MPI_Finalize(): unload groups, print counters. */
void calls_end(void);

#endif /* ROCESTEER_MPI_CALLS_H */
