/** Whether a model could be asked from here, without loading or calling anything: is its provider known, is there a key. */
import { findProvider, type ProviderSources, providerNames } from './provider/providers.ts';

/** What is in the way, if anything is. Scripts and recordings are looked at when they are opened. */
export function modelProblem(name: string, sources: ProviderSources): string | undefined {
  if (/^(scripted|recorded):/.test(name)) return undefined;
  const found = findProvider(name.slice(0, Math.max(0, name.indexOf('/'))), sources);
  if (found === undefined) return `There is no model ${name}: the providers are ${providerNames(sources).join(', ')}.`;
  return found.ok ? undefined : found.error.message;
}
