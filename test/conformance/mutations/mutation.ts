/** A break of the code that the tests of one requirement must notice. */
export type Mutation = readonly [
  id: string,
  /** Below lib/. */
  file: string,
  /** A text that stands there exactly once, and what takes its place. */
  text: string,
  replacement: string,
]
