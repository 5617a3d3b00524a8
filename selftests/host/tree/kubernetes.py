#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Check packaging/kubernetes/daemonset.yaml: kubernetes.py schema|privileges|paths|jobs|image

"kubernetes.py pod" prints the specification of the pod as JSON.

The schema has the fields that the manifest uses, with the types that they have in the API of
Kubernetes 1.36, and no others. The manifest was compared by hand with all of that API: the
models of @kubernetes/client-node 2.0.1, unknown fields refused.
"""
import json
import re
import subprocess
import sys

import jsonschema
import yaml

MANIFEST = "packaging/kubernetes/daemonset.yaml"
UNIT = "packaging/systemd/rocesteer.service"

STRING = {"type": "string"}
BOOL = {"type": "boolean"}
STRINGS = {"type": "array", "items": STRING, "minItems": 1}
WORDS = {"type": "object", "additionalProperties": STRING}


def record(required, **optional):
    """An object with these fields, of which those in required must be there"""
    return {"type": "object", "properties": required | optional,
            "required": sorted(required), "additionalProperties": False}


def one_of(*values):
    return {"enum": list(values)}


def array(items):
    return {"type": "array", "items": items, "minItems": 1}


METADATA = record({"name": STRING}, namespace=STRING, labels=WORDS)
CAPABILITIES = record({"add": STRINGS, "drop": {"const": ["ALL"]}})
CONTAINER = record(
    {"name": STRING, "image": STRING, "command": STRINGS,
     "securityContext": record(
         {"privileged": {"const": False}, "readOnlyRootFilesystem": {"const": True},
          "runAsUser": {"const": 0}, "capabilities": CAPABILITIES},
         allowPrivilegeEscalation={"const": False}),
     "volumeMounts": array(record({"name": STRING, "mountPath": STRING}, readOnly=BOOL))},
    lifecycle=record({"preStop": record({"exec": record({"command": STRINGS})})}),
    resources=record({"requests": WORDS, "limits": WORDS}))
VOLUME = {"oneOf": [
    record({"name": STRING, "hostPath": record(
        {"path": STRING, "type": one_of("Directory", "DirectoryOrCreate")})}),
    record({"name": STRING, "configMap": record({"name": STRING})})]}
POD = record(
    {"containers": array(CONTAINER), "initContainers": array(CONTAINER),
     "volumes": array(VOLUME), "hostNetwork": {"const": True}, "hostPID": BOOL,
     "nodeSelector": WORDS,
     "tolerations": array(record({"key": STRING, "operator": one_of("Exists")})),
     "automountServiceAccountToken": {"const": False},
     "securityContext": record(
         {"seccompProfile": record({"type": one_of("RuntimeDefault", "Unconfined")}),
          "appArmorProfile": record({"type": one_of("RuntimeDefault", "Unconfined")})})},
    priorityClassName=STRING, enableServiceLinks=BOOL,
    dnsPolicy=one_of("Default", "ClusterFirst", "ClusterFirstWithHostNet", "None"))
SCHEMA = {
    "Namespace": record({"apiVersion": {"const": "v1"}, "kind": STRING, "metadata": METADATA}),
    "ConfigMap": record({"apiVersion": {"const": "v1"}, "kind": STRING, "metadata": METADATA,
                         "data": WORDS}),
    "DaemonSet": record(
        {"apiVersion": {"const": "apps/v1"}, "kind": STRING, "metadata": METADATA,
         "spec": record(
             {"selector": record({"matchLabels": WORDS}),
              "updateStrategy": record(
                  {"type": {"const": "RollingUpdate"},
                   "rollingUpdate": record({"maxUnavailable": {"type": ["string", "integer"]}})}),
              "template": record({"metadata": record({"labels": WORDS}), "spec": POD})})}),
}


def same(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found}, not {wanted}")


def unit(key):
    with open(UNIT, encoding="utf-8") as file:
        return re.findall(rf"^{key}=(.*)$", file.read(), re.M)


def schema(objects):
    same("kinds", sorted(objects), sorted(SCHEMA))
    for kind, value in objects.items():
        jsonschema.Draft7Validator(SCHEMA[kind]).validate(value)
    spec = objects["DaemonSet"]["spec"]
    same("labels", spec["template"]["metadata"]["labels"], spec["selector"]["matchLabels"])
    namespace = objects["Namespace"]["metadata"]["name"]
    for kind in ("ConfigMap", "DaemonSet"):
        same("namespace", objects[kind]["metadata"]["namespace"], namespace)


def privileges(pod):
    """The daemon has the unit's capabilities; what loads programs needs CAP_SYS_ADMIN."""
    daemon, programs = pod["containers"][0], pod["initContainers"][0]
    (bounding,) = unit("CapabilityBoundingSet")
    wanted = {word.removeprefix("CAP_") for word in bounding.split()}
    same("capabilities", set(daemon["securityContext"]["capabilities"]["add"]), wanted)
    same("capabilities", set(programs["securityContext"]["capabilities"]["add"]),
         wanted - {"NET_RAW"} | {"SYS_ADMIN"})


