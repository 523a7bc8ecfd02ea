import { type ExtensionData, isEmpty } from '../protocol/extension-data'
import type { Json } from '../protocol/json'
import type { Login } from '../protocol/resource-owner'
import { formatScope } from '../protocol/scope'
import type {
  Active,
  Approved,
  Authorization,
  DemandedLogin,
  Denied,
  Grant,
  NamedRequest,
  Pending,
  Polled,
  RefreshToken,
  Repetition,
  Shown,
  Unclaimed,
} from './authorization'
import { issuerDigestLength } from './issuer'
import {
  ofAccessToken,
  ofActive,
  ofApproved,
  ofEveryState,
  ofLogin,
  ofPolled,
  ofRefreshToken,
  ofRequest,
  states,
} from './stored-places'
import { accessTokensOf, refreshTokenOf } from './stored-tokens'
import { StoredTuple } from './stored-tuple'

// A JSON list without absent elements at its end: Redis holds millions of records, and every guarded request reads one.

/** An empty text stands for it. */
const usualTokenType = 'bearer'

// JSON writes null for an undefined element of a list.
type Stored = Json | undefined | readonly Stored[]

/**
 * Writes an authorization as text for a store: digests, but no code or token in clear. The text lacks the id, which is
 * the key.
 */
export function encodeAuthorization(authorization: Authorization): string {
  return JSON.stringify(elementsOf(authorization))
}

function elementsOf(authorization: Authorization): Stored[] {
  const list: Stored[] = []
  const { state, issuerDigest, clientId, scope, tokenType } = authorization
  list[ofEveryState.state] = `${states[state]}${issuerDigest}`
  list[ofEveryState.clientId] = clientId
  list[ofEveryState.scope] = formatScope(scope)
  list[ofEveryState.tokenType] = tokenType === usualTokenType ? '' : tokenType
  if (state === 'approved') putApproved(list, authorization)
  else if (state === 'active') putActive(list, authorization)
  else if (state === 'polled') putPolled(list, authorization)
  else putRequest(list, authorization)
  return trimmed(list)
}

function putRequest(list: Stored[], requested: Unclaimed | Pending | Denied): void {
  const { state } = requested
  list[ofRequest.consentToken] = state === 'unclaimed' ? requested.handle : requested.consentToken
  list[ofRequest.expiresAt] = requested.expiresAt
  list[ofRequest.subject] = requested.subject
  list[ofRequest.responseType] = requested.request.responseType
  list[ofRequest.redirectUri] = requested.request.redirectUri
  list[ofRequest.redirectUriSent] = requested.request.redirectUriSent
  list[ofRequest.requestState] = requested.request.requestState
  list[ofRequest.extensionData] = presentData(requested)
  list[ofRequest.login] = loginElements(requested)
  if (state === 'unclaimed') {
    putNamed(list, requested)
    list[ofRequest.lifetimeUntilSeen] = requested.lifetimeUntilSeen
  } else if (state === 'pending' && requested.named !== undefined) {
    putNamed(list, requested.named)
    list[ofRequest.handle] = requested.named.handle
    list[ofRequest.salt] = requested.named.salt
  }
}

function putNamed(list: Stored[], { demandedLogin, pushed }: NamedRequest): void {
  list[ofRequest.loginDemandedAt] = demandedLogin?.at
  list[ofRequest.loginParameters] = demandedLogin?.parameters
  list[ofRequest.pushed] = pushed
}

function putPolled(list: Stored[], polled: Polled): void {
  list[ofPolled.handle] = polled.handle
  list[ofPolled.expiresAt] = polled.expiresAt
  list[ofPolled.subject] = polled.subject
  list[ofPolled.consentToken] = polled.consentToken
  list[ofPolled.decision] = polled.decision && polled.decision === 'approved'
  list[ofPolled.extensionData] = presentData(polled)
  list[ofPolled.login] = loginElements(polled)
  list[ofPolled.grantedAt] = polled.grantedAt
}

function putApproved(list: Stored[], approved: Approved): void {
  const { code } = approved
  list[ofApproved.accessTokens] = tokensOf(approved)
  list[ofApproved.subject] = approved.subject
  list[ofApproved.codeDigest] = code.digest
  list[ofApproved.codeExpiresAt] = code.expiresAt
  list[ofApproved.redirectUri] = code.redirectUri
  list[ofApproved.redirectUriSent] = code.redirectUriSent
  list[ofApproved.failures] = code.failures
  list[ofApproved.grantedAt] = approved.grantedAt
  list[ofApproved.extensionData] = presentData(approved)
  list[ofApproved.consentToken] = approved.consentToken
  list[ofApproved.salt] = code.repetition?.salt
  list[ofApproved.responseType] = code.repetition?.responseType
  list[ofApproved.requestState] = code.repetition?.requestState
  list[ofApproved.login] = loginElements(approved)
}

