/** `1 turn`, `2 turns`, `no turns`: a number with its word, as people say it. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count === 0 ? 'no' : count} ${count === 1 ? one : many}`;
}
