import type { Authorization } from '../authorization/authorization'
import {
  createDemandedLogin,
  demandLogin,
  findClaimable,
  namedIn,
  noteArrival,
  refusalForOwner,
  type UnclaimedProposal,
} from '../authorization/claim'
import { begin, commit } from '../authorization/commit'
import type { AuthorizationStore } from '../authorization/store'
import type { RecordContext, TransitionResult } from '../authorization/transition'
import type { LoginRequest } from '../protocol/login-request'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import type { Parameters } from '../protocol/parameters'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { Sender } from '../protocol/sender'
import type { DemandedLogins } from '../limits/open-requests'
import type { Context } from '../doors/context'
import type { OwnerQuestions } from './ask-owner'
import type { ParsedAuthorizationRequest, ResolvedRedirectUri } from './authorization-request'
import { loginReferenceOf, requestDigest } from './login-return'
import { lookAtOwner } from './look-at-owner'
import { mayHavePriorConsent } from './prior-consent'
import { demandsLogin } from './requested-login'
import type { ClaimedRequest } from './resolve-request'

interface OwnerInQuestion {
  readonly destination: ResolvedRedirectUri
  /** After the extensions have replaced them. */
  readonly parameters: Parameters
  /** As the server received them. */
  readonly received: Parameters
  readonly parsed: ParsedAuthorizationRequest
  readonly unclaimed: UnclaimedProposal
  /** The record of the client that the request uses up. */
  readonly claimed: ClaimedRequest | undefined
  readonly resourceOwner: ResourceOwner | undefined
  readonly context: RecordContext
}

interface AskedHost {
  readonly sender?: Sender | undefined
}

export interface LoginDemand {
  /** For the URL to which the login returns; undefined if the request names its record. */
  readonly reference: string | undefined
  readonly request: LoginRequest
}

export interface Course {
  readonly demand: LoginDemand | undefined
  readonly isApproved: boolean
  /** The record that the request uses up: of its client, or of the demanded login. */
  readonly claimed: ClaimedRequest | undefined
}

/**
 * Decides by the request, and by the extensions with `atResourceOwner`; stores the time of a login that they demand.
 * Returns a refusal for the page of the owner.
 */
export async function courseOf(
  server: Context,
  question: OwnerInQuestion,
  host: AskedHost,
  questions: OwnerQuestions,
): Promise<Course | OAuthError> {
  const { destination, parameters, parsed, resourceOwner } = question
  const { client, redirectUri } = destination
  const { responseType, scope, extensionData } = parsed
  const claimed = question.claimed ?? (await findDemandedLogin(server, question, host))
  const mayApprove = mayHavePriorConsent(client, responseType, redirectUri)
  const hasApproved = async () => questions.hasApproved()
  const loginDemandedAt = claimed && namedIn(claimed.record).demandedLogin?.at
  const { requestedLogin } = parsed
  const { now } = question.context
  const isSilent = requestedLogin?.prompts.has('none') === true
  const asked = { client, parameters, responseType, redirectUri, scope, extensionData, requestedLogin }
  const approval = { loginDemandedAt, mayApprove, hasApproved }
  const look = await lookAtOwner(server, { ...asked, ...approval }, resourceOwner, now)
  const { login: request, verdict } = look
  if (request !== undefined) {
    if (isSilent) throw refused('prompt_none_without_login')
    // Nobody is logged in, and any login will do: the return need not tell more.
    const isPlain = verdict !== 'log in' && !demandsLogin(requestedLogin)
    const reference = isPlain
      ? await keepArrival(server, claimed, question.context, host)
      : await keepDemand(server, question, claimed, host)
    if (reference instanceof OAuthError) return reference
    return { demand: { reference, request }, isApproved: false, claimed }
  }
  const asks = verdict === 'ask' || requestedLogin?.prompts.has('consent') === true
  const lacks = server.plugIns.askOwner.length > 0 && (await questions.lacksAnswer())
  const isApproved = !asks && !lacks && (verdict === 'approve' ? mayApprove : await hasApproved())
  if (isSilent && !isApproved)
    throw lacks
      ? refused('prompt_none_without_answer')
      : mayApprove
        ? refused('prompt_none_without_consent')
        : refused('prompt_none_without_page')
  return { demand: undefined, isApproved, claimed }
}

