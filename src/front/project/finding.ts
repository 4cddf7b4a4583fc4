/** What `troupe doctor` found out about one thing. */
export interface Finding {
  readonly about: string;
  /** `note`: works without it. `broken`: does not work. */
  readonly state: 'good' | 'note' | 'broken';
  readonly text: string;
  readonly fix?: string | undefined;
}
