/** Bounds of the walls around programs. */
import { SECOND } from './units.ts';

export const sandboxLimits = {
  sandboxHosts: 200,
  sandboxHostCharacters: 300,
  sandboxPaths: 100,
  /** How deep modules of a repository, and the folders that their names make, are looked for. */
  modulesDepth: 8,
  sandboxPathCharacters: 4_096,
  /** How long it is tried whether there is one. */
  sandboxTryMs: 20 * SECOND,
  /** How often the way to the hosts outside is built where the machine is too busy for it. */
  sandboxAttempts: 5,
  /** Processes of an executor in an image. */
  imageProcesses: 4_096,
  imageRemoveMs: 30 * SECOND,
  /** Refusals that are told of one program. */
  sandboxRefusals: 20,
} as const;
