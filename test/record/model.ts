import type { Act, Ending, Move, Terms } from './world'
import { noon } from '../support/noon'

interface KnownToken {
  readonly text: string
  readonly end: number
}

/** What the rules say of one authorization: how each move must end, and which credentials are good. */
export class Model {
  now = noon
  state: 'requested' | 'approved' | 'active' | 'gone' = 'requested'
  private owner: string | undefined
  private decision: 'approve' | 'deny' | undefined
  private requestEnd: number
  private codeEnd = 0
  private failures = 0
  private grantedAt = 0
  private issuedAt: number | undefined
  private form: string | undefined
  code: string | undefined
  /** What the record lists: expired tokens stay until the next one comes. */
  private listed: readonly KnownToken[] = []
  /** The refresh tokens, the current one last. */
  private readonly generations: string[] = []
  private refreshEnd = 0
  private rotatedAt: number | undefined
  /** The answer that a repetition gets, and the access tokens beside it by scope. */
  private repeated: { readonly scope: string; readonly accessToken: string } | undefined
  private beside = new Map<string, string>()

  constructor(private readonly terms: Terms) {
    this.owner = terms.beginning === 'form' ? 'alice' : undefined
    this.requestEnd = noon + terms.lifetimes.authorizationRequest
  }

  wait(seconds: number): void {
    this.now += seconds
    if (this.end <= this.now) this.state = 'gone'
  }

  /** When the last credential of the record ends. */
  private get end(): number {
    if (this.state === 'active') return Math.max(this.refreshEnd, ...this.listed.map(({ end }) => end))
    if (this.state === 'approved') return this.codeEnd
    // A slow device still hears of the end.
    return this.requestEnd + (this.terms.beginning === 'polled' ? 120 : 0)
  }

  /** Every credential that the server would take now: the code, access tokens, the refresh token. */
  good(): readonly string[] {
    if (this.state === 'approved')
      return this.code !== undefined && this.codeEnd > this.now && this.failures < 5 && !this.isOver()
        ? [this.code]
        : []
    if (this.state !== 'active') return []
    const access = this.listed.filter(({ end }) => end > this.now).map(({ text }) => text)
    const refresh = this.refreshEnd > this.now && !this.isOver() ? this.generations.slice(-1) : []
    return [...access, ...refresh]
  }

  private isOver(): boolean {
    const { grant } = this.terms.lifetimes
    return grant !== undefined && this.grantedAt + grant <= this.now
  }

  /** How a move must end: the kind of its ending, or the reason of its refusal. It ends the authorization where it must. */
  expect(act: Act, presented: string): string {
    const verdict = this.verdictOn(act, presented)
    if (['code_replayed', 'refresh_token_reused', 'grant_expired', 'revoked'].includes(verdict))
      this.state = 'gone'
    if (['redirect_uri_mismatch', 'redirect_uri_missing', 'wrong_verifier'].includes(verdict)) this.failures++
    return verdict
  }

  private verdictOn(act: Act, presented: string): string {
    switch (act.move) {
      case 'claim':
        return this.claimed(act)
      case 'approve':
      case 'deny':
        return this.decided(act)
      case 'redeem':
        return this.redeemed(act)
      case 'poll':
        return this.polled(act)
      case 'refresh':
        return this.refreshed(act, presented)
      case 'revoke':
        return this.revoked(act, presented)
    }
  }

  private claimed({ owner, client }: Extract<Move, { move: 'claim' }>): string {
    if (this.state !== 'requested' || this.decision !== undefined) return 'authorization_request_not_open'
    if (client !== 'printer') return 'authorization_request_of_another_client'
    if (this.requestEnd <= this.now) return 'authorization_request_expired'
    if (this.owner !== undefined && owner !== this.owner) return 'authorization_request_of_another_owner'
    // The form lives as long as every request, and no second look lengthens its life. A user code lives no longer.
    if (this.owner === undefined && this.terms.beginning !== 'polled')
      this.requestEnd = this.now + this.terms.lifetimes.authorizationRequest
    this.owner = owner
    return 'form'
  }

