/**
 * The whole way, as a user goes it: `troupe serve --open` opens the console; a run in another terminal is killed with kill -9;
 * the console shows that it stands still, has it go on, and shows that it was taken over and what came of it.
 */
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agentWith, createTestProject } from '../e2e/support-project.ts';
import { type Looking, startLooking } from '../support/console/browser.ts';
import { PATIENCE_MS } from '../support/patience.ts';

/** From the sources: beside them are the files of the console. */
const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

let looking: Looking;
beforeAll(async () => {
  looking = await startLooking();
});
afterAll(() => looking[Symbol.asyncDispose]());

it('a killed run is seen to stand still, and goes on from the console', async () => {
  await using project = await createTestProject('permissions: { shell: allow }\n', agentWith('tools: [shell]'));
  const { promise: never } = Promise.withResolvers<{ text: string }>();
  const once = { calls: [{ name: 'shell', input: { command: 'echo done >> done.txt' } }] };
  const model = await project.serve(once, () => never, { text: 'All done.' });
  await project.write('browser', `#!/bin/sh\nprintf '%s' "$1" > '${join(project.folder, 'address')}'\n`);
  await chmod(join(project.folder, 'browser'), 0o755);
  project.env['BROWSER'] = join(project.folder, 'browser');
  const serving = project.start(['serve', '--open', '--port', '0'], { main });
  const run = project.start(['run', 'helper', 'Do it once.']);
  await expect.poll(() => model.requests.length).toBe(2);
  run.kill('SIGKILL');
  await run.ended;
  const address = () => readFile(join(project.folder, 'address'), 'utf8').catch(() => '');
  await expect.poll(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/login#/);
  const context = await looking.browser.newContext({ viewport: { width: 1_280, height: 800 } });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  await page.goto(await address());
  // Of the rail: the inbox, which may be drawn by now or not, has one with this word in it, too.
  await page.getByRole('link', { name: 'Sessions', exact: true }).click();
  await page.getByRole('link', { name: 'Do it once.' }).click();
  await page.getByText('interrupted').first().waitFor();
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByText('resumed, taken over from a process that died').waitFor();
  await page
    .getByText(/completed, /)
    .first()
    .waitFor();
  // What had been done was not done again.
  expect(await readFile(join(project.folder, 'done.txt'), 'utf8')).toBe('done\n');
  expect(model.requests).toHaveLength(3);
  // The server goes: the page says so, and what it shows stays.
  serving.kill('SIGTERM');
  await serving.ended;
  await page.getByText(/cut off for/).waitFor();
  expect(await page.getByText('resumed, taken over from a process that died').count()).toBe(1);
  await context.close();
});
