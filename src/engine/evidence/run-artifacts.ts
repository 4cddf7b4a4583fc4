/** Artifacts of a driven run, written by the session's writer like everything that the run does. */
import type { RunArtifacts } from '../../artifacts/port.ts';
import type { ArtifactSink, WantedEvent } from '../../artifacts/put.ts';
import { createRunArtifacts } from '../../artifacts/run-artifacts.ts';
import type { NewEvent } from '../../ledger/port.ts';
import type { LedgerAccess, ProofAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { Writes } from '../record/writes.ts';

/** What storing artifacts takes. */
export type StoresArtifacts = LedgerAccess & Writes & Pick<ProofAccess, 'environments'>;

const bound = new WeakMap<DrivenRun, RunArtifacts>();

/** The same for everybody who asks for the run's, so that a step is stored once. */
export function artifactsOfRun(tree: StoresArtifacts, node: DrivenRun): RunArtifacts {
  const known = bound.get(node) ?? createRunArtifacts(sinkOf(tree, node), tree.environments);
  bound.set(node, known);
  return known;
}

function sinkOf(tree: StoresArtifacts, { journal }: DrivenRun): ArtifactSink {
  const made = ({ type, payload, ...more }: WantedEvent): NewEvent =>
    journal.event(type, payload, { ...more, actor: 'system', aside: true });
  return {
    session: tree.session,
    recorded: journal.recorded,
    async append(events, counters = []) {
      const outcome = await tree.writer.write(events.map(made), { counters });
      return 'kind' in outcome ? { full: outcome.counter } : {};
    },
    counter: (name) => tree.ledger.counter(name),
    redact: tree.redact,
  };
}
