/** A process of its own that applies the work of a place: the home, the place, the repository and the base are its arguments. */
import { applyWork } from '../../../src/workspaces/apply/apply.ts';
import { value, workspacesIn } from './test-repository.ts';

const [home = '', path = '', repo = '', base = ''] = process.argv.slice(2);
const { options, workspaces } = workspacesIn(home);
const { patch } = value(await workspaces.capture({ kind: 'worktree', path, base, repo }));
const recorder = { made: async () => undefined, undone: async () => undefined };
const outcome = value(await applyWork(options, { repo, base, patch, run: 'run_1', session: 'ses_1' }, recorder));
process.stdout.write(`${outcome.kind}\n`);
