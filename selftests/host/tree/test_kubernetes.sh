#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The manifest for Kubernetes agrees with the service of systemd, the command and itself. No
# cluster is needed; steer/test_containers runs its containers.

cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/../../.." || exit
. selftests/lib.sh

manifest()
{
	/usr/bin/python3 selftests/host/tree/kubernetes.py "$1"
}

/usr/bin/python3 -c 'import jsonschema, yaml' 2>/dev/null ||
	skip_all "no python3-jsonschema or python3-yaml"
ktap_plan 5
check "the manifest has known fields of the right types alone" manifest schema
check "the pod's capabilities are those of the service" manifest privileges
check "the manifest has the commands and places of the service" manifest paths
check "the example of a job has known options" manifest jobs
check "the image is of this version" manifest image
ktap_finish
