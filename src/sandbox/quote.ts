/** A command line of these words, which a POSIX shell takes apart into exactly them. */
export function commandLineOf(words: readonly string[]): string {
  return words.map((word) => (/^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}
