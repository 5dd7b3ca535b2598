/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fetcher: a process that gets the bytes of other processes and of files,
 * and parses nothing. It answers one request at a time over a socketpair;
 * whoever asks gives each a deadline and kills the fetcher when it hangs (a
 * page of a userfaultfd holds its reader in an unkillable read, not in an
 * unkillable process).
 *
 * Refused: what is not a regular file, is too large, belongs to the wrong
 * owner, or lies behind a link that leaves the target's root.
 */
#ifndef EL_FETCHER_H
#define EL_FETCHER_H

#include "symbolizer/symbolizer.h"

#define EL_FETCH_FILE_MAX (4ull << 30)     /* bytes of an ELF file */
#define EL_FETCH_PERF_MAP_MAX (256u << 20) /* bytes of a perf map */
#define EL_FETCH_MEMORY_MAX (8u << 20)     /* bytes of one memory read */

/*
 * Body of the fetcher process: serves `socket`, a stream, until it closes.
 * Whoever forks it closes other descriptors and sets its limits and death
 * signal before. Requests out of form are answered -EINVAL.
 */
void el_fetcher_main(int socket) __attribute__((noreturn));

#define EL_FETCH_FILE_DEADLINE_MS 2000
#define EL_FETCH_MEMORY_DEADLINE_MS 1000

/*
 * The asking side, used inside the parser process: fills `ret` with functions
 * that ask over `socket`, each within its deadline; `parsing` and `now` are
 * left NULL. The client owns the socket. A call whose deadline passes answers
 * -ETIMEDOUT and renews the fetcher; without a new one, so do all calls after
 * it. An image whose memory hung a read is not read again (-ETIMEDOUT at
 * once). A fetcher that died is renewed and asked once more, then -EIO.
 */
struct el_fetcher_client;
int el_fetcher_client_new(int socket, struct el_fetcher_client **ret);
void el_fetcher_client_free(struct el_fetcher_client *client);
void el_fetcher_client_source(struct el_fetcher_client *client, struct el_source *ret);
/* Called when a deadline passed or the fetcher died: returns the socket of a new one, or -1. */
void el_fetcher_client_on_hang(struct el_fetcher_client *client, int (*renew)(void *context),
			       void *context);

struct el_fetcher_client_stats {
	uint64_t hangs;         /* deadlines that passed */
	uint64_t deaths;        /* fetchers that were gone */
	uint64_t reads_refused; /* of images that hung a read before */
};
void el_fetcher_client_stats(const struct el_fetcher_client *client,
			     struct el_fetcher_client_stats *ret);

#endif