function putActive(list: Stored[], active: Active): void {
  list[ofActive.accessTokens] = tokensOf(active)
  list[ofActive.grantedAt] = active.grantedAt
  list[ofActive.subject] = active.subject
  list[ofActive.spentCode] = active.spentCode
  list[ofActive.refreshToken] = active.refreshToken && refreshElements(active.refreshToken)
  list[ofActive.extensionData] = presentData(active)
  list[ofActive.consentToken] = active.consentToken
  list[ofActive.usedUntil] = active.usedUntil
  list[ofActive.login] = loginElements(active)
}

function presentData({ extensionData }: Pick<Grant, 'extensionData'>): ExtensionData | undefined {
  return isEmpty(extensionData) ? undefined : extensionData
}

function loginElements({ login }: Pick<Grant, 'login'>): Stored {
  if (login === undefined) return undefined
  const list: Stored[] = []
  list[ofLogin.authTime] = login.authTime
  list[ofLogin.acr] = login.acr
  list[ofLogin.amr] = login.amr
  return trimmed(list)
}

function tokensOf({ accessTokens, scope: granted }: Approved | Active): Stored {
  const whole = formatScope(granted)
  return accessTokens.map(({ digest, scope, expiresAt, tokenData, extensionData, tokenType, formatted }) => {
    const digestWithEnd = `${digest} ${expiresAt.toString(36)}`
    const text = formatScope(scope)
    const own = text === whole ? undefined : text
    const isPlain = (own ?? tokenType ?? formatted) === undefined && isEmpty(extensionData)
    if (isPlain && tokenData === undefined) return digestWithEnd
    const list: Stored[] = []
    list[ofAccessToken.digestWithEnd] = digestWithEnd
    list[ofAccessToken.scope] = own
    // The list distinguishes null from absent data.
    list[ofAccessToken.tokenData] = tokenData === undefined ? undefined : [tokenData]
    list[ofAccessToken.extensionData] = isEmpty(extensionData) ? undefined : extensionData
    list[ofAccessToken.tokenType] = tokenType
    list[ofAccessToken.format] = formatted?.format
    list[ofAccessToken.issuedAt] = formatted?.issuedAt
    return trimmed(list)
  })
}

function refreshElements({ digest, generation, tagKey, expiresAt, rotation }: RefreshToken): Stored {
  const list: Stored[] = []
  list[ofRefreshToken.digest] = digest
  list[ofRefreshToken.generation] = generation
  list[ofRefreshToken.tagKey] = tagKey
  list[ofRefreshToken.expiresAt] = expiresAt
  list[ofRefreshToken.rotatedAt] = rotation?.at
  list[ofRefreshToken.salt] = rotation?.salt
  list[ofRefreshToken.sealedProperties] = rotation?.sealedProperties
  return trimmed(list)
}

function trimmed(elements: Stored[]): Stored[] {
  while (elements.at(-1) === undefined) elements.pop()
  return elements
}

/**
 * Reads a text of `encodeAuthorization`.
 *
 * @param id the key of the text in the store.
 * @throws Error if the text is malformed, or if this version does not know its state.
 */
export function decodeAuthorization(id: string, text: string): Authorization {
  const tuple = StoredTuple.parse(text)
  const first = tuple.text(ofEveryState.state)
  const state = first.length === 1 + issuerDigestLength ? first.charAt(0) : undefined
  const own = { id, issuerDigest: first.slice(1) }
  switch (state) {
    case states.unclaimed:
      return unclaimedOf(own, tuple)
    case states.pending:
      return { state: 'pending', ...shownOf(own, tuple), ...claimedOf(tuple) }
    case states.denied:
      return { state: 'denied', ...shownOf(own, tuple) }
    case states.polled:
      return polledOf(own, tuple)
    case states.approved:
      return approvedOf(own, tuple)
    case states.active:
      return activeOf(own, tuple)
    default:
      throw new Error(
        `A stored authorization is not readable by this version: its state is "${state ?? first}".`,
      )
  }
}

type Own = Pick<Grant, 'id' | 'issuerDigest'>

function shownOf(own: Own, tuple: StoredTuple): Shown {
  const { subject, consentToken } = ofRequest
  return { ...requestOf(own, tuple), subject: tuple.text(subject), consentToken: tuple.text(consentToken) }
}

function unclaimedOf(own: Own, tuple: StoredTuple): Unclaimed {
  const { subject, consentToken: handle, lifetimeUntilSeen } = ofRequest
  const request = requestOf(own, tuple)
  return {
    state: 'unclaimed',
    ...request,
    subject: tuple.nothing(subject),
    ...namedOf(tuple, handle),
    ...(tuple.has(lifetimeUntilSeen) && { lifetimeUntilSeen: tuple.integer(lifetimeUntilSeen) }),
  }
}

function claimedOf(tuple: StoredTuple): Pick<Pending, 'named'> {
  const { handle, salt } = ofRequest
  return tuple.has(handle) ? { named: { ...namedOf(tuple, handle), salt: tuple.text(salt) } } : {}
}

