/** An artifact for programs: what is known of it, without where its bytes are. */
import type { FoundArtifact } from '../artifacts/port.ts';
import { present } from '../base/present.ts';

export function artifactValue(artifact: FoundArtifact) {
  const { type, ref, generated_by, checksum, bytes, session, run, at, pinned, collected } = artifact;
  const { preview_ref, preview_of, redacted, claimed, path, from, size } = artifact;
  return {
    ...{ type, ref, generated_by, checksum, bytes, session, run, at, pinned, collected },
    ...present({ preview_ref, preview_of, redacted, claimed, path, from, size }),
  };
}
