/** The events about groups, folders and waiting prompts as readable lines. */
import { unreachable } from '../base/errors.ts';
import type { EventOf } from '../events/envelope.ts';
import type { organisationEvents } from '../events/organisation.ts';
import { firstLine } from './readable.ts';

export type OrganisationType = keyof typeof organisationEvents;
export type OrganisationEvent = { [Type in OrganisationType]: EventOf<Type> }[OrganisationType];

const TEXT_CHARACTERS = 160;

export function organisationLine(event: OrganisationEvent): string {
  switch (event.event_type) {
    case 'group.created':
      return `group ${event.payload.name} created (${event.payload.mode}, ${event.payload.members.length} members)`;
    case 'group.renamed':
    case 'folder.renamed':
      return `renamed to ${event.payload.name}`;
    case 'group.moved':
    case 'session.moved':
      return `moved to ${event.payload.folder}`;
    case 'group.pinned':
      return event.payload.pinned ? 'pinned' : 'no longer pinned';
    case 'group.ordered':
      return `placed at ${event.payload.order}`;
    case 'group.deleted':
      return `group ${event.payload.group} deleted`;
    case 'group.cleaned':
      return `group ${event.payload.group} cleaned up`;
    case 'folder.created':
      return `folder ${event.payload.name} created`;
    case 'folder.deleted':
      return `folder ${event.payload.folder} deleted`;
    case 'prompt.queued':
      return `prompt queued: ${firstLine(event.payload.text, TEXT_CHARACTERS)}`;
    case 'prompt.dropped':
      return `queued prompt dropped: ${event.payload.reason}`;
    default:
      return unreachable(event);
  }
}
