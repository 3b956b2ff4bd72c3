#!/usr/bin/env bash
# A Slurm cluster of one node on this machine, for the tests. Needs root on Debian.
#   cluster.sh run COMMAND...   install, start, run the command in it, stop
#   cluster.sh start | stop     for trying things by hand; start prints SLURM_CONF
# Keys, sockets, logs and state are in /run/verify-slurm; /etc/slurm is not touched.
set -euo pipefail

CLUSTER=/run/verify-slurm
PORT=16817               # and the next one; not Slurm's own 6817 and 6818
export SLURM_CONF=$CLUSTER/slurm.conf

fail() { echo "cluster.sh: $*" >&2; exit 1; }

alive() { [ -s "$CLUSTER/$1.pid" ] && kill -0 "$(cat "$CLUSTER/$1.pid")" 2>/dev/null; }

install_packages() {
  local daemon absent=
  for daemon in slurmctld slurmd munged; do
    command -v "$daemon" > /dev/null || absent+=" $daemon"
  done
  [ -n "$absent" ] || return 0
  echo "cluster.sh: installing slurm-wlm and munge" >&2
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends \
      slurm-wlm munge; } > "$CLUSTER/apt.log" 2>&1 \
    || { tail -n 5 "$CLUSTER/apt.log" >&2; fail "apt-get could not install them"; }
}

# linuxproc and task/none: no control groups, so it runs in a container as well.
# cred_expire: a requeued job waits that long; Slurm's own figure is two minutes.
configure() {
  local node memory
  node=$(hostname -s)
  memory=$(awk '/^MemTotal/ {print int($2 / 1024)}' /proc/meminfo)
  cat > "$SLURM_CONF" <<CONF
ClusterName=verify
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$PORT
SlurmdPort=$((PORT + 1))
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket=$CLUSTER/munge.socket,cred_expire=5
StateSaveLocation=$CLUSTER/state
SlurmdSpoolDir=$CLUSTER/spool
SlurmctldPidFile=$CLUSTER/slurmctld.pid
SlurmdPidFile=$CLUSTER/slurmd.pid
SlurmctldLogFile=$CLUSTER/slurmctld.log
SlurmdLogFile=$CLUSTER/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=sched_interval=2,bf_interval=2
SlurmdParameters=config_overrides
KillWait=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=4 RealMemory=$memory State=UNKNOWN
PartitionName=main Nodes=$node Default=YES MaxTime=30 State=UP
CONF
  printf 'CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n' > "$CLUSTER/cgroup.conf"
}

start_munge() {
  alive munged && return 0
  [ -s "$CLUSTER/munge.key" ] \
    || (umask 077 && head -c 128 /dev/urandom > "$CLUSTER/munge.key")
  munged --force --key-file="$CLUSTER/munge.key" --socket="$CLUSTER/munge.socket" \
    --pid-file="$CLUSTER/munged.pid" --log-file="$CLUSTER/munged.log" \
    --seed-file="$CLUSTER/munged.seed" || fail "munged did not start"
}

start() {
  mkdir -p "$CLUSTER/state" "$CLUSTER/spool"
  chmod 755 "$CLUSTER"
  install_packages
  alive slurmctld || configure
  start_munge
  alive slurmctld || slurmctld || fail "slurmctld did not start: $CLUSTER/slurmctld.log"
  alive slurmd || slurmd || fail "slurmd did not start: $CLUSTER/slurmd.log"
  for _ in $(seq 60); do
    case "$(timeout 10 sinfo --noheader --format=%T 2> /dev/null)" in
      idle|mixed|allocated) return 0 ;;
    esac
    sleep 0.5
  done
  tail -n 5 "$CLUSTER"/slurm{ctld,d}.log >&2
  fail "the node did not become idle within 30 s"
}

stop() {
  if alive slurmctld; then timeout 20 scancel --user=root 2> /dev/null || true; fi
  for daemon in slurmd slurmctld munged; do
    alive "$daemon" || continue
    kill "$(cat "$CLUSTER/$daemon.pid")"
    for _ in $(seq 50); do alive "$daemon" || break; sleep 0.2; done
    if alive "$daemon"; then kill -9 "$(cat "$CLUSTER/$daemon.pid")"; fi
  done
  rm -rf "$CLUSTER"
}

[ "$(id -u)" = 0 ] || fail "needs root (uid 0), this is uid $(id -u)"
command -v apt-get > /dev/null || fail "needs Debian or Ubuntu (apt-get)"

case "${1:-}" in
  run)
    shift
    [ $# -gt 0 ] || fail "run what? cluster.sh run COMMAND..."
    trap stop EXIT
    start
    "$@" ;;
  start) start; echo "export SLURM_CONF=$SLURM_CONF" ;;
  stop) stop ;;
  *) fail "'${1:-}': choose run COMMAND..., start or stop" ;;
esac
