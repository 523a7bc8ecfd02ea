import { invalidRequest } from './oauth-error'

/**
 * The parameters of one request, each name decoded once.
 *
 * A fault is remembered, not thrown: a parameter that nobody reads is ignored whatever it holds (RFC 6749 3.1
 * and 3.2), one that is read refuses the request.
 */
export class Parameters {
  private readonly values = new Map<string, string>()
  private readonly faults = new Map<string, string>()

  private constructor() {}

  /** Reads `application/x-www-form-urlencoded` text: a form body, or a query without its `?`. */
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

  /** Takes over a body that a parser of the host has read; a value that is not a string was repeated. */
  static fromParsedBody(body: object): Parameters {
    const parameters = new Parameters()
    for (const [name, value] of Object.entries(body)) {
      if (typeof value === 'string') parameters.add(name, value)
      else parameters.spoil(name, 'is included more than once')
    }
    return parameters
  }

  private add(name: string, value: string | undefined): void {
    if (this.mentions(name)) this.spoil(name, 'is included more than once')
    else if (value === undefined) this.spoil(name, 'is not form encoded in UTF-8')
    else this.values.set(name, value)
  }

  private spoil(name: string, fault: string): void {
    this.values.delete(name)
    this.faults.set(name, fault)
  }

  /**
   * The value, never empty (RFC 6749 3.1: a parameter without a value counts as omitted).
   *
   * @throws OAuthError `invalid_request` when the parameter is repeated or malformed.
   */
  get(name: string): string | undefined {
    const fault = this.faults.get(name)
    if (fault !== undefined) throw invalidRequest('parameter_malformed', `The parameter ${name} ${fault}.`)
    return this.values.get(name) || undefined
  }

  /** Like {@link get}, and refuses the request when there is no value. */
  require(name: string): string {
    const value = this.get(name)
    if (value === undefined) throw invalidRequest('parameter_missing', `The parameter ${name} is missing.`)
    return value
  }

  /** Like {@link get}, but a faulty parameter counts as absent: for what an error answer itself needs. */
  peek(name: string): string | undefined {
    return this.values.get(name) || undefined
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
    return new URLSearchParams([...this.values]).toString()
  }
}

function decode(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
