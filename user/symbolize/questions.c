/* SPDX-License-Identifier: Apache-2.0 */
/* See questions.h. */
#include "user/symbolize/questions.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "user/symbolize/acquire.h"

#define AT_ONCE 4096 /* queries between two signs of progress */

int el_questions_init(struct el_questions *questions, struct el_parser *parser,
		      struct el_processes *processes, struct el_known *lasting)
{
	*questions = (struct el_questions){
		.parser = parser,
		.processes = processes,
		.lasting = lasting,
	};
	return el_known_init(&questions->timed);
}

void el_questions_deinit(struct el_questions *questions)
{
	el_known_deinit(&questions->timed);
	el_vec_deinit(&questions->spans);
	el_index_deinit(&questions->by_span);
	el_vec_deinit(&questions->open);
	el_index_deinit(&questions->by_open);
}

/* --- where an address lies --- */

static const struct el_mapping *mapping_at(const struct el_questions *questions, uint32_t image,
					   uint64_t addr, uint64_t time_ns)
{
	const struct el_process_mapping *row =
		el_process_mapping_at(questions->processes, image, addr, time_ns);

	return row ? &row->mapping : NULL;
}

static bool lasts(const struct el_mapping *mapping)
{
	return !el_acquire_is_jit(mapping);
}

/* The key of an answer that holds for every process that maps the same file; false without a build
 * ID. */
static bool shared_key(const struct el_mapping *mapping, uint64_t addr, enum el_pc pc,
		       struct el_known_key *ret)
{
	if (!mapping || !mapping->build_id_size)
		return false;
	*ret = (struct el_known_key){
		.addr = addr - mapping->start + mapping->offset,
		.pc = pc,
		.build_id_size = mapping->build_id_size,
	};
	memcpy(ret->build_id, mapping->build_id, mapping->build_id_size);
	return true;
}

static struct el_known_key own_key(uint32_t image, const struct el_mapping *mapping, uint64_t addr,
				   enum el_pc pc, uint64_t time_ns)
{
	return (struct el_known_key){
		.addr = addr,
		.time_ns = lasts(mapping) ? 0 : time_ns,
		.image = image,
		.mapping = mapping ? mapping->id : 0,
		.pc = pc,
	};
}

/* --- asking --- */

static bool equal_open(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_questions *questions = owner;

	return !memcmp(&questions->open.at[position].key, wanted, sizeof(struct el_known_key));
}

int el_questions_frame_at(struct el_questions *questions, uint32_t image, uint64_t addr,
			  enum el_pc pc, uint64_t time_ns)
{
	const struct el_mapping *mapping = mapping_at(questions, image, addr, time_ns);
	struct el_known_key key = own_key(image, mapping, addr, pc, time_ns), shared;
	struct el_question question = {
		.key = key,
		.image = image,
		.timed = !lasts(mapping),
		.query = {.addr = addr, .time_ns = time_ns, .mapping = key.mapping, .pc = pc},
	};
	uint64_t hash;
	int err;

	question.shared = !question.timed && shared_key(mapping, addr, pc, &shared);
	if (question.shared && el_known_find(questions->lasting, &shared) != EL_INDEX_NONE)
		return 0;
	if (el_known_find(question.timed ? &questions->timed : questions->lasting, &key) !=
	    EL_INDEX_NONE)
		return 0;
	hash = el_hash_bytes(0, &key, sizeof(key));
	if (el_index_find(&questions->by_open, hash, equal_open, questions, &key) != EL_INDEX_NONE)
		return 0;
	err = el_vec_reserve(&questions->open, questions->open.n + 1);
	if (!err)
		err = el_index_add(&questions->by_open, hash, questions->open.n);
	return err ? err : el_vec_push(&questions->open, question);
}

static bool equal_span(const void *owner, uint32_t position, const void *wanted)
{
	const struct el_questions *questions = owner;
	const struct el_span *have = &questions->spans.at[position];
	const struct el_span *want = wanted;

	return have->addr == want->addr && have->image == want->image && have->pc == want->pc;
}

static uint64_t hash_span(const struct el_span *span)
{
	return el_hash_u64(el_hash_u64(span->image, span->addr), span->pc);
}

static struct el_span *find_span(const struct el_questions *questions, uint32_t image,
				 uint64_t addr, enum el_pc pc)
{
	const struct el_span span = {.addr = addr, .image = image, .pc = pc};
	uint32_t at =
		el_index_find(&questions->by_span, hash_span(&span), equal_span, questions, &span);

	return at == EL_INDEX_NONE ? NULL : &questions->spans.at[at];
}

int el_questions_frame(struct el_questions *questions, uint32_t image, uint64_t addr, enum el_pc pc,
		       uint64_t first_ns, uint64_t last_ns)
{
	const struct el_mapping *first = mapping_at(questions, image, addr, first_ns);
	const struct el_mapping *last = mapping_at(questions, image, addr, last_ns);
	const struct el_span new = {
		.addr = addr,
		.image = image,
		.pc = pc,
		.first_ns = first_ns,
		.last_ns = last_ns,
	};
	struct el_span *span;
	int err;

	if (first == last && lasts(first))
		return el_questions_frame_at(questions, image, addr, pc, first_ns);
	span = find_span(questions, image, addr, pc);
	if (span) {
		if (first_ns < span->first_ns)
			span->first_ns = first_ns;
		if (last_ns > span->last_ns)
			span->last_ns = last_ns;
		return 0;
	}
	err = el_vec_reserve(&questions->spans, questions->spans.n + 1);
	if (!err)
		err = el_index_add(&questions->by_span, hash_span(&new), questions->spans.n);
	return err ? err : el_vec_push(&questions->spans, new);
}

