#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What test_slice.sh needs beyond a shell: independent eyes on cluster files.

    slices.py verify FILE           jobs and what is free add up; the journal too
    slices.py kill FILE COUNT       alloc and release from four processes, until
                                    COUNT are killed at a random point, and as
                                    many are not
    slices.py solve COUNT DIR       glpsol or cbc agree on random 32x32 clusters
    slices.py solve-ocs COUNT DIR [LEAVES SPINES OXCS [SECONDS]]
                                    cbc agrees on the circuits to move, and all is
                                    proven; where cbc takes longer than SECONDS, it
                                    has found none better until then

ROCESTEER names the command.
"""
import concurrent.futures
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
    """Each GPU and link is free or owned by one job, and no two have links of one
    pair. Raises where not."""
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
        assert len(job["links"]) == len(job["leaves"]) * len(job["spines"])
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


class Worker(threading.Thread):
    """Runs commands one after the other, and kills some of them."""
    kills = 0
    done = 0
    lock = threading.Lock()

    def __init__(self, number, name, count):
        super().__init__()
        self.number, self.name_of_file, self.count = number, name, count
        self.random = random.Random(number)
        self.took = 0.005

    def command(self, round_):
        mine = [job for job in read(self.name_of_file).get("jobs", {})
                if job.startswith(f"w{self.number}-")]
        if mine and self.random.random() < 0.5:
            return ["release", "--job", self.random.choice(mine)]
        size = self.random.choice((1, 2, 3, 4, 8, 12, 16, 24, 32))
        return ["alloc", "--gpus", str(size), "--job",
                f"w{self.number}-{round_}"]

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


def kill(name, count):
    threading.excepthook = lambda args: (sys.excepthook(*args[:3]),
                                         os._exit(1))
    workers = [Worker(i, name, count) for i in range(4)]
    for worker in workers:
        worker.start()
    looks = 0
    while any(worker.is_alive() for worker in workers):
        cluster = read(name)        # at any time
        if "free_gpus" in cluster:
            check_state(cluster)
        looks += 1
        time.sleep(0.002)
    for worker in workers:
        worker.join()
    # What a crash left in the journal is mended by the next that decides.
    assert run("alloc", "--cluster", name, "--gpus", 1, "--job", "last")[0] in (0, 3)
    verify(name)
    for job in list(read(name)["jobs"]):
        assert run("release", "--cluster", name, "--job", job)[0] == 0
    cluster = read(name)
    check_state(cluster)
    lines = check_journal(name, cluster)
    void = sum(line["decision"] == "void" for line in lines)
    assert not cluster["jobs"]
    assert sorted(os.listdir(os.path.dirname(name))) == sorted(
        os.path.basename(name) + end for end in ("", ".lock", ".journal"))
    print(f"{Worker.kills} killed, {Worker.done} carried out, {looks} looks, "
          f"{void} void in the journal")


def make(rng):
    """A random cluster of 32 x 32, and a job too large for a leaf."""
    each = rng.choice((1, 2, 4, 8))
    density = rng.choice((0.3, 0.5, 0.7, 0.8, 0.9))
    whole = rng.choice((0.5, 0.8, 1))
    cluster = {
        "leaves": 32, "spines": 32, "gpus_per_leaf": 32,
        "gpus_per_server": each,
        "free_gpus": [[each if rng.random() < whole else rng.randrange(each)
                       for _ in range(32 // each)] for _ in range(32)],
        "free_links": [[int(rng.random() < density) for _ in range(32)]
                       for _ in range(32)],
        "jobs": {},
    }
    return cluster, each * rng.choice((3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32))


def glpsol(lp, limit):
    """Return: optimum, None when there is no solution, "?" when undecided."""
    subprocess.run(["glpsol", "--lp", lp, "--tmlim", str(limit), "--cuts",
                    "-w", lp + ".out"], stdout=subprocess.DEVNULL, check=True)
    with open(lp + ".out", encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if words[:2] == ["s", "mip"]:
                return {"o": round(float(words[5])), "n": None}.get(words[4], "?")
    return "?"


def cbc(lp, limit):
    done = subprocess.run(["cbc", lp, "-seconds", str(limit), "-solve"],
                          capture_output=True, text=True, check=True)
    if "Optimal solution found" in done.stdout:
        line = next(line for line in done.stdout.splitlines()
                    if line.startswith("Objective value:"))
        return round(float(line.split()[-1]))
    return None if "infeasible" in done.stdout else "?"


def solvers(lp, want):
    """Return: whether cbc was asked. Raises where there is another optimum."""
    got = glpsol(lp, 1)
    by_cbc = got == "?"
    if by_cbc:
        got = cbc(lp, 60)
    assert got == want, (lp, want, got)
    return by_cbc


def solve(count, where):
    rng = random.Random(1)
    asked = []
    refused = 0
    name = os.path.join(where, "lp.json")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        while len(asked) < count:
            cluster, gpus = make(rng)
            lp = os.path.join(where, f"{len(asked)}.lp")
            with open(name, "w", encoding="utf-8") as f:
                json.dump(cluster, f)
            status, out = run("alloc", "--cluster", name, "--gpus", gpus,
                              "--dry-run", "--lp", lp)
            if status == 0 and out["stage"] == "vclos":
                want = out["objective"]
            elif status == 3 and out["error"]["code"] == "network":
                want = None
            else:
                continue
            refused += want is None
            asked.append(pool.submit(solvers, lp, want))
    by_cbc = sum(one.result() for one in asked)
    print(f"{count - refused} placed, {refused} refused; "
          f"cbc was asked {by_cbc} times")


def shuffled(rng, cluster):
    """Other circuits at the ports that no job has."""
    owned = {(leaf, oxc) for job in cluster["jobs"].values()
             for (leaf, _), oxc in zip(job["links"], job.get("oxcs", []))}
    for oxc in range(cluster["oxcs"]):
        idle = [leaf for leaf in range(cluster["leaves"])
                if (leaf, oxc) not in owned]
        spines = [cluster["circuits"][leaf][oxc] for leaf in idle]
        rng.shuffle(spines)
        for leaf, spine in zip(idle, spines):
            cluster["circuits"][leaf][oxc] = \
                spine if rng.random() < 0.9 else None
    return cluster


def torn(rng, name, leaves, spines, oxcs):
    """A cluster that jobs have left behind, in a file."""
    with open(name, "w", encoding="utf-8") as f:
        json.dump({"leaves": leaves, "spines": spines, "gpus_per_leaf": oxcs,
                   "gpus_per_server": 1, "oxcs": oxcs}, f)
    for _ in range(leaves):
        run("alloc", "--cluster", name, "--gpus",
            rng.choice((1, 2, 3, 5, 6)) * oxcs // 4)
    for job in read(name)["jobs"]:
        if rng.random() < 0.4:
            run("release", "--cluster", name, "--job", job)
    cluster = shuffled(rng, read(name))
    with open(name, "w", encoding="utf-8") as f:
        json.dump(cluster, f)
    return cluster


def cbc_so_far(lp, limit):
    """Return: the best that cbc found, and whether it is the optimum."""
    done = subprocess.run(["cbc", lp, "-seconds", str(limit), "-solve"],
                          capture_output=True, text=True, check=True)
    found = [line.split()[-1] for line in done.stdout.splitlines()
             if line.startswith("Objective value:")]
    return (round(float(found[0])) if found else None,
            "Optimal solution found" in done.stdout)


def solve_ocs(count, where, leaves=8, spines=4, oxcs=4, limit=60):
    rng = random.Random(1)
    asked, times = [], []
    name = os.path.join(where, "ocs.json")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        while len(asked) < count:
            cluster = torn(rng, name, leaves, spines, oxcs)
            gpus = rng.choice((4, 6, 8, 9, 10, 12)) * oxcs // 4
            lp = os.path.join(where, f"{len(asked)}.lp")
            start = time.monotonic()
            status, out = run("alloc", "--cluster", name, "--gpus", gpus,
                              "--ocs", "--dry-run", "--lp", lp)
            start = time.monotonic() - start
            if status or out["stage"] != "ocs":
                continue
            assert out["proven"], cluster
            assert not set(map(tuple, out["links"])) & set(pairs_owned(cluster))
            times.append(start)
            asked.append((out["objective"],
                          pool.submit(cbc_so_far, lp, limit)))
    optima = 0
    for number, (want, one) in enumerate(asked):
        got, optimum = one.result()
        assert got == want if optimum else got is None or got >= want, \
            (number, want, got, optimum)
        optima += optimum
    times.sort()
    print(f"{count} places, {max(want for want, _ in asked)} circuits "
          f"taken down at most; cbc proved {optima} of them; the command took "
          f"{times[count // 2] * 1000:.0f} ms, {times[-1] * 1000:.0f} at most")


if __name__ == "__main__":
    if sys.argv[1] == "verify":
        verify(sys.argv[2])
    elif sys.argv[1] == "kill":
        kill(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1] == "solve-ocs":
        solve_ocs(int(sys.argv[2]), sys.argv[3], *map(int, sys.argv[4:]))
    else:
        solve(int(sys.argv[2]), sys.argv[3])
