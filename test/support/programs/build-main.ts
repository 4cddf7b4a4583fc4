/**
 * Builds the programs that tests start as processes into a folder: each stands there where it stands in the tree, as
 * JavaScript, with everything that it imports in a few files. Hundreds of them are started in one run of the tests, and
 * finding, stripping and linking the hundreds of files of the sources costs more than most do then.
 * Usage: build-main.ts <folder> <where the folder is moved to>
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** The command line is loaded piece by piece; what is used by both is built once. */
const COMMAND_LINE = ['src/cli/main.ts', 'test/support/terminal/stage-main.ts'];
/** What comes with every command, with every command in a project, and with every run, is one piece each. */
const PIECES = ['src/cli/program/program.ts', 'src/cli/terminal/terminal.ts', 'src/project/open.ts', 'src/cli/commands/run.ts'];
/** Each built by itself, so that it loads nothing that another one needs. */
const PROGRAMS = [
  'test/sim/killed-process-main.ts',
  'test/support/cluster/worker-main.ts',
  'test/support/executors/sample-agent-2-main.ts',
  'test/support/executors/sample-agent-main.ts',
  'test/support/executors/task-life-main.ts',
  'test/support/mcp/server.ts',
  'test/support/process/orphan-parent-main.ts',
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

/** The command line keeps by itself what it compiled, and a confined runner may not write. */
const KEEPS_BY_ITSELF = ['src/cli/main.ts', ...WORKERS];
const PROGRAM = '.program';

/**
 * What stands in a program's place: it keeps what Node compiled for all that are started after it, whatever their environment
 * is, and then is the program. It goes with what was built.
 */
const keeping = (program: string, place: string): string =>
  [
    "import { enableCompileCache } from 'node:module';",
    `enableCompileCache(${JSON.stringify(join(place, 'compiled'))});`,
    `await import(${JSON.stringify(`./${basename(withoutEnding(program))}${PROGRAM}.js`)});\n`,
  ].join('\n');

/** Collects what each of these modules imports, and what that imports, but for what is only imported when it is needed. */
const withImported = (pieces: readonly string[], imported: Map<string, ReadonlySet<string>>): Plugin => ({
  name: 'with-imported',
  buildEnd() {
    for (const piece of pieces) {
      const found = new Set([join(ROOT, piece)]);
      for (const id of found) for (const one of this.getModuleInfo(id)?.importedIds ?? []) found.add(one);
      imported.set(piece, found);
    }
  },
});

async function build(programs: readonly string[], folder: string, place: string): Promise<void> {
  const kept = programs.filter((program) => !KEEPS_BY_ITSELF.includes(program));
  const pieces = programs === COMMAND_LINE ? PIECES : [];
  const imported = new Map<string, ReadonlySet<string>>();
  const bundle = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(programs.map((path) => [withoutEnding(path), join(ROOT, path)])),
    platform: 'node',
    plugins: [placesInTree(place), withImported(pieces, imported)],
    logLevel: 'warn',
  });
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: ({ name }) => `${name}${kept.some((program) => withoutEnding(program) === name) ? PROGRAM : ''}.js`,
    codeSplitting: {
      groups: pieces.map((piece, index) => ({
        name: basename(withoutEnding(piece)),
        // What several import is part of the first.
        priority: pieces.length - index,
        test: (id: string) => imported.get(piece)?.has(id) === true,
      })),
    },
    // Beneath src, which is what a confined program may read.
    chunkFileNames: `src/parts/${withoutEnding(basename(programs[0] ?? ''))}-[name]-[hash].js`,
  });
  await bundle.close();
  for (const program of kept) writeFileSync(join(folder, `${withoutEnding(program)}.js`), keeping(program, place));
}

const [folder = '', place = ''] = process.argv.slice(2);
mkdirSync(folder);
for (const name of NEIGHBOURS) symlinkSync(join(ROOT, name), join(folder, name));
const alone = [...PROGRAMS, ...WORKERS].map((program) => [program]);
await Promise.all([COMMAND_LINE, ...alone].map((programs) => build(programs, folder, place)));
