/**
 * A session in a real browser: what happens is seen as it happens, also a crash and what came after it; any moment can be looked
 * at.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriers, type Looking, shots, startLooking } from '../support/console/browser.ts';
import { sendJson } from '../support/http/api-server.ts';
import { serveWorld } from '../support/http/served-project.ts';
import { agent, type Brain, calls, reports, says, turnOf } from '../support/world.ts';

const lead = agent({ name: 'lead', tools: [], agents: ['helper'], permissions: {} });
const helper = agent({ name: 'helper', tools: ['write'], permissions: { write: 'ask' } });

const slow = agent({ name: 'slow', tools: ['read'], permissions: {} });

/** The slow one looks for many files, and its later turns wait until somebody lets them go on. */
const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
const looks = () =>
  calls(...[0, 1, 2, 3, 4, 5].map((index) => ({ name: 'read', input: { path: `${index}.txt` }, id: `r${index}` })));

const patient = agent({ name: 'patient', tools: [], permissions: {} });
const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();

const brain: Brain = async (request) => {
  if (request.agent === 'patient') {
    if (turnOf(request) === 1) await mayAnswer;
    return says('Done.');
  }
  if (request.agent === 'slow') {
    await gates[turnOf(request)]?.promise;
    return looks();
  }
  const isHelper = request.tools.some(({ name }) => name === 'write');
  if (turnOf(request) > 1) return reports(isHelper ? 'It is written.' : '# Done\n\nSee [the file](https://example.com/a).');
  if (isHelper) return calls({ name: 'write', input: { path: 'a.txt', content: 'one' } });
  return calls({ name: 'helper', input: { prompt: 'Write it.', reason: 'it can' } });
};

let looking: Looking;
beforeAll(async () => {
  looking = await startLooking();
});
afterAll(() => looking[Symbol.asyncDispose]());

const serve = () => serveWorld({ brain, agents: [lead, helper, slow, patient], pages: looking.pages });

