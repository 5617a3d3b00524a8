#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What test_slice.sh needs beyond a shell: independent eyes on cluster files.

    slices.py verify FILE           jobs and what is free add up; the journal too
    slices.py kill FILE COUNT [DRIVER WIRING]
                                    alloc and release from four processes, until
                                    COUNT are killed at a random point, and as
                                    many are not; with circuits that DRIVER moves
                                    in the file WIRING
    slices.py schema FILE [FIELDS...]
                                    the schema takes the file, and not with any of
                                    these JSON objects merged into it

ROCESTEER names the command.
"""
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

ROCESTEER = os.environ.get("ROCESTEER", "build/rocesteer")


def run(*args):
    done = subprocess.run([ROCESTEER, "--json", "slice", *map(str, args)],
                          capture_output=True, text=True, check=False)
    out = json.loads(done.stdout) if done.stdout else {}
    return done.returncode, out


def read(name):
    with open(name, encoding="utf-8") as f:
        return json.load(f)


def pairs_owned(cluster):
    """Leaf and spine that jobs have links between: once for each job."""
    return [pair for job in cluster["jobs"].values()
            for pair in set(map(tuple, job["links"]))]


def check_lanes(job, parallel):
    """A leaf has as many links in each lane as its GPUs need, or all others have."""
    lanes = len(job["spines"])
    on = [sum(s["gpus"] for s in job["servers"] if s["leaf"] == leaf)
          for leaf in job["leaves"]]
    assert all(on) and sum(on) == job["gpus"], job
    if not lanes:
        assert len(on) == 1 and not job["links"] and "lane_links" not in job, job
        return
    assert len(on) > 1 and job["spines"] == sorted(job["spines"]), job
    need = [-(-n // lanes) for n in on]
    links = job.get("lane_links", [1] * len(on))
    if "lane_links" in job:
        assert links == [min(n, sum(need) - n) for n in need], job
        pairs = [tuple(link) for link in job["links"]]
        assert max(map(pairs.count, pairs)) <= parallel, job
    assert len(job["links"]) == sum(lanes * n for n in links), job
    assert job["links"] == [[leaf, spine]
                            for leaf, n in zip(job["leaves"], links)
                            for spine in job["spines"] for _ in range(n)], job


def check_circuits(cluster):
    """Each link of a job is a circuit of its own. Raises where not."""
    ports = set()
    for name, job in cluster["jobs"].items():
        for (leaf, spine), oxc in zip(job["links"], job.get("oxcs", [])):
            assert cluster["circuits"][leaf][oxc] == spine, name
            assert (leaf, oxc) not in ports, name
            ports.add((leaf, oxc))
        assert len(job["links"]) == len(job.get("oxcs", [])), name


def check_state(cluster):
    """Each GPU and link is free or owned by one job, no two have links of one pair, and
    each has the links of its lanes. Raises where not."""
    owned = pairs_owned(cluster)
    assert len(owned) == len(set(owned)), owned
    if "circuits" in cluster:
        check_circuits(cluster)
    links = cluster.get("links_per_pair", 1)
    servers = cluster["gpus_per_leaf"] // cluster["gpus_per_server"]
    gpus = [[0] * servers for _ in range(cluster["leaves"])]
    pairs = [[0] * cluster["spines"] for _ in range(cluster["leaves"])]
    for name, job in cluster["jobs"].items():
        for server in job["servers"]:
            gpus[server["leaf"]][server["server"]] += server["gpus"]
        for leaf, spine in job["links"]:
            pairs[leaf][spine] += 1
        assert sum(s["gpus"] for s in job["servers"]) == job["gpus"], name
        check_lanes(job, cluster.get("parallel_links", 1))
    for leaf in range(cluster["leaves"]):
        for v in range(servers):
            free = cluster["free_gpus"][leaf][v]
            assert free >= 0 and \
                free + gpus[leaf][v] == cluster["gpus_per_server"], (leaf, v)
        for spine in range("circuits" not in cluster and cluster["spines"]):
            free = cluster["free_links"][leaf][spine]
            assert pairs[leaf][spine] <= links, (leaf, spine, "owned twice")
            assert free + pairs[leaf][spine] == links, (leaf, spine)


def check_journal(name, cluster):
    """The journal, played from its beginning, leads to the file."""
    jobs, undo, generation = {}, None, 0
    with open(name + ".journal", encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    for line in lines:
        what = line["decision"]
        if what == "void":
            assert line["generation"] == generation and undo is not None, line
            jobs, undo, generation = undo, None, generation - 1
        elif what == "refuse":
            assert line["generation"] == generation, line
        else:
            generation += 1
            assert line["generation"] == generation, line
            undo = dict(jobs)
            if what == "alloc":
                assert line["job"] not in jobs, line
                jobs[line["job"]] = line["gpus"]
            elif what == "release":
                del jobs[line["job"]]
    assert generation == cluster.get("generation", 0)
    assert jobs == {name: job["gpus"] for name, job in cluster["jobs"].items()}
    return lines


def verify(name):
    cluster = read(name)
    check_state(cluster)
    lines = check_journal(name, cluster)
    print(f"{len(cluster['jobs'])} jobs, {len(lines)} lines of journal")


def schema(name, *wrong):
    import jsonschema  # pylint: disable=import-outside-toplevel
    validator = jsonschema.Draft7Validator(read("Documentation/cluster.schema.json"))
    validator.check_schema(validator.schema)
    cluster = read(name)
    validator.validate(cluster)
    for fields in wrong:
        assert not validator.is_valid(cluster | json.loads(fields)), fields


class Worker(threading.Thread):
    """Runs commands one after the other, and kills some of them."""
    kills = 0
    done = 0
    lock = threading.Lock()

    def __init__(self, number, name, count, more):
        super().__init__()
        self.number, self.name_of_file, self.count = number, name, count
        self.more = more
        self.random = random.Random(number)
        self.took = 0.005

    def command(self, round_):
        mine = [job for job in read(self.name_of_file).get("jobs", {})
                if job.startswith(f"w{self.number}-")]
        if mine and self.random.random() < 0.5:
            return ["release", "--job", self.random.choice(mine)]
        size = self.random.choice((1, 2, 3, 4, 8, 10, 12, 12, 16, 24))
        return ["alloc", "--gpus", str(size), "--job",
                f"w{self.number}-{round_}", *self.more]

    def run(self):
        round_ = 0
        while min(Worker.kills, Worker.done) < self.count:
            round_ += 1
            start = time.monotonic()
            # pylint: disable-next=consider-using-with
            child = subprocess.Popen(
                [ROCESTEER, "slice", *self.command(round_),
                 "--cluster", self.name_of_file],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if self.random.random() < 0.6:
                try:
                    child.wait(self.random.random() * 1.2 * self.took)
                except subprocess.TimeoutExpired:
                    child.send_signal(signal.SIGKILL)
            status = child.wait()
            if status >= 0:
                self.took += (time.monotonic() - start - self.took) / 8
            with Worker.lock:
                Worker.kills += status == -signal.SIGKILL
                Worker.done += status == 0
                assert status in (0, 3, -signal.SIGKILL), status


def check_collectives(name, job):
    """No flows meet. Return: whether its leaves differ in their servers."""
    servers = [s["leaf"] for s in job["servers"]]
    uneven = len(set(map(servers.count, servers))) > 1
    for pattern in ("ring", "all-to-all", "hierarchical-ring",
                    "hierarchical-all-to-all"):
        with open(name + ".slice", "w", encoding="utf-8") as f:
            json.dump(job, f)
        status, out = run("check", "--slice", name + ".slice", "--pattern", pattern)
        assert status == 0 and out["contended"] == 0, (pattern, job, out)
    os.unlink(name + ".slice")
    return uneven


def watch(name, workers):
    """Look at the file at any time. Return: how often, and one job of each shape."""
    looks, shapes = 0, {}
    while any(worker.is_alive() for worker in workers):
        cluster = read(name)
        if "free_gpus" in cluster:
            check_state(cluster)
        for job in cluster.get("jobs", {}).values():
            shapes.setdefault(json.dumps([job["servers"], job["links"]]), job)
        looks += 1
        time.sleep(0.002)
    return looks, [job for job in shapes.values() if job["links"]]


def release_all(name):
    for job in list(read(name)["jobs"]):
        assert run("release", "--cluster", name, "--job", job)[0] == 0
    cluster = read(name)
    check_state(cluster)
    assert not cluster["jobs"]
    return check_journal(name, cluster)


def kill(name, count, driver=None, wiring=None):
    threading.excepthook = lambda args: (sys.excepthook(*args[:3]),
                                         os._exit(1))
    more = ["--ocs", "--driver", driver] if driver else []
    # In an idle cluster of both callers: six servers under one leaf, three under another.
    status, first = run("alloc", "--cluster", name, "--gpus", 9, "--job", "w0-0", *more)
    assert status == 0, first
    workers = [Worker(i, name, count, more) for i in range(4)]
    for worker in workers:
        worker.start()
    looks, jobs = watch(name, workers)
    for worker in workers:
        worker.join()
    # The next decision mends a journal that a crash has cut.
    assert run("alloc", "--cluster", name, "--gpus", 1, "--job", "last")[0] in (0, 3)
    verify(name)
    if driver:
        assert run("wire", "--cluster", name, "--driver", driver)[0] == 0
        assert read(wiring) == read(name)["circuits"]
    void = sum(line["decision"] == "void" for line in release_all(name))
    assert sorted(os.listdir(os.path.dirname(name))) == sorted(
        os.path.basename(name) + end for end in ("", ".lock", ".journal"))
    uneven = sum(check_collectives(name, job) for job in [first] + jobs[:200])
    assert uneven, "all jobs had as many servers under each leaf"
    print(f"{Worker.kills} killed, {Worker.done} carried out, {looks} looks, "
          f"{void} void in the journal, {len(jobs)} slices over leaves")


if __name__ == "__main__":
    if sys.argv[1] == "verify":
        verify(sys.argv[2])
    elif sys.argv[1] == "schema":
        schema(*sys.argv[2:])
    else:
        kill(sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
