/** There already, or later. */
export type Eventual<Value> = Value | Promise<Value>

/** To wait for a value that is there costs two promises. Hosts may return a promise of another library. */
export const isLater = <Value>(value: Eventual<Value>): value is Promise<Value> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

/** Goes on with a value, at once if it is there. */
export function following<Value, Next>(
  begin: () => Eventual<Value>,
  next: (value: Value) => Eventual<Next>,
  failed: (thrown: unknown) => never = rethrow,
): Eventual<Next> {
  let value: Eventual<Value>
  try {
    value = begin()
  } catch (thrown) {
    return failed(thrown)
  }
  return isLater(value) ? Promise.resolve(value).then(next, failed) : next(value)
}

function rethrow(thrown: unknown): never {
  throw thrown
}
