/**
 * A project in a temporary folder and the command line in it, as real processes. Each test has its own, so tests can run
 * side by side; the folder goes when the test ends.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/base/json.ts';
import { runProgram } from '../../src/cli/program/program.ts';
import { keepsContract } from '../support/json-contract.ts';
import { type ModelServer, startModelServer } from '../support/models/model-server.ts';
import type { Reply, SeenRequest } from '../support/models/script.ts';
import { programOf, ROOM_FOR_THE_YOUNG } from '../support/programs/programs.ts';
import { projectPlaysAgain } from '../support/replayed.ts';
import { testTerminal } from '../support/test-terminal.ts';

export const MAIN = await programOf(fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url)));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves as soon as stderr has this text. */
  readonly says: (text: string) => Promise<void>;
  /** The same when it has it so many times. */
  readonly saysTimes: (text: string, times: number) => Promise<void>;
}

export interface Spawned {
  readonly input?: string | Uint8Array;
  /** Put before the command: a shell that sets limits, for one. */
  readonly through?: readonly string[];
  readonly uid?: number;
  /** Another file of the command line than the built one. */
  readonly main?: string;
}

export interface TestProject extends AsyncDisposable {
  readonly folder: string;
  /** Added to the environment of every command. */
  readonly env: Record<string, string>;
  write(path: string, content: string | Uint8Array): Promise<void>;
  start(args: readonly string[], spawned?: Spawned): Running;
  troupe(...args: readonly string[]): Promise<Ended>;
  /** The same, but inside the test's own process, for looking: starting a process costs more than all the rest. */
  look(...args: readonly string[]): Promise<Ended>;
  /** A command as it was printed, words in double quotes included. */
  typed(line: string): Promise<Ended>;
  /** The same inside the test's own process. */
  lookTyped(line: string): Promise<Ended>;
  /** A model server that plays these replies, the last one again and again; becomes the project's model. */
  serve(...replies: readonly (Reply | ((request: SeenRequest) => Reply | Promise<Reply>))[]): Promise<ModelServer>;
  /** A scripted model instead. */
  script(...replies: readonly unknown[]): Promise<void>;
}

const AGENT = '---\nname: helper\ntools: [read, list, write, shell, ask]\n---\nYou help.\n';

export async function createTestProject(
  settings = '',
  agent = AGENT,
  prefix = join(tmpdir(), 'troupe-luck-'),
): Promise<TestProject> {
  const folder = await mkdtemp(prefix);
  const servers: ModelServer[] = [];
  const env: Record<string, string> = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: folder,
    TMPDIR: tmpdir(),
    OLLAMA_HOST: '127.0.0.1:9',
  };
  const write = async (path: string, content: string | Uint8Array): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  };
  const start: TestProject['start'] = (args, spawned = {}) => startProcess(folder, env, args, spawned);
  await write('agents/helper.md', agent);
  await write('troupe.yaml', settings);
  return {
    folder,
    env,
    write,
    start,
    troupe: (...args) => start(args).ended,
    look: (...args) => lookInside(folder, env, args),
    typed: (line) => start(wordsOf(line)).ended,
    lookTyped: (line) => lookInside(folder, env, wordsOf(line)),
    async serve(...replies) {
      const server = await startModelServer((request) => {
        const reply = replies[Math.min(request.index, replies.length - 1)] ?? {};
        return typeof reply === 'function' ? reply(request) : reply;
      });
      servers.push(server);
      Object.assign(env, {
        OPENAI_API_KEY: 'sk-test-0123456789abcdef',
        OPENAI_BASE_URL: `${server.origin}/v1`,
        OPENAI_MODEL: 'test-model',
        ANTHROPIC_API_KEY: 'sk-ant-0123456789abcdef',
        ANTHROPIC_BASE_URL: server.origin,
        TROUPE_MODEL: 'openai/test-model',
      });
      return server;
    },
    async script(...replies) {
      await write('replies.yaml', JSON.stringify(replies));
      env['TROUPE_MODEL'] = 'scripted:replies.yaml';
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server.close();
      const again = projectPlaysAgain(join(folder, '.troupe', 'ledger.db'));
      await again.finally(() => rm(folder, { recursive: true, force: true }));
    },
  };
}

