/** The views beside inbox and session in a real browser, over real runs: what each is for, and no barrier in it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunId } from '../../src/base/ids.ts';
import { barriers, type Looking, type Opened, shots, startLooking } from '../support/console/browser.ts';
import { sendJson } from '../support/http/api-server.ts';
import { type ServedWorld, serveWorld } from '../support/http/served-project.ts';
import { acting, judges } from '../support/patterns/group-on-engine.ts';
import { actor } from '../support/patterns/scenarios.ts';
import { type Brain, calls, reports, says, turnOf } from '../support/world.ts';

const still = { tools: [], permissions: {} };

const agents = [
  actor('lead', { ...still, group: { mode: 'reflect', workers: ['coder', 'tester'], evaluator: 'judge' } }),
  ...['coder', 'tester', 'judge'].map((name) => actor(name, still)),
];

const group = acting(({ part, round }) => {
  if (part === 'evaluate') return judges(round === 2 ? 0.95 : 0.4, `lacks ${round}`);
  return part === 'synthesis' ? `Version ${round}, ${'new '.repeat(round)}${round * 7}.` : undefined;
});

const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
/** What the group works on while somebody steers it. */
const held = [0, 1].map(() => Promise.withResolvers<void>());

const brain: Brain = async (request) => {
  if (JSON.stringify(request.messages.at(-1)).includes('Only you.')) {
    await isLetGo;
    return says('I alone.');
  }
  const steered = /Hold (\d)\./.exec(JSON.stringify(request.messages.at(-1)))?.[1];
  if (steered !== undefined) {
    await held[Number(steered)]?.promise;
    return says(`Held ${steered}.`);
  }
  if (request.system.includes('You fail.'))
    return { kind: 'failed', error: { kind: 'refused', message: 'The model will not do this.' } };
  if (request.system.includes('You write.'))
    return turnOf(request) > 1
      ? reports('It is written.', {
          claims: [
            { kind: 'file', path: 'notes.txt' },
            { kind: 'command', command: 'npm test' },
          ],
        })
      : calls({ name: 'write', input: { path: 'notes.txt', content: 'one\ntwo\n' } });
  if (!request.system.includes('You are the chief.')) return group(request);
  if (turnOf(request) === 1) return calls({ name: 'writer', input: { prompt: 'Write it.', reason: 'it can' } });
  if (turnOf(request) === 2) return calls({ name: 'failing', input: { prompt: 'Fail.', reason: 'to see' } });
  return reports('# Done\n\nAll of it, <b onclick="alert(1)">really</b>.');
};

const FILES = {
  chief: 'agents: [writer, failing]\n---\nYou are the chief.',
  writer: 'tools: [write]\npermissions: { write: allow }\n---\nYou write.',
  failing: '---\nYou fail.',
  wrong: 'descripton: misspelt\n---\nYou are wrong.',
};

const TYPED = `---
name: typed
description: Takes a form
model: test/model
input:
  schema:
    type: object
    required: [path, depth]
    properties:
      path: { type: string, maxLength: 80, description: which file }
      depth: { enum: [shallow, deep] }
---
You are typed.
`;

let looking: Looking;
let world: ServedWorld;
let opened: Opened;
let page: Opened['page'];
let session: string;

beforeAll(async () => {
  looking = await startLooking();
  world = await serveWorld({ brain, agents, pages: looking.pages });
  await mkdir(join(world.folder, 'agents'), { recursive: true });
  await writeFile(join(world.folder, 'agents', 'typed.md'), TYPED);
  for (const [name, rest] of Object.entries(FILES))
    await writeFile(join(world.folder, 'agents', `${name}.md`), `---\nname: ${name}\nmodel: test/model\n${rest}\n`);
  // What formats numbers wants a language that there is.
  opened = await looking.open(world, '/agents', { locale: 'en-US' });
  page = opened.page;
});
afterAll(async () => {
  await opened[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
  await looking[Symbol.asyncDispose]();
});

const post = async <Value>(path: string, body: object): Promise<Value> =>
  (await (await world.ask(`/api/v1/${path}`, sendJson(body))).json()) as Value;
const ended = (run: string) =>
  expect.poll(async () => (await world.ledger.runs({ run: run as RunId }))[0]?.endedAt ?? null).not.toBeNull();

/** Looked at in light and dark: nothing bars anybody, and nothing went wrong in the page. */
async function sound(name: string): Promise<void> {
  await shots(page, name);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect({ name, colorScheme, barriers: await barriers(page) }).toEqual({ name, colorScheme, barriers: [] });
  }
  expect(opened.wrong).toEqual([]);
  expect(opened.elsewhere).toEqual([]);
}

