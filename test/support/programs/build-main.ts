/**
 * Builds the programs that tests start as processes into a folder: each stands there where it stands in the tree, as
 * JavaScript, with everything that it imports in a few files. Hundreds of them are started in one run of the tests, and
 * finding, stripping and linking the hundreds of files of the sources costs more than most do then.
 * Usage: build-main.ts <folder> <where the folder is moved to>
 */
import { mkdirSync, symlinkSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

const ROOT = join(import.meta.dirname, '..', '..', '..');

const PROGRAMS = [
  'src/cli/main.ts',
  'test/sim/killed-process-main.ts',
  'test/support/cluster/worker-main.ts',
  'test/support/executors/sample-agent-2-main.ts',
  'test/support/executors/sample-agent-main.ts',
  'test/support/executors/task-life-main.ts',
  'test/support/mcp/server.ts',
  'test/support/process/orphan-parent-main.ts',
  'test/support/terminal/stage-main.ts',
];
/** Started by the programs. Built by themselves, so that they share no file with what they must not be able to read. */
const WORKERS = ['src/runner/child/loop-worker.ts', 'src/tools/files/regex-worker.ts', 'src/front/query/sql-worker.ts'];
/** What the programs look for beside the sources. */
const NEIGHBOURS = ['package.json', 'bin', 'examples', 'templates', 'node_modules', 'tools'];

const withoutEnding = (path: string): string => path.slice(0, -extname(path).length);

/** A module that asks where it is means its place in the tree, not the file that it has become a part of. */
const placesInTree = (folder: string): Plugin => ({
  name: 'places-in-tree',
  transform: {
    filter: { id: { include: /\.ts$/, exclude: /node_modules/ }, code: 'import.meta.' },
    handler(code, id) {
      const place = join(folder, `${withoutEnding(relative(ROOT, id))}.js`);
      const changed = code
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(place).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(place)));
      // Where a package is: packages lie beside the programs as they lie beside the sources.
      const isOther = /import\.meta\.(?!resolve\('[@\w])/.test(changed);
      return isOther ? this.error(`${id} asks for something else of import.meta`) : changed;
    },
  },
});

async function build(programs: readonly string[], folder: string, place: string): Promise<void> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(programs.map((path) => [withoutEnding(path), join(ROOT, path)])),
    platform: 'node',
    plugins: [placesInTree(place)],
    logLevel: 'warn',
  });
  await bundle.write({
    dir: folder,
    format: 'esm',
    // Beneath src, which is what a confined program may read.
    chunkFileNames: `src/parts/${withoutEnding(basename(programs[0] ?? ''))}-[name]-[hash].js`,
  });
  await bundle.close();
}

const [folder = '', place = ''] = process.argv.slice(2);
mkdirSync(folder);
for (const name of NEIGHBOURS) symlinkSync(join(ROOT, name), join(folder, name));
await Promise.all([PROGRAMS, ...WORKERS.map((worker) => [worker])].map((programs) => build(programs, folder, place)));
