/** What the record is good for, in a real browser: a run played again, forked, and held against what it was forked from. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriers, type Looking, type Opened, shots, startLooking } from '../support/console/browser.ts';
import { sendJson } from '../support/http/api-server.ts';
import { type ServedWorld, serveWorld } from '../support/http/served-project.ts';
import { agent, type Brain, calls, reports, turnOf } from '../support/world.ts';

const painter = agent({ name: 'painter', tools: ['write'], permissions: { write: 'allow' } });

/** Writes down the colour that it was asked for. */
const brain: Brain = (request) => {
  const colour = /\b(red|blue)\b/.exec(JSON.stringify(request.messages))?.[1] ?? 'none';
  if (turnOf(request) > 1) return reports(`It is ${colour}.`);
  return calls({ name: 'write', input: { path: 'colour.txt', content: colour } });
};

let looking: Looking;
let world: ServedWorld;
let opened: Opened;
beforeAll(async () => {
  looking = await startLooking();
  world = await serveWorld({ brain, agents: [painter], pages: looking.pages });
  opened = await looking.open(world, '/inbox');
});
afterAll(async () => {
  await opened[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
  await looking[Symbol.asyncDispose]();
});

async function sound(name: string): Promise<void> {
  await shots(opened.page, name);
  for (const colorScheme of ['light', 'dark'] as const) {
    await opened.page.emulateMedia({ colorScheme });
    expect({ name, colorScheme, barriers: await barriers(opened.page) }).toEqual({ name, colorScheme, barriers: [] });
  }
}

describe('what is recorded', () => {
  it('is played again, forked at an event with another prompt, and held against what it was', async () => {
    const { page, wrong, elsewhere } = opened;
    const response = await world.ask('/api/v1/runs', sendJson({ agent: 'painter', prompt: 'Paint it red.' }));
    const { session, run } = (await response.json()) as { session: string; run: string };
    await expect.poll(async () => (await world.ledger.runs({ run: run as never }))[0]?.state).toMatch(/^completed/);
    const before = (await world.ledger.stats()).events;
    await page.goto(`${world.origin}/sessions/${session}/result`);
    await page.getByRole('button', { name: 'Play again' }).click();
    await page.getByText(/^✓ It came to the same: 1 run, \d+ events compared\.$/).waitFor();
    expect((await world.ledger.stats()).events).toBe(before);
    await sound('replayed');
    const [started] = await world.ledger.read({ session: session as never, types: ['run.started'], limit: 1 });
    await page.goto(`${world.origin}/sessions/${session}?mode=full&event=${started?.position}`);
    await page.getByRole('button', { name: 'Fork here …' }).click();
    // What the server refuses is said where it was asked for, with what to do, and nothing that was written is lost.
    const error = { code: 'fork_place', message: 'It cannot begin there.', fix: 'Choose another event.' };
    await page.route('**/fork', (route) => route.fulfill({ status: 422, json: { error } }), { times: 1 });
    await page.getByLabel('Another prompt').fill('Paint it blue.');
    await page.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.getByRole('dialog').getByText('It cannot begin there.').waitFor();
    expect(await world.ledger.runs({ roots: true })).toHaveLength(1);
    await sound('fork-here');
    await page.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.waitForURL((url) => url.pathname.startsWith('/sessions/') && !url.pathname.includes(session));
    await page.getByText('completed, unchecked').first().waitFor();
    await page.getByRole('link', { name: 'Result' }).click();
    await page.getByText('It is blue.').waitFor();
    await page.getByRole('link', { name: 'Compare with what it was forked from' }).click();
    await page.getByRole('heading', { name: 'They differ' }).waitFor();
    const [forked] = await world.ledger.runs({ roots: true, limit: 1 });
    expect(new URL(page.url()).pathname).toBe(`/compare/${run}/${forked?.run}`);
    await page.getByText('another prompt').waitFor();
    await page.getByText(/^B is a fork of A, from behind/).waitFor();
    const steps = page.getByRole('region', { name: 'Steps' });
    await steps
      .getByText(/they do something else/)
      .first()
      .waitFor();
    expect(await steps.textContent()).toMatch(/A write .*red[\s\S]*B write .*blue/);
    await sound('compare');
    // Words count when somebody wants them to, and the address says so.
    await page.getByLabel('words of agents too').check();
    await steps
      .getByText(/It is blue/)
      .first()
      .waitFor();
    expect(new URL(page.url()).searchParams.get('prose')).toBe('yes');
    await steps
      .getByRole('link', { name: /^event \d+$/ })
      .first()
      .click();
    await page.getByRole('complementary', { name: /^Event/ }).waitFor();
    // With itself it is the same; what there is not is said to be missing.
    await page.goto(`${world.origin}/compare/${run}/${run}`);
    await page.getByRole('heading', { name: '✓ They are the same' }).waitFor();
    await page.goto(`${world.origin}/compare/${run}/run_none`);
    await page.getByText('There is no such other run.').waitFor();
    expect({ wrong, elsewhere }).toEqual({ wrong: [], elsewhere: [] });
  });
});
