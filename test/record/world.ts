import { createHash } from 'node:crypto'
import { type Authorization, expiryOf } from '../../lib/authorization/authorization'
import { decodeAuthorization, encodeAuthorization } from '../../lib/authorization/codec'
import { commit } from '../../lib/authorization/commit'
import {
  approveForPolls,
  approveWithCode,
  deny,
  findDecidable,
  isRedirectable,
  claim,
  openForOwner,
  openRequest,
} from '../../lib/authorization/requested'
import type { Issued } from '../../lib/authorization/issue'
import type { Lifetimes } from '../../lib/authorization/lifetimes'
import { pollAuthorization, redeemCode, rotateRefreshToken } from '../../lib/authorization/redeem'
import { repeatable, withForm } from '../../lib/authorization/repetition'
import { revokeByToken } from '../../lib/authorization/revoke'
import type { AuthorizationStore, StoredAuthorization } from '../../lib/authorization/store'
import {
  type IssueContext,
  type Transition,
  type TransitionResult,
  unrestricted,
} from '../../lib/authorization/transition'
import { createSalt, type Random } from '../../lib/protocol/credential'
import { invalidGrant } from '../../lib/protocol/host-errors'
import { OAuthError } from '../../lib/protocol/oauth-error'
import type { TokenType } from '../../lib/protocol/token-type'
import { noon } from '../support/noon'

const tokenType = (name: string, issue?: TokenType['issue']): TokenType => ({
  name,
  scheme: name,
  ...(issue && { issue }),
  read: ([accessToken = '']) => ({ accessToken }),
})

/** A plain type, and one that adds members to the response and keeps data with the token. */
export const tokenTypes = new Map(
  [
    tokenType('bearer'),
    tokenType('stamped', (_token, { now, random }) => ({
      properties: { stamp: random(8) },
      tokenData: { stampedAt: now },
    })),
  ].map((type) => [type.name, type]),
)

/** Letters that look random, never come twice, and are the same in each run of the test. */
export function countedRandom(): Random {
  let calls = 0
  return (length) =>
    createHash('shake256', { outputLength: length }).update(`${calls++}`).digest('base64url').slice(0, length)
}

export const granted = {
  clientId: 'printer',
  scope: ['photos.read', 'photos.write'],
  tokenType: 'bearer',
  extensionData: { pkce: 'challenge' },
}
export const request = {
  responseType: 'code',
  redirectUri: 'https://printer.example/callback',
  redirectUriSent: true,
  requestState: 'af0ifjsldkj',
}

/** On what a history plays. */
export interface Terms {
  /** Alice looks at a form; a client has pushed the request; or a device polls. */
  readonly beginning: 'form' | 'pushed' | 'polled'
  readonly tokenType: 'bearer' | 'stamped'
  /** Whether refreshes leave the refresh token good. */
  readonly keeps: boolean
  readonly lifetimes: Lifetimes
}

export const usual: Lifetimes = {
  authorizationRequest: 600,
  authorizationCode: 60,
  accessToken: 300,
  refreshToken: 1000,
  refreshTokenGrace: 30,
}

type Client = 'printer' | 'mallory'
type Owner = 'alice' | 'mallory'

/** What somebody does with the one authorization of a history. */
export type Move =
  | { readonly move: 'claim'; readonly owner: Owner; readonly client: Client }
  | { readonly move: 'approve' | 'deny'; readonly owner: Owner }
  | {
      readonly move: 'redeem'
      readonly client: Client
      readonly redirectUri: 'right' | 'wrong' | 'missing'
      readonly verifier: 'right' | 'wrong'
    }
  | { readonly move: 'poll'; readonly client: Client }
  /** With one of the tokens that were delivered so far: 0 is the first one, -1 the last. */
  | { readonly move: 'refresh'; readonly client: Client; readonly token: number; readonly scope?: string }
  | { readonly move: 'revoke'; readonly client: Client; readonly token: number }
  | { readonly move: 'wait'; readonly seconds: number }

export type Act = Exclude<Move, { move: 'wait' }>

