import { expect, it } from 'vitest';
import { calls, createWorld, reports, turnOf } from '../../../test/support/world.ts';
import { userText } from '../../events/messages.ts';
import type { ModelOutcome } from '../../models/port.ts';
import { createMetrics } from './metrics.ts';

it('counts what has happened since it began, once, whoever asks how often', async () => {
  const served = (outcome: ModelOutcome): ModelOutcome =>
    outcome.kind === 'answer' ? { ...outcome, answer: { ...outcome.answer, served: 'test/"\n\\' } } : outcome;
  const world = createWorld({ brain: (request) => served(turnOf(request) === 1 ? calls({ name: 'look' }) : reports('done')) });
  const play = async (): Promise<void> => {
    const started = await world.engine.start({ agent: 'worker', input: userText('go'), workspace: '/work' });
    if (started.kind === 'started') await started.handle.done;
  };
  await play();
  const metrics = createMetrics(world.ledger);
  const before = await metrics.text();
  expect(before).toMatch(/^troupe_ledger_sessions 1$/m);
  expect(before).not.toContain('troupe_tokens_total');
  await play();
  await Promise.all([metrics.text(), metrics.text()]);
  const text = await metrics.text();
  const shown = String.raw`agent="worker",model="test/\"\n\\"`;
  expect(text).toContain(`troupe_tokens_total{${shown},type="input"} 200`);
  expect(text).toContain(`troupe_model_calls_total{${shown},outcome="ok"} 2`);
  expect(text).toContain('troupe_runs_ended_total{agent="worker",status="completed"} 1');
  expect(text).toContain('troupe_tool_calls_total{tool="look",outcome="ok"} 1');
  expect(text).toContain('# TYPE troupe_cost_usd_total counter');
  for (const line of text.trim().split('\n'))
    expect(line).toMatch(/^(?:# (?:HELP|TYPE) [a-z_]+ .+|[a-z_]+(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\["n\\])*",?)*\})? [\d.e+-]+)$/);
  await world.close();
});
