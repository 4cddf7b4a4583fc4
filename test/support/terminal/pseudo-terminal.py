"""Runs a command on a pseudo-terminal of the given size: what is typed comes from stdin, what it prints goes to stdout."""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios

columns, rows = int(sys.argv[1]), int(sys.argv[2])
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])
signal.signal(signal.SIGCONT, lambda *_: os.kill(pid, signal.SIGCONT))
watched = [0, terminal]
while True:
    ready, _, _ = select.select(watched, [], [])
    if terminal in ready:
        try:
            printed = os.read(terminal, 65536)
        except OSError:
            break
        if not printed:
            break
        os.write(1, printed)
    if 0 in ready:
        typed = os.read(0, 65536)
        if typed:
            os.write(terminal, typed)
        else:
            watched = [terminal]
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
