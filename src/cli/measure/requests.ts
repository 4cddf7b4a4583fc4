/** Requests with who should do them: a file that somebody wrote to measure how well an agent chooses. */
import { z } from 'zod';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { readBounded } from '../../models/scripted/script-file.ts';

const labelled = z.union([
  z.strictObject({ request: z.string().min(1), agents: z.array(z.string().min(1)).min(1) }),
  /** It is right to ask. */
  z.strictObject({ request: z.string().min(1), clarify: z.literal(true) }),
]);

const file = z
  .array(labelled)
  .min(1)
  .max(limits.measuredRequests, `at most ${limits.measuredRequests} requests (measuredRequests)`);

export type LabelledRequest = z.output<typeof labelled>;

export async function readRequests(path: string, known: readonly string[]): Promise<Result<readonly LabelledRequest[], string>> {
  const text = await readBounded(path, 'measuredFileBytes');
  if (!text.ok) return fail(`it cannot be read: ${text.error}`);
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text.value, { version: '1.2' });
  const [problem] = document.errors;
  if (problem !== undefined) return fail(`it is not YAML: ${problem.message}`);
  const value = valueIn(() => document.toJS({ maxAliasCount: 100 }));
  if (!value.ok) return value;
  const parsed = file.safeParse(value.value);
  if (!parsed.success) return fail(z.prettifyError(parsed.error));
  const named = parsed.data.flatMap((one) => ('agents' in one ? one.agents : []));
  const unknown = [...new Set(named.filter((name) => !known.includes(name)))];
  return unknown.length === 0 ? ok(parsed.data) : fail(`these cannot be chosen: ${unknown.join(', ')}`);
}

/** A document that stands for more and more of itself is refused while it is read. */
function valueIn(read: () => unknown): Result<unknown, string> {
  try {
    return ok(read());
  } catch (error) {
    return fail(messageOf(error));
  }
}
