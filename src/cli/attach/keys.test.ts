/** What is typed before a question can be read answers nothing, however it comes in. */
import { expect, it } from 'vitest';
import { createTestProject } from '../../../test/e2e/support-project.ts';
import { testTerminal } from '../../../test/support/test-terminal.ts';
import { eventLoopTurn, systemClock } from '../../base/clock.ts';
import { shortId } from '../../base/ids.ts';
import { openProject } from '../../project/open.ts';
import type { KeyPress } from '../terminal/full-screen.ts';
import { type Attachment, createAttachment } from './attachment.ts';
import { createKeys } from './keys.ts';
import { helpPages } from './picture.ts';
import { createTakeUp } from './take-up.ts';

const WORKER = '---\nname: w\ntools: [shell]\npermissions: { shell: ask }\n---\nYou work.\n';
const letter = (name: string): KeyPress => ({ name, text: name, ctrl: false, shift: false });
const key = (name: string): KeyPress => ({ name, text: '', ctrl: false, shift: false });
const enter: KeyPress = { name: 'return', text: '', ctrl: false, shift: false };

/** So many runs that have stopped at a question, and the whole screen on the newest. */
async function attachedTo(runs: number) {
  const folder = await createTestProject('', WORKER);
  await folder.serve({ calls: [{ name: 'shell', input: { command: 'touch made.txt' } }] });
  for (let run = 1; run <= runs; run += 1) expect(await folder.look('run', 'w', `Go ${run}.`)).toMatchObject({ code: 5 });
  const { folder: cwd, env } = folder;
  const project = await openProject({ cwd, env });
  const [root, ...others] = await project.ledger.runs({ roots: true });
  if (root === undefined) throw new Error('there is no run');
  const context = { terminal: testTerminal({ tty: true, interactive: true, cwd, env }), clock: systemClock, cwd, openProject };
  const attachment = createAttachment(context, project, root, root.run);
  const keys = createKeys(attachment, createTakeUp(attachment));
  attachment.onWaits(keys.waitsChanged);
  return {
    ...{ project, attachment, keys, root, others },
    answers: async (session = root.session) => await project.ledger.read({ session, types: ['approval.answered'] }),
    asked: () => (attachment.state.mode.kind === 'asked' ? attachment.state.mode : undefined),
    async [Symbol.asyncDispose]() {
      attachment.leave(0);
      attachment.stop();
      await project.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

it('the inbox has what other runs ask: it is answered there, and the run on the screen is as it was', async () => {
  await using one = await attachedTo(3);
  const { attachment, keys, asked, others, answers } = one;
  const mode = () => attachment.state.mode.kind;
  const press = (...pressed: readonly KeyPress[]): void => pressed.forEach(keys.press);
  await expect.poll(() => attachment.state.inbox.length).toBe(3);
  const [newer, oldest] = others;
  if (newer === undefined || oldest === undefined) throw new Error('there are no others');
  press(letter('o'), key('down'), enter);
  await expect.poll(() => asked()?.prompt !== undefined).toBe(true);
  expect(asked()?.said.join('\n')).toContain(`ago · w · ${shortId(newer.run)}`);
  press(letter('y'), enter);
  await expect.poll(async () => (await answers(newer.session)).length).toBe(1);
  await expect.poll(mode).toBe('inbox');
  expect(attachment.state.notice).toContain(`resume ${shortId(newer.run)} takes it up`);
  await expect.poll(() => attachment.state.inbox.map(({ root }) => root)).toEqual([oldest.run, one.root.run]);
  // Another terminal is faster with the one that is left of the others.
  press(enter);
  await expect.poll(() => asked()?.prompt !== undefined).toBe(true);
  const [open] = await one.project.engine.waits(oldest.run);
  await one.project.engine.answer(oldest.run, open?.wait ?? '', { kind: 'denied' }, { by: 'ann', where: 'inbox' });
  await expect.poll(mode).toBe('inbox');
  expect(attachment.state.notice).toContain('ann');
  press(key('escape'));
  expect(mode()).toBe('looking');
  expect(await answers()).toEqual([]);
  // Where not all keys have room, any key goes on to the next page, and behind the last one back.
  const room = () => ({ ...attachment.room(), width: () => 40, height: () => 5 });
  const small: Attachment = Object.create(attachment, { room: { value: room } });
  const inSmall = createKeys(small, createTakeUp(small));
  const pages = helpPages(40, 5).length;
  expect(pages).toBeGreaterThan(2);
  for (let page = 0; page < pages; page += 1) {
    inSmall.press(letter(page === 0 ? '?' : 'x'));
    expect(attachment.state.mode).toEqual({ kind: 'help', page });
  }
  inSmall.press(letter('x'));
  expect(mode()).toBe('looking');
  for (const pressed of [letter('?'), letter('q')]) inSmall.press(pressed);
  expect(mode()).toBe('looking');
});

it('keys that come one by one right behind the one that opens a question are thrown away', async () => {
  await using one = await attachedTo(1);
  const { attachment, keys, asked, answers } = one;
  await expect.poll(() => attachment.state.waits.length).toBe(1);
  // As a terminal gives what is typed fast: each key in a turn of the event loop of its own.
  for (const key of [letter('i'), letter('y'), letter('e'), letter('s'), enter]) {
    keys.press(key);
    await eventLoopTurn();
  }
  await expect.poll(async () => asked()?.prompt !== undefined || (await answers()).length > 0).toBe(true);
  expect(asked()?.draft.text).toBe('');
  expect(await answers()).toEqual([]);
  for (const key of [letter('y'), letter('e'), letter('s'), enter]) keys.press(key);
  await expect.poll(async () => (await answers()).length).toBe(1);
});
