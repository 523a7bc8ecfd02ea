import { isRecord, isText } from './configuration'

/** How long a subject may be, in characters: it stands in every record of its authorizations. */
const longestSubject = 1024

/** Whether the value can be the subject of an authorization. */
export function isSubject(value: unknown): value is string {
  return isText(value) && value.length <= longestSubject
}

/** What cures a subject that is none, as the rest of a sentence. */
export const subjectCure = `must be a text of 1 to ${longestSubject} characters.`

/**
 * Reads what a function of the host's returned that names a subject, or nobody: undefined, null or false, as databases and
 * conditions say it.
 *
 * @param what names the function, as the beginning of a sentence.
 * @throws TypeError when it is neither.
 */
export function parseSubject(value: unknown, what: string): string | undefined {
  if (value === undefined || value === null || value === false) return undefined
  if (isSubject(value)) return value
  throw new TypeError(
    `${what} must return a subject (a text of 1 to ${longestSubject} characters), or undefined for nobody.`,
  )
}

/** The person at the authorization endpoint, as the host's own login knows them. */
export interface ResourceOwner {
  /** Stable and unique, never used again for somebody else: what tokens carry. */
  readonly subject: string
  /** A name that the person recognises, for the consent page. */
  readonly name?: string | undefined
}

/** Reads what the host's `resourceOwner` function returned. @throws TypeError when it is neither an owner nor nobody. */
export function parseResourceOwner(value: unknown): ResourceOwner | undefined {
  if (value === undefined || value === null || value === false) return undefined
  if (isSubject(value)) return { subject: value }
  if (isRecord(value) && isSubject(value['subject'])) {
    const name = value['name']
    return { subject: value['subject'], name: isText(name) ? name : undefined }
  }
  throw new TypeError(
    'The option resourceOwner must return a subject (a text of 1 to 1024 characters), { subject, name }, or undefined for nobody.',
  )
}
