/** The console beside `troupe serve`: where its files are, how a checkout makes them, and a browser that opens it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Environment } from '../../base/environment.ts';
import { type ConsoleFiles, createConsoleFiles } from '../../http/console/files.ts';
import { consoleFolder, prepareConsole } from '../terminal/built-pages.ts';
import { type CommandContext, callOf } from '../terminal/command.ts';

export interface ServedConsole extends ConsoleFiles {
  /** Resolves when the files are there: at once in a published package, after a build in a fresh checkout. */
  ready(): Promise<void>;
}

export function createServedConsole(onError: (error: Error) => void): ServedConsole {
  let made: Promise<void> | undefined;
  const prepare = (): Promise<void> => {
    made ??= prepareConsole();
    // What went wrong may be put right: the next who asks tries again.
    made.catch(() => {
      made = undefined;
    });
    return made;
  };
  const files = createConsoleFiles({ folder: consoleFolder, prepare, onError });
  return { ...files, ready: prepare };
}

/**
 * Opens a page in the user's browser, if there is one: `BROWSER`, or what the system opens links with. Tells whether it could be
 * started; what becomes of it nobody knows.
 */
export async function openBrowser(url: string, env: Environment, system: NodeJS.Platform = process.platform): Promise<boolean> {
  const [command = '', ...first] = env['BROWSER'] ? [env['BROWSER']] : (OPENERS[system] ?? ['xdg-open']);
  const child = spawn(command, [...first, url], { stdio: 'ignore', detached: true });
  try {
    await once(child, 'spawn');
    child.unref();
    return true;
  } catch {
    return false;
  }
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Tells where the console is, and opens it when somebody wants that. */
export async function showConsole(url: string, context: Pick<CommandContext, 'cwd' | 'terminal'>): Promise<void> {
  const { env, progress } = context.terminal;
  if (await openBrowser(url, env)) progress.line('  the console is open in your browser');
  else if (progress.isTty)
    progress.line('  no browser could be started: open the link above, also from another machine that reaches it');
  else progress.line(`warning: no browser could be started; start ${callOf(context)} serve in a terminal, which shows the link`);
}