/** How a move ended for the one who made it. */
export type Ending =
  | { readonly kind: 'form'; readonly consentToken: string }
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'tokens'; readonly issued: Issued }
  /** The client got its answer before, and it is not given twice. */
  | { readonly kind: 'done' | 'done before' | 'revoked' | 'nothing' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'trouble' }

/** What a caller sees of a store that did not answer. */
export class StoreTrouble extends Error {}

/** A store of one record, as a store keeps it, in the time of the world. */
class Shelf implements AuthorizationStore {
  private stored: { readonly text: string; readonly revision: string; readonly end: number } | undefined

  constructor(private readonly now: () => number) {}

  async find(id: string): Promise<StoredAuthorization | undefined> {
    if (this.stored === undefined || this.stored.end <= this.now()) return undefined
    return { authorization: decodeAuthorization(id, this.stored.text), revision: this.stored.revision }
  }

  async save(authorization: Authorization, revision: string, expected?: string): Promise<boolean> {
    const found = await this.find(authorization.id)
    if (found?.revision === revision) return true
    if (found?.revision !== expected) return false
    this.stored = { text: encodeAuthorization(authorization), revision, end: expiryOf(authorization) }
    return true
  }

  async remove(): Promise<void> {
    this.stored = undefined
  }
}

/** One authorization and its clock. */
export class World {
  now = noon
  readonly records: AuthorizationStore = new Shelf(() => this.now)
  /** Every code and token that was ever made, delivered or not. */
  readonly made = new Set<string>()
  readonly id: string
  private readonly random = countedRandom()
  private readonly first: Authorization
  private readonly handle: string
  private consentToken: string
  private code: string | undefined
  private readonly tokens: Issued[] = []

  constructor(readonly terms: Terms) {
    const proposal = this.requestProposal()
    if (terms.beginning === 'form') {
      const { requested, consentToken } = openForOwner({ ...proposal, subject: 'alice' }, this.context())
      this.first = requested
      this.consentToken = consentToken
      this.handle = ''
    } else {
      const { requested, handle } = openRequest(proposal, this.context())
      this.first = requested
      this.consentToken = ''
      this.handle = handle
    }
    this.id = this.first.id
  }

  async begin(): Promise<void> {
    await this.records.save(this.first, 'first revision')
  }

  context(): IssueContext {
    const { now, random, terms } = this
    return {
      now,
      issuerDigest: 'digest of issuer',
      random,
      lifetimes: terms.lifetimes,
      tokenTypes,
      countIssue: () => {},
      restrict: unrestricted,
      keepsRefreshToken: () => terms.keeps,
    }
  }

  /** What a move shows to the server; undefined if there is none yet. */
  presentedBy(act: Act): string | undefined {
    if (act.move === 'redeem') return this.code
    if (act.move === 'claim' || act.move === 'poll') return this.handle || undefined
    if ('owner' in act) return this.consentToken || undefined
    const known = this.tokens.flatMap(({ accessToken, refreshToken = [] }) =>
      act.move === 'revoke' ? [accessToken].concat(refreshToken) : refreshToken,
    )
    return known.at(act.token % Math.max(1, known.length))
  }

  /** Makes a move over a store, which is the shelf or a way to it. */
  async make(act: Act, presented: string, store: AuthorizationStore = this.records): Promise<Ending> {
    const transition = this.watched(this.transitionOf(act, presented))
    const ending = await commit(store, this.id, transition, this.random).catch((error: unknown): Ending => {
      if (error instanceof OAuthError) return { kind: 'refused', reason: error.reason }
      if (error instanceof StoreTrouble) return { kind: 'trouble' }
      throw error
    })
    if (ending.kind === 'form') this.consentToken = ending.consentToken
    if (ending.kind === 'code') this.code ??= ending.code
    if (ending.kind === 'tokens') this.tokens.push(ending.issued)
    return ending
  }

  /** Keeps what a transition makes, even if no client gets it. */
  private watched(transition: Transition<Ending>): Transition<Ending> {
    return (current, superseded) => {
      const step = transition(current, superseded)
      if ('refusal' in step) return step
      if (step.outcome.kind === 'code') this.made.add(step.outcome.code)
      if (step.outcome.kind === 'tokens')
        for (const token of [step.outcome.issued.accessToken, step.outcome.issued.refreshToken])
          if (token !== undefined) this.made.add(token)
      return step
    }
  }

