import { decodedClaims } from '../jwt/verify-jwt'
import { isRecord, isText } from '../primitives/values'
import type { Json } from '../protocol/json'
import { mistakeInKeys } from './client-keys'

/** A program of a platform, by `iss` and `sub` of its tokens. */
interface Workload {
  readonly issuer: string
  readonly subject: string
}

type Platforms = ReadonlyMap<string, unknown>

/** Unproven; undefined if the token is of no platform. */
export function workloadOf(token: string, platforms: Platforms): Workload | undefined {
  const { iss: issuer, sub: subject } = decodedClaims(token)
  return isText(issuer) && platforms.has(issuer) && isText(subject) ? { issuer, subject } : undefined
}

/** @param entry in `credentials` of a registration. */
export const namesWorkload = (entry: unknown, { issuer, subject }: Workload): boolean =>
  isRecord(entry) && entry['issuer'] === issuer && entry['subject'] === subject

export function mistakeInEntry(entry: Json, platforms: Platforms): string | undefined {
  if (!isRecord(entry) || !Object.hasOwn(entry, 'issuer')) return mistakeInKeys(entry)
  const { issuer, subject, ...others } = entry
  const isOfPlatform = isText(issuer) && platforms.has(issuer)
  if (isOfPlatform && isText(subject) && Object.keys(others).length === 0) return undefined
  return 'must be { issuer, subject }: a platform of the option issuers of privateKeyJwt(), and the sub of its tokens.'
}
