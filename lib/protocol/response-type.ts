export interface ResponseTypeDescription {
  /** Of `response_type`: values separated by one space, in any order. */
  readonly name: string
  /** What a client must register to use it: `code` needs `authorization_code` (RFC 7591 2.1). */
  readonly grantTypes: readonly string[]
}

// RFC 6749 appendix A.3.
const grammar = /^\w+(?: \w+)*$/

export function isResponseTypeName(name: string): boolean {
  const values = name.split(' ')
  return grammar.test(name) && new Set(values).size === values.length
}

/** RFC 6749 3.1.1: the order of the values means nothing. */
export const canonicalResponseType = (name: string): string =>
  name.includes(' ') ? name.split(' ').toSorted().join(' ') : name

export function responseTypeNamed<Type extends ResponseTypeDescription>(
  name: string,
  types: readonly Type[],
): Type | undefined {
  const wanted = canonicalResponseType(name)
  return types.find((type) => canonicalResponseType(type.name) === wanted)
}
