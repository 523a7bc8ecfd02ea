/** What registrations and extensions use of a response type. */
export interface ResponseTypeDescription {
  /** The value of `response_type`. Several values are separated by one space, in any order. */
  readonly name: string
  /**
   * The grant types that a client must register to use the response type: `code` needs `authorization_code`
   * (RFC 7591 2.1).
   */
  readonly grantTypes: readonly string[]
}

// RFC 6749 appendix A.3: letters, digits and _, one space between two values.
const grammar = /^\w+(?: \w+)*$/

/** Whether a name follows the grammar and repeats no value. */
export function isResponseTypeName(name: string): boolean {
  const values = name.split(' ')
  return grammar.test(name) && new Set(values).size === values.length
}

/** The name with its values in one fixed order, because their order means nothing (RFC 6749 3.1.1). */
export function canonicalResponseType(name: string): string {
  return name.includes(' ') ? name.split(' ').toSorted().join(' ') : name
}

/** The response type of this name among the response types of a server, with its values in any order. */
export function responseTypeNamed<Type extends ResponseTypeDescription>(
  name: string,
  types: readonly Type[],
): Type | undefined {
  const wanted = canonicalResponseType(name)
  return types.find((type) => canonicalResponseType(type.name) === wanted)
}
