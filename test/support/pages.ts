/** The pages of the repository, taken apart: what they link to, which files they name, and their blocks of code. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const repository = join(import.meta.dirname, '../..');

export interface Block {
  /** `README.md:12`: where its first line is. */
  readonly place: string;
  readonly page: string;
  readonly language: string;
  readonly text: string;
  /** What an HTML comment right before the block says: readers do not see it, tests do. */
  readonly note: string | undefined;
}

export interface Page {
  /** From the root of the repository, such as `docs/cli.md`. */
  readonly path: string;
  readonly text: string;
  /** Without its blocks of code. */
  readonly prose: string;
  readonly blocks: readonly Block[];
}

export const pages: readonly Page[] = [
  'README.md',
  ...['ARCHITECTURE.md', 'CONTRIBUTING.md', 'AGENTS.md', 'CHANGELOG.md'],
  ...globSync('{docs,examples}/**/*.md', { cwd: repository, exclude: (name) => /node_modules|\.troupe$/.test(name) }).sort(),
]
  // Agents, sources and teams of the examples are files of a user, not pages.
  .filter((path) => !path.startsWith('examples/') || /^examples\/[^/]+\/README\.md$/.test(path))
  .map(readPage);

function readPage(path: string): Page {
  const text = readFileSync(join(repository, path), 'utf8');
  const blocks: Block[] = [];
  const prose: string[] = [];
  let open:
    | { readonly language: string; readonly line: number; readonly note: string | undefined; readonly lines: string[] }
    | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (open !== undefined) {
      if (line !== '```') open.lines.push(line);
      else {
        const { language, note, lines } = open;
        blocks.push({ place: `${path}:${open.line}`, page: path, language, note, text: lines.map((one) => `${one}\n`).join('') });
        open = undefined;
      }
      continue;
    }
    const [, language] = /^```(\w*)$/.exec(line) ?? [];
    if (language === undefined) prose.push(line);
    else open = { language, line: index + 2, note: noteIn(prose.at(-1)), lines: [] };
  }
  if (open !== undefined) throw new Error(`${path}:${open.line}: this block is never closed`);
  return { path, text, prose: prose.join('\n'), blocks };
}

function noteIn(line: string | undefined): string | undefined {
  return /^<!-- (.+) -->$/.exec(line ?? '')?.[1];
}

export interface Link {
  readonly page: string;
  /** From the root of the repository; without what stands behind `#`. */
  readonly file: string;
  readonly anchor: string | undefined;
}

/** Links to files, not to the web. */
export function linksOf({ path, prose }: Page): readonly Link[] {
  const found = [...prose.matchAll(/\[(?:[^\]]|\n)*?\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
  return found
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = '', anchor] = target.split('#');
      return { page: path, file: file === '' ? path : join(dirname(path), file), anchor };
    });
}

/** As GitHub makes them of headings. */
export function anchorsOf({ prose }: Page): ReadonlySet<string> {
  const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map((match) => match[1] ?? '');
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** Texts between single backticks, on one line or over a break. */
export function codeIn({ prose }: Page): readonly string[] {
  return [...prose.matchAll(/`([^`]+)`/g)].map((match) => (match[1] ?? '').replaceAll('\n', ' '));
}
