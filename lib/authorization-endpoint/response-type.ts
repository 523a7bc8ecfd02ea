import type { Authorization, Pending } from '../authorization/authorization'
import type { Circumstances } from '../authorization/circumstances'

/** What an approval brings: the record from now on, and the parameters that go to the client in clear. */
export interface Approval {
  readonly authorization: Authorization
  readonly parameters: Readonly<Record<string, string>>
}

/** The door for response types (RFC 6749 3.1.1). */
export interface ResponseType {
  /** `response_type` on the wire; several values are separated by a space, in any order. */
  readonly name: string
  /** The component of the redirection URI that carries the answer, an error too. */
  readonly mode: 'query' | 'fragment'
  approve(pending: Pending, circumstances: Circumstances): Approval
}

/** Response types by name, whatever the order of the values in it. */
export class ResponseTypes {
  private readonly types: ReadonlyMap<string, ResponseType>

  constructor(types: readonly ResponseType[]) {
    this.types = new Map(types.map((type) => [canonical(type.name), type]))
  }

  get(name: string): ResponseType | undefined {
    return this.types.get(canonical(name))
  }
}

function canonical(name: string): string {
  return name.split(' ').toSorted().join(' ')
}
