import { isRecord, isText } from '../primitives/options-reader'

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

/** The person at the authorization endpoint, as the login of the host knows them. */
export interface ResourceOwner {
  /**
   * The identifier of the person, which tokens carry: 1 to 1024 characters, stable and unique, and never used again
   * for another person.
   */
  readonly subject: string
  /** A name that the person recognises, for the consent page. */
  readonly name?: string | undefined
  /**
   * When the person last logged in, in whole seconds since the epoch. An extension that demands a login compares it with
   * the time of the demand. Default: unknown, which satisfies no demand.
   */
  readonly authenticatedAt?: number | undefined
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
    const { subject, name, authenticatedAt } = value
    const owner = { subject, name: isText(name) ? name : undefined }
    return authenticatedAt === undefined ? owner : { ...owner, authenticatedAt: timeOf(authenticatedAt) }
  }
  throw new TypeError(
    'The option resourceOwner must return a subject (a text of 1 to 1024 characters), { subject, name, authenticatedAt }, or undefined if no owner is logged in.',
  )
}

// Milliseconds of our time lie thousands of years ahead as seconds. They would satisfy every demand.
const latestTime = 100_000_000_000

function timeOf(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < latestTime)
    return value
  throw new TypeError(
    'The option resourceOwner must return authenticatedAt in whole seconds since the epoch, such as Math.floor(Date.now() / 1000) at the login.',
  )
}
