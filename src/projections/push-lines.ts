/** The events about peers that are told how a task stands, as readable lines. */
import { unreachable } from '../base/errors.ts';
import type { EventOf } from '../events/envelope.ts';
import type { pushEvents } from '../events/peers.ts';
import { firstLine } from './readable.ts';

type PushType = keyof typeof pushEvents;
type PushEvent = { [Type in PushType]: EventOf<Type> }[PushType];

const TEXT_CHARACTERS = 160;

export function pushLine(event: PushEvent): ['info' | 'detail' | 'error', string] {
  switch (event.event_type) {
    case 'push.configured':
      return ['info', `a peer is told at ${firstLine(event.payload.url, TEXT_CHARACTERS)}`];
    case 'push.removed':
      return ['info', 'a peer is told nothing more'];
    case 'push.told': {
      const { failed, spans } = event.payload;
      if (spans !== undefined) return ['detail', `${spans} spans were sent until now`];
      if (failed !== undefined) return ['error', `a peer cannot be told: ${firstLine(failed, TEXT_CHARACTERS)}`];
      return ['detail', 'a peer was told'];
    }
    default:
      return unreachable(event);
  }
}
