/** A break of the code that the tests of one requirement, or of one attack of docs/reports/security.md, must notice. */
export type Mutation = readonly [
  id: string,
  /** The declaration to break, in whichever file of lib/ it stands: `sendJson`, or `Parameters.get` for a member of a class. */
  declaration: string,
  /** A text that stands in that declaration exactly once, and what takes its place. White space may differ. */
  text: string,
  replacement: string,
]
