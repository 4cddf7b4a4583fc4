/** The types of what is given out, as whoever makes it has them: nothing of it is changed afterwards. */
import type { z } from 'zod';
import type * as runs from './runs.ts';

export type GivenOut<Value> = Value extends readonly (infer Item)[]
  ? readonly GivenOut<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: GivenOut<Value[Key]> }
    : Value;

/** A run as `show` has it in its tree. */
export type TreeRun = GivenOut<z.input<typeof runs.treeRun>>;
