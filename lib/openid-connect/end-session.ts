import { clientNameOf } from '../pages/consent-page'
import { around, hiddenFields, html, notice } from '../pages/html'
import { ownTerms } from '../jwt/signing-keys/key-ring'
import { decodedClaims, verifyJwt } from '../jwt/verify-jwt'
import { isText } from '../primitives/values'
import { type Client, isRegisteredByHost } from '../protocol/client'
import { refused } from '../protocol/refusals'
import {
  languageFields,
  type PageEndpoint,
  type PageRequest,
  type PageResponse,
} from '../doors/page-endpoint'
import { Parameters } from '../protocol/parameters'
import { appendToQuery } from '../protocol/redirect-uri'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { AnnounceLogout } from './back-channel-logout'
import { hintedSubject, type IdentityTerms } from './id-token'

interface Destination {
  readonly client: Client
  /** With the `state` of the request. */
  readonly uri: string
}

const field = 'logout_request'
// No `logout+jwt` (Back-Channel Logout 1.0), which a client would take.
const type = 'logout-request+jwt'
const patience = 600

/** RP-Initiated Logout 1.0. A page asks, because any site can send a person here. */
export function endSessionPage(
  terms: IdentityTerms,
  path: string,
  announce: AnnounceLogout | undefined,
): PageEndpoint {
  return {
    kind: 'page',
    name: 'end_session',
    path,
    listed: true,
    fromOtherSites: true,
    async handle(request) {
      const { parameters, resourceOwner } = request
      if (request.method === 'POST' && parameters.mentions(field)) return decide(terms, request, announce)
      const destination = await destinationIn(terms, parameters)
      if (resourceOwner === undefined) return leave(request, destination)
      const confirmation = await confirmationFor(terms, parameters, resourceOwner)
      const { pathname } = new URL(terms.server.urlOf(path))
      return ask(request, confirmation, destination, resourceOwner, pathname)
    },
  }
}

async function destinationIn(terms: IdentityTerms, parameters: Parameters): Promise<Destination | undefined> {
  parameters.check(['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state'])
  const clientId = await clientIdIn(terms, parameters)
  const uri = parameters.get('post_logout_redirect_uri')
  if (uri === undefined) return undefined
  if (clientId === undefined) throw refused('parameter_missing/post_logout', { parameter: 'client_id' })
  const client = await terms.server.findClient(clientId)
  const isKnown =
    client !== undefined && !client.disabled && client.post_logout_redirect_uris?.includes(uri) === true
  if (!isKnown)
    throw refused('redirect_uri_mismatch/logout', {
      sent: uri,
      registered: client?.post_logout_redirect_uris,
    })
  const state = parameters.get('state')
  return { client, uri: state === undefined ? uri : appendToQuery(uri, { state }) }
}

async function clientIdIn(terms: IdentityTerms, parameters: Parameters): Promise<string | undefined> {
  const named = parameters.get('client_id')
  const hint = parameters.get('id_token_hint')
  if (hint === undefined) return named
  const { aud } = decodedClaims(hint)
  const clientId = named ?? (isText(aud) ? aud : '')
  await hintedSubject(terms, hint, clientId)
  return clientId
}

/** Another site can neither make one nor read it. */
function confirmationFor(
  { server, ring, algorithm }: IdentityTerms,
  parameters: Parameters,
  { subject }: ResourceOwner,
): Promise<string> {
  const exp = server.now() + patience
  return ring.sign(algorithm, type, { iss: server.issuer, sub: subject, exp, query: parameters.format() })
}

async function decide(
  terms: IdentityTerms,
  request: PageRequest,
  announce: AnnounceLogout | undefined,
): Promise<PageResponse> {
  const { parameters, resourceOwner } = request
  const { subject, query } = await confirmed(terms, parameters.require(field))
  const destination = await destinationIn(terms, query)
  if (parameters.require('decision') !== 'log_out') return end(request, destination, false)
  // Another person has logged in meanwhile.
  if (resourceOwner !== undefined && resourceOwner.subject !== subject)
    throw refused('authorization_request_not_open/logout')
  if (resourceOwner !== undefined) {
    await request.logOut()
    void announce?.(subject)
  }
  return leave(request, destination)
}

async function confirmed({ server, ring }: IdentityTerms, text: string) {
  const { subject, claims } = await verifyJwt(text, server.now(), {
    ...ownTerms(server.issuer, ring.source, type),
    clockTolerance: 0,
    refusal: () => refused('authorization_request_not_open/logout'),
  })
  const { query } = claims
  return { subject, query: Parameters.parse(typeof query === 'string' ? query : '') }
}

function ask(
  { locale, parameters }: PageRequest,
  confirmation: string,
  destination: Destination | undefined,
  { name, subject }: ResourceOwner,
  path: string,
): PageResponse {
  const { logout } = locale.texts
  const fields = { [field]: confirmation, ...languageFields(parameters) }
  const whose = around(logout.loggedInAs, html`<bdi>${name ?? subject}</bdi>`)
  const asking = destination !== undefined && html` ${around(logout.asks, nameOf(destination))}`
  const form = html`<form method="post" action="${path}">
    ${hiddenFields(fields)}
    <div class="actions">
      <button type="submit" name="decision" value="stay">${logout.stay}</button>
      <button type="submit" name="decision" value="log_out" class="primary">${logout.logOut}</button>
    </div>
  </form>`
  return {
    html: notice(locale, undefined, logout.title, html`${whose}${asking}`, form),
    ...(destination !== undefined && { formTargets: [destination.uri] }),
  }
}

const nameOf = ({ client }: Destination) => html`<bdi>${clientNameOf(client)}</bdi>`

/** To a client that the host has not registered, only by a link. */
function leave(request: PageRequest, destination: Destination | undefined): PageResponse {
  if (destination !== undefined && isRegisteredByHost(destination.client)) return { leaveTo: destination.uri }
  return end(request, destination, true)
}

function end(
  { locale }: PageRequest,
  destination: Destination | undefined,
  isLoggedOut: boolean,
): PageResponse {
  const { logout } = locale.texts
  const [title, text] = isLoggedOut ? [logout.doneTitle, logout.done] : [logout.stayedTitle, logout.stayed]
  const link =
    destination !== undefined &&
    html`<div class="actions">
      <a href="${destination.uri}">${around(logout.backTo, nameOf(destination))}</a>
    </div>`
  return { html: notice(locale, undefined, title, text, link) }
}
