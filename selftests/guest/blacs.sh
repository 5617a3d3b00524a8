# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The tester of ScaLAPACK's BLACS. Sourced with a directory in $dir.

# tester_input RANKS "DESTINATION..." SIZE...: the sums of square matrices of four types over
# all ranks; destination -1: for all of them
tester_input()
{
	local ranks=$1 dests sizes=("${@:3}")
	read -r -a dests <<<"$2"

	# shellcheck disable=SC2154 # set by whoever sources this
	cat >"$dir/bt.dat" <<-E
	'sums'
	6                       device out: stdout
	'-'                     output file
	'F'                     Run SDRV?
	'F'                     Run BSBR?
	'T'                     Run COMB?
	'F'                     Run AUX?
	4                       Number of precisions
	'I' 'S' 'C' 'Z'         Values for precision
	0                       Verbosity level
	E
	cat >"$dir/comb.dat" <<-E
	1                       Number of OPs
	'+'                     Combine operations to perform
	1                       Number of scopes
	'A'                     values for scopes: all
	0                       Repeatability flag: no, as MPI is not
	0                       Coherence flag: no
	1                       Number of topologies
	' '                     TOP: what MPI has
	${#sizes[@]}                       Number of matrices
	${sizes[*]}             M
	${sizes[*]}             N
	${sizes[*]}             LDASRC
	${sizes[*]}             LDADEST
	${sizes[*]//*/-1}                LDI
	${#dests[@]}                       Number of dests
	${dests[*]}                    RDEST
	${dests[*]}                    CDEST
	1                       Number of grids
	1                       NPROW
	$ranks                       NPCOL
	E
}
