/**
 * Commands whose exit code says less than it seems: programs that start what they are given and may end well whatever becomes
 * of it, and options that have a runner start something else, or nothing. Here what is harmless is known, and all else is not.
 */
import { isUnseenProgram } from './programs/unseen-programs.ts';

/** Of those that start what they are given: they end as it ends. */
const PASSES_ON = new Set(
  [
    'xvfb-run dbus-run-session flock taskset chrt prlimit numactl choom uclampset firejail bwrap proot fakeroot faketime eatmydata',
    'nocache softlimit envdir chpst setuidgid tini dumb-init catatonit docker-init torsocks proxychains proxychains4 unbuffer',
    'catchsegv valgrind strace kcov c8 nyc ccache sccache mpirun mpiexec srun chronic cronic direnv nix-shell nix env-cmd',
    'dotenv dotenvx npm-run-all run-s run-p wireit doppler chamber aws-vault start-server-and-test concurrently',
    'psql mysql mariadb sqlite sqlite3 duckdb mongosh mongo',
  ].flatMap((names) => names.split(' ')),
);
const AWK = /^[gmn]?awk$/;
const FINDS = /^(?:g?find|bfs|fd|fdfind)$/;
const FIND_STARTS = /^(?:-(?:exec|ok)(?:dir)?|-[A-Za-z]*[xX]|--exec(?:-batch)?(?:=.*)?)$/;
/** With these alone xargs starts its command at least once, and ends badly when that does. */
const XARGS_FLAGS = /^-(?:[0t]+|[nPL](?:[1-9]\d*)?)$/;

/** What can be told of a command only by whoever sees what it was given. */
export const MAY_START_NOTHING = 'whether it starts anything, and how that ends, cannot be told from its exit code';

const RUNS_SCRIPTS = /^(?:test|tst|t|run|run-script|start|stop|restart)$/;
const NPM_FLAGS =
  /^(?:-w|--workspace(?:=.+)?|-ws|--workspaces(?:=false)?|--no-workspaces|-iwr|--include-workspace-root|--no-(?:fund|audit|update-notifier|timing)|--(?:fund|audit|update-notifier)=false|--(?:prefer-)?offline|--foreground-scripts|--verbose|--quiet|--loglevel|-q|-d{1,3}|-s|-v|-p)$/;
/** Of the others only what stands before the name of the script is theirs. */
const MANAGER_FLAGS =
  /^(?:-[rsw]|--recursive|--workspace-root|--silent|--filter(?:=.+)?|-F|--stream|--parallel|--bun|--offline|--prefer-offline)$/;
const MANAGER_VALUED = /^(?:--filter|-F)$/;
const MAKES = /^(?:g?make|just|task|rake|ninja)$/;
const MAKE_FLAGS =
  /^(?:-[sBwrRSO]*(?:j\d*)?|-l[\d.]*|-[Cfd].*|--(?:silent|quiet|always-make|(?:no-)?print-directory|jobs(?:=\d+)?|directory(?:=.+)?|file(?:=.+)?|makefile(?:=.+)?|justfile(?:=.+)?|output-sync(?:=\w+)?|load-average(?:=.*)?|no-builtin-(?:rules|variables)|trace|no-keep-going))$/;
const MAKE_DECIDES = /^(?:SHELL|\.SHELLFLAGS|MAKE|MAKEFLAGS|GNUMAKEFLAGS|MAKEFILES)\s*[:?+!]*=/;
/** They have tests run by something else. */
const RUN_BY_OTHERS: Readonly<Record<string, RegExp>> = { go: /^--?(?:exec|toolexec)(?:=|$)/, cargo: /^--config(?:=|$)/ };

/** Why its exit code may say nothing; `words` in the one form in which commands are compared. */
export function startsUnseen(words: readonly string[]): string | undefined {
  const [name = '', ...rest] = words;
  const end = rest.indexOf('--');
  const own = end < 0 ? rest : rest.slice(0, end);
  if (name.startsWith('-')) return `what becomes of it with ${name} is not known`;
  if (AWK.test(name) && !own.some((word) => /^(?:-f|--file)/.test(word))) return MAY_START_NOTHING;
  if (FINDS.test(name)) return rest.some((word) => FIND_STARTS.test(word)) ? MAY_START_NOTHING : undefined;
  if (/^g?xargs$/.test(name)) return behindXargs(rest);
  if (isUnseenProgram(name)) return PASSES_ON.has(name) ? undefined : MAY_START_NOTHING;
  const strange = strangeOption(name, own);
  return strange === undefined ? undefined : `what ${name} does with ${strange} is not known`;
}

function behindXargs(words: readonly string[]): string | undefined {
  const at = words.findIndex((word, index) => !XARGS_FLAGS.test(word) && !/^-[nPL]$/.test(words[index - 1] ?? ''));
  const [name] = at < 0 ? [] : words.slice(at);
  const isPlain = name !== undefined && /^[\w./]/.test(name) && !/(?:^|\/)(?:(?:ba|da|z|k|a)?sh|env|xargs)$/.test(name);
  return isPlain ? startsUnseen(words.slice(at)) : MAY_START_NOTHING;
}

function strangeOption(name: string, own: readonly string[]): string | undefined {
  const options = own.filter((word) => /^-./.test(word));
  if (MAKES.test(name)) return own.find((word) => MAKE_DECIDES.test(word)) ?? options.find((word) => !MAKE_FLAGS.test(word));
  if (name === 'npm')
    return own.some((word) => RUNS_SCRIPTS.test(word)) ? options.find((word) => !NPM_FLAGS.test(word)) : undefined;
  if (/^(?:pnpm|yarn|bun)$/.test(name)) {
    const script = own.findIndex((word, index) => !isOfManager(word, own[index - 1]));
    return (script < 0 ? own : own.slice(0, script)).find((word) => word.startsWith('-') && !MANAGER_FLAGS.test(word));
  }
  const others = RUN_BY_OTHERS[name];
  return others === undefined ? undefined : own.find((word) => others.test(word));
}

const isOfManager = (word: string, before = ''): boolean =>
  word.startsWith('-') || word === 'run' || word === 'run-script' || MANAGER_VALUED.test(before);
