/** The variables of a process, or of one to be started. Whoever needs them is given them. */
export type Environment = Readonly<Record<string, string | undefined>>;

const NAMED = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The variables that texts of a file name, such as `${WEATHER_TOKEN}`, each once. */
export const variablesNamed = (texts: readonly string[]): readonly string[] => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(NAMED)].map(([, name = '']) => name))),
];
