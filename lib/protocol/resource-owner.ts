import { isRecord, isText, isTexts, isWhole } from '../primitives/values'
import { isTooLong, longestValues, type Parameters } from './parameters'

// In characters, like `acr` of a login.
const longestValue = 256

export function isAcrValues(value: unknown): value is readonly string[] {
  return (
    isTexts(value) &&
    value.length > 0 &&
    new Set(value).size === value.length &&
    value.every((each) => each.length <= longestValue && /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(each)) &&
    !isTooLong('acr_values', value.join(' '))
  )
}

export const acrValuesExpectation = `the preferred one first: printable ASCII without spaces, quotes and backslashes, at most ${longestValue} characters each and ${longestValues.get('acr_values')} in all.`

export const requestedAcrValues = (parameters: Parameters): readonly string[] =>
  (parameters.get('acr_values') ?? '').split(' ').filter((value) => value !== '')

/** RFC 9068 2.2.1, RFC 9470 6. */
export function loginIn({
  auth_time: authTime,
  acr,
  amr,
}: Readonly<Record<string, unknown>>): Login | undefined {
  if (typeof authTime !== 'number') return undefined
  return { authTime, ...(isText(acr) && { acr }), ...(isTexts(amr) && { amr }) }
}

/** What the host's login is asked for. */
export interface LoginRequest {
  /**
   * Whether a logged-in owner has to log in anew: ask for the credentials, and return the new `authTime` from
   * `resourceOwner`.
   */
  readonly again: boolean
  /** `prompt=select_account`. */
  readonly selectAccount: boolean
  /** The best one first. The login may ignore it. */
  readonly acrValues: readonly string[]
  /** Such as an e-mail address. A stranger may have written it. */
  readonly loginHint: string | undefined
  /** Such as `de`. */
  readonly uiLocales: readonly string[]
}

export const plainLogin: LoginRequest = {
  again: false,
  selectAccount: false,
  acrValues: [],
  loginHint: undefined,
  uiLocales: [],
}

export function loginQueryOf({
  again,
  selectAccount,
  acrValues,
  loginHint,
  uiLocales,
}: LoginRequest): Readonly<Record<string, string>> {
  const prompt = [again ? 'login' : [], selectAccount ? 'select_account' : []].flat()
  return {
    ...(prompt.length > 0 && { prompt: prompt.join(' ') }),
    ...(acrValues.length > 0 && { acr_values: acrValues.join(' ') }),
    ...(loginHint !== undefined && { login_hint: loginHint }),
    ...(uiLocales.length > 0 && { ui_locales: uiLocales.join(' ') }),
  }
}

export const longestSubject = 1024

export const isSubject = (value: unknown): value is string => isText(value) && value.length <= longestSubject

export const subjectExpectation = `must be a text of 1 to ${longestSubject} characters.`

/** Databases and conditions return undefined, null and false. */
export function parseSubject(value: unknown, what: string): string | undefined {
  if (value === undefined || value === null || value === false) return undefined
  if (isSubject(value)) return value
  throw new TypeError(
    `${what} must return a subject (a text of 1 to ${longestSubject} characters), or undefined to refuse.`,
  )
}

/** OpenID Connect Core 2. */
export interface Login {
  /** The last proof of who the person is, in seconds since the epoch. */
  readonly authTime: number
  /** The class of the login, 1 to 256 characters. */
  readonly acr?: string | undefined
  /** Such as `pwd` and `otp` (RFC 8176): at most 16 of at most 64 characters. */
  readonly amr?: readonly string[] | undefined
}

export interface ResourceOwner extends Pick<Login, 'acr' | 'amr'> {
  /** 1 to 1024 characters, stable, never used again for another person. */
  readonly subject: string
  /** For the consent page. */
  readonly name?: string | undefined
  /**
   * The last login, in whole seconds since the epoch, for requests that demand one, such as by `max_age`. Default:
   * unknown, which satisfies no demand.
   */
  readonly authTime?: number | undefined
}

export function loginOf({ authTime, acr, amr }: ResourceOwner): Login | undefined {
  if (authTime === undefined) return undefined
  return { authTime, ...(acr !== undefined && { acr }), ...(amr !== undefined && { amr }) }
}

export function parseResourceOwner(value: unknown): ResourceOwner | undefined {
  if (value === undefined || value === null || value === false) return undefined
  if (isSubject(value)) return { subject: value }
  if (isRecord(value) && isSubject(value['subject'])) return ownerIn(value, value['subject'])
  throw new TypeError(
    'The option resourceOwner must return a subject (a text of 1 to 1024 characters), { subject, name, authTime, acr, amr }, or undefined if no owner is logged in.',
  )
}

function ownerIn(given: Readonly<Record<string, unknown>>, subject: string): ResourceOwner {
  const { authTime, acr, amr } = given
  const name = isText(given['name']) ? given['name'] : undefined
  if ((authTime ?? acr ?? amr) === undefined) return { subject, name }
  if (!isTime(authTime))
    throw wrong(
      'authTime in whole seconds since the epoch, such as Math.floor(Date.now() / 1000) at the login.',
    )
  if (acr !== undefined && !(isText(acr) && acr.length <= 256))
    throw wrong('acr as a text of 1 to 256 characters, or undefined.')
  if (amr !== undefined && !(isTexts(amr) && amr.length <= 16 && amr.every((each) => each.length <= 64)))
    throw wrong('amr as a list of at most 16 texts, or undefined.')
  return { subject, name, authTime, acr, amr }
}

// Milliseconds, read as seconds, would satisfy every demand.
const isTime = isWhole(0, 100_000_000_000)

const wrong = (what: string) => new TypeError(`The option resourceOwner must return ${what}`)
