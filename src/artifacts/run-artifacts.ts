/** What one run stores: artifacts, where it worked, and what whoever did the work says it made. */
import { ok } from '../base/result.ts';
import type { FlaggedArtifact } from '../events/evidence.ts';
import type { DeclaredArtifact, Environments, RunArtifacts, StoredArtifact } from './port.ts';
import { type ArtifactSink, environmentName, putArtifact } from './put.ts';

export function createRunArtifacts(sink: ArtifactSink, environments: Environments | undefined): RunArtifacts {
  // What was stored in this life is no past yet.
  const stored = new Map<string, StoredArtifact>();
  const put: RunArtifacts['put'] = async (step, wanted) => {
    const known = stored.get(step);
    if (known !== undefined) return ok(known);
    const outcome = await putArtifact(sink, step, wanted);
    if (outcome.ok) stored.set(step, outcome.value);
    return outcome;
  };
  return {
    put,
    async environment(workspace, sandbox) {
      const found = await environments?.fingerprint(workspace, sandbox);
      if (found === undefined) return undefined;
      const { ref, sha256, environment } = found;
      const once = { name: environmentName(sink.session, sha256), add: 1, max: 1 };
      // Somebody of the session has recorded it: then it is there.
      if ((await sink.counter(once.name)) === 0) {
        const payload = { ref, sha256, environment };
        await sink.append([{ type: 'environment.recorded', payload, step: `environment/${sha256}` }], [once]);
      }
      return ref;
    },
    async declare(step, workspace, declared) {
      const [kept, flagged]: [StoredArtifact[], FlaggedArtifact[]] = [[], []];
      for (const [index, one] of declared.entries()) {
        const outcome = await put(`${step}/${index}`, putOf(workspace, one));
        if (!outcome.ok) flagged.push({ path: one.path, why: outcome.error.message });
        else {
          kept.push(outcome.value);
          const { claimed, checksum } = outcome.value;
          if (claimed !== undefined)
            flagged.push({ path: one.path, why: 'it does not have the checksum that was said', claimed, found: checksum });
        }
      }
      return { stored: kept, flagged };
    },
  };
}

function putOf(workspace: string, { type, path, generatedBy = 'executor', checksum }: DeclaredArtifact) {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return { type, name, generatedBy, source: { kind: 'file', root: workspace, path }, claimed: checksum } as const;
}
