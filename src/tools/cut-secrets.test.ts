/** Wherever a text is cut, no half of a secret is left: each cut is moved over each place of a secret in the text. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testWorkspace } from '../../test/support/tool-workspace.ts';
import { systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { systemRandom } from '../base/random.ts';
import { createRedactor } from '../base/secrets/redact.ts';
import { malformedArguments } from '../loop/prompts.ts';
import { toFailure } from '../models/failures.ts';
import { unverified } from '../patterns/verification.ts';
import { createTail } from '../runner/host/tail.ts';
import { createBuiltIns } from './built-ins.ts';
import type { ToolContext, ToolOutcome } from './port.ts';
import { createCapture } from './shell/capture.ts';
import { createVerifier } from './shell/verifier.ts';

const PHRASE = 'Zq7-first Zq7-second Zq7-third';
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
const redactor = createRedactor([{ name: 'PASS', value: PHRASE }]);
const HALF = /Zq7|a1B2|ghp_/;

function expectNoHalf(text: string): void {
  expect(redactor.text(text)).not.toMatch(HALF);
}

/** Texts in which `secret` lies across the place `at`, in every way. */
function across(secret: string, at: number, after = 2_000): string[] {
  const offsets = Array.from({ length: secret.length + 1 }, (_, index) => index);
  return offsets.map((offset) => `${'word '.repeat(at).slice(0, at - offset - 1)} ${secret} ${'word '.repeat(after / 5)}`);
}

async function run(name: string, input: object, context: ToolContext): Promise<ToolOutcome> {
  const tool = createBuiltIns({ clock: systemClock, random: systemRandom, environment: process.env }).get(name)?.();
  if (tool === undefined || tool.kind !== undefined) throw new Error(name);
  return await tool.run(input as never, context);
}

const textsOf = (outcome: ToolOutcome): string[] => [
  outcome.kind === 'error' ? outcome.message : outcome.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n'),
  ...(outcome.evidence ?? []).flatMap(({ payload, attachment }) => [JSON.stringify(payload), attachment ?? '']),
];

describe('a cut leaves no half of a secret', () => {
  it('in a long line that is read or found', async () => {
    await using place = await testWorkspace();
    for (const at of [limits.readLineCharacters, 300]) {
      await writeFile(join(place.path, 'lines.txt'), across(TOKEN, at, 5_000).join('\n'));
      for (const [name, input] of [
        ['read', { path: 'lines.txt' }],
        ['search', { text: 'word' }],
      ] as const)
        for (const text of textsOf(await run(name, input, place.context))) expectNoHalf(text);
    }
  });

  it('in the diff of a change', async () => {
    await using place = await testWorkspace();
    const context = { ...place.context, redact: redactor.text };
    for (const secret of [TOKEN, PHRASE]) {
      for (const text of across(secret, limits.diffBytes - 60).filter((_, index) => index % 4 === 0)) {
        const outcome = await run('write', { path: `${secret.length}-${text.indexOf(secret)}.txt`, content: text }, context);
        expect(outcome.kind).toBe('ok');
        for (const shown of textsOf(outcome)) expectNoHalf(shown);
      }
    }
  });

  it('in what a command prints', async () => {
    await using place = await testWorkspace();
    const context = { ...place.context, redact: redactor.text };
    for (const secret of [TOKEN, PHRASE]) {
      await writeFile(join(place.path, 'printed.txt'), `${across(secret, 400)[secret.length >> 1]}`);
      for (const text of textsOf(await run('shell', { command: 'cat printed.txt' }, context))) expectNoHalf(text);
    }
  });

  it('in what a demanded command prints, which a model is told the end of', async () => {
    await using place = await testWorkspace();
    const verifier = createVerifier({ clock: systemClock, environment: process.env });
    const at = { ...place.context, redact: redactor.text, timeoutMs: limits.verifyMs };
    for (const secret of [TOKEN, PHRASE]) {
      // The last 4,096 bytes are shown, so the cut goes through the secret.
      const [before, after] = ['word '.repeat(100), 'word '.repeat(1_000).slice(0, 4_096 - (secret.length >> 1))];
      await writeFile(join(place.path, 'printed.txt'), `${before}${secret}${after}`);
      const ran = await verifier.run('cat printed.txt', at);
      if (!ran.ok) throw new Error(ran.error);
      expect(ran.value.output).toContain('word word');
      for (const shown of [ran.value.output, JSON.stringify(ran.value.evidence)]) expectNoHalf(shown);
    }
  });

  it('in a stream that is kept in part, in pieces of any size', () => {
    for (const text of across(TOKEN, 500, 5_000)) {
      for (const size of [1, 7, 4_096]) {
        for (const turned of [text, [...text].reverse().join('')]) {
          const [capture, tail] = [createCapture(1_000), createTail(500)];
          const bytes = Buffer.from(turned);
          for (let at = 0; at < bytes.length; at += size) {
            capture.append(bytes.subarray(at, at + size));
            tail.append(turned.slice(at, at + size));
          }
          const kept = turned === text ? TOKEN : [...TOKEN].reverse().join('');
          for (const shown of [capture.text(), tail.text()])
            expect(shown.replaceAll(kept, '')).not.toMatch(/a1B2|2B1a|ghp_|_phg/);
        }
      }
    }
  });

  it('in a stream of which more than half is the secret that is cut', () => {
    const secret = 'Zq7'.repeat(1_200);
    for (const text of [
      `${'word '.repeat(200)}${secret} ${'word '.repeat(3_000)}`,
      `${'word '.repeat(3_000)} ${secret} ${'word '.repeat(200)}`,
    ]) {
      const capture = createCapture(limits.mcpStderrBytes);
      capture.append(Buffer.from(text));
      expect(capture.text()).toContain('word word');
      expect(capture.text()).not.toContain('Zq7');
    }
  });

  it('in the words of a provider, and in what a model is told about its arguments', () => {
    const context = { provider: 'test', clock: systemClock, secrets: [PHRASE] };
    for (const secret of [TOKEN, PHRASE])
      for (const text of across(secret, limits.modelErrorCharacters)) expectNoHalf(toFailure(new Error(text), context).message);
    for (const text of across(TOKEN, 300)) expectNoHalf(malformedArguments(text));
  });

  it('in the reasons why a result is not verified', () => {
    for (const text of across(TOKEN, limits.verificationReasonCharacters)) {
      const verdict = unverified([text]);
      const reasons = verdict.state === 'unverified' ? verdict.reasons : [];
      expect(reasons.join()).toContain('word word');
      for (const reason of reasons) expectNoHalf(reason);
    }
  });
});
