import { describe, expect, it } from 'vitest';
import { eventList, ROOT } from '../../../test/support/event-list.ts';
import { present } from '../../base/present.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { createSignals } from './from-outside.ts';

/** A pause, and a run that is taken up by somebody who has heard everything up to a position. */
function pausedAndTakenUp(heard: number | undefined): { readonly events: readonly LedgerEvent[]; readonly pause: number } {
  const list = eventList();
  const { position } = list.add('run.signalled', { signal: 'pause', reason: 'lunch' });
  list.add('run.resumed', { owner: 'somebody', takenOver: true, ...present({ heard }) });
  return { events: list.events, pause: position };
}

function pauseAfter(heard: number | undefined): string | undefined {
  const signals = createSignals(false);
  for (const event of pausedAndTakenUp(heard).events) signals.apply(event);
  return signals.pauseAsked(ROOT);
}

describe('who has a run go on', () => {
  it('takes back the pauses that it knew of', () => {
    const { pause } = pausedAndTakenUp(undefined);
    for (const heard of [pause, pause + 5, undefined]) expect(pauseAfter(heard), `${heard}`).toBeUndefined();
  });

  it('takes back no pause that came after it had looked', () => {
    expect(pauseAfter(0)).toBe('lunch');
  });
});
