/**
 * One agent at work in a folder of its own, with the real shell, the real file tools and the real engine, and what became of
 * its claims. The model is a list: one call after the other, then the report.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import type { SessionId } from '../../../src/base/ids.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { Claim, Verification } from '../../../src/events/catalogue.ts';
import { userText } from '../../../src/events/messages.ts';
import { createGuard } from '../../../src/tools/closed/guard.ts';
import { editTool } from '../../../src/tools/files/edit.ts';
import { readTool } from '../../../src/tools/files/read.ts';
import { writeTool } from '../../../src/tools/files/write.ts';
import { type OrdinaryTool, type Tool, textResult } from '../../../src/tools/port.ts';
import { shellTool } from '../../../src/tools/shell/shell.ts';
import { createVerifier } from '../../../src/tools/shell/verifier.ts';
import { createWorkspaceWatch } from '../../../src/tools/watch/workspace-watch.ts';
import { agent, calls, createWorld, reports, turnOf } from '../world.ts';

const guard = createGuard();

export type Deed =
  /** A command line for the shell tool. */
  | string
  | { readonly shell: string; readonly timeoutSeconds: number }
  | { readonly write: string; readonly content: string }
  | { readonly edit: string; readonly old: string; readonly new: string }
  | { readonly read: string }
  /** Somebody else, unseen by the agent's tools. */
  | { readonly person: (folder: string) => void }
  /** A tool of an embedding program, or of an MCP server, that does not say what it changes. */
  | { readonly foreign: (folder: string) => void };

export interface Case {
  readonly name: string;
  /** The sources hold a mistake that a test finds. */
  readonly broken?: boolean;
  readonly git?: boolean;
  readonly files?: Readonly<Record<string, string>>;
  /** What else is there before the agent begins. */
  readonly ready?: (folder: string) => void;
  /** What an earlier prompt of the same session did, and what happened after it; its report claims nothing. */
  readonly earlier?: readonly Deed[];
  readonly between?: (folder: string) => void;
  /** What the runtime runs itself at the end. */
  readonly verify?: readonly string[];
  /** `<here>` in texts stands for the folder, `<bin>` for one of the user's that programs are looked for in first. */
  readonly deeds: readonly Deed[];
  readonly claims: readonly (Claim | string)[];
}

export const file = (path: string): Claim => ({ kind: 'file', path });

const GOOD = 'exports.add = (left, right) => left + right;\n';
export const BROKEN = 'exports.add = (left, right) => left - right;\n';
/** A program that runs the tests and passes their outcome on. */
export const WRAPPER =
  "const { status } = require('node:child_process').spawnSync('node', ['--test']);\nprocess.exit(status ?? 1);\n";
const TEST = (what: string, check: string): string =>
  `const { test } = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('../src/add.js');\n\ntest('${what}', () => {\n  ${check}\n});\n`;

const FILES: Readonly<Record<string, string>> = {
  'package.json':
    '{\n  "name": "sums",\n  "version": "1.0.0",\n  "scripts": {\n    "test": "node --test",\n    "lint": "node lint.js"\n  },\n  "dependencies": {}\n}\n',
  'lint.js': 'require("node:fs").readFileSync("src/add.js", "utf8").includes("exports") || process.exit(1);\n',
  'test/add.test.js': TEST('adds', 'assert.equal(add(1, 2), 3);'),
  'test/zero.test.js': TEST('adds nothing', 'assert.equal(add(4, 0), 4);'),
  '.gitignore': 'node_modules\n',
};

