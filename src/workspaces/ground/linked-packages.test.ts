/** What an installer that is not npm leaves, as the place of a task has it. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, realpathSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { testRepository, value, writeFiles } from '../../../test/support/workspaces/test-repository.ts';

it('a place has what pnpm links out of its store beside each package, and its programs', async () => {
  const { top, workspaces } = await testRepository({
    '.gitignore': 'node_modules\n',
    'package.json': '{}',
    'packages/one/package.json': '{ "name": "one" }',
    'packages/one/index.js': "module.exports = 'as it began';\n",
    'packages/two/package.json': '{ "name": "two" }',
  });
  const store = join(top, 'node_modules/.pnpm/bought@1.0.0/node_modules');
  const script = (program: string): string =>
    `#!/bin/sh\nbasedir=$(dirname "$(echo "$0" | sed -e 's,\\\\,/,g')")\nexec node "$basedir/../${program}" "$@"\n`;
  writeFiles(store, {
    'bought/index.js': "console.log(require('sold'), require.resolve('one', { paths: [process.cwd()] }));\n",
    'sold/index.js': "module.exports = 'sold';\n",
  });
  writeFiles(top, {
    'packages/two/node_modules/.bin/buys': script('bought/index.js'),
    'node_modules/.bin/buys': script('bought/index.js'),
    'packages/one/node_modules/.bin/other': script('nothing.js'),
  });
  for (const [link, leads] of [
    ['node_modules/bought', '.pnpm/bought@1.0.0/node_modules/bought'],
    ['packages/two/node_modules/bought', '../../../node_modules/.pnpm/bought@1.0.0/node_modules/bought'],
    ['packages/two/node_modules/one', '../../one'],
  ] as const)
    symlinkSync(leads, join(top, link));
  for (const bin of ['node_modules/.bin/buys', 'packages/two/node_modules/.bin/buys']) chmodSync(join(top, bin), 0o755);
  const { place } = value(await workspaces.prepare({ repo: top, session: 'ses_1', task: 'task-1' }));
  const here = join(place.path, 'packages/two');
  expect(realpathSync(join(here, 'node_modules/bought'))).toBe(realpathSync(join(store, 'bought')));
  const env = { PATH: dirname(process.execPath) + delimiter + process.env['PATH'] };
  for (const bin of ['node_modules/.bin/buys', 'packages/two/node_modules/.bin/buys'])
    expect(execFileSync(join(place.path, bin), { cwd: here, env, encoding: 'utf8' })).toBe(
      `sold ${join(place.path, 'packages/one/index.js')}\n`,
    );
  // Where nothing is out of the store programs are links, or what somebody wrote there.
  expect(existsSync(join(place.path, 'packages/one/node_modules'))).toBe(false);
  expect(value(await workspaces.capture(place)).files).toEqual([]);
});
