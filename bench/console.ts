/**
 * The console on a long session: `node bench/console.ts [--events 100000]`. A ledger with so many events behind a real server,
 * a real browser that opens their session: how soon there are rows, how even scrolling is, how fast any moment is shown, and
 * what it costs to follow when 200 events come each second.
 */
import { parseArgs } from 'node:util';
import { systemClock } from '../src/base/clock.ts';
import { createIds } from '../src/base/ids.ts';
import { systemRandom } from '../src/base/random.ts';
import type { NewEvent } from '../src/ledger/port.ts';
import { givenRun } from '../test/conformance/ledger/support.ts';
import { startLooking } from '../test/support/console/browser.ts';
import { serveWorld } from '../test/support/http/served-project.ts';
import { agent, says } from '../test/support/world.ts';
import type { CDPSession, Page } from '../tools/browser/node_modules/playwright-core/index.js';
import { quantile } from './meter.ts';
import { number, table } from './table.ts';

const { values } = parseArgs({ options: { events: { type: 'string', default: '100000' } } });
const wanted = Number(values.events);
const LIVE_EVENTS = 4_000;
const LIVE_EVERY_MS = 50;
const ids = createIds(systemClock, systemRandom);

const begun = performance.now();
await using looking = await startLooking();
const tester = agent({ name: 'tester', tools: [], permissions: {} });
await using world = await serveWorld({ brain: () => says('x'), agents: [tester], pages: looking.pages });
const { ledger } = world;
const writer = await givenRun({ ledger, newSession: ids.session, newRun: ids.run }, 'Look through the folder.');
const { session } = writer;

let written = 1;
/** Turns of one call each, as the engine writes them: some 700 bytes an event. */
async function write(count: number): Promise<void> {
  const made: NewEvent[] = [];
  for (let index = 0; index < count; index += 1) made.push(eventOf(written + index));
  const outcome = await ledger.append(writer.request(made as never));
  if (outcome.kind !== 'appended') throw new Error(outcome.kind);
  written += count;
}

function eventOf(at: number): NewEvent {
  const common = { run: writer.run, actor: 'agent:tester', at: writer.at + at * 20, cause: writer.eventAt(1) };
  const path = `src/part-${at % 977}/file-${at % 31}.ts`;
  const text = `Line ${at} of what was found in ${path}. `.repeat(6);
  const kind = at % 4;
  if (kind === 0)
    return {
      ...common,
      type: 'file.diff',
      payload: { path, before: null, after: null, addedLines: 3, removedLines: 0, diff: `@@ -0,0 +1,3 @@\n+${text}` },
    } as never;
  return { ...common, type: 'cli.stdout', payload: { bytes: text.length, head: text } } as never;
}

const BATCH = 500;
for (let left = wanted - 1; left > 0; left -= BATCH) await write(Math.min(BATCH, left));
console.error(`the session was made in ${number((performance.now() - begun) / 1_000, 0)} s`);

