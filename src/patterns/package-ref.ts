/** How what is handed over with a task is referred to: by what it says, so that whoever has it can tell that it is that one. */
import { createHash } from 'node:crypto';

const REF_CHARACTERS = 12;

export const packageRef = (yaml: string): string =>
  `event://session/task.package/${createHash('sha256').update(yaml).digest('hex').slice(0, REF_CHARACTERS)}`;
