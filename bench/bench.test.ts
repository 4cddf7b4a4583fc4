/** The benchmark is only as good as its counting: the fake server, the floor on it, and the ratios in the tables. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { counters, FINAL_MARK, runModel } from './common.ts';
import type { Figures, Results, Row } from './measurement.ts';
import { type Control, createControl, quantile } from './meter.ts';
import { render } from './render.ts';
import { openFloor } from './systems/floor.ts';
import { median, spread } from './table.ts';
import { workloads } from './workloads.ts';

describe('the fake server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const child = spawn(process.execPath, [fileURLToPath(new URL('./server.ts', import.meta.url))]);
  let baseUrl = '';
  let control: Control = createControl('');

  beforeAll(async () => {
    const port = await new Promise<string>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => resolve(/PORT (\d+)/.exec(chunk.toString())?.[1] ?? ''));
    });
    control = createControl(`http://127.0.0.1:${port}`);
    baseUrl = `http://127.0.0.1:${port}/v1`;
  });
  afterAll(() => {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(['fetch', 'undici'] as const)('plays a script to its end and counts every request (%s)', async (client) => {
    const floor = await openFloor({ baseUrl, apiKey: 'none', folder, scripts: [] }, client);
    await control.ask('/reset');
    counters.lookups = 0;
    expect(await floor.run(`ten-${client}`, { turns: 10 })).toContain(FINAL_MARK);
    expect(await control.stats()).toMatchObject({ requests: 10, outsideScript: 0, peakInFlight: 1 });
    expect(counters.lookups).toBe(9);
    await floor.close();
  });

  it('has a supervisor delegate to sub-agents that work at the same time', async () => {
    const floor = await openFloor({ baseUrl, apiKey: 'none', folder, scripts: [] }, 'fetch');
    await control.ask('/reset');
    // Each of the eight is answered when all of them have asked.
    await control.ask('/gather/8');
    expect(await floor.fanOut?.('fan', { width: 8, subTurns: 3 })).toContain(FINAL_MARK);
    await control.ask('/gather/0');
    expect(await control.stats()).toMatchObject({ requests: 26, peakInFlight: 8 });
    await floor.close();
  });

  it('refuses a model that is not a script', async () => {
    await control.ask('/reset');
    const response = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', body: '{"model":"gpt"}' });
    expect(response.status).toBe(400);
    expect(await control.stats()).toMatchObject({ requests: 0, outsideScript: 1 });
  });

  it('streams to whoever asks for it', async () => {
    const body = JSON.stringify({ model: runModel({ turns: 1 }), messages: [], stream: true });
    const text = await (await fetch(`${baseUrl}/chat/completions`, { method: 'POST', body })).text();
    const pieces = [...text.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1]);
    expect(pieces.join('')).toContain(FINAL_MARK);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('fails a measurement whose runs give no final answer or make too few requests', async () => {
    const errors: string[] = [];
    const idle = { run: async () => 'nothing', resume: async () => 'nothing', close: async () => undefined };
    const pace = { warmMs: 0, measureMs: 0, delayedRuns: 1, turns: 10 };
    await workloads['w1']?.({ ...pace, open: async () => idle, control, folder, errors });
    expect(errors).toContain('wrong answer: nothing');
    expect(errors).toContain('the server saw 0 model requests, not 200');
  });
});

describe('tables', () => {
  const row = (repetition: number, system: string, figures: Figures): Row => ({
    repetition,
    workload: 'w1',
    system,
    outcome: { kind: 'measured', figures, attempts: 1 },
  });
  const results: Results = {
    machine: { cpu: 'test', cores: 1, memoryGib: 1, platform: 'linux', node: 'v24', sqlite: '3' },
    startedAt: '2026-01-01T00:00:00.000Z',
    seconds: 1,
    mode: 'full',
    repetitions: 2,
    quietPercent: 25,
    systems: [
      { name: 'floor', keeps: '' },
      { name: 'troupe', keeps: '' },
    ],
    rows: [
      row(1, 'floor', { cpuMsPerTurn: 1 }),
      row(1, 'troupe', { cpuMsPerTurn: 1.2 }),
      row(2, 'floor', { cpuMsPerTurn: 2 }),
      row(2, 'troupe', { cpuMsPerTurn: 4 }),
      { repetition: 1, workload: 'w4', system: 'troupe', outcome: { kind: 'missing', why: 'not yet' } },
      { repetition: 1, workload: 'w6', system: 'troupe', outcome: { kind: 'failed', errors: ['wrong answer'] } },
    ],
  };
  const lines = render(results).split('\n');

  it('compares with the floor of the same repetition', () => {
    expect(lines).toContain('| one agent, 10 turns, CPU | 1 | 1.60 | 1.5 | **no** |');
    expect(lines).toContain('| troupe | 2.60 (1.20–4.00) | 1.60 (1.20–2.00) | – | – | – |');
  });

  it('says what was not measured, and why', () => {
    expect(lines).toContain('| supervisor with 8 sub-agents, wall time | 1 | – | 1.5 | not yet |');
    expect(lines).toContain('- repetition 1, w6, troupe: failed: wrong answer');
  });

  it('leaves out workloads that were not run', () => {
    expect(lines.filter((line) => line.startsWith('### W'))).toHaveLength(1);
  });

  it('knows the middle of odd, even and no values', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([])]).toEqual([2, 2.5, Number.NaN]);
    expect(spread([Number.NaN])).toBe('–');
    expect(quantile([5, 1, 3], 0.95)).toBe(5);
  });
});