/** When the first row stood there, and when everything did, in ms since the address was asked for. */
const WATCH = `(() => {
  window.seen = {};
  const look = () => {
    if (seen.first === undefined && document.querySelector('.rows-shown li') !== null) seen.first = performance.now();
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;

await using opened = await looking.open(world, '/inbox', { locale: 'en-US', reducedMotion: 'no-preference' });
const { page } = opened;
const devtools = await page.context().newCDPSession(page);
await page.addInitScript(WATCH);
const events = await opensIn(page);
const firsts: number[] = [];
const wholes: number[] = [];
for (let round = 0; round < 3; round += 1) {
  await page.goto(`${world.origin}/sessions/${session}?mode=full`);
  await isWhole(page, events);
  firsts.push((await page.evaluate('seen.first')) as number);
  wholes.push((await page.evaluate('performance.now()')) as number);
}

/** Until the page has so many events, and has drawn them. */
async function isWhole(page: Page, count: number): Promise<void> {
  await page.locator(`input[type=range][max="${count}"]`).waitFor();
}

async function opensIn(page: Page): Promise<number> {
  const response = await page.request.get(`${world.origin}/api/v1/sessions/${session}/events?limit=1&payloads=none`);
  return Number(((await response.json()) as { head: string | number }).head.toString().split('.').at(-1));
}

/** The time between frames while somebody turns the wheel: 600 frames up and down, at 40 rows a frame. */
const scrolled = (await page.evaluate(`new Promise((done) => {
  const place = document.querySelector('.rows');
  place.scrollTop = 0;
  const times = [];
  let before;
  let step = 40 * 28;
  const frame = (now) => {
    if (before !== undefined) times.push(now - before);
    before = now;
    if (times.length === 600) return done(times);
    if (times.length === 300) step = -step;
    place.scrollTop += step;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})`)) as number[];

/** From the movement of the slider until the frame after the one that shows it, at places far apart. */
const scrubbed = (await page.evaluate(`(async () => {
  const slider = document.querySelector('input[type=range]');
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const times = [];
  let place = 7;
  for (let index = 0; index < 100; index += 1) {
    place = (place * 48271) % 2147483647;
    await frame();
    const begun = performance.now();
    set.call(slider, String(1 + (place % (${events} - 1))));
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    await frame();
    await new Promise((done) => setTimeout(done));
    times.push(performance.now() - begun);
  }
  return times;
})()`)) as number[];

/** What is in use after a collection, in MiB. */
async function heap(devtools: CDPSession): Promise<number> {
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  return usedSize / 2 ** 20;
}

await page.goto(`${world.origin}/sessions/${session}?mode=full`);
await isWhole(page, events);
const heaps = [await heap(devtools)];
const startedAt = performance.now();
await page.evaluate(`(() => {
  window.frames2 = [];
  let before;
  const frame = (now) => {
    if (before !== undefined) frames2.push(now - before);
    before = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})()`);
for (let left = LIVE_EVENTS; left > 0; left -= 10) {
  await write(10);
  const dueMs = ((LIVE_EVENTS - left + 10) / 10) * LIVE_EVERY_MS;
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, startedAt + dueMs - performance.now())));
}
const tookMs = performance.now() - startedAt;
const grown = (await opensIn(page)) - events;
await isWhole(page, events + grown);
const lagMs = performance.now() - startedAt - tookMs;
const liveFrames = (await page.evaluate('frames2')) as number[];
heaps.push(await heap(devtools));
if (opened.wrong.length > 0) throw new Error(opened.wrong.join('\n'));

const ms = (times: readonly number[], share: number): string => number(quantile(times, share), 0);
console.log(
  table(
    [`a session of ${events} events`, 'measured', 'aim'],
    [
      ['first rows, ms after the address was asked for (median, worst of 3)', `${ms(firsts, 0.5)}, ${ms(firsts, 1)}`, '1,000'],
      ['every event there and folded, ms', `${ms(wholes, 0.5)}, ${ms(wholes, 1)}`, '–'],
      [
        'a frame of scrolling, ms: median, p95, worst',
        ['0.5', '0.95', '1'].map((share) => ms(scrolled, Number(share))).join(', '),
        'p95 20',
      ],
      [
        'any moment shown, ms: median, p95, worst',
        ['0.5', '0.95', '1'].map((share) => ms(scrubbed, Number(share))).join(', '),
        '200',
      ],
      [`events a second while it goes on (${grown} in all)`, number(grown / (tookMs / 1_000), 0), '200'],
      [
        'a frame meanwhile, ms: median, p95, worst',
        ['0.5', '0.95', '1'].map((share) => ms(liveFrames, Number(share))).join(', '),
        '–',
      ],
      ['the page has the last event so much later than the ledger, ms', number(lagMs, 0), '–'],
      ['in use after a collection, MiB: before, after', heaps.map((size) => number(size, 1)).join(', '), '–'],
      ['so an event that is kept takes, KiB', number((((heaps[1] ?? 0) - (heaps[0] ?? 0)) * 1_024) / grown, 2), '–'],
    ],
  ),
);
