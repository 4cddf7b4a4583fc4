/**
 * Every view of a session as it was at some event: what came later is not in it, it says so, and its links stay at that moment.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { barriers, type Looking, shots, startLooking } from '../support/console/browser.ts';
import { sendJson } from '../support/http/api-server.ts';
import { serveWorld } from '../support/http/served-project.ts';
import { agent, type Brain, calls, reports, turnOf } from '../support/world.ts';

const lead = agent({ name: 'lead', tools: [], agents: ['writer'], permissions: {} });
const writer = agent({ name: 'writer', tools: ['read', 'write'], permissions: { write: 'allow' } });

/** Two runs of one agent write the same file, one after the other. */
const { promise: isHeard, resolve: heard } = Promise.withResolvers<void>();
const brain: Brain = async (request) => {
  const turn = turnOf(request);
  if (request.tools.some(({ name }) => name === 'write')) {
    const isSecond = JSON.stringify(request.messages).includes('Second.');
    // What is there has to be read first.
    if (isSecond && turn === 1) return calls({ name: 'read', input: { path: 'notes.txt' } });
    if (turn > (isSecond ? 2 : 1)) return reports('It is written.', { claims: [{ kind: 'file', path: 'notes.txt' }] });
    return calls({ name: 'write', input: { path: 'notes.txt', content: isSecond ? 'first\nsecond\nthird\n' : 'first\n' } });
  }
  if (turn === 2) await isHeard;
  if (turn < 3) return calls({ name: 'writer', input: { prompt: turn === 1 ? 'First.' : 'Second.', reason: 'it can' } });
  return reports('Both are done.');
};

let looking: Looking;
beforeAll(async () => {
  looking = await startLooking();
});
afterAll(() => looking[Symbol.asyncDispose]());

