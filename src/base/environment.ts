/** The variables of a process, or of one to be started. Whoever needs them is given them. */
export type Environment = Readonly<Record<string, string | undefined>>;
