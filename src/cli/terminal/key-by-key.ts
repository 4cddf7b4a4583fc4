/**
 * The keyboard key by key, for whoever draws what is being typed. While it is taken the terminal echoes nothing, Ctrl-C and
 * Ctrl-Z are keys like any other, and pasted text comes between marks.
 */
import { StringDecoder } from 'node:string_decoder';
import { eventLoopTurn } from '../../base/clock.ts';

export interface KeyByKey {
  /** `heard` gets what is typed, as it comes, until it is let go; `undefined` when there is nobody any more. */
  take(heard: (typed: string | undefined) => void): void;
  letGo(): void;
  /** Stops the process as Ctrl-Z does; resolves when it goes on. The keyboard has been let go and is not taken again. */
  suspend(): Promise<void>;
  /** Calls back when the process goes on after it was stopped. */
  onReturn(callback: () => void): () => void;
}

const MARK_PASTES = '\u001b[?2004h';
const MARK_NO_PASTES = '\u001b[?2004l';
/** A stop that was asked for comes within these, where it comes at all: a process without a shell above it is not stopped. */
const ROUNDS_UNTIL_STOPPED = 3;

export function createKeyByKey(process: NodeJS.Process): KeyByKey {
  const { stdin, stderr } = process;
  let stop: (() => void) | undefined;
  const letGo = (): void => {
    stop?.();
    stop = undefined;
  };
  return {
    take(heard) {
      letGo();
      const decoder = new StringDecoder('utf8');
      const typed = (bytes: Buffer): void => heard(decoder.write(bytes));
      const ended = (): void => heard(undefined);
      stdin.setRawMode?.(true);
      stdin.on('data', typed).on('end', ended).on('error', ended).resume();
      stderr.write(MARK_PASTES);
      stop = () => {
        stdin.off('data', typed).off('end', ended).off('error', ended).pause();
        stderr.write(MARK_NO_PASTES);
        stdin.setRawMode?.(false);
      };
    },
    letGo,
    async suspend() {
      letGo();
      process.kill(process.pid, 'SIGTSTP');
      for (let round = 0; round < ROUNDS_UNTIL_STOPPED; round += 1) await eventLoopTurn();
    },
    onReturn(callback) {
      process.on('SIGCONT', callback);
      return () => void process.off('SIGCONT', callback);
    },
  };
}
