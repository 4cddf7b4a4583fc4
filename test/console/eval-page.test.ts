/** The page of an evaluation in a real browser, opened from the disk: light, dark and narrow, with names that try to be more. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { evalPage } from '../../src/trials/eval-page.ts';
import type { EvalReport, Trial } from '../../src/trials/report.ts';
import { barriers, type Looking, shots, startLooking } from '../support/console/browser.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const HOSTILE = '</title><script>window.caught = 1</script><img src=x onerror="window.caught = 1">';

const trial = (passed: boolean): Trial => ({
  ...{
    passed,
    run: passed ? 'run_1' : null,
    status: 'completed',
    verification: null,
    scores: [],
    durationMs: 900,
    turns: 2,
    tokens: 90,
  },
  ...{ usd: 0.01, unknownCalls: 0, workspace: null },
  checks: [{ check: `answer ${HOSTILE}`, passed, why: passed ? null : `${HOSTILE} ${'long'.repeat(200)}` }],
});

const models = ['anthropic/claude-sonnet-5', 'openai/gpt-5-mini', 'openai/gpt-5-nano', `local/${'x'.repeat(120)}`, HOSTILE];
const who = (index: number) => ({ agent: 'fixer', model: models[index] ?? null });
const rates = [1, 0.5, 0.5, 0.25, 0];
const costs = [0.04, 0.01, 0.01, 0.0001, 0.08];

const report: EvalReport = {
  ...{ name: `table ${HOSTILE}`, at: '2026-11-18T18:28:23.370Z', notRun: 2, page: null },
  contenders: models.map((_model, index) => ({
    ...{ ...who(index), passRate: rates[index] ?? 0, passAll: rates[index] === 1 ? 1 : 0, score: index === 0 ? 0.9 : null },
    ...{ usd: costs[index] ?? 0, unknownCalls: index === 3 ? 1 : 0, durationMs: 1_200 },
  })),
  cells: ['slug', HOSTILE].flatMap((name) =>
    models.map((_model, index) => ({
      ...{ case: name, ...who(index), trials: [trial(index === 0), trial(index < 3)], passRate: rates[index] ?? 0, passAll: 0 },
      ...{ score: null, usd: 0.01, unknownCalls: 0, durationMs: 900 },
    })),
  ),
  total: { trials: 20, durationMs: 18_000, usd: 0.2, unknownCalls: 1 },
};

let looking: Looking;
let folder: string;
beforeAll(async () => {
  looking = await startLooking();
  folder = await mkdtemp(join(tmpdir(), 'troupe-eval-'));
  await writeFile(join(folder, 'page.html'), evalPage(report));
});
afterAll(async () => {
  await looking[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const looks = [
  { what: 'light', colorScheme: 'light', width: 1280 },
  { what: 'dark', colorScheme: 'dark', width: 1280 },
  { what: 'narrow', colorScheme: 'light', width: 380 },
] as const;

it.each(looks)('is whole and can be read: $what', async ({ what, colorScheme, width }) => {
  const context = await looking.browser.newContext({ viewport: { width, height: 900 }, colorScheme, reducedMotion: 'reduce' });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(pathToFileURL(join(folder, 'page.html')).href);
  await shots(page, `eval-${what}`);
  expect(asked).toHaveLength(1);
  expect(await page.evaluate('window.caught')).toBeUndefined();
  // Two contenders in one place are one dot with both numbers.
  expect(await page.locator('svg circle').count()).toBe(4);
  const labels = await page.locator('svg text[text-anchor="middle"]').allTextContents();
  expect(labels).toEqual(['1', '2, 3', '4', '5']);
  const inside = await page.evaluate(`(() => {
    const frame = document.querySelector('svg').getBoundingClientRect();
    return [...document.querySelectorAll('svg text, svg circle')].every((one) => {
      const box = one.getBoundingClientRect();
      return box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
    });
  })()`);
  expect(inside).toBe(true);
  expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
  await page.locator('summary').first().click();
  expect(await page.locator('details[open] pre').first().textContent()).toContain('<script>');
  expect(await barriers(page)).toEqual([]);
  await context.close();
});
