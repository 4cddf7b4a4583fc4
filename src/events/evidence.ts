/**
 * What the runtime saw with its own eyes: commands that ran, what they printed and changed, whether tests passed; and what the
 * work left behind: files of a known kind, each with its checksum, the list of them at the end of a run, and where it ran.
 */
import { z } from 'zod';
import { jsonValue } from './message-schemas.ts';

export const evidenceEvents = {
  'cli.run': z.object({
    command: z.string(),
    cwd: z.string(),
    exitCode: z.number().int().nullable(),
    signal: z.string().nullable(),
    durationMs: z.number(),
    /** Files that are closed to agents and were changed meanwhile. */
    protected: z.array(z.string()).optional(),
    /** Ended from outside: whatever its exit code, it did not come to its own end. */
    stopped: z.enum(['timeout', 'cancelled']).optional(),
    /** The walls that it ran in; absent where there were none. */
    sandbox: z.string().optional(),
    /** The commands of the line that ended with 0 for sure, each in the one form that claims are compared with. */
    proves: z
      .array(
        z.object({
          command: z.string(),
          /** Where it ran, when not in `cwd`. */
          folder: z.string().optional(),
          /** The real path of the program. */
          program: z.string().optional(),
          /** Something that may change files came after it in the line. */
          followed: z.boolean().optional(),
          /** A script behind it that could not be read as commands: a file, or a script of a package.json. */
          unread: z.object({ path: z.string(), script: z.string().optional() }).optional(),
          /** Scripts and makefiles that it goes through. */
          through: z.array(z.string()).optional(),
        }),
      )
      .optional(),
    /** Commands of the line that its exit code says nothing about, and why. */
    unproved: z.array(z.object({ command: z.string(), why: z.string() })).optional(),
    /** The fingerprint of the workspace before and after, or why there is none. */
    workspace: z
      .union([
        z.object({
          before: z.string(),
          after: z.string(),
          /** Somebody else worked in the workspace meanwhile. */
          shared: z.boolean().optional(),
          /** A file was written, moved or replaced, and holds what it held. */
          touched: z.boolean().optional(),
          /** A folder that programs are looked for in, where something came and went meanwhile. */
          passing: z.string().optional(),
        }),
        z.object({ unknown: z.string() }),
      ])
      .optional(),
  }),
  'cli.stdout': z.object({ bytes: z.number().int(), head: z.string() }),
  'cli.stderr': z.object({ bytes: z.number().int(), head: z.string() }),
  'file.diff': z.object({
    path: z.string(),
    before: z.string().nullable(),
    after: z.string().nullable(),
    addedLines: z.number().int(),
    removedLines: z.number().int(),
    diff: z.string(),
    /** Found by comparing the workspace: changed by the command of this step, or by somebody else before it. */
    by: z.enum(['command', 'outside']).optional(),
    /** The file is a program that is run by its name, and no installer left it so: what is wrong about it. */
    program: z.string().optional(),
    /** On the last one that is recorded: how many further changes were found with it, too many to be recorded. */
    more: z.number().int().optional(),
  }),
  'test.report': z.object({
    command: z.string(),
    exitCode: z.number().int().nullable(),
    passed: z.boolean(),
    /** How many tests passed, where the output says so. */
    tests: z.number().int().optional(),
    /** What the output shows of tests that ended before they had run. */
    early: z.string().optional(),
    /** Why an exit code of 0 does not count. */
    why: z.string().optional(),
  }),
} as const;

export const artifactTypes = [
  ...(['patch', 'workspace_snapshot', 'build_output', 'test_report', 'log_bundle', 'doc', 'table', 'image'] as const),
] as const;
const artifactType = z.enum(artifactTypes);
/** What kind of thing an artifact is. */
export type ArtifactType = z.infer<typeof artifactType>;

/** One line of a manifest. The names are those of the manifest's YAML, which others read too. */
const manifestEntry = z.object({
  type: artifactType,
  /** `artifact://<folder>/<name>`, unique within its session. */
  ref: z.string(),
  generated_by: z.string(),
  /** `sha256:` and 64 hexadecimal digits. */
  checksum: z.string(),
  preview_ref: z.string().optional(),
});
/** An artifact as a manifest lists it. */
export type ManifestEntry = z.infer<typeof manifestEntry>;

/** What was said of a file and is not so. */
const flaggedArtifact = z.object({
  path: z.string(),
  why: z.string(),
  claimed: z.string().optional(),
  found: z.string().optional(),
});
export type FlaggedArtifact = z.infer<typeof flaggedArtifact>;

export const artifactEvents = {
  'artifact.stored': z.object({
    ...manifestEntry.shape,
    bytes: z.number().int().nonnegative(),
    /** The file of the workspace that it was made of. */
    path: z.string().optional(),
    /** The SHA-256 of its parts, in order, when it is too large for one: each is attached to an event of its own. */
    parts: z.array(z.string()).optional(),
    /** The artifact that this one shows the beginning of, or a small picture of. */
    preview_of: z.string().optional(),
    /** Secrets were taken out before it was stored: the checksum is that of what is stored. */
    redacted: z.boolean().optional(),
    /** Where it was redacted and somebody works on with it: the exact text, which only whoever works on can open. */
    exact: z.string().optional(),
    /** The checksum that somebody said it had, when it has another. */
    claimed: z.string().optional(),
    /** The agent elsewhere that made it: its name here, and what the file, and the task that made it, are called there. */
    from: z
      .object({
        agent: z.string(),
        task: z.string().optional(),
        artifact: z.string().optional(),
        name: z.string().optional(),
        mediaType: z.string().optional(),
      })
      .optional(),
    /** Width and height of an image, in dots. */
    size: z.object({ width: z.number().int(), height: z.number().int() }).optional(),
  }),
  'artifact.part': z.object({ of: z.string(), index: z.number().int().nonnegative(), bytes: z.number().int().positive() }),
  'artifact.pinned': z.object({ ref: z.string(), pinned: z.boolean(), by: z.string().optional() }),
  'artifact.manifest': z.object({
    items: z.array(z.object({ path: z.string(), sha256: z.string().nullable() })),
    manifest_id: z.string().optional(),
    session_id: z.string().optional(),
    generated_at: z.string().optional(),
    environment_fingerprint: z.string().optional(),
    artifacts: z.array(manifestEntry).optional(),
    /** Whoever did the work gave no list of their own: this one is what the runtime saw. */
    missing_executor_manifest: z.boolean().optional(),
    /** What was said of files and is not so, or is not so any more. */
    flagged: z.array(flaggedArtifact).optional(),
  }),
  'environment.recorded': z.object({
    /** `env://hash/` and the beginning of the SHA-256. */
    ref: z.string(),
    sha256: z.string(),
    environment: jsonValue,
  }),
} as const;
