import { bent, everyClient, photoBook, photoFrame } from '../flows/clients'
import type { ConsentForm } from '../flows/consent-form'
import { authorizationRequest, basic, formOf, redemption, usualPaths, type Fields } from '../flows/flow'
import type { Outgoing } from './connections'
import type { Operation } from './plan'

/** An access token and a refresh token that came together. */
export interface Pair {
  readonly accessToken: string
  readonly refreshToken: string
}

/** What the clients of a race hold when it begins; what its stage has not brought yet is empty. */
export interface Holdings {
  readonly form: ConsentForm
  readonly code: string
  /** The newest last. */
  readonly pairs: readonly Pair[]
}

/** A request, and the credential in it. */
export interface RaceRequest extends Outgoing {
  readonly presented: string
}

/** Photo Frame watches over tokens here; the public Photo Book is the client that is raced. */
const watching = bent(photoFrame, { may_introspect: true })
export const clientsOfRaces = everyClient.map((client) =>
  client === photoFrame ? watching.registration : client.registration,
)

const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
const owner = { 'X-Owner': 'alice' }
const { client_id } = photoBook.registration
const watch = { Authorization: basic(photoFrame.registration.client_id, photoFrame.secret) }

const post = (path: string, fields: Fields, presented: string, headers = {}): RaceRequest => ({
  method: 'POST',
  path,
  headers: { ...form, ...headers },
  body: formOf(fields),
  presented,
})

/** What there is before anything was asked. */
export const nothing: Holdings = { form: { action: '', fields: {} }, code: '', pairs: [] }

const pageRequest: RaceRequest = {
  method: 'GET',
  path: `${usualPaths.authorize}?${formOf(authorizationRequest(photoBook))}`,
  headers: owner,
  presented: '',
}

const decisionRequest = ({ action, fields }: ConsentForm, decision: string): RaceRequest =>
  post(action, { ...fields, decision }, formOf(fields), owner)

export const redemptionRequest = (code: string): RaceRequest =>
  post(usualPaths.token, { client_id, ...redemption(photoBook, code) }, code)

export const refreshRequest = ({ refreshToken }: Pair): RaceRequest =>
  post(
    usualPaths.token,
    { client_id, grant_type: 'refresh_token', refresh_token: refreshToken },
    refreshToken,
  )

const revocationRequest = (token: string): RaceRequest => post(usualPaths.revoke, { client_id, token }, token)

export const introspectionRequest = ({ accessToken }: Pair): RaceRequest =>
  post(usualPaths.introspect, { token: accessToken }, accessToken, watch)

export const useRequest = ({ accessToken }: Pair): RaceRequest => ({
  method: 'GET',
  path: usualPaths.photos,
  headers: { Authorization: `Bearer ${accessToken}` },
  presented: accessToken,
})

type RequestOf = (holdings: Holdings, which: number) => RaceRequest
const none: Pair = { accessToken: '', refreshToken: '' }
const any = ({ pairs }: Holdings, which: number): Pair => pairs[which % pairs.length] ?? none
/** The pair of so many rotations ago. */
const former = ({ pairs }: Holdings, rotations: number): Pair => pairs.at(-1 - rotations) ?? none

/** What each operation sends. */
export const requests: Readonly<Record<Operation, RequestOf>> = {
  ask: () => pageRequest,
  approve: (holdings) => decisionRequest(holdings.form, 'approve'),
  deny: (holdings) => decisionRequest(holdings.form, 'deny'),
  'approve late': (holdings) => decisionRequest(holdings.form, 'approve'),
  'deny late': (holdings) => decisionRequest(holdings.form, 'deny'),
  redeem: ({ code }) => redemptionRequest(code),
  replay: ({ code }) => redemptionRequest(code),
  refresh: (holdings) => refreshRequest(former(holdings, 0)),
  'refresh again': (holdings) => refreshRequest(former(holdings, 1)),
  reuse: (holdings) => refreshRequest(former(holdings, 2)),
  'revoke by access token': (holdings, which) => revocationRequest(any(holdings, which).accessToken),
  'revoke by refresh token': (holdings, which) => revocationRequest(any(holdings, which).refreshToken),
  use: (holdings, which) => useRequest(any(holdings, which)),
  introspect: (holdings, which) => introspectionRequest(any(holdings, which)),
}
