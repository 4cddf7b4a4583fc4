/** Where the prompt comes from: the argument, stdin, or the person at the terminal. Bounded, and text only. */
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { usageError } from './command.ts';
import { readAtMost } from './read-input.ts';
import type { Terminal } from './terminal.ts';

/** What is read: it is called by its name when something is wrong with it. */
type Read = 'prompt' | 'message';

export async function readPrompt(terminal: Terminal, argument: string | undefined, what: Read = 'prompt'): Promise<string> {
  const prompt = await promptFrom(terminal, argument, what);
  if (!prompt.ok) throw prompt.error;
  return prompt.value;
}

async function promptFrom(terminal: Terminal, argument: string | undefined, what: Read): Promise<Result<string, Error>> {
  if (argument === '-') {
    const bytes = await readAtMost(terminal.input, limits.promptBytes);
    return bytes === undefined ? fail(tooLarge(what)) : decodePrompt(bytes, what);
  }
  if (argument !== undefined) return decodePrompt(new TextEncoder().encode(argument), what);
  if (!terminal.interactive) return fail(usageError(`There is no ${what}`, 'give it as an argument, or - to read it from stdin'));
  return decodePrompt(new TextEncoder().encode((await terminal.ask(`${what}: `)) ?? ''), what);
}

export function decodePrompt(bytes: Uint8Array, what: Read = 'prompt'): Result<string, Error> {
  if (bytes.length > limits.promptBytes) return fail(tooLarge(what));
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return fail(
      usageError(`The ${what} is not text: it is not valid UTF-8`, `convert it first, or name the file in the ${what}`),
    );
  }
  if (text.includes('\u0000')) {
    return fail(
      usageError(`The ${what} is binary: it holds null bytes`, `put the file into the workspace and name it in the ${what}`),
    );
  }
  return text.trim() === '' ? fail(usageError(`The ${what} is empty`, 'say what the agent should do')) : ok(text);
}

function tooLarge(what: Read): Error {
  return usageError(
    `The ${what} is larger than ${limits.promptBytes} bytes (limit promptBytes)`,
    `put the text into a file of the workspace and name the file in the ${what}`,
  );
}
