# SPDX-License-Identifier: GPL-2.0
#
# Common parts of all Makefiles. V=1 shows the commands. WERROR=1 makes warnings errors: the
# checks set it, as another compiler may warn of more.

# Libraries of the commands, for pkg-config
PACKAGES := libmnl json-c 'libbpf >= 1.4' smartcols

WARN	:= -Wall -Wextra -Wno-missing-field-initializers $(if $(WERROR),-Werror)

# $(call say,CC) begins a recipe, and says "  CC      user/command/job/job.o" in its place.
silent	:= $(findstring s,$(firstword -$(MAKEFLAGS)))
say	= $(if $(V),,@$(if $(silent),,printf '  %-7s %s\n' $(1) $(@:$(BUILD)/%=%);) )
$(if $(V),,$(eval MAKEFLAGS += --no-print-directory))
