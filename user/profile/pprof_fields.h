/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field numbers of the profile file. Below 1000: perftools.profiles of
 * google/pprof, proto/profile.proto. From 1000 on: ours, which other readers
 * skip by protobuf's rules. Strings are indexes into the string table,
 * "row" is an index into the table named, "packed" is varints one after the other.
 */
#ifndef EL_PPROF_FIELDS_H
#define EL_PPROF_FIELDS_H

enum el_pprof_profile_field {
	EL_PPROF_SAMPLE_TYPE = 1,
	EL_PPROF_SAMPLE = 2,
	EL_PPROF_MAPPING = 3,
	EL_PPROF_LOCATION = 4,
	EL_PPROF_FUNCTION = 5,
	EL_PPROF_STRING = 6,
	EL_PPROF_TIME_NANOS = 9,
	EL_PPROF_DURATION_NANOS = 10,
	EL_PPROF_PERIOD_TYPE = 11,
	EL_PPROF_PERIOD = 12,
	EL_PPROF_COMMENT = 13,
	EL_PPROF_DEFAULT_SAMPLE_TYPE = 14,

	EL_PPROF_VERSION = 1000, /* varint: EL_PPROF_OUR_VERSION; written first */
	EL_PPROF_N_STRINGS =
		1001, /* varint: strings of the model; those after them serve pprof only */
	EL_PPROF_N_CPUS = 1002,   /* varint */
	EL_PPROF_COMMAND = 1003,  /* string */
	EL_PPROF_EVENT = 1004,    /* string */
	EL_PPROF_OBJECT = 1005,   /* message, rows from 1 */
	EL_PPROF_PROCESS = 1006,  /* message, rows from 1 */
	EL_PPROF_COUNTER = 1007,  /* message, rows from 0 */
	EL_PPROF_SENTENCE = 1008, /* string: a comment of the model */
	EL_PPROF_TICKS = 1009,    /* message: struct el_profile_tick by column, see pprof_ticks.h */
	/* What the numbers of these enumerations mean, in order from 0, one string each:
	 * a later version may number them otherwise. */
	EL_PPROF_CODE_NAME = 1010,      /* enum el_code */
	EL_PPROF_MISS_NAME = 1011,      /* enum el_miss */
	EL_PPROF_STACK_END_NAME = 1012, /* enum el_stack_end */
};

#define EL_PPROF_OUR_VERSION 1

enum el_pprof_value_type_field {
	EL_PPROF_VALUE_TYPE_TYPE = 1,
	EL_PPROF_VALUE_TYPE_UNIT = 2,
};

enum el_pprof_sample_field {
	EL_PPROF_SAMPLE_LOCATION = 1, /* packed */
	EL_PPROF_SAMPLE_VALUE = 2,    /* packed */
	EL_PPROF_SAMPLE_LABEL = 3,

	EL_PPROF_SAMPLE_PROCESS = 1000,   /* row of PROCESS */
	EL_PPROF_SAMPLE_STACK_END = 1001, /* varint: enum el_stack_end */
};

enum el_pprof_label_field {
	EL_PPROF_LABEL_KEY = 1,
	EL_PPROF_LABEL_STR = 2,
	EL_PPROF_LABEL_NUM = 3,
	EL_PPROF_LABEL_NUM_UNIT = 4,
};

enum el_pprof_mapping_field {
	EL_PPROF_MAPPING_ID = 1,
	EL_PPROF_MAPPING_START = 2,
	EL_PPROF_MAPPING_LIMIT = 3,
	EL_PPROF_MAPPING_OFFSET = 4,
	EL_PPROF_MAPPING_FILE = 5,
	EL_PPROF_MAPPING_BUILD_ID = 6,
	EL_PPROF_MAPPING_HAS_FUNCTIONS = 7,
	EL_PPROF_MAPPING_HAS_FILENAMES = 8,
	EL_PPROF_MAPPING_HAS_LINE_NUMBERS = 9,
	EL_PPROF_MAPPING_HAS_INLINE_FRAMES = 10,

	EL_PPROF_MAPPING_OBJECT = 1000, /* row of OBJECT */
};

enum el_pprof_location_field {
	EL_PPROF_LOCATION_ID = 1,
	EL_PPROF_LOCATION_MAPPING = 2,
	EL_PPROF_LOCATION_ADDRESS = 3,
	EL_PPROF_LOCATION_LINE = 4,

	EL_PPROF_LOCATION_MISS = 1000,  /* varint: enum el_miss */
	EL_PPROF_LOCATION_FLAGS = 1001, /* varint: enum el_location_flags */
	EL_PPROF_LOCATION_FILLER =
		1002, /* varint: 1: stands for no location at all, for readers that need one */
};

enum el_pprof_line_field {
	EL_PPROF_LINE_FUNCTION = 1,
	EL_PPROF_LINE_LINE = 2,
	EL_PPROF_LINE_COLUMN = 3,
};

enum el_pprof_function_field {
	EL_PPROF_FUNCTION_ID = 1,
	EL_PPROF_FUNCTION_NAME = 2,
	EL_PPROF_FUNCTION_SYSTEM_NAME = 3,
	EL_PPROF_FUNCTION_FILE = 4,
	EL_PPROF_FUNCTION_START_LINE = 5,

	EL_PPROF_FUNCTION_CODE = 1000,    /* varint: enum el_code */
	EL_PPROF_FUNCTION_WRAPPER = 1001, /* varint: 1 */
};

/* --- messages of ours --- */

enum el_pprof_object_field {
	EL_PPROF_OBJECT_PATH = 1,
	EL_PPROF_OBJECT_BUILD_ID = 2,
	EL_PPROF_OBJECT_BUILT_NS = 3,
	EL_PPROF_OBJECT_CODE = 4,
	EL_PPROF_OBJECT_HAS_LINES = 5,
};

enum el_pprof_process_field {
	EL_PPROF_PROCESS_PID = 1,
	EL_PPROF_PROCESS_EXEC_ID = 2,
	EL_PPROF_PROCESS_START_NS = 3,
	EL_PPROF_PROCESS_COMM = 4,
	EL_PPROF_PROCESS_CGROUP = 5,
};

enum el_pprof_counter_field {
	EL_PPROF_COUNTER_NAME = 1,
	EL_PPROF_COUNTER_UNIT = 2,
	EL_PPROF_COUNTER_SENTENCE = 3,
	EL_PPROF_COUNTER_VALUE = 4,
};

/* One column each; what they hold, and in which order, is said in pprof_ticks.h. */
enum el_pprof_ticks_field {
	EL_PPROF_TICKS_CPU = 1,         /* packed: CPU number, number of its ticks, in turn */
	EL_PPROF_TICKS_WEIGHT_LOW = 2,  /* bytes */
	EL_PPROF_TICKS_WEIGHT_HIGH = 3, /* packed */
	EL_PPROF_TICKS_MISSED = 4,      /* packed */
	EL_PPROF_TICKS_GAP = 5,         /* packed, zigzag */
	EL_PPROF_TICKS_SAMPLE = 6,      /* packed */
	EL_PPROF_TICKS_END,
};

#endif
