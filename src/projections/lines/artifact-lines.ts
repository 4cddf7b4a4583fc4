/** What work leaves behind, as lines of the timeline. */
import { unreachable } from '../../base/errors.ts';
import { counted } from '../../base/wording.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { readableBytes } from '../readable.ts';

type ArtifactEvent = Extract<LedgerEvent, { event_type: `artifact.${string}` | 'environment.recorded' }>;

export function isArtifactEvent(event: LedgerEvent): event is ArtifactEvent {
  return event.event_type.startsWith('artifact.') || event.event_type === 'environment.recorded';
}

export function artifactLine(event: ArtifactEvent): readonly [level: 'detail' | 'warn', text: string] {
  switch (event.event_type) {
    case 'artifact.stored': {
      const { ref, type, bytes, claimed } = event.payload;
      const said = claimed === undefined ? '' : ', and not what was said of it';
      return [claimed === undefined ? 'detail' : 'warn', `${type} ${ref} (${readableBytes(bytes)})${said}`];
    }
    case 'artifact.part':
      return ['detail', `part ${event.payload.index + 1} of an artifact (${readableBytes(event.payload.bytes)})`];
    case 'artifact.pinned':
      return ['detail', `${event.payload.ref} is ${event.payload.pinned ? 'pinned' : 'not pinned any more'}`];
    case 'artifact.manifest': {
      const { items, artifacts = [], flagged = [] } = event.payload;
      const stored = artifacts.length === 0 ? '' : ` and ${counted(artifacts.length, 'artifact')}`;
      const wrong = flagged.length === 0 ? '' : `; ${counted(flagged.length, 'statement')} about files not true`;
      return [flagged.length === 0 ? 'detail' : 'warn', `manifest of ${counted(items.length, 'file')}${stored}${wrong}`];
    }
    case 'environment.recorded':
      return ['detail', `environment ${event.payload.ref}`];
    default:
      return unreachable(event);
  }
}
