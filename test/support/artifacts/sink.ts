/** Stores artifacts as the engine does, for a run that a test holds the lease of. */

import { createArtifactArchive } from '../../../src/artifacts/archive.ts';
import type { FoundArtifact, RunArtifacts } from '../../../src/artifacts/port.ts';
import type { ArtifactSink } from '../../../src/artifacts/put.ts';
import { createRunArtifacts } from '../../../src/artifacts/run-artifacts.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { EventOf } from '../../../src/events/envelope.ts';
import type { Ledger, NewEvent } from '../../../src/ledger/port.ts';
import type { Writer } from '../../conformance/ledger/support.ts';

export async function testSink(writer: Writer, redact: (text: string) => string = (text) => text): Promise<ArtifactSink> {
  const past = await writer.ledger.read({ session: writer.session, run: writer.run });
  return {
    session: writer.session,
    recorded: (type, step) =>
      past.findLast((event) => event.event_type === type && event.step === step) as EventOf<typeof type> | undefined,
    async append(events, counters = []) {
      const made = events.map(
        (event) =>
          ({ ...event, run: writer.run, actor: 'system', cause: writer.eventAt(1), at: writer.at }) as unknown as NewEvent,
      );
      const outcome = await writer.ledger.append({ ...writer.request(made), counters });
      if (outcome.kind === 'over_limit') return { full: outcome.counter };
      if (outcome.kind !== 'appended') throw new Error(`an append ended ${outcome.kind}`);
      return {};
    },
    counter: (name) => writer.ledger.counter(name),
    redact,
  };
}

export async function testArtifacts(writer: Writer, redact?: (text: string) => string): Promise<RunArtifacts> {
  return createRunArtifacts(await testSink(writer, redact), undefined);
}

export async function contentOf(ledger: Ledger, artifact: FoundArtifact): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of createArtifactArchive(ledger, systemClock).bytes(artifact)) parts.push(part);
  return Buffer.concat(parts);
}

export const storedIn = (ledger: Ledger, writer: Writer): Promise<readonly FoundArtifact[]> =>
  createArtifactArchive(ledger, systemClock).list({ session: writer.session });
