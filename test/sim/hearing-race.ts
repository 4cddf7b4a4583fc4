/** What both processes of the race know. */
import { agent, type Brain, calls, reports, turnOf } from '../support/world.ts';

export const asksFirst: Brain = (asked) => (turnOf(asked) === 1 ? calls({ name: 'act' }) : reports('Done.'));
export const careful = [agent({ permissions: { act: 'ask' } })];
