/** How a group stands: as a run does, or that it works on nothing. */
import type { GroupRow } from '../../api/types.ts';
import { StateMark } from '../../parts/state-mark.tsx';

export function GroupState({ state }: { readonly state: GroupRow['state'] }) {
  return state === 'idle' ? <span className="quiet">○ idle</span> : <StateMark state={state} />;
}
