import { isRecord, isText, isTexts } from '../primitives/options-reader'

/** The longest subject, in characters. Each record of an authorization contains its subject. */
const longestSubject = 1024

/** Whether the value can be the subject of an authorization. */
export function isSubject(value: unknown): value is string {
  return isText(value) && value.length <= longestSubject
}

/** The cure for a value that is not a subject, as the rest of a sentence. */
export const subjectExpectation = `must be a text of 1 to ${longestSubject} characters.`

/**
 * Reads a subject from the result of a function of the host. Undefined, null and false, as databases and conditions
 * return them, mean that there is no subject.
 *
 * @param what names the function, as the beginning of a sentence.
 * @throws TypeError for any other value.
 */
export function parseSubject(value: unknown, what: string): string | undefined {
  if (value === undefined || value === null || value === false) return undefined
  if (isSubject(value)) return value
  throw new TypeError(
    `${what} must return a subject (a text of 1 to ${longestSubject} characters), or undefined to refuse.`,
  )
}

/** How and when a resource owner logged in (OpenID Connect Core 2). The record of the authorization keeps it. */
export interface Login {
  /** When the person last proved who they are, in whole seconds since the epoch. */
  readonly authTime: number
  /** The authentication context class that the login met, a name of 1 to 256 characters; undefined for none. */
  readonly acr?: string | undefined
  /** The methods of the login, such as `pwd` and `otp` (RFC 8176): at most 16 of at most 64 characters. */
  readonly amr?: readonly string[] | undefined
}

/** The person at the authorization endpoint, as the login of the host knows them. */
export interface ResourceOwner extends Pick<Login, 'acr' | 'amr'> {
  /**
   * The identifier of the person, which tokens carry: 1 to 1024 characters, stable and unique, and never used again
   * for another person.
   */
  readonly subject: string
  /** A name that the person recognises, for the consent page. */
  readonly name?: string | undefined
  /**
   * When the person last logged in, in whole seconds since the epoch. A request that demands a login, such as with
   * `prompt=login` or `max_age`, compares it with the time of the demand. Default: unknown, which satisfies no demand.
   */
  readonly authTime?: number | undefined
}

/** A record with the login of its owner, if the host says when the owner logged in. */
export function withLogin<Grant extends object>(
  grant: Grant,
  login: Login | undefined,
): Grant & { readonly login?: Login } {
  return login === undefined ? grant : { ...grant, login }
}

/** The login of an owner; undefined if the host does not say when the owner logged in. */
export function loginOf({ authTime, acr, amr }: ResourceOwner): Login | undefined {
  if (authTime === undefined) return undefined
  return { authTime, ...(acr !== undefined && { acr }), ...(amr !== undefined && { amr }) }
}

/**
 * Reads the result of the option `resourceOwner`. Undefined, null and false mean that no person is logged in.
 *
 * @throws TypeError for any other value that is not an owner.
 */
export function parseResourceOwner(value: unknown): ResourceOwner | undefined {
  if (value === undefined || value === null || value === false) return undefined
  if (isSubject(value)) return { subject: value }
  if (isRecord(value) && isSubject(value['subject'])) {
    const { subject, name, authTime, acr, amr } = value
    const owner = { subject, name: isText(name) ? name : undefined }
    if ((authTime ?? acr ?? amr) === undefined) return owner
    return { ...owner, authTime: timeOf(authTime), acr: contextOf(acr), amr: methodsOf(amr) }
  }
  throw new TypeError(
    'The option resourceOwner must return a subject (a text of 1 to 1024 characters), { subject, name, authTime, acr, amr }, or undefined if no owner is logged in.',
  )
}

// Milliseconds of our time lie thousands of years ahead as seconds. They would satisfy every demand.
const latestTime = 100_000_000_000

function timeOf(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < latestTime)
    return value
  throw new TypeError(
    'The option resourceOwner must return authTime in whole seconds since the epoch, such as Math.floor(Date.now() / 1000) at the login.',
  )
}

function contextOf(value: unknown): string | undefined {
  if (value === undefined || (isText(value) && value.length <= 256)) return value
  throw new TypeError(
    'The option resourceOwner must return acr as a text of 1 to 256 characters, or undefined.',
  )
}

function methodsOf(value: unknown): readonly string[] | undefined {
  const isList = isTexts(value) && value.length <= 16 && value.every((name) => name.length <= 64)
  if (value === undefined || isList) return value
  throw new TypeError('The option resourceOwner must return amr as a list of at most 16 texts, or undefined.')
}
