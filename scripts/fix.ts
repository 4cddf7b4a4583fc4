/**
 * Repairs what a machine can repair: the generated pages, the lockfile and the formatting. The checks themselves never
 * write.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawGraph, pageWithGraph, readSources } from './architecture.ts';
import { completeLockfile } from './complete-lockfile.ts';
import { eventsPage } from './events-page.ts';
import { jsonPage } from './json-page.ts';
import { root, run } from './steps.ts';

const architecture = join(root, 'ARCHITECTURE.md');
const page = pageWithGraph(readFileSync(architecture, 'utf8'), drawGraph(readSources(join(root, 'src'))));
if (page === undefined) throw new Error('ARCHITECTURE.md has lost the markers around its graph.');
writeFileSync(architecture, page);
writeFileSync(join(root, 'docs', 'events.md'), eventsPage());
writeFileSync(join(root, 'docs', 'json.md'), jsonPage());
for (const folder of [
  '.',
  'console',
  'tools/browser',
  'tools/cluster',
  'tools/coding-agents',
  'tools/executors',
  'tools/runtime',
]) {
  const lockfile = join(root, folder, 'package-lock.json');
  writeFileSync(lockfile, completeLockfile(readFileSync(lockfile, 'utf8')));
}
process.exitCode = run(['node_modules/@biomejs/biome/bin/biome', 'check', '--write', '.']);
