/**
 * Adds to package-lock.json the platform packages that npm left out. A registry mirror may lack binaries for other systems;
 * npm then drops them from the lockfile without a word, and `npm ci` refuses the result on every machine.
 *
 * What is added names the exact version and the system, so npm installs it there and nowhere else.
 */

interface LockedPackage {
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

const systems = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const processors = ['arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32'];

/** The text of the lockfile with nothing left out; the same text when it is complete. */
export function completeLockfile(text: string): string {
  const lock = JSON.parse(text) as Lockfile;
  const missing = missingPackages(lock);
  if (missing.length === 0) return text;
  const all = [...Object.entries(lock.packages), ...missing].sort(([one], [other]) => (one < other ? -1 : 1));
  return `${JSON.stringify({ ...lock, packages: Object.fromEntries(all) }, null, 2)}\n`;
}

function missingPackages({ packages }: Lockfile): readonly [string, object][] {
  return Object.entries(packages).flatMap(([place, { dev, optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(
        ([name]) => packages[`node_modules/${name}`] === undefined && packages[`${place}/node_modules/${name}`] === undefined,
      )
      .map(([name, version]): [string, object] => [`node_modules/${name}`, platformPackage(name, version, dev === true)]),
  );
}

/** The name ends in the system, the processor and sometimes the C library, as in `binding-linux-x64-musl`. */
function platformPackage(name: string, version: string, dev: boolean): object {
  const words = name.slice(name.lastIndexOf('/') + 1).split('-');
  const system = words.includes('windows') ? 'win32' : systems.find((word) => words.includes(word));
  const processor = processors.find((word) => words.includes(word));
  if (processor === undefined || !/^\d+\.\d+\.\d+/.test(version)) {
    throw new Error(`${name}@${version} is not in package-lock.json and does not look like a package for one platform.`);
  }
  return {
    version,
    cpu: [processor],
    ...(dev ? { dev } : {}),
    ...(words.some((word) => word.startsWith('musl')) ? { libc: ['musl'] } : {}),
    ...(words.some((word) => word.startsWith('gnu')) && system === 'linux' ? { libc: ['glibc'] } : {}),
    optional: true,
    ...(system === undefined ? {} : { os: [system] }),
  };
}
