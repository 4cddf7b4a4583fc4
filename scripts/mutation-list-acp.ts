/** Mutations of `troupe acp` and of what its modes promise. */
import type { Mutation } from './mutation-list.ts';

const mode = 'src/engine/record/run-mode.ts';
const modes = 'src/engine/record/run-mode.test.ts';

export const acpMutations: readonly Mutation[] = [
  {
    invariant: 'A read-only run changes nothing',
    change: 'its calls go by the rules',
    file: mode,
    find: "tool.kind === undefined && tool.readOnly !== true ? 'deny' : permission",
    replace: 'permission',
    caughtBy: { file: modes, test: 'read-only closes what writes or runs' },
  },
  {
    invariant: 'Nothing below a read-only run is freer',
    change: 'the nearest word counts',
    file: mode,
    find: "    if (said === 'read-only') return said;\n",
    replace: '',
    caughtBy: { file: modes, test: 'holds for everything below' },
  },
  {
    invariant: 'Full opens nothing that is denied',
    change: 'it allows whatever the rules say',
    file: mode,
    find: "mode === 'full' && permission === 'ask' && isOwn",
    replace: "mode === 'full' && isOwn",
    caughtBy: { file: modes, test: 'full opens nothing that is denied' },
  },
];
