/** A process of its own that asks for a place: the home, the repository and the task are its arguments. */
import { value, workspacesIn } from './test-repository.ts';

const [home = '', repo = '', task = ''] = process.argv.slice(2);
const made = value(await workspacesIn(home).workspaces.prepare({ repo, session: 'ses_1', task }));
process.stdout.write(`${made.place.path}\n`);
