"""A Slurm of this machine alone: Debian's munged, slurmctld and slurmd on loopback, as long as a `with` block.

Without cgroups (proctrack/linuxproc, task/none) and as the calling user, who has to be root: slurmd asks for it.
"""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

SECONDS = 30  # that daemons may take to answer
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo", "squeue")

CONFIGURATION = """\
ClusterName=tilewright
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1
MinJobAge=300
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores}
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Why there can be no Slurm here; None when there can."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=search_path()) is None]
    if absent:
        return f"not installed: {', '.join(absent)} (packages slurm-wlm and munge)"
    return None if os.geteuid() == 0 else "slurmd needs root"


def search_path():
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Slurm:
    """`environment` is what clients need; raises RuntimeError with the daemons' own words when one does not start."""

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="tilewright-slurm-")
        self.folder = pathlib.Path(self.directory.name)
        self.daemons = []
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def start(self):
        host = socket.gethostname().split(".")[0]
        controller, node = free_ports(2)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        configuration = self.folder / "slurm.conf"
        configuration.write_text(CONFIGURATION.format(host=host, folder=self.folder, controller=controller, node=node, cores=os.cpu_count()))
        self.environment = {**os.environ, "PATH": search_path(), "SLURM_CONF": str(configuration)}
        self.daemon("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                    f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed")
        self.wait_for(lambda: (self.folder / "munge.socket").exists(), "munged")
        self.daemon("slurmctld", "-D", "-f", configuration)
        self.daemon("slurmd", "-D", "-f", configuration, "-N", host)
        self.wait_for(lambda: "idle" in self.ask("sinfo", "--noheader", "--format=%T"), "slurmd")

    def daemon(self, *command):
        log = (self.folder / f"{command[0]}.out").open("w")
        self.daemons.append(subprocess.Popen([str(each) for each in command], env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                                             stderr=log, start_new_session=True))

    def ask(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True).stdout

    def wait_for(self, is_ready, what):
        for _ in range(SECONDS * 10):
            if any(each.poll() is not None for each in self.daemons):
                break
            if is_ready():
                return
            time.sleep(0.1)
        said = "\n".join(f"{log.name}: {log.read_text()[-600:]}" for log in sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out")))
        raise RuntimeError(f"{what} does not answer\n{said}")

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(5)
            daemon.kill()
            daemon.wait()
        with contextlib.suppress(OSError):
            self.directory.cleanup()