static int compare_questions(const void *left, const void *right)
{
	const struct el_question *a = left, *b = right;

	if (a->image != b->image)
		return (a->image > b->image) - (a->image < b->image);
	if (a->timed != b->timed)
		return a->timed - b->timed;
	return (a->query.addr > b->query.addr) - (a->query.addr < b->query.addr);
}

/* Whether the answer says something about the file, not about this process's access to it. */
static bool of_the_file(uint16_t miss)
{
	return miss == EL_MISS_NONE || miss == EL_MISS_NO_LINE || miss == EL_MISS_NO_SYMBOL ||
	       miss == EL_MISS_NO_FUNCTION;
}

static int keep(struct el_questions *questions, const struct el_question *question,
		struct el_known *known, uint32_t location)
{
	struct el_known_key shared;

	if (question->shared && of_the_file(known->answer.locations.at[location].miss)) {
		shared_key(mapping_at(questions, question->image, question->query.addr,
				      question->query.time_ns),
			   question->query.addr, question->query.pc, &shared);
		return el_known_add(known, &shared, location);
	}
	return el_known_add(known, &question->key, location);
}

/* Questions about one image, of one kind. */
static int ask_some(struct el_questions *questions, const struct el_question *some, size_t n,
		    struct el_query *queries)
{
	struct el_known *known = some->timed ? &questions->timed : questions->lasting;
	int err;

	for (size_t i = 0; i < n; i++)
		queries[i] = some[i].query;
	known->answer.by_query.n = 0;
	err = el_parser_resolve(questions->parser, some->image, queries, n, &known->answer);
	for (size_t i = 0; !err && i < n; i++)
		err = keep(questions, &some[i], known, known->answer.by_query.at[i]);
	return err;
}

static int ask_open(struct el_questions *questions, el_questions_progress *progress, void *context)
{
	struct el_query *queries = malloc(AT_ONCE * sizeof(*queries));
	size_t all = questions->open.n, n;
	int err = queries ? 0 : -ENOMEM;

	if (all)
		qsort(questions->open.at, all, sizeof(*questions->open.at), compare_questions);
	for (size_t i = 0; !err && i < all; i += n) {
		const struct el_question *some = &questions->open.at[i];

		for (n = 1; n < AT_ONCE && i + n < all && some[n].image == some->image &&
			    some[n].timed == some->timed;
		     n++)
			;
		err = ask_some(questions, some, n, queries);
		if (progress)
			progress(context, i + n, all);
	}
	free(queries);
	questions->open.n = 0;
	el_index_clear(&questions->by_open);
	return err;
}

/* Decides which spans vary; their answers at both ends are here. */
static void compare_ends(struct el_questions *questions)
{
	for (size_t i = 0; i < questions->spans.n; i++) {
		struct el_span *span = &questions->spans.at[i];
		struct el_found_answer first, last;

		el_questions_find(questions, span->image, span->addr, span->pc, span->first_ns,
				  &first);
		el_questions_find(questions, span->image, span->addr, span->pc, span->last_ns,
				  &last);
		span->varies = first.known != last.known ||
			       !el_known_same(first.known, first.location, last.location);
	}
}

int el_questions_ask(struct el_questions *questions, el_questions_progress *progress, void *context)
{
	int err = 0;

	for (size_t i = 0; !err && i < questions->spans.n; i++) {
		const struct el_span *span = &questions->spans.at[i];

		err = el_questions_frame_at(questions, span->image, span->addr, span->pc,
					    span->first_ns);
		if (!err)
			err = el_questions_frame_at(questions, span->image, span->addr, span->pc,
						    span->last_ns);
	}
	if (!err)
		err = ask_open(questions, progress, context);
	if (!err)
		compare_ends(questions);
	return err;
}

/* --- answers --- */

bool el_questions_varies(const struct el_questions *questions, uint32_t image, uint64_t addr,
			 enum el_pc pc)
{
	const struct el_span *span = find_span(questions, image, addr, pc);

	return span && span->varies;
}

static bool find_at(const struct el_questions *questions, uint32_t image, uint64_t addr,
		    enum el_pc pc, uint64_t time_ns, struct el_found_answer *ret)
{
	const struct el_mapping *mapping = mapping_at(questions, image, addr, time_ns);
	struct el_known_key key;

	ret->mapping = mapping;
	ret->known = lasts(mapping) ? questions->lasting : &questions->timed;
	ret->location = EL_INDEX_NONE;
	if (lasts(mapping) && shared_key(mapping, addr, pc, &key))
		ret->location = el_known_find(ret->known, &key);
	if (ret->location == EL_INDEX_NONE) {
		key = own_key(image, mapping, addr, pc, time_ns);
		ret->location = el_known_find(ret->known, &key);
	}
	return ret->location != EL_INDEX_NONE;
}

void el_questions_find(const struct el_questions *questions, uint32_t image, uint64_t addr,
		       enum el_pc pc, uint64_t time_ns, struct el_found_answer *ret)
{
	const struct el_span *span;

	if (find_at(questions, image, addr, pc, time_ns, ret))
		return;
	span = find_span(questions, image, addr, pc);
	if (span && find_at(questions, image, addr, pc, span->first_ns, ret))
		return;
	ret->location = 0;
}
