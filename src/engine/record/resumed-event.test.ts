import { expect, it } from 'vitest';
import { agent, calls, createWorld, reports, turnOf } from '../../../test/support/world.ts';
import { userText } from '../../events/messages.ts';
import { readAll } from './read-all.ts';

it('a run that is taken up says who took it up and how far was heard by then', async () => {
  const world = createWorld({
    agents: [agent({ permissions: { act: 'ask' } })],
    brain: (request) => (turnOf(request) === 1 ? calls({ name: 'act' }) : reports('Done.')),
    engineOptions: { owner: 'somebody' },
  });
  const started = await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: '.' });
  if (started.kind !== 'started') throw new Error(started.error.message);
  const { run, session, done } = started.handle;
  expect(await done).toMatchObject({ kind: 'waiting' });
  const [wait] = await world.engine.waits(run);
  await world.engine.answer(run, wait?.wait ?? '', { kind: 'approved' });
  const resumed = await world.engine.resume(run);
  if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
  await resumed.handle.done;
  const events = await readAll(world.ledger, session);
  const at = events.findIndex(({ event_type }) => event_type === 'run.resumed');
  expect(events[at]?.payload).toEqual({ owner: 'somebody', takenOver: false, heard: events[at - 1]?.position });
  expect(events[at - 1]?.event_type).toBe('approval.answered');
  await world.close();
});
