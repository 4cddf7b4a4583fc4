/**
 * The file behind a scripted model: YAML or JSON, a list of replies, or an object with replies per agent.
 * docs/models.md shows the forms.
 */
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { modelFailure } from '../../events/catalogue.ts';
import { jsonValue } from '../../events/message-schemas.ts';

const toolCall = z.union([
  z.strictObject({ name: z.string().min(1), input: jsonValue.default({}) }),
  /** The text a model would send, so that broken arguments can be played too. */
  z.strictObject({ name: z.string().min(1), rawInput: z.string() }),
]);

const report = z.union([z.string().transform((text) => ({ report: text })), z.looseObject({ report: jsonValue })]);

export const reply = z
  .strictObject({
    when: z.strictObject({ agent: z.string().optional(), contains: z.string().min(1).optional() }).optional(),
    reasoning: z.string().optional(),
    text: z.string().optional(),
    toolCalls: z.array(toolCall).min(1).max(100).optional(),
    /** Short for a call of `final_report`. */
    finalReport: report.optional(),
    /** Fails instead of answering: always, or with `times` only the first so many tries of a turn. */
    error: z
      .strictObject({
        kind: modelFailure.shape.kind,
        message: z.string().optional(),
        status: z.number().int().optional(),
        retryAfterMs: z.number().nonnegative().optional(),
        times: z.number().int().positive().optional(),
      })
      .optional(),
    delayMs: z.number().nonnegative().max(3_600_000).optional(),
  })
  .refine((value) => value.text ?? value.toolCalls ?? value.finalReport ?? value.error, {
    message: 'says nothing: give text, toolCalls, finalReport or error',
  });

const replies = z.array(reply).min(1).max(limits.scriptReplies);

/** A bare list is short for an object with only `replies`. */
export const script = z.preprocess(
  (value) => (Array.isArray(value) ? { replies: value } : value),
  z.strictObject({ replies: replies.default([]), agents: z.record(z.string(), replies).default({}) }),
);

export type Script = z.output<typeof script>;
export type Reply = z.output<typeof reply>;
/** A reply as it is written down, in a file or in a test. */
export type ReplyInput = z.input<typeof reply>;

export async function readScript(path: string, folder: string): Promise<Result<Script, string>> {
  const text = await readBounded(resolve(folder, path), 'scriptFileBytes');
  if (!text.ok) return fail(`The script ${path} cannot be read: ${text.error}`);
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text.value, { version: '1.2' });
  const problem = document.errors[0];
  if (problem !== undefined) return fail(`The script ${path} is not YAML: ${problem.message}`);
  try {
    const parsed = script.safeParse(document.toJS({ maxAliasCount: 100 }));
    return parsed.success ? ok(parsed.data) : fail(`The script ${path} is not right:\n${z.prettifyError(parsed.error)}`);
  } catch (error) {
    return fail(`The script ${path} is not right: ${messageOf(error)}`);
  }
}

/** The text of a file that may not be longer than this limit says. */
export async function readBounded(
  path: string,
  limit: 'scriptFileBytes' | 'payloadBytes' | 'measuredFileBytes' | 'testFileBytes' | 'frozenFileBytes',
): Promise<Result<string, string>> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > limits[limit]) return fail(`it has ${size} bytes, and ${limits[limit]} are the limit (${limit})`);
    return ok(await file.readFile('utf8'));
  } catch (error) {
    return fail(messageOf(error));
  }
}
