import { isDeepStrictEqual } from 'node:util'
import type { Authorization } from '../authorization/authorization'
import {
  type ConsentDecision,
  requestExpired,
  requestNotOpen,
  requestUnknown,
} from '../authorization/decision'
import { claimPolled, decidePolled } from '../authorization/polled'
import type { RecordContext, TransitionResult } from '../authorization/transition'
import type { PolledRequests } from '../doors/polled-requests'
import type { Selection } from '../protocol/selection'
import type { Client } from '../protocol/client'
import { createCredential, hasDigest } from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import { loginOf, type ResourceOwner } from '../protocol/resource-owner'
import { openIn, type OpenRequest, withKept, withoutKept } from './kept-request'
import type { DeviceKey } from './user-code'

export type Answer = 'approved' | 'denied'

export type Entered =
  (OpenRequest & { readonly consentToken: string }) | { readonly answer: Answer; readonly clientId: string }

interface PageTerms {
  readonly key: DeviceKey
  readonly requests: PolledRequests
  readonly context: RecordContext
}

/**
 * The first owner claims the request; after a reload or in another tab, he gets the same question or answer.
 * All reasons of an undefined outcome look alike.
 */
export function enterCode(
  current: Authorization | undefined,
  owner: ResourceOwner,
  { key, requests, context }: PageTerms,
): TransitionResult<Entered | undefined> {
  const { subject } = owner
  const answer = current?.subject === subject ? answerIn(current) : undefined
  if (current !== undefined && answer !== undefined)
    return { action: 'touch', outcome: { answer, clientId: current.clientId } }
  const open = openIn(current)
  if (open === undefined || open.kept.until <= context.now) return nothing
  const { polled: waiting, kept } = open
  const random = key.consentSecret(waiting.handle, subject)
  if (waiting.subject === undefined) {
    const claim = { subject, login: loginOf(owner) }
    const result = claimPolled(requests.offer(waiting), claim, { ...context, random })
    return 'refusal' in result ? nothing : { ...result, outcome: { ...result.outcome, kept } }
  }
  const consentToken = createCredential('authorizationRequest', waiting.id, random)
  if (waiting.consentToken === undefined || !hasDigest(consentToken, waiting.consentToken)) return nothing
  const polled = { ...waiting, login: loginOf(owner) }
  const outcome = { polled, kept, consentToken }
  return isDeepStrictEqual(polled.login, waiting.login)
    ? { action: 'touch', outcome }
    : { action: 'save', authorization: polled, outcome }
}

const nothing = { action: 'none', outcome: undefined } as const

/** Claims nothing. */
export function demandDeviceLogin(
  current: Authorization | undefined,
  { now }: RecordContext,
): TransitionResult<undefined> {
  const open = openIn(current)
  if (open === undefined) return nothing
  const authorization = withKept(open.polled, { ...open.kept, loginDemandedAt: now })
  return { action: 'save', authorization, outcome: undefined }
}

function answerIn(current: Authorization): Answer | undefined {
  if (current.state === 'active' && current.spentCode !== undefined) return 'approved'
  return current.state === 'polled' ? current.decision : undefined
}

/** Only the first decision counts; later ones get its answer. */
export function decideDevice(
  current: Authorization | undefined,
  decision: ConsentDecision,
  selection: Selection,
  client: Client,
  { requests, context }: Omit<PageTerms, 'key'>,
): TransitionResult<Answer> {
  const earlier = current === undefined ? undefined : answerIn(current)
  if (earlier !== undefined && isOf(current, decision)) return { action: 'touch', outcome: earlier }
  const open = openIn(current)
  if (open !== undefined && open.kept.until <= context.now) return refuse(requestExpired())
  const result = decidePolled(current, decision, context)
  if ('refusal' in result || result.action !== 'save' || result.authorization.state !== 'polled')
    return result
  const { authorization: polled } = result
  const { subject } = decision
  if (!decision.approved) return { ...result, authorization: withoutKept(polled) }
  const settled = requests.settle(client, { ...polled, subject }, selection)
  if (settled instanceof OAuthError) return refuse(settled)
  return { ...result, authorization: withoutKept(settled) }
}

export const openFor = (current: Authorization, decision: ConsentDecision): OpenRequest | undefined =>
  answerIn(current) === undefined && isOf(current, decision) ? openIn(current) : undefined

function isOf(
  current: Authorization | undefined,
  { consentToken, subject }: Pick<ConsentDecision, 'consentToken' | 'subject'>,
): boolean {
  if (current?.state !== 'polled' && current?.state !== 'active') return false
  const { consentToken: expected } = current
  return expected !== undefined && current.subject === subject && hasDigest(consentToken, expected)
}

/** For the owner's other account. */
export function releaseDevice(
  current: Authorization | undefined,
  decision: Pick<ConsentDecision, 'consentToken' | 'subject'>,
): TransitionResult<undefined> {
  if (current?.state !== 'polled' || current.decision !== undefined) return refuse(requestNotOpen())
  if (!isOf(current, decision)) return refuse(requestUnknown())
  const { login: _, ...others } = current
  return {
    action: 'save',
    authorization: { ...others, subject: undefined, consentToken: undefined },
    outcome: undefined,
  }
}

const refuse = (refusal: OAuthError) => ({ action: 'none', refusal }) as const