def words(line):
    """Arguments of a command of the unit, without its place"""
    return line.lstrip("-+").split()[1:]


def paths(pod):
    """Commands are the unit's; what the node and the pod share has the same place in both."""
    daemon, programs = pod["containers"][0], pod["initContainers"][0]
    stop = daemon["lifecycle"]["preStop"]["exec"]["command"]
    for command, key in ((daemon["command"], "ExecStart"), (stop, "ExecStopPost"),
                         (programs["command"], "ExecStartPre")):
        same(key, command, ["/usr/sbin/rocesteer"] + words(unit(key)[0]))
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["name"]: mount for mount in daemon["volumeMounts"]}
    same("volumes", set(mounts), set(volumes))
    for name, mount in mounts.items():
        place = volumes[name].get("hostPath", {"path": daemon["command"][-1]})["path"]
        same(name, mount["mountPath"], place)
    for mount in programs["volumeMounts"]:
        same("mount", mount, mounts[mount["name"]])
    same("pins", mounts["bpf"], {"name": "bpf", "mountPath": "/sys/fs/bpf"})
    (run,) = unit("RuntimeDirectory")
    same("records", mounts["run"], {"name": "run", "mountPath": f"/run/{run}"})


def jobs(objects, pod):
    """A job has options of "rocesteer job load", and its port map is in a mount."""
    said = subprocess.run(["build/rocesteer", "job", "load", "--help"], check=True,
                          capture_output=True, text=True).stdout
    known = {name.replace("-", "_") for name in re.findall(r"^  --([a-z-]+)", said, re.M)}
    (maps,) = (mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]
               if mount["name"] == "maps")
    (volume,) = (volume for volume in pod["volumes"] if volume["name"] == "jobs")
    same("jobs", volume["configMap"]["name"], objects["ConfigMap"]["metadata"]["name"])
    for name, text in objects["ConfigMap"]["data"].items():
        job = json.loads(text)
        same("file", name.endswith(".json"), True)
        same("options", set(job) - known, set())
        same("port map", job["port_map"].startswith(maps + "/"), True)


def image(pod):
    """Manifest and Containerfile name the image of this version."""
    with open("VERSION", encoding="utf-8") as file:
        version = file.read().strip()
    with open("packaging/kubernetes/Containerfile", encoding="utf-8") as file:
        names = set(re.findall(r"\S+/rocesteer:[\d.]+", file.read()))
    names |= {container["image"] for container in pod["containers"] + pod["initContainers"]}
    same("images", names, {f"registry.example.org/rocesteer:{version}"})


def main():
    with open(MANIFEST, encoding="utf-8") as file:
        objects = {value["kind"]: value for value in yaml.safe_load_all(file)}
    pod = objects["DaemonSet"]["spec"]["template"]["spec"]
    {"schema": lambda: schema(objects), "privileges": lambda: privileges(pod),
     "paths": lambda: paths(pod), "jobs": lambda: jobs(objects, pod),
     "image": lambda: image(pod), "pod": lambda: print(json.dumps(pod))}[sys.argv[1]]()


if __name__ == "__main__":
    main()
