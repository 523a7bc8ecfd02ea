import { isRecord, isText } from './configuration'

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
  if (isText(value)) return { subject: value }
  if (isRecord(value) && isText(value['subject'])) {
    const name = value['name']
    return { subject: value['subject'], name: isText(name) ? name : undefined }
  }
  throw new TypeError(
    'The option resourceOwner must return a subject (a text that is not empty), { subject, name }, or undefined for nobody.',
  )
}
