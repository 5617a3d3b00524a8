# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Completion of rocesteer and rocesteer-perf in bash. selftests/user/test_docs.sh keeps the words
# in step with --help.

# Words that may follow an object and a verb.
_rocesteer_words()
{
	case $1 in
	'')
		echo "plan chunk slice path job flow stat monitor daemon top reduce" \
			"help --json --version --help"
		;;
	plan)
		echo "--flows --paths --weights --prior --recommend-qps" \
			"--json --help"
		;;
	chunk)
		echo "plan compare load unload help"
		;;
	'chunk plan')
		echo "--dims --bandwidth --size --chunks --collective" \
			"--latency --algorithm --policy --queue --svg" \
			"--json --help"
		;;
	'chunk compare')
		echo "--dims --bandwidth --size --chunks --collective" \
			"--latency --algorithm --json --help"
		;;
	'chunk load')
		echo "--job --chunk-plan --ranges --dscp --json --help"
		;;
	'chunk unload')
		echo "--job --json --help"
		;;
	slice)
		echo "alloc release list show mark wire check submit queue replay trace help"
		;;
	'slice alloc')
		echo "--cluster --gpus --servers --nodes --job --ocs" \
			"--driver --dry-run --json --help"
		;;
	'slice release' | 'slice show')
		echo "--cluster --job --json --help"
		;;
	'slice list')
		echo "--cluster --json --help"
		;;
	'slice submit')
		echo "--cluster --gpus --job --duration --json --help"
		;;
	'slice queue')
		echo "--cluster --order --start --ocs --driver --json --help"
		;;
	'slice replay')
		echo "--cluster --policy --order --seed --svg --json --help"
		;;
	'slice trace')
		echo "--jobs --gpus --like --load --seed --json --help"
		;;
	'slice wire')
		echo "--cluster --driver --json --help"
		;;
	'slice mark')
		echo "--cluster --as --leaves --spines --servers --links" \
			"--json --help"
		;;
	'slice check')
		echo "--slice --cluster --job --flows --pattern --seed --json" \
			"--help"
		;;
	path)
		echo "discover verify show help"
		;;
	'path discover')
		echo "--dev --peer --peer-file --source --hop --paths --ports" \
			"--rate --retries --probe-timeout --short-quotes --out" \
			"--accept-incomplete --json --help"
		;;
	'path verify')
		echo "--all --rate --retries --probe-timeout --short-quotes" \
			"--json --help"
		;;
	'path show')
		echo "--json --help"
		;;
	job)
		echo "load unload list show help"
		;;
	'job load')
		echo "--job --name --port-map --cgroup --pid --flow --all" \
			"--slice --cluster --slice-job --pattern --chunk-plan" \
			"--ranges --dscp --split --deal --resequence --actuator --module" \
			"--json --help"
		;;
	'job unload')
		echo "--job --all --json --help"
		;;
	'job list')
		echo "--json --help"
		;;
	'job show')
		echo "--job --json --help"
		;;
	flow)
		echo "show help"
		;;
	'flow show')
		echo "--job --json --help"
		;;
	daemon)
		echo "--hold-down --probe-timeout --short-quotes --json --help"
		;;
	top)
		echo "--interval --count --json --help"
		;;
	reduce)
		echo "load unload show stat help"
		;;
	stat | monitor | 'reduce load' | 'reduce unload' | 'reduce show' | 'reduce stat')
		echo "--json --help"
		;;
	perf)
		echo "--dims --bandwidth --size --chunks --collective" \
			"--latency --algorithm --policy --queue --rdma-dev" \
			"--type --iters --warmup --in-flight --rank" \
			"--rendezvous --listen --token-file --timeout" \
			"--ranges-out --switch --group --packets --json" \
			"--version --help"
		;;
	esac
}

# The argument of an option, where it can be guessed.
_rocesteer_argument()
{
	local cur=$2 words=''

	case $1 in
	--actuator)
		words="auto packet qp"
		;;
	--dev)
		words=$(command ls /sys/class/net 2>/dev/null)
		;;
	--rdma-dev)
		words=$(command ls /sys/class/infiniband 2>/dev/null)
		;;
	--type)
		words="int32 float32"
		;;
	--split)
		words="none fewest all auto"
		;;
	--deal)
		words="least place auto"
		;;
	--collective)
		words="all-reduce reduce-scatter all-gather"
		;;
	--policy)
		words="themis baseline best"
		[[ $3 != slice* ]] ||
			words="ecmp balanced source-routing vclos ocs-vclos ideal"
		;;
	--order)
		words="fifo fewest-gpus shortest backfill"
		;;
	--like)
		words="powers-of-two paper"
		;;
	--queue)
		words="fifo scf"
		;;
	--algorithm)
		words="ring halving direct"
		[[ $3 != perf ]] || words+=" netreduce"
		;;
	--module)
		words="auto yes no"
		;;
	--resequence)
		words="auto on off"
		;;
	--as)
		words="drained failed usable"
		;;
	--pattern)
		words="ring halving-doubling all-to-all permutation
			hierarchical-ring hierarchical-all-to-all"
		;;
	--out | --cgroup | --cluster | --driver | --slice | --svg | --prior | \
		--port-map | --peer-file | --chunk-plan | --ranges | --ranges-out | \
		--token-file)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return 0
		;;
	--flows)
		# A number of "plan", a file of "slice check".
		[[ $3 != slice* ]] ||
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return 0
		;;
	--peer | --source | --hop | --ports | --rate | --retries | \
		--timeout | --probe-timeout | \
		--weights | --job | --slice-job | --paths | --chunks | \
		--name | --pid | --flow | --gpus | --seed | \
		--leaves | --spines | --servers | --links | --nodes | \
		--dims | --bandwidth | --size | --latency | --dscp | \
		--hold-down | --interval | --count | --iters | --warmup | \
		--in-flight | --rank | --rendezvous | --listen | \
		--duration | --load | --jobs | --switch | --group | --packets)
		return 0
		;;
	*)
		return 1
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

_rocesteer()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev='' object='' words word i

	COMPREPLY=()
	((COMP_CWORD < 2)) || prev=${COMP_WORDS[COMP_CWORD - 1]}
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		[[ $word != -* ]] || continue
		words=$(_rocesteer_words "$object")
		[[ " $words " == *" $word "* ]] || continue
		object+=${object:+ }$word
	done
	! _rocesteer_argument "$prev" "$cur" "$object" || return 0
	words=$(_rocesteer_words "$object")
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	case $object in
	'path show' | 'path verify' | 'slice replay' | 'reduce load')
		[[ $cur == -* ]] ||
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		;;
	esac
}

# rocesteer-perf has options only.
_rocesteer_perf()
{
	local cur=${COMP_WORDS[COMP_CWORD]}

	COMPREPLY=()
	_rocesteer_argument "${COMP_WORDS[COMP_CWORD - 1]}" "$cur" perf ||
		mapfile -t COMPREPLY < <(compgen -W \
			"$(_rocesteer_words perf)" -- "$cur")
}

complete -F _rocesteer rocesteer
complete -F _rocesteer_perf rocesteer-perf
