/**
 * Agents that executors work for, through crashes: cut at every append, the run ends as the uncut one does, no command is run
 * again that was recorded as done, and nothing is said without its intent.
 */
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../src/events/catalogue.ts';
import { executing } from '../support/executors/brain-executors.ts';
import { bodyOf, eventsOf, live, newPlay, type Play, payloadsOf } from '../support/executors/executor-play.ts';
import { calls, says, turnOf } from '../support/world.ts';

const yes: Answer = { kind: 'approved' };

/** Runs a command that is asked about, and one that is not, and says what it did. */
const working: Play = {
  agents: [executing('coder', { prompt: 'You code.' })],
  brain: (request) => {
    const turn = turnOf(request);
    if (turn === 1) return calls({ name: 'shell', input: { command: 'npm test' } });
    if (turn === 2) return calls({ name: 'silent', input: { command: 'touch done' } });
    return says('All is done.');
  },
  answer: () => yes,
};

describe('an agent that an executor works for', () => {
  it('answers what the executor said, and everything that it told is recorded as its word', async () => {
    const kept = newPlay(working);
    const { end } = await live(kept);
    expect(end).toMatchObject({
      kind: 'ended',
      result: { status: 'completed', report: { body: 'All is done.' }, finalAgent: 'coder' },
    });
    const events = await eventsOf(kept);
    const kinds = events.map(({ event_type: type }) => type).filter((type) => /^(executor|model|approval)\./.test(type));
    expect(kinds).toEqual([
      ...['model.request', 'executor.session', 'executor.prompted', 'approval.asked', 'approval.answered'],
      ...['executor.session', 'executor.decided', 'executor.call', 'executor.result', 'executor.call', 'executor.result'],
      ...['model.response', 'executor.ended'],
    ]);
    expect(events.filter(({ actor }) => actor === 'executor').map(({ event_type: type }) => type)).toEqual([
      ...['executor.call', 'executor.result', 'executor.call', 'executor.result', 'model.response'],
    ]);
    expect(kept.memory.prompts).toEqual([{ session: 'session-1', text: 'You code.\n\n---\n\nGo.' }]);
    expect(kept.memory.opened.map(({ restored }) => restored)).toEqual(['new', 'live']);
    expect((await payloadsOf(kept, 'model.response'))[0]).toMatchObject({ served: 'executor:sample', finish: 'stop' });
  });

  it.each([{ loads: true }, { loads: false }])('ends as the uncut run does, cut at every append: %o', async (habits) => {
    const play = { ...working, habits };
    const uncut = await live(newPlay(play));
    expect(uncut.appends.length).toBeGreaterThan(8);
    for (let cut = 0; cut <= uncut.appends.length; cut += 1) {
      const kept = newPlay(play);
      await live(kept, cut);
      const { end } = await live(kept);
      expect(bodyOf(end), `cut at ${cut}`).toBe('All is done.');
      const done = new Set((await payloadsOf(kept, 'executor.result')).map(({ id }) => id));
      const again = (await payloadsOf(kept, 'executor.prompted')).filter(({ how }) => how !== 'request');
      if (habits.loads)
        expect(kept.memory.sessions.size, `sessions, cut at ${cut}`).toBe(
          kept.memory.opened.filter(({ restored }) => restored === 'new').length,
        );
      for (const { told = '' } of again) expect(told, `cut at ${cut}`).toMatch(/must not be done twice/);
      expect(done.size, `cut at ${cut}`).toBeGreaterThan(0);
    }
  });
});
