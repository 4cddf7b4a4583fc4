/** Files that an agent elsewhere makes: artifacts of our own run, once, wherever we are cut off; and what of them is not kept. */
import { describe, expect, it } from 'vitest';
import { createArtifactArchive } from '../../src/artifacts/archive.ts';
import { limits } from '../../src/base/limits.ts';
import type { EventOf, LedgerEvent } from '../../src/events/envelope.ts';
import type { PeerFile } from '../../src/peers/port.ts';
import { taskContext } from '../../src/projections/tasks/task-context.ts';
import { foldTasks, initialTasks, taskOfRun } from '../../src/projections/tasks/tasks.ts';
import { remote } from '../support/peers/brain-peers.ts';
import {
  alone,
  bodyOf,
  eventsOf,
  type Kept,
  live,
  NEVER,
  newPlay,
  type Play,
  RUN,
  SESSION,
} from '../support/peers/remote-play.ts';
import { createQuietClock } from '../support/quiet-clock.ts';
import { agent, calls, createWorld, reports, says, turnOf } from '../support/world.ts';

const PDF = Buffer.from([0x25, 0x50, 0x44, 0x46, 0x00, 0xff, 0xfe]);
const pdf: PeerFile = {
  ...{ artifact: 'forecast', name: '../../the forecast.pdf', mediaType: 'application/pdf', bytes: PDF.length, content: PDF },
  words: '[file ../../the forecast.pdf, application/pdf, 7 bytes]',
};
const csv: PeerFile = {
  ...{ artifact: 'forecast', name: 'days.csv', mediaType: 'text/csv', bytes: 4, content: Buffer.from('a,b\n') },
  words: '[file days.csv, text/csv, 4 bytes]',
};
const nameless: PeerFile = { bytes: 2, content: Buffer.from('hi'), words: '[file without a name, of unknown type, 2 bytes]' };

const SECRET = 'blue-4711-Xy!harbour';

const withFiles = (files: readonly PeerFile[], more: Partial<Play> = {}): Kept =>
  newPlay({
    agents: [remote('weather')],
    brain: () => says(`Here: ${files.map(({ words }) => words).join(' and ')}`),
    habits: { files },
    ...more,
  });

const only = <Type extends LedgerEvent['event_type']>(events: readonly LedgerEvent[], type: Type): EventOf<Type>[] =>
  events.filter((event): event is LedgerEvent & EventOf<Type> => event.event_type === type);

/** What `troupe artifacts list` and `get` give. */
async function stored({ path, agents, brain }: Kept) {
  const world = createWorld({ path, agents, brain });
  const archive = createArtifactArchive(world.ledger, createQuietClock());
  const found = await archive.list({ session: SESSION, run: RUN });
  const all = [];
  for (const artifact of found) {
    const parts: Uint8Array[] = [];
    for await (const part of archive.bytes(artifact)) parts.push(part);
    all.push({ ...artifact, content: Buffer.concat(parts) });
  }
  await world.close();
  return all;
}

