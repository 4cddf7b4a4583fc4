/** A project with two groups, and replies for everybody in them. */
import { expect } from 'vitest';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { runProgram } from '../../src/cli/program/program.ts';
import { keepsContract } from '../support/json-contract.ts';
import { testTerminal } from '../support/test-terminal.ts';
import { createTestProject, type Ended, objectIn, type TestProject } from './support-project.ts';

const DESK = '---\nname: desk\ngroup: { mode: orchestrator, workers: [coder, tester] }\n---\nYou lead.\n';
const PANEL = '---\nname: panel\ngroup: { mode: broadcast, workers: [coder] }\n---\nYou ask everybody.\n';

/** Replies go by what the prompt says, so that any number of prompts finds its answer. */
export const REPLIES = {
  agents: {
    desk: [
      { when: { contains: 'The workers have answered' }, text: 'All together.' },
      { text: '@worker:coder write it\n@worker:tester test it' },
    ],
    coder: [
      { when: { contains: 'write a file' }, toolCalls: [{ name: 'write', input: { path: 'out.txt', content: 'by coder' } }] },
      { text: 'one' },
      { text: 'two' },
      { text: 'three' },
    ],
    tester: [{ text: 'tested' }, { text: 'tested again' }],
  },
};

export async function groupProject(settings = 'permissions: { write: allow }\n'): Promise<TestProject> {
  const made = await createTestProject(settings);
  await made.write('agents/desk.md', DESK);
  await made.write('agents/panel.md', PANEL);
  await made.write('agents/coder.md', '---\nname: coder\ntools: [write]\n---\nYou code.\n');
  await made.write('agents/tester.md', '---\nname: tester\n---\nYou test.\n');
  await made.write('replies.yaml', JSON.stringify(REPLIES));
  made.env['TROUPE_MODEL'] = 'scripted:replies.yaml';
  return made;
}

/** The command in the test's own process: starting another costs more than all the rest. */
export async function quick(at: TestProject, ...args: readonly string[]): Promise<Ended> {
  const terminal = testTerminal({ env: at.env });
  const code = await runProgram(['-C', at.folder, ...args], terminal);
  keepsContract(args, terminal.written.out);
  return { code, out: terminal.written.out, err: terminal.written.progress };
}

export async function run(at: TestProject, ...args: readonly string[]): Promise<string> {
  const { code, out, err } = await quick(at, ...args);
  expect(code, `${args.join(' ')}: ${err}`).toBe(0);
  return out;
}

/** A model that answers a prompt with "slow" in it only when it is let. */
interface Gate {
  /** Resolves when somebody waits for the answer. */
  readonly reached: Promise<void>;
  open(): void;
}

export async function gate(at: TestProject): Promise<Gate> {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  await at.serve(async ({ body }) => {
    const newest = JSON.stringify(((body['messages'] ?? body['input']) as readonly Json[]).at(-1));
    if (newest.includes('The workers have answered')) return { text: 'All together.' };
    if (newest.includes('one block per worker')) return { text: '@worker:coder be slow' };
    if (!newest.includes('slow')) return { text: `answer to ${/the (second|third)/.exec(newest)?.[1] ?? 'something'}` };
    reached.resolve();
    await opened.promise;
    return { text: 'slowly' };
  });
  return { reached: reached.promise, open: () => opened.resolve() };
}

export async function shown(at: TestProject, name: string): Promise<JsonObject & { readonly runs: readonly JsonObject[] }> {
  return objectIn(await run(at, 'groups', 'show', name, '--json')) as JsonObject & { readonly runs: readonly JsonObject[] };
}
