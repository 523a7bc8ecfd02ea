import * as openid from 'openid-client'

/** What the relying party knows of its registration. */
export interface RelyingPartyRegistration {
  readonly client_id: string
  readonly client_secret: string
  readonly redirect_uri: string
  readonly post_logout_redirect_uri: string
  readonly issuer: string
}

/** What the session must remember while the browser is away for the login. */
export interface LoginUnderWay {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

/** A person who has logged in. */
export interface LoggedIn {
  /** Who it is, and how and when they logged in: the claims of the ID token. */
  readonly claims: openid.IDToken
  /** For the logout, which shows it to Lumen again. */
  readonly idToken: string
  readonly accessToken: string
  readonly refreshToken: string | undefined
  /** What the UserInfo endpoint told: name and e-mail address. */
  readonly userInfo: openid.UserInfoResponse
}

/** Why there is no login: an error code of Lumen, or one of this site. */
export class NotLoggedIn extends Error {
  override readonly name = 'NotLoggedIn'

  constructor(
    readonly code: string,
    cause?: unknown,
  ) {
    super(`Not logged in: ${code}`, { cause })
  }
}

/** "Sign in with Lumen": OpenID Connect with the code flow, PKCE, state and nonce. */
export class LogInWithLumen {
  private found: openid.Configuration | undefined

  constructor(private readonly registration: RelyingPartyRegistration) {}

  /** Where to send the browser, and what its session must remember. */
  async depart(): Promise<{ location: URL; underWay: LoginUnderWay }> {
    const underWay = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      codeVerifier: openid.randomPKCECodeVerifier(),
    }
    const location = openid.buildAuthorizationUrl(await this.lumen(), {
      redirect_uri: this.registration.redirect_uri,
      scope: 'openid profile email',
      state: underWay.state,
      nonce: underWay.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(underWay.codeVerifier),
      code_challenge_method: 'S256',
    })
    return { location, underWay }
  }

  /** Takes the browser back, trades the code for tokens, and asks for name and e-mail address. @throws NotLoggedIn */
  async arrive(answer: URL, underWay: LoginUnderWay | undefined): Promise<LoggedIn> {
    // An answer that this browser did not ask for would log it in as somebody else.
    if (underWay === undefined) throw new NotLoggedIn('answer_refused')
    const checks = {
      expectedState: underWay.state,
      expectedNonce: underWay.nonce,
      pkceCodeVerifier: underWay.codeVerifier,
      idTokenExpected: true,
    }
    const lumen = await this.lumen()
    return this.withUserInfo(
      loggedIn(await openid.authorizationCodeGrant(lumen, answer, checks).catch(refuse)),
    )
  }

  /** Trades the refresh token for new tokens. The time of the login stays. @throws NotLoggedIn */
  async refresh({ refreshToken = '', userInfo, claims: { sub } }: LoggedIn): Promise<LoggedIn> {
    const tokens = await openid.refreshTokenGrant(await this.lumen(), refreshToken).catch(refuse)
    const person = loggedIn(tokens, userInfo)
    // OpenID Connect Core 12.2: a refresh never makes another person of this one.
    if (person.claims.sub !== sub) throw new NotLoggedIn('answer_refused')
    return person
  }

  /** Asks the UserInfo endpoint, after a refresh if the access token has ended. @throws NotLoggedIn */
  async ask(person: LoggedIn): Promise<LoggedIn> {
    try {
      return await this.withUserInfo(person)
    } catch (error) {
      if (error instanceof NotLoggedIn && error.code === 'invalid_token')
        return this.withUserInfo(await this.refresh(person))
      throw error
    }
  }

  /** Where to send the browser, so that Lumen can end its session, too (RP-Initiated Logout 1.0). */
  async leave({ idToken }: LoggedIn, state: string): Promise<URL> {
    const { post_logout_redirect_uri } = this.registration
    return openid.buildEndSessionUrl(await this.lumen(), {
      id_token_hint: idToken,
      post_logout_redirect_uri,
      state,
    })
  }

  private async withUserInfo(person: LoggedIn): Promise<LoggedIn> {
    // The subject is checked: the answer must be about the person of the ID token.
    const { accessToken, claims } = person
    const userInfo = await openid.fetchUserInfo(await this.lumen(), accessToken, claims.sub).catch(refuse)
    return { ...person, userInfo }
  }

  /** Finds the endpoints of Lumen, at the first login (OpenID Connect Discovery). */
  private async lumen(): Promise<openid.Configuration> {
    const { issuer, client_id, client_secret } = this.registration
    this.found ??= await openid.discovery(new URL(issuer), client_id, client_secret, undefined, {
      // Localhost speaks no https, so the signature alone says that an ID token comes from Lumen. Leave the first line
      // out for a server with https.
      execute: [openid.allowInsecureRequests, openid.enableNonRepudiationChecks],
    })
    return this.found
  }
}

type Tokens = openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers

function loggedIn(tokens: Tokens, userInfo: openid.UserInfoResponse = { sub: '' }): LoggedIn {
  const claims = tokens.claims()
  if (claims === undefined || tokens.id_token === undefined) throw new NotLoggedIn('answer_refused')
  return {
    claims,
    idToken: tokens.id_token,
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    userInfo,
  }
}

// What is neither an answer of Lumen nor a wrong one, such as a server that is away, is no matter of the login.
function refuse(error: unknown): never {
  if (error instanceof openid.AuthorizationResponseError || error instanceof openid.ResponseBodyError)
    throw new NotLoggedIn(error.error, error)
  if (error instanceof openid.WWWAuthenticateChallengeError) throw new NotLoggedIn('invalid_token', error)
  if (error instanceof openid.ClientError) throw new NotLoggedIn('answer_refused', error)
  throw error
}