  /** The transition that a move asks the server for, as its endpoints compose it. */
  private transitionOf(act: Act, presented: string): Transition<Ending> {
    const at = this.context()
    switch (act.move) {
      case 'claim':
        return (current) => onward(this.claimedBy(act, presented, current, at), form)
      case 'approve':
      case 'deny': {
        const approved = act.move === 'approve'
        const decision = {
          consentToken: presented,
          subject: act.owner,
          login: undefined,
          ownerReadAt: at.now,
          approved,
        }
        return (current) => decided(findDecidable(current, decision, at.now), presented, approved, at)
      }
      case 'redeem': {
        const restrict: IssueContext['restrict'] =
          act.verifier === 'right' ? unrestricted : () => invalidGrant('wrong_verifier', 'It does not match.')
        const redirectUri = {
          right: request.redirectUri,
          wrong: 'https://mallory.example',
          missing: undefined,
        }
        const redemption = {
          code: presented,
          clientId: act.client,
          redirectUri: redirectUri[act.redirectUri],
          refreshToken: true,
        }
        return (current) => onward(redeemCode(current, redemption, { ...at, restrict }), tokens)
      }
      case 'poll':
        return (current) =>
          onward(
            pollAuthorization(current, { handle: presented, clientId: act.client, refreshToken: true }, at),
            tokens,
          )
      case 'refresh': {
        const refresh = { refreshToken: presented, clientId: act.client, scope: act.scope }
        return (current, superseded) => onward(rotateRefreshToken(current, refresh, at, superseded), tokens)
      }
      case 'revoke':
        return (current) =>
          onward(revokeByToken(current, { token: presented, clientId: act.client }), (kind): Ending => ({
            kind,
          }))
    }
  }

  private claimedBy(
    { owner: subject, client: clientId }: Extract<Move, { move: 'claim' }>,
    handle: string,
    current: Authorization | undefined,
    at: IssueContext,
  ) {
    const proposal = { ...this.requestProposal(), subject, clientId }
    const presented = { handle: proposal.request && handle, clientId }
    return claim(current, presented, proposal.request ? handle : 'secret of the page', proposal, at)
  }

  private requestProposal() {
    const { beginning, tokenType: name } = this.terms
    return { ...granted, tokenType: name, request: beginning === 'polled' ? undefined : request }
  }
}

const tokens = (issued: Issued): Ending => ({ kind: 'tokens', issued })
const form = ({ consentToken }: { readonly consentToken: string }): Ending => ({ kind: 'form', consentToken })

function onward<One, Other>(
  result: TransitionResult<One>,
  outcomeOf: (outcome: One) => Other,
): TransitionResult<Other> {
  return 'refusal' in result ? result : { ...result, outcome: outcomeOf(result.outcome) }
}

function decided(
  found: ReturnType<typeof findDecidable>,
  consentToken: string,
  approved: boolean,
  at: IssueContext,
): TransitionResult<Ending> {
  if (found instanceof OAuthError) return { action: 'none', refusal: found }
  if (found.state === 'active') return { action: 'none', outcome: { kind: 'done before' } }
  if (found.state === 'requested') {
    if (found.decision !== undefined) return { action: 'touch', outcome: { kind: 'done' } }
    if (!approved || found.request === undefined)
      return {
        action: 'save',
        authorization: approved ? approveForPolls(found, at) : deny(found),
        outcome: { kind: 'done' },
      }
  }
  if (!isRedirectable(found)) throw new Error('A code alone can be given again.')
  const salt = found.state === 'approved' ? found.code.salt : createSalt(at.random)
  const { authorization, code } = approveWithCode(found, repeatable(at, consentToken, salt, ''))
  const ending = { kind: 'code', code } as const
  return found.state === 'requested'
    ? { action: 'save', authorization: withForm(authorization, found, salt), outcome: ending }
    : { action: 'touch', outcome: ending }
}
