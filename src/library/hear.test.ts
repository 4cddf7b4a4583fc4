/** Whoever begins to hear before a run does hears all of it, however late they are ready. */
import { expect, it } from 'vitest';
import { limits } from '../base/limits.ts';
import type { LivePiece } from '../engine/port.ts';
import { hear } from './hear.ts';

function engine() {
  const watchers = new Set<(piece: LivePiece) => void>();
  return {
    watchers,
    say: (text: string) => {
      for (const watcher of watchers) watcher({ delta: { type: 'text', text } } as LivePiece);
    },
    watch: (watcher: (piece: LivePiece) => void) => {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
  };
}

const textIn = ({ delta }: LivePiece): string => (delta.type === 'text' ? delta.text : '');

it('gives what came before in order, then what comes, until it is ended', () => {
  const { watchers, say, watch } = engine();
  const heard = hear({ watch }, true);
  say('The ');
  say('first ');
  const said: string[] = [];
  const end = heard.to((piece) => said.push(textIn(piece)));
  say('words.');
  end();
  say('Never.');
  expect(said).toEqual(['The ', 'first ', 'words.']);
  expect(watchers.size).toBe(0);
});

it('of a flood that nobody reads keeps the end', () => {
  const { say, watch } = engine();
  const heard = hear({ watch }, true);
  for (let index = 0; index <= limits.liveTextCharacters; index += 1) say(String(index));
  const said: string[] = [];
  heard.to((piece) => said.push(textIn(piece)));
  expect(said).toHaveLength(limits.liveTextCharacters);
  expect(said.at(-1)).toBe(String(limits.liveTextCharacters));
});

it('has nobody stream where nobody wants pieces, and lets go of a run that never began', () => {
  const { watchers, watch } = engine();
  hear({ watch }, false).to(() => undefined);
  expect(watchers.size).toBe(0);
  hear({ watch }, true).close();
  expect(watchers.size).toBe(0);
});
