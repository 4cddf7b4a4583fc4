/**
 * Builds the console into dist/console, unless what is there was built from the same sources. Built beside it and moved into its
 * place, so that a server never sees half of it; one build at a time.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';
import { root, runAside } from './steps.ts';

const target = join(root, 'dist', 'console');
/** Says which sources it was built from. */
const stamp = join(target, 'sources.txt');

/** What the console is made of: its own files, and what it shares with the engine. */
const SOURCES = ['console', 'src/base', 'src/events', 'src/projections', 'src/front', 'src/ledger', 'src/models'];

function sourcesHash(): string {
  const hash = createHash('sha256');
  for (const folder of SOURCES) {
    const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules') && !entry.name.includes('.test.'))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
    for (const file of files)
      hash
        .update(`${relative(root, file)}\0`)
        .update(readFileSync(file))
        .update('\0');
  }
  return hash.digest('hex');
}

/** Worth it for text; the server sends what a browser takes. */
async function compress(folder: string): Promise<void> {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !/\.(html|js|css|svg|json|webmanifest)$/.test(entry.name)) continue;
    const bytes = readFileSync(path);
    writeFileSync(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
    writeFileSync(`${path}.br`, await promisify(brotliCompress)(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: 9 } }));
  }
}

/** The script is written into a page: nothing in it may look like markup there. */
function toBeWrittenInto(folder: string): void {
  rmSync(join(folder, 'assets'), { recursive: true, force: true });
  const script = join(folder, 'app.js');
  // In strings and in patterns, the only places where it stands, it is the same sign.
  writeFileSync(script, readFileSync(script, 'utf8').replaceAll(/<(?=\/?script|!--)/gi, '\\x3c'));
}

function stampOf(): string | undefined {
  try {
    return readFileSync(stamp, 'utf8');
  } catch {
    return undefined;
  }
}

/** Never busy for long itself: whoever holds the lock must be able to say so, or it is taken for dead on a slow machine. */
async function build(): Promise<void> {
  const hash = sourcesHash();
  if (stampOf() === hash) return;
  process.stderr.write('troupe: building the console …\n');
  // Also what a build left that was killed.
  const made = join(root, 'dist', 'console-being-built');
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  // Whoever asks for it, a test for one: what is built is what is published.
  process.env['NODE_ENV'] = 'production';
  const vite = ['console/node_modules/vite/bin/vite.js', 'build', 'console', '--logLevel', 'error', '--outDir'];
  const file = join(made, 'file');
  const single = ['--mode', 'file', '--config', join(root, 'console', 'vite.file.config.ts')];
  let built = await runAside([...vite, made]);
  if (built === 0) {
    await compress(made);
    built = await runAside([...vite, file, ...single]);
  }
  if (built === 0) {
    toBeWrittenInto(file);
    writeFileSync(join(made, 'sources.txt'), hash);
    rmSync(target, { recursive: true, force: true });
    renameSync(made, target);
  }
  rmSync(made, { recursive: true, force: true });
  process.exitCode = built;
}

/** Plain JavaScript, for an old Node to read. */
interface FolderLock {
  withFolderLock(folder: string, work: () => Promise<void>): Promise<void>;
}

mkdirSync(join(root, 'dist'), { recursive: true });
const { withFolderLock } = (await import(join(import.meta.dirname, 'bootstrap', 'folder-lock.mjs'))) as FolderLock;
await withFolderLock(join(root, 'dist', '.console-lock'), build);