export function startProcess(
  folder: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  { input = '', through = [], uid, main = MAIN }: Spawned,
): Running {
  const [command = process.execPath, ...rest] = [...through, process.execPath, ...ROOM_FOR_THE_YOUNG, main, ...args];
  const child = spawn(command, rest, { cwd: folder, env: { ...env }, ...(uid === undefined ? {} : { uid, gid: uid }) });
  let out = '';
  let err = '';
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    for (const listener of listeners) listener();
  });
  child.stdin.on('error', () => undefined).end(input);
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, out, err }))).then((all) => {
    if (all.code !== null) keepsContract(args, all.out);
    return all;
  });
  const saysTimes = (text: string, times: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (err.split(text).length > times) resolve();
      };
      listeners.add(look);
      void ended.then(() => reject(new Error(`never said "${text}": ${err}`)));
      look();
    });
  return { pid: child.pid ?? 0, ended, kill: (signal) => void child.kill(signal), says: (text) => saysTimes(text, 1), saysTimes };
}

/** What a shell would make of a printed line that begins with `troupe`. */
function wordsOf(line: string): string[] {
  const words = [...line.trim().matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
  if (words[0] !== 'troupe') throw new Error(`not a command: ${line}`);
  return words.slice(1);
}

export function objectIn(text: string): JsonObject {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) throw new Error(`not an object: ${text}`);
  return parsed.value;
}

export const agentWith = (frontmatter: string): string => `---\nname: helper\n${frontmatter}\n---\nYou help.\n`;

/** A command inside this process, as if there were no terminal. */
export async function lookInside(cwd: string, env: Readonly<Record<string, string>>, args: readonly string[]): Promise<Ended> {
  const terminal = testTerminal({ env, cwd, columns: 0 });
  const code = await runProgram(args, terminal);
  keepsContract(args, terminal.written.out);
  return { code, out: terminal.written.out, err: terminal.written.progress };
}

/** The ledger is sound, and the newest run is in it with this state. */
export async function expectKept(project: TestProject, status: string): Promise<void> {
  expect(await project.look('ledger', 'verify')).toMatchObject({ code: 0, out: expect.stringMatching(/^sound: \d+ events/) });
  const shown = await project.look('show', 'last', '--json');
  expect(shown.code).toBe(0);
  expect(objectIn(shown.out)).toMatchObject({ status });
}

/** With `--json` stdout is one object whatever happens. */
export function expectErrorObject(ended: Ended, code: string): void {
  expect(objectIn(ended.out)).toMatchObject({ error: { code, message: expect.any(String), fix: expect.any(String) } });
}

/** The printed command of this name, as a person would copy it. */
export function printed(text: string, name: string): string {
  const found = new RegExp(`troupe ${name} .*`).exec(text)?.[0];
  if (found === undefined) throw new Error(`no "troupe ${name}" in: ${text}`);
  return found;
}

/** A model that answers its first request when it is let. */
export async function serveHeld(project: TestProject, first: Reply, ...rest: readonly Reply[]) {
  const asked = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  const server = await project.serve(
    async () => {
      asked.resolve();
      await goesOn.promise;
      return first;
    },
    ...rest,
  );
  return { server, asked: asked.promise, goOn: () => goesOn.resolve() };
}

/** What was asked and answered in the last run, as the ledger has it. */
export async function decisions(project: TestProject): Promise<readonly Record<string, unknown>[]> {
  const { out } = await project.look('logs', 'last', '--jsonl');
  return out
    .split('\n')
    .filter((line) => line.includes('"event_type":"approval.'))
    .map((line) => objectIn(line)['payload'] as Record<string, unknown>);
}