const go = (path: string) => page.goto(world.origin + path);

describe('the views of a project', () => {
  it('teach somebody who has run nothing yet, and run an agent from its form', async () => {
    await page.getByRole('heading', { name: 'Nothing has run here yet' }).waitFor();
    await page.getByText('descripton').first().waitFor();
    await sound('agents-first');
    await page.getByRole('searchbox').fill('form');
    await page.getByRole('navigation', { name: 'Agents' }).getByRole('link').filter({ hasText: 'typed' }).click();
    await page.getByLabel('path: which file').waitFor();
    expect(await page.getByRole('region', { name: /^The file/ }).textContent()).toContain('You are typed.');
    const run = page.getByRole('button', { name: 'Run' });
    expect(await run.isDisabled()).toBe(true);
    await page.getByLabel('path: which file').fill('a.ts');
    await page.getByLabel('depth').selectOption('deep');
    await sound('agent');
    await run.click();
    await page.waitForURL(/\/sessions\/ses_/);
    const [row] = await world.ledger.runs({ roots: true });
    const [started] = await world.ledger.read({ session: row?.session as never, types: ['run.started'], limit: 1 });
    expect(JSON.stringify(started?.payload)).toContain(JSON.stringify('{"path":"a.ts","depth":"deep"}').slice(1, -1));
  });

  it('show what was spent, by agent, model, day and subtree, and raise a budget', async () => {
    const begun = await post<{ run: string; session: string }>('runs', {
      agent: 'chief',
      prompt: 'Do it.',
      budget: { calls: 2 },
    });
    session = begun.session;
    await ended(begun.run);
    await go('/costs');
    await page.getByRole('table', { name: 'Costs by agent' }).getByText('chief').waitFor();
    await page.getByRole('table', { name: 'Costs by model' }).getByText('test/model').waitFor();
    expect(await page.getByRole('table', { name: 'Costs by day' }).getByRole('row').count()).toBe(2);
    await sound('costs');
    await go(`/sessions/${session}/costs`);
    await page.getByText('2 settled, 0 reserved, of 2').waitFor();
    await page.getByRole('img', { name: /^Calls that chief had left/ }).waitFor();
    await sound('cost');
    await page.getByLabel('Calls in all, in calls').fill('20');
    await page.getByRole('button', { name: 'Raise and go on', exact: true }).click();
    await page
      .getByRole('table', { name: /^Costs of chief and everything below it/ })
      .getByText('failing')
      .waitFor();
  });

  it('show what was changed, line by line, and take a comment back to the agent', async () => {
    await go(`/sessions/${session}/files`);
    await page.getByRole('link', { name: /notes\.txt/ }).click();
    await page.getByRole('button', { name: 'Comment on line 2' }).click();
    await page.getByLabel('Comment on line 2', { exact: true }).last().fill('Say three.');
    await page.getByRole('button', { name: 'Keep the comment' }).click();
    await sound('files');
    await page.getByRole('button', { name: /^Send 1 comment to chief/ }).click();
    await page.getByText(/goes on with it|hears it/).waitFor();
    const prompts = async () =>
      JSON.stringify(await world.ledger.read({ session: session as never, types: ['run.started'], limit: 50 }));
    await expect.poll(prompts).toContain('notes.txt, line 2');
  });

  it('show what was left behind, and give its bytes', async () => {
    await go(`/sessions/${session}/files`);
    await page
      .getByRole('link', { name: /^patches\// })
      .first()
      .click();
    await page.getByRole('region', { name: 'The difference' }).or(page.getByLabel('The difference')).first().waitFor();
    expect(await page.getByRole('main').textContent()).toMatch(/two/);
    const downloads = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    const download = await downloads;
    expect([download.suggestedFilename(), await download.failure()]).toEqual([expect.stringMatching(/^patch-\d+\.diff$/), null]);
    await sound('artifact');
  });

  it('show an answer with its claims, what backs each, and what nothing backs', async () => {
    const [writer] = (await world.ledger.runs({ session: session as never })).filter(({ agent }) => agent === 'writer');
    await go(`/sessions/${session}/result?run=${writer?.run}`);
    const claims = page.getByRole('region', { name: 'Claims and evidence' });
    const open = claims.getByRole('listitem').filter({ hasText: 'npm test' });
    await open.getByText(/unverified: /).waitFor();
    await page.getByText('completed, unverified').first().waitFor();
    await sound('claims');
    await claims
      .getByRole('listitem')
      .filter({ hasText: 'notes.txt' })
      .getByRole('link', { name: /^event \d+$/ })
      .click();
    await page
      .getByRole('complementary', { name: /^Event/ })
      .getByText('file.diff')
      .first()
      .waitFor();
  });

  it('draw who called whom: as run, each agent once, as declared', async () => {
    await go(`/sessions/${session}/graph`);
    await page.locator('.graph-box', { hasText: 'writer' }).first().waitFor();
    // All of it is in sight, also when there is less room than before.
    const inSight = () =>
      page.locator('.graph-box').evaluateAll((boxes) => {
        const places = boxes.map((box) => box.getBoundingClientRect());
        return places.length > 2 && places.every(({ left, right }) => left >= 0 && right <= 380);
      });
    await page.setViewportSize({ width: 380, height: 800 });
    await expect.poll(inSight).toBe(true);
    await page.setViewportSize({ width: 1_280, height: 800 });
    await sound('graph');
    // Nothing moves for whoever wants it so; the browser of the tests does.
    const moving = `[...document.querySelectorAll('*')].filter((one) => {
      const { animationName, animationDuration, transitionDuration } = getComputedStyle(one);
      const lasts = (text) => text.split(',').some((part) => parseFloat(part) > 0);
      return (animationName !== 'none' && lasts(animationDuration)) || lasts(transitionDuration);
    }).map((one) => one.outerHTML.slice(0, 100))`;
    expect(await page.evaluate(moving)).toEqual([]);
    await page.getByRole('button', { name: 'Each agent once' }).click();
    await page
      .locator('.graph-box', { hasText: /failed/ })
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'As declared' }).click();
    await page.locator('.graph-box', { hasText: 'chief' }).waitFor();
  });

  it('name the first cause of what failed, with the logs as they were', async () => {
    await go(`/sessions/${session}/errors`);
    await page.getByRole('heading', { name: 'First cause: failing' }).first().waitFor();
    await page.getByText('The model will not do this.').first().waitFor();
    await sound('errors');
  });

  it('show what a request contained, by origin', async () => {
    await go(`/sessions/${session}/context`);
    await page.getByRole('heading', { name: /its instructions/ }).waitFor();
    await page.getByText(/by the provider’s count/).waitFor();
    await sound('context');
  });
});