  private decided({ move, owner }: Extract<Move, { move: 'approve' | 'deny' }>): string {
    if (this.state === 'gone') return 'authorization_request_not_open'
    if (owner !== this.owner) return 'authorization_request_of_another_owner'
    if (this.state === 'active') return move === 'approve' ? 'done before' : 'authorization_request_not_open'
    if (this.state === 'approved')
      return move === 'approve' && this.failures < 5 ? 'code' : 'authorization_request_not_open'
    if (this.decision !== undefined && this.decision !== move) return 'authorization_request_not_open'
    if (this.requestEnd <= this.now) return 'authorization_request_expired'
    if (this.decision !== undefined) return 'done'
    this.decision = move
    if (move === 'deny') return 'done'
    if (this.terms.beginning === 'polled') {
      this.requestEnd = Math.max(this.requestEnd, this.now + this.terms.lifetimes.authorizationCode)
      return 'done'
    }
    this.state = 'approved'
    this.codeEnd = this.now + this.terms.lifetimes.authorizationCode
    this.grantedAt = this.now
    return 'code'
  }

  private redeemed({ client, redirectUri, verifier }: Extract<Move, { move: 'redeem' }>): string {
    if (this.state === 'gone') return 'code_unknown'
    if (client !== 'printer') return 'code_of_another_client'
    if (this.state === 'active') return 'code_replayed'
    if (this.isOver()) return 'grant_expired'
    if (this.failures >= 5) return 'code_burnt'
    if (redirectUri !== 'right')
      return redirectUri === 'wrong' ? 'redirect_uri_mismatch' : 'redirect_uri_missing'
    return verifier === 'right' ? 'tokens' : 'wrong_verifier'
  }

  private polled({ client }: Extract<Move, { move: 'poll' }>): string {
    if (this.state === 'gone') return 'handle_unknown'
    if (client !== 'printer') return 'handle_of_another_client'
    if (this.state !== 'active') {
      if (this.requestEnd <= this.now) return 'authorization_request_expired'
      if (this.decision === 'deny') return 'owner_denied'
      return this.decision === undefined ? 'owner_has_not_decided' : 'tokens'
    }
    const { refreshTokenGrace } = this.terms.lifetimes
    const isLate = this.issuedAt === undefined || this.now - this.issuedAt >= refreshTokenGrace
    if (isLate) return 'handle_replayed'
    if (this.isOver()) return 'grant_expired'
    return this.generations.length > 1 ? 'handle_replayed' : 'tokens'
  }

  private refreshed({ client, scope }: Extract<Move, { move: 'refresh' }>, presented: string): string {
    if (this.state === 'gone') return 'refresh_token_unknown'
    if (client !== 'printer') return 'refresh_token_of_another_client'
    const generation = this.generations.indexOf(presented)
    const before = this.generations.length - 1 - generation
    if (before > 0 && (before > 1 || !this.isInGrace())) return 'refresh_token_reused'
    if (this.isOver()) return 'grant_expired'
    if (this.refreshEnd <= this.now) return 'refresh_token_expired'
    return scope === 'admin' ? 'scope_exceeded' : 'tokens'
  }

  private isInGrace(): boolean {
    return this.rotatedAt !== undefined && this.now - this.rotatedAt < this.terms.lifetimes.refreshTokenGrace
  }

  private revoked({ client }: Extract<Move, { move: 'revoke' }>, presented: string): string {
    const isListed = this.listed.some(({ text }) => text === presented)
    const descends = isListed || this.generations.includes(presented)
    return this.state === 'active' && client === 'printer' && descends ? 'revoked' : 'nothing'
  }

