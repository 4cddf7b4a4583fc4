/**
 * Calls a person back who looks elsewhere: a bell, or a notification of the desktop. Only on request. What is shown was written
 * by others, so it is one safe line, it passes through no shell, and a program that shows it gets nothing of the environment but
 * what it needs to reach the desktop.
 */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { limits } from '../../base/limits.ts';
import { firstLine } from '../../projections/readable.ts';
import { safeLine } from './safe-text.ts';
import type { Terminal } from './terminal.ts';

export type NotifyBy = 'none' | 'bell' | 'desktop';

export interface Notifier {
  /** `text` begins with a word of ours, so that nobody takes it for an option or a command of the terminal. */
  tell(text: string): void;
  /** When everything that was told is on its way. */
  settled(): Promise<void>;
}

const BELL = '\u0007';
const TITLE = 'Troupe';
const PASSED_ON = [
  'PATH',
  'HOME',
  'LANG',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
];

export function createNotifier(terminal: Pick<Terminal, 'progress' | 'env'>, by: NotifyBy, platform: string): Notifier {
  const started: Promise<void>[] = [];
  const write = (sequence: string): void => {
    if (terminal.progress.isTty) terminal.progress.write(sequence);
  };
  const onDesktop = (text: string): void => {
    const sequence = terminal.progress.isTty ? sequenceOf(terminal.env, text) : undefined;
    const program = sequence === undefined ? programFor(terminal.env, platform, text) : undefined;
    if (program === undefined) write(sequence ?? BELL);
    else started.push(start(program, terminal.env, () => write(BELL)));
  };
  return {
    tell: (text) => {
      if (by === 'bell') write(BELL);
      else if (by === 'desktop') onDesktop(firstLine(safeLine(text), limits.notificationCharacters));
    },
    settled: async () => void (await Promise.all(started)),
  };
}

/** Terminals that show notifications themselves, also those of a program on another machine. */
function sequenceOf(env: Terminal['env'], text: string): string | undefined {
  // A multiplexer in between keeps the sequence to itself.
  if ((env['TMUX'] ?? '') !== '' || (env['STY'] ?? '') !== '') return undefined;
  const program = env['TERM_PROGRAM'] ?? '';
  const kind = env['TERM'] ?? '';
  if (['iTerm.app', 'WezTerm', 'ghostty'].includes(program) || kind === 'xterm-kitty' || kind === 'xterm-ghostty')
    return `\u001b]9;${TITLE}: ${text}${BELL}`;
  if (/^(rxvt-unicode|foot)/.test(kind)) return `\u001b]777;notify;${TITLE};${text.replaceAll(';', ',')}${BELL}`;
  return undefined;
}

interface Program {
  readonly path: string;
  readonly args: readonly string[];
}

function programFor(env: Terminal['env'], platform: string, text: string): Program | undefined {
  if (platform === 'darwin') {
    const path = findProgram(env, 'osascript');
    const script = ['on run argv', `display notification (item 1 of argv) with title "${TITLE}"`, 'end run'];
    return path === undefined ? undefined : { path, args: [...script.flatMap((line) => ['-e', line]), text] };
  }
  if (!env['DISPLAY'] && !env['WAYLAND_DISPLAY']) return undefined;
  const path = findProgram(env, 'notify-send');
  // Desktops read markup in the text.
  const plain = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return path === undefined ? undefined : { path, args: [`--app-name=${TITLE}`, '--', TITLE, plain] };
}

/** Only in whole paths: one that is relative would be looked up in the folder that agents work in. */
function findProgram(env: Terminal['env'], name: string): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** One that fails or hangs is given up; then there is still the bell. */
function start({ path, args }: Program, env: Terminal['env'], instead: () => void): Promise<void> {
  const passed = Object.fromEntries(PASSED_ON.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
  return new Promise((resolve) => {
    execFile(path, [...args], { env: passed, cwd: '/', timeout: limits.notificationMs }, (error) => {
      if (error !== null) instead();
      resolve();
    });
  });
}
