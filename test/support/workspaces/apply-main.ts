/**
 * A process that applies the work of a place: its arguments are the home, the place, the repository, the base, and where it is
 * killed.
 */
import { applyWork } from '../../../src/workspaces/apply/apply.ts';
import { killedAt, value, workspacesIn } from './test-repository.ts';

const [home = '', path = '', repo = '', base = '', point] = process.argv.slice(2);
const { options, workspaces } = workspacesIn(home, killedAt(point));
const { patch } = value(await workspaces.capture({ kind: 'worktree', path, base, repo }));
const recorder = { made: async () => undefined, undone: async () => undefined };
const outcome = value(await applyWork(options, { repo, base, patch, run: 'run_1', session: 'ses_1' }, recorder));
process.stdout.write(`${outcome.kind}\n`);
