/** `verify`: commands that the runtime itself runs when the work is said to be done; how they end decides. */
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { timeLimit } from './duration-schema.ts';

const commands = z
  .array(z.string().min(1).max(limits.verifyCharacters).refine(hasText, 'is empty'))
  .min(1)
  .max(limits.verifyCommands);

export const verifySchema = z.union([
  commands.transform((list): Verify => ({ commands: list })),
  z.strictObject({
    commands,
    /** For each command. */
    timeout: timeLimit.optional(),
    /** How often the agent may mend what fails before it ends; without it, never. */
    retries: z.number().int().min(0).max(limits.verifyRetries).optional(),
    /** Changing old tests is part of the work, and does not count against it. */
    testsMayChange: z.boolean().optional(),
  }),
]);

export interface Verify {
  readonly commands: readonly string[];
  readonly timeout?: number | undefined;
  readonly retries?: number | undefined;
  readonly testsMayChange?: boolean | undefined;
}

function hasText(text: string): boolean {
  return text.trim() !== '';
}