/**
 * Others may have seen the URL with the reference, and it may be old. A reference that is not good for this very
 * request counts as absent: a new login.
 */
async function findDemandedLogin(
  { store, limits: { demandedLogins } }: Context,
  { received, unclaimed: { clientId }, resourceOwner, context }: OwnerInQuestion,
  { sender }: AskedHost,
): Promise<ClaimedRequest | undefined> {
  const named = loginReferenceOf(received)
  if (named === undefined) return undefined
  const { id, reference: handle } = named
  const found = await store.find(id)
  const record = findClaimable(found?.authorization, { handle, clientId }, context.now)
  if (found === undefined || record instanceof OAuthError) return undefined
  if (refusalForOwner(record, resourceOwner?.subject) !== undefined) return undefined
  const isOfThisRequest = namedIn(record).demandedLogin?.parameters === requestDigest(received)
  const onClaimed = () => demandedLogins.ended(sender?.address)
  return isOfThisRequest ? { handle, record, found, onClaimed } : undefined
}

/**
 * @returns the reference for the return of the login; undefined if the request names its record; an error for the page
 * if the record is no longer unclaimed.
 */
async function keepDemand(
  { store, limits: { demandedLogins } }: Context,
  { received, unclaimed: proposal, resourceOwner, context }: OwnerInQuestion,
  claimed: ClaimedRequest | undefined,
  { sender }: AskedHost,
): Promise<string | undefined | OAuthError> {
  if (claimed !== undefined) {
    const keep = () => keepInRecord(store, claimed, resourceOwner !== undefined, context)
    return livesLonger(claimed) ? counted(demandedLogins, sender, keep) : keep()
  }
  const { unclaimed, reference } = createDemandedLogin(proposal, requestDigest(received), context)
  return counted(demandedLogins, sender, async () => {
    await begin(store, unclaimed, context.random)
    return reference
  })
}

/** True for a pushed request that nobody known has brought. */
const livesLonger = ({ record }: ClaimedRequest) =>
  record.state === 'unclaimed' && record.lifetimeUntilSeen !== undefined

/** Counts a record that waits for its login, unless it does not come to be. */
async function counted<Outcome>(
  logins: DemandedLogins,
  sender: Sender | undefined,
  keep: () => Promise<Outcome>,
): Promise<Outcome> {
  const address = sender?.address
  logins.opened(address)
  try {
    const outcome = await keep()
    if (outcome instanceof OAuthError) logins.ended(address)
    return outcome
  } catch (error) {
    logins.ended(address)
    throw error
  }
}

// A login after the first demand satisfies every later one of an owner who is not logged in. A login since then that is
// too old does not.
async function keepInRecord(
  store: AuthorizationStore,
  claimed: ClaimedRequest,
  isLoggedIn: boolean,
  context: RecordContext,
): Promise<string | undefined | OAuthError> {
  const { demandedLogin } = namedIn(claimed.record)
  const isKept = demandedLogin !== undefined && !isLoggedIn
  const lost = isKept ? undefined : await change(store, claimed, demandLogin, context)
  return lost ?? (demandedLogin?.parameters === undefined ? undefined : claimed.handle)
}

/**
 * The login of the owner may take longer than the request would live.
 *
 * @returns an error for the page of the owner if the record is no longer open.
 */
export async function keepArrival(
  { store, limits: { demandedLogins } }: Context,
  claimed: ClaimedRequest | undefined,
  context: RecordContext,
  { sender }: AskedHost,
): Promise<undefined | OAuthError> {
  if (claimed === undefined || !livesLonger(claimed)) return undefined
  return counted(demandedLogins, sender, () => change(store, claimed, noteArrival, context))
}

function change(
  store: AuthorizationStore,
  { handle, record: { id, clientId }, found }: ClaimedRequest,
  transition: typeof demandLogin,
  context: RecordContext,
): Promise<undefined | OAuthError> {
  const step = (current: Authorization | undefined): TransitionResult<OAuthError | undefined> => {
    const result = transition(current, { handle, clientId }, context)
    return 'refusal' in result ? { action: 'none', outcome: result.refusal } : result
  }
  return commit(store, id, step, context.random, { cached: found })
}