function namedOf(tuple: StoredTuple, handle: number): NamedRequest {
  const { loginDemandedAt, pushed } = ofRequest
  return {
    handle: tuple.text(handle),
    demandedLogin: tuple.has(loginDemandedAt) ? demandedLoginOf(tuple) : undefined,
    ...(tuple.has(pushed) && { pushed: tuple.text(pushed) }),
  }
}

function demandedLoginOf(tuple: StoredTuple): DemandedLogin {
  const { loginDemandedAt: at, loginParameters: parameters } = ofRequest
  return { at: tuple.integer(at), parameters: tuple.optionalText(parameters) }
}

function polledOf(own: Own, tuple: StoredTuple): Polled {
  const { subject, consentToken } = ofPolled
  const decision = decisionOf(tuple)
  return {
    state: 'polled',
    ...grantOf(own, tuple, ofPolled),
    handle: tuple.text(ofPolled.handle),
    expiresAt: tuple.integer(ofPolled.expiresAt),
    subject: tuple.optionalText(subject),
    consentToken: tuple.optionalText(consentToken),
    decision,
    grantedAt: decision === 'approved' ? tuple.integer(ofPolled.grantedAt) : undefined,
  }
}

function decisionOf(tuple: StoredTuple): Polled['decision'] {
  if (!tuple.has(ofPolled.decision)) return undefined
  return tuple.boolean(ofPolled.decision) ? 'approved' : 'denied'
}

function requestOf(own: Own, tuple: StoredTuple): Omit<Shown, 'subject' | 'consentToken'> {
  return {
    ...grantOf(own, tuple, ofRequest),
    expiresAt: tuple.integer(ofRequest.expiresAt),
    request: {
      responseType: tuple.text(ofRequest.responseType),
      redirectUri: tuple.text(ofRequest.redirectUri),
      redirectUriSent: tuple.boolean(ofRequest.redirectUriSent),
      requestState: tuple.optionalText(ofRequest.requestState),
    },
  }
}

function approvedOf(own: Own, tuple: StoredTuple): Approved {
  const grant = grantOf(own, tuple, ofApproved)
  return {
    state: 'approved',
    ...grant,
    accessTokens: accessTokensOf(tuple.tuple(ofApproved.accessTokens), grant.scope),
    subject: tuple.text(ofApproved.subject),
    code: {
      digest: tuple.text(ofApproved.codeDigest),
      expiresAt: tuple.integer(ofApproved.codeExpiresAt),
      redirectUri: tuple.text(ofApproved.redirectUri),
      redirectUriSent: tuple.boolean(ofApproved.redirectUriSent),
      failures: tuple.integer(ofApproved.failures),
      repetition: tuple.has(ofApproved.salt) ? repetitionOf(tuple) : undefined,
    },
    consentToken: tuple.optionalText(ofApproved.consentToken),
    grantedAt: tuple.integer(ofApproved.grantedAt),
  }
}

function repetitionOf(tuple: StoredTuple): Repetition {
  return {
    salt: tuple.text(ofApproved.salt),
    responseType: tuple.text(ofApproved.responseType),
    requestState: tuple.optionalText(ofApproved.requestState),
  }
}

function activeOf(own: Own, tuple: StoredTuple): Active {
  const grant = grantOf(own, tuple, ofActive)
  const { refreshToken, usedUntil } = ofActive
  return {
    state: 'active',
    ...grant,
    accessTokens: accessTokensOf(tuple.tuple(ofActive.accessTokens), grant.scope),
    subject: tuple.optionalText(ofActive.subject),
    spentCode: tuple.optionalText(ofActive.spentCode),
    refreshToken: tuple.has(refreshToken) ? refreshTokenOf(tuple.tuple(refreshToken)) : undefined,
    consentToken: tuple.optionalText(ofActive.consentToken),
    usedUntil: tuple.has(usedUntil) ? tuple.integer(usedUntil) : undefined,
    grantedAt: tuple.integer(ofActive.grantedAt),
  }
}

interface GrantPlaces {
  readonly extensionData: number
  readonly login: number
}

function grantOf(own: Own, tuple: StoredTuple, places: GrantPlaces): Omit<Grant, 'subject'> {
  const { extensionData, login } = places
  const { clientId, scope, tokenType } = ofEveryState
  return {
    ...own,
    clientId: tuple.text(clientId),
    scope: tuple.scope(scope),
    tokenType: tuple.json(tokenType) === '' ? usualTokenType : tuple.text(tokenType),
    extensionData: tuple.has(extensionData) ? tuple.extensionData(extensionData) : {},
    ...(tuple.has(login) && { login: readLogin(tuple.tuple(login)) }),
  }
}

function readLogin(tuple: StoredTuple): Login {
  const { authTime, acr, amr } = ofLogin
  return {
    authTime: tuple.integer(authTime),
    ...(tuple.has(acr) && { acr: tuple.text(acr) }),
    ...(tuple.has(amr) && { amr: tuple.tuple(amr).texts() }),
  }
}
