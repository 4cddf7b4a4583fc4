/**
 * The names in the address of a view, as they were put there with `encodeURIComponent`. The router takes an address apart as a
 * whole, and leaves what has a meaning in one (`:`, `=`, `&`, `/`) written as it was sent: a group called R&D would not be found.
 */
import { useRouter } from 'wouter';

export type Names = Readonly<Record<string, string | undefined>>;

export function useNamesIn(pattern: string): Names {
  const router = useRouter();
  const [path] = router.hook(router);
  return namesIn(pattern, path);
}

/** What `:name` stands for in a path, and `*` for the rest of it. */
export function namesIn(pattern: string, path: string): Names {
  const steps = path.split('/').map(decoded);
  const names: Record<string, string> = {};
  for (const [index, step] of pattern.split('/').entries()) {
    if (step === '*') names['*'] = steps.slice(index).join('/');
    else if (step.startsWith(':')) names[step.slice(1)] = steps[index] ?? '';
  }
  return names;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
