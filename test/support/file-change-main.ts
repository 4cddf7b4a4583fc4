/**
 * A process of its own that changes files of a workspace, for tests of what several do at once.
 *
 *   count <folder> <times>   adds 1 to the number in `count.txt`; prints how often it was told that it came too late
 *   hold <folder>            takes the lock of the workspace, says so, and keeps it until it is killed
 */
import { systemClock } from '../../src/base/clock.ts';
import type { RunId } from '../../src/base/ids.ts';
import { systemRandom } from '../../src/base/random.ts';
import { createGuard } from '../../src/tools/closed/guard.ts';
import { alone } from '../../src/tools/files/file-lock.ts';
import { readTool } from '../../src/tools/files/read.ts';
import { resolveInside } from '../../src/tools/files/workspace.ts';
import { writeTool } from '../../src/tools/files/write.ts';
import type { SeenFiles, ToolContext, ToolOutcome } from '../../src/tools/port.ts';

const guard = createGuard();

const [what, workspace = '.', times = '1'] = process.argv.slice(2);
const { signal } = new AbortController();
const read = readTool({ guard });
const write = writeTool({ clock: systemClock, random: systemRandom, guard });

function contextOf(version: string | null | undefined): ToolContext {
  const seen: SeenFiles = { version: async () => version, unread: async () => undefined, changedBy: async () => undefined };
  return { workspace, signal, run: 'run_test' as RunId, idempotencyKey: 'k', seen, redact: (text) => text };
}

const textOf = (outcome: ToolOutcome): string =>
  outcome.kind === 'error' ? outcome.message : outcome.content.map((part) => (part.type === 'text' ? part.text : '')).join('');

async function count(): Promise<void> {
  let late = 0;
  for (let done = 0; done < Number(times); ) {
    const looked = await read.run({ path: 'count.txt' }, contextOf(undefined));
    const number = Number(textOf(looked).replace('1\t', ''));
    const wrote = await write.run({ path: 'count.txt', content: `${number + 1}` }, contextOf(looked.saw?.[0]?.sha256));
    // Another may have written the very same number: then this one has not been added.
    if (wrote.kind === 'ok') done += wrote.evidence === undefined ? 0 : 1;
    else if (wrote.message.includes('was changed since you read it')) late += 1;
    else throw new Error(wrote.message);
  }
  process.stdout.write(`${late}\n`);
}

async function hold(): Promise<void> {
  const inside = await resolveInside(workspace, 'count.txt', { guard, use: 'write' });
  if (!inside.ok) throw new Error(inside.error);
  await alone(inside.value, { clock: systemClock, signal }, async () => {
    process.stdout.write('held\n');
    await new Promise((resolve) => process.stdin.once('end', resolve).resume());
  });
}

await (what === 'count' ? count() : hold());
