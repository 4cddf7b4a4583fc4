/**
 * A process to be killed: it runs commands by the shell tool and keeps MCP servers, none of which would end by itself soon.
 * Meanwhile it starts and ends short ones all the time, so that the kill finds every stage.
 * Arguments: the mark of them all, and a folder.
 */
import * as sdk from '@modelcontextprotocol/client';
import { systemClock } from '../../../src/base/clock.ts';
import type { RunId } from '../../../src/base/ids.ts';
import { createGuard } from '../../../src/tools/closed/guard.ts';
import { createStdioTransport } from '../../../src/tools/mcp/stdio.ts';
import { minimalEnvironment } from '../../../src/tools/shell/environment.ts';
import { shellTool } from '../../../src/tools/shell/shell.ts';
import { unseen } from '../tool-workspace.ts';

const guard = createGuard();

const [mark = '', folder = ''] = process.argv.slice(2);
const environment = { ...process.env, TROUPE_TEST_MARK: mark };
const allowedVariables = ['TROUPE_TEST_MARK'];
const shell = shellTool({ clock: systemClock, environment, guard, allowedVariables });
const context = {
  workspace: folder,
  signal: new AbortController().signal,
  run: 'run_test' as RunId,
  idempotencyKey: 'test',
  seen: unseen,
  redact: (text: string) => text,
};
const run = (command: string) => shell.run({ command: `${command}\n# ${mark}` }, context);

const STUBBORN = 'trap "" TERM HUP INT PIPE; while :; do echo busy; sleep 0.05; done';
const LONG = [
  'sleep 300',
  STUBBORN,
  'for i in 1 2 3; do (sleep 300 & wait) & done; wait',
  'nohup sleep 300 >/dev/null 2>&1 & exec sleep 300',
  'trap "" TERM; kill 0; sleep 300',
  'exec 0<&- 1>&- 2>&- 3>&-; sleep 300',
];
const SHORT = ['true', 'sleep 0.01 & true', 'kill -9 $$', 'sleep 300 >/dev/null 2>&1 & true'];

for (let index = 0; index < 2; index += 1) {
  const server = {
    command: 'sh',
    args: ['-c', `${STUBBORN}\n# ${mark}`],
    environment: minimalEnvironment(environment, allowedVariables),
    folder,
  };
  await createStdioTransport(server, sdk, systemClock).start();
}
process.stdout.write('ready\n');
for (const command of LONG) void run(command);
for (;;) await Promise.all(SHORT.map(run));
