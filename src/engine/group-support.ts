/** What groups ask of the runtime beside steps: the files that give context, and whether anything was achieved. */
import type { AgentDefinition } from '../agents/definition.ts';
import { limits } from '../base/limits.ts';
import type { Steps } from '../patterns/steps.ts';
import { readAll } from './read-all.ts';
import type { Tree } from './tree.ts';

/** A context file is read once per run and recorded: a resumed run sees what it saw before. */
export function contextReader(
  tree: Tree,
  agent: AgentDefinition,
  steps: Steps,
): (kind: string, file: string | undefined) => Promise<string | undefined> {
  const read = new Map<string, Promise<string | null>>();
  return async (kind, file) => {
    if (file === undefined) return undefined;
    const known =
      read.get(kind) ?? steps.step(`context/${kind}`, async () => (await tree.parts.contextFile?.(agent, file)) ?? null);
    read.set(kind, known);
    const text = await known;
    return text === null ? undefined : newestEntries(text, limits.contextCharacters);
  };
}

/** Cuts at entry boundaries (headings, else paragraphs) and keeps the newest. Files that grow at the top keep their top. */
export function newestEntries(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const entries = text.split(/\n(?=#{2,3} )/);
  const parts = entries.length > 2 ? entries : text.split(/\n{2,}/);
  const newestFirst = isNewestFirst(parts);
  const ordered = newestFirst ? parts : parts.toReversed();
  const kept: string[] = [];
  let size = 0;
  for (const part of ordered) {
    if (size + part.length > characters && kept.length > 0) break;
    kept.push(part);
    size += part.length + 2;
  }
  const joined = (newestFirst ? kept : kept.toReversed()).join('\n\n');
  return [...joined].slice(0, characters).join('');
}

function isNewestFirst(entries: readonly string[]): boolean {
  const dates = entries.flatMap((entry) => /\d{4}-\d{2}-\d{2}/.exec(entry.split('\n', 1)[0] ?? '')?.[0] ?? []);
  return dates.length > 1 && (dates[0] ?? '') > (dates.at(-1) ?? '');
}

/** Changes when a file was changed or a test ended otherwise than before, anywhere below the run. */
export async function progressOf(tree: Tree): Promise<string> {
  await tree.writer.flushed();
  const seen = await readAll(tree.parts.ledger, tree.session, { types: ['file.diff', 'test.report', 'artifact.manifest'] });
  const tests = seen.flatMap((event) =>
    event.event_type === 'test.report' ? [`${event.payload.command}=${event.payload.passed}`] : [],
  );
  const changes = seen.filter((event) => event.event_type === 'file.diff').length;
  return `${changes} ${tests.at(-1) ?? ''}`;
}
