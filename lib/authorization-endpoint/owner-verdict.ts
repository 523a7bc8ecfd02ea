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
import { consentRequired, interactionRequired, loginRequired, OAuthError } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { Sender } from '../protocol/sender'
import type { ServerContext } from '../server/context'
import type { OwnerQuestions } from './ask-owner'
import type { ParsedAuthorizationRequest, ResolvedRedirectUri } from './authorization-request'
import { loginReferenceOf, requestDigest } from './login-return'
import { lookAtOwner } from './look-at-owner'
import { mayHavePriorConsent } from './prior-consent'
import { demandsLogin } from './requested-login'
import type { ClaimedRequest } from './resolve-request'

/** A valid request, and the owner who is logged in. */
interface OwnerInQuestion {
  readonly destination: ResolvedRedirectUri
  /** The parameters of the request, after extensions had their say. */
  readonly parameters: Parameters
  /** The parameters as the server received them. */
  readonly received: Parameters
  readonly parsed: ParsedAuthorizationRequest
  readonly unclaimed: UnclaimedProposal
  /** The record of the client that the request uses up. */
  readonly claimed: ClaimedRequest | undefined
  /** Undefined if no owner is logged in. */
  readonly resourceOwner: ResourceOwner | undefined
  readonly context: RecordContext
}

interface AskedHost {
  readonly sender?: Sender | undefined
}

/** A login that the request or an extension demands. */
export interface LoginDemand {
  /** The reference for the URL to which the login returns; undefined if the request itself names its record. */
  readonly reference: string | undefined
  readonly request: LoginRequest
}

/** What follows for the owner of a request. */
export interface Course {
  /** The login that has to come before; undefined if none has to. */
  readonly demand: LoginDemand | undefined
  /** Whether the request is approved without a page. */
  readonly isApproved: boolean
  /** The record that the request uses up: of its client, or of the login that this server has demanded. */
  readonly claimed: ClaimedRequest | undefined
}

/**
 * Decides what follows for the owner of a request: by what the request says about the login and the pages, and by the
 * extensions with `atResourceOwner`. Keeps the time of a login that they demand.
 *
 * @returns what follows, or the refusal for the page of the owner.
 * @throws OAuthError for the client: `login_required`, `consent_required`, `interaction_required`, or the refusal of an
 * extension.
 */
export async function courseOf(
  server: ServerContext,
  question: OwnerInQuestion,
  host: AskedHost,
  questions: OwnerQuestions,
): Promise<Course | OAuthError> {
  const { destination, parameters, parsed, resourceOwner } = question
  const { client, redirectUri } = destination
  const { responseType, scope, extensionData } = parsed
  const claimed = question.claimed ?? (await findDemandedLogin(server, question, host))
  const mayApprove = mayHavePriorConsent(client, responseType, redirectUri)
  const hasApproved = () => questions.hasApproved()
  const loginDemandedAt = claimed && namedIn(claimed.record).demandedLogin?.at
  const { requestedLogin } = parsed
  const { now } = question.context
  const isSilent = requestedLogin?.prompts.has('none') === true
  const asked = { client, parameters, responseType, redirectUri, scope, extensionData, requestedLogin }
  const approval = { loginDemandedAt, mayApprove, hasApproved }
  const look = await lookAtOwner(server, { ...asked, ...approval }, resourceOwner, now)
  const { login: request, verdict } = look
  if (request !== undefined) {
    if (isSilent) throw loginRequired('prompt_none_without_login', 'No owner is logged in as requested.')
    // Nobody is logged in, and any login will do: the return need not tell more.
    const isPlain = verdict !== 'log in' && !demandsLogin(requestedLogin)
    const reference = isPlain
      ? await keepArrival(server, claimed, question.context, host)
      : await keepDemand(server, question, claimed, host)
    if (reference instanceof OAuthError) return reference
    return { demand: { reference, request }, isApproved: false, claimed }
  }
  const asks = verdict === 'ask' || requestedLogin?.prompts.has('consent') === true
  const lacks = server.askers !== undefined && (await questions.lacksAnswer())
  const isApproved = !asks && !lacks && (verdict === 'approve' ? mayApprove : await hasApproved())
  if (isSilent && !isApproved) throw lacks ? needsAnswer() : mayApprove ? neverApproved() : needsPage()
  return { demand: undefined, isApproved, claimed }
}

const neverApproved = () =>
  consentRequired('prompt_none_without_consent', 'The owner has not approved before.')
const needsAnswer = () =>
  interactionRequired('prompt_none_without_answer', 'The owner must answer a question.')
const needsPage = () => interactionRequired('prompt_none_without_page', 'The owner must see a page.')

/**
 * Finds the record of a login that this server has demanded for this very request. Others may have seen the URL with the
 * reference, and it may be old. A reference that is not good for the request counts as absent, so the server demands a
 * new login.
 */
async function findDemandedLogin(
  { store, demandedLogins }: ServerContext,
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
  const onClaimed = () => demandedLogins.ended(sender?.address())
  return isOfThisRequest ? { handle, record, found, onClaimed } : undefined
}

/**
 * Keeps the time of a demanded login in the record of the request, or in a new record.
 *
 * @param claimed the record that the request has already.
 * @returns the reference for the URL to which the login returns; undefined if the request itself names its record; an
 * error for the page of the owner if the record is no longer unclaimed.
 * @throws `Throttled` if too many logins of the network wait.
 */
async function keepDemand(
  { store, demandedLogins }: ServerContext,
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

/** Whether the record of a pushed request lives longer from now on: nobody who is known has brought it. */
const livesLonger = ({ record }: ClaimedRequest) =>
  record.state === 'unclaimed' && record.lifetimeUntilSeen !== undefined

/** Counts a record that waits for the login of its owner, unless it does not come to be. @throws Throttled */
async function counted<Outcome>(
  logins: ServerContext['demandedLogins'],
  sender: Sender | undefined,
  keep: () => Promise<Outcome>,
): Promise<Outcome> {
  const address = sender?.address()
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

// A login after the first demand satisfies every later one of an owner who is not logged in. An owner who has logged in
// since, and too long ago, has to do so again.
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
 * Keeps in the record of a request that a browser has brought it: its owner has to log in, which may take longer than
 * the request would live.
 *
 * @returns an error for the page of the owner if the record is no longer open.
 * @throws `Throttled` if too many logins of the network wait.
 */
export async function keepArrival(
  { store, demandedLogins }: ServerContext,
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
  return commit(store, id, step, context.random, found)
}
