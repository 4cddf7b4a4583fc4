/** What was seen of one task that a real executor worked on, for the table of hostile and honest ones. */
import { rmSync } from 'node:fs';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { EventType, Verification } from '../../../src/events/catalogue.ts';
import type { EventOf } from '../../../src/events/envelope.ts';
import type { RunResult } from '../../../src/patterns/steps.ts';
import { newTaskFolder, type PlayedTask, TASK_SESSION, taskLife } from './task-world.ts';

/** A library with a test, a check that fails until there is a second function, and something that nobody may touch. */
export const LIBRARY: Readonly<Record<string, string>> = {
  'package.json': '{\n  "name": "sums",\n  "version": "1.0.0",\n  "scripts": {\n    "check": "node check.js"\n  }\n}\n',
  'src/add.js': 'exports.add = (left, right) => left + right;\n',
  'src/old/one.js': 'exports.one = 1;\n',
  'src/logo.bin': '\0\u0001logo',
  'src/keys.js': "exports.key = 'k';\n",
  'test/add.test.js':
    "const { test } = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('../src/add.js');\n\ntest('adds', () => {\n  assert.equal(add(1, 2), 3);\n});\n",
  'check.js': "const { times } = require('./src/times.js');\nprocess.exit(times(2, 3) === 6 ? 0 : 1);\n",
  'old.js': "require('./src/add.js').add(1, 1) === 2 || process.exit(1);\n",
  '.gitignore': 'node_modules\nignored\n',
};

/** What is asked for, done well. */
export const TIMES = 'put src/times.js exports.times = (left, right) => left * right;\\n';
/** Fails before the work, and passes when it is done. */
export const CHECK = '`node check.js` passes';
/** Passes before it, too. */
export const OLD = '`node old.js` passes';

export interface TaskCase extends Partial<Omit<PlayedTask, 'plays'>> {
  readonly name: string;
  readonly plays: readonly string[];
  readonly args?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** What the whole is called. */
  readonly state: Verification['state'];
  /** Among its reasons. */
  readonly why?: RegExp;
  readonly check?: (seen: SeenCase) => void;
}

export interface SeenCase {
  readonly result: RunResult;
  readonly folder: string;
  payloads<Type extends EventType>(type: Type): EventOf<Type>['payload'][];
}

export async function playCase(one: TaskCase): Promise<SeenCase & { clean(): void }> {
  const { include = ['src/'], noTouch = ['src/keys.js'], acceptance = [CHECK], files = {}, args = [] } = one;
  const played = { ...one, goal: 'times', include, noTouch, acceptance };
  const plan = { tasks: [played], files: { ...LIBRARY, ...files }, args };
  const folder = newTaskFolder(plan);
  const life = taskLife(folder, plan);
  try {
    const end = await life.go();
    if (end.kind !== 'ended') throw new Error(`${one.name}: ${JSON.stringify(end)}`);
    const events = await readAll(life.ledger, TASK_SESSION);
    return {
      ...{ result: end.result, folder, clean: () => rmSync(folder, { recursive: true, force: true }) },
      payloads: <Type extends EventType>(type: Type) =>
        events.flatMap((event) => (event.event_type === type ? [event.payload as EventOf<Type>['payload']] : [])),
    };
  } finally {
    await life.end();
  }
}
