/** What a registration and an extension need to know of a response type. */
export interface ResponseTypeDescription {
  /** `response_type` on the wire; several values are separated by one space, in any order. */
  readonly name: string
  /** What a client must be registered for to use it: `code` needs `authorization_code` (RFC 7591 2.1). */
  readonly grantTypes: readonly string[]
}

// RFC 6749 appendix A.3: letters, digits and _, one space between two values.
const grammar = /^\w+(?: \w+)*$/

/** Whether a name follows the grammar and has each of its values once. */
export function isResponseTypeName(name: string): boolean {
  const values = name.split(' ')
  return grammar.test(name) && new Set(values).size === values.length
}

/** One form for all orders of the values, which carry no meaning (RFC 6749 3.1.1). */
export function canonicalResponseType(name: string): string {
  return name.includes(' ') ? name.split(' ').toSorted().join(' ') : name
}

/** The response type of this name among those that a server has, whatever the order of the values. */
export function responseTypeNamed<Type extends ResponseTypeDescription>(
  name: string,
  types: readonly Type[],
): Type | undefined {
  const wanted = canonicalResponseType(name)
  return types.find((type) => canonicalResponseType(type.name) === wanted)
}
