// What Node and its libraries say of what failed and where. Commands, parameters and rows have other names.
const telling = ['name', 'code', 'errno', 'syscall', 'address', 'port']

/**
 * An error as a log may show it: name, message, stack and codes of it and its causes, and none of its other properties,
 * where clients of databases put the whole command with the record in it. What is no error becomes one without content.
 */
export function bareError(thrown: unknown, depth = 0): Error {
  if (!(thrown instanceof Error) || depth > 8) return new Error('Something was thrown that is no error.')
  const bare = new Error(withoutArguments(thrown.message))
  Object.setPrototypeOf(bare, Object.getPrototypeOf(thrown))
  const keep = (name: string, value: unknown) => {
    Object.defineProperty(bare, name, { value, configurable: true, writable: true })
  }
  for (const name of telling) {
    const value: unknown = Reflect.get(thrown, name)
    if (typeof value === 'string' || typeof value === 'number') keep(name, value)
  }
  keep('stack', withoutArguments(thrown.stack ?? ''))
  if (thrown.cause !== undefined) keep('cause', bareError(thrown.cause, depth + 1))
  if (thrown instanceof AggregateError)
    keep(
      'errors',
      thrown.errors.slice(0, 8).map((error) => bareError(error, depth + 1)),
    )
  return bare
}

// Redis repeats the arguments of a command that it does not know.
function withoutArguments(text: string): string {
  return text.replace(/, with args beginning with:[^\n]*/, '')
}
