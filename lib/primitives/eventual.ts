/** There already, or later. */
export type Eventual<Value> = Value | PromiseLike<Value>

/** To wait for a value that is there costs two promises. */
export const isLater = <Value>(value: Eventual<Value>): value is PromiseLike<Value> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

/** Goes on with a value, at once if it is there. */
export function following<Value, Next>(
  begin: () => Eventual<Value>,
  next: (value: Value) => Next,
  failed: (thrown: unknown) => never = rethrow,
): Next | Promise<Next> {
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
