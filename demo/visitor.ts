import type { SessionData } from 'express-session'
import {
  arrive,
  depart,
  NotConnected,
  refresh,
  revoke,
  type Departure,
  type Registration,
  type Tokens,
} from './connection'

/** One thing that happened between the servers, in words and as a request. */
export interface Step {
  readonly what: string
  readonly how: string
}

declare module 'express-session' {
  interface SessionData {
    departure: Departure
    tokens: Tokens
    /** An error code, or what the visitor did, to be told once. */
    notice: string
    steps: readonly Step[]
  }
}

/** How an app is known at Lumen. */
export interface Introduction {
  /** What the app knows of its registration. */
  registration(): Promise<Registration>
  /** Before a visitor is sent to Lumen: sees to it that Lumen knows the app, and tells what was done. @throws NotConnected */
  introduce(): Promise<readonly Step[]>
}

/** What an app does on behalf of one visitor, whose tokens are in the session and never in the browser. */
export class Visitor {
  constructor(
    private readonly session: Partial<SessionData>,
    private readonly introduction: Introduction,
    private readonly resourceServer: string,
  ) {}

  /** Begins a connection and tells where it goes on; undefined if Lumen does not let the app begin. */
  async depart(): Promise<string | undefined> {
    return this.attempt(async () => {
      this.session.steps = await this.introduction.introduce()
      const registration = await this.introduction.registration()
      // A visitor who is connected wants another workspace: Lumen shall ask, whatever it remembers.
      const isConnected = this.session.tokens !== undefined
      const { location, departure } = depart(registration, isConnected ? { prompt: 'consent' } : {})
      this.session.departure = departure
      this.note('Sent you to Lumen with a fresh state and a PKCE challenge', 'GET /authorize')
      return location
    })
  }

  async arrive(answer: URLSearchParams): Promise<void> {
    const { departure, tokens } = this.session
    delete this.session.departure
    // The visitor went back and pressed Allow again: this app has its tokens and ignores the answer.
    if (departure === undefined && tokens !== undefined) {
      this.session.notice = 'connected_already'
      return
    }
    await this.attempt(async () => {
      const registration = await this.introduction.registration()
      this.session.tokens = await arrive(registration, answer, departure)
      this.note('Checked state and issuer, traded your code for tokens', 'POST /token authorization_code')
      if (tokens === undefined) return
      // If Lumen is out of reach for this, they end by themselves.
      await revoke(registration, tokens).catch(() => undefined)
      this.note('Gave back the tokens of the connection before', 'POST /revoke')
    })
    // The visitor who cancels keeps what was there.
    if (tokens !== undefined && this.session.notice === 'access_denied') this.session.notice = 'unchanged'
  }

  async refresh(): Promise<void> {
    await this.attempt(() => this.renew())
  }

  /**
   * Gives the tokens back, so that they are dead and not merely forgotten here. A visitor who leaves is let go even while
   * the other side cannot be reached. Resolves to what to tell.
   */
  async disconnect(): Promise<string> {
    const { tokens } = this.session
    try {
      if (tokens !== undefined) await revoke(await this.introduction.registration(), tokens)
      return 'disconnected'
    } catch {
      return 'not_revoked'
    }
  }

  /** Asks the resource server; undefined when there is no connection, or none any more. */
  async fetch(path: string): Promise<Response | undefined> {
    const { tokens } = this.session
    if (tokens === undefined) return undefined
    const ask = ({ accessToken }: Tokens) =>
      fetch(this.resourceServer + path, { headers: { authorization: `Bearer ${accessToken}` } })
    const answer = await ask(tokens)
    return answer.status === 401 ? this.attempt(async () => ask(await this.renew())) : answer
  }

  private async renew(): Promise<Tokens> {
    const { tokens } = this.session
    if (tokens === undefined) throw new NotConnected('invalid_grant')
    const renewed = await refresh(await this.introduction.registration(), tokens)
    this.session.tokens = renewed
    this.note('Traded the refresh token for new tokens', 'POST /token refresh_token')
    return renewed
  }

  private async attempt<Result>(act: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof NotConnected)) throw error
      // Other trouble may be over soon, and these tokens would still be good.
      if (error.code === 'invalid_grant') delete this.session.tokens
      this.session.notice = error.code
      return undefined
    }
  }

  private note(what: string, how: string): void {
    this.session.steps = [...(this.session.steps ?? []), { what, how }].slice(-5)
  }
}
