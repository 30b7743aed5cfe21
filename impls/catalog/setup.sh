#!/usr/bin/env bash
# Prepares the container engine and the local images of the catalogue, on a machine that reaches no image registry.
#
#   setup.sh [rabbitmq|activemq ...]   start an engine if none answers, build these images (default: all of them)
#   setup.sh stop                      end the daemon that this script started, and no other
#
# Exit status: 0 ready; 2 wrong arguments; 3 no engine is possible here; anything else: a real failure, explained on
# standard error. Safe to call again: what is there already is kept (a second call takes less than a second).
# WIREPROOF_STATE (default /run/wireproof) holds the daemon's log and its pid.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
state=${WIREPROOF_STATE:-/run/wireproof}
base=local/debian:bookworm
# The images use no BuildKit syntax, and the classic builder always sees local base images.
export DOCKER_BUILDKIT=0

say() { echo "setup.sh: $*" >&2; }
no_engine() { say "no container engine: $*"; exit 3; }
answers() { docker info >/dev/null 2>&1; }

# A number that belongs to one process only: pids are used again, pid and start time together are not.
started_at() { sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
# An ended daemon may stay a zombie until its parent looks: that counts as ended.
running() { [ -n "$2" ] && [ "$(started_at "$1")" = "$2" ] && [ "$(sed 's/^.*) //' "/proc/$1/stat" | cut -c1)" != Z ]; }

stop_engine() {
  local pid=0 born=
  [ ! -e "$state/dockerd.pid" ] || read -r pid born <"$state/dockerd.pid"
  if ! running "$pid" "$born"; then
    say "no daemon of ours is running"
    rm -f "$state/dockerd.pid"
    return 0
  fi
  kill "$pid"
  for _ in $(seq 150); do
    running "$pid" "$born" || { rm -f "$state/dockerd.pid"; return 0; }
    sleep 0.2
  done
  say "dockerd (pid $pid) did not end within 30 s of SIGTERM; its log is $state/dockerd.log"
  return 1
}

install_packages() {
  command -v apt-get >/dev/null || return 1
  { apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -y -qq --no-install-recommends "$@"
  } >>"$state/apt.log" 2>&1
}

start_engine() {
  [ "$(id -u)" = 0 ] || no_engine "no daemon answers, and only root can start one"
  if ! command -v dockerd >/dev/null; then
    install_packages docker.io mmdebstrap || no_engine "docker.io could not be installed (see $state/apt.log)"
  fi
  # Loopback only; and no user-space proxy: it accepts connections before the broker does and hides resets.
  setsid dockerd --ip=127.0.0.1 --userland-proxy=false --mtu=1400 >"$state/dockerd.log" 2>&1 </dev/null 9>&- &
  local pid=$!
  echo "$pid $(started_at "$pid")" >"$state/dockerd.pid"
  for _ in $(seq 150); do
    answers && return 0
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.2
  done
  answers || no_engine "dockerd did not come up: $(tail -n 1 "$state/dockerd.log")"
}

make_base() {
  docker image inspect "$base" >/dev/null 2>&1 && return 0
  command -v mmdebstrap >/dev/null || { [ "$(id -u)" = 0 ] && install_packages mmdebstrap; } || {
    say "mmdebstrap is missing and could not be installed: it makes the base image"
    return 1
  }
  # Tagged only once the whole archive went through: half a base image would be found, and used, for ever.
  local id
  id=$(mmdebstrap --quiet --variant=minbase --dpkgopt=force-unsafe-io --aptopt='Acquire::Languages "none"' bookworm - |
       docker import -)
  docker tag "$id" "$base"
}

all=()
for folder in "$here"/images/*/; do all+=("$(basename "$folder")"); done
if [ "${1:-}" = stop ]; then
  stop_engine
  exit
fi
wanted=("$@")
[ "$#" -gt 0 ] || wanted=("${all[@]}")
for broker in "${wanted[@]}"; do
  if [ ! -f "$here/images/$broker/Dockerfile" ]; then
    say "no image is called '$broker'; there are: ${all[*]} (or: stop)"
    exit 2
  fi
done
mkdir -p "$state" 2>/dev/null || true
[ -w "$state" ] || state=$(mktemp -d)
exec 9>"$state/lock"
flock 9  # two jobs at once would start two daemons, and the second takes the network away from the first
answers || start_engine
make_base
for broker in "${wanted[@]}"; do
  docker build -q -t "local/$broker:stomp" --build-arg "BASE=$base" "$here/images/$broker" >"$state/build-$broker.log" 2>&1 || {
    tail -n 20 "$state/build-$broker.log" >&2
    say "the image of $broker could not be built"
    exit 1
  }
done
