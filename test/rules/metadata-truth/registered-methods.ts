import request from 'supertest'
import { basic, type Fields } from '../../support/flows/flow'
import { notesApp } from '../../support/flows/registering'
import { assertionOf, clientKeys } from './client-assertions'
import { approved } from './exercises'
import type { Host } from './hosts'

/**
 * Registers a client for a method of authentication, and lets it redeem a code by this method. Returns the error code of
 * the registration, or the status of the token response.
 */
export async function registeredFor(host: Host, method: string): Promise<string> {
  const { app, flow, metadata, issuer, now } = host
  const keys = method === 'private_key_jwt' ? { jwks: clientKeys } : {}
  const asked = { ...notesApp, ...keys, token_endpoint_auth_method: method }
  const path = new URL(String(metadata['registration_endpoint'])).pathname
  const { status, body } = await request(app).post(path).send(asked)
  if (status !== 201) return `${status} ${body.error}`
  const { client_id, client_secret: secret = '' } = body
  const registration = { ...notesApp, client_id, client_type: 'public' } as const
  const inHeader = method === 'client_secret_basic' ? { Authorization: basic(client_id, secret) } : {}
  const inBody: Readonly<Record<string, Fields>> = {
    none: { client_id },
    client_secret_post: { client_id, client_secret: secret },
    private_key_jwt: assertionOf('ES256', { client_id, secret }, issuer, now()),
  }
  const fields = { ...(await approved(host, { registration })), ...inBody[method] }
  return String((await flow.submit(flow.paths.token, fields, undefined, inHeader)).status)
}
