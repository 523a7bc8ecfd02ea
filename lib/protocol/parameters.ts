import { refused } from './refusals'

// A form has these as they are.
const plain = /^[\w*.-]*$/
// Of others, `encodeURIComponent` encodes fewer, and throws for half a surrogate pair.
const alike = /^[^ !'()~\u0080-\uFFFF]*$/

/** As `URLSearchParams` encodes (URL Standard 5.2), in a third of its time. */
export function formEncoded(text: string): string {
  if (plain.test(text)) return text
  return alike.test(text) ? encodeURIComponent(text) : new URLSearchParams([['', text]]).toString().slice(1)
}

export const withField = (form: string, name: string, value: string): string =>
  `${form}${form === '' ? '' : '&'}${formEncoded(name)}=${formEncoded(value)}`

export function formOf(fields: Readonly<Record<string, string>>): string {
  let form = ''
  for (const name in fields) form = withField(form, name, fields[name] ?? '')
  return form
}

type Fault = 'parameter_malformed' | 'parameter_malformed/encoding' | 'parameter_too_long'

/**
 * The parameters of one request. A fault throws only when it is read: one that the server does not read may hold
 * anything (RFC 6749 3.1 and 3.2).
 */
export class Parameters {
  private readonly fields: string[] = []
  private faults: Map<string, Fault> | undefined
  private count = 0

  private constructor() {}

  static readonly none = new Parameters()

  /**
   * Of a form body, or a query without its `?`.
   *
   * @throws OAuthError `invalid_request` for more than 100 parameters.
   */
  static parse(text: string): Parameters {
    const parameters = new Parameters()
    for (let start = 0, end = 0; start <= text.length; start = end + 1) {
      const next = text.indexOf('&', start)
      end = next < 0 ? text.length : next
      const sign = text.indexOf('=', start)
      const equals = sign < 0 || sign > end ? end : sign
      const name = decode(text.slice(start, equals))
      if (name !== undefined && name !== '') parameters.add(name, decode(text.slice(equals + 1, end)))
    }
    return parameters
  }

  /**
   * From a parser of the host. A value that is no text counts as repeated.
   *
   * @throws OAuthError `invalid_request` for more than 100 parameters.
   */
  static fromParsedBody(body: object): Parameters {
    const parameters = new Parameters()
    for (const [name, value] of Object.entries(body)) {
      if (typeof value === 'string') parameters.add(name, value)
      // A single text comes from a plain name, a list of one from a name with brackets.
      else if (Array.isArray(value) && value.length > 1 && value.every(isString))
        for (const one of value) parameters.add(name, one)
      else parameters.spoil(name, 'parameter_malformed')
    }
    return parameters
  }

  private add(name: string, value: string | undefined): void {
    if (value === undefined) return this.spoil(name, 'parameter_malformed/encoding')
    if (isTooLong(name, value)) this.note(name, 'parameter_too_long')
    this.admit()
    this.fields.push(name, value)
  }

  private spoil(name: string, fault: Fault): void {
    this.admit()
    this.note(name, fault)
  }

  private note(name: string, fault: Fault): void {
    this.faults ??= new Map()
    this.faults.set(name, fault)
  }

  // At once: none of so many parameters is reliable, not even for an error response.
  private admit(): void {
    this.count += 1
    if (this.count > parametersAtMost) throw refused('too_many_parameters')
  }

  private faultOf(name: string): Fault | undefined {
    const at = this.placeOf(name)
    const isRepeated = at > 0 && this.placeOf(name, at + 2) > 0
    return this.faults?.get(name) ?? (isRepeated ? 'parameter_malformed' : undefined)
  }

  private placeOf(name: string, from = 1): number {
    for (let at = from; at < this.fields.length; at += 2) if (this.fields[at - 1] === name) return at
    return -1
  }

  /**
   * A parameter without a value counts as omitted (RFC 6749 3.1).
   *
   * @throws OAuthError `invalid_request` if it is repeated, malformed or too long.
   */
  get(name: string): string | undefined {
    const fault = this.faultOf(name)
    if (fault !== undefined) throw refused(fault, { parameter: name })
    return this.peek(name)
  }

  /**
   * Every value, in order, of a repeatable parameter, such as `resource` (RFC 8707 2), without empty ones. No grant
   * type or extension may list its name.
   *
   * @throws OAuthError `invalid_request` if a value is malformed or too long.
   */
  all(name: string): readonly string[] {
    const fault = this.faults?.get(name)
    if (fault !== undefined) throw refused(fault, { parameter: name })
    const values: string[] = []
    this.each((each, value) => {
      if (each === name && value !== '') values.push(value)
    })
    return values
  }

  /** As {@link get}. @throws OAuthError `invalid_request`, also without a value. */
  require(name: string): string {
    const value = this.get(name)
    if (value === undefined) throw refused('parameter_missing', { parameter: name })
    return value
  }

  /** Like {@link get}, but a faulty parameter counts as omitted. */
  peek(name: string): string | undefined {
    return this.faults?.has(name) === true ? undefined : this.once(name)
  }

  /** As received, even if too long, for the echo in an error response. Undefined without exactly one value. */
  received(name: string): string | undefined {
    const fault = this.faults?.get(name)
    return fault === undefined || fault === 'parameter_too_long' ? this.once(name) : undefined
  }

  private once(name: string): string | undefined {
    const at = this.placeOf(name)
    const value = at < 0 || this.placeOf(name, at + 2) > 0 ? '' : this.fields[at]
    return value === '' ? undefined : value
  }

  get isEmpty(): boolean {
    return this.count === 0
  }

  /** Even if empty, repeated or malformed. */
  mentions(name: string): boolean {
    return this.placeOf(name) > 0 || this.faults?.has(name) === true
  }

  /** Faulty ones included. */
  namesFrom(prefix: string): readonly string[] {
    const names = new Set(this.faults?.keys())
    this.each((name) => names.add(name))
    return [...names].filter((name) => name.startsWith(prefix))
  }

  /** @throws OAuthError `invalid_request` for a faulty one, even if no code reads it. */
  check(names: Iterable<string>): void {
    for (const name of names) this.get(name)
  }

  /** Without fault. */
  only(names: Iterable<string>): Parameters {
    const some = new Parameters()
    for (const name of new Set(names)) for (const value of this.all(name)) some.add(name, value)
    return some
  }

  /** Faults included. */
  without(names: Iterable<string>): Parameters {
    const omitted = new Set(names)
    const copy = new Parameters()
    this.each((name, value) => {
      if (!omitted.has(name)) copy.fields.push(name, value)
    })
    this.faults?.forEach((fault, name) => {
      if (!omitted.has(name)) copy.note(name, fault)
    })
    copy.count = this.count
    return copy
  }

  /** @throws OAuthError `invalid_request` for more than 100 parameters. */
  with(added: ReadonlyMap<string, string>): Parameters {
    const all = this.without([])
    for (const [name, value] of added) all.add(name, value)
    return all
  }

  /** In form encoding, without faults. */
  format(omitted: readonly string[] = []): string {
    let form = ''
    this.each((name, value) => {
      if (this.faults?.has(name) !== true && !omitted.includes(name)) form = withField(form, name, value)
    })
    return form
  }

  private each(visit: (name: string, value: string) => void): void {
    for (let at = 1; at < this.fields.length; at += 2) visit(this.fields[at - 1] ?? '', this.fields[at] ?? '')
  }
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

export const parametersAtMost = 100

/** In characters after decoding (`docs/bounds.md`). The body or the request head bounds others. */
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
  ['device_code', 256],
  ['user_code', 256],
  ['choice', 256],
  ['prompt', 256],
  ['max_age', 10],
  ['acr_values', 1024],
  ['login_hint', 1024],
  ['ui_locales', 256],
  ['dpop_jkt', 256],
])

/** In characters, or entries of a list. */
export const largestMembers = [
  ['client_name', 256],
  ['description', 4096],
  ['client_uri', 2048],
  ['logo_uri', 2048],
  ['policy_uri', 2048],
  ['tos_uri', 2048],
  ['scope', 4096],
  ['redirect_uris', 100],
  ['post_logout_redirect_uris', 100],
  ['client_secret_hashes', 10],
  ['credentials', 16_384],
] as const

export const longestEchoedState = 16 * 1024

export const isTooLong = (name: string, value: string): boolean =>
  value.length > (longestValues.get(name) ?? Infinity)
