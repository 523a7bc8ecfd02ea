import { createHash, createHmac } from 'node:crypto'
import { html, mayRefresh, OAuthError, pageDocument, type Plugin } from 'express-authorization-server'
import type { EndpointRequest, PageRequest, ResourceOwner, TokenRequest } from 'express-authorization-server'

/** `key` makes the secret of the form; `subject` is the owner who confirmed. */
type Pairing = { clientId: string; scope: readonly string[]; key: string; until: number; subject?: string }

const name = 'https://example.com/oauth/grants/pairing'
const parameters = ['pairing_code']
const lifetime = 600
const digest = (text: string) => createHash('sha256').update(text).digest('base64url')
const refused = () =>
  new OAuthError('invalid_grant', 'pairing_refused', 'The code is wrong, used or has ended.')
const field = (id: string, set = '') => html`<input name="${id}" value="${set}" type="${set && 'hidden'}" />`
const form = (content = html``) =>
  html`<form method="post" action="?">${content}<button>Go on</button></form>`

const open: Plugin['open'] = ({ issuer, now, random, storage }) => {
  // The store of the server: each process finds the code, and of parallel confirmations one wins.
  const write = (code: string, pairing: Pairing, expected?: string) => {
    const terms = { version: random(22), expected, seconds: pairing.until - now() + 1 }
    return storage.write(`pairing:${digest(issuer + code)}`, JSON.stringify(pairing), terms)
  }
  const find = async (code: string) => {
    const stored = await storage.read(`pairing:${digest(issuer + code)}`)
    const found: Pairing | undefined = stored && JSON.parse(stored.value)
    if (found === undefined || found.until <= now()) throw refused()
    return { found, version: stored?.version }
  }
  const begin = async ({ client: { client_id: clientId, scope } }: EndpointRequest) => {
    const code = random(8)
    await write(code, { clientId, scope, key: random(43), until: now() + lifetime })
    return { members: { pairing_code: code, expires_in: lifetime } }
  }
  const pair = async ({ method, parameters: sent, resourceOwner, locale }: PageRequest<ResourceOwner>) => {
    const page = (content = html``) => ({ html: pageDocument({ title: 'Pair', content, locale }) })
    const code = method === 'POST' ? sent.get('pairing_code') : undefined
    if (code === undefined) return page(form(html`Type the code. ${field('pairing_code')}`))
    const { found, version } = await find(code)
    // Of this owner and this code: neither another site nor the client can make it.
    const secret = createHmac('sha256', found.key).update(resourceOwner.subject).digest('base64url')
    const fields = html`${field('pairing_code', code)}${field('secret', secret)}`
    const told = sent.get('secret') ?? ''
    if (told === '') return page(form(html`Let ${found.clientId} have ${found.scope.join(', ')}? ${fields}`))
    if (digest(told) !== digest(secret) || found.subject !== undefined) throw refused()
    if (!(await write(code, { ...found, subject: resourceOwner.subject }, version))) throw refused()
    return page(html`You may go back to ${found.clientId}.`)
  }
  const handle = async ({ client, parameters: sent }: TokenRequest) => {
    const code = sent.require('pairing_code')
    const { clientId, subject, scope, until } = (await find(code)).found
    if (clientId !== client.client_id) throw refused()
    if (subject === undefined) throw new OAuthError('authorization_pending', 'pairing_pending', 'Ask later.')
    // Until the code has ended on every process.
    const oneTimeUse = { key: code, until: until + 60, refusal: refused }
    return { grant: { subject, scope, refreshToken: mayRefresh(client), extensionData: {}, oneTimeUse } }
  }
  return {
    endpoints: [
      { name: 'pairing', path: '/pairing', clientAuthentication: 'confidential', handle: begin },
      { kind: 'page', name: 'pair', path: '/pair', login: 'required', handle: pair },
    ],
    grantTypes: [{ name, parameters, credentialParameters: parameters, handle }],
  }
}

/** A client asks `POST /pairing` for a code, an owner types it at `/pair`, and the client gets tokens for it once. */
export const pairing: Plugin = { name: 'pairing', open }
