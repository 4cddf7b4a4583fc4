/** An answer beside a cancel: whoever was told that it is accepted is heard, or is told that it was too late. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import type { RunId } from '../../src/base/ids.ts';
import { limits } from '../../src/base/limits.ts';
import { answerCommand, approveCommand } from '../../src/cli/commands/answer.ts';
import { inboxCommand } from '../../src/cli/commands/inbox.ts';
import { signalCommand } from '../../src/cli/commands/signal.ts';
import type { CommandContext } from '../../src/cli/terminal/command.ts';
import type { Answer } from '../../src/events/catalogue.ts';
import { userText } from '../../src/events/messages.ts';
import type { RunRow } from '../../src/ledger/port.ts';
import { openProject } from '../../src/project/open.ts';
import type { OpenOptions, Project } from '../../src/project/project.ts';
import { temporaryProject } from '../fixtures/agents/temporary-project.ts';
import { testTerminal } from '../support/test-terminal.ts';

const REPLIES = `agents:
  lead: [{ toolCalls: [{ name: w, input: { prompt: p, reason: r } }] }, { text: Done. }]
  w:
    - toolCalls: [{ name: shell, input: { command: touch made } }, { name: ask, input: { question: Sure? } }]
    - text: Done.
`;

const FILES = {
  'agents/w.md': '---\nname: w\ntools: [shell, ask]\npermissions: { shell: ask }\n---\nYou work.\n',
  'agents/lead.md': '---\nname: lead\nagents: [w]\n---\nYou lead.\n',
  'replies.yaml': REPLIES,
};

/** Another process cancels between the answer and the look at who drives the run, and has not ended it when that is looked at. */
async function besideCancel(cancelled: 'lead' | 'w', answers?: readonly string[]) {
  const files = await temporaryProject(FILES);
  const opened = (options: Partial<OpenOptions>): Promise<Project> =>
    openProject({
      cwd: files.root,
      root: files.root,
      env: { HOME: files.root },
      ...options,
      flags: { defaultModel: 'scripted:replies.yaml' },
    });
  const other = await opened({});
  const started = await other.engine.start({ agent: 'lead', input: userText('Go.'), workspace: files.root });
  if (started.kind !== 'started') throw new Error(started.error.message);
  const { run: root, session } = started.handle;
  await started.handle.done;
  const rows = await other.ledger.runs({ session });
  const target = rows.find(({ agent }) => agent === cancelled) as RunRow;
  const worker = rows.find(({ agent }) => agent === 'w') as RunRow;
  let end: (() => Promise<void>) | undefined;
  const cancel = async (): Promise<void> => {
    const taken = await other.ledger.acquire(session, root);
    if (taken.kind !== 'acquired') throw new Error(taken.kind);
    expect(await other.engine.cancel(target.run, 'enough')).toMatchObject({ live: true });
    end = async () => {
      end = undefined;
      await other.ledger.release(taken.fence);
      await other.engine.cancel(target.run, 'enough');
    };
  };
  const clock: Clock = {
    ...systemClock,
    after(delayMs, callback, hold) {
      if (delayMs === limits.inboxLookMs) void end?.();
      return systemClock.after(delayMs, callback, hold);
    },
  };
  const terminal = testTerminal({ cwd: files.root, ...(answers === undefined ? {} : { answers, interactive: true }) });
  const context: CommandContext = {
    ...{ terminal, clock, cwd: files.root },
    openProject: async (options) => {
      const project = await opened(options);
      const answer: Project['engine']['answer'] = async (...given) => {
        const outcome = await project.engine.answer(...given);
        await cancel();
        return outcome;
      };
      const pause: Project['engine']['pause'] = async (...given) => {
        await cancel();
        return await project.engine.pause(...given);
      };
      return { ...project, engine: { ...project.engine, answer, pause } };
    },
  };
  return {
    ...{ context, terminal, worker: worker.run },
    made: () =>
      access(join(files.root, 'made')).then(
        () => true,
        () => false,
      ),
    async [Symbol.asyncDispose]() {
      await end?.();
      await other.close();
      await files[Symbol.asyncDispose]();
    },
  };
}

const TOO_LATE = /your answer came too late: w \(\w{6}\) was cancelled before it had any effect/;

const text = (context: CommandContext, run: RunId, answer: Answer): Promise<number> => answerCommand(context, run, answer, {});

it.each([
  ['approve', (context: CommandContext, run: RunId) => approveCommand(context, run, {})],
  [
    'approve --input',
    (context: CommandContext, run: RunId) => text(context, run, { kind: 'approved', input: { command: 'touch made' } }),
  ],
  ['deny', (context: CommandContext, run: RunId) => text(context, run, { kind: 'denied' })],
  ['answer', (context: CommandContext, run: RunId) => text(context, run, { kind: 'text', text: 'Yes.' })],
])('%s says how the run ended, and that it was too late', async (_name, give) => {
  await using beside = await besideCancel('lead');
  expect(await give(beside.context, beside.worker)).toBe(130);
  expect(beside.terminal.written.progress).toMatch(TOO_LATE);
  expect(beside.terminal.written.progress).toContain('The run was cancelled: enough');
  expect(await beside.made()).toBe(false);
});

it('what is above a run that was cancelled goes on', async () => {
  await using beside = await besideCancel('w');
  expect(await approveCommand(beside.context, beside.worker, {})).toBe(0);
  expect(beside.terminal.written.progress).toMatch(TOO_LATE);
  expect(beside.terminal.written.out).toContain('Done.');
  expect(await beside.made()).toBe(false);
});

it('the inbox says so, too', async () => {
  await using beside = await besideCancel('lead', ['2', 'yes']);
  expect(await inboxCommand(beside.context, {})).toBe(0);
  expect(beside.terminal.written.progress).toMatch(TOO_LATE);
  expect(await beside.made()).toBe(false);
});

it('a pause is told that the run ends', async () => {
  await using beside = await besideCancel('lead');
  await expect(signalCommand(beside.context, 'pause', 'last', {})).rejects.toThrow('was cancelled; it ends, and is not paused');
});

it('who only records it is told, too', async () => {
  await using beside = await besideCancel('lead');
  await expect(approveCommand(beside.context, beside.worker, { resume: false })).rejects.toThrow(TOO_LATE);
});
