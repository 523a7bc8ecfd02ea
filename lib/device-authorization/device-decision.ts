import { isDeepStrictEqual } from 'node:util'
import type { Authorization, Polled } from '../authorization/authorization'
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
import { type KeptRequest, keptIn, withKept, withoutKept } from './kept-request'
import type { DeviceKey } from './user-code'

export type Answer = 'approved' | 'denied'

export type Entered =
  | { readonly polled: Polled; readonly kept: KeptRequest; readonly consentToken: string }
  | { readonly answer: Answer; readonly clientId: string }

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
  const kept = current?.state === 'polled' ? keptIn(current) : undefined
  if (current?.state !== 'polled' || kept === undefined || kept.until <= context.now) return nothing
  const random = key.consentSecret(current.handle, subject)
  if (current.subject === undefined) {
    const claim = { subject, login: loginOf(owner) }
    const result = claimPolled(requests.offer(current), claim, { ...context, random })
    return 'refusal' in result ? nothing : { ...result, outcome: { ...result.outcome, kept } }
  }
  const consentToken = createCredential('authorizationRequest', current.id, random)
  if (current.consentToken === undefined || !hasDigest(consentToken, current.consentToken)) return nothing
  const polled = { ...current, login: loginOf(owner) }
  const outcome = { polled, kept, consentToken }
  return isDeepStrictEqual(polled.login, current.login)
    ? { action: 'touch', outcome }
    : { action: 'save', authorization: polled, outcome }
}

const nothing = { action: 'none', outcome: undefined } as const

/** Claims nothing. */
export function demandDeviceLogin(
  current: Authorization | undefined,
  { now }: RecordContext,
): TransitionResult<undefined> {
  const kept = current?.state === 'polled' ? keptIn(current) : undefined
  if (current?.state !== 'polled' || kept === undefined) return nothing
  return {
    action: 'save',
    authorization: withKept(current, { ...kept, loginDemandedAt: now }),
    outcome: undefined,
  }
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
  if (current?.state === 'polled' && isOver(current, context))
    return { action: 'none', refusal: requestExpired() }
  const result = decidePolled(current, decision, context)
  if ('refusal' in result || result.action !== 'save' || result.authorization.state !== 'polled')
    return result
  const { authorization: polled } = result
  const { subject } = decision
  if (!decision.approved) return { ...result, authorization: withoutKept(polled) }
  const settled = requests.settle(client, { ...polled, subject }, selection)
  if (settled instanceof OAuthError) return { action: 'none', refusal: settled }
  return { ...result, authorization: withoutKept(settled) }
}

const isOver = (polled: Polled, { now }: RecordContext) => (keptIn(polled)?.until ?? Infinity) <= now

export function openFor(
  current: Authorization,
  decision: ConsentDecision,
): { readonly polled: Polled; readonly kept: KeptRequest } | undefined {
  const kept = current.state === 'polled' ? keptIn(current) : undefined
  const isOpen = answerIn(current) === undefined && isOf(current, decision)
  return current.state === 'polled' && kept !== undefined && isOpen ? { polled: current, kept } : undefined
}

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
