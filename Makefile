# SPDX-License-Identifier: Apache-2.0
# Everline: `make help` lists the targets. Everything generated goes under $(O).

O ?= build
ARCH ?= $(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/')
DESTDIR ?=
PREFIX ?= /usr/local

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n'
endif

CROSS_x86 := x86_64-linux-gnu-
CROSS_arm64 := aarch64-linux-gnu-
BUILD_ARCH := $(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/')
ifneq ($(ARCH),$(BUILD_ARCH))
CROSS_COMPILE ?= $(CROSS_$(ARCH))
override O := $(O)/$(ARCH)
endif
comma := ,
ifneq ($(SAN),)
override O := $(O)/san-$(subst $(comma),-,$(SAN))
endif

ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
AR := $(CROSS_COMPILE)ar
CLANG ?= clang
LLVM_STRIP ?= llvm-strip
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)

# For the targets that install first: all processors, unless -j was given.
PARALLEL = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
QUIET := $(if $(Q),-s)

VERSION := $(shell cat VERSION 2>/dev/null || echo 0)
WARNINGS := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wno-missing-field-initializers
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 -I. -I$(O) -D_GNU_SOURCE -DEL_VERSION='"$(VERSION)"' $(WARNINGS) $(WERROR) $(CFLAGS) -MMD -MP
LDFLAGS ?=
LIBS := -lbpf -lelf -lcapstone -lz -lzstd -lm
# Static: Debian ships no shared libiberty.
DEMANGLER := -liberty
ifneq ($(SAN),)
ALL_CFLAGS += -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all
LDFLAGS += -fsanitize=$(SAN)
endif

# --- what is built -----------------------------------------------------------
SYMBOLIZER_SRC := $(wildcard base/*.c symbolizer/*.c symbolizer/*/*.c)
USER_SRC := $(filter-out user/main.c,$(wildcard user/*.c user/*/*.c))
BPF_SRC := $(wildcard bpf/*.bpf.c)
EXAMPLE_SRC := $(wildcard symbolizer/example/*.c)
SYMBOLIZER_SRC := $(filter-out $(EXAMPLE_SRC),$(SYMBOLIZER_SRC))

SYMBOLIZER_OBJ := $(SYMBOLIZER_SRC:%.c=$(O)/%.o)
USER_OBJ := $(USER_SRC:%.c=$(O)/%.o)
SKELETONS := $(BPF_SRC:bpf/%.bpf.c=$(O)/bpf/%.skel.h)
SYMBOLIZER_LIB := $(O)/libeverline-symbolizer.a
USER_LIB := $(O)/libeverline.a
PROGRAMS := $(O)/everline $(O)/everline-symbolize

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT := $(UNIT_SRC:tests/unit/%.c=$(O)/tests/unit/%)
UNIT_COMMON_SRC := $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c))
UNIT_COMMON_OBJ := $(UNIT_COMMON_SRC:%.c=$(O)/%.o)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all test bench lint demo deps install uninstall clean help check-layers unit fuzz

all: $(PROGRAMS)

$(O)/everline: $(O)/user/main.o $(USER_LIB) $(SYMBOLIZER_LIB)
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(DEMANGLER) $(LIBS)

$(O)/everline-symbolize: $(EXAMPLE_SRC:%.c=$(O)/%.o) $(SYMBOLIZER_LIB)
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(DEMANGLER) $(LIBS)

$(SYMBOLIZER_LIB): $(SYMBOLIZER_OBJ)
$(USER_LIB): $(USER_OBJ)
$(O)/%.a:
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/%.o: %.c Makefile
	$(say) CC $<
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -c -o $@ $<

# .incbin is invisible to -MMD.
$(O)/user/numba.o: user/numba_hook/sitecustomize.py

# Only the sampler sees the skeletons.
$(filter $(O)/user/sampling/%,$(USER_OBJ)): $(SKELETONS)

# --- BPF ---------------------------------------------------------------------
BPF_CFLAGS := -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wno-missing-declarations \
	-D__TARGET_ARCH_$(ARCH) -I. -Ivmlinux/$(ARCH)

$(O)/bpf/%.bpf.o: bpf/%.bpf.c Makefile
	$(say) BPF $<
	$(Q)mkdir -p $(@D) && $(CLANG) $(BPF_CFLAGS) -MMD -MP -MF $(@:.o=.d) -MT $@ -c -o $@.tmp $<
	$(Q)$(LLVM_STRIP) -g $@.tmp && mv $@.tmp $@

$(O)/bpf/%.skel.h: $(O)/bpf/%.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

# --- tests -------------------------------------------------------------------
$(O)/tests/unit/%: $(O)/tests/unit/%.o $(UNIT_COMMON_OBJ) $(USER_LIB) $(SYMBOLIZER_LIB)
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lcmocka -ljansson $(DEMANGLER) $(LIBS)

unit: $(UNIT) $(PROGRAMS)
	$(Q)tests/run.sh unit $(O)

FUZZ := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz:
	$(Q)tests/deps.sh $(ARCH) build fuzz
	$(Q)$(MAKE) --no-print-directory $(QUIET) $(FUZZ:%=$(O)/%)
	$(Q)tests/fuzz/run.sh $(O) $(FUZZ)

# The parsers, in one go with the instrumentation that makes the fuzzer see into them.
$(O)/fuzz_%: tests/fuzz/fuzz_%.c $(SYMBOLIZER_SRC) $(wildcard user/profile/*.c)
	$(say) FUZZ $@
	$(Q)mkdir -p $(@D) && $(CLANG) -g -O1 -fsanitize=fuzzer,address,undefined -std=gnu11 -D_GNU_SOURCE -I. -o $@ $^ $(DEMANGLER) $(LIBS)

test: deps
	$(Q)$(MAKE) --no-print-directory $(QUIET) $(PARALLEL) $(PROGRAMS) $(UNIT)
	$(Q)tests/run.sh all $(O)

bench:
	$(Q)tests/deps.sh $(ARCH) build demo test bench
	$(Q)$(MAKE) $(QUIET) $(PARALLEL) $(PROGRAMS)
	$(Q)tests/bench/run.sh $(O) $(BENCH)

# --- the rest ----------------------------------------------------------------
# Only what the demo needs: the tests' packages are many.
demo:
	$(Q)tests/deps.sh $(ARCH) build demo
	$(Q)$(MAKE) --no-print-directory $(QUIET) $(PARALLEL) all
	$(Q)$(O)/everline annotate -- /usr/bin/python3 examples/dither.py

deps:
	$(Q)tests/deps.sh $(ARCH)

check-layers: $(SYMBOLIZER_LIB)
	$(Q)tests/lint/layers.sh $(SYMBOLIZER_LIB)

lint: check-layers
	$(Q)tests/lint/run.sh

clean:
	$(Q)rm -rf $(O)

help:
	@echo "make              build everline and everline-symbolize under $(O)/"
	@echo "make demo         install what is missing, build, profile an example"
	@echo "make test         install what is missing, build, run all tests"
	@echo "make unit         only the unit tests"
	@echo "make bench        measure the figures of docs/figures.md (BENCH=name for one)"
	@echo "make fuzz         install what is missing, run each fuzz target for FUZZ_SECONDS=60"
	@echo "make lint         layers, formatting, spelling, shell scripts"
	@echo "make check-layers the directions of the includes, and that the symbolizer opens nothing"
	@echo "make deps         install the packages of tests/packages.txt that are missing"
	@echo "make install      into DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)"
	@echo "make uninstall    out of DESTDIR and PREFIX again"
	@echo "make clean        remove $(O)/"
	@echo "Variables: V=1 shows commands, SAN=address,undefined, ARCH=arm64, O=folder"

install: all
	$(say) INSTALL $(DESTDIR)$(PREFIX)
	$(Q)install -D -m 755 $(O)/everline $(DESTDIR)$(PREFIX)/bin/everline
	$(Q)install -D -m 755 $(O)/everline-symbolize $(DESTDIR)$(PREFIX)/bin/everline-symbolize

uninstall:
	$(Q)rm -f $(DESTDIR)$(PREFIX)/bin/everline $(DESTDIR)$(PREFIX)/bin/everline-symbolize

-include $(shell find $(O) -name '*.d' 2>/dev/null)