  /**
   * Takes in what a move brought, and says what is wrong with it: a repetition must be equal, and everything else new; each
   * credential has its time and its scope.
   */
  learn(act: Act, presented: string, ending: Ending): readonly unknown[] {
    if (ending.kind === 'form') {
      const isSame = this.form === undefined || this.form === ending.consentToken
      this.form = ending.consentToken
      return isSame ? [] : ['the same owner got another form']
    }
    if (ending.kind === 'code') {
      const isSame = this.code === undefined || this.code === ending.code
      this.code = ending.code
      return isSame ? [] : ['the same form got another code']
    }
    return ending.kind === 'tokens' ? this.learnTokens(act, presented, ending.issued) : []
  }

  private learnTokens(
    act: Act,
    presented: string,
    {
      accessToken,
      refreshToken = '',
      expiresAt,
      refreshTokenExpiresAt,
      scope,
    }: Extract<Ending, { kind: 'tokens' }>['issued'],
  ): readonly unknown[] {
    const { lifetimes, keeps } = this.terms
    const asked = (act.move === 'refresh' ? act.scope : undefined) ?? 'photos.read photos.write'
    const problems: unknown[] = scope.join(' ') === asked ? [] : ['the scope is another one', scope]
    const isFirst = this.state !== 'active'
    const isRepetition =
      !isFirst && (act.move === 'poll' || (act.move === 'refresh' && presented !== this.generations.at(-1)))
    if (isFirst) {
      if (this.terms.beginning === 'polled') {
        this.grantedAt = this.now
        if (lifetimes.refreshTokenGrace > 0) this.issuedAt = this.now
      }
      this.state = 'active'
    }
    const grantEnd = this.grantedAt + (lifetimes.grant ?? Infinity)
    if (isRepetition) {
      if (refreshToken !== this.generations.at(-1))
        problems.push('a repetition brought another refresh token')
      const known = this.listed.find(({ text }) => text === accessToken)
      const { repeated } = this
      const first = this.listed.find(({ text }) => text === repeated?.accessToken)
      const isOwed = first !== undefined && repeated?.scope === asked && first.end > this.now
      if (isOwed && known !== first) problems.push('a repetition brought another access token')
      const beside = this.beside.get(asked)
      const besideIsGood = this.listed.some(({ text, end }) => text === beside && end > this.now)
      // What a token type adds cannot be derived again for a token beside the pair.
      if (
        !isOwed &&
        first !== undefined &&
        besideIsGood &&
        this.terms.tokenType === 'bearer' &&
        accessToken !== beside
      )
        problems.push('a repetition with another scope brought another token each time')
      if (!isOwed) this.beside.set(asked, accessToken)
      if (known !== undefined) return expiresAt === known.end ? problems : [...problems, 'an end moved']
    } else {
      if (this.listed.some(({ text }) => text === accessToken)) problems.push('an access token came twice')
      const isSameRefreshToken = this.generations.includes(refreshToken)
      if (isSameRefreshToken !== (keeps && !isFirst))
        problems.push('the refresh token was not rotated, or not kept')
      this.refreshEnd = Math.min(this.now + lifetimes.refreshToken, grantEnd)
      if (refreshTokenExpiresAt !== this.refreshEnd) problems.push('the refresh token ends at another time')
      if (!isSameRefreshToken) {
        this.generations.push(refreshToken)
        const isFromCode = isFirst && this.terms.beginning !== 'polled'
        this.rotatedAt = isFromCode || lifetimes.refreshTokenGrace === 0 ? undefined : this.now
        this.repeated = { scope: asked, accessToken }
        this.beside = new Map()
      }
    }
    const end = Math.min(this.now + lifetimes.accessToken, grantEnd)
    if (expiresAt !== end) problems.push('an access token ends at another time', expiresAt, end)
    const live = this.listed.filter((token) => token.end > this.now)
    this.listed = [...live, { text: accessToken, end }].slice(-32)
    return problems
  }
}
