/** Ways to break what holds of the places where work is done: walls around programs, workers in empty folders. */
import type { Mutation } from './mutation-list.ts';

const INSIDE = 'test/sandbox/commands.test.ts';

export const placeMutations: readonly Mutation[] = [
  {
    invariant: 'What the project denies holds on a worker that has no settings',
    change: 'only what the worker itself says counts',
    file: 'src/engine/run/brought.ts',
    find: 'stricter(options.permission(agent, tool, call), decide(tool, agent.permissions, rules, call))',
    replace: 'stricter(options.permission(agent, tool, call), decide(tool, agent.permissions, [], call))',
    caughtBy: { file: 'test/sim/cluster-empty-workers.test.ts', test: 'hold what the project denies' },
  },
  {
    invariant: 'A command inside the sandbox sees nothing of the home but what it needs',
    change: 'the home is not hidden',
    file: 'src/sandbox/walls.ts',
    find: 'denyRead: [...hiddenHome, ',
    replace: 'denyRead: [',
    caughtBy: { file: INSIDE, test: 'does not see the rest of the home' },
  },
  {
    invariant: 'A command inside the sandbox gives itself no rights',
    change: 'agents and settings can be written',
    file: 'src/sandbox/walls.ts',
    find: 'denyWrite: existing([...walls.keep, ',
    replace: 'denyWrite: existing([',
    caughtBy: { file: INSIDE, test: 'gives itself no rights: echo x > agents/evil.md' },
  },
  {
    invariant: 'Commands that prove something run inside the sandbox as well',
    change: 'they run outside',
    file: 'src/tools/shell/verifier.ts',
    find: 'inside: insideOf(sandbox, root.value, places),',
    replace: 'inside: insideOf(undefined, root.value, places),',
    caughtBy: { file: INSIDE, test: 'runs inside as well' },
  },
  {
    invariant: 'A host is reached from inside only if it was allowed for this program',
    change: 'every program may reach every host on this machine',
    file: 'src/sandbox/runtime.ts',
    find: 'network: { allowedDomains: [], deniedDomains: [] }',
    replace: "network: { allowedDomains: ['*.example'], deniedDomains: [] }",
    caughtBy: { file: 'src/sandbox/sandbox.test.ts', test: 'reaches no host that was not allowed, and tells which it was' },
  },
];
