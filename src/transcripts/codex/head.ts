/** The file of one conversation of Codex. */
import { stat } from 'node:fs/promises';
import { nameIn, objectIn, textIn, timeIn } from '../fields.ts';
import type { Transcript, TranscriptHead } from '../items.ts';
import { digestOf, transcriptLines } from '../lines.ts';
import { readCodex } from './read.ts';

/** Its first line says which conversation it is. */
export async function codexHead(path: string, bytes: number): Promise<TranscriptHead | undefined> {
  for await (const line of transcriptLines(path, bytes)) {
    if (line.kind === 'other') return undefined;
    const payload = objectIn(line.value, 'payload');
    const id = nameIn(payload, 'id');
    if (textIn(line.value, 'type') !== 'session_meta' || id === undefined) return undefined;
    return {
      ...{ program: 'codex', id, version: nameIn(payload, 'cli_version'), folder: textIn(payload, 'cwd') },
      at: timeIn(payload, 'timestamp') ?? timeIn(line.value, 'timestamp') ?? 0,
    };
  }
  return undefined;
}

export async function codexTranscript(path: string, head: TranscriptHead): Promise<Transcript> {
  const { size } = await stat(path);
  const sha256 = await digestOf([{ name: 'main', path, bytes: size }]);
  return { head, path, bytes: size, sha256, items: () => readCodex(path, size) };
}
