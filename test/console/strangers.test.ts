/**
 * What strangers write is shown and does nothing: each text of the table as an answer, a name, a file name, a command, a
 * difference, a tool's output, a prompt, a claim, a failure, a model, an agent's description and a message, in every view of the
 * real page and in an exported file. Nothing runs, nothing is loaded from elsewhere, no element that could is there, and no text
 * takes the place of ours.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SessionId } from '../../src/base/ids.ts';
import { sessionFile } from '../../src/front/one-file/session-file.ts';
import { type Looking, type Opened, startLooking } from '../support/console/browser.ts';
import { payloads } from '../support/console/payloads.ts';
import { type StrangeLedger, writeAsStrangers } from '../support/console/strange-ledger.ts';
import { hitsIn, NOTHING_HIT } from '../support/console/strangers.ts';
import { sendJson } from '../support/http/api-server.ts';
import { type ServedWorld, serveWorld } from '../support/http/served-project.ts';
import { agent, says } from '../support/world.ts';

/** Names that are nobody's but a group's. */
const GROUPS = ['<img src=x onerror=window.hit=1>', 'safe\u200b\u2066name\u2069', 'crew \u202e# werc\u202c'];
/** A name that reads like another one. */
const UNSEEN = 'hel\u200bper';
/** A name of a file that could close an attribute. */
const FILE = '"><img src=x onerror=window.hit=1>.md';

let looking: Looking;
let world: ServedWorld;
let strange: StrangeLedger;
let opened: Opened;
let page: Opened['page'];
const dialogs: string[] = [];

beforeAll(async () => {
  looking = await startLooking();
  const agents = [agent({ name: 'a', tools: [], permissions: {} })];
  world = await serveWorld({ brain: () => says('x'), agents, pages: looking.pages });
  strange = await writeAsStrangers(world.ledger);
  opened = await looking.open(world, '/inbox', { locale: 'en-US' });
  page = opened.page;
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
});
afterAll(async () => {
  await opened[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
  await looking[Symbol.asyncDispose]();
});

const hits = () => hitsIn(page);

/** Within the page, as a link would do it: what was hit before stays hit. */
const go = (path: string) => page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);

type Views = readonly (readonly [path: string, place: string, count: number])[];

/** Views that show what is looked for, and do nothing. */
async function areHarmless(views: Views): Promise<void> {
  const harms: object[] = [];
  for (const [path, place, count] of views) {
    await go(path);
    await expect.poll(() => page.locator(place).count(), { message: path }).toBeGreaterThanOrEqual(count);
    const found = await hits();
    if (!isDeepStrictEqual(found, NOTHING_HIT)) harms.push({ path, ...found });
  }
  expect(harms).toEqual([]);
}