describe('files that an agent elsewhere made', () => {
  it('are artifacts of the run, with where they are from, in its manifest, in its task and in its answer', async () => {
    const kept = withFiles([pdf, csv, nameless]);
    const { end } = await live(kept);
    const refs = ['artifact://docs/the-forecast.pdf', 'artifact://tables/days.csv', 'artifact://docs/file'];
    expect(bodyOf(end)).toBe(
      [
        `Here: [file ../../the forecast.pdf, application/pdf, 7 bytes, kept as ${refs[0]}]`,
        `[file days.csv, text/csv, 4 bytes, kept as ${refs[1]}]`,
        `[file without a name, of unknown type, 2 bytes, kept as ${refs[2]}]`,
      ].join(' and '),
    );
    const found = await stored(kept);
    expect(found.map(({ ref, content }) => [ref, content])).toEqual([
      [refs[0], PDF],
      [refs[1], Buffer.from('a,b\n')],
      [refs[2], Buffer.from('hi')],
    ]);
    expect(found[0]).toMatchObject({
      generated_by: 'weather, at a2a:weather.test',
      from: { agent: 'weather', task: 'task-1', artifact: 'forecast', name: pdf.name, mediaType: 'application/pdf' },
    });
    const events = await eventsOf(kept);
    expect(only(events, 'artifact.manifest').map(({ payload }) => payload.artifacts?.map(({ ref }) => ref))).toEqual([refs]);
    const [state] = only(events, 'peer.state');
    expect(state?.payload.files?.map(({ ref }) => ref)).toEqual(refs);
    const task = taskOfRun(events.reduce(foldTasks, initialTasks()), RUN);
    if (task === undefined) throw new Error('There is no task');
    expect(taskContext(task).artifacts?.slice(1)).toMatchObject([
      {
        ...{
          artifactId: refs[0],
          name: pdf.name,
          parts: [{ kind: 'file', file: { mimeType: 'application/pdf', uri: refs[0] } }],
        },
        metadata: { run: RUN, bytes: 7, from: { agent: 'weather', task: 'task-1' } },
      },
      { artifactId: refs[1] },
      { artifactId: refs[2], name: 'file' },
    ]);
  });

  it('are stored once, wherever we are cut off, also when they are shown with a question and again with the answer', async () => {
    const play = (): Kept =>
      withFiles([pdf, csv], {
        ...alone,
        brain: (request) =>
          turnOf(request) === 1 ? calls({ name: 'ask', input: { question: 'Which city?' } }) : says('Sun. [no file]'),
      });
    const whole = await live(play());
    expect(bodyOf(whole.end)).toBe('Sun. [no file]');
    expect(whole.appends.length).toBeGreaterThan(5);
    for (let cut = 1; cut <= whole.appends.length; cut += 1) {
      const kept = play();
      await live(kept, cut);
      const { end } = await live(kept);
      expect(bodyOf(end), `cut after ${cut}`).toBe('Sun. [no file]');
      const refs = (await stored(kept)).map(({ ref }) => ref);
      expect(refs, `cut after ${cut}`).toEqual(['artifact://docs/the-forecast.pdf', 'artifact://tables/days.csv']);
    }
  });

  it.each([
    ['too large', { ...pdf, bytes: limits.peerFileBytes + 1, content: undefined }, /larger than \d+ bytes \(peerFileBytes\)/],
    [
      'with a secret that cannot be taken out of it',
      { ...pdf, content: Buffer.concat([PDF, Buffer.from(SECRET)]) },
      /holds a secret/,
    ],
  ] as const)('one that is %s is none, which is said, and the others are', async (_name, file, why) => {
    const kept = withFiles([file, csv], { redact: (text) => text.replaceAll(SECRET, '[redacted]') });
    const { end } = await live(kept);
    expect(bodyOf(end)).toMatch(/application\/pdf, 7 bytes, not kept: .*kept as artifact:\/\/tables\/days.csv\]$/s);
    expect((await stored(kept)).map(({ ref }) => ref)).toEqual(['artifact://tables/days.csv']);
    const [state] = only(await eventsOf(kept), 'peer.state');
    expect(state?.payload.files).toMatchObject([{ why: expect.stringMatching(why) }, { ref: 'artifact://tables/days.csv' }]);
  });

  it('of a task that failed are kept', async () => {
    const kept = withFiles([csv], { brain: () => ({ kind: 'failed', error: { kind: 'refused', message: 'No such city.' } }) });
    expect((await live(kept)).end).toMatchObject({ kind: 'ended', result: { status: 'failed' } });
    expect((await stored(kept)).map(({ ref }) => ref)).toEqual(['artifact://tables/days.csv']);
  });

  it('of one that was asked by another are found by whoever looks at the whole', async () => {
    const kept = newPlay({
      agents: [agent({ name: 'boss', tools: [], agents: ['weather'] }), remote('weather')],
      brain: (request) => {
        if (request.agent === 'weather') return says(csv.words);
        return turnOf(request) === 1
          ? calls({ name: 'weather', input: { prompt: 'How?', reason: 'to know' } })
          : reports(JSON.stringify(request.messages).includes('kept as artifact://tables/days.csv') ? 'I see it.' : 'No file.');
      },
      habits: { files: [csv] },
    });
    expect(bodyOf((await live(kept, NEVER)).end)).toBe('I see it.');
    expect((await stored(kept)).map(({ ref }) => ref)).toEqual(['artifact://tables/days.csv']);
  });
});
