/** What the answering agent says, piece by piece as it comes, and its report at the end when that is not what was said last. */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { SessionId } from '../../base/ids.ts';
import type { LivePiece, RunEnd } from '../../engine/port.ts';
import { messageChunk, thoughtChunk } from './updates.ts';

export interface Speech {
  hear(piece: LivePiece): void;
  end(end: RunEnd): void;
}

export function createSpeech(session: SessionId, tell: (update: SessionUpdate) => void): Speech {
  let last = '';
  let said = '';
  return {
    hear({ session: of, terminal, delta, run, turn, attempt }) {
      if (of !== session || !terminal || delta.type === 'tool') return;
      const message = `${run}/turn/${turn}/attempt/${attempt}`;
      if (delta.type === 'reasoning') return tell(thoughtChunk(delta.text, `${message}/thought`));
      // What an attempt said that broke off is not what the next one says: it is another message.
      said = message === last ? said + delta.text : delta.text;
      last = message;
      tell(messageChunk(delta.text, message));
    },
    end(end) {
      if (end.kind !== 'ended') return;
      const { report, finalRun } = end.result;
      if (report.synthetic === true || said.trim() === report.body.trim()) return;
      tell(messageChunk(report.body, `${finalRun}/report`));
    },
  };
}
