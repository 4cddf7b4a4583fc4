/** What is typed before a question can be read answers nothing, however it comes in. */
import { expect, it } from 'vitest';
import { createTestProject } from '../../../test/e2e/support-project.ts';
import { testTerminal } from '../../../test/support/test-terminal.ts';
import { eventLoopTurn, systemClock } from '../../base/clock.ts';
import { openProject } from '../../project/open.ts';
import type { KeyPress } from '../terminal/full-screen.ts';
import { createAttachment } from './attachment.ts';
import { createKeys } from './keys.ts';
import { createTakeUp } from './take-up.ts';

const WORKER = '---\nname: w\ntools: [shell]\npermissions: { shell: ask }\n---\nYou work.\n';
const letter = (name: string): KeyPress => ({ name, text: name, ctrl: false, shift: false });
const enter: KeyPress = { name: 'return', text: '', ctrl: false, shift: false };

it('keys that come one by one right behind the one that opens a question are thrown away', async () => {
  await using folder = await createTestProject('', WORKER);
  await folder.serve({ calls: [{ name: 'shell', input: { command: 'touch made.txt' } }] }, { text: 'Done.' });
  expect(await folder.look('run', 'w', 'Go.')).toMatchObject({ code: 5 });
  const { folder: cwd, env } = folder;
  const project = await openProject({ cwd, env });
  const [root] = await project.ledger.runs({ roots: true });
  if (root === undefined) throw new Error('there is no run');
  const context = { terminal: testTerminal({ tty: true, interactive: true, cwd, env }), clock: systemClock, cwd, openProject };
  const attachment = createAttachment(context, project, root, root.run);
  const keys = createKeys(attachment, createTakeUp(attachment));
  attachment.onWaits(keys.waitsChanged);
  const answers = async () => await project.ledger.read({ session: root.session, types: ['approval.answered'] });
  const asked = () => (attachment.state.mode.kind === 'asked' ? attachment.state.mode : undefined);
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
  attachment.leave(0);
  attachment.stop();
  await project.close();
});
