import type { Client } from '../protocol/client'

interface Parsed {
  /** Copied when it was parsed. */
  readonly copy: unknown
  readonly client: Client
}

/**
 * Registrations that were parsed. Each object is parsed once for as long as it says the same: a host may change an object
 * that it has handed out (`client.disabled = true`), and the next request must notice. Each look compares all that the
 * object says, which takes less than a microsecond, where parsing takes some twenty.
 */
export class ParsedRegistrations {
  private readonly parsed = new WeakMap<object, Parsed>()

  /** @param parse throws for a registration that cannot work. */
  constructor(private readonly parse: (registration: object) => Client) {}

  /** The client that the registration says now. @throws what `parse` throws. */
  clientOf(registration: object): Client {
    const known = this.parsed.get(registration)
    return known !== undefined && isStill(registration, known.copy)
      ? known.client
      : this.keep(registration, this.parse(registration))
  }

  /** Keeps what was parsed elsewhere. */
  keep(registration: object, client: Client): Client {
    this.parsed.set(registration, { copy: copyOf(registration), client })
    return client
  }
}

// An object stands in a copy as its own members, in their order: the parser reads no others.
class Members {
  readonly names: readonly string[]
  readonly values: readonly unknown[]

  constructor(source: object) {
    const entries = Object.entries(source)
    this.names = entries.map(([name]) => name)
    this.values = entries.map(([, value]) => copyOf(value))
  }
}

function copyOf(value: unknown): unknown {
  if (isList(value)) return value.map(copyOf)
  return typeof value === 'object' && value !== null ? new Members(value) : value
}

function isStill(value: unknown, copy: unknown): boolean {
  if (isList(copy))
    return isList(value) && value.length === copy.length && copy.every((one, at) => isStill(value[at], one))
  if (!(copy instanceof Members)) return Object.is(value, copy)
  if (typeof value !== 'object' || value === null || isList(value)) return false
  const { names, values } = copy
  const current = Object.keys(value)
  return (
    current.length === names.length &&
    names.every((name, at) => name === current[at] && isStill(Reflect.get(value, name), values[at]))
  )
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
