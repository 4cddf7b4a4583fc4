/** Light, dark, or as the system has it. The page may not run anything inline, so this is set by the first file that runs. */
export type Scheme = 'system' | 'light' | 'dark';

const KEY = 'troupe-scheme';
const ORDER: readonly Scheme[] = ['system', 'light', 'dark'];

export function scheme(): Scheme {
  const kept = localStorage.getItem(KEY);
  return ORDER.find((one) => one === kept) ?? 'system';
}

export function applyScheme(chosen: Scheme = scheme()): void {
  localStorage.setItem(KEY, chosen);
  if (chosen === 'system') delete document.documentElement.dataset['scheme'];
  else document.documentElement.dataset['scheme'] = chosen;
}

export const nextScheme = (current: Scheme): Scheme => ORDER[(ORDER.indexOf(current) + 1) % ORDER.length] ?? 'system';
