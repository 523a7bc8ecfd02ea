import request, { type Response } from 'supertest'
import { basic, type Fields } from './flow'
import { codeChallenge, codeVerifier } from './proof-key'
import { codeOf } from './redirection'
import type { RegisteringStage } from './registering'

type Stage = Pick<RegisteringStage, 'app' | 'flow'>

/** The authorization request of a client that registered itself. */
export const ofClient = (client: Pick<Response, 'body'>) => ({
  response_type: 'code',
  client_id: client.body.client_id,
  redirect_uri: client.body.redirect_uris[0],
  scope: 'photos:read',
  code_challenge: codeChallenge,
  code_challenge_method: 'S256',
})

/** An owner approves a request of the client. */
export async function approve({ flow }: Stage, client: Pick<Response, 'body'>): Promise<string> {
  const page = await flow.ask(ofClient(client), 'alice')
  expect(page.status).toBe(200)
  return codeOf(await flow.decide(page, 'approve', 'alice'))
}

/** A token request of the client, which authenticates by its secret if it has one. */
function ask({ flow }: Stage, { body }: Pick<Response, 'body'>, fields: Fields): Promise<Response> {
  const { client_id, client_secret } = body
  return client_secret === undefined
    ? flow.submit('/token', { ...fields, client_id })
    : flow.submit('/token', fields, undefined, { Authorization: basic(client_id, client_secret) })
}

/** The client redeems a code. */
export async function redeem(stage: Stage, client: Pick<Response, 'body'>, code: string): Promise<Response> {
  const [redirect_uri] = client.body.redirect_uris
  const fields = { grant_type: 'authorization_code', code, redirect_uri, code_verifier: codeVerifier }
  return ask(stage, client, fields)
}

/** An owner approves a request of the client, and the client redeems the code. */
export async function getTokens(stage: Stage, client: Pick<Response, 'body'>): Promise<Response> {
  return redeem(stage, client, await approve(stage, client))
}

/** The client refreshes its tokens. */
export const refresh = (stage: Stage, client: Pick<Response, 'body'>, refresh_token: string) =>
  ask(stage, client, { grant_type: 'refresh_token', refresh_token })

/** A request at the client configuration endpoint. */
export function configure(
  { app }: Stage,
  method: 'get' | 'put' | 'delete',
  client: Pick<Response, 'body'>,
  { metadata, token = client.body.registration_access_token }: { metadata?: object; token?: string } = {},
): Promise<Response> {
  const { pathname, search } = new URL(client.body.registration_client_uri)
  const asked = request(app)[method](`${pathname}${search}`)
  void asked.set('Authorization', `Bearer ${token}`)
  return Promise.resolve(metadata === undefined ? asked : asked.send(metadata))
}
