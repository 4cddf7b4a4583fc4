/** Words from process to process: heard by whoever watches, with secrets out, and by nobody who does not know the word. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { systemRandom } from '../base/random.ts';
import type { LivePiece } from '../engine/port.ts';
import { createVirtualClock } from '../testing/virtual-clock.ts';
import { gathered } from './gathered.ts';
import { createLiveChannel } from './live-channel.ts';
import { noticesOf, readNotice } from './notices.ts';
import { inWholeWords } from './whole-words.ts';

let folder = '';
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'troupe-live-')), 'live');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const piece = (text: string, offset = 0): LivePiece => ({
  ...{ session: 'ses_1' as SessionId, run: 'run_1' as RunId, agent: 'speaker', turn: 1, attempt: 1, terminal: true, offset },
  delta: { type: 'text', text },
});
const redact = (text: string): string => text.replaceAll('swordfish', '[redacted:KEY]');
const words = (random = systemRandom) => createLiveChannel({ folder, random, redact, watch: () => () => undefined });
const textOf = ({ delta }: LivePiece): string => (delta.type === 'tool' ? '' : delta.text);

describe('live words', () => {
  it('reach whoever watches in another process, in whole words, without secrets', async () => {
    const [driving, watching] = [words(), words()];
    expect(driving.outside()).toBeUndefined();
    const heard: LivePiece[] = [];
    const stop = watching.hear((one) => heard.push(one));
    await expect.poll(() => driving.outside() !== undefined).toBe(true);
    const say = driving.outside();
    say?.(piece('The word is sword'));
    say?.(piece('fish, and', 17));
    say?.(piece(' that is all.', 26));
    await expect.poll(() => heard.map(textOf).join('')).toBe('The word is [redacted:KEY], and that is ');
    expect(heard.map(({ offset }) => offset)).toEqual([0, 12, 28]);
    stop();
    await expect.poll(() => driving.outside()).toBeUndefined();
    expect(await readdir(folder)).toEqual([]);
    await driving.close();
  });

  it('are not looked for where a killed process left its note', async () => {
    const watching = words();
    const stop = watching.hear(() => undefined);
    await expect.poll(async () => (await readdir(folder).catch(() => [])).length).toBe(1);
    const [name = ''] = await readdir(folder);
    const left = await readFile(join(folder, name), 'utf8');
    stop();
    await writeFile(join(folder, 'left.json'), left);
    await writeFile(join(folder, 'other.json'), '{"port": "x"}');
    const driving = words();
    driving.outside();
    await expect.poll(() => driving.outside()).toBeUndefined();
    await expect.poll(() => readdir(folder)).toEqual(['other.json']);
    await driving.close();
  });

  it('are believed of nobody who does not know the word, or says something else', async () => {
    const heard: LivePiece[] = [];
    const stop = words().hear((one) => heard.push(one));
    await expect.poll(async () => (await readdir(folder).catch(() => [])).length).toBe(1);
    const [name = ''] = await readdir(folder);
    const { port, word } = JSON.parse(await readFile(join(folder, name), 'utf8')) as { port: number; word: string };
    const hangsUp = (text: string): Promise<void> =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(text));
        socket.on('close', () => resolve()).on('error', () => undefined);
      });
    const line = JSON.stringify(piece('forged words'));
    for (const text of [`wrong\n${line}\n`, `${line}\n`, `${word}\n{}\n`, `${word}\nnonsense\n`, 'x'.repeat(1_000_000)])
      await hangsUp(text);
    expect(heard).toEqual([]);
    stop();
  });

  it('fit into notices of a database, whole and in order, and what is none is not believed', () => {
    const long = 'Ein Zug \u0000 fährt 🚂 ab. '.repeat(1_500);
    const tool: LivePiece = { ...piece(''), delta: { type: 'tool', name: 'look' } };
    const notices = noticesOf('me', [piece(long), tool, piece('end', long.length)]);
    expect(notices.length).toBeGreaterThan(5);
    expect(notices.filter((notice) => Buffer.byteLength(notice) > limits.liveNoticeBytes)).toEqual([]);
    const read = notices.flatMap((notice) => readNotice(notice)?.pieces ?? []);
    expect(read.map(textOf).join('')).toBe(`${long}end`);
    expect(read.filter(({ delta }) => delta.type === 'tool')).toEqual([tool]);
    let at = 0;
    for (const one of read) {
      if (one.delta.type === 'tool') continue;
      expect(one.offset).toBe(at);
      at += textOf(one).length;
    }
    expect(['', 'me', 'me x', 'me {}', 'me [{}]', 'me [1'].map(readNotice)).toEqual(Array(6).fill(undefined));
  });

  it('are one piece where they come together, and stay in their order', () => {
    const clock = createVirtualClock(0);
    const told: LivePiece[] = [];
    const hear = gathered(clock, 50, (one) => told.push(one));
    const tool: LivePiece = { ...piece(''), delta: { type: 'tool', name: 'look' } };
    for (const one of [piece('a'), piece('b', 1), { ...piece('x'), run: 'run_2' as RunId }, piece('c', 2), tool, piece('d', 3)])
      hear(one);
    hear({ ...piece('again'), attempt: 2 });
    expect(told).toEqual([]);
    clock.advance();
    expect(told.map((one) => [one.offset, textOf(one)])).toEqual([
      [0, 'abc'],
      [0, 'x'],
      [0, ''],
      [3, 'd'],
      [0, 'again'],
    ]);
  });

  it('keep no more speakers than they may, and each apart', () => {
    const told: string[] = [];
    const hear = inWholeWords(redact, (one) => told.push(textOf(one)));
    hear(piece('one'));
    hear({ ...piece('two '), run: 'run_2' as RunId });
    hear(piece(' more', 3));
    expect(told).toEqual(['two ', 'one ']);
  });
});
