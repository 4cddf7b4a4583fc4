import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  client,
  got,
  openFamily,
  polling,
  quietly,
  reading,
  refusalOf,
  type TestProcess,
  writing,
} from '../../../test/support/assistants/family.ts';
import type { Caller } from '../port.ts';

/** Two clients, three levels, a root and a helper that nobody spawned. The name says where in the forest a process stands. */
async function plantForest() {
  const family = openFamily();
  const processes = new Map<string, TestProcess>();
  const parents = new Map<string, string>();
  const plant = async (name: string, parent: string, make: () => Promise<TestProcess>): Promise<void> => {
    processes.set(name, await make());
    parents.set(name, parent);
  };
  const of = (name: string): TestProcess => {
    const found = processes.get(name);
    if (found === undefined) throw new Error(name);
    return found;
  };
  for (const [who, count] of [
    ['ann', 2],
    ['bob', 1],
  ] as const)
    for (let root = 1; root <= count; root += 1) {
      const name = `${who}${root}`;
      await plant(name, who, () => family.root('lead', who));
      for (const child of ['a', 'b']) {
        await plant(`${name}.${child}`, name, () => family.child(of(name), `worker-${child}`));
        for (const grandchild of ['x', 'y'])
          await plant(`${name}.${child}.${grandchild}`, `${name}.${child}`, () =>
            family.child(of(`${name}.${child}`), grandchild),
          );
      }
    }
  await plant('by hand', 'nobody', () => family.root('person'));
  await plant('by hand.a', 'by hand', () => family.child(of('by hand'), 'worker-a'));
  await plant('by hand.b', 'by hand', () => family.child(of('by hand'), 'worker-b'));
  const spawned = [...processes.keys()];
  await plant('ann1.helper', 'ann1', () => family.child(of('ann1'), 'helper', false));
  const callers = new Map<string, Caller>([...processes].map(([name, one]) => [name, one.caller]));
  for (const name of ['ann', 'bob', 'eve', 'lead']) callers.set(name, client(name));
  return { family, processes, parents, callers, spawned };
}

describe('a thread', () => {
  it('is open to its owner, its parent, its siblings and its children, and to nobody else', async () => {
    const { family, processes, parents, callers, spawned } = await plantForest();
    const takesPart = (name: string): boolean => spawned.includes(name) || callers.get(name)?.kind === 'client';
    let open = 0;
    let refused = 0;
    for (const [asking, caller] of callers)
      for (const [name, process] of processes) {
        const isParent = parents.get(name) === asking;
        const isRelative = takesPart(asking) && (parents.get(asking) === name || parents.get(asking) === parents.get(name));
        const hasThread = name !== 'by hand' && name !== 'ann1.helper';
        const expected = hasThread && (asking === name || isParent || isRelative);
        const codes = await Promise.all([
          refusalOf(family.service.poll(caller, polling(process), quietly)),
          refusalOf(family.service.receive(caller, reading(process), quietly)),
        ]);
        expect(codes, `${asking} -> ${name}`).toEqual(
          expected ? ['not refused', 'not refused'] : ['unknown_process', 'unknown_thread'],
        );
        const sent = await refusalOf(family.service.send(caller, writing(process, 'no such one', 'hello'), quietly));
        expect(sent, `${asking} -> ${name}`).toBe(expected ? 'unknown_assistant' : 'unknown_thread');
        if (expected) open += 1;
        else refused += 1;
      }
    expect(open).toBeGreaterThan(60);
    expect(refused).toBeGreaterThan(400);
    await family.ledger.close();
  });

  it('that is unknown and one of strangers are told apart by nothing', async () => {
    const family = openFamily();
    const root = await family.root('lead', 'ann');
    const shape = async (id: string) => {
      const outcomes = [
        await family.service.poll(client('eve'), polling({ run: id }), quietly),
        await family.service.receive(client('eve'), reading({ thread: id.replace('run_', 'thr_') }), quietly),
        await family.service.send(client('eve'), writing({ thread: id.replace('run_', 'thr_') }, 'lead', 'hi'), quietly),
      ];
      return JSON.stringify(outcomes).replaceAll(id, 'ID').replaceAll(id.replace('run_', 'thr_'), 'ID');
    };
    const unknown = root.run.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    expect(await shape(root.run)).toBe(await shape(unknown));
    await family.ledger.close();
  });

  it('is refused to a run that does not exist, and to a client that calls itself like an agent', async () => {
    const family = openFamily();
    const root = await family.root('lead', 'ann');
    const child = await family.child(root, 'worker');
    expect(await refusalOf(family.service.poll({ kind: 'run', run: 'run_0' as never }, polling(child), quietly))).toBe(
      'unknown_process',
    );
    expect(await refusalOf(family.service.poll(client('lead'), polling(child), quietly))).toBe('unknown_process');
    expect(await refusalOf(family.service.poll(client(root.run), polling(child), quietly))).toBe('unknown_process');
    await family.ledger.close();
  });

  it('is never found by a text that is no id', async () => {
    const family = openFamily();
    const root = await family.root('lead', 'ann');
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string(), fc.constantFrom('__proto__', `${root.run} `, root.run.toUpperCase(), "run_' OR 1=1")),
        async (id) => {
          expect(
            await refusalOf(family.service.poll(client('ann'), { process_id: id, include_summary: true, wait_ms: 0 }, quietly)),
          ).toBe('unknown_process');
          expect(await refusalOf(family.service.send(client('ann'), writing({ thread: id }, 'lead', 'hi'), quietly))).toBe(
            'unknown_thread',
          );
        },
      ),
    );
    expect((await got(family.service.poll(client('ann'), polling(root), quietly))).process.status).toBe('starting');
    await family.ledger.close();
  });
});