describe('words of strangers', () => {
  it('do nothing where they wait, happen, and are answered', async () => {
    expect(payloads.length).toBeGreaterThanOrEqual(60);
    const { answers, asking } = strange;
    for (const text of payloads) {
      const said = await world.ask(`/api/v1/runs/${asking.run}/messages`, sendJson({ text }));
      expect(said.status).toBe(200);
    }
    await page.getByRole('article').waitFor();
    for (let index = 0; index < payloads.length; index += 1) {
      await page.keyboard.press('j');
      expect(await page.locator('.wait-card').count()).toBe(1);
    }
    expect(await hits()).toEqual(NOTHING_HIT);
    // All of a wait is there: what is hidden is spelled out.
    expect(await page.locator('.inbox-list .list-row').count()).toBeGreaterThanOrEqual(payloads.length);
    const [merged] = await world.ledger.read({ session: asking.session, types: ['task.merged'] });
    await areHarmless([
      ['/sessions', '.table tbody tr', 3],
      [`/sessions/${asking.session}?mode=full`, '.timeline-row', 10],
      [`/sessions/${asking.session}?mode=raw&event=5`, '.inspector .line', 3],
      [`/sessions/${asking.session}/result`, '.claims li', 2 * payloads.length],
      [`/sessions/${asking.session}/files?report=${merged?.position}`, '.split-main section', payloads.length],
      [`/sessions/${asking.session}/messages`, '.messages > li', payloads.length],
      [`/sessions/${answers.session}/result`, '.prose', payloads.length + 1],
    ]);
    // A link opens nothing before its host was shown and somebody has agreed.
    const links = page.locator('.prose a[href]');
    for (let index = 0; index < (await links.count()); index += 1) await links.nth(index).click();
    expect(dialogs.length).toBe(await links.count());
    expect(dialogs.every((text) => /evil\.example|bank\.example/.test(text))).toBe(true);
    expect(await links.allTextContents()).toEqual(expect.arrayContaining(['https://bank.example (evil.example)']));
    expect(await page.title()).toMatch(/Result · Troupe$/);
    expect(new URL(page.url()).pathname).toContain('/result');
  });

  it('do nothing in any other view either', async () => {
    const { answers, failures, asking } = strange;
    const [one, other] = await world.ledger.runs({ session: answers.session, limit: 2 });
    const begun = await world.ask('/api/v1/runs', sendJson({ agent: 'a', prompt: payloads.join('\n') }));
    const real = (await begun.json()) as { session: string; run: string };
    await expect.poll(async () => (await world.ledger.runs({ run: real.run as never }))[0]?.state).toBe('completed');
    const many = payloads.length;
    await areHarmless([
      [`/sessions/${answers.session}`, '.run-row', many],
      [`/sessions/${answers.session}?show=lanes`, '.lane-name', 1],
      [`/sessions/${answers.session}/graph`, '.graph-box', many],
      [`/sessions/${answers.session}/graph?way=aggregated`, '.graph-box', many],
      [`/sessions/${failures.session}/errors`, '.failure', many],
      [`/sessions/${failures.session}/costs`, '.table tbody tr', many],
      [`/sessions/${failures.session}?mode=full`, '.timeline-row', 10],
      ['/costs', '.table tbody tr', 2 * many],
      [`/sessions/${asking.session}/files`, '.file-row', many],
      [`/sessions/${asking.session}?at=60`, '.at-moment li', 10],
      [`/sessions/${real.session}/context`, '.shown-text', 1],
      [`/compare/${one?.run}/${other?.run}`, 'main h1', 1],
      ['/assistants', 'main h2', 1],
      ['/executors', 'main h2', 1],
      ['/health', 'main h2', 3],
      ...payloads.map((text) => [`/sessions/${asking.session}/files?file=${encodeURIComponent(text)}`, '.diff-line', 1] as const),
    ]);
    await page.keyboard.press('/');
    await page.getByRole('combobox').fill('window.hit');
    await page.getByText('In all sessions').waitFor();
    expect(await page.getByRole('option').count()).toBeGreaterThan(5);
    expect(await hits()).toEqual(NOTHING_HIT);
    await page.keyboard.press('Escape');
  });

  it('do nothing in names and files of agents, and in names of groups', async () => {
    const folder = join(world.folder, 'agents');
    await mkdir(folder, { recursive: true });
    const fileOf = (name: string, text: string) =>
      `---\nname: ${name}\nmodel: test/model\ndescription: ${JSON.stringify(text)}\n---\n${text}\n`;
    for (const [index, text] of payloads.entries()) await writeFile(join(folder, `s${index}.md`), fileOf(`s${index}`, text));
    await writeFile(join(folder, 'unseen.md'), fileOf(UNSEEN, 'Helps.'));
    await writeFile(join(folder, FILE), 'descripton: <img src=x onerror=window.hit=1>');
    const { presets } = (await (await world.ask('/api/v1/presets')).json()) as { presets: { name: string }[] };
    for (const name of GROUPS) {
      const made = await world.ask('/api/v1/groups', sendJson({ name, preset: presets[0]?.name }));
      expect([name, made.status]).toEqual([name, 201]);
    }
    await areHarmless([
      ['/agents', '.split-row', 60],
      ...[0, 20, 71, 72, 73].map((index) => [`/agents/s${index}`, '.split-main .shown-text', 1] as const),
      [`/agents/${encodeURIComponent(UNSEEN)}`, '.split-main .shown-text', 1],
      ['/groups', '.split-row', GROUPS.length],
      ...GROUPS.map((name) => [`/groups/${encodeURIComponent(name)}`, '.split-main .table', 1] as const),
    ]);
    expect({ wrong: opened.wrong, elsewhere: opened.elsewhere }).toEqual({ wrong: [], elsewhere: [] });
  });

  it('do nothing in an exported file', async () => {
    const app = join(import.meta.dirname, '..', '..', 'dist', 'console', 'file');
    const [script = '', style = ''] = await Promise.all(['app.js', 'app.css'].map((name) => readFile(join(app, name), 'utf8')));
    const context = await looking.browser.newContext({ viewport: { width: 1_280, height: 800 } });
    const file = await context.newPage();
    const elsewhere: string[] = [];
    file.on('request', (request) => {
      if (!/^(file|data|blob):/.test(request.url())) elsewhere.push(request.url());
    });
    for (const [session, view, place, count] of [
      [strange.asking.session, '?mode=full', '.timeline-row', 10],
      [strange.asking.session, '/files', '.file-row', payloads.length],
      [strange.asking.session, '/result', '.claims li', payloads.length],
      [strange.answers.session, '/result', '.prose', payloads.length],
      [strange.failures.session, '/errors', '.failure', payloads.length],
    ] as const) {
      const path = join(world.folder, `${session}.html`);
      const wanted = { session: session as SessionId, agent: payloads[0] ?? '', now: 0, version: '1' };
      const pieces: string[] = [];
      for await (const piece of sessionFile(world.ledger, wanted, { script, style })) pieces.push(piece);
      await writeFile(path, pieces.join(''));
      await file.goto('about:blank');
      await file.goto(`${pathToFileURL(path).href}#/sessions/${session}${view}`);
      await expect.poll(() => file.locator(place).count(), { message: view }).toBeGreaterThanOrEqual(count);
      expect({ view, ...(await hitsIn(file)) }).toEqual({ view, ...NOTHING_HIT });
    }
    expect(elsewhere).toEqual([]);
    await context.close();
  });
});