describe('a session', () => {
  it('is followed live, and looked at as it was at any event', async () => {
    await using world = await serve();
    const response = await world.ask('/api/v1/runs', sendJson({ agent: 'lead', prompt: 'Have it written.' }));
    const { session } = (await response.json()) as { session: string };
    await using opened = await looking.open(world, `/sessions/${session}`);
    const { page, wrong, elsewhere } = opened;
    const tree = page.getByRole('navigation', { name: 'Runs' });
    await page.getByRole('link', { name: 'answer what waits' }).waitFor();
    await shots(page, 'session');
    // The way from the session to the answer, and back.
    await page.getByRole('link', { name: 'answer what waits' }).click();
    await page.getByRole('heading', { name: 'helper wants to use write' }).waitFor();
    await page.keyboard.press('1');
    await page.getByText('Approved. The run goes on.').waitFor();
    await page.goBack();
    await page.getByText('completed, unchecked').first().waitFor();
    expect(await tree.getByRole('listitem').allInnerTexts()).toEqual(expect.arrayContaining([expect.stringContaining('a.txt')]));
    const events = page.getByRole('region', { name: 'Events' });
    await events.getByRole('button', { name: /asks to use write/ }).click();
    await page
      .getByRole('complementary', { name: /^Event/ })
      .getByText('approval.asked')
      .waitFor();
    await shots(page, 'session-event');
    expect(await barriers(page)).toEqual([]);
    // As it was then: the helper waits, nothing is written, the later events are not there.
    await page.getByRole('link', { name: 'As it was then' }).click();
    await page.getByText(/as it was at event/).waitFor();
    expect(new URL(page.url()).searchParams.get('at')).toMatch(/^\d+$/);
    expect(await tree.textContent()).toMatch(/waits for you[\s\S]*Waits 1[\s\S]*Files 0/);
    expect(await events.getByText('approved').count()).toBe(0);
    await page.keyboard.press('End');
    await events.getByText(/approved by owner/).waitFor();
    expect(await tree.textContent()).toMatch(/Waits 0[\s\S]*Files 1/);
    await page.getByRole('slider').fill('1');
    await page.getByText('as it was at event 1 of').waitFor();
    expect(await tree.textContent()).toContain('Runs 0');
    // What no line says is found in what the events hold, and shown.
    const [item] = await world.ledger.read({ session: session as never, types: ['approval.asked'], limit: 1 });
    const shown = /"shown":"\w{8}(\w{16})/.exec(JSON.stringify(item?.payload))?.[1] ?? 'nothing';
    await page.goto(`${world.origin}/sessions/${session}`);
    await page.getByRole('searchbox', { name: 'Search in this session' }).fill(shown.toUpperCase());
    await events.getByRole('button', { name: shown }).first().waitFor();
    expect(await events.getByText('started: Have it written.').count()).toBe(0);
    // And from everywhere, without knowing which session it was.
    await page.goto(`${world.origin}/health`);
    await page.getByRole('heading', { name: 'Ledger' }).waitFor();
    await page.keyboard.press('/');
    await page.getByRole('dialog').getByRole('combobox').fill('see the file');
    await page
      .getByRole('option', { name: /See \[the file\]/ })
      .last()
      .waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/sessions/${session}\\?mode=full&event=\\d+$`));
    await page.getByRole('complementary', { name: /^Event/ }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.getByRole('dialog').getByRole('combobox').fill('nobody said this');
    await page.getByText('Nothing of that name, and nobody said it.').waitFor();
    await page.keyboard.press('Escape');
    const downloads = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export' }).click();
    const download = await downloads;
    expect([download.suggestedFilename(), await download.failure()]).toEqual([`${session}.html`, null]);
    await page.goto(`${world.origin}/sessions/${session}?show=lanes`);
    await page.getByRole('region', { name: 'Lanes' }).getByText('helper').waitFor();
    await shots(page, 'lanes');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page)).toEqual([]);
    }
    // A stretch has a name and leads to its event, by keyboard too.
    await page.getByRole('button', { name: /^waits for a person, .*, event \d+$/ }).focus();
    await page.keyboard.press('Enter');
    await page
      .getByRole('complementary', { name: /^Event/ })
      .getByText('approval.asked')
      .first()
      .waitFor();
    // What is looked for: a kind, an agent, only errors; a link shows the same.
    await page.goto(`${world.origin}/sessions/${session}`);
    await page.getByLabel('Kind of event').selectOption('waits');
    await events.getByText(/asks to use write/).waitFor();
    await expect.poll(() => events.getByText(/^started/).count()).toBe(0);
    await page.getByLabel('Kind of event').selectOption('runs');
    await page.getByLabel('Agent', { exact: true }).selectOption('helper');
    await events
      .getByText(/^started/)
      .first()
      .waitFor();
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ kind: 'runs', agent: 'helper' });
    const ofHelper = await events.getByRole('button').count();
    await page.getByLabel('Agent', { exact: true }).selectOption('');
    await expect.poll(() => events.getByRole('button').count()).toBeGreaterThan(ofHelper);
    await page.getByLabel('How much it matters').selectOption('errors');
    await expect.poll(() => events.getByRole('button').count()).toBe(0);
    expect(await barriers(page)).toEqual([]);
    await page.goto(`${world.origin}/sessions/${session}/result`);
    const said = page.getByRole('figure').first();
    await said.getByRole('heading', { name: 'Done' }).waitFor();
    expect(await said.textContent()).toContain('the file (example.com)');
    await shots(page, 'result');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page)).toEqual([]);
    }
    expect({ wrong, elsewhere }).toEqual({ wrong: [], elsewhere: [] });
  });

  it('takes what is said to it: now, or as a prompt that waits its turn and can be taken back', async () => {
    await using world = await serve();
    const response = await world.ask('/api/v1/runs', sendJson({ agent: 'patient', prompt: 'First.' }));
    const { session } = (await response.json()) as { session: string };
    await using opened = await looking.open(world, `/sessions/${session}`);
    const { page, wrong } = opened;
    const field = page.getByLabel('Say something to patient');
    // Done, but its answer is lost: pressed again, and once more, it is still said once.
    await page.route(
      '**/messages',
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await field.fill('Hear this.');
    const steer = page.getByRole('button', { name: 'Steer', exact: true });
    await steer.click();
    await page.getByText('The server does not answer.').waitFor();
    await steer.dblclick();
    await page.getByText('patient hears it before its next turn.').waitFor();
    const queue = page.getByRole('region', { name: 'What waits its turn' });
    for (const [index, words] of ['Second.', 'Third.'].entries()) {
      await field.fill(words);
      await page.getByRole('button', { name: 'Queue', exact: true }).click();
      await page.getByText(`It waits its turn; ${index + 1} before it.`).waitFor();
    }
    await queue.getByRole('listitem').filter({ hasText: 'Third.' }).waitFor();
    await shots(page, 'session-queue');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page)).toEqual([]);
    }
    await queue.getByRole('listitem').filter({ hasText: 'Third.' }).getByRole('button', { name: 'Take back' }).click();
    await queue.getByText('Third.').waitFor({ state: 'detached' });
    answer();
    await queue.waitFor({ state: 'detached' });
    await page.getByLabel('The next prompt for patient').waitFor();
    const started = await world.ledger.read({ session: session as never, types: ['run.started'] });
    expect(started.map(({ payload }) => JSON.stringify(payload).match(/First|Second|Third/)?.[0])).toEqual(['First', 'Second']);
    const heard = await world.ledger.read({ session: session as never, types: ['message.sent', 'message.included'] });
    expect(heard.map(({ event_type }) => event_type)).toEqual(['message.sent', 'message.included']);
    // Where nothing is under way it is the next prompt, at once.
    const next = page.getByLabel('The next prompt for patient');
    const { promise: isTyped, resolve: typed } = Promise.withResolvers<void>();
    await page.route('**/prompts', (route) => isTyped.then(() => route.continue()), { times: 1 });
    await next.fill('Fourth.');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    // What is typed before that was answered is not taken away.
    await next.fill('And a fi');
    typed();
    await page.getByText('It has begun.').waitFor();
    expect(await page.getByRole('textbox').inputValue()).toBe('And a fi');
    const roots = () => world.ledger.runs({ session: session as never, roots: true });
    await expect.poll(async () => (await roots()).map(({ state }) => state)).toEqual(['completed', 'completed', 'completed']);
    // What is looked at as it was has no queue of today.
    await page.goto(`${world.origin}/sessions/${session}?at=3`);
    await page.getByText(/as it was at event 3/).waitFor();
    expect(await queue.count()).toBe(0);
    expect(wrong).toEqual([]);
  });

  it('is paused, goes on and is cancelled from its page, and what is read stays where it is', async () => {
    await using world = await serve();
    gates[1]?.resolve();
    const response = await world.ask('/api/v1/runs', sendJson({ agent: 'slow', prompt: 'Look.' }));
    const { session, run } = (await response.json()) as { session: string; run: string };
    const viewport = { width: 1_280, height: 420 };
    await using opened = await looking.open(world, `/sessions/${session}?mode=full`, { viewport });
    const { page, wrong } = opened;
    const events = page.getByRole('region', { name: 'Events' });
    const asked = async () => (await world.ledger.read({ session: session as never, types: ['model.request'] })).length;
    await expect.poll(asked).toBe(2);
    // Follows the end; whoever has gone up is told how much is below, and is not moved.
    const behind = page.getByRole('button', { name: /^↓ \d+ behind$/ });
    const count = async () => Number(/\d+/.exec((await behind.textContent()) ?? '')?.[0]);
    const isToldSo = async () => {
      await events.evaluate((rows) => rows.scrollTo(0, 0));
      return await behind.count();
    };
    await expect.poll(isToldSo).toBe(1);
    const first = await count();
    await page.getByRole('button', { name: 'Pause …' }).click();
    await page.getByLabel('Why (it stands in the ledger)').fill('lunch');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    gates[2]?.resolve();
    await page.getByText('paused').first().waitFor();
    await expect.poll(count).toBeGreaterThan(first);
    expect(await events.evaluate((rows) => rows.scrollTop)).toBe(0);
    await behind.click();
    await behind.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Go on' }).click();
    await expect.poll(asked).toBe(3);
    await page.getByRole('button', { name: 'Cancel …' }).click();
    await page.getByLabel('Why (it stands in the ledger)').fill('enough');
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    gates[3]?.resolve();
    await page.getByText('cancelled').first().waitFor();
    const signals = await world.ledger.read({ session: session as never, types: ['run.signalled'] });
    expect(signals.map(({ run_id, payload }) => [run_id, payload])).toMatchObject([
      [run, { signal: 'pause', reason: 'lunch', by: 'owner' }],
      [run, { signal: 'resume', by: 'owner', where: 'api' }],
      [run, { signal: 'cancel', reason: 'enough', by: 'owner' }],
    ]);
    expect(wrong).toEqual([]);
  });
});
