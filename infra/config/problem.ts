/** What keeps a configuration from being used. */

/** A value is yet to be given, and none that was given is wrong. */
export interface Missing {
  /** "meshbench:operatorCidr" */
  readonly key: string;
  readonly expected: string;
  /** Why its default will not do. */
  readonly because?: string;
}

/** One sentence in the project's form, or what is yet to be given. */
export type Problem = string | Missing;

export const missing = (key: string, expected: string, because?: string): Missing => ({
  key,
  expected,
  ...(because === undefined ? {} : { because }),
});

export const sentenceOf = (problem: Problem): string =>
  typeof problem === "string"
    ? problem
    : `${problem.key}: missing${problem.because === undefined ? "" : `, and ${problem.because}`}; expected ${problem.expected}`;
