#!/bin/sh
# Leads programs inside the walls to the hosts outside (src/sandbox/relay.ts). The one outside ends with whoever started it, also
# by SIGKILL, and removes its socket; those inside end with the walls.
case $1 in -V | UNIX-LISTEN:*) exec setpriv --pdeathsig TERM socat "$@" ;; esac
exec socat "$@"
