/** Freezes what was read from JSON, with everything in it; without recursion, because JSON can be thousands of levels deep. */
export function frozen<Value extends object>(value: Value): Value {
  const open: object[] = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    Object.freeze(next)
    for (const member of Object.values(next) as readonly unknown[])
      if (typeof member === 'object' && member !== null) open.push(member)
  }
  return value
}
