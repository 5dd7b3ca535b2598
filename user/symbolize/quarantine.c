/* SPDX-License-Identifier: Apache-2.0 */
/* See quarantine.h. The list is short and asked once per input, so it is searched linearly. */
#include "user/symbolize/quarantine.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define REFUSED_MAX 500

struct el_parsing_page {
	_Atomic uint64_t identity; /* being parsed, 0: none */
	_Atomic uint64_t steps;
	_Atomic uint64_t n_refused;
	_Atomic uint64_t refused[REFUSED_MAX];
};

_Static_assert(sizeof(struct el_parsing_page) <= 4096, "one page is enough");

int el_quarantine_init(struct el_quarantine *quarantine)
{
	void *page = mmap(NULL, sizeof(struct el_parsing_page), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return -errno;
	*quarantine = (struct el_quarantine){.page = page};
	return 0;
}

void el_quarantine_deinit(struct el_quarantine *quarantine)
{
	if (quarantine->page)
		munmap(quarantine->page, sizeof(*quarantine->page));
	el_vec_deinit(&quarantine->refused);
	quarantine->page = NULL;
}

void el_parsing_progress(struct el_parsing_page *page)
{
	atomic_fetch_add(&page->steps, 1);
}

bool el_parsing_begin(struct el_parsing_page *page, uint64_t identity)
{
	uint64_t n = atomic_load(&page->n_refused);

	el_parsing_progress(page);
	for (uint64_t i = 0; identity && i < n && i < REFUSED_MAX; i++) {
		if (atomic_load(&page->refused[i]) == identity)
			return true;
	}
	atomic_store(&page->identity, identity);
	return false;
}

uint64_t el_quarantine_steps(const struct el_quarantine *quarantine)
{
	return atomic_load(&quarantine->page->steps);
}

static void publish(struct el_quarantine *quarantine)
{
	for (size_t i = 0; i < quarantine->refused.n; i++)
		atomic_store(&quarantine->page->refused[i], quarantine->refused.at[i]);
	atomic_store(&quarantine->page->n_refused, quarantine->refused.n);
}

bool el_quarantine_on_death(struct el_quarantine *quarantine, bool guilty)
{
	uint64_t identity = atomic_exchange(&quarantine->page->identity, 0);
	bool added = false;

	if (identity && !guilty && quarantine->suspect != identity) {
		quarantine->suspect = identity;
	} else if (identity) {
		if (quarantine->refused.n < REFUSED_MAX)
			added = !el_vec_push(&quarantine->refused, identity);
		else
			quarantine->refused.at[quarantine->n_refused_ever % REFUSED_MAX] = identity;
		added |= quarantine->refused.n == REFUSED_MAX;
		quarantine->n_refused_ever += added;
		quarantine->suspect = 0;
	}
	/* Also after a death without a culprit: the old parser may have written over the list. */
	publish(quarantine);
	return added;
}