describe('a moment', () => {
  it('is shown the same in every view, and stays when somebody goes from one to the next', async () => {
    await using world = await serveWorld({ brain, agents: [lead, writer], pages: looking.pages });
    const response = await world.ask('/api/v1/runs', sendJson({ agent: 'lead', prompt: 'Go.' }));
    const { session, run } = (await response.json()) as { session: string; run: string };
    const events = async (): Promise<readonly LedgerEvent[]> =>
      await world.ledger.read({ session: session as never, limit: 1_000 });
    const answers = async () => (await events()).filter(({ event_type }) => event_type === 'model.request').length;
    await expect.poll(answers).toBe(4);
    await world.ask(`/api/v1/runs/${run}/messages`, sendJson({ text: 'Hurry.' }));
    heard();
    await expect.poll(async () => (await world.ledger.runs({ run: run as never }))[0]?.state).toMatch(/^completed/);
    const all = await events();
    const positionOf = (type: string, count = 1): number =>
      all.filter(({ event_type }) => event_type === type)[count - 1]?.position ?? Number.NaN;
    const count = all.length;
    // After the first of the two has written, before anybody said or claimed anything.
    const early = positionOf('file.diff');
    await using opened = await looking.open(world, '/inbox', { locale: 'en-US' });
    const { page, wrong } = opened;
    const look = async (view: string, at: number, more = ''): Promise<string> => {
      await page.goto(`${world.origin}/sessions/${session}/${view}?at=${at}${more}`);
      await page.getByText(`As it was after ${at} of ${count} events.`).waitFor();
      await page.getByRole('slider').waitFor();
      return (await page.getByRole('main').textContent()) ?? '';
    };
    const main = () => page.getByRole('main').textContent();
    // Files: what was changed and left behind until then, by run, and the way back to the moment.
    expect(await look('files', early)).toContain('+1');
    expect(await page.getByRole('heading', { name: 'Artifacts' }).count()).toBe(0);
    await page.getByRole('link', { name: 'notes.txt' }).click();
    await page.getByRole('article', { name: /^Change of writer/ }).waitFor();
    expect(await page.getByRole('article', { name: /^Change of writer/ }).count()).toBe(1);
    expect(new URL(page.url()).searchParams.get('at')).toBe(String(early));
    expect(await page.getByRole('button', { name: /^Comment on line/ }).count()).toBe(0);
    await page.getByRole('link', { name: `event ${early}` }).click();
    await page.getByText(`as it was at event ${early} of ${count}`).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Show the newest' }).click();
    await page.getByRole('heading', { name: 'Artifacts' }).waitFor();
    await expect.poll(() => page.getByRole('article', { name: /^Change of writer/ }).count()).toBe(2);
    // Two runs of one agent are two, each with what it changed.
    await page.getByRole('button', { name: 'by run' }).click();
    const own = page.getByRole('list', { name: /^Changed by writer/ });
    await expect.poll(() => own.count()).toBe(2);
    expect(await own.locator('.tone-good').allTextContents()).toEqual(['+1', '+2']);
    expect(await page.getByRole('list', { name: /^Artifacts of / }).count()).toBeGreaterThan(0);
    await own.first().getByRole('link').click();
    await expect.poll(() => page.getByRole('article', { name: /^Change of writer/ }).count()).toBe(1);
    await shots(page, 'files-by-run');
    expect(await barriers(page)).toEqual([]);
    // Messages: not said yet; said and not read; read.
    expect(await look('messages', early)).toContain('Nothing was written yet');
    const said = positionOf('message.sent');
    expect(await look('messages', said)).toMatch(/Hurry\.[\s\S]*not read yet/);
    expect(await look('messages', positionOf('message.included'))).toMatch(/Hurry\.[\s\S]*part of a request/);
    await shots(page, 'messages-at');
    // The answer, and what is known of its claims.
    const [first] = (await world.ledger.runs({ session: session as never }))
      .filter(({ agent }) => agent === 'writer')
      .toReversed();
    const checked = positionOf('evidence.checked');
    const of = (all.find(({ position }) => position === checked)?.run_id ?? first?.run) as string;
    expect(await look('result', checked - 1, `&run=${of}`)).not.toContain('Claims and what backs them');
    expect(await look('result', checked, `&run=${of}`)).toContain('Claims and what backs them');
    await page
      .getByRole('link', { name: /^event \d+$/ })
      .first()
      .click();
    await page.getByText(`as it was at event ${checked} of ${count}`).waitFor();
    expect(await look('result', early)).toContain('It has not answered yet.');
    // Costs, and from there to a run.
    await look('costs', early);
    const calls = await page.getByRole('table', { name: 'Costs by agent' }).getByRole('row', { name: /^lead/ }).textContent();
    expect(calls).toMatch(/^lead1/);
    await page
      .getByRole('table', { name: /everything below it/ })
      .getByRole('link', { name: 'writer' })
      .click();
    await page.getByText(`as it was at event ${early} of ${count}`).waitFor();
    // The graph and its boxes, the context, and the errors.
    await look('graph', early);
    await expect.poll(() => page.locator('.graph-box').count()).toBe(2);
    await page.locator('.graph-box', { hasText: 'writer' }).click();
    await page.getByText(`as it was at event ${early} of ${count}`).waitFor();
    await look('context', early);
    await page.getByRole('heading', { name: /its instructions/ }).waitFor();
    expect(await page.getByRole('option').count()).toBe(2);
    expect(await look('errors', early)).toContain('Nothing went wrong');
    // The scrubber is one: moved in a view, and there in the next.
    await page.getByRole('slider').fill(String(said));
    await page.getByText(`As it was after ${said} of ${count} events.`).waitFor();
    await page.getByRole('slider').blur();
    await page.getByRole('link', { name: 'Messages' }).click();
    await page.getByText('Hurry.').waitFor();
    expect(await main()).toContain(`As it was after ${said} of ${count} events.`);
    await page.keyboard.press('End');
    await page.getByText(/part of a request/).waitFor();
    // In the timeline nothing can be said to what was.
    await page.goto(`${world.origin}/sessions/${session}?at=${early}`);
    await page.getByText(`as it was at event ${early} of ${count}`).waitFor();
    expect(await page.getByRole('textbox').count()).toBe(0);
    expect(wrong).toEqual([]);
  });
});
