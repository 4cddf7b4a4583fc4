import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LedgerEvent } from '../events/envelope.ts';
import { waitingPrompts } from './prompt-queue.ts';

const prompts = fc.constantFrom('run_1', 'run_2', 'run_3', 'run_4');
const event = (event_type: string, payload: object, run_id = 'run_0'): LedgerEvent =>
  ({ event_type, payload, run_id, timestamp: 'then', position: 1 }) as unknown as LedgerEvent;

describe('prompts that wait', () => {
  it('regression 29: each keeps its own text and its turn until a run has its id', () => {
    const queued = [
      event('prompt.queued', { prompt: 'run_1', text: 'first' }),
      event('prompt.queued', { prompt: 'run_2', text: 'second', member: 'coder' }),
      event('prompt.queued', { prompt: 'run_3', text: 'third' }),
    ];
    const texts = (events: LedgerEvent[]): string[] => waitingPrompts(events).map((one) => one.text);
    expect(texts(queued)).toEqual(['first', 'second', 'third']);
    expect(texts([...queued, event('run.started', {}, 'run_1')])).toEqual(['second', 'third']);
    expect(texts([...queued, event('prompt.dropped', { prompt: 'run_2', reason: '' })])).toEqual(['first', 'third']);
  });

  it('are those that were queued, less those that were begun or dropped', () => {
    const step = fc.oneof(
      prompts.map((id) => ['prompt.queued', id] as const),
      prompts.map((id) => ['prompt.dropped', id] as const),
      prompts.map((id) => ['run.started', id] as const),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const expected: string[] = [];
        for (const [type, id] of steps) {
          if (type === 'prompt.queued' && !expected.includes(id)) expected.push(id);
          if (type !== 'prompt.queued' && expected.includes(id)) expected.splice(expected.indexOf(id), 1);
        }
        const events = steps.map(([type, id]) => event(type, { prompt: id, text: id }, type === 'run.started' ? id : 'run_0'));
        expect(waitingPrompts(events).map((one) => one.prompt)).toEqual(expected);
      }),
    );
  });
});
