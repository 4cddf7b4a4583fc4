/**
 * Programs of which a star covers nothing, because their words are no operands: they change what everything behind them means,
 * or start as a program what they are given. Only those whose command stands in plain words are here; an option that runs
 * something is not covered for any program.
 */

const list = (text: string): readonly string[] => text.split(' ');

const UNSEEN_PROGRAMS: ReadonlySet<string> = new Set([
  // words of the shell
  ...list('cd pushd popd export set unset alias unalias trap . source eval readonly declare typeset local let read enable hash'),
  ...list('shopt bind complete compgen mapfile readarray getopts caller fc history return break continue shift coproc'),
  // as somebody else, with other rights
  ...list(
    'su sg newgrp login sulogin runuser pkexec run0 setpriv capsh gosu su-exec gksu gksudo kdesu kdesudo beesu super userv',
  ),
  ...list(
    'sudo-rs su-rs calife ksu newrole run_init runcon aa-exec keyctl k5start krenew pagsh sshpass setuidgid envuidgid chpst',
  ),
  // in another place
  ...list('chroot arch-chroot schroot dchroot switch_root unshare nsenter proot fakechroot fakeroot fakeroot-sysv fakeroot-tcp'),
  ...list('fakeroot-ng pseudo firejail bwrap nsjail minijail0 flatpak-spawn sandbox sandbox-exec systemd-nspawn systemd-vmspawn'),
  ...list('lxc-attach lxc-execute lxc-unshare lxc-start vzctl wine wine64 box64 box86'),
  ...list(
    'i386 i486 i586 i686 x86_64 uname26 ppc ppc32 ppc64 powerpc s390 s390x sparc sparc32 sparc64 alpha ia64 parisc parisc32',
  ),
  ...list('parisc64 mips mips32 mips64 arm armv7l armv8l aarch64 riscv32 riscv64 loongarch64 e2k'),
  // with limits, priorities, times and locks
  ...list('cpulimit prlimit chrt taskset uclampset numactl choom softlimit cgexec schedtool verynice nocache eatmydata hugectl'),
  ...list('timelimit faketime pipesz coresched enosys niceload flock setlock lckdo dotlockfile with-lock-ex lockf flom lckrun'),
  ...list('run-one run-this-one run-one-constantly run-one-until-success run-one-until-failure keep-one-running solo retry'),
  ...list('runalarm runlock runstat cronic chronic systemd-inhibit elogind-inhibit gnome-session-inhibit kde-inhibit trickle'),
  ...list('torsocks torify tsocks proxychains proxychains3 proxychains4 proxychains-ng proxybound graftcp socksify oniux'),
  // later, over and over, many at once, in the background
  ...list('watch parallel sem env_parallel pexec prll rush at batch crontab entr watchexec chokidar onchange nodemon reflex'),
  ...list(
    'when-changed inotify-hookable concurrently daemon daemonize start-stop-daemon supervise-daemon supervise svscan runsv',
  ),
  ...list(
    'runsvdir fghack pgrphack tcpserver tcpclient sslserver recordio tini dumb-init catatonit docker-init execlineb tsp nq',
  ),
  ...list('systemd-run systemd-cat systemd-socket-activate systemd-pty-forward start-server-and-test run-parts'),
  ...list(
    'mpirun mpiexec orterun prterun srun salloc sbatch qsub qrsh bsub aprun jsrun pdsh dsh pssh parallel-ssh rsh mosh autossh',
  ),
  // under a watch
  ...list('strace strace64 ltrace sotruss latrace uftrace xtrace truss dtruss ktrace gdb gdb-multiarch gdbserver cgdb lldb rr'),
  ...list('perf operf ocount valgrind heaptrack memusage catchsegv kcov turbostat hyperfine multitime apitrace stap bear'),
  ...list('scan-build intercept-build checkinstall installwatch annotate-output logsave ttyrec script scriptlive c8 nyc'),
  // with a pipe, a terminal, a screen, a session
  ...list('pee mispipe zrun ifne rlwrap rlfe ledit luit unbuffer expect autoexpect empty screen tmux byobu tmate dtach abduco'),
  ...list('ttyd gotty openvt xinit startx xvfb-run xvfb-run-safe xwfb-run wlheadless-run cage dbus-run-session dbus-launch'),
  ...list('ssh-agent gpg-agent ck-launch-session im-launch xss-lock kstart kstart5 xterm uxterm lxterm x-terminal-emulator'),
  ...list('gnome-terminal konsole rxvt urxvt lxterminal xfce4-terminal mate-terminal terminator alacritty kitty foot'),
  ...list('open xdg-open gtk-launch exo-open run-mailcap mimeopen osascript vglrun optirun primusrun prime-run gamemoderun'),
  ...list('mangohud gamescope padsp aoss pasuspender pw-jack debconf'),
  // with variables and packages of their own
  ...list('envdir direnv nix-shell nix env-cmd dotenv dotenvx npm-run-all run-s run-p wireit doppler chamber aws-vault summon'),
  ...list('envconsul envchain with-contenv ccache sccache distcc icecc ld.so ldd fzf'),
  // where somebody types commands, or which take them from their input
  ...list('vi vim view nvim ex ed emacs nano pico less more most man info pager psql mysql sqlite3 ftp telnet socat nc ncat'),
  ...list('sensible-editor sensible-pager editor vipe vidir mongo mongosh duckdb mariadb sqlite'),
]);

/** Families of which nobody has the whole list: loaders, emulators, what s6 starts programs with. */
const UNSEEN_FAMILIES = /^(?:ld[-.].*\.so.*|qemu-.+|s6-.+)$/;

export const isUnseenProgram = (name: string): boolean => UNSEEN_PROGRAMS.has(name) || UNSEEN_FAMILIES.test(name);
