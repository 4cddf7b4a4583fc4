/** Ways to break what holds of the places where work is done: walls around programs, workers in empty folders. */
import type { Mutation } from './mutation-list.ts';

const INSIDE = 'test/sandbox/commands.test.ts';
const UNWALLED = 'test/sandbox/unwalled-executors.test.ts';
const GIT_FOLDERS = 'test/sandbox/git-folders.test.ts';
const KEPT = 'test/sandbox/executors.test.ts';

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
    find: 'denyRead: [...hidden, ',
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
    invariant: 'Nothing inside makes settings that git reads outside',
    change: 'settings of a worktree can be made where there are none',
    file: 'src/sandbox/walls.ts',
    find: "['hooks', WORKTREE_SETTINGS]",
    replace: "['hooks']",
    caughtBy: { file: GIT_FOLDERS, test: 'is not said inside: settings of the repository as a worktree' },
  },
  {
    invariant: 'A program in a worktree leaves the branches, stash and history of the repository as they are',
    change: 'all of the repository can be written',
    file: 'src/tools/shell/walls.ts',
    find: '[repository.own, join(repository.common, OBJECTS)]',
    replace: '[repository.own, repository.common]',
    caughtBy: { file: GIT_FOLDERS, test: 'keeps its branches, tags, stash, history and packed objects' },
  },
  {
    invariant: 'An executor that only reads changes nothing inside walls',
    change: 'its workspace can be written',
    file: 'src/executors/kept-in.ts',
    find: "working === 'read-only' ? onlyRead(open) : open",
    replace: 'open',
    caughtBy: { file: KEPT, test: 'changes nothing where it only reads, by itself and by commands that it has us run' },
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
  {
    invariant: 'An executor that asks nobody sees and reaches nothing but what is its own',
    change: 'it is started as it is',
    file: 'src/executors/start/reach.ts',
    find: 'if (needs.keeping === undefined || ',
    replace: 'if (needs.keeping === undefined || entry.asks || ',
    caughtBy: { file: KEPT, test: 'sees and reaches nothing but what is its own' },
  },
  {
    invariant: 'Nothing inside says to git outside where its repository is',
    change: 'the file that says where the repository of a worktree is can be written',
    file: 'src/tools/shell/walls.ts',
    find: '[repository.link, ...LEADING',
    replace: '[...LEADING',
    caughtBy: { file: KEPT, test: 'sees and reaches nothing but what is its own' },
  },
  {
    invariant: 'Commands that are run for an executor run inside walls, and see none of its own folders',
    change: 'they run without',
    file: 'src/executors/acp/open.ts',
    find: 'const inside = insideOf(needs.keeping?.sandbox,',
    replace: 'const inside = insideOf(undefined,',
    caughtBy: { file: KEPT, test: 'writes, runs, commits, asks its model, keeps its things, and is loaded again' },
  },
  {
    invariant: 'What one executor keeps is closed to the others',
    change: 'only the home hides it',
    file: 'src/executors/kept-in.ts',
    find: '...theirs.filter(',
    replace: '...[].filter(',
    caughtBy: {
      file: 'src/executors/kept-in.test.ts',
      test: 'is its own, made where it must be, and nothing of others or of ours',
    },
  },
  {
    invariant: 'A file of the project does not open what the user closed',
    change: 'what it says counts',
    file: 'src/sandbox/settings.ts',
    find: 'strictestOf([said, least])',
    replace: 'strictestOf([said])',
    caughtBy: { file: 'src/executors/kept-in.test.ts', test: 'the project opens what the user closed' },
  },
  {
    invariant: 'A file in the workspace opens no folder by naming it as a repository',
    change: 'what it names is believed',
    file: 'src/tools/shell/walls.ts',
    find: "dirname(own) === join(common, 'worktrees') ?",
    replace: 'own !== common ?',
    caughtBy: {
      file: 'src/tools/shell/walls.test.ts',
      test: 'opens nothing that a file only names, which the work itself may have written',
    },
  },
  {
    invariant: 'Work during which agents, settings or hooks changed is never verified',
    change: 'what was demanded decides alone',
    file: 'src/engine/evidence/verification.ts',
    find: 'changed.length === 0 ? own :',
    replace: 'changed.length >= 0 ? own :',
    caughtBy: {
      file: UNWALLED,
      test: 'is not verified, and told of, when hooks or agents changed meanwhile, whatever else holds',
    },
  },
  {
    invariant: 'Hooks that changed while an executor worked without walls are noticed',
    change: 'nobody looks at them',
    file: 'src/tools/files/closed-files.ts',
    find: "'commondir', 'hooks',",
    replace: "'commondir',",
    caughtBy: {
      file: UNWALLED,
      test: 'is not verified, and told of, when hooks or agents changed meanwhile, whatever else holds',
    },
  },
  {
    invariant: 'What is closed to an executor stays as it is in its image',
    change: 'all of the workspace can be written',
    file: 'src/executors/image.ts',
    find: 'const keep = there(walls.keep).filter(isSeen);',
    replace: 'const keep: string[] = [];',
    caughtBy: { file: 'src/executors/image.test.ts', test: 'is started with nothing but what it needs' },
  },
  {
    invariant: 'A container does not outlive the executor that was started in it',
    change: 'it is left where it is',
    file: 'src/executors/start/link.ts',
    find: 'await start.after?.();',
    replace: '',
    caughtBy: {
      file: 'src/executors/image.test.ts',
      test: 'works through an engine, and its container is taken away at the end',
    },
  },
];
