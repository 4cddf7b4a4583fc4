/**
 * Builds the console into dist/console, unless what is there was built from the same sources. Built beside it and moved into its
 * place, so that a server never sees half of it; several builds at once are one after the other by the last move.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import { root, run } from './steps.ts';

const target = join(root, 'dist', 'console');
/** Says which sources it was built from. */
const stamp = join(target, 'sources.txt');

/** What the console is made of: its own files, and what it shares with the engine. */
const SOURCES = ['console', 'src/base', 'src/events', 'src/projections', 'src/front/shapes'];

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
function compress(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !/\.(html|js|css|svg|json|webmanifest)$/.test(entry.name)) continue;
    const bytes = readFileSync(path);
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: 9 } }));
  }
}

function stampOf(): string | undefined {
  try {
    return readFileSync(stamp, 'utf8');
  } catch {
    return undefined;
  }
}

const hash = sourcesHash();
if (stampOf() !== hash) {
  process.stderr.write('troupe: building the console …\n');
  const made = join(root, 'dist', `console-${process.pid}`);
  mkdirSync(made, { recursive: true });
  const built = run(['console/node_modules/vite/bin/vite.js', 'build', 'console', '--logLevel', 'error', '--outDir', made]);
  if (built === 0) {
    compress(made);
    writeFileSync(join(made, 'sources.txt'), hash);
    rmSync(target, { recursive: true, force: true });
    renameSync(made, target);
  }
  rmSync(made, { recursive: true, force: true });
  process.exitCode = built;
}