describe('groups and the rest', () => {
  it('make a group from a preset, and show scores and trend of a reflection', async () => {
    await go('/groups');
    await page.getByRole('heading', { name: 'There is no group yet' }).waitFor();
    await page.getByRole('button', { name: 'Choose a preset' }).click();
    await page.getByRole('group', { name: 'Built in' }).getByRole('radio').first().check();
    await page.getByLabel('Its name').fill('Mine');
    await sound('new-group');
    await page.getByRole('button', { name: 'Make the group' }).click();
    await page.getByRole('heading', { name: 'Mine' }).waitFor();
    const crew = await post<{ session: string }>('groups', { name: 'Crew', agent: 'lead' });
    const signals = async () => {
      const sent = await world.ledger.read({ session: crew.session as never, types: ['run.signalled'] });
      return sent.map(({ payload }) => (payload as { signal: string }).signal);
    };
    await go('/groups/Crew');
    await page.getByLabel('What you say').fill('Build it.');
    await page.getByRole('button', { name: 'Send' }).click();
    const table = page.getByRole('table', { name: 'Iterations' });
    await table.getByText('↑ improving').waitFor();
    await page.getByText('Version 2').first().waitFor();
    await sound('group');
    // To one member, and what is said meanwhile waits its turn.
    await page.getByLabel('To whom').selectOption('coder');
    await page.getByLabel('What you say').fill('Only you.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('It has begun.').waitFor();
    await page.getByLabel('What you say').fill('Only you. Again.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText(/^It waits its turn/).waitFor();
    const queue = page.getByRole('region', { name: 'What waits its turn' });
    await queue.getByText('for coder').waitFor();
    await sound('group-queue');
    letGo();
    await queue.waitFor({ state: 'detached' });
    await expect.poll(() => page.getByText('I alone.').count()).toBe(2);
    // Paused, had go on and stopped from its page.
    const say = async (words: string) => {
      await page.getByLabel('What you say').fill(words);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText('It has begun.').waitFor();
    };
    await say('Hold 0.');
    await page.getByRole('button', { name: 'Pause' }).click();
    await expect.poll(signals).toEqual(['pause']);
    held[0]?.resolve();
    await page.getByRole('region', { name: 'Group Crew' }).getByText('paused').first().waitFor();
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('Held 0.').waitFor();
    await say('Hold 1.');
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(signals).toEqual(['pause', 'resume', 'cancel']);
    held[1]?.resolve();
    await page.getByRole('region', { name: 'Group Crew' }).getByText('cancelled').first().waitFor();
  });

  it('show assistants, messages, executors and health', async () => {
    await go('/assistants');
    await page.getByRole('heading', { name: 'No assistant was spawned yet' }).waitFor();
    await sound('assistants');
    await go(`/sessions/${session}/messages`);
    await page.getByRole('heading', { name: 'Messages' }).waitFor();
    await page
      .getByText(/Nothing was written yet|What people said/)
      .first()
      .waitFor();
    await sound('messages');
    await go('/executors');
    await page.getByRole('heading', { name: 'Executors' }).waitFor();
    await sound('executors');
    await go('/health');
    await page.getByRole('heading', { name: 'Ledger' }).waitFor();
    await page.getByRole('button', { name: 'Verify the hash chain' }).click();
    await page.getByText('✓ sound').waitFor();
    await sound('health');
  });

  it('list sessions page by page, and those that stand in some way, however many there are', async () => {
    await using world = await serveWorld({ brain, agents, pages: looking.pages });
    const oldest = await world.run();
    await oldest.ledger.append({ session: oldest.session, fence: oldest.fence, events: [oldest.ending()] });
    const count = 119;
    for (let made = 0; made < count; made += 1) await world.run();
    await using opened = await looking.open(world, '/sessions');
    const { page, wrong } = opened;
    const rows = page.getByRole('region', { name: 'Sessions' }).locator('tbody').getByRole('row');
    await expect.poll(() => rows.count()).toBe(100);
    await shots(page, 'sessions');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page)).toEqual([]);
    }
    await page.getByRole('button', { name: 'Show earlier ones' }).click();
    await expect.poll(() => rows.count()).toBe(20);
    expect(await page.getByRole('button', { name: 'Show earlier ones' }).count()).toBe(0);
    expect(await rows.last().textContent()).toContain('completed');
    await page.getByRole('button', { name: 'Show the newest' }).click();
    await expect.poll(() => rows.count()).toBe(100);
    // Behind a hundred that run: a state is looked for in all of them.
    await page.getByLabel('How they stand').selectOption('completed');
    await expect.poll(() => rows.count()).toBe(1);
    expect(new URL(page.url()).searchParams.get('state')).toBe('completed,completed_unverified');
    await page.getByLabel('How they stand').selectOption('failed');
    await page.getByRole('heading', { name: 'No session stands so' }).waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(() => rows.count()).toBe(100);
    // The inbox has what is done, too, and says that there is more of what runs.
    await page.goto(`${world.origin}/inbox`);
    await page.getByRole('region', { name: 'Running' }).getByText('the newest 20').waitFor();
    expect(await page.getByRole('region', { name: 'Done' }).getByRole('listitem').count()).toBe(1);
    await page.getByRole('region', { name: 'Running' }).getByRole('link', { name: 'All sessions that stand so' }).click();
    await expect.poll(() => rows.count()).toBe(100);
    expect(await page.getByLabel('How they stand').inputValue()).toBe('running');
    expect(wrong).toEqual([]);
  });

  it('of a project in which nothing has run offers examples, and runs one without a key', async () => {
    await using world = await serveWorld({ brain, agents, pages: looking.pages });
    await using opened = await looking.open(world, '/');
    const { page, wrong } = opened;
    await page.getByRole('heading', { name: 'Nothing has run here yet' }).waitFor();
    await page.getByRole('listitem').filter({ hasText: 'An agent repairs a small project' }).waitFor();
    await shots(page, 'first-visit');
    // On a phone, where there is room for one thing, this is it.
    await page.setViewportSize({ width: 380, height: 780 });
    await page.getByRole('button', { name: 'Run fixer' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Run fixer' }).click();
    await page.getByRole('heading', { level: 1, name: 'fixer' }).waitFor();
    await page.getByText('completed, verified').first().waitFor();
    expect(await world.ledger.runs({ roots: true })).toMatchObject([{ agent: 'fixer', state: 'completed' }]);
    expect(wrong).toEqual([]);
  });
});
