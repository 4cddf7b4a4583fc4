/**
 * Agents as a large company might have thousands of: invented, but with words as unevenly spread as real ones. A few verbs are
 * in most of them, each subject in a few hundred, and the names of products in a handful. The same seed gives the same agents.
 */
import type { Random } from '../src/base/random.ts';

const SUBJECTS = words(`python typescript rust go java kotlin swift ruby php scala elixir haskell sql bash css html react vue
  angular django rails spring kubernetes docker terraform ansible postgres mysql redis kafka spark pandas pytorch latex excel
  invoices contracts leases patents taxes payroll budgets forecasts audits tenders suppliers shipping warehouses returns refunds
  emails newsletters press speeches slides podcasts videos recipes menus diets workouts gardens travel visas hotels museums poems
  novels lyrics crosswords genealogy astronomy chemistry genetics statistics geometry grammar latin spanish japanese accessibility
  typography colours icons logos onboarding interviews resumes surveys incidents backups certificates firewalls passwords logs`);
const ROLES = words(`reviewer writer tester fixer planner translator analyst researcher editor coach tutor auditor designer
  summariser debugger migrator scheduler estimator librarian moderator negotiator archivist illustrator verifier`);
const VERBS = words(`finds reviews writes fixes explains tests translates summarises plans designs measures refactors documents
  checks compares drafts edits debugs profiles audits deploys monitors migrates answers researches teaches outlines schedules
  estimates classifies collects sorts merges cleans converts extracts labels proves simulates visualises`);
const OBJECTS = words(`bugs mistakes leaks races deadlocks regressions duplicates gaps contradictions risks costs delays queries
  schemas interfaces pipelines dashboards tickets releases reports tables charts letters answers questions chapters paragraphs
  footnotes deadlines clauses conditions numbers sources quotes facts claims permissions secrets dependencies versions layouts
  images fonts sounds routes prices customers orders deliveries complaints ideas goals habits exercises lessons`);
const MANNERS = words(`carefully quickly quietly politely thoroughly daily weekly plainly briefly beginners lawyers managers
  engineers students release incident deadline jargon examples sources evidence steps`);
/** Products, teams and customers: the long tail. */
const PRODUCTS = inventProducts(1_500);

export interface BenchAgent {
  readonly name: string;
  readonly text: string;
}

export function inventAgents(count: number, random: Random): readonly BenchAgent[] {
  return Array.from({ length: count }, (_, index) => inventAgent(index, random));
}

/** What people type: sentences, a few words, one word, the beginning of one, a slip, a name, and words that very many have. */
export function inventQueries(count: number, random: Random): readonly string[] {
  const pick = (list: readonly string[]): string => some(list, random);
  const kinds: readonly (() => string)[] = [
    () => `someone who ${pick(VERBS)} ${pick(OBJECTS)} in ${pick(SUBJECTS)}`,
    () => `${pick(SUBJECTS)} ${pick(ROLES)}`,
    () => pick([...SUBJECTS, ...ROLES, ...VERBS, ...OBJECTS]),
    () => `${pick(VERBS)} ${pick(OBJECTS)}`,
    () => pick(SUBJECTS).slice(0, 4),
    () => `I need help (please!): ${sentence(topic(random), random)} "and" ${sentence(topic(random), random)}`,
    () => `${pick(OBJECTS)}zz ${pick(SUBJECTS)} ${pick(PRODUCTS)}`,
    () => `${pick(SUBJECTS)}-${pick(ROLES)}-${Math.floor(random.fraction() * 10_000)}`,
  ];
  return Array.from({ length: count }, (_, index) => kinds[index % kinds.length]?.() ?? '');
}

interface Topic {
  readonly subject: string;
  readonly role: string;
  readonly product: string;
}

const topic = (random: Random): Topic => ({
  subject: some(SUBJECTS, random),
  role: some(ROLES, random),
  product: some(PRODUCTS, random),
});

function inventAgent(index: number, random: Random): BenchAgent {
  const about = topic(random);
  const { subject, role, product } = about;
  const name = `${subject}-${role}-${index}`;
  const tags = new Set([subject, product, some(OBJECTS, random)]);
  const sentences = (count: number): readonly string[] => Array.from({ length: count }, () => sentence(about, random));
  const head = [
    `name: ${name}`,
    `description: The ${role} for ${subject} who ${sentences(1 + (index % 3)).join(' and ')}.`,
    `tags: [${[...tags].join(', ')}]`,
    ...['examples:', ...sentences(3).map((one) => `  - ${one}`)],
  ];
  return { name, text: `---\n${head.join('\n')}\n---\nYou are the ${role} for ${subject} at ${product}.\n` };
}

function sentence({ subject, product }: Topic, random: Random): string {
  const pick = (list: readonly string[]): string => some(list, random);
  const objects = `${pick(OBJECTS)} and ${pick(OBJECTS)}`;
  return `${pick(VERBS)} ${objects} in ${subject} for ${random.fraction() < 0.5 ? product : pick(PRODUCTS)}, ${pick(MANNERS)}`;
}

/** Few words are used often and many seldom. */
function some(list: readonly string[], random: Random): string {
  return list[Math.floor(random.fraction() ** 2 * list.length)] ?? '';
}

function inventProducts(count: number): readonly string[] {
  const syllables = words('kal ve ro min ta bel sor ni qua lu dra pex om fi zan tor ely wis gam no');
  const part = (index: number): string => syllables[index % syllables.length] ?? '';
  return Array.from(
    { length: count },
    (_, index) => part(index) + part(Math.floor(index / 20)) + part(Math.floor(index / 400) + 5),
  );
}

function words(text: string): readonly string[] {
  return text.split(/\s+/);
}
