// Registered, so that a second copy of this package knows it, too.
const mark = Symbol.for('express-authorization-server:in-memory')

/** What keeps things in the memory of this process carries it, so that it can be told from a database. */
export class InMemory {
  readonly [mark] = true
}

/** Whether it forgets with the process what it keeps. */
export function isInMemory(value: unknown): boolean {
  return typeof value === 'object' && value !== null && mark in value
}
