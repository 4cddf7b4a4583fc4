/** What trials may cost, how many of them must pass, and what stops them. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { evalReport, testReport } from '../../src/trials/report.ts';
import { createTestProject, type TestProject } from './support-project.ts';

const AGENT = '---\nname: helper\nmaxOutputTokens: 100\ntools: [list]\n---\nYou help.\n';
const PRICES = 'prices: { "scripted:replies.yaml": { input: 1, output: 1 }, "scripted:judge.yaml": { input: 1, output: 1 } }\n';

/** What is reserved before a call of these agents, in dollars: far more than it costs. */
const RESERVED = 0.0022;

const priced = (): Promise<TestProject> => createTestProject(PRICES, AGENT);
const test = (at: TestProject, name: string, more: object) =>
  at.write(`tests/${name}.yaml`, JSON.stringify({ agent: 'helper', prompt: 'Go.', ...more }));

async function tested(at: TestProject, ...args: readonly string[]) {
  const { code, out, err } = await at.look('test', ...args, '--json');
  return { code, err, report: testReport.parse(JSON.parse(out)) };
}

const whysOf = ({ report }: Awaited<ReturnType<typeof tested>>): readonly string[] =>
  report.tests.flatMap(({ trials }) =>
    trials.flatMap(({ checks }) => checks.flatMap(({ check, why }) => (why === null ? [] : [`${check}: ${why}`]))),
  );

describe('what trials cost', () => {
  it('is bounded for one of them by its file', async () => {
    await using at = await priced();
    await at.script({ toolCalls: [{ name: 'list', input: {} }] }, { text: 'Done.' });
    await test(at, 'calls', { budget: { calls: 1 } });
    await test(at, 'expected', { budget: { calls: 1 }, checks: { status: 'budget_exhausted' } });
    await test(at, 'enough', { budget: { calls: 2 } });
    const ended = await tested(at);
    expect(ended.report.tests.map(({ name, passed }) => [name, passed])).toEqual([
      ['calls', false],
      ['enough', true],
      ['expected', true],
    ]);
    expect(whysOf(ended)).toEqual([expect.stringMatching(/^status completed: it was budget_exhausted: /)]);
  });

  it('is bounded for all of them together, whichever test they are of', async () => {
    await using at = await priced();
    await at.script({ text: 'Done.' });
    await test(at, 'first', { trials: 3 });
    await test(at, 'second', { trials: 3 });
    const { usd } = (await tested(at, 'first', '--trials', '1')).report.total;
    expect(usd).toBeGreaterThan(0);
    const budget = usd * 2 + RESERVED;
    const { code, report } = await tested(at, '--budget-usd', budget.toFixed(9));
    expect(code).toBe(4);
    expect(report.passed).toBe(false);
    expect(report.notRun).toContain('second');
    expect(report.total.usd).toBeLessThanOrEqual(budget);
    // What was spent is less for the next: each of them alone would have had enough.
    expect(report.tests[0]).toMatchObject({ name: 'first', passed: true });
    expect(report.total.trials).toBeLessThan(6);
  });

  it('is bounded for judges, too', async () => {
    await using at = await priced();
    await at.write('agents/critic.md', '---\nname: critic\nmodel: scripted:judge.yaml\nmaxOutputTokens: 5000\n---\nYou judge.\n');
    await at.script({ text: 'Done.' });
    await at.write('judge.yaml', JSON.stringify([{ text: '{"score": 1}' }]));
    const judges = [{ agent: 'critic' }, { agent: 'critic' }];
    await test(at, 'bare', {});
    await test(at, 'judged', { judges });
    const { usd } = (await tested(at, 'bare')).report.total;
    const whole = (await tested(at, 'judged')).report;
    expect(whole.tests[0]?.trials[0]?.scores.map(({ score }) => score)).toEqual([1, 1]);
    expect(whole.total.usd).toBeGreaterThan(usd);
    // Enough for the agent, and for what a judge would cost; not for what it might.
    const budget = usd + RESERVED;
    expect(budget).toBeGreaterThan(whole.total.usd);
    const { report } = await tested(at, 'judged', '--budget-usd', budget.toFixed(9));
    expect(report.total.usd).toBeLessThanOrEqual(budget);
    expect(report.tests[0]?.trials[0]).toMatchObject({ status: 'completed', turns: 1 });
    expect(report.tests[0]?.trials[0]?.scores.map(({ score }) => score)).toEqual([null, null]);
  });

  it('of a table ends it, and says what was not made', async () => {
    await using at = await priced();
    await at.script({ text: 'Done.' });
    const table = { agents: ['helper'], trials: 2, cases: [{ prompt: 'One.' }, { prompt: 'Two.' }, { prompt: 'Three.' }] };
    await at.write('table.yaml', JSON.stringify(table));
    const whole = evalReport.parse(JSON.parse((await at.look('eval', 'table.yaml', '--json')).out));
    const budget = (whole.total.usd / 6) * 2 + RESERVED;
    const { code, out } = await at.look('eval', 'table.yaml', '--json', '--budget-usd', budget.toFixed(9));
    const report = evalReport.parse(JSON.parse(out));
    expect(code).toBe(4);
    expect(report.total.usd).toBeLessThanOrEqual(budget);
    expect(report.notRun).toBe(6 - report.total.trials);
    expect(report.notRun).toBeGreaterThan(0);
    expect(report.total.trials).toBeGreaterThan(1);
  });

  it('in dollars cannot be promised where prices are unknown', async () => {
    await using at = await createTestProject('', AGENT);
    await at.serve({ text: 'Done.' });
    await test(at, 'cheap', { checks: { maxUsd: 1 } });
    expect(whysOf(await tested(at))).toEqual(['maxUsd: the price of 1 call is unknown']);
    expect(whysOf(await tested(at, '--budget-usd', '1'))).toEqual([expect.stringMatching(/^start: .*price/)]);
  });
});

describe('trials', () => {
  it('of which one fails are a test that fails, with the share that passed', async () => {
    await using at = await createTestProject('', AGENT);
    await at.serve(...['Good.', 'Bad.', 'Good.', 'Good.'].map((text) => ({ text })));
    await test(at, 'mixed', { trials: 4, checks: { answer: { contains: ['Good'] } } });
    const { code, report } = await tested(at);
    expect(code).toBe(1);
    expect(report.tests[0]).toMatchObject({ passed: false, passRate: 0.75, passAll: 0 });
    expect(report.tests[0]?.trials.map(({ passed }) => passed)).toEqual([true, false, true, true]);
  });

  it('end with Ctrl-C: the run under way is cancelled, its folder goes, and no other begins', async () => {
    await using at = await createTestProject('', AGENT);
    let begun = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const server = await at.serve(async () => {
      begun();
      return await new Promise<never>(() => undefined);
    });
    await test(at, 'slow', { trials: 3 });
    const running = at.start(['test']);
    await asked;
    running.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 130, err: expect.stringContaining('Stopped before all trials were made') });
    expect(server.requests).toHaveLength(1);
    const rows = JSON.parse((await at.look('ps', '--all', '--json')).out) as { run: string; state: string }[];
    expect(rows.map(({ state }) => state)).toEqual(['cancelled']);
    const [folder = ''] = /troupe-trial-\w+/.exec((await at.look('logs', rows[0]?.run ?? '', '--json')).out) ?? [];
    expect([folder, existsSync(join(tmpdir(), folder))]).toEqual([expect.stringMatching(/./), false]);
  });
});
