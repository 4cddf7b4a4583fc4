/** Every command that is printed in a recorded scene is one that there is, with options that it takes. */
import { globSync, readFileSync } from 'node:fs';
import { CommanderError } from 'commander';
import { expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program/program.ts';
import { testTerminal } from '../support/test-terminal.ts';

/** At the widest nothing is broken. What stands behind `$` or `types` is what people typed. */
function printedIn(text: string): readonly string[] {
  const [, widest = ''] = /^═══ (?:\d+, )*200 columns ═*\n([\s\S]*?)(?=^═══|(?![\s\S]))/m.exec(text) ?? [];
  const lines = widest.split('\n').filter((line) => !line.includes('$ troupe ') && !/^[a-z ]*\btypes /.test(line));
  return lines.flatMap((line) => [...line.matchAll(/\btroupe (?!was\b)([a-z][^`;,)]*)/g)].map(([, command = '']) => command));
}

/** The command at the beginning of a sentence: it ends with the sentence, or before a remark. */
const wordsOf = (command: string): string[] =>
  [...command.replace(/(?:\. .*|\.| {3}.*|\?.*| for runs.*)$/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(
    (match) => match[1] ?? match[2] ?? '',
  );

async function refusal(words: readonly string[]): Promise<string | undefined> {
  try {
    const program = createProgram(testTerminal(), () => async () => undefined);
    await program.parseAsync([...words], { from: 'user' });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.message;
    throw error;
  }
}

it('names no command that fails for how it is written', async () => {
  const printed = new Set(globSync('test/scenes/*/*.screens.txt').flatMap((file) => printedIn(readFileSync(file, 'utf8'))));
  expect(printed.size).toBeGreaterThan(20);
  const refused: string[] = [];
  for (const command of printed) {
    const why = await refusal(wordsOf(command));
    if (why !== undefined) refused.push(`troupe ${command}: ${why}`);
  }
  expect(refused).toEqual([]);
});
