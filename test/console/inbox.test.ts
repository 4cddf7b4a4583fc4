/** The inbox in a real browser, over a real server with real runs that wait: answered there, from elsewhere, and on a phone. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InboxItem } from '../../console/api/types.ts';
import { barriers, type Looking, shots, startLooking } from '../support/console/browser.ts';
import { sendJson } from '../support/http/api-server.ts';
import { type ServedWorld, serveWorld } from '../support/http/served-project.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { agent, type Brain, calls, reports, turnOf } from '../support/world.ts';

const writer = agent({ name: 'writer', tools: ['write'], permissions: { write: 'ask' } });
const asker = agent({ name: 'asker', tools: ['ask'], permissions: {} });

const brain: Brain = (request) => {
  const has = (tool: string): boolean => request.tools.some(({ name }) => name === tool);
  if (turnOf(request) > 1) return reports('done');
  if (has('ask')) return calls({ name: 'ask', input: { question: 'Which colour?', choices: ['red', 'blue'] } });
  return calls({ name: 'write', input: { path: 'a.txt', content: 'one\u202etwo' } });
};

let looking: Looking;
beforeAll(async () => {
  looking = await startLooking();
});
afterAll(() => looking[Symbol.asyncDispose]());

const serve = (): Promise<ServedWorld> => serveWorld({ brain, agents: [writer, asker], pages: looking.pages });

const start = async (world: ServedWorld, name: string): Promise<InboxItem> => {
  const response = await world.ask('/api/v1/runs', sendJson({ agent: name, prompt: 'Begin.' }));
  const { run } = (await response.json()) as { run: string };
  const open = async (): Promise<readonly InboxItem[]> => (await (await world.ask('/api/v1/inbox')).json()) as InboxItem[];
  await expect.poll(async () => (await open()).some((item) => item.run === run)).toBe(true);
  const found = (await open()).find((item) => item.run === run);
  if (found === undefined) throw new Error('it does not wait');
  return found;
};

describe('the inbox', () => {
  it('shows all of what is asked, and approves it, changed, or denies it with words', async () => {
    await using world = await serve();
    await start(world, 'writer');
    await using opened = await looking.open(world, '/inbox');
    const { page, wrong, elsewhere } = opened;
    const card = page.getByRole('article', { name: 'writer waits for you' });
    await card.waitFor();
    // What a screen would turn around is spelled out.
    expect(await card.textContent()).toMatch(/writer wants to use write[\s\S]*\+one⟨U\+202E⟩two/);
    expect(await page.title()).toBe('(1) Inbox · Troupe');
    await shots(page, 'inbox');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page)).toEqual([]);
    }
    await page.keyboard.press('4');
    const field = page.getByLabel('The arguments, as JSON');
    await field.fill('{"path": "b.txt"');
    await page.getByRole('button', { name: 'Approve this instead' }).click();
    await page.getByText('This is not JSON; nothing was sent.').waitFor();
    await field.fill('{"path": "b.txt", "content": "changed"}');
    await page.getByRole('button', { name: 'Approve this instead' }).click();
    await page.getByText('Approved. The run goes on.').waitFor();
    await expect.poll(() => readFile(join(world.folder, 'b.txt'), 'utf8')).toBe('changed');
    await expect.poll(() => page.title()).toBe('Inbox · Troupe');
    const second = await start(world, 'writer');
    await page.getByRole('link', { name: /^writer write/ }).click();
    await page.keyboard.press('5');
    await page.getByLabel(/Why not/).fill('Not there.');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Denied. The run goes on.').waitFor();
    const answered = await world.ledger.read({ session: second.session as never, types: ['approval.answered'] });
    expect(answered.map(({ payload }) => payload)).toMatchObject([
      { answer: { kind: 'denied', note: 'Not there.' }, by: 'owner', where: 'api' },
    ]);
    expect({ wrong, elsewhere }).toEqual({ wrong: [], elsewhere: [] });
  });

  it('says who was first when somebody else has answered', async () => {
    await using world = await serve();
    const item = await start(world, 'writer');
    await using opened = await looking.open(world, '/inbox');
    const { page } = opened;
    await page.getByRole('article', { name: 'writer waits for you' }).waitFor();
    // The page knows nothing of it: its lists stand still while the other one answers.
    await page.route('**/api/v1/inbox', (route) => route.abort());
    const shown = item.kind === 'permission' ? item.shown : undefined;
    const body = { wait: item.wait, answer: { kind: 'denied', note: 'from a terminal' }, shown };
    expect((await world.ask(`/api/v1/runs/${item.run}/answers`, sendJson(body))).status).toBe(200);
    await page.keyboard.press('1');
    await page.getByText(/Somebody was first: Denied by owner/).waitFor();
    await page.unroute('**/api/v1/inbox');
  });

  it('has a page for a phone behind one link, which also says that it was answered', async () => {
    await using world = await serve();
    const item = await start(world, 'asker');
    const path = `/answer/${item.run}/${item.wait}`;
    await using opened = await looking.open(world, path, { viewport: { width: 380, height: 780 }, hasTouch: true });
    const { page, wrong } = opened;
    await page.getByText('Which colour?').waitFor();
    await shots(page, 'answer');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'blue' }).click();
    await page.getByText('Answered. The run goes on.').waitFor();
    await page.reload();
    await page.getByText(/Already answered: answered by owner/).waitFor();
    expect(wrong).toEqual([]);
  });

  it('tells who is not logged in how to get in, and shows nothing', async () => {
    await using world = await serve();
    const context = await looking.browser.newContext();
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    await page.goto(`${world.origin}/inbox`);
    await page.getByRole('heading', { name: 'You are not logged in' }).waitFor();
    await context.close();
  });
});
