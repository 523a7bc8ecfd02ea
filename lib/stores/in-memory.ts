// A registered symbol, because a second copy of this package in the process must recognize the mark too.
const mark = Symbol.for('express-authorization-server:in-memory')

/** Base class of stores, counters and clients in memory. The mark distinguishes them from a database. */
export class InMemory {
  readonly [mark] = true
}

/** Whether a value keeps its data in the memory of this process, so a restart loses the data. */
export function isInMemory(value: unknown): boolean {
  return typeof value === 'object' && value !== null && mark in value
}
