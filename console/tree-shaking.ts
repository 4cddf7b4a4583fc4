/** Schemas that nobody here parses with are left out, and zod with them: the browser reads what the server has checked. */
import { join } from 'node:path';

/** What the engine and the console have in common. */
const shared = join(import.meta.dirname, '..', 'src');

export const treeshake = { moduleSideEffects: (id: string) => !id.startsWith(shared), manualPureFunctions: ['z'] };
