/** What the events about artifacts and environments mean, in words. */
import type { Meaning } from './event-meanings.ts';

type Artifacts = 'artifact.stored' | 'artifact.part' | 'artifact.pinned' | 'artifact.manifest' | 'environment.recorded';

export const artifactMeanings: { readonly [Type in Artifacts]: Meaning<Type> } = {
  'artifact.stored': {
    says: 'The runtime stored something that the work left behind. Its bytes are the attachment, named by their checksum.',
    fields: {
      type: 'what kind of thing it is',
      ref: 'its name, unique within the session',
      generated_by: 'what made it: a command, or a part of the runtime',
      checksum: '`sha256:` and the hash of the bytes',
      preview_ref: 'where its beginning, or a small picture of it, can be had',
      bytes: 'how large it is',
      path: 'the file of the workspace that it was made of',
      parts: 'the SHA-256 of its parts in order, when it is too large for one attachment',
      preview_of: 'the artifact that this one is a preview of',
      redacted: 'secrets were taken out before it was stored, so the checksum is not that of the file',
      exact: 'the exact text, for whoever works on with it; readers see it redacted',
      claimed: 'the checksum that whoever made it said it had, when that is another one',
      from: 'the agent elsewhere that made it, by its name here, and what it calls the task, the artifact and the file',
      size: 'width and height of an image',
    },
  },
  'artifact.part': {
    says: 'A part of an artifact that is too large for one attachment. `artifact.stored` names the parts when all are there.',
    fields: { of: 'the step that stores the artifact', index: 'which part, from 0', bytes: 'how large it is' },
  },
  'artifact.pinned': {
    says: 'Somebody wants an artifact kept, or not any more, whatever its type and age.',
    fields: { ref: 'which one', pinned: 'whether it is kept', by: 'who' },
  },
  'artifact.manifest': {
    says: 'What the run left behind, written at its end by the runtime.',
    fields: {
      items: 'the files that the recorded changes left, each with the SHA-256 of what it holds; `null` when it is gone',
      manifest_id: 'its name',
      session_id: 'the session',
      generated_at: 'when, in UTC',
      environment_fingerprint: 'where the work was done: the reference of an `environment.recorded`',
      artifacts: 'what was stored, each with type, reference, what made it, and checksum',
      missing_executor_manifest: 'whoever did the work gave no list of their own: this is what the runtime saw',
      flagged: 'what was said of files and is not so: a wrong checksum, a file that changed afterwards',
    },
  },
  'environment.recorded': {
    says: 'What the work was done with: system, tools and their versions, lockfiles, commit. No values of variables.',
    fields: {
      ref: '`env://hash/` and the beginning of its SHA-256',
      sha256: 'the hash of the environment as canonical JSON',
      environment: 'what was found',
    },
  },
};
