/** A session as one file, opened from the disk in a real browser: it asks for nothing, and sees a changed byte. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunId, SessionId } from '../../src/base/ids.ts';
import { limits } from '../../src/base/limits.ts';
import { sessionFile } from '../../src/front/one-file/session-file.ts';
import { barriers, type Looking, shots, startLooking } from '../support/console/browser.ts';
import { sendJson } from '../support/http/api-server.ts';
import { type ServedWorld, serveWorld } from '../support/http/served-project.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { agent, type Brain, calls, reports, turnOf } from '../support/world.ts';

const HOSTILE = '</script><script>window.caught = 1</script><!-- <img src=x onerror="window.caught = 1">';
const SECRET = `ghp_${'a1B2'.repeat(9)}`;

const lead = agent({ name: 'lead', tools: ['write'], permissions: { write: 'allow' } });
const brain: Brain = (request) =>
  turnOf(request) > 1 ? reports(`# Done\n\n${HOSTILE}`) : calls({ name: 'write', input: { path: 'a.txt', content: HOSTILE } });

let looking: Looking;
beforeAll(async () => {
  looking = await startLooking();
});
afterAll(() => looking[Symbol.asyncDispose]());

const app = join(import.meta.dirname, '..', '..', 'dist', 'console', 'file');

async function exported(world: ServedWorld, session: string, run?: string): Promise<string> {
  const [script, style] = await Promise.all(['app.js', 'app.css'].map((name) => readFile(join(app, name), 'utf8')));
  const wanted = { session: session as SessionId, run: run as never, agent: 'lead', now: Date.parse('2026-01-01'), version: '1' };
  const pieces: string[] = [];
  for await (const piece of sessionFile(world.ledger, wanted, { script: script ?? '', style: style ?? '' })) pieces.push(piece);
  return pieces.join('');
}

async function opened(path: string, fragment = '') {
  const context = await looking.browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const [wrong, asked]: [string[], string[]] = [[], []];
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
  page.on('request', (request) => asked.push(request.url()));
  const address = pathToFileURL(path).href;
  await page.goto(address + fragment);
  return {
    ...{ page, wrong },
    elsewhere: () => asked.filter((url) => !url.startsWith(address) && !url.startsWith('data:') && !url.startsWith('blob:')),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

async function lived(world: ServedWorld, session?: string): Promise<{ readonly run: string; readonly session: string }> {
  const begun = sendJson({ agent: 'lead', prompt: `Write it, with ${SECRET}. ${HOSTILE}`, ...(session && { session }) });
  const started = (await (await world.ask('/api/v1/runs', begun)).json()) as { run: string; session: string };
  await expect.poll(async () => (await world.ledger.runs({ run: started.run as RunId }))[0]?.state).toBe('completed');
  return started;
}

describe('a session as one file', () => {
  it('opens from the disk at any event, is all there, and knows that nothing was changed', async () => {
    await using world = await serveWorld({ brain, agents: [lead], pages: looking.pages });
    const { session } = await lived(world);
    const html = await exported(world, session);
    expect(html).not.toContain(SECRET);
    expect(html).not.toContain('"sealed"');
    const path = join(world.folder, 'session.html');
    await writeFile(path, html);
    await using file = await opened(path, '#3');
    const { page } = file;
    await page.getByText(/as it was at event 3 of/).waitFor();
    await page.getByRole('complementary', { name: 'Event 3' }).waitFor();
    const trust = page.locator('.file-trust');
    await trust.getByText('✓ as it was written').waitFor();
    expect(await trust.textContent()).toMatch(/\d+ events, the chain ends with [0-9a-f]{12}; secrets were taken out of \d+/);
    await page.keyboard.press('End');
    const tree = page.getByRole('navigation', { name: 'Runs' });
    await expect.poll(() => tree.textContent()).toMatch(/Files 1/);
    await shots(page, 'one-file');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('slider').fill('2');
    await page.getByText('as it was at event 2 of').waitFor();
    await expect.poll(() => tree.textContent()).toMatch(/Files 0/);
    const tabs = page.getByRole('navigation', { name: 'Views of this session' });
    for (const name of ['Result', 'Graph', 'Files', 'Messages', 'Costs', 'Errors', 'Context']) {
      await tabs.getByRole('link', { name }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      expect([name, await page.getByText(/cannot be shown|This is a file/).count()]).toEqual([name, 0]);
    }
    await page.goto(`${pathToFileURL(path).href}#/sessions/${session}/files?file=a.txt`);
    await page.getByText('+</script><script>').waitFor();
    await page.goto(`${pathToFileURL(path).href}#/sessions/${session}/context`);
    await page.getByText('its instructions').first().waitFor();
    expect(await page.evaluate('window.caught')).toBeUndefined();
    expect({ wrong: file.wrong, elsewhere: file.elsewhere() }).toEqual({ wrong: [], elsewhere: [] });
  });

  it('shows where it was changed by hand: what an event holds, its envelope, a line that is gone or no JSON', async () => {
    await using world = await serveWorld({ brain, agents: [lead], pages: looking.pages });
    const { session } = await lived(world);
    const html = await exported(world, session);
    const lines = html.split('\n');
    const first = lines.findIndex((line) => line.startsWith('{"event":{'));
    const written = lines.findIndex((line) => line.includes('"file.diff"'));
    const at = written - first + 1;
    const changed = (index: number, change: (line: string) => readonly string[]): string =>
      lines.toSpliced(index, 1, ...change(lines[index] ?? '')).join('\n');
    const path = join(world.folder, 'changed.html');
    for (const [text, why] of [
      [
        changed(written, (line) => [line.replace('a.txt', 'b.txt')]),
        `from event ${at} on: what it holds is not what was written`,
      ],
      [changed(written, (line) => [line.replace('"actor":"', '"actor":"x')]), `from event ${at} on: its envelope`],
      [changed(written, () => []), `from event ${at} on: in its place stands event ${at + 1}`],
      [changed(written, (line) => [line.slice(1)]), `from event ${at} on: its line cannot be read`],
      [changed(first, () => [lines[first + 1] ?? '', lines[first] ?? '']), 'from event 1 on'],
    ] as const) {
      await writeFile(path, text);
      await using file = await opened(path);
      await file.page.locator('.file-trust').getByText(why).waitFor();
      await file.page.getByRole('link', { name: 'Show it' }).click();
      await file.page.getByRole('complementary', { name: /^Event/ }).waitFor();
      expect(file.wrong).toEqual([]);
    }
  });

  it('of one run has nothing that others said, and still a whole chain; one that is too large names the limit', async () => {
    await using world = await serveWorld({ brain, agents: [lead], pages: looking.pages });
    const { session } = await lived(world);
    const { run } = await lived(world, session);
    const html = await exported(world, session, run);
    expect(html.match(/"event_type":"run.started"/g)?.length).toBe(2);
    expect(html.match(/Write it, with/g)?.length).toBeGreaterThan(0);
    const own = (await world.ledger.read({ session: session as SessionId })).filter(({ run_id }) => run_id === run).length;
    expect(html.match(/^\{"event".*"payload":/gm)?.length).toBe(own);
    const path = join(world.folder, 'run.html');
    await writeFile(path, html);
    await using file = await opened(path);
    await file.page.getByText(/✓ as it was written/).waitFor();
    await file.page.getByText(/\d+ of other runs are left out/).waitFor();
    expect(file.wrong).toEqual([]);
    const wanted = { session: session as SessionId, agent: 'lead', now: 0, version: '1' };
    const large = sessionFile(world.ledger, wanted, { script: '', style: 'x'.repeat(limits.exportFileBytes) });
    await expect(large.next()).rejects.toMatchObject({
      code: 'export_too_large',
      fix: expect.stringContaining('exportFileBytes'),
    });
  });
});
