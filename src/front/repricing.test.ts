import { expect, it } from 'vitest';
import { answered, eventList } from '../../test/support/event-list.ts';
import { present } from '../base/present.ts';
import type { CallCost } from '../events/messages.ts';
import { repriced } from './repricing.ts';

const prices = { cost: (model: string) => (model === 'test/model' ? 7 : undefined) };

it('a list that was used gives way to another; what the doer said itself stays; without a price it is unknown', () => {
  const costs = (cost: CallCost | undefined, served: string): CallCost | undefined => {
    const event = answered(eventList(), 1);
    if (event.event_type !== 'model.response') throw new Error('no answer');
    const payload = { ...event.payload, served, requested: served, ...present({ cost }) };
    const again = repriced({ ...event, payload }, prices);
    return again.event_type === 'model.response' ? again.payload.cost : undefined;
  };
  const listed = { nanoUsd: 1, prices: 'config over genai-prices 0.1.8' };
  expect(costs(listed, 'test/model')).toMatchObject({ nanoUsd: 7 });
  expect(costs(undefined, 'test/model')).toMatchObject({ nanoUsd: 7 });
  expect(costs(listed, 'test/other')).toBeUndefined();
  expect(costs({ nanoUsd: 5, prices: 'executor' }, 'test/model')).toEqual({ nanoUsd: 5, prices: 'executor' });
});
