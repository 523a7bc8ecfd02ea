/** What keeps the demo from starting, in one sentence with its cure. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart'
}
