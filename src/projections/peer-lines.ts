/** The events about agents that live elsewhere, as readable lines. */
import { unreachable } from '../base/errors.ts';
import { counted } from '../base/wording.ts';
import type { EventOf } from '../events/envelope.ts';
import type { peerEvents } from '../events/peers.ts';
import { firstLine, readableBytes } from './readable.ts';

type PeerType = keyof typeof peerEvents;
type PeerEvent = { [Type in PeerType]: EventOf<Type> }[PeerType];

const TEXT_CHARACTERS = 160;

export function peerLine(event: PeerEvent): ['info' | 'detail' | 'warn', string] {
  switch (event.event_type) {
    case 'peer.sent': {
      const { address, task } = event.payload;
      const to = task === undefined ? '' : ` to its task ${shown(task)}`;
      return ['detail', `a message goes to ${shown(address)}${to}`];
    }
    case 'peer.unsent':
      return ['warn', `the message did not arrive: ${shown(event.payload.why)}`];
    case 'peer.task':
      return ['detail', `it is the task ${shown(event.payload.task)} there`];
    case 'peer.state': {
      const { state, files = [] } = event.payload;
      const lost = files.flatMap(({ name = 'a file', why }) => (why === undefined ? [] : [`${name}: ${why}`]));
      const [first] = lost;
      if (first === undefined) return ['detail', `the task there is ${state}`];
      const more = lost.length === 1 ? '' : `; and ${counted(lost.length - 1, 'more file')}`;
      return ['warn', `the task there is ${state}; not kept: ${shown(first)}${more}`];
    }
    case 'peer.artifact': {
      const { id, name = id, bytes } = event.payload;
      return ['detail', `the task there made ${shown(name)} (${readableBytes(bytes)})`];
    }
    case 'peer.cancelled': {
      const { reached, state = '', why = '' } = event.payload;
      if (!reached) return ['warn', `the task there could not be cancelled: ${shown(why)}`];
      if (state === 'canceled' || state === '') return ['info', 'the task there was cancelled'];
      if (state === 'ended') return ['info', 'the task there had ended, or is not known there any more'];
      return ['warn', `the task there was told to end, and is ${shown(state)}`];
    }
    default:
      return unreachable(event);
  }
}

const shown = (text: string): string => firstLine(text, TEXT_CHARACTERS);
