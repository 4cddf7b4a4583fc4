/** What a result was found to be worth. */
export type Worth = 'verified' | 'unverified' | 'unchecked';