const environmentWith = (bin: string) => ({
  ...process.env,
  PATH: [bin, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
});

export async function verificationOf(one: Case): Promise<Verification> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-evidence-')));
  const files = { ...FILES, 'src/add.js': one.broken === true ? BROKEN : GOOD, ...one.files };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const bin = `${folder}-bin`;
  mkdirSync(bin);
  one.ready?.(folder);
  if (one.git === true) gitIn(folder, 'init', '-q');
  if (one.git === true) commitAll(folder);
  const environment = environmentWith(bin);
  const here = (text: string): string => text.replaceAll('<here>', folder).replaceAll('<bin>', bin);
  const claims = one.claims.map((claim): Claim => {
    if (typeof claim === 'string') return { kind: 'command', command: here(claim) };
    return claim.kind === 'file' ? { ...claim, path: here(claim.path) } : claim;
  });
  const worker = agent({
    ...{ tools: NAMES_OF_TOOLS, permissions: { '*': 'allow' }, maxTurns: 20 },
    ...(one.verify === undefined ? {} : { verify: { commands: [...one.verify] } }),
  });
  let goesOn = false;
  const world = createWorld({
    agents: [worker, { ...worker, name: 'earlier' }],
    tools: [...builtIn(environment), person(one, 'person'), person(one, 'foreign')],
    engineOptions: {
      workspaces: createWorkspaceWatch({ clock: systemClock, environment }),
      verifier: createVerifier({ clock: systemClock, environment }),
    },
    brain: (request) => {
      const isEarlier = one.earlier !== undefined && !goesOn;
      const deed = (isEarlier ? one.earlier : one.deeds)?.[turnOf(request) - 1];
      if (deed === undefined) return reports('Done.', isEarlier ? {} : { claims: claims as never });
      return calls(callOf(deed, turnOf(request) - 1, here));
    },
  });
  try {
    const prompt = async (name: string, session?: SessionId) => {
      const started = await world.engine.start({ agent: name, input: userText('Go.'), workspace: folder, session });
      if (started.kind !== 'started') throw new Error(started.error.message);
      const end = await started.handle.done;
      if (end.kind !== 'ended') throw new Error(`the run did not end: ${end.kind}`);
      return { session: started.handle.session, verification: end.result.verification };
    };
    const before = one.earlier === undefined ? undefined : await prompt('earlier');
    one.between?.(folder);
    goesOn = true;
    return (await prompt('worker', before?.session)).verification;
  } finally {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
    rmSync(bin, { recursive: true, force: true });
  }
}

const NAMES = { type: 'object', properties: { deed: { type: 'number' } }, required: ['deed'] } as const;
const builtIn = (environment: NodeJS.ProcessEnv): readonly Tool[] => [
  shellTool({ guard, clock: systemClock, environment }),
  writeTool({ guard, clock: systemClock, random: systemRandom }),
  editTool({ guard, clock: systemClock, random: systemRandom }),
  readTool({ guard }),
];
const stub = (name: 'person' | 'foreign'): OrdinaryTool => ({
  ...{ name, description: name, inputSchema: NAMES, readOnly: name === 'person' },
  replay: 'never',
  run: async () => textResult(''),
});
const NAMES_OF_TOOLS = ['shell', 'write', 'edit', 'read', 'person', 'foreign'];

function person(one: Case, name: 'person' | 'foreign'): OrdinaryTool {
  return {
    ...stub(name),
    run: async (input, { workspace }) => {
      const deed = one.deeds[(input as { deed: number }).deed];
      if (typeof deed === 'object' && 'person' in deed) deed.person(workspace);
      if (typeof deed === 'object' && 'foreign' in deed) deed.foreign(workspace);
      return textResult('done');
    },
  };
}

function callOf(deed: Deed, index: number, here: (text: string) => string) {
  if (typeof deed === 'string') return { name: 'shell', input: { command: here(deed) } };
  if ('shell' in deed) return { name: 'shell', input: { command: here(deed.shell), timeoutSeconds: deed.timeoutSeconds } };
  if ('write' in deed) return { name: 'write', input: { path: deed.write, content: deed.content } };
  if ('edit' in deed) return { name: 'edit', input: { path: deed.edit, old: deed.old, new: deed.new } };
  if ('read' in deed) return { name: 'read', input: { path: deed.read } };
  return { name: 'person' in deed ? 'person' : 'foreign', input: { deed: index } };
}

export function gitIn(folder: string, ...args: string[]): void {
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false', ...args], {
    cwd: folder,
  });
}

export function commitAll(folder: string): void {
  gitIn(folder, 'add', '-A');
  gitIn(folder, 'commit', '-qm', 'first');
}
