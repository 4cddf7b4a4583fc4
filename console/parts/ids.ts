/** Ids as people see them: the last six characters, as on the command line. */
const SHORT = 6;

export const shortened = (id: string): string => id.slice(-SHORT);
