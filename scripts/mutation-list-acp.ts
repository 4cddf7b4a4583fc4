/** Mutations of `troupe acp` and of what its modes promise. */
import type { Mutation } from './mutation-list.ts';

const mode = 'src/engine/record/run-mode.ts';
const modes = 'src/engine/record/run-mode.test.ts';
const sessions = 'test/e2e/acp-sessions.test.ts';

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
  {
    invariant: 'A client that goes leaves its run to be taken up',
    change: 'it counts as one that cancels',
    file: 'src/protocols/acp/connection.ts',
    find: 'if (signal.reason instanceof RequestError) ',
    replace: '',
    caughtBy: { file: sessions, test: 'leaves the run to whoever loads the session' },
  },
  {
    invariant: 'A session answers one prompt at a time',
    change: 'a second one begins beside the first',
    file: 'src/protocols/acp/session.ts',
    find: '      if (now.busy)\n',
    replace: '      if (now.busy && now.cancelled)\n',
    caughtBy: { file: sessions, test: 'answers one prompt at a time' },
  },
  {
    invariant: 'What is at work is not made stricter too late',
    change: 'the mode is changed all the same',
    file: 'src/protocols/acp/sessions.ts',
    find: '    refuseWhileAtWork(session, mode);\n',
    replace: '',
    caughtBy: { file: sessions, test: 'answers one prompt at a time' },
  },
  {
    invariant: 'The folder of an executor gives it no rights',
    change: 'its settings are read',
    file: 'src/cli/serving/acp-projects.ts',
    find: 'settings === undefined ? home :',
    replace: 'settings === undefined ? terminal.cwd :',
    caughtBy: { file: 'test/e2e/acp-executor.test.ts', test: 'has no rights from the files of the folder' },
  },
  {
    invariant: 'A page in a browser cannot talk ACP to a port',
    change: 'whatever comes first is passed over',
    file: 'src/protocols/acp/tcp.ts',
    find: 'resolve(chunk[0] === BRACE)',
    replace: 'resolve(true)',
    caughtBy: { file: 'test/e2e/acp-wire.test.ts', test: 'lets a page of a browser go at its first byte' },
  },
];
