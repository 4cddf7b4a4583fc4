/** The bytes of an artifact, up to a bound: what is larger is downloaded, not shown. */
import { fail, ok } from '../../src/base/result.ts';
import { type Asked, addressIn, refusalIn, unreachable } from './client.ts';

export const artifactAddress = (session: string, ref: string): string =>
  addressIn(`/sessions/${encodeURIComponent(session)}/artifact`, { ref });

export async function readArtifact(session: string, ref: string): Asked<ArrayBuffer> {
  try {
    const response = await fetch(artifactAddress(session, ref), { credentials: 'same-origin' });
    if (!response.ok) return fail(await refusalIn(response));
    return ok(await response.arrayBuffer());
  } catch (error) {
    return fail(unreachable(error));
  }
}
