/**
 * Finds the lines of a text that match. Plain text is compared here; regular expressions run in a worker thread, because
 * one bad pattern can take for ever and JavaScript cannot interrupt it.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';

export interface LineSearch {
  /** Indexes of the matching lines, at most `limits.searchMatches`; `undefined` when the search was stopped. */
  matches(text: string): Promise<readonly number[] | undefined>;
  close(): void;
}

export function plainSearch(wanted: string, ignoreCase: boolean): LineSearch {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const needle = fold(wanted);
  return {
    matches: async (text) => {
      const folded = fold(text);
      if (!folded.includes(needle)) return [];
      const found: number[] = [];
      const lines = folded.split('\n');
      for (let index = 0; index < lines.length && found.length < limits.searchMatches; index += 1) {
        if (lines[index]?.includes(needle) === true) found.push(index);
      }
      return found;
    },
    close: () => {},
  };
}

/** `signal` ends the search at once, also in the middle of a match. */
export function regexSearch(source: string, ignoreCase: boolean, signal: AbortSignal): Result<LineSearch, string> {
  const flags = ignoreCase ? 'ui' : 'u';
  try {
    new RegExp(source, flags);
  } catch (error) {
    return fail(messageOf(error));
  }
  const worker = new Worker(new URL(`./regex-worker${extname(import.meta.url)}`, import.meta.url), {
    workerData: { source, flags, maxCharacters: limits.readLineCharacters, maxMatches: limits.searchMatches },
    env: {},
    execArgv: [],
  });
  worker.unref();
  const close = (): void => void worker.terminate();
  signal.addEventListener('abort', close, { once: true });
  return ok({
    matches: (text) => (signal.aborted ? Promise.resolve(undefined) : askWorker(worker, text)),
    close: () => {
      signal.removeEventListener('abort', close);
      close();
    },
  });
}

function askWorker(worker: Worker, text: string): Promise<readonly number[] | undefined> {
  return new Promise((resolve, reject) => {
    const forget = (): void => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      worker.unref();
    };
    const onMessage = (found: readonly number[]): void => {
      forget();
      resolve(found);
    };
    const onError = (error: unknown): void => {
      forget();
      reject(error);
    };
    const onExit = (): void => {
      forget();
      resolve(undefined);
    };
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    worker.ref();
    worker.postMessage(text);
  });
}
