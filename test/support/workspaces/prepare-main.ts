/**
 * A process that asks for a place: its arguments are the home, the repository, the task, and where it is killed, if anywhere.
 */
import { killedAt, value, workspacesIn } from './test-repository.ts';

const [home = '', repo = '', task = '', point] = process.argv.slice(2);
const made = value(await workspacesIn(home, killedAt(point)).workspaces.prepare({ repo, session: 'ses_1', task }));
process.stdout.write(`${made.place.path}\n`);
