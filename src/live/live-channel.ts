/** Both sides of it for one process. */
import type { Random } from '../base/random.ts';
import type { Engine } from '../engine/port.ts';
import { listenForPieces } from './listen.ts';
import type { LiveChannel } from './port.ts';
import { createPublisher } from './publish.ts';
import { inWholeWords } from './whole-words.ts';

export interface LiveOptions {
  /** Where notes are. */
  readonly folder: string;
  readonly random: Random;
  redact(text: string): string;
  watch(watcher: Parameters<Engine['watch']>[0]): () => void;
}

export function createLiveChannel({ folder, random, redact, watch }: LiveOptions): LiveChannel {
  let own: string | undefined;
  const publisher = createPublisher(folder, () => own);
  return {
    outside() {
      const listener = publisher.listener();
      return listener && inWholeWords(redact, listener);
    },
    hear(tell) {
      const listening = listenForPieces(folder, random, tell);
      own = listening.name;
      const stop = watch(inWholeWords(redact, tell));
      return () => {
        stop();
        listening.close();
      };
    },
    close: publisher.close,
  };
}
