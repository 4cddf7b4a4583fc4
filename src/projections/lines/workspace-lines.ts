/** Events about domains, merges and what was applied, each as one line. */
import { unreachable } from '../../base/errors.ts';
import { counted } from '../../base/wording.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { workspaceEvents } from '../../events/tasks/workspace-events.ts';

type WorkspaceType = keyof typeof workspaceEvents;
type WorkspaceEvent = { [Type in WorkspaceType]: EventOf<Type> }[WorkspaceType];

export const isWorkspaceEvent = (event: LedgerEvent): event is WorkspaceEvent => event.event_type in workspaceEvents;

export function workspaceLine(event: WorkspaceEvent): readonly [level: 'info' | 'detail' | 'warn', text: string] {
  switch (event.event_type) {
    case 'workspace.packed':
      return ['detail', `part ${event.payload.index + 1} of the repository at ${event.payload.head.slice(0, 12)} came along`];
    case 'workspace.kept': {
      const { task, files, without = [] } = event.payload;
      const kept = `kept ${counted(files.length, 'changed file')} of ${task ?? 'the working tree'}`;
      if (without.length === 0) return ['detail', kept];
      return ['warn', `${kept}, but not what holds a secret: ${without.join(', ')}`];
    }
    case 'domain.leased': {
      const { task, include, token } = event.payload;
      return ['detail', `${task} has ${include.join(', ') || 'all files'} to itself (lease ${token})`];
    }
    case 'domain.released':
      return ['detail', `lease ${event.payload.token} has ended`];
    case 'apply.made': {
      const { files, more = 0, branch } = event.payload;
      return ['info', `applied to ${branch ?? 'the working tree'}: ${counted(files.length + more, 'file')}`];
    }
    case 'apply.undone':
      return ['info', `${event.payload.apply} was taken back`];
    default:
      return unreachable(event);
  }
}
