/**
 * Rules for paths and for hosts. A path is the real one, relative to the workspace, links followed; a host is what the address
 * really leads to: without user name, in lower case, with its letters beyond ASCII as they are sent.
 */
import { fitsSequence, fitsText } from './glob.ts';
import { hostOf } from './remembered-rule.ts';
import { chosen, EVERYTHING, type Permission, type RuleMap } from './rule-map.ts';

/** In a path `*` stands for a part of one name and `**` for any number of folders; alone, either is everything. */
export function decidePath(path: string, rules: RuleMap): Permission {
  // A file system may take two cases for one name: whoever denies or asks means both.
  const fits = (pattern: string): boolean =>
    pathFits(pattern, path) || (rules[pattern] !== 'allow' && pathFits(pattern.toLowerCase(), path.toLowerCase()));
  return decided(rules, fits, pathWithin);
}

function pathFits(pattern: string, path: string): boolean {
  if (pattern === EVERYTHING) return true;
  return fitsSequence(steps(pattern), steps(path), isDeep, (piece, step) => fitsText(piece, step));
}

const steps = (path: string): readonly string[] => path.replace(/^(?:\.\/)+/, '').split('/');
const isDeep = (step: string): boolean => step === '**';

/** Whether everything that one pattern fits, the other fits too. */
export function pathWithin(narrow: string, wide: string): boolean {
  if (wide === EVERYTHING || wide === '**') return true;
  if (narrow === EVERYTHING) return false;
  return fitsSequence(steps(wide), steps(narrow), isDeep, (piece, step) => !isDeep(step) && fitsText(piece, step));
}

/** `*.example.org` is every host below example.org and not that one itself. */
export function decideHost(address: string, rules: RuleMap): Permission {
  const host = hostOf(address);
  // No address: whoever fetches it says so. It is not for a rule to allow.
  if (host === undefined) return rules[EVERYTHING] === 'deny' ? 'deny' : 'ask';
  // Without a port an allow is for the usual ones; whoever denies or asks means every one.
  return decided(
    rules,
    (pattern) =>
      hostFits(plainHost(pattern), host) || (rules[pattern] !== 'allow' && hostFits(plainHost(pattern), portless(host))),
    (narrow, wide) => hostWithin(narrow, wide) || hostWithin(portless(narrow), wide),
  );
}

const portless = (host: string): string => host.replace(/:\d+$/, '');

function hostFits(pattern: string, host: string): boolean {
  if (pattern === EVERYTHING) return true;
  if (!pattern.startsWith('*.')) return pattern === host;
  // Numbers have no names above them.
  return host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1 && !/^[\d.]+(?::\d+)?$/.test(host);
}

/** Whether every host that one pattern fits, the other fits too. */
export function hostWithin(narrow: string, wide: string): boolean {
  const [inner, outer] = [plainHost(narrow), plainHost(wide)];
  return (
    outer === EVERYTHING || inner === outer || (outer.startsWith('*.') && inner !== EVERYTHING && inner.endsWith(outer.slice(1)))
  );
}

/** The pattern in the form in which hosts are compared. */
function plainHost(pattern: string): string {
  if (pattern === EVERYTHING) return pattern;
  const below = pattern.startsWith('*.') ? '*.' : '';
  return below + (hostOf(`https://${pattern.slice(below.length)}/`) ?? pattern);
}

/** What is wrong with a pattern, in words for whoever wrote it. */
export function hostPatternProblem(pattern: string): { readonly message: string; readonly fix: string } | undefined {
  const host = pattern.replace(/^\*\./, '');
  if (pattern === EVERYTHING || (!/[*/@?#\s]/.test(host) && hostOf(`https://${host}/`) !== undefined)) return undefined;
  const fix = 'Write a host, such as "docs.example.org", or "*.example.org" for all below one; "example.org:8080" for a port.';
  return { message: `${JSON.stringify(pattern)} is not a host`, fix };
}

export function pathPatternProblem(pattern: string): { readonly message: string; readonly fix: string } | undefined {
  const named = steps(pattern);
  const isOutside = pattern.startsWith('/') || pattern.startsWith('~') || named.includes('..');
  if (pattern.trim() === '' || isOutside || /[\0\\?[\]{}]/.test(pattern)) {
    const fix = 'Write a path relative to the workspace, such as "src/**" or "docs/*.md".';
    return { message: `${JSON.stringify(pattern)} is not a path in the workspace`, fix };
  }
  // A point alone is the workspace itself.
  if (pattern === '.' || !named.some((step) => step === '' || step === '.')) return undefined;
  const folder = named.filter((step) => step !== '' && step !== '.').join('/');
  const fix = `Write ${JSON.stringify(folder === '' ? '**' : `${folder}/**`)} for a folder and everything in it.`;
  return { message: `${JSON.stringify(pattern)} fits no path: they have one stroke between two names, and none at the end`, fix };
}

function decided(
  rules: RuleMap,
  fits: (pattern: string) => boolean,
  isWithin: (narrow: string, wide: string) => boolean,
): Permission {
  const fitting = Object.entries(rules).flatMap(([pattern, permission]) => (fits(pattern) ? [{ pattern, permission }] : []));
  return chosen(fitting, isWithin)?.permission ?? 'ask';
}
