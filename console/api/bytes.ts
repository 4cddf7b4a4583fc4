/** Bytes: of an artifact, up to a bound (what is larger is downloaded, not shown), and addresses where they are. */
import { fail, ok } from '../../src/base/result.ts';
import { type Asked, addressIn, notInFile, refusalIn, unreachable } from './client.ts';
import { keptHere } from './kept.ts';

/** `undefined`: they are not to be had here. */
export function artifactAddress(session: string, ref: string): string | undefined {
  const kept = keptHere();
  if (kept !== undefined) return blobAddress(ref, kept.artifact(ref));
  return addressIn(`/sessions/${encodeURIComponent(session)}/artifact`, { ref });
}

/** What an event holds in whole, of which its payload shows a part. */
export function attachmentAddress(session: string, ref: string, position: number): string | undefined {
  const kept = keptHere();
  if (kept !== undefined) return blobAddress(ref, kept.bytes(ref));
  return addressIn(`/sessions/${encodeURIComponent(session)}/payloads/${ref}`, { at: position });
}

export async function readArtifact(session: string, ref: string): Asked<ArrayBuffer> {
  const kept = keptHere();
  if (kept !== undefined) {
    const bytes = kept.artifact(ref);
    return bytes === undefined ? fail({ ...notInFile, message: 'Its bytes are not in this file.' }) : ok(bytes.slice().buffer);
  }
  try {
    const response = await fetch(addressIn(`/sessions/${encodeURIComponent(session)}/artifact`, { ref }), {
      credentials: 'same-origin',
    });
    if (!response.ok) return fail(await refusalIn(response));
    return ok(await response.arrayBuffer());
  } catch (error) {
    return fail(unreachable(error));
  }
}

const made = new Map<string, string>();

/** Never shown by the browser as a page: bytes without a type, which are downloaded. */
function blobAddress(ref: string, bytes: Uint8Array<ArrayBuffer> | undefined): string | undefined {
  if (bytes === undefined) return undefined;
  const known = made.get(ref) ?? URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  made.set(ref, known);
  return known;
}
