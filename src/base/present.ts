/** What `present` leaves of an object: a field that may be undefined is there or it is not. */
export type Present<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

/** The fields that have a value. Most of what is recorded, sent or spread over defaults must not hold `undefined`. */
export function present<Fields extends object>(fields: Fields): Present<Fields> {
  // The entries that are left are exactly those that the type keeps; the compiler cannot follow them through an array.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<Fields>;
}
