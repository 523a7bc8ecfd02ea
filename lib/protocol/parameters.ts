import { invalidRequest } from './oauth-error'

/**
 * The parameters of one request, each name decoded once.
 *
 * A fault is remembered, not thrown: a parameter that nobody reads is ignored whatever it holds (RFC 6749 3.1
 * and 3.2), one that is read refuses the request.
 */
export class Parameters {
  /** In the order of the request; a list for a name that is included more than once. */
  private readonly values = new Map<string, string | string[]>()
  private readonly faults = new Map<string, string>()
  private count = 0

  private constructor() {}

  /** No parameters. */
  static readonly none = new Parameters()

  /**
   * Reads `application/x-www-form-urlencoded` text: a form body, or a query without its `?`.
   *
   * @throws OAuthError `invalid_request` for more than 100 parameters.
   */
  static parse(text: string): Parameters {
    const parameters = new Parameters()
    for (const pair of text.split('&')) {
      const equals = pair.indexOf('=')
      const name = decode(equals < 0 ? pair : pair.slice(0, equals))
      if (name !== undefined && name !== '')
        parameters.add(name, equals < 0 ? '' : decode(pair.slice(equals + 1)))
    }
    return parameters
  }

  /**
   * Takes over a body that a parser of the host has read; a value that is not a string was repeated.
   *
   * @throws OAuthError `invalid_request` for more than 100 parameters.
   */
  static fromParsedBody(body: object): Parameters {
    const parameters = new Parameters()
    for (const [name, value] of Object.entries(body)) {
      if (typeof value === 'string') parameters.add(name, value)
      // A list of one is a name in brackets: what is sent once comes as text.
      else if (Array.isArray(value) && value.length > 1 && value.every(isString))
        for (const one of value) parameters.add(name, one)
      else parameters.spoil(name, repeated)
    }
    return parameters
  }

  private add(name: string, value: string | undefined): void {
    if (value === undefined) return this.spoil(name, undecodable)
    if (isTooLong(name, value)) this.faults.set(name, tooLong)
    this.admit()
    const before = this.values.get(name)
    if (before === undefined) this.values.set(name, value)
    else if (typeof before === 'string') this.values.set(name, [before, value])
    else before.push(value)
  }

  private spoil(name: string, fault: string): void {
    this.admit()
    this.faults.set(name, fault)
  }

  // Of so many, nobody can tell which ones were meant: there is nothing that an answer could rest on.
  private admit(): void {
    this.count += 1
    if (this.count > parametersAtMost)
      throw invalidRequest('too_many_parameters', 'The request has too many parameters.')
  }

  private faultOf(name: string): string | undefined {
    if (this.faults.size > 0 && this.faults.has(name)) return this.faults.get(name)
    return Array.isArray(this.values.get(name)) ? repeated : undefined
  }

  /**
   * The value, never empty (RFC 6749 3.1: a parameter without a value counts as omitted).
   *
   * @throws OAuthError `invalid_request` when the parameter is repeated, malformed or too long.
   */
  get(name: string): string | undefined {
    refuse(name, this.faultOf(name))
    return this.peek(name)
  }

  /**
   * Every value of a parameter that may be included more than once, such as `resource` (RFC 8707 2), in the order of
   * the request and none of them empty. Such a name does not stand in the list of what a repetition refuses.
   *
   * @throws OAuthError `invalid_request` when one of them is malformed.
   */
  all(name: string): readonly string[] {
    refuse(name, this.faults.get(name))
    return [this.values.get(name) ?? []].flat().filter((value) => value !== '')
  }

  /** Like {@link get}, and refuses the request when there is no value. */
  require(name: string): string {
    const value = this.get(name)
    if (value === undefined) throw invalidRequest('parameter_missing', `The parameter ${name} is missing.`)
    return value
  }

  /** Like {@link get}, but a faulty parameter counts as absent: for what an error answer itself needs. */
  peek(name: string): string | undefined {
    if (this.faults.size > 0 && this.faults.has(name)) return undefined
    const value = this.values.get(name)
    return typeof value === 'string' && value !== '' ? value : undefined
  }

  /**
   * The value exactly as it came, also when it is too long to be taken: what an error answer echoes. Undefined when there
   * is no one value.
   */
  received(name: string): string | undefined {
    const fault = this.faults.get(name)
    const value = this.values.get(name)
    return (fault === undefined || fault === tooLong) && typeof value === 'string' && value !== ''
      ? value
      : undefined
  }

  /** Whether the request has no parameter at all. */
  get isEmpty(): boolean {
    return this.count === 0
  }

  /** Whether the request names the parameter at all, be it empty, repeated or malformed. */
  mentions(name: string): boolean {
    return this.values.has(name) || this.faults.has(name)
  }

  /** Refuses the request when one of these is repeated or malformed, read or not. */
  check(names: Iterable<string>): void {
    for (const name of names) this.get(name)
  }

  /** The sound parameters in form encoding, to ask the same thing once more. */
  format(): string {
    const sound = new URLSearchParams()
    for (const [name, value] of this.values)
      if (typeof value === 'string' && !this.faults.has(name)) sound.append(name, value)
    return sound.toString()
  }
}

const repeated = 'is included more than once'
const undecodable = 'is not form encoded in UTF-8'
const tooLong = 'is too long'

function refuse(name: string, fault: string | undefined): void {
  if (fault === tooLong) throw invalidRequest('parameter_too_long', `The parameter ${name} is too long.`)
  if (fault !== undefined) throw invalidRequest('parameter_malformed', `The parameter ${name} ${fault}.`)
}

const isString = (value: unknown): value is string => typeof value === 'string'

function decode(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.includes('+') ? text.replaceAll('+', ' ') : text)
  } catch {
    return undefined
  }
}

/** How many parameters a query or a body may have; more than any grant has use for. */
export const parametersAtMost = 100

/**
 * How long the values of known parameters may be, in characters after decoding; `docs/bounds.md` has the same table. What
 * is not in it is bounded by the body or the request head alone: assertions, security tokens and what nobody reads.
 */
export const longestValues: ReadonlyMap<string, number> = new Map([
  ['client_id', 256],
  ['client_secret', 1024],
  ['redirect_uri', 2048],
  ['state', 4096],
  ['scope', 4096],
  ['response_type', 256],
  ['grant_type', 256],
  ['code', 4096],
  ['refresh_token', 4096],
  ['token_type_hint', 256],
  ['client_assertion_type', 256],
  ['subject_token_type', 256],
  ['actor_token_type', 256],
  ['requested_token_type', 256],
  ['authorization_request', 256],
  ['decision', 256],
])

/** How large a member of a registration may be: characters of a text or of `credentials` as JSON, entries of a list. */
export const largestMembers = [
  ['client_name', 256],
  ['description', 4096],
  ['client_uri', 2048],
  ['logo_uri', 2048],
  ['policy_uri', 2048],
  ['tos_uri', 2048],
  ['scope', 4096],
  ['redirect_uris', 100],
  ['client_secret_hashes', 10],
  ['credentials', 16_384],
] as const

/** How long a `state` may be that is sent back with an error, in characters. A longer one cannot be echoed. */
export const longestEchoedState = 16 * 1024

/** Whether a value is longer than its parameter may be, wherever it came from. */
export function isTooLong(name: string, value: string): boolean {
  return value.length > (longestValues.get(name) ?? Infinity)
}
