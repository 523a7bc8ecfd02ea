import type { Login } from '../protocol/resource-owner'
import { storedTokens } from './access-token'
import type {
  Active,
  Approved,
  Authorization,
  Code,
  DemandedLogin,
  LastResponse,
  PendingRequest,
  RefreshToken,
  Requested,
} from './authorization'
import { issuerDigestLength } from './issuer'
import {
  boolean,
  extensionData,
  group,
  inline,
  integer,
  elementsOf,
  nested,
  omittable,
  optional,
  place,
  readText,
  type Group,
  scope,
  text,
  textOr,
  texts,
  unreadable,
  unreadableRecord,
  recordText,
} from './places'

const states = {
  r: 'requested',
  c: 'approved',
  a: 'active',
} as const

type Letter = keyof typeof states

const head = <Own extends Letter>(letter: Own) => ({
  id: place<string>(0, notWritten, (_element, _list, id) => id),
  state: place(0, notWritten, () => states[letter]),
  issuerDigest: place<string>(
    0,
    (digest) => letter + digest,
    (element) => readText(element)?.slice(1),
  ),
})

const notWritten = () => undefined

const login = group<Login>({ authTime: integer(0), acr: omittable(text(1)), amr: omittable(texts(2)) })

const granted = (places: { readonly extensionData: number; readonly login: number }) => ({
  clientId: text(1),
  scope: scope(2),
  tokenType: textOr('bearer', 3),
  extensionData: extensionData(places.extensionData),
  login: optional(nested(places.login, login)),
})

const pendingRequest = group<PendingRequest>({
  responseType: text(7),
  redirectUri: text(8),
  redirectUriSent: boolean(9),
  requestState: optional(text(10)),
})

const demandedLogin = group<DemandedLogin>({ at: integer(12), parameters: optional(text(13)) })

const refreshToken = group<RefreshToken>({
  digest: text(8),
  generation: integer(9),
  tagKey: text(10),
  expiresAt: integer(11),
})

const lastResponse = group<LastResponse>({
  at: integer(14),
  salt: text(15),
  sealedProperties: optional(text(16)),
})

const code = group<Code>({
  digest: text(6),
  expiresAt: integer(11),
  failures: integer(12),
  salt: optional(text(16)),
})

const records = {
  requested: group<Requested>({
    ...head('r'),
    ...granted({ extensionData: 11, login: 14 }),
    consentToken: optional(text(4)),
    expiresAt: integer(5),
    subject: optional(text(6)),
    request: optional(inline(pendingRequest)),
    demandedLogin: optional(inline(demandedLogin)),
    parameters: omittable(text(15)),
    lifetimeUntilSeen: omittable(integer(16)),
    handle: optional(text(17)),
    salt: omittable(text(18)),
    decision: optional(
      place<'approved' | 'denied'>(
        19,
        (decision) => decision === 'approved',
        // An approval has its time.
        (isApproved, list) =>
          isApproved === false ? 'denied' : isApproved === true && list[20] ? 'approved' : undefined,
      ),
    ),
    grantedAt: optional(integer(20)),
    pluginData: omittable(extensionData(21)),
  }),
  approved: group<Approved>({
    ...head('c'),
    ...granted({ extensionData: 14, login: 17 }),
    accessTokens: storedTokens(4),
    subject: text(5),
    code: inline(code),
    request: inline(pendingRequest),
    grantedAt: integer(13),
    consentToken: optional(text(15)),
  }),
  active: group<Active>({
    ...head('a'),
    ...granted({ extensionData: 12, login: 18 }),
    accessTokens: storedTokens(4),
    grantedAt: integer(5),
    subject: optional(text(6)),
    spentCode: optional(text(7)),
    refreshToken: optional(inline(refreshToken)),
    lastResponse: optional(inline(lastResponse)),
    consentToken: optional(text(13)),
    usedUntil: optional(integer(17)),
  }),
}

const recordOf: Readonly<Record<Authorization['state'], Group<Authorization>>> = records

const isLetter = (letter: string): letter is Letter => Object.hasOwn(states, letter)

/** Writes an authorization as text for a store: digests, no credential in clear, and not the id, which is the key. */
export const encodeAuthorization = (authorization: Authorization): string =>
  recordText(authorization, recordOf[authorization.state])

/**
 * Reads a text of `encodeAuthorization`.
 *
 * @param id the key of the text in the store.
 * @throws Error if the text is malformed or of an unknown state.
 */
export function decodeAuthorization(id: string, encoded: string): Authorization {
  const list = elementsOf(encoded)
  const first = readText(list[0]) ?? unreadable(0)
  const hasIssuer = first.length === 1 + issuerDigestLength
  const letter = hasIssuer ? first.charAt(0) : first
  if (!hasIssuer || !isLetter(letter)) throw unreadableRecord(`its state is "${letter}"`)
  return recordOf[states[letter]].read(list, id)
}
