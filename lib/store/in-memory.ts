// A second copy of this package must recognize the mark.
const mark = Symbol.for('express-authorization-server:in-memory')

export class InMemory {
  readonly [mark] = true
}

/** Whether a restart loses the data of this store. */
export const isInMemory = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && mark in value
