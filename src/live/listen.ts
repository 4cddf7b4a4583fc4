/** The side of who watches: a port of this machine, and a note of it. What comes in is from anybody who could read the note. */
import { mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import type { Random } from '../base/random.ts';
import type { LivePiece } from '../engine/port.ts';
import { wirePiece } from './port.ts';

export interface LiveListener {
  /** The name of the note. */
  readonly name: string;
  close(): void;
}

const WORD_BYTES = 24;

export function listenForPieces(folder: string, random: Random, tell: (piece: LivePiece) => void): LiveListener {
  const chance = (): string => Buffer.from(random.bytes(WORD_BYTES)).toString('base64url');
  const [name, word] = [`${chance()}.json`, chance()];
  const path = join(folder, name);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.unref());
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    readLines(socket, word, tell);
  });
  server.maxConnections = limits.liveWatchers;
  let closed = false;
  server.on('error', () => undefined);
  server.listen({ host: '127.0.0.1', port: 0 }, () => {
    const address = server.address();
    if (closed || address === null || typeof address !== 'object') return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(path, JSON.stringify({ port: address.port, word }), { mode: 0o600 });
  });
  server.unref();
  return {
    name,
    close() {
      closed = true;
      server.close();
      for (const socket of sockets) socket.destroy();
      try {
        unlinkSync(path);
      } catch {
        return;
      }
    },
  };
}

/** The first line is the word; whoever does not know it, and whoever says what is no piece, is hung up on. */
function readLines(socket: Socket, word: string, tell: (piece: LivePiece) => void): void {
  let [text, known] = ['', false];
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    if (text.length > limits.liveUnsentBytes) return void socket.destroy();
    for (const line of lines) {
      if (!known && line !== word) return void socket.destroy();
      if (known && !isPiece(line, tell)) return void socket.destroy();
      known = true;
    }
  });
}

function isPiece(line: string, tell: (piece: LivePiece) => void): boolean {
  const parsed = parseJson(line);
  const piece = wirePiece.safeParse(parsed.ok ? parsed.value : undefined);
  if (piece.success) tell(piece.data as LivePiece);
  return piece.success;
}
