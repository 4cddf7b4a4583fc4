/** The side of who drives runs: finds those who watch, and tells them what is said for as long as they keep up. */
import { existsSync, readdirSync, readFileSync, unlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import type { LivePiece } from '../engine/port.ts';
import { note } from './port.ts';

interface Publisher {
  /** `undefined` when nobody watches. */
  listener(): ((piece: LivePiece) => void) | undefined;
  close(): void;
}

/** `own` is the note of this process, which hears itself without it. */
export function createPublisher(folder: string, own: () => string | undefined): Publisher {
  const sockets = new Map<string, Socket>();
  const reach = (name: string): void => {
    const path = join(folder, name);
    const read = note.safeParse(jsonIn(path));
    if (!read.success) return;
    const socket = connect(read.data.port, '127.0.0.1');
    sockets.set(name, socket);
    socket.unref();
    socket.on('error', () => forget(path));
    socket.on('close', () => sockets.delete(name));
    socket.write(`${read.data.word}\n`);
  };
  return {
    listener() {
      for (const name of notesIn(folder)) if (name !== own() && !sockets.has(name)) reach(name);
      if (sockets.size === 0) return undefined;
      return (piece) => {
        const line = `${JSON.stringify(piece)}\n`;
        // Whoever is slow misses something: what counts is in the ledger.
        for (const socket of sockets.values()) if (socket.writableLength < limits.liveUnsentBytes) socket.write(line);
      };
    },
    close() {
      for (const socket of sockets.values()) socket.destroy();
    },
  };
}

function notesIn(folder: string): readonly string[] {
  // Asked before every model call: an error for each, where nobody has ever watched, costs more than the look.
  if (!existsSync(folder)) return [];
  try {
    return readdirSync(folder).slice(0, limits.liveWatchers);
  } catch {
    return [];
  }
}

function jsonIn(path: string): unknown {
  try {
    const parsed = parseJson(readFileSync(path, 'utf8'));
    return parsed.ok ? parsed.value : undefined;
  } catch {
    return undefined;
  }
}

/** Nobody answers there: it is left from a process that was killed. */
function forget(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    return;
  }
}
