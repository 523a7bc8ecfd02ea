import type { Response } from 'supertest'
import { request, type Target } from '../request'
import type { ClientApplication } from './clients'
import { consentFormOf } from './consent-form'
import { codeChallenge, codeVerifier } from './proof-key'
import { codeOf } from './redirection'
import { tokensOf, type Tokens } from './tokens'

/** Parameters of a request; an undefined one is left out. */
export type Fields = Readonly<Record<string, string | undefined>>
/** Parameters of a request; one with a list comes once for each value. */
export type RepeatedFields = Readonly<Record<string, string | readonly string[] | undefined>>
export type Headers = Readonly<Record<string, string>>

/** Where the parts of a host application are. */
export interface Paths {
  readonly authorize: string
  readonly token: string
  readonly revoke: string
  readonly introspect: string
  readonly photos: string
}

export const usualPaths: Paths = {
  authorize: '/authorize',
  token: '/token',
  revoke: '/revoke',
  introspect: '/introspect',
  photos: '/photos',
}

/** The parties of the framework as they talk to a server: the owner's user agent, and clients. It keeps no cookies. */
export class Flow {
  constructor(
    readonly target: Target,
    readonly paths: Paths = usualPaths,
    /** What every request carries, as one behind a proxy does. */
    private readonly always: Headers = {},
  ) {}

  /** These parties behind a proxy that adds headers. */
  behind(headers: Headers): Flow {
    return new Flow(this.target, this.paths, headers)
  }

  /** The owner's user agent opens a page; without an owner, no one is logged in. */
  async open(path: string, owner?: string, headers: Headers = {}): Promise<Response> {
    return request(this.target)
      .get(path)
      .set({ ...this.always, ...ownerHeader(owner), ...headers })
  }

  /** The owner's user agent sends a form. */
  async submit(
    path: string,
    fields: RepeatedFields | string,
    owner?: string,
    headers: Headers = {},
  ): Promise<Response> {
    return request(this.target)
      .post(path)
      .set({
        ...this.always,
        'Content-Type': 'application/x-www-form-urlencoded',
        ...ownerHeader(owner),
        ...headers,
      })
      .send(formOf(fields))
  }

  /** An authorization request by `GET`. */
  async ask(fields: RepeatedFields | string, owner?: string): Promise<Response> {
    return this.open(`${this.paths.authorize}?${formOf(fields)}`, owner)
  }

  /** Enters a code on the page of devices, as its owner does. */
  async enterCode(
    code: RepeatedFields,
    owner: string,
    headers: Headers = {},
    path = '/device',
  ): Promise<Response> {
    const ofForm = new Set(['Accept', 'Content-Type', 'Sec-Fetch-Site', 'Origin'])
    const ofOwner = Object.entries(headers).filter(([name]) => !ofForm.has(name))
    const asScript = { ...Object.fromEntries(ofOwner), Accept: 'application/json' }
    const { body } = await this.open(path, owner, asScript)
    return this.submit(path, { ...body.fields, ...code }, owner, headers)
  }

  /** The consent form of this page, with a button pressed. */
  async decide(page: Response, decision: string, owner?: string, headers: Headers = {}): Promise<Response> {
    const { action, fields } = consentFormOf(page, this.paths.authorize)
    return this.submit(action, { ...fields, decision }, owner, headers)
  }

  /** An authorization request and its approval: the code. */
  async approve(client: ClientApplication, bend: RepeatedFields = {}, owner = 'alice'): Promise<string> {
    const page = await this.ask({ ...authorizationRequest(client), ...bend }, owner)
    return codeOf(await this.decide(page, 'approve', owner))
  }

  /** A request of a client that authenticates in the usual way; a token request unless the path says otherwise. */
  async request(
    client: ClientApplication,
    fields: RepeatedFields,
    path = this.paths.token,
  ): Promise<Response> {
    return this.submit(path, { ...identification(client), ...fields }, undefined, basicHeader(client))
  }

  /** Redeems a code with all that belongs to it. */
  async redeem(client: ClientApplication, code: string, bend: RepeatedFields = {}): Promise<Response> {
    return this.request(client, { ...redemption(client, code), ...bend })
  }

  async refresh(
    client: ClientApplication,
    refreshToken: string,
    bend: RepeatedFields = {},
  ): Promise<Response> {
    return this.request(client, { grant_type: 'refresh_token', refresh_token: refreshToken, ...bend })
  }

  /** The whole way to tokens. */
  async tokens(client: ClientApplication, bend: RepeatedFields = {}, owner = 'alice'): Promise<Tokens> {
    return tokensOf(await this.redeem(client, await this.approve(client, bend, owner)))
  }

  async revoke(client: ClientApplication, token: string, bend: RepeatedFields = {}): Promise<Response> {
    return this.request(client, { token, ...bend }, this.paths.revoke)
  }

  async introspect(client: ClientApplication, token: string, bend: RepeatedFields = {}): Promise<Response> {
    return this.request(client, { token, ...bend }, this.paths.introspect)
  }

  /** A call of the guarded route. */
  async photos(accessToken: string): Promise<Response> {
    return this.open(this.paths.photos, undefined, { Authorization: `Bearer ${accessToken}` })
  }
}

/** A good authorization request of the client. */
export function authorizationRequest({ registration }: ClientApplication) {
  return {
    response_type: 'code',
    client_id: registration.client_id,
    redirect_uri: registration.redirect_uris?.[0],
    scope: registration.scope,
    state: 'af0ifjsldkj',
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
  }
}

/** A good redemption of the code, without client authentication. */
export function redemption({ registration }: ClientApplication, code: string) {
  return {
    grant_type: 'authorization_code',
    code,
    redirect_uri: registration.redirect_uris?.[0],
    code_verifier: codeVerifier,
  }
}

/** Basic credentials as RFC 6749 2.3.1 has them: form encoded. */
export function basic(clientId: string, secret: string): string {
  const [id, password] = [clientId, secret].map((text) =>
    new URLSearchParams({ '': text }).toString().slice(1),
  )
  return `Basic ${Buffer.from(`${id}:${password}`).toString('base64')}`
}

/** Form encoding. */
export function formOf(fields: RepeatedFields | string): string {
  if (typeof fields === 'string') return fields
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields))
    for (const one of [value ?? []].flat()) form.append(name, one)
  return form.toString()
}

function basicHeader({ registration, secret }: ClientApplication): Headers {
  return secret === undefined ? {} : { Authorization: basic(registration.client_id, secret) }
}

function identification({ registration, secret }: ClientApplication): Fields {
  return secret === undefined ? { client_id: registration.client_id } : {}
}

function ownerHeader(owner: string | undefined): Headers {
  return owner === undefined ? {} : { 'X-Owner': owner }
}
